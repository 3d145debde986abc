// SPDX-License-Identifier: GPL-2.0-only

// In which order a NIC sends packets of several queue pairs.

#include "fabric-test.h"

#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/turn-length.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::TurnLength;

namespace
{

constexpr int64_t kPacket = 1'048 * 80; //!< ps at 100 Gb/s
constexpr int64_t kDelay = 1'000'000;

/// "0 x 3, 1 x 2": of the numbers, so many in a row.
std::string
Runs(const std::vector<uint64_t>& numbers)
{
    std::string text;
    for (size_t i = 0; i < numbers.size();)
    {
        size_t end = i;
        while (end < numbers.size() && numbers[end] == numbers[i])
        {
            ++end;
        }
        text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]) + " x " +
                std::to_string(end - i);
        i = end;
    }
    return text;
}

/// The worked case of turn-length.h.
class TurnLengthTest : public TestCase
{
  public:
    TurnLengthTest()
        : TestCase("A turn is a packet, a burst or a message")
    {
    }

  private:
    /// How many of the packets of messages of two the turn takes.
    static uint32_t Length(const TurnLength& rule)
    {
        uint64_t sent = 0;
        FabricPacket packet;
        packet.size = 1'048;
        for (uint32_t count = 1;; ++count)
        {
            packet.lastOfMessage = count % 2 == 0;
            if (rule.EndsWith(packet, sent))
            {
                return count;
            }
        }
    }

