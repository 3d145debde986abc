// SPDX-License-Identifier: GPL-2.0-only

// What a NIC consists of, each part alone.

#include "ns3/fabric-address.h"
#include "ns3/foreign-endpoint.h"
#include "ns3/pull-pacer.h"
#include "ns3/sender-turns.h"
#include "ns3/stalled-lanes.h"
#include "ns3/test.h"
#include "ns3/timer-watch.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::ForeignEndpoint;
using scaleacross::kNever;
using scaleacross::PacketPool;
using scaleacross::PullPacer;
using scaleacross::SenderTurn;
using scaleacross::SenderTurns;
using scaleacross::StalledLanes;
using scaleacross::TimerWatch;

namespace
{

/// A sender of a number of packets, each due a while after the one before has started.
struct FakeSender
{
    uint32_t number;
    uint32_t packets;
    int64_t interval; //!< ps; 0: at any time
    int64_t due{0};
    uint8_t priority{3};
    SenderTurn<FakeSender> turn{};

    uint32_t GetNumber() const
    {
        return number;
    }

    uint8_t GetPriority() const
    {
        return priority;
    }

    bool CanSend() const
    {
        return packets > 0;
    }

    int64_t Eligible() const
    {
        return due;
    }

    int64_t EligibleUnlessTimed() const
    {
        return due;
    }

    void AdvanceWait(int64_t)
    {
    }

    SenderTurn<FakeSender>& Turn()
    {
        return turn;
    }

    void Start(int64_t start)
    {
        --packets;
        due = interval > 0 ? start + interval : 0;
    }
};

/// Who starts on a line that takes 20 for a packet, in order; turns are of so many packets.
std::vector<uint32_t>
Order(std::vector<FakeSender>& senders, uint64_t length = 1)
{
    SenderTurns<FakeSender> turns;
    for (FakeSender& sender : senders)
    {
        turns.Add(&sender);
        turns.Update(&sender, 0);
    }
    std::vector<uint32_t> order;
    for (int64_t now = 0; now < 400; now += 20)
    {
        turns.Admit(now, [](uint8_t) {});
        FakeSender* sender = turns.First(3);
        if (sender != nullptr)
        {
            order.push_back(sender->number);
            sender->Start(now);
            turns.Started(3, now, ++sender->turn.sent == length);
        }
    }
    return order;
}

class SenderTurnsTest : public TestCase
{
  public:
    SenderTurnsTest()
        : TestCase("Senders take turns, and those with a rate wait for it")
    {
    }

  private:
    /// The worked cases of sender-turns.h.
    void CheckOrder()
    {
        std::vector<FakeSender> alike{{0, 3, 0}, {1, 2, 0}, {2, 3, 0}};
        NS_TEST_EXPECT_MSG_EQ((Order(alike) == std::vector<uint32_t>{0, 1, 2, 0, 1, 2, 0, 2}),
                              true,
                              "in turn");
        // 1 starts at 20 and is due at 70: it comes in at 80, behind 2.
        std::vector<FakeSender> paced{{0, 3, 0}, {1, 2, 50}, {2, 3, 0}};
        NS_TEST_EXPECT_MSG_EQ((Order(paced) == std::vector<uint32_t>{0, 1, 2, 0, 2, 0, 1, 2}),
                              true,
                              "one waits");
        // 1 starts at 40 and is due at 90: it comes in at 100, behind 0 and 2.
        std::vector<FakeSender> inTwos{{0, 3, 0}, {1, 2, 50}, {2, 3, 0}};
        NS_TEST_EXPECT_MSG_EQ((Order(inTwos, 2) == std::vector<uint32_t>{0, 0, 1, 2, 2, 0, 2, 1}),
                              true,
                              "turns of two packets");
    }

