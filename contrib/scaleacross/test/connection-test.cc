// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/segment-order.h"
#include "ns3/send-progress.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

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

/**
 * 10 MB and 1 MB in segments of 500 packets of 1,000 bytes over 4 queue pairs: five segments of the
 * first message for each, and one more of the second for two of them. A packet takes 83.84 ns on
 * the wire, so that 200 us are the first 2,386 of them; a queue pair has sent 596 or 597, its
 * second segment is under way, and of the first message's it has 2,500 less these, one of each of
 * the four segments being kept.
 *
 * The wire is never idle before and after 3,000 packets, 3 MB, are left out. So both messages
 * arrive 3,000 packet times, 3 MB over 1,000 bytes per 83.84 ns, earlier: the last of n packets
 * arrives after 2 us and n + 1 packet times.
 */
class LeaveOutTest : public TestCase
{
  public:
    LeaveOutTest()
        : TestCase("Packets are left out of a message, which arrives whole and earlier")
    {
    }

  private:
    static constexpr uint64_t kPackets = 750; //!< left out of each queue pair

    void LeaveOut(const Ptr<RdmaConnection>& connection)
    {
        uint64_t sent = 0;
        for (uint32_t i = 0; i < 4; ++i)
        {
            const scaleacross::SendProgress progress = connection->GetProgress(i);
            const uint64_t own = progress.sent - m_firstPsn[i];
            NS_TEST_EXPECT_MSG_EQ((own == 596 || own == 597), true, own);
            NS_TEST_EXPECT_MSG_EQ(connection->GetSpare(i), 2500 - own - 4, "");
            connection->LeaveOut(i, kPackets);
            NS_TEST_EXPECT_MSG_EQ(connection->GetSpare(i), 2500 - own - 4 - kPackets, "");
            NS_TEST_EXPECT_MSG_EQ(connection->GetProgress(i).sent, progress.sent, "");
            NS_TEST_EXPECT_MSG_LT(progress.acknowledged, progress.arrived, "it is on its way");
            NS_TEST_EXPECT_MSG_EQ(progress.waitsUntil, 0, "");
            sent += own;
        }
        NS_TEST_EXPECT_MSG_EQ(sent, 2386, "");
    }

