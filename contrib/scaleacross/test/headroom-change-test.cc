// SPDX-License-Identifier: GPL-2.0-only

// PFC headroom when rates and delays are set as attributes, before the run and during it.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/data-rate.h"
#include "ns3/shared-buffer.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::DropReason;

namespace
{

constexpr uint32_t kSenders = 4;

/// Senders and a receiver on one switch, 100 Gb/s and 1 us.
struct Incast
{
    explicit Incast(uint64_t bufferSize)
    {
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(bufferSize));
        centre = BuildStar(fabric, kSenders + 1, "100Gbps", MicroSeconds(1));
    }

    void Send(uint64_t bytes)
    {
        for (uint32_t i = 0; i < kSenders; ++i)
        {
            const auto connection =
                fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[kSenders]);
            log.Watch(connection);
            connection->Send(Bytes(bytes), i);
        }
    }

    FabricHelper fabric;
    Ptr<FabricSwitch> centre;
    Log log;
};

/// What one lossless priority of a port needs, by the formula in shared-buffer.h.
uint64_t
Headroom(uint64_t delayUs, uint64_t inGbps, uint64_t outGbps)
{
    scaleacross::HeadroomInput input;
    input.delay = static_cast<int64_t>(delayUs) * 1'000'000;
    input.inRate = inGbps * 1'000'000'000;
    input.outRate = outGbps * 1'000'000'000;
    input.maxPacket = 4200;
    return scaleacross::HeadroomBytes(input);
}

/**
 * A lossless 4-to-1 incast whose senders' wires are made longer, or faster, after InstallRoutes has
 * checked the switch: the headroom is that of the new values, by the formula, and nothing is lost.
 * At 100 Gb/s and 50 us a port needs 2 * 4,200 + 12.5 GB/s * (4,284 / 12.5 GB/s + 100 us) =
 * 1,262,684 bytes where 1 us needed 37,684.
 */
class BeforeRunTest : public TestCase
{
  public:
    BeforeRunTest()
        : TestCase("Headroom follows delays and rates that are set before the run")
    {
    }

  private:
    void Check(const std::string& what, Incast& incast, uint64_t expected)
    {
        incast.Send(8 * kMiB);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(incast.centre->GetHeadroom(0), expected, what);
        NS_TEST_EXPECT_MSG_EQ(incast.centre->GetDrops(), 0, what);
        NS_TEST_EXPECT_MSG_EQ(incast.log.delivered.size(), kSenders, what);
        NS_TEST_EXPECT_MSG_GT(incast.centre->GetPauses(), 0, what << ": the headroom is in use");
        CheckConservation(incast.fabric);
        Simulator::Destroy();
    }

    void DoRun() override
    {
        // Rounded up, which may differ by a byte.
        NS_TEST_ASSERT_MSG_EQ_TOL(Headroom(50, 100, 100), 1'262'684, 1, "by hand");
        NS_TEST_ASSERT_MSG_EQ_TOL(Headroom(1, 100, 100), 37'684, 1, "by hand");
        {
            Incast incast(8 * kMiB);
            for (uint32_t i = 0; i < kSenders; ++i)
            {
                incast.fabric.Wires()[i]->SetAttribute("Delay", TimeValue(MicroSeconds(50)));
            }
            Check("delay", incast, Headroom(50, 100, 100));
        }
        {
            Incast incast(8 * kMiB);
            for (uint32_t i = 0; i < kSenders; ++i)
            {
                incast.fabric.Nics()[i]->SetAttribute("DataRate",
                                                      DataRateValue(DataRate("800Gbps")));
            }
            Check("rate of the senders", incast, Headroom(1, 800, 100));
        }
        {
            Incast incast(8 * kMiB);
            for (uint32_t i = 0; i < kSenders; ++i)
            {
                incast.centre->GetPort(i)->SetAttribute("DataRate",
                                                        DataRateValue(DataRate("1Gbps")));
            }
            Check("rate of the pauses", incast, Headroom(1, 100, 1));
        }
    }
};

/// The same, and the buffer cannot hold it: refused at time zero, by the switch's own sentence.
class TooSmallTest : public TestCase
{
  public:
    TooSmallTest()
        : TestCase("A buffer that cannot hold the new headroom is refused at time zero")
    {
    }

  private:
    void DoRun() override
    {
        Incast incast(kMiB);
        incast.fabric.Wires()[0]->SetAttribute("Delay", TimeValue(MicroSeconds(50)));
        incast.Send(kMiB);
        std::string problem;
        try
        {
            Simulator::Run();
        }
        catch (const ConfigError& error)
        {
            problem = error.what();
        }
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now().IsZero(), true, "before anything has happened");
        NS_TEST_EXPECT_MSG_NE(problem.find("1048576 bytes cannot hold the PFC headroom"),
                              std::string::npos,
                              problem);
        Simulator::Destroy();
    }
};