    /// One that stands in the middle, waits, or has another rate.
    void CheckChanges()
    {
        std::vector<FakeSender> senders{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}};
        SenderTurns<FakeSender> turns;
        for (FakeSender& sender : senders)
        {
            turns.Add(&sender);
            NS_TEST_EXPECT_MSG_EQ(turns.Update(&sender, 0), true, "it comes in");
            NS_TEST_EXPECT_MSG_EQ(turns.Update(&sender, 0), false, "nothing has changed");
        }
        senders[1].packets = 0;
        NS_TEST_EXPECT_MSG_EQ(turns.Update(&senders[1], 0), true, "it leaves the middle");
        NS_TEST_EXPECT_MSG_EQ(turns.Due(), kNever, "none waits");
        senders[0].due = 30; // it had the rate of the line, which has been cut
        NS_TEST_EXPECT_MSG_EQ(turns.Update(&senders[0], 10), true, "it has to wait");
        NS_TEST_EXPECT_MSG_EQ(turns.First(3)->number, 2, "");
        NS_TEST_EXPECT_MSG_EQ(turns.Due(), 30, "");
        senders[0].due = 25;
        turns.Update(&senders[0], 10);
        NS_TEST_EXPECT_MSG_EQ(turns.Due(), 25, "its rate is raised");
        senders[0].packets = 0;
        turns.Update(&senders[0], 10);
        NS_TEST_EXPECT_MSG_EQ(turns.Due(), kNever, "it can send no more");
        senders[0].packets = 1;
        senders[0].priority = 5;
        turns.Update(&senders[0], 40);
        uint32_t admitted = 0;
        turns.Admit(40, [&admitted](uint8_t priority) { admitted |= 1U << priority; });
        NS_TEST_EXPECT_MSG_EQ(admitted, 0x20, "of its priority");
        NS_TEST_EXPECT_MSG_EQ(turns.First(5)->number, 0, "");
        turns.Clear();
        NS_TEST_EXPECT_MSG_EQ((turns.First(5) == nullptr), true, "cleared");
    }

    void DoRun() override
    {
        CheckOrder();
        CheckChanges();
    }
};

struct FakeTimer
{
    int64_t deadline;
    uint32_t timeouts{0};

    int64_t Deadline() const
    {
        return deadline;
    }

    void HandleTimeout(int64_t)
    {
        ++timeouts;
        deadline = kNever;
    }
};

/// The worked case of timer-watch.h.
class TimerWatchTest : public TestCase
{
  public:
    TimerWatchTest()
        : TestCase("The first of many timers is known when it matters")
    {
    }

  private:
    void DoRun() override
    {
        TimerWatch watch;
        FakeTimer first{100};
        FakeTimer second{130};
        const std::vector<FakeTimer*> timers{&first, &second};
        NS_TEST_EXPECT_MSG_EQ(watch.Set(100, true), true, "the first");
        NS_TEST_EXPECT_MSG_EQ(watch.Set(130, true), false, "a later one");
        first.deadline = 250;
        NS_TEST_EXPECT_MSG_EQ(watch.Set(250, false), false, "put off");
        NS_TEST_EXPECT_MSG_EQ(watch.Next(), 100, "nobody has looked");
        watch.Expire(timers, 100);
        NS_TEST_EXPECT_MSG_EQ(watch.Next(), 130, "");
        watch.Expire(timers, 130);
        NS_TEST_EXPECT_MSG_EQ(watch.Next(), 250, "");
        NS_TEST_EXPECT_MSG_EQ(first.timeouts, 0, "");
        NS_TEST_EXPECT_MSG_EQ(second.timeouts, 1, "");
        NS_TEST_EXPECT_MSG_EQ(watch.Stop(), false, "the other one runs");
        NS_TEST_EXPECT_MSG_EQ(watch.Stop(), true, "");
        NS_TEST_EXPECT_MSG_EQ(watch.Next(), kNever, "none runs");
    }
};

/// The worked case of stalled-lanes.h.
class StalledLanesTest : public TestCase
{
  public:
    StalledLanesTest()
        : TestCase("A stalled lane holds what comes in until it goes on")
    {
    }

