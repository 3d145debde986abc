// SPDX-License-Identifier: GPL-2.0-only

#include "priority-queues.h"

namespace scaleacross
{

PacketList
PriorityQueues::TakeAll(uint8_t priority, int64_t now)
{
    Queue& queue = m_queues.at(priority);
    queue.waited += Count(priority) * static_cast<uint64_t>(now);
    const PacketList packets = queue.packets;
    queue.packets.Clear();
    m_bytes -= queue.bytes;
    queue.bytes = 0;
    m_occupied &= ~(1U << priority);
    return packets;
}

void
PriorityQueues::ReturnControl()
{
    Queue& queue = m_queues[kLinkControl];
    while (!queue.packets.Empty())
    {
        PacketPool::Return(queue.packets.PopFront());
    }
    queue.bytes = 0;
    m_occupied &= ~(1U << kLinkControl);
}

void
PriorityQueues::Clear()
{
    for (auto& queue : m_queues)
    {
        queue.packets.Clear();
    }
    m_occupied = 0;
}

uint64_t
PriorityQueues::Count(uint8_t priority) const
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
PriorityQueues::Waited(uint8_t priority, int64_t now) const
{
    return m_queues.at(priority).waited + Count(priority) * static_cast<uint64_t>(now);
}

} // namespace scaleacross
