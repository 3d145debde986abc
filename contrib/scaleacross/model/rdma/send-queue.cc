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
