// SPDX-License-Identifier: GPL-2.0-only

// Packets that lose their payload in a switch in place of their life: what the switch, the receiver
// and the sender make of that, to the picosecond and under load.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/random-entropy.h"
#include "ns3/rdma-receiver.h"
#include "ns3/selective-repeat.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::RdmaAnswer;
using scaleacross::RdmaCounters;
using scaleacross::RdmaReceiver;
using scaleacross::SelectiveRepeat;

namespace
{

constexpr int64_t kWire = 1'000'000; //!< ps, delay of every wire
constexpr int64_t kData = 83'840;    //!< ps, 1,048 bytes at 100 Gb/s
constexpr int64_t kHeader = 7'040;   //!< ps, 88 bytes
constexpr int64_t kAnswer = 4'800;   //!< ps, 60 bytes
constexpr uint64_t kPacket = 1048;   //!< bytes on the wire

/// A star of 100 Gb/s with wires of 1 us whose switch trims what finds more than `packets` waiting.
struct Star
{
    Star(uint32_t senders, uint64_t packets, const std::string& mode, uint64_t buffer = kMiB)
    {
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(buffer));
        fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(kPacket));
        fabric.SetSwitchAttribute("Trim", BooleanValue(true));
        fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(packets * kPacket));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue(mode));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1000));
        centre = BuildStar(fabric, senders + 1, "100Gbps", PicoSeconds(kWire));
        target = fabric.Nics()[senders];
    }

    ~Star()
    {
        Simulator::Destroy();
    }

    void Send(uint32_t from, uint64_t bytes)
    {
        auto connection = fabric.CreateConnection(fabric.Nics()[from], target);
        log.Watch(connection);
        connection->Send(Bytes(bytes), from);
    }

    uint64_t Timeouts() const
    {
        uint64_t sum = 0;
        for (const auto& nic : fabric.Nics())
        {
            sum += nic->GetTimeouts();
        }
        return sum;
    }

    uint64_t Repetitions() const
    {
        uint64_t sum = 0;
        for (const auto& nic : fabric.Nics())
        {
            sum += nic->GetRetransmissions();
        }
        return sum;
    }

    FabricHelper fabric;
    Ptr<FabricSwitch> centre;
    Ptr<RdmaNic> target;
    Log log;
};

/**
 * Notices of trimmed packets at the sender, with a tolerance that takes no gap for a loss: each
 * makes its packet be sent again once, stale ones do not, and what is under way is what has been
 * sent less what has arrived or is lost.
 */
class NoticeTest : public TestCase
{
  public:
    NoticeTest()
        : TestCase("Each notice of a trimmed packet is one repetition")
    {
    }

