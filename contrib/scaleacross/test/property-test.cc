// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/fabric-events.h"
#include "ns3/scheduler.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <map>
#include <random>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

/// An event list that hands out events of equal time in an order that has nothing to do with the
/// order in which they were scheduled.
class ShufflingScheduler : public Scheduler
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("scaleacross::test::ShufflingScheduler")
                                .SetParent<Scheduler>()
                                .SetGroupName("ScaleAcross")
                                .AddConstructor<ShufflingScheduler>();
        return tid;
    }

    void Insert(const Event& event) override
    {
        m_events.emplace(Order(event), event);
    }

    bool IsEmpty() const override
    {
        return m_events.empty();
    }

    Event PeekNext() const override
    {
        return m_events.begin()->second;
    }

    Event RemoveNext() override
    {
        Event event = PeekNext();
        m_events.erase(m_events.begin());
        return event;
    }

    void Remove(const Event& event) override
    {
        m_events.erase(Order(event));
    }

  private:
    using Key = std::pair<uint64_t, uint64_t>;

    static Key Order(const Event& event)
    {
        // Multiplication by an odd number permutes the ids. What a test does at time zero, before
        // anything runs, stays in its order.
        uint32_t uid = event.key.m_uid;
        return {event.key.m_ts, event.key.m_ts == 0 ? uid : uid * 2'654'435'769U};
    }

    std::map<Key, Event> m_events;
};

NS_OBJECT_ENSURE_REGISTERED(ShufflingScheduler);

