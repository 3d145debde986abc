// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_JOB_CLOCK_H
#define SCALEACROSS_JOB_CLOCK_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace ns3
{

/// Something that happens to a job at a time of its clock.
class JobEvent
{
  public:
    /// It is over: none has been scheduled.
    JobEvent() = default;

    /// It does not happen, if it has not yet.
    void Cancel();

    /// It has happened, or never will.
    bool IsExpired() const
    {
        return !m_state || m_state->over;
    }

  private:
    friend class JobClock;

    struct State
    {
        std::function<void()> run;
        EventId event; //!< of a clock that does not skip
        bool over{false};
    };

    std::shared_ptr<State> m_state;
};

/**
 * The clock that a job goes by: compute, launches, copies, what is inside servers.
 *
 * Model: it is the Simulator's, or, if it may skip, ahead of it by what has been skipped so far.
 * Skip(t) moves it ahead by t: everything that the job waits for is t nearer, while every packet,
 * which goes by the Simulator's clock, stays where it is. Whoever skips has to see to what packets
 * would have done in that time (FastForward).
 *
 * A clock that may not skip schedules events of the Simulator and nothing else. Of one that may,
 * the Simulator has the next event only; those of one time happen in the order of scheduling.
 *
 * Worked case: an event 10 us from now; after 2 us somebody skips 5 us: it happens when the
 * Simulator's clock says 5 us and this one 10 us.
 */
class JobClock : public SimpleRefCount<JobClock>
{
  public:
    enum class Skips : uint8_t
    {
        Never,
        May
    };

    explicit JobClock(Skips skips = Skips::Never);
    ~JobClock();

    /// In ps.
    int64_t Now() const;

    /// Domain: delay >= 0.
    JobEvent Schedule(Time delay, std::function<void()> run);

    /// How far the next event is from now in ps; of a clock that may skip. INT64_MAX: there is
    /// none.
    int64_t UntilNext();

    /// Domain: 0 <= ps <= UntilNext(); of a clock that may skip.
    void Skip(int64_t ps);

    /// What has been skipped so far, in ps.
    int64_t Skipped() const
    {
        return m_skipped;
    }

    /// Called after every event; of a clock that may skip.
    void SetObserver(std::function<void()> observer)
    {
        m_observer = std::move(observer);
    }

    /// Forgets all events.
    void Clear();

  private:
    void DropCancelled();
    /// Has the Simulator wait for the first event.
    void Arm();
    void Fire();

    Skips m_skips;
    int64_t m_skipped{0};
    std::multimap<int64_t, std::shared_ptr<JobEvent::State>> m_events; //!< by time of this clock
    EventId m_armed;
    int64_t m_armedFor{0}; //!< what it waits for
    std::function<void()> m_observer;
};

} // namespace ns3

#endif // SCALEACROSS_JOB_CLOCK_H
