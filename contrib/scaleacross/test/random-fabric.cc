// SPDX-License-Identifier: GPL-2.0-only

#include "random-fabric.h"

#include "attribute-lottery.h"
#include "core/base/errors.h"
#include "earliest-arrival.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/enum.h"
#include "ns3/fabric-events.h"
#include "ns3/fabric-transport.h"
#include "ns3/loss-model.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/path-selector.h"
#include "ns3/receiver-admission.h"
#include "ns3/string.h"
#include "ns3/switch-port.h"

#include <memory>
#include <random>

namespace randomfabric
{

using namespace lookahead;
using fabrictest::AttributeLottery;
using fabrictest::EarliestArrival;
using scaleacross::Bytes;
using scaleacross::ConfigError;

namespace
{

constexpr int64_t kEndPs = 3'000'000'017; //!< 3 ms: long for some 200 us of posts

/// One fabric with its traffic, from building to the end.
class Fabric
{
  public:
    Fabric(uint32_t seed, bool watched, Result& result)
        : m_random(seed),
          m_lottery(m_random),
          m_watched(watched),
          m_result(result)
    {
    }

    void Run()
    {
        DrawFabric();
        BuildFabric();
        m_earliest = std::make_unique<EarliestArrival>(m_fabric);
        WatchForeign();
        if (m_watched)
        {
            WatchPorts();
        }
        for (uint32_t n = 3 + Below(6); n > 0; --n)
        {
            AddConnection();
        }
        for (uint32_t n = Below(2) * Below(8); n > 0; --n)
        {
            AddForeign();
        }
        if (Below(3) == 0)
        {
            AddEvents();
        }
        if (Below(3) == 0)
        {
            AddChanges();
        }
        m_fabric.HoldAt(PicoSeconds(kEndPs));
        Simulator::Stop(PicoSeconds(kEndPs));
        m_result.drawn = m_lottery.Text();
        Simulator::Run();
        Finish();
    }

  private:
    struct Posting
    {
        uint32_t connection;
        uint64_t tag;
        uint64_t bytes;
    };

    /// What a connection's callbacks do, besides the log.
    struct Reaction
    {
        uint32_t connection{0};
        uint64_t bytes{0};
        uint32_t left{0};
    };

    uint32_t Below(uint32_t end)
    {
        return static_cast<uint32_t>(m_random() % end);
    }

