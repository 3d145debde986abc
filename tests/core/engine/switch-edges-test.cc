// SPDX-License-Identifier: GPL-2.0-only

#include "../schedule-scenario.h"
#include "core/engine/network-model.h"
#include "core/engine/switch-edges.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace scaleacross
{

namespace
{

/// One building of 48 GPUs, leaves of two servers of eight, two stages of 24 ranks, tp 8.
Scenario
TwoStagesOnThreeLeaves()
{
    ClusterSpec cluster = BuildingsOf({48});
    cluster.buildings[0].fabric.rails = false;
    cluster.buildings[0].fabric.nodesPerPod = 2;
    ParallelPlan plan;
    plan.tp = 8;
    plan.pp = 2;
    plan.dp = 3;
    plan.crossing = Crossing::Pipeline;
    return ScenarioOf(cluster, SmallModel(), plan, 2);
}

/// Bytes of a transfer on each cut, by the numbers of the leaves.
std::map<uint32_t, double>
BytesOf(const TransferCost& cost)
{
    std::map<uint32_t, double> bytes;
    for (const CutUse& use : cost.cuts)
    {
        bytes[use.cut] += use.bytes;
    }
    return bytes;
}

} // namespace

TEST(SwitchEdges, ARingLeavesEachLeafOnce)
{
    // The worked case of the header: stage 0 has two thirds of its ranks on leaf 0, but as many of
    // its edges leave leaf 1. Rings of three servers, one for each of 8 GPUs, send 2 messages of
    // 64 KiB over each edge: 16 packets of 4,096 + 82 bytes each.
    const Scenario scenario = TwoStagesOnThreeLeaves();
    const RankLayout layout = LayoutOf(scenario);
    const NetworkModel network(scenario, layout);
    const Phase phase{Pattern::RingAllGather, layout.dense, Bytes(3 * 65536)};
    const double each = 8 * 2 * 16 * 4178;
    // Leaves 0, 1 and 2, upwards, then downwards.
    using Loads = std::map<uint32_t, double>;
    EXPECT_EQ(BytesOf(network.PhaseCost(phase, 0)),
              (Loads{{0, each}, {1, each}, {3, each}, {4, each}}));
    EXPECT_EQ(BytesOf(network.PhaseCost(phase, 24)),
              (Loads{{1, each}, {2, each}, {4, each}, {5, each}}));
}

TEST(SwitchEdges, AMessageClimbsOnlyWhereItsPeerIsOnAnotherLeaf)
{
    // Rank r sends to r + 24: leaf 0 to 1 and to 2, leaf 1 to 2, eight ranks each, one packet each.
    const Scenario scenario = TwoStagesOnThreeLeaves();
    const RankLayout layout = LayoutOf(scenario);
    const NetworkModel network(scenario, layout);
    const double each = 8 * 4178;
    using Loads = std::map<uint32_t, double>;
    EXPECT_EQ(BytesOf(network.MessageCost(Bytes(4096), 0, 24)),
              (Loads{{0, 2 * each}, {1, each}, {4, each}, {5, 2 * each}}));
}

TEST(SwitchEdges, MembersOfAnAllToAllSendAcrossAsTheyAre)
{
    // Expert parallelism of three servers of two on each leaf: each of 2 members on leaf 0 sends
    // to one elsewhere, and the one on leaf 1 to two: two edges each way, for each of 8 GPUs.
    const Scenario scenario = TwoStagesOnThreeLeaves();
    const RankLayout layout = LayoutOf(scenario);
    const NetworkModel network(scenario, layout);
    const Phase phase{Pattern::DirectAllToAll, layout.dense, Bytes(3 * 4096)};
    const double each = 8 * 2 * 4178;
    using Loads = std::map<uint32_t, double>;
    EXPECT_EQ(BytesOf(network.PhaseCost(phase, 0)),
              (Loads{{0, each}, {1, each}, {3, each}, {4, each}}));
}

TEST(SwitchEdges, AreCountedOnlyWhereRanksDoNotTell)
{
    const Scenario scenario = TwoStagesOnThreeLeaves();
    const RankLayout layout = LayoutOf(scenario);
    const ClusterPaths paths(scenario.cluster);
    EXPECT_FALSE(FitsSwitches(scenario.cluster, paths, layout, layout.dense));
    EXPECT_EQ(SwitchPeriod(scenario.cluster, paths, layout),
              24U); // of the pipeline, which is outermost
    // Leaves of three servers hold whole stages.
    Scenario whole = scenario;
    whole.cluster.buildings[0].fabric.nodesPerPod = 3;
    const ClusterPaths others(whole.cluster);
    EXPECT_TRUE(FitsSwitches(whole.cluster, others, layout, layout.dense));
    EXPECT_EQ(SwitchPeriod(whole.cluster, others, layout), 1U);
}

TEST(SwitchEdges, AgreeWithRanksWhereTheseTell)
{
    // Two stages of 32 ranks on leaves of 16, rings of four servers: two on each leaf, so that of
    // the 8 x 4 edges half climb, and half of these from either leaf.
    ClusterSpec cluster = BuildingsOf({64});
    cluster.buildings[0].fabric.rails = false;
    cluster.buildings[0].fabric.nodesPerPod = 2;
    ParallelPlan plan;
    plan.tp = 8;
    plan.pp = 2;
    plan.dp = 4;
    plan.crossing = Crossing::Pipeline;
    const Scenario scenario = ScenarioOf(cluster, SmallModel(), plan, 2);
    const RankLayout layout = LayoutOf(scenario);
    const NetworkFacts facts(scenario);
    const auto stages = facts.StagesOf(cluster, layout, 1);
    SwitchEdgeTable table(cluster, facts.paths, layout, *stages);
    ASSERT_FALSE(table.NeedsCount(layout.dense, false));
    const Phase phase{Pattern::RingAllGather, layout.dense, Bytes(4 * 65536)};
    double climbing = 0;
    for (const SwitchEdges& edges : table.OfPhase(phase, 0, true).kinds)
    {
        if (edges.kind.tier < Tier::Zone)
        {
            continue;
        }
        climbing += edges.count;
        for (const auto* shares : {&edges.up[0], &edges.down[0]})
        {
            ASSERT_EQ(shares->size(), 1U);
            EXPECT_EQ(shares->front().kind, stages->at(0).Of(0, 0).front().kind);
            EXPECT_DOUBLE_EQ(shares->front().share, stages->at(0).Of(0, 0).front().share);
        }
    }
    EXPECT_EQ(climbing, 16);
}

} // namespace scaleacross
