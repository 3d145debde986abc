// SPDX-License-Identifier: GPL-2.0-only

// What the evaluator leaves out is a matter of speed: it gives the same times when every body is
// walked operation by operation and every resource is looked at.

#include "../volumes/volume-plans.h"
#include "core/engine/network-model.h"
#include "core/engine/program-evaluator.h"
#include "drawn-networks.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace scaleacross
{

namespace
{

RunReport
Evaluated(const Scenario& scenario, Shortcuts shortcuts)
{
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    const NetworkModel network(scenario, run.layout);
    const TransferTimes times = TimesOf(network);
    ClassCosts costs(run.graph, times);
    const ResourceUse use(run.graph, costs);
    RunReport report;
    EvaluateProgram(run.graph, costs, use, RunOptions(), report, shortcuts);
    return report;
}

/// Of every transfer the end is rounded to a picosecond, and rates in the last bit: a sum of many
/// that follow each other may differ by one of each.
constexpr double kRounding = 1e-9;

/// Every second time collectives in up to some hundred chunks, on one or several channels.
void
DrawChunks(std::mt19937& random, NetworkPlan& network)
{
    const std::array<uint64_t, 4> sizes = {0, 1 << 12, 1 << 14, 1 << 16};
    const std::array<uint32_t, 4> channels = {1, 1, 3, 64};
    if (random() % 2 == 0)
    {
        network.collectiveChunk = Bytes(sizes[random() % sizes.size()]);
        network.channels = channels[random() % channels.size()];
    }
}

} // namespace

TEST(Evaluator, ChunksOfOneCollectiveShareItsPorts)
{
    // A gather of 256 MiB over four servers of eight, in chunks of 16 MiB that are under way
    // together: whatever is left out, they have one port between them.
    for (const uint32_t channels : {1U, 2U, 4U})
    {
        Scenario scenario;
        scenario.cluster = volumes::Buildings(1, 16);
        scenario.network.collectiveChunk = Bytes(16 << 20);
        scenario.network.channels = channels;
        JobSpec job;
        job.model = volumes::Model(false);
        job.collective = CollectiveSpec();
        job.collective->op = CollectiveOp::AllGather;
        job.collective->bytes = Bytes(256 << 20);
        scenario.jobs.push_back(job);
        const Duration taken = Evaluated(scenario, Shortcuts::Taken).iterationTime;
        const Duration none = Evaluated(scenario, Shortcuts::None).iterationTime;
        EXPECT_NEAR(taken.S(), none.S(), kRounding * none.S()) << channels;
    }
}

TEST(Evaluator, TakesShortcutsToTheSameTimes)
{
    // Random plans over two to four buildings, of every kind of crossing, half of them in chunks,
    // half of them with traffic classes.
    std::mt19937 random(15);
    for (const auto draw : {volumes::Draw, volumes::DrawAny, volumes::DrawFolded})
    {
        const auto plans = volumes::Plans(200, 64, draw);
        ASSERT_EQ(plans.size(), 200U);
        for (Scenario scenario : plans)
        {
            DrawChunks(random, scenario.network);
            volumes::DrawClasses(random, scenario);
            const RunReport taken = Evaluated(scenario, Shortcuts::Taken);
            const RunReport none = Evaluated(scenario, Shortcuts::None);
            const double rounding = kRounding * none.iterationTime.S();
            const auto expectEqual = [&](const char* what, Duration a, Duration b) {
                EXPECT_NEAR(a.S(), b.S(), rounding) << what << ' ' << volumes::TextOf(scenario);
            };
            expectEqual("iteration", taken.iterationTime, none.iterationTime);
            expectEqual("compute", taken.computeTime, none.computeTime);
            expectEqual("bubble", taken.bubble, none.bubble);
            for (uint32_t k = 0; k < kCommClasses; k++)
            {
                expectEqual("exposed", taken.classes[k].exposed, none.classes[k].exposed);
                expectEqual("busy", taken.classes[k].busy, none.classes[k].busy);
            }
        }
    }
}

} // namespace scaleacross
