// SPDX-License-Identifier: GPL-2.0-only

// What users do in mid-run to a NIC that stays behind: it takes effect at its time, and not with
// something that was due before and is only done now.

#include "look-ahead-runs.h"

#include "ns3/string.h"

#include <string>

using namespace lookahead;
using scaleacross::Bytes;

namespace
{

constexpr int64_t kWirePs = 10'000'000;  //!< 10 us
constexpr int64_t kPacketPs = 4194 * 80; //!< 4,096 + 58 + 24 + 16 bytes at 100 Gb/s

/**
 * NIC 0 has a queue pair of 0.8 Gb/s and a window of one packet, whose alarms are set while past
 * arrivals are settled, and gets data from NIC 1, so that there are such arrivals. One packet is
 * posted to another queue pair of NIC 0 at T.
 *
 * It takes two wires of 10 us and is serialised twice: T + 20 us + 2 * 335.52 ns is the earliest
 * possible arrival, and nobody else sends to NIC 2. NIC 0 sends a paced packet now and then, for
 * which it may have to wait once, and ACKs of 86 bytes, 6.88 ns.
 */
class PostTest : public TestCase
{
  public:
    PostTest()
        : TestCase("A message leaves when it is posted, not before")
    {
    }

  private:
    static int64_t DeliveryOf(const Engine& engine, Time posted)
    {
        EngineGuard guard(engine);
        FabricHelper fabric;
        BuildStar(fabric, 3, "100Gbps", MicroSeconds(10));
        fabric.SetQueuePairAttribute("RateLimit", StringValue("800Mbps"));
        fabric.SetQueuePairAttribute("Window", UintegerValue(4096));
        auto paced = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        fabric.SetQueuePairAttribute("RateLimit", StringValue("0bps"));
        fabric.SetQueuePairAttribute("Window", UintegerValue(0));
        auto reverse = fabric.CreateConnection(fabric.Nics()[1], fabric.Nics()[0]);
        auto probe = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[2]);
        Log log;
        log.Watch(probe);
        paced->Send(Bytes(10 * 4096), 0);
        reverse->Send(Bytes(400 * 4096), 1);
        Simulator::Schedule(posted, [probe]() { probe->Send(Bytes(4096), 2); });
        Simulator::Run();
        return log.delivered.size() == 1 ? log.LastDelivery() : -1;
    }

    void DoRun() override
    {
        for (int64_t us = 24; us <= 96; us += 2)
        {
            const Time posted = MicroSeconds(us);
            const int64_t earliest = posted.GetPicoSeconds() + 2 * (kWirePs + kPacketPs);
            const int64_t plain = DeliveryOf(kPlain, posted);
            NS_TEST_EXPECT_MSG_GT_OR_EQ(plain, earliest, "posted at " << us << " us");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(plain,
                                        earliest + kPacketPs + 6'880 + Rounding(2),
                                        "posted at " << us << " us");
            for (const Engine& engine : {kLazy, kAhead, kBehind, kWindows})
            {
                NS_TEST_EXPECT_MSG_EQ(DeliveryOf(engine, posted),
                                      plain,
                                      engine.name << ", posted at " << us << " us");
            }
        }
        if (Rounding(1) == 0)
        {
            // NIC 0 does nothing else just then.
            NS_TEST_EXPECT_MSG_EQ(DeliveryOf(kPlain, MicroSeconds(50)), 70'671'040, "by hand");
        }
    }
};

/**
 * A queue pair that is connected late, or even created, while packets for it are on the way. What
 * has come in before is ignored; from then on it takes part. The first of ten packets comes in at
 * 20.671 us, the others every 335 ns (those after the first have no RETH: 334.24 ns).
 */
class LateConnectTest : public TestCase
{
  public:
    LateConnectTest()
        : TestCase("A queue pair is connected when it is, not before")
    {
    }

