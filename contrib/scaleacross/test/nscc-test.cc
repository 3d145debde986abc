// SPDX-License-Identifier: GPL-2.0-only

#include "control-bench.h"
#include "fabric-test.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/many-to-one.h"
#include "ns3/nscc.h"
#include "ns3/test.h"

#include <algorithm>

using namespace ns3;
using namespace fabrictest;

namespace
{

/// 100 Gb/s, packets of 1,000 in 1,082 bytes, T = 12 us: B = 150,000 x 1,000 / 1,082 bytes of
/// payload, a = 1, target 9 us, b = 0.75.
constexpr double kProduct = 150e6 / 1082;
/// Added at every ACK of a packet: 0.15 x 1,000 / 8.
constexpr double kEta = 18.75;

ControlBench<Nscc>
Bench()
{
    ControlBench<Nscc> bench(100);
    bench.control->SetAttribute("BaseRtt", TimeValue(MicroSeconds(12)));
    return bench;
}

/**
 * The four cases by hand, from the window of one packet that a timeout leaves:
 *
 *   not marked, q = 4.5 us: 4 x 0.75 x (1 - 1/2) x 1,000 x 1,000 / 1,000 = 1,500
 *   not marked, q = 10 us:  5 x 1,000 x 1,000 / W
 *   marked, q = 3 us:       nothing
 *   marked, q = 18 us:      Q = 18 us (g = 1): W *= 1 - 0.8 x 9 / 18 = 0.6, not again within 12 us
 *   marked, q = 90 us:      1 - 0.8 x 81 / 90 = 0.28 is below 1 - 0.5: half
 */
class CasesTest : public TestCase
{
  public:
    CasesTest()
        : TestCase("Four cases by hand")
    {
    }

  private:
    void DoRun() override
    {
        auto bench = Bench();
        bench.control->SetAttribute("MeanGain", DoubleValue(1));
        bench.Init();
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), 2 * kProduct, 1e-3, "at first");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetTarget(), 9e6, 1e-3, "target");
        bench.control->OnTimeout(bench.state, 0);
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 1000, "a packet after a timeout");
        double window = 1000;
        bench.Ack(1, 16.5);
        window += 1500 + kEta;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "proportional");
        bench.Ack(2, 22);
        window += 5e6 / window + kEta;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "fair");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetMeanDelay(),
                                  3e6,
                                  1e-3,
                                  "an unmarked long delay counts as T / 4");
        bench.Ack(3, 15, 0, true);
        window += kEta;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "nothing");
        bench.Ack(4, 30, 0, true);
        window = (window + kEta) * 0.6;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "a cut");
        bench.Ack(15.9, 30, 0, true);
        window += kEta;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "too early");
        bench.control->SetAttribute("QuickAdaptDelay", DoubleValue(100)); // 90 us is ten targets
        bench.Ack(16, 102, 0, true);
        window = (window + kEta) * 0.5;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "at most half");
        bench.state.unacked = 0;
        ns3::RdmaAck trimmed;
        trimmed.trimmed = true;
        trimmed.trimmedRtt = 11 * kUs;
        bench.control->OnAck(bench.state, trimmed, 17 * kUs);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(),
                                  std::max(1000.0, window - 1000),
                                  1e-6,
                                  "a trimmed packet leaves the window");
    }
};

/**
 * From one packet on, packets without queueing: W grows by 4 x 0.75 x 1,000 x 1,000 / W and eta per
 * packet until more than W bytes in a row had none, then by 0.25 x 1,000 and eta.
 */
class FastTest : public TestCase
{
  public:
    FastTest()
        : TestCase("Fast increase")
    {
    }

  private:
    void DoRun() override
    {
        auto bench = Bench();
        bench.Init();
        bench.control->OnTimeout(bench.state, 0);
        double window = 1000;
        double run = 0;
        uint32_t fast = 0;
        for (uint32_t i = 1; i <= 60; ++i)
        {
            bench.Ack(i, 12);
            run += 1000;
            fast += run > window ? 1 : 0;
            window += run > window ? 250 + kEta : 3e6 / window + kEta;
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "packet " << i);
        }
        NS_TEST_ASSERT_MSG_GT(fast, 10, "it has come to that");
        bench.Ack(61, 13.5); // 1.5 us are some queueing: from the beginning
        window += 4 * 0.75 * (1 - 1.5 / 9) * 1e6 / window + kEta;
        bench.Ack(62, 12);
        window += 3e6 / window + kEta;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-6, "slow again");
    }
};

/**
 * Quick adapt. Periods are of 12 + 9 us, from 0 on. Largest window 277 packets; in the first 21 us
 * one is trimmed and 20 arrive, less than an eighth: W = 20 packets at the first answer after that.
 * 5 are under way then: the next 5 answers change nothing, the one after them counts. In the next
 * period 40 arrive, more than an eighth: it does not set in, although one was trimmed.
 */
