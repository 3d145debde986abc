// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/shapes/fabric-shape.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <utility>

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
    EXPECT_NEAR(ShapeOf(SmallCluster(true).buildings[0])->Cuts()[0].rate.Value(), 100e9 / 3, 1);
    // Without, 4 NICs: 400 / 2 / 3.
    EXPECT_NEAR(ShapeOf(SmallCluster(false).buildings[0])->Cuts()[0].rate.Value(), 200e9 / 3, 1);
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

/// A cluster of any shape, small enough to walk over all of it.
struct Example
{
    const char* name;
    FabricSpec (*fabric)();
    std::vector<std::pair<uint32_t, uint32_t>> spans;
    uint32_t lanes;
};

FabricSpec
TwoStages()
{
    FabricSpec fabric;
    fabric.nodesPerPod = 2;
    fabric.spines = 4;
    fabric.oversubscription = 2;
    return fabric;
}

FabricSpec
ThreeStages()
{
    FabricSpec fabric;
    fabric.rails = false;
    fabric.nodesPerPod = 1;
    fabric.podsPerZone = 2;
    fabric.spines = 3;
    fabric.aggregations = 4;
    fabric.zoneOversubscription = 2.8;
    return fabric;
}

FabricSpec
TwoPlanes()
{
    FabricSpec fabric = TwoStages();
    fabric.planes = 2;
    fabric.spines = 2;
    return fabric;
}

FabricSpec
DualTor()
{
    FabricSpec fabric = TwoStages();
    fabric.dualTor = true;
    return fabric;
}

FabricSpec
Everything()
{
    FabricSpec fabric = ThreeStages();
    fabric.rails = true;
    fabric.planes = 2;
    fabric.aggregations = 2;
    fabric.dualTor = true;
    return fabric;
}

/// Buildings of 8, 16, 8 and 8 GPUs, servers of 2; site 4 is a hub where a span ends there.
ClusterSpec
ClusterOf(const Example& shape)
{
    ClusterSpec cluster;
    for (const uint32_t gpus : {8, 16, 8, 8})
    {
        BuildingSpec building;
        building.name = "b" + std::to_string(cluster.buildings.size());
        building.gpus = gpus;
        building.gpusPerNode = 2;
        building.gpu = GpuPreset("h100");
        building.fabric = shape.fabric();
        cluster.buildings.push_back(building);
    }
    for (const auto& [a, b] : shape.spans)
    {
        if (b == 4 && cluster.hubs.empty())
        {
            cluster.hubs.push_back({"hub"});
        }
        CrossLinkSpec link;
        link.a = a;
        link.b = b;
        link.distance = Distance(10.0 * (a + b));
        link.latency = FibreDelay(link.distance);
        link.capacity = GigabitsPerSecond(1600);
        link.lanes = shape.lanes;
        cluster.crossLinks.push_back(link);
    }
    cluster.Validate();
    return cluster;
}

std::vector<Example>
AllShapes()
{
    return {{"mesh", TwoStages, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, 1},
            {"ring", ThreeStages, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, 2},
            {"line", TwoPlanes, {{0, 1}, {1, 2}, {2, 3}}, 1},
            {"hub", DualTor, {{0, 4}, {1, 4}, {2, 4}, {3, 4}}, 3},
            {"list", Everything, {{0, 1}, {1, 2}, {0, 2}, {2, 3}}, 2}};
}

/// What breadth-first search over the graph finds from one vertex to each other.
struct Reach
{
    uint32_t hops{UINT32_MAX};
    uint64_t paths{0}; //!< shortest ones
    Duration longest;  //!< of the shortest ones, in time
};

std::vector<Reach>
ReachFrom(const FabricGraph& graph, uint32_t start)
{
    std::vector<std::vector<const FabricLink*>> links(graph.vertices.size());
    for (const FabricLink& link : graph.links)
    {
        links[link.a].push_back(&link);
        links[link.b].push_back(&link);
    }
    std::vector<Reach> reach(graph.vertices.size());
    reach[start] = {0, 1, Duration()};
    std::queue<uint32_t> todo;
    todo.push(start);
    while (!todo.empty())
    {
        const uint32_t v = todo.front();
        todo.pop();
        for (const FabricLink* link : links[v])
        {
            const uint32_t next = link->a == v ? link->b : link->a;
            Reach& there = reach[next];
            if (there.hops == UINT32_MAX)
            {
                there.hops = reach[v].hops + 1;
                todo.push(next);
            }
            if (there.hops == reach[v].hops + 1)
            {
                there.paths += reach[v].paths;
                there.longest = std::max(there.longest, reach[v].longest + link->delay);
            }
        }
    }
    return reach;
}

