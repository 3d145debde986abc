// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/string.h"

#include <cmath>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;

namespace
{

/// Two hosts on one switch, 100 Gb/s, 1 us, both wires losing each packet with probability `loss`.
void
BuildLossyPair(FabricHelper& fabric, double loss)
{
    UseHpccSizes(fabric);
    Ptr<FabricSwitch> centre = fabric.AddSwitch();
    for (uint32_t i = 0; i < 2; ++i)
    {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, centre, DataRate("100Gbps"), MicroSeconds(1), loss);
    }
    fabric.InstallRoutes();
    fabric.AssignStreams(1000);
}

/**
 * Goodput of go-back-N. A packet is lost on one of two wires with q = 1 - (1 - p)^2. From its start
 * to its repetition pass: itself and the next packet over the first wire, the switch and the second
 * wire (4 * 83.84 ns... the one after the lost one is whole at the receiver 3 packet times and 2 us
 * after the lost one's start), and the NAK (2 us and 2 * 4.8 ns): 4,261 ns, rounded up to whole
 * packets N = 51. Goodput is 100 Gb/s * 1000/1048 * (1-q)/(1-q+qN+q^2 T), where T is the timeout in
 * packet times: a repetition that is lost costs one (16.4 us = 195 packets here).
 *
 * p = 1e-3: q = 0.001999, 1/(1 + 0.1022 + 0.0008) -> 86.5 Gb/s. 256 MB contain 512 losses, so the
 * overhead of 9 % is random by 4 % of itself: the goodput by 0.4 %.
 */
class GoodputTest : public TestCase
{
  public:
    GoodputTest()
        : TestCase("Goodput of go-back-N against the formula")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildLossyPair(fabric, 1e-3);
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(2)); // 16.4 us
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(256'000'000), 0);
        Simulator::Run();
        const double q = 1 - std::pow(1 - 1e-3, 2);
        const double n = 51;
        const double timeout = 16'384'000.0 / 83'840;
        const double rate = 100.0 * 1000 / 1048 * (1 - q) / (1 - q + q * n + q * q * timeout);
        const double goodput = 256e6 * 8 / (static_cast<double>(log.LastDelivery()) * 1e-12) * 1e-9;
        NS_TEST_ASSERT_MSG_EQ_TOL(goodput, rate, rate * 0.012, "three standard deviations");
        NS_TEST_ASSERT_MSG_EQ(log.delivered[0].bytes, 256'000'000, "bytes");
        FabricBalance balance = CheckConservation(fabric);
        NS_TEST_ASSERT_MSG_GT(balance.dropped[static_cast<size_t>(DropReason::WireLoss)],
                              400,
                              "losses");
        Simulator::Destroy();
    }
};

/// 1 % loss on each wire: a hundred times what a network has, and still everything arrives.
class HeavyLossTest : public TestCase
{
  public:
    HeavyLossTest()
        : TestCase("One per cent of loss")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildLossyPair(fabric, 0.01);
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(4));
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(8));
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(4));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        for (uint32_t i = 0; i < 16; ++i)
        {
            connection->Send(Bytes(kMiB), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 16, "every message once");
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 16, "and acknowledged");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[1]->GetDeliveredBytes(), 16 * kMiB, "every byte once");
        NS_TEST_ASSERT_MSG_GT(fabric.Nics()[0]->GetTimeouts(), 0, "timeouts happened");
        NS_TEST_ASSERT_MSG_EQ(BalanceOf(fabric).inFlight, 0, "nothing left");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * A wire that loses everything. Timeout n = 2 is 16.384 us; the packet is sent at 0 and again at
 * each of the first three timeouts, the fourth one is the error: at 4 * 16.384 us = 65.536 us.
 */
class RetryLimitTest : public TestCase
{
  public:
    RetryLimitTest()
        : TestCase("The retry limit ends a hopeless connection")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildLossyPair(fabric, 1.0);
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(2));
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(3));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        NS_TEST_ASSERT_MSG_EQ(connection->Send(Bytes(100), 1), true, "accepted");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.failures.size(), 1, "reported once");
        NS_TEST_ASSERT_MSG_EQ(log.failures[0].rfind("retry limit: queue pair 0 of node 1", 0),
                              0,
                              "named: " << log.failures[0]);
        NS_TEST_ASSERT_MSG_EQ_TOL(log.failedAt[0], 65'536'000, Rounding(1), "time");
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 0, "nothing delivered");
        NS_TEST_ASSERT_MSG_EQ(connection->Send(Bytes(100), 2), false, "refused from then on");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[0]->GetDataSent(), 4, "sent four times");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[0]->GetRetransmissions(), 3, "three of them again");
        NS_TEST_ASSERT_MSG_EQ(CountUndelivered(fabric), 0, "given up, not waiting");
        NS_TEST_ASSERT_MSG_NE(DescribeWaiting(fabric), "", "and said so");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * A pause does not stop the timer. Two hosts on a switch, 100 Gb/s, 1 us; the second one's wire
 * loses everything. The switch stops the sender's priority at 0: the pause frame is there at 1 us +
 * 6.72 ns, when the only packet, of 1,048 bytes, has left. Timeout 2 is 16.384 us.
 *
 * Paused for good, and RetryCount 3: timeouts at 16.384, 32.768 and 49.152 us, the error at 65.536
 * us, and nothing has been sent again.
 *
 * Resumed at 47 us, and nothing lost from 30 us on: two timeouts; the repetition leaves at 48.00672
 * us, is delivered two wires and 2 * 83.84 ns later, at 50.1744 us, and the ACK is back at 52.184
 * us: after 49.152 us, when the second timeout's timer would have run out had the repetition not
 * started it again.
 */
