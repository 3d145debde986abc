// SPDX-License-Identifier: GPL-2.0-only

// Switches that run ahead and NICs that stay behind against the plain engine: an event for every
// arrival and an event for every departure, on ns-3's own event list. Nothing may differ, at any
// picosecond, with equal times and without.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/fabric-events.h"
#include "ns3/object-factory.h"
#include "ns3/path-selector.h"
#include "ns3/random-entropy.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/rng-stream.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::FabricPacket;

namespace
{

/// How a simulation is carried out.
struct Engine
{
    std::string name;
    std::string scheduler;
    bool eager;
    bool switchesAhead;
    bool nicsBehind;
};

const Engine kPlain{"plain", "ns3::MapScheduler", true, false, false};
const Engine kLazy{"lazy departures", "ns3::MapScheduler", false, false, false};
const Engine kAhead{"switches ahead", "ns3::MapScheduler", false, true, false};
const Engine kBehind{"NICs behind", "ns3::MapScheduler", false, false, true};
const Engine kWindows{"windows", "ns3::QuadHeapScheduler", false, true, true};

/// Sets the defaults of an engine, and takes them back.
class EngineGuard
{
  public:
    explicit EngineGuard(const Engine& engine)
    {
        Set(engine.eager, engine.switchesAhead, engine.nicsBehind);
        Simulator::SetScheduler(ObjectFactory(engine.scheduler));
    }

    ~EngineGuard()
    {
        Simulator::Destroy();
        Set(false, false, false);
        Simulator::SetScheduler(ObjectFactory("ns3::MapScheduler"));
        Simulator::Destroy();
    }

  private:
    static void Set(bool eager, bool ahead, bool behind)
    {
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(eager));
        Config::SetDefault("ns3::FabricSwitch::LookAhead", BooleanValue(ahead));
        Config::SetDefault("ns3::RdmaNic::LookAhead", BooleanValue(behind));
    }
};

/// Delays of wires: all equal, or each some hundred picoseconds longer than it should be.
class Delays
{
  public:
    explicit Delays(bool jitter)
        : m_jitter(jitter)
    {
    }

    Time operator()(Time delay)
    {
        return m_jitter ? delay + PicoSeconds(m_random() % 1000) : delay;
    }

  private:
    bool m_jitter;
    std::mt19937 m_random{1};
};

/// Everything that a run showed.
struct Outcome
{
    std::vector<Event> delivered;
    std::vector<Event> completed;
    std::vector<std::string> failures;
    std::vector<uint64_t> counters;
    uint64_t pauses{0};
    uint64_t drops{0};
    uint64_t retransmissions{0};
    uint64_t cnps{0};
    uint64_t rerouted{0};
    uint64_t trimmed{0};
    uint64_t outOfOrder{0};
    uint64_t events{0};
    Time starved;
};

bool
Same(const Outcome& a, const Outcome& b)
{
    return a.delivered == b.delivered && a.completed == b.completed && a.failures == b.failures &&
           a.counters == b.counters;
}

/// Builds a fabric and posts messages; what is seen of them goes to the log.
using Scenario = std::function<void(FabricHelper&, Log&, Delays)>;

void
NoteCredits(FabricPort& port, Outcome& outcome)
{
    const Time starved = port.GetStarvedTime(3);
    outcome.starved += starved;
    outcome.counters.push_back(static_cast<uint64_t>(starved.GetTimeStep()));
    outcome.counters.push_back(port.GetCreditsSent());
    outcome.counters.push_back(port.GetCreditsReceived());
    outcome.counters.push_back(port.GetPeakHeldBlocks());
    outcome.counters.push_back(port.GetCreditsLeft(3));
}

