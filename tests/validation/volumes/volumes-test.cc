// SPDX-License-Identifier: GPL-2.0-only

// Bytes across the cut between buildings: what the report says of every plan, against closed forms.

#include "core/engine/analytical-engine.h"
#include "core/engine/closed-form.h"
#include "plan-features.h"
#include "volume-census.h"
#include "volume-laws.h"
#include "volume-plans.h"

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <string>

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
        EXPECT_LE(ClosedFormOf(scenario, run, BoundOf::Analytical).bound, report.iterationTime)
            << TextOf(scenario);
    }
    EXPECT_GT(crossed, 1400U);
}

TEST(VolumeLaws, ReportEqualsACensusWhateverCrosses)
{
    const auto plans = Plans(1500, 128, DrawAny);
    ASSERT_EQ(plans.size(), 1500U);
    std::map<std::string, size_t> had;
    for (const Scenario& scenario : plans)
    {
        const auto result = AnalyticalEngine().Run(scenario, RunOptions());
        const auto& report = std::get<RunReport>(result);
        const auto expected = Census(scenario).CrossingBytes();
        uint64_t sum = 0;
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            EXPECT_EQ(report.classes[k].crossBytes.Count(), expected[k])
                << ToString(static_cast<CommClass>(k)) << " " << TextOf(scenario);
            sum += expected[k];
        }
        EXPECT_EQ(report.crossBuildingBytes.Count(), sum) << TextOf(scenario);
        if (scenario.Job().plan.crossing.IsNamed() &&
            scenario.network.collective != CollectiveAlgorithm("tree") &&
            !scenario.network.collective->library && !scenario.network.allToAll->oncePerServer)
        {
            EXPECT_EQ(Law(scenario).CrossingBytes(), sum) << TextOf(scenario);
        }
        for (const std::string& feature : FeaturesOf(scenario))
        {
            had[feature]++;
        }
    }
    for (const std::string& feature : AllFeatures())
    {
        EXPECT_GT(had[feature], 10U) << feature;
    }
}

/// Where experts lie beside what is dense.
std::vector<std::string>
PlacesOf(const Scenario& scenario)
{
    const ParallelPlan& plan = scenario.Job().plan;
    const uint32_t group = plan.etp * plan.ep;
    std::vector<std::string> places{NameOf(plan.crossing),
                                    plan.ep == 1 ? "all experts on a rank" : "dispatched",
                                    plan.etp == 1         ? "whole experts"
                                    : plan.etp == plan.tp ? "split by tp"
                                                          : "split by less",
                                    group < plan.tp * plan.cp ? "within tp and cp" : "over dp"};
    if (plan.dp % plan.ep != 0)
    {
        places.emplace_back("more than dp");
    }
    const auto crossed = Census(scenario).CrossingBytes();
    if (crossed[static_cast<size_t>(CommClass::Expert)] > 0)
    {
        places.emplace_back("ep crosses");
    }
    return places;
}

TEST(VolumeLaws, ReportEqualsACensusWhereverExpertsLie)
{
    const auto plans = Plans(600, 128, DrawFolded);
    ASSERT_EQ(plans.size(), 600U);
    std::map<std::string, size_t> had;
    for (const Scenario& scenario : plans)
    {
        const auto result = AnalyticalEngine().Run(scenario, RunOptions());
        const auto& report = std::get<RunReport>(result);
        const auto expected = Census(scenario).CrossingBytes();
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            EXPECT_EQ(report.classes[k].crossBytes.Count(), expected[k])
                << ToString(static_cast<CommClass>(k)) << " " << TextOf(scenario);
        }
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        EXPECT_LE(ClosedFormOf(scenario, run, BoundOf::Analytical).bound, report.iterationTime)
            << TextOf(scenario);
        for (const std::string& place : PlacesOf(scenario))
        {
            had[place]++;
        }
    }
    for (const char* const place : {"DP-out",
                                    "PP-out",
                                    "EP-out",
                                    "all experts on a rank",
                                    "dispatched",
                                    "whole experts",
                                    "split by less",
                                    "split by tp",
                                    "within tp and cp",
                                    "over dp",
                                    "more than dp",
                                    "ep crosses"})
    {
        EXPECT_GT(had[place], 10U) << place;
    }
}

