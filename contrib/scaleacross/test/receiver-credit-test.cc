// SPDX-License-Identifier: GPL-2.0-only

#include "control-bench.h"
#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/pull-pacer.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/receiver-credit.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace fabrictest;

namespace
{

/// FirstWindow for the length of a test case.
class FirstWindow
{
  public:
    explicit FirstWindow(Time time)
    {
        Config::SetDefault("ns3::ReceiverCredit::FirstWindow", TimeValue(time));
    }

    ~FirstWindow()
    {
        Config::SetDefault("ns3::ReceiverCredit::FirstWindow", TimeValue(MicroSeconds(20)));
    }

    FirstWindow(const FirstWindow&) = delete;
    FirstWindow& operator=(const FirstWindow&) = delete;
};

/// The worked case of PullPacer, and a line that has rested: 675,360 + 334,240 = 1,009,600 is when
/// the last pull's packet is through.
class PacerTest : public TestCase
{
  public:
    PacerTest()
        : TestCase("When pulls are due, and to whom")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t rate = 100'000'000'000;
        scaleacross::PullPacer pacer;
        NS_TEST_ASSERT_MSG_EQ(pacer.Due(), scaleacross::kNever, "none is owed");
        pacer.Ask(1);
        pacer.Ask(1);
        pacer.Ask(2);
        NS_TEST_ASSERT_MSG_EQ(pacer.Due(), 0, "at once");
        NS_TEST_ASSERT_MSG_EQ(pacer.Take(4178, 0, rate), 1, "who asked first");
        NS_TEST_ASSERT_MSG_EQ(pacer.Due(), 334'240, "a packet later");
        NS_TEST_ASSERT_MSG_EQ(pacer.Take(4178, 334'240, rate), 2, "in turn");
        pacer.LineUsed(86, 400'000, rate);
        NS_TEST_ASSERT_MSG_EQ(pacer.Due(), 675'360, "and an ACK later");
        NS_TEST_ASSERT_MSG_EQ(pacer.Take(4178, 675'360, rate), 1, "its second");
        NS_TEST_ASSERT_MSG_EQ(pacer.Due(), scaleacross::kNever, "none is owed");
        pacer.Ask(7);
        NS_TEST_ASSERT_MSG_EQ(pacer.Due(), 1'009'600, "not before the last packet is through");
        pacer.LineUsed(86, 1'500'000, rate);
        NS_TEST_ASSERT_MSG_EQ(pacer.Due(), 1'009'600, "the line was free");
        NS_TEST_ASSERT_MSG_EQ(pacer.Take(4178, 2'000'000, rate), 7, "late");
        pacer.Ask(7);
        NS_TEST_ASSERT_MSG_EQ(pacer.Due(), 2'334'240, "a line that has rested earns nothing");
    }
};

/// The worked case of ReceiverCredit: w = 3 (3 x 1,082 bytes take 259.68 ns), packets A to E.
class BookTest : public TestCase
{
  public:
    BookTest()
        : TestCase("At hand, owed and backlog by hand")
    {
    }

  private:
    static bool Send(ControlBench<ReceiverCredit>& bench, uint64_t backlog)
    {
        bench.state.backlog = backlog;
        bench.control->OnSent(bench.state, 1082, 0);
        ++bench.state.unacked;
        return bench.state.asks;
    }

    static void Answer(ControlBench<ReceiverCredit>& bench, bool trimmed = false, bool owed = false)
    {
        RdmaAck ack;
        ack.arrived = trimmed ? 0 : 1;
        ack.trimmed = trimmed;
        ack.pullOwed = owed;
        --bench.state.unacked;
        bench.control->OnAck(bench.state, ack, 0);
    }

    void DoRun() override
    {
        ControlBench<ReceiverCredit> bench(100);
        bench.control->SetAttribute("FirstWindow", TimeValue(NanoSeconds(260)));
        bench.Init();
        auto& state = bench.state;
        NS_TEST_ASSERT_MSG_EQ(state.windowBytes, 3000, "w");
        NS_TEST_ASSERT_MSG_EQ(state.mayStop, true, "it can be stopped");
        NS_TEST_ASSERT_MSG_EQ(Send(bench, 4), true, "A: 4 > 2 + 0");
        NS_TEST_ASSERT_MSG_EQ(Send(bench, 3), true, "B: 3 > 1 + 1");
        NS_TEST_ASSERT_MSG_EQ(Send(bench, 2), false, "C: 2 = 0 + 2");
        Answer(bench);
        NS_TEST_ASSERT_MSG_EQ(state.windowBytes, 2000, "A is there, nothing may be sent");
        bench.control->OnPull(state, 1, 0);
        NS_TEST_ASSERT_MSG_EQ(state.windowBytes, 3000, "one");
        NS_TEST_ASSERT_MSG_EQ(Send(bench, 1), false, "D: 1 = 0 + 1");
        Answer(bench, true); // B was trimmed: its pull is on the way, and it has to go again
        NS_TEST_ASSERT_MSG_EQ(state.windowBytes, 2000, "C and D are under way");
        bench.control->OnPull(state, 2, 0);
        NS_TEST_ASSERT_MSG_EQ(Send(bench, 1), true, "B again: E is left, and 0 at hand or owed");
        Answer(bench, true, true); // D was trimmed, which had not asked: 2 are owed now
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetOwed(), 2, "for E and D");
        bench.control->OnPull(state, 4, 0); // number 3 is lost
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetAtHand(), 2, "both at once");
        bench.control->OnPull(state, 3, 0); // or late
        NS_TEST_ASSERT_MSG_EQ(state.windowBytes, 4000, "those two, and B and C under way");
        Answer(bench);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetAtHand(), 2, "w less what is under way");
        bench.control->OnTimeout((state.unacked = 0, state), 0);
        NS_TEST_ASSERT_MSG_EQ(bench.control->GetAtHand(), 3, "all of w");
    }
};

/// Hosts on one switch: packets of 1,000 bytes take 83.84 ns, answers and pulls of 60 4.8 ns.
class Star
{
  public:
    explicit Star(uint32_t senders,
                  double loss = 0,
                  bool lookAhead = false,
                  const std::string& control = "ns3::ReceiverCredit")
    {
        fabric.SetLookAhead(lookAhead);
        fabric.SetNicAttribute("PathMtu", UintegerValue(1000));
        fabric.SetNicAttribute("FixedOverhead", UintegerValue(48));
        fabric.SetNicAttribute("AckSize", UintegerValue(60));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
        fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(16));
        fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(true));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(4)); // 65.5 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(100));
        fabric.SetQueuePairAttribute("CongestionOps", StringValue(control));
        fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        fabric.SetSwitchAttribute("Trim", BooleanValue(true));
        fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(10'000));
        fabric.SetSwitchPortAttribute("Quanta", StringValue("0,0,0,10480,0,0,1048,0"));
        Ptr<FabricSwitch> centre = fabric.AddSwitch();
        for (uint32_t i = 0; i <= senders; ++i)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           centre,
                           DataRate("100Gbps"),
                           MicroSeconds(1),
                           loss);
        }
        fabric.InstallRoutes();
        fabric.AssignStreams(3);
        for (uint32_t i = 0; i < senders; ++i)
        {
            connections.push_back(fabric.CreateConnection(fabric.Nics()[i], fabric.Nics().back()));
            log.Watch(connections.back());
        }
    }

