// SPDX-License-Identifier: GPL-2.0-only

#include "../../three-stage-clos.h"
#include "core/io/presets.h"
#include "core/topology/fabric-graph.h"

#include "ns3/fabric-balance.h"
#include "ns3/graph-fabric.h"
#include "ns3/rdma-connection.h"
#include "ns3/route-table.h"
#include "ns3/simulator.h"
#include "ns3/switch-port.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace scaleacross
{
namespace
{

using namespace ns3;

void
UsePicoseconds()
{
    if (Time::GetResolution() != Time::PS) // once per process
    {
        Time::SetResolution(Time::PS);
    }
}

/// Sends a packet from the first to the second NIC of every pair, all at once, and expects each of
/// them to arrive once and nothing to be lost.
void
SendToEach(FabricHelper& fabric, const std::vector<std::pair<uint32_t, uint32_t>>& pairs)
{
    std::set<uint64_t> arrived;
    for (size_t i = 0; i < pairs.size(); i++)
    {
        const auto connection =
            fabric.CreateConnection(fabric.Nics()[pairs[i].first], fabric.Nics()[pairs[i].second]);
        connection->SetDeliveryCallback(RdmaMessageCallback(
            [&arrived](Bytes, uint64_t tag) { EXPECT_TRUE(arrived.insert(tag).second); }));
        connection->SetFailureCallback(
            RdmaFailureCallback([](const std::string& reason) { ADD_FAILURE() << reason; }));
        connection->Send(Bytes(4096), i);
    }
    Simulator::Run();
    EXPECT_EQ(arrived.size(), pairs.size());
    CheckConservation(fabric);
    const FabricBalance balance = BalanceOf(fabric);
    EXPECT_EQ(balance.Dropped(), 0U);
    EXPECT_EQ(balance.delivered, 2 * pairs.size()) << "one data packet and one ACK each";
}

/// 16,384 NICs in 4 buildings, three tiers of switches each (ThreeStageClos).
class LargeFabricTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        UsePicoseconds();
        m_fabric.SetLookAhead(true);
        m_clos.Build(m_fabric);
        m_fabric.InstallRoutes();
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /// Switches by the number of NICs on them and the number of ports.
    static std::map<std::pair<uint32_t, uint32_t>, std::vector<Ptr<FabricSwitch>>> Tiers(
        const FabricHelper& fabric)
    {
        std::map<std::pair<uint32_t, uint32_t>, std::vector<Ptr<FabricSwitch>>> tiers;
        for (const auto& fabricSwitch : fabric.Switches())
        {
            uint32_t nics = 0;
            for (uint32_t p = 0; p < fabricSwitch->GetNPorts(); p++)
            {
                nics += DynamicCast<RdmaNic>(fabricSwitch->GetPort(p)->GetPeer()) ? 1 : 0;
            }
            tiers[{nics, fabricSwitch->GetNPorts()}].push_back(fabricSwitch);
        }
        return tiers;
    }

    ThreeStageClos m_clos;
    FabricHelper m_fabric;
};

TEST_F(LargeFabricTest, HasWhatItSays)
{
    EXPECT_EQ(m_clos.Nics(), 16'384U);
    EXPECT_EQ(m_fabric.Nics().size(), 16'384U);
    EXPECT_EQ(m_fabric.Switches().size(), 1'536U);
    EXPECT_EQ(m_clos.Switches(), 1'536U);
    EXPECT_EQ(m_fabric.Wires().size(), 40'064U);
    EXPECT_EQ(m_clos.Wires(), 40'064U);
}

/**
 * Ranges follow the structure. A rack switch has its 16 NICs and all others before and after them;
 * a cluster switch the 64 racks of its zone and all others before and after; an aggregation switch
 * the 4 zones of its building and the 3 other buildings. All pairs would be 16,384 for each.
 */
TEST_F(LargeFabricTest, TablesFollowTheStructure)
{
    const auto tiers = Tiers(m_fabric);
    ASSERT_EQ(tiers.size(), 3U);
    size_t most = 0;
    for (const auto& rack : tiers.at({16, 32}))
    {
        EXPECT_LE(rack->Routes().Ranges().size(), 16U + 2);
        most = std::max(most, rack->Routes().Ranges().size());
    }
    EXPECT_EQ(most, 18U);
    EXPECT_EQ(tiers.at({16, 32}).size(), 1'024U);
    for (const auto& cluster : tiers.at({0, 88})) // 64 racks, 4 planes x 6 wires
    {
        EXPECT_LE(cluster->Routes().Ranges().size(), 64U + 2);
    }
    EXPECT_EQ(tiers.at({0, 88}).size(), 256U);
    for (const auto& plane : tiers.at({0, 33})) // 4 zones x 6 wires, 3 buildings x 3
    {
        EXPECT_EQ(plane->Routes().Ranges().size(), 4U + 3);
    }
    EXPECT_EQ(tiers.at({0, 33}).size(), 256U);
}

/// A packet from a NIC of every building to one of every other, and 10,000 random pairs, all at
/// once.
TEST_F(LargeFabricTest, PacketsArriveEverywhere)
{
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    const uint32_t perBuilding = m_clos.NicsPerBuilding();
    for (uint32_t a = 0; a < m_clos.buildings; a++)
    {
        for (uint32_t b = 0; b < m_clos.buildings; b++)
        {
            pairs.emplace_back(a * perBuilding, b * perBuilding + perBuilding - 1);
        }
    }
    std::mt19937 random(1);
    while (pairs.size() < 16 + 10'000)
    {
        const uint32_t from = random() % m_clos.Nics();
        const uint32_t to = random() % m_clos.Nics();
        if (from != to)
        {
            pairs.emplace_back(from, to);
        }
    }
    uint64_t crossing = 0;
    for (const auto& [from, to] : pairs)
    {
        crossing += from / perBuilding != to / perBuilding ? 1 : 0;
    }
    EXPECT_GT(crossing, 7'000U) << "three quarters of random pairs cross buildings";
    SendToEach(m_fabric, pairs);
}

/**
 * Unequal buildings as a study describes them: 8,192 GPUs with NICs of 400 Gb/s, 4,096 with 800 and
 * 2,048 with 200, three stages, all joined. What BuildFabricGraph says is what is built; tables are
 * short; packets arrive.
 *
 * Leaves have 16 NICs and zones 64 leaves. Ranges: a leaf its NICs, before and after; a spine its
 * zone's leaves, before and after; an aggregation switch at most the 8 zones of its building and
 * the 2 other buildings.
 */
TEST(LargeFabric, UnequalBuildingsOfAStudy)
{
    UsePicoseconds();
    ClusterSpec cluster;
    for (const auto& [gpus, gbps] : {std::pair{8192, 400}, {4096, 800}, {2048, 200}})
    {
        BuildingSpec building;
        building.name = std::to_string(gpus);
        building.gpus = static_cast<uint32_t>(gpus);
        building.gpu = GpuPreset("h100");
        building.gpu.nicRate = GigabitsPerSecond(gbps);
        building.fabric.rails = false;
        building.fabric.nodesPerPod = 2;
        building.fabric.podsPerZone = 64;
        building.fabric.spines = 16;
        building.fabric.aggregations = 16;
        building.fabric.zoneOversubscription = 2.8;
        cluster.buildings.push_back(building);
    }
    for (const auto& [a, b] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 2U}})
    {
        CrossLinkSpec span;
        span.a = a;
        span.b = b;
        span.distance = Distance(30);
        span.latency = FibreDelay(span.distance);
        span.capacity = GigabitsPerSecond(16 * 800);
        span.lanes = 2;
        cluster.crossLinks.push_back(span);
    }
    cluster.Validate();
    const FabricGraph graph = BuildFabricGraph(cluster);
    FabricHelper fabric;
    fabric.SetLookAhead(true);
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(4ULL << 30));
    std::vector<Ptr<Node>> hosts;
    for (uint32_t gpu = 0; gpu < cluster.Gpus(); gpu++)
    {
        hosts.push_back(gpu % 8 == 0 ? fabric.AddHost() : hosts.back());
    }
    const GraphFabric built = BuildGraph(fabric, graph, hosts, {});
    fabric.InstallRoutes();
    EXPECT_EQ(built.nics.size(), 14'336U);
    EXPECT_EQ(fabric.Wires().size(), graph.links.size());
    for (size_t i = 0; i < built.switches.size(); i++)
    {
        const size_t ranges = built.switches[i]->Routes().Ranges().size();
        const VertexKind kind = graph.vertices[built.nics.size() + i].kind;
        const size_t most = kind == VertexKind::Leaf    ? 16 + 2
                            : kind == VertexKind::Spine ? 64 + 2
                                                        : 8 + 2;
        EXPECT_LE(ranges, most);
    }
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    std::mt19937 random(2);
    while (pairs.size() < 3'000)
    {
        const uint32_t from = random() % cluster.Gpus();
        const uint32_t to = random() % cluster.Gpus();
        if (from != to)
        {
            pairs.emplace_back(from, to);
        }
    }
    SendToEach(fabric, pairs);
    Simulator::Destroy();
}

} // namespace
} // namespace scaleacross
