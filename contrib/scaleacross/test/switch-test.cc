// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/packet.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;

namespace
{

/**
 * 16 senders of 16 MiB each into one port at 100 Gb/s.
 *
 * The port has to send 16 * (16,777,216 + 48 * 16,778) bytes * 8 / 100 Gb/s = 22,505.68 us. Before
 * its first bit one packet crosses the first wire (0.08384 us + 1 us), after its last bit the
 * second (1 us), the ACK comes back in 2 us + 0.0096 us: nothing is done before 22,509.77 us, and
 * if the port never idles the last flow is done then, or at most one packet later.
 */
class IncastTest : public TestCase
{
  public:
    IncastTest()
        : TestCase("Incast of 16 with PFC")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(8 * kMiB));
        Ptr<FabricSwitch> centre = BuildStar(fabric, 17, "100Gbps", MicroSeconds(1));
        Log log;
        for (uint32_t i = 0; i < 16; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[16]);
            log.Watch(connection);
            connection->Send(Bytes(16 * kMiB), i);
        }
        Simulator::Run();
        const int64_t bound =
            16LL * (16'777'216 + 48 * 16'778) * 80 + 2 * 2'000'000 + 1'048 * 80 + 2 * 60 * 80;
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 16, "all done");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(log.LastCompletion(), bound - Rounding(4), "not before it can");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(log.LastCompletion(),
                                    bound + 1'048 * 80 + Rounding(4),
                                    "within a packet of it");
        NS_TEST_ASSERT_MSG_GT(centre->GetPauses(), 0, "it had to pause");
        NS_TEST_ASSERT_MSG_EQ(centre->GetDrops(), 0, "no drop");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(centre->GetPeakOccupancy(), 8 * kMiB, "within the buffer");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(centre->GetPeakHeadroomShare(), 1.0, "within the headroom");
        NS_TEST_ASSERT_MSG_GT(fabric.Nics()[0]->GetPausedTime(), MilliSeconds(10), "mostly paused");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[0]->GetRetransmissions(), 0, "nothing sent twice");
        NS_TEST_ASSERT_MSG_EQ(centre->GetOccupancy(), 0, "empty at the end");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * A wire of 1 ms (200 km) into a switch whose only way out is a hundred times slower.
 *
 * After the threshold is crossed, 100 Gb/s go on arriving for 2 ms: 25 MB. Nearly all of it must be
 * used (a hundredth leaves meanwhile), none of it more. With half of it, packets must be dropped.
 */
class LongWireTest : public TestCase
{
  public:
    explicit LongWireTest(double scale)
        : TestCase("PFC over 1 ms, headroom times " + std::to_string(scale)),
          m_scale(scale)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(64 * kMiB));
        fabric.SetSwitchAttribute("HeadroomScale", DoubleValue(m_scale));
        Ptr<FabricSwitch> near = fabric.AddSwitch();
        Ptr<FabricSwitch> far = fabric.AddSwitch();
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        fabric.Connect(a, near, DataRate("100Gbps"), MicroSeconds(1));
        fabric.Connect(near, far, DataRate("100Gbps"), MilliSeconds(1));
        fabric.Connect(b, far, DataRate("1Gbps"), MicroSeconds(1));
        fabric.InstallRoutes();
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(far->GetHeadroom(0)),
                                  25.0e6 * m_scale,
                                  0.1e6,
                                  "2 * 1 ms * 12.5 GB/s and a few packets");
        auto connection = fabric.CreateConnection(a, b);
        connection->Send(Bytes(200 * kMiB), 0);
        for (uint32_t ms = 1; ms < 20; ++ms)
        {
            Simulator::Schedule(MilliSeconds(ms), [&fabric]() { CheckConservation(fabric); });
        }
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();

        NS_TEST_ASSERT_MSG_GT(far->GetPauses(), 0, "paused over the long wire");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(far->GetPeakOccupancy(), 64 * kMiB, "within the buffer");
        NS_TEST_ASSERT_MSG_GT(far->GetPeakHeadroomShare(), 0.97, "the headroom is needed");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(far->GetPeakHeadroomShare(), 1.0, "and suffices");
        const bool drops = far->GetDrops(DropReason::HeadroomFull) > 0;
        NS_TEST_ASSERT_MSG_EQ(drops, (m_scale < 1), "drops only if the headroom is too small");
        if (m_scale == 1)
        {
            NS_TEST_ASSERT_MSG_EQ(near->GetDrops() + far->GetDrops(), 0, "no drop at all");
        }
        std::string waiting = DescribeWaiting(fabric);
        NS_TEST_ASSERT_MSG_NE(waiting.find("is paused by node 1 port 0"),
                              std::string::npos,
                              "who waits for whom: " << waiting);
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    double m_scale;
};

