// SPDX-License-Identifier: GPL-2.0-only

// What a switch does when a wire breaks or comes back, when routes change, and when the PFC
// watchdog gives up on a queue.

#include "core/base/errors.h"
#include "fabric-switch.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;
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
FabricSwitch::CheckLink(uint32_t port, DataRate own, DataRate peer, Time delay) const
{
    if (!IsInitialized() || m_headroom[port] == 0)
    {
        return; // not computed yet, or not needed
    }
    const uint64_t headroom = HeadroomOf(port, own, peer, delay);
    // Rounded up, which may differ by a byte.
    if (headroom > m_headroom[port] + 1)
    {
        throw ConfigError(m_ports[port]->Describe(),
                          "is to get a rate or delay (" + std::to_string(own.GetBitRate()) +
                              " bit/s, its neighbour " + std::to_string(peer.GetBitRate()) +
                              " bit/s, " + std::to_string(delay.GetPicoSeconds()) +
                              " ps) that needs a PFC headroom of " + std::to_string(headroom) +
                              " bytes, and " + std::to_string(m_headroom[port]) +
                              " bytes were reserved at the beginning",
                          "during a run no rate above the first one, and no longer delay",
                          "begin with the highest rate and the longest delay");
    }
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
    CheckRoutes();
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
    const FabricPacket* waiting = from.Queues().Packets(priority).Front();
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
            Release(packet->ingress, packet->ingressLane, packet->size);
            Drop(*m_ports[packet->ingress], packet, DropReason::NoRoute);
            continue;
        }
        SwitchPort& to = *m_ports[ChoosePort(*group, *packet, now)];
        if (m_laneMap)
        {
            packet->priority = LaneAt(to.m_number, *packet);
        }
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

} // namespace ns3
