// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/standard-run.h"
#include "ns3/standard-work.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::MakeStandardWork;
using scaleacross::StandardResult;
using scaleacross::StandardRun;
using scaleacross::StandardWork;

namespace
{

StandardResult
ResultOf(const StandardWork& work, const StandardRun::Options& options = {})
{
    StandardRun run(work, options);
    run.Execute();
    return run.GetResult();
}

/// Figures that follow from the definition, worked out by hand.
class DefinitionTest : public TestCase
{
  public:
    DefinitionTest()
        : TestCase("Hops and bounds of the standard work")
    {
    }

  private:
    void DoRun() override
    {
        // 16 MiB in packets of 1,000 B: 16,778, the last one of 216 B.
        const StandardWork permutation = MakeStandardWork("permutation");
        NS_TEST_ASSERT_MSG_EQ(DataPacketHops(permutation), 64 * 16'778 * 4, "4.295 M");
        // 17,582,560 B x 80 ps + 3 x 1,048 B x 80 ps + 4 us + 4 x 64 B x 80 ps + 4 us
        NS_TEST_ASSERT_MSG_EQ(FlowBound(permutation).Ps(), 1'414'876'800, "a flow alone");
        NS_TEST_ASSERT_MSG_EQ(WorkBound(permutation).Ps(), 1'414'876'800, "one flow per receiver");

        const StandardWork incast = MakeStandardWork("incast");
        NS_TEST_ASSERT_MSG_EQ(DataPacketHops(incast), 16 * 16'778 * 2, "two wires");
        // 16 x 17,582,560 B x 80 ps + 1,048 B x 80 ps + 2 us + 2 x 64 B x 80 ps + 2 us
        NS_TEST_ASSERT_MSG_EQ(WorkBound(incast).Ps(), 22'509'770'880, "serialisation");

        // 4,096 packets of 4,096 B
        const StandardWork fast = MakeStandardWork("permutation-400g");
        NS_TEST_ASSERT_MSG_EQ(DataPacketHops(fast), 64 * 4'096 * 4, "");
        // 4,096 x 4,144 B x 20 ps + 3 x 4,144 B x 20 ps + 4 us + 4 x 64 B x 20 ps + 4 us
        NS_TEST_ASSERT_MSG_EQ(FlowBound(fast).Ps(), 347'730'240, "");

        // 32 MiB are 33,555 packets
        const StandardWork longHaul = MakeStandardWork("long-haul");
        NS_TEST_ASSERT_MSG_EQ(DataPacketHops(longHaul), 64 * 33'555 * 5, "five wires");
        // (33,554,432 + 33,555 x 48) B x 80 ps + 4 x 1,048 B x 80 ps + 1,004 us + 5 x 64 B x 80 ps
        // + 1,004 us
        NS_TEST_ASSERT_MSG_EQ(FlowBound(longHaul).Ps(), 4'821'566'720, "");
    }
};

/// A flow that is alone takes exactly its bound, on every path there is.
class AloneTest : public TestCase
{
  public:
    explicit AloneTest(const std::string& name)
        : TestCase("One flow of " + name),
          m_name(name)
    {
    }

  private:
    void DoRun() override
    {
        StandardWork work = MakeStandardWork(m_name);
        work.flows.resize(1);
        work.size = Bytes(100'000);
        const StandardResult result = ResultOf(work);
        const int64_t late = result.completions.at(0).Ps() - FlowBound(work).Ps();
        NS_TEST_ASSERT_MSG_GT_OR_EQ(late, 0, "not before it can");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(late, Rounding(2 * WiresPerFlow(work)), "and then");
        NS_TEST_ASSERT_MSG_EQ(result.dataPacketHops, DataPacketHops(work), "hops");
        NS_TEST_ASSERT_MSG_EQ(result.pauseFrames, 0, "nothing to pause for");
    }

    std::string m_name;
};

/// All flows, smaller: sinks and counters agree (or it aborts), bounds hold, nothing is lost.
class WholeTest : public TestCase
{
  public:
    explicit WholeTest(const std::string& name)
        : TestCase("All flows of " + name),
          m_name(name)
    {
    }

  private:
    void DoRun() override
    {
        StandardWork work = MakeStandardWork(m_name);
        work.size = Bytes(200'000);
        const StandardResult result = ResultOf(work, {"ns3::QuadHeapScheduler", true, true});
        NS_TEST_ASSERT_MSG_EQ(result.peakOnWires.has_value(), true, "sinks were connected");
        NS_TEST_ASSERT_MSG_EQ(result.dataPacketHops, DataPacketHops(work), "hops");
        NS_TEST_ASSERT_MSG_EQ(result.dropped, 0, "PFC loses nothing");
        const auto [first, last] =
            std::minmax_element(result.completions.begin(), result.completions.end());
        NS_TEST_ASSERT_MSG_GT_OR_EQ(first->Ps(), FlowBound(work).Ps(), "a flow alone is faster");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(last->Ps(), WorkBound(work).Ps(), "the last wire is busy");

        const StandardResult plain = ResultOf(work, {"ns3::MapScheduler", false, false});
        NS_TEST_ASSERT_MSG_EQ((plain.completions == result.completions),
                              true,
                              "neither sinks nor look-ahead nor the event list change a time");
        NS_TEST_ASSERT_MSG_EQ(plain.pauseFrames, result.pauseFrames, "or a pause");
        NS_TEST_ASSERT_MSG_EQ(plain.dataPacketHops, result.dataPacketHops, "or a hop");
        NS_TEST_ASSERT_MSG_EQ(plain.peakOnWires.has_value(), false, "not sampled");
    }

    std::string m_name;
};

/// A flow that fails ends the run with its reason; a switch that cannot work is refused.
class FailureTest : public TestCase
{
  public:
    FailureTest()
        : TestCase("Work that cannot be done")
    {
    }

  private:
    void DoRun() override
    {
        StandardWork work = MakeStandardWork("incast");
        work.size = Bytes(200'000);
        work.leafBuffer = Bytes(100'000);
        bool refused = false;
        try
        {
            ResultOf(work); // 17 ports need 38 kB of headroom each
        }
        catch (const scaleacross::ConfigError&)
        {
            refused = true;
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "the buffer cannot hold its headroom");

        // Without PFC it overflows, and a sender whose last packets are lost may not try again.
        Config::SetDefault("ns3::FabricSwitch::Pfc", BooleanValue(false));
        Config::SetDefault("ns3::RdmaQueuePair::RetryCount", UintegerValue(0));
        std::string reason;
        try
        {
            ResultOf(work);
        }
        catch (const scaleacross::RunError& error)
        {
            reason = error.what();
        }
        Config::Reset();
        NS_TEST_ASSERT_MSG_NE(reason.find("retry limit"), std::string::npos, reason);
    }
};

class StandardWorkSuite : public TestSuite
{
  public:
    StandardWorkSuite()
        : TestSuite("scaleacross-standard-work")
    {
        AddTestCase(new DefinitionTest);
        for (const auto& name : scaleacross::StandardWorkNames())
        {
            AddTestCase(new AloneTest(name));
            AddTestCase(new WholeTest(name));
        }
        AddTestCase(new FailureTest);
    }
};

StandardWorkSuite g_standardWorkSuite;

} // namespace