  private:
    void DoRun() override
    {
        SelectiveRepeat sender;
        sender.Start(0, 100);
        NS_TEST_ASSERT_MSG_EQ(sender.Answered(3, 6, 10).lost, 0, "3, 4, 5 may still come");
        NS_TEST_ASSERT_MSG_EQ(sender.NotUnderWay(), 1, "6 has arrived: 3, 4, 5, 7, 8, 9 have not");
        auto found = sender.Trimmed(3, 7, 10, false);
        NS_TEST_ASSERT_MSG_EQ(found.lost, 1, "7");
        NS_TEST_ASSERT_MSG_EQ(found.firstLost, 7, "7, and not what was sent before");
        NS_TEST_ASSERT_MSG_EQ(sender.NotUnderWay(), 2, "6 has arrived, 7 is lost");
        NS_TEST_ASSERT_MSG_EQ(sender.Trimmed(3, 7, 10, false).lost, 0, "is known");
        NS_TEST_ASSERT_MSG_EQ(sender.Trimmed(3, 6, 10, false).lost, 0, "has arrived");
        NS_TEST_ASSERT_MSG_EQ(sender.Trimmed(3, 10, 10, false).lost, 0, "was never sent");
        found = sender.Trimmed(4, 4, 10, false);
        NS_TEST_ASSERT_MSG_EQ(found.progress, true, "3 has arrived");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(10), 7, "in the order of the notices");
        NS_TEST_ASSERT_MSG_EQ(sender.NotUnderWay(), 2, "6 has arrived, 4 is lost");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(10), 4, "in the order of the notices");
        NS_TEST_ASSERT_MSG_EQ(sender.HasLost(), false, "once each");
        NS_TEST_ASSERT_MSG_EQ(sender.Trimmed(4, 7, 10, false).lost, 0, "tells of the first time");
        NS_TEST_ASSERT_MSG_EQ(sender.Trimmed(4, 7, 10, true).lost, 1, "the repetition");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(10), 7, "a third time");
        NS_TEST_ASSERT_MSG_EQ(sender.Answered(7, 4, 10).lost, 0, "4 and 5 have come");
        NS_TEST_ASSERT_MSG_EQ(sender.NotUnderWay(), 0, "7, 8, 9 are under way");
        // A timeout gives up all of them; what then comes in late is not to be sent again.
        NS_TEST_ASSERT_MSG_EQ(sender.TimedOut(10).lost, 3, "7, 8, 9");
        NS_TEST_ASSERT_MSG_EQ(sender.NotUnderWay(), 3, "nothing is under way");
        NS_TEST_ASSERT_MSG_EQ(sender.Answered(8, 7, 10).progress, true, "7 has come after all");
        NS_TEST_ASSERT_MSG_EQ(sender.Answered(8, 9, 10).progress, true, "and 9");
        NS_TEST_ASSERT_MSG_EQ(sender.Trimmed(8, 8, 10, false).lost, 0, "is to be sent anyway");
        NS_TEST_ASSERT_MSG_EQ(sender.TakeLost(10), 8, "8");
        NS_TEST_ASSERT_MSG_EQ(sender.HasLost(), false, "not 9");
        // Paths that keep the order: a notice does not make a packet be found lost twice.
        SelectiveRepeat ordered;
        ordered.Start(0, 0);
        NS_TEST_ASSERT_MSG_EQ(ordered.Trimmed(0, 1, 4, false).lost, 1, "1, and not 0");
        found = ordered.Answered(0, 3, 4);
        NS_TEST_ASSERT_MSG_EQ(found.lost, 2, "0 and 2, not 1");
        NS_TEST_ASSERT_MSG_EQ(ordered.TakeLost(4), 1, "in the order in which they were found");
        NS_TEST_ASSERT_MSG_EQ(ordered.TakeLost(4), 0, "in the order in which they were found");
        NS_TEST_ASSERT_MSG_EQ(ordered.TakeLost(4), 2, "in the order in which they were found");
        // The repetition of 0 was sent after that of 1, and has come: 1 is lost again.
        found = ordered.Answered(1, 0, 4);
        NS_TEST_ASSERT_MSG_EQ(found.lost, 1, "1");
        NS_TEST_ASSERT_MSG_EQ(ordered.TakeLost(4), 1, "1");
    }
};

/// What a receiver answers to what is left of a packet.
class AnswerTest : public TestCase
{
  public:
    AnswerTest()
        : TestCase("Answers to trimmed packets")
    {
    }

  private:
    static FabricPacket Make(uint64_t psn, bool trimmed)
    {
        FabricPacket packet{};
        packet.psn = psn;
        packet.payload = trimmed ? 0 : 1000;
        packet.trimmed = trimmed;
        packet.ackRequested = true;
        return packet;
    }

