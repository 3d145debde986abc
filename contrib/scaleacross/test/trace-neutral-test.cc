// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"
#include "trace-signatures.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/packet.h"

#include <functional>
#include <map>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

/// Sinks on every trace source of every object, found by asking the types for their sources. Each
/// asks all NICs for their counters, which brings them up to date in the middle of things.
class AllSinks
{
  public:
    void Connect(const FabricHelper& fabric)
    {
        m_fabric = &fabric;
        const std::string device = "/NodeList/*/DeviceList/*/";
        ConnectType("ns3::FabricPort", device + "$ns3::FabricPort/");
        ConnectType("ns3::SwitchPort", device + "$ns3::SwitchPort/");
        ConnectType("ns3::RdmaNic", device + "$ns3::RdmaNic/");
        ConnectType("ns3::FabricSwitch", "/NodeList/*/$ns3::FabricSwitch/");
        ConnectType("ns3::RdmaQueuePair", device + "$ns3::RdmaNic/QueuePairList/*/");
        ConnectType("ns3::FabricWire", "/ChannelList/*/$ns3::FabricWire/");
    }

    /// Calls by "type::source".
    std::map<std::string, uint64_t> calls;
    /// Depends on what was called at which time, and not on the order of calls at one time.
    uint64_t digest{0};
    /// Sources whose signature is not known here.
    std::string unknown;
    bool backwards{false};
    uint64_t asked{0};

  private:
    void ConnectType(const std::string& type, const std::string& path)
    {
        TypeId tid = TypeId::LookupByName(type);
        for (uint32_t i = 0; i < tid.GetTraceSourceN(); ++i)
        {
            const TypeId::TraceSourceInformation source = tid.GetTraceSource(i);
            const std::string name = type + "::" + source.name;
            const auto signature = TraceSignatures().find(source.callback);
            if (signature == TraceSignatures().end())
            {
                unknown += name + " ";
                continue;
            }
            calls[name] += 0;
            const CallbackBase sink = signature->second([this, name] { Note(name); });
            Config::ConnectWithoutContextFailSafe(path + source.name, sink);
        }
    }

    void Note(const std::string& name)
    {
        ++calls[name];
        const int64_t now = Simulator::Now().GetPicoSeconds();
        backwards = backwards || now < m_last;
        m_last = now;
        for (const auto& nic : m_fabric->Nics())
        {
            asked += nic->GetSentBytes() + nic->GetQueueBytes() + nic->GetForeignQueueBytes();
        }
        digest += std::hash<std::string>()(name + std::to_string(now));
    }

    int64_t m_last{0};
    const FabricHelper* m_fabric{nullptr};
};

/// How a run is carried out; none of it may change the result.
struct Engine
{
    bool sinks{false};
    bool lookAhead{false};
    bool eager{false};
};

struct Outcome
{
    std::vector<Event> delivered;
    std::vector<Event> completed;
    uint64_t dropped{0};
    uint64_t pauses{0};
    uint64_t digest{0};
    std::map<std::string, uint64_t> calls;
    std::string unknown;
    bool backwards{false};
};

/// Builds a fabric and posts its messages.
using Scenario = std::function<void(FabricHelper&, Log&)>;

Outcome
RunScenario(const Scenario& scenario, const Engine& engine)
{
    Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(engine.eager));
    Outcome outcome;
    Log log;
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("LookAhead", BooleanValue(engine.lookAhead));
        fabric.SetNicAttribute("LookAhead", BooleanValue(engine.lookAhead));
        AllSinks sinks;
        scenario(fabric, log);
        if (engine.sinks)
        {
            sinks.Connect(fabric);
        }
        Simulator::Run();
        FabricBalance balance = CheckConservation(fabric);
        outcome.dropped = balance.Dropped();
        for (const auto& fabricSwitch : fabric.Switches())
        {
            outcome.pauses += fabricSwitch->GetPauses();
        }
        outcome.digest = sinks.digest;
        outcome.calls = sinks.calls;
        outcome.unknown = sinks.unknown;
        outcome.backwards = sinks.backwards;
        Simulator::Destroy();
    }
    Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(false));
    // Callbacks of different nodes at one time may come in any order.
    std::sort(log.delivered.begin(), log.delivered.end());
    std::sort(log.completed.begin(), log.completed.end());
    outcome.delivered = log.delivered;
    outcome.completed = log.completed;
    return outcome;
}

