// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"
#include "core/spec/cluster-spec.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

/// Three buildings of 16, 32 and 8 GPUs, all joined.
ClusterSpec
Three()
{
    ClusterSpec cluster;
    for (const uint32_t gpus : {16, 32, 8})
    {
        BuildingSpec building;
        building.name = "b" + std::to_string(gpus);
        building.gpus = gpus;
        building.gpu = GpuPreset("h100");
        cluster.buildings.push_back(building);
    }
    for (uint32_t a = 0; a < 3; a++)
    {
        for (uint32_t b = a + 1; b < 3; b++)
        {
            CrossLinkSpec link;
            link.a = a;
            link.b = b;
            link.distance = Distance(30);
            link.latency = FibreDelay(link.distance);
            link.capacity = GigabitsPerSecond(1600);
            cluster.crossLinks.push_back(link);
        }
    }
    return cluster;
}

template <class Change>
std::string
RefusedKey(Change change)
{
    ClusterSpec cluster = Three();
    change(cluster);
    try
    {
        cluster.Validate();
    }
    catch (const ConfigError& error)
    {
        return error.Where();
    }
    return "";
}

TEST(ClusterSpec, GpusAreNumberedBuildingByBuilding)
{
    const ClusterSpec cluster = Three();
    EXPECT_EQ(cluster.Gpus(), 56U);
    EXPECT_EQ(cluster.FirstGpu(0), 0U);
    EXPECT_EQ(cluster.FirstGpu(2), 48U);
    EXPECT_EQ(cluster.BuildingOf(15), 0U);
    EXPECT_EQ(cluster.BuildingOf(16), 1U);
    EXPECT_EQ(cluster.BuildingOf(55), 2U);
    EXPECT_EQ(cluster.buildings[0].Nodes(), 2U);
    // 16 NICs of 400 Gb/s.
    EXPECT_EQ(cluster.buildings[0].NicCapacity(), GigabitsPerSecond(6400));
}

TEST(ClusterSpec, BetweenIgnoresTheOrder)
{
    const ClusterSpec cluster = Three();
    EXPECT_EQ(cluster.Between(2, 0), cluster.Between(0, 2));
    EXPECT_NE(cluster.Between(2, 0), nullptr);
    EXPECT_EQ(cluster.Between(1, 1), nullptr);
}

TEST(ClusterSpec, ValidateNamesTheField)
{
    EXPECT_EQ(RefusedKey([](auto&) {}), "");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings.clear(); }), "cluster.buildings");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[1].gpus = 33; }), "cluster.buildings.1.gpus");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[1].gpusPerNode = 0; }),
              "cluster.buildings.1.gpus_per_node");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[2].name = "b16"; }), "cluster.buildings.2.name");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[1].gpu.nicRate = BitRate(0); }),
              "cluster.buildings.1.gpu.nic_rate");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[0].fabric.spines = 0; }),
              "cluster.buildings.0.fabric.spines");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[1].fabric.nodesPerPod = 3; }),
              "cluster.buildings.1.fabric.nodes_per_pod");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[0].fabric.oversubscription = 0.5; }),
              "cluster.buildings.0.fabric.oversubscription");
    EXPECT_EQ(RefusedKey([](auto& c) { c.crossLinks[0].loss = 1; }), "cluster.cross.loss");
    EXPECT_EQ(RefusedKey([](auto& c) { c.crossLinks[0].capacity = BitRate(0); }),
              "cluster.cross.capacity");
    EXPECT_EQ(RefusedKey([](auto& c) { c.crossLinks[0].distance = Distance(1e6); }),
              "cluster.cross.distance");
}

TEST(ClusterSpec, EverySiteCanBeReached)
{
    // Without the last span 1 and 2 meet over 0; without another one 2 is alone.
    EXPECT_EQ(RefusedKey([](auto& c) { c.crossLinks.pop_back(); }), "");
    EXPECT_EQ(RefusedKey([](auto& c) { c.crossLinks.resize(1); }), "cluster.links");
    EXPECT_EQ(RefusedKey([](auto& c) { c.hubs.push_back({"hub"}); }), "cluster.links");
    EXPECT_EQ(RefusedKey([](auto& c) {
                  c.hubs.push_back({"hub"});
                  c.crossLinks[1].b = 3;
                  c.crossLinks[2].b = 3;
              }),
              "cluster.links"); // 2 is alone now
}

TEST(ClusterSpec, NamesOfHubs)
{
    EXPECT_EQ(RefusedKey([](auto& c) { c.hubs.push_back({"b16"}); }), "cluster.hubs.0");
    EXPECT_EQ(RefusedKey([](auto& c) { c.hubs.push_back({"a/b"}); }), "cluster.hubs.0");
}

TEST(ClusterSpec, ZonesNeedAggregationSwitches)
{
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[0].fabric.podsPerZone = 1; }),
              "cluster.buildings.0.fabric.pods_per_zone");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[0].fabric.zoneOversubscription = 2; }),
              "cluster.buildings.0.fabric.zone_oversubscription");
    EXPECT_EQ(RefusedKey([](auto& c) {
                  c.buildings[1].fabric.aggregations = 1;
                  c.buildings[1].fabric.nodesPerPod = 1; // 4 servers
                  c.buildings[1].fabric.podsPerZone = 3;
              }),
              "cluster.buildings.1.fabric.pods_per_zone");
    // One aggregation switch there meets one spine elsewhere.
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[1].fabric.aggregations = 1; }), "");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[1].fabric.planes = 2; }), "cluster.buildings");
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[1].fabric.dualTor = true; }),
              "cluster.buildings");
}

TEST(ClusterSpec, SpansJoinAPairOnce)
{
    EXPECT_EQ(RefusedKey([](auto& c) { c.crossLinks[0].b = 0; }), "cluster.links");
    EXPECT_EQ(RefusedKey([](auto& c) { c.crossLinks[0].b = 7; }), "cluster.links");
    EXPECT_EQ(RefusedKey([](auto& c) {
                  c.crossLinks.push_back(c.crossLinks[0]);
                  std::swap(c.crossLinks.back().a, c.crossLinks.back().b);
              }),
              "cluster.links");
    // Spine i of one building meets spine i of the other.
    EXPECT_EQ(RefusedKey([](auto& c) { c.buildings[1].fabric.spines = 2; }), "cluster.buildings");
}

} // namespace
} // namespace scaleacross
