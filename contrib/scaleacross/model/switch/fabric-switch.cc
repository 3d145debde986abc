// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-switch.h"

#include "core/base/errors.h"

#include "ns3/node.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::PacketPool;
using scaleacross::PortGroup;

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

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
    if (!m_pauseTrace.IsEmpty() || !m_stormTrace.IsEmpty() || !m_trimTrace.IsEmpty())
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
    m_selector->FixAttributes("the run has begun");
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
    CheckNotRunning("AddPort");
    if (m_ports.size() == kMostPorts)
    {
        throw ConfigError("node " + std::to_string(node->GetId()) + " FabricSwitch::AddPort",
                          "it has " + std::to_string(kMostPorts) + " ports already",
                          "that many, as packets and routes count them in 16 bits",
                          "use several switches");
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

void
FabricSwitch::HoldAt(Time time)
{
    m_agenda.HoldAt(time.GetPicoSeconds());
}

// --- Forwarding

uint16_t
FabricSwitch::ChoosePort(const PortGroup& group, const FabricPacket& packet, int64_t now)
{
    if (group.ports.size() == 1)
    {
        return group.ports[0];
    }
    if (m_asked == nullptr || packet.kind == PacketKind::Foreign)
    {
        return scaleacross::PortOfHash(group, m_flowHash(packet));
    }
    m_asking = &packet;
    return m_asked->Select(group, packet, now);
}

uint32_t
FabricSwitch::PredictPort(const FabricPacket& packet) const
{
    const PortGroup* group = m_routes.Lookup(packet.destination);
    if (group == nullptr || !m_checked)
    {
        throw ConfigError("FabricSwitch::PredictPort",
                          group == nullptr
                              ? "no route to address " + std::to_string(packet.destination)
                              : "something has been set since CheckConfig, and may change the hash",
                          "a destination with a route, and a configuration that is checked",
                          "call it after InstallRoutes, and CheckConfig if something was set then");
    }
    if (group->ports.size() == 1 || m_asked == nullptr || packet.kind == PacketKind::Foreign)
    {
        return scaleacross::PortOfHash(*group, m_flowHash(packet));
    }
    const std::optional<uint16_t> port = m_asked->PortOfFlow(*group, packet);
    if (!port)
    {
        throw ConfigError("FabricSwitch::PredictPort",
                          m_selector->GetName() + " does not go by the hash of a flow alone",
                          "a selector with a port for every flow (PortOfFlow)",
                          "set another PathSelector");
    }
    return *port;
}

int64_t
FabricSwitch::WaitAt(uint16_t port, uint8_t priority, int64_t now)
{
    SwitchPort& egress = *m_ports[port];
    priority = m_laneMap ? LaneAt(port, *m_asking) : priority;
    egress.CatchUpIfBusy(now);
    return egress.StaleWait(now) + (egress.IsToldToStop(priority) ? scaleacross::kPausedWait : 0);
}

void
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
        m_agenda.SetAlarm(egress.Line().FreeAt());
    }
}

void
FabricSwitch::Forward(SwitchPort& ingress, FabricPacket* packet, int64_t now)
{
    packet->ingressLane = packet->priority & 0xF;
    if (ingress.m_setsLevel)
    {
        packet->level = packet->priority & 0x7;
    }
    const PortGroup* group = m_routes.Lookup(packet->destination);
    if (group == nullptr && m_keepAtDownPort)
    {
        group = DeadGroup(*packet);
    }
    if (group == nullptr)
    {
        Refuse(ingress, packet, DropReason::NoRoute, now);
        return;
    }
    if (packet->hops == 0 || packet->size > m_maxPacket)
    {
        Refuse(ingress,
               packet,
               packet->hops == 0 ? DropReason::HopLimit : DropReason::Oversize,
               now);
        return;
    }
    --packet->hops;
    packet->ingress = static_cast<uint16_t>(ingress.m_number);
    SwitchPort& egress = *m_ports[ChoosePort(*group, *packet, now)];
    if (m_laneMap)
    {
        packet->priority = LaneAt(egress.m_number, *packet);
    }
    egress.CatchUp(now);
    if (egress.Queues().Bytes(packet->priority) + packet->size > egress.m_trimAbove &&
        MayTrim(ingress, *packet))
    {
        Trim(*packet);
    }
    DropReason reason{};
    if (egress.m_marked != 0 && !MayJoin(egress, *packet, now, reason))
    {
        Refuse(ingress, packet, reason, now);
        return;
    }
    bool admitted = Admit(ingress, egress, *packet, now);
    if (!admitted && MayTrim(ingress, *packet))
    {
        Trim(*packet);
        admitted = Admit(ingress, egress, *packet, now);
    }
    if (admitted)
    {
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
    if (m_credits)
    {
        // What has left, has been released.
        m_buffer.TakeShared(port, packet.ingressLane, packet.size);
        m_peak = std::max(m_peak, m_buffer.Occupancy());
        return true;
    }
    const bool lossless = m_buffer.IsLossless(port, priority);
    auto fits = [&]() {
        return lossless ? m_buffer.FitsShared(port, priority, packet.size)
                        : m_buffer.FitsLossy(egress.Queues().Bytes(priority), packet.size);
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
        if (port->Line().FreeAt() > now && port->HasLossless(m_lossless))
        {
            rate += port->Line().BitsPerSecond();
            sending += port->LeavingSize();
            firstEnd = std::min(firstEnd, port->Line().FreeAt());
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
    if (m_credits)
    {
        ReturnCredits(now);
        return;
    }
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

void
FabricSwitch::PlanResumeAt(int64_t now)
{
    if (!m_pausing.empty() || !m_freed.empty())
    {
        m_agenda.SetAlarm(now);
    }
}

} // namespace ns3
