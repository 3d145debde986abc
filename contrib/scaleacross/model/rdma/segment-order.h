// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEGMENT_ORDER_H
#define SCALEACROSS_SEGMENT_ORDER_H

#include "core/base/errors.h"

#include <cstdint>
#include <deque>
#include <string>

namespace scaleacross
{

/**
 * Segments of messages that travel over several queue pairs and are told of in order, as in NCCLX's
 * queue pair balancing.
 *
 * The immediate of a segment is its number, 24 bits, and in bit 31 whether it ends a message. The
 * receiver keeps the next number it expects; when that one has arrived, it and all directly after
 * it that are there already are done, and with them the messages they end. At most half of the
 * numbers are in use, so that each is the only one of its kind that is expected.
 *
 * Worked case: numbers 0, 1 (ends message A) and 2 (ends message B) arrive as 2, 0, 1: nothing is
 * done after 2 nor after 0, then A and B are.
 */
class SegmentOrder
{
  public:
    static constexpr uint32_t kNumbers = 1U << 24;
    static constexpr uint32_t kNotify = 1U << 31;

    /// `first`: number of the first segment.
    explicit SegmentOrder(uint64_t first = 0)
        : m_expected(first)
    {
    }

    /// No segment may be sent before another has arrived.
    bool Full() const
    {
        return m_segments.size() >= kNumbers / 2;
    }

    /// Numbers the next segment, of message `id`; returns its immediate. Domain: not Full().
    uint32_t Send(uint64_t id, bool endsMessage)
    {
        const uint64_t number = m_expected + m_segments.size();
        m_segments.push_back({id, endsMessage, false});
        return static_cast<uint32_t>(number % kNumbers) | (endsMessage ? kNotify : 0);
    }

    /// A segment has arrived; calls done(id) for every message that is complete with it, in order.
    template <class Done>
    void Arrive(uint32_t immediate, Done done)
    {
        const uint64_t ahead = (immediate - m_expected) % kNumbers;
        SCALEACROSS_INVARIANT(ahead < m_segments.size() && !m_segments[ahead].arrived,
                              "segment " + std::to_string(immediate % kNumbers));
        m_segments[ahead].arrived = true;
        while (!m_segments.empty() && m_segments.front().arrived)
        {
            const Segment segment = m_segments.front();
            m_segments.pop_front();
            ++m_expected;
            if (segment.endsMessage)
            {
                done(segment.id);
            }
        }
    }

  private:
    struct Segment
    {
        uint64_t id;
        bool endsMessage;
        bool arrived;
    };

    uint64_t m_expected;            //!< number of the first of m_segments
    std::deque<Segment> m_segments; //!< sent and not done
};

} // namespace scaleacross

#endif // SCALEACROSS_SEGMENT_ORDER_H
