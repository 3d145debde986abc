// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/buffer-dependency.h"
#include "ns3/fabric-deadlock.h"
#include "ns3/string.h"

#include <map>
#include <memory>
#include <random>
#include <tuple>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;

namespace
{

/// FNV-1a over numbers.
class Hash
{
  public:
    void Add(uint64_t value)
    {
        for (int i = 0; i < 8; ++i, value >>= 8)
        {
            m_state = (m_state ^ (value & 0xFF)) * 1'099'511'628'211ULL;
        }
    }

    uint64_t Value() const
    {
        return m_state;
    }

  private:
    uint64_t m_state{14'695'981'039'346'656'037ULL};
};

/// Numbers packets in the order in which they leave their NICs. A packet is one object on its way,
/// and there is another one at its address only when it has arrived or been dropped.
using Serials = std::map<const FabricPacket*, uint64_t>;

/**
 * Hears everything that happens at one port, makes a number of it that depends on order, times and
 * contents, and watches over the order of packets. Each trace source has a number of its own: the
 * order of what a port sends and what is dropped behind it at the same time means nothing.
 *
 * Packets with equal source, destination, UDP source port and priority take one path; whatever they
 * do in their transport, none may leave a switch before one that left the NIC earlier.
 */
class Listener
{
  public:
    Listener(Ptr<FabricPort> port, Serials& serials)
        : m_serials(serials),
          m_isNic(bool(DynamicCast<RdmaNic>(port)))
    {
        port->TraceConnectWithoutContext("Enqueue", MakeCallback(&Listener::Enqueue, this));
        port->TraceConnectWithoutContext("Transmit", MakeCallback(&Listener::Transmit, this));
        port->TraceConnectWithoutContext("Drop", MakeCallback(&Listener::Drop, this));
        port->TraceConnectWithoutContext("Pause", MakeCallback(&Listener::Pause, this));
    }

    void AddTo(Hash& hash) const
    {
        for (const Hash& source : m_hashes)
        {
            hash.Add(source.Value());
        }
    }

    bool InOrder() const
    {
        return m_inOrder;
    }

    uint64_t Checked() const
    {
        return m_checked;
    }

  private:
    using Path = std::tuple<uint32_t, uint32_t, uint16_t, uint8_t>;

    static void Note(Hash& hash, const FabricPacket& packet)
    {
        hash.Add(static_cast<uint64_t>(Simulator::Now().GetPicoSeconds()));
        hash.Add(static_cast<uint64_t>(packet.kind));
        hash.Add(packet.source);
        hash.Add(packet.destination);
        hash.Add(packet.queuePair);
        hash.Add(packet.psn);
        hash.Add(packet.size);
    }

    void Enqueue(const FabricPacket& packet)
    {
        Note(m_hashes[0], packet);
    }

    void Transmit(const FabricPacket& packet)
    {
        Note(m_hashes[1], packet);
        if (m_isNic)
        {
            m_serials[&packet] = ++m_serial;
            return;
        }
        const Path path{packet.source, packet.destination, packet.entropy, packet.priority};
        const uint64_t serial = m_serials.at(&packet);
        uint64_t& last = m_last[path];
        m_inOrder = m_inOrder && serial > last;
        last = serial;
        ++m_checked;
    }

    void Drop(const FabricPacket& packet, DropReason reason)
    {
        Note(m_hashes[2], packet);
        m_hashes[2].Add(static_cast<uint64_t>(reason));
    }

    void Pause(uint8_t priority, bool paused)
    {
        m_hashes[3].Add(paused ? priority + 8 : priority);
        m_hashes[3].Add(static_cast<uint64_t>(Simulator::Now().GetPicoSeconds()));
    }