Outcome
RunScenario(const Scenario& scenario, const Engine& engine, bool jitter)
{
    EngineGuard guard(engine);
    Outcome outcome;
    FabricHelper fabric;
    Log log;
    UseHpccSizes(fabric);
    scenario(fabric, log, Delays(jitter));
    Simulator::Run();
    outcome.events = Simulator::GetEventCount();
    CheckConservation(fabric);
    for (const auto& fabricSwitch : fabric.Switches())
    {
        outcome.pauses += fabricSwitch->GetPauses();
        outcome.drops += fabricSwitch->GetDrops();
        outcome.counters.push_back(fabricSwitch->GetPauses());
        outcome.counters.push_back(fabricSwitch->GetPeakOccupancy());
        outcome.counters.push_back(fabricSwitch->GetDrops());
        outcome.counters.push_back(fabricSwitch->GetRerouted());
        outcome.rerouted += fabricSwitch->GetRerouted();
        outcome.counters.push_back(fabricSwitch->GetTrimmed());
        outcome.trimmed += fabricSwitch->GetTrimmed();
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            Ptr<SwitchPort> port = fabricSwitch->GetPort(i);
            outcome.counters.push_back(port->GetSentBytes());
            outcome.counters.push_back(static_cast<uint64_t>(port->GetPausedTime().GetTimeStep()));
            NoteCredits(*port, outcome);
        }
    }
    for (const auto& wire : fabric.Wires())
    {
        outcome.drops += wire->GetLost() + wire->GetCut();
        outcome.counters.push_back(wire->GetLost());
        outcome.counters.push_back(wire->GetCut());
    }
    for (const auto& nic : fabric.Nics())
    {
        outcome.retransmissions += nic->GetRetransmissions();
        outcome.counters.push_back(nic->GetRetransmissions());
        outcome.counters.push_back(nic->GetTimeouts());
        outcome.counters.push_back(nic->GetSentBytes());
        outcome.counters.push_back(static_cast<uint64_t>(nic->GetPausedTime().GetTimeStep()));
        NoteCredits(*nic, outcome);
        for (uint32_t i = 0; i < nic->GetNQueuePairs(); ++i)
        {
            outcome.cnps += nic->GetQueuePair(i)->GetCounters().cnpsReceived;
            outcome.outOfOrder += nic->GetQueuePair(i)->GetCounters().outOfOrder;
            outcome.counters.push_back(nic->GetQueuePair(i)->GetCounters().outOfOrder);
        }
    }
    outcome.delivered = log.delivered;
    outcome.completed = log.completed;
    outcome.failures = log.failures;
    // Callbacks of different nodes at one time may come in any order.
    std::sort(outcome.delivered.begin(), outcome.delivered.end());
    std::sort(outcome.completed.begin(), outcome.completed.end());
    std::sort(outcome.failures.begin(), outcome.failures.end());
    return outcome;
}

void
SendFlow(FabricHelper& fabric, Log& log, uint32_t from, uint32_t to, uint64_t bytes)
{
    auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
    log.Watch(connection);
    const uint64_t tag = 1000 * from + to;
    connection->Send(Bytes(bytes), tag);
    // A second message, posted while the first is under way, at a time of no arrival in particular.
    Simulator::Schedule(PicoSeconds(20'000'123), [=]() { connection->Send(Bytes(5000), tag); });
}

/// `leaves` leaves of four hosts, as many spines; loss on every wire.
std::vector<Ptr<FabricSwitch>>
BuildLeafSpine(FabricHelper& fabric, uint32_t leaves, double loss, Delays& delays)
{
    const DataRate rate("100Gbps");
    std::vector<Ptr<FabricSwitch>> leaf;
    std::vector<Ptr<FabricSwitch>> spine;
    for (uint32_t i = 0; i < leaves; ++i)
    {
        leaf.push_back(fabric.AddSwitch());
        for (uint32_t j = 0; j < 4; ++j)
        {
            Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, leaf[i], rate, delays(MicroSeconds(1)), loss);
        }
    }
    for (uint32_t i = 0; i < 4; ++i)
    {
        spine.push_back(fabric.AddSwitch());
        for (const auto& below : leaf)
        {
            fabric.Connect(below, spine[i], rate, delays(MicroSeconds(1)), loss);
        }
    }
    return spine;
}

/// 16 hosts under four leaves, each sends to one under another leaf. Buffers are so small that
/// flows which ECMP has put on one wire pause their senders.
void
Permutation(FabricHelper& fabric, Log& log, Delays delays, double loss, bool pfc)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
    fabric.SetSwitchAttribute("Pfc", BooleanValue(pfc));
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
    fabric.SetQueuePairAttribute("RetryCount", UintegerValue(100));
    BuildLeafSpine(fabric, 4, loss, delays);
    fabric.InstallRoutes();
    fabric.AssignStreams(77);
    for (uint32_t i = 0; i < 16; ++i)
    {
        SendFlow(fabric, log, i, (i + 8) % 16, 400'000);
    }
}

void
Incast(FabricHelper& fabric, Log& log, Delays delays)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
    Ptr<FabricSwitch> centre = fabric.AddSwitch();
    for (uint32_t i = 0; i < 9; ++i)
    {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, centre, DataRate("100Gbps"), delays(MicroSeconds(1)));
    }
    fabric.InstallRoutes();
    for (uint32_t i = 0; i < 8; ++i)
    {
        SendFlow(fabric, log, i, 8, 300'000);
    }
}

