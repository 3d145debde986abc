// SPDX-License-Identifier: GPL-2.0-only

// How a fabric gets over failures: when what is lost, when traffic goes on, and what is left.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/adaptive-spray-selector.h"
#include "ns3/boolean.h"
#include "ns3/fabric-events.h"
#include "ns3/round-robin-spray-selector.h"
#include "ns3/string.h"
#include "ns3/weighted-selector.h"

#include <cmath>
#include <ctime>
#include <tuple>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;
using scaleacross::FabricPacket;

namespace
{

/// Two leaves with `hosts` hosts each, two spines, all wires alike. Wires: those of the hosts, then
/// leaf 0 and leaf 1 to spine 0, then to spine 1.
struct TwoByTwo
{
    TwoByTwo(FabricHelper& fabric, uint32_t hosts)
    {
        UseHpccSizes(fabric);
        const DataRate rate("100Gbps");
        for (uint32_t i = 0; i < 2; ++i)
        {
            leaf.push_back(fabric.AddSwitch());
            for (uint32_t j = 0; j < hosts; ++j)
            {
                fabric.Connect(fabric.AddNic(fabric.AddHost()), leaf[i], rate, MicroSeconds(1));
            }
        }
        for (uint32_t i = 0; i < 2; ++i)
        {
            spine.push_back(fabric.AddSwitch());
            for (uint32_t j = 0; j < 2; ++j)
            {
                up[j].push_back(fabric.Connect(leaf[j], spine[i], rate, MicroSeconds(1)));
            }
        }
        fabric.InstallRoutes();
    }

