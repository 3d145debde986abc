// SPDX-License-Identifier: GPL-2.0-only

#include "job-clock.h"

#include "ns3/simulator-time.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace ns3
{

void
JobEvent::Cancel()
{
    if (m_state)
    {
        m_state->End();
        m_state->run = nullptr;
    }
}

void
JobEvent::State::End()
{
    over = true;
    event.Cancel();
    event = EventId(); // which holds on to what holds on to this
    if (waiting != nullptr)
    {
        waiting->erase(place);
        waiting = nullptr;
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
    event.m_state->run = std::move(run);
    if (m_skips == Skips::May)
    {
        event.m_state->waiting = &m_waiting;
        event.m_state->place = m_waiting.emplace(Now() + delay.GetPicoSeconds(), event.m_state);
    }
    Arm(event.m_state, delay);
    return event;
}

void
JobClock::Arm(const std::shared_ptr<JobEvent::State>& state, Time delay)
{
    state->event = Simulator::Schedule(delay, [this, state] {
        const std::function<void()> happens = std::move(state->run);
        state->End();
        happens();
        if (m_observer)
        {
            m_observer();
        }
    });
}

int64_t
JobClock::UntilNext() const
{
    return m_waiting.empty() ? std::numeric_limits<int64_t>::max()
                             : std::max<int64_t>(0, m_waiting.begin()->first - Now());
}

void
JobClock::Skip(int64_t ps)
{
    m_skipped += ps;
    for (const auto& [at, state] : m_waiting)
    {
        state->event.Cancel();
        // Never early: with a Simulator that is coarser than a picosecond the time is rounded up.
        const int64_t wait = std::max<int64_t>(0, at - Now());
        Time delay = PicoSeconds(wait);
        if (delay.GetPicoSeconds() < wait)
        {
            delay += TimeStep(1);
        }
        Arm(state, delay);
    }
}

void
JobClock::Clear()
{
    // What goes with an event may be the last that holds on to this clock's users.
    std::vector<std::shared_ptr<JobEvent::State>> states;
    for (const auto& [at, state] : m_waiting)
    {
        states.push_back(state);
    }
    for (const std::shared_ptr<JobEvent::State>& state : states)
    {
        state->End();
        state->run = nullptr;
    }
    m_observer = nullptr;
}

} // namespace ns3
