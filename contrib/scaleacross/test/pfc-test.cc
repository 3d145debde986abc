// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/buffer-dependency.h"
#include "ns3/fabric-deadlock.h"
#include "ns3/pfc-watchdog.h"

#include <set>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;
using scaleacross::kNever;
using scaleacross::PfcWatchdog;

namespace
{

/// What a watchdog does to its owner, and queues that are set by hand.
class Desk : public PfcWatchdog::Owner
{
  public:
    bool IsWaiting(uint32_t port, uint8_t) const override
    {
        return waiting.count(port) > 0;
    }

    void Mark(uint32_t port, uint8_t, bool mark) override
    {
        mark ? void(marked.insert(port)) : void(marked.erase(port));
    }

    void BeginStorm(uint32_t port, uint8_t, int64_t now) override
    {
        begun.emplace_back(port, now);
        waiting.erase(port);
    }

    void EndStorm(uint32_t port, uint8_t, int64_t now) override
    {
        ended.emplace_back(port, now);
    }

    std::set<uint32_t> waiting;
    std::set<uint32_t> marked;
    std::vector<std::pair<uint32_t, int64_t>> begun;
    std::vector<std::pair<uint32_t, int64_t>> ended;
};

/// Nanoseconds, which a Time has whatever its resolution is, as the watchdog counts.
constexpr int64_t
Ns(int64_t count)
{
    return count * 1000;
}

/**
 * The rules by themselves, Detection 200 ns, Restoration 100 ns. Expected times are those of the
 * contract: pause or first packet plus 200, last resume plus 100.
 */
class WatchdogRulesTest : public TestCase
{
  public:
    WatchdogRulesTest()
        : TestCase("Rules of the PFC watchdog")
    {
    }

  private:
    void DoRun() override
    {
        Desk desk;
        PfcWatchdog dog(desk);
        dog.Configure({NanoSeconds(200), NanoSeconds(100), false});
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), kNever, "nothing is paused: nothing to do");

        // Something waits already when the pause comes at 50.
        desk.waiting = {1};
        dog.PauseChanged(1, 3, true, Ns(50));
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), Ns(250), "pause + detection");
        // A queue that is resumed in time is forgotten.
        desk.waiting.insert(2);
        dog.PauseChanged(2, 3, true, Ns(60));
        dog.PauseChanged(2, 3, false, Ns(259));
        dog.Check(Ns(250));
        NS_TEST_ASSERT_MSG_EQ(desk.begun.size(), 1, "one storm");
        NS_TEST_ASSERT_MSG_EQ(desk.begun[0].second, Ns(250), "its time");
        NS_TEST_ASSERT_MSG_EQ(dog.IsStorm(1, 3), true, "in a storm");
        NS_TEST_ASSERT_MSG_EQ(dog.IsStorm(1, 2), false, "only this priority");
        NS_TEST_ASSERT_MSG_EQ(desk.marked.count(1), 1, "wants to see what comes");
        NS_TEST_ASSERT_MSG_EQ(dog.Admits(1, 3, Ns(260)), false, "and throws it away");
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), kNever, "as long as the pause lasts");
        // Resumed at 300, paused at 350, resumed at 360: ends at 460.
        dog.PauseChanged(1, 3, false, Ns(300));
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), Ns(400), "resume + restoration");
        dog.PauseChanged(1, 3, true, Ns(350));
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), kNever, "started again");
        dog.PauseChanged(1, 3, false, Ns(360));
        dog.Check(Ns(459));
        NS_TEST_ASSERT_MSG_EQ(desk.ended.size(), 0, "not yet");
        dog.Check(Ns(460));
        NS_TEST_ASSERT_MSG_EQ(desk.ended.size(), 1, "over");
        NS_TEST_ASSERT_MSG_EQ(desk.marked.size(), 0, "back in service");
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), kNever, "nothing is paused");

        // An empty queue that stays paused needs no looking at; its first packet starts the time.
        desk.waiting.clear();
        dog.PauseChanged(5, 3, true, Ns(1000));
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), kNever, "nothing waits");
        NS_TEST_ASSERT_MSG_EQ(desk.marked.count(5), 1, "the first packet is wanted");
        NS_TEST_ASSERT_MSG_EQ(dog.Admits(5, 3, Ns(5000)), true, "which is welcome");
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), Ns(5200), "first packet + detection");
        NS_TEST_ASSERT_MSG_EQ(desk.marked.count(5), 0, "those after it are not");
        // It found no memory: the queue is still empty, and the next packet is the first.
        dog.Check(Ns(5200));
        NS_TEST_ASSERT_MSG_EQ(dog.Due(), kNever, "nothing waits");
        NS_TEST_ASSERT_MSG_EQ(desk.marked.count(5), 1, "the next one is wanted");
        NS_TEST_ASSERT_MSG_EQ(dog.Storms(), 1, "no other storm");
    }
};

