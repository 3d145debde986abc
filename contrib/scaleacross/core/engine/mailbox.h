// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MAILBOX_H
#define SCALEACROSS_MAILBOX_H

#include "core/base/units.h"

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <vector>

namespace scaleacross
{

/// A message whose way is known.
struct Letter
{
    Duration posted;
    Duration arrival;
};

/**
 * Messages that have been sent and not yet received, by slot (receiver and number), each slot in
 * the order sent. A letter may lie here before it arrives: its time says when it does.
 */
class Mailbox
{
  public:
    explicit Mailbox(size_t slots)
        : m_first(slots, Letter{Duration(), Duration::Max()})
    {
    }

    void Put(size_t slot, const Letter& letter)
    {
        if (IsEmpty(slot))
        {
            m_first[slot] = letter;
            return;
        }
        m_more[slot].push_back(letter);
    }

    /// The next letter of a slot, or none.
    const Letter* Front(size_t slot) const
    {
        return IsEmpty(slot) ? nullptr : &m_first[slot];
    }

    /// Domain: the slot is not empty.
    void Take(size_t slot)
    {
        m_first[slot].arrival = Duration::Max();
        if (m_more.empty())
        {
            return;
        }
        const auto more = m_more.find(slot);
        if (more == m_more.end())
        {
            return;
        }
        m_first[slot] = more->second.front();
        more->second.pop_front();
        if (more->second.empty())
        {
            m_more.erase(more);
        }
    }

  private:
    bool IsEmpty(size_t slot) const
    {
        return m_first[slot].arrival == Duration::Max();
    }

    std::vector<Letter> m_first; //!< by slot; never arrives: none
    /// Those behind the first: of senders that are iterations ahead.
    std::unordered_map<size_t, std::deque<Letter>> m_more;
};

} // namespace scaleacross

#endif // SCALEACROSS_MAILBOX_H
