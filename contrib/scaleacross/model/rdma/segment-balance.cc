// SPDX-License-Identifier: GPL-2.0-only

#include "segment-balance.h"

#include <algorithm>
#include <cstddef>

namespace scaleacross
{

uint64_t
SegmentBalance::Cut(uint64_t id, uint64_t bytes, bool ends)
{
    const uint32_t queuePairs = m_config.queuePairs;
    uint64_t segment = std::max<uint64_t>(1, bytes);
    if (queuePairs > 1 || m_config.maxOutstanding > 0) // which counts segments
    {
        const uint64_t even = (segment + queuePairs - 1) / queuePairs;
        segment = m_config.segmentSize > 0 ? m_config.segmentSize : even;
    }
    const uint64_t count = std::max<uint64_t>(1, (bytes + segment - 1) / segment);
    for (uint64_t i = 1; i <= count; ++i)
    {
        const uint64_t part = std::min(bytes, segment);
        m_waiting.push_back({id, part, ends && i == count});
        bytes -= part;
    }
    return count;
}

std::optional<uint32_t>
SegmentBalance::Turn() const
{
    for (uint32_t i = 0; i < m_config.queuePairs; ++i)
    {
        const uint32_t candidate = (m_turn + i) % m_config.queuePairs;
        if (m_config.maxOutstanding == 0 ||
            m_outstanding[candidate].size() < m_config.maxOutstanding)
        {
            return candidate;
        }
    }
    return std::nullopt;
}

MessageSegment
SegmentBalance::Take(uint32_t queuePair)
{
    const MessageSegment segment = m_waiting.front();
    m_waiting.pop_front();
    m_turn = (queuePair + 1) % m_config.queuePairs;
    return segment;
}

uint64_t
SegmentBalance::SameMessage(uint32_t queuePair, uint64_t from) const
{
    const auto& segments = m_outstanding[queuePair];
    uint64_t end = from;
    while (end < segments.size() && segments[end] == segments[from])
    {
        ++end;
    }
    return end - from;
}

bool
SegmentBalance::HasFrom(uint32_t queuePair, uint64_t segment, uint64_t id) const
{
    const auto& segments = m_outstanding[queuePair];
    const uint64_t from = std::min<uint64_t>(segment, segments.size());
    return std::find(segments.begin() + static_cast<std::ptrdiff_t>(from), segments.end(), id) !=
           segments.end();
}

uint64_t
SegmentBalance::Acknowledged(uint32_t queuePair)
{
    const uint64_t id = m_outstanding[queuePair].front();
    m_outstanding[queuePair].pop_front();
    return id;
}

} // namespace scaleacross