    std::vector<Ptr<FabricSwitch>> leaf;
    std::vector<Ptr<FabricSwitch>> spine;
    std::vector<Ptr<FabricWire>> up[2]; //!< of leaf 0 and of leaf 1, by spine
};

Ptr<FabricEvents>
MakeEvents(FabricHelper& fabric, Time detection, Time convergence)
{
    auto events = CreateObject<FabricEvents>();
    events->SetAttribute("DetectionDelay", TimeValue(detection));
    events->SetAttribute("ConvergenceDelay", TimeValue(convergence));
    events->SetFabric(fabric);
    return events;
}

/// Times (ps), until 250 us, at which data packets come in by a NIC.
void
WatchArrivals(Ptr<RdmaNic> nic, std::vector<int64_t>& times)
{
    nic->TraceConnectWithoutContext(
        "Receive",
        Callback<void, const FabricPacket&>([&times](const FabricPacket& packet) {
            // Later on, a NAK that was lost on the way back may cost a timeout.
            if (packet.kind == scaleacross::PacketKind::Data &&
                Simulator::Now() < MicroSeconds(250))
            {
                times.push_back(Simulator::Now().GetPicoSeconds());
            }
        }));
}

int64_t
LongestGap(const std::vector<int64_t>& times)
{
    int64_t gap = 0;
    for (size_t i = 1; i < times.size(); ++i)
    {
        gap = std::max(gap, times[i] - times[i - 1]);
    }
    return gap;
}

/**
 * One flow at 100 Gb/s from a host of leaf 0 to one of leaf 1, packets of 83.84 ns; the wire over
 * which it goes breaks at t = 100 us. DetectionDelay 10 us, ConvergenceDelay 50 us.
 *
 * Packet k (from 0) is at leaf 0 at 1,083.84 + 83.84 k ns, at the spine 1,083.84 ns later, at leaf
 * 1 1,083.84 ns after that, and at the receiver another 1,083.84 ns later.
 *
 * The wire between spine and leaf 1: packets that are at leaf 1 by t get through, the last one is
 * k1 = floor((100,000 - 3,251.52) / 83.84) = 1,153. Nobody before the spine knows another way until
 * all tables are new at T = t + 60 us; the first packet to come to leaf 0 after that is
 * k2 = floor((160,000 - 1,083.84) / 83.84) + 1 = 1,896. Nothing comes in for (k2 - k1) x 83.84 ns =
 * 62,293.12 ns.
 *
 * The wire between leaf 0 and the spine: packets that are at the spine by t get through, k1 =
 * floor((100,000 - 2,167.68) / 83.84) = 1,166. Leaf 0 knows another way at T = t + 10 us: k2 =
 * floor((110,000 - 1,083.84) / 83.84) + 1 = 1,300, a gap of 134 x 83.84 = 11,234.56 ns. Leaf 0 had
 * got 1,179 = floor((100,000 - 1,083.84) / 83.84) by t: the packets 1,167 to 1,179, 13 of them,
 * were on the wire. Those from 1,180 to 1,299 come to the dead port, 120 packets: they are dropped,
 * or with KeepAtDownPort wait and take the other way at T: 13 is all that is lost then, and the gap
 * is that to the first of them, which leaves leaf 0 at T = 110,000 ns and arrives 3 x 1,083.84 ns
 * later, less the arrival of k1, 4 x 1,083.84 + 83.84 x 1,166 ns: 11,158.72 ns.
 *
 * All of these are DetectionDelay (+ ConvergenceDelay) and less than a round trip (8 us) more.
 */
class RecoveryTest : public TestCase
{
  public:
    RecoveryTest(const std::string& name, bool remote, bool keep, int64_t gap)
        : TestCase(name),
          m_remote(remote),
          m_keep(keep),
          m_gap(gap)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("KeepAtDownPort", BooleanValue(m_keep));
        TwoByTwo net(fabric, 1);
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        Log log;
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        log.Watch(connection);
        connection->Send(Bytes(4'000'000), 1); // 4,000 packets, 335 us
        std::vector<int64_t> times;
        WatchArrivals(fabric.Nics()[1], times);
        Ptr<FabricWire> wire;
        Simulator::Schedule(MicroSeconds(50), [&]() {
            const uint32_t used = net.leaf[0]->GetPort(1)->GetSentPackets() > 100 ? 0 : 1;
            wire = net.up[m_remote ? 1 : 0][used];
            events->Fail(FabricEvents::LinkTarget(wire), MicroSeconds(100));
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(log.completed.size(), 1, "the flow completes");
        NS_TEST_EXPECT_MSG_EQ_TOL(LongestGap(times), m_gap, Rounding(8), "nothing comes in");
        const FabricBalance balance = CheckConservation(fabric);
        NS_TEST_EXPECT_MSG_EQ(balance.inFlight, 0, balance.Text());
        if (!m_remote)
        {
            const uint64_t drops = net.leaf[0]->GetDrops(DropReason::LinkDown);
            NS_TEST_EXPECT_MSG_EQ(wire->GetLane(0).Cut(), 13, "on the wire towards the spine");
            NS_TEST_EXPECT_MSG_EQ(drops, (m_keep ? 0 : 120), "at the dead port");
            NS_TEST_EXPECT_MSG_EQ(net.leaf[0]->GetRerouted(),
                                  (m_keep ? 120 : 0),
                                  "given another way");
        }
        Simulator::Destroy();
    }

    bool m_remote;
    bool m_keep;
    int64_t m_gap;
};

/**
 * A port whose wire is down is the emptiest of all until its switch knows: a black hole for a
 * selector that goes by queues. Uplinks of 25 Gb/s, 335.36 ns a packet, and a host that sends one
 * every 83.84 ns to leaf 0, the first at 1,083.84 ns: each goes to the shorter queue, in turn.
 *
 * The wire breaks at t = 100 us: 1,180 packets have come by then (0 to 1,179, see RecoveryTest),
 * 590 to the port, and floor((100,000 - 1,083.84) / 335.36) + 1 = 295 of them have begun to leave
 * (floor((100,000 - 1,167.68) / 335.36) + 1 = 295 too if it got the second one): 295 wait, and are
 * dropped. Until t + 10 us 120 come, which all find this queue empty and 295 packets, 99 us, at the
 * other port: all are dropped there. From then on none is.
 */
class BlackHoleTest : public TestCase
{
  public:
    BlackHoleTest()
        : TestCase("Adaptive spraying does not know of a break before its switch does")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("PathSelector", TypeIdValue(AdaptiveSpraySelector::GetTypeId()));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
        fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(1 << 20));
        std::vector<Ptr<FabricSwitch>> leaf;
        for (uint32_t i = 0; i < 2; ++i)
        {
            leaf.push_back(fabric.AddSwitch());
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           leaf[i],
                           DataRate("100Gbps"),
                           MicroSeconds(1));
        }
        std::vector<Ptr<FabricWire>> uplinks;
        for (uint32_t i = 0; i < 2; ++i)
        {
            auto spine = fabric.AddSwitch();
            uplinks.push_back(fabric.Connect(leaf[0], spine, DataRate("25Gbps"), MicroSeconds(1)));
            fabric.Connect(leaf[1], spine, DataRate("25Gbps"), MicroSeconds(1));
        }
        fabric.InstallRoutes();
        fabric.AssignStreams(1);
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        events->Fail(FabricEvents::LinkTarget(uplinks[0]), MicroSeconds(100));
        Log log;
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        log.Watch(connection);
        connection->Send(Bytes(4'000'000), 1);
        uint64_t atOnce = 0;
        Simulator::Schedule(MicroSeconds(100) + NanoSeconds(1),
                            [&]() { atOnce = leaf[0]->GetDrops(DropReason::LinkDown); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(atOnce, 295, "what waited");
        NS_TEST_EXPECT_MSG_EQ(leaf[0]->GetDrops(DropReason::LinkDown), 295 + 120, "and what came");
        NS_TEST_EXPECT_MSG_EQ(log.completed.size(), 1, "the flow completes");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * Events that overlap, of one wire at 100 Gb/s; DetectionDelay 10 us, ConvergenceDelay 50 us. Times
 * in us.
 *
 * Down from 100 to 300 and from 200 to 400: down from 100 to 400, noticed at 110 and 410, and at no
 * other time, as nothing changes at 200 and 300.
 *
 * Down for 20 of every 25, three times from 500 on: 500 to 520, 525 to 545, 550 to 570. The first
 * break is noticed at 510. Back for 5 us at 520 and 545, which is too short; the breaks at 525 and
 * 550 are over before anybody takes the wire to be up. Up again for good at 570, noticed at 580.
 *
 * Half the rate from 700 to 900 and 0.4 of it from 800 to 1,000: 50, 20 and 40 Gb/s, and a break
 * from 820 to 840 makes no difference to that.
 */
class OverlapTest : public TestCase
{
  public:
    OverlapTest()
        : TestCase("Events that overlap")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        TwoByTwo net(fabric, 1);
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        std::vector<int64_t> detected;
        using Step = FabricEvents::Step;
        events->TraceConnectWithoutContext(
            "Step",
            Callback<void, Step, const std::string&>([&detected](Step step, const std::string&) {
                if (step == Step::Detect)
                {
                    detected.push_back(Simulator::Now().GetMicroSeconds());
                }
            }));
        const Ptr<FabricWire> wire = net.up[0][0];
        const FabricTarget target = FabricEvents::LinkTarget(wire);
        events->Fail(target, MicroSeconds(100), MicroSeconds(300));
        events->Fail(target, MicroSeconds(200), MicroSeconds(400));
        events->Flap(target, MicroSeconds(500), MicroSeconds(20), MicroSeconds(25), 3);
        events->Degrade(target, 0.5, MicroSeconds(700), MicroSeconds(900));
        events->Degrade(target, 0.4, MicroSeconds(800), MicroSeconds(1000));
        events->Fail(target, MicroSeconds(820), MicroSeconds(840));
        const std::vector<std::pair<int64_t, bool>> states = {{99, true},
                                                              {101, false},
                                                              {301, false},
                                                              {401, true},
                                                              {519, false},
                                                              {521, true},
                                                              {526, false},
                                                              {546, true},
                                                              {569, false},
                                                              {571, true},
                                                              {819, true},
                                                              {821, false},
                                                              {841, true}};
        for (const auto& [us, up] : states)
        {
            Simulator::Schedule(MicroSeconds(us), [this, wire, us = us, up = up]() {
                NS_TEST_EXPECT_MSG_EQ(wire->IsUp(), up, us << " us");
            });
        }
        const std::vector<std::pair<int64_t, uint64_t>> rates =
            {{699, 100}, {750, 50}, {819, 20}, {841, 20}, {850, 20}, {950, 40}, {1001, 100}};
        for (const auto& [us, gigabits] : rates)
        {
            Simulator::Schedule(MicroSeconds(us), [this, &net, us = us, rate = gigabits]() {
                // Port 0 of the leaf is its host's, port 1 leads to spine 0.
                const auto port = net.leaf[0]->GetPort(1);
                NS_TEST_EXPECT_MSG_EQ(port->GetDataRate().GetBitRate(),
                                      rate * 1'000'000'000,
                                      us << " us");
                NS_TEST_EXPECT_MSG_EQ(port->GetPeer()->GetDataRate().GetBitRate(),
                                      rate * 1'000'000'000,
                                      us << " us, the other end");
            });
        }
        Simulator::Run();
        const std::vector<int64_t> expected = {110, 410, 510, 580, 830, 850};
        NS_TEST_EXPECT_MSG_EQ((detected == expected), true, "what was noticed, and when");
        Simulator::Destroy();
    }
};

/**
 * What is announced for now is done now, whether the event that announces it comes before or after
 * what else happens at this time. A packet of 83.84 ns is at the switch after 1,083.84 ns; the wire
 * it is to leave by breaks then, after it has come: it is dropped there.
 */
class AtOnceTest : public TestCase
{
  public:
    AtOnceTest()
        : TestCase("A failure may be announced for now, at any moment of now")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool late : {false, true})
        {
            FabricHelper fabric;
            UseHpccSizes(fabric);
            auto centre = BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
            auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
            fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1])->Send(Bytes(1000), 7);
            const int64_t tick = Rounding(1) == 0 ? 1 : 1000;
            const Time there = PicoSeconds((1'083'840 + tick - 1) / tick * tick);
            std::string problem;
            const auto fail = [&]() {
                NS_TEST_EXPECT_MSG_EQ(centre->GetQueuedPackets() +
                                          centre->GetPort(1)->GetSentPackets(),
                                      (late ? 1 : 0),
                                      "the packet has come");
                try
                {
                    events->Fail(FabricEvents::LinkTarget(fabric.Wires()[1]), Simulator::Now());
                }
                catch (const scaleacross::ConfigError& error)
                {
                    problem = error.what();
                }
            };
            // Scheduled now, it comes before the arrival; scheduled then, after it.
            Simulator::Schedule(there, [&]() {
                if (late)
                {
                    Simulator::ScheduleNow(fail);
                }
                else
                {
                    fail();
                }
            });
            Simulator::Stop(MicroSeconds(5));
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(problem, "", (late ? "after it" : "before it"));
            NS_TEST_EXPECT_MSG_EQ(fabric.Wires()[1]->GetCut(), 1, "it had just begun to leave");
            NS_TEST_EXPECT_MSG_EQ(BalanceOf(fabric).Holds(), true, BalanceOf(fabric).Text());
            Simulator::Destroy();
        }
    }
};

