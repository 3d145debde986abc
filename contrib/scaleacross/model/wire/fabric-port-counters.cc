// SPDX-License-Identifier: GPL-2.0-only

// What can be asked of a port while it runs.

#include "fabric-port.h"

namespace ns3
{

using scaleacross::FabricPacket;
using scaleacross::SimulatorPicoseconds;

uint64_t
FabricPort::GetSentPackets()
{
    BringUpToDate();
    return m_sentPackets;
}

uint64_t
FabricPort::GetSentBytes()
{
    BringUpToDate();
    return m_sentBytes;
}

uint64_t
FabricPort::GetQueueBytes()
{
    BringUpToDate();
    return m_queueBytes;
}

uint64_t
FabricPort::GetQueueBytes(uint8_t priority)
{
    BringUpToDate();
    return m_queues.at(priority).bytes;
}

uint64_t
FabricPort::CountWaiting(uint8_t priority) const
{
    uint64_t count = 0;
    const FabricPacket* packet = m_queues.at(priority).packets.Front();
    for (; packet != nullptr; packet = packet->next)
    {
        ++count;
    }
    return count;
}

uint64_t
FabricPort::GetQueuedPackets() const
{
    uint64_t count = 0;
    for (uint8_t priority = 0; priority < kLinkControl; ++priority)
    {
        count += CountWaiting(priority);
    }
    return count;
}

uint64_t
FabricPort::GetPausesSent() const
{
    return m_pausesSent;
}

uint64_t
FabricPort::GetPausesReceived()
{
    BringUpToDate();
    return m_pausesReceived;
}

bool
FabricPort::IsPaused(uint8_t priority)
{
    BringUpToDate();
    return ((m_told >> priority) & 1U) != 0;
}

bool
FabricPort::HasWaiting(uint8_t priority) const
{
    return (((m_queued | m_pullable) >> priority) & 1U) != 0;
}

bool
FabricPort::IsBlocked(uint8_t priority) const
{
    return HasWaiting(priority) && IsToldToStop(priority);
}

Time
FabricPort::GetPausedTime()
{
    BringUpToDate();
    int64_t open = m_told != 0 ? SimulatorPicoseconds() - m_pausedSince : 0;
    return PicoSeconds(m_pausedTotal + open);
}

Time
FabricPort::GetPausedTime(uint8_t priority)
{
    BringUpToDate();
    const int64_t open =
        IsPaused(priority) ? SimulatorPicoseconds() - m_stoppedSince.at(priority) : 0;
    return PicoSeconds(m_stoppedTotal.at(priority) + open);
}

Time
FabricPort::GetBusyTime()
{
    const int64_t now = SimulatorPicoseconds();
    BringUpToDate();
    // Since m_freeAt, if that is past, there was nothing to send.
    return PicoSeconds(std::min(now, m_freeAt) - m_idle);
}

Time
FabricPort::GetWaitedTime(uint8_t priority)
{
    const int64_t now = SimulatorPicoseconds();
    BringUpToDate();
    const uint64_t waiting = CountWaiting(priority) * static_cast<uint64_t>(now);
    return PicoSeconds(m_queues[priority].waited + waiting);
}

} // namespace ns3