/// During the run the reservation stands: what needs more is refused and changes nothing, what
/// needs less takes effect. Either way nothing lossless is lost, with and without look-ahead.
class DuringRunTest : public TestCase
{
  public:
    explicit DuringRunTest(bool lookAhead)
        : TestCase(std::string("During the run what needs more headroom is refused") +
                   (lookAhead ? ", look-ahead" : "")),
          m_lookAhead(lookAhead)
    {
    }

  private:
    static std::string Refusal(Ptr<Object> object, const char* name, const AttributeValue& value)
    {
        try
        {
            object->SetAttribute(name, value);
        }
        catch (const ConfigError& error)
        {
            return error.Problem();
        }
        return "";
    }

    void Change(FabricHelper& fabric)
    {
        const Ptr<FabricWire> wire = fabric.Wires()[0];
        const Ptr<FabricPort> nic = fabric.Nics()[0];
        const Ptr<FabricPort> port = nic->GetPeer();
        const std::string reserved = " bytes were reserved at the beginning";
        const auto refused = [&](const Ptr<Object>& object, const char* name, const auto& value) {
            const std::string problem = Refusal(object, name, value);
            NS_TEST_EXPECT_MSG_NE(problem.find(reserved), std::string::npos, name << problem);
        };
        refused(wire, "Delay", TimeValue(MicroSeconds(50)));
        refused(nic, "DataRate", DataRateValue(DataRate("200Gbps")));
        // Pauses would leave later.
        refused(port, "DataRate", DataRateValue(DataRate("1Gbps")));
        NS_TEST_EXPECT_MSG_EQ(wire->GetDelay(), MicroSeconds(1), "unchanged");
        NS_TEST_EXPECT_MSG_EQ((nic->GetDataRate() == DataRate("100Gbps")), true, "unchanged");
        NS_TEST_EXPECT_MSG_EQ((port->GetDataRate() == DataRate("100Gbps")), true, "unchanged");
        NS_TEST_EXPECT_MSG_EQ(Refusal(wire, "Delay", TimeValue(NanoSeconds(500))), "", "shorter");
        NS_TEST_EXPECT_MSG_EQ(Refusal(nic, "DataRate", DataRateValue(DataRate("50Gbps"))),
                              "",
                              "slower");
    }

    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetLookAhead(m_lookAhead);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
        const Ptr<FabricSwitch> centre =
            BuildStar(fabric, kSenders + 1, "100Gbps", MicroSeconds(1));
        Log log;
        for (uint32_t i = 0; i < kSenders; ++i)
        {
            const auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[4]);
            log.Watch(connection);
            connection->Send(Bytes(2 * kMiB), i);
        }
        fabric.HoldAt(MicroSeconds(30));
        Simulator::Schedule(MicroSeconds(30), [&]() { Change(fabric); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(centre->GetDrops(), 0, "lossless");
        NS_TEST_EXPECT_MSG_EQ(log.delivered.size(), kSenders, "all");
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    bool m_lookAhead;
};

/**
 * Rate and delay count from the moment at which they are set, to the picosecond: packets of 1,048
 * bytes take 83.84 ns at 100 Gb/s and 167.68 ns at 50 Gb/s. A message of 100 packets over one wire
 * of 1 us; at 4 us 47 packets have left (3.94048 us) and the 48th is finished at the old rate at
 * 4.02432 us; 52 more take 8.71936 us; the last one arrives 0.5 us later, for the delay is set too.
 */
class EffectTest : public TestCase
{
  public:
    EffectTest()
        : TestCase("DataRate and Delay take effect at once")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        const Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        const Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        const auto wire = fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1));
        const auto connection = fabric.CreateConnection(a, b);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(100'000), 0);
        Simulator::Schedule(MicroSeconds(4), [&]() {
            a->SetAttribute("DataRate", DataRateValue(DataRate("50Gbps")));
            wire->SetAttribute("Delay", TimeValue(NanoSeconds(500)));
        });
        Simulator::Run();
        const int64_t expected = 4'024'320 + 52 * 167'680 + 500'000;
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(), expected, Rounding(1), "by hand");
        Simulator::Destroy();
    }
};

class HeadroomChangeSuite : public TestSuite
{
  public:
    HeadroomChangeSuite()
        : TestSuite("scaleacross-headroom-change")
    {
        AddTestCase(new BeforeRunTest);
        AddTestCase(new TooSmallTest);
        AddTestCase(new DuringRunTest(false));
        AddTestCase(new DuringRunTest(true));
        AddTestCase(new EffectTest);
    }
};

HeadroomChangeSuite g_headroomChangeSuite;

} // namespace
