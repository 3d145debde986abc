// SPDX-License-Identifier: GPL-2.0-only

// A wait that has begun follows the rate: a raise shortens it, a cut lengthens it (rate-pacer.h).

#include "fabric-test.h"

#include "ns3/pacing-queue.h"
#include "ns3/pull-pacer.h"
#include "ns3/rate-pacer.h"
#include "ns3/rdma-congestion-ops.h"

#include <map>
#include <random>
#include <set>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

/// A control that does what it is told: rates by ACK, and rates by time.
class ScriptedControl : public RdmaCongestionOps
{
  public:
    std::string GetName() const override
    {
        return "scripted";
    }

    Ptr<RdmaCongestionOps> Fork() const override
    {
        return CreateObject<ScriptedControl>(*this);
    }

    void Init(RdmaCongestionState& state) override
    {
        state.rate = first;
        Plan();
    }

    void OnAck(RdmaCongestionState& state, const RdmaAck&, int64_t) override
    {
        const auto rate = byAck.find(++m_acks);
        state.rate = rate != byAck.end() ? rate->second : state.rate;
        Plan();
    }

    void Advance(RdmaCongestionState& state, int64_t now) override
    {
        while (!byTime.empty() && byTime.begin()->first <= now)
        {
            state.rate = byTime.begin()->second;
            byTime.erase(byTime.begin());
        }
        Plan();
    }

    uint64_t first{100'000'000'000};
    std::map<uint64_t, uint64_t> byAck;
    std::map<int64_t, uint64_t> byTime;
    uint64_t timersFromAck{0}; //!< until this ACK no timer runs

  private:
    void Plan()
    {
        const bool runs = !byTime.empty() && m_acks >= timersFromAck;
        SetDeadline(runs ? byTime.begin()->first : scaleacross::kNever);
    }

    uint64_t m_acks{0};
};

/**
 * Two NICs back to back at 100 Gb/s over 1 us, packets of 1,048 bytes (8,384 bits, 83,840 ps) and
 * ACKs of 60 bytes (4,800 ps); every packet is a message, so that its arrival is seen, 1,083,840 ps
 * after its start.
 */
class ScriptTest : public TestCase
{
  public:
    ScriptTest(const std::string& name,
               const ScriptedControl& control,
               std::map<size_t, int64_t> starts,
               int64_t slowdown = 1)
        : TestCase(name),
          m_control(control),
          m_starts(std::move(starts)),
          m_slowdown(slowdown)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        auto a = fabric.AddNic(fabric.AddHost());
        auto b = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1));
        auto sender = a->CreateQueuePair();
        auto receiver = b->CreateQueuePair();
        sender->SetCongestionOps(m_control.Fork());
        sender->Connect(b->GetFabricAddress(), receiver->GetNumber());
        receiver->Connect(a->GetFabricAddress(), sender->GetNumber());
        std::vector<int64_t> arrivals;
        receiver->SetDeliveryCallback(RdmaMessageCallback([&arrivals](Bytes, uint64_t) {
            arrivals.push_back(Simulator::Now().GetPicoSeconds());
        }));
        for (uint64_t i = 0; i < 1000; ++i)
        {
            sender->Post(scaleacross::RdmaOperation::Write, Bytes(1000), i);
        }
        Simulator::Run();
        Simulator::Destroy();
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 1000, "all there");
        for (const auto& [packet, start] : m_starts)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(arrivals.at(packet),
                                      start + 1'083'840,
                                      Rounding(m_slowdown),
                                      "packet " << packet);
        }
    }

    ScriptedControl m_control;
    std::map<size_t, int64_t> m_starts;
    /// Of a cut: as many ticks later is what comes after one that is a tick earlier.
    int64_t m_slowdown;
};

