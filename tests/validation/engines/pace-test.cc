// SPDX-License-Identifier: GPL-2.0-only

// Running classes ahead of each other is a matter of speed: the evaluator gives the same times when
// all of them are held to one clock, which is as plain as an event loop can be.

#include "../volumes/volume-plans.h"
#include "core/engine/program-evaluator.h"
#include "core/engine/transfer-cost.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

RunReport
Evaluated(const Scenario& scenario, Pace pace)
{
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    const NetworkModel network(scenario, run.layout);
    const TransferTimes times = TimesOf(network);
    RunReport report;
    EvaluateProgram(run.graph, times, RunOptions(), report, pace);
    return report;
}

} // namespace

TEST(Evaluator, RunsAheadToTheSameTimes)
{
    // Random plans over two and three buildings, to the picosecond.
    const auto plans = volumes::Plans(400, 64);
    ASSERT_EQ(plans.size(), 400U);
    for (const Scenario& scenario : plans)
    {
        const RunReport ahead = Evaluated(scenario, Pace::Ahead);
        const RunReport inTime = Evaluated(scenario, Pace::InTime);
        const auto expectEqual = [&](const char* what, Duration a, Duration b) {
            EXPECT_EQ(a, b) << what << ' ' << volumes::TextOf(scenario);
        };
        expectEqual("iteration", ahead.iterationTime, inTime.iterationTime);
        expectEqual("compute", ahead.computeTime, inTime.computeTime);
        expectEqual("bubble", ahead.bubble, inTime.bubble);
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            expectEqual("exposed", ahead.classes[k].exposed, inTime.classes[k].exposed);
            expectEqual("busy", ahead.classes[k].busy, inTime.classes[k].busy);
        }
    }
}

} // namespace scaleacross