class PausedTest : public TestCase
{
  public:
    PausedTest(bool resumed, const std::string& mode, bool lookAhead)
        : TestCase(std::string("The retry limit of a NIC that is paused") +
                   (resumed ? " for a while, " : " for good, ") + mode +
                   (lookAhead ? ", look-ahead" : "")),
          m_resumed(resumed),
          m_mode(mode),
          m_lookAhead(lookAhead)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetLookAhead(m_lookAhead);
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(2));
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(3));
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue(m_mode));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        Ptr<FabricWire> wire = fabric.Wires()[1];
        wire->SetLossRate(1);
        Ptr<RdmaNic> from = fabric.Nics()[0];
        Ptr<FabricPort> port = from->GetPeer();
        auto connection = fabric.CreateConnection(from, fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(1000), 1);
        port->SendPause(3, true, 0);
        port->Kick(0);
        if (m_resumed)
        {
            fabric.HoldAt(MicroSeconds(30));
            Simulator::Schedule(MicroSeconds(30), [wire]() { wire->SetLossRate(0); });
            fabric.HoldAt(MicroSeconds(47));
            Simulator::Schedule(MicroSeconds(47), [port]() {
                port->BringUpToDate();
                port->SendPause(3, false, Simulator::Now().GetPicoSeconds());
                port->Kick(Simulator::Now().GetPicoSeconds());
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(from->GetTimeouts(), (m_resumed ? 2 : 4), "timeouts");
        NS_TEST_ASSERT_MSG_EQ(from->GetDataSent(), (m_resumed ? 2 : 1), "sent");
        NS_TEST_ASSERT_MSG_EQ(log.failures.size(), (m_resumed ? 0 : 1), "failures");
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), (m_resumed ? 1 : 0), "completed");
        if (m_resumed)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(), 50'174'400, Rounding(3), "delivered");
            NS_TEST_ASSERT_MSG_EQ_TOL(log.LastCompletion(), 52'184'000, Rounding(5), "completed");
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ(log.failures[0].rfind("retry limit: queue pair 0", 0),
                                  0,
                                  "named");
            NS_TEST_ASSERT_MSG_EQ_TOL(log.failedAt[0], 65'536'000, Rounding(1), "at its time");
        }
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    bool m_resumed;
    std::string m_mode;
    bool m_lookAhead;
};

/**
 * The first transmission of the last packet is lost: nothing after it tells the receiver, so the
 * sender's timer has to. Wire a loses all from 10 us to 20 us: a packet of 1,000 + 48 bytes posted
 * at 12 us, with a timeout of 16.384 us, is sent again at 28.384 us and arrives, over one wire of 1
 * us at 100 Gb/s, at 28.384 + 0.08384 + 1 us = 29.46784 us.
 */
class TimeoutTest : public TestCase
{
  public:
    TimeoutTest()
        : TestCase("A lost last packet costs a timeout")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        Ptr<FabricWire> wire = fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(2));
        auto connection = fabric.CreateConnection(a, b);
        Log log;
        log.Watch(connection);
        Simulator::Schedule(MicroSeconds(10), [wire]() { wire->SetLossRate(1); });
        Simulator::Schedule(MicroSeconds(12), [connection]() { connection->Send(Bytes(1000), 5); });
        Simulator::Schedule(MicroSeconds(20), [wire]() { wire->SetLossRate(0); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 1, "delivered");
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(), 29'467'840, Rounding(1), "time");
        NS_TEST_ASSERT_MSG_EQ(a->GetTimeouts(), 1, "one timeout");
        NS_TEST_ASSERT_MSG_EQ(wire->GetLost(), 1, "one loss");
        Simulator::Destroy();
    }
};

