// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-switch.h"

#include "core/base/errors.h"
#include "ecmp-selector.h"
#include "fabric-wire.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <numeric>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::kPriorities;
using scaleacross::PacketKind;
using scaleacross::PacketPool;
using scaleacross::PortGroup;
using scaleacross::SimulatorPicoseconds;

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

TypeId
FabricSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricSwitch")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<FabricSwitch>()
            .AddAttribute("BufferSize",
                          "Packet memory in bytes, headroom included.",
                          UintegerValue(64 << 20),
                          MakeUintegerAccessor(&FabricSwitch::m_bufferSize),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("Pfc",
                          "Pause the neighbour instead of dropping, for the priorities of "
                          "LosslessPriorities. If false, every priority is lossy.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FabricSwitch::m_pfc),
                          MakeBooleanChecker())
            .AddAttribute("LosslessPriorities",
                          "Bit p is set if priority p is lossless. Each one reserves headroom on "
                          "every port.",
                          UintegerValue(1U << 3),
                          MakeUintegerAccessor(&FabricSwitch::m_losslessMask),
                          MakeUintegerChecker<uint32_t>(0, 255))
            .AddAttribute("LosslessAlpha",
                          "An ingress may hold this multiple of the free shared memory before it "
                          "is paused. Smaller is fairer among many, larger absorbs more.",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&FabricSwitch::m_alphaLossless),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("LossyAlpha",
                          "An egress queue of a lossy priority may hold this multiple of the free "
                          "shared memory before it drops.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&FabricSwitch::m_alphaLossy),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("ResumeOffset",
                          "Bytes below its threshold at which a paused ingress is resumed.",
                          UintegerValue(8400),
                          MakeUintegerAccessor(&FabricSwitch::m_resumeOffset),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("MaxPacketSize",
                          "Longest packet in bytes of wire time; longer ones are dropped. Headroom "
                          "holds two of them. RoCEv2 with an MTU of 4,096: 4,096 + 62 + 16 + 24.",
                          UintegerValue(4200),
                          MakeUintegerAccessor(&FabricSwitch::m_maxPacket),
                          MakeUintegerChecker<uint32_t>(64, 65535))
            .AddAttribute("PauseResponse",
                          "Time a neighbour may take to act on a pause: adds to the headroom. The "
                          "ports modelled here need none.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FabricSwitch::m_response),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HeadroomScale",
                          "Multiplies the computed headroom. Below 1 only to study a switch that "
                          "is configured wrongly: packets are then dropped as headroom-full.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&FabricSwitch::m_headroomScale),
                          MakeDoubleChecker<double>(0.0, 1000.0))
            .AddAttribute("PathSelector",
                          "Type that chooses among the ports to a destination, derived from "
                          "ns3::PathSelector. Its attributes are set by their defaults, or at "
                          "GetPathSelector().",
                          TypeIdValue(EcmpSelector::GetTypeId()),
                          MakeTypeIdAccessor(&FabricSwitch::SetPathSelectorType,
                                             &FabricSwitch::GetPathSelectorType),
                          MakeTypeIdChecker())
            .AddAttribute(
                "HashFields",
                "Header fields that tell flows apart for ECMP, UCMP and flowlets: some "
                "of source, destination, udp-source-port and destination-qp, separated "
                "by commas. Every queue pair has a UDP source port of its own.",
                StringValue("source,destination,udp-source-port"),
                MakeStringAccessor(&FabricSwitch::SetHashFields, &FabricSwitch::GetHashFields),
                MakeStringChecker())
            .AddAttribute("HashSeed",
                          "Seed of the hash that tells flows apart, besides ns-3's run number. Set "
                          "before time zero.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricSwitch::m_hashSeed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("HashPerSwitch",
                          "Mix the node id into HashSeed. If false, switches with equal HashSeed "
                          "decide alike, and those behind the first see only flows that it has "
                          "sorted (polarisation). Set before time zero.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FabricSwitch::m_hashPerSwitch),
                          MakeBooleanChecker())
            .AddAttribute("WatchdogDetection",
                          "Time for which a queue has to stay paused with packets waiting until "
                          "the PFC watchdog gives up on it. 0: no watchdog. SONiC's default is "
                          "200 ms.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FabricSwitch::m_watchdogDetection),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("WatchdogRestoration",
                          "Time without a pause after which the PFC watchdog takes a queue back "
                          "into service.",
                          TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&FabricSwitch::m_watchdogRestoration),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("WatchdogForward",
                          "What is done with the packets of a queue that the PFC watchdog has "
                          "given up: drop them (false), or send them in spite of the pause (true).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricSwitch::m_watchdogForward),
                          MakeBooleanChecker())
            .AddAttribute("KeepAtDownPort",
                          "What is done with packets for a port whose wire is down: throw them "
                          "away (false), or keep them until there is another way or the wire is "
                          "back (true).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricSwitch::m_keepAtDownPort),
                          MakeBooleanChecker())
            .AddAttribute("LookAhead",
                          "Let one event do what is due within the least delay of the wires that "
                          "lead here, as nothing can arrive sooner. Results are the same; what is "
                          "asked of the switch between events may be that much ahead. No effect "
                          "unless the Simulator counts picoseconds. Set before time zero.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricSwitch::m_lookAhead),
                          MakeBooleanChecker())
            .AddTraceSource("PfcStorm",
                            "The PFC watchdog gives up on a queue (true) or takes it back (false): "
                            "port, priority, which of both.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_stormTrace),
                            "ns3::FabricSwitch::IngressPauseTracedCallback")
            .AddAttribute("EcnPriorities",
                          "Bit p is set if packets of priority p may be marked.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricSwitch::m_ecnMask),
                          MakeUintegerChecker<uint32_t>(0, 255))
            .AddAttribute("EcnKmin",
                          "Bytes waiting in the egress queue up to which nothing is marked. "
                          "DCQCN's paper: 5 KB at 40 Gb/s.",
                          UintegerValue(5000),
                          MakeUintegerAccessor(&FabricSwitch::m_kmin),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("EcnKmax",
                          "Bytes waiting beyond which everything is marked. Paper: 200 KB at 40 "
                          "Gb/s.",
                          UintegerValue(200'000),
                          MakeUintegerAccessor(&FabricSwitch::m_kmax),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("EcnPmax",
                          "Probability of a mark at EcnKmax. Paper: 0.01.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&FabricSwitch::m_pmax),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("EcnAtDeparture",
                          "Mark a packet by what waits behind it when it leaves, not by what it "
                          "finds when it joins the queue.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricSwitch::m_ecnAtDeparture),
                          MakeBooleanChecker())
            .AddAttribute("EcnReferenceRate",
                          "If not 0: EcnKmin and EcnKmax are those of a port of this rate, and "
                          "grow with the rate of the port. 0: they are the same for all ports.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&FabricSwitch::m_ecnReference),
                          MakeDataRateChecker())
            .AddTraceSource("IngressPause",
                            "The switch stops (true) or resumes (false) a neighbour: port, "
                            "priority, which of both.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_pauseTrace),
                            "ns3::FabricSwitch::IngressPauseTracedCallback");
    return tid;
}

FabricSwitch::FabricSwitch()
    : m_agenda(*this, scaleacross::ArrivalAgenda::AlarmOrder::BeforeArrivals),
      m_watchdog(*this)
{
}

FabricSwitch::~FabricSwitch() = default;

bool
FabricSwitch::IsVisible(const FabricPacket&) const
{
    return false;
}

bool
FabricSwitch::IsWatched() const
{
    if (!m_pauseTrace.IsEmpty() || !m_stormTrace.IsEmpty())
    {
        return true;
    }
    return std::any_of(m_ports.begin(), m_ports.end(), [](const Ptr<SwitchPort>& port) {
        return port->IsWatched();
    });
}

void
FabricSwitch::DoInitialize()
{
    m_agenda.SetPace(m_lookAhead ? scaleacross::ArrivalAgenda::Pace::Ahead
                                 : scaleacross::ArrivalAgenda::Pace::Exact);
    CheckConfig();
    Object::DoInitialize();
}

void
FabricSwitch::DoDispose()
{
    m_agenda.Clear();
    m_ports.clear();
    m_asked = nullptr;
    m_selector = nullptr;
    Object::DoDispose();
}

Ptr<SwitchPort>
FabricSwitch::AddPort()
{
    Ptr<Node> node = GetObject<Node>();
    if (!node)
    {
        throw ConfigError("FabricSwitch::AddPort",
                          "the switch belongs to no node",
                          "",
                          "call node->AggregateObject(fabricSwitch) first");
    }
    Ptr<SwitchPort> port = CreateObject<SwitchPort>();
    port->m_switch = this;
    port->m_number = GetNPorts();
    m_ports.push_back(port);
    node->AddDevice(port);
    m_agenda.SetContext(node->GetId());
    m_checked = false;
    return port;
}

uint32_t
FabricSwitch::GetNPorts() const
{
    return static_cast<uint32_t>(m_ports.size());
}

Ptr<SwitchPort>
FabricSwitch::GetPort(uint32_t number) const
{
    return m_ports.at(number);
}

scaleacross::RouteTable&
FabricSwitch::Routes()
{
    return m_routes;
}

const scaleacross::RouteTable&
FabricSwitch::Routes() const
{
    return m_routes;
}

// --- Paths
// ----------------------------------------------------------------------------------------

Ptr<PathSelector>
FabricSwitch::GetPathSelector() const
{
    return m_selector;
}

void
FabricSwitch::SetPathSelector(Ptr<PathSelector> selector)
{
    m_selector = selector;
    // What is done for every packet is done without a call.
    const bool hashed = selector->GetInstanceTypeId() == EcmpSelector::GetTypeId();
    m_asked = hashed ? nullptr : PeekPointer(selector);
    m_checked = false;
}

void
FabricSwitch::SetPathSelectorType(TypeId type)
{
    if (!type.IsChildOf(PathSelector::GetTypeId()) || !type.HasConstructor())
    {
        throw ConfigError("FabricSwitch::PathSelector",
                          type.GetName() + " is not a path selector",
                          "a type derived from ns3::PathSelector, as ns3::EcmpSelector",
                          "");
    }
    ObjectFactory factory;
    factory.SetTypeId(type);
    SetPathSelector(factory.Create<PathSelector>());
}

TypeId
FabricSwitch::GetPathSelectorType() const
{
    return m_selector->GetInstanceTypeId();
}

void
FabricSwitch::SetHashFields(std::string names)
{
    m_hashFields = scaleacross::ParseHashFields(names);
    m_checked = false;
}

std::string
FabricSwitch::GetHashFields() const
{
    return scaleacross::NamesOfHashFields(m_hashFields);
}

void
FabricSwitch::CheckConfig()
{
    if (m_checked)
    {
        return;
    }
    m_lossless = m_pfc ? m_losslessMask : 0;
    // Node ids and runs differ in few bits; the hash spreads them. ns-3 counts runs from 1.
    const auto run = static_cast<uint32_t>(RngSeedManager::GetRun() - 1);
    const uint32_t id = m_hashPerSwitch ? GetObject<Node>()->GetId() : 0;
    const uint64_t seed = scaleacross::HashOf(id, run, 0, m_hashSeed) ^ (m_hashSeed << 32);
    m_flowHash = scaleacross::FlowHash(m_hashFields, seed);
    m_selector->Attach(m_flowHash, *this);
    m_buffer.Configure({m_bufferSize,
                        static_cast<uint8_t>(m_lossless),
                        m_alphaLossless,
                        m_alphaLossy,
                        m_resumeOffset},
                       GetNPorts());
    m_watchdog.Configure(m_watchdogDetection.GetPicoSeconds(),
                         m_watchdogRestoration.GetPicoSeconds(),
                         m_watchdogForward);
    m_pausingBits.assign(GetNPorts(), 0);
    m_headroom.assign(GetNPorts(), 0);
    const uint32_t priorities = CountLossless();
    for (uint32_t i = 0; i < GetNPorts() && priorities > 0; ++i)
    {
        if (!m_ports[i]->GetPeer())
        {
            continue; // FabricPort itself complains
        }
        if (!m_ports[i]->m_pfc)
        {
            m_buffer.SetLossy(i);
            continue;
        }
        m_headroom[i] = HeadroomOf(i);
        for (uint8_t priority = 0; priority < kPriorities; ++priority)
        {
            m_buffer.Reserve(i, priority, m_buffer.IsLossless(i, priority) ? m_headroom[i] : 0);
        }
    }
    if (m_buffer.Reserved() + m_maxPacket > m_bufferSize)
    {
        throw ConfigError(
            "node " + std::to_string(GetObject<Node>()->GetId()) + " FabricSwitch::BufferSize",
            std::to_string(m_bufferSize) + " bytes cannot hold the PFC headroom of " +
                std::to_string(m_buffer.Reserved()) + " bytes (" + std::to_string(GetNPorts()) +
                " ports, " + std::to_string(priorities) + " lossless priorities, the largest " +
                std::to_string(*std::max_element(m_headroom.begin(), m_headroom.end())) +
                " bytes for one port)",
            "at least " + std::to_string(m_buffer.Reserved() + m_maxPacket) + " bytes",
            "a larger BufferSize, shorter wires, fewer LosslessPriorities, or Pfc false");
    }
    SetUpEcn();
    m_checked = true;
}

uint32_t
FabricSwitch::CountLossless() const
{
    uint32_t priorities = 0;
    for (uint8_t priority = 0; priority < kPriorities; ++priority)
    {
        priorities += (m_lossless >> priority) & 1U;
    }
    return priorities;
}

uint64_t
FabricSwitch::HeadroomOf(uint32_t port) const
{
    const SwitchPort& own = *m_ports[port];
    const uint64_t headroom =
        scaleacross::HeadroomBytes({own.GetWire()->GetDelay().GetPicoSeconds(),
                                    own.GetPeer()->GetDataRate().GetBitRate(),
                                    own.GetDataRate().GetBitRate(),
                                    m_maxPacket,
                                    CountLossless(),
                                    own.PauseSize(),
                                    m_response.GetPicoSeconds()});
    return static_cast<uint64_t>(static_cast<double>(headroom) * m_headroomScale);
}

void
FabricSwitch::SetUpEcn()
{
    if (m_kmin > m_kmax)
    {
        throw ConfigError("node " + std::to_string(GetObject<Node>()->GetId()) +
                              " FabricSwitch::EcnKmin",
                          std::to_string(m_kmin) + " bytes are more than EcnKmax, " +
                              std::to_string(m_kmax) + " bytes",
                          "at most EcnKmax",
                          "");
    }
    m_ecn = m_ecnAtDeparture ? 0 : m_ecnMask;
    for (uint32_t i = 0; i < GetNPorts() && m_ecnMask != 0; ++i)
    {
        m_ports[i]->m_ecnDeparting = m_ecnAtDeparture ? m_ecnMask : 0;
        scaleacross::EcnThresholds thresholds{m_kmin, m_kmax, m_pmax};
        if (m_ecnReference.GetBitRate() > 0)
        {
            thresholds = thresholds.Scaled(m_ports[i]->GetDataRate().GetBitRate(),
                                           m_ecnReference.GetBitRate());
        }
        m_ports[i]->m_ecn = std::make_unique<scaleacross::EcnMarker>(thresholds);
        if (m_stream >= 0)
        {
            m_ports[i]->m_ecn->SetStream(m_stream + i);
        }
    }
}

int64_t
FabricSwitch::AssignStreams(int64_t stream)
{
    m_stream = stream;
    for (uint32_t i = 0; i < GetNPorts(); ++i)
    {
        if (m_ports[i]->m_ecn)
        {
            m_ports[i]->m_ecn->SetStream(stream + i);
        }
    }
    return GetNPorts() + m_selector->AssignStreams(stream + GetNPorts());
}

void
FabricSwitch::HoldAt(Time time)
{
    m_agenda.HoldAt(time.GetPicoSeconds());
}

// --- Forwarding
// -----------------------------------------------------------------------------------

inline uint16_t
FabricSwitch::ChoosePort(const PortGroup& group, const FabricPacket& packet, int64_t now)
{
    const size_t n = group.ports.size();
    if (n == 1)
    {
        return group.ports[0];
    }
    if (m_asked == nullptr || packet.kind == PacketKind::Foreign)
    {
        return group.ports[scaleacross::ScaleHash(m_flowHash(packet), n)];
    }
    return m_asked->Select(group, packet, now);
}

uint32_t
FabricSwitch::PredictPort(const FabricPacket& packet) const
{
    const PortGroup* group = m_routes.Lookup(packet.destination);
    const bool routed = group != nullptr && !group->ports.empty();
    if (!routed || (group->ports.size() > 1 && m_asked != nullptr))
    {
        throw ConfigError("FabricSwitch::PredictPort",
                          routed
                              ? m_selector->GetName() + " does not go by the hash of a flow alone"
                              : "no route to address " + std::to_string(packet.destination),
                          "ECMP, and a destination with a route",
                          "call it after InstallRoutes, with PathSelector ns3::EcmpSelector");
    }
    return group->ports[scaleacross::ScaleHash(m_flowHash(packet), group->ports.size())];
}

int64_t
FabricSwitch::WaitAt(uint16_t port, uint8_t priority, int64_t now)
{
    SwitchPort& egress = *m_ports[port];
    egress.CatchUpIfBusy(now);
    return egress.StaleWait(now) + (egress.IsStopped(priority) ? scaleacross::kPausedWait : 0);
}

inline void
FabricSwitch::Join(SwitchPort& egress, FabricPacket* packet, int64_t now)
{
    if (packet->ecnCapable && ((m_ecn >> packet->priority) & 1U) != 0)
    {
        egress.MarkIfCongested(*packet);
    }
    const bool firstLossless = !m_pausing.empty() && !egress.HasLossless(m_lossless);
    egress.Enqueue(packet, now);
    egress.Kick(now);
    if (firstLossless && egress.HasLossless(m_lossless))
    {
        m_agenda.SetAlarm(egress.FreeAt());
    }
}

void
FabricSwitch::Forward(SwitchPort& ingress, FabricPacket* packet, int64_t now)
{
    const PortGroup* group = m_routes.Lookup(packet->destination);
    if (group == nullptr && m_keepAtDownPort)
    {
        group = DeadGroup(*packet);
    }
    if (group == nullptr)
    {
        Drop(ingress, packet, DropReason::NoRoute);
        return;
    }
    if (packet->hops == 0 || packet->size > m_maxPacket)
    {
        Drop(ingress, packet, packet->hops == 0 ? DropReason::HopLimit : DropReason::Oversize);
        return;
    }
    --packet->hops;
    SwitchPort& egress = *m_ports[ChoosePort(*group, *packet, now)];
    egress.CatchUp(now);
    DropReason reason{};
    if (egress.m_marked != 0 && !MayJoin(egress, *packet, now, reason))
    {
        Drop(ingress, packet, reason);
        return;
    }
    if (Admit(ingress, egress, *packet, now))
    {
        packet->ingress = static_cast<uint16_t>(ingress.m_number);
        Join(egress, packet, now);
        return;
    }
    Drop(ingress,
         packet,
         m_buffer.IsLossless(ingress.m_number, packet->priority) ? DropReason::HeadroomFull
                                                                 : DropReason::SharedBufferFull);
}

bool
FabricSwitch::Admit(SwitchPort& ingress, SwitchPort& egress, FabricPacket& packet, int64_t now)
{
    const uint32_t port = ingress.m_number;
    const uint8_t priority = packet.priority;
    const bool lossless = m_buffer.IsLossless(port, priority);
    auto fits = [&]() {
        return lossless ? m_buffer.FitsShared(port, priority, packet.size)
                        : m_buffer.FitsLossy(egress.StaleQueueBytes(priority), packet.size);
    };
    // Ports that have not been brought up to date can only make the buffer look fuller than it is.
    bool fit = fits();
    if (!fit && m_caughtUp != now)
    {
        CatchUp(now);
        fit = fits();
    }
    if (fit)
    {
        m_buffer.TakeShared(port, priority, packet.size);
    }
    else if (!lossless)
    {
        return false;
    }
    else
    {
        bool taken = m_buffer.TakeHeadroom(port, priority, packet.size);
        if (((m_pausingBits[port] >> priority) & 1U) == 0)
        {
            PauseIngress(ingress, priority, now);
        }
        if (!taken)
        {
            return false;
        }
    }
    if (m_buffer.Occupancy() > m_peak)
    {
        CatchUp(now);
        m_peak = std::max(m_peak, m_buffer.Occupancy());
    }
    return true;
}

void
FabricSwitch::Drop(SwitchPort& ingress, FabricPacket* packet, DropReason reason)
{
    ++m_drops[static_cast<size_t>(reason)];
    ingress.NotifyDrop(*packet, reason);
    PacketPool::Return(packet);
}

void
FabricSwitch::CatchUp(int64_t now)
{
    if (m_caughtUp == now)
    {
        return; // nothing that starts now ends now
    }
    m_caughtUp = now;
    for (const auto& port : m_ports)
    {
        port->CatchUpIfBusy(now);
    }
}

// --- Pauses
// ---------------------------------------------------------------------------------------

void
FabricSwitch::PauseIngress(SwitchPort& ingress, uint8_t priority, int64_t now)
{
    uint32_t port = ingress.m_number;
    m_pausingBits[port] = static_cast<uint8_t>(m_pausingBits[port] | (1U << priority));
    m_pausing.push_back({port, priority});
    ++m_pauses;
    m_pauseTrace(port, priority, true);
    ingress.SendPause(priority, true, now);
    PlanResume(now);
}

void
FabricSwitch::PlanResume(int64_t now)
{
    // The alarm is a lower bound of the time of the next resume. An ingress waits for x lossless
    // bytes to leave. Ports with lossless packets that can leave now will have freed, by the time
    // t, the packets they are sending and rate * (t - now) after them. Whatever lets another port
    // send lossless packets, sets the alarm again.
    uint64_t bytes = UINT64_MAX;
    for (const auto& ingress : m_pausing)
    {
        bytes = std::min(bytes, m_buffer.BytesToResume(ingress.port, ingress.priority));
    }
    double rate = 0;
    uint64_t sending = 0;
    int64_t firstEnd = scaleacross::kNever;
    for (const auto& port : m_ports)
    {
        port->CatchUpIfBusy(now);
        if (port->FreeAt() > now && port->HasLossless(m_lossless))
        {
            rate += port->BitsPerSecond();
            sending += port->LeavingSize();
            firstEnd = std::min(firstEnd, port->FreeAt());
        }
    }
    if (firstEnd != scaleacross::kNever && !m_pausing.empty())
    {
        double wait = bytes > sending ? static_cast<double>(bytes - sending) * 8e12 / rate : 0.0;
        m_agenda.SetAlarm(std::max(firstEnd, now + static_cast<int64_t>(wait)));
    }
}

void
FabricSwitch::HandleAlarm(int64_t now)
{
    CatchUp(now);
    if (m_watchdog.Due() <= now)
    {
        m_watchdog.Check(now);
    }
    size_t stillPaused = 0;
    for (const PausedIngress ingress : m_pausing)
    {
        if (!m_buffer.MayResume(ingress.port, ingress.priority))
        {
            m_pausing[stillPaused++] = ingress;
            continue;
        }
        uint8_t& bits = m_pausingBits[ingress.port];
        bits = static_cast<uint8_t>(bits & ~(1U << ingress.priority));
        m_pauseTrace(ingress.port, ingress.priority, false);
        m_ports[ingress.port]->SendPause(ingress.priority, false, now);
    }
    m_pausing.resize(stillPaused);
    PlanResume(now);
    m_agenda.SetAlarm(m_watchdog.Due());
}

// --- Failures
// ---------------------------------------------------------------------------------------

bool
FabricSwitch::MayJoin(SwitchPort& egress,
                      const FabricPacket& packet,
                      int64_t now,
                      DropReason& reason)
{
    if ((egress.m_marked & SwitchPort::kDeadEnd) != 0)
    {
        reason = DropReason::LinkDown;
        return false;
    }
    reason = DropReason::PfcWatchdog;
    return WatchdogAdmits(egress, packet, now);
}

void
FabricSwitch::LinkChanged(SwitchPort& port, bool up, int64_t now)
{
    if (up)
    {
        port.m_marked = static_cast<uint16_t>(port.m_marked & ~SwitchPort::kDeadEnd);
        return;
    }
    const uint32_t number = port.m_number;
    for (uint8_t priority = 0; priority < kPriorities; ++priority)
    {
        const auto stopped = std::find_if(m_pausing.begin(), m_pausing.end(), [&](const auto& in) {
            return in.port == number && in.priority == priority;
        });
        if (stopped != m_pausing.end())
        {
            m_pausing.erase(stopped);
            m_pausingBits[number] = static_cast<uint8_t>(m_pausingBits[number] & ~(1U << priority));
            m_pauseTrace(number, priority, false);
        }
    }
    if (!m_keepAtDownPort)
    {
        port.m_marked = static_cast<uint16_t>(port.m_marked | SwitchPort::kDeadEnd);
        DropQueues(port, DropReason::LinkDown, now);
    }
    PlanResumeAt(now); // the packet that was being sent does not count any more
}

void
FabricSwitch::RateChanged(uint32_t port, int64_t now)
{
    // Rounded up, which may differ by a byte.
    if (m_checked && m_headroom[port] > 0 && HeadroomOf(port) > m_headroom[port] + 1)
    {
        throw ConfigError(m_ports[port]->Describe(),
                          "is to have a rate that needs a PFC headroom of " +
                              std::to_string(HeadroomOf(port)) + " bytes, and " +
                              std::to_string(m_headroom[port]) +
                              " bytes were reserved at the beginning",
                          "no rate above the first one during a run",
                          "begin with the highest rate");
    }
    PlanResumeAt(now);
}

void
FabricSwitch::PlanResumeAt(int64_t now)
{
    if (!m_pausing.empty())
    {
        m_agenda.SetAlarm(now);
    }
}

void
FabricSwitch::DropQueue(SwitchPort& port, uint8_t priority, DropReason reason, int64_t now)
{
    scaleacross::PacketList packets = port.TakeQueue(priority, now);
    while (!packets.Empty())
    {
        FabricPacket* packet = packets.PopFront();
        m_buffer.Release(packet->ingress, priority, packet->size);
        Drop(*m_ports[packet->ingress], packet, reason);
    }
}

void
FabricSwitch::DropQueues(SwitchPort& port, DropReason reason, int64_t now)
{
    for (uint8_t priority = 0; priority < kPriorities; ++priority)
    {
        if (!port.QueueOf(priority).Empty())
        {
            DropQueue(port, priority, reason, now);
        }
    }
}

void
FabricSwitch::DropAll()
{
    if (!IsInitialized())
    {
        return; // nothing has come yet
    }
    m_agenda.Finish();
    const int64_t now = SimulatorPicoseconds();
    CatchUp(now);
    for (const auto& port : m_ports)
    {
        DropQueues(*port, DropReason::LinkDown, now);
    }
    PlanResumeAt(now);
}

void
FabricSwitch::ChangeRoutes(const std::function<void(scaleacross::RouteTable&)>& change)
{
    if (!IsInitialized())
    {
        change(m_routes);
        return;
    }
    m_agenda.Finish();
    change(m_routes);
    const int64_t now = SimulatorPicoseconds();
    CatchUp(now);
    for (const auto& port : m_ports)
    {
        // Larger priorities first: the first packet to join an idle port starts.
        for (uint8_t priority = kPriorities; priority-- > 0 && !port->IsLinkUp();)
        {
            Reroute(*port, priority, now);
        }
    }
}

void
FabricSwitch::Reroute(SwitchPort& from, uint8_t priority, int64_t now)
{
    const FabricPacket* waiting = from.QueueOf(priority).Front();
    while (waiting != nullptr && !MustMove(*waiting, from))
    {
        waiting = waiting->next;
    }
    if (waiting == nullptr)
    {
        return;
    }
    scaleacross::PacketList packets = from.TakeQueue(priority, now);
    while (!packets.Empty())
    {
        FabricPacket* packet = packets.PopFront();
        if (!MustMove(*packet, from))
        {
            from.Enqueue(packet, now);
            continue;
        }
        const PortGroup* group = m_routes.Lookup(packet->destination);
        if (group == nullptr)
        {
            m_buffer.Release(packet->ingress, priority, packet->size);
            Drop(*m_ports[packet->ingress], packet, DropReason::NoRoute);
            continue;
        }
        SwitchPort& to = *m_ports[ChoosePort(*group, *packet, now)];
        to.CatchUp(now);
        DropReason reason{};
        if (to.m_marked != 0 && !MayJoin(to, *packet, now, reason))
        {
            m_buffer.Release(packet->ingress, priority, packet->size);
            Drop(*m_ports[packet->ingress], packet, reason);
            continue;
        }
        m_rerouted += &to != &from ? 1 : 0;
        Join(to, packet, now);
    }
    PlanResumeAt(now);
}

bool
FabricSwitch::MustMove(const FabricPacket& packet, const SwitchPort& from) const
{
    const PortGroup* group = m_routes.Lookup(packet.destination);
    if (group == nullptr)
    {
        return m_routes.RangeOf(packet.destination) == nullptr;
    }
    return group->ports.size() > 1 || group->ports.front() != from.GetPortNumber();
}

const PortGroup*
FabricSwitch::DeadGroup(const FabricPacket& packet) const
{
    const auto* range = m_routes.RangeOf(packet.destination);
    return range == nullptr ? nullptr : &m_routes.GroupOf(*range);
}

uint64_t
FabricSwitch::GetRerouted() const
{
    return m_rerouted;
}

// --- PFC watchdog
// ---------------------------------------------------------------------------------

void
FabricSwitch::WatchPause(uint32_t port, uint8_t priority, bool paused, int64_t now)
{
    if (m_watchdog.IsOn())
    {
        m_watchdog.PauseChanged(port, priority, paused, now);
        m_agenda.SetAlarm(m_watchdog.Due());
    }
}

bool
FabricSwitch::WatchdogAdmits(SwitchPort& egress, const FabricPacket& packet, int64_t now)
{
    if (((egress.m_marked >> packet.priority) & 1U) == 0)
    {
        return true;
    }
    bool admitted = m_watchdog.Admits(egress.m_number, packet.priority, now);
    m_agenda.SetAlarm(m_watchdog.Due());
    return admitted;
}

bool
FabricSwitch::IsWaiting(uint32_t port, uint8_t priority) const
{
    return m_ports[port]->HasWaiting(priority);
}

void
FabricSwitch::Mark(uint32_t port, uint8_t priority, bool marked)
{
    uint32_t bit = 1U << priority;
    uint32_t bits = m_ports[port]->m_marked;
    m_ports[port]->m_marked = static_cast<uint16_t>(marked ? bits | bit : bits & ~bit);
}

void
FabricSwitch::BeginStorm(uint32_t port, uint8_t priority, int64_t now)
{
    SwitchPort& egress = *m_ports[port];
    m_stormTrace(port, priority, true);
    if (m_watchdogForward)
    {
        egress.IgnorePause(priority, true);
        egress.Kick(now);
        return;
    }
    DropQueue(egress, priority, DropReason::PfcWatchdog, now);
}

void
FabricSwitch::EndStorm(uint32_t port, uint8_t priority, int64_t)
{
    m_ports[port]->IgnorePause(priority, false); // the neighbour does not keep it paused
    m_stormTrace(port, priority, false);
}

bool
FabricSwitch::IsStorm(uint32_t port, uint8_t priority) const
{
    return m_watchdog.IsStorm(port, priority);
}

uint64_t
FabricSwitch::GetStorms() const
{
    return m_watchdog.Storms();
}

// --- Counters
// -------------------------------------------------------------------------------------

uint64_t
FabricSwitch::GetHeadroom(uint32_t port) const
{
    return m_headroom.at(port);
}

uint64_t
FabricSwitch::GetDrops(DropReason reason) const
{
    return m_drops.at(static_cast<size_t>(reason));
}

uint64_t
FabricSwitch::GetDrops() const
{
    return std::accumulate(m_drops.begin(), m_drops.end(), uint64_t{0});
}

uint64_t
FabricSwitch::GetOccupancy()
{
    CatchUp(SimulatorPicoseconds());
    return m_buffer.Occupancy();
}

uint64_t
FabricSwitch::GetPeakOccupancy() const
{
    return m_peak;
}

double
FabricSwitch::GetPeakHeadroomShare() const
{
    return m_buffer.PeakHeadroomShare();
}

uint64_t
FabricSwitch::GetHeld(uint32_t port, uint8_t priority)
{
    CatchUp(SimulatorPicoseconds());
    return m_buffer.Held(port, priority);
}

std::vector<FabricSwitch::HeldBytes>
FabricSwitch::GetHeldBytes()
{
    CatchUp(SimulatorPicoseconds());
    std::vector<HeldBytes> held;
    std::vector<uint64_t> bytes(m_ports.size());
    for (uint32_t egress = 0; egress < GetNPorts(); ++egress)
    {
        for (uint8_t priority = 0; priority < kPriorities; ++priority)
        {
            const FabricPacket* packet = m_ports[egress]->QueueOf(priority).Front();
            if (packet == nullptr)
            {
                continue;
            }
            std::fill(bytes.begin(), bytes.end(), 0);
            for (; packet != nullptr; packet = packet->next)
            {
                bytes[packet->ingress] += packet->size;
            }
            for (uint32_t ingress = 0; ingress < GetNPorts(); ++ingress)
            {
                if (bytes[ingress] > 0)
                {
                    held.push_back({ingress, egress, priority, bytes[ingress]});
                }
            }
        }
    }
    return held;
}

bool
FabricSwitch::CouldResume(uint32_t port, uint8_t priority, const std::vector<HeldBytes>& left) const
{
    std::vector<uint64_t> bytes(m_ports.size() * kPriorities);
    for (const HeldBytes& part : left)
    {
        bytes[part.ingress * kPriorities + part.priority] += part.bytes;
    }
    return m_buffer.CouldResume(port, priority, bytes);
}

uint32_t
FabricSwitch::GetLosslessPriorities() const
{
    return m_pfc ? m_losslessMask : 0;
}

uint64_t
FabricSwitch::GetPauses() const
{
    return m_pauses;
}

uint64_t
FabricSwitch::GetEcnMarked() const
{
    uint64_t sum = 0;
    for (const auto& port : m_ports)
    {
        sum += port->GetEcnMarked();
    }
    return sum;
}

bool
FabricSwitch::IsPausing(uint32_t port, uint8_t priority) const
{
    return ((m_pausingBits.at(port) >> priority) & 1U) != 0;
}

uint64_t
FabricSwitch::GetQueuedPackets() const
{
    uint64_t count = 0;
    for (const auto& port : m_ports)
    {
        count += port->GetQueuedPackets();
    }
    return count;
}

} // namespace ns3
