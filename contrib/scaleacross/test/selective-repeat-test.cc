// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/psn-bitmap.h"
#include "ns3/psn.h"
#include "ns3/rdma-receiver.h"
#include "ns3/selective-repeat.h"
#include "ns3/test.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

using namespace ns3;
using scaleacross::FabricPacket;
using scaleacross::kPsnSpace;
using scaleacross::PsnBitmap;
using scaleacross::PsnNear;
using scaleacross::RdmaAnswer;
using scaleacross::RdmaCounters;
using scaleacross::RdmaOperation;
using scaleacross::RdmaReceiver;
using scaleacross::SelectiveRepeat;
using scaleacross::WirePsn;

namespace
{

/// Every number at most 2^23 - 1 away is found again from its low 24 bits, wherever the wrap is.
class PsnTest : public TestCase
{
  public:
    PsnTest()
        : TestCase("24 bits of a PSN")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t locals[] = {kPsnSpace - 3, kPsnSpace, 7 * kPsnSpace + 12, 1ULL << 40};
        const int64_t far = scaleacross::kMostUnacked;
        for (uint64_t local : locals)
        {
            for (int64_t distance : {-far, int64_t{-13}, int64_t{0}, int64_t{1}, int64_t{5}, far})
            {
                const uint64_t psn = local + static_cast<uint64_t>(distance);
                NS_TEST_ASSERT_MSG_EQ(PsnNear(WirePsn(psn), local), psn, "distance " << distance);
            }
        }
        NS_TEST_ASSERT_MSG_EQ(PsnNear(0xFFFFFE, 0x1000005), 0xFFFFFE, "before the wrap");
        NS_TEST_ASSERT_MSG_EQ(PsnNear(0x5, 0xFFFFFE), 0x1000005, "after the wrap");
    }
};

/// Random sets, takes and moves of the base, against std::set.
class BitmapTest : public TestCase
{
  public:
    BitmapTest()
        : TestCase("A set of PSNs against std::set")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(1);
        PsnBitmap bitmap;
        std::set<uint64_t> set;
        uint64_t base = kPsnSpace - 100;
        bitmap.Reset(base);
        NS_TEST_ASSERT_MSG_EQ(bitmap.Capacity(), 0, "nothing set, no memory");
        for (uint32_t i = 0; i < 200'000; ++i)
        {
            const uint64_t psn = base + random() % 700;
            switch (random() % 8)
            {
            case 0:
                bitmap.Clear(psn);
                set.erase(psn);
                break;
            case 1:
                base += random() % 90;
                bitmap.AdvanceTo(base);
                set.erase(set.begin(), set.lower_bound(base));
                break;
            default:
                NS_TEST_ASSERT_MSG_EQ(bitmap.Set(psn), set.insert(psn).second, "new or not");
            }
            const uint64_t asked = base - 50 + random() % 900;
            NS_TEST_ASSERT_MSG_EQ(bitmap.Test(asked), (set.count(asked) == 1), "PSN " << asked);
            NS_TEST_ASSERT_MSG_EQ(bitmap.Count(), set.size(), "size");
        }
        // 700 PSNs from any bit of a word on lie in at most 12 words: 16, as it doubles.
        NS_TEST_ASSERT_MSG_EQ(bitmap.Capacity(), 16 * 64, "memory for the farthest one");
    }
};

/**
 * The worked case of SelectiveRepeat: 0 to 9 sent, 3 and 5 lost; each is found once, by the first
 * packet sent after it, and so is the loss of the repetition.
 */
class LossDetectionTest : public TestCase
{
  public:
    LossDetectionTest()
        : TestCase("Which packets count as lost")
    {
    }

  private:
    void DoRun() override
    {
        SelectiveRepeat sender;
        sender.Start(0, 0);
        NS_TEST_ASSERT_MSG_EQ(sender.Answered(3, 2, 10).lost, 0, "in order");
        auto found = sender.Answered(3, 4, 10);
        NS_TEST_ASSERT_MSG_EQ(found.lost, 1, "3");
        NS_TEST_ASSERT_MSG_EQ(found.firstLost, 3, "3");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(10), 3, "after 9");
        NS_TEST_ASSERT_MSG_EQ(sender.HasLost(), false, "once");
        found = sender.Answered(3, 6, 11); // 10 has been sent
        NS_TEST_ASSERT_MSG_EQ(found.lost, 1, "5, not 3 again");
        NS_TEST_ASSERT_MSG_EQ(found.firstLost, 5, "5");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(11), 5, "after 10");
        for (uint64_t cause = 7; cause < 10; ++cause)
        {
            NS_TEST_ASSERT_MSG_EQ(sender.Answered(3, cause, 12).lost, 0, "sent before the repeat");
        }
        found = sender.Answered(3, 10, 12); // sent after the repetition of 3, before that of 5
        NS_TEST_ASSERT_MSG_EQ(found.lost, 1, "the repetition of 3");
        NS_TEST_ASSERT_MSG_EQ(found.firstLost, 3, "the repetition of 3");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(12), 3, "a third time");
        NS_TEST_ASSERT_MSG_EQ(sender.Answered(3, 5, 12).lost, 0, "5 has come");
        found = sender.Answered(11, 3, 12);
        NS_TEST_ASSERT_MSG_EQ(found.progress, true, "3 has come");
        NS_TEST_ASSERT_MSG_EQ(found.lost, 1, "11 was sent before that and has not come");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(12), 11, "11");
    }
};

