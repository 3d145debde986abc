// SPDX-License-Identifier: GPL-2.0-only

#include "control-bench.h"
#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/many-to-one.h"
#include "ns3/test.h"
#include "ns3/timely.h"

using namespace ns3;
using namespace fabrictest;

namespace
{

/**
 * Rates by hand: 10 Gb/s, delta 10 Mb/s, a segment per packet, least round trip 20 us, thresholds
 * of queueing 30 and 480 us.
 */
class RateTest : public TestCase
{
  public:
    RateTest()
        : TestCase("Rates by hand")
    {
    }

  private:
    void DoRun() override
    {
        ControlBench<Timely> bench(10);
        bench.control->SetAttribute("Segment", UintegerValue(1000));
        bench.control->SetAttribute("MinRtt", TimeValue(MicroSeconds(20)));
        bench.Init();
        bench.Ack(100, 20);
        NS_TEST_ASSERT_MSG_EQ(bench.Gbps(), 10, "no more than the line");
        bench.Ack(200, 110); // g = 0.875 * 90
        double g = 0.875 * 90;
        // Gradient 3.9375: by the letter of the algorithm 1 - 0.8 * 3.9375 is negative.
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetGradient(), g / 20, 1e-9, "gradient");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), 0.1, 1e-9, "the least rate");
        double rate = 0.1;
        bench.Ack(300, 60); // falls
        g = 0.125 * g - 0.875 * 50;
        rate += 0.01;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetGradient(), g / 20, 1e-9, "gradient");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), rate, 1e-8, "one delta");
        for (int i = 0; i < 3; ++i)
        {
            bench.Ack(400, 60);
            rate += 0.01;
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), rate, 1e-8, "four times in a row");
        bench.Ack(500, 60);
        rate += 0.05;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), rate, 1e-8, "the fifth is hyperactive");
        bench.Ack(600, 62);
        g = bench.control->GetGradient();
        rate *= 1 - 0.8 * g;
        NS_TEST_ASSERT_MSG_GT(g, 0, "rises");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), rate, 1e-8, "cut by the gradient");
        bench.Ack(700, 40);
        rate += 0.01;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), rate, 1e-8, "little queueing");
        bench.Ack(800, 1000);
        rate *= 1 - 0.8 * (1 - 500.0 / 1000);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), rate, 1e-8, "much: whatever the gradient");
    }
};

/// Segments: three packets of 1,000 bytes make one of 2,500, the round trip is that of the third.
class SegmentTest : public TestCase
{
  public:
    SegmentTest()
        : TestCase("A segment at a time")
    {
    }

  private:
    void DoRun() override
    {
        ControlBench<Timely> bench(10);
        bench.control->SetAttribute("Segment", UintegerValue(2500));
        bench.control->SetAttribute("MinRtt", TimeValue(MicroSeconds(20)));
        bench.Init();
        bench.Ack(100, 1000);
        bench.Ack(100, 1000);
        NS_TEST_ASSERT_MSG_EQ(bench.Gbps(), 10, "not complete");
        bench.Ack(100, 625); // 1 - 0.8 (1 - 500 / 625)
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), 10 * 0.84, 1e-8, "the third");
        bench.Ack(200, 1000);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), 8.4, 1e-8, "the next segment");
    }
};

/**
 * The fixed point of the patched one. Where the round trip stays, w = 1/2, and what a segment adds
 * is what it takes: delta / 2 = R beta / 2 (q - low) / (m + low) with R = C / N, hence
 *
 *   q = low + (m + low) N delta / (beta C):
 *
 * with delta = C / 1000, beta = 0.008 (as in that paper), N = 4, m = 12.187 and low = 30 us: 30 us
 * and half of 42.187 us, a queue of C * 51.1 us = 638.7 kB. Within 5 %, the width of the range of w
 * being +-1/4 of m, 3 us of 51. And all flows have one rate, which the original has not (Zhu et
 * al., CoNEXT 2016: it has infinitely many fixed points).
 */
class PatchedTest : public TestCase
{
  public:
    explicit PatchedTest(bool patched)
        : TestCase(patched ? "The patched one has a fixed point" : "The original has none"),
          m_patched(patched)
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::Timely::Patched", BooleanValue(m_patched));
        Config::SetDefault("ns3::Timely::Beta", DoubleValue(m_patched ? 0.008 : 0.8));
        Config::SetDefault("ns3::Timely::MinRtt", TimeValue(NanoSeconds(12'187)));
        scaleacross::ManyToOne work;
        work.control = scaleacross::CongestionControl("timely");
        work.senders = 4;
        work.stagger = scaleacross::Duration::Microseconds(1000);
        work.warmUp = scaleacross::Duration::Microseconds(100'000);
        const auto result = scaleacross::RunManyToOne(work);
        Config::SetDefault("ns3::Timely::MinRtt", TimeValue(Time(0)));
        Config::SetDefault("ns3::Timely::Patched", BooleanValue(false));
        Config::SetDefault("ns3::Timely::Beta", DoubleValue(0.8));
        NS_TEST_ASSERT_MSG_EQ(result.drops, 0, "no drop");
        if (!m_patched)
        {
            NS_TEST_ASSERT_MSG_LT(result.jain, 0.9, "unfair");
            return;
        }
        NS_TEST_ASSERT_MSG_GT(result.jain, 0.99, "fair");
        NS_TEST_ASSERT_MSG_GT(result.share, 0.999, "the line is never idle");
        NS_TEST_ASSERT_MSG_EQ_TOL(result.queueMean, 638.7e3, 0.05 * 638.7e3, "queue");
    }

    bool m_patched;
};

class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("Impossible attributes")
    {
    }

  private:
    void DoRun() override
    {
        ControlBench<Timely> bench(10);
        bench.control->SetAttribute("LowThreshold", TimeValue(MicroSeconds(480)));
        NS_TEST_ASSERT_MSG_EQ(Refuses(bench, "Timely::LowThreshold"), true, "no room between");
        ControlBench<Timely> slow(0.05);
        NS_TEST_ASSERT_MSG_EQ(Refuses(slow, "Timely::MinRate"), true, "more than the line");
    }

    static bool Refuses(ControlBench<Timely>& bench, const std::string& where)
    {
        try
        {
            bench.Init();
        }
        catch (const scaleacross::ConfigError& error)
        {
            return error.Where() == where;
        }
        return false;
    }
};

class TimelySuite : public TestSuite
{
  public:
    TimelySuite()
        : TestSuite("scaleacross-timely")
    {
        AddTestCase(new RateTest);
        AddTestCase(new SegmentTest);
        AddTestCase(new PatchedTest(true));
        AddTestCase(new PatchedTest(false));
        AddTestCase(new RefusalTest);
    }
};

TimelySuite g_timelySuite;

} // namespace
