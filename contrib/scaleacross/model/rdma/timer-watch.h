// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIMER_WATCH_H
#define SCALEACROSS_TIMER_WATCH_H

#include "ns3/arrival-agenda.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace scaleacross
{

/**
 * When the first of many timers may run out, without a list of them.
 *
 * Model: timers are put off with almost every answer and hardly ever run out. So only a time is
 * kept before which none does; when it comes, all are looked at, and it is known exactly. A timer
 * that is put off or stopped leaves it as it is, unless it was the only one that ran.
 *
 * Worked case: timers are set to 100 and 130. The first is put off to 250. At 100 nothing runs out,
 * and 130 is next. Both are stopped: none is next.
 */
class TimerWatch
{
  public:
    /// A timer has been set; `anew`: it did not run. True if Next() is earlier than it was.
    bool Set(int64_t deadline, bool anew)
    {
        m_running += anew ? 1 : 0;
        if (deadline >= m_next)
        {
            return false;
        }
        m_next = deadline;
        return true;
    }

    /// A timer that ran has been stopped. True if no other runs.
    bool Stop()
    {
        if (--m_running > 0)
        {
            return false;
        }
        m_next = kNever;
        return true;
    }

    /// None runs out before, ps; kNever if none runs.
    int64_t Next() const
    {
        return m_next;
    }

    /// Calls HandleTimeout(now) of those whose Deadline() has come, in the order in which they
    /// stand. It may set and stop timers, and add some.
    template <class Timers>
    void Expire(const Timers& timers, int64_t now)
    {
        if (m_next > now)
        {
            return;
        }
        m_next = kNever;
        for (size_t i = 0; i < timers.size(); ++i)
        {
            if (timers[i]->Deadline() <= now)
            {
                timers[i]->HandleTimeout(now);
            }
            m_next = std::min(m_next, timers[i]->Deadline());
        }
    }

  private:
    int64_t m_next{kNever};
    uint32_t m_running{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_TIMER_WATCH_H