/**
 * A repetition is judged by repetitions too: 0 to 5 sent, 1, 2 and 3 lost and repeated at the end
 * of the data; the answer to the repetition of 3 says that 1 and 2 have been lost again.
 */
class LostRepetitionTest : public TestCase
{
  public:
    LostRepetitionTest()
        : TestCase("Lost repetitions at the end of the data")
    {
    }

  private:
    void DoRun() override
    {
        SelectiveRepeat sender;
        sender.Start(0, 0);
        sender.Answered(1, 0, 6);
        NS_TEST_ASSERT_MSG_EQ(sender.Answered(1, 4, 6).lost, 3, "1, 2, 3");
        for (uint64_t psn = 1; psn <= 3; ++psn)
        {
            NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(6), psn, "in order");
        }
        NS_TEST_ASSERT_MSG_EQ(sender.Answered(1, 5, 6).lost, 0, "5 was sent before them");
        auto found = sender.Answered(1, 3, 6);
        NS_TEST_ASSERT_MSG_EQ(found.lost, 2, "1 and 2");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(6), 1, "again");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(6), 2, "again");
        found = sender.TimedOut(6);
        NS_TEST_ASSERT_MSG_EQ(found.lost, 2, "neither has come: both are sent again");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(6), 1, "the first");
        found = sender.Answered(6, 1, 6);
        NS_TEST_ASSERT_MSG_EQ(found.progress, true, "both have come after all");
        NS_TEST_ASSERT_MSG_EQ(sender.HasLost(), false, "2 need not be sent any more");
    }
};

/**
 * Sender and receiver joined by a path that changes the order of packets, loses them, or both, and
 * forgets answers; no clock, hence a timeout when nothing is under way.
 *
 * Packet i of a run of transmissions is put at position i + random in [0, spread]. So a packet is
 * overtaken by at most those sent up to `spread` transmissions after it. With a tolerance of
 * `spread` and no loss nothing may be sent twice, and the receiver, which must keep at most
 * `spread` packets, may answer no NAK. With a smaller tolerance, or with loss, everything still
 * has to arrive, once and in order.
 */
class ReorderTest : public TestCase
{
  public:
    ReorderTest(uint32_t spread, uint32_t tolerance, double loss, uint32_t keep)
        : TestCase("Order changed by up to " + std::to_string(spread) + ", tolerance " +
                   std::to_string(tolerance) + ", loss " + std::to_string(loss) + ", keeping " +
                   std::to_string(keep)),
          m_spread(spread),
          m_tolerance(tolerance),
          m_loss(loss),
          m_keep(keep)
    {
    }

  private:
    struct Flying
    {
        uint64_t position;
        uint64_t id;
        FabricPacket packet;
    };

    static FabricPacket Make(uint64_t psn, uint64_t start)
    {
        // Messages of 1, 2, .. 5 packets, again and again: 15 packets a round. The last packet of
        // a message is smaller.
        static const uint64_t firsts[] = {0, 1, 3, 6, 10};
        const uint64_t round = (psn - start) / 15;
        const uint64_t place = (psn - start) % 15;
        uint64_t kind = 4;
        while (firsts[kind] > place)
        {
            --kind;
        }
        FabricPacket packet{};
        packet.psn = WirePsn(psn); // nothing but 24 bits
        packet.tag = round * 5 + kind;
        packet.firstOfMessage = place == firsts[kind];
        packet.lastOfMessage = place == firsts[kind] + kind;
        packet.payload = packet.lastOfMessage ? static_cast<uint16_t>(kind + 1) : 1000;
        packet.operation = static_cast<RdmaOperation>(kind % 3);
        packet.ackRequested = true;
        return packet;
    }

