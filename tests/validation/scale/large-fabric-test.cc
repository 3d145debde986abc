// SPDX-License-Identifier: GPL-2.0-only

#include "../../three-stage-clos.h"

#include "ns3/fabric-balance.h"
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

/// 16,384 NICs in 4 buildings, three tiers of switches each (ThreeStageClos).
class LargeFabricTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        if (Time::GetResolution() != Time::PS) // once per process
        {
            Time::SetResolution(Time::PS);
        }
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
    std::set<uint64_t> arrived;
    uint64_t crossing = 0;
    for (size_t i = 0; i < pairs.size(); i++)
    {
        const auto [from, to] = pairs[i];
        crossing += from / perBuilding != to / perBuilding ? 1 : 0;
        const auto connection =
            m_fabric.CreateConnection(m_fabric.Nics()[from], m_fabric.Nics()[to]);
        connection->SetDeliveryCallback(RdmaMessageCallback(
            [&arrived](Bytes, uint64_t tag) { EXPECT_TRUE(arrived.insert(tag).second); }));
        connection->SetFailureCallback(
            MakeCallback(+[](const std::string& reason) { ADD_FAILURE() << reason; }));
        connection->Send(Bytes(4096), i);
    }
    EXPECT_GT(crossing, 7'000U) << "three quarters of random pairs cross buildings";
    Simulator::Run();
    EXPECT_EQ(arrived.size(), pairs.size());
    CheckConservation(m_fabric);
    const FabricBalance balance = BalanceOf(m_fabric);
    EXPECT_EQ(balance.Dropped(), 0U);
    EXPECT_EQ(balance.delivered, 2 * pairs.size()) << "one data packet and one ACK each";
}

} // namespace
} // namespace scaleacross
