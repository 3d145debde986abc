// SPDX-License-Identifier: GPL-2.0-only

// What a switch does when a wire breaks or comes back, when routes change, and when the PFC
// watchdog gives up on a queue.

#include "fabric-switch.h"

namespace ns3
{

using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::kPriorities;
using scaleacross::PortGroup;
using scaleacross::SimulatorPicoseconds;

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
    m_pauses.Forget(port.m_number);
    if (!m_keepAtDownPort)
    {
        port.m_marked = static_cast<uint16_t>(port.m_marked | SwitchPort::kDeadEnd);
        DropQueues(port, DropReason::LinkDown, now);
    }
    PlanResumeAt(now); // the packet that was being sent does not count any more
}

void
FabricSwitch::DropQueue(SwitchPort& port, uint8_t priority, DropReason reason, int64_t now)
{
    scaleacross::PacketList packets = port.TakeQueue(priority, now);
    while (!packets.Empty())
    {
        FabricPacket* packet = packets.PopFront();
        Release(packet->ingress, packet->ingressLane, packet->size);
        Drop(*m_ports[packet->ingress], packet, reason);
    }
}

void
FabricSwitch::DropQueues(SwitchPort& port, DropReason reason, int64_t now)
{
    for (uint8_t priority = 0; priority < kPriorities; ++priority)
    {
        if (!port.Queues().Packets(priority).Empty())
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
        change(m_routes); // CheckConfig will look at it
        return;
    }
    m_agenda.Finish();
    change(m_routes);
    CheckRoutes(GetNPorts());
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
    const auto leadsElsewhere = [&](const FabricPacket& packet) {
        return m_routes.LeadsElsewhere(packet.destination,
                                       from.m_number,
                                       m_ports[packet.ingress]->m_isEntry);
    };
    const FabricPacket* waiting = from.Queues().Packets(priority).Front();
    while (waiting != nullptr && !leadsElsewhere(*waiting))
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
        if (!leadsElsewhere(*packet))
        {
            from.Enqueue(packet, now);
            continue;
        }
        const PortGroup* group = RouteOf(*packet, m_ports[packet->ingress]->m_isEntry);
        if (group == nullptr)
        {
            Release(packet->ingress, packet->ingressLane, packet->size);
            Drop(*m_ports[packet->ingress], packet, DropReason::NoRoute);
            continue;
        }
        SwitchPort& to = *m_ports[ChoosePort(*group, *packet, now)];
        SetLane(*packet, to);
        to.CatchUp(now);
        DropReason reason{};
        if (to.m_marked != 0 && !MayJoin(to, *packet, now, reason))
        {
            Release(packet->ingress, packet->ingressLane, packet->size);
            Drop(*m_ports[packet->ingress], packet, reason);
            continue;
        }
        m_rerouted += &to != &from ? 1 : 0;
        Join(to, packet, now);
    }
    PlanResumeAt(now);
}

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
    if (m_watchdogConfig.forward)
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

} // namespace ns3
