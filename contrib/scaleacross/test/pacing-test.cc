// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/config.h"

#include <map>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

constexpr uint64_t kBytePs = 8'000'000'000'000; //!< ps for a byte at 1 bit/s
constexpr uint32_t kPacket = 1048;              //!< 1,000 bytes and FixedOverhead 48

/// Two NICs back to back; HPCC's sizes.
struct Pair
{
    explicit Pair(const std::string& rate, Time delay = MicroSeconds(1))
    {
        UseHpccSizes(fabric);
        a = fabric.AddNic(fabric.AddHost());
        b = fabric.AddNic(fabric.AddHost());
        wire = fabric.ConnectPorts(a, b, DataRate(rate), delay);
    }

    /// A connection with a limit of its own, in bit/s.
    Ptr<RdmaConnection> Limited(uint64_t limit)
    {
        fabric.SetQueuePairAttribute("RateLimit", DataRateValue(DataRate(limit)));
        return fabric.CreateConnection(a, b);
    }

    FabricHelper fabric;
    Ptr<RdmaNic> a;
    Ptr<RdmaNic> b;
    Ptr<FabricWire> wire;
};

/**
 * One queue pair, limited to R, on a port of 100 Gb/s: packet k starts k * 8,384 bit / R after the
 * first, rounded down to the picosecond without adding up, and arrives 83.84 ns and the wire's 1 us
 * later. Messages of one packet each, so that every arrival is seen.
 */
class SpacingTest : public TestCase
{
  public:
    SpacingTest(uint64_t rate, bool eager)
        : TestCase("Spacing at " + std::to_string(rate) + " bps" + (eager ? ", eager" : "")),
          m_rate(rate),
          m_eager(eager)
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(m_eager));
        Pair pair("100Gbps");
        auto connection = pair.Limited(m_rate);
        Log log;
        log.Watch(connection);
        for (uint64_t i = 0; i < 500; ++i)
        {
            connection->Send(Bytes(1000), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 500, "all there");
        for (uint64_t k = 0; k < log.delivered.size(); ++k)
        {
            const auto start = static_cast<int64_t>(k * kPacket * kBytePs / m_rate);
            NS_TEST_ASSERT_MSG_EQ_TOL(log.delivered[k].time,
                                      start + 83'840 + 1'000'000,
                                      Rounding(1),
                                      "packet " << k);
        }
        Simulator::Destroy();
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(false));
    }

    uint64_t m_rate;
    bool m_eager;
};

/**
 * Start times of the packets of several queue pairs that always have something to send, computed
 * packet by packet from the rules and nothing else: a port that sends one packet after another;
 * queue pairs whose next packet is due join the end of a line, in the order of due time and then
 * number; the first of the line sends, and is due again one wait after it was due, but not before
 * it has started.
 */
std::vector<std::pair<int64_t, uint32_t>>
Oracle(const std::vector<uint64_t>& rates, uint64_t portRate, int64_t end)
{
    struct Sender
    {
        int64_t due{0};
        uint64_t rest{0};
        bool sent{false};
    };

    std::vector<Sender> senders(rates.size());
    std::vector<uint32_t> line;
    std::map<std::pair<int64_t, uint32_t>, bool> waiting;
    for (uint32_t i = 0; i < rates.size(); ++i)
    {
        line.push_back(i);
    }
    std::vector<std::pair<int64_t, uint32_t>> starts;
    int64_t free = 0;
    const auto packetTime = static_cast<int64_t>(kPacket * kBytePs / portRate);
    while (free < end)
    {
        while (!waiting.empty() && waiting.begin()->first.first <= free)
        {
            line.push_back(waiting.begin()->first.second);
            waiting.erase(waiting.begin());
        }
        if (line.empty())
        {
            free = waiting.begin()->first.first;
            continue;
        }
        const uint32_t i = line.front();
        line.erase(line.begin());
        starts.emplace_back(free, i);
        Sender& sender = senders[i];
        sender.due = sender.sent ? sender.due : free; // the first one is due when it starts
        sender.sent = true;
        const uint64_t work = kPacket * kBytePs + sender.rest;
        sender.due += static_cast<int64_t>(work / rates[i]);
        sender.rest = work % rates[i];
        if (sender.due < free)
        {
            sender.due = free;
            sender.rest = 0;
        }
        if (sender.due <= free)
        {
            line.push_back(i);
        }
        else
        {
            waiting[{sender.due, i}] = true;
        }
        free += packetTime;
    }
    return starts;
}

