// SPDX-License-Identifier: GPL-2.0-only

// Packets that a switch on their way would drop for their length, every time.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/hpcc.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::RdmaOperation;

namespace
{

struct Sizes
{
    uint32_t switches{1};
    uint32_t mtu{4096};
    uint32_t maxPacket{4200}; //!< the defaults
    bool telemetry{false};
    uint64_t bytes{100'000};
    bool writes{true};
    Time sent; //!< when the message is posted
};

struct Outcome
{
    std::string error;
    Time at;
    uint64_t delivered{0};
    uint64_t drops{0};
};

/// A host at either end of a row of switches.
Outcome
Deliver(const Sizes& sizes)
{
    FabricHelper fabric;
    fabric.SetNicAttribute("PathMtu", UintegerValue(sizes.mtu));
    fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(sizes.maxPacket));
    fabric.SetConnectionAttribute("Operation", StringValue(sizes.writes ? "Write" : "Send"));
    if (sizes.telemetry)
    {
        fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(Hpcc::GetTypeId()));
    }
    const Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
    const Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
    for (uint32_t i = 0; i < sizes.switches; ++i)
    {
        fabric.AddSwitch();
        if (i > 0)
        {
            fabric.Connect(fabric.Switches()[i - 1],
                           fabric.Switches()[i],
                           DataRate("100Gbps"),
                           MicroSeconds(1));
        }
    }
    fabric.Connect(a, fabric.Switches().front(), DataRate("100Gbps"), MicroSeconds(1));
    fabric.Connect(b, fabric.Switches().back(), DataRate("100Gbps"), MicroSeconds(1));
    fabric.InstallRoutes();
    Log log;
    const auto connection = fabric.CreateConnection(a, b);
    log.Watch(connection);
    Outcome result;
    try
    {
        if (sizes.sent.IsZero())
        {
            connection->Send(Bytes(sizes.bytes), 0);
        }
        else
        {
            Simulator::Schedule(sizes.sent, [&]() { connection->Send(Bytes(sizes.bytes), 0); });
        }
        Simulator::Run();
    }
    catch (const ConfigError& error)
    {
        result.error = error.what();
    }
    result.at = Simulator::Now();
    result.delivered = log.delivered.size();
    for (const auto& fabricSwitch : fabric.Switches())
    {
        result.drops += fabricSwitch->GetDrops();
    }
    Simulator::Destroy();
    return result;
}

/**
 * Bytes on the wire, by RdmaNic's list: payload + 58 + 24, and 16 on the first packet of a write;
 * with telemetry 2, and 8 from each switch on. So the switch number k sees, of a write with an MTU
 * of 4,096, 4,194 bytes, with telemetry 4,196 + 8 (k - 1); of a send 4,178 or 4,180 + 8 (k - 1).
 * Where MaxPacketSize is one byte less than the last switch sees, the run is refused at time zero;
 * where it is that, everything arrives and nothing is dropped.
 */
class BoundaryTest : public TestCase
{
  public:
    BoundaryTest()
        : TestCase("Sizes that no switch lets pass are refused at time zero, to the byte")
    {
    }

  private:
    void Check(Sizes sizes, uint32_t last)
    {
        sizes.maxPacket = last;
        const Outcome fits = Deliver(sizes);
        NS_TEST_EXPECT_MSG_EQ(fits.error, "", last);
        NS_TEST_EXPECT_MSG_EQ(fits.delivered, 1, last);
        NS_TEST_EXPECT_MSG_EQ(fits.drops, 0, last);
        sizes.maxPacket = last - 1;
        const Outcome refused = Deliver(sizes);
        NS_TEST_EXPECT_MSG_EQ(refused.at.IsZero(), true, "nothing has happened");
        NS_TEST_EXPECT_MSG_NE(refused.error.find("would see " + std::to_string(last)),
                              std::string::npos,
                              refused.error);
    }

    void DoRun() override
    {
        Sizes sizes;
        Check(sizes, 4194);
        sizes.writes = false;
        Check(sizes, 4178);
        sizes = Sizes();
        sizes.telemetry = true;
        Check(sizes, 4196);
        sizes.switches = 3;
        Check(sizes, 4212);
        sizes.writes = false;
        Check(sizes, 4196);
        sizes = Sizes();
        sizes.mtu = 8192;
        Check(sizes, 8290);
    }
};

/// What the defaults cannot carry, in words; and what they can.
class DefaultsTest : public TestCase
{
  public:
    DefaultsTest()
        : TestCase("MTU 8,192 and HPCC over three switches do not fit the defaults")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Deliver({}).error, "", "the defaults themselves");
        Sizes large;
        large.mtu = 8192;
        const std::string mtu = Deliver(large).error;
        for (const char* part : {"RdmaNic::PathMtu 8192",
                                 "packets take 8290 bytes",
                                 "FabricSwitch::MaxPacketSize, 4200 bytes"})
        {
            NS_TEST_EXPECT_MSG_NE(mtu.find(part), std::string::npos, mtu);
        }
        Sizes far;
        far.switches = 3;
        far.telemetry = true;
        const std::string telemetry = Deliver(far).error;
        for (const char* part : {"packets take 4194 bytes and 2 + 1 * 8 of telemetry",
                                 "switch number 2",
                                 "would see 4204"})
        {
            NS_TEST_EXPECT_MSG_NE(telemetry.find(part), std::string::npos, telemetry);
        }
    }
};

/// A full packet in the middle of a message fits, and the first one of a write does not: that is
/// known when the write is posted, in mid-run, and not by a timer half a second later.
class LatePostTest : public TestCase
{
  public:
    LatePostTest()
        : TestCase("A message whose packets are too long is refused when it is posted")
    {
    }

  private:
    void DoRun() override
    {
        Sizes sizes;
        sizes.sent = MicroSeconds(5);
        sizes.maxPacket = 4193;
        const Outcome result = Deliver(sizes);
        NS_TEST_EXPECT_MSG_EQ(result.at, MicroSeconds(5), result.error);
        NS_TEST_EXPECT_MSG_NE(result.error.find("would see 4194"), std::string::npos, result.error);
        sizes.bytes = 4095; // one packet of 4,095 + 98
        const Outcome small = Deliver(sizes);
        NS_TEST_EXPECT_MSG_EQ(small.error, "", "short enough");
        NS_TEST_EXPECT_MSG_EQ(small.delivered, 1, "short enough");
    }
};

class PathSizeSuite : public TestSuite
{
  public:
    PathSizeSuite()
        : TestSuite("scaleacross-path-size")
    {
        AddTestCase(new BoundaryTest);
        AddTestCase(new DefaultsTest);
        AddTestCase(new LatePostTest);
    }
};

PathSizeSuite g_pathSizeSuite;

} // namespace