/**
 * Tables are computed on the rates that are known, as they are on which wires are: a wire of leaf 0
 * slows down to 25 Gb/s at 100 us, and one of leaf 2 breaks at 95 us. With DetectionDelay 10 us and
 * ConvergenceDelay 50 us the tables of 155 us do not know of the slow wire, as nobody had noticed
 * by 105 us; those of 160 us do: leaf 0's ways to leaf 1 have equal weights, then 1 and 4.
 */
class KnownRateTest : public TestCase
{
  public:
    KnownRateTest()
        : TestCase("Weights follow the rates that have been noticed")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("PathSelector", TypeIdValue(WeightedSelector::GetTypeId()));
        fabric.SetRouteWeights(scaleacross::RouteWeights::Capacity);
        const DataRate rate("100Gbps");
        std::vector<Ptr<FabricSwitch>> leaf;
        for (uint32_t i = 0; i < 3; ++i)
        {
            leaf.push_back(fabric.AddSwitch());
            fabric.Connect(fabric.AddNic(fabric.AddHost()), leaf[i], rate, MicroSeconds(1));
        }
        std::vector<Ptr<FabricWire>> wires[2];
        for (auto& ofSpine : wires)
        {
            auto spine = fabric.AddSwitch();
            for (const auto& below : leaf)
            {
                ofSpine.push_back(fabric.Connect(below, spine, rate, MicroSeconds(1)));
            }
        }
        fabric.InstallRoutes();
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        events->Degrade(FabricEvents::LinkTarget(wires[0][0]), 0.25, MicroSeconds(100));
        events->Fail(FabricEvents::LinkTarget(wires[1][2]), MicroSeconds(95));
        std::vector<std::vector<uint32_t>> seen;
        for (const int64_t us : {104, 154, 156, 161})
        {
            Simulator::Schedule(MicroSeconds(us), [&]() {
                const uint32_t address = fabric.Nics()[1]->GetFabricAddress();
                seen.push_back(leaf[0]->Routes().Lookup(address)->weights);
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(seen.size(), 4, "looks");
        for (size_t i = 0; i < seen.size(); ++i)
        {
            // No weights: all are equal.
            const auto expected = i < 3 ? std::vector<uint32_t>{} : std::vector<uint32_t>{1, 4};
            NS_TEST_EXPECT_MSG_EQ((seen[i] == expected), true, "look " << i);
        }
        Simulator::Destroy();
    }
};

/**
 * The steps of a failure and its repair at their times, and a flap that is too short to be noticed.
 * Down 100 us to 300 us, DetectionDelay 10 us, ConvergenceDelay 50 us; down again from 500 us for 9
 * us.
 */
class StepsTest : public TestCase
{
  public:
    StepsTest()
        : TestCase("Every step is at its time")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        TwoByTwo net(fabric, 1);
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        std::vector<std::string> steps;
        using Step = FabricEvents::Step;
        events->TraceConnectWithoutContext(
            "Step",
            Callback<void, Step, const std::string&>([&steps](Step step,
                                                              const std::string& target) {
                steps.push_back(std::to_string(Simulator::Now().GetMicroSeconds()) + " " +
                                FabricEvents::NameOf(step) + (target.empty() ? "" : " ") + target);
            }));
        FabricTarget target{"wire", {net.up[0][0]}, {}};
        events->Fail(target, MicroSeconds(100), MicroSeconds(300));
        events->Fail(target, MicroSeconds(500), MicroSeconds(509));
        // What leaf 0 knows of the ways to the host of leaf 1, just after each step.
        std::vector<size_t> ways;
        for (const int64_t us : {99, 101, 111, 161, 301, 311, 361, 511})
        {
            Simulator::Schedule(MicroSeconds(us), [&]() {
                const uint32_t address = fabric.Nics()[1]->GetFabricAddress();
                ways.push_back(net.leaf[0]->Routes().Lookup(address)->ports.size());
            });
        }
        Simulator::Run();
        const std::vector<std::string> expected = {"100 break wire",
                                                   "110 detect wire",
                                                   "160 converge",
                                                   "300 repair wire",
                                                   "310 detect wire",
                                                   "360 converge",
                                                   "500 break wire",
                                                   "509 repair wire"};
        NS_TEST_EXPECT_MSG_EQ((steps == expected), true, "steps");
        // After the convergence of 160 us the table names one way, until that of 360 us.
        NS_TEST_EXPECT_MSG_EQ((ways == std::vector<size_t>{2, 2, 1, 1, 1, 1, 2, 2}), true, "ways");
        NS_TEST_EXPECT_MSG_EQ(events->GetConvergences(), 2, "tables");
        Simulator::Destroy();
    }
};

/// A leaf that fails for good: flows to and from its hosts fail by name, the others complete; a
/// spine that fails for a while: all complete. What the switch held is lost.
class SwitchFailureTest : public TestCase
{
  public:
    explicit SwitchFailureTest(bool leaf)
        : TestCase(leaf ? "A leaf fails for good" : "A spine fails for a while"),
          m_leaf(leaf)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("KeepAtDownPort", BooleanValue(true));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(5)); // 131 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(m_leaf ? 3 : 7));
        TwoByTwo net(fabric, 3);
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        Log log;
        // Hosts 0 to 2 are under leaf 0, 3 to 5 under leaf 1. Two flows stay under leaf 0.
        const std::vector<std::pair<uint32_t, uint32_t>> flows =
            {{0, 1}, {1, 2}, {0, 3}, {1, 4}, {2, 5}, {3, 0}, {4, 5}};
        for (const auto& [from, to] : flows)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
            log.Watch(connection);
            connection->Send(Bytes(2'000'000), 10 * from + to);
        }
        auto dead = m_leaf ? net.leaf[1] : net.spine[0];
        events->Fail(FabricEvents::SwitchTarget(dead),
                     MicroSeconds(60),
                     MicroSeconds(m_leaf ? 0 : 400));
        Simulator::Schedule(MicroSeconds(61), [&]() {
            NS_TEST_EXPECT_MSG_EQ(dead->GetOccupancy(), 0, "it has lost what it held");
            NS_TEST_EXPECT_MSG_EQ(BalanceOf(fabric).Holds(), true, BalanceOf(fabric).Text());
        });
        Simulator::Run();
        const size_t cut = m_leaf ? 5 : 0;
        NS_TEST_EXPECT_MSG_EQ(log.failures.size(), cut, "flows of the hosts of leaf 1");
        NS_TEST_EXPECT_MSG_EQ(log.completed.size(), flows.size() - cut, "the others");
        for (const auto& failure : log.failures)
        {
            NS_TEST_EXPECT_MSG_EQ(failure.find("retry limit"), 0, failure);
        }
        NS_TEST_EXPECT_MSG_EQ(BalanceOf(fabric).Holds(), true, BalanceOf(fabric).Text());
        Simulator::Destroy();
    }

    bool m_leaf;
};

