// SPDX-License-Identifier: GPL-2.0-only

#include "foreign-queue.h"

namespace scaleacross
{

void
ForeignQueue::Post(FabricPacket* packet, int64_t now)
{
    m_posted.PushBack(packet);
    m_bytes += packet->size;
    ++m_packets;
    m_waited -= static_cast<uint64_t>(now);
}

void
ForeignQueue::ShowPosted()
{
    while (!m_posted.Empty())
    {
        m_ready.PushBack(m_posted.PopFront());
    }
}

FabricPacket*
ForeignQueue::Pop(int64_t start)
{
    FabricPacket* packet = m_ready.PopFront();
    m_bytes -= packet->size;
    --m_packets;
    m_waited += static_cast<uint64_t>(start);
    return packet;
}

void
ForeignQueue::Clear()
{
    m_posted.Clear();
    m_ready.Clear();
    m_bytes = 0;
    m_packets = 0;
}

} // namespace scaleacross
