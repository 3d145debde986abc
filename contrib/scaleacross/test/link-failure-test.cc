// SPDX-License-Identifier: GPL-2.0-only

// Wires that break and come back: what is lost, what waits, what pauses become of, and when a
// sender gives up.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;

namespace
{

uint64_t
LinkDownDrops(const FabricHelper& fabric)
{
    return BalanceOf(fabric).dropped[static_cast<size_t>(DropReason::LinkDown)];
}

/// Two NICs back to back at 100 Gb/s over 1 us: a packet of 1,000 bytes takes 83.84 ns.
Ptr<FabricWire>
BuildPair(FabricHelper& fabric)
{
    UseHpccSizes(fabric);
    auto wire = fabric.ConnectPorts(fabric.AddNic(fabric.AddHost()),
                                    fabric.AddNic(fabric.AddHost()),
                                    DataRate("100Gbps"),
                                    MicroSeconds(1));
    fabric.InstallRoutes();
    return wire;
}

/// Nothing is held, stopped or out any more.
bool
IsClean(const FabricHelper& fabric)
{
    bool clean = BalanceOf(fabric).Holds() && BalanceOf(fabric).inFlight == 0;
    for (const auto& fabricSwitch : fabric.Switches())
    {
        clean = clean && fabricSwitch->GetOccupancy() == 0;
        for (uint32_t port = 0; port < fabricSwitch->GetNPorts(); ++port)
        {
            for (uint8_t priority = 0; priority < scaleacross::kPriorities; ++priority)
            {
                clean = clean && !fabricSwitch->IsPausing(port, priority) &&
                        fabricSwitch->GetHeld(port, priority) == 0 &&
                        !fabricSwitch->GetPort(port)->IsPaused(priority);
            }
        }
    }
    for (const auto& nic : fabric.Nics())
    {
        for (uint8_t priority = 0; priority < scaleacross::kPriorities; ++priority)
        {
            clean = clean && !nic->IsPaused(priority);
        }
    }
    return clean;
}

/// The last bit of one packet is there 1,083.84 ns after it was posted: what breaks the wire then
/// comes too late, and a picosecond before it does not.
class LastBitTest : public TestCase
{
  public:
    LastBitTest()
        : TestCase("A packet is lost until its last bit is there")
    {
    }

  private:
    void DoRun() override
    {
        for (int64_t early : {0, 1})
        {
            FabricHelper fabric;
            auto wire = BuildPair(fabric);
            Log log;
            auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
            log.Watch(connection);
            connection->Send(Bytes(1000), 7);
            // Where the Simulator counts nanoseconds the packet is there at 1,084 ns.
            const int64_t tick = Rounding(1) == 0 ? 1 : 1000;
            const int64_t there = (1'083'840 + tick - 1) / tick * tick;
            Simulator::Schedule(PicoSeconds(there - early * tick), [=]() { wire->SetUp(false); });
            Simulator::Schedule(MicroSeconds(3), [=]() { wire->SetUp(true); });
            Simulator::Stop(MicroSeconds(50)); // before the first timeout
            Simulator::Run();
            // Delivered, with the ACK lost before it left; or the packet is lost.
            NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(log.delivered.size()),
                                  1 - early,
                                  early << " ps early");
            NS_TEST_EXPECT_MSG_EQ(wire->GetCut(), 1, "the ACK or the packet");
            NS_TEST_EXPECT_MSG_EQ(BalanceOf(fabric).Holds(), true, BalanceOf(fabric).Text());
            Simulator::Destroy();
        }
    }
};

/**
 * Ten packets, the wire breaks at 500 ns: packets 0 to 5 have started (5 x 83.84 = 419.2, 6 x 83.84
 * = 503.04), the last of them is being sent, none is there. It is back at 10 us: packets 6 to 9
 * leave at once, the first is there at 10,000 + 83.84 + 1,000 ns and asks for PSN 0 by a NAK of 60
 * bytes (4.8 ns), which is back at 12,088.64 ns. All ten are repeated: the last is there
 * 10 x 83.84 + 1,000 ns later, at 13,927.04 ns.
 */
