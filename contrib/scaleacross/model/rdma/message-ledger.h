// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MESSAGE_LEDGER_H
#define SCALEACROSS_MESSAGE_LEDGER_H

#include <cstddef>
#include <cstdint>
#include <deque>

namespace scaleacross
{

/**
 * The messages of a connection, by number, and how many segments of each are still to arrive and to
 * be acknowledged.
 *
 * Model: messages are numbered in the order of Add. One is cut in one part or several; when the
 * last byte is cut, its segments are known. A message is forgotten when it and all before it are
 * acknowledged: as all that is acknowledged has arrived, it has been delivered then.
 *
 * Worked case: message 0 of 10 bytes is cut into 2 segments and then, the rest, into 1. After two
 * arrivals it has not arrived; after the third it has. Three acknowledgements complete it, and
 * Forget drops it.
 */
class MessageLedger
{
  public:
    /// A message that has not been cut. Returns its number.
    uint64_t Add(uint64_t bytes, uint64_t tag)
    {
        m_messages.push_back({bytes, tag, bytes, false, false, 0, 0});
        ++m_undelivered;
        return m_firstId + m_messages.size() - 1;
    }

    uint64_t BytesOf(uint64_t id) const
    {
        return m_messages[id - m_firstId].bytes;
    }

    uint64_t TagOf(uint64_t id) const
    {
        return m_messages[id - m_firstId].tag;
    }

    /// So many bytes are cut off. True if that ends the message; one of 0 bytes is ended by 0.
    bool Cut(uint64_t id, uint64_t bytes)
    {
        Message& message = At(id);
        message.left -= bytes;
        message.cut = message.left == 0;
        return message.cut;
    }

    /// What was cut off makes so many segments.
    void AddSegments(uint64_t id, uint64_t count)
    {
        At(id).toArrive += count;
        At(id).toAcknowledge += count;
    }

    /// A segment has arrived. True if all have.
    bool Arrived(uint64_t id)
    {
        Message& message = At(id);
        --message.toArrive;
        return message.cut && message.toArrive == 0;
    }

    /// A segment is acknowledged. True if all are.
    bool Acknowledged(uint64_t id)
    {
        --At(id).toAcknowledge;
        return IsAcknowledged(At(id));
    }

    /// One more write is to follow a message whose segments are all acknowledged. False if it has
    /// been added before.
    bool Announce(uint64_t id)
    {
        Message& message = At(id);
        if (message.announced)
        {
            return false;
        }
        message.announced = true;
        ++message.toAcknowledge;
        return true;
    }

    /// A message has been delivered: once each.
    void Delivered()
    {
        --m_undelivered;
    }

    /// Messages that have not been delivered.
    uint64_t Undelivered() const
    {
        return m_undelivered;
    }

    /// Something of a message is still to arrive; `announced`: or it is still to be announced.
    bool IsMissing(uint64_t id, bool announced) const
    {
        const Message& message = m_messages[id - m_firstId];
        return !message.cut || message.toArrive > 0 || (announced && !IsAcknowledged(message));
    }

    /// Drops those that are acknowledged, up to the first that is not.
    void Forget()
    {
        while (!m_messages.empty() && IsAcknowledged(m_messages.front()))
        {
            m_messages.pop_front();
            ++m_firstId;
        }
    }

    /// Drops all; they stay undelivered.
    void Clear()
    {
        m_messages.clear();
    }

  private:
    struct Message
    {
        uint64_t bytes;
        uint64_t tag;
        uint64_t left;  //!< bytes that have not been cut
        bool cut;       //!< all of it has been
        bool announced; //!< see Announce
        uint64_t toArrive;
        uint64_t toAcknowledge;
    };

    static bool IsAcknowledged(const Message& message)
    {
        return message.cut && message.toAcknowledge == 0;
    }

    Message& At(uint64_t id)
    {
        return m_messages[id - m_firstId];
    }

    std::deque<Message> m_messages; //!< by number, from m_firstId on
    uint64_t m_firstId{0};
    uint64_t m_undelivered{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_MESSAGE_LEDGER_H