/// n switches in a ring with one host each; all packets go clockwise, by routes set by hand.
struct Ring
{
    explicit Ring(uint32_t n)
        : size(n)
    {
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
    }

    void Build()
    {
        for (uint32_t i = 0; i < size; ++i)
        {
            Ptr<FabricSwitch> place = fabric.AddSwitch();
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           place,
                           DataRate("100Gbps"),
                           MicroSeconds(1));
        }
        for (uint32_t i = 0; i < size; ++i)
        {
            // Leaves switch 0 by port 1, every other one by port 2; port 0 leads to the host.
            fabric.Connect(fabric.Switches()[i],
                           fabric.Switches()[(i + 1) % size],
                           DataRate("100Gbps"),
                           MicroSeconds(1));
        }
        fabric.InstallRoutes();
    }

    void GoClockwise()
    {
        for (uint32_t i = 0; i < size; ++i)
        {
            auto& routes = fabric.Switches()[i]->Routes();
            routes.Clear();
            for (uint32_t to = 0; to < size; ++to)
            {
                const uint32_t address = fabric.Nics()[to]->GetFabricAddress();
                routes.Add(address, address, {{Clockwise(i, to)}, {}});
            }
        }
    }

    uint16_t Clockwise(uint32_t i, uint32_t to) const
    {
        return to == i ? 0 : (i == 0 ? 1 : 2);
    }

    /// Everybody sends to the host before it, the whole way round.
    void Load(Log& log, uint64_t bytes)
    {
        for (uint32_t i = 0; i < size; ++i)
        {
            auto connection =
                fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[(i + size - 1) % size]);
            log.Watch(connection);
            connection->Send(Bytes(bytes), i);
        }
    }

    uint32_t size;
    FabricHelper fabric;
};

/// Node ids in the texts below: hosts and switches of ring n are created in turn, switch i first:
/// NodeList numbers them 2 i (switch) and 2 i + 1 (host).
std::string
PortName(uint32_t i)
{
    return "node " + std::to_string(2 * i) + " port " + (i == 0 ? "1" : "2");
}

/**
 * A ring deadlocks. Every wire of it carries the flows of n - 1 hosts, of which n - 2 come over the
 * wire before: each ingress from the ring takes in more than may leave for its share of the next
 * wire, is paused, and so on round the ring. As all switches are alike and begin at the same time,
 * they pause each other at the same time.
 *
 * The routes show it before time zero: wire i is followed by wire i + 1, for all i. At run time the
 * same ports wait for each other, and the cycle can be named. The simulation ends: without timeouts
 * because nothing can move, with them because every queue pair runs into its retry limit.
 */
class RingDeadlockTest : public TestCase
{
  public:
    RingDeadlockTest(uint32_t size, uint32_t timeout)
        : TestCase("Deadlock of a ring of " + std::to_string(size) +
                   (timeout == 0 ? " without timeouts" : " with timeouts")),
          m_size(size),
          m_timeout(timeout)
    {
    }

