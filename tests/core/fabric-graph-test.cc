// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/presets.h"
#include "core/topology/fabric-graph.h"

#include <gtest/gtest.h>
#include <queue>
#include <set>

namespace scaleacross
{
namespace
{

/// Two buildings of 4 servers with 2 GPUs each; pods of 2 servers; 3 spines; leaf uplinks 1:2.
ClusterSpec
SmallCluster(bool rails)
{
    ClusterSpec cluster;
    for (const char* name : {"a", "b"})
    {
        BuildingSpec building;
        building.name = name;
        building.gpus = 8;
        building.gpusPerNode = 2;
        building.gpu = GpuPreset("h100");
        building.gpu.nicRate = GigabitsPerSecond(100);
        building.fabric.rails = rails;
        building.fabric.nodesPerPod = 2;
        building.fabric.spines = 3;
        building.fabric.oversubscription = 2;
        building.fabric.nicDelay = Duration::Microseconds(1);
        building.fabric.leafDelay = Duration::Microseconds(2);
        cluster.buildings.push_back(building);
    }
    CrossLinkSpec link;
    link.a = 0;
    link.b = 1;
    link.latency = Duration::Microseconds(150);
    link.capacity = GigabitsPerSecond(300);
    link.loss = 1e-5;
    cluster.crossLinks.push_back(link);
    return cluster;
}

/// Fewest links from one vertex to each other, by breadth-first search over the graph.
std::vector<uint32_t>
HopsFrom(const FabricGraph& graph, uint32_t start)
{
    std::vector<std::vector<uint32_t>> neighbours(graph.vertices.size());
    for (const FabricLink& link : graph.links)
    {
        neighbours[link.a].push_back(link.b);
        neighbours[link.b].push_back(link.a);
    }
    std::vector<uint32_t> hops(graph.vertices.size(), UINT32_MAX);
    std::queue<uint32_t> todo;
    hops[start] = 0;
    todo.push(start);
    while (!todo.empty())
    {
        const uint32_t v = todo.front();
        todo.pop();
        for (const uint32_t next : neighbours[v])
        {
            if (hops[next] == UINT32_MAX)
            {
                hops[next] = hops[v] + 1;
                todo.push(next);
            }
        }
    }
    return hops;
}

TEST(FabricGraph, CountsFollowFromTheShape)
{
    // Per building 8 NICs, 2 pods with one leaf per rail (2) or one leaf, 3 spines; links: one per
    // NIC, leaves x 3, and 3 planes between the buildings.
    const FabricGraph rails = BuildFabricGraph(SmallCluster(true));
    EXPECT_EQ(rails.vertices.size(), 2U * (8 + 4 + 3));
    EXPECT_EQ(rails.links.size(), 2U * (8 + 4 * 3) + 3);
    const FabricGraph plain = BuildFabricGraph(SmallCluster(false));
    EXPECT_EQ(plain.vertices.size(), 2U * (8 + 2 + 3));
    EXPECT_EQ(plain.links.size(), 2U * (8 + 2 * 3) + 3);
}

TEST(FabricGraph, UplinkRateIsWhatTheOversubscriptionLeaves)
{
    // With rails a leaf has 2 NICs of 100 Gb/s; 1:2 over 3 spines: 200 / 2 / 3 = 33.3 Gb/s each.
    EXPECT_NEAR(ShapeOf(SmallCluster(true).buildings[0]).uplinkRate.Value(), 100e9 / 3, 1);
    // Without, 4 NICs: 400 / 2 / 3.
    EXPECT_NEAR(ShapeOf(SmallCluster(false).buildings[0]).uplinkRate.Value(), 200e9 / 3, 1);
}

TEST(FabricGraph, CapacityBetweenBuildingsIsSharedByThePlanes)
{
    double sum = 0;
    for (const FabricLink& link : BuildFabricGraph(SmallCluster(true)).links)
    {
        if (link.kind == LinkKind::Cross)
        {
            sum += link.rate.Value();
            EXPECT_EQ(link.delay, Duration::Microseconds(150));
            EXPECT_EQ(link.loss, 1e-5);
        }
    }
    EXPECT_NEAR(sum, 300e9, 1);
}

TEST(FabricGraph, PathsHaveTheHopsOfTheGraph)
{
    for (const bool rails : {true, false})
    {
        const ClusterSpec cluster = SmallCluster(rails);
        const FabricGraph graph = BuildFabricGraph(cluster);
        for (uint32_t a = 0; a < cluster.Gpus(); a++)
        {
            const std::vector<uint32_t> hops = HopsFrom(graph, a);
            for (uint32_t b = 0; b < cluster.Gpus(); b++)
            {
                const FabricPath path = PathBetween(cluster, a, b);
                if (path.tier != Tier::Node)
                {
                    EXPECT_EQ(path.rates.size(), hops[b]) << a << " to " << b;
                }
                EXPECT_EQ(path.propagation, PathBetween(cluster, b, a).propagation);
            }
        }
    }
}

TEST(FabricGraph, TiersOfARailFabric)
{
    const ClusterSpec cluster = SmallCluster(true);
    EXPECT_EQ(TierBetween(cluster, 0, 1), Tier::Node);
    EXPECT_EQ(TierBetween(cluster, 0, 2), Tier::Leaf);     // same rail, same pod
    EXPECT_EQ(TierBetween(cluster, 0, 3), Tier::Building); // other rail
    EXPECT_EQ(TierBetween(cluster, 0, 4), Tier::Building); // same rail, other pod
    EXPECT_EQ(TierBetween(cluster, 0, 8), Tier::Cross);
    // NIC 1, leaf 2, span 150, leaf 2, NIC 1.
    EXPECT_EQ(PathBetween(cluster, 0, 8).propagation, Duration::Microseconds(156));
}

} // namespace
} // namespace scaleacross
