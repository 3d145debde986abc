// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-lane.h"

#include "fabric-port.h"

namespace scaleacross
{

void
FabricLane::DrawLoss(FabricPacket& packet)
{
    if (packet.kind < PacketKind::Pause)
    {
        packet.lost = m_loss->IsLost(packet);
    }
}

void
FabricLane::Deliver(FabricPacket* packet, int64_t now)
{
    if (packet->lost)
    {
        ++m_lost;
        m_to->NotifyDrop(*packet, DropReason::WireLoss);
        m_to->NoteLost(*packet, now);
        PacketPool::Return(packet);
        return;
    }
    m_to->Arrive(packet, now);
}

void
FabricLane::Break(int64_t now)
{
    if (!m_flight.Empty())
    {
        m_agenda->Remove(this);
    }
    m_last = now;
    // The packet being sent is the last one on the wire.
    const bool sending = !m_flight.Empty() && m_meter.End() > now;
    m_meter.Break(sending ? m_flight.At(m_flight.Size() - 1).packet->size : 0, now);
    while (!m_flight.Empty())
    {
        FabricPacket* packet = m_flight.PopFront();
        if (packet->kind < PacketKind::Pause)
        {
            ++m_cut;
            m_to->NotifyDrop(*packet, DropReason::LinkDown);
        }
        PacketPool::Return(packet);
    }
}

uint64_t
FabricLane::InFlight() const
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < m_flight.Size(); ++i)
    {
        count += m_flight.At(i).packet->kind < PacketKind::Pause ? 1 : 0;
    }
    return count;
}

} // namespace scaleacross