/// Two fabrics whose spines are joined by wires of 1 ms: windows of very different lengths meet.
void
LongHaul(FabricHelper& fabric, Log& log, Delays delays)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(512 * kMiB));
    auto near = BuildLeafSpine(fabric, 2, 0, delays);
    auto far = BuildLeafSpine(fabric, 2, 0, delays);
    for (size_t i = 0; i < near.size(); ++i)
    {
        fabric.Connect(near[i], far[i], DataRate("100Gbps"), delays(MilliSeconds(1)), 1e-4);
    }
    fabric.InstallRoutes();
    fabric.AssignStreams(5);
    for (uint32_t i = 0; i < 16; ++i)
    {
        SendFlow(fabric, log, i, (i + 8) % 16, 500'000);
    }
}

/// Four to one with marks and a congestion control, some losses, and two queue pairs whose rate is
/// limited by hand.
void
Controlled(FabricHelper& fabric, Log& log, Delays delays, const std::string& control, double loss)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(4 * kMiB));
    fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(255));
    fabric.SetSwitchAttribute("EcnPmax", DoubleValue(0.2));
    Ptr<FabricSwitch> centre = fabric.AddSwitch();
    for (uint32_t i = 0; i < 7; ++i)
    {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, centre, DataRate("100Gbps"), delays(MicroSeconds(1)), loss);
    }
    fabric.InstallRoutes();
    fabric.AssignStreams(9);
    fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(TypeId::LookupByName(control)));
    for (uint32_t i = 0; i < 4; ++i)
    {
        SendFlow(fabric, log, i, 6, 1'000'000);
    }
    fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(RdmaCongestionOps::GetTypeId()));
    fabric.SetQueuePairAttribute("RateLimit", DataRateValue(DataRate("7Gbps")));
    SendFlow(fabric, log, 4, 6, 200'000);
    SendFlow(fabric, log, 4, 5, 200'000);
}

/// The permutation, while a wire of a host and one of a spine flap, another one is slow, and a
/// spine fails and comes back.
void
Failures(FabricHelper& fabric, Log& log, Delays delays, bool keep)
{
    fabric.SetSwitchAttribute("KeepAtDownPort", BooleanValue(keep));
    Permutation(fabric, log, delays, 0, true);
    auto events = CreateObject<FabricEvents>();
    events->SetAttribute("DetectionDelay", TimeValue(MicroSeconds(3)));
    events->SetAttribute("ConvergenceDelay", TimeValue(MicroSeconds(8)));
    events->SetFabric(fabric);
    const auto& wires = fabric.Wires(); // 16 of the hosts, then four of each spine
    events->Flap(FabricEvents::LinkTarget(wires[3]),
                 MicroSeconds(5),
                 MicroSeconds(2),
                 MicroSeconds(9),
                 3);
    events->Flap(FabricEvents::LinkTarget(wires[17]),
                 PicoSeconds(6'419'200), // 6 us and five packets: equal to other times
                 MicroSeconds(20),
                 MicroSeconds(37),
                 2);
    events->Degrade(FabricEvents::LinkTarget(wires[21]), 0.3, MicroSeconds(10), MicroSeconds(60));
    events->Fail(FabricEvents::SwitchTarget(fabric.Switches()[6]),
                 MicroSeconds(30),
                 MicroSeconds(80));
}

/// A path selector of the switches, or entropies of the senders, with receivers that place packets
/// in any order.
void
SpreadPaths(FabricHelper& fabric, const std::string& type)
{
    const TypeId chosen = TypeId::LookupByName(type);
    if (chosen.IsChildOf(PathSelector::GetTypeId()))
    {
        fabric.SetSwitchAttribute("PathSelector", TypeIdValue(chosen));
    }
    else
    {
        fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(chosen));
    }
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
}