class FlapTest : public TestCase
{
  public:
    FlapTest()
        : TestCase("What was on the wire is repeated when it is back")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        auto wire = BuildPair(fabric);
        Log log;
        std::vector<bool> told;
        wire->TraceConnectWithoutContext("Up", Callback<void, bool>([&told](bool up) {
                                             told.push_back(up);
                                         }));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        log.Watch(connection);
        connection->Send(Bytes(10'000), 7);
        Simulator::Schedule(NanoSeconds(500), [=]() { wire->SetUp(false); });
        Simulator::Schedule(NanoSeconds(600), [&]() {
            NS_TEST_EXPECT_MSG_EQ(wire->GetCut(), 6, "started and not there");
            NS_TEST_EXPECT_MSG_EQ(fabric.Nics()[0]->GetSentPackets(), 6, "none starts");
            NS_TEST_EXPECT_MSG_EQ(fabric.Nics()[0]->IsLinkUp(), false, "as a NetDevice");
            NS_TEST_EXPECT_MSG_EQ(BalanceOf(fabric).Holds(), true, BalanceOf(fabric).Text());
        });
        Simulator::Schedule(MicroSeconds(10), [=]() { wire->SetUp(true); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 1, "the message");
        NS_TEST_EXPECT_MSG_EQ_TOL(log.delivered[0].time, 13'927'040, Rounding(4), "when");
        NS_TEST_EXPECT_MSG_EQ(LinkDownDrops(fabric), 6, "lost by the break");
        NS_TEST_EXPECT_MSG_EQ(fabric.Nics()[0]->GetTimeouts(), 0, "the NAK was faster");
        NS_TEST_EXPECT_MSG_EQ((told == std::vector<bool>{false, true}), true, "the wire's trace");
        NS_TEST_EXPECT_MSG_EQ(IsClean(fabric), true, BalanceOf(fabric).Text());
        Simulator::Destroy();
    }
};

/**
 * Half the rate from 400 ns on: the packet that is being sent (the fifth, from 335.36 to 419.2 ns)
 * is finished at the old rate, the other five take 167.68 ns each: the last leaves at 1,257.6 ns
 * and is there at 2,257.6 ns.
 */
class DegradationTest : public TestCase
{
  public:
    DegradationTest()
        : TestCase("A slower wire finishes the packet being sent at its old rate")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        auto wire = BuildPair(fabric);
        Log log;
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        log.Watch(connection);
        connection->Send(Bytes(10'000), 7);
        Simulator::Schedule(NanoSeconds(400), [=]() { wire->SetDataRate(DataRate("50Gbps")); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 1, "the message");
        NS_TEST_EXPECT_MSG_EQ_TOL(log.delivered[0].time, 2'257'600, Rounding(2), "when");
        Simulator::Destroy();
    }
};

/**
 * A wire that stays down. The timer of what waits runs, so that the sender gives up by name after
 * RetryCount + 1 timeouts: from the post on if the wire was down already (5 us), from when the
 * packet left if it was lost (0). Timeout 4: 4.096 us x 16 = 65.536 us; RetryCount 2: 196.608 us.
 */
class RetryLimitTest : public TestCase
{
  public:
    explicit RetryLimitTest(bool downBefore)
        : TestCase(downBefore ? "A message posted to a dead wire fails by name"
                              : "A message on a wire that dies fails by name"),
          m_downBefore(downBefore)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(4));
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(2));
        auto wire = BuildPair(fabric);
        Log log;
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        log.Watch(connection);
        const Time posted = MicroSeconds(m_downBefore ? 5 : 0);
        Simulator::Schedule(posted, [=]() { connection->Send(Bytes(1000), 7); });
        Simulator::Schedule(NanoSeconds(500), [=]() { wire->SetUp(false); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.failures.size(), 1, "it gives up once");
        NS_TEST_EXPECT_MSG_EQ(log.failures[0].find("retry limit"), 0, log.failures[0]);
        NS_TEST_EXPECT_MSG_EQ_TOL(log.failedAt[0],
                                  posted.GetPicoSeconds() + 3 * 65'536'000,
                                  Rounding(1),
                                  "when");
        NS_TEST_EXPECT_MSG_EQ(IsClean(fabric), true, BalanceOf(fabric).Text());
        Simulator::Destroy();
    }

    bool m_downBefore;
};

/// Two senders and one receiver on a switch, all at 100 Gb/s over 1 us; the receiver's wire is down
/// from 20 us to 60 us. What waits for it is dropped, or waits and pauses the senders.
class DeadPortTest : public TestCase
{
  public:
    explicit DeadPortTest(bool keep)
        : TestCase(keep ? "A dead port keeps what waits" : "A dead port drops what waits"),
          m_keep(keep)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
        fabric.SetSwitchAttribute("KeepAtDownPort", BooleanValue(m_keep));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(5)); // 131 us
        auto centre = BuildStar(fabric, 3, "100Gbps", MicroSeconds(1));
        auto wire = fabric.Wires()[2];
        Log log;
        for (uint32_t i = 0; i < 2; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[2]);
            log.Watch(connection);
            connection->Send(Bytes(1'000'000), i);
        }
        Simulator::Schedule(MicroSeconds(20), [&]() {
            // Two come and one leaves: since 2.08 us (the first packet is there 1,083.84 ns after
            // it began, and the queue grows by 12.5 bytes a nanosecond from then on).
            const uint64_t queued = centre->GetPort(2)->GetQueueBytes();
            NS_TEST_EXPECT_MSG_GT(queued, 100'000, "there is a queue");
            wire->SetUp(false);
            NS_TEST_EXPECT_MSG_EQ(centre->GetPort(2)->GetQueueBytes(),
                                  (m_keep ? queued : 0),
                                  "then");
            NS_TEST_EXPECT_MSG_EQ(centre->GetOccupancy(),
                                  centre->GetPort(2)->GetQueueBytes(),
                                  "the packet that was being sent is held no longer");
        });
        Simulator::Schedule(MicroSeconds(59), [&]() {
            const uint64_t drops = centre->GetDrops(DropReason::LinkDown);
            NS_TEST_EXPECT_MSG_EQ((drops > 0), !m_keep, "dropped at the switch: " << drops);
            NS_TEST_EXPECT_MSG_EQ((centre->GetPauses() > 0), true, "the queue was long before");
            NS_TEST_EXPECT_MSG_EQ(fabric.Nics()[0]->IsPaused(3), m_keep, "senders are stopped");
            NS_TEST_EXPECT_MSG_EQ(BalanceOf(fabric).Holds(), true, BalanceOf(fabric).Text());
        });
        Simulator::Schedule(MicroSeconds(60), [=]() { wire->SetUp(true); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(log.completed.size(), 2, "both messages in the end");
        NS_TEST_EXPECT_MSG_EQ(IsClean(fabric), true, BalanceOf(fabric).Text());
        Simulator::Destroy();
    }

    bool m_keep;
};

/**
 * A sender whose wire flaps while the switch has stopped it. The pause is void: the sender goes on
 * when the wire is back, the switch does not take it to be stopped, and asks again if need be. The
 * others are stopped and resumed as ever; nothing is left held.
 */
class VoidPauseTest : public TestCase
{
  public:
    VoidPauseTest()
        : TestCase("A flap voids the pauses of both ends")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(5));
        auto centre = BuildStar(fabric, 5, "100Gbps", MicroSeconds(1));
        Log log;
        for (uint32_t i = 0; i < 4; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[4]);
            log.Watch(connection);
            connection->Send(Bytes(1'000'000), i);
        }
        // When the switch has stopped the first sender and that knows: in 2 us, over 1 us of wire.
        bool flapped = false;
        auto nic = fabric.Nics()[0];
        auto wire = fabric.Wires()[0];
        auto look = [&]() {
            if (flapped || !nic->IsPaused(3) || !centre->IsPausing(0, 3))
            {
                return;
            }
            flapped = true;
            const uint64_t held = centre->GetHeld(0, 3);
            wire->SetUp(false);
            NS_TEST_EXPECT_MSG_EQ(nic->IsPaused(3), false, "the sender is not stopped");
            NS_TEST_EXPECT_MSG_EQ(centre->IsPausing(0, 3), false, "by nobody");
            NS_TEST_EXPECT_MSG_EQ(centre->GetHeld(0, 3), held, "what has come in is still there");
            wire->SetUp(true);
        };
        for (uint32_t us = 5; us < 200; ++us)
        {
            Simulator::Schedule(MicroSeconds(us) + NanoSeconds(1), look);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(flapped, true, "there was a pause");
        NS_TEST_EXPECT_MSG_EQ(log.completed.size(), 4, "all messages");
        NS_TEST_EXPECT_MSG_EQ(IsClean(fabric), true, BalanceOf(fabric).Text());
        Simulator::Destroy();
    }
};

