// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/routing.h"
#include "core/topology/shapes/fabric-shape.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{
namespace
{

/// One building of 64 GPUs, two servers of four to a leaf without rails: 8 leaves of 8 NICs of
/// 400 Gb/s, and two spines.
ClusterSpec
MeshCluster()
{
    BuildingSpec building;
    building.name = "b";
    building.gpus = 64;
    building.gpusPerNode = 4;
    building.gpu = GpuPreset("h100"); // 400 Gb/s
    building.fabric.shape = "full-mesh";
    building.fabric.rails = false;
    building.fabric.nodesPerPod = 2;
    building.fabric.spines = 2;
    building.fabric.oversubscription = 2;
    ClusterSpec cluster;
    cluster.buildings = {building};
    return cluster;
}

/// That packets take detours stands in the row of the word, in the routing and in the cuts.
TEST(Shapes, SayTheSameOfDetoursEverywhere)
{
    for (const ShapeFacts* facts : Shape::Rows())
    {
        BuildingSpec building = MeshCluster().buildings[0];
        building.fabric.shape = *facts;
        const auto shape = ShapeOf(building);
        EXPECT_EQ(shape->HasDetours(), facts->detours) << facts->word;
        EXPECT_EQ(shape->Routes().HasDetours(), facts->detours) << facts->word;
    }
}

TEST(FullMesh, HasALinkBetweenEveryTwoLeavesOfAPort)
{
    ClusterSpec cluster = MeshCluster();
    // 64 NICs, 8 leaves, 2 spines; 64 + 8 x 2 + 8 x 7 / 2 links.
    const FabricGraph one = BuildFabricGraph(cluster);
    EXPECT_EQ(one.vertices.size(), 64U + 8 + 2);
    ASSERT_EQ(one.links.size(), 64U + 16 + 28);
    // 8 x 400 Gb/s over 2: 1,600 Gb/s to two spines, and to seven leaves.
    EXPECT_NEAR(one.links[64].rate.Value(), 800e9, 1);
    EXPECT_NEAR(one.links.back().rate.Value(), 1600e9 / 7, 1);

    // Two planes of two ToRs each: four meshes of 8 leaves, 2 x 2 spines, half the leaves of a
    // plane below each of its spines.
    cluster.buildings[0].fabric.planes = 2;
    cluster.buildings[0].fabric.dualTor = true;
    const FabricGraph four = BuildFabricGraph(cluster);
    EXPECT_EQ(four.vertices.size(), 4U * 64 + 4 * 8 + 4);
    ASSERT_EQ(four.links.size(), 4U * 64 + 4 * 8 * 2 + 4 * 28);
    for (const FabricLink& link : four.links)
    {
        const Vertex& a = four.vertices[link.a];
        const Vertex& b = four.vertices[link.b];
        if (a.kind == VertexKind::Leaf && b.kind == VertexKind::Leaf)
        {
            EXPECT_EQ(a.index / 8, b.index / 8) << "one port, one mesh";
        }
        else if (a.kind == VertexKind::Leaf)
        {
            EXPECT_EQ(a.index / 16, b.index / 2) << "one plane";
        }
    }
}

TEST(FullMesh, PathsGoOverAThirdLeafAndSpansOverASpine)
{
    const auto shape = ShapeOf(MeshCluster().buildings[0]);
    EXPECT_EQ(shape->TierBetween(0, 3), Tier::Node);
    EXPECT_EQ(shape->TierBetween(0, 4), Tier::Leaf);
    EXPECT_EQ(shape->TierBetween(0, 8), Tier::Building);
    // NIC, leaf, third leaf, leaf, NIC: 2 x 0.75 us + 2 x 4.5 us; the direct way has one 4.5 us.
    const FabricPath path = shape->Within(Tier::Building);
    EXPECT_EQ(path.propagation, Duration::Nanoseconds(10500));
    EXPECT_EQ(path.least, Duration::Nanoseconds(6000));
    ASSERT_EQ(path.rates.size(), 4U);
    EXPECT_NEAR(path.rates[1].Value(), 1600e9 / 7, 1);
    EXPECT_EQ(path.paths, 7U); // by the direct wire or over six
    EXPECT_EQ(shape->ToTop().rates.size(), 2U);
    EXPECT_EQ(shape->ToTop().up, 2U);

    // Two leaves: nowhere to go but to the other one. One: nowhere at all.
    ClusterSpec small = MeshCluster();
    small.buildings[0].gpus = 16;
    const FabricPath direct = ShapeOf(small.buildings[0])->Within(Tier::Building);
    EXPECT_EQ(direct.rates.size(), 3U);
    EXPECT_EQ(direct.propagation, direct.least);
    small.buildings[0].gpus = 8;
    EXPECT_EQ(ShapeOf(small.buildings[0])->Cuts().size(), 1U);
}

TEST(FullMesh, EveryDirectionOfALinkIsOfTheCutsItsEndsHave)
{
    // Each leaf's links out are its mesh cut up, its links in the same down, and each side is
    // named by as many links as the cut has.
    const ClusterSpec cluster = MeshCluster();
    const auto shape = ShapeOf(cluster.buildings[0]);
    const FabricGraph graph = BuildFabricGraph(cluster);
    std::map<std::pair<uint32_t, bool>, std::map<uint32_t, std::set<uint32_t>>> fans;
    for (const FabricLink& link : graph.links)
    {
        if (link.kind != LinkKind::Inside)
        {
            continue;
        }
        for (const auto& [from, to] :
             {std::make_pair(link.a, link.b), std::make_pair(link.b, link.a)})
        {
            for (const CutSide& side : shape->SidesOf(graph.vertices[from], graph.vertices[to]))
            {
                fans[{side.level, side.up}][side.which].insert(side.fan);
            }
        }
    }
    ASSERT_EQ(fans.size(), 4U);
    for (const auto& [cut, leaves] : fans)
    {
        ASSERT_EQ(leaves.size(), 8U);
        for (const auto& [leaf, links] : leaves)
        {
            EXPECT_EQ(links.size(), shape->Cuts()[cut.first].links);
        }
    }
    EXPECT_DOUBLE_EQ(shape->Cuts()[1].detour, 1.0 / 7);
}

TEST(FullMesh, RefusesZonesAndTooManyLeaves)
{
    const auto whereOf = [](const ClusterSpec& cluster) -> std::string {
        try
        {
            cluster.Validate();
        }
        catch (const ConfigError& error)
        {
            return error.Where();
        }
        return "";
    };
    EXPECT_EQ(whereOf(MeshCluster()), "");
    ClusterSpec zones = MeshCluster();
    zones.buildings[0].fabric.aggregations = 2;
    EXPECT_EQ(whereOf(zones), "cluster.buildings.0.fabric.aggregations");
    ClusterSpec many = MeshCluster();
    many.buildings[0].gpus = 8 * 1025;
    EXPECT_EQ(whereOf(many), "cluster.buildings.0.fabric.shape");
}

/// Leaves 0 to n - 1, each with the NIC of its number at port 0 and a wire to leaf j at port
/// j + 1.
SwitchGraph
MeshOf(uint32_t leaves)
{
    SwitchGraph graph;
    graph.links.resize(leaves);
    for (uint32_t i = 0; i < leaves; i++)
    {
        graph.nics.push_back({i, i, 0, true});
        for (uint32_t j = 0; j < leaves; j++)
        {
            if (i != j)
            {
                graph.links[i].push_back(
                    {j, static_cast<uint16_t>(j + 1), GigabitsPerSecond(100), true});
            }
        }
    }
    return graph;
}

const RouteGroup*
Find(const RouteRanges& table, uint32_t address)
{
    for (const RouteRange& range : table.ranges)
    {
        if (range.first <= address && address <= range.last)
        {
            return &table.groups.at(range.group);
        }
    }
    return nullptr;
}

void
Break(SwitchGraph& graph, uint32_t a, uint32_t b)
{
    for (const auto& [from, to] : {std::make_pair(a, b), std::make_pair(b, a)})
    {
        for (SwitchLink& link : graph.links[from])
        {
            link.up = link.up && link.to != to;
        }
    }
}

TEST(Valiant, WorkedCase)
{
    const auto tables = ValiantRouting().Compute(MeshOf(4), RouteWeights::Equal);
    using Ports = std::vector<uint16_t>;
    // From leaf 0's own NIC to leaf 3's by any wire; on leaf 1 on by the wire to leaf 3.
    ASSERT_NE(Find(tables[0].entry, 3), nullptr);
    EXPECT_EQ(Find(tables[0].entry, 3)->ports, (Ports{2, 3, 4}));
    EXPECT_EQ(Find(tables[0].entry, 0), nullptr) << "its own NIC";
    EXPECT_EQ(Find(tables[1], 3)->ports, (Ports{4}));
    EXPECT_EQ(tables[0].entry.groups.size(), 1U) << "all wires, wherever it goes";
    EXPECT_EQ(tables[0].entry.ranges.size(), 1U);
}

TEST(Valiant, TakesOnlyDetoursThatLeadOn)
{
    using Ports = std::vector<uint16_t>;
    SwitchGraph graph = MeshOf(4);
    Break(graph, 2, 3);
    const auto tables = ValiantRouting().Compute(graph, RouteWeights::Equal);
    // To leaf 3 not over leaf 2; to leaf 1 by all three.
    EXPECT_EQ(Find(tables[0].entry, 3)->ports, (Ports{2, 4}));
    EXPECT_EQ(Find(tables[0].entry, 1)->ports, (Ports{2, 3, 4}));
    // From leaf 2, which has no wire to leaf 3, over 0 and 1, as the shortest ways go.
    EXPECT_EQ(Find(tables[2].entry, 3)->ports, (Ports{1, 2}));
    EXPECT_EQ(Find(tables[2], 3)->ports, (Ports{1, 2}));
}

TEST(Valiant, WeighsDetoursByTheLesserOfTwoWires)
{
    SwitchGraph graph = MeshOf(3);
    for (SwitchLink& link : graph.links[1])
    {
        link.rate = link.to == 2 ? GigabitsPerSecond(25) : link.rate;
    }
    const auto tables = ValiantRouting().Compute(graph, RouteWeights::Capacity);
    // From 0 to 2: over 1 min(100, 25), by the wire 100.
    EXPECT_EQ(Find(tables[0].entry, 2)->weights, (std::vector<uint32_t>{1, 4}));
}

/// A NIC of somebody else on leaf 1, and none but that: no way around leads over it, and what it
/// sends takes none.
TEST(Valiant, KeepsOffSwitchesForTheSakeOfTheirNics)
{
    using Ports = std::vector<uint16_t>;
    SwitchGraph graph = MeshOf(4);
    for (NicPlace& nic : graph.nics)
    {
        nic.detours = nic.at != 1;
    }
    const auto tables = ValiantRouting().Compute(graph, RouteWeights::Equal);
    EXPECT_EQ(Find(tables[0].entry, 3)->ports, (Ports{3, 4})) << "over 2, and the wire";
    EXPECT_EQ(Find(tables[0].entry, 1), nullptr);
    EXPECT_EQ(Find(tables[0], 1)->ports, (Ports{2}));
    EXPECT_TRUE(tables[1].entry.ranges.empty());
    EXPECT_EQ(Find(tables[1], 3)->ports, (Ports{4}));
}

TEST(Valiant, LeavesAClosAsItIs)
{
    ClusterSpec cluster = MeshCluster();
    EXPECT_TRUE(RoutingOf(cluster).HasDetours());
    cluster.buildings[0].fabric.shape = Shape();
    EXPECT_FALSE(RoutingOf(cluster).HasDetours());
    // Leaves 0 and 1 below spine 2.
    SwitchGraph graph;
    graph.links.resize(3);
    for (const uint32_t leaf : {0U, 1U})
    {
        graph.nics.push_back({leaf, leaf, 0, true});
        graph.links[leaf].push_back({2, 1, GigabitsPerSecond(100), true});
        graph.links[2].push_back({leaf, static_cast<uint16_t>(leaf), GigabitsPerSecond(100), true});
    }
    for (const SwitchRoutes& table : ValiantRouting().Compute(graph, RouteWeights::Equal))
    {
        EXPECT_TRUE(table.entry.ranges.empty());
    }
}

} // namespace
} // namespace scaleacross
