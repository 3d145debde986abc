// SPDX-License-Identifier: GPL-2.0-only

#include "control-bench.h"
#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/many-to-one.h"
#include "ns3/swift.h"
#include "ns3/test.h"

#include <cmath>

using namespace ns3;
using namespace fabrictest;

namespace
{

/**
 * Windows by hand, without flow scaling: target 25 us, ai 1, beta 0.8, max_mdf 0.5. 10 packets; an
 * ACK after 20 us: 10.1. One after 30 us: times 1 - 0.8 * 5/30. Another 10 us later changes
 * nothing, a round trip has not passed since; 30 us later it cuts again. 100 us: halves at most.
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
        ControlBench<Swift> bench(100);
        bench.control->SetAttribute("BaseTarget", TimeValue(MicroSeconds(25)));
        bench.control->SetAttribute("FlowScalingRange", TimeValue(Time(0)));
        bench.control->SetAttribute("MaxWindow", DoubleValue(10'000));
        bench.Init();
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 10'000'000, "the largest one at first");
        bench.control->SetAttribute("MaxWindow", DoubleValue(10));
        bench.Init();
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 10'000, "10 packets at first");
        bench.control->SetAttribute("MaxWindow", DoubleValue(1000));
        bench.Ack(100, 20);
        double window = 10.1;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "one more in a round");
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 10'100, "in bytes");
        bench.Ack(110, 30);
        window *= 1 - 0.8 * 5 / 30;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "a cut");
        bench.Ack(120, 30);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(),
                                  window,
                                  1e-9,
                                  "too early for another");
        bench.Ack(140, 30);
        window *= 1 - 0.8 * 5 / 30;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "a round trip later");
        bench.Ack(240, 100);
        window *= 0.5;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "at most half");
        bench.control->OnLoss(bench.state, 300 * kUs);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "60 of 100 us later");
        bench.control->OnLoss(bench.state, 340 * kUs);
        window *= 0.5;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "a gap halves");
        NS_TEST_ASSERT_MSG_EQ(bench.state.rate, bench.state.lineRate, "a packet or more: no rate");
        // Three more: 10.1 * 0.8667^2 / 32 = 0.237 packets per 100 us, 0.237 * 8,656 bits / 100 us.
        for (int64_t at : {440, 540, 640})
        {
            bench.control->OnTimeout(bench.state, at * kUs);
            window *= 0.5;
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "and so a timeout");
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 1000, "never less than a packet");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Gbps(), window * 8656 / 100e3, 1e-9, "but a rate");
        bench.Ack(700, 20);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(),
                                  window + 1,
                                  1e-9,
                                  "ai below a packet");
        for (int64_t at : {800, 900, 1000, 1100, 1200})
        {
            bench.control->OnTimeout(bench.state, at * kUs);
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), 0.001, 1e-12, "five in a row");
    }
};

/**
 * The target. fs_min 0.1, fs_max 100, fs_range 100 us: alpha = 100 / (1/sqrt(0.1) - 1/10) = 32.65
 * us. At a window of 4 packets 32.65/2 - 3.265 = 13.06 us are added to the least round trip and the
 * queueing aimed at, at 0.1 or less all of 100 us, at 100 or more nothing.
 */
class TargetTest : public TestCase
{
  public:
    TargetTest()
        : TestCase("The target delay")
    {
    }

  private:
    void DoRun() override
    {
        const double alpha = 100 / (1 / std::sqrt(0.1) - 0.1);
        const std::vector<std::pair<double, double>> cases{{4, alpha / 2 - alpha / 10},
                                                           {0.1, 100},
                                                           {0.01, 100},
                                                           {100, 0},
                                                           {400, 0}};
        for (const auto& [window, scaling] : cases)
        {
            ControlBench<Swift> bench(100);
            bench.control->SetAttribute("MaxWindow", DoubleValue(window));
            bench.Init();
            bench.Ack(50, 20); // below any target: the largest window stays
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->TargetDelay(3) / kUs,
                                      20 + 10 + scaling,
                                      1e-6,
                                      "window " << window);
        }
        ControlBench<Swift> bench(100);
        bench.control->SetAttribute("MaxWindow", DoubleValue(100));
        bench.control->SetAttribute("BaseTarget", TimeValue(MicroSeconds(25)));
        bench.control->SetAttribute("HopDelay", TimeValue(MicroSeconds(2)));
        bench.Init();
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->TargetDelay(3) / kUs, 31, 1e-6, "hops");
    }
};

/**
 * Many to one with one BaseTarget (a flow that starts later would take the queue it finds for part
 * of its least round trip). All flows see one queue and have one target, so it settles where that
 * is met: with Q the queueing in BaseTarget and w packets of 1,082 bytes under way per flow, base
 * round trip T,
 *
 *   queue = C (Q + scaling(w)),   N w 1,082 = C T + queue.
 *
 * Each flow goes at most a packet over it and, cut once per round trip by 0.8 of the excess, at
 * most as much below: N packets either way.
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
        work.control = scaleacross::CongestionControl("swift");
        work.senders = m_senders;
        // Four wires of 3 us; the packet and its ACK (86 bytes) on two of 12.5 B/ns each.
        const double base = 12'000 + 2 * 1082 / 12.5 + 2 * 86 / 12.5;
        Config::SetDefault("ns3::Swift::BaseTarget",
                           TimeValue(NanoSeconds(static_cast<uint64_t>(base)) + MicroSeconds(10)));
        const auto result = scaleacross::RunManyToOne(work);
        Config::SetDefault("ns3::Swift::BaseTarget", TimeValue(Time(0)));
        const double alpha = 100'000 / (1 / std::sqrt(0.1) - 0.1); // ns
        double queue = 0;
        for (int i = 0; i < 100; ++i) // converges: more queue, larger windows, less queue
        {
            const double window = (12.5 * base + queue) / (1082.0 * m_senders);
            const double scaling = std::max(0.0, alpha / std::sqrt(window) - alpha / 10);
            queue = (queue + 12.5 * (10'000 + scaling)) / 2;
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(result.queueMean, queue, 1082.0 * m_senders, "mean queue");
        NS_TEST_ASSERT_MSG_LT(result.queueP99, queue + 2 * 1082.0 * m_senders, "and hardly more");
        NS_TEST_ASSERT_MSG_GT(result.share, 0.999, "the line is never idle");
        NS_TEST_ASSERT_MSG_GT(result.jain, 0.95, "fair");
        NS_TEST_ASSERT_MSG_EQ(result.drops + result.pauses, 0, "no drop, no pause");
    }

    uint32_t m_senders;
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
        for (const auto& [name, value] :
             std::vector<std::pair<std::string, double>>{{"FlowScalingMin", 200},
                                                         {"MinWindow", 20}})
        {
            ControlBench<Swift> bench(100);
            bench.control->SetAttribute("MaxWindow", DoubleValue(10));
            bench.control->SetAttribute(name, DoubleValue(value));
            bool refused = false;
            try
            {
                bench.Init();
            }
            catch (const scaleacross::ConfigError& error)
            {
                refused = error.Where() == "Swift::" + name;
            }
            NS_TEST_ASSERT_MSG_EQ(refused, true, name);
        }
    }
};

class SwiftSuite : public TestSuite
{
  public:
    SwiftSuite()
        : TestSuite("scaleacross-swift")
    {
        AddTestCase(new WindowTest);
        AddTestCase(new TargetTest);
        AddTestCase(new QueueTest(2));
        AddTestCase(new QueueTest(8));
        AddTestCase(new QueueTest(32));
        AddTestCase(new RefusalTest);
    }
};

SwiftSuite g_swiftSuite;

} // namespace
