// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"
#include "core/spec/machine-spec.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

/// 4 of 72 GPUs that share a network, three NICs of 100 Gb/s for them, pods of 8 racks.
MachineSpec
Tray()
{
    MachineSpec machine;
    machine.name = "tray";
    machine.gpu = GpuPreset("gb200");
    machine.gpusPerNode = 4;
    machine.nics = 3;
    machine.nicRate = GigabitsPerSecond(100);
    machine.fabric.nodesPerPod = 8;
    machine.fabric.spines = 16;
    return machine;
}

BuildingSpec
Building(const MachineSpec& machine, uint32_t nodes, uint32_t gpusPerNode = 0)
{
    const ClusterSpec cluster = machine.Cluster(nodes, gpusPerNode);
    EXPECT_NO_THROW(cluster.Validate());
    return cluster.buildings.at(0);
}

TEST(MachineSpec, ServersShareScaleUpNetworks)
{
    // 72 / 4 = 18 trays to a network.
    EXPECT_EQ(Building(Tray(), 1).gpusPerNode, 4U);
    EXPECT_EQ(Building(Tray(), 18).gpusPerNode, 72U);
    EXPECT_EQ(Building(Tray(), 36).Nodes(), 2U);
    // The worked case: two networks of 16 trays.
    const BuildingSpec two = Building(Tray(), 32);
    EXPECT_EQ(two.gpus, 128U);
    EXPECT_EQ(two.gpusPerNode, 64U);
    // 15 networks would hold 256 trays, and not evenly: 16 of 16. Half of each is the least.
    EXPECT_EQ(Building(Tray(), 256).Nodes(), 16U);
    EXPECT_EQ(Building(Tray(), 27).gpusPerNode, 36U);
    // One GPU of each tray: 18 to a network.
    EXPECT_EQ(Building(Tray(), 36, 1).gpusPerNode, 18U);
    EXPECT_EQ(Building(Tray(), 36, 1).gpus, 36U);
    for (const uint32_t nodes : {19U, 37U, 38U, 53U})
    {
        try
        {
            Tray().Cluster(nodes);
            ADD_FAILURE() << nodes;
        }
        catch (const ConfigError& error)
        {
            EXPECT_EQ(error.Where(), "nodes");
        }
    }
}

TEST(MachineSpec, GpusHaveTheirShareOfTheNics)
{
    // 3 x 100 / 4, of however many GPUs are used.
    EXPECT_EQ(Building(Tray(), 2).gpu.nicRate, GigabitsPerSecond(75));
    EXPECT_EQ(Building(Tray(), 2, 2).gpu.nicRate, GigabitsPerSecond(75));
}

TEST(MachineSpec, SharesThatNoGpuHasAreRefusedByTheMachinesOwnKeys)
{
    const auto refused = [](uint32_t gpus, uint32_t nics, BitRate rate) -> std::string {
        MachineSpec machine = Tray();
        machine.gpusPerNode = gpus;
        machine.nics = nics;
        machine.nicRate = rate;
        try
        {
            machine.Validate();
        }
        catch (const ConfigError& error)
        {
            return error.Where() + ": " + error.Allowed();
        }
        return "";
    };
    // Of a GPU: 1/64 to 64 NICs, 1 Mb/s to 1 Pb/s (doc/study-file.md).
    const BitRate rate = GigabitsPerSecond(100);
    EXPECT_EQ(refused(4, 256, rate), "");
    EXPECT_EQ(refused(4, 257, rate), "nics: 1 to 256");
    EXPECT_EQ(refused(72, 2, rate), "");
    EXPECT_EQ(refused(72, 1, rate), "nics: 2 to 1024");
    EXPECT_EQ(refused(4, 4, BitRate(1e15)), "");
    EXPECT_EQ(refused(4, 5, BitRate(1e15)), "nic_rate: 1Mbps to 1Pbps for each GPU");
    EXPECT_EQ(refused(4, 3, BitRate(1e6)), "nic_rate: 1Mbps to 1Pbps for each GPU");
}

TEST(MachineSpec, MoreServersThanABuildingHasAreRefused)
{
    MachineSpec machine = Tray();
    machine.gpu.scaleUpDomain = 4;
    machine.fabric.nodesPerPod = 0;
    // A building has 2^22 GPUs at most.
    EXPECT_NO_THROW(machine.Cluster(1U << 20));
    EXPECT_THROW(machine.Cluster((1U << 20) + 1), ConfigError);
}

TEST(MachineSpec, PodsAreFilledEvenlyAndKeepTheWidthOfTheirLinks)
{
    // 2 racks are a part of a pod: one pod, and two ports below each leaf of a rail.
    const BuildingSpec part = Building(Tray(), 2 * 18);
    EXPECT_EQ(part.fabric.nodesPerPod, 2U);
    EXPECT_EQ(part.fabric.spines, 2U);
    // 12 racks are two pods of 6.
    EXPECT_EQ(Building(Tray(), 12 * 18).fabric.nodesPerPod, 6U);
    // 11 do not go into fewer than 11 equal ones.
    EXPECT_EQ(Building(Tray(), 11 * 18).fabric.nodesPerPod, 1U);
    // Without rails all 72 NICs of a rack are below one leaf.
    MachineSpec machine = Tray();
    machine.fabric.rails = false;
    EXPECT_EQ(Building(machine, 2 * 18).fabric.spines, 16U);
    // All of the building under one set of leaves.
    machine.fabric.nodesPerPod = 0;
    EXPECT_EQ(Building(machine, 11 * 18).fabric.nodesPerPod, 0U);
    // Six pods of 2 under zones of up to 4: of 3.
    machine.fabric.nodesPerPod = 2;
    machine.fabric.aggregations = 4;
    machine.fabric.podsPerZone = 4;
    EXPECT_EQ(Building(machine, 12 * 18).fabric.podsPerZone, 3U);
}

TEST(MachineSpec, MoreGpusThanAServerHasAreRefused)
{
    EXPECT_NO_THROW(Tray().Cluster(1, 4));
    EXPECT_THROW(Tray().Cluster(1, 5), ConfigError);
}

} // namespace
} // namespace scaleacross
