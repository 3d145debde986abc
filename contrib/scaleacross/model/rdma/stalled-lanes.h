// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STALLED_LANES_H
#define SCALEACROSS_STALLED_LANES_H

#include "core/base/packet-format.h"

#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>
#include <utility>

namespace scaleacross
{

/**
 * Virtual lanes whose packets stay in the receive buffer of a NIC, as if the host took nothing, and
 * the blocks of 64 bytes that they hold there until the lane goes on.
 *
 * Worked case: lane 2 is stalled; packets of 4,178 and 86 bytes hold 66 + 2 blocks of it. When the
 * lane goes on, these 68 are released at once.
 */
class StalledLanes
{
  public:
    /// Bit v: lane v is stalled.
    uint32_t Mask() const
    {
        return m_mask;
    }

    /// A packet has come in. True if it stays in the buffer.
    bool Keep(uint8_t lane, uint32_t bytes)
    {
        if (((m_mask >> lane) & 1U) == 0)
        {
            return false;
        }
        m_blocks[lane] += CreditBlocks(bytes);
        return true;
    }

    /// These lanes are stalled from now on. Calls release(lane, blocks) for each other that holds
    /// some, in ascending order.
    template <class Release>
    void Set(uint32_t mask, Release release)
    {
        m_mask = mask;
        for (uint8_t lane = 0; lane < kPriorities; ++lane)
        {
            if (((mask >> lane) & 1U) == 0 && m_blocks[lane] > 0)
            {
                release(lane, std::exchange(m_blocks[lane], 0));
            }
        }
    }

  private:
    uint32_t m_mask{0};
    std::array<uint64_t, kPriorities> m_blocks{}; //!< that are held, by lane
};

} // namespace scaleacross

#endif // SCALEACROSS_STALLED_LANES_H
