// SPDX-License-Identifier: GPL-2.0-only

#include "send-times.h"

#include <algorithm>

namespace scaleacross
{

namespace
{
constexpr size_t kFirstSize = 64;
} // namespace

void
SendTimes::Note(uint64_t psn, int64_t start)
{
    if (psn < m_base)
    {
        return;
    }
    while (psn - m_base >= m_ring.size())
    {
        Grow();
    }
    const uint64_t mask = m_ring.size() - 1;
    if (psn < m_end)
    {
        m_ring[psn & mask] = kNone;
        return;
    }
    for (; m_end < psn; ++m_end)
    {
        m_ring[m_end & mask] = kNone;
    }
    m_ring[psn & mask] = start;
    m_end = psn + 1;
}

void
SendTimes::Grow()
{
    std::vector<int64_t> larger(std::max(kFirstSize, 2 * m_ring.size()), kNone);
    for (uint64_t psn = m_base; psn < m_end; ++psn)
    {
        larger[psn & (larger.size() - 1)] = m_ring[psn & (m_ring.size() - 1)];
    }
    m_ring = std::move(larger);
}

} // namespace scaleacross