  private:
    void DoRun() override
    {
        Ring ring(m_size);
        ring.fabric.SetQueuePairAttribute("Timeout", UintegerValue(m_timeout));
        ring.Build();
        ring.GoClockwise();

        const auto possible = FindBufferDependencyCycle(ring.fabric);
        std::string routes = "cyclic buffer dependency: ";
        std::string deadlock = "deadlock: " + PortName(0) + " priority 3 waits for ";
        for (uint32_t i = 0; i < m_size; ++i)
        {
            routes += PortName(i) + " -> ";
            deadlock += i == 0 ? "" : PortName(i) + ", which waits for ";
        }
        routes += PortName(0) + " in priority 3";
        deadlock += PortName(0);
        NS_TEST_ASSERT_MSG_EQ(possible.Text(), routes, "seen before time zero");
        NS_TEST_ASSERT_MSG_EQ(FindDeadlock(ring.fabric).Exists(), false, "not locked yet");

        Log log;
        ring.Load(log, 8 * kMiB);
        Simulator::Run(); // ends by itself
        const auto found = FindDeadlock(ring.fabric);
        NS_TEST_ASSERT_MSG_EQ(found.Text(), deadlock, "named");
        NS_TEST_ASSERT_MSG_EQ(found.ports.size(), m_size, "all of the ring");
        NS_TEST_ASSERT_MSG_EQ(DescribeWaiting(ring.fabric).find(deadlock), 0, "who waits");
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 0, "no message gets through");
        NS_TEST_ASSERT_MSG_EQ((CountUndelivered(ring.fabric) > 0),
                              (m_timeout == 0),
                              "without timeouts they wait, with them they are given up");
        NS_TEST_ASSERT_MSG_EQ(log.failures.empty(), (m_timeout == 0), "and said so");
        NS_TEST_ASSERT_MSG_EQ(BalanceOf(ring.fabric).Dropped(), 0, "lossless to the end");
        CheckConservation(ring.fabric);
        Simulator::Destroy();
    }

    uint32_t m_size;
    uint32_t m_timeout;
};

/**
 * The watchdog breaks the deadlock of the test before: every message arrives, what it threw away
 * (or, forwarding, what the neighbours had no memory for) under the right name. Detection 500 us:
 * an ordinary pause here lasts as long as a switch needs for some packets of its 1 MiB, 84 us for
 * all of it at 100 Gb/s.
 */
class WatchdogRingTest : public TestCase
{
  public:
    explicit WatchdogRingTest(bool forward)
        : TestCase(std::string("The watchdog breaks a deadlock by ") +
                   (forward ? "forwarding" : "dropping")),
          m_forward(forward)
    {
    }

  private:
    void DoRun() override
    {
        Ring ring(3);
        ring.fabric.SetSwitchAttribute("WatchdogDetection", TimeValue(MicroSeconds(500)));
        ring.fabric.SetSwitchAttribute("WatchdogRestoration", TimeValue(MicroSeconds(500)));
        ring.fabric.SetSwitchAttribute("WatchdogForward", BooleanValue(m_forward));
        ring.fabric.SetQueuePairAttribute("Timeout", UintegerValue(8)); // 1.05 ms
        ring.fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1000));
        ring.Build();
        ring.GoClockwise();
        Log log;
        ring.Load(log, 2 * kMiB);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 3, "every message");
        NS_TEST_ASSERT_MSG_EQ(FindDeadlock(ring.fabric).Exists(), false, "no deadlock is left");
        NS_TEST_ASSERT_MSG_EQ(DescribeWaiting(ring.fabric), "", "nobody waits");
        const FabricBalance balance = CheckConservation(ring.fabric);
        NS_TEST_ASSERT_MSG_EQ(balance.inFlight, 0, "nothing is left");
        const auto reason = m_forward ? DropReason::HeadroomFull : DropReason::PfcWatchdog;
        // When all of the ring moves at once, as much leaves a memory as comes in: forwarding need
        // not lose anything.
        NS_TEST_ASSERT_MSG_EQ((balance.dropped[static_cast<size_t>(reason)] > 0 || m_forward),
                              true,
                              "what was dropped has a name");
        NS_TEST_ASSERT_MSG_EQ(balance.Dropped(),
                              balance.dropped[static_cast<size_t>(reason)],
                              "and for no other reason");
        uint64_t storms = 0;
        for (const auto& place : ring.fabric.Switches())
        {
            storms += place->GetStorms();
            NS_TEST_ASSERT_MSG_EQ(place->GetOccupancy(), 0, "empty");
            NS_TEST_ASSERT_MSG_LT_OR_EQ(place->GetPeakOccupancy(), kMiB, "within the buffer");
            for (uint32_t port = 0; port < 3; ++port)
            {
                NS_TEST_ASSERT_MSG_EQ(place->IsStorm(port, 3), false, "back in service");
            }
        }
        NS_TEST_ASSERT_MSG_GT(storms, 0, "storms");
        Simulator::Destroy();
    }

    bool m_forward;
};