    std::array<Hash, 4> m_hashes; //!< Enqueue, Transmit, Drop, Pause
    Serials& m_serials;
    std::map<Path, uint64_t> m_last;
    uint64_t m_serial{0}; //!< of this NIC: packets of different NICs are never compared
    uint64_t m_checked{0};
    bool m_isNic;
    bool m_inOrder{true};
};

/// What came of one simulation.
struct Verdict
{
    std::vector<Event> delivered;
    std::vector<std::string> failures;
    uint64_t trace{0}; //!< of everything that was heard
    uint64_t checked{0};
    bool inOrder{true};
    bool balanced{true};
    bool withinBuffer{true};
    bool cycleInRoutes{false};
    bool everLocked{false};
    bool lockedAtEnd{false};
    bool watchdog{false};
    uint64_t unaccounted{0}; //!< messages neither delivered nor given up
    uint64_t headroomDrops{0};
    uint64_t storms{0};
    std::string waiting;

    /// But for what was heard.
    bool operator==(const Verdict& other) const
    {
        return delivered == other.delivered && failures == other.failures &&
               balanced == other.balanced && withinBuffer == other.withinBuffer &&
               everLocked == other.everLocked && unaccounted == other.unaccounted &&
               headroomDrops == other.headroomDrops && storms == other.storms &&
               waiting == other.waiting;
    }
};

/**
 * A ring of 4 to 6 switches with 1 or 2 hosts each, all wires alike or not, little memory. Routes
 * are shortest paths, perhaps with a chord, or go clockwise: deadlocks are possible, but not where
 * the ring is left open. With and without loss (independent or in bursts), a PFC watchdog, weighted
 * priorities, and patience of the queue pairs.
 */
class Random
{
  public:
    Random(uint32_t seed, bool lookAhead)
        : m_random(seed)
    {
        fabric.SetLookAhead(lookAhead);
        const char* losses[] = {"",
                                "",
                                "ns3::IidLossModel[LossRate=3e-3]",
                                "ns3::GilbertElliottLossModel[GoodToBad=3e-4|BadToGood=0.2]"};
        m_loss = losses[m_random() % 4];
        watchdog = m_random() % 2 == 0;
        fabric.SetSwitchAttribute("BufferSize", UintegerValue((2 + m_random() % 3) * kMiB));
        if (watchdog)
        {
            fabric.SetSwitchAttribute("WatchdogDetection", TimeValue(MicroSeconds(400)));
            fabric.SetSwitchAttribute("WatchdogRestoration", TimeValue(MicroSeconds(200)));
            fabric.SetSwitchAttribute("WatchdogForward", BooleanValue(m_random() % 2 == 0));
        }
        if (m_random() % 2 == 0)
        {
            fabric.SetNicAttribute("Quanta", StringValue("0,0,3000,9000,0,0,0,0"));
        }
        fabric.SetSwitchAttribute("LosslessPriorities", UintegerValue(0b1100));
        BuildNetwork();
        for (const auto& wire : fabric.Wires())
        {
            wire->SetLossModels(m_loss);
        }
        fabric.AssignStreams(static_cast<int64_t>(m_random() % 100'000));
    }

    void Load(Log& log)
    {
        const bool patient = watchdog || m_random() % 2 != 0;
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(7)); // 524 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(patient ? 1000 : 0));
        const uint32_t nNics = static_cast<uint32_t>(fabric.Nics().size());
        for (uint32_t i = 0; i < 3 * nNics; ++i)
        {
            fabric.SetQueuePairAttribute("Priority", UintegerValue(m_random() % 4 == 0 ? 2 : 3));
            const uint32_t from = i % nNics;
            const uint32_t to = (from + 1 + m_random() % (nNics - 1)) % nNics;
            auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
            log.Watch(connection);
            connection->Send(Bytes(m_random() % 1'500'000), i);
        }
    }

    FabricHelper fabric;
    bool watchdog{false};

  private:
    void BuildNetwork()
    {
        const char* rates[] = {"50Gbps", "100Gbps", "100Gbps", "200Gbps"};
        const bool alike = m_random() % 2 == 0;
        auto rate = [&]() { return DataRate(alike ? "100Gbps" : rates[m_random() % 4]); };
        auto delay = [&]() { return NanoSeconds(alike ? 1000 : 100 + m_random() % 1000); };
        std::vector<Ptr<FabricSwitch>> ring;
        for (uint32_t n = 4 + m_random() % 3; n > 0; --n)
        {
            ring.push_back(fabric.AddSwitch());
            for (uint32_t hosts = 1 + m_random() % 2; hosts > 0; --hosts)
            {
                fabric.Connect(fabric.AddNic(fabric.AddHost()), ring.back(), rate(), delay());
            }
        }
        const uint32_t kind = m_random() % 4;
        std::vector<uint16_t> clockwise;
        for (size_t i = 0; i + (kind == 1 ? 1 : 0) < ring.size(); ++i)
        {
            auto wire = fabric.Connect(ring[i], ring[(i + 1) % ring.size()], rate(), delay());
            auto port = DynamicCast<SwitchPort>(wire->GetDevice(0));
            clockwise.push_back(static_cast<uint16_t>(port->GetPortNumber()));
        }
        if (kind == 0)
        {
            fabric.Connect(ring[0], ring[2], rate(), delay());
        }
        fabric.InstallRoutes();
        for (size_t i = 0; i < ring.size() && kind > 1; ++i)
        {
            auto& routes = ring[i]->Routes();
            routes.Clear();
            for (const auto& nic : fabric.Nics())
            {
                const uint32_t address = nic->GetFabricAddress();
                auto peer = DynamicCast<SwitchPort>(nic->GetPeer());
                const bool here = &peer->GetSwitch() == PeekPointer(ring[i]);
                const uint32_t port = here ? peer->GetPortNumber() : clockwise[i];
                routes.Add(address, address, {{static_cast<uint16_t>(port)}, {}});
            }
        }
    }

    std::mt19937 m_random;
    std::string m_loss;
};

Verdict
Simulate(uint32_t seed, bool listen, const std::string& scheduler, bool lookAhead = false)
{
    Simulator::SetScheduler(ObjectFactory(scheduler));
    Verdict verdict;
    {
        Random random(seed, lookAhead);
        FabricHelper& fabric = random.fabric;
        Serials serials;
        std::vector<std::unique_ptr<Listener>> listeners;
        for (const auto& wire : fabric.Wires())
        {
            for (size_t i = 0; i < 2 && listen; ++i)
            {
                auto port = DynamicCast<FabricPort>(wire->GetDevice(i));
                listeners.push_back(std::make_unique<Listener>(port, serials));
            }
        }
        Log log;
        random.Load(log);
        verdict.watchdog = random.watchdog;
        verdict.cycleInRoutes = FindBufferDependencyCycle(fabric).Exists();
        auto look = [&]() {
            verdict.balanced = verdict.balanced && BalanceOf(fabric).Holds();
            verdict.everLocked = verdict.everLocked || FindDeadlock(fabric).Exists();
            for (const auto& place : fabric.Switches())
            {
                UintegerValue size;
                place->GetAttribute("BufferSize", size);
                verdict.withinBuffer = verdict.withinBuffer &&
                                       place->GetOccupancy() <= size.Get() &&
                                       place->GetPeakOccupancy() <= size.Get();
            }
        };
        for (uint32_t us = 11; us < 1200; us += 37)
        {
            fabric.HoldAt(MicroSeconds(us));
            Simulator::Schedule(MicroSeconds(us), look);
        }
        Simulator::Run();
        look();
        verdict.lockedAtEnd = FindDeadlock(fabric).Exists();
        verdict.unaccounted = CountUndelivered(fabric);
        verdict.waiting = DescribeWaiting(fabric);
        verdict.headroomDrops =
            BalanceOf(fabric).dropped[static_cast<size_t>(DropReason::HeadroomFull)];
        for (const auto& place : fabric.Switches())
        {
            verdict.storms += place->GetStorms();
        }
        Hash hash;
        for (const auto& listener : listeners)
        {
            listener->AddTo(hash);
            verdict.inOrder = verdict.inOrder && listener->InOrder();
            verdict.checked += listener->Checked();
        }
        verdict.trace = hash.Value();
        verdict.delivered = log.delivered;
        verdict.failures = log.failures;
        Simulator::Destroy();
    }
    Simulator::SetScheduler(ObjectFactory("ns3::MapScheduler"));
    Simulator::Destroy();
    // Callbacks of different nodes at one time may come in any order.
    std::sort(verdict.delivered.begin(), verdict.delivered.end());
    std::sort(verdict.failures.begin(), verdict.failures.end());
    return verdict;
}

/**
 * What holds in every fabric, under every load:
 *
 *   - packets are conserved and no switch holds more than it has, at any time;
 *   - packets on one path do not overtake each other;
 *   - every message is delivered, or its connection fails with a reason, or the fabric is locked
 * and the deadlock has a name; with a watchdog it never stays locked;
 *   - the fabric can be locked only if its routes have a cyclic buffer dependency;
 *   - no headroom overflows unless a watchdog sends in spite of a pause;
 *   - the same seed gives the same trace, event for event, whatever the order in which events of
 *     equal time come; and neither listening nor look-ahead changes a time.
 */
class LawsTest : public TestCase
{
  public:
    LawsTest(uint32_t first, uint32_t count)
        : TestCase("Laws of a fabric, from seed " + std::to_string(first)),
          m_first(first),
          m_count(count)
    {
    }

