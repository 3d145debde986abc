// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"
#include "rate-oracle.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ecn-marker.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/string.h"

#include <cmath>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::EcnMarker;
using scaleacross::EcnThresholds;
using scaleacross::FabricPacket;

namespace
{

constexpr int64_t kPacketTime = 335'360; //!< ps: 1,048 bytes at 25 Gb/s

/**
 * A queue that stays as long as it is. NIC 0 fills the egress queue to NIC 2, 25 Gb/s, with a burst
 * at 100 Gb/s; then NIC 1 sends at 25 Gb/s exactly: whenever one of its packets joins the queue,
 * one has left it. The packets of the burst may not be marked.
 */
class PinnedQueue
{
  public:
    PinnedQueue(uint64_t burst, uint64_t packets)
        : m_burst(burst),
          m_packets(packets)
    {
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(1U << 3));
    }

    void Run(int64_t stream)
    {
        Ptr<FabricSwitch> centre = fabric.AddSwitch();
        for (const char* rate : {"100Gbps", "100Gbps", "25Gbps"})
        {
            auto nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, centre, DataRate(rate), MicroSeconds(1));
        }
        fabric.InstallRoutes();
        fabric.AssignStreams(stream);
        Ptr<SwitchPort> egress = centre->GetPort(2);
        egress->TraceConnectWithoutContext(
            "Enqueue",
            Callback<void, const FabricPacket&>([this, egress](const FabricPacket& packet) {
                if (packet.source == 1)
                {
                    found.push_back(egress->Queues().Bytes(3) - packet.size);
                    marks.push_back(packet.ecnMarked);
                }
            }));
        auto burst = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[2]);
        fabric.SetQueuePairAttribute("RateLimit", StringValue("25Gbps"));
        fabric.SetQueuePairAttribute("EcnCapable", BooleanValue(true));
        flow = fabric.CreateConnection(fabric.Nics()[1], fabric.Nics()[2]);
        flow->GetQueuePair(0)->TraceConnectWithoutContext(
            "Cnp",
            Callback<void>([this]() { cnps.push_back(Simulator::Now().GetPicoSeconds()); }));
        burst->Send(Bytes(m_burst * 1000), 0);
        // The burst is over after burst * 83.84 ns.
        Simulator::Schedule(NanoSeconds(m_burst * 84),
                            [this]() { flow->Send(Bytes(m_packets * 1000), 1); });
        Simulator::Run();
        marked = centre->GetEcnMarked();
        dropped = centre->GetDrops();
        counters = flow->GetRemoteQueuePair(0)->GetCounters();
        control = flow->GetQueuePair(0)->GetCongestionOps();
        Simulator::Destroy();
    }

    FabricHelper fabric;
    Ptr<RdmaConnection> flow;
    std::vector<uint64_t> found; //!< bytes waiting before each packet of the flow
    std::vector<bool> marks;     //!< of its packets
    std::vector<int64_t> cnps;   //!< when they arrived at the sender, ps
    uint64_t marked{0};
    uint64_t dropped{0};
    RdmaQueuePair::Counters counters; //!< of the receiver
    Ptr<RdmaCongestionOps> control;   //!< of the sender

  private:
    uint64_t m_burst;
    uint64_t m_packets;
};

/**
 * Marks of 100,000 packets that find the same queue, against
 *
 *   p = Pmax (q - Kmin) / (Kmax - Kmin)   between 20 kB and 120 kB, Pmax = 0.2.
 *
 * The number of marks is binomial: within 5 standard deviations sqrt(n p (1 - p)) but once in 1.7
 * million. So is, nearly, that of marked packets after which the next one is marked as well: n p^2,
 * variance at most n p^2 (1 + 2 p) as neighbouring pairs have a packet in common. That says that
 * draws are independent.
 */
