// SPDX-License-Identifier: GPL-2.0-only

#include "segment-balance.h"

#include <algorithm>

namespace scaleacross
{

uint64_t
SegmentBalance::Cut(uint64_t id, uint64_t bytes, bool ends)
{
    const uint32_t queuePairs = m_config.queuePairs;
    uint64_t segment = std::max<uint64_t>(1, bytes);
    if (queuePairs > 1 || m_config.maxOutstanding > 0) // which counts segments
    {
        const uint64_t packets = (segment + m_packet - 1) / m_packet;
        const uint64_t even = (packets + queuePairs - 1) / queuePairs * m_packet;
        segment = m_config.segmentSize > 0 ? m_config.segmentSize : even;
    }
    const uint64_t count = std::max<uint64_t>(1, (bytes + segment - 1) / segment);
    for (uint64_t i = 1; i <= count; ++i)
    {
        const uint64_t part = std::min(bytes, segment);
        m_waiting.push_back({id, part, ends && i == count, static_cast<uint32_t>(i - 1)});
        bytes -= part;
    }
    return count;
}

std::optional<uint32_t>
SegmentBalance::Turn() const
{
    if (m_config.segmentSize == 0)
    {
        const uint32_t own = m_waiting.front().part % m_config.queuePairs;
        return HasRoom(own) ? std::optional<uint32_t>(own) : std::nullopt;
    }
    for (uint32_t i = 0; i < m_config.queuePairs; ++i)
    {
        const uint32_t candidate = (m_turn + i) % m_config.queuePairs;
        if (HasRoom(candidate))
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

uint64_t
SegmentBalance::Acknowledged(uint32_t queuePair)
{
    const uint64_t id = m_outstanding[queuePair].front();
    m_outstanding[queuePair].pop_front();
    return id;
}

} // namespace scaleacross