    void Check(bool lookAhead, bool leavesOut)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetNicAttribute("LookAhead", BooleanValue(lookAhead));
        fabric.SetSwitchAttribute("LookAhead", BooleanValue(lookAhead));
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(4));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(500'000));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        m_firstPsn.clear();
        for (uint32_t i = 0; i < 4; ++i)
        {
            m_firstPsn.push_back(connection->GetProgress(i).sent);
            NS_TEST_EXPECT_MSG_EQ(connection->GetSpare(i), 0, "nothing has been posted");
        }
        connection->Send(Bytes(10'000'000), 7);
        connection->Send(Bytes(1'000'000), 8);
        if (leavesOut)
        {
            Simulator::Schedule(MicroSeconds(200), [&] { LeaveOut(connection); });
        }
        Simulator::Run();
        const int64_t out = leavesOut ? 3000 : 0;
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 2, "");
        NS_TEST_EXPECT_MSG_EQ(log.completed.size(), 2, "");
        const auto check = [&](const Event& event, const Event& expected) {
            NS_TEST_EXPECT_MSG_EQ(event.tag, expected.tag, "");
            NS_TEST_EXPECT_MSG_EQ(event.bytes, expected.bytes, "whole");
            NS_TEST_EXPECT_MSG_EQ_TOL(event.time, expected.time, Rounding(2), "");
        };
        check(log.delivered[0], {7, 10'000'000, 2'000'000 + (10'000 - out + 1) * 83'840});
        check(log.delivered[1], {8, 1'000'000, 2'000'000 + (11'000 - out + 1) * 83'840});
        for (uint32_t i = 0; i < 4; ++i)
        {
            const scaleacross::SendProgress progress = connection->GetProgress(i);
            NS_TEST_EXPECT_MSG_EQ(progress.acknowledged, progress.sent, "");
        }
        NS_TEST_EXPECT_MSG_EQ(connection->GetUndelivered(), 0, "");
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    void DoRun() override
    {
        for (const bool lookAhead : {false, true})
        {
            Check(lookAhead, false);
            Check(lookAhead, true);
        }
    }

    std::vector<uint64_t> m_firstPsn;
};

/**
 * 1 MB and 4 MB in segments of 250,000 bytes, and a packet takes 83.84 ns. The last of the first
 * message's 1,000 packets leaves after 83.84 us and arrives at 85.92 us. At 84.5 us all of it has
 * been sent and not all has arrived: nothing may be left out of the second message, which would
 * seem to arrive no earlier. At 90 us it may. At 420 us the last of 5,000 packets has left, after
 * 419.2 us, and has not arrived.
 *
 * With ClearToSend nothing may be left out.
 */
class SpareTest : public TestCase
{
  public:
    SpareTest()
        : TestCase("When no packets may be left out")
    {
    }

  private:
    void Check(bool clearToSend, const std::vector<std::pair<int64_t, bool>>& expected)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(4));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(250'000));
        fabric.SetConnectionAttribute("ClearToSend", BooleanValue(clearToSend));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        connection->Send(Bytes(1'000'000), 1);
        connection->Send(Bytes(4'000'000), 2);
        std::size_t looks = 0;
        for (const auto& [ns, spare] : expected)
        {
            Simulator::Schedule(NanoSeconds(ns), [&, ns = ns, spare = spare] {
                for (uint32_t i = 0; i < 4; ++i)
                {
                    NS_TEST_EXPECT_MSG_EQ((connection->GetSpare(i) > 0), spare, ns << " ns");
                }
                looks += connection->GetUndelivered() > 0 ? 1 : 0;
            });
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(looks, expected.size(), "something was under way");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Check(false, {{40'000, true}, {84'500, false}, {90'000, true}, {420'000, false}});
        Check(true, {{40'000, false}, {84'500, false}, {200'000, false}});
    }
};

/**
 * Two queue pairs, segments of 500 packets, wires of 100 us. Message 1 has three segments: queue
 * pair 0 sends two of them, 1 the other one and then message 2 of 100 packets. They take turns, so
 * 1 has sent its part of message 1 after 1,000 packet times, 83.8 us. From then on that part is on
 * its way, and would seem to arrive late if packets were left out of the other one. It has sent all
 * of message 2 after 1,200 packet times, 100.6 us, and 0 goes on to 1,600, 134.1 us. At 110
 * us message 2 is on its way: it would seem to arrive late if packets were left out of message 1,
 * or of a third message, whose segments follow on both queue pairs. Its last packet arrives after
 * 200 us and 1,201 packet times, 300.7 us.
 *
 * If there is a third message, queue pair 0 goes on taking turns, and the last packet of message 1
 * leaves after 2,000 packet times and arrives after 200 us and 2,001, 367.8 us. At 372 us only the
 * third message is on its way, of whose 4,000 packets the last leaves after 5,600, 469.5 us.
 */
class OvertakenTest : public TestCase
{
  public:
    OvertakenTest()
        : TestCase("No packets may be left out while a message is on its way as a whole")
    {
    }

  private:
    void Check(uint64_t third)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(2));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(500'000));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(100));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        connection->Send(Bytes(1'500'000), 1);
        connection->Send(Bytes(100'000), 2);
        if (third > 0)
        {
            connection->Send(Bytes(third), 3);
        }
        Simulator::Schedule(MicroSeconds(80), [&] {
            NS_TEST_EXPECT_MSG_GT(connection->GetSpare(0), 0, "both send message 1");
            NS_TEST_EXPECT_MSG_GT(connection->GetSpare(1), 0, "");
        });
        Simulator::Schedule(MicroSeconds(90), [&] {
            NS_TEST_EXPECT_MSG_EQ(connection->GetSpare(0),
                                  0,
                                  "1's part of message 1 is on its way");
            NS_TEST_EXPECT_MSG_EQ(connection->GetSpare(1), 0, "");
        });
        Simulator::Schedule(MicroSeconds(110), [&] {
            NS_TEST_EXPECT_MSG_EQ(connection->GetSpare(0), 0, "2 is on its way");
            NS_TEST_EXPECT_MSG_EQ(connection->GetSpare(1), 0, "");
        });
        Simulator::Schedule(MicroSeconds(372), [&] {
            NS_TEST_EXPECT_MSG_EQ((connection->GetSpare(0) > 0), (third > 0), "");
        });
        Simulator::Run();
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Check(0);
        Check(4'000'000);
    }
};

/**
 * Wires of 100 us again, a message of 10 packets on queue pair 0, one of 10 on 1, and a third
 * that takes 838 us on both. The first two have arrived at 202 us, and are acknowledged at 402 us;
 * then the writes that announce them follow the third message's. AllArrived: at 300 us packets may
 * be left out. Final: not before 402 us, as these writes are not yet posted.
 */
class AnnouncedTest : public TestCase
{
  public:
    AnnouncedTest()
        : TestCase("No packets may be left out before an announcement is posted")
    {
    }

  private:
    void Check(RdmaConnection::Notification notification)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(2));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(5'000'000));
        fabric.SetConnectionAttribute("Notification", EnumValue(notification));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(100));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(10'000), 1);
        connection->Send(Bytes(10'000), 2);
        connection->Send(Bytes(10'000'000), 3);
        for (const int64_t us : {100, 300, 410})
        {
            Simulator::Schedule(MicroSeconds(us), [&, us] {
                const bool may = us > 400 || (us > 200 && notification != RdmaConnection::Final);
                NS_TEST_EXPECT_MSG_EQ((connection->GetSpare(0) > 0), may, us << " us");
                NS_TEST_EXPECT_MSG_EQ((connection->GetSpare(1) > 0), may, us << " us");
            });
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(log.delivered.size(), 3, "");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Check(RdmaConnection::AllArrived);
        Check(RdmaConnection::Final);
    }
};

/**
 * Queue pairs of one NIC to another are numbered by these two: what else is connected, and when,
 * changes no path of theirs. Three hosts; 0 to 1 after everything else, or first. Ports of a second
 * connection between the same follow those of the first, and the way back has its own.
 */
class PathNumbersTest : public TestCase
{
  public:
    PathNumbersTest()
        : TestCase("UDP source ports do not depend on who connects first")
    {
    }

  private:
    using Ports = std::vector<uint16_t>;

    /// Of connections between hosts, in the order in which they are made; by sender and receiver.
    static std::map<std::pair<uint32_t, uint32_t>, Ports> PortsOf(
        const std::vector<std::pair<uint32_t, uint32_t>>& order)
    {
        FabricHelper fabric;
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(4));
        BuildStar(fabric, 3, "100Gbps", MicroSeconds(1));
        std::map<std::pair<uint32_t, uint32_t>, Ports> ports;
        for (const auto& [from, to] : order)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
            for (uint32_t i = 0; i < connection->GetNQueuePairs(); ++i)
            {
                ports[{from, to}].push_back(connection->GetQueuePair(i)->GetEntropy());
            }
        }
        Simulator::Destroy();
        return ports;
    }

    void DoRun() override
    {
        const auto first = PortsOf({{0, 1}, {1, 0}, {0, 2}, {2, 1}, {0, 1}});
        const auto last = PortsOf({{2, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 1}});
        NS_TEST_EXPECT_MSG_EQ((first == last), true, "the order makes no difference");
        const Ports& two = first.at({0, 1});
        NS_TEST_ASSERT_MSG_EQ(two.size(), 8, "of two connections");
        NS_TEST_EXPECT_MSG_EQ((std::set<uint16_t>(two.begin(), two.end()).size() > 4),
                              true,
                              "the second one goes on counting");
        const Ports start(two.begin(), two.begin() + 4);
        NS_TEST_EXPECT_MSG_EQ((start == first.at({1, 0})), false, "and back is another way");
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
        Ptr<RdmaQueuePair> connected = fabric.CreateConnection(a, b)->GetQueuePair(0);
        NS_TEST_ASSERT_MSG_EQ(Refuses([&]() { connected->SetPath(7); }), true, "a path too late");
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
        AddTestCase(new LeaveOutTest);
        AddTestCase(new SpareTest);
        AddTestCase(new OvertakenTest);
        AddTestCase(new AnnouncedTest);
        AddTestCase(new PathNumbersTest);
        AddTestCase(new MisuseTest);
    }
};

ConnectionSuite g_connectionSuite;

} // namespace
