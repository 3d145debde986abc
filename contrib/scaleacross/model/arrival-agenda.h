// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ARRIVAL_AGENDA_H
#define SCALEACROSS_ARRIVAL_AGENDA_H

#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

namespace ns3
{
class EventImpl;
} // namespace ns3

namespace scaleacross
{

class FabricLane;

/// Later than everything.
constexpr int64_t kNever = INT64_MAX;

/**
 * What a switch or a NIC has to do next: the heads of the wires that lead to it, and one alarm.
 *
 * All arrivals of one node share one pending event of the Simulator. When it fires, everything due
 * is done in an order that is written here and depends on nothing else (not on addresses, not on
 * the order in which events were scheduled):
 *
 *   1. departures: a packet that can leave a port at t leaves before anything that arrives at t;
 *   2. the alarm, if it is an early one (a switch: is an ingress to be resumed?);
 *   3. arrivals by time, those of equal time by port number;
 *   4. the alarm, if it is a late one (a NIC: newly posted messages in order, then timeouts).
 *
 * Nodes influence each other only through wires, on which nothing travels in no time; so the order
 * in which different nodes act at the same time makes no difference.
 *
 * Times are picoseconds. If the Simulator's resolution is coarser, events are rounded up to it and
 * the times handed on are those of the events; ports carry the exact time on which they become
 * free, so that rates stay exact. Resolutions finer than a picosecond are refused.
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
    };

    enum class AlarmOrder : uint8_t
    {
        BeforeArrivals,
        AfterArrivals
    };

    ArrivalAgenda(Owner& owner, AlarmOrder order);
    ~ArrivalAgenda();
    ArrivalAgenda(const ArrivalAgenda&) = delete;
    ArrivalAgenda& operator=(const ArrivalAgenda&) = delete;

    /// Context (node id) of the events. To be set before the first Add.
    void SetContext(uint32_t context);

    /// A lane that was empty has got a packet.
    void Add(FabricLane* lane);

    /// Moves the alarm to `time` if that is earlier than what it is set to.
    void SetAlarm(int64_t time);

    /// Forgets everything that is planned.
    void Clear();

    /// The Simulator's time in ps.
    int64_t Now() const;

    /// Called by the event.
    void Fire();

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

    void Process(int64_t now);
    void Arm();
    void SiftDown(Entry entry);
    void SiftUp(Entry entry);

    std::vector<Entry> m_heap;      //!< binary heap of the non-empty lanes' heads
    std::vector<int64_t> m_pending; //!< ticks of our events in the Simulator, earliest last
    ns3::Ptr<ns3::EventImpl> m_event;
    Owner& m_owner;
    int64_t m_alarm{kNever};
    int64_t m_tick{0}; //!< ps per tick of the Simulator; 0: not looked up yet
    uint32_t m_context{0};
    AlarmOrder m_order;
    bool m_busy{false};
};

/// The Simulator's time in ps, whatever its resolution.
int64_t SimulatorPicoseconds();

} // namespace scaleacross

#endif // SCALEACROSS_ARRIVAL_AGENDA_H