class QuickAdaptTest : public TestCase
{
  public:
    QuickAdaptTest()
        : TestCase("Quick adapt")
    {
    }

  private:
    static void Trim(ControlBench<Nscc>& bench, double us)
    {
        ns3::RdmaAck ack;
        ack.trimmed = true;
        bench.control->OnAck(bench.state, ack, static_cast<int64_t>(us * kUs));
    }

    void DoRun() override
    {
        auto bench = Bench();
        bench.control->SetAttribute("MeanGain", DoubleValue(0));
        bench.Init();
        Trim(bench, 1);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), 2 * kProduct - 1000, 1e-3, "-1");
        for (uint32_t i = 0; i < 19; ++i)
        {
            bench.Ack(2, 15, 5, true); // marked and short: eta alone
        }
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetQuickAdapts(), 0, "not before the period ends");
        bench.Ack(21, 15, 5, true);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetQuickAdapts(), 1, "now");
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 20'000, "what has arrived");
        for (uint32_t i = 0; i < 4; ++i)
        {
            bench.Ack(22, 15, 5);
        }
        Trim(bench, 23);
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 20'000, "answers to what was under way");
        Trim(bench, 23);
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 19'000, "one to what came after");
        for (uint32_t i = 0; i < 36; ++i)
        {
            bench.Ack(24, 15, 0, true);
        }
        bench.Ack(42, 15, 0, true);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetQuickAdapts(), 1, "41 are enough");
    }
};

/**
 * The base round trip where none is given: the least, trimmed packets included. Nothing limits the
 * window before, and a timeout leaves it as it is then.
 */
class BaseTest : public TestCase
{
  public:
    BaseTest()
        : TestCase("The base round trip")
    {
    }

  private:
    void DoRun() override
    {
        ControlBench<Nscc> bench(100);
        bench.Init();
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, UINT64_MAX, "no limit");
        ns3::RdmaAck trimmed;
        trimmed.trimmed = true;
        bench.control->OnAck(bench.state, trimmed, 8 * kUs); // one that was sent twice
        bench.control->OnTimeout(bench.state, 9 * kUs);
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, UINT64_MAX, "still none");
        bench.Ack(10, 16);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetTarget(), 12e6, 1e-3, "a round trip");
        trimmed.trimmedRtt = 12 * kUs;
        bench.control->OnAck(bench.state, trimmed, 11 * kUs);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetTarget(), 9e6, 1e-3, "of a header");
        bench.Ack(12, 14);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetTarget(), 9e6, 1e-3, "the least");
    }
};

/**
 * Many to one. Below the target every window grows, and above it those shrink whose packets are
 * marked; beyond EcnKmax all are. So the queue settles between C x target and EcnKmax, 168 kB. T is
 * four wires of 3 us, and the packet and its ACK (86 bytes) on two of 12.5 B/ns each: target 9.14
 * us, 114 kB, if all know it.
 */
class QueueTest : public TestCase
{
  public:
    explicit QueueTest(uint32_t senders)
        : TestCase("The queue of " + std::to_string(senders) + " senders"),
          m_senders(senders)
    {
    }

  private:
    void DoRun() override
    {
        scaleacross::ManyToOne work;
        work.control = scaleacross::CongestionControl("nscc");
        work.senders = m_senders;
        const double base = 12'000 + 2 * 1082 / 12.5 + 2 * 86 / 12.5; // ns
        Config::SetDefault("ns3::Nscc::BaseRtt",
                           TimeValue(PicoSeconds(static_cast<int64_t>(base * 1000))));
        const auto result = scaleacross::RunManyToOne(work);
        Config::SetDefault("ns3::Nscc::BaseRtt", TimeValue(Time(0)));
        NS_TEST_ASSERT_MSG_GT(result.queueMean, 12.5 * 0.75 * base, "at least the target");
        NS_TEST_ASSERT_MSG_LT(result.queueMean, 168'000, "less than what marks everything");
        NS_TEST_ASSERT_MSG_GT(result.share, 0.999, "the line is never idle");
        NS_TEST_ASSERT_MSG_GT(result.jain, 0.95, "fair");
        NS_TEST_ASSERT_MSG_EQ(result.drops + result.pauses, 0, "no drop, no pause");
    }

    uint32_t m_senders;
};

class NsccSuite : public TestSuite
{
  public:
    NsccSuite()
        : TestSuite("scaleacross-nscc")
    {
        AddTestCase(new CasesTest);
        AddTestCase(new FastTest);
        AddTestCase(new QuickAdaptTest);
        AddTestCase(new BaseTest);
        AddTestCase(new QueueTest(2));
        AddTestCase(new QueueTest(8));
        AddTestCase(new QueueTest(32));
    }
};

NsccSuite g_nsccSuite;

} // namespace
