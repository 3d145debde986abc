// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/enum.h"
#include "ns3/segment-order.h"

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

/// Numbers wrap after 2^24 and are told of in order, whatever the order of arrival.
class SegmentOrderTest : public TestCase
{
  public:
    SegmentOrderTest()
        : TestCase("Segments are told of in order")
    {
    }

  private:
    void DoRun() override
    {
        using scaleacross::SegmentOrder;
        SegmentOrder order((1ULL << 40) - 2);
        const uint32_t first = order.Send(7, false);
        const uint32_t second = order.Send(7, true);
        const uint32_t third = order.Send(8, true);
        NS_TEST_EXPECT_MSG_EQ(first, 0xFFFFFE, "two before the wrap");
        NS_TEST_EXPECT_MSG_EQ(second, (0xFFFFFF | SegmentOrder::kNotify), "ends a message");
        NS_TEST_EXPECT_MSG_EQ(third, uint32_t{SegmentOrder::kNotify}, "wrapped");
        std::vector<uint64_t> done;
        for (const uint32_t immediate : {third, first, second})
        {
            order.Arrive(immediate, [&done](uint64_t id) { done.push_back(id); });
            NS_TEST_EXPECT_MSG_EQ(done.size(),
                                  (immediate == second ? 2U : 0U),
                                  "not before its turn");
        }
        NS_TEST_EXPECT_MSG_EQ(done.front(), 7, "in order");
    }
};

/// A connection over two pairs of NICs, each with a switch between: wires of 1 us and of 100 us.
Ptr<RdmaConnection>
ConnectTwoWays(FabricHelper& fabric)
{
    std::vector<RdmaConnection::NicPair> nics;
    for (const int64_t delay : {1, 100})
    {
        const auto middle = fabric.AddSwitch();
        nics.emplace_back(fabric.AddNic(fabric.AddHost()), fabric.AddNic(fabric.AddHost()));
        for (const auto& nic : {nics.back().first, nics.back().second})
        {
            fabric.Connect(nic, middle, DataRate("100Gbps"), MicroSeconds(delay));
        }
    }
    fabric.InstallRoutes();
    return fabric.CreateConnection(nics);
}

/**
 * Two pairs of NICs with 100 Gb/s, a switch between each, 1 us wires on the first and 100 us on the
 * second; queue pair 0 is on the first, 1 on the second. A segment is one packet of 1,000 + 48
 * bytes, 83.84 ns on each of two wires; ACKs are 60 bytes, 4.8 ns.
 *
 * Message 1 has two segments, on 0 and 1; message 2 has one, on 0, directly after the first. So on
 * queue pair 0 packets arrive at 2 us + 2 and 3 packet times and on 1 at 200 us + 2 packet times =
 * t. AllArrived: 2 after 2 us + 3 x 83.84 ns, 1 at t. InOrder: both at t, 1 first. Final: the ACK
 * of 1's segment on the long way is back at t + 200 us + 2 x 4.8 ns, and the write of no bytes, 48
 * on the wire, 3.84 ns, follows on the same queue pair: 200 us + 2 x 3.84 ns later.
 */
class NotificationTest : public TestCase
{
  public:
    NotificationTest()
        : TestCase("When a message over several queue pairs is delivered")
    {
    }

  private:
    std::vector<Event> Deliver(RdmaConnection::Notification notification)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(2));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(1000));
        fabric.SetConnectionAttribute("Notification", EnumValue(notification));
        auto connection = ConnectTwoWays(fabric);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(2000), 1);
        connection->Send(Bytes(1000), 2);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(log.completed.size(), 2, "both completed");
        NS_TEST_EXPECT_MSG_EQ(connection->GetUndelivered(), 0, "both delivered");
        CheckConservation(fabric);
        Simulator::Destroy();
        return log.delivered;
    }

    void Expect(const Event& event, uint64_t tag, int64_t time)
    {
        NS_TEST_EXPECT_MSG_EQ(event.tag, tag, "order");
        NS_TEST_EXPECT_MSG_EQ_TOL(event.time, time, Rounding(6), "message " << tag);
    }

    void DoRun() override
    {
        const int64_t packet = 83'840;
        const int64_t late = 200'000'000 + 2 * packet;
        const auto any = Deliver(RdmaConnection::AllArrived);
        Expect(any.at(0), 2, 2'000'000 + 3 * packet);
        Expect(any.at(1), 1, late);
        const auto ordered = Deliver(RdmaConnection::InOrder);
        Expect(ordered.at(0), 1, late);
        Expect(ordered.at(1), 2, late);
        const auto last = Deliver(RdmaConnection::Final);
        const int64_t back = late + 200'000'000 + 2 * 4'800;
        Expect(last.at(1), 1, back + 200'000'000 + 2 * 3'840);
        // The ACK of the segment alone on the short way, and as much again.
        Expect(last.at(0),
               2,
               2'000'000 + 3 * packet + 2'000'000 + 2 * 4'800 + 2'000'000 + 2 * 3'840);
    }
};

/**
 * Ten segments and MaxOutstanding 1, on wires as above. The round trip is 4 us on queue pair 0 and
 * 400 us on 1, so that 1 carries one segment and 0 the other nine, one after the other.
 */
class MaxOutstandingTest : public TestCase
{
  public:
    MaxOutstandingTest()
        : TestCase("Segments go where the fewest are outstanding")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(2));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(1000));
        fabric.SetConnectionAttribute("MaxOutstanding", UintegerValue(1));
        auto connection = ConnectTwoWays(fabric);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(10'000), 1);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(log.delivered.size(), 1, "delivered");
        NS_TEST_EXPECT_MSG_EQ(connection->GetQueuePair(0)->GetCounters().ackedMessages, 9, "near");
        NS_TEST_EXPECT_MSG_EQ(connection->GetQueuePair(1)->GetCounters().ackedMessages, 1, "far");
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
        AddTestCase(new SegmentOrderTest);
        AddTestCase(new NotificationTest);
        AddTestCase(new MaxOutstandingTest);
        AddTestCase(new PriorityTest);
        AddTestCase(new MisuseTest);
    }
};

ConnectionSuite g_connectionSuite;

} // namespace