void
Send(FabricHelper& fabric, Log& log, uint32_t from, uint32_t to, uint64_t bytes)
{
    auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
    log.Watch(connection);
    const uint64_t tag = 100 * from + to;
    // In the run, so that sinks are connected before.
    Simulator::Schedule(NanoSeconds(1), [=]() { connection->Send(Bytes(bytes), tag); });
}

/// Eight hosts on two leaves with two spines, i to i + 4; foreign packets among them.
void
Permutation(FabricHelper& fabric, Log& log)
{
    Ptr<FabricSwitch> leaves[] = {fabric.AddSwitch(), fabric.AddSwitch()};
    for (uint32_t i = 0; i < 8; ++i)
    {
        fabric.Connect(fabric.AddNic(fabric.AddHost()),
                       leaves[i / 4],
                       DataRate("100Gbps"),
                       MicroSeconds(1));
    }
    for (uint32_t i = 0; i < 2; ++i)
    {
        Ptr<FabricSwitch> spine = fabric.AddSwitch();
        fabric.Connect(leaves[0], spine, DataRate("100Gbps"), MicroSeconds(1));
        fabric.Connect(leaves[1], spine, DataRate("100Gbps"), MicroSeconds(1));
    }
    fabric.InstallRoutes();
    for (uint32_t i = 0; i < 8; ++i)
    {
        Send(fabric, log, i, (i + 4) % 8, 300'000);
        for (uint32_t us = 1; us < 20; ++us)
        {
            Simulator::Schedule(MicroSeconds(us), [&fabric, i]() {
                const Address to = fabric.Nics()[(i + 3) % 8]->GetAddress();
                fabric.Nics()[i]->Send(Create<Packet>(700), to, 0x88B5);
                fabric.Nics()[i]->Send(Create<Packet>(1), fabric.Nics()[i]->GetBroadcast(), 1);
            });
        }
    }
}

/// Seven to one through a small buffer: pauses.
void
Incast(FabricHelper& fabric, Log& log)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(1'000'000));
    BuildStar(fabric, 8, "100Gbps", MicroSeconds(1));
    for (uint32_t i = 0; i < 7; ++i)
    {
        Send(fabric, log, i, 7, 300'000);
    }
}

/// The same with credits in place of pauses.
void
CreditIncast(FabricHelper& fabric, Log& log)
{
    fabric.SetSwitchAttribute("Credits", BooleanValue(true));
    fabric.SetSwitchAttribute("VlBuffer", UintegerValue(14'000)); // of 64 lanes: 898 kB
    Incast(fabric, log);
}

/// The incast with loss, timeouts, and a wire that breaks and comes back.
void
Lossy(FabricHelper& fabric, Log& log)
{
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(5)); // 131 us
    fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1000));
    BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
    fabric.AssignStreams(7);
    for (uint32_t i = 0; i < 3; ++i)
    {
        fabric.Wires()[i]->SetLossRate(0.05);
        Send(fabric, log, i, 3, 300'000);
    }
    for (const int64_t us : {20, 30})
    {
        fabric.HoldAt(MicroSeconds(us));
        Simulator::Schedule(MicroSeconds(us),
                            [&fabric, us]() { fabric.Wires()[1]->SetUp(us == 30); });
    }
}

/**
 * Every trace source of every object with a sink, by wildcards, against the run without one: every
 * delivery and completion at the same picosecond, the same drops and pauses. And sinks are called
 * at the same times whether departures are worked out late, switches run ahead, or everything is an
 * event.
 */
class NeutralTest : public TestCase
{
  public:
    NeutralTest(const std::string& name, Scenario scenario, std::vector<std::string> called)
        : TestCase("Sinks on everything change no time: " + name),
          m_scenario(std::move(scenario)),
          m_called(std::move(called))
    {
    }