    uint64_t PullsSent() const
    {
        uint64_t sum = 0;
        for (const auto& connection : connections)
        {
            sum += connection->GetRemoteQueuePair(0)->GetCounters().pullsSent;
        }
        return sum;
    }

    FabricHelper fabric;
    std::vector<Ptr<RdmaConnection>> connections;
    Log log;
};

/**
 * A first window of one packet: the next one waits for a pull. From the start of a packet until it
 * has arrived take 2 x 83.84 + 2,000 ns; the ACK goes first and the pull after it, 3 x 4.8 + 2,000.
 * So ten packets have arrived after 9 x 4,182.08 + 2,167.68 = 39,806.4 ns, by nine pulls.
 */
class OneByOneTest : public TestCase
{
  public:
    OneByOneTest()
        : TestCase("A packet per pull")
    {
    }

  private:
    void DoRun() override
    {
        const FirstWindow one(NanoSeconds(1));
        Star star(1);
        star.connections[0]->Send(scaleacross::Bytes(10'000), 0);
        Simulator::Run();
        CheckConservation(star.fabric);
        NS_TEST_ASSERT_MSG_EQ(star.log.delivered.size(), 1, "delivered");
        NS_TEST_ASSERT_MSG_EQ_TOL(star.log.delivered[0].time,
                                  39'806'400,
                                  Rounding(9 * 4 + 2), // wires
                                  "nine round trips");
        NS_TEST_ASSERT_MSG_EQ(star.PullsSent(), 9, "none for the last packet");
        NS_TEST_ASSERT_MSG_EQ(star.connections[0]->GetQueuePair(0)->GetCounters().pullsReceived,
                              9,
                              "all of them have come");
        Simulator::Destroy();
    }
};

/**
 * Two messages of 300 packets, the second after a rest or while the first is under way. A window of
 * 4 us, 47 packets, is less than the round trip of 4.18 us, so pulls matter. After a rest the
 * second takes as long as the first; posted at once, both take the time of one of 600.
 */
class RestTest : public TestCase
{
  public:
    RestTest()
        : TestCase("After a rest, and without one")
    {
    }

  private:
    static std::vector<int64_t> Run(const std::vector<std::pair<Time, uint64_t>>& messages)
    {
        Star star(1);
        for (const auto& [at, bytes] : messages)
        {
            Simulator::Schedule(at, [&star, bytes = bytes]() {
                star.connections[0]->Send(scaleacross::Bytes(bytes), 0);
            });
        }
        Simulator::Run();
        CheckConservation(star.fabric);
        Simulator::Destroy();
        std::vector<int64_t> times;
        for (const Event& event : star.log.delivered)
        {
            times.push_back(event.time);
        }
        return times;
    }

    void DoRun() override
    {
        const FirstWindow window(MicroSeconds(4));
        const auto rested = Run({{Time(0), 300'000}, {MilliSeconds(1), 300'000}});
        NS_TEST_ASSERT_MSG_EQ(rested.size(), 2, "both");
        NS_TEST_ASSERT_MSG_EQ(rested[1] - 1'000'000'000, rested[0], "the same again");
        const auto together = Run({{Time(0), 300'000}, {Time(0), 300'000}});
        const auto one = Run({{Time(0), 600'000}});
        NS_TEST_ASSERT_MSG_EQ(together.back(), one.back(), "no gap between them");
    }
};

/**
 * Messages of 300 packets, each posted when the one before is delivered: half a round trip before
 * the last answers are back. A window of 1 us is w = 11 packets. From the start of a packet until
 * its pull has come are R = 4,182.08 ns as above, and until its ACK has come 4.8 less. 300 packets
 * are 28 for some share of the window, which is 27 round trips from the first of them to the last,
 * and this one takes 2,167.68 ns more: no less than 114,954 ns. What the last message has under way
 * is back after R; from then on all of w goes round, and 28 packets of each share have begun
 * after R more each, w packets behind the first at most: no more than 28 R + 2,167.68 + 11 x 83.84
 * = 120,189 ns.
 */
class FollowTest : public TestCase
{
  public:
    FollowTest()
        : TestCase("After another message whose answers are on their way")
    {
    }

  private:
    void Send(Star& star)
    {
        star.connections[0]->Send(scaleacross::Bytes(300'000), 0);
    }

    void DoRun() override
    {
        const FirstWindow window(MicroSeconds(1));
        Star star(1);
        std::vector<int64_t> times;
        star.connections[0]->SetDeliveryCallback(
            RdmaMessageCallback([&](scaleacross::Bytes, uint64_t) {
                times.push_back(Simulator::Now().GetPicoSeconds());
                if (times.size() < 6)
                {
                    Send(star);
                }
            }));
        Send(star);
        Simulator::Run();
        CheckConservation(star.fabric);
        Simulator::Destroy();
        NS_TEST_ASSERT_MSG_EQ(times.size(), 6, "all");
        for (size_t i = 1; i < times.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_GT_OR_EQ(times[i] - times[i - 1], 114'954'000 - Rounding(110), i);
            NS_TEST_EXPECT_MSG_LT_OR_EQ(times[i] - times[i - 1], 120'189'000 + Rounding(120), i);
        }
    }
};

/**
 * 128 hosts send 2,000,000 bytes to one, 4,096 in a packet of 82 more, at 100 Gb/s over wires of 1
 * us. The last wire carries 128 x (2,000,000 + 489 x 82 + 16) bytes in 20,890.6 us, and the first
 * packet is there to start with after 1.33 us: nothing can be faster than 20,893 us, wires
 * included. The first windows, 59 packets each, are too many, and what is left of those that are
 * trimmed takes some of the line: 128 x 59 x 88 bytes, 53 us. It has to be within 2 %, no timer may
 * run out, and after the first windows as many pulls come as packets are sent.
 */
class IncastTest : public TestCase
{
  public:
    IncastTest()
        : TestCase("128 to one")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t senders = 128;
        constexpr double ps = 80; // per byte
        constexpr double payload = 2e6;
        FabricHelper fabric;
        fabric.SetLookAhead(true);
        fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        fabric.SetSwitchAttribute("Trim", BooleanValue(true));
        fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(8 * 4200));
        fabric.SetSwitchPortAttribute("Quanta", StringValue("0,0,0,41780,0,0,4178,0"));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
        fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(1 << 20));
        fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(true));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(8)); // 1 ms
        fabric.SetQueuePairAttribute("CongestionOps", StringValue("ns3::ReceiverCredit"));
        Ptr<FabricSwitch> centre = fabric.AddSwitch();
        for (uint32_t i = 0; i <= senders; ++i)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           centre,
                           DataRate("100Gbps"),
                           MicroSeconds(1));
        }
        fabric.InstallRoutes();
        Log log;
        std::vector<Ptr<RdmaConnection>> connections;
        for (uint32_t i = 0; i < senders; ++i)
        {
            connections.push_back(fabric.CreateConnection(fabric.Nics()[i], fabric.Nics().back()));
            log.Watch(connections.back());
            connections.back()->Send(scaleacross::Bytes(static_cast<uint64_t>(payload)), i);
        }
        Simulator::Run();
        CheckConservation(fabric);
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), senders, "all");
        const double bound = senders * (payload + 489 * 82 + 16) * ps + 4194 * ps + 2e6;
        const auto last = static_cast<double>(log.delivered.back().time);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(last, bound, "what the wire can carry");
        NS_TEST_ASSERT_MSG_LT(last, 1.02 * bound, "hardly later");
        uint64_t sent = 0;
        uint64_t pulls = 0;
        for (const auto& connection : connections)
        {
            sent += 489 + connection->GetQueuePair(0)->GetCounters().retransmissions;
            pulls += connection->GetRemoteQueuePair(0)->GetCounters().pullsSent;
        }
        NS_TEST_ASSERT_MSG_GT(centre->GetTrimmed(), 1000, "the first windows are too many");
        NS_TEST_ASSERT_MSG_EQ(centre->GetDrops(), 0, "no drop");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[0]->GetTimeouts(), 0, "no timer");
        NS_TEST_ASSERT_MSG_EQ(pulls, sent - senders * 59, "as many pulls as are of use");
        Simulator::Destroy();
    }
};

