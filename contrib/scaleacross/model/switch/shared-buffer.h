// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SHARED_BUFFER_H
#define SCALEACROSS_SHARED_BUFFER_H

#include "core/base/headroom.h"

#include "ns3/fabric-packet.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Accounting of a switch's packet memory, all ports and priorities together.
 *
 * Memory: the buffer less all reserved headroom is shared, S. Each (ingress, priority) counts what
 * it holds of the shared part, s, and of its own headroom, h. U is the sum of all s, L that of the
 * lossless ones. Thresholds are dynamic (Choudhury and Hahne): T = alpha * (S - L) for a lossless
 * ingress, T = alphaLossy * (S - U) for a lossy egress queue.
 *
 *   lossless: s + packet <= T and U + packet <= S -> shared; else h + packet <= headroom ->
 * headroom, and the ingress is to be paused; else dropped (headroom-full). lossy:    queue + packet
 * <= T and U + packet <= S -> shared; else dropped (shared-buffer-full). resume:   a paused ingress
 * may go on when h = 0 and s + resumeOffset <= T, or when s + h = 0.
 *
 * A packet that leaves frees headroom before shared memory. The sum of all is never more than the
 * size: that is checked at every admission.
 *
 * Left out: cells (bytes are counted as they are on the wire), reserved minima, pools per priority.
 *
 * Worked case: size 1,000,000, one ingress with headroom 200,000, alpha 1/8. S = 800,000; empty,
 * T = 100,000. After 80,000 bytes T = (800,000 - 80,000)/8 = 90,000. The fixed point s = (S - s)/8
 * is 88,888: the packet that would pass it goes to the headroom and asks for the pause.
 */
class SharedBuffer
{
  public:
    struct Config
    {
        uint64_t size{0};
        uint8_t lossless{0}; //!< bit p: priority p is lossless
        double alphaLossless{0.125};
        double alphaLossy{1.0};
        uint64_t resumeOffset{0};
    };

    /// Sizes the accounting; all headroom is 0.
    void Configure(const Config& config, uint32_t ports);

    /// Makes all that comes in by a port lossy. To be called before the first admission.
    void SetLossy(uint32_t port)
    {
        m_losslessOf[port] = 0;
    }

    /// Reserves headroom for an ingress and priority. To be called before the first admission.
    void Reserve(uint32_t port, uint8_t priority, uint64_t headroom);

    /// Shared part S. Domain: Reserved() <= size.
    uint64_t SharedSize() const
    {
        return m_config.size - m_reserved;
    }

    uint64_t Size() const
    {
        return m_config.size;
    }

    uint64_t Reserved() const
    {
        return m_reserved;
    }

    /// True if the ingress may ask for a pause of the priority.
    bool IsLossless(uint32_t port, uint8_t priority) const
    {
        return ((m_losslessOf[port] >> priority) & 1U) != 0;
    }

    /// True if a lossless packet would go to the shared part.
    bool FitsShared(uint32_t port, uint8_t priority, uint32_t bytes) const
    {
        return m_sharedUsed + bytes <= SharedSize() &&
               static_cast<double>(Cell(port, priority).shared + bytes) <= LosslessThreshold();
    }

    /// True if a lossy packet may join an egress queue that holds `queued` bytes.
    bool FitsLossy(uint64_t queued, uint32_t bytes) const
    {
        uint64_t free = SharedSize() - m_sharedUsed;
        return bytes <= free && static_cast<double>(queued + bytes) <=
                                    m_config.alphaLossy * static_cast<double>(free);
    }

    /// Counts a packet in the shared part.
    void TakeShared(uint32_t port, uint8_t priority, uint32_t bytes)
    {
        Cell(port, priority).shared += bytes;
        m_sharedUsed += bytes;
        m_losslessUsed += IsLossless(port, priority) ? bytes : 0;
        Check();
    }

    /// Counts a packet in the headroom; false, and nothing counted, if it does not fit.
    bool TakeHeadroom(uint32_t port, uint8_t priority, uint32_t bytes);

    /// A packet has left.
    void Release(uint32_t port, uint8_t priority, uint32_t bytes)
    {
        Ingress& cell = Cell(port, priority);
        const uint64_t fromHeadroom = cell.headroom < bytes ? cell.headroom : bytes;
        const uint64_t fromShared = bytes - fromHeadroom;
        if (fromShared > cell.shared)
        {
            Underflow(port, priority, bytes);
        }
        cell.headroom -= fromHeadroom;
        cell.shared -= fromShared;
        m_headroomUsed -= fromHeadroom;
        m_sharedUsed -= fromShared;
        m_losslessUsed -= IsLossless(port, priority) ? fromShared : 0;
    }

    /// True if a paused ingress may go on.
    bool MayResume(uint32_t port, uint8_t priority) const;

    /// Lossless bytes, of whatever ingress, that have to leave at least before MayResume can become
    /// true.
    uint64_t BytesToResume(uint32_t port, uint8_t priority) const;

    /// True if a paused ingress could go on when of every ingress's packets only these bytes were
    /// left; `left` has one entry for each port and priority (port * 8 + priority), none of them
    /// more than Held.
    bool CouldResume(uint32_t port, uint8_t priority, const std::vector<uint64_t>& left) const;

    /// Bytes held: shared and headroom.
    uint64_t Occupancy() const
    {
        return m_sharedUsed + m_headroomUsed;
    }

    /// Bytes held for one ingress and priority, shared and headroom.
    uint64_t Held(uint32_t port, uint8_t priority) const
    {
        return Cell(port, priority).shared + Cell(port, priority).headroom;
    }

    /// Most headroom any ingress has used, as a share of what it has reserved; 0 if none has.
    double PeakHeadroomShare() const;

  private:
    struct Ingress
    {
        uint64_t shared{0};
        uint64_t headroom{0};
        uint64_t reserved{0};
        uint64_t peak{0}; //!< of headroom
    };

    const Ingress& Cell(uint32_t port, uint8_t priority) const
    {
        return m_ingress[port * kPriorities + priority];
    }

    Ingress& Cell(uint32_t port, uint8_t priority)
    {
        return m_ingress[port * kPriorities + priority];
    }

    double LosslessThreshold() const
    {
        return LosslessThreshold(m_losslessUsed);
    }

    double LosslessThreshold(uint64_t losslessUsed) const
    {
        return m_config.alphaLossless * static_cast<double>(SharedSize() - losslessUsed);
    }

    /// MayResume of an ingress that holds `cell` while lossless packets hold `losslessUsed`.
    bool MayResume(const Ingress& cell, uint64_t losslessUsed) const;

    void Check() const
    {
        if (m_sharedUsed > SharedSize() || Occupancy() > m_config.size)
        {
            Overfull();
        }
    }

    /// Abort with the values.
    void Overfull() const;
    void Underflow(uint32_t port, uint8_t priority, uint32_t bytes) const;

    Config m_config;
    uint64_t m_reserved{0};
    uint64_t m_sharedUsed{0};
    uint64_t m_losslessUsed{0}; //!< of m_sharedUsed
    uint64_t m_headroomUsed{0};
    std::vector<Ingress> m_ingress;
    std::vector<uint8_t> m_losslessOf; //!< per port: bit per priority
};

} // namespace scaleacross

#endif // SCALEACROSS_SHARED_BUFFER_H