/// A timeout shorter than the way there and back on the first wire can never be met.
class ImpossibleTimeoutTest : public TestCase
{
  public:
    ImpossibleTimeoutTest()
        : TestCase("A timeout below the round trip is refused")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(10));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(2));
        bool refused = false;
        try
        {
            fabric.CreateConnection(a, b);
        }
        catch (const scaleacross::ConfigError&)
        {
            refused = true;
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "16.4 us against 20 us");
        Simulator::Destroy();
    }
};

/**
 * A timer that is not needed any more holds nothing up. Four hosts on a switch, wires of 1 us, a
 * round trip of 4 us and some packet times: what is still planned when the last ACK is in (nodes
 * that look ahead work things through up to a wire's delay late) is done within a round trip of it,
 * and not a timeout of 67 ms later. Also if losses have cost timeouts before; and a timer of 1 ms
 * set after one of 67 ms is removed with it.
 */
class RunEndTest : public TestCase
{
  public:
    RunEndTest(bool lookAhead, double loss)
        : TestCase(std::string("The run ends with its flows") + (lookAhead ? ", look-ahead" : "") +
                   (loss > 0 ? ", with loss" : "")),
          m_lookAhead(lookAhead),
          m_loss(loss)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetLookAhead(m_lookAhead);
        BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
        fabric.AssignStreams(3);
        Log log;
        for (uint32_t i = 0; i < 3; ++i)
        {
            fabric.Wires()[i]->SetLossRate(m_loss);
            fabric.SetQueuePairAttribute("Timeout", UintegerValue(m_loss > 0 ? 8 : 14 - 3 * i));
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[3]);
            log.Watch(connection);
            connection->Send(Bytes(300'000), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 3, "all are done");
        NS_TEST_ASSERT_MSG_EQ((fabric.Nics()[0]->GetTimeouts() > 0),
                              (m_loss > 0),
                              "timeouts have happened");
        const int64_t after = Simulator::Now().GetPicoSeconds() - log.LastCompletion();
        NS_TEST_ASSERT_MSG_LT(after, 4'000'000, "within a round trip");
        Simulator::Destroy();
    }

    bool m_lookAhead;
    double m_loss;
};

/**
 * A failure is reported in the context of its node, whoever has set the timer off: the second queue
 * pair's packet leaves when the line is free, which the switch works out. Its timer (16.384 us, one
 * trial) is earlier than the first one's. Packets of 1,048 bytes take 83.84 ns.
 */
class FailureContextTest : public TestCase
{
  public:
    FailureContextTest()
        : TestCase("A failure has the context of its node")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        fabric.Wires()[1]->SetLossRate(1);
        Ptr<RdmaNic> from = fabric.Nics()[0];
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(14));
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(0));
        auto slow = fabric.CreateConnection(from, fabric.Nics()[1]);
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(2));
        auto fast = fabric.CreateConnection(from, fabric.Nics()[1]);
        std::vector<uint32_t> contexts;
        std::vector<int64_t> times;
        auto note = RdmaFailureCallback([&](const std::string&) {
            contexts.push_back(Simulator::GetContext());
            times.push_back(Simulator::Now().GetPicoSeconds());
        });
        slow->SetFailureCallback(note);
        fast->SetFailureCallback(note);
        slow->Send(Bytes(1000), 0);
        fast->Send(Bytes(1000), 1);
        Simulator::Run();
        const uint32_t node = from->GetNode()->GetId();
        NS_TEST_ASSERT_MSG_EQ(contexts.size(), 2, "both fail");
        NS_TEST_ASSERT_MSG_EQ_TOL(times[0], 16'384'000 + 83'840, Rounding(1), "the fast one first");
        NS_TEST_ASSERT_MSG_EQ(contexts[0], node, "in its node");
        NS_TEST_ASSERT_MSG_EQ_TOL(times[1], 67'108'864'000, Rounding(1), "then the slow one");
        NS_TEST_ASSERT_MSG_EQ(contexts[1], node, "in its node, too");
        Simulator::Destroy();
    }
};

class ReliabilitySuite : public TestSuite
{
  public:
    ReliabilitySuite()
        : TestSuite("scaleacross-reliability")
    {
        AddTestCase(new GoodputTest);
        AddTestCase(new HeavyLossTest);
        AddTestCase(new RetryLimitTest);
        for (bool lookAhead : {false, true})
        {
            for (const char* mode : {"GoBackN", "SelectiveRepeat"})
            {
                AddTestCase(new PausedTest(false, mode, lookAhead));
                AddTestCase(new PausedTest(true, mode, lookAhead));
            }
        }
        AddTestCase(new TimeoutTest);
        AddTestCase(new ImpossibleTimeoutTest);
        for (bool lookAhead : {false, true})
        {
            AddTestCase(new RunEndTest(lookAhead, 0));
            AddTestCase(new RunEndTest(lookAhead, 0.2));
        }
        AddTestCase(new FailureContextTest);
    }
};

ReliabilitySuite g_reliabilitySuite;

} // namespace