/**
 * Several queue pairs with different limits on one NIC, against the oracle, packet by packet. With
 * sum R < 100 Gb/s each one also keeps its rate: in T it sends R T / 8,384 bit packets, but for the
 * first and, as nobody is ever late by more than one packet of each other, n packet times of R.
 */
class ManyLimitsTest : public TestCase
{
  public:
    ManyLimitsTest(std::vector<uint64_t> rates, bool eager, const std::string& name)
        : TestCase("Different limits on one NIC: " + name + (eager ? ", eager" : "")),
          m_rates(std::move(rates)),
          m_eager(eager)
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(m_eager));
        Pair pair("100Gbps");
        Log log;
        const int64_t end = 500'000'000; // 500 us
        uint64_t sum = 0;
        for (uint32_t i = 0; i < m_rates.size(); ++i)
        {
            sum += m_rates[i];
            auto connection = pair.Limited(m_rates[i]);
            log.Watch(connection);
            // More than the rate * 500 us / 8,384 bit that it can send in the time.
            const uint64_t packets = m_rates[i] / 16'768'000 + 9;
            for (uint64_t k = 0; k < packets; ++k)
            {
                connection->Send(Bytes(1000), i);
            }
        }
        const int64_t onTheWay = 83'840 + 1'000'000;
        Simulator::Stop(PicoSeconds(end + onTheWay));
        Simulator::Run();
        const auto starts = Oracle(m_rates, 100'000'000'000, end);
        NS_TEST_ASSERT_MSG_GT(starts.size(), 1000, "enough to compare");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(log.delivered.size() + 1, starts.size(), "as many arrive");
        std::vector<uint64_t> sent(m_rates.size());
        for (size_t k = 0; k < std::min(starts.size(), log.delivered.size()); ++k)
        {
            NS_TEST_ASSERT_MSG_EQ(log.delivered[k].tag, starts[k].second, "packet " << k);
            NS_TEST_ASSERT_MSG_EQ_TOL(log.delivered[k].time,
                                      starts[k].first + onTheWay,
                                      Rounding(1),
                                      "packet " << k);
            ++sent[starts[k].second];
        }
        for (size_t i = 0; i < m_rates.size() && sum < 100'000'000'000; ++i)
        {
            const double packets = static_cast<double>(m_rates[i]) * 500e-6 / 8384;
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(sent[i]),
                                      packets,
                                      2 + static_cast<double>(m_rates.size()),
                                      "rate of queue pair " << i);
        }
        Simulator::Destroy();
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(false));
    }

    std::vector<uint64_t> m_rates;
    bool m_eager;
};

/**
 * Pacing costs no events where packets follow each other closely. At 30 Gb/s a packet starts every
 * 279 ns and is on its way for 1,084 ns: the arrival of the one before brings the port up to date.
 * So there are, as without a limit, an event for every arrival of data and ACK, two per packet. At
 * 1 Gb/s a packet starts every 8.4 us: one alarm more, three per packet.
 */
class EventsTest : public TestCase
{
  public:
    EventsTest(uint64_t rate, uint64_t perPacket)
        : TestCase("Events per packet at " + std::to_string(rate) + " bps"),
          m_rate(rate),
          m_perPacket(perPacket)
    {
    }

  private:
    void DoRun() override
    {
        Pair pair("100Gbps");
        auto connection = pair.Limited(m_rate);
        connection->Send(Bytes(1'000'000), 0); // 1,000 packets
        const uint64_t before = Simulator::GetEventCount();
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(pair.b->GetDataReceived(), 1000, "all there");
        // A few more: the post, the retransmission timer, the first and the last packet.
        NS_TEST_ASSERT_MSG_LT_OR_EQ(Simulator::GetEventCount() - before,
                                    m_perPacket * 1000 + 10,
                                    "events");
        Simulator::Destroy();
    }

    uint64_t m_rate;
    uint64_t m_perPacket;
};

/**
 * A rest earns nothing. R = 10 Gb/s: 838.4 ns per packet. Two packets are sent at 0 and 838.4 ns;
 * two more, posted at 10 us, start at 10 us and 10.8384 us, not together. Two posted at 20 us and
 * two at 20.1 us start every 838.4 ns.
 */
class RestTest : public TestCase
{
  public:
    RestTest()
        : TestCase("A rest earns nothing")
    {
    }

