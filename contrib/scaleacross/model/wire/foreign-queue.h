// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_QUEUE_H
#define SCALEACROSS_FOREIGN_QUEUE_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace scaleacross
{

/**
 * The transmit queue of a NIC for packets of other stacks: a FIFO that holds a number of bytes.
 *
 * What is handed over at time t counts at once, but is not ready before everything else of that
 * time has happened (ShowPosted), so that the order of events at one time makes no difference.
 */
class ForeignQueue
{
  public:
    /// There is room for `size` more bytes under the limit.
    bool Fits(uint32_t size, uint64_t limit) const
    {
        return m_bytes + size <= limit;
    }

    /// Takes over a packet at `now` (ps).
    void Post(FabricPacket* packet, int64_t now);

    /// There is a packet that ShowPosted has not seen.
    bool HasPosted() const
    {
        return !m_posted.Empty();
    }

    /// What has been posted so far is ready from now on.
    void ShowPosted();

    /// There is a packet that may start.
    bool IsReady() const
    {
        return !m_ready.Empty();
    }

    /// The next packet, which starts at `start`. Domain: IsReady().
    FabricPacket* Pop(int64_t start);

    /// Forgets the packets without touching them.
    void Clear();

    /// Bytes and packets that wait.
    uint64_t Bytes() const
    {
        return m_bytes;
    }

    uint64_t Packets() const
    {
        return m_packets;
    }

    /// Sum over all packets of the time (ps) they have waited until `now`.
    uint64_t Waited(int64_t now) const
    {
        return m_waited + m_packets * static_cast<uint64_t>(now);
    }

  private:
    PacketList m_posted;
    PacketList m_ready;
    uint64_t m_bytes{0};
    uint64_t m_packets{0};
    /// Sum of the times at which packets left, less those at which they came (modulo 2^64).
    uint64_t m_waited{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_QUEUE_H
