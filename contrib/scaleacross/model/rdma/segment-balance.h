// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEGMENT_BALANCE_H
#define SCALEACROSS_SEGMENT_BALANCE_H

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace scaleacross
{

/// Part of a message, to be carried by one queue pair.
struct MessageSegment
{
    uint64_t id; //!< of the message
    uint64_t bytes;
    bool last;        //!< of its message
    uint32_t part{0}; //!< number among those of one Cut()
};

/**
 * Segments of messages, and which queue pair carries which.
 *
 * Model: messages are cut into segments of segmentSize, or evenly over all queue pairs; with one
 * queue pair and no limit nothing is cut. Segments wait in one queue and go to the queue pairs in
 * turn. One that has maxOutstanding segments that are not acknowledged is passed over; if all have,
 * the segments wait. Even parts are of whole packets, and part i is queue pair i's, for which it
 * waits: what comes later comes behind. A queue pair acknowledges in the order of posting.
 *
 * Worked case: 4 queue pairs, segmentSize 512 KiB: 2.25 MiB are five segments, for queue pairs 0,
 * 1, 2, 3 and, of 256 KiB, 0; the next one is 1's. With segmentSize 0: four of 576 KiB. Nine
 * packets of 4 KiB are three parts of three.
 */
class SegmentBalance
{
  public:
    /// RdmaConnection's attributes of the same names.
    struct Config
    {
        uint32_t queuePairs{1};
        uint64_t segmentSize{0};    //!< bytes; 0: evenly
        uint32_t maxOutstanding{0}; //!< segments of a queue pair; 0: any number
    };

    /// `packet`: bytes of a full one. Domain: above 0.
    void Configure(const Config& config, uint64_t packet)
    {
        m_config = config;
        m_packet = packet;
        m_outstanding.assign(config.queuePairs, {});
    }

    /// Cuts bytes of a message into segments that wait; `ends`: with them it ends. Returns how
    /// many; 0 bytes are one.
    uint64_t Cut(uint64_t id, uint64_t bytes, bool ends);

    /// There are segments that wait.
    bool HasWaiting() const
    {
        return !m_waiting.empty();
    }

    /// The queue pair in turn that may have another segment, if one may. Domain: HasWaiting().
    std::optional<uint32_t> Turn() const;

    /// Hands the first segment that waits to that queue pair: the next one then has its turn.
    /// Domain: HasWaiting().
    MessageSegment Take(uint32_t queuePair);

    /// A queue pair has been given a segment of that message.
    void Posted(uint32_t queuePair, uint64_t id)
    {
        m_outstanding[queuePair].push_back(id);
    }

    /// A queue pair has its oldest segment acknowledged. Returns the message.
    uint64_t Acknowledged(uint32_t queuePair);

    /// How many of a queue pair's segments from that one on, counted from the oldest one that is
    /// not acknowledged, are of the same message as it.
    uint64_t SameMessage(uint32_t queuePair, uint64_t from) const;

    /// The message of a queue pair's segment, counted likewise; UINT64_MAX if there is none.
    uint64_t MessageOf(uint32_t queuePair, uint64_t segment) const
    {
        const auto& segments = m_outstanding[queuePair];
        return segment < segments.size() ? segments[segment] : UINT64_MAX;
    }

    /// Drops what waits.
    void Clear()
    {
        m_waiting.clear();
    }

  private:
    bool HasRoom(uint32_t queuePair) const
    {
        return m_config.maxOutstanding == 0 ||
               m_outstanding[queuePair].size() < m_config.maxOutstanding;
    }

    Config m_config;
    uint64_t m_packet{1};
    uint32_t m_turn{0}; //!< queue pair of the next segment
    std::deque<MessageSegment> m_waiting;
    /// Segments not acknowledged, by queue pair: which messages they are of.
    std::vector<std::deque<uint64_t>> m_outstanding;
};

} // namespace scaleacross

#endif // SCALEACROSS_SEGMENT_BALANCE_H
