// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/fabric-balance.h"
#include "ns3/fabric-multipath.h"
#include "ns3/foreign-source.h"

#include <cmath>
#include <functional>
#include <string>

using namespace ns3;
using namespace fabrictest;
using scaleacross::ConfigError;

namespace
{

Ptr<ForeignSource>
AddSource(Ptr<RdmaNic> from, Ptr<RdmaNic> to, const std::string& rate)
{
    auto source = CreateObject<ForeignSource>();
    source->SetAttribute("Rate", DataRateValue(DataRate(rate)));
    source->SetEnds(from, to);
    from->GetNode()->AddApplication(source);
    return source;
}

/**
 * Packets of 1,500 bytes are 1,538 on the wire: at 50 Gb/s lambda = 50e9 / (8 x 1,538) = 4.0637e6 a
 * second. In 10 ms those offered are Poisson with mean and variance n = 40,637; what the wire of
 * 100 Gb/s, loaded by half, has not room for at once waits, and nothing is refused: all that was
 * offered arrives. Five standard deviations are 1,008.
 */
class RateTest : public TestCase
{
  public:
    RateTest()
        : TestCase("A foreign source offers its rate in the mean, from its start to its stop")
    {
    }

  private:
    /// Packets between 5 and 15 ms with these random streams.
    uint64_t Count(int64_t stream)
    {
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        const Ptr<RdmaNic> to = fabric.Nics()[1];
        const Ptr<ForeignSource> source = AddSource(fabric.Nics()[0], to, "50Gbps");
        NS_TEST_EXPECT_MSG_EQ(source->AssignStreams(stream), 2, "streams");
        source->SetStartTime(MilliSeconds(5));
        source->SetStopTime(MilliSeconds(15));
        uint64_t before = 0;
        Simulator::Schedule(MilliSeconds(5), [&] { before = source->GetOffered(); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(before, 0, "nothing before the start");
        NS_TEST_EXPECT_MSG_EQ(to->GetForeignReceived(), source->GetOffered(), "all arrive");
        NS_TEST_EXPECT_MSG_EQ(fabric.Nics()[0]->GetForeignRefused(), 0, "none is refused");
        NS_TEST_EXPECT_MSG_EQ(CheckConservation(fabric).inFlight, 0, "nothing left");
        // The last one, at 15 ms, and its way: two wires, and a queue that is short at half load.
        NS_TEST_EXPECT_MSG_LT(Simulator::Now(), MicroSeconds(15'010), "it ends with its stop");
        Simulator::Destroy();
        return source->GetOffered();
    }

    void DoRun() override
    {
        const double expected = 50e9 / (8 * 1538) * 10e-3;
        const uint64_t first = Count(10);
        for (const uint64_t count : {first, Count(20), Count(30)})
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(count),
                                      expected,
                                      5 * std::sqrt(expected),
                                      "packets in 10 ms");
        }
        NS_TEST_EXPECT_MSG_EQ(Count(10), first, "same streams, same packets");
        NS_TEST_EXPECT_MSG_NE(Count(20), first, "other streams, others");
    }
};

/// Twice the wire's rate: half of it is refused once the queue of 1 MiB is full.
class OverloadTest : public TestCase
{
  public:
    OverloadTest()
        : TestCase("What a NIC has no room for is refused and counted")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        const Ptr<RdmaNic> from = fabric.Nics()[0];
        const Ptr<ForeignSource> source = AddSource(from, fabric.Nics()[1], "200Gbps");
        source->AssignStreams(1);
        source->SetStopTime(MilliSeconds(10));
        Simulator::Run();
        // 10 ms and what waits at their end, 1 MiB or 84 us, at one packet every 123.04 ns.
        const double carried = (10e-3 + (1 << 20) * 8 / 100e9) / 123.04e-9;
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(from->GetForeignSent()),
                                  carried,
                                  0.001 * carried,
                                  "the wire is full");
        NS_TEST_EXPECT_MSG_EQ(from->GetForeignSent() + from->GetForeignRefused(),
                              source->GetOffered(),
                              "sent or refused");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * Between two switches joined by four wires ECMP hashes ports that are random: each wire has a
 * quarter of n packets, with a deviation of sqrt(3 n) / 4.
 */
class SpreadTest : public TestCase
{
  public:
    SpreadTest()
        : TestCase("A foreign source spreads over all wires of equal cost")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseMultipath(fabric, "e-ecmp");
        const Ptr<FabricSwitch> near = fabric.AddSwitch();
        const Ptr<FabricSwitch> far = fabric.AddSwitch();
        const Ptr<RdmaNic> from = fabric.AddNic(fabric.AddHost());
        const Ptr<RdmaNic> to = fabric.AddNic(fabric.AddHost());
        fabric.Connect(from, near, DataRate("400Gbps"), MicroSeconds(1));
        fabric.Connect(to, far, DataRate("400Gbps"), MicroSeconds(1));
        std::vector<Ptr<FabricWire>> wires;
        for (int i = 0; i < 4; i++)
        {
            wires.push_back(fabric.Connect(near, far, DataRate("100Gbps"), MicroSeconds(1)));
        }
        fabric.InstallRoutes();
        const Ptr<ForeignSource> source = AddSource(from, to, "200Gbps");
        source->AssignStreams(1);
        source->SetStopTime(MilliSeconds(2));
        Simulator::Run();
        const auto sent = static_cast<double>(from->GetForeignSent());
        for (const Ptr<FabricWire>& wire : wires)
        {
            const auto port = DynamicCast<FabricPort>(wire->GetDevice(0));
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(port->GetSentBytes()) / 1538,
                                      sent / 4,
                                      5 * std::sqrt(3 * sent) / 4,
                                      "packets of one wire");
        }
        Simulator::Destroy();
    }
};

class WrongSourceTest : public TestCase
{
  public:
    WrongSourceTest()
        : TestCase("Foreign sources that cannot send are refused, those stopped early are still")
    {
    }

  private:
    void Refuses(const std::string& where, const std::function<void(ForeignSource&)>& spoil)
    {
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        const Ptr<ForeignSource> source = AddSource(fabric.Nics()[0], fabric.Nics()[1], "1Gbps");
        spoil(*source);
        source->SetStopTime(MicroSeconds(50));
        std::string found = "nothing";
        try
        {
            Simulator::Run();
        }
        catch (const ConfigError& error)
        {
            found = error.Where();
        }
        NS_TEST_EXPECT_MSG_EQ(found, where, "what is refused");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Refuses("ForeignSource", [](ForeignSource& source) { source.SetEnds(nullptr, nullptr); });
        Refuses("ns3::ForeignSource::Rate", [](ForeignSource& source) {
            source.SetAttribute("Rate", DataRateValue(DataRate(0)));
        });
        Refuses("ns3::ForeignSource::PacketSize", [](ForeignSource& source) {
            source.SetAttribute("PacketSize", UintegerValue(1501));
        });
        Refuses("nothing", [](ForeignSource& source) {
            source.SetStartTime(MicroSeconds(60)); // after its stop
        });
        Refuses("nothing", [](ForeignSource& source) { source.Dispose(); });
    }
};

class ForeignSourceSuite : public TestSuite
{
  public:
    ForeignSourceSuite()
        : TestSuite("scaleacross-foreign-source")
    {
        AddTestCase(new RateTest);
        AddTestCase(new OverloadTest);
        AddTestCase(new SpreadTest);
        AddTestCase(new WrongSourceTest);
    }
};

ForeignSourceSuite g_foreignSourceSuite;

} // namespace
