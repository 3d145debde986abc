// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PFC_WATCHDOG_H
#define SCALEACROSS_PFC_WATCHDOG_H

#include "ns3/nstime.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * Gives up on queues that stay paused: a switch's watchdog against PFC storms and deadlocks.
 *
 * Model, as in SONiC: an egress queue (port, priority) stalls from the moment at which it is paused
 * and a packet waits in it. If it stalls for Detection without a break, it is in a storm: its owner
 * throws away what waits there and what comes in for it, or lets it send in spite of the pause. The
 * storm is over when the neighbour has not kept the queue paused for Restoration without a break;
 * each new pause starts that time again.
 *
 *   begin = max(arrival of the pause, first packet waits) + Detection
 *   end   = arrival of the last resume + Restoration
 *
 * Both times are exact. There is nothing to do, and Due() is never, unless a queue stalls or a
 * storm is about to end: an empty queue asks for its first packet by Mark instead of looking for
 * it.
 *
 * Times are picoseconds. What is left out: polling, which makes real ones late by up to an
 * interval; a storm is seen by the pause itself and not by counters of pause frames.
 *
 * Worked case: Detection 200 us, Restoration 100 us. A packet has waited since 40 us; the pause
 * comes at 50 us: a storm from 250 us on. The neighbour resumes at 300 us, pauses at 350 us, and
 * resumes at 360 us: the storm ends at 460 us.
 */
class PfcWatchdog
{
  public:
    /// Whose queues are watched.
    class Owner
    {
      public:
        virtual ~Owner() = default;
        virtual bool IsWaiting(uint32_t port, uint8_t priority) const = 0;
        /// From now on (or no longer) Admits has to be asked about packets for this queue.
        virtual void Mark(uint32_t port, uint8_t priority, bool marked) = 0;
        virtual void BeginStorm(uint32_t port, uint8_t priority, int64_t now) = 0;
        virtual void EndStorm(uint32_t port, uint8_t priority, int64_t now) = 0;
    };

    /// FabricSwitch's attributes WatchdogDetection, -Restoration and -Forward.
    struct Config
    {
        ns3::Time detection; //!< 0: there is no watchdog
        ns3::Time restoration;
        bool forward{false}; //!< queues in a storm send in spite of it, so arrivals are welcome
    };

    explicit PfcWatchdog(Owner& owner);

    void Configure(const Config& config);

    bool IsOn() const
    {
        return m_detection > 0;
    }

    /// The neighbour has paused the queue, or resumed it; called when that changes.
    void PauseChanged(uint32_t port, uint8_t priority, bool paused, int64_t now);

    /// About a packet for a marked queue: false if it is to be thrown away.
    bool Admits(uint32_t port, uint8_t priority, int64_t now);

    /// When Check is to be called, kNever if nothing is to come.
    int64_t Due() const;
    /// Begins and ends storms that are due.
    void Check(int64_t now);

    bool IsStorm(uint32_t port, uint8_t priority) const;

    /// Storms that have begun.
    uint64_t Storms() const
    {
        return m_storms;
    }

  private:
    /// A queue that is paused, or in a storm.
    struct Watched
    {
        uint32_t port;
        uint8_t priority;
        bool paused;
        bool storm;
        int64_t due; //!< of the beginning or end of a storm
    };

    std::vector<Watched>::iterator Find(uint32_t port, uint8_t priority);
    /// Sets the time of the storm, or waits for the first packet.
    void Watch(Watched& watched, int64_t now);

    Owner& m_owner;
    int64_t m_detection{0};
    int64_t m_restoration{0};
    bool m_forward{false};
    uint64_t m_storms{0};
    std::vector<Watched> m_watched;
};

} // namespace scaleacross

#endif // SCALEACROSS_PFC_WATCHDOG_H