    void DoRun() override
    {
        RdmaCounters counters;
        RdmaReceiver receiver(counters);
        receiver.Configure({0, 1000, 10, false});
        auto take = [&receiver](uint64_t psn, bool trimmed) {
            const FabricPacket packet = Make(psn, trimmed);
            return trimmed ? receiver.TakeTrimmed(packet) : receiver.Take(packet);
        };
        NS_TEST_ASSERT_MSG_EQ((take(0, true) == RdmaAnswer::TrimNak), true, "the expected one");
        NS_TEST_ASSERT_MSG_EQ((take(2, true) == RdmaAnswer::TrimNak), true, "a later one");
        NS_TEST_ASSERT_MSG_EQ((take(3, false) == RdmaAnswer::Ack), true, "is kept");
        NS_TEST_ASSERT_MSG_EQ((take(3, true) == RdmaAnswer::Ack), true, "has arrived, is kept");
        NS_TEST_ASSERT_MSG_EQ((take(0, false) == RdmaAnswer::Ack), true, "sent again");
        NS_TEST_ASSERT_MSG_EQ((take(0, true) == RdmaAnswer::Ack), true, "has arrived");
        NS_TEST_ASSERT_MSG_EQ((take(2000, true) == RdmaAnswer::TrimNak), true, "nothing to keep");
        NS_TEST_ASSERT_MSG_EQ(receiver.Expected(), 1, "only 0 and 3 are here");
        NS_TEST_ASSERT_MSG_EQ(counters.deliveredBytes, 1000, "only 0 is delivered");
        NS_TEST_ASSERT_MSG_EQ(counters.trimmedPackets, 5, "all that came in trimmed");
        NS_TEST_ASSERT_MSG_EQ(counters.naks, 3, "TrimNaks");

        RdmaCounters goBackN;
        RdmaReceiver strict(goBackN);
        strict.Configure({0, 0, 0, false});
        const bool nak = strict.TakeTrimmed(Make(0, true)) == RdmaAnswer::Nak;
        NS_TEST_ASSERT_MSG_EQ(nak, true, "go-back-N: a gap");
        const bool again = strict.Take(Make(1, false)) == RdmaAnswer::None;
        NS_TEST_ASSERT_MSG_EQ(again, true, "that is reported once");
    }
};

/**
 * Three hosts send a packet each to a fourth at the same time; one may wait. All arrive at the
 * switch at T = data + wire. The first leaves at once, the second waits, the third is trimmed and
 * its header, of a higher priority, leaves when the first has: at T + data. It arrives at
 * T + data + header + wire and is answered at once; two wires and two answers later the sender
 * repeats the packet, which travels two wires and takes the time of two packets.
 *
 *   first:  2 data + 2 wire
 *   second: 3 data + header + 2 wire
 *   third:  4 data + header + 2 answer + 6 wire
 */
class ExactTest : public TestCase
{
  public:
    ExactTest()
        : TestCase("A trimmed packet's repetition arrives when it should")
    {
    }

  private:
    void DoRun() override
    {
        Star star(3, 1, "SelectiveRepeat");
        uint64_t traced = 0;
        star.centre->TraceConnectWithoutContext(
            "Trimmed",
            Callback<void, const FabricPacket&>([&traced](const FabricPacket& packet) {
                traced += packet.trimmed && packet.payload == 0 && packet.size == 88 ? 1 : 0;
            }));
        for (uint32_t i = 0; i < 3; ++i)
        {
            star.Send(i, 1000);
        }
        Simulator::Run();
        std::map<uint64_t, int64_t> times;
        for (const Event& event : star.log.delivered)
        {
            times[event.tag] = event.time;
        }
        const int64_t expected[] = {2 * kData + 2 * kWire,
                                    3 * kData + kHeader + 2 * kWire,
                                    4 * kData + kHeader + 2 * kAnswer + 6 * kWire};
        for (uint32_t i = 0; i < 3; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(times[i], expected[i], Rounding(7), "message " << i);
        }
        NS_TEST_ASSERT_MSG_EQ(star.centre->GetTrimmed(), 1, "the third");
        NS_TEST_ASSERT_MSG_EQ(traced, 1, "the third");
        NS_TEST_ASSERT_MSG_EQ(star.Repetitions(), 1, "the third");
        NS_TEST_ASSERT_MSG_EQ(star.centre->GetDrops(), 0, "nothing is lost");
        CheckConservation(star.fabric);
    }
};

/**
 * Eight to one at full rate: everything arrives, every packet that was trimmed is repeated once and
 * none that was not, no timer runs out, and no more waits than may. So the last port sends every
 * packet once, and 88 bytes for each that was trimmed. With go-back-N much is sent for nothing, and
 * everything arrives too.
 */
