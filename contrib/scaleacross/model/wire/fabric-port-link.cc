// SPDX-License-Identifier: GPL-2.0-only

// What a port learns from the other end of its wire: pauses, and that the wire breaks or is back.

#include "credit-link.h"
#include "fabric-port.h"
#include "fabric-wire.h"

namespace ns3
{

using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::PacketPool;

void
FabricPort::PauseChanged(uint8_t, bool, int64_t)
{
}

void
FabricPort::Resumed(int64_t)
{
}

void
FabricPort::SendPause(uint8_t priority, bool pause, int64_t now)
{
    if (m_down)
    {
        return;
    }
    CatchUp(now);
    FabricPacket* frame = m_pool.Take();
    frame->kind = pause ? PacketKind::Pause : PacketKind::Resume;
    frame->priority = kLinkControl;
    frame->level = priority & 0x7;
    frame->size = static_cast<uint16_t>(m_pauseSize);
    ++m_pausesSent;
    Enqueue(frame, now);
    Kick(now);
}

void
FabricPort::HandlePause(const FabricPacket& packet, int64_t now)
{
    CatchUp(now);
    ++m_pausesReceived;
    const bool pause = packet.kind == PacketKind::Pause;
    SetStopped(packet.level, pause, now);
    if (!pause)
    {
        Kick(now);
        Resumed(now);
    }
}

void
FabricPort::SetStopped(uint8_t priority, bool stopped, int64_t now)
{
    const uint32_t before = m_told;
    const uint32_t bit = 1U << priority;
    m_told = stopped ? m_told | bit : m_told & ~bit;
    UpdatePaused();
    if (before == 0 && m_told != 0)
    {
        m_pausedSince = now;
    }
    if (before != 0 && m_told == 0)
    {
        m_pausedTotal += now - m_pausedSince;
    }
    m_pauseTrace(priority, stopped);
    if (m_told != before)
    {
        if (stopped)
        {
            m_stoppedSince[priority] = now;
        }
        else
        {
            m_stoppedTotal[priority] += now - m_stoppedSince[priority];
        }
        PauseChanged(priority, stopped, now);
    }
}

void
FabricPort::UpdatePaused()
{
    m_paused = m_down ? kEverything : (m_told & ~m_ignored) | m_starved;
}

void
FabricPort::IgnorePause(uint8_t priority, bool ignore)
{
    uint32_t bit = 1U << priority;
    m_ignored = ignore ? m_ignored | bit : m_ignored & ~bit;
    UpdatePaused();
}

void
FabricPort::SetLinkUp(bool up, int64_t now)
{
    m_down = !up;
    UpdatePaused();
    if (up)
    {
        if (m_credits)
        {
            m_credits->BeginReceiving();
            GetPeer()->BeginCredits(now);
        }
        return;
    }
    if (m_freeAt > now)
    {
        m_freeAt = now;
        m_remainder = 0;
        if (m_inService)
        {
            m_inService = false;
            Finished();
        }
    }
    Queue& control = m_queues[kLinkControl];
    while (!control.packets.Empty())
    {
        PacketPool::Return(control.packets.PopFront());
    }
    control.bytes = 0;
    if (m_creditLanes)
    {
        m_creditLanes->frames.fill(nullptr);
    }
    m_queued &= ~(1U << kLinkControl);
    for (uint8_t priority = 0; priority < scaleacross::kPriorities; ++priority)
    {
        if (((m_told >> priority) & 1U) != 0)
        {
            SetStopped(priority, false, now);
        }
    }
    NoteBacklog(now);
}

void
FabricPort::LinkChanged(bool up, int64_t now)
{
    DoLinkChanged(up, now);
    if (up)
    {
        Kick(now);
        Resumed(now);
    }
    m_linkChange();
}

void
FabricPort::DoLinkChanged(bool, int64_t)
{
}

void
FabricPort::CheckLink(DataRate, DataRate, Time) const
{
}

void
FabricPort::ConfigChanged()
{
}

const char*
FabricPort::WhyFixed() const
{
    return IsInitialized() ? "the run has begun" : nullptr;
}

void
FabricPort::AttributeSet()
{
    ConfigChanged();
    if (const Ptr<FabricPort> peer = GetPeer())
    {
        peer->ConfigChanged();
    }
}

void
FabricPort::RateChanged(int64_t)
{
}

} // namespace ns3
