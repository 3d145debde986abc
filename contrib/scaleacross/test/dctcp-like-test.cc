// SPDX-License-Identifier: GPL-2.0-only

#include "control-bench.h"
#include "fabric-test.h"

#include "ns3/dctcp-like.h"
#include "ns3/many-to-one.h"
#include "ns3/test.h"

#include <cmath>

using namespace ns3;
using namespace fabrictest;

namespace
{

/**
 * Windows by hand. No limit before the first mark; with it the window is what is under way, 7
 * packets and the one that is acknowledged. A window ends with the ACK of the
 * packet that was the last one sent at its beginning, 7 later; the first one has 8 ACKs, two of
 * them marked.
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
        ControlBench<DctcpLike> bench(100);
        bench.Init();
        bench.Ack(1, 20, 7, false);
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, UINT64_MAX, "no limit");
        bench.Ack(1, 20, 7, true);
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 4000, "half of what is under way");
        for (int i = 0; i < 6; ++i)
        {
            bench.Ack(2, 20, 7, i == 0);
        }
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 4000, "one cut per round trip");
        bench.Ack(2, 20, 7, false);
        // 2 of 8 marked; alpha was 1.
        double alpha = 15.0 / 16 + 2.0 / 8 / 16;
        double window = 4000;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetAlpha(), alpha, 1e-12, "alpha");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "cut in this window");
        for (int i = 0; i < 7; ++i)
        {
            bench.Ack(3, 20, 7, false);
        }
        alpha *= 15.0 / 16;
        window += 1000;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetAlpha(), alpha, 1e-12, "none marked");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "a packet more");
        bench.Ack(3, 20, 7, true);
        window *= 1 - alpha / 2;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "a mark cuts at once");
        for (int i = 0; i < 13; ++i) // to the end of this window and of the next one
        {
            bench.Ack(3, 20, i == 12 ? 0 : 7, false);
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window, 1e-9, "it was not used up");
        bench.control->OnLoss(bench.state, 0);
        bench.control->OnLoss(bench.state, 0);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetWindow(), window / 2, 1e-9, "halved once");
        bench.control->OnTimeout(bench.state, 0);
        NS_TEST_ASSERT_MSG_EQ(bench.state.windowBytes, 1000, "a packet");
    }
};

/**
 * The queue that the paper's analysis gives for N synchronised flows (Alizadeh et al., SIGCOMM
 * 2010, section 3.3), in packets, threshold K:
 *
 *   largest K + N, amplitude A = sqrt(2 N (C RTT + K)) / 2,
 *
 * here K = 100,000 / 1,082 = 92.4 packets, so that the first packet to be marked is one that finds
 * 93 and is the 94th; C RTT = 12.5 B/ns * 12,187 ns / 1,082 = 140.8. Flows that are not
 * synchronised stay within that. The first burst, before any mark is back, is left out by the
 * warm-up.
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
        work.control = scaleacross::CongestionControl("dctcp");
        work.senders = m_senders;
        const auto result = scaleacross::RunManyToOne(work);
        const double n = m_senders;
        const double k = 94;
        const double most = k + n;
        const double amplitude = std::sqrt(2 * n * (140.8 + k)) / 2;
        NS_TEST_ASSERT_MSG_LT_OR_EQ(result.queueP99 / 1082, most, "largest");
        NS_TEST_ASSERT_MSG_LT(result.queueMean / 1082, most, "mean");
        NS_TEST_ASSERT_MSG_GT(result.queueMean / 1082, most - amplitude, "mean");
        NS_TEST_ASSERT_MSG_GT(result.share, 0.999, "the line is never idle: K > C RTT / 7");
        NS_TEST_ASSERT_MSG_GT(result.jain, 0.95, "fair");
        NS_TEST_ASSERT_MSG_EQ(result.drops, 0, "no drop");
    }

    uint32_t m_senders;
};

class DctcpLikeSuite : public TestSuite
{
  public:
    DctcpLikeSuite()
        : TestSuite("scaleacross-dctcp-like")
    {
        AddTestCase(new WindowTest);
        AddTestCase(new QueueTest(2));
        AddTestCase(new QueueTest(8));
        AddTestCase(new QueueTest(16));
    }
};

DctcpLikeSuite g_dctcpLikeSuite;

} // namespace