class IncastTest : public TestCase
{
  public:
    explicit IncastTest(const std::string& mode)
        : TestCase("Eight to one, " + mode),
          m_mode(mode)
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t packets = 300;
        Star star(8, 8, m_mode);
        uint64_t most = 0;
        Ptr<SwitchPort> last = star.centre->GetPort(8);
        last->TraceConnectWithoutContext(
            "Enqueue",
            Callback<void, const FabricPacket&>([&most, last](const FabricPacket&) {
                most = std::max(most, last->Queues().Bytes(3));
            }));
        for (uint32_t i = 0; i < 8; ++i)
        {
            star.Send(i, packets * 1000);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(star.log.delivered.size(), 8, "everything arrives");
        NS_TEST_ASSERT_MSG_EQ(most, 8 * kPacket, "as many wait as may");
        NS_TEST_ASSERT_MSG_EQ(star.centre->GetDrops(), 0, "nothing is lost");
        CheckConservation(star.fabric);
        const uint64_t trimmed = star.centre->GetTrimmed();
        NS_TEST_ASSERT_MSG_GT(trimmed, packets, "senders do not slow down");
        if (m_mode == "GoBackN")
        {
            return;
        }
        NS_TEST_ASSERT_MSG_EQ(star.Repetitions(), trimmed, "exactly what was trimmed");
        NS_TEST_ASSERT_MSG_EQ(star.Timeouts(), 0, "no timer runs out");
        NS_TEST_ASSERT_MSG_EQ(last->GetSentBytes(),
                              8 * packets * kPacket + trimmed * 88,
                              "every packet once, and a header for each that was trimmed");
    }

    std::string m_mode;
};

/**
 * So many senders that the headers alone, 23 x 88 bytes for each 1,048, are more than the port can
 * send, into a memory of 60 packets: headers are dropped too, and what they would have told takes a
 * timer. Data has ten times the share of headers; if these went first they would keep it from
 * leaving for good, as each brings a packet that is trimmed again. Everything arrives.
 */
class NoRoomTest : public TestCase
{
  public:
    NoRoomTest()
        : TestCase("Headers that find no room")
    {
    }