    void Check(RdmaReceiver& receiver, uint64_t& messages)
    {
        for (const auto& message : receiver.Delivered())
        {
            NS_TEST_ASSERT_MSG_EQ(message.tag, messages, "in the order of posting");
            const uint64_t kind = messages % 5;
            NS_TEST_ASSERT_MSG_EQ(message.bytes, kind * 1000 + kind + 1, "bytes");
            ++messages;
        }
        receiver.Delivered().clear();
    }

    void DoRun() override
    {
        const uint64_t start = kPsnSpace - 5000; // crosses the wrap
        const uint64_t end = start + 15 * 1000;
        const uint64_t window = 256;
        std::mt19937_64 random(m_spread * 1000 + m_tolerance);
        std::uniform_real_distribution<double> uniform(0, 1);
        RdmaCounters counters;
        RdmaReceiver receiver(counters);
        receiver.Configure({start, m_keep, m_tolerance, false});
        SelectiveRepeat sender;
        sender.Start(start, m_tolerance);
        std::vector<Flying> flying;
        uint64_t next = start;
        uint64_t una = start;
        uint64_t sent = 0;
        uint64_t timeouts = 0;
        uint64_t messages = 0;
        uint64_t arrived = 0;
        while (una < end && sent < 1'000'000)
        {
            const bool maySend = sender.HasLost() || (next < end && next - una < window);
            if (!maySend && flying.empty())
            {
                ++timeouts;
                sender.TimedOut(next);
                NS_TEST_ASSERT_MSG_EQ(sender.HasLost(), true, "a timeout finds something to send");
                continue;
            }
            if (maySend)
            {
                FabricPacket packet =
                    sender.HasLost() ? Make(sender.TakeLost(next), start) : Make(next++, start);
                if (uniform(random) >= m_loss)
                {
                    flying.push_back({sent + random() % (m_spread + 1), sent, packet});
                }
                ++sent;
            }
            // What can no longer be overtaken arrives; everything, if nothing more is sent.
            const auto first = std::min_element(flying.begin(),
                                                flying.end(),
                                                [](const Flying& a, const Flying& b) {
                                                    return a.position != b.position
                                                               ? a.position < b.position
                                                               : a.id < b.id;
                                                });
            if (first == flying.end() || (maySend && first->position >= sent))
            {
                continue;
            }
            const FabricPacket packet = first->packet;
            flying.erase(first);
            const RdmaAnswer answer = receiver.Take(packet);
            Check(receiver, messages);
            if (answer == RdmaAnswer::None || uniform(random) < m_loss)
            {
                continue;
            }
            const uint64_t cumulative = PsnNear(WirePsn(receiver.Expected()), una);
            arrived += sender.Answered(cumulative, PsnNear(packet.psn, una), next).arrived;
            NS_TEST_ASSERT_MSG_EQ(arrived,
                                  cumulative - start + sender.Arrived().Count(),
                                  "each is known to have arrived once");
            una = cumulative;
        }
        NS_TEST_ASSERT_MSG_EQ(una, end, "everything acknowledged");
        NS_TEST_ASSERT_MSG_EQ(arrived, end - start, "and so it was told");
        NS_TEST_ASSERT_MSG_EQ(messages, 5000, "every message once");
        if (m_loss == 0 && m_tolerance >= m_spread)
        {
            NS_TEST_ASSERT_MSG_EQ(sent, end - start, "nothing sent twice");
            NS_TEST_ASSERT_MSG_EQ(counters.naks, 0, "no gap was taken for a loss");
            NS_TEST_ASSERT_MSG_EQ(counters.placedEarly,
                                  counters.outOfOrder,
                                  "whatever came early was kept");
            NS_TEST_ASSERT_MSG_GT_OR_EQ(counters.outOfOrder, m_spread, "the order did change");
            NS_TEST_ASSERT_MSG_EQ(timeouts, 0, "no timeout");
        }
        if (m_loss > 0 && m_spread == 0)
        {
            // A packet is sent 1/(1-p) times on average. An answer that is lost while there is a
            // gap costs a repetition; there is one during some of the time, at most always: another
            // p. 15,000 packets: 5 standard deviations of the losses, sqrt(15000 p), in addition.
            const double packets = static_cast<double>(end - start);
            const double most =
                packets / (1 - m_loss) * (1 + m_loss) + window + 5 * std::sqrt(packets * m_loss);
            NS_TEST_ASSERT_MSG_LT(static_cast<double>(sent), most, "each loss repeated once");
        }
    }

