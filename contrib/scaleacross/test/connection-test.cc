// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

/**
 * Four connections from one NIC to another take turns, a packet each: 4,000 packets of 1,048 bytes
 * for everyone, so the last packets of all leave one after the other and the completions are one
 * packet time, 83.84 ns, apart.
 */
class FairTurnsTest : public TestCase
{
  public:
    FairTurnsTest()
        : TestCase("Queue pairs of a NIC take turns")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        Log log;
        for (uint32_t i = 0; i < 4; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
            log.Watch(connection);
            connection->Send(Bytes(4'000'000), i);
        }
        Simulator::Run();
        const int64_t last = 2'000'000 + (16'000 + 1) * 83'840LL;
        for (uint32_t i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(log.delivered[i].tag, i, "in the order of posting");
            NS_TEST_ASSERT_MSG_EQ_TOL(log.delivered[i].time,
                                      last - (3 - i) * 83'840LL,
                                      Rounding(2),
                                      "one packet time apart");
        }
        Simulator::Destroy();
    }
};

/**
 * A window of 64,000 bytes, 64 packets, over two wires of 50 us: the first packet's ACK is back
 * after 200 us + 2 * 83.84 ns + 2 * 4.8 ns = 200.17728 us, and from then on every ACK lets a packet
 * go: 64 packets per 200.17728 us. 2,048 packets are 32 windows; the ACK of the last packet comes
 * 63 packet times after that of its window's first: 32 * 200.17728 us + 63 * 83.84 ns = 6,410.95488
 * us.
 */
class WindowTest : public TestCase
{
  public:
    WindowTest()
        : TestCase("The window limits the rate")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetQueuePairAttribute("Window", UintegerValue(64'000));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(50));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(2'048'000), 0);
        Simulator::Run();
        // Coarser ticks delay every one of the 32 rounds by up to one tick per wire.
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastCompletion(),
                                  6'410'954'880,
                                  Rounding(4 * 32),
                                  "last ACK");
        // 63 packet times of the end in 32 round trips: 0.08 %.
        const double rate = 2'048'000 / static_cast<double>(log.LastCompletion());
        const double bound = 64'000 / 200'177'280.0;
        NS_TEST_ASSERT_MSG_EQ_TOL(rate, bound, bound * 0.001, "window per round trip");
        Simulator::Destroy();
    }
};

/// With one ACK per 16 packets a window of 10 packets still moves: who fills the window asks for
/// it.
class CoalescingTest : public TestCase
{
  public:
    CoalescingTest()
        : TestCase("Coalesced ACKs and a small window")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(16));
        auto free = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        fabric.SetQueuePairAttribute("Window", UintegerValue(10'000));
        auto limited = fabric.CreateConnection(fabric.Nics()[1], fabric.Nics()[0]);
        Log log;
        log.Watch(free);
        log.Watch(limited);
        free->Send(Bytes(160'500), 1);    // 161 packets: an ACK for each 16th and for the last
        limited->Send(Bytes(101'000), 2); // 101 packets: an ACK for each 10th at least
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 2, "both done");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[1]->GetControlSent(), 11, "161 packets");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[0]->GetTimeouts(), 0, "no timeout");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[1]->GetTimeouts(), 0, "no timeout");
        Simulator::Destroy();
    }
};

/**
 * Four queue pairs, segments of 512 KiB, a message of 2.25 MiB and one of 1 MiB: five segments go
 * to queue pairs 0, 1, 2, 3, 0 and two to 1, 2. Tags and sizes arrive as they were sent, also those
 * of an empty message.
 */
