// SPDX-License-Identifier: GPL-2.0-only

#include "control-bench.h"
#include "fabric-test.h"

#include "ns3/hpcc.h"
#include "ns3/many-to-one.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <cmath>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::TelemetryHop;

namespace
{

/// HPCC without a network: one ACK per call, with the telemetry of its way.
struct HpccBench : ControlBench<Hpcc>
{
    HpccBench()
        : ControlBench<Hpcc>(100)
    {
        control->SetAttribute("BaseRtt", TimeValue(MicroSeconds(10)));
        control->SetAttribute("Flows", UintegerValue(100));
        Init();
    }

    void Tell(const std::vector<TelemetryHop>& hops, uint64_t psn, uint64_t next)
    {
        scaleacross::TelemetryTrail trail;
        trail.hops = hops;
        RdmaAck ack;
        ack.packets = 1;
        ack.psn = psn;
        ack.next = next;
        ack.trail = &trail;
        control->OnAck(state, ack, 0);
    }
};

constexpr uint64_t k100G = 100'000'000'000;

/**
 * Windows by hand. 100 Gb/s, T = 10 us: B T = 125,000 bytes, W_AI = 125,000 * 0.05 / 100 = 62.5.
 * Two ports; between two ACKs 10 us pass. The first one has sent 62,500 bytes and no queue (u =
 * 0.5), the second 125,000 and at least 125,000 waiting: u = 2, of weight 1. W = 125,000 / (2 /
 * 0.95) + 62.5 = 59,437.5.
 */
class WindowTest : public TestCase
{
  public:
    WindowTest()
        : TestCase("Windows by hand")
    {
    }