  private:
    void DoRun() override
    {
        const Outcome plain = RunScenario(m_scenario, {});
        NS_TEST_ASSERT_MSG_GT(plain.completed.size(), 0, "something is completed");
        const Outcome watched = RunScenario(m_scenario, {true, false, false});
        Compare(plain, watched, "with sinks");
        Compare(plain, RunScenario(m_scenario, {false, true, false}), "ahead");
        const Outcome ahead = RunScenario(m_scenario, {true, true, false});
        Compare(plain, ahead, "ahead with sinks");
        const Outcome eager = RunScenario(m_scenario, {true, false, true});
        Compare(plain, eager, "eager with sinks");
        NS_TEST_ASSERT_MSG_EQ(watched.unknown, "", "every trace source is known to this test");
        NS_TEST_ASSERT_MSG_EQ((watched.backwards || ahead.backwards), false, "time goes forward");
        for (const auto& [name, count] : watched.calls)
        {
            NS_TEST_EXPECT_MSG_EQ(ahead.calls.at(name), count, name << ", ahead");
            NS_TEST_EXPECT_MSG_EQ(eager.calls.at(name), count, name << ", eager");
        }
        NS_TEST_ASSERT_MSG_EQ(watched.digest, eager.digest, "sinks at the same times, eager");
        NS_TEST_ASSERT_MSG_EQ(watched.digest, ahead.digest, "sinks at the same times, ahead");
        for (const auto& name : m_called)
        {
            NS_TEST_EXPECT_MSG_GT(watched.calls.at(name), 0, name << " was called");
        }
    }

    void Compare(const Outcome& plain, const Outcome& other, const char* how)
    {
        NS_TEST_EXPECT_MSG_EQ((other.delivered == plain.delivered), true, "deliveries " << how);
        NS_TEST_EXPECT_MSG_EQ((other.completed == plain.completed), true, "completions " << how);
        NS_TEST_EXPECT_MSG_EQ(other.dropped, plain.dropped, "drops " << how);
        NS_TEST_EXPECT_MSG_EQ(other.pauses, plain.pauses, "pauses " << how);
    }

    Scenario m_scenario;
    std::vector<std::string> m_called; //!< sources that must have been
};

/**
 * The life of a message by its trace sources: two hosts on a switch, 2,500 bytes are packets of
 * 1,000, 1,000 and 500 bytes and 48 each, D = 83.84 ns and d = 43.84 ns at 100 Gb/s. Posted at 1 us
 * when nothing else is going on, it starts at once; the first packet is there two wires and 2 D
 * later; the last one has left after 2 D + d, is in the switch 1 us later and passes it in d; the
 * ACK of 60 bytes takes 4.8 ns and 1 us twice.
 */