TEST(VolumeLaws, EtpOfTpIsWhatLeavingItOutIs)
{
    size_t compared = 0;
    for (Scenario scenario : Plans(100, 64, DrawAny))
    {
        ParallelPlan& plan = scenario.Job().plan;
        if (plan.cp > 1 || !scenario.Job().model.IsMoe())
        {
            continue;
        }
        const auto left = AnalyticalEngine().Run(scenario, RunOptions());
        plan.etp = plan.tp;
        const auto named = AnalyticalEngine().Run(scenario, RunOptions());
        const auto& a = std::get<RunReport>(left);
        const auto& b = std::get<RunReport>(named);
        EXPECT_EQ(a.iterationTime, b.iterationTime) << TextOf(scenario);
        EXPECT_EQ(a.memoryMax, b.memoryMax) << TextOf(scenario);
        EXPECT_EQ(a.crossBuildingBytes, b.crossBuildingBytes) << TextOf(scenario);
        compared++;
    }
    EXPECT_GT(compared, 20U);
}

TEST(VolumeLaws, WorkedCases)
{
    // 16 ranks in two buildings, tp = 2, dp = 8, m = 4, and P parameters: hierarchical gathers 2 P
    // and reduce-scatters 4 P once over the boundary, or gathers layer by layer.
    ParallelPlan plan;
    plan.tp = 2;
    plan.dp = 8;
    plan.sharding = Sharding("fsdp");
    const ModelSpec model = Model(false);
    const uint64_t p = model.TotalParameters();
    const auto crossing = [&] {
        const Scenario scenario = ScenarioOf(Buildings(2, 8), model, plan, 4);
        return Law(scenario).CrossingBytes();
    };
    EXPECT_EQ(crossing(), 6 * p);
    plan.sharding = Sharding("hsdp");
    EXPECT_EQ(crossing(), 8 * p);
    plan.sharding = Sharding("zero2");
    EXPECT_EQ(crossing(), (2 + 4 * 4) * p);
    // 2 m x crossings x 2 s b h x dp.
    plan.pp = 2;
    plan.dp = 4;
    plan.crossing = Crossing::Pipeline;
    EXPECT_EQ(crossing(), 2ULL * 4 * 1 * (2 * 256 * 384) * 4);
}

TEST(VolumeLaws, WorkedCasesOfOtherCrossings)
{
    // 16 ranks in two buildings, tp = 2, dp = 8, m = 4: 32 sequences of 256 tokens. EP-out, ep = 4:
    // half of the k = 2 copies of 8,192 tokens go over, 2 x 384 bytes each, and come back, forward
    // and backward, in eight MoE layers; dense gradients once either way.
    ParallelPlan plan;
    plan.tp = 2;
    plan.dp = 8;
    plan.ep = 4;
    plan.crossing = Crossing::Expert;
    const ModelSpec moe = Model(true);
    uint64_t dense = moe.EmbeddingParameters() + moe.HeadParameters();
    for (uint32_t layer = 0; layer < moe.layers; layer++)
    {
        dense += moe.DenseParametersOfLayer(layer);
    }
    const Scenario experts = ScenarioOf(Buildings(2, 8), moe, plan, 4);
    const uint64_t copies = 8192 * 2 / 2;
    EXPECT_EQ(Law(experts).CrossingBytes(), copies * 768 * 2 * 2 * 8 + 2 * 4 * dense);
    EXPECT_EQ(Census(experts).CrossingBytes()[static_cast<size_t>(CommClass::Expert)],
              copies * 768 * 2 * 2 * 8);

    // Tensor parallelism over the buildings, all else within: two halves of 16 layers send S =
    // 2 x 256 x 384 bytes twice forward and three times backward, embedding and head five times,
    // for 4 microbatches of 8 replicas.
    plan.ep = 1;
    plan.crossing = Crossing::Parse("dp-cp-ep-pp-tp");
    const Scenario tensor = ScenarioOf(Buildings(2, 8), Model(false), plan, 4);
    const std::array<uint64_t, kCommClasses> expected{(16ULL * 2 * (2 + 3) + 5) *
                                                      (2ULL * 256 * 384) * 4 * 8};
    EXPECT_EQ(Census(tensor).CrossingBytes(), expected);
}

} // namespace scaleacross::volumes
