// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PULL_PACER_H
#define SCALEACROSS_PULL_PACER_H

#include "ns3/arrival-agenda.h"
#include "ns3/rate-pacer.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace scaleacross
{

/**
 * The pulls that the receiver at the end of a line owes its senders, and when the next one is due.
 *
 * Model: each pull lets one sender send one full packet, so one is handed out in every time that
 * the line takes for a full packet: what has been pulled fits the line. Senders that are owed some
 * take turns, a pull each. What else comes by the line (ACKs, headers of trimmed packets) puts the
 * next pull off by its own time; a line that has rested earns nothing.
 *
 * Whoever sends them asks Admit when NextDue() has come, and may then start one at any time, until
 * there is none that is due (IsReady).
 *
 * Domain: bytes < 65,536, rate > 0, times that do not fall. No allocation per pull once it has seen
 * its largest queue.
 *
 * Worked case: 100 Gb/s, full packets of 4,178 bytes, 334,240 ps. Sender 1 is owed two pulls and
 * sender 2 one, all asked for at 0. Pulls are due at 0 (to 1), 334,240 (to 2) and 668,480 (to 1).
 * An ACK of 86 bytes that comes in at 400,000 puts the last one off to 675,360.
 */
class PullPacer
{
  public:
    /// Queue pair `number` is owed one more, from `now` on.
    void Ask(uint32_t number)
    {
        m_used = true;
        if (number >= m_owed.size())
        {
            m_owed.resize(number + 1);
        }
        if (m_owed[number]++ == 0)
        {
            m_turns.push_back(number);
        }
    }

    /// When the next pull may start, ps: 0 if at any time, kNever if none is owed.
    int64_t Due() const
    {
        return m_turns.empty() ? kNever : m_pacer.Eligible();
    }

    /// A pull may start, as Admit has said.
    bool IsReady() const
    {
        return m_ready;
    }

    /// When Admit is due, ps; kNever if one may start already, or none is owed.
    int64_t NextDue() const
    {
        return m_ready ? kNever : Due();
    }

    /// True if a pull may start from now on, and none might before.
    bool Admit(int64_t now)
    {
        const bool before = m_ready;
        m_ready = before || Due() <= now;
        return m_ready && !before;
    }

    /// There has been one to owe.
    bool IsUsed() const
    {
        return m_used;
    }

    /// A pull for a packet of `bytes` starts; returns to which queue pair. Domain: Due() <= start.
    uint32_t Take(uint32_t bytes, int64_t start, uint64_t rate)
    {
        const uint32_t number = m_turns.front();
        m_turns.pop_front();
        if (--m_owed[number] > 0)
        {
            m_turns.push_back(number);
        }
        m_pacer.Sent(bytes, start, rate);
        RestIfDone();
        m_ready = Due() <= start;
        return number;
    }

    /// The line has carried `bytes` that were not pulled.
    void LineUsed(uint32_t bytes, int64_t now, uint64_t rate)
    {
        if (m_pacer.Eligible() > now)
        {
            m_pacer.Sent(bytes, now, rate);
            RestIfDone();
        }
    }

    /// The line has another rate from `now` on.
    void RateChanged(uint64_t rate, int64_t now)
    {
        m_pacer.RateChanged(rate, now);
    }

    /// Forgets what is owed.
    void Clear()
    {
        m_turns.clear();
        m_owed.clear();
        m_ready = false;
    }

  private:
    void RestIfDone()
    {
        if (m_turns.empty())
        {
            m_pacer.Rest();
        }
    }

    RatePacer m_pacer;
    std::deque<uint32_t> m_turns; //!< queue pairs that are owed some
    std::vector<uint32_t> m_owed; //!< by queue pair
    bool m_ready{false};
    bool m_used{false};
};

} // namespace scaleacross

#endif // SCALEACROSS_PULL_PACER_H
