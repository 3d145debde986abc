// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ARRIVAL_AGENDA_H
#define SCALEACROSS_ARRIVAL_AGENDA_H

#include "simulator-time.h"

#include "ns3/event-id.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

namespace ns3
{
class EventImpl;
} // namespace ns3

namespace scaleacross
{

class FabricLane;
struct FabricPacket;

/// Later than everything.
constexpr int64_t kNever = INT64_MAX;

/**
 * What a switch or a NIC has to do next: the heads of the wires that lead to it, and one alarm.
 *
 * Everything a node does is done in an order that is written here and depends on nothing else (not
 * on addresses, not on the order in which events were scheduled, not on the engine):
 *
 *   1. departures: a packet that can leave a port at t leaves before anything that arrives at t;
 *   2. the alarm, if it is an early one (a switch: is an ingress to be resumed?);
 *   3. arrivals by time, those of equal time by port number;
 *   4. the alarm, if it is a late one (a NIC: newly posted messages in order, then timeouts);
 *   5. changes from outside (Finish): a wire breaks, routes change.
 *
 * Nodes influence each other only through wires, on which nothing travels in no time; so the order
 * in which different nodes act at the same time makes no difference. That leaves a choice of when,
 * by the Simulator's clock, a node does what is due at a time of its own:
 *
 *   - Exact: one event at each time at which something is due.
 *   - Ahead: nothing that a neighbour does from now on arrives sooner than the least delay W of the
 *     wires that lead here. So one event at s may do everything that is due before s + W.
 *   - Behind: nobody notices what is done here before it has travelled the wire, save those who are
 *     called back. So what is due at t may be done as late as t + W, or when a neighbour needs to
 *     know; only an arrival that may call back to a user (Owner::IsVisible), and the alarm, have an
 *     event at their own time. For a node with a single wire.
 *
 * All three do the same things at the same local times; only what a stranger sees between events
 * differs: a node that is ahead shows a state that is up to W old in the future.
 *
 * Times are picoseconds. If the Simulator's resolution is coarser, events are rounded up to it, the
 * times handed on are those of the events, and every node is exact; the order above is then that of
 * what has the same tick, its arrivals still by their own times. Ports carry the exact time on
 * which they become free, so that rates stay exact. Resolutions finer than a picosecond are
 * refused.
 */
class ArrivalAgenda
{
  public:
    /// Whose agenda it is.
    class Owner
    {
      public:
        virtual ~Owner() = default;
        /// The alarm has gone off and is cleared.
        virtual void HandleAlarm(int64_t now) = 0;
        /// Handling this packet may call back to a user, so that it has to be at its own time.
        virtual bool IsVisible(const FabricPacket& packet) const = 0;
        /// A user looks on at everything: the node has to be exact.
        virtual bool IsWatched() const = 0;
    };

    enum class AlarmOrder : uint8_t
    {
        BeforeArrivals,
        AfterArrivals
    };

    enum class Timing : uint8_t
    {
        Exact,
        Ahead,
        Behind
    };

    ArrivalAgenda(Owner& owner, AlarmOrder order);
    ~ArrivalAgenda();
    ArrivalAgenda(const ArrivalAgenda&) = delete;
    ArrivalAgenda& operator=(const ArrivalAgenda&) = delete;

    /// Context (node id) of the events. To be set before the first Add.
    void SetContext(uint32_t context);

    /// How it is to keep time from now on; to be called before time zero.
    void SetTiming(Timing timing);

    Timing GetTiming() const
    {
        return m_timing;
    }

    /// How far one event may run ahead of the Simulator, ps; 0 unless its timing is Ahead.
    int64_t Window() const
    {
        return m_timing == Timing::Ahead ? m_window : 0;
    }

    /// A wire ends here. Its delay bounds the window W.
    void Attach(FabricLane* lane);

    /// A lane that was empty has got a packet.
    void Add(FabricLane* lane);

    /// A lane from which all packets have been taken but not by Pop: a wire that has broken.
    void Remove(const FabricLane* lane);

    /// The delay of a wire has changed, and with it what the next event has to be early for.
    void Restart();

    /// A packet has been put on a wire; to be called if SelectsVisible(), before Add.
    void NotePushed(const FabricPacket& packet);

    /// Whether NotePushed has to be called.
    bool SelectsVisible() const
    {
        return m_timing == Timing::Behind;
    }

    /// Moves the alarm to `time` if that is earlier than what it is set to.
    void SetAlarm(int64_t time);

    /// The same for a time far ahead at which there will probably be nothing to do: ClearAlarm
    /// takes the event for it out of the Simulator, which then need not go on until that time.
    void SetTimeout(int64_t time);

    /// Nothing is to be done at the alarm's time any more. Events are not removed before the node
    /// has nothing else to do.
    void ClearAlarm();

    /// A node that is behind does what is due before `time`, as seen from a neighbour or a user at
    /// that time. Others have done so already.
    void Settle(int64_t time)
    {
        if (m_timing == Timing::Behind && !m_busy)
        {
            DoSettle(time);
        }
    }

    /**
     * Does everything that is due until now, now included, for whoever changes the node or one of
     * its wires at this moment, which comes after all else. Throws ConfigError if the node has run
     * ahead of now, or is in the middle of something.
     */
    void Finish();

    /**
     * Announces that at `time` (ps) somebody will look at the node or change it, after all else
     * that happens then: it does not run ahead of that. Throws ConfigError if it already has. What
     * is announced for now always comes in time unless the node looks ahead. O(log n) of n holds.
     */
    void HoldAt(int64_t time);

    /// Up to when everything has been done; what is due later has not.
    int64_t Horizon() const
    {
        return m_horizon;
    }

    /// Forgets everything that is planned.
    void Clear();

    /// Called by the event.
    void Fire();
    /// Called by the event for a timeout.
    void FireTimeout();

  private:
    struct Entry
    {
        int64_t time;
        uint32_t order;
        FabricLane* lane;

        bool Before(const Entry& other) const
        {
            return time < other.time || (time == other.time && order < other.order);
        }
    };

    /// An event for a timeout.
    struct Timeout
    {
        int64_t tick;
        ns3::EventId event;
    };

    void Start();
    void RemoveTimeouts();
    void ForgetHolds(int64_t now);
    void DoSettle(int64_t time);
    void Advance(int64_t limit);
    int64_t NextEvent() const;
    void Arm();
    void SiftDown(Entry entry);
    void SiftUp(Entry entry);

    std::vector<Entry> m_heap; //!< binary heap of the non-empty lanes' heads
    int64_t m_alarm{kNever};
    bool m_timeout{false}; //!< the alarm was set by SetTimeout
    int64_t m_window{0};   //!< W, ps
    int64_t m_seen{0};     //!< senders may be brought up to this time
    int64_t m_horizon{-1};
    Owner& m_owner;
    AlarmOrder m_order;
    Timing m_timing{Timing::Exact};
    bool m_busy{false};
    std::vector<int64_t> m_pending;  //!< ticks of our events in the Simulator, earliest last
    std::vector<Timeout> m_timeouts; //!< those of them that can be removed, earliest last
    std::deque<int64_t> m_visible;   //!< arrivals of visible packets, from m_horizon on
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> m_holds; //!< see HoldAt
    std::vector<FabricLane*> m_lanes;     //!< all wires that end here
    std::vector<ArrivalAgenda*> m_behind; //!< senders on them that have to be settled
    ns3::Ptr<ns3::EventImpl> m_event;
    int64_t m_tick{0}; //!< ps per tick of the Simulator; 0: not looked up yet
    uint32_t m_context{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_ARRIVAL_AGENDA_H
