// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/body-walk.h"

#include "core/program/compute-clock.h"

#include <algorithm>
#include <map>

namespace scaleacross
{

namespace
{

/// A collective between its start and its end.
struct Interval
{
    Stream stream;
    Duration begin;
    Duration end;
    uint32_t ports;
    uint32_t processors;
};

class Walk
{
  public:
    Walk(const CollectiveShare& share, const std::function<LoneCollective(const Op&)>& lone)
        : m_lone(lone),
          m_clock(share)
    {
    }

    BodyTimes Over(const std::vector<Op>& ops)
    {
        for (const Op& op : ops)
        {
            switch (op.kind)
            {
            case OpKind::Compute:
                Compute(op.duration);
                break;
            case OpKind::Collective:
                Post(op);
                break;
            case OpKind::Wait:
                Await(op.handle);
                break;
            case OpKind::Run:
            case OpKind::PostReceive:
            case OpKind::Send:
            case OpKind::Receive:
                m_times.closed = false;
                break;
            }
        }
        for (const Interval& interval : m_intervals)
        {
            m_times.closed = m_times.closed && interval.end <= m_now;
        }
        m_times.total = m_now;
        return m_times;
    }

  private:
    struct Handle
    {
        Duration end;
        CommClass comm;
    };

    Underway UnderwayNow() const
    {
        Underway underway;
        for (const Interval& interval : m_intervals)
        {
            if (interval.begin <= m_now && m_now < interval.end)
            {
                underway += m_clock.Of(interval.processors);
            }
        }
        return underway;
    }

    /// When what is under way changes next.
    Duration NextChange() const
    {
        Duration next = Duration::Max();
        for (const Interval& interval : m_intervals)
        {
            for (const Duration edge : {interval.begin, interval.end})
            {
                next = edge > m_now ? std::min(next, edge) : next;
            }
        }
        return next;
    }

    void Compute(Duration work)
    {
        const Duration begin = m_now;
        Duration end = m_clock.Begin(work, UnderwayNow(), m_now);
        while (NextChange() < end)
        {
            m_now = NextChange();
            end = m_clock.Change(UnderwayNow(), m_now);
        }
        m_now = end;
        m_times.compute += m_now - begin;
        // What is over concerns nobody any more.
        m_intervals.erase(std::remove_if(m_intervals.begin(),
                                         m_intervals.end(),
                                         [this](const Interval& i) { return i.end <= m_now; }),
                          m_intervals.end());
    }

    void Post(const Op& op)
    {
        const LoneCollective lone = m_lone(op);
        Interval added{op.stream, m_now, m_now, lone.ports, lone.processors};
        for (const Interval& other : m_intervals)
        {
            if (other.stream == op.stream)
            {
                added.begin = std::max(added.begin, other.end);
            }
        }
        added.end = added.begin + lone.time;
        for (const Interval& other : m_intervals)
        {
            const bool together = other.begin < added.end && added.begin < other.end;
            m_times.contends = m_times.contends || (together && (other.ports & added.ports) != 0);
        }
        m_times.busy[static_cast<size_t>(lone.comm)] += lone.time;
        m_handles[op.handle] = {added.end, lone.comm};
        m_intervals.push_back(added);
    }

    void Await(uint32_t handle)
    {
        const auto posted = m_handles.find(handle);
        if (posted == m_handles.end())
        {
            m_times.closed = false;
            return;
        }
        if (posted->second.end > m_now)
        {
            m_times.exposed[static_cast<size_t>(posted->second.comm)] += posted->second.end - m_now;
            m_now = posted->second.end;
        }
    }

    const std::function<LoneCollective(const Op&)>& m_lone;
    ComputeClock m_clock;
    Duration m_now;
    std::vector<Interval> m_intervals; //!< not over, as far as that has been looked at
    std::map<uint32_t, Handle> m_handles;
    BodyTimes m_times;
};

} // namespace

BodyTimes
WalkBody(const std::vector<Op>& ops,
         const CollectiveShare& share,
         const std::function<LoneCollective(const Op&)>& lone)
{
    return Walk(share, lone).Over(ops);
}

} // namespace scaleacross