/// What cannot be right is refused, and says what to do.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("Changes that come at the wrong time are refused")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        auto wire = BuildPair(fabric);
        std::string problem;
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        connection->SetDeliveryCallback(RdmaMessageCallback([&](Bytes, uint64_t) {
            try
            {
                wire->SetUp(false); // the receiver is about to answer
            }
            catch (const scaleacross::ConfigError& error)
            {
                problem = error.Remedy();
            }
        }));
        connection->Send(Bytes(1000), 1);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(problem, "call Simulator::ScheduleNow with it", "in the middle");
        NS_TEST_EXPECT_MSG_EQ(wire->IsUp(), true, "it has not been done");
        Simulator::Destroy();

        FabricHelper star;
        BuildStar(star, 2, "100Gbps", MicroSeconds(1));
        problem.clear();
        Simulator::Schedule(MicroSeconds(1), [&]() {
            try
            {
                star.Wires()[0]->SetDataRate(DataRate("200Gbps"));
            }
            catch (const scaleacross::ConfigError& error)
            {
                problem = error.Remedy();
            }
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(problem,
                              "begin with the highest rate and the longest delay",
                              "headroom was for less");
        for (uint32_t i = 0; i < 2; ++i)
        {
            const auto port = DynamicCast<FabricPort>(star.Wires()[0]->GetDevice(i));
            NS_TEST_EXPECT_MSG_EQ(port->GetDataRate(), DataRate("100Gbps"), "it has not been done");
        }
        Simulator::Destroy();
    }
};

class LinkFailureSuite : public TestSuite
{
  public:
    LinkFailureSuite()
        : TestSuite("scaleacross-link-failure")
    {
        AddTestCase(new LastBitTest);
        AddTestCase(new FlapTest);
        AddTestCase(new DegradationTest);
        AddTestCase(new RetryLimitTest(true));
        AddTestCase(new RetryLimitTest(false));
        AddTestCase(new DeadPortTest(true));
        AddTestCase(new DeadPortTest(false));
        AddTestCase(new VoidPauseTest);
        AddTestCase(new RefusalTest);
    }
};

LinkFailureSuite g_linkFailureSuite;

} // namespace