  private:
    void DoRun() override
    {
        StalledLanes lanes;
        std::vector<std::pair<uint8_t, uint64_t>> released;
        const auto release = [&released](uint8_t lane, uint64_t blocks) {
            released.emplace_back(lane, blocks);
        };
        lanes.Set(0b100, release);
        NS_TEST_EXPECT_MSG_EQ(lanes.Keep(3, 86), false, "another lane");
        NS_TEST_EXPECT_MSG_EQ(lanes.Keep(2, 4178), true, "");
        NS_TEST_EXPECT_MSG_EQ(lanes.Keep(2, 86), true, "");
        lanes.Set(0b110, release);
        NS_TEST_EXPECT_MSG_EQ(released.empty(), true, "it is stalled still");
        lanes.Set(0b010, release);
        NS_TEST_EXPECT_MSG_EQ((released == std::vector<std::pair<uint8_t, uint64_t>>{{2, 68}}),
                              true,
                              "");
        NS_TEST_EXPECT_MSG_EQ(lanes.Mask(), 0b010, "");
        lanes.Set(0, release);
        NS_TEST_EXPECT_MSG_EQ(released.size(), 1, "nothing is released twice");
    }
};

/// Readiness: 100 Gb/s, 4,178 bytes take 334,240 ps.
class PullReadyTest : public TestCase
{
  public:
    PullReadyTest()
        : TestCase("Pulls are ready once they have been admitted, and then while they are due")
    {
    }

