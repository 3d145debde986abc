// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PACKET_RING_H
#define SCALEACROSS_PACKET_RING_H

#include "fabric-packet.h"

#include <cstdint>
#include <memory>

namespace scaleacross
{

/**
 * FIFO of packets with a time each, as long as it needs to be: what is on a wire.
 *
 * The times lie side by side, so that looking at the next one touches no packet; a packet that will
 * soon be taken out is fetched meanwhile. Memory is 16 bytes for every packet that was ever in the
 * ring at once, rounded up to a power of two, and none before the first packet.
 */
class PacketRing
{
  public:
    struct Entry
    {
        int64_t time; //!< ps
        FabricPacket* packet;
    };

    bool Empty() const
    {
        return m_head == m_tail;
    }

    uint64_t Size() const
    {
        return m_tail - m_head;
    }

    /// i-th from the front. Domain: i < Size().
    const Entry& At(uint64_t i) const
    {
        return m_entries[(m_head + i) & m_mask];
    }

    /// Domain: not empty.
    int64_t FrontTime() const
    {
        return m_entries[m_head & m_mask].time;
    }

    void PushBack(FabricPacket* packet, int64_t time)
    {
        if (m_tail - m_head == m_capacity)
        {
            Grow();
        }
        m_entries[m_tail & m_mask] = {time, packet};
        ++m_tail;
    }

    /// Domain: not empty.
    FabricPacket* PopFront()
    {
        FabricPacket* packet = m_entries[m_head & m_mask].packet;
        ++m_head;
        // Whoever comes next but one is a packet time away: time enough to fetch it.
        Prefetch(m_entries[(m_head + 1) & m_mask].packet);
        return packet;
    }

    /// Forgets the packets without touching them (their pool may be gone).
    void Clear()
    {
        m_head = m_tail;
    }

  private:
    void Grow()
    {
        const uint64_t capacity = m_capacity == 0 ? 8 : 2 * m_capacity;
        auto entries = std::make_unique<Entry[]>(capacity);
        for (uint64_t i = m_head; i != m_tail; ++i)
        {
            entries[i & (capacity - 1)] = m_entries[i & m_mask];
        }
        m_entries = std::move(entries);
        m_capacity = capacity;
        m_mask = capacity - 1;
    }

    std::unique_ptr<Entry[]> m_entries;
    uint64_t m_head{0};
    uint64_t m_tail{0};
    uint64_t m_capacity{0};
    uint64_t m_mask{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_PACKET_RING_H
