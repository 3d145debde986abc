// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STOPPED_PRIORITIES_H
#define SCALEACROSS_STOPPED_PRIORITIES_H

#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>

namespace scaleacross
{

/// Which priorities are stopped, by pauses of the neighbour or for want of credits, and for how
/// long they have been. Times in ps.
class StoppedPriorities
{
  public:
    /// Stops one, or lets it go on. False if it is so already.
    bool Set(uint8_t priority, bool stopped, int64_t now)
    {
        const uint32_t bit = 1U << priority;
        if (((m_mask & bit) != 0) == stopped)
        {
            return false;
        }
        Change(priority, bit, now);
        return true;
    }

    /// Bit per priority that is stopped.
    uint32_t Mask() const
    {
        return m_mask;
    }

    bool Has(uint8_t priority) const
    {
        return ((m_mask >> priority) & 1U) != 0;
    }

    /// Total time until `now` during which a priority was stopped, and at least one was.
    int64_t Total(uint8_t priority, int64_t now) const
    {
        return m_total.at(priority) + (Has(priority) ? now - m_since.at(priority) : 0);
    }

    int64_t TotalOfAny(int64_t now) const
    {
        return m_anyTotal + (m_mask != 0 ? now - m_anySince : 0);
    }

  private:
    void Change(uint8_t priority, uint32_t bit, int64_t now);

    uint32_t m_mask{0};
    int64_t m_anySince{0};
    int64_t m_anyTotal{0};
    std::array<int64_t, kPriorities> m_since{};
    std::array<int64_t, kPriorities> m_total{};
};

} // namespace scaleacross

#endif // SCALEACROSS_STOPPED_PRIORITIES_H