  private:
    void DoRun() override
    {
        HpccBench bench;
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetWindow(), 125'000, "the line's at first");
        // 125,000 / 1,082 = 115.5: the 116th packet may start.
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 116'000, "in payload");
        NS_TEST_ASSERT_MSG_EQ(bench.state.rate, k100G, "and its rate");
        const int64_t us = kUs;
        bench.Tell({{1, 0, 0, 0, k100G}, {2, 0, 0, 200'000, k100G}}, 1, 100);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetWindow(), 125'000, "nothing to compare with");
        bench.Tell({{1, 10 * us, 62'500, 0, k100G}, {2, 10 * us, 125'000, 125'000, k100G}}, 2, 100);
        double window = 125'000 / (2 / 0.95) + 62.5;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetUtilization(), 2, 1e-12, "U");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "W");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), window * 8 / 10e3, 1e-6, "rate");
        // 5 us later, of weight 1/2: 31,250 bytes, no queue: u = 0.5, U = 1.25. The reference is
        // still the W of the first update, whose round trip is not over: PSN 100.
        const double reference = window;
        bench.Tell({{1, 15 * us, 62'500, 0, k100G}, {2, 15 * us, 156'250, 0, k100G}}, 3, 101);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetUtilization(), 1.25, 1e-12, "U");
        window = reference / (1.25 / 0.95) + 62.5;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "W from its reference");
        // 1,250 bytes in 5 us from here on, u = 0.02: U = 0.635, 0.3275 ...: additive, once per
        // round trip for five times.
        double additive = reference;
        const auto sent = [](int64_t round) { return static_cast<uint64_t>(round); };
        for (int64_t round = 1; round <= 5; ++round)
        {
            bench.Tell({{1, (15 + 5 * round) * us, 62'500, 0, k100G},
                        {2, (15 + 5 * round) * us, 156'250 + 1250 * sent(round), 0, k100G}},
                       100 + static_cast<uint64_t>(round),
                       100 + static_cast<uint64_t>(round));
            additive += 62.5;
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), additive, 1e-6, "additive");
        }
        bench.Tell({{1, 45 * us, 62'500, 0, k100G}, {2, 45 * us, 163'750, 0, k100G}}, 106, 106);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), 125'000, 1e-6, "then all there is");
        const double before = bench.control->GetUtilization();
        bench.Tell({{1, 55 * us, 62'500, 0, k100G}, {3, 55 * us, 999'999, 9'999, k100G}}, 107, 107);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetUtilization(), before, "another way");
        bench.Tell({{1, 50 * us, 62'500, 0, k100G}, {3, 50 * us, 888'888, 9'999, k100G}}, 108, 108);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetUtilization(), before, "overtaken");
    }
};

/**
 * What switches write. Two hosts, three switches in a row, 100 Gb/s, 1 us; one flow of 3 packets of
 * 1,000 bytes and 48, with 2 more for the header of the telemetry and 8 more from each switch on:
 * 1,050 bytes on the first wire, 1,058 on the second and so on, 80 ps a byte. Packet 0 leaves
 * switch k when it is there; packets i follow back to back, since they come in a little faster than
 * they leave, each after the one before has begun: nobody waits behind one that starts.
 */
class TrailTest : public TestCase
{
  public:
    TrailTest()
        : TestCase("What switches write into packets")
    {
    }

  private:
    class Recorder : public RdmaCongestionOps
    {
      public:
        static TypeId GetTypeId()
        {
            static TypeId tid = TypeId("scaleacross::test::TrailRecorder")
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

        bool WantsTelemetry() const override
        {
            return true;
        }

        void OnAck(RdmaCongestionState&, const RdmaAck& ack, int64_t) override
        {
            trails.push_back(ack.trail->hops);
            switches = ack.switches;
        }

        std::vector<std::vector<TelemetryHop>> trails;
        uint32_t switches{0};
    };

    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        std::vector<Ptr<FabricSwitch>> row;
        for (int i = 0; i < 3; ++i)
        {
            row.push_back(fabric.AddSwitch());
        }
        const DataRate rate("100Gbps");
        const Time delay = MicroSeconds(1);
        fabric.Connect(fabric.AddNic(fabric.AddHost()), row[0], rate, delay);
        fabric.Connect(row[0], row[1], rate, delay);
        fabric.Connect(row[1], row[2], rate, delay);
        fabric.Connect(fabric.AddNic(fabric.AddHost()), row[2], rate, delay);
        fabric.InstallRoutes();
        auto recorder = CreateObject<Recorder>();
        Ptr<RdmaQueuePair> sender = fabric.Nics()[0]->CreateQueuePair();
        Ptr<RdmaQueuePair> receiver = fabric.Nics()[1]->CreateQueuePair();
        sender->SetCongestionOps(recorder);
        sender->Connect(fabric.Nics()[1]->GetFabricAddress(), receiver->GetNumber());
        receiver->Connect(fabric.Nics()[0]->GetFabricAddress(), sender->GetNumber());
        sender->Post(scaleacross::RdmaOperation::Write, Bytes(3000), 77);
        uint64_t tag = 0;
        receiver->SetDeliveryCallback(
            RdmaMessageCallback([&tag](Bytes, uint64_t arrived) { tag = arrived; }));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(tag, 77, "the tag arrives");
        NS_TEST_ASSERT_MSG_EQ(recorder->switches, 3, "switches on the way");
        NS_TEST_ASSERT_MSG_EQ(recorder->trails.size(), 3, "an ACK each");
        for (int64_t packet = 0; packet < 3; ++packet)
        {
            const auto& hops = recorder->trails[static_cast<size_t>(packet)];
            NS_TEST_ASSERT_MSG_EQ(hops.size(), 3, "an entry per switch");
            int64_t start = 0;
            for (int64_t k = 0; k < 3; ++k)
            {
                start += (1050 + 8 * k) * 80 + 1'000'000;
                const TelemetryHop& hop = hops[static_cast<size_t>(k)];
                NS_TEST_ASSERT_MSG_EQ_TOL(hop.time,
                                          start + packet * (1058 + 8 * k) * 80,
                                          Rounding(k + 1),
                                          "start of packet " << packet << " at " << k);
                NS_TEST_ASSERT_MSG_EQ(hop.sentBytes,
                                      static_cast<uint64_t>(packet * (1058 + 8 * k)),
                                      "sent before");
                NS_TEST_ASSERT_MSG_EQ(hop.queueBytes, 0, "nothing waits");
                NS_TEST_ASSERT_MSG_EQ(hop.rate, k100G, "rate");
            }
        }
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * Many to one. The published behaviour: the line is used to eta = 0.95, and queues are nearly
 * empty. Of the line 1,082 of 1,082 + 2 + 8 k bytes on the shared wire count (k = 1: it leaves the
 * first switch); what is under way may exceed eta by the additive steps, MaxStage of them by N
 * flows before the window is set anew: N * 5 * 0.05 / 100 = 2 % for 8 flows; and fall short of it
 * by as much, since an update that finds U = eta + 2 % divides by that.
 */
class ManyTest : public TestCase
{
  public:
    explicit ManyTest(uint32_t switches)
        : TestCase("Many to one over switches in a row: " + std::to_string(switches)),
          m_switches(switches)
    {
    }

  private:
    void DoRun() override
    {
        scaleacross::ManyToOne work;
        work.control = scaleacross::CongestionControl("hpcc");
        work.switches = m_switches;
        work.warmUp = scaleacross::Duration::Microseconds(40'000);
        const auto result = scaleacross::RunManyToOne(work);
        // The last wire has the largest packets and is the one that fills.
        const double payload = 1082.0 / (1082 + 2 + 8 * m_switches);
        NS_TEST_ASSERT_MSG_LT(result.share, payload * 0.97, "no more than eta");
        NS_TEST_ASSERT_MSG_GT(result.share, payload * 0.93, "and no less");
        NS_TEST_ASSERT_MSG_GT(result.jain, 0.95, "fair");
        // A packet of each flow may meet all others.
        NS_TEST_ASSERT_MSG_LT(result.queueP99, 8 * 1100, "hardly a queue");
        NS_TEST_ASSERT_MSG_EQ(result.drops + result.pauses, 0, "no drop, no pause");
    }

    uint32_t m_switches;
};

class HpccSuite : public TestSuite
{
  public:
    HpccSuite()
        : TestSuite("scaleacross-hpcc")
    {
        AddTestCase(new WindowTest);
        AddTestCase(new TrailTest);
        AddTestCase(new ManyTest(1));
        AddTestCase(new ManyTest(9));
    }
};

HpccSuite g_hpccSuite;

} // namespace
