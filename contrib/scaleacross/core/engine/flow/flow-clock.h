// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_CLOCK_H
#define SCALEACROSS_FLOW_CLOCK_H

#include "core/base/units.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace scaleacross
{

/// What happens when, in one order: what is at the same time happens as it was asked for.
class FlowClock
{
  public:
    using Action = std::function<void()>;

    Duration Now() const
    {
        return m_now;
    }

    /// Domain: not before Now().
    void At(Duration time, Action action)
    {
        m_events.push({time, m_next++, std::move(action)});
    }

    void After(Duration time, Action action)
    {
        At(m_now + time, std::move(action));
    }

    /// Duration::Max(): nothing will.
    Duration Earliest() const
    {
        return m_events.empty() ? Duration::Max() : m_events.top().at;
    }

    /// Goes on to `time` and does all that happens then, also what is asked for meanwhile. Domain:
    /// not after Earliest().
    void GoOnTo(Duration time)
    {
        m_now = time;
        while (!m_events.empty() && m_events.top().at == time)
        {
            const Action action = std::move(m_events.top().action);
            m_events.pop();
            action();
        }
    }

  private:
    struct Event
    {
        Duration at;
        uint64_t order;
        mutable Action action; //!< moved out when its time has come

        bool operator<(const Event& other) const
        {
            return at != other.at ? at > other.at : order > other.order; // earliest on top
        }
    };

    Duration m_now;
    uint64_t m_next{0};
    std::priority_queue<Event> m_events;
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_CLOCK_H