  private:
    void DoRun() override
    {
        Star star(24, 0, "SelectiveRepeat", 60 * kPacket);
        star.centre->GetPort(24)->SetQuanta("0,0,0,10480,0,0,1048,0");
        for (uint32_t i = 0; i < 24; ++i)
        {
            star.Send(i, 100'000);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(star.log.delivered.size(), 24, "everything arrives");
        NS_TEST_ASSERT_MSG_GT(star.centre->GetDrops(DropReason::SharedBufferFull), 0, "headers");
        NS_TEST_ASSERT_MSG_EQ(star.centre->GetDrops(),
                              star.centre->GetDrops(DropReason::SharedBufferFull),
                              "nothing else");
        NS_TEST_ASSERT_MSG_GT(star.centre->GetTrimmed(), star.centre->GetDrops(), "not all");
        CheckConservation(star.fabric);
    }
};

/**
 * A window of 16 packets that counts flight, in an incast that trims. The oracle counts at the
 * sender's NIC: every data packet is answered once (nothing is lost whole), so those under way are
 * the ones that have left less the answers that have come. They are never more than 16, come up to
 * 16, and PSNs run further ahead of the first unacknowledged one than a window that counts from
 * there allows.
 */
class FlightTest : public TestCase
{
  public:
    explicit FlightTest(bool counts)
        : TestCase(counts ? "A window of packets under way" : "A window from the first missing"),
          m_counts(counts)
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t window = 16;
        Star star(8, 8, "SelectiveRepeat");
        star.fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(m_counts));
        star.fabric.SetQueuePairAttribute("Window", UintegerValue(window * 1000));
        for (uint32_t i = 0; i < 8; ++i)
        {
            star.Send(i, 300'000);
        }
        Ptr<RdmaNic> nic = star.fabric.Nics()[3];
        uint64_t flight = 0;
        uint64_t mostFlight = 0;
        uint64_t una = 0;
        uint64_t mostSpan = 0;
        nic->TraceConnectWithoutContext(
            "Transmit",
            Callback<void, const FabricPacket&>([&](const FabricPacket& packet) {
                mostFlight = std::max(mostFlight, ++flight);
                mostSpan = std::max(mostSpan, packet.psn + 1 - una);
            }));
        nic->TraceConnectWithoutContext(
            "Receive",
            Callback<void, const FabricPacket&>([&](const FabricPacket& packet) {
                --flight;
                una = std::max(una, packet.psn);
            }));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(star.log.delivered.size(), 8, "everything arrives");
        NS_TEST_ASSERT_MSG_GT(star.centre->GetTrimmed(), 0, "some have lost their payload");
        NS_TEST_ASSERT_MSG_EQ(flight, 0, "every packet was answered once");
        NS_TEST_ASSERT_MSG_EQ(mostFlight, window, "under way");
        if (m_counts)
        {
            NS_TEST_ASSERT_MSG_GT(mostSpan, window, "a missing packet does not stop the others");
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ(mostSpan, window, "a missing packet stops the others");
        }
    }

    bool m_counts;
};

/**
 * 32 hosts under four leaves, each sends to one under the next leaf, every packet by a random one
 * of eight spines. Packets overtake each other, so gaps tell nothing (the tolerance is larger than
 * any message); trimmed packets tell of all losses. So each is repeated once, nothing else is, no
 * timer runs out, and nothing arrives twice.
 */
class SprayTest : public TestCase
{
  public:
    SprayTest()
        : TestCase("Sprayed over eight paths")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(kPacket));
        fabric.SetSwitchAttribute("Trim", BooleanValue(true));
        fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(8 * kPacket));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
        fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(1 << 20));
        fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(true));
        fabric.SetQueuePairAttribute("Window", UintegerValue(150'000));
        fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(RandomEntropy::GetTypeId()));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
        std::vector<Ptr<FabricSwitch>> leaves;
        for (uint32_t i = 0; i < 4; ++i)
        {
            leaves.push_back(fabric.AddSwitch());
            for (uint32_t j = 0; j < 8; ++j)
            {
                fabric.Connect(fabric.AddNic(fabric.AddHost()),
                               leaves[i],
                               DataRate("100Gbps"),
                               PicoSeconds(kWire));
            }
        }
        for (uint32_t i = 0; i < 8; ++i)
        {
            Ptr<FabricSwitch> spine = fabric.AddSwitch();
            for (const auto& leaf : leaves)
            {
                fabric.Connect(leaf, spine, DataRate("100Gbps"), PicoSeconds(kWire));
            }
        }
        fabric.InstallRoutes();
        fabric.AssignStreams(3);
        Log log;
        for (uint32_t i = 0; i < 32; ++i)
        {
            auto to = fabric.Nics()[(i + 8) % 32];
            auto connection = fabric.CreateConnection(fabric.Nics()[i], to);
            log.Watch(connection);
            connection->Send(Bytes(1'000'000), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 32, "everything arrives");
        uint64_t trimmed = 0;
        uint64_t drops = 0;
        for (const auto& fabricSwitch : fabric.Switches())
        {
            trimmed += fabricSwitch->GetTrimmed();
            drops += fabricSwitch->GetDrops();
        }
        uint64_t repeated = 0;
        uint64_t timeouts = 0;
        uint64_t received = 0;
        uint64_t overtaken = 0;
        uint64_t twice = 0;
        for (const auto& nic : fabric.Nics())
        {
            repeated += nic->GetRetransmissions();
            timeouts += nic->GetTimeouts();
            for (uint32_t i = 0; i < nic->GetNQueuePairs(); ++i)
            {
                const auto& counters = nic->GetQueuePair(i)->GetCounters();
                received += counters.trimmedPackets;
                overtaken += counters.outOfOrder;
                twice += counters.duplicates;
            }
        }
        NS_TEST_ASSERT_MSG_GT(overtaken, 1000, "packets overtake each other");
        NS_TEST_ASSERT_MSG_GT(trimmed, 100, "queues run full");
        NS_TEST_ASSERT_MSG_EQ(drops, 0, "every header finds room");
        NS_TEST_ASSERT_MSG_EQ(received, trimmed, "and arrives");
        NS_TEST_ASSERT_MSG_EQ(repeated, trimmed, "each is sent again once, and nothing else");
        NS_TEST_ASSERT_MSG_EQ(timeouts, 0, "no timer runs out");
        NS_TEST_ASSERT_MSG_EQ(twice, 0, "nothing arrives twice");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * 20 hosts send a packet of 1,048 bytes to another at once; it is trimmed if more than two packets
 * would wait. One is sent at once and two wait, 17 are trimmed. With a reference of 100 Gb/s, at
 * 400 Gb/s eight wait, and 11 are trimmed; at 40 Gb/s it would be 0.8, but the longest packet
 * always finds room in an empty queue: 18.
 */
class ReferenceTest : public TestCase
{
  public:
    ReferenceTest()
        : TestCase("A threshold by the rate of the port")
    {
    }

  private:
    static uint64_t Trimmed(const std::string& rate, const std::string& reference)
    {
        constexpr uint32_t senders = 20;
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(kPacket));
        fabric.SetSwitchAttribute("Trim", BooleanValue(true));
        fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(2 * kPacket));
        fabric.SetSwitchAttribute("TrimReferenceRate", StringValue(reference));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
        auto centre = BuildStar(fabric, senders + 1, rate, PicoSeconds(kWire));
        for (uint32_t i = 0; i < senders; ++i)
        {
            fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[senders])->Send(Bytes(1000), i);
        }
        Simulator::Stop(MicroSeconds(2)); // before any notice is back
        Simulator::Run();
        const uint64_t trimmed = centre->GetTrimmed();
        Simulator::Destroy();
        return trimmed;
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Trimmed("400Gbps", "0bps"), 17, "the same for all");
        NS_TEST_ASSERT_MSG_EQ(Trimmed("100Gbps", "100Gbps"), 17, "what it is given for");
        NS_TEST_ASSERT_MSG_EQ(Trimmed("400Gbps", "100Gbps"), 11, "four times");
        NS_TEST_ASSERT_MSG_EQ(Trimmed("40Gbps", "100Gbps"), 18, "at least a packet");
    }
};

