// SPDX-License-Identifier: GPL-2.0-only

#include "telemetry.h"

namespace scaleacross
{

namespace
{

TelemetryTrail&
TrailOf(const FabricPacket& packet)
{
    return *reinterpret_cast<TelemetryTrail*>(static_cast<uintptr_t>(packet.tag));
}

} // namespace

TelemetryTrail*
TelemetryPool::Take()
{
    if (m_free == nullptr)
    {
        m_trails.push_back(std::make_unique<TelemetryTrail>());
        m_trails.back()->home = this;
        return m_trails.back().get();
    }
    TelemetryTrail* trail = m_free;
    m_free = trail->next;
    trail->hops.clear();
    return trail;
}

void
TelemetryPool::Return(TelemetryTrail* trail)
{
    trail->next = trail->home->m_free;
    trail->home->m_free = trail;
}

void
AttachTrail(FabricPacket& packet, TelemetryTrail* trail)
{
    trail->tag = packet.tag;
    packet.tag = reinterpret_cast<uintptr_t>(trail);
    packet.telemetry = true;
    packet.size = static_cast<uint16_t>(packet.size + kTelemetryHeader +
                                        kTelemetryEntry * trail->hops.size());
}

TelemetryTrail*
DetachTrail(FabricPacket& packet)
{
    TelemetryTrail& trail = TrailOf(packet);
    packet.tag = trail.tag;
    packet.telemetry = false;
    return &trail;
}

uint64_t
TagOf(const FabricPacket& packet)
{
    return packet.telemetry ? TrailOf(packet).tag : packet.tag;
}

void
AddHop(FabricPacket& packet, const TelemetryHop& hop)
{
    TrailOf(packet).hops.push_back(hop);
    packet.size = static_cast<uint16_t>(packet.size + kTelemetryEntry);
}

} // namespace scaleacross