class MessageLifeTest : public TestCase
{
  public:
    MessageLifeTest()
        : TestCase("A message by its trace sources")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Ptr<RdmaQueuePair> from = connection->GetQueuePair(0);
        Ptr<RdmaQueuePair> to = connection->GetRemoteQueuePair(0);
        std::map<std::string, std::vector<uint64_t>> seen;
        auto watch = [&seen](Ptr<RdmaQueuePair> queuePair, const std::string& source) {
            queuePair->TraceConnectWithoutContext(
                source,
                Callback<void, uint64_t, uint64_t>([&seen, source](uint64_t bytes, uint64_t tag) {
                    const auto now = static_cast<uint64_t>(Simulator::Now().GetPicoSeconds());
                    seen[source] = {now, bytes, tag};
                }));
        };
        from->TraceConnectWithoutContext(
            "MessagePosted",
            Callback<void, uint64_t, uint64_t, uint64_t, uint64_t>(
                [&seen](uint64_t bytes, uint64_t tag, uint64_t psn, uint64_t packets) {
                    const auto now = static_cast<uint64_t>(Simulator::Now().GetPicoSeconds());
                    seen["MessagePosted"] = {now, bytes, tag, psn, packets};
                }));
        watch(from, "MessageStarted");
        // Whoever is told that the first bit leaves finds the packet counted, and no other.
        std::vector<uint64_t> counted;
        Ptr<RdmaNic> nic = fabric.Nics()[0];
        from->TraceConnectWithoutContext(
            "MessageStarted",
            Callback<void, uint64_t, uint64_t>([&counted, nic, from](uint64_t, uint64_t) {
                counted = {nic->GetSentPackets(),
                           nic->GetSentBytes(),
                           nic->GetDataSent(),
                           from->GetUnacked()};
            }));
        watch(to, "MessageArriving");
        watch(to, "MessageDelivered");
        watch(from, "MessageSent");
        Simulator::Schedule(MicroSeconds(1), [connection]() { connection->Send(Bytes(2500), 9); });
        Simulator::Run();
        Simulator::Destroy();
        constexpr uint64_t kPosted = 1'000'000;
        constexpr uint64_t kWires = 2'000'000;
        constexpr uint64_t kLong = 83'840;
        constexpr uint64_t kShort = 43'840;
        constexpr uint64_t kAck = 4'800;
        constexpr uint64_t kDelivered = kPosted + 2 * kLong + 2 * kShort + kWires;
        Check(seen["MessagePosted"], {kPosted, 2500, 0, 0, 3}, "posted");
        Check(seen["MessageStarted"], {kPosted, 2500, 0}, "started");
        NS_TEST_EXPECT_MSG_EQ((counted == std::vector<uint64_t>{1, 1048, 1, 1}),
                              true,
                              "packets, bytes, data packets, unacknowledged packets at the start");
        Check(seen["MessageArriving"], {kPosted + 2 * kLong + kWires, 1000, 0}, "arriving");
        // The short packet catches up with the one before it, which is still leaving the switch:
        // it has to wait for kLong - kShort.
        Check(seen["MessageDelivered"], {kDelivered + kLong - kShort, 2500, 0}, "delivered");
        Check(seen["MessageSent"],
              {kDelivered + kLong - kShort + 2 * kAck + kWires, 2500, 0},
              "sent");
    }

    void Check(const std::vector<uint64_t>& actual,
               const std::vector<uint64_t>& expected,
               const char* what)
    {
        NS_TEST_ASSERT_MSG_EQ(actual.size(), expected.size(), what);
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<int64_t>(actual[0]),
                                  static_cast<int64_t>(expected[0]),
                                  Rounding(4),
                                  what << ": time");
        for (size_t i = 1; i < actual.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(actual[i], expected[i], what << ": argument " << i);
        }
    }
};

class TraceNeutralSuite : public TestSuite
{
  public:
    TraceNeutralSuite()
        : TestSuite("scaleacross-trace-neutral")
    {
        AddTestCase(new NeutralTest("permutation",
                                    Permutation,
                                    {"ns3::FabricPort::Enqueue",
                                     "ns3::FabricPort::Transmit",
                                     "ns3::FabricPort::Receive",
                                     "ns3::FabricPort::QueueBytes",
                                     "ns3::RdmaQueuePair::MessagePosted",
                                     "ns3::RdmaQueuePair::MessageStarted",
                                     "ns3::RdmaQueuePair::MessageArriving",
                                     "ns3::RdmaQueuePair::MessageDelivered",
                                     "ns3::RdmaQueuePair::MessageSent",
                                     "ns3::RdmaNic::MacTx",
                                     "ns3::RdmaNic::MacTxDrop",
                                     "ns3::RdmaNic::MacRx"}));
        AddTestCase(new NeutralTest("incast with pauses",
                                    Incast,
                                    {"ns3::FabricPort::Pause",
                                     "ns3::FabricPort::PauseSent",
                                     "ns3::FabricSwitch::IngressPause"}));
        AddTestCase(new NeutralTest("incast with credits",
                                    CreditIncast,
                                    {"ns3::FabricPort::Credit", "ns3::FabricPort::CreditSent"}));
        AddTestCase(new NeutralTest("loss",
                                    Lossy,
                                    {"ns3::FabricPort::Drop",
                                     "ns3::RdmaQueuePair::Retransmit",
                                     "ns3::FabricWire::Up",
                                     "ns3::RdmaQueuePair::Timeout"}));
        AddTestCase(new MessageLifeTest);
    }
};

TraceNeutralSuite g_traceNeutralSuite;

} // namespace
