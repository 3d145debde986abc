// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/rdma-nic.h"
#include "ns3/standard-run.h"
#include "ns3/standard-work.h"
#include "ns3/test.h"

#include <algorithm>

using namespace ns3;
using scaleacross::CongestionControl;
using scaleacross::Multipath;

namespace
{

/**
 * 1,024 hosts send 2,000,000 bytes each to one under another leaf, over 128 paths, at 100 Gb/s and
 * wires of 1 us, all at once; packets of 4,096 + 82 bytes, answers of 64. Alone, a flow is
 * acknowledged after (2,000,000 + 489 x 82 + 3 x 4,178 + 4 x 64) x 80 ps + 8 us = 172.2 us
 * (FlowBound). The last of all has to be at most 10 % later where the senders draw and recycle
 * entropies. Every host answers as many packets as it sends, so that its line carries 64 bytes
 * more for each: where switches choose the port, 64 / 4,178 and the time of a round trip's answers
 * are all that may be lost, and with pulls twice that.
 *
 * No timer may run out, and nothing be dropped: what does not fit is trimmed.
 */
class PermutationTest : public TestCase
{
  public:
    PermutationTest(const std::string& name,
                    CongestionControl control,
                    Multipath multipath,
                    double limit)
        : TestCase(name),
          m_control(control),
          m_multipath(multipath),
          m_limit(limit)
    {
    }

  private:
    void DoRun() override
    {
        auto work = scaleacross::MakeStandardWork("permutation", 1024);
        scaleacross::SetPaths(work, 128);
        work.size = scaleacross::Bytes(2'000'000);
        work.payload = 4096;
        work.overhead = 82;
        work.transport = scaleacross::Transport("trimming");
        work.multipath = m_multipath;
        work.control = m_control;
        scaleacross::StandardRun::Options options;
        options.lookAhead = true;
        scaleacross::StandardRun run(work, options);
        run.Execute();
        const auto result = run.GetResult();
        const auto last = *std::max_element(result.completions.begin(), result.completions.end());
        const double bound = scaleacross::FlowBound(work).Us();
        NS_TEST_ASSERT_MSG_EQ_TOL(bound, 172.2, 0.1, "the bound as derived");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(last.Us(), bound, "no sooner");
        NS_TEST_ASSERT_MSG_LT(last.Us(), m_limit * bound, "and hardly later");
        NS_TEST_ASSERT_MSG_EQ(result.dropped, 0, "no drop");
        uint64_t timeouts = 0;
        for (const auto& nic : run.GetFabric().Nics())
        {
            timeouts += nic->GetTimeouts();
        }
        NS_TEST_ASSERT_MSG_EQ(timeouts, 0, "no timer");
    }

    CongestionControl m_control;
    Multipath m_multipath;
    double m_limit;
};

class TrimmedPermutationSuite : public TestSuite
{
  public:
    TrimmedPermutationSuite()
        : TestSuite("scaleacross-trimmed-permutation")
    {
        AddTestCase(new PermutationTest("Recycled entropies, NSCC",
                                        CongestionControl("nscc"),
                                        Multipath("reps"),
                                        1.10));
        AddTestCase(new PermutationTest("Recycled entropies, receiver credits",
                                        CongestionControl("receiver-credit"),
                                        Multipath("reps"),
                                        1.10));
        AddTestCase(new PermutationTest("Adaptive switches, NSCC",
                                        CongestionControl("nscc"),
                                        Multipath("spray-adaptive"),
                                        1 + 1.05 * 64 / 4178));
    }
};

TrimmedPermutationSuite g_trimmedPermutationSuite;

} // namespace