/// What is down at time zero is known from the beginning: nothing is sent there, and nothing lost.
class FromTheBeginningTest : public TestCase
{
  public:
    FromTheBeginningTest()
        : TestCase("What begins at time zero is known from the beginning")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        TwoByTwo net(fabric, 2);
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        events->Fail(FabricEvents::SwitchTarget(net.spine[1]), Time(0));
        events->Degrade({"wire", {net.up[0][0]}, {}}, 0.5, Time(0));
        Log log;
        for (uint32_t i = 0; i < 2; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[2 + i]);
            log.Watch(connection);
            connection->Send(Bytes(1'000'000), i);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(events->GetConvergences(), 0, "none during the run");
        NS_TEST_EXPECT_MSG_EQ(log.completed.size(), 2, "both flows");
        NS_TEST_EXPECT_MSG_EQ(CheckConservation(fabric).Dropped(), 0, "nothing is lost");
        // 2 x 1,000 packets of 1,048 bytes over one wire of 50 Gb/s: 335.36 us; before that the
        // first one takes 2 x 83.84 ns and 2 us to leaf 0 and beyond, after it the last one 2 us
        // and 83.84 ns each at spine and leaf 1.
        const double least = 335.36;
        const double time = static_cast<double>(log.LastDelivery()) * 1e-6;
        NS_TEST_EXPECT_MSG_EQ_TOL(time, least + 4.3, 0.2, "half the rate over one spine");
        Simulator::Destroy();
    }
};

