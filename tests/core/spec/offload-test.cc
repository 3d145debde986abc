// SPDX-License-Identifier: GPL-2.0-only

#include "../schedule-scenario.h"
#include "core/base/errors.h"
#include "core/work/graph/task-graph-builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What plan.offload_layers excludes, and what it needs.

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

ParallelPlan
Offloading(uint32_t layers)
{
    ParallelPlan plan;
    plan.dp = 32;
    plan.offloadLayers = layers;
    return plan;
}

TEST(Offload, ExcludesPipelinesAndRecomputation)
{
    ParallelPlan plan = Offloading(3);
    EXPECT_FALSE(plan.FindConflict());
    const auto problem = [](const ParallelPlan& bad) {
        const auto conflict = bad.FindConflict();
        EXPECT_EQ(conflict->Where(), "plan.offload_layers");
        EXPECT_FALSE(conflict->Allowed().empty() || conflict->Remedy().empty());
        return conflict->Problem();
    };
    plan.pp = 4;
    EXPECT_EQ(problem(plan), "3 with plan.pp: 4");
    plan.pp = 1;
    plan.chunks = 2;
    EXPECT_EQ(problem(plan), "3 with plan.chunks: 2");
    plan.chunks = 1;
    for (const auto* row : RecomputeWord::Rows())
    {
        plan.recompute = row->word;
        if (plan.recompute != Recompute("none"))
        {
            EXPECT_EQ(problem(plan), "3 with plan.recompute: " + row->word);
        }
    }
}

TEST(Offload, NeedsALinkAndLayers)
{
    auto scenario = ScenarioOf(BuildingsOf({16, 16}), SmallModel(), Offloading(7), 8);
    for (auto& building : scenario.cluster.buildings)
    {
        building.gpu.hostBandwidth = BytesPerSecond(55e9);
    }
    EXPECT_FALSE(scenario.FindConflict());
    EXPECT_FALSE(CheckJob(scenario, LayoutOf(scenario)));
    scenario.Job().plan.offloadLayers = 8; // of 8
    EXPECT_EQ(CheckJob(scenario, LayoutOf(scenario))->reason, "layers");
    scenario.cluster.buildings[1].gpu.hostBandwidth = BitRate();
    const auto conflict = scenario.FindConflict();
    ASSERT_TRUE(conflict);
    EXPECT_EQ(conflict->Where(), "plan.offload_layers");
    EXPECT_THAT(conflict->Problem(), HasSubstr(scenario.cluster.buildings[1].name));
    EXPECT_THAT(conflict->Remedy(), HasSubstr("gpu.host_bandwidth"));
    EXPECT_THROW(scenario.Validate(), ConfigError);
}

} // namespace

} // namespace scaleacross
