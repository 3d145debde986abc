// SPDX-License-Identifier: GPL-2.0-only

#include "control-bench.h"
#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/infiniband-cc.h"
#include "ns3/many-to-one.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

/// The worked case of the header, and the ends of the table: 100 Gb/s, Timer 10 is 10.24 us.
class IndexTest : public TestCase
{
  public:
    IndexTest()
        : TestCase("Index and rate by hand")
    {
    }

  private:
    using Bench = ControlBench<InfinibandCc>;

    static void Becn(Bench& bench, double us)
    {
        Wait(bench, us);
        bench.control->OnCnp(bench.state, static_cast<int64_t>(us * kUs));
    }

    static void Wait(Bench& bench, double us)
    {
        if (bench.control->NextDeadline() <= static_cast<int64_t>(us * kUs))
        {
            bench.control->Advance(bench.state, static_cast<int64_t>(us * kUs));
        }
    }

    void DoRun() override
    {
        Bench bench(100);
        bench.control->SetAttribute("Increase", UintegerValue(4));
        bench.control->SetAttribute("Timer", UintegerValue(10));
        bench.control->SetAttribute("Limit", UintegerValue(127));
        bench.Init();
        NS_TEST_ASSERT_MSG_EQ(bench.Gbps(), 100, "the line");
        Becn(bench, 100);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), 100 / 1.5, 1e-8, "four eighths of a packet");
        for (const double eighths : {4, 3, 2, 1, 0})
        {
            const double at = 100 + 10.24 * (4 - eighths);
            Wait(bench, at - 0.001);
            const double before = eighths < 4 ? eighths + 1 : eighths;
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), 100 / (1 + before / 8), 1e-8, "not yet");
            Wait(bench, at + 0.001);
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), 100 / (1 + eighths / 8), 1e-8, "a step");
        }
        NS_TEST_ASSERT_MSG_EQ(bench.control->NextDeadline(), scaleacross::kNever, "at rest");

        // A second BECN leaves the timer alone: lifted on at 200, so back by one at 210.24.
        Becn(bench, 200);
        Becn(bench, 209);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetIndex(), 8, "twice");
        Wait(bench, 211);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetIndex(), 7, "by the first timer");
        for (int i = 0; i < 100; ++i)
        {
            Becn(bench, 211);
        }
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetIndex(), 127, "Limit");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), 100 / (1 + 127 / 8.0), 1e-8, "its rate");

        // One call for many steps, and Min: 2:4 is one packet's time.
        Bench other(100);
        other.control->SetAttribute("Min", UintegerValue(1));
        other.control->SetAttribute("Limit", UintegerValue(3));
        other.control->SetAttribute("Increase", UintegerValue(2));
        other.control->SetAttribute("Timer", UintegerValue(10));
        other.control->SetAttribute("Table", StringValue("0:0,2:4, 1:6,0:16383"));
        other.Init();
        NS_TEST_ASSERT_MSG_EQ_TOL(other.Gbps(), 50, 1e-8, "entry Min");
        Becn(other, 1);
        NS_TEST_ASSERT_MSG_EQ_TOL(other.Gbps(), 100.0 / 16384, 1e-8, "the longest delay");
        Wait(other, 1 + 2 * 10.24);
        NS_TEST_ASSERT_MSG_EQ(other.control->GetIndex(), 1, "two steps in one call");
        Wait(other, 1000);
        NS_TEST_ASSERT_MSG_EQ_TOL(other.Gbps(), 50, 1e-8, "and no further");
    }
};

class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("Impossible tables")
    {
    }

  private:
    /// What is complained of by the name of an attribute when a table is set and used.
    static std::string Refused(const std::string& table, uint32_t limit, uint32_t min)
    {
        try
        {
            ControlBench<InfinibandCc> bench(100);
            bench.control->SetTable(table);
            bench.control->SetAttribute("Limit", UintegerValue(limit));
            bench.control->SetAttribute("Min", UintegerValue(min));
            bench.Init();
        }
        catch (const scaleacross::ConfigError& error)
        {
            return error.Where();
        }
        return "";
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Refused("0:0,0:1", 1, 0), "", "two entries");
        for (const std::string bad : {"0", "4:1", "0:16384", "0:1,,0:2", "0:1 2", "x:1", "0:-1"})
        {
            NS_TEST_ASSERT_MSG_EQ(Refused(bad, 1, 0), "InfinibandCc::Table", bad);
        }
        NS_TEST_ASSERT_MSG_EQ(Refused("0:0,0:1", 2, 0), "InfinibandCc::Table", "too short");
        NS_TEST_ASSERT_MSG_EQ(Refused("0:1,0:0", 1, 0), "InfinibandCc::Table", "falls");
        NS_TEST_ASSERT_MSG_EQ(Refused("", 5, 5), "InfinibandCc::Min", "nothing above Min");
    }
};

