// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/lane-arbiter.h"
#include "ns3/string.h"
#include "ns3/weighted-turns.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::kPriorities;
using scaleacross::WeightedTurns;

namespace
{

/// Connection of two NICs whose data have a priority.
Ptr<RdmaConnection>
ConnectAt(FabricHelper& fabric, Ptr<RdmaNic> from, Ptr<RdmaNic> to, uint32_t priority)
{
    fabric.SetQueuePairAttribute("Priority", UintegerValue(priority));
    return fabric.CreateConnection(from, to);
}

/// Two NICs back to back, 100 Gb/s, 1 us, packets of 1,000 + 48 bytes: 83,840 ps each.
struct Pair
{
    explicit Pair(const std::string& quanta = "")
    {
        UseHpccSizes(fabric);
        fabric.SetNicAttribute("Quanta", StringValue(quanta));
        a = fabric.AddNic(fabric.AddHost());
        b = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1));
    }

    int64_t DeliveredAt(uint64_t tag) const
    {
        for (const Event& event : log.delivered)
        {
            if (event.tag == tag)
            {
                return event.time;
            }
        }
        return -1;
    }

    FabricHelper fabric;
    Ptr<RdmaNic> a;
    Ptr<RdmaNic> b;
    Log log;
};

constexpr int64_t kPacket = 1'048 * 80;
constexpr int64_t kDelay = 1'000'000;

/**
 * Eight queue pairs, one of each priority, posted from the smallest priority to the largest: 10
 * packets each. Largest first: the message of priority p is there when those of all larger ones
 * and its own have left, (8 - p) 10 packets, plus 1 us.
 */
class EightPrioritiesTest : public TestCase
{
  public:
    EightPrioritiesTest()
        : TestCase("Eight strict priorities")
    {
    }

  private:
    void DoRun() override
    {
        Pair pair;
        for (uint32_t priority = 0; priority < kPriorities; ++priority)
        {
            auto connection = ConnectAt(pair.fabric, pair.a, pair.b, priority);
            pair.log.Watch(connection);
            connection->Send(Bytes(10'000), priority);
        }
        Simulator::Run();
        for (int64_t priority = 0; priority < kPriorities; ++priority)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(static_cast<uint64_t>(priority)),
                                      (8 - priority) * 10 * kPacket + kDelay,
                                      Rounding(1),
                                      "priority " << priority);
        }
        Simulator::Destroy();
    }
};

/**
 * A packet that has begun is finished. 100 packets of priority 2 since time zero; at 1 us, within
 * the 12th of them (11 x 83,840 = 922,240 ps), 5 packets of priority 5 are posted: they leave after
 * the 12th, and all others of priority 2 after them.
 */
class NoPreemptionTest : public TestCase
{
  public:
    NoPreemptionTest()
        : TestCase("A larger priority waits for the packet that is being sent")
    {
    }