/**
 * Wires lose packets of every kind, pulls and notices among them, and messages come one after the
 * other: what is owed and lost must not stop anybody. 6 senders, 20 messages of 40 packets each.
 */
class LossTest : public TestCase
{
  public:
    explicit LossTest(double loss)
        : TestCase("Wires that lose " + std::to_string(loss)),
          m_loss(loss)
    {
    }

  private:
    void DoRun() override
    {
        const FirstWindow window(MicroSeconds(1)); // 11 packets
        Star star(6, m_loss);
        for (uint64_t i = 0; i < 20; ++i)
        {
            for (const auto& connection : star.connections)
            {
                Simulator::Schedule(MicroSeconds(100 * i), [connection, i]() {
                    connection->Send(scaleacross::Bytes(40'000), i);
                });
            }
        }
        Simulator::Run();
        CheckConservation(star.fabric);
        NS_TEST_ASSERT_MSG_EQ(star.log.failures.size(), 0, "none has failed");
        NS_TEST_ASSERT_MSG_EQ(star.log.delivered.size(), 120, "all have arrived");
        NS_TEST_ASSERT_MSG_EQ(star.log.completed.size(), 120, "and their senders know");
        Simulator::Destroy();
    }

    double m_loss;
};

/**
 * One event for everything, events for departures as well, or as few as possible: the same times,
 * for NSCC, too. 6 hosts to one and, while their messages come, one of them to another.
 */
class EngineTest : public TestCase
{
  public:
    EngineTest(const std::string& control, double loss)
        : TestCase("Engines agree: " + control + ", loss " + std::to_string(loss)),
          m_control(control),
          m_loss(loss)
    {
    }

  private:
    struct Outcome
    {
        std::vector<Event> delivered;
        std::vector<Event> completed;
        uint64_t trimmed;
        uint64_t sent;
    };

    Outcome Run(bool lookAhead, bool eager) const
    {
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(eager));
        Star star(6, m_loss, lookAhead, m_control);
        star.connections.push_back(
            star.fabric.CreateConnection(star.fabric.Nics()[1], star.fabric.Nics()[2]));
        star.log.Watch(star.connections.back());
        for (uint64_t i = 0; i < 8; ++i)
        {
            for (const auto& connection : star.connections)
            {
                Simulator::Schedule(MicroSeconds(23 * i), [connection, i]() {
                    connection->Send(scaleacross::Bytes(50'000 + 1'700 * i), i);
                });
            }
        }
        Simulator::Run();
        CheckConservation(star.fabric);
        Outcome outcome{star.log.delivered, star.log.completed, 0, 0};
        outcome.trimmed = star.fabric.Switches()[0]->GetTrimmed();
        for (const auto& nic : star.fabric.Nics())
        {
            outcome.sent += nic->GetSentPackets();
        }
        Simulator::Destroy();
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(false));
        std::sort(outcome.delivered.begin(), outcome.delivered.end());
        std::sort(outcome.completed.begin(), outcome.completed.end());
        return outcome;
    }

