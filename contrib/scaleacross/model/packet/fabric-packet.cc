// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-packet.h"

#include "foreign-frame.h"
#include "telemetry.h"

namespace scaleacross
{

static_assert(sizeof(FabricPacket) == 64, "a packet is meant to fill one cache line");

const char*
NameOf(DropReason reason)
{
    switch (reason)
    {
    case DropReason::WireLoss:
        return "wire-loss";
    case DropReason::SharedBufferFull:
        return "shared-buffer-full";
    case DropReason::HeadroomFull:
        return "headroom-full";
    case DropReason::NoRoute:
        return "no-route";
    case DropReason::HopLimit:
        return "hop-limit";
    case DropReason::Oversize:
        return "oversize";
    case DropReason::WrongAddress:
        return "wrong-address";
    case DropReason::NoQueuePair:
        return "no-queue-pair";
    case DropReason::PfcWatchdog:
        return "pfc-watchdog";
    case DropReason::SendQueueFull:
        return "send-queue-full";
    case DropReason::Broadcast:
        return "broadcast";
    case DropReason::LinkDown:
        return "link-down";
    }
    return "unknown";
}

void
ReleaseLoad(FabricPacket& packet)
{
    if (packet.telemetry)
    {
        TelemetryPool::Return(DetachTrail(packet));
        return;
    }
    ReleaseFrame(packet);
}

void
PacketPool::Grow()
{
    m_slabs.push_back(std::make_unique<FabricPacket[]>(kSlab));
    FabricPacket* slab = m_slabs.back().get();
    for (uint32_t i = kSlab; i-- > 0;)
    {
        slab[i].next = m_free;
        m_free = &slab[i];
    }
}

void
PacketPool::ReleaseFrames()
{
    for (const auto& slab : m_slabs)
    {
        for (uint32_t i = 0; i < kSlab; ++i)
        {
            if (slab[i].kind == PacketKind::Foreign)
            {
                ReleaseFrame(slab[i]);
            }
        }
    }
}

} // namespace scaleacross