TEST(FabricGraph, PathsOfEveryShapeAreTheShortestOnesOfTheGraph)
{
    for (const Example& shape : AllShapes())
    {
        const ClusterSpec cluster = ClusterOf(shape);
        const FabricGraph graph = BuildFabricGraph(cluster);
        const uint32_t ports = cluster.PortsPerNic();
        for (const uint32_t a : {0U, 3U, 9U, 23U, 39U})
        {
            // The last port, so that planes and leaves beyond the first are walked over as well.
            const std::vector<Reach> reach = ReachFrom(graph, a * ports + ports - 1);
            for (uint32_t b = 0; b < cluster.Gpus(); b++)
            {
                const FabricPath path = PathBetween(cluster, a, b);
                if (path.tier == Tier::Node)
                {
                    continue;
                }
                const Reach& there = reach[b * ports + ports - 1];
                const std::string where =
                    std::string(shape.name) + ": " + std::to_string(a) + " to " + std::to_string(b);
                EXPECT_EQ(path.rates.size(), there.hops) << where;
                EXPECT_EQ(path.paths, there.paths) << where;
                EXPECT_EQ(path.propagation, there.longest) << where;
            }
        }
    }
}

TEST(FabricGraph, CapacityOfEveryTierIsWhatTheSpecSays)
{
    for (const Example& shape : AllShapes())
    {
        const ClusterSpec cluster = ClusterOf(shape);
        const FabricGraph graph = BuildFabricGraph(cluster);
        std::map<std::pair<VertexKind, uint32_t>, double> sums; // by lower end and site
        std::map<uint32_t, double> spans;
        for (const FabricLink& link : graph.links)
        {
            const Vertex& low = graph.vertices[link.a];
            (link.kind == LinkKind::Cross ? spans[link.span] : sums[{low.kind, low.site}]) +=
                link.rate.Value();
        }
        for (uint32_t b = 0; b < cluster.buildings.size(); b++)
        {
            const FabricSpec& fabric = cluster.buildings[b].fabric;
            const double nics = cluster.buildings[b].NicCapacity().Value();
            const double spines = nics / fabric.oversubscription;
            EXPECT_NEAR((sums[{VertexKind::Nic, b}]), nics, 1) << shape.name;
            EXPECT_NEAR((sums[{VertexKind::Leaf, b}]), spines, 1) << shape.name;
            EXPECT_NEAR((sums[{VertexKind::Spine, b}]),
                        fabric.aggregations == 0 ? 0.0 : spines / fabric.zoneOversubscription,
                        1)
                << shape.name;
        }
        for (uint32_t i = 0; i < cluster.crossLinks.size(); i++)
        {
            EXPECT_NEAR(spans[i], 1600e9, 1) << shape.name;
        }
    }
}

TEST(FabricGraph, PlanesMeetOnlyInTheNics)
{
    // A NIC port reaches exactly the ports of its plane: half of them.
    const ClusterSpec cluster = ClusterOf({"line", TwoPlanes, {{0, 1}, {1, 2}, {2, 3}}, 1});
    const FabricGraph graph = BuildFabricGraph(cluster);
    const std::vector<Reach> reach = ReachFrom(graph, 0);
    for (uint32_t nic = 0; nic < cluster.Gpus() * 2; nic++)
    {
        EXPECT_EQ(reach[nic].hops != UINT32_MAX, nic % 2 == 0) << nic;
    }
}

TEST(FabricGraph, TiersOfThreeStages)
{
    const ClusterSpec cluster = ClusterOf({"ring", ThreeStages, {{0, 1}, {1, 2}, {2, 3}}, 1});
    // Servers of 2 GPUs, a pod each with one leaf, two pods to a zone.
    EXPECT_EQ(TierBetween(cluster, 0, 1), Tier::Node);
    EXPECT_EQ(TierBetween(cluster, 0, 2), Tier::Zone);
    EXPECT_EQ(TierBetween(cluster, 0, 4), Tier::Building);
    EXPECT_EQ(TierBetween(cluster, 0, 8), Tier::Cross);
    // 0.75 + 4.5 + 6 us up and down again: 15 times the 1.5 us inside a rack.
    EXPECT_EQ(PathBetween(cluster, 0, 4).propagation, Duration::Nanoseconds(22'500));
}

TEST(FabricGraph, NamesAreUnique)
{
    const ClusterSpec cluster = ClusterOf({"hub", DualTor, {{0, 4}, {1, 4}, {2, 4}, {3, 4}}, 3});
    const FabricGraph graph = BuildFabricGraph(cluster);
    std::set<std::string> names;
    for (const Vertex& vertex : graph.vertices)
    {
        EXPECT_TRUE(names.insert(VertexName(cluster, vertex)).second);
    }
    // Port 1 of GPU 3 of the second building, a leaf, a spine and the hub's second switch.
    EXPECT_EQ(names.count("b1/nic3.1"), 1U);
    EXPECT_EQ(names.count("b3/leaf5"), 1U);
    EXPECT_EQ(names.count("b0/spine3"), 1U);
    EXPECT_EQ(names.count("hub/agg1"), 1U);
}

} // namespace
} // namespace scaleacross
