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
#include <utility>

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

    struct State;
    /// By time of the clock; those of one time in the order of scheduling.
    using Waiting = std::multimap<int64_t, std::shared_ptr<State>>;

    struct State
    {
        /// It happens or is cancelled.
        void End();

        std::function<void()> run;
        EventId event;
        Waiting* waiting{nullptr}; //!< where it is, of a clock that may skip
        Waiting::iterator place;
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
 * Every event is one of the Simulator. So as long as nobody skips, everything happens in the order
 * in which it happens without this clock.
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
    int64_t UntilNext() const;

    /// O(events that wait). Domain: 0 <= ps <= UntilNext(); of a clock that may skip.
    void Skip(int64_t ps);

    /// What has been skipped so far, in ps.
    int64_t Skipped() const
    {
        return m_skipped;
    }

    /// Called after every event.
    void SetObserver(std::function<void()> observer)
    {
        m_observer = std::move(observer);
    }

    /// Forgets all events; of a clock that may skip. Of others Simulator::Destroy does.
    void Clear();

  private:
    /// Has the Simulator wait for it.
    void Arm(const std::shared_ptr<JobEvent::State>& state, Time delay);

    Skips m_skips;
    int64_t m_skipped{0};
    JobEvent::Waiting m_waiting; //!< of a clock that may skip
    std::function<void()> m_observer;
};

} // namespace ns3

#endif // SCALEACROSS_JOB_CLOCK_H