class RedTest : public TestCase
{
  public:
    explicit RedTest(uint64_t burst)
        : TestCase("RED at a pinned queue, burst of " + std::to_string(burst)),
          m_burst(burst)
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t n = 100'000;
        PinnedQueue pinned(m_burst, n);
        pinned.fabric.SetSwitchAttribute("EcnKmin", UintegerValue(20'000));
        pinned.fabric.SetSwitchAttribute("EcnKmax", UintegerValue(120'000));
        pinned.fabric.SetSwitchAttribute("EcnPmax", DoubleValue(0.2));
        pinned.Run(1);
        NS_TEST_ASSERT_MSG_EQ(pinned.found.size(), n, "all are seen");
        const auto [least, most] = std::minmax_element(pinned.found.begin(), pinned.found.end());
        NS_TEST_ASSERT_MSG_EQ(*least, *most, "the queue is pinned");
        const auto q = static_cast<double>(*least);
        double p = 0.2 * (q - 20'000) / 100'000;
        p = q <= 20'000 ? 0 : (q > 120'000 ? 1 : p);
        const auto count = std::count(pinned.marks.begin(), pinned.marks.end(), true);
        double pairs = 0;
        for (size_t i = 1; i < pinned.marks.size(); ++i)
        {
            pairs += pinned.marks[i - 1] && pinned.marks[i] ? 1 : 0;
        }
        const auto total = static_cast<double>(n);
        if (p == 0 || p == 1)
        {
            NS_TEST_ASSERT_MSG_EQ(static_cast<double>(count), p * total, "no draw, q " << q);
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(count),
                                      p * total,
                                      5 * std::sqrt(total * p * (1 - p)),
                                      "marks at q " << q);
            NS_TEST_ASSERT_MSG_EQ_TOL(pairs,
                                      p * p * total,
                                      5 * std::sqrt(total * p * p * (1 + 2 * p)),
                                      "pairs of marks at q " << q);
        }
        NS_TEST_ASSERT_MSG_EQ(pinned.marked, static_cast<uint64_t>(count), "nothing else marked");
        NS_TEST_ASSERT_MSG_EQ(pinned.counters.markedPackets, pinned.marked, "all marks arrive");
        NS_TEST_ASSERT_MSG_EQ(pinned.dropped, 0, "no drop");
    }

    uint64_t m_burst;
};

/// The law itself, at its corners and between; scaled thresholds; a step.
class ThresholdsTest : public TestCase
{
  public:
    ThresholdsTest()
        : TestCase("Marking probability")
    {
    }

  private:
    void DoRun() override
    {
        const EcnThresholds paper{5000, 200'000, 0.01};
        NS_TEST_ASSERT_MSG_EQ(paper.Probability(5000), 0, "Kmin");
        NS_TEST_ASSERT_MSG_EQ_TOL(paper.Probability(102'500), 0.005, 1e-15, "half way");
        NS_TEST_ASSERT_MSG_EQ_TOL(paper.Probability(200'000), 0.01, 1e-15, "Kmax");
        NS_TEST_ASSERT_MSG_EQ(paper.Probability(200'001), 1, "beyond");
        const EcnThresholds at400 = paper.Scaled(400'000'000'000, 40'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(at400.kmin, 50'000, "ten times the rate");
        NS_TEST_ASSERT_MSG_EQ(at400.kmax, 2'000'000, "ten times the rate");
        EcnMarker step({30'000, 30'000, 0.5});
        NS_TEST_ASSERT_MSG_EQ(step.Marks(30'000), false, "a step: up to it nothing");
        NS_TEST_ASSERT_MSG_EQ(step.Marks(30'001), true, "beyond it everything");
    }
};

/**
 * Marks of a burst, packet by packet. 40 packets arrive every t = 83.84 ns and leave every 4 t; a
 * step at 10 packets.
 *
 * Packet i finds the i before it, less those that have started: 1 + floor(i / 4), as a packet that
 * leaves at the same time goes first. More than 10 from i = 15 on (15 - 4 = 11; 14 - 4 = 10).
 *
 * Packet k starts at 4 k t. Behind it wait those that arrived before, 4 k and at most 40, less k +
 * 1: 3 k - 1, from k = 10 on 39 - k. More than 10 from k = 4 (11) to 28 (11): as many, but sooner.
 */
class BurstTest : public TestCase
{
  public:
    explicit BurstTest(bool atDeparture)
        : TestCase(std::string("Marks of a burst, ") + (atDeparture ? "leaving" : "joining")),
          m_atDeparture(atDeparture)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(1U << 3));
        fabric.SetSwitchAttribute("EcnKmin", UintegerValue(10 * 1048));
        fabric.SetSwitchAttribute("EcnKmax", UintegerValue(10 * 1048));
        fabric.SetSwitchAttribute("EcnAtDeparture", BooleanValue(m_atDeparture));
        fabric.SetQueuePairAttribute("EcnCapable", BooleanValue(true));
        Ptr<FabricSwitch> centre = fabric.AddSwitch();
        for (const char* rate : {"100Gbps", "25Gbps"})
        {
            auto nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, centre, DataRate(rate), MicroSeconds(1));
        }
        fabric.InstallRoutes();
        std::vector<uint64_t> marked;
        centre->GetPort(1)->TraceConnectWithoutContext(
            "Transmit",
            Callback<void, const FabricPacket&>([&marked](const FabricPacket& packet) {
                if (packet.ecnMarked)
                {
                    marked.push_back(packet.psn);
                }
            }));
        fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1])->Send(Bytes(40'000), 0);
        Simulator::Run();
        std::vector<uint64_t> expected;
        for (uint64_t psn = m_atDeparture ? 4 : 15; psn <= (m_atDeparture ? 28U : 39U); ++psn)
        {
            expected.push_back(psn);
        }
        NS_TEST_ASSERT_MSG_EQ((marked == expected), true, marked.size() << " are marked");
        NS_TEST_ASSERT_MSG_EQ(centre->GetEcnMarked(), 25, "as counted");
        Simulator::Destroy();
    }

    bool m_atDeparture;
};

/// Off by default; only priorities of the mask; refused if Kmin is above Kmax; same stream, same
/// marks; another stream, others.
class ConfigurationTest : public TestCase
{
  public:
    ConfigurationTest()
        : TestCase("Configuration of ECN")
    {
    }

  private:
    void DoRun() override
    {
        for (uint32_t mask : {0U, 1U << 4})
        {
            PinnedQueue pinned(200, 1000);
            pinned.fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(mask));
            pinned.fabric.SetSwitchAttribute("EcnKmax", UintegerValue(5000));
            pinned.Run(1);
            NS_TEST_ASSERT_MSG_EQ(pinned.marked, 0, "mask " << mask);
        }
        FabricHelper fabric;
        fabric.SetSwitchAttribute("EcnKmin", UintegerValue(300'000));
        std::string text;
        try
        {
            BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        }
        catch (const scaleacross::ConfigError& error)
        {
            text = error.what();
        }
        NS_TEST_ASSERT_MSG_NE(text.find("300000 bytes"), std::string::npos, "refused: " << text);
        Simulator::Destroy();

        std::vector<std::vector<bool>> marks;
        for (int64_t stream : {7, 7, 8})
        {
            PinnedQueue pinned(100, 2000);
            pinned.fabric.SetSwitchAttribute("EcnPmax", DoubleValue(0.5));
            pinned.Run(stream);
            marks.push_back(pinned.marks);
        }
        NS_TEST_ASSERT_MSG_EQ((marks[0] == marks[1]), true, "same stream");
        NS_TEST_ASSERT_MSG_EQ((marks[0] == marks[2]), false, "another stream");
    }
};

/**
 * CNPs while every packet is marked: packets arrive every 335.36 ns. After a CNP the next one is
 * sent for the first packet 50 us later or more, the 150th (149 * 335.36 ns = 49.97 us): every
 * 50.304 us. The way back is empty but for the CNP, so they arrive that far apart, to the
 * picosecond. Of n packets the first causes one, and every 150th after it.
 */
class CnpIntervalTest : public TestCase
{
  public:
    CnpIntervalTest(uint64_t intervalNs, uint64_t every)
        : TestCase("CNP interval of " + std::to_string(intervalNs) + " ns"),
          m_intervalNs(intervalNs),
          m_every(every)
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t n = 10'000;
        PinnedQueue pinned(100, n);
        pinned.fabric.SetSwitchAttribute("EcnKmin", UintegerValue(0));
        pinned.fabric.SetSwitchAttribute("EcnKmax", UintegerValue(0));
        pinned.fabric.SetQueuePairAttribute("CnpInterval", TimeValue(NanoSeconds(m_intervalNs)));
        pinned.Run(1);
        NS_TEST_ASSERT_MSG_EQ(pinned.marked, n, "all are marked");
        NS_TEST_ASSERT_MSG_EQ(pinned.cnps.size(), (n - 1) / m_every + 1, "CNPs");
        NS_TEST_ASSERT_MSG_EQ(pinned.counters.cnpsSent, pinned.cnps.size(), "as many sent");
        for (size_t i = 1; i < pinned.cnps.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(pinned.cnps[i] - pinned.cnps[i - 1],
                                      static_cast<int64_t>(m_every) * kPacketTime,
                                      Rounding(4),
                                      "CNP " << i);
        }
    }

    uint64_t m_intervalNs;
    uint64_t m_every;
};

/// A control that writes down what it is told, and sets what it is told to set.
class Recorder : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("scaleacross::test::Recorder")
                                .SetParent<RdmaCongestionOps>()
                                .SetGroupName("ScaleAcross")
                                .AddConstructor<Recorder>();
        return tid;
    }

    std::string GetName() const override
    {
        return "recorder";
    }

    Ptr<RdmaCongestionOps> Fork() const override
    {
        return CreateObject<Recorder>();
    }

    void Init(RdmaCongestionState& state) override
    {
        lineRate = state.lineRate;
        state.windowBytes = window;
        SetDeadline(firstDeadline);
    }

    void OnSent(RdmaCongestionState& state, uint32_t bytes, int64_t now) override
    {
        sent.push_back(now);
        sizes.push_back(bytes);
        mostUnacked = std::max(mostUnacked, state.unacked);
    }

    bool WantsRoundTrips() const override
    {
        return true;
    }

    void OnAck(RdmaCongestionState&, const RdmaAck& ack, int64_t) override
    {
        acked += ack.packets;
        markedAcks += ack.marked ? 1 : 0;
        if (ack.rtt >= 0)
        {
            rtts.push_back(ack.rtt);
        }
    }

    void OnCnp(RdmaCongestionState&, int64_t) override
    {
        ++cnps;
    }

    void OnLoss(RdmaCongestionState&, int64_t) override
    {
        ++losses;
    }

    void OnTimeout(RdmaCongestionState&, int64_t) override
    {
        ++timeouts;
    }

    /// Every 10 us the rate is halved.
    void Advance(RdmaCongestionState& state, int64_t now) override
    {
        while (NextDeadline() <= now)
        {
            state.rate /= 2;
            SetDeadline(NextDeadline() + 10'000'000);
        }
    }

    uint64_t window{UINT64_MAX};
    int64_t firstDeadline{scaleacross::kNever};
    uint64_t lineRate{0};
    std::vector<int64_t> sent;
    std::vector<uint32_t> sizes;
    std::vector<int64_t> rtts;
    uint64_t mostUnacked{0};
    uint64_t acked{0};
    uint64_t markedAcks{0};
    uint32_t cnps{0};
    uint32_t losses{0};
    uint32_t timeouts{0};
};

NS_OBJECT_ENSURE_REGISTERED(Recorder);

/// Two NICs back to back at 100 Gb/s, 1 us, and a queue pair with a recorder.
struct Recorded
{
    Recorded()
    {
        UseHpccSizes(fabric);
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        wire = fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1));
        recorder = CreateObject<Recorder>();
        sender = a->CreateQueuePair();
        receiver = b->CreateQueuePair();
        sender->SetCongestionOps(recorder);
    }

    void Connect()
    {
        receiver->Connect(sender->GetNic().GetFabricAddress(), sender->GetNumber());
        sender->Connect(receiver->GetNic().GetFabricAddress(), receiver->GetNumber());
    }

    FabricHelper fabric;
    Ptr<FabricWire> wire;
    Ptr<Recorder> recorder;
    Ptr<RdmaQueuePair> sender;
    Ptr<RdmaQueuePair> receiver;
};

/**
 * What a control is told. A window of 2,500 bytes is two packets of 1,000. The ACK of a packet is
 * back after 83.84 ns + 1 us + 4.8 ns + 1 us = 2,088.64 ns; the second packet starts when the first
 * one has left, its ACK comes 83.84 ns after the first: so packets 2k and 2k + 1 start at k *
 * 2,088.64 ns and 83.84 ns later.
 */
class ToldTest : public TestCase
{
  public:
    ToldTest()
        : TestCase("What a congestion control is told")
    {
    }

  private:
    void DoRun() override
    {
        Recorded run;
        run.recorder->window = 2500;
        run.Connect();
        run.sender->Post(scaleacross::RdmaOperation::Write, Bytes(10'000), 0);
        Simulator::Run();
        const Recorder& told = *run.recorder;
        NS_TEST_ASSERT_MSG_EQ(told.lineRate, 100'000'000'000, "line rate");
        NS_TEST_ASSERT_MSG_EQ(told.sent.size(), 10, "packets");
        for (size_t i = 0; i < told.sent.size(); ++i)
        {
            const auto round = static_cast<int64_t>(i / 2);
            NS_TEST_ASSERT_MSG_EQ_TOL(told.sent[i],
                                      round * 2'088'640 + (i % 2 == 1 ? 83'840 : 0),
                                      Rounding(2 * round + 1),
                                      "start of packet " << i);
            NS_TEST_ASSERT_MSG_EQ(told.sizes[i], 1048, "bytes on the wire");
        }
        NS_TEST_ASSERT_MSG_EQ(told.mostUnacked, 1, "never more than one before the second");
        NS_TEST_ASSERT_MSG_EQ(told.acked, 10, "all acknowledged");
        NS_TEST_ASSERT_MSG_EQ(told.rtts.size(), 10, "one round trip per packet");
        for (int64_t rtt : told.rtts)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(rtt, 2'088'640, Rounding(2), "round trip");
        }
        NS_TEST_ASSERT_MSG_EQ(told.losses + told.timeouts + told.cnps, 0, "nothing else");
        Simulator::Destroy();
    }
};

/**
 * Timers of a control without events: from 50 us on the rate halves every 10 us. Packets are 83.84
 * ns apart until 50 us, then 8,384 bit / 50 Gb/s = 167.68 ns, from 60 us on 335.36 ns, and in
 * between as long as it takes to work off 8,384 bits at both rates. At 100 us the rate is 100 / 2^6
 * Gb/s, although the last packet was sent before: whoever asks sees the present rate.
 */
class DeadlineTest : public TestCase
{
  public:
    DeadlineTest()
        : TestCase("Timers of a congestion control")
    {
    }

  private:
    void DoRun() override
    {
        Recorded run;
        run.recorder->firstDeadline = 50'000'000;
        run.Connect();
        run.sender->Post(scaleacross::RdmaOperation::Write, Bytes(680'000), 0);
        uint64_t rate = 0;
        Simulator::Schedule(MicroSeconds(100),
                            [&]() { rate = run.sender->GetRate().GetBitRate(); });
        Simulator::Run();
        const auto rateAt = [](int64_t time) {
            const int64_t halvings = time < 50'000'000 ? 0 : (time - 50'000'000) / 10'000'000 + 1;
            return RatePiece{uint64_t{100'000'000'000} >> halvings,
                             50'000'000 + 10'000'000 * halvings};
        };
        int64_t start = 0;
        uint64_t rest = 0;
        for (size_t i = 0; i < run.recorder->sent.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(run.recorder->sent[i], start, "packet " << i);
            start = WorkedOff(1048, start, rest, rateAt);
        }
        NS_TEST_ASSERT_MSG_EQ(run.recorder->sent.size(), 680, "packets");
        NS_TEST_ASSERT_MSG_GT(run.recorder->sent.back(), 60'000'000, "the second halving is seen");
        NS_TEST_ASSERT_MSG_LT(run.recorder->sent.back(), 90'000'000, "it ends before it is asked");
        NS_TEST_ASSERT_MSG_EQ(rate, 100'000'000'000 / 64, "the present rate");
        Simulator::Destroy();
    }
};

/// Gaps and timeouts are handed on; CNPs and marks on ACKs, when a switch marks everything.
class SignalsTest : public TestCase
{
  public:
    SignalsTest()
        : TestCase("Losses, timeouts, CNPs and marks")
    {
    }

  private:
    void DoRun() override
    {
        Recorded run;
        run.sender->SetAttribute("Timeout", UintegerValue(3)); // 32.8 us
        run.Connect();
        run.sender->Post(scaleacross::RdmaOperation::Write, Bytes(100'000), 0); // 8.4 us
        Simulator::Schedule(MicroSeconds(2), [&run]() { run.wire->SetLossRate(1); });
        Simulator::Schedule(MicroSeconds(3), [&run]() { run.wire->SetLossRate(0); });
        // A single packet that is lost: no gap is seen.
        Simulator::Schedule(MicroSeconds(100), [&run]() {
            run.wire->SetLossRate(1);
            run.sender->Post(scaleacross::RdmaOperation::Write, Bytes(1000), 0);
        });
        Simulator::Schedule(MicroSeconds(110), [&run]() { run.wire->SetLossRate(0); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(run.recorder->losses, 1, "one gap");
        NS_TEST_ASSERT_MSG_EQ(run.recorder->timeouts, 1, "one timeout");
        NS_TEST_ASSERT_MSG_EQ(run.recorder->acked, 101, "all acknowledged, once");
        Simulator::Destroy();

        PinnedQueue pinned(100, 1000);
        pinned.fabric.SetSwitchAttribute("EcnKmin", UintegerValue(0));
        pinned.fabric.SetSwitchAttribute("EcnKmax", UintegerValue(0));
        pinned.fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(Recorder::GetTypeId()));
        pinned.fabric.SetQueuePairAttribute("AckInterval", UintegerValue(10));
        pinned.Run(1);
        auto control = DynamicCast<Recorder>(pinned.control);
        NS_TEST_ASSERT_MSG_EQ(control->cnps, pinned.cnps.size(), "every CNP");
        NS_TEST_ASSERT_MSG_EQ(control->markedAcks, 100, "a mark on every ACK");

        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(RdmaNic::GetTypeId()));
        std::string text;
        try
        {
            fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        }
        catch (const scaleacross::ConfigError& error)
        {
            text = error.what();
        }
        NS_TEST_ASSERT_MSG_NE(text.find("no congestion control"), std::string::npos, text);
        Simulator::Destroy();
    }
};

class EcnSuite : public TestSuite
{
  public:
    EcnSuite()
        : TestSuite("scaleacross-ecn")
    {
        AddTestCase(new ThresholdsTest);
        // Waiting: 16 to 176 kB.
        for (uint64_t burst : {15, 30, 60, 110, 170})
        {
            AddTestCase(new RedTest(burst));
        }
        AddTestCase(new BurstTest(false));
        AddTestCase(new BurstTest(true));
        AddTestCase(new ConfigurationTest);
        AddTestCase(new CnpIntervalTest(50'000, 150));
        AddTestCase(new CnpIntervalTest(4000, 12)); // 11.93
        AddTestCase(new CnpIntervalTest(0, 1));
        AddTestCase(new ToldTest);
        AddTestCase(new DeadlineTest);
        AddTestCase(new SignalsTest);
    }
};

EcnSuite g_ecnSuite;

} // namespace
