// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEND_QUEUE_H
#define SCALEACROSS_SEND_QUEUE_H

#include "ns3/fabric-packet.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace scaleacross
{

/// A message and the numbers of its packets.
struct PostedMessage
{
    uint64_t bytes;
    uint64_t tag;
    uint64_t firstPsn;
    uint64_t packets;
    RdmaOperation operation;

    /// After its last packet.
    uint64_t EndPsn() const
    {
        return firstPsn + packets;
    }
};

/**
 * The messages that a sender has posted and that are not acknowledged, and where it stands in them.
 *
 * Model: packets are numbered through, in the order of posting. Four numbers say all:
 *
 *   Una() <= Next() <= SentUpTo() <= end of what has been shown,
 *
 * the first packet that is not acknowledged, the one that is sent next, the first that has never
 * been sent. Next() falls behind SentUpTo() when the sender goes back. What is posted may be sent
 * once it has been shown.
 *
 * O(1) for a packet, O(messages) for what they complete.
 *
 * Worked case: messages of 3 and 2 packets are posted and shown: PSNs 0 to 2 and 3 to 4. Four
 * packets are taken: Next() is 4. Acknowledge(1), then GoBack(): Next() is 1, SentUpTo() still 4,
 * Unacked() 0. Acknowledge(4): it had gone back needlessly, Next() is 4, the first message is done.
 */
class SendQueue
{
  public:
    /// The first packet has this PSN. Before anything is posted.
    void Start(uint64_t psn)
    {
        m_next = m_una = m_sentUpTo = m_endPsn = psn;
    }

    /// A message of so many packets, which may be sent after Show. Domain: packets > 0.
    const PostedMessage& Post(RdmaOperation operation,
                              uint64_t bytes,
                              uint64_t tag,
                              uint64_t packets)
    {
        m_messages.push_back({bytes, tag, m_endPsn, packets, operation});
        m_endPsn += packets;
        return m_messages.back();
    }

    /// What has been posted may be sent.
    void Show()
    {
        m_visible = m_messages.size();
    }

    /// There are messages that may be sent or are not acknowledged.
    bool HasShown() const
    {
        return m_visible > 0;
    }

    /// There is a packet from Next() on that may be sent.
    bool HasNext() const
    {
        return m_cursor < m_visible;
    }

    /// The message of the packet that is sent next. Domain: HasNext().
    const PostedMessage& Current() const
    {
        return m_messages[m_cursor];
    }

    /// The next packet is sent; `last`: of its message. Domain: HasNext().
    void TakeNext(bool last)
    {
        ++m_next;
        m_sentUpTo = std::max(m_sentUpTo, m_next);
        m_cursor += last ? 1 : 0;
    }

    /// The message of a packet. Domain: one that is not acknowledged.
    const PostedMessage& MessageOf(uint64_t psn) const;

    uint64_t Una() const
    {
        return m_una;
    }

    uint64_t Next() const
    {
        return m_next;
    }

    uint64_t SentUpTo() const
    {
        return m_sentUpTo;
    }

    /// Packets from the first unacknowledged one to the next one to be sent.
    uint64_t Unacked() const
    {
        return m_next - m_una;
    }

    /// Packets from Next() on that may be sent.
    uint64_t Waiting() const
    {
        return m_visible > 0 ? m_messages[m_visible - 1].EndPsn() - m_next : 0;
    }

    /// Messages that are not acknowledged.
    uint64_t Size() const
    {
        return m_messages.size();
    }

    /// An answer to all packets before `psn` completes a message.
    bool Completes(uint64_t psn) const
    {
        return !m_messages.empty() && psn >= m_messages.front().EndPsn();
    }

    /// All packets before `psn` are acknowledged: adds the messages that this completes. Domain:
    /// Una() <= psn <= SentUpTo().
    void Acknowledge(uint64_t psn, std::vector<PostedMessage>& completed);

    /// Messages from the one of the next packet on may be `count` that belong together. How many of
    /// their packets could be left out, so that each of them still has one to send: none where it
    /// has gone back. Domain: there are so many.
    uint64_t Spare(std::size_t count) const;

    /**
     * Leaves out so many of the packets of these that have not been sent, `mtu` bytes each, of the
     * last message first: what is sent next stays as it is. What comes after is numbered as if they
     * had never been posted. Domain: packets <= Spare(count).
     *
     * Worked case: messages of 5 and 3 packets, 2 of which have been sent. Spare(2) is 2 + 2. After
     * LeaveOut(3, 2, mtu) the first is PSNs 0 to 3 and the second PSN 4, its last packet, which
     * keeps its payload.
     */
    void LeaveOut(uint64_t packets, std::size_t count, uint64_t mtu);

    /// Where the message of the next packet stands among those that are not acknowledged.
    std::size_t Cursor() const
    {
        return m_cursor;
    }

    /// The first unacknowledged packet is sent next.
    void GoBack()
    {
        m_next = m_una;
        m_cursor = 0;
    }

    /// Nothing is sent any more: returns what is given up.
    std::deque<PostedMessage> Flush();

    /// Forgets all messages.
    void Clear()
    {
        m_messages.clear();
        m_visible = 0;
    }

  private:
    std::deque<PostedMessage> m_messages; //!< not completely acknowledged
    std::size_t m_visible{0};             //!< of them, those that have been shown
    std::size_t m_cursor{0};              //!< message of the next packet
    uint64_t m_next{0};
    uint64_t m_una{0};
    uint64_t m_sentUpTo{0};
    uint64_t m_endPsn{0}; //!< after the last posted message
};

} // namespace scaleacross

#endif // SCALEACROSS_SEND_QUEUE_H
