// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/double.h"

#include <functional>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::kPriorities;

namespace
{

constexpr int64_t kPacket = 1'048 * 80; //!< ps at 100 Gb/s
constexpr int64_t kDelay = 1'000'000;   //!< ps
constexpr int64_t kCredit = 8 * 80;     //!< ps
constexpr uint64_t kPacketBlocks = 17;  //!< 1,048 / 64, rounded up

/// Packets of 1,000 + 48 bytes, ACKs of 60 (one block), switches with credits.
void
UseCredits(FabricHelper& fabric)
{
    UseHpccSizes(fabric);
    fabric.SetSwitchAttribute("Credits", BooleanValue(true));
}

Ptr<RdmaConnection>
ConnectOn(FabricHelper& fabric, uint32_t from, uint32_t to, uint32_t lane)
{
    fabric.SetQueuePairAttribute("Priority", UintegerValue(lane));
    return fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
}

/// All ports of a fabric.
std::vector<Ptr<FabricPort>>
PortsOf(const FabricHelper& fabric)
{
    std::vector<Ptr<FabricPort>> ports(fabric.Nics().begin(), fabric.Nics().end());
    for (const auto& fabricSwitch : fabric.Switches())
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            ports.push_back(fabricSwitch->GetPort(i));
        }
    }
    return ports;
}

/// Nothing is held at the end, and all room has been granted but what is less than an update.
bool
AllCreditsAreBack(const FabricHelper& fabric, uint64_t update)
{
    bool back = true;
    for (const auto& port : PortsOf(fabric))
    {
        const uint64_t capacity = std::min<uint64_t>(port->GetPeer()->GetBlockCapacity(), 2048);
        for (uint8_t lane = 0; lane < kPriorities; ++lane)
        {
            const uint64_t left = port->GetCreditsLeft(lane);
            back = back && port->GetHeldBlocks(lane) == 0 && left <= capacity &&
                   left + update > capacity;
        }
    }
    return back;
}

/**
 * 63 to 1 with the smallest legal buffers. MaxPacketSize 1,600 is 25 blocks, an update 1,048 bytes,
 * 17 blocks: the least is 25 + 16 = 41 blocks, 2,624 bytes, room for two packets of 17 blocks. A
 * block less is refused.
 *
 * The receiver's buffer is as small: the wire to it carries two packets in a round trip of p + 1 us
 * + a credit + 1 us = 2,084,480 ps. As a packet of each sender waits at the switch meanwhile (a
 * round of 63 packets takes 65 us, a credit to a sender and a packet from it 2.1 us), that is all
 * that limits: 3,150 pairs, the first of which begins when its first packet is at the switch, p + 1
 * us; the last one ends 2 p + 1 us after it has begun. Credits for the receiver's ACKs, one for 17
 * of them, 370 at most, may go in between. (That no credit is ever overdrawn and no buffer ever
 * overfull is checked at every packet, and aborts.)
 */
class IncastTest : public TestCase
{
  public:
    IncastTest()
        : TestCase("63 to 1 with the smallest legal buffers")
    {
    }

  private:
    static constexpr uint32_t kSenders = 63;
    static constexpr int64_t kPackets = 100;

