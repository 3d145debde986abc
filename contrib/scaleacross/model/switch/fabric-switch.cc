// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-switch.h"

#include "core/base/errors.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricSwitch");

using scaleacross::ConfigError;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::PacketPool;
using scaleacross::PortGroup;

FabricSwitch::FabricSwitch()
    : m_agenda(*this, scaleacross::ArrivalAgenda::AlarmOrder::BeforeArrivals),
      m_pauses(m_ports, m_buffer, m_agenda, m_pauseTrace),
      m_watchdog(*this),
      m_credits(m_ports, m_agenda)
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
    m_agenda.SetTiming(m_lookAhead ? scaleacross::ArrivalAgenda::Timing::Ahead
                                   : scaleacross::ArrivalAgenda::Timing::Exact);
    CheckConfig();
    BeginPaths();
    SwitchPaths::DoInitialize();
}

void
FabricSwitch::DoDispose()
{
    m_agenda.Clear();
    m_ports.clear();
    SwitchPaths::DoDispose();
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

void
FabricSwitch::HoldAt(Time time)
{
    m_agenda.HoldAt(time.GetPicoSeconds());
}

// --- Forwarding

int64_t
FabricSwitch::WaitAt(uint16_t port, uint8_t priority, int64_t now)
{
    SwitchPort& egress = *m_ports[port];
    priority =
        m_credits.HasMap() ? m_credits.LaneOf(Asking().ingress, port, Asking().level) : priority;
    egress.CatchUpIfBusy(now);
    return egress.StaleWait(now) + (egress.IsToldToStop(priority) ? scaleacross::kPausedWait : 0);
}

void
FabricSwitch::Join(SwitchPort& egress, FabricPacket* packet, int64_t now)
{
    if (packet->ecnCapable && ((egress.m_ecnJoining >> packet->priority) & 1U) != 0)
    {
        egress.MarkIfCongested(*packet);
    }
    const bool firstLossless = m_pauses.Any() && !egress.HasLossless(m_pauses.Lossless());
    egress.Enqueue(packet, now);
    egress.Kick(now);
    if (firstLossless && egress.HasLossless(m_pauses.Lossless()))
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
    const PortGroup* group = RouteOf(*packet, ingress.m_isEntry);
    if (group == nullptr && m_keepAtDownPort)
    {
        group = m_routes.WithDown(packet->destination);
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
    SetLane(*packet, egress);
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
    if (HasCredits())
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
        if (!m_pauses.Has(port, priority))
        {
            m_pauses.Stop(ingress, priority, now);
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

bool
FabricSwitch::MayTrim(const SwitchPort& ingress, const FabricPacket& packet) const
{
    return m_trimmer.MayTrim(packet) && !m_buffer.IsLossless(ingress.m_number, packet.priority);
}

void
FabricSwitch::Trim(FabricPacket& packet)
{
    m_trimmer.Trim(packet);
    m_trimTrace(packet);
}

void
FabricSwitch::SetLane(FabricPacket& packet, const SwitchPort& egress) const
{
    if (m_credits.HasMap())
    {
        packet.priority = m_credits.LaneOf(packet.ingress, egress.m_number, packet.level);
    }
}

void
FabricSwitch::Refuse(SwitchPort& ingress, FabricPacket* packet, DropReason reason, int64_t now)
{
    if (HasCredits())
    {
        m_credits.Free(ingress.m_number, packet->ingressLane, packet->size);
        m_agenda.SetAlarm(now);
    }
    Drop(ingress, packet, reason);
}

void
FabricSwitch::Drop(SwitchPort& ingress, FabricPacket* packet, DropReason reason)
{
    ++m_drops[static_cast<size_t>(reason)];
    NS_LOG_INFO(Simulator::Now().As(Time::US)
                << " " << ingress.Describe() << ": drops a packet for NIC " << packet->destination
                << ": " << NameOf(reason));
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

void
FabricSwitch::HandleAlarm(int64_t now)
{
    if (HasCredits())
    {
        m_credits.GrantFreed(now);
        return;
    }
    CatchUp(now);
    if (m_watchdog.Due() <= now)
    {
        m_watchdog.Check(now);
    }
    m_pauses.ResumeThoseThatMay(now);
    m_agenda.SetAlarm(m_watchdog.Due());
}

void
FabricSwitch::PlanResumeAt(int64_t now)
{
    if (m_pauses.Any() || m_credits.HasFreed())
    {
        m_agenda.SetAlarm(now);
    }
}

} // namespace ns3