  private:
    void DoRun() override
    {
        PullPacer pulls;
        NS_TEST_EXPECT_MSG_EQ(pulls.IsUsed(), false, "");
        NS_TEST_EXPECT_MSG_EQ(pulls.Admit(0), false, "none is owed");
        pulls.Ask(1);
        pulls.Ask(2);
        NS_TEST_EXPECT_MSG_EQ(pulls.IsUsed(), true, "");
        NS_TEST_EXPECT_MSG_EQ(pulls.NextDue(), 0, "");
        NS_TEST_EXPECT_MSG_EQ(pulls.Admit(10), true, "");
        NS_TEST_EXPECT_MSG_EQ(pulls.Admit(10), false, "it was ready before");
        NS_TEST_EXPECT_MSG_EQ(pulls.NextDue(), kNever, "nothing to wait for");
        NS_TEST_EXPECT_MSG_EQ(pulls.Take(4178, 10, 100'000'000'000), 1, "");
        NS_TEST_EXPECT_MSG_EQ(pulls.IsReady(), false, "the next one is due later");
        NS_TEST_EXPECT_MSG_EQ(pulls.NextDue(), 334'250, "");
    }
};

class ForeignEndpointTest : public TestCase
{
  public:
    ForeignEndpointTest()
        : TestCase("Packets of other stacks are refused, wait, take turns and are handed up")
    {
    }

  private:
    void CheckReasons()
    {
        const Mac48Address known = scaleacross::MacOf(7);
        const auto why = [](Mac48Address to, uint32_t bytes, bool wired) {
            const auto reason = ForeignEndpoint::WhyNever(to, bytes, 1500, wired);
            return std::string(reason ? NameOf(*reason) : "");
        };
        NS_TEST_EXPECT_MSG_EQ(why(known, 1500, true), "", "");
        NS_TEST_EXPECT_MSG_EQ(why(known, 1501, true), NameOf(DropReason::Oversize), "");
        NS_TEST_EXPECT_MSG_EQ(why(known, 1500, false), NameOf(DropReason::NoRoute), "");
        NS_TEST_EXPECT_MSG_EQ(why(Mac48Address("ff:ff:ff:ff:ff:ff"), 100, true),
                              NameOf(DropReason::Broadcast),
                              "");
        NS_TEST_EXPECT_MSG_EQ(why(Mac48Address("00:11:22:33:44:55"), 100, true),
                              NameOf(DropReason::WrongAddress),
                              "");
    }

    static FabricPacket* Carrier(PacketPool& pool)
    {
        FabricPacket* carrier = pool.Take();
        carrier->size = 142;
        scaleacross::AttachFrame(
            *carrier,
            {Create<Packet>(100), scaleacross::MacOf(1), scaleacross::MacOf(7), 0x800});
        return carrier;
    }

    /// The worked case of foreign-endpoint.h.
    void CheckTurns()
    {
        PacketPool pool;
        ForeignEndpoint endpoint;
        endpoint.priority = 4;
        endpoint.limit = 3 * 142;
        for (int i = 0; i < 3; ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(endpoint.HasRoom(142), true, "");
            endpoint.Post(Carrier(pool), 0);
        }
        NS_TEST_EXPECT_MSG_EQ(endpoint.HasRoom(1), false, "full");
        NS_TEST_EXPECT_MSG_EQ(endpoint.IsReady(4), false, "not before ShowPosted");
        NS_TEST_EXPECT_MSG_EQ(endpoint.ShowPosted(), true, "");
        NS_TEST_EXPECT_MSG_EQ(endpoint.ShowPosted(), false, "they were ready");
        NS_TEST_EXPECT_MSG_EQ(endpoint.IsReady(3), false, "another priority");
        std::string order;
        std::string others = "abab";
        while (order.size() < 7)
        {
            if (endpoint.IsReady(4) && endpoint.TakeTurn(!others.empty()))
            {
                FabricPacket* packet = endpoint.Start(50);
                NS_TEST_EXPECT_MSG_EQ(packet->destination, 7, "");
                NS_TEST_EXPECT_MSG_EQ(+packet->priority, 4, "");
                PacketPool::Return(packet);
                order += '-';
                continue;
            }
            order += others.front();
            others.erase(0, 1);
        }
        NS_TEST_EXPECT_MSG_EQ(order, "-a-b-ab", "");
        NS_TEST_EXPECT_MSG_EQ(endpoint.Sent(), 3, "");
        NS_TEST_EXPECT_MSG_EQ(endpoint.Queue().Waited(50), 150, "");
    }

    void Traced(Ptr<const Packet> packet)
    {
        m_bytes += packet->GetSize();
    }

    bool Received(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
    {
        m_bytes += 10 * packet->GetSize();
        return true;
    }

    void CheckHandUp()
    {
        ForeignEndpoint endpoint;
        endpoint.macRx.ConnectWithoutContext(MakeCallback(&ForeignEndpointTest::Traced, this));
        endpoint.macTxDrop.ConnectWithoutContext(MakeCallback(&ForeignEndpointTest::Traced, this));
        endpoint.Refuse(Create<Packet>(1), DropReason::Oversize);
        NS_TEST_EXPECT_MSG_EQ(m_bytes, 1, "told of the refusal");
        NS_TEST_EXPECT_MSG_EQ(endpoint.Refused().Of(DropReason::Oversize), 1, "");
        NS_TEST_EXPECT_MSG_EQ(endpoint.Refused().Total(), 1, "");
        endpoint.HandUp(nullptr,
                        {Create<Packet>(100), scaleacross::MacOf(1), scaleacross::MacOf(7), 0x800},
                        MakeCallback(&ForeignEndpointTest::Received, this),
                        {});
        NS_TEST_EXPECT_MSG_EQ(m_bytes, 1 + 100 + 1000, "");
        NS_TEST_EXPECT_MSG_EQ(endpoint.Received(), 1, "");
    }

    void DoRun() override
    {
        CheckReasons();
        CheckTurns();
        CheckHandUp();
    }

    uint64_t m_bytes{0};
};

class NicPartsSuite : public TestSuite
{
  public:
    NicPartsSuite()
        : TestSuite("scaleacross-nic-parts", TestSuite::Type::UNIT)
    {
        AddTestCase(new SenderTurnsTest);
        AddTestCase(new TimerWatchTest);
        AddTestCase(new StalledLanesTest);
        AddTestCase(new PullReadyTest);
        AddTestCase(new ForeignEndpointTest);
    }
};

NicPartsSuite g_nicPartsSuite;

} // namespace