    static Ptr<FabricSwitch> Build(FabricHelper& fabric, uint64_t buffer)
    {
        UseCredits(fabric);
        fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(1600));
        fabric.SetSwitchAttribute("CreditUpdate", UintegerValue(1048));
        fabric.SetSwitchAttribute("VlBuffer", UintegerValue(buffer));
        return BuildStar(fabric, kSenders + 1, "100Gbps", PicoSeconds(kDelay));
    }

    void DoRun() override
    {
        {
            FabricHelper fabric;
            bool refused = false;
            try
            {
                Build(fabric, 40 * 64);
            }
            catch (const ConfigError& error)
            {
                refused = std::string(error.what()).find("VlBuffer") != std::string::npos;
            }
            NS_TEST_ASSERT_MSG_EQ(refused, true, "a block less");
            Simulator::Destroy();
        }
        FabricHelper fabric;
        Ptr<FabricSwitch> centre = Build(fabric, 41 * 64);
        Log log;
        for (uint32_t i = 0; i < kSenders; ++i)
        {
            auto connection = ConnectOn(fabric, i, kSenders, 3);
            log.Watch(connection);
            connection->Send(Bytes(kPackets * 1000), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), kSenders, "all messages");
        NS_TEST_ASSERT_MSG_EQ(BalanceOf(fabric).Dropped(), 0, "no drop");
        const int64_t pairs = kSenders * kPackets / 2;
        const int64_t roundTrip = kPacket + 2 * kDelay + kCredit;
        const int64_t least = kPacket + kDelay + (pairs - 1) * roundTrip + 2 * kPacket + kDelay;
        NS_TEST_ASSERT_MSG_GT_OR_EQ(log.LastDelivery(), least - Rounding(3), "not sooner");
        if (Rounding(1) == 0)
        {
            NS_TEST_ASSERT_MSG_LT_OR_EQ(log.LastDelivery(), least + 370 * kCredit, "without a gap");
        }
        for (uint32_t i = 0; i < kSenders; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(centre->GetPort(i)->GetPeakHeldBlocks(),
                                  2 * kPacketBlocks,
                                  "two packets");
            NS_TEST_ASSERT_MSG_GT(fabric.Nics()[i]->GetStarvedTime(3), Time(0), "had to wait");
        }
        NS_TEST_ASSERT_MSG_EQ(AllCreditsAreBack(fabric, 17), true, "credits");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * Two lanes, one blocked: the receiver takes nothing of lane 3, on which 1 MB is sent from time
 * zero. Every buffer on the way, of (2 us + wait) x 12.5 GB/s + 2 x 4,200 + 8,400 bytes or less
 * than 50 kB, fills with it within 3 x 50 kB x 80 ps/B + 3 us = 15 us. From 50 us on 1 MB is sent
 * on the other lane. Alone that takes 3 us of wires and 1,002 packets; it is to keep 99 %. Once the
 * receiver takes what is there, all of lane 3 comes, without a loss and without a timeout.
 */
class BlockedLaneTest : public TestCase
{
  public:
    explicit BlockedLaneTest(uint32_t lane)
        : TestCase("Lane " + std::to_string(lane) + " goes on while 3 is blocked"),
          m_lane(lane)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseCredits(fabric);
        Ptr<FabricSwitch> near = fabric.AddSwitch();
        Ptr<FabricSwitch> far = fabric.AddSwitch();
        const DataRate rate("100Gbps");
        fabric.Connect(fabric.AddNic(fabric.AddHost()), near, rate, PicoSeconds(kDelay));
        fabric.Connect(near, far, rate, PicoSeconds(kDelay));
        fabric.Connect(fabric.AddNic(fabric.AddHost()), far, rate, PicoSeconds(kDelay));
        fabric.InstallRoutes();
        Ptr<RdmaNic> receiver = fabric.Nics()[1];
        receiver->SetAttribute("StalledLanes", UintegerValue(1U << 3));
        Log blocked;
        Log other;
        auto three = ConnectOn(fabric, 0, 1, 3);
        auto free = ConnectOn(fabric, 0, 1, m_lane);
        blocked.Watch(three);
        other.Watch(free);
        three->Send(Bytes(1'000'000), 3);
        Simulator::Schedule(MicroSeconds(50), [&]() { free->Send(Bytes(1'000'000), 1); });
        uint64_t sent = 0;
        uint64_t held = 0;
        Simulator::Schedule(MicroSeconds(40), [&]() { sent = near->GetPort(1)->GetSentPackets(); });
        Simulator::Schedule(MicroSeconds(50) - PicoSeconds(1), [&]() {
            sent = near->GetPort(1)->GetSentPackets() - sent;
            held = receiver->GetHeldBlocks(3);
        });
        Simulator::Schedule(MicroSeconds(300), [&]() {
            NS_TEST_EXPECT_MSG_EQ(blocked.delivered.size(), 0, "lane 3 is blocked");
            receiver->SetAttribute("StalledLanes", UintegerValue(0));
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(sent, 0, "lane 3 stands still");
        NS_TEST_ASSERT_MSG_EQ(held,
                              receiver->GetBlockCapacity() / kPacketBlocks * kPacketBlocks,
                              "its buffer is full");
        const int64_t alone = 3 * kDelay + 1'002 * kPacket;
        const int64_t taken = other.LastDelivery() - 50'000'000;
        NS_TEST_ASSERT_MSG_GT_OR_EQ(taken, alone - Rounding(3), "not sooner");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(99 * taken, 100 * alone, "99 % of its share");
        NS_TEST_ASSERT_MSG_EQ(blocked.delivered.size(), 1, "lane 3 in the end");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[0]->GetTimeouts(), 0, "no timeout");
        NS_TEST_ASSERT_MSG_EQ(AllCreditsAreBack(fabric, 132), true, "credits");
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    uint32_t m_lane;
};

/**
 * A wire of 1 ms between two switches. With 12 bits of limit, 2,048 blocks are under way at most:
 * 2,048 / 17 packets of 1,000 bytes in 2 ms, 60.24 MB/s of payload. (In whole packets 120, and the
 * round trip is 2 ms, two packets and a credit: 59.995 MB/s.) 25 messages of 120,000 bytes, rate
 * from the first delivery to the last.
 *
 * With as many blocks as the distance wants, in a device that extends the reach, the wire is full:
 * 30,000 packets take p + 1 us to the first switch, follow each other over the long wire, and p + 1
 * us to the receiver; credits for lanes of ACKs go between them, one for 132 or more at each of
 * three ports.
 */
class LongLinkTest : public TestCase
{
  public:
    explicit LongLinkTest(bool extended)
        : TestCase(extended ? "A 1 ms link with buffers by distance is full"
                            : "A 1 ms link with 2,048 blocks runs at credits per round trip"),
          m_extended(extended)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseCredits(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(128 * kMiB));
        fabric.SetSwitchAttribute("VirtualLanes", UintegerValue(1U << 3 | 1U << 6));
        fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(1600));
        if (m_extended)
        {
            fabric.SetSwitchAttribute("MaxCreditBlocks", UintegerValue(1U << 20));
        }
        Ptr<FabricSwitch> near = fabric.AddSwitch();
        Ptr<FabricSwitch> far = fabric.AddSwitch();
        const DataRate rate("100Gbps");
        fabric.Connect(fabric.AddNic(fabric.AddHost()), near, rate, PicoSeconds(kDelay));
        fabric.Connect(near, far, rate, MilliSeconds(1));
        fabric.Connect(fabric.AddNic(fabric.AddHost()), far, rate, PicoSeconds(kDelay));
        fabric.InstallRoutes();
        const uint32_t messages = m_extended ? 250 : 25;
        Log log;
        auto connection = ConnectOn(fabric, 0, 1, 3);
        log.Watch(connection);
        for (uint32_t i = 0; i < messages; ++i)
        {
            connection->Send(Bytes(120'000), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), messages, "all");
        NS_TEST_ASSERT_MSG_EQ(BalanceOf(fabric).Dropped(), 0, "no drop");
        if (m_extended)
        {
            const int64_t packets = 250 * 120;
            const int64_t least = 2 * kDelay + 1'000'000'000 + (packets + 2) * kPacket;
            NS_TEST_ASSERT_MSG_GT_OR_EQ(log.LastDelivery(), least - Rounding(3), "not sooner");
            NS_TEST_ASSERT_MSG_LT_OR_EQ(log.LastDelivery(),
                                        least + 3 * (packets / 132 + 1) * kCredit + Rounding(3000),
                                        "full");
        }
        else
        {
            const double seconds =
                1e-12 * static_cast<double>(log.LastDelivery() - log.delivered.front().time);
            const double measured = (messages - 1) * 120'000.0 / seconds;
            const double limit = 2048.0 / kPacketBlocks * 1000 / 2e-3;
            NS_TEST_ASSERT_MSG_EQ_TOL(measured, limit, 0.01 * limit, "credits/RTT");
        }
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    bool m_extended;
};

/// What the wire loses gives its blocks back: after hundreds of losses both ways none is missing.
class LossTest : public TestCase
{
  public:
    LossTest()
        : TestCase("Losses on the wire cost no credits")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseCredits(fabric);
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(100));
        Ptr<FabricSwitch> centre = fabric.AddSwitch();
        for (uint32_t i = 0; i < 3; ++i)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           centre,
                           DataRate("100Gbps"),
                           PicoSeconds(kDelay),
                           0.01);
        }
        fabric.InstallRoutes();
        fabric.AssignStreams(3);
        Log log;
        for (uint32_t i = 0; i < 2; ++i)
        {
            auto connection = ConnectOn(fabric, i, 2, 3);
            log.Watch(connection);
            connection->Send(Bytes(5'000'000), i);
        }
        Simulator::Run();
        uint64_t lost = 0;
        for (const auto& wire : fabric.Wires())
        {
            lost += wire->GetLost();
        }
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 2, "all");
        NS_TEST_ASSERT_MSG_GT(lost, 200, "1 % of two wires and 10,000 packets, and of ACKs");
        NS_TEST_ASSERT_MSG_EQ(AllCreditsAreBack(fabric, 132), true, "credits");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/// What makes no sense is refused, and says by which attribute.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("What makes no sense is refused by name")
    {
    }

  private:
    /// The message of the ConfigError that setting up and running a star throws; "" if none.
    static std::string Problem(const std::function<void(FabricHelper&)>& set)
    {
        std::string problem;
        FabricHelper fabric;
        UseCredits(fabric);
        try
        {
            set(fabric);
            BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
            ConnectOn(fabric, 0, 1, 3)->Send(Bytes(10'000), 1);
            Simulator::Run();
        }
        catch (const ConfigError& error)
        {
            problem = error.what();
        }
        Simulator::Destroy();
        return problem;
    }

    void Expect(const std::string& name, const std::function<void(FabricHelper&)>& set)
    {
        const std::string problem = Problem(set);
        NS_TEST_EXPECT_MSG_EQ((problem.find(name) != std::string::npos),
                              true,
                              name << " in '" << problem << "'");
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Problem([](FabricHelper&) {}), "", "as it is");
        Expect("BufferSize", [](FabricHelper& fabric) {
            fabric.SetSwitchAttribute("BufferSize", UintegerValue(500'000));
        });
        Expect("MaxCreditBlocks", [](FabricHelper& fabric) {
            fabric.SetSwitchAttribute("MaxCreditBlocks", UintegerValue(100));
        });
        Expect("MaxPacketSize", [](FabricHelper& fabric) {
            fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(1000));
        });
        Expect("WatchdogDetection", [](FabricHelper& fabric) {
            fabric.SetSwitchAttribute("WatchdogDetection", TimeValue(MilliSeconds(1)));
        });
        Expect("virtual lane 3", [](FabricHelper& fabric) {
            fabric.SetSwitchAttribute("VirtualLanes", UintegerValue(1U << 6));
        });
        Expect("virtual lane 6", [](FabricHelper& fabric) {
            fabric.SetSwitchAttribute("VirtualLanes", UintegerValue(1U << 3));
        });
        Expect("unlike", [](FabricHelper& fabric) {
            Ptr<FabricSwitch> with = fabric.AddSwitch();
            fabric.SetSwitchAttribute("Credits", BooleanValue(false));
            Ptr<FabricSwitch> without = fabric.AddSwitch();
            fabric.Connect(with, without, DataRate("100Gbps"), MicroSeconds(1));
        });
    }
};

class CreditsSuite : public TestSuite
{
  public:
    CreditsSuite()
        : TestSuite("scaleacross-credits")
    {
        AddTestCase(new IncastTest);
        AddTestCase(new BlockedLaneTest(5));
        AddTestCase(new BlockedLaneTest(2));
        AddTestCase(new LongLinkTest(false));
        AddTestCase(new LongLinkTest(true));
        AddTestCase(new LossTest);
        AddTestCase(new RefusalTest);
    }
};

CreditsSuite g_creditsSuite;

} // namespace