  private:
    void DoRun() override
    {
        Pair pair("100Gbps");
        auto connection = pair.Limited(10'000'000'000);
        Log log;
        log.Watch(connection);
        for (int64_t us : {0, 10, 20})
        {
            Simulator::Schedule(MicroSeconds(us), [=]() { connection->Send(Bytes(2000), us); });
        }
        Simulator::Schedule(NanoSeconds(20'100), [=]() { connection->Send(Bytes(2000), 21); });
        Simulator::Run();
        const int64_t gap = 838'400;
        const int64_t onTheWay = 1'083'840;
        // The last packet of each message.
        const std::vector<int64_t> starts{gap,
                                          10'000'000 + gap,
                                          20'000'000 + gap,
                                          20'000'000 + 3 * gap};
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 4, "all there");
        for (size_t i = 0; i < starts.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(log.delivered[i].time,
                                      starts[i] + onTheWay,
                                      Rounding(1),
                                      "message " << i);
        }
        Simulator::Destroy();
    }
};

/**
 * What makes a queue pair wait does not keep others waiting, and one that fails while it waits for
 * its time is forgotten. Queue pair 0 sends a packet every 8.384 ms (1 Mb/s), gets no answer
 * (its packets are lost from 1 us on) and fails after 16.384 us; queue pair 1 has priority 3 as
 * well, no limit, and is posted at 1 ms.
 */
class FailureTest : public TestCase
{
  public:
    FailureTest()
        : TestCase("A queue pair fails while it waits for its time")
    {
    }

  private:
    void DoRun() override
    {
        Pair pair("100Gbps");
        pair.fabric.SetQueuePairAttribute("Timeout", UintegerValue(2)); // 16.384 us
        pair.fabric.SetQueuePairAttribute("RetryCount", UintegerValue(0));
        auto slow = pair.Limited(1'000'000);
        auto fast = pair.Limited(0);
        Log slowLog;
        Log fastLog;
        slowLog.Watch(slow);
        fastLog.Watch(fast);
        pair.wire->SetLossRate(1);
        slow->Send(Bytes(5000), 0);
        Simulator::Schedule(MicroSeconds(500), [&pair]() { pair.wire->SetLossRate(0); });
        Simulator::Schedule(MilliSeconds(1), [fast]() { fast->Send(Bytes(5000), 1); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(slowLog.failures.size(), 1, "it fails");
        NS_TEST_ASSERT_MSG_EQ_TOL(slowLog.failedAt.at(0), 16'384'000, Rounding(1), "in time");
        NS_TEST_ASSERT_MSG_EQ(fastLog.delivered.size(), 1, "the other one is not harmed");
        NS_TEST_ASSERT_MSG_EQ_TOL(fastLog.delivered.at(0).time,
                                  1'000'000'000 + 5 * 83'840 + 1'000'000,
                                  Rounding(1),
                                  "nor late");
        NS_TEST_ASSERT_MSG_EQ(pair.a->GetDataSent(), 6, "nothing more of the first one");
        Simulator::Destroy();
    }
};

/**
 * Counters asked for in the middle of everything bring the port up to date there, and change no
 * time: in callbacks, in sinks of every trace source that a port fires, and while a queue waits.
 * Three hosts send to one with a window of one packet, so that ports are idle when ACKs come, or
 * with none, so that they are not.
 */
class AskingTest : public TestCase
{
  public:
    AskingTest(uint64_t limit, uint64_t window)
        : TestCase("Asking changes no time, limit " + std::to_string(limit) + " window " +
                   std::to_string(window)),
          m_limit(limit),
          m_window(window)
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<Event> plain = Simulate(false, false, false);
        NS_TEST_ASSERT_MSG_EQ(plain.size(), 600, "all there");
        for (bool lookAhead : {false, true})
        {
            const std::string ahead = lookAhead ? ", with look-ahead" : "";
            NS_TEST_ASSERT_MSG_EQ((plain == Simulate(true, false, lookAhead)),
                                  true,
                                  "in callbacks" << ahead);
            NS_TEST_ASSERT_MSG_EQ((plain == Simulate(false, true, lookAhead)),
                                  true,
                                  "in sinks" << ahead);
        }
    }

    static void Ask(const FabricHelper& fabric)
    {
        for (const auto& nic : fabric.Nics())
        {
            nic->GetSentBytes();
            nic->GetQueueBytes();
        }
        for (const auto& connection : fabric.Connections())
        {
            connection->GetQueuePair(0)->GetRate();
            connection->GetQueuePair(0)->GetCounters();
        }
    }

    /// Those of a switch that runs ahead may be asked only at times that are announced.
    static void AskSwitch(const FabricHelper& fabric)
    {
        for (const auto& nic : fabric.Nics())
        {
            nic->GetPeer()->GetSentPackets();
            nic->GetPeer()->GetQueueBytes(3);
        }
        fabric.Switches()[0]->GetOccupancy();
    }

    static void Watch(const FabricHelper& fabric, Ptr<FabricPort> port, bool lookAhead)
    {
        using Sink = Callback<void, const scaleacross::FabricPacket&>;
        const Sink ask([&fabric, lookAhead](const scaleacross::FabricPacket&) {
            Ask(fabric);
            if (!lookAhead)
            {
                AskSwitch(fabric);
            }
        });
        port->TraceConnectWithoutContext("Enqueue", ask);
        port->TraceConnectWithoutContext("Transmit", ask);
        port->TraceConnectWithoutContext(
            "QueueBytes",
            Callback<void, uint64_t, uint64_t>([&fabric](uint64_t, uint64_t) { Ask(fabric); }));
    }

    std::vector<Event> Simulate(bool callbacks, bool sinks, bool lookAhead) const
    {
        FabricHelper fabric;
        fabric.SetLookAhead(lookAhead);
        UseHpccSizes(fabric);
        BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
        fabric.SetQueuePairAttribute("Window", UintegerValue(m_window));
        fabric.SetQueuePairAttribute("RateLimit", DataRateValue(DataRate(m_limit)));
        Log log;
        for (uint64_t i = 0; i < 3; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[3]);
            log.Watch(connection);
            if (callbacks)
            {
                connection->SetCompletionCallback(
                    RdmaMessageCallback([&fabric](Bytes, uint64_t) { Ask(fabric); }));
            }
            for (const char* source : {"MessageStarted", "MessageSent", "MessageDelivered"})
            {
                const Callback<void, uint64_t, uint64_t> ask(
                    [&fabric](uint64_t, uint64_t) { Ask(fabric); });
                if (sinks)
                {
                    connection->GetQueuePair(0)->TraceConnectWithoutContext(source, ask);
                    connection->GetRemoteQueuePair(0)->TraceConnectWithoutContext(source, ask);
                }
            }
            for (uint64_t k = 0; k < 200; ++k)
            {
                connection->Send(Bytes(1000), 1000 * i + k);
            }
        }
        for (const auto& nic : fabric.Nics())
        {
            if (sinks)
            {
                Watch(fabric, nic, lookAhead);
                Watch(fabric, nic->GetPeer(), lookAhead);
            }
        }
        Simulator::Run();
        Simulator::Destroy();
        std::sort(log.delivered.begin(), log.delivered.end());
        return log.delivered;
    }

    uint64_t m_limit;
    uint64_t m_window;
};

class PacingSuite : public TestSuite
{
  public:
    PacingSuite()
        : TestSuite("scaleacross-pacing")
    {
        for (bool eager : {false, true})
        {
            // Waits of 279,466 2/3 ps; of a fraction that never ends; longer than the way; as
            // short as the packet itself.
            for (uint64_t rate :
                 {30'000'000'000UL, 7'000'000'001UL, 1'000'000'000UL, 99'999'999'999UL})
            {
                AddTestCase(new SpacingTest(rate, eager));
            }
            AddTestCase(new ManyLimitsTest({30'000'000'000, 7'000'000'001, 41'000'000'000},
                                           eager,
                                           "three within the line rate"));
            AddTestCase(new ManyLimitsTest(
                {11'000'000'000, 11'000'000'000, 22'000'000'000, 3'000'000'000, 1'000'000'000},
                eager,
                "due at the same times"));
            AddTestCase(new ManyLimitsTest({60'000'000'000, 50'000'000'000, 10'000'000'000},
                                           eager,
                                           "over"));
        }
        AddTestCase(new EventsTest(30'000'000'000, 2));
        AddTestCase(new EventsTest(1'000'000'000, 3));
        AddTestCase(new RestTest);
        AddTestCase(new FailureTest);
        for (uint64_t limit : {0UL, 30'000'000'000UL})
        {
            AddTestCase(new AskingTest(limit, 0));
            AddTestCase(new AskingTest(limit, 1000));
        }
    }
};

PacingSuite g_pacingSuite;

} // namespace