    uint32_t m_spread;
    uint32_t m_tolerance;
    double m_loss;
    uint32_t m_keep;
};

/**
 * Receives: a send needs one with its first packet, a write with immediate with its last, a write
 * none; packets that came early are thrown away if there is none when it is their turn.
 */
class ReceiveQueueTest : public TestCase
{
  public:
    ReceiveQueueTest()
        : TestCase("Who uses up receives")
    {
    }

  private:
    static FabricPacket Make(uint64_t psn, RdmaOperation operation, bool first, bool last)
    {
        FabricPacket packet{};
        packet.psn = psn;
        packet.operation = operation;
        packet.firstOfMessage = first;
        packet.lastOfMessage = last;
        packet.payload = 100;
        packet.ackRequested = true;
        return packet;
    }

    void DoRun() override
    {
        const auto write = RdmaOperation::Write;
        const auto immediate = RdmaOperation::WriteWithImmediate;
        const auto send = RdmaOperation::Send;
        RdmaCounters counters;
        RdmaReceiver receiver(counters);
        receiver.Configure({0, 16, 0, true});
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(Make(0, write, true, true)) == RdmaAnswer::Ack),
                              true,
                              "a write needs none");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(Make(1, immediate, true, false)) == RdmaAnswer::Ack),
                              true,
                              "the first packet of a write with immediate needs none");
        NS_TEST_ASSERT_MSG_EQ(
            (receiver.Take(Make(2, immediate, false, true)) == RdmaAnswer::RnrNak),
            true,
            "the last one does");
        // A send of two packets and a write come early.
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(Make(3, send, true, false)) == RdmaAnswer::Nak),
                              true,
                              "kept");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(Make(4, send, false, true)) == RdmaAnswer::Nak),
                              true,
                              "kept");
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(Make(5, write, true, true)) == RdmaAnswer::Nak),
                              true,
                              "kept");
        NS_TEST_ASSERT_MSG_EQ(receiver.Delivered().size(), 1, "the first write");
        receiver.PostReceives(1);
        NS_TEST_ASSERT_MSG_EQ(
            (receiver.Take(Make(2, immediate, false, true)) == RdmaAnswer::RnrNak),
            true,
            "taken, but now the send finds none");
        NS_TEST_ASSERT_MSG_EQ(receiver.Expected(), 3, "which was kept and is thrown away");
        NS_TEST_ASSERT_MSG_EQ(receiver.Delivered().size(), 2, "the write with immediate");
        receiver.PostReceives(1);
        NS_TEST_ASSERT_MSG_EQ((receiver.Take(Make(3, send, true, false)) == RdmaAnswer::Ack),
                              true,
                              "with all that was kept");
        NS_TEST_ASSERT_MSG_EQ(receiver.Expected(), 6, "all of it");
        NS_TEST_ASSERT_MSG_EQ(receiver.Delivered().size(), 4, "send and write");
        NS_TEST_ASSERT_MSG_EQ(receiver.Delivered()[2].bytes, 200, "the send");
        NS_TEST_ASSERT_MSG_EQ(receiver.Delivered()[3].bytes, 100, "the write");
        NS_TEST_ASSERT_MSG_EQ(receiver.PostedReceives(), 0, "both used");
        NS_TEST_ASSERT_MSG_EQ(counters.notified, 2, "its software hears of two");
        NS_TEST_ASSERT_MSG_EQ(counters.rnrNaks, 2, "refused twice");
    }
};

class SelectiveRepeatSuite : public TestSuite
{
  public:
    SelectiveRepeatSuite()
        : TestSuite("scaleacross-selective-repeat")
    {
        AddTestCase(new PsnTest);
        AddTestCase(new BitmapTest);
        AddTestCase(new LossDetectionTest);
        AddTestCase(new LostRepetitionTest);
        AddTestCase(new ReceiveQueueTest);
        AddTestCase(new ReorderTest(8, 8, 0, 1000));
        AddTestCase(new ReorderTest(64, 64, 0, 1000));
        AddTestCase(new ReorderTest(64, 0, 0, 1000));
        AddTestCase(new ReorderTest(64, 10, 0, 20));
        AddTestCase(new ReorderTest(0, 0, 0.01, 1000));
        AddTestCase(new ReorderTest(0, 0, 0.2, 1000));
        AddTestCase(new ReorderTest(0, 4, 0.05, 1000));
        AddTestCase(new ReorderTest(16, 16, 0.1, 1000));
        AddTestCase(new ReorderTest(16, 3, 0.1, 8));
    }
};

SelectiveRepeatSuite g_selectiveRepeatSuite;

} // namespace