/**
 * Losing one of 76 planes. Two buildings of a leaf with 8 hosts at 100 Gb/s each and 76 spines;
 * spine i of one and of the other are joined by a wire of 10 Gb/s, thin against the 20 Gb/s from
 * leaf to spine: 800 Gb/s want to go over 760. Every host sends 16 MiB to its opposite, packets
 * sprayed round robin: 4,096 of 4,178 bytes and 16 more for a RETH, 8 x 17.11 MB = 136.9 MB.
 *
 * T(76) = 136.9 MB x 8 / 760 Gb/s + e = 1,441 us + e, T(75) = 1,460 us + e, where e is a way of 5
 * wires with their packets and how unevenly the last packets fall: 4 us of wire, at most 4.2 KB x 8
 * / 10 Gb/s = 3.3 us a packet on the thin one. With e below 2 % of T the cost T(75) / T(76) - 1 is
 * between 98 % of 1 / 75 and 1 / 75: 1.31 to 1.333 %; a plane more or less on one of them at the
 * end is another 3.3 us in 1,441, 0.23 %.
 */
class PlaneLossTest : public TestCase
{
  public:
    PlaneLossTest()
        : TestCase("Losing one of 76 planes costs 1.3 %")
    {
    }

  private:
    static double Seconds(bool lost)
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("PathSelector",
                                  TypeIdValue(RoundRobinSpraySelector::GetTypeId()));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
        fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(1024));
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(16));
        fabric.SetLookAhead(true);
        constexpr uint32_t kPlanes = 76;
        constexpr uint32_t kHosts = 8;
        std::vector<Ptr<FabricSwitch>> spines[2];
        for (auto& building : spines)
        {
            auto leaf = fabric.AddSwitch();
            for (uint32_t i = 0; i < kHosts; ++i)
            {
                fabric.Connect(fabric.AddNic(fabric.AddHost()),
                               leaf,
                               DataRate("100Gbps"),
                               NanoSeconds(800));
            }
            for (uint32_t i = 0; i < kPlanes; ++i)
            {
                building.push_back(fabric.AddSwitch());
                fabric.Connect(leaf, building[i], DataRate("20Gbps"), NanoSeconds(800));
            }
        }
        for (uint32_t i = 0; i < kPlanes; ++i)
        {
            fabric.Connect(spines[0][i], spines[1][i], DataRate("10Gbps"), NanoSeconds(800));
        }
        fabric.InstallRoutes();
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        if (lost)
        {
            events->Fail({"plane 5", {}, {spines[0][5], spines[1][5]}}, Time(0));
        }
        Log log;
        for (uint32_t i = 0; i < kHosts; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[kHosts + i]);
            log.Watch(connection);
            connection->Send(Bytes(16 * kMiB), i);
        }
        Simulator::Run();
        NS_ABORT_MSG_UNLESS(log.delivered.size() == kHosts, "a message is missing");
        const double time = static_cast<double>(log.LastDelivery()) * 1e-12;
        NS_ABORT_MSG_UNLESS(CheckConservation(fabric).Dropped() == 0, "something is lost");
        Simulator::Destroy();
        return time;
    }

    void DoRun() override
    {
        const double all = Seconds(false);
        const double lost = Seconds(true);
        NS_TEST_EXPECT_MSG_EQ_TOL(all * 1e6, 1'441 * 1.01, 1'441 * 0.01, "with 76 planes, us");
        NS_TEST_EXPECT_MSG_EQ_TOL(100 * (lost / all - 1), 1.32, 0.24, "cost in percent");
    }
};