/// When things happen to one queue.
struct QueueTimes
{
    void Pause(uint8_t, bool paused)
    {
        (paused ? pauses : resumes).push_back(Simulator::Now().GetPicoSeconds());
    }

    void Enqueue(const scaleacross::FabricPacket& packet)
    {
        if (packet.kind == scaleacross::PacketKind::Data)
        {
            enqueued.push_back(Simulator::Now().GetPicoSeconds());
        }
    }

    void Storm(uint32_t, uint8_t, bool begins)
    {
        (begins ? begun : ended).push_back(Simulator::Now().GetPicoSeconds());
    }

    std::vector<int64_t> pauses;
    std::vector<int64_t> resumes;
    std::vector<int64_t> enqueued;
    std::vector<int64_t> begun;
    std::vector<int64_t> ended;
};

/**
 * A receiver on a wire of 10 Mb/s behind two switches: the second one pauses the first for long.
 * Its ingress has to shed 8,400 bytes, ResumeOffset, at 10 Mb/s: 6.7 ms, and more of its headroom
 * before. Detection 1 ms. If the sender's wire is the faster one, packets wait at the first switch
 * when the first pause arrives, and the storm begins 1 ms after that, to the picosecond. If both
 * are alike none waits, and it begins 1 ms after the next packet has come in. Each storm ends 1 ms
 * after a resume that no pause followed within that time.
 */
class WatchdogTimeTest : public TestCase
{
  public:
    explicit WatchdogTimeTest(bool queued)
        : TestCase(std::string("Storms begin and end at their time, ") +
                   (queued ? "with" : "without") + " packets waiting"),
          m_queued(queued)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
        fabric.SetSwitchAttribute("WatchdogDetection", TimeValue(MilliSeconds(1)));
        fabric.SetSwitchAttribute("WatchdogRestoration", TimeValue(MilliSeconds(1)));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(0));
        Ptr<FabricSwitch> near = fabric.AddSwitch();
        Ptr<FabricSwitch> far = fabric.AddSwitch();
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        fabric.Connect(a, near, DataRate(m_queued ? "20Gbps" : "10Gbps"), MicroSeconds(1));
        fabric.Connect(near, far, DataRate("10Gbps"), MicroSeconds(1));
        fabric.Connect(b, far, DataRate("10Mbps"), MicroSeconds(1));
        fabric.InstallRoutes();
        QueueTimes times;
        near->GetPort(1)->TraceConnectWithoutContext("Pause",
                                                     MakeCallback(&QueueTimes::Pause, &times));
        near->GetPort(1)->TraceConnectWithoutContext("Enqueue",
                                                     MakeCallback(&QueueTimes::Enqueue, &times));
        near->TraceConnectWithoutContext("PfcStorm", MakeCallback(&QueueTimes::Storm, &times));
        // Its packets fill both switches; those thrown away are not sent again (no timeout), but
        // a gap is reported, once.
        auto connection = fabric.CreateConnection(a, b);
        connection->Send(Bytes(kMiB), 1);
        Simulator::Run();

        const int64_t ms = 1'000'000'000;
        NS_TEST_ASSERT_MSG_GT(times.begun.size(), 0, "a storm");
        int64_t begin = times.pauses[0];
        if (!m_queued)
        {
            auto next = std::upper_bound(times.enqueued.begin(), times.enqueued.end(), begin);
            NS_TEST_ASSERT_MSG_EQ((next != times.enqueued.end()), true, "another packet comes in");
            begin = *next;
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(times.begun[0], begin + ms, Rounding(1), "begin");
        NS_TEST_ASSERT_MSG_EQ(times.ended.size(), times.begun.size(), "all are over");
        NS_TEST_ASSERT_MSG_EQ(near->GetStorms(), times.begun.size(), "counter");
        for (size_t i = 0; i < times.ended.size(); ++i)
        {
            int64_t resume = 0;
            for (size_t k = 0; k < times.resumes.size(); ++k)
            {
                const bool stays =
                    k + 1 == times.pauses.size() || times.pauses[k + 1] > times.resumes[k] + ms;
                if (resume == 0 && times.resumes[k] > times.begun[i] && stays)
                {
                    resume = times.resumes[k];
                }
            }
            NS_TEST_ASSERT_MSG_EQ_TOL(times.ended[i], resume + ms, Rounding(1), "end " << i);
        }
        NS_TEST_ASSERT_MSG_GT(near->GetDrops(DropReason::PfcWatchdog), 0, "drops");
        NS_TEST_ASSERT_MSG_EQ(near->GetDrops(), near->GetDrops(DropReason::PfcWatchdog), "only");
        NS_TEST_ASSERT_MSG_EQ(near->GetOccupancy() + far->GetOccupancy(), 0, "empty");
        NS_TEST_ASSERT_MSG_EQ(near->GetPort(1)->GetQueueBytes(), 0, "empty");
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    bool m_queued;
};