/// The permutation with another choice of paths, receivers that place out of order, and weights
/// 1, 2, 3, ... on the ports of every group.
void
OtherPaths(FabricHelper& fabric, Log& log, Delays delays, const std::string& selector, double loss)
{
    fabric.SetSwitchAttribute("PathSelector", TypeIdValue(TypeId::LookupByName(selector)));
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
    Permutation(fabric, log, delays, loss, true);
    for (uint32_t i = 0; i < 16; ++i)
    {
        SendFlow(fabric, log, i, (i + 5) % 16, 100'000); // out of step with the others
    }
    for (const auto& fabricSwitch : fabric.Switches())
    {
        auto& routes = fabricSwitch->Routes();
        const auto ranges = routes.Ranges();
        std::vector<scaleacross::PortGroup> groups;
        for (const auto& range : ranges)
        {
            groups.push_back(routes.GroupOf(range));
        }
        routes.Clear();
        for (size_t i = 0; i < ranges.size(); ++i)
        {
            groups[i].weights.resize(groups[i].ports.size());
            std::iota(groups[i].weights.begin(), groups[i].weights.end(), 1);
            routes.Add(ranges[i].first, ranges[i].last, groups[i]);
        }
        if (selector == "ns3::FlowletSelector") // so short that pauses and losses make flowlets
        {
            fabricSwitch->GetPathSelector()->SetAttribute("Gap", TimeValue(MicroSeconds(2)));
        }
    }
}

/// The permutation with an entropy per packet; queues that mark, and timers that are short enough
/// for a ring to be frozen.
void
Entropies(FabricHelper& fabric, Log& log, Delays delays, const std::string& type, double loss)
{
    fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(255));
    fabric.SetSwitchAttribute("EcnKmin", UintegerValue(5000));
    fabric.SetSwitchAttribute("EcnKmax", UintegerValue(50'000));
    fabric.SetSwitchAttribute("EcnPmax", DoubleValue(0.5));
    fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(TypeId::LookupByName(type)));
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
    Permutation(fabric, log, delays, loss, true);
}

/// Switches that trim, an entropy per packet, and windows that count what is under way.
void
Trimming(FabricHelper& fabric)
{
    fabric.SetSwitchAttribute("Trim", BooleanValue(true));
    fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(10'000));
    fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(RandomEntropy::GetTypeId()));
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
    fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(true));
    fabric.SetQueuePairAttribute("Window", UintegerValue(60'000));
}

/// Data gets ten times the bytes of headers and answers where both wait.
void
ShareLines(FabricHelper& fabric)
{
    for (const auto& fabricSwitch : fabric.Switches())
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            fabricSwitch->GetPort(i)->SetQuanta("0,0,0,10480,0,0,1048,0");
        }
    }
}