/// A buffer that cannot hold its headroom is refused before the simulation starts, with the values.
class SmallBufferTest : public TestCase
{
  public:
    SmallBufferTest()
        : TestCase("A buffer smaller than its headroom is refused")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(16 * kMiB));
        Ptr<FabricSwitch> a = fabric.AddSwitch();
        Ptr<FabricSwitch> b = fabric.AddSwitch();
        fabric.Connect(a, b, DataRate("100Gbps"), MilliSeconds(1));
        std::string text;
        try
        {
            fabric.InstallRoutes();
        }
        catch (const scaleacross::ConfigError& error)
        {
            text = error.what();
        }
        // 2 * 1 ms * 12.5 GB/s; 2 packets of 4,200 and, while the pause frame waits, 4,200 + 84;
        // and 1.
        NS_TEST_ASSERT_MSG_NE(text.find("25012685 bytes"), std::string::npos, "text: " << text);
        NS_TEST_ASSERT_MSG_NE(text.find("16777216"), std::string::npos, "text: " << text);
        Simulator::Destroy();
    }
};

/**
 * Without PFC: three senders into one port, 500 kB of buffer. Twice the line rate arrives too much,
 * the tail is dropped, go-back-N repairs it; every drop is counted under its name.
 */
class TailDropTest : public TestCase
{
  public:
    TailDropTest()
        : TestCase("Lossy switch drops the tail")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(500'000));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(5)); // 131 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1000));
        Ptr<FabricSwitch> centre = BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
        Log log;
        for (uint32_t i = 0; i < 3; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[3]);
            log.Watch(connection);
            connection->Send(Bytes(2 * kMiB), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 3, "all delivered");
        NS_TEST_ASSERT_MSG_EQ(centre->GetPauses(), 0, "no pause");
        NS_TEST_ASSERT_MSG_GT(centre->GetDrops(DropReason::SharedBufferFull), 0, "drops");
        NS_TEST_ASSERT_MSG_EQ(centre->GetDrops(),
                              centre->GetDrops(DropReason::SharedBufferFull),
                              "and for no other reason");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(centre->GetPeakOccupancy(), 500'000, "within the buffer");
        // alpha 1: a queue alone may have half of the buffer, and then drops.
        NS_TEST_ASSERT_MSG_GT(centre->GetPeakOccupancy(), 245'000, "half of it is used");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/// Destinations without a route, and packets longer than allowed (of another stack: RDMA's are
/// refused before the run), are dropped under their names.
class NamedDropTest : public TestCase
{
  public:
    NamedDropTest()
        : TestCase("Packets that cannot be forwarded")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(0));
        fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(2000));
        fabric.SetNicAttribute("PathMtu", UintegerValue(1024));
        fabric.SetNicAttribute("IpMtu", UintegerValue(9000));
        Ptr<FabricSwitch> centre = BuildStar(fabric, 3, "100Gbps", MicroSeconds(1));
        centre->Routes().Clear();
        centre->Routes().Add(0, 1, {{1}, {}});
        Log log;
        auto lost = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[2]);
        log.Watch(lost);
        lost->Send(Bytes(100), 1);
        Simulator::Schedule(MicroSeconds(1), [&fabric]() {
            const uint16_t experimental = 0x88B5;
            fabric.Nics()[0]->Send(Create<Packet>(3000),
                                   fabric.Nics()[1]->GetAddress(),
                                   experimental);
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.failures.size(), 1, "the connection fails");
        NS_TEST_ASSERT_MSG_EQ(centre->GetDrops(DropReason::NoRoute), 1, "no route");
        NS_TEST_ASSERT_MSG_EQ(centre->GetDrops(DropReason::Oversize), 1, "oversize");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

class SwitchSuite : public TestSuite
{
  public:
    SwitchSuite()
        : TestSuite("scaleacross-switch")
    {
        AddTestCase(new IncastTest);
        AddTestCase(new LongWireTest(1.0));
        AddTestCase(new LongWireTest(0.5));
        AddTestCase(new SmallBufferTest);
        AddTestCase(new TailDropTest);
        AddTestCase(new NamedDropTest);
    }
};

SwitchSuite g_switchSuite;

} // namespace