/**
 * The first ACK sets 1 Mb/s, the second one the line rate again. The first is there at 83,840 +
 * 1,000,000 + 4,800 + 1,000,000 = 2,088,640 ps, while packet 24 is being sent, which started at 24
 * * 83,840 = 2,012,160: in 76,480 ps 7,648 of its 8,384 bits have been worked off, and the other
 * 736 would take 736 us. The second ACK comes 83,840 ps after the first, at 2,172,480: 0.08384 bits
 * more are worked off. The other 735.91616 take 7,359.2 ps at the line rate: packet 25 starts at
 * 2,179,839, and from then on they follow each other as before.
 */
ScriptTest*
RecoveryTest()
{
    ScriptedControl control;
    control.byAck = {{1, 1'000'000}, {2, 100'000'000'000}};
    const int64_t next = 2'179'839;
    return new ScriptTest(
        "A rate that recovers by an ACK shortens the wait",
        control,
        {{24, 24 * 83'840}, {25, next}, {26, next + 83'840}, {999, next + 974 * 83'840}});
}

/**
 * The first cut, from the line rate to 1 Gb/s, by the first ACK, at 2,088,640 ps (RecoveryTest):
 * the 736 bits of packet 24 that are left then take 736,000 ps, so packet 25 starts at 2,824,640,
 * and the others follow 8,384,000 ps apart.
 */
ScriptTest*
FirstCutTest()
{
    ScriptedControl control;
    control.byAck = {{1, 1'000'000'000}};
    const int64_t next = 2'824'640;
    return new ScriptTest("The first cut lengthens the wait for the line",
                          control,
                          {{24, 24 * 83'840}, {25, next}, {999, next + 974 * int64_t{8'384'000}}},
                          100);
}

/**
 * The same by a timer that runs out at 40,000 ps: 4,000 bits of packet 0 have been worked off, and
 * 4,384 take 4,384,000 ps.
 */
ScriptTest*
FirstCutByTimerTest()
{
    ScriptedControl control;
    control.byTime = {{40'000, 1'000'000'000}};
    return new ScriptTest("A timer's first cut lengthens the wait for the line",
                          control,
                          {{0, 0}, {1, 4'424'000}, {999, 4'424'000 + 998 * int64_t{8'384'000}}});
}

/**
 * The same by a timer for 2,090,000 ps that is set while packet 24 is on the wire, by the first
 * ACK at 2,088,640: 77,840 ps after its start 7,784 bits have been worked off, and 600 take 600,000
 * ps.
 */
ScriptTest*
FirstCutByLateTimerTest()
{
    ScriptedControl control;
    control.byTime = {{2'090'000, 1'000'000'000}};
    control.timersFromAck = 1;
    const int64_t next = 2'690'000;
    return new ScriptTest("So does that of a timer which is set during the wait",
                          control,
                          {{24, 24 * 83'840}, {25, next}, {999, next + 974 * int64_t{8'384'000}}},
                          100);
}

/**
 * Two queue pairs of one NIC take turns at the line rate, 83,840 ps each, the first one at 0. Its
 * rate is cut to 1 Gb/s. At 200,000 ps, its second packet, of 167,680, is on the wire: 3,232 bits
 * have been worked off, 5,152 take 5,152,000 ps, so the next one is due at 5,352,000. The other
 * queue pair has the line from 251,520 on; its packet that starts at 251,520 + 60 * 83,840 is on
 * the wire then, the next one stands in the line already, and it is the first one's turn at 251,520
 * + 62 * 83,840 = 5,449,600. The fourth is due 8,384,000 after 5,352,000, at 13,736,000, while the
 * other's of 5,533,440 + 97 * 83,840 is on the wire, and its turn is two packets later, at
 * 13,833,600. At 300,000 ps, when the second packet has left and the queue pair
 * waits for its turn, which comes at 335,360, nothing is left of its wait: only the fourth packet
 * is late, due 8,384,000 ps after the third, at 8,719,360; one of the other's is on the wire from
 * 419,200 + 98 * 83,840 = 8,635,520, ends at 8,719,360, and one more goes before: 8,803,200. (Those
 * due at the end of a packet join the line before the next one is chosen, behind those in it.)
 */
class TurnsTest : public TestCase
{
  public:
    TurnsTest(int64_t cut, std::map<size_t, int64_t> starts)
        : TestCase("The first cut of one of two queue pairs, at " + std::to_string(cut) + " ps"),
          m_cut(cut),
          m_starts(std::move(starts))
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        auto a = fabric.AddNic(fabric.AddHost());
        auto b = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1));
        std::vector<int64_t> arrivals;
        for (const bool cut : {true, false})
        {
            auto sender = a->CreateQueuePair();
            auto receiver = b->CreateQueuePair();
            if (cut)
            {
                auto control = CreateObject<ScriptedControl>();
                control->byTime = {{m_cut, 1'000'000'000}};
                sender->SetCongestionOps(control);
                receiver->SetDeliveryCallback(RdmaMessageCallback([&arrivals](Bytes, uint64_t) {
                    arrivals.push_back(Simulator::Now().GetPicoSeconds());
                }));
            }
            sender->Connect(b->GetFabricAddress(), receiver->GetNumber());
            receiver->Connect(a->GetFabricAddress(), sender->GetNumber());
            for (uint64_t i = 0; i < 200; ++i)
            {
                sender->Post(scaleacross::RdmaOperation::Write, Bytes(1000), i);
            }
        }
        Simulator::Run();
        Simulator::Destroy();
        for (const auto& [packet, start] : m_starts)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(arrivals.at(packet),
                                      start + 1'083'840,
                                      Rounding(1),
                                      "packet " << packet);
        }
    }

    int64_t m_cut;
    std::map<size_t, int64_t> m_starts;
};

/**
 * From 1 Mb/s a timer raises the rate to the line's at 10 us: 10 bits of packet 1's wait have been
 * worked off by then, 8,374 take 83,740 ps more.
 */
ScriptTest*
TimerTest()
{
    ScriptedControl control;
    control.first = 1'000'000;
    control.byTime = {{10'000'000, 100'000'000'000}};
    return new ScriptTest("A timer that raises the rate shortens the wait",
                          control,
                          {{0, 0}, {1, 10'083'740}, {999, 10'083'740 + 998 * 83'840}});
}

/**
 * From 1 Gb/s to 100 Mb/s at 4 us: 4,000 bits of the first wait are worked off, 4,384 take 43.84 us
 * more. To 10 Gb/s at 50 us, when 216 of the next 8,384 bits are: 8,168 take 816,800 ps.
 */
ScriptTest*
CutTest()
{
    ScriptedControl control;
    control.first = 1'000'000'000;
    control.byTime = {{4'000'000, 100'000'000}, {50'000'000, 10'000'000'000}};
    return new ScriptTest(
        "A cut lengthens the wait",
        control,
        {{0, 0}, {1, 47'840'000}, {2, 50'816'800}, {999, 50'816'800 + 997 * 838'400}});
}

/**
 * Packets that start as soon as they are due, while the rate changes at random: what has been
 * worked off, the integral of the rate, is what has been sent before, less what the rate works off
 * in the last picosecond. All in ps * bit/s, hence exact.
 */
class IntegralTest : public TestCase
{
  public:
    IntegralTest()
        : TestCase("The integral of the rate is what has been sent")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(7);
        scaleacross::RatePacer pacer;
        constexpr uint64_t kRates[] = {1'000'000, 999'999'937, 7'000'000'001, 100'000'000'000};
        uint64_t rate = kRates[3];
        int64_t now = 0;
        uint64_t behind = 0; // sent and not worked off yet
        for (uint32_t packet = 0; packet < 10'000; ++packet)
        {
            const uint32_t bytes = 64 + random() % 9000;
            pacer.Sent(bytes, now, rate);
            behind += bytes * uint64_t{8'000'000'000'000};
            for (uint32_t changes = random() % 4; changes > 0; --changes)
            {
                const auto left = static_cast<uint64_t>(pacer.Eligible() - now);
                const auto step = static_cast<int64_t>(random() % left); // it waits still
                behind -= static_cast<uint64_t>(step) * rate;
                now += step;
                rate = kRates[random() % 4];
                pacer.RateChanged(rate, now);
            }
            const uint64_t worked = static_cast<uint64_t>(pacer.Eligible() - now) * rate;
            NS_TEST_ASSERT_MSG_LT_OR_EQ(worked, behind, "not too late, packet " << packet);
            NS_TEST_ASSERT_MSG_LT(behind, worked + rate, "not too early, packet " << packet);
            behind -= worked;
            now = pacer.Eligible();
        }
    }
};

/**
 * Pulls follow the rate of their line. Full packets of 4,178 bytes, 33,424 bits, at 10 Gb/s: the
 * second pull is due at 3,342,400 ps; if the line has 100 Gb/s from 1,000,000 on, when 10,000 bits
 * are over, at 1,000,000 + 234,240.
 */
class PullTest : public TestCase
{
  public:
    PullTest()
        : TestCase("Pulls follow the rate of the line")
    {
    }

  private:
    void DoRun() override
    {
        scaleacross::PullPacer pulls;
        pulls.Ask(1);
        pulls.Ask(1);
        pulls.Take(4178, 0, 10'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(pulls.Due(), 3'342'400, "as it was");
        pulls.RateChanged(100'000'000'000, 1'000'000);
        NS_TEST_EXPECT_MSG_EQ(pulls.Due(), 1'234'240, "as it is now");
    }
};

/// The queue against a sorted set, through random changes.
class PacingQueueTest : public TestCase
{
  public:
    PacingQueueTest()
        : TestCase("The pacing queue keeps its order")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(3);
        scaleacross::PacingQueue queue;
        std::set<std::pair<int64_t, uint32_t>> expected;
        std::map<uint32_t, int64_t> times;
        for (uint32_t step = 0; step < 20'000; ++step)
        {
            const uint32_t number = random() % 50;
            const auto old = times.find(number);
            const bool in = old != times.end();
            if (in)
            {
                expected.erase({old->second, number});
            }
            if (in && random() % 2 == 0)
            {
                queue.Remove(number);
                times.erase(number);
            }
            else
            {
                const int64_t time = random() % 100;
                queue.Set(number, time);
                times[number] = time;
                expected.insert({time, number});
            }
            NS_TEST_ASSERT_MSG_EQ(queue.Empty(), expected.empty(), "step " << step);
            if (!expected.empty())
            {
                NS_TEST_ASSERT_MSG_EQ(queue.Front().time, expected.begin()->first, step);
                NS_TEST_ASSERT_MSG_EQ(queue.Front().number, expected.begin()->second, step);
            }
        }
    }
};

class RateChangeSuite : public TestSuite
{
  public:
    RateChangeSuite()
        : TestSuite("scaleacross-rate-change")
    {
        AddTestCase(RecoveryTest());
        AddTestCase(TimerTest());
        AddTestCase(CutTest());
        AddTestCase(FirstCutTest());
        AddTestCase(FirstCutByTimerTest());
        AddTestCase(FirstCutByLateTimerTest());
        AddTestCase(
            new TurnsTest(200'000, {{0, 0}, {1, 167'680}, {2, 5'449'600}, {3, 13'833'600}}));
        AddTestCase(new TurnsTest(300'000, {{1, 167'680}, {2, 335'360}, {3, 8'803'200}}));
        AddTestCase(new IntegralTest);
        AddTestCase(new PullTest);
        AddTestCase(new PacingQueueTest);
    }
};

RateChangeSuite g_rateChangeSuite;

} // namespace
