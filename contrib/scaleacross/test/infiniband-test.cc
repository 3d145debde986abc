// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/destination-mod-k-selector.h"
#include "ns3/fabric-multipath.h"
#include "ns3/fabric-transport.h"
#include "ns3/type-id.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

/**
 * Bytes on the wire by the standard's header sizes: LRH 8, BTH 12, ICRC 4, VCRC 2 and two
 * delimiters are 28; RETH 16 on the first packet, nothing else. 10,000 bytes over one switch at 400
 * Gb/s (20 ps a byte) and 1 us: packets of 4,096 + 28 + 16, 4,096 + 28 and 1,808 + 28 bytes, 10,100
 * in all. The longest is first: it is stored whole, and the others follow it out of the switch
 * without a gap: 4,140 + 10,100 bytes. With the third packet 160 blocks are free anew at the
 * receiver, more than an update (132): a credit packet of 8 bytes goes before the ACK. ACK: 26 + 4
 * + 2 bytes, twice. A write of one byte takes 28 + 16 + 1 = 45 bytes: nothing is padded.
 */
class SizesTest : public TestCase
{
  public:
    SizesTest()
        : TestCase("Header sizes of InfiniBand")
    {
    }

  private:
    /// Times of delivery and completion of a message over one switch.
    static std::pair<int64_t, int64_t> Times(uint64_t bytes)
    {
        FabricHelper fabric;
        UseTransport(fabric, scaleacross::Transport("infiniband"));
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(1000)); // the last one only
        BuildStar(fabric, 2, "400Gbps", MicroSeconds(1));
        Log log;
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        log.Watch(connection);
        connection->Send(Bytes(bytes), 1);
        Simulator::Run();
        const auto times = std::make_pair(log.LastDelivery(), log.LastCompletion());
        Simulator::Destroy();
        return times;
    }

    void DoRun() override
    {
        const int64_t wires = 2'000'000;
        const auto [there, known] = Times(10'000);
        const int64_t expected = wires + (4'140 + 10'100) * 20;
        NS_TEST_ASSERT_MSG_EQ_TOL(there, expected, Rounding(2), "delivery");
        NS_TEST_ASSERT_MSG_EQ_TOL(known, expected + wires + (8 + 2 * 32) * 20, Rounding(4), "ACK");
        NS_TEST_ASSERT_MSG_EQ_TOL(Times(1).first, wires + 2 * 45 * 20, Rounding(2), "one byte");
    }
};

/**
 * Four leaves of four hosts under four spines: host i sends to i + s mod 16, for every shift s
 * that leaves the leaf. To a leaf's four hosts go four destinations that differ modulo 4, so they
 * take four spines; a spine's wire down carries one destination. No two data flows ever meet: with
 * no ACK but the last, all 16 arrive at the same time, that of a flow that is alone: packets of
 * 1,048 bytes at 80 ps a byte over four wires of 1 us, store and forward: 4 us + (50 + 3) x 83,840
 * ps. Every path is the one that is predicted.
 */
class DestinationModKTest : public TestCase
{
  public:
    DestinationModKTest()
        : TestCase("Destination mod k carries shifts without collisions")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint32_t shift : {4U, 7U, 8U, 12U})
        {
            FabricHelper fabric;
            UseHpccSizes(fabric);
            fabric.SetSwitchAttribute("PathSelector",
                                      TypeIdValue(DestinationModKSelector::GetTypeId()));
            fabric.SetQueuePairAttribute("AckInterval", UintegerValue(1000));
            std::vector<Ptr<FabricSwitch>> leaves;
            for (uint32_t i = 0; i < 16; ++i)
            {
                if (i % 4 == 0)
                {
                    leaves.push_back(fabric.AddSwitch());
                }
                fabric.Connect(fabric.AddNic(fabric.AddHost()),
                               leaves.back(),
                               DataRate("100Gbps"),
                               MicroSeconds(1));
            }
            std::vector<Ptr<FabricSwitch>> spines;
            for (uint32_t i = 0; i < 4; ++i)
            {
                spines.push_back(fabric.AddSwitch());
                for (const auto& leaf : leaves)
                {
                    fabric.Connect(leaf, spines[i], DataRate("100Gbps"), MicroSeconds(1));
                }
            }
            fabric.InstallRoutes();
            Log log;
            for (uint32_t i = 0; i < 16; ++i)
            {
                const uint32_t to = (i + shift) % 16;
                if (i / 4 == to / 4)
                {
                    continue; // stays below its leaf: has another time
                }
                auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[to]);
                log.Watch(connection);
                connection->Send(Bytes(50'000), i);
            }
            Simulator::Run();
            const int64_t alone = 4'000'000 + 53 * 83'840;
            for (const Event& event : log.delivered)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(event.time, alone, Rounding(4), "shift " << shift);
            }
            NS_TEST_ASSERT_MSG_GT(log.delivered.size(), 11, "all that leave their leaf");
            for (uint32_t i = 0; i < 16 && shift == 8; ++i)
            {
                // Ports 4 to 7 of a leaf lead up.
                scaleacross::FabricPacket packet{};
                packet.source = fabric.Nics()[i]->GetFabricAddress();
                packet.destination = fabric.Nics()[(i + 8) % 16]->GetFabricAddress();
                NS_TEST_ASSERT_MSG_EQ(leaves[i / 4]->PredictPort(packet),
                                      4 + packet.destination % 4,
                                      "by the remainder");
            }
            Simulator::Destroy();
        }
    }
};