  private:
    void DoRun() override
    {
        Pair pair;
        auto low = ConnectAt(pair.fabric, pair.a, pair.b, 2);
        auto high = ConnectAt(pair.fabric, pair.a, pair.b, 5);
        pair.log.Watch(low);
        pair.log.Watch(high);
        low->Send(Bytes(100'000), 2);
        Simulator::Schedule(MicroSeconds(1), [&]() { high->Send(Bytes(5'000), 5); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(5), 17 * kPacket + kDelay, Rounding(1), "5");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(2), 105 * kPacket + kDelay, Rounding(1), "2");
        Simulator::Destroy();
    }
};

/**
 * Control goes before data of its own priority, after data of larger ones. b gets 30 packets and
 * answers each with an ACK of 60 bytes, while it sends 40 packets of its own, of priority 4, in the
 * other direction. ACKs of priority 4 each leave after the packet that is being sent: 30 packets of
 * 83,840 ps end at b at n 83,840 + 1 us, between two starts of b's own, and each of the 30 ACKs
 * delays what b sends by 4,800 ps. With ACKs of priority 1 all data are first: not delayed at all.
 */
class ControlTest : public TestCase
{
  public:
    explicit ControlTest(uint32_t ackPriority)
        : TestCase("ACKs of priority " + std::to_string(ackPriority) + " among data of priority 4"),
          m_ackPriority(ackPriority)
    {
    }

  private:
    void DoRun() override
    {
        Pair pair;
        pair.fabric.SetQueuePairAttribute("AckPriority", UintegerValue(m_ackPriority));
        auto there = ConnectAt(pair.fabric, pair.a, pair.b, 4);
        auto back = ConnectAt(pair.fabric, pair.b, pair.a, 4);
        pair.log.Watch(there);
        pair.log.Watch(back);
        there->Send(Bytes(30'000), 1);
        back->Send(Bytes(60'000), 2);
        Simulator::Run();
        const int64_t acks = m_ackPriority == 4 ? 30 : 0;
        // Both ends send from time zero on; a's packet n has come to b at n kPacket + 1 us, hence
        // all 30 before b's last packet (the 60th) has begun.
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(2),
                                  60 * kPacket + acks * 60 * 80 + kDelay,
                                  Rounding(1),
                                  "b's data");
        Simulator::Destroy();
    }

    uint32_t m_ackPriority;
};

/**
 * Pauses stop one priority only. Over one wire between two switches a NIC sends 1 MiB of priority 3
 * to a receiver at 1 Gb/s, which is paused again and again, and from 50 us on 1 MB of another
 * priority to a fast receiver. Alone that takes, from its start, 3 us of wires and
 * (1,000 + 2) packets of 83,840 ps. A larger priority can be delayed by a packet in service at each
 * of three ports, a smaller one also by what the slow receiver can take meanwhile: 1 % of the time,
 * in whole packets, and what is left in flight at a resume: a headroom's worth of
 * 2 us x 12.5 GB/s = 25 kB, 24 packets.
 */
class PausePerPriorityTest : public TestCase
{
  public:
    explicit PausePerPriorityTest(uint32_t priority)
        : TestCase("Priority " + std::to_string(priority) + " goes on while 3 is paused"),
          m_priority(priority)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(2 * kMiB));
        fabric.SetSwitchAttribute("LosslessPriorities", UintegerValue(1U << 3 | 1U << m_priority));
        Ptr<FabricSwitch> near = fabric.AddSwitch();
        Ptr<FabricSwitch> far = fabric.AddSwitch();
        const DataRate fast("100Gbps");
        fabric.Connect(fabric.AddNic(fabric.AddHost()), near, fast, MicroSeconds(1));
        fabric.Connect(near, far, fast, MicroSeconds(1));
        fabric.Connect(fabric.AddNic(fabric.AddHost()), far, DataRate("1Gbps"), MicroSeconds(1));
        fabric.Connect(fabric.AddNic(fabric.AddHost()), far, fast, MicroSeconds(1));
        fabric.InstallRoutes();
        Log log;
        auto slow = ConnectAt(fabric, fabric.Nics()[0], fabric.Nics()[1], 3);
        auto other = ConnectAt(fabric, fabric.Nics()[0], fabric.Nics()[2], m_priority);
        log.Watch(other);
        slow->Send(Bytes(kMiB), 3);
        bool paused3 = false;
        bool pausedOther = false;
        for (uint32_t us = 50; us < 150; ++us)
        {
            Simulator::Schedule(MicroSeconds(us), [&]() {
                paused3 = paused3 || near->GetPort(1)->IsPaused(3);
                pausedOther = pausedOther || near->GetPort(1)->IsPaused(m_priority);
            });
        }
        Simulator::Schedule(MicroSeconds(50), [&]() { other->Send(Bytes(1'000'000), 1); });
        Simulator::Run();
        const int64_t alone = 50'000'000 + 3'000'000 + 1'002 * kPacket;
        const int64_t slack = m_priority > 3 ? 3 : 3 + 10 + 24;
        NS_TEST_ASSERT_MSG_EQ(paused3, true, "3 is paused");
        NS_TEST_ASSERT_MSG_EQ(pausedOther, false, "the other one never");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(log.LastDelivery(), alone - Rounding(3), "not earlier");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(log.LastDelivery(), alone + slack * kPacket, "at full rate");
        NS_TEST_ASSERT_MSG_EQ(BalanceOf(fabric).Dropped(), 0, "no drop");
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    uint32_t m_priority;
};

/**
 * Weighted turns on a NIC: quanta of 1,048 bytes for priority 3, 3,144 for 4; 6 is strict. 100, 300
 * and 20 packets, all there at time zero: the 20 of priority 6 first, then 4 4 4 3 a hundred times.
 * So priority 4 ends with packet 20 + 399, priority 3 with packet 20 + 400. When priority 4 has
 * only 30 packets, 10 rounds of 4 are over with packet 40 less one, and priority 3 has the line
 * alone: it ends with packet 20 + 130.
 */
class WeightedTest : public TestCase
{
  public:
    explicit WeightedTest(int64_t packetsOf4)
        : TestCase("Weighted turns, " + std::to_string(packetsOf4) + " packets of priority 4"),
          m_packetsOf4(packetsOf4)
    {
    }

  private:
    void DoRun() override
    {
        Pair pair("0,0,0,1048,3144,0,0,0");
        const std::pair<uint32_t, int64_t> flows[] = {{3, 100}, {4, m_packetsOf4}, {6, 20}};
        for (const auto& [priority, packets] : flows)
        {
            auto connection = ConnectAt(pair.fabric, pair.a, pair.b, priority);
            pair.log.Watch(connection);
            connection->Send(Bytes(static_cast<uint64_t>(packets) * 1000), priority);
        }
        Simulator::Run();
        const int64_t last4 = 20 + m_packetsOf4 / 3 * 4 - 1;
        const int64_t last3 = 20 + 100 + m_packetsOf4;
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(6), 20 * kPacket + kDelay, Rounding(1), "6");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(4), last4 * kPacket + kDelay, Rounding(1), "4");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(3), last3 * kPacket + kDelay, Rounding(1), "3");
        Simulator::Destroy();
    }

    int64_t m_packetsOf4;
};

/**
 * The rule by itself, with packets of unequal sizes: after many rounds, bytes are in the proportion
 * of the quanta but for one packet each (credit is never above the quantum nor below minus one
 * packet: after n rounds a priority has sent n quanta within that).
 */
class TurnsTest : public TestCase
{
  public:
    TurnsTest()
        : TestCase("Weighted turns share bytes, whatever the sizes")
    {
    }

  private:
    void DoRun() override
    {
        WeightedTurns turns(WeightedTurns::Parse("500,0,2000,0,0,0,0,7000"));
        const uint32_t sizes[] = {9000, 0, 300, 0, 0, 0, 0, 1500};
        std::array<uint64_t, kPriorities> bytes{};
        uint64_t sent = 0;
        for (uint32_t i = 0; i < 100'000; ++i)
        {
            uint8_t priority = turns.Choose(0b10000101, sent);
            sent += sizes[priority];
            bytes[priority] += sizes[priority];
        }
        const double rounds = static_cast<double>(sent) / 9500;
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(bytes[0]), rounds * 500, 9500 + 9000, "0");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(bytes[2]), rounds * 2000, 9500 + 2000, "2");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(bytes[7]), rounds * 7000, 9500 + 7000, "7");
        NS_TEST_ASSERT_MSG_EQ(int(turns.Choose(0b110010101, sent)), 8, "pause frames are strict");
        NS_TEST_ASSERT_MSG_EQ(int(turns.Choose(0b010011101, sent)), 4, "and those without quantum");
        for (const char* bad : {"1",
                                "1,2,3,4,5,6,7",
                                "1,2,3,4,5,6,7,8,9",
                                "a",
                                "-1,0,0,0,0,0,0,0",
                                "1,2,3,4,5,6,7,",
                                "0,0,0,0,0,0,0,2000000000"})
        {
            bool refused = false;
            try
            {
                WeightedTurns::Parse(bad);
            }
            catch (const ConfigError&)
            {
                refused = true;
            }
            NS_TEST_ASSERT_MSG_EQ(refused, true, "'" << bad << "'");
        }
    }
};

/**
 * InfiniBand's tables by themselves, packets of 64 bytes. Low 3:1,4:3: 3 4 4 4 over and over. With
 * high 6:2 and a limit of 0, one packet of 6, then one of low; lane 0, which no table names, only
 * when nothing else may; credit packets (8) before all. A limit of 1 is 4,096 bytes: 64 packets of
 * 6 between two of low. Packets of 640 bytes cost ten units: 3 and 4 take turns, a packet each.
 */
class LaneTablesTest : public TestCase
{
  public:
    LaneTablesTest()
        : TestCase("Tables of virtual lanes")
    {
    }

  private:
    /// The lanes served, one character each, with always the same ones ready.
    static std::string Serve(const std::string& tables,
                             uint32_t ready,
                             uint32_t count,
                             uint32_t size = 64)
    {
        scaleacross::LaneArbiter arbiter(scaleacross::LaneArbiter::Parse(tables, "test"));
        std::string served;
        for (uint32_t i = 0; i < count; ++i)
        {
            served += static_cast<char>('0' + arbiter.Choose(ready, uint64_t{i} * size));
        }
        return served;
    }

    void DoRun() override
    {
        const uint32_t lanes = 1U << 0 | 1U << 3 | 1U << 4;
        NS_TEST_EXPECT_MSG_EQ(Serve("low 3:1,4:3", lanes, 10), "3444344434", "weights");
        NS_TEST_EXPECT_MSG_EQ(Serve("low 3:1,4:3", 1U << 0 | 1U << 4, 5), "44444", "3 is idle");
        NS_TEST_EXPECT_MSG_EQ(Serve("low 3:1,4:3", 1U << 0, 2), "00", "no table names it");
        NS_TEST_EXPECT_MSG_EQ(Serve("low 3:1,4:3", lanes | 1U << 8, 2), "88", "credit packets");
        NS_TEST_EXPECT_MSG_EQ(Serve("low 3:1,4:3", lanes, 6, 640), "343434", "large packets");
        NS_TEST_EXPECT_MSG_EQ(Serve("high 6:2; low 3:1,4:1; limit 0", lanes | 1U << 6, 8),
                              "63646364",
                              "limit 0");
        NS_TEST_EXPECT_MSG_EQ(Serve("high 6:2;low 3:1", lanes | 1U << 6, 5), "66666", "no limit");
        const std::string limited = Serve("high 6:2; low 3:1; limit 1", lanes | 1U << 6, 131);
        NS_TEST_EXPECT_MSG_EQ(limited,
                              std::string(64, '6') + "3" + std::string(64, '6') + "36",
                              "limit 1");
        for (const char* bad : {"low",
                                "low 8:1",
                                "low 3:256",
                                "low 3",
                                "low 3:1,",
                                "low 3:1; low 4:1",
                                "low 3:0",
                                "limit 3",
                                "low 3:1; limit 256",
                                "low 3:1; limit 1; limit 1",
                                "middle 3:1",
                                "low 3:1x"})
        {
            bool refused = false;
            try
            {
                scaleacross::LaneArbiter::Parse(bad, "test");
            }
            catch (const ConfigError&)
            {
                refused = true;
            }
            NS_TEST_EXPECT_MSG_EQ(refused, true, "'" << bad << "'");
        }
    }
};

/**
 * On a NIC: low 3:16,4:48 with packets of 16 units (1,024 bytes; 1,048 cost 17): a lane sends while
 * weight is left, so 3 sends 1 packet in its turn and 4 sends 3 (48 - 17 - 17 > 0). 100 packets of
 * 3 and 300 of 4, all there at time zero: 3 4 4 4 a hundred times, so 3 ends with packet 397 and 4
 * with packet 400.
 */
class LaneTablesOfNicTest : public TestCase
{
  public:
    LaneTablesOfNicTest()
        : TestCase("A NIC serves its lanes by tables")
    {
    }

  private:
    void DoRun() override
    {
        Pair pair;
        pair.a->SetAttribute("LaneArbitration", StringValue("low 3:16,4:48"));
        for (const auto& [lane, packets] : {std::pair(3U, 100U), std::pair(4U, 300U)})
        {
            auto connection = ConnectAt(pair.fabric, pair.a, pair.b, lane);
            pair.log.Watch(connection);
            connection->Send(Bytes(packets * 1000), lane);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(3), 397 * kPacket + kDelay, Rounding(1), "3");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.DeliveredAt(4), 400 * kPacket + kDelay, Rounding(1), "4");
        Simulator::Destroy();
    }
};

class ArbiterSuite : public TestSuite
{
  public:
    ArbiterSuite()
        : TestSuite("scaleacross-arbiter")
    {
        AddTestCase(new EightPrioritiesTest);
        AddTestCase(new NoPreemptionTest);
        AddTestCase(new ControlTest(4));
        AddTestCase(new ControlTest(1));
        AddTestCase(new PausePerPriorityTest(5));
        AddTestCase(new PausePerPriorityTest(2));
        AddTestCase(new WeightedTest(300));
        AddTestCase(new WeightedTest(30));
        AddTestCase(new TurnsTest);
        AddTestCase(new LaneTablesTest);
        AddTestCase(new LaneTablesOfNicTest);
    }
};

ArbiterSuite g_arbiterSuite;

} // namespace