/// Credits in place of pauses: 219 blocks for each lane of nine ports are less than 1 MiB, and more
/// than the least there may be.
Scenario
WithCredits(Scenario scenario)
{
    return [scenario](FabricHelper& fabric, Log& log, Delays delays) {
        fabric.SetSwitchAttribute("Credits", BooleanValue(true));
        fabric.SetSwitchAttribute("VlBuffer", UintegerValue(14'000));
        scenario(fabric, log, delays);
    };
}

/// One scenario on all engines, with equal times and with jitter.
class EqualityTest : public TestCase
{
  public:
    /// What has to have happened for the scenario to be worth comparing.
    using Check = std::function<bool(const Outcome&)>;

    EqualityTest(const std::string& name, Scenario scenario, Check check)
        : TestCase(name + ": every engine gives the same"),
          m_scenario(std::move(scenario)),
          m_check(std::move(check))
    {
    }

  private:
    void DoRun() override
    {
        if (GetName().rfind("Credits", 0) == 0 && Rounding(1) > 0)
        {
            return; // engines grant credits at different ticks of a coarse clock (infiniband.md)
        }
        for (bool jitter : {false, true})
        {
            const Outcome plain = RunScenario(m_scenario, kPlain, jitter);
            NS_TEST_ASSERT_MSG_EQ(m_check(plain), true, "the scenario shows what it is for");
            for (const Engine& engine : {kLazy, kAhead, kBehind, kWindows})
            {
                const Outcome other = RunScenario(m_scenario, engine, jitter);
                NS_TEST_ASSERT_MSG_EQ(Same(other, plain),
                                      true,
                                      engine.name << (jitter ? ", jitter" : ", equal times"));
            }
        }
    }

    Scenario m_scenario;
    Check m_check;
};

/**
 * Windows are what they are called: per hop far less than an event. Two arrivals per hop (data and
 * ACK) are two events of the exact engine; a window of 1 us holds 11.9 packets per wire at 100
 * Gb/s, and a node of the incast has at least one busy wire: at most a quarter of the events. Where
 * the Simulator does not count in picoseconds, nodes do not run ahead.
 */
class FewerEventsTest : public TestCase
{
  public:
    FewerEventsTest()
        : TestCase("Windows need a quarter of the events at most")
    {
    }

  private:
    void DoRun() override
    {
        const Scenario lossless = [](FabricHelper& fabric, Log& log, Delays delays) {
            Permutation(fabric, log, delays, 0, true);
        };
        const Outcome exact = RunScenario(lossless, kLazy, true);
        const Outcome windows = RunScenario(lossless, kWindows, true);
        if (Rounding(1) == 0)
        {
            NS_TEST_ASSERT_MSG_LT(windows.events * 4, exact.events, "events");
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ(windows.events, exact.events, "as if it were switched off");
        }
    }
};

/**
 * A sink is shown every packet at its time whatever the engine: nodes that are watched go event by
 * event. And its being there changes no time.
 */
class SinkTest : public TestCase
{
  public:
    SinkTest()
        : TestCase("Sinks see the exact times and change none")
    {
    }

  private:
    /// Time, port, PSN and kind of a packet.
    using Seen = std::tuple<int64_t, std::string, uint64_t, uint8_t>;

    static Outcome RunWatched(const Engine& engine, bool watchNics, std::vector<Seen>& seen)
    {
        const Scenario watched = [&](FabricHelper& fabric, Log& log, Delays delays) {
            Permutation(fabric, log, delays, 1e-3, true);
            auto watch = [&seen](Ptr<FabricPort> port) {
                const std::string name = port->Describe();
                auto note = [&seen, name](const FabricPacket& packet) {
                    seen.emplace_back(Simulator::Now().GetPicoSeconds(),
                                      name,
                                      packet.psn,
                                      static_cast<uint8_t>(packet.kind));
                };
                port->TraceConnectWithoutContext("Transmit",
                                                 Callback<void, const FabricPacket&>(note));
            };
            if (watchNics)
            {
                std::for_each(fabric.Nics().begin(), fabric.Nics().end(), watch);
            }
            for (const auto& fabricSwitch : fabric.Switches())
            {
                watch(fabricSwitch->GetPort(0));
            }
        };
        const Outcome outcome = RunScenario(watched, engine, true);
        std::sort(seen.begin(), seen.end());
        return outcome;
    }

    void DoRun() override
    {
        const Outcome unwatched = RunScenario(
            [](FabricHelper& fabric, Log& log, Delays delays) {
                Permutation(fabric, log, delays, 1e-3, true);
            },
            kWindows,
            true);
        for (bool watchNics : {false, true})
        {
            std::vector<Seen> plain;
            std::vector<Seen> windows;
            const Outcome first = RunWatched(kPlain, watchNics, plain);
            const Outcome second = RunWatched(kWindows, watchNics, windows);
            // 405 packets a flow. Data to and ACKs from the first host of each of four leaves; data
            // and ACKs of the four flows into the first leaf, at the four spines: 16 * 405; some
            // ACKs are lost.
            NS_TEST_ASSERT_MSG_GT(plain.size(), 6400, "packets seen");
            NS_TEST_ASSERT_MSG_EQ((plain == windows), true, "the same at the same times");
            NS_TEST_ASSERT_MSG_EQ(Same(first, unwatched), true, "the plain engine");
            NS_TEST_ASSERT_MSG_EQ(Same(second, unwatched), true, "watched windows");
        }
    }
};

/// What is asked of switches and NICs at announced times is what the plain engine says; changes
/// happen at their time; what has not been announced is refused.
class HoldTest : public TestCase
{
  public:
    HoldTest()
        : TestCase("Announced looks and changes are exact, others are refused")
    {
    }

  private:
    static Outcome RunHeld(const Engine& engine, std::vector<uint64_t>& looks)
    {
        const Scenario held = [&](FabricHelper& fabric, Log& log, Delays delays) {
            Permutation(fabric, log, delays, 0, true);
            for (int64_t us = 3; us < 90; us += 7)
            {
                const Time when = MicroSeconds(us) + PicoSeconds(500);
                fabric.HoldAt(when);
                Simulator::Schedule(when, [&fabric, &looks]() {
                    for (const auto& fabricSwitch : fabric.Switches())
                    {
                        looks.push_back(fabricSwitch->GetOccupancy());
                        looks.push_back(fabricSwitch->GetPort(0)->GetSentBytes());
                    }
                    for (const auto& nic : fabric.Nics())
                    {
                        looks.push_back(nic->GetSentBytes());
                        looks.push_back(nic->GetDataReceived());
                        looks.push_back(nic->GetQueuePair(0)->GetUnacked());
                    }
                });
            }
            fabric.HoldAt(MicroSeconds(50));
            Simulator::Schedule(MicroSeconds(50), [&fabric]() {
                fabric.Wires()[0]->SetLossRate(0.01);
                fabric.Wires()[20]->SetDelay(MicroSeconds(2));
            });
        };
        return RunScenario(held, engine, true);
    }

    void DoRun() override
    {
        std::vector<uint64_t> plain;
        std::vector<uint64_t> windows;
        const Outcome first = RunHeld(kPlain, plain);
        const Outcome second = RunHeld(kWindows, windows);
        NS_TEST_ASSERT_MSG_EQ((plain == windows), true, "what was seen");
        NS_TEST_ASSERT_MSG_EQ(Same(first, second), true, "what came of it");
        NS_TEST_ASSERT_MSG_GT(first.drops, 0, "the change took effect");

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
        RunScenario(
            [&](FabricHelper& fabric, Log& log, Delays delays) {
                Permutation(fabric, log, delays, 0, true);
                // Every switch has work then, and the wire's is ahead.
                Simulator::Schedule(PicoSeconds(40'000'321), [&fabric, attempt]() {
                    attempt([&]() { fabric.Wires()[20]->SetLossRate(0.5); });
                    attempt([&]() { fabric.HoldAt(Simulator::Now() + PicoSeconds(1)); });
                });
            },
            kWindows,
            true);
        // Nobody runs ahead unless the Simulator counts in picoseconds.
        const uint32_t expected = Rounding(1) == 0 ? 2 : 0;
        NS_TEST_ASSERT_MSG_EQ(refused, expected, "a change and an announcement that come too late");
    }
};

/**
 * Without AssignStreams every queue pair takes one of ns-3's automatic streams, in the order in
 * which they are connected, whenever they draw first: two NICs with two queue pairs each, wires of
 * 2 us and 1 us, so that packets of the second come in first. After index n of ns-3's count, queue
 * pair i has n + 1 + i, and its first entropy is 0xC000 + floor(2^14 u) of that stream's first u.
 * A stream that was set by hand is kept, and nothing is taken from ns-3's count for it.
 */
class AutomaticStreamsTest : public TestCase
{
  public:
    AutomaticStreamsTest()
        : TestCase("Automatic streams go by the order of connecting on every engine")
    {
    }

  private:
    static uint16_t FirstOf(uint64_t stream)
    {
        RngStream generator(RngSeedManager::GetSeed(), stream, RngSeedManager::GetRun());
        return static_cast<uint16_t>(0xC000 + static_cast<uint32_t>(generator.RandU01() * 0x4000));
    }

    void RunOn(const Engine& engine)
    {
        EngineGuard guard(engine);
        FabricHelper fabric;
        UseHpccSizes(fabric);
        auto centre = fabric.AddSwitch();
        for (const int64_t us : {2, 1, 1})
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           centre,
                           DataRate("100Gbps"),
                           MicroSeconds(us));
        }
        fabric.InstallRoutes();
        const uint64_t before = RngSeedManager::GetNextStreamIndex();
        std::vector<Ptr<RdmaQueuePair>> queuePairs;
        Ptr<RdmaNic> to = fabric.Nics()[2];
        for (uint32_t i = 0; i < 5; ++i)
        {
            Ptr<RdmaNic> from = fabric.Nics()[i / 2 % 2];
            auto queuePair = from->CreateQueuePair();
            auto peer = to->CreateQueuePair();
            for (const auto& end : {queuePair, peer})
            {
                end->SetAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
                end->SetAttribute("ReorderTolerance", UintegerValue(64));
            }
            if (i == 4)
            {
                auto ops = CreateObject<RandomEntropy>();
                ops->SetStream(7);
                queuePair->SetEntropyOps(ops);
            }
            else
            {
                queuePair->SetAttribute("EntropyOps", TypeIdValue(RandomEntropy::GetTypeId()));
            }
            queuePair->Connect(to->GetFabricAddress(), peer->GetNumber());
            peer->Connect(from->GetFabricAddress(), queuePair->GetNumber());
            queuePairs.push_back(queuePair);
        }
        const uint64_t after = RngSeedManager::GetNextStreamIndex();
        NS_TEST_EXPECT_MSG_EQ(after - before, 5, engine.name << ": four were taken, then this one");
        // By number at the receiver; watched at the receiver alone, so that senders stay behind.
        std::map<uint32_t, uint16_t> first;
        to->TraceConnectWithoutContext(
            "Receive",
            Callback<void, const FabricPacket&>([&first](const FabricPacket& packet) {
                if (packet.psn == 0)
                {
                    first.emplace(packet.queuePair, packet.entropy);
                }
            }));
        for (const auto& queuePair : queuePairs)
        {
            queuePair->Post(scaleacross::RdmaOperation::Write, Bytes(3000), 0);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(first.size(), 5, engine.name << ": all have sent");
        for (uint32_t i = 0; i < 4; ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(first[i],
                                  FirstOf(before + 1 + i),
                                  engine.name << ", queue pair " << i);
        }
        // Streams that are chosen are in the upper half of ns-3's.
        NS_TEST_EXPECT_MSG_EQ(first[4], FirstOf((uint64_t{1} << 63) + 7), engine.name << ", 7");
    }

    void DoRun() override
    {
        for (const Engine& engine : {kPlain, kLazy, kAhead, kBehind, kWindows})
        {
            RunOn(engine);
        }
    }
};

class LookAheadSuite : public TestSuite
{
  public:
    LookAheadSuite()
        : TestSuite("scaleacross-look-ahead")
    {
        AddTestCase(new EqualityTest(
            "Permutation",
            [](auto& fabric, auto& log, Delays delays) {
                Permutation(fabric, log, delays, 0, true);
            },
            [](const Outcome& outcome) { return outcome.pauses > 10 && outcome.drops == 0; }));
        AddTestCase(new EqualityTest("Incast", Incast, [](const Outcome& outcome) {
            return outcome.pauses > 10 && outcome.drops == 0;
        }));
        AddTestCase(new EqualityTest(
            "Loss",
            [](auto& fabric, auto& log, Delays delays) {
                Permutation(fabric, log, delays, 1e-3, true);
            },
            [](const Outcome& outcome) {
                return outcome.drops > 10 && outcome.retransmissions > 100;
            }));
        AddTestCase(new EqualityTest(
            "Lossy switches",
            [](auto& fabric, auto& log, Delays delays) {
                Permutation(fabric, log, delays, 0, false);
            },
            [](const Outcome& outcome) { return outcome.drops > 10 && outcome.pauses == 0; }));
        AddTestCase(new EqualityTest(
            "Selective repeat",
            [](auto& fabric, auto& log, Delays delays) {
                fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
                fabric.SetQueuePairAttribute("AckInterval", UintegerValue(4));
                Permutation(fabric, log, delays, 1e-3, false);
            },
            [](const Outcome& outcome) {
                return outcome.drops > 10 && outcome.retransmissions > 10;
            }));
        AddTestCase(new EqualityTest(
            "Trimming",
            [](auto& fabric, auto& log, Delays delays) {
                Trimming(fabric);
                Permutation(fabric, log, delays, 1e-3, false);
                ShareLines(fabric);
            },
            [](const Outcome& outcome) {
                return outcome.trimmed > 10 && outcome.retransmissions > outcome.trimmed;
            }));
        AddTestCase(new EqualityTest(
            "Trimmed incast",
            [](auto& fabric, auto& log, Delays delays) {
                Trimming(fabric);
                fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
                Incast(fabric, log, delays);
                ShareLines(fabric);
            },
            [](const Outcome& outcome) { return outcome.trimmed > 100 && outcome.drops == 0; }));
        AddTestCase(new EqualityTest(
            "Clear to send",
            [](auto& fabric, auto& log, Delays delays) {
                fabric.SetConnectionAttribute("ClearToSend", BooleanValue(true));
                Permutation(fabric, log, delays, 1e-3, true);
            },
            [](const Outcome& outcome) {
                return outcome.delivered.size() == 32 && outcome.retransmissions > 10;
            }));
        AddTestCase(new EqualityTest("Long haul", LongHaul, [](const Outcome& outcome) {
            return outcome.delivered.size() == 32;
        }));
        AddTestCase(new EqualityTest(
            "DCQCN",
            [](auto& fabric, auto& log, Delays delays) {
                Controlled(fabric, log, delays, "ns3::Dcqcn", 0);
            },
            [](const Outcome& outcome) { return outcome.cnps > 5 && outcome.drops == 0; }));
        for (const std::string name : {"ns3::DctcpLike", "ns3::Swift", "ns3::Timely", "ns3::Hpcc"})
        {
            for (const double loss : {0.0, 1e-3})
            {
                AddTestCase(new EqualityTest(
                    name + (loss > 0 ? " with losses" : ""),
                    [name, loss](auto& fabric, auto& log, Delays delays) {
                        Controlled(fabric, log, delays, name, loss);
                    },
                    [loss](const Outcome& outcome) {
                        return outcome.delivered.size() == 12 &&
                               (outcome.retransmissions > 0) == (loss > 0);
                    }));
            }
        }
        AddTestCase(new EqualityTest("Credits and HPCC",
                                     WithCredits([](auto& fabric, auto& log, Delays delays) {
                                         Controlled(fabric, log, delays, "ns3::Hpcc", 0);
                                     }),
                                     [](const Outcome& outcome) {
                                         return outcome.delivered.size() == 12 &&
                                                outcome.starved > Time(0);
                                     }));
        for (const double loss : {0.0, 1e-3})
        {
            AddTestCase(new EqualityTest(
                loss > 0 ? "Credits with loss" : "Credits",
                WithCredits([loss](auto& fabric, auto& log, Delays delays) {
                    Permutation(fabric, log, delays, loss, true);
                }),
                [loss](const Outcome& outcome) {
                    return outcome.starved > MicroSeconds(100) && outcome.pauses == 0 &&
                           (outcome.drops > 10) == (loss > 0) && outcome.delivered.size() == 32;
                }));
        }
        AddTestCase(
            new EqualityTest("Credits, incast", WithCredits(Incast), [](const Outcome& outcome) {
                return outcome.starved > MicroSeconds(100) && outcome.drops == 0 &&
                       outcome.delivered.size() == 16;
            }));
        AddTestCase(new EqualityTest("Credits, long haul",
                                     WithCredits(LongHaul),
                                     [](const Outcome& outcome) {
                                         return outcome.starved > MicroSeconds(100) &&
                                                outcome.delivered.size() == 32;
                                     }));
        AddTestCase(
            new EqualityTest("Credits and adaptive spray",
                             WithCredits([](auto& fabric, auto& log, Delays delays) {
                                 OtherPaths(fabric, log, delays, "ns3::AdaptiveSpraySelector", 0);
                             }),
                             [](const Outcome& outcome) {
                                 return outcome.starved > MicroSeconds(100) && outcome.drops == 0 &&
                                        outcome.outOfOrder > 10 && outcome.delivered.size() == 64;
                             }));
        for (bool keep : {false, true})
        {
            AddTestCase(new EqualityTest(
                keep ? "Credits and failures, packets kept" : "Credits and failures",
                WithCredits([keep](auto& fabric, auto& log, Delays delays) {
                    Failures(fabric, log, delays, keep);
                }),
                [](const Outcome& outcome) {
                    return outcome.starved > MicroSeconds(100) && outcome.drops > 10 &&
                           outcome.delivered.size() == 32;
                }));
        }
        AddTestCase(new AutomaticStreamsTest);
        for (const std::string name : {"ns3::EcmpSelector",
                                       "ns3::WeightedSelector",
                                       "ns3::FlowletSelector",
                                       "ns3::RandomSpraySelector",
                                       "ns3::RoundRobinSpraySelector",
                                       "ns3::AdaptiveSpraySelector",
                                       "ns3::RandomEntropy",
                                       "ns3::RecycledEntropy"})
        {
            AddTestCase(new EqualityTest(
                "Failures with " + name,
                [name](auto& fabric, auto& log, Delays delays) {
                    SpreadPaths(fabric, name);
                    Failures(fabric, log, delays, name.size() % 2 == 0);
                },
                [name](const Outcome& outcome) {
                    return outcome.delivered.size() == 32 && outcome.drops > 10 &&
                           outcome.retransmissions > 10 &&
                           (outcome.rerouted > 0) == (name.size() % 2 == 0);
                }));
        }
        for (bool keep : {false, true})
        {
            AddTestCase(new EqualityTest(
                keep ? "Failures, packets kept" : "Failures",
                [keep](auto& fabric, auto& log, Delays delays) {
                    Failures(fabric, log, delays, keep);
                },
                [keep](const Outcome& outcome) {
                    return outcome.delivered.size() == 32 && outcome.drops > 10 &&
                           outcome.retransmissions > 10 && (outcome.rerouted > 0) == keep;
                }));
        }
        for (const std::string name : {"Ecmp", "Weighted", "Flowlet"})
        {
            AddTestCase(new EqualityTest(
                name,
                [name](auto& fabric, auto& log, Delays delays) {
                    OtherPaths(fabric, log, delays, "ns3::" + name + "Selector", 1e-3);
                },
                [](const Outcome& outcome) {
                    return outcome.pauses > 10 && outcome.delivered.size() == 64;
                }));
        }
        for (const std::string name : {"RandomSpray", "RoundRobinSpray", "AdaptiveSpray"})
        {
            for (const double loss : {0.0, 1e-3})
            {
                AddTestCase(new EqualityTest(
                    name + (loss > 0 ? " with loss" : ""),
                    [name, loss](auto& fabric, auto& log, Delays delays) {
                        OtherPaths(fabric, log, delays, "ns3::" + name + "Selector", loss);
                    },
                    [loss](const Outcome& outcome) {
                        return outcome.outOfOrder > 10 && outcome.delivered.size() == 64 &&
                               (outcome.drops > 10) == (loss > 0);
                    }));
            }
        }
        for (const std::string name : {"Random", "Recycled"})
        {
            for (const double loss : {0.0, 1e-2})
            {
                AddTestCase(new EqualityTest(
                    name + " entropies" + (loss > 0 ? " with loss" : ""),
                    [name, loss](auto& fabric, auto& log, Delays delays) {
                        Entropies(fabric, log, delays, "ns3::" + name + "Entropy", loss);
                    },
                    [name, loss](const Outcome& outcome) {
                        return outcome.outOfOrder > 10 && outcome.delivered.size() == 32 &&
                               (outcome.drops > 10) == (loss > 0) &&
                               (outcome.cnps > 5) == (name == "Recycled");
                    }));
            }
        }
        AddTestCase(new FewerEventsTest);
        AddTestCase(new SinkTest);
        AddTestCase(new HoldTest);
    }
};

LookAheadSuite g_lookAheadSuite;

} // namespace