/**
 * N to 1, on credits and on PFC. At rest each sender gets one BECN per timer: of the packets that
 * the line could send, the share that is marked is p = N L / (C Increase Timer), with L = 1,082
 * bytes and 51.2 us: 8 senders 0.01353, 4 senders 0.00676. It is an average over the time measured,
 * 100 ms = 1,953 timers. While an index keeps within 40 of the 8 (N - 1) at which it is at rest,
 * BECNs and timers differ by 40 of 1,953 at most, 2 %.
 *
 * All have the same p, so the same rate. Those that send more are marked more often by chance: over
 * 1,953 BECNs each the shares differ by some per cent at most.
 *
 * Full: marks go on for a round trip of 12.4 us and 4 us of queue until a sender hears of them, and
 * for about another until the queue has fallen: k = 2 x 16.4 us x C / (N L 16) BECNs each, 5.9 with
 * 4 senders, 3.0 with 8. They are taken back in k timers, during which index and so 1 + delay are
 * k / 2 of 8 N steps too large on average. So the line is idle k / (16 N) of the time at most, 9.3
 * % and 2.3 %, less what the queue has left to send. For the same reason the queue is empty most of
 * the time, and its mean below the threshold of 50 kB.
 */
class ManyToOneTest : public TestCase
{
  public:
    ManyToOneTest(uint32_t senders, bool credits)
        : TestCase(std::to_string(senders) + " to 1 with " + (credits ? "credits" : "pauses")),
          m_senders(senders),
          m_credits(credits)
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::FabricSwitch::Credits", BooleanValue(m_credits));
        Config::SetDefault("ns3::FabricDevice::IpMtu", UintegerValue(1000)); // no longer than data
        scaleacross::ManyToOne work;
        work.control = scaleacross::CongestionControl("infiniband-cc");
        work.senders = m_senders;
        work.stagger = scaleacross::Duration::Microseconds(1000);
        work.measured = scaleacross::Duration::Microseconds(100'000);
        const auto result = scaleacross::RunManyToOne(work);
        Config::SetDefault("ns3::FabricSwitch::Credits", BooleanValue(false));
        Config::SetDefault("ns3::FabricDevice::IpMtu", UintegerValue(1500));
        const double marked = m_senders * 1082 * 8 / (100e9 * 51.2e-6);
        NS_TEST_ASSERT_MSG_EQ(result.drops, 0, "no drop");
        NS_TEST_ASSERT_MSG_EQ_TOL(result.marked * result.share,
                                  marked,
                                  0.02 * marked,
                                  "marks balance the timer");
        NS_TEST_ASSERT_MSG_GT(result.jain, 0.99, "fair");
        const double becns = 2 * 16.4e-6 * 100e9 / (m_senders * 1082 * 8 * 16);
        NS_TEST_ASSERT_MSG_GT(result.share, 1 - becns / (16 * m_senders), "full");
        NS_TEST_ASSERT_MSG_LT(result.queueMean, 50e3, "the queue");
    }

    uint32_t m_senders;
    bool m_credits;
};

/**
 * Two switches in a row, a sender at the first, a receiver at the second whose host takes nothing
 * of lane 3. Both wires between have one rate, so nothing waits at either switch until the credits
 * for the receiver are spent; from then on the second switch's port lacks credits, and when the
 * second switch is full, the first one's does. Neither is the root of the congestion: nothing is
 * marked, unless victims are to be.
 */
class VictimTest : public TestCase
{
  public:
    explicit VictimTest(bool victims)
        : TestCase(victims ? "Victims are marked if wanted" : "Victims are not marked"),
          m_victims(victims)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("Credits", BooleanValue(true));
        fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(8));
        fabric.SetSwitchAttribute("EcnKmin", UintegerValue(5000));
        fabric.SetSwitchAttribute("EcnKmax", UintegerValue(5000));
        fabric.SetSwitchAttribute("EcnPmax", DoubleValue(1));
        fabric.SetSwitchAttribute("EcnVictims", BooleanValue(m_victims));
        fabric.SetQueuePairAttribute("EcnCapable", BooleanValue(true));
        const DataRate rate("100Gbps");
        auto first = fabric.AddSwitch();
        auto second = fabric.AddSwitch();
        fabric.Connect(fabric.AddNic(fabric.AddHost()), first, rate, MicroSeconds(1));
        fabric.Connect(first, second, rate, MicroSeconds(1));
        fabric.Connect(fabric.AddNic(fabric.AddHost()), second, rate, MicroSeconds(1));
        fabric.InstallRoutes();
        fabric.Nics()[1]->SetAttribute("StalledLanes", UintegerValue(8));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        connection->Send(Bytes(1'000'000), 1);
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_GT(second->GetOccupancy(), 5000, "they wait");
        NS_TEST_ASSERT_MSG_GT(first->GetOccupancy(), 5000, "at the first switch too");
        for (const auto& place : {first, second})
        {
            NS_TEST_ASSERT_MSG_EQ((place->GetEcnMarked() > 0), m_victims, "marks");
        }
        Simulator::Destroy();
    }

    bool m_victims;
};

class InfinibandCcSuite : public TestSuite
{
  public:
    InfinibandCcSuite()
        : TestSuite("scaleacross-infiniband-cc")
    {
        AddTestCase(new IndexTest);
        AddTestCase(new RefusalTest);
        for (const uint32_t senders : {4, 8})
        {
            AddTestCase(new ManyToOneTest(senders, true));
            AddTestCase(new ManyToOneTest(senders, false));
        }
        AddTestCase(new VictimTest(false));
        AddTestCase(new VictimTest(true));
    }
};

InfinibandCcSuite g_infinibandCcSuite;

} // namespace
