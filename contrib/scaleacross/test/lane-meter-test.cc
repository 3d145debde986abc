// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/data-rate.h"
#include "ns3/lane-meter.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::LaneMeter;

namespace
{

/// 1,000 bytes take 80,000 ps at 100 Gb/s: what is sooner by more than a byte's time, 80 ps, cannot
/// be. The same over changes of the rate and breaks.
class LawTest : public TestCase
{
  public:
    LawTest()
        : TestCase("A wire that carries more than its rate allows is found out")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [end, holds] : {std::pair<int64_t, bool>(80'000, true), {79'900, false}})
        {
            LaneMeter meter;
            meter.SetRate(100e9, 0);
            meter.Count(1000, end);
            NS_TEST_EXPECT_MSG_EQ(meter.Holds(), holds, meter.Text());

            // Slower from 60,000 ps on: the packet is finished at the old rate, the next takes
            // 160,000 ps.
            meter.SetRate(50e9, 60'000);
            meter.Count(1000, end + 160'000);
            NS_TEST_EXPECT_MSG_EQ(meter.Holds(), holds, meter.Text());
        }
        LaneMeter slower;
        slower.SetRate(100e9, 0);
        slower.Count(1000, 80'000);
        slower.SetRate(50e9, 60'000);
        slower.Count(1000, 239'000); // at 50 Gb/s a byte takes 160 ps
        NS_TEST_EXPECT_MSG_EQ(slower.Holds(), false, slower.Text());

        // Broken from 200,000 to 500,000 ps in the middle of a packet, which does not count.
        LaneMeter broken;
        broken.SetRate(100e9, 0);
        broken.Count(1000, 80'000);
        broken.Count(2000, 240'000);
        broken.Break(2000, 200'000);
        NS_TEST_EXPECT_MSG_EQ(broken.Carried(), 1000, "cut off");
        NS_TEST_EXPECT_MSG_EQ_TOL(broken.Allowed(), 2500.0, 1e-6, "200 ns");
        broken.SetRate(100e9, 500'000);
        broken.Count(2000, 660'000);
        NS_TEST_EXPECT_MSG_EQ(broken.Holds(), true, broken.Text());
        NS_TEST_EXPECT_MSG_EQ_TOL(broken.Allowed(), 4500.0, 1e-6, "360 ns");
        NS_TEST_EXPECT_MSG_EQ_TOL(broken.BusyShare(1'000'000), 3000.0 / 8750.0, 1e-9, "700 ns up");
        broken.Count(2100, 700'000); // 5,100 bytes in 400 ns
        NS_TEST_EXPECT_MSG_EQ(broken.Holds(), false, "the time down does not count");
    }
};

/**
 * A wire that is busy all the time, that gets half its rate at 40 us, is down from 60 to 70 us and
 * then is as fast as at first: of 200 packets of 1,048 bytes every one is counted once, and again
 * if it is sent again, and the law holds to within the packet that was cut off and the idle time.
 */
class FullWireTest : public TestCase
{
  public:
    FullWireTest()
        : TestCase("A wire that is busy all the time carries what its rate allows")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        const Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        const Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        const auto wire = fabric.ConnectPorts(a, b, DataRate("100Gbps"), NanoSeconds(100));
        const auto connection = fabric.CreateConnection(a, b);
        connection->Send(Bytes(10'000'000), 0);
        Simulator::Schedule(MicroSeconds(40), [&]() { wire->SetDataRate(DataRate("50Gbps")); });
        Simulator::Schedule(MicroSeconds(60), [&]() { wire->SetUp(false); });
        Simulator::Schedule(MicroSeconds(70), [&]() {
            wire->SetUp(true);
            wire->SetDataRate(DataRate("100Gbps"));
        });
        Simulator::Stop(MicroSeconds(60));
        Simulator::Run();
        CheckConservation(fabric);
        // 500,000 bytes in 40 us and 125,000 in 20, and up to a packet less or more at each end.
        const LaneMeter& meter = wire->GetLane(0).Meter();
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(meter.Carried()), 625'000.0, 2 * 1048.0, "");
        NS_TEST_EXPECT_MSG_EQ_TOL(meter.Allowed(), 625'000.0, 2 * 1048.0, meter.Text());
        NS_TEST_EXPECT_MSG_EQ_TOL(meter.BusyShare(60'000'000), 1.0, 2 * 1048.0 / 625'000, "busy");
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        CheckConservation(fabric);
        NS_TEST_EXPECT_MSG_GT(meter.Carried(), 625'000, "it goes on when it is back");
        Simulator::Destroy();
    }
};

class LaneMeterSuite : public TestSuite
{
  public:
    LaneMeterSuite()
        : TestSuite("scaleacross-lane-meter")
    {
        AddTestCase(new LawTest);
        AddTestCase(new FullWireTest);
    }
};

LaneMeterSuite g_laneMeterSuite;

} // namespace