/**
 * Three stages: four groups of two leaves with two hosts and two links up each, two switches in
 * each group that have two links up, four switches at the top. Every host sends to the one `shift`
 * further on, in another group. Divisors are 1, 2 and 4, so the four hosts of a group are reached
 * over four different switches at the top, and every wire down carries one destination: nobody
 * meets, all 16 arrive when a flow that is alone does, 6 us + (50 + 5) x 83,840 ps.
 *
 * With a Divisor of 1 everywhere destinations that are alike modulo 2 share the top switch and the
 * wires down from it: each of those wires has two flows, and the last arrives some 50 packets
 * later.
 */
class StagesTest : public TestCase
{
  public:
    explicit StagesTest(bool byStage)
        : TestCase(byStage ? "Three stages divide by what those below tell apart"
                           : "Three stages with one divisor collide"),
          m_byStage(byStage)
    {
    }

  private:
    static constexpr int64_t kAlone = 6'000'000 + 55 * 83'840;

    void DoRun() override
    {
        for (const uint32_t shift : {4U, 6U, 8U, 12U})
        {
            FabricHelper fabric;
            UseHpccSizes(fabric);
            UseMultipath(fabric, scaleacross::Multipath("d-mod-k"));
            fabric.SetQueuePairAttribute("AckInterval", UintegerValue(1000));
            const DataRate rate("100Gbps");
            std::vector<Ptr<FabricSwitch>> top;
            for (uint32_t i = 0; i < 4; ++i)
            {
                top.push_back(fabric.AddSwitch());
            }
            for (uint32_t group = 0; group < 4; ++group)
            {
                Ptr<FabricSwitch> middle[] = {fabric.AddSwitch(), fabric.AddSwitch()};
                for (uint32_t leaf = 0; leaf < 2; ++leaf)
                {
                    Ptr<FabricSwitch> place = fabric.AddSwitch();
                    for (uint32_t host = 0; host < 2; ++host)
                    {
                        fabric.Connect(fabric.AddNic(fabric.AddHost()),
                                       place,
                                       rate,
                                       MicroSeconds(1));
                        fabric.Connect(place, middle[host], rate, MicroSeconds(1));
                    }
                }
                for (uint32_t i = 0; i < 4; ++i)
                {
                    fabric.Connect(middle[i / 2], top[i], rate, MicroSeconds(1));
                }
            }
            for (const auto& place : fabric.Switches())
            {
                if (!m_byStage)
                {
                    place->GetPathSelector()->SetAttribute("Divisor", UintegerValue(1));
                }
            }
            fabric.InstallRoutes();
            Log log;
            for (uint32_t i = 0; i < 16; ++i)
            {
                auto connection =
                    fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[(i + shift) % 16]);
                log.Watch(connection);
                connection->Send(Bytes(50'000), i);
            }
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 16, "all");
            const auto far = [&](const Event& event) {
                return event.tag / 4 != (event.tag + shift) % 16 / 4; // another group
            };
            for (const Event& event : log.delivered)
            {
                if (m_byStage && far(event))
                {
                    NS_TEST_ASSERT_MSG_EQ_TOL(event.time, kAlone, Rounding(6), "shift " << shift);
                }
            }
            if (!m_byStage)
            {
                NS_TEST_ASSERT_MSG_GT(log.LastDelivery(), kAlone + 45 * 83'840, "shift " << shift);
            }
            Simulator::Destroy();
        }
    }

    bool m_byStage;
};

class InfinibandSuite : public TestSuite
{
  public:
    InfinibandSuite()
        : TestSuite("scaleacross-infiniband")
    {
        AddTestCase(new SizesTest);
        AddTestCase(new DestinationModKTest);
        AddTestCase(new StagesTest(true));
        AddTestCase(new StagesTest(false));
    }
};

InfinibandSuite g_infinibandSuite;

} // namespace