  private:
    static std::vector<fabrictest::Event> DeliveriesOf(const Engine& engine,
                                                       bool createLate,
                                                       Time connected)
    {
        EngineGuard guard(engine);
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(10));
        const Ptr<RdmaNic> from = fabric.Nics()[0];
        const Ptr<RdmaNic> to = fabric.Nics()[1];
        auto sender = from->CreateQueuePair();
        if (!createLate)
        {
            to->CreateQueuePair();
        }
        sender->Connect(to->GetFabricAddress(), 0);
        sender->Post(scaleacross::RdmaOperation::Write, Bytes(10 * 4096), 0);
        std::vector<fabrictest::Event> delivered;
        Simulator::Schedule(connected, [&]() {
            auto receiver = createLate ? to->CreateQueuePair() : to->GetQueuePair(0);
            receiver->SetDeliveryCallback(RdmaMessageCallback([&](Bytes bytes, uint64_t tag) {
                delivered.push_back({tag, bytes.Count(), Simulator::Now().GetPicoSeconds()});
            }));
            receiver->Connect(from->GetFabricAddress(), sender->GetNumber());
        });
        Simulator::Run();
        return delivered;
    }

    void DoRun() override
    {
        for (const bool createLate : {false, true})
        {
            for (const int64_t ns : {15'000, 20'900, 22'345, 25'000})
            {
                const Time connected = NanoSeconds(ns);
                const auto plain = DeliveriesOf(kPlain, createLate, connected);
                NS_TEST_EXPECT_MSG_EQ(plain.size(), 1, "connected at " << ns << " ns");
                for (const Engine& engine : {kLazy, kAhead, kBehind, kWindows})
                {
                    NS_TEST_EXPECT_MSG_EQ((DeliveriesOf(engine, createLate, connected) == plain),
                                          true,
                                          engine.name << ", connected at " << ns << " ns"
                                                      << (createLate ? ", created then" : ""));
                }
            }
        }
        if (Rounding(1) == 0)
        {
            // In time for all of them: twice 10 us and 335.52 ns, then nine times 334.24 ns.
            NS_TEST_EXPECT_MSG_EQ(DeliveriesOf(kPlain, true, MicroSeconds(15)).at(0).time,
                                  23'679'200,
                                  "by hand");
        }
    }
};

/**
 * A receive that is posted at the very picosecond at which a send comes in is too late for it, in
 * whatever order the Simulator has the two: 20 us and twice 4,178 bytes at 100 Gb/s, 334.24 ns,
 * after it was posted. The send is refused, and repeated after the receiver's 10 us (RnrTimer 1):
 * the NAK of 86 bytes is back after 20 us and 13.76 ns.
 */
class ReceiveTest : public TestCase
{
  public:
    ReceiveTest()
        : TestCase("A receive is posted after what comes in then")
    {
    }

  private:
    static constexpr int64_t kWay = 20'668'480;

    static int64_t DeliveryOf(const Engine& engine, bool scheduledFirst)
    {
        EngineGuard guard(engine);
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(10));
        fabric.SetQueuePairAttribute("ReceiveQueueDepth", UintegerValue(1));
        fabric.SetQueuePairAttribute("RnrTimer", UintegerValue(1));
        fabric.SetConnectionAttribute("Operation", StringValue("Send"));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        const auto post = [connection]() { connection->GetRemoteQueuePair(0)->PostReceive(); };
        connection->Send(Bytes(4096), 0);
        if (scheduledFirst)
        {
            Simulator::Schedule(PicoSeconds(kWay), post);
        }
        else
        {
            // When all that the packet does until then has been planned.
            Simulator::Schedule(PicoSeconds(kWay - 1),
                                [post]() { Simulator::Schedule(PicoSeconds(1), post); });
        }
        Simulator::Run();
        return log.delivered.size() == 1 ? log.LastDelivery() : -1;
    }

    void DoRun() override
    {
        if (Rounding(1) > 0)
        {
            return; // times are not exact
        }
        for (const bool scheduledFirst : {false, true})
        {
            for (const Engine& engine : {kPlain, kLazy, kAhead, kBehind, kWindows})
            {
                NS_TEST_EXPECT_MSG_EQ(DeliveryOf(engine, scheduledFirst),
                                      kWay + 20'013'760 + 10'000'000 + kWay,
                                      engine.name << (scheduledFirst ? ", scheduled first" : ""));
            }
        }
    }
};

class LookAheadPostsSuite : public TestSuite
{
  public:
    LookAheadPostsSuite()
        : TestSuite("scaleacross-look-ahead-posts")
    {
        AddTestCase(new PostTest);
        AddTestCase(new LateConnectTest);
        AddTestCase(new ReceiveTest);
    }
};

LookAheadPostsSuite g_lookAheadPostsSuite;

} // namespace