/// Configurations that cannot work are refused before time zero, by name.
class RefusedTest : public TestCase
{
  public:
    RefusedTest()
        : TestCase("Impossible trimming is refused")
    {
    }

  private:
    void Expect(const std::function<void(FabricHelper&)>& configure, const std::string& attribute)
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("Trim", BooleanValue(true));
        configure(fabric);
        std::string where;
        try
        {
            BuildStar(fabric, 2, "100Gbps", MicroSeconds(1))->CheckConfig();
        }
        catch (const ConfigError& error)
        {
            where = error.Where();
        }
        NS_TEST_ASSERT_MSG_NE(where.find(attribute), std::string::npos, attribute << ": " << where);
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Expect(
            [](FabricHelper& fabric) {
                fabric.SetSwitchAttribute("LosslessPriorities", UintegerValue(1U << 6));
            },
            "TrimPriority");
        Expect(
            [](FabricHelper& fabric) {
                fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(4199));
            },
            "TrimThreshold");
        Expect(
            [](FabricHelper& fabric) {
                fabric.SetSwitchAttribute("Credits", BooleanValue(true));
                fabric.SetSwitchAttribute("VlBuffer", UintegerValue(14'000));
            },
            "FabricSwitch::Trim");
    }
};

class TrimmingSuite : public TestSuite
{
  public:
    TrimmingSuite()
        : TestSuite("scaleacross-trimming")
    {
        AddTestCase(new NoticeTest);
        AddTestCase(new AnswerTest);
        AddTestCase(new ExactTest);
        AddTestCase(new IncastTest("SelectiveRepeat"));
        AddTestCase(new IncastTest("GoBackN"));
        AddTestCase(new NoRoomTest);
        AddTestCase(new FlightTest(true));
        AddTestCase(new FlightTest(false));
        AddTestCase(new SprayTest);
        AddTestCase(new ReferenceTest);
        AddTestCase(new RefusedTest);
    }
};

TrimmingSuite g_trimmingSuite;

} // namespace