    void DoRun() override
    {
        const FirstWindow window(MicroSeconds(3));
        const Outcome plain = Run(false, true);
        NS_TEST_ASSERT_MSG_EQ(plain.delivered.size(), 56, "all have arrived");
        NS_TEST_ASSERT_MSG_GT(plain.trimmed, 20, "some were trimmed");
        for (const bool lookAhead : {false, true})
        {
            const Outcome other = Run(lookAhead, false);
            NS_TEST_ASSERT_MSG_EQ((other.delivered == plain.delivered), true, "deliveries");
            NS_TEST_ASSERT_MSG_EQ((other.completed == plain.completed), true, "completions");
            NS_TEST_ASSERT_MSG_EQ(other.trimmed, plain.trimmed, "trimmed");
            NS_TEST_ASSERT_MSG_EQ(other.sent, plain.sent, "packets of every kind");
        }
    }

    std::string m_control;
    double m_loss;
};

class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("What it needs")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string missing : {"RetransmissionMode is GoBackN", "WindowCountsFlight"})
        {
            FabricHelper fabric;
            const bool selective = missing == "WindowCountsFlight";
            fabric.SetQueuePairAttribute("CongestionOps", StringValue("ns3::ReceiverCredit"));
            fabric.SetQueuePairAttribute("RetransmissionMode",
                                         StringValue(selective ? "SelectiveRepeat" : "GoBackN"));
            Ptr<FabricSwitch> centre = fabric.AddSwitch();
            for (uint32_t i = 0; i < 2; ++i)
            {
                fabric.Connect(fabric.AddNic(fabric.AddHost()),
                               centre,
                               DataRate("100Gbps"),
                               MicroSeconds(1));
            }
            fabric.InstallRoutes();
            bool refused = false;
            try
            {
                fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
            }
            catch (const scaleacross::ConfigError& error)
            {
                refused = error.Problem().find(missing) != std::string::npos;
            }
            NS_TEST_ASSERT_MSG_EQ(refused, true, missing);
            Simulator::Destroy();
        }
    }
};

class ReceiverCreditSuite : public TestSuite
{
  public:
    ReceiverCreditSuite()
        : TestSuite("scaleacross-receiver-credit")
    {
        AddTestCase(new PacerTest);
        AddTestCase(new BookTest);
        AddTestCase(new OneByOneTest);
        AddTestCase(new FollowTest);
        AddTestCase(new RestTest);
        AddTestCase(new IncastTest);
        AddTestCase(new LossTest(1e-3));
        AddTestCase(new LossTest(0.05));
        for (const std::string control : {"ns3::ReceiverCredit", "ns3::Nscc"})
        {
            AddTestCase(new EngineTest(control, 0));
            AddTestCase(new EngineTest(control, 2e-3));
        }
        AddTestCase(new RefusalTest);
    }
};

ReceiverCreditSuite g_receiverCreditSuite;

} // namespace