/// Random failures, degradations and flaps of wires and switches, all over after 700 us; some at
/// times at which packets may arrive.
Ptr<FabricEvents>
MakeEvents(FabricHelper& fabric, std::mt19937& random)
{
    auto events = CreateObject<FabricEvents>();
    events->SetAttribute("DetectionDelay", TimeValue(NanoSeconds(random() % 3 * 4'000)));
    events->SetAttribute("ConvergenceDelay", TimeValue(NanoSeconds(random() % 3 * 30'000)));
    events->SetFabric(fabric);
    // Of equal wires: a packet of 1,098 bytes and some of 1,082 after a whole microsecond.
    auto time = [&random](uint32_t us) {
        return MicroSeconds(1 + random() % us) + PicoSeconds(87'840 + 86'560 * (random() % 10));
    };
    for (uint32_t n = 1 + random() % 4; n > 0; --n)
    {
        FabricTarget target =
            FabricEvents::LinkTarget(fabric.Wires()[random() % fabric.Wires().size()]);
        if (random() % 4 == 0)
        {
            target =
                FabricEvents::SwitchTarget(fabric.Switches()[random() % fabric.Switches().size()]);
        }
        const Time at = time(200);
        const Time length = time(100);
        switch (random() % 3)
        {
        case 0:
            events->Fail(target, at, at + length);
            break;
        case 1:
            events->Degrade(target, 0.1 + 0.1 * (random() % 9), at, at + length);
            break;
        default:
            events->Flap(target, at, length, length + time(10), 1 + random() % 3);
        }
    }
    return events;
}

/// Nothing is held in a switch and nobody is stopped.
bool
IsClean(const FabricHelper& fabric)
{
    bool clean = true;
    for (const auto& fabricSwitch : fabric.Switches())
    {
        clean = clean && fabricSwitch->GetOccupancy() == 0;
        for (uint32_t port = 0; port < fabricSwitch->GetNPorts(); ++port)
        {
            for (uint8_t priority = 0; priority < scaleacross::kPriorities; ++priority)
            {
                clean = clean && !fabricSwitch->IsPausing(port, priority) &&
                        fabricSwitch->GetHeld(port, priority) == 0 &&
                        !fabricSwitch->GetPort(port)->IsPaused(priority) &&
                        !fabricSwitch->GetPort(port)->GetPeer()->IsPaused(priority);
            }
        }
    }
    return clean;
}

/// How a simulation is carried out; none of it may change the result.
struct Engine
{
    std::string scheduler{"ns3::MapScheduler"};
    bool eager{false};
    bool switchesAhead{false};
    bool nicsBehind{false};
};

struct Outcome
{
    std::vector<Event> delivered;
    std::vector<Event> completed;
    std::vector<std::string> failures;
    uint64_t pauses{0};
    uint64_t drops{0};
    uint64_t retransmissions{0};
    uint64_t undelivered{0};
    uint64_t cut{0}; //!< lost on a wire that broke, or at a port without one
    uint64_t rerouted{0};
    bool balanced{true};
    bool clean{true};

    bool operator==(const Outcome& other) const
    {
        return delivered == other.delivered && completed == other.completed &&
               failures == other.failures && pauses == other.pauses && drops == other.drops &&
               retransmissions == other.retransmissions && cut == other.cut &&
               rerouted == other.rerouted;
    }
};

/// Any path selector or entropies, with receivers that place packets in any order where they may
/// overtake each other.
void
SpreadPaths(FabricHelper& fabric, std::mt19937& random)
{
    const char* types[] = {"ns3::EcmpSelector",
                           "ns3::WeightedSelector",
                           "ns3::FlowletSelector",
                           "ns3::RandomSpraySelector",
                           "ns3::RoundRobinSpraySelector",
                           "ns3::AdaptiveSpraySelector",
                           "ns3::RandomEntropy",
                           "ns3::RecycledEntropy"};
    const uint32_t choice = random() % 8;
    const TypeId type = TypeId::LookupByName(types[choice]);
    if (choice < 6)
    {
        fabric.SetSwitchAttribute("PathSelector", TypeIdValue(type));
    }
    else
    {
        fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(type));
    }
    if (choice >= 3 || random() % 2 == 0)
    {
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
        fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(1 + random() % 200));
    }
    fabric.SetRouteWeights(random() % 2 == 0 ? scaleacross::RouteWeights::Capacity
                                             : scaleacross::RouteWeights::Equal);
}

/// Every third fabric trims what would be dropped, with no control, NSCC or receiver credits.
void
TrimPackets(FabricHelper& fabric, std::mt19937& random)
{
    if (random() % 3 != 0)
    {
        return;
    }
    const char* controls[] = {"ns3::RdmaCongestionOps", "ns3::Nscc", "ns3::ReceiverCredit"};
    fabric.SetSwitchAttribute("Trim", BooleanValue(true));
    fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(5000 + random() % 50'000));
    fabric.SetSwitchPortAttribute("Quanta", StringValue("0,0,0,41780,0,0,4178,0"));
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(true));
    fabric.SetQueuePairAttribute("Window", UintegerValue(50'000 + random() % 500'000));
    fabric.SetQueuePairAttribute("CongestionOps", StringValue(controls[random() % 3]));
}

/// A random connected fabric of 1 to 5 switches with 2 to 8 hosts. All wires may be alike, so that
/// many things happen at the same time.
void
BuildRandom(FabricHelper& fabric, std::mt19937& random)
{
    const char* rates[] = {"25Gbps", "40Gbps", "100Gbps", "400Gbps"};
    const bool alike = random() % 2 == 0;
    auto rate = [&]() { return DataRate(alike ? "100Gbps" : rates[random() % 4]); };
    auto delay = [&]() { return NanoSeconds(alike ? 1000 : 50 + random() % 20'000); };
    auto loss = [&]() { return random() % 4 == 0 ? 1e-3 : 0.0; };
    fabric.SetSwitchAttribute("BufferSize", UintegerValue((1 + random() % 4) * 4 * kMiB));
    fabric.SetSwitchAttribute("Pfc", BooleanValue(random() % 4 != 0));
    fabric.SetNicAttribute("PathMtu", UintegerValue(random() % 2 == 0 ? 1000 : 4096));
    std::vector<Ptr<FabricSwitch>> switches;
    const uint32_t nSwitches = 1 + random() % 5;
    for (uint32_t i = 0; i < nSwitches; ++i)
    {
        switches.push_back(fabric.AddSwitch());
        if (i > 0) // to a switch before it, perhaps twice
        {
            Ptr<FabricSwitch> other = switches[random() % i];
            for (uint32_t n = 1 + random() % 2; n > 0; --n)
            {
                fabric.Connect(switches[i], other, rate(), delay(), loss());
            }
        }
    }
    for (uint32_t n = 2 + random() % 7; n > 0; --n)
    {
        Ptr<FabricSwitch> place = switches[random() % nSwitches];
        fabric.Connect(fabric.AddNic(fabric.AddHost()), place, rate(), delay(), loss());
    }
    fabric.InstallRoutes();
    fabric.AssignStreams(static_cast<int64_t>(random() % 100'000));
}

/// Credits in place of pauses, with buffers from nearly the least there may be; packets may change
/// lanes at every switch.
void
UseCredits(FabricHelper& fabric, std::mt19937& random)
{
    fabric.SetSwitchAttribute("Credits", BooleanValue(true));
    fabric.SetSwitchAttribute("VlBuffer", UintegerValue(13'000 + random() % 20'000));
    if (random() % 2 == 0)
    {
        fabric.SetSwitchAttribute("LaneMap",
                                  StringValue("in any out any 3:" + std::to_string(random() % 8) +
                                              ",6:" + std::to_string(random() % 8)));
    }
}

/// What is varied besides the seed.
struct Variant
{
    bool failures;
    bool credits;
};

Outcome
RunRandom(uint32_t seed, const Engine& engine, const Variant& variant)
{
    ObjectFactory scheduler(engine.scheduler);
    Simulator::SetScheduler(scheduler);
    Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(engine.eager));
    Config::SetDefault("ns3::FabricSwitch::LookAhead", BooleanValue(engine.switchesAhead));
    Config::SetDefault("ns3::RdmaNic::LookAhead", BooleanValue(engine.nicsBehind));
    std::mt19937 random(seed);
    Outcome outcome;
    Log log;
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("KeepAtDownPort",
                                  BooleanValue(variant.failures && seed % 2 == 0));
        std::mt19937 paths(seed + 1); // numbers of its own: fabrics are the same with all of them
        SpreadPaths(fabric, paths);
        if (variant.credits)
        {
            UseCredits(fabric, paths);
        }
        else
        {
            TrimPackets(fabric, paths);
        }
        BuildRandom(fabric, random);
        const Ptr<FabricEvents> events = variant.failures ? MakeEvents(fabric, random) : nullptr;
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(100));
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(1 + random() % 4));
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(1 + random() % 3));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(100'000));
        const uint32_t nNics = static_cast<uint32_t>(fabric.Nics().size());
        for (uint32_t i = 0; i < 10; ++i)
        {
            uint32_t from = random() % nNics;
            uint32_t to = (from + 1 + random() % (nNics - 1)) % nNics;
            auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
            log.Watch(connection);
            for (uint32_t message = 0; message < 3; ++message)
            {
                Bytes bytes(random() % 500'000);
                uint64_t tag = i * 10 + message;
                // What an application does at one time has the order of its own events: no two
                // here.
                Time when = random() % 2 == 0 ? Time(0) : NanoSeconds(1000 * (1 + tag));
                Simulator::Schedule(when, [=]() { connection->Send(bytes, tag); });
            }
        }
        for (uint32_t us = 7; us < 1000; us += 31)
        {
            Simulator::Schedule(MicroSeconds(us), [&fabric, &outcome]() {
                outcome.balanced = outcome.balanced && BalanceOf(fabric).Holds();
            });
        }
        Simulator::Run();
        FabricBalance balance = BalanceOf(fabric);
        outcome.balanced = outcome.balanced && balance.Holds() && balance.inFlight == 0;
        outcome.drops = balance.Dropped();
        outcome.cut = balance.dropped[static_cast<size_t>(scaleacross::DropReason::LinkDown)];
        outcome.clean = IsClean(fabric);
        for (const auto& fabricSwitch : fabric.Switches())
        {
            outcome.pauses += fabricSwitch->GetPauses();
            outcome.rerouted += fabricSwitch->GetRerouted();
        }
        for (const auto& nic : fabric.Nics())
        {
            outcome.retransmissions += nic->GetRetransmissions();
        }
        outcome.undelivered = CountUndelivered(fabric);
        Simulator::Destroy();
    }
    Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(false));
    Config::SetDefault("ns3::FabricSwitch::LookAhead", BooleanValue(false));
    Config::SetDefault("ns3::RdmaNic::LookAhead", BooleanValue(false));
    Simulator::SetScheduler(ObjectFactory("ns3::MapScheduler"));
    Simulator::Destroy();
    outcome.delivered = log.delivered;
    outcome.completed = log.completed;
    outcome.failures = log.failures;
    // Callbacks of different nodes at one time may come in any order.
    std::sort(outcome.delivered.begin(), outcome.delivered.end());
    std::sort(outcome.completed.begin(), outcome.completed.end());
    std::sort(outcome.failures.begin(), outcome.failures.end());
    return outcome;
}

/**
 * Random fabrics, paths and traffic, with and without PFC, loss and equal times, with credits, and
 * with failures that are repaired. Whatever happens: packets are conserved at any time, nothing is
 * left in flight, held or stopped, every message is delivered; and the result is the same to the
 * bit when the simulation is repeated, when every departure is an event of its own, with another
 * event list, when events of equal time come in another order, and when switches run ahead and NICs
 * behind.
 */
class RandomFabricTest : public TestCase
{
  public:
    RandomFabricTest(uint32_t first, const Variant& variant)
        : TestCase("Random fabrics from seed " + std::to_string(first) +
                   (variant.credits ? " with credits" : "") +
                   (variant.failures ? " with failures" : "")),
          m_first(first),
          m_variant(variant)
    {
    }

  private:
    void DoRun() override
    {
        uint64_t cut = 0;
        uint64_t pauses = 0;
        for (uint32_t seed = m_first; seed < m_first + 25; ++seed)
        {
            Outcome reference = RunRandom(seed, {}, m_variant);
            cut += reference.cut;
            pauses += reference.pauses;
            NS_TEST_ASSERT_MSG_EQ(reference.clean, true, "nothing left, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(reference.balanced, true, "conserved, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(reference.undelivered, 0, "delivered, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(reference.completed.size(), 30, "completed, seed " << seed);
            const Engine engines[] = {{"ns3::MapScheduler", false},
                                      {"ns3::MapScheduler", true},
                                      {"ns3::QuadHeapScheduler", false},
                                      {"scaleacross::test::ShufflingScheduler", false},
                                      {"scaleacross::test::ShufflingScheduler", true},
                                      {"ns3::MapScheduler", false, true, false},
                                      {"ns3::MapScheduler", false, false, true},
                                      {"ns3::QuadHeapScheduler", false, true, true},
                                      {"scaleacross::test::ShufflingScheduler", false, true, true},
                                      {"ns3::QuadHeapScheduler", true, true, true}};
            for (const Engine& engine : engines)
            {
                Outcome outcome = RunRandom(seed, engine, m_variant);
                NS_TEST_ASSERT_MSG_EQ((outcome == reference),
                                      true,
                                      "seed " << seed << ", " << engine.scheduler
                                              << (engine.eager ? ", eager" : "")
                                              << (engine.switchesAhead ? ", switches ahead" : "")
                                              << (engine.nicsBehind ? ", NICs behind" : ""));
            }
        }
        NS_TEST_EXPECT_MSG_EQ((cut > 1000), m_variant.failures, cut << " packets lost by failures");
        NS_TEST_EXPECT_MSG_EQ((pauses > 0), !m_variant.credits, pauses << " pauses");
    }

    uint32_t m_first;
    Variant m_variant;
};

class PropertySuite : public TestSuite
{
  public:
    PropertySuite()
        : TestSuite("scaleacross-properties")
    {
        for (uint32_t first : {0, 100, 200, 300})
        {
            AddTestCase(new RandomFabricTest(first, {false, false}));
        }
        for (uint32_t first : {400, 500, 600, 700})
        {
            AddTestCase(new RandomFabricTest(first, {true, false}));
        }
        AddTestCase(new RandomFabricTest(800, {false, true}));
        AddTestCase(new RandomFabricTest(900, {true, true}));
    }
};

PropertySuite g_propertySuite;

} // namespace
