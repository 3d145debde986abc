// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/phase-edges.h"
#include "core/io/presets.h"

#include <gtest/gtest.h>
#include <random>

namespace scaleacross
{

namespace
{

/// Two unequal buildings: pods of two servers of four, three zones of two pods in the first.
ClusterSpec
Cluster()
{
    ClusterSpec cluster;
    for (const uint32_t gpus : {48U, 80U})
    {
        BuildingSpec building;
        building.name = "b" + std::to_string(gpus);
        building.gpus = gpus;
        building.gpusPerNode = 4;
        building.gpu = GpuPreset("h100");
        building.fabric.nodesPerPod = 2;
        building.fabric.spines = 2;
        building.fabric.rails = gpus == 80;
        if (gpus == 48)
        {
            building.fabric.podsPerZone = 2;
            building.fabric.aggregations = 2;
        }
        cluster.buildings.push_back(building);
    }
    CrossLinkSpec span;
    span.b = 1;
    span.latency = Duration::Microseconds(20);
    span.capacity = GigabitsPerSecond(1600);
    cluster.crossLinks.push_back(span);
    return cluster;
}

} // namespace

TEST(PhaseEdges, AGroupMovedOnHasTheEdgesThatCountingGives)
{
    // Random groups, each asked of several ranks from one table, so that most are moved, and of a
    // table of its own, which has nothing to move.
    const ClusterSpec cluster = Cluster();
    const ClusterPaths paths(cluster);
    ParallelPlan plan;
    plan.dp = cluster.Gpus();
    plan.crossing = Crossing::Data;
    const auto layout = std::get<RankLayout>(LayOut(plan, cluster));
    std::mt19937 random(7);
    for (uint32_t tries = 0; tries < 300; tries++)
    {
        const uint32_t stride = 1U << random() % 5;
        const uint32_t count = 2 + random() % 3;
        Phase phase{Pattern::RingAllGather, RankGroup({{stride, count}}), Bytes(1000)};
        phase.pattern = random() % 2 == 0 ? Pattern::RingAllGather : Pattern::DirectAllToAll;
        PhaseEdgeTable table(paths, layout);
        for (uint32_t i = 0; i < 12; i++)
        {
            // A member of a group within the cluster.
            const uint32_t block = stride * count;
            const Rank member = random() % (cluster.Gpus() / block * block);
            PhaseEdgeTable alone(paths, layout);
            const PhaseEdges& moved = table.Of(phase, member);
            const PhaseEdges& counted = alone.Of(phase, member);
            ASSERT_EQ(moved.count, counted.count);
            ASSERT_EQ(moved.kinds.size(), counted.kinds.size());
            for (const auto& [kind, set] : counted.kinds)
            {
                const auto found = moved.kinds.find(kind);
                ASSERT_NE(found, moved.kinds.end());
                EXPECT_EQ(found->second.count, set.count);
                EXPECT_EQ(paths.TierBetween(found->second.from, found->second.to), kind.tier);
            }
            ASSERT_EQ(moved.membersIn.size(), counted.membersIn.size());
            for (const auto& [building, members] : counted.membersIn)
            {
                const MembersThere& there = moved.membersIn.at(building);
                EXPECT_EQ(there.count, members.count);
                EXPECT_EQ(there.first, members.first);
                EXPECT_EQ(there.last, members.last);
                EXPECT_EQ(there.lowest, members.lowest);
                EXPECT_EQ(there.highest, members.highest);
            }
        }
    }
}

} // namespace scaleacross
