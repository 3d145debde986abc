// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/enum.h"
#include "ns3/loss-model.h"

#include <functional>
#include <vector>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::RdmaOperation;

namespace
{

/// Loses the packets that a function chooses.
class ChosenLoss : public FabricLossModel
{
  public:
    explicit ChosenLoss(std::function<bool(const FabricPacket&)> choose)
        : m_choose(std::move(choose))
    {
    }

  private:
    bool DoIsLost(const FabricPacket& packet) override
    {
        return m_choose(packet);
    }

    void DoReset() override
    {
    }

    int64_t DoAssignStreams(int64_t) override
    {
        return 0;
    }

    std::function<bool(const FabricPacket&)> m_choose;
};

/// Two NICs back to back, one queue pair at each: 400 Gb/s, 5 us, real RoCEv2 sizes.
struct Pair
{
    using Attributes = std::vector<std::pair<std::string, Ptr<AttributeValue>>>;

    explicit Pair(const Attributes& attributes = {})
        : a(fabric.AddNic(fabric.AddHost())),
          b(fabric.AddNic(fabric.AddHost())),
          wire(fabric.ConnectPorts(a, b, DataRate("400Gbps"), MicroSeconds(5)))
    {
        fabric.InstallRoutes();
        sender = a->CreateQueuePair();
        receiver = b->CreateQueuePair();
        for (const auto& [name, value] : attributes)
        {
            sender->SetAttribute(name, *value);
            receiver->SetAttribute(name, *value);
        }
        receiver->SetDeliveryCallback(RdmaMessageCallback([this](Bytes bytes, uint64_t tag) {
            delivered.push_back({tag, bytes.Count(), Simulator::Now().GetPicoSeconds()});
        }));
        sender->SetCompletionCallback(RdmaMessageCallback([this](Bytes bytes, uint64_t tag) {
            completed.push_back({tag, bytes.Count(), Simulator::Now().GetPicoSeconds()});
        }));
        sender->SetFailureCallback(RdmaFailureCallback([this](const std::string& reason) {
            failures.push_back(reason);
            failedAt = Simulator::Now().GetPicoSeconds();
        }));
    }

    ~Pair()
    {
        Simulator::Destroy();
    }

    void Connect()
    {
        sender->Connect(b->GetFabricAddress(), receiver->GetNumber());
        receiver->Connect(a->GetFabricAddress(), sender->GetNumber());
    }

    FabricHelper fabric;
    Ptr<RdmaNic> a;
    Ptr<RdmaNic> b;
    Ptr<FabricWire> wire;
    Ptr<RdmaQueuePair> sender;
    Ptr<RdmaQueuePair> receiver;
    std::vector<Event> delivered;
    std::vector<Event> completed;
    std::vector<std::string> failures;
    int64_t failedAt{0};
};

Ptr<AttributeValue>
Mode(RdmaQueuePair::RetransmissionMode mode)
{
    return EnumValue(mode).Copy();
}

Ptr<AttributeValue>
Number(uint64_t value)
{
    return UintegerValue(value).Copy();
}

/**
 * Bytes on the wire. 10,000 bytes are packets of 4,096, 4,096 and 1,808 bytes with 82 bytes each:
 * 10,246; a write has a RETH of 16 on the first: 10,262; with immediate also ImmDt, 4, on the last:
 * 10,266. One packet of 1,000 bytes that is first and last: 1,082, 1,098, 1,102. Empty: 82 are
 * raised to 84 by the shortest frame, 98, 102. FixedOverhead 48 instead of all: 3 * 48.
 */
class WireSizeTest : public TestCase
{
  public:
    WireSizeTest()
        : TestCase("Header bytes by operation")
    {
    }

  private:
    static uint64_t Sent(RdmaOperation operation, uint64_t bytes, uint64_t overhead)
    {
        Pair pair;
        pair.a->SetAttribute("FixedOverhead", UintegerValue(overhead));
        pair.Connect();
        pair.sender->Post(operation, Bytes(bytes), 1);
        Simulator::Run();
        return pair.delivered.size() == 1 && pair.delivered[0].bytes == bytes
                   ? pair.a->GetSentBytes()
                   : 0;
    }