    static TurnLength Rule(TurnLength::Unit unit, uint64_t burst = 0)
    {
        TurnLength rule;
        rule.unit = unit;
        rule.burst = burst;
        return rule;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Length(TurnLength()), 1, "packet by packet unless said otherwise");
        NS_TEST_EXPECT_MSG_EQ(Length(Rule(TurnLength::Message)), 2, "");
        NS_TEST_EXPECT_MSG_EQ(Length(Rule(TurnLength::Burst, 3'000)), 3, "3,144 bytes");
        NS_TEST_EXPECT_MSG_EQ(Length(Rule(TurnLength::Burst, 3'144)), 3, "as many");
        NS_TEST_EXPECT_MSG_EQ(Length(Rule(TurnLength::Burst, 3'145)), 4, "one byte more");
        NS_TEST_EXPECT_MSG_EQ(Length(Rule(TurnLength::Burst, 1)), 1, "no less than a packet");
    }
};

/// Two NICs back to back, 100 Gb/s, 1 us, packets of 1,000 + 48 bytes: 83,840 ps each. Queue pairs
/// of one NIC, whose packets are written down as they leave.
struct Pair
{
    explicit Pair(const std::string& turn, uint64_t burst = 16'384)
    {
        UseHpccSizes(fabric);
        fabric.SetNicAttribute("QueuePairTurn", StringValue(turn));
        fabric.SetNicAttribute("QueuePairBurst", UintegerValue(burst));
        a = fabric.AddNic(fabric.AddHost());
        b = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1));
        a->TraceConnectWithoutContext("Transmit", MakeCallback(&Pair::Note, this));
    }

    /// A queue pair that sends messages of so many packets from time zero on. It has the same
    /// number at both ends. Attributes of queue pairs that were set for it hold for the next ones,
    /// too.
    Ptr<RdmaConnection> Add(const std::vector<uint32_t>& messages)
    {
        auto connection = fabric.CreateConnection(a, b);
        log.Watch(connection);
        for (const uint32_t packets : messages)
        {
            connection->Send(Bytes(packets * 1'000), 0);
        }
        return connection;
    }

    void Note(const FabricPacket& packet)
    {
        order.push_back(packet.queuePair);
    }

    FabricHelper fabric;
    Ptr<RdmaNic> a;
    Ptr<RdmaNic> b;
    Log log;
    std::vector<uint64_t> order;
};

/**
 * Queue pair 0 has messages of 2 and 1 packets, 1 one of 3, and 2 messages of 1 and 2. They stand
 * in the ring in the order of posting.
 *   - Packet by packet: 0 1 2 three times.
 *   - Bursts of 2,000 bytes are two packets, of whatever messages: 00 11 22, and one is left of
 * each.
 *   - Message by message: 00 of 0's first, 111, 2's first, 0's second, 22.
 */
class OrderTest : public TestCase
{
  public:
    OrderTest()
        : TestCase("Three queue pairs in each order")
    {
    }

  private:
    void Expect(const std::string& turn, uint64_t burst, const std::vector<uint64_t>& order)
    {
        Pair pair(turn, burst);
        pair.Add({2, 1});
        pair.Add({3});
        pair.Add({1, 2});
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Runs(pair.order), Runs(order), turn << " " << burst);
        // Whatever the order, the line does not rest.
        NS_TEST_EXPECT_MSG_EQ_TOL(pair.log.LastDelivery(), 9 * kPacket + kDelay, Rounding(1), turn);
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Expect("Packet", 3'000, {0, 1, 2, 0, 1, 2, 0, 1, 2});
        Expect("Burst", 1'048, {0, 1, 2, 0, 1, 2, 0, 1, 2});
        Expect("Burst", 2'000, {0, 0, 1, 1, 2, 2, 0, 1, 2});
        Expect("Burst", 3'000, {0, 0, 0, 1, 1, 1, 2, 2, 2});
        Expect("Message", 3'000, {0, 0, 1, 1, 1, 2, 0, 2, 2});
    }
};

/**
 * What holds back the queue pair whose turn it is lets the others go.
 *
 * Window: 0 may have 2 packets under way, and has a message of 4. The ACK of its first packet is
 * back after 83,840 + 1 us + 60 bytes at 100 Gb/s + 1 us = 2,088,640 ps, within the 25th packet of
 * the line, and that of the second within the 26th. 1 has messages of 20, 10 and 5 packets. By
 * message 0 sends its two, 1 its first and its second message (packets 3 to 32), of which the
 * latter had begun, then 0 the rest and 1 the last. In bursts of 4 packets 1's turns are packets 3
 * to 6,
 * ..., 23 to 26, then 0 sends two, and 35 - 24 = 11 are left.
 *
 * Rate: 0 is limited to 60 Gb/s: its next packet is due 1.67 packets after its last one has
 * started. 0 has a message of 3, 1 two messages of 2. By message 0 sends one and waits, 1 sends a
 * message, within which 0 is due and stands behind 1; so on.
 *
 * The line never rests until all has left: nothing is lost by the order.
 */
class HeldBackTest : public TestCase
{
  public:
    HeldBackTest()
        : TestCase("A queue pair that may not go on lets others go")
    {
    }

  private:
    void ExpectWithWindow(const std::string& turn, uint64_t burst, const std::string& order)
    {
        Pair pair(turn, burst);
        pair.fabric.SetQueuePairAttribute("Window", UintegerValue(2'000));
        pair.Add({4});
        pair.fabric.SetQueuePairAttribute("Window", UintegerValue(0));
        pair.Add({20, 10, 5});
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Runs(pair.order), order, turn);
        NS_TEST_EXPECT_MSG_EQ_TOL(pair.log.LastDelivery(),
                                  39 * kPacket + kDelay,
                                  Rounding(1),
                                  turn);
        Simulator::Destroy();
    }

    void CheckRate()
    {
        Pair pair("Message");
        pair.fabric.SetQueuePairAttribute("RateLimit", StringValue("60Gbps"));
        pair.Add({3});
        pair.fabric.SetQueuePairAttribute("RateLimit", StringValue("0bps"));
        pair.Add({2, 2});
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Runs(pair.order), "0 x 1, 1 x 2, 0 x 1, 1 x 2, 0 x 1", "rate");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        ExpectWithWindow("Message", 1, "0 x 2, 1 x 30, 0 x 2, 1 x 5");
        ExpectWithWindow("Burst", 4'000, "0 x 2, 1 x 24, 0 x 2, 1 x 11");
        CheckRate();
    }
};

/**
 * Priorities have turns of their own. 0 and 2 have priority 3 and messages of 5 and 2 packets. At
 * 100 ns, within the second packet, 1 has 2 packets of priority 5: they go before, and then 0 goes
 * on where it was, with the rest of its turn.
 */
class PriorityTest : public TestCase
{
  public:
    PriorityTest()
        : TestCase("A larger priority interrupts a turn and does not end it")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string turn : {"Message", "Burst"})
        {
            Pair pair(turn, 5'000); // 5 packets
            pair.Add({5});
            pair.fabric.SetQueuePairAttribute("Priority", UintegerValue(5));
            auto urgent = pair.Add({});
            pair.fabric.SetQueuePairAttribute("Priority", UintegerValue(3));
            pair.Add({2});
            Simulator::Schedule(NanoSeconds(100), [&urgent]() { urgent->Send(Bytes(2'000), 1); });
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(Runs(pair.order), "0 x 2, 1 x 2, 0 x 3, 2 x 2", turn);
            Simulator::Destroy();
        }
    }
};

/**
 * A pause is of the whole priority, and does not end a turn. Two queue pairs send 1,000 packets
 * each to a receiver at a tenth of the rate, behind a switch that pauses the sender again and
 * again.
 */
class PausedTest : public TestCase
{
  public:
    PausedTest()
        : TestCase("A pause does not end a turn")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetNicAttribute("QueuePairTurn", StringValue("Message"));
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB / 2));
        auto centre = fabric.AddSwitch();
        auto from = fabric.AddNic(fabric.AddHost());
        auto to = fabric.AddNic(fabric.AddHost());
        fabric.Connect(from, centre, DataRate("100Gbps"), MicroSeconds(1));
        fabric.Connect(to, centre, DataRate("10Gbps"), MicroSeconds(1));
        fabric.InstallRoutes();
        std::vector<uint64_t> order;
        uint32_t pauses = 0;
        from->TraceConnectWithoutContext(
            "Transmit",
            Callback<void, const FabricPacket&>(
                [&order](const FabricPacket& packet) { order.push_back(packet.queuePair); }));
        from->TraceConnectWithoutContext(
            "Pause",
            Callback<void, uint8_t, bool>([&pauses](uint8_t, bool on) { pauses += on ? 1 : 0; }));
        for (uint64_t tag = 0; tag < 2; ++tag)
        {
            fabric.CreateConnection(from, to)->Send(Bytes(1'000'000), tag);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Runs(order), "0 x 1000, 1 x 1000", "");
        NS_TEST_EXPECT_MSG_GT(pauses, 10, "it was paused");
        Simulator::Destroy();
    }
};

/// As many packets and deliveries with losses, whatever the order, and the same again.
class LossTest : public TestCase
{
  public:
    LossTest()
        : TestCase("Everything arrives in spite of losses, the same every time")
    {
    }

  private:
    static std::pair<std::vector<uint64_t>, std::vector<Event>> Run(const std::string& turn)
    {
        Pair pair(turn);
        pair.a->GetWire()->SetAttribute("LossRate", DoubleValue(0.01));
        pair.fabric.AssignStreams(1);
        for (int i = 0; i < 3; ++i)
        {
            pair.Add({50, 30, 20});
        }
        Simulator::Run();
        auto result = std::pair(pair.order, pair.log.delivered);
        Simulator::Destroy();
        return result;
    }

    void DoRun() override
    {
        for (const std::string turn : {"Packet", "Burst", "Message"})
        {
            const auto result = Run(turn);
            NS_TEST_EXPECT_MSG_EQ(result.second.size(), 9, turn);
            NS_TEST_EXPECT_MSG_GT(result.first.size(), 300, "some were sent again, " << turn);
            NS_TEST_EXPECT_MSG_EQ((result == Run(turn)), true, turn);
        }
    }
};

/**
 * Messages that meet on a NIC of a ring. Eight NICs on a switch pass messages of N = 128 packets
 * on, each over the next queue pair of four, as soon as all of a message has arrived; m of them
 * start at the same NIC at time zero, and each makes H = 32 hops. A packet takes t = 83,840 ps, a
 * message T = N t, and a hop beyond that L = two wires of 1 us and t at the switch.
 *
 * Message by message they are pipelined after the first NIC: the first message is through after
 * H (T + L), and the last one (m - 1) T later. It never waits again: the message before it has left
 * the next NIC when it arrives.
 *
 * Packet by packet all end at about m T, arrive together, and are sent in turn again. The line is
 * busy from the start of the first one until m T later, when the last one ends. So a hop takes the
 * last one m T + L, less what it has arrived behind the first: H hops at most H (m T + L). Of two
 * messages, the first sends alone while it is ahead, then they take turns, and it ends as much
 * ahead, or a packet more, since the other one comes in behind a packet that has begun. So after h
 * hops the second is h packets behind at most, and it takes at least H (2 T + L) - t H (H + 1) / 2.
 *
 * ACKs are of one byte, and only the last packet of a message asks for one: each hop may take the
 * time of m of them longer.
 */
class RingTest : public TestCase
{
  public:
    explicit RingTest(int64_t messages)
        : TestCase(std::to_string(messages) + " messages meet in a ring"),
          m_messages(messages)
    {
    }

  private:
    static constexpr int64_t kNics = 8;
    static constexpr int64_t kHops = 32;
    static constexpr int64_t kPackets = 128;
    static constexpr int64_t kMessage = kPackets * kPacket;
    static constexpr int64_t kHop = 2 * kDelay + kPacket;

    /// When the last message has made all hops, ps.
    int64_t Run(const std::string& turn) const
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetNicAttribute("AckSize", UintegerValue(1));
        fabric.SetNicAttribute("QueuePairTurn", StringValue(turn));
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(1000));
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(4));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(kPackets * 1'000));
        BuildStar(fabric, kNics, "100Gbps", MicroSeconds(1));
        std::vector<Ptr<RdmaConnection>> next(kNics);
        int64_t last = 0;
        for (int64_t i = 0; i < kNics; ++i)
        {
            next[i] = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[(i + 1) % kNics]);
            next[i]->SetDeliveryCallback(
                RdmaMessageCallback([&next, &last, i](Bytes bytes, uint64_t hops) {
                    last = Simulator::Now().GetPicoSeconds();
                    if (hops + 1 < kHops)
                    {
                        next[(i + 1) % kNics]->Send(bytes, hops + 1);
                    }
                }));
        }
        for (int64_t i = 0; i < m_messages; ++i)
        {
            next[0]->Send(Bytes(kPackets * 1'000), 0);
        }
        Simulator::Run();
        Simulator::Destroy();
        return last;
    }

    void DoRun() override
    {
        const int64_t answers = kHops * m_messages * 80;
        const int64_t pipelined = kHops * (kMessage + kHop) + (m_messages - 1) * kMessage;
        const int64_t byMessage = Run("Message");
        NS_TEST_EXPECT_MSG_GT(byMessage, pipelined - 1, "no sooner than pipelined");
        NS_TEST_EXPECT_MSG_LT(byMessage, pipelined + answers + Rounding(2 * kHops) + 1, "");
        const int64_t bunched = kHops * (m_messages * kMessage + kHop);
        const int64_t byPacket = Run("Packet");
        if (m_messages == 2)
        {
            NS_TEST_EXPECT_MSG_GT(byPacket,
                                  bunched - kPacket * kHops * (kHops + 1) / 2,
                                  "a bunch stays a bunch");
        }
        NS_TEST_EXPECT_MSG_GT(byPacket, byMessage, "");
        NS_TEST_EXPECT_MSG_LT(byPacket, bunched + answers + Rounding(2 * kHops) + 1, "");
    }

    int64_t m_messages;
};

class QueuePairTurnsSuite : public TestSuite
{
  public:
    QueuePairTurnsSuite()
        : TestSuite("scaleacross-queue-pair-turns")
    {
        AddTestCase(new TurnLengthTest);
        AddTestCase(new OrderTest);
        AddTestCase(new HeldBackTest);
        AddTestCase(new PriorityTest);
        AddTestCase(new PausedTest);
        AddTestCase(new LossTest);
        AddTestCase(new RingTest(2));
        AddTestCase(new RingTest(4));
    }
};

QueuePairTurnsSuite g_queuePairTurnsSuite;

} // namespace