/**
 * A wire that flaps 100,000 times is announced to its switches in n log n steps: that is far less
 * than a second, where a list that is shifted for each would move 10^10 numbers, half a minute. The
 * first and the second break are noticed.
 */
class ManyFlapsTest : public TestCase
{
  public:
    ManyFlapsTest()
        : TestCase("A hundred thousand flaps are announced at once")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        TwoByTwo net(fabric, 1);
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        const std::clock_t begin = std::clock();
        events->Flap(FabricEvents::LinkTarget(net.up[0][0]),
                     MicroSeconds(100),
                     MicroSeconds(100),
                     MicroSeconds(200),
                     100'000);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        NS_TEST_EXPECT_MSG_LT(seconds, 10, "CPU seconds");
        Simulator::Stop(MicroSeconds(480));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(events->GetConvergences(), 4, "at 160, 260, 360 and 460 us");
        Simulator::Destroy();
    }
};

/// Wrong targets, times and factors are refused by name.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("Impossible events are refused")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        TwoByTwo net(fabric, 1);
        FabricHelper other;
        TwoByTwo strange(other, 1);
        auto events = MakeEvents(fabric, MicroSeconds(10), MicroSeconds(50));
        const FabricTarget target{"wire", {net.up[0][0]}, {}};
        uint32_t refused = 0;
        auto attempt = [&refused](const std::function<void()>& act) {
            try
            {
                act();
            }
            catch (const scaleacross::ConfigError&)
            {
                ++refused;
            }
        };
        attempt([&]() { events->Fail(target, MicroSeconds(5), MicroSeconds(5)); });
        attempt([&]() { events->Fail({"other", {strange.up[0][0]}, {}}, MicroSeconds(5)); });
        attempt([&]() { events->Degrade(target, 0, MicroSeconds(5)); });
        attempt([&]() { events->Degrade(target, 1.5, MicroSeconds(5)); });
        attempt(
            [&]() { events->Flap(target, MicroSeconds(5), MicroSeconds(5), MicroSeconds(5), 1); });
        attempt([&]() { CreateObject<FabricEvents>()->Fail(target, MicroSeconds(5)); });
        attempt([&]() { events->SetFabric(fabric); });
        attempt([&]() { events->Fail({"nothing", {}, {}}, MicroSeconds(5)); });
        attempt(
            [&]() { events->Fail(FabricEvents::SwitchTarget(strange.spine[0]), MicroSeconds(5)); });
        fabric.Connect(net.spine[0], net.spine[1], DataRate("100Gbps"), MicroSeconds(1));
        attempt([&]() { events->Fail(FabricEvents::SwitchTarget(net.spine[0]), MicroSeconds(5)); });
        net.leaf[0]->AddPort(); // without a wire
        attempt([&]() { events->Fail(FabricEvents::SwitchTarget(net.leaf[0]), MicroSeconds(5)); });
        NS_TEST_EXPECT_MSG_EQ(refused, 11, "all of them");
        Simulator::Destroy();
    }
};

class FabricEventsSuite : public TestSuite
{
  public:
    FabricEventsSuite()
        : TestSuite("scaleacross-fabric-events")
    {
        AddTestCase(new RecoveryTest("A wire far away", true, false, 62'293'120));
        AddTestCase(new RecoveryTest("A wire of the first leaf", false, false, 11'234'560));
        AddTestCase(new RecoveryTest("The same, packets kept", false, true, 11'158'720));
        AddTestCase(new BlackHoleTest);
        AddTestCase(new StepsTest);
        AddTestCase(new OverlapTest);
        AddTestCase(new AtOnceTest);
        AddTestCase(new KnownRateTest);
        AddTestCase(new SwitchFailureTest(true));
        AddTestCase(new SwitchFailureTest(false));
        AddTestCase(new FromTheBeginningTest);
        AddTestCase(new PlaneLossTest);
        AddTestCase(new ManyFlapsTest);
        AddTestCase(new RefusalTest);
    }
};

FabricEventsSuite g_fabricEventsSuite;

} // namespace
