// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/stage-switches.h"
#include "core/io/presets.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace scaleacross
{
namespace
{

/// One building of 128 GPUs, on leaves of `nodes` servers of eight.
ClusterSpec
ClusterOf(uint32_t nodes, bool rails)
{
    BuildingSpec building;
    building.name = "b";
    building.gpus = 128;
    building.gpusPerNode = 8;
    building.gpu = GpuPreset("h100");
    building.fabric.rails = rails;
    building.fabric.nodesPerPod = nodes;
    ClusterSpec cluster;
    cluster.buildings = {building};
    return cluster;
}

StageSwitches
Leaves(const ClusterSpec& cluster, const RankGroup& pipeline)
{
    return {cluster, ClusterPaths(cluster), pipeline, {}, 0};
}

TEST(StageSwitches, StagesThatTakeTurnsOnALeafShareItsUplinks)
{
    // Leaves of 32 NICs, stages in turns of 8 GPUs, 8 of them: leaves 0 and 2 hold stages 0 to 3,
    // leaves 1 and 3 stages 4 to 7. Of the 16 ranks of a stage 8 are on either of its leaves.
    const StageSwitches leaves = Leaves(ClusterOf(4, false), RankGroup({{8, 8}}));
    EXPECT_EQ(leaves.Kinds(), 2U);
    for (uint32_t stage = 0; stage < 8; stage++)
    {
        ASSERT_EQ(leaves.Of(0, stage).size(), 1U);
        EXPECT_EQ(leaves.Of(0, stage).front().kind, leaves.Of(0, stage < 4 ? 0 : 4).front().kind);
        EXPECT_EQ(leaves.Of(0, stage).front().share, 0.5);
    }
    EXPECT_NE(leaves.Of(0, 0).front().kind, leaves.Of(0, 4).front().kind);
}

TEST(StageSwitches, StagesOfWholeLeavesShareNothing)
{
    // Leaves of 16 NICs, two stages of 64 GPUs, four leaves each.
    const StageSwitches leaves = Leaves(ClusterOf(2, false), RankGroup({{64, 2}}));
    EXPECT_EQ(leaves.Kinds(), 2U);
    EXPECT_NE(leaves.Of(0, 0).front().kind, leaves.Of(0, 1).front().kind);
    EXPECT_EQ(leaves.Of(0, 1).front().share, 0.25);
}

TEST(StageSwitches, AStageThatEndsInsideALeafIsOnTwoKinds)
{
    // Leaves of 48 NICs (the last one of 32), two stages of 64 GPUs: 48 + 16 and 32 + 32 ranks.
    const StageSwitches leaves = Leaves(ClusterOf(6, false), RankGroup({{64, 2}}));
    EXPECT_EQ(leaves.Kinds(), 3U);
    double first = 0;
    for (const SwitchShare& leaf : leaves.Of(0, 0))
    {
        first += leaf.share;
    }
    EXPECT_EQ(leaves.Of(0, 0).size(), 2U);
    EXPECT_EQ(first, 1); // 48 / 64 + 16 / 64
    EXPECT_EQ(leaves.Of(0, 1).size(), 2U);
}

TEST(StageSwitches, OnRailsAStageInsideServersHasRailsOfItsOwn)
{
    // Eight rails, stages of two neighbouring GPUs: each stage is on two rails of every pod, alone.
    const StageSwitches leaves = Leaves(ClusterOf(4, true), RankGroup({{2, 4}}));
    EXPECT_EQ(leaves.Kinds(), 4U);
    for (uint32_t stage = 0; stage < 4; stage++)
    {
        // 32 ranks of a stage on four pods and two rails.
        ASSERT_EQ(leaves.Of(0, stage).size(), 1U);
        EXPECT_EQ(leaves.Of(0, stage).front().share, 1.0 / 8);
    }
}

TEST(StageSwitches, LeavesOfTheSameStagesMayStillDiffer)
{
    // Leaves of 16 NICs, groups of 24 ranks of one stage: they begin at ranks 0, 24, 48 ..., so
    // that leaf 0 holds one, leaf 1 parts of two, leaf 2 one, and so on every 48 ranks. By what is
    // on them the eight leaves are alike; by where they begin modulo 24 there are three kinds.
    const ClusterSpec cluster = ClusterOf(2, false);
    const StageSwitches leaves(cluster, ClusterPaths(cluster), RankGroup(), {}, 0, 24);
    ASSERT_EQ(leaves.Kinds(), 3U);
    EXPECT_EQ(Leaves(cluster, RankGroup()).Kinds(), 1U);
    uint32_t all = 0;
    for (const SwitchShare& leaf : leaves.Of(0, 0))
    {
        EXPECT_EQ(leaf.share, 1.0 / 8);
        all += leaves.CountOf(leaf.kind);
    }
    EXPECT_EQ(all, 8U);
    EXPECT_EQ(leaves.KindOf(0, 0), leaves.KindOf(0, 3));
    EXPECT_NE(leaves.KindOf(0, 0), leaves.KindOf(0, 1));
}

TEST(StageSwitches, RanksThatTakeNoPartAreNotCounted)
{
    // The first server alone: one leaf, all of its ranks.
    std::vector<bool> active(128, false);
    std::fill(active.begin(), active.begin() + 8, true);
    const ClusterSpec cluster = ClusterOf(2, false);
    const StageSwitches leaves(cluster, ClusterPaths(cluster), RankGroup(), active, 0);
    EXPECT_EQ(leaves.Kinds(), 1U);
    EXPECT_EQ(leaves.Of(0, 0).front().share, 1);
    EXPECT_EQ(leaves.BuildingOf(0), 0U);
}

} // namespace
} // namespace scaleacross