    void DoRun() override
    {
        const RdmaOperation operations[] = {RdmaOperation::Write,
                                            RdmaOperation::WriteWithImmediate,
                                            RdmaOperation::Send};
        const uint64_t large[] = {10'262, 10'266, 10'246};
        const uint64_t single[] = {1'098, 1'102, 1'082};
        const uint64_t empty[] = {98, 102, 84};
        for (uint32_t i = 0; i < 3; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(Sent(operations[i], 10'000, 0), large[i], "three packets");
            NS_TEST_ASSERT_MSG_EQ(Sent(operations[i], 1'000, 0), single[i], "one packet");
            NS_TEST_ASSERT_MSG_EQ(Sent(operations[i], 0, 0), empty[i], "no bytes");
            NS_TEST_ASSERT_MSG_EQ(Sent(operations[i], 10'000, 48), 10'144, "fixed overhead");
        }
    }
};

/// What packets say of their messages: a loss in the middle, and flags on all repetitions.
class FlagsTest : public TestCase
{
  public:
    explicit FlagsTest(RdmaQueuePair::RetransmissionMode mode)
        : TestCase(std::string("First, last, retransmitted: ") +
                   (mode == RdmaQueuePair::GoBackN ? "go-back-N" : "selective repeat")),
          m_mode(mode)
    {
    }

  private:
    void DoRun() override
    {
        Pair pair({{"RetransmissionMode", Mode(m_mode)}, {"Timeout", Number(3)}});
        pair.Connect();
        pair.wire->SetLossModel(0, CreateObject<ChosenLoss>([](const FabricPacket& packet) {
                                    return packet.psn == 3 && !packet.retransmitted;
                                }));
        std::string seen;
        pair.a->TraceConnectWithoutContext(
            "Transmit",
            Callback<void, const FabricPacket&>([&seen](const FabricPacket& packet) {
                seen += std::to_string(packet.psn) + (packet.firstOfMessage ? "f" : "") +
                        (packet.lastOfMessage ? "l" : "") + (packet.retransmitted ? "r" : "") +
                        "WIS"[static_cast<int>(packet.operation)] + " ";
            }));
        pair.sender->Post(RdmaOperation::Send, Bytes(100), 7);
        pair.sender->Post(RdmaOperation::WriteWithImmediate, Bytes(3 * 4096), 8);
        pair.sender->Post(RdmaOperation::Write, Bytes(2 * 4096), 9);
        Simulator::Run();
        const std::string first = "0flS 1fI 2I 3lI 4fW 5lW ";
        NS_TEST_ASSERT_MSG_EQ(seen,
                              first +
                                  (m_mode == RdmaQueuePair::GoBackN ? "3lrI 4frW 5lrW " : "3lrI "),
                              "packets sent");
        NS_TEST_ASSERT_MSG_EQ(pair.delivered.size(), 3, "all delivered");
        for (uint64_t i = 0; i < 3; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(pair.delivered[i].tag, 7 + i, "in the order of posting");
        }
        NS_TEST_ASSERT_MSG_EQ(pair.receiver->GetCounters().notified, 2, "send and immediate");
        NS_TEST_ASSERT_MSG_EQ(pair.sender->GetCounters().timeouts, 0, "by the NAK");
        // With selective repeat the last message is whole before the one that is repaired: both
        // are delivered by the packet that fills the gap.
        if (m_mode == RdmaQueuePair::SelectiveRepeat)
        {
            NS_TEST_ASSERT_MSG_EQ(pair.delivered[1].time, pair.delivered[2].time, "together");
            NS_TEST_ASSERT_MSG_EQ(pair.receiver->GetCounters().placedEarly, 2, "kept");
        }
    }

    RdmaQueuePair::RetransmissionMode m_mode;
};

/**
 * Receiver not ready. A send of 1,000 bytes, 1,082 on the wire, 21.64 ns: there at 5.02164 us, no
 * receive; the NAK, 86 bytes and 1.72 ns, is back at 10.02336 us. RnrTimer 1 is 10 us: sent again
 * at 20.02336 us, there at 25.045 us. A receive is posted at 25 us: delivered. The ACK is back at
 * 30.04672 us.
 *
 * Behind it a write of one packet, which needs no receive but comes in order: with go-back-N it is
 * sent again too, 1,098 bytes, there 21.96 ns later; with selective repeat it has been kept and is
 * delivered together with the send.
 */
class NotReadyTest : public TestCase
{
  public:
    explicit NotReadyTest(RdmaQueuePair::RetransmissionMode mode)
        : TestCase(std::string("Receiver not ready: ") +
                   (mode == RdmaQueuePair::GoBackN ? "go-back-N" : "selective repeat")),
          m_mode(mode)
    {
    }

  private:
    void DoRun() override
    {
        Pair pair({{"RetransmissionMode", Mode(m_mode)},
                   {"ReceiveQueueDepth", Number(4)},
                   {"RnrTimer", Number(1)}});
        pair.Connect();
        pair.sender->Post(RdmaOperation::Send, Bytes(1000), 1);
        pair.sender->Post(RdmaOperation::Write, Bytes(1000), 2);
        Simulator::Schedule(MicroSeconds(25), [&pair]() { pair.receiver->PostReceive(); });
        Simulator::Run();
        const bool goBack = m_mode == RdmaQueuePair::GoBackN;
        NS_TEST_ASSERT_MSG_EQ(pair.delivered.size(), 2, "both");
        NS_TEST_ASSERT_MSG_EQ(pair.delivered[0].tag, 1, "the send first");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.delivered[0].time, 25'045'000, Rounding(3), "send");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.delivered[1].time,
                                  25'045'000 + (goBack ? 21'960 : 0),
                                  Rounding(3),
                                  "write");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.completed[0].time, 30'046'720, Rounding(4), "ACK");
        NS_TEST_ASSERT_MSG_EQ(pair.sender->GetCounters().notReady, 1, "waited once");
        NS_TEST_ASSERT_MSG_EQ(pair.receiver->GetCounters().rnrNaks, 1, "refused once");
        NS_TEST_ASSERT_MSG_EQ(pair.sender->GetCounters().retransmissions,
                              (goBack ? 2 : 1),
                              "sent again");
        NS_TEST_ASSERT_MSG_EQ(pair.receiver->GetPostedReceives(), 0, "used up");
        NS_TEST_ASSERT_MSG_EQ(pair.sender->GetCounters().timeouts, 0, "no timeout");
    }

    RdmaQueuePair::RetransmissionMode m_mode;
};

/**
 * RnrRetryCount 2: refused at 10.02336 us (see above), then every 10 us + 10.02336 us; the third
 * time is the error, at 10.02336 + 2 * 20.02336 = 50.07008 us. Three messages of 1,000, 200 and 30
 * bytes are lost.
 */
class NotReadyLimitTest : public TestCase
{
  public:
    NotReadyLimitTest()
        : TestCase("A receiver that is never ready")
    {
    }

  private:
    void DoRun() override
    {
        Pair pair({{"ReceiveQueueDepth", Number(1)},
                   {"RnrTimer", Number(1)},
                   {"RnrRetryCount", Number(2)}});
        using State = RdmaQueuePair::State;
        NS_TEST_ASSERT_MSG_EQ((pair.sender->GetState() == State::Reset), true, "RESET");
        pair.Connect();
        NS_TEST_ASSERT_MSG_EQ((pair.sender->GetState() == State::ReadyToSend), true, "RTS");
        uint64_t flushed = 0;
        pair.sender->TraceConnectWithoutContext(
            "MessageFlushed",
            Callback<void, uint64_t, uint64_t>(
                [&flushed](uint64_t bytes, uint64_t) { flushed += bytes; }));
        pair.sender->Post(RdmaOperation::Send, Bytes(1000), 1);
        pair.sender->Post(RdmaOperation::Send, Bytes(200), 2);
        pair.sender->Post(RdmaOperation::Write, Bytes(30), 3);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ((pair.sender->GetState() == State::Error), true, "ERR");
        NS_TEST_ASSERT_MSG_EQ(pair.failures.size(), 1, "reported once");
        NS_TEST_ASSERT_MSG_EQ(pair.failures[0],
                              "receiver not ready: queue pair 0 of node 0 port 0 to address 1 had "
                              "PSN 0 refused 3 times; 3 messages of 1230 bytes are lost",
                              "what and where");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.failedAt, 50'070'080, Rounding(6), "time");
        NS_TEST_ASSERT_MSG_EQ(flushed, 1230, "every message is flushed");
        NS_TEST_ASSERT_MSG_EQ(pair.sender->GetCounters().flushedMessages, 3, "three");
        NS_TEST_ASSERT_MSG_EQ(pair.sender->GetPendingMessages(), 0, "none left");
        NS_TEST_ASSERT_MSG_EQ(pair.sender->Post(RdmaOperation::Write, Bytes(1), 4),
                              false,
                              "refused from then on");
        bool refused = false;
        try
        {
            pair.receiver->PostReceive(2);
        }
        catch (const scaleacross::ConfigError&)
        {
            refused = true;
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "more than ReceiveQueueDepth");
    }
};

/// Receives are posted as messages are delivered, one for one, with 2 % loss: everything arrives.
class ReceiveCreditTest : public TestCase
{
  public:
    explicit ReceiveCreditTest(RdmaQueuePair::RetransmissionMode mode)
        : TestCase(std::string("Few receives and loss: ") +
                   (mode == RdmaQueuePair::GoBackN ? "go-back-N" : "selective repeat")),
          m_mode(mode)
    {
    }

  private:
    void DoRun() override
    {
        Pair pair({{"RetransmissionMode", Mode(m_mode)},
                   {"ReceiveQueueDepth", Number(8)},
                   {"RnrTimer", Number(1)},
                   {"Timeout", Number(3)}});
        pair.fabric.AssignStreams(7);
        pair.wire->SetLossRate(0.02);
        pair.Connect();
        pair.receiver->PostReceive(8);
        pair.receiver->TraceConnectWithoutContext(
            "MessageDelivered",
            Callback<void, uint64_t, uint64_t>([&pair](uint64_t, uint64_t tag) {
                if (tag % 3 != 0)
                {
                    // Software takes 2 us to hand the buffer back.
                    Simulator::Schedule(MicroSeconds(2),
                                        [&pair]() { pair.receiver->PostReceive(); });
                }
            }));
        for (uint64_t tag = 0; tag < 600; ++tag)
        {
            const auto operation = static_cast<RdmaOperation>(tag % 3);
            pair.sender->Post(operation, Bytes(tag * 50), tag);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(pair.delivered.size(), 600, "every message");
        NS_TEST_ASSERT_MSG_EQ(pair.completed.size(), 600, "acknowledged");
        for (uint64_t tag = 0; tag < 600; ++tag)
        {
            NS_TEST_ASSERT_MSG_EQ(pair.delivered[tag].tag, tag, "in order");
            NS_TEST_ASSERT_MSG_EQ(pair.delivered[tag].bytes, tag * 50, "bytes");
        }
        NS_TEST_ASSERT_MSG_GT(pair.sender->GetCounters().notReady, 0, "receives ran out");
        NS_TEST_ASSERT_MSG_EQ(pair.receiver->GetCounters().notified, 400, "two of three");
        NS_TEST_ASSERT_MSG_EQ(pair.receiver->GetPostedReceives(), 8, "all handed back");
        CheckConservation(pair.fabric);
    }

    RdmaQueuePair::RetransmissionMode m_mode;
};

/**
 * Across the wrap of the 24-bit PSN with 5 % loss both ways: the same losses give the same times,
 * to the picosecond, whatever PSN the connection starts with. 2,000 packets from 2^24 - 700 on.
 */
class WrapTest : public TestCase
{
  public:
    explicit WrapTest(RdmaQueuePair::RetransmissionMode mode)
        : TestCase(std::string("PSNs wrap under loss: ") +
                   (mode == RdmaQueuePair::GoBackN ? "go-back-N" : "selective repeat")),
          m_mode(mode)
    {
    }

  private:
    std::vector<Event> Times(uint64_t start)
    {
        Pair pair({{"RetransmissionMode", Mode(m_mode)},
                   {"Timeout", Number(3)},
                   {"StartingPsn", Number(start)}});
        pair.fabric.AssignStreams(11);
        pair.wire->SetLossRate(0.05);
        pair.Connect();
        for (uint64_t i = 0; i < 20; ++i)
        {
            pair.sender->Post(RdmaOperation::Write, Bytes(100 * 4096 - i), i);
        }
        uint64_t highest = 0;
        pair.a->TraceConnectWithoutContext(
            "Transmit",
            Callback<void, const FabricPacket&>([&highest](const FabricPacket& packet) {
                highest = std::max(highest, packet.psn);
            }));
        Simulator::Run();
        CheckLast(highest, start + 1999);
        std::vector<Event> events = pair.delivered;
        events.insert(events.end(), pair.completed.begin(), pair.completed.end());
        return events;
    }

    void CheckLast(uint64_t actual, uint64_t expected)
    {
        NS_TEST_ASSERT_MSG_EQ(actual, expected, "PSN of the last packet");
    }

    void DoRun() override
    {
        const std::vector<Event> low = Times(0);
        const std::vector<Event> high = Times((1U << 24) - 700);
        NS_TEST_ASSERT_MSG_EQ(low.size(), 40, "20 delivered, 20 acknowledged");
        NS_TEST_ASSERT_MSG_EQ((low == high), true, "the same");
    }

    RdmaQueuePair::RetransmissionMode m_mode;
};

/**
 * 5 GiB in one message, more than 32 bits can count: 5 * 2^30 bytes with an MTU of 9,000 are
 * 596,524 packets, 5,368,709,120 + 596,524 * 82 + 16 = 5,417,624,104 bytes on the wire, 20 ps each:
 * 108,352.48208 us, and 5 us of wire.
 */
class LargeMessageTest : public TestCase
{
  public:
    LargeMessageTest()
        : TestCase("A message of 5 GiB")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t bytes = 5ULL << 30;
        Pair pair({{"AckInterval", Number(64)}});
        pair.a->SetAttribute("PathMtu", UintegerValue(9000));
        pair.b->SetAttribute("PathMtu", UintegerValue(9000));
        pair.Connect();
        pair.sender->Post(RdmaOperation::Write, Bytes(bytes), 1);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(pair.delivered.size(), 1, "delivered");
        NS_TEST_ASSERT_MSG_EQ(pair.delivered[0].bytes, bytes, "bytes");
        NS_TEST_ASSERT_MSG_EQ(pair.receiver->GetCounters().deliveredBytes, bytes, "bytes");
        NS_TEST_ASSERT_MSG_EQ(pair.a->GetDataSent(), 596'524, "packets");
        NS_TEST_ASSERT_MSG_EQ(pair.a->GetSentBytes(), 5'417'624'104, "bytes on the wire");
        NS_TEST_ASSERT_MSG_EQ_TOL(pair.delivered[0].time, 108'357'482'080, Rounding(1), "time");
    }
};

class OperationsSuite : public TestSuite
{
  public:
    OperationsSuite()
        : TestSuite("scaleacross-operations")
    {
        AddTestCase(new WireSizeTest);
        for (auto mode : {RdmaQueuePair::GoBackN, RdmaQueuePair::SelectiveRepeat})
        {
            AddTestCase(new FlagsTest(mode));
            AddTestCase(new NotReadyTest(mode));
            AddTestCase(new ReceiveCreditTest(mode));
            AddTestCase(new WrapTest(mode));
        }
        AddTestCase(new NotReadyLimitTest);
        AddTestCase(new LargeMessageTest);
    }
};

OperationsSuite g_operationsSuite;

} // namespace