class SegmentsTest : public TestCase
{
  public:
    SegmentsTest()
        : TestCase("A message over several queue pairs")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildStar(fabric, 2, "400Gbps", MicroSeconds(1));
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(4));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        const uint64_t large = 0xFEDCBA9876543210;
        connection->Send(Bytes(9 * kMiB / 4), large);
        connection->Send(Bytes(kMiB), 2);
        connection->Send(Bytes(0), 3);
        NS_TEST_ASSERT_MSG_EQ(connection->GetUndelivered(), 3, "on the way");
        Simulator::Run();
        const uint64_t segments[] = {2, 2, 2, 2};
        for (uint32_t i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(connection->GetQueuePair(i)->GetCounters().ackedMessages,
                                  segments[i],
                                  "segments of queue pair " << i);
        }
        NS_TEST_ASSERT_MSG_EQ(connection->GetQueuePair(0)->GetCounters().ackedBytes,
                              3 * kMiB / 4,
                              "512 KiB and the last 256 KiB");
        std::sort(log.delivered.begin(), log.delivered.end(), [](const Event& a, const Event& b) {
            return a.bytes < b.bytes;
        });
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 3, "each once");
        NS_TEST_ASSERT_MSG_EQ(log.delivered[0].tag, 3, "empty message");
        NS_TEST_ASSERT_MSG_EQ(log.delivered[1].tag, 2, "second message");
        NS_TEST_ASSERT_MSG_EQ(log.delivered[2].tag, large, "first message: all 64 bits");
        NS_TEST_ASSERT_MSG_EQ(log.delivered[2].bytes, 9 * kMiB / 4, "first message");
        NS_TEST_ASSERT_MSG_EQ(connection->GetUndelivered(), 0, "all delivered");
        Simulator::Destroy();
    }
};

/// ACKs have a higher priority: they are not held up by data of the other direction, and not
/// paused.
class PriorityTest : public TestCase
{
  public:
    PriorityTest()
        : TestCase("ACKs overtake data")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        auto forth = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        auto back = fabric.CreateConnection(fabric.Nics()[1], fabric.Nics()[0]);
        Log log;
        log.Watch(forth);
        forth->Send(Bytes(1000), 1);
        back->Send(Bytes(10'000'000), 2);
        Simulator::Run();
        // Packet: 2 * 83.84 ns + 2 us, there at 2.16768 us. ACK: it waits for the packet being
        // sent, on either wire, at most 83.84 ns each, instead of for 10 MB; then 2 * 4.8 ns + 2
        // us.
        const int64_t least = 2'167'680 + 2'009'600;
        NS_TEST_ASSERT_MSG_GT_OR_EQ(log.completed[0].time, least - Rounding(4), "not before");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(log.completed[0].time,
                                    least + 2 * 83'840 + Rounding(4),
                                    "two packet times later at most");
        Simulator::Destroy();
    }
};

/// Misuse is refused with a reason.
class MisuseTest : public TestCase
{
  public:
    MisuseTest()
        : TestCase("Misuse")
    {
    }

  private:
    template <class F>
    static bool Refuses(F f)
    {
        try
        {
            f();
        }
        catch (const scaleacross::ConfigError&)
        {
            return true;
        }
        return false;
    }

    void DoRun() override
    {
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        Ptr<RdmaNic> a = fabric.Nics()[0];
        Ptr<RdmaNic> b = fabric.Nics()[1];
        NS_TEST_ASSERT_MSG_EQ(Refuses([&]() { fabric.CreateConnection(a, a); }), true, "to itself");
        Ptr<RdmaConnection> unconnected = CreateObject<RdmaConnection>();
        NS_TEST_ASSERT_MSG_EQ(Refuses([&]() { unconnected->Send(Bytes(1), 1); }), true, "Send");
        Ptr<RdmaQueuePair> queuePair = a->CreateQueuePair();
        NS_TEST_ASSERT_MSG_EQ(
            Refuses([&]() { queuePair->Post(scaleacross::RdmaOperation::Write, Bytes(1), 1); }),
            true,
            "Post");
        NS_TEST_ASSERT_MSG_EQ(Refuses([&]() { fabric.ConnectPorts(a, b, DataRate(1), Time(1)); }),
                              true,
                              "a port with two wires");
        NS_TEST_ASSERT_MSG_EQ(Refuses([&]() { a->SetDataRate(DataRate(0)); }), true, "no rate");
        fabric.AddNic(fabric.AddHost());
        NS_TEST_ASSERT_MSG_EQ(Refuses([&]() { fabric.InstallRoutes(); }), true, "no wire");
        Simulator::Destroy();
    }
};

class ConnectionSuite : public TestSuite
{
  public:
    ConnectionSuite()
        : TestSuite("scaleacross-connection")
    {
        AddTestCase(new FairTurnsTest);
        AddTestCase(new WindowTest);
        AddTestCase(new CoalescingTest);
        AddTestCase(new SegmentsTest);
        AddTestCase(new PriorityTest);
        AddTestCase(new MisuseTest);
    }
};

ConnectionSuite g_connectionSuite;

} // namespace