/**
 * No false alarm. A leaf-spine sends up and then down, so no wire follows itself: the routes are
 * free of cycles, and however many pauses an incast of 6 over 2 spines causes, none of them is a
 * deadlock at any time. A ring with shortest paths depends on its size: of 3, every way has one
 * wire, and nothing follows; of 4, ways to the opposite switch have two, in both directions.
 * Without PFC nothing waits for anyone.
 */
class NoDeadlockTest : public TestCase
{
  public:
    NoDeadlockTest()
        : TestCase("What is no deadlock is not called one")
    {
    }

  private:
    void DoRun() override
    {
        LeafSpine();
        Ring three(3);
        three.Build();
        NS_TEST_ASSERT_MSG_EQ(FindBufferDependencyCycle(three.fabric).Text(), "", "ring of 3");
        Simulator::Destroy();
        Ring four(4);
        four.Build();
        NS_TEST_ASSERT_MSG_EQ(FindBufferDependencyCycle(four.fabric).ports.size(), 4, "ring of 4");
        Simulator::Destroy();
        Ring lossy(4);
        lossy.fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        lossy.Build();
        NS_TEST_ASSERT_MSG_EQ(FindBufferDependencyCycle(lossy.fabric).Text(), "", "without PFC");
        Simulator::Destroy();
    }

    void LeafSpine()
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
        std::vector<Ptr<FabricSwitch>> leaves = {fabric.AddSwitch(),
                                                 fabric.AddSwitch(),
                                                 fabric.AddSwitch()};
        for (uint32_t i = 0; i < 9; ++i)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           leaves[i / 3],
                           DataRate("100Gbps"),
                           MicroSeconds(1));
        }
        for (uint32_t i = 0; i < 2; ++i)
        {
            Ptr<FabricSwitch> spine = fabric.AddSwitch();
            for (const auto& leaf : leaves)
            {
                fabric.Connect(leaf, spine, DataRate("100Gbps"), MicroSeconds(1));
            }
        }
        fabric.InstallRoutes();
        NS_TEST_ASSERT_MSG_EQ(FindBufferDependencyCycle(fabric).Text(), "", "up and down");
        Log log;
        for (uint32_t i = 3; i < 9; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[0]);
            log.Watch(connection);
            connection->Send(Bytes(kMiB), i);
        }
        bool alarm = false;
        uint32_t waiting = 0;
        for (uint32_t us = 5; us < 500; us += 5)
        {
            Simulator::Schedule(MicroSeconds(us), [&]() {
                alarm = alarm || FindDeadlock(fabric).Exists();
                for (const auto& place : fabric.Switches())
                {
                    for (uint32_t port = 0; port < place->GetNPorts(); ++port)
                    {
                        waiting += place->GetPort(port)->IsBlocked(3) ? 1 : 0;
                    }
                }
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_GT(waiting, 50, "switches wait for switches, time and again");
        NS_TEST_ASSERT_MSG_EQ(alarm, false, "and never for each other");
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 6, "all done");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

class PfcSuite : public TestSuite
{
  public:
    PfcSuite()
        : TestSuite("scaleacross-pfc")
    {
        AddTestCase(new WatchdogRulesTest);
        AddTestCase(new RingDeadlockTest(3, 0));
        AddTestCase(new RingDeadlockTest(4, 0));
        AddTestCase(new RingDeadlockTest(3, 6));
        AddTestCase(new WatchdogRingTest(false));
        AddTestCase(new WatchdogRingTest(true));
        AddTestCase(new WatchdogTimeTest(true));
        AddTestCase(new WatchdogTimeTest(false));
        AddTestCase(new NoDeadlockTest);
    }
};

PfcSuite g_pfcSuite;

} // namespace
