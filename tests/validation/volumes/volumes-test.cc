// SPDX-License-Identifier: GPL-2.0-only

// Bytes across the cut between buildings: what the report says of every plan, against closed forms.

#include "core/engine/analytical-engine.h"
#include "core/engine/closed-form.h"
#include "volume-laws.h"
#include "volume-plans.h"

#include <gtest/gtest.h>

namespace scaleacross::volumes
{

TEST(VolumeLaws, ReportEqualsClosedForms)
{
    const auto plans = Plans(1500, 128);
    ASSERT_EQ(plans.size(), 1500U);
    size_t crossed = 0;
    for (const Scenario& scenario : plans)
    {
        const auto result = AnalyticalEngine().Run(scenario, RunOptions());
        const auto& report = std::get<RunReport>(result);
        const uint64_t expected = Law(scenario).CrossingBytes();
        EXPECT_EQ(report.crossBuildingBytes.Count(), expected) << TextOf(scenario);
        crossed += expected > 0 ? 1 : 0;
        // The bound of rung 1 holds for whatever overlaps.
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        EXPECT_LE(ClosedFormOf(scenario, run).bound, report.iterationTime) << TextOf(scenario);
    }
    EXPECT_GT(crossed, 1400U);
}

TEST(VolumeLaws, WorkedCases)
{
    // 16 ranks in two buildings, tp = 2, dp = 8, m = 4, and P parameters: hierarchical gathers 2 P
    // and reduce-scatters 4 P once over the boundary, or gathers layer by layer.
    ParallelPlan plan;
    plan.tp = 2;
    plan.dp = 8;
    plan.sharding = Sharding::Fsdp;
    const ModelSpec model = Model(false);
    const uint64_t p = model.TotalParameters();
    const auto crossing = [&] {
        const Scenario scenario = ScenarioOf(Buildings(2, 8), model, plan, 4);
        return Law(scenario).CrossingBytes();
    };
    EXPECT_EQ(crossing(), 6 * p);
    plan.sharding = Sharding::Hsdp;
    EXPECT_EQ(crossing(), 8 * p);
    plan.sharding = Sharding::Zero2;
    EXPECT_EQ(crossing(), (2 + 4 * 4) * p);
    // 2 m x crossings x 2 s b h x dp.
    plan.pp = 2;
    plan.dp = 4;
    plan.crossing = Crossing::Pipeline;
    EXPECT_EQ(crossing(), 2ULL * 4 * 1 * (2 * 256 * 384) * 4);
}

} // namespace scaleacross::volumes