  private:
    void DoRun() override
    {
        uint32_t acyclic = 0;
        uint32_t locked = 0;
        uint32_t failed = 0;
        uint64_t storms = 0;
        uint64_t previous = 0;
        for (uint32_t seed = m_first; seed < m_first + m_count; ++seed)
        {
            const Verdict verdict = Simulate(seed, true, "ns3::MapScheduler");
            NS_TEST_ASSERT_MSG_EQ(verdict.balanced, true, "conserved, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(verdict.withinBuffer, true, "buffers, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(verdict.inOrder, true, "order, seed " << seed);
            NS_TEST_ASSERT_MSG_GT(verdict.checked, 100, "packets passed, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ((verdict.unaccounted == 0 || verdict.lockedAtEnd),
                                  true,
                                  "done, failed or locked, seed " << seed << ": "
                                                                  << verdict.waiting);
            NS_TEST_ASSERT_MSG_EQ((verdict.lockedAtEnd && verdict.watchdog), false, seed);
            NS_TEST_ASSERT_MSG_EQ((verdict.everLocked && !verdict.cycleInRoutes),
                                  false,
                                  "the routes say it, seed " << seed);
            NS_TEST_ASSERT_MSG_EQ((verdict.headroomDrops > 0 && verdict.storms == 0),
                                  false,
                                  "headroom, seed " << seed);
            for (const std::string& failure : verdict.failures)
            {
                NS_TEST_ASSERT_MSG_NE(failure, "", "a reason, seed " << seed);
            }
            for (const char* scheduler :
                 {"ns3::MapScheduler", "scaleacross::test::ShufflingScheduler"})
            {
                const Verdict again = Simulate(seed, true, scheduler);
                NS_TEST_ASSERT_MSG_EQ(again.trace, verdict.trace, "trace, seed " << seed);
            }
            for (const bool lookAhead : {false, true})
            {
                const Verdict silent = Simulate(seed, false, "ns3::QuadHeapScheduler", lookAhead);
                NS_TEST_ASSERT_MSG_EQ((silent == verdict),
                                      true,
                                      "seed " << seed << (lookAhead ? ", look-ahead" : ""));
            }
            NS_TEST_ASSERT_MSG_NE(verdict.trace, previous, "seeds differ");
            previous = verdict.trace;
            acyclic += verdict.cycleInRoutes ? 0 : 1;
            locked += verdict.lockedAtEnd ? 1 : 0;
            failed += verdict.failures.empty() ? 0 : 1;
            storms += verdict.storms;
        }
        // Or the laws would say little.
        NS_TEST_ASSERT_MSG_GT(acyclic, 0, "some routes without a cycle");
        NS_TEST_ASSERT_MSG_GT(locked, 0, "some deadlock");
        NS_TEST_ASSERT_MSG_GT(failed, 0, "some connections fail");
        NS_TEST_ASSERT_MSG_GT(storms, 0, "some watchdog acts");
    }

    uint32_t m_first;
    uint32_t m_count;
};

class LawsSuite : public TestSuite
{
  public:
    LawsSuite()
        : TestSuite("scaleacross-laws")
    {
        AddTestCase(new LawsTest(0, 24));
        AddTestCase(new LawsTest(100, 16));
    }
};

LawsSuite g_lawsSuite;

} // namespace
