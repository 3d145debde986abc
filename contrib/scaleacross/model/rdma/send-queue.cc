// SPDX-License-Identifier: GPL-2.0-only

#include "send-queue.h"

namespace scaleacross
{

const PostedMessage&
SendQueue::MessageOf(uint64_t psn) const
{
    const auto after = std::upper_bound(
        m_messages.begin(),
        m_messages.end(),
        psn,
        [](uint64_t value, const PostedMessage& message) { return value < message.firstPsn; });
    return *(after - 1);
}

void
SendQueue::Acknowledge(uint64_t psn, std::vector<PostedMessage>& completed)
{
    if (psn == m_una)
    {
        return;
    }
    m_una = psn;
    std::size_t done = 0;
    while (done < m_visible && m_messages[done].EndPsn() <= m_una)
    {
        ++done;
    }
    if (m_next < m_una) // it had gone back, needlessly
    {
        m_next = m_una;
        m_cursor = done;
    }
    if (done > 0)
    {
        const auto end = m_messages.begin() + static_cast<std::ptrdiff_t>(done);
        completed.insert(completed.end(), m_messages.begin(), end);
        m_messages.erase(m_messages.begin(), end);
        m_cursor -= done;
        m_visible -= done;
    }
}

uint64_t
SendQueue::Spare(std::size_t count) const
{
    if (m_next != m_sentUpTo)
    {
        return 0;
    }
    uint64_t spare = 0;
    for (std::size_t i = m_cursor; i < std::min(m_cursor + count, m_visible); ++i)
    {
        spare += m_messages[i].EndPsn() - std::max(m_messages[i].firstPsn, m_next) - 1;
    }
    return spare;
}

void
SendQueue::LeaveOut(uint64_t packets, std::size_t count, uint64_t mtu)
{
    for (std::size_t i = m_cursor + count; i-- > m_cursor;)
    {
        PostedMessage& message = m_messages[i];
        const uint64_t left = message.EndPsn() - std::max(message.firstPsn, m_next);
        const uint64_t out = std::min(packets, left - 1);
        message.packets -= out;
        message.bytes -= out * mtu;
        packets -= out;
        m_endPsn -= out;
    }
    for (std::size_t i = m_cursor + 1; i < m_messages.size(); ++i)
    {
        m_messages[i].firstPsn = m_messages[i - 1].EndPsn();
    }
}

std::deque<PostedMessage>
SendQueue::Flush()
{
    std::deque<PostedMessage> flushed = std::move(m_messages);
    m_messages.clear();
    m_visible = 0;
    GoBack();
    return flushed;
}

} // namespace scaleacross