    /// Every fourth of whole microseconds, at which a lot happens at once; else of its own.
    Time SomeTime(uint32_t us)
    {
        ++m_times;
        return Below(4) == 0 ? MicroSeconds(1 + m_times % us)
                             : PicoSeconds(1'000'000 + int64_t{Below(us)} * 1'000'000 +
                                           Below(900'000) + m_times);
    }

    void DrawFabric()
    {
        m_lottery.DrawChildren(PathSelector::GetTypeId());
        m_lottery.DrawChildren(FabricLossModel::GetTypeId());
        m_lottery.Draw(ReceiverAdmission::GetTypeId());
        m_lottery.Draw(FabricEvents::GetTypeId());
        m_lottery.Draw(SwitchPort::GetTypeId());
        m_lottery.Draw(FabricSwitch::GetTypeId());
        m_lottery.Draw(RdmaNic::GetTypeId());
        using scaleacross::Transport;
        const Transport transports[] = {Transport("roce"),
                                        Transport("infiniband"),
                                        Transport("trimming")};
        const uint32_t choice = Below(5);
        if (choice < 3)
        {
            UseTransport(m_fabric, transports[choice]);
            m_result.types["transport " + std::to_string(choice)] += 1;
        }
        m_credits = choice == 1;
        if (m_credits && Below(2) == 0)
        {
            m_fabric.SetSwitchAttribute("LaneMap",
                                        StringValue("in any out any 3:" + std::to_string(Below(8)) +
                                                    ",6:" + std::to_string(Below(8))));
        }
        m_fabric.SetRouteWeights(Below(2) == 0 ? scaleacross::RouteWeights::Capacity
                                               : scaleacross::RouteWeights::Equal);
    }

    void BuildFabric()
    {
        const char* rates[] = {"10Gbps", "25Gbps", "100Gbps", "400Gbps"};
        const bool alike = Below(2) == 0;
        const bool far = Below(8) == 0;
        auto rate = [&]() { return DataRate(alike ? "100Gbps" : rates[Below(4)]); };
        auto delay = [&]() {
            return NanoSeconds(alike ? 1000 : (far ? 60'000 : 20'000) / (1 + Below(300)));
        };
        std::vector<Ptr<FabricSwitch>> switches;
        const uint32_t nSwitches = 1 + Below(5);
        for (uint32_t i = 0; i < nSwitches; ++i)
        {
            switches.push_back(m_fabric.AddSwitch());
            for (uint32_t n = i > 0 ? 1 + Below(3) : 0; n > 0; --n)
            {
                m_fabric.Connect(switches[i], switches[Below(i)], rate(), delay());
            }
        }
        for (uint32_t n = 2 + Below(7); n > 0; --n)
        {
            m_fabric.Connect(m_fabric.AddNic(m_fabric.AddHost()),
                             switches[Below(nSwitches)],
                             rate(),
                             delay());
        }
        for (const auto& wire : m_fabric.Wires())
        {
            DrawLoss(wire);
        }
        m_fabric.InstallRoutes();
        m_fabric.AssignStreams(Below(100'000));
        m_result.types[switches[0]->GetPathSelector()->GetInstanceTypeId().GetName()] += 1;
    }

    void DrawLoss(Ptr<FabricWire> wire)
    {
        const auto models = AttributeLottery::ChildrenOf(FabricLossModel::GetTypeId());
        const uint32_t choice = Below(6 * static_cast<uint32_t>(models.size()));
        for (size_t i = 0; i < 2 && choice < models.size(); ++i)
        {
            ObjectFactory factory;
            factory.SetTypeId(models[choice]);
            wire->SetLossModel(i, factory.Create<FabricLossModel>());
            m_result.types[models[choice].GetName()] += 1;
        }
    }

    uint32_t SomeNic()
    {
        return Below(static_cast<uint32_t>(m_fabric.Nics().size()));
    }

    /// Another one than `nic`.
    uint32_t OtherNic(uint32_t nic)
    {
        const auto all = static_cast<uint32_t>(m_fabric.Nics().size());
        return (nic + 1 + Below(all - 1)) % all;
    }

    Ptr<RdmaConnection> Create()
    {
        const uint32_t from = SomeNic();
        const auto& nics = m_fabric.Nics();
        std::vector<std::pair<Ptr<RdmaNic>, Ptr<RdmaNic>>> pairs{
            {nics[from], nics[OtherNic(from)]}};
        if (Below(6) == 0)
        {
            const uint32_t second = SomeNic();
            pairs.emplace_back(nics[second], nics[OtherNic(second)]);
        }
        m_lottery.Draw(RdmaConnection::GetTypeId());
        m_lottery.Draw(RdmaQueuePair::GetTypeId());
        m_lottery.DrawChildren(RdmaCongestionOps::GetTypeId());
        m_lottery.DrawChildren(RdmaEntropyOps::GetTypeId());
        if (pairs.size() > 1)
        {
            // Which queue pair is next, or sends the Final write, would go by the order of
            // completions, and those of two NICs at one time come in any order.
            Config::SetDefault("ns3::RdmaConnection::MaxOutstanding", UintegerValue(0));
            Config::SetDefault("ns3::RdmaConnection::Notification", StringValue("AllArrived"));
        }
        try
        {
            return m_fabric.CreateConnection(pairs);
        }
        catch (const ConfigError&)
        {
            // What most refusals are about: packets that overtake each other, and pulls.
            Config::SetDefault("ns3::RdmaQueuePair::RetransmissionMode",
                               StringValue("SelectiveRepeat"));
            Config::SetDefault("ns3::RdmaQueuePair::ReorderTolerance", UintegerValue(16));
            Config::SetDefault("ns3::RdmaQueuePair::WindowCountsFlight", BooleanValue(true));
            Config::SetDefault("ns3::RdmaQueuePair::Entropy", UintegerValue(0));
            Config::SetDefault("ns3::RdmaQueuePair::RateLimit", StringValue("0bps"));
            Config::SetDefault("ns3::RdmaQueuePair::Timeout", UintegerValue(8));
            return m_fabric.CreateConnection(pairs);
        }
    }

    void AddConnection()
    {
        const Ptr<RdmaConnection> connection = Create();
        const auto index = static_cast<uint32_t>(m_fabric.Connections().size() - 1);
        const auto control = connection->GetQueuePair(0)->GetCongestionOps();
        const auto entropies = connection->GetQueuePair(0)->GetEntropyOps();
        m_result.types[control ? control->GetInstanceTypeId().GetName() : "no control"] += 1;
        m_result.types[entropies ? entropies->GetInstanceTypeId().GetName() : "no entropies"] += 1;
        m_reactions.emplace_back();
        m_completions.emplace_back();
        Watch(connection, index);
        for (uint32_t n = 1 + Below(3); n > 0; --n)
        {
            const uint64_t bytes = SomeBytes();
            const Time when = Below(3) == 0 ? Time(0) : SomeTime(150);
            Simulator::Schedule(when, [this, index, bytes]() { Post(index, bytes); });
        }
        FeedReceives(connection);
        if (Below(2) == 0)
        {
            AddReactions(index);
        }
    }

    uint64_t SomeBytes()
    {
        const uint64_t sizes[] = {0, 1, 4096, Below(10'000), Below(60'000), Below(200'000)};
        return sizes[Below(6)];
    }

    /// Replies by connections that begin where one ends, and more by itself when one is complete.
    void AddReactions(uint32_t index)
    {
        const Ptr<RdmaConnection> connection = m_fabric.Connections()[index];
        for (uint32_t other = 0; other < index; ++other)
        {
            if (m_fabric.Connections()[other]->GetSender() == connection->GetReceiver())
            {
                m_reactions[index] = {other, 1 + Below(20'000), 3};
            }
        }
        m_completions[index] = {index, 1 + Below(9000), Below(3)};
    }

    /// Receives now, later, and when a message has come.
    void FeedReceives(Ptr<RdmaConnection> connection)
    {
        UintegerValue depth;
        connection->GetRemoteQueuePair(0)->GetAttribute("ReceiveQueueDepth", depth);
        if (depth.Get() == 0)
        {
            return;
        }
        const auto limit = static_cast<uint32_t>(depth.Get());
        for (uint32_t i = 0; i < connection->GetNQueuePairs(); ++i)
        {
            const Ptr<RdmaQueuePair> queuePair = connection->GetRemoteQueuePair(i);
            queuePair->PostReceive(Below(limit + 1));
            for (uint32_t n = Below(12); n > 0; --n)
            {
                Simulator::Schedule(SomeTime(400), [queuePair, limit]() {
                    if (queuePair->GetPostedReceives() < limit)
                    {
                        queuePair->PostReceive();
                    }
                });
            }
        }
    }

    void Watch(Ptr<RdmaConnection> connection, uint32_t index)
    {
        m_log.Watch(connection);
        connection->SetDeliveryCallback(
            RdmaMessageCallback([this, index](Bytes bytes, uint64_t tag) {
                Note(m_log.delivered, tag, bytes);
                React(m_reactions[index]);
            }));
        connection->SetCompletionCallback(
            RdmaMessageCallback([this, index](Bytes bytes, uint64_t tag) {
                Note(m_log.completed, tag, bytes);
                React(m_completions[index]);
            }));
    }

    static void Note(std::vector<fabrictest::Event>& events, uint64_t tag, Bytes bytes)
    {
        events.push_back({tag, bytes.Count(), Simulator::Now().GetPicoSeconds()});
    }

    void React(Reaction& reaction)
    {
        if (reaction.left > 0)
        {
            --reaction.left;
            Post(reaction.connection, reaction.bytes);
        }
    }

    /// Tags follow from the connection and the order of its messages, not from that of all.
    void Post(uint32_t index, uint64_t bytes)
    {
        const uint64_t tag = 1000 * (index + 1) + m_posted[index]++;
        const Ptr<RdmaConnection> connection = m_fabric.Connections()[index];
        if (connection->Send(Bytes(bytes), tag))
        {
            ++m_result.messages;
            m_earliest->Note(tag, *connection, bytes);
        }
    }

    // --- Other stacks

    void WatchForeign()
    {
        for (const auto& nic : m_fabric.Nics())
        {
            nic->SetReceiveCallback(NetDevice::ReceiveCallback(
                [this](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                    uint32_t number = 0;
                    packet->CopyData(reinterpret_cast<uint8_t*>(&number), sizeof(number));
                    Note(m_log.delivered, kForeignTags + number, Bytes(packet->GetSize()));
                    return true;
                }));
        }
    }

    void AddForeign()
    {
        const uint32_t from = SomeNic();
        const uint32_t to = OtherNic(from);
        const uint32_t number = m_foreign++;
        const uint32_t size = 4 + Below(1400);
        Simulator::Schedule(SomeTime(150), [this, from, to, number, size]() {
            std::vector<uint8_t> content(size);
            std::copy_n(reinterpret_cast<const uint8_t*>(&number), sizeof(number), content.begin());
            const Ptr<RdmaNic> sender = m_fabric.Nics()[from];
            const Ptr<RdmaNic> receiver = m_fabric.Nics()[to];
            if (sender->Send(ns3::Create<Packet>(content.data(), size),
                             receiver->GetAddress(),
                             0x88B5))
            {
                ++m_result.messages;
                m_earliest->NoteForeign(kForeignTags + number, *sender, *receiver, size);
            }
        });
    }

    // --- What happens to the fabric

    void AddEvents()
    {
        m_events = CreateObject<FabricEvents>();
        m_events->SetFabric(m_fabric);
        const auto& wires = m_fabric.Wires();
        const auto& switches = m_fabric.Switches();
        for (uint32_t n = 1 + Below(3); n > 0; --n)
        {
            FabricTarget target =
                FabricEvents::LinkTarget(wires[Below(static_cast<uint32_t>(wires.size()))]);
            if (Below(4) == 0)
            {
                target = FabricEvents::SwitchTarget(
                    switches[Below(static_cast<uint32_t>(switches.size()))]);
            }
            const Time at = SomeTime(150);
            const Time length = SomeTime(80);
            switch (Below(3))
            {
            case 0:
                m_events->Fail(target, at, at + length);
                break;
            case 1:
                m_events->Degrade(target, 0.1 + 0.1 * Below(9), at, at + length);
                break;
            default:
                m_events->Flap(target, at, length, length + SomeTime(10), 1 + Below(3));
            }
        }
    }

    /// Looks and changes by hand, at times that are announced.
    void AddChanges()
    {
        for (uint32_t n = 1 + Below(4); n > 0; --n)
        {
            const Time when = SomeTime(150);
            const uint32_t what = Below(4);
            const uint32_t wire = Below(static_cast<uint32_t>(m_fabric.Wires().size()));
            const uint32_t nic = SomeNic();
            const uint32_t lanes = Below(256);
            m_fabric.HoldAt(when);
            Simulator::Schedule(when, [this, what, wire, nic, lanes]() {
                try
                {
                    Change(what, m_fabric.Wires()[wire], m_fabric.Nics()[nic], lanes);
                }
                catch (const ConfigError& error)
                {
                    m_log.failures.push_back(error.what());
                }
            });
        }
    }

    void Change(uint32_t what, Ptr<FabricWire> wire, Ptr<RdmaNic> nic, uint32_t lanes)
    {
        switch (what)
        {
        case 0:
            wire->SetLossRate(0.02);
            break;
        case 1:
            wire->SetDelay(wire->GetDelay() + NanoSeconds(700));
            break;
        case 2:
            if (m_credits)
            {
                nic->SetStalledLanes(lanes);
                Simulator::Schedule(MicroSeconds(20), [nic]() { nic->SetStalledLanes(0); });
            }
            break;
        default:
            for (const auto& other : m_fabric.Nics())
            {
                m_looks.push_back(other->GetSentBytes());
                m_looks.push_back(other->GetDataReceived());
            }
            for (const auto& connection : m_fabric.Connections())
            {
                m_looks.push_back(connection->GetQueuePair(0)->GetRate().GetBitRate());
                m_looks.push_back(connection->GetQueuePair(0)->GetUnacked());
            }
            for (const auto& fabricSwitch : m_fabric.Switches())
            {
                m_looks.push_back(fabricSwitch->GetOccupancy());
            }
        }
    }

    // --- Physics

    /// When the last packet of a port has left at the earliest.
    struct Line
    {
        int64_t free{0};
    };

    void WatchPorts()
    {
        for (const auto& wire : m_fabric.Wires())
        {
            for (size_t end = 0; end < 2; ++end)
            {
                // The port owns its sinks: they must not own the port.
                FabricPort* port = PeekPointer(DynamicCast<FabricPort>(wire->GetDevice(end)));
                const auto line = std::make_shared<Line>();
                using Sink = Callback<void, const scaleacross::FabricPacket&>;
                port->TraceConnectWithoutContext(
                    "Transmit",
                    Sink([this, port, line](const scaleacross::FabricPacket& packet) {
                        Started(*port, *line, packet.size);
                    }));
                // What is being sent when the wire breaks is cut off.
                wire->TraceConnectWithoutContext("Up", Callback<void, bool>([line](bool) {
                                                     line->free = 0;
                                                 }));
            }
        }
    }

    /// What is left of the packet before is less than a tick of the Simulator's, and is carried on.
    void Started(const FabricPort& port, Line& line, uint32_t bytes)
    {
        const int64_t now = Simulator::Now().GetPicoSeconds();
        const int64_t tick = TimeStep(1).GetPicoSeconds();
        if (now + tick <= line.free)
        {
            m_result.violations.push_back(port.Describe() + " starts a packet at " +
                                          std::to_string(now) + " ps, but sends until " +
                                          std::to_string(line.free) + " ps");
        }
        line.free =
            std::max(now, line.free) + static_cast<int64_t>(bytes * uint64_t{8'000'000'000'000} /
                                                            port.GetDataRate().GetBitRate());
    }

    void Finish()
    {
        m_earliest->Check(m_log, m_result.violations);
        m_result.outcome = OutcomeOf(m_fabric, m_log);
        m_result.outcome.counters.insert(m_result.outcome.counters.end(),
                                         m_looks.begin(),
                                         m_looks.end());
        for (const auto& nic : m_fabric.Nics())
        {
            m_result.packets += nic->GetDataSent();
        }
    }

    static constexpr uint64_t kForeignTags = 1'000'000;

    std::mt19937 m_random;
    AttributeLottery m_lottery;
    bool m_watched;
    Result& m_result;
    FabricHelper m_fabric;
    Log m_log;
    Ptr<FabricEvents> m_events;
    std::unique_ptr<EarliestArrival> m_earliest;
    bool m_credits{false};
    uint32_t m_times{0};
    uint32_t m_foreign{0};
    std::map<uint32_t, uint64_t> m_posted; //!< messages by connection
    std::vector<Reaction> m_reactions;
    std::vector<Reaction> m_completions;
    std::vector<uint64_t> m_looks;
};

} // namespace

Result
Run(uint32_t seed, const Engine& engine, bool watched)
{
    constexpr uint32_t kMostDraws = 50;
    std::string refusal;
    for (uint32_t draw = 0; draw < kMostDraws; ++draw)
    {
        EngineGuard guard(engine);
        Result result;
        result.refused = draw;
        try
        {
            Fabric(seed * kMostDraws + draw, watched, result).Run();
            Config::Reset();
            return result;
        }
        catch (const ConfigError& error)
        {
            refusal = error.what();
        }
        Config::Reset();
    }
    Result result;
    result.refused = kMostDraws;
    result.violations.push_back("all draws are refused, at last: " + refusal);
    return result;
}

} // namespace randomfabric
