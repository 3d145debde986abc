// SPDX-License-Identifier: GPL-2.0-only

#include "job-clock.h"

#include "ns3/simulator-time.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{

void
JobEvent::Cancel()
{
    if (m_state)
    {
        m_state->over = true;
        m_state->event.Cancel();
        m_state->run = nullptr;
    }
}

JobClock::JobClock(Skips skips)
    : m_skips(skips)
{
}

JobClock::~JobClock()
{
    Clear();
}

int64_t
JobClock::Now() const
{
    return scaleacross::SimulatorPicoseconds() + m_skipped;
}

JobEvent
JobClock::Schedule(Time delay, std::function<void()> run)
{
    JobEvent event;
    event.m_state = std::make_shared<JobEvent::State>();
    const std::shared_ptr<JobEvent::State>& state = event.m_state;
    state->run = std::move(run);
    if (m_skips == Skips::Never)
    {
        state->event = Simulator::Schedule(delay, [state = state] {
            state->over = true;
            const std::function<void()> happens = std::move(state->run);
            happens();
        });
        return event;
    }
    m_events.emplace(Now() + delay.GetPicoSeconds(), state);
    Arm();
    return event;
}

int64_t
JobClock::UntilNext()
{
    DropCancelled();
    return m_events.empty() ? std::numeric_limits<int64_t>::max()
                            : std::max<int64_t>(0, m_events.begin()->first - Now());
}

void
JobClock::Skip(int64_t ps)
{
    m_skipped += ps;
    m_armed.Cancel();
    Arm();
}

void
JobClock::Clear()
{
    // What goes with an event may be the last that holds on to this clock's users.
    const auto events = std::exchange(m_events, {});
    for (const auto& [at, state] : events)
    {
        state->over = true;
        state->run = nullptr;
    }
    m_observer = nullptr;
    m_armed.Cancel();
}

void
JobClock::DropCancelled()
{
    while (!m_events.empty() && m_events.begin()->second->over)
    {
        m_events.erase(m_events.begin());
    }
}

void
JobClock::Arm()
{
    DropCancelled();
    if (m_events.empty() || (!m_armed.IsExpired() && m_armedFor <= m_events.begin()->first))
    {
        return; // if it comes too early, it arms anew
    }
    m_armed.Cancel();
    m_armedFor = m_events.begin()->first;
    // Never early: with a Simulator that is coarser than a picosecond the time is rounded up.
    const int64_t wait = UntilNext();
    Time delay = PicoSeconds(wait);
    if (delay.GetPicoSeconds() < wait)
    {
        delay += TimeStep(1);
    }
    m_armed = Simulator::Schedule(delay, &JobClock::Fire, this);
}

void
JobClock::Fire()
{
    DropCancelled();
    if (!m_events.empty() && m_events.begin()->first <= Now())
    {
        const std::shared_ptr<JobEvent::State> state = m_events.begin()->second;
        m_events.erase(m_events.begin());
        state->over = true;
        const std::function<void()> happens = std::move(state->run);
        happens();
        if (m_observer)
        {
            m_observer();
        }
    }
    Arm();
}

} // namespace ns3
