// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DROP_COUNTS_H
#define SCALEACROSS_DROP_COUNTS_H

#include "fabric-packet.h"

#include <array>
#include <cstdint>
#include <numeric>

namespace scaleacross
{

/// How many packets have been thrown away, or refused, for each reason.
class DropCounts
{
  public:
    void Add(DropReason reason)
    {
        ++m_counts[static_cast<size_t>(reason)];
    }

    uint64_t Of(DropReason reason) const
    {
        return m_counts.at(static_cast<size_t>(reason));
    }

    uint64_t Total() const
    {
        return std::accumulate(m_counts.begin(), m_counts.end(), uint64_t{0});
    }

  private:
    std::array<uint64_t, kDropReasons> m_counts{};
};

} // namespace scaleacross

#endif // SCALEACROSS_DROP_COUNTS_H
