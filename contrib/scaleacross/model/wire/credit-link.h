// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CREDIT_LINK_H
#define SCALEACROSS_CREDIT_LINK_H

#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>

namespace scaleacross
{

/// The receive buffer that one end of a link has for each of its virtual lanes, in blocks.
struct CreditBuffer
{
    uint8_t lanes{0};     //!< bit per virtual lane that has one
    uint64_t capacity{0}; //!< of each
    uint64_t most{0};     //!< that may be granted at a time: 2,048, as the limit has 12 bits
    uint64_t update{1};   //!< the neighbour is told when it may send so many more
};

/**
 * What one end of a link knows of InfiniBand's credits: how much it may send, and how much it lets
 * its neighbour send.
 *
 * Model, for each virtual lane apart and in blocks of 64 bytes, a packet taking whole ones. The
 * sender counts what it has sent (FCTBS); the receiver counts what has arrived (ABR) and grants
 *
 *   limit (FCCL) = ABR + min(capacity - held, most)
 *
 * with `held` the blocks of packets that are still there. A packet may start if FCTBS + its blocks
 * <= FCCL, so what arrives always finds room: both are checked at every packet, and abort. The
 * counters have 64 bits here and never wrap; the standard's have 12.
 *
 * No packet of M blocks waits for ever if capacity and most are at least M + update - 1: when
 * nothing is held, all but update - 1 blocks have been granted.
 *
 * Worked case: capacity 132, update 66, packets of 4,178 bytes = 66 blocks. Two packets start; the
 * third waits until the first has left the buffer: ABR 132, held 66, FCCL 198.
 */
class CreditLink
{
  public:
    // --- As a sender

    /// Blocks that may be sent.
    uint64_t Left(uint8_t lane) const
    {
        return m_limit[lane] - m_sent[lane];
    }

    /// Blocks that have been sent.
    uint64_t Sent(uint8_t lane) const
    {
        return m_sent[lane];
    }

    /// The neighbour has a buffer for the lane.
    bool HasLane(uint8_t lane) const
    {
        return ((m_lanes >> lane) & 1U) != 0;
    }

    /// A packet has started. Aborts if the credits are not enough.
    void Spend(uint8_t lane, uint64_t blocks)
    {
        if (blocks > Left(lane))
        {
            Overspent(lane, blocks);
        }
        m_sent[lane] += blocks;
    }

    void SetLimit(uint8_t lane, uint64_t limit)
    {
        m_limit[lane] = limit;
    }

    /// As the link comes up: nothing is under way, and all is known that `neighbour` grants.
    void Begin(const CreditLink& neighbour);

    // --- As a receiver

    void SetBuffer(const CreditBuffer& buffer)
    {
        m_buffer = buffer;
    }

    const CreditBuffer& Buffer() const
    {
        return m_buffer;
    }

    /// As the link comes up: nothing has arrived, but packets from before may still be held.
    void BeginReceiving();

    /// A packet has arrived. Aborts if there is no room.
    void Take(uint8_t lane, uint64_t blocks)
    {
        m_received[lane] += blocks;
        m_held[lane] += blocks;
        if (m_held[lane] > m_buffer.capacity)
        {
            Overfull(lane);
        }
        m_peak = m_held[lane] > m_peak ? m_held[lane] : m_peak;
    }

    /// A packet has left the buffer.
    void Free(uint8_t lane, uint64_t blocks)
    {
        if (blocks > m_held[lane])
        {
            Underflow(lane, blocks);
        }
        m_held[lane] -= blocks;
    }

    uint64_t Held(uint8_t lane) const
    {
        return m_held[lane];
    }

    /// Most that any lane has ever held.
    uint64_t Peak() const
    {
        return m_peak;
    }

    uint64_t Limit(uint8_t lane) const
    {
        const uint64_t room = m_buffer.capacity - m_held[lane];
        return m_received[lane] + (room < m_buffer.most ? room : m_buffer.most);
    }

    /// Blocks that may be sent and that the neighbour has not been told of.
    uint64_t Untold(uint8_t lane) const
    {
        return Limit(lane) - m_told[lane];
    }

    /// The limit that the neighbour knows or will know.
    uint64_t Told(uint8_t lane) const
    {
        return m_told[lane];
    }

    /// The limit, which the neighbour is being told.
    uint64_t Tell(uint8_t lane)
    {
        m_told[lane] = Limit(lane);
        return m_told[lane];
    }

  private:
    using Lanes = std::array<uint64_t, kPriorities>;

    /// Abort with the values.
    void Overspent(uint8_t lane, uint64_t blocks) const;
    void Overfull(uint8_t lane) const;
    void Underflow(uint8_t lane, uint64_t blocks) const;

    Lanes m_sent{};
    Lanes m_limit{};
    Lanes m_received{};
    Lanes m_held{};
    Lanes m_told{};
    uint64_t m_peak{0};
    CreditBuffer m_buffer;
    uint8_t m_lanes{0}; //!< for which the neighbour has a buffer
};

} // namespace scaleacross

#endif // SCALEACROSS_CREDIT_LINK_H
