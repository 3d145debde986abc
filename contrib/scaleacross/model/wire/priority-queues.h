// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PRIORITY_QUEUES_H
#define SCALEACROSS_PRIORITY_QUEUES_H

#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>

namespace scaleacross
{

/**
 * The packets that wait at a port: a FIFO for each priority, and one above them for frames by which
 * a port controls its link (pauses, credits), which count in no bytes.
 *
 * The time that packets have waited follows from the times at which they come and go, without a
 * word about any single one: with t in ps, each adds -t as it comes and +t as it goes, and those
 * that are still there count as going now.
 */
class PriorityQueues
{
  public:
    /// Queue above all priorities.
    static constexpr uint8_t kLinkControl = kPriorities;
    /// Mask of all of them: the priorities and kLinkControl.
    static constexpr uint32_t kEverything = (2U << kLinkControl) - 1;

    /// Appends to the queue of the packet's priority. True if it is the first there.
    bool Push(FabricPacket* packet, int64_t now)
    {
        Queue& queue = m_queues[packet->priority];
        const bool first = queue.packets.Empty();
        queue.packets.PushBack(packet);
        queue.bytes += packet->size;
        queue.waited -= static_cast<uint64_t>(now);
        m_occupied |= 1U << packet->priority;
        m_bytes += packet->priority != kLinkControl ? packet->size : 0;
        return first;
    }

    /// Takes the first packet of a queue. Domain: there is one.
    FabricPacket* Pop(uint8_t priority, int64_t now)
    {
        Queue& queue = m_queues[priority];
        FabricPacket* packet = queue.packets.PopFront();
        queue.bytes -= packet->size;
        queue.waited += static_cast<uint64_t>(now);
        if (queue.packets.Empty())
        {
            m_occupied &= ~(1U << priority);
        }
        m_bytes -= priority != kLinkControl ? packet->size : 0;
        return packet;
    }

    /// Takes all packets of a priority.
    PacketList TakeAll(uint8_t priority, int64_t now);

    /// Gives the frames of kLinkControl back to their pools.
    void ReturnControl();

    /// Forgets the packets without touching them.
    void Clear();

    /// Bit per queue that is not empty.
    uint32_t Occupied() const
    {
        return m_occupied;
    }

    const PacketList& Packets(uint8_t priority) const
    {
        return m_queues[priority].packets;
    }

    /// Bytes of a queue, and of all priorities.
    uint64_t Bytes(uint8_t priority) const
    {
        return m_queues[priority].bytes;
    }

    uint64_t Bytes() const
    {
        return m_bytes;
    }

    /// Packets of a queue, found by walking along it.
    uint64_t Count(uint8_t priority) const;

    /// ps that the packets of a queue have waited until `now`, added up.
    uint64_t Waited(uint8_t priority, int64_t now) const;

  private:
    struct Queue
    {
        PacketList packets;
        uint64_t bytes{0};
        uint64_t waited{0}; //!< ps, modulo 2^64: that of packets that have left once it is empty
    };

    uint32_t m_occupied{0};
    uint64_t m_bytes{0};
    std::array<Queue, kPriorities + 1> m_queues;
};

} // namespace scaleacross

#endif // SCALEACROSS_PRIORITY_QUEUES_H
