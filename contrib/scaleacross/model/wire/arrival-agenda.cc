// SPDX-License-Identifier: GPL-2.0-only

#include "arrival-agenda.h"

#include "core/base/errors.h"
#include "fabric-lane.h"
#include "fabric-port.h"
#include "simulator-time.h"

#include "ns3/event-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <functional>

namespace scaleacross
{

namespace
{

/// One object per agenda, handed to the Simulator again and again.
class AgendaEvent : public ns3::EventImpl
{
  public:
    explicit AgendaEvent(ArrivalAgenda& agenda)
        : m_agenda(agenda)
    {
    }

  private:
    void Notify() override
    {
        m_agenda.Fire();
    }

    ArrivalAgenda& m_agenda;
};

/// One object per event, as removing it leaves the object unusable.
class TimeoutEvent : public ns3::EventImpl
{
  public:
    explicit TimeoutEvent(ArrivalAgenda& agenda)
        : m_agenda(agenda)
    {
    }

  private:
    void Notify() override
    {
        m_agenda.FireTimeout();
    }

    ArrivalAgenda& m_agenda;
};

} // namespace

ArrivalAgenda::ArrivalAgenda(Owner& owner, AlarmOrder order)
    : m_owner(owner),
      m_order(order),
      m_event(ns3::Create<AgendaEvent>(*this))
{
}

ArrivalAgenda::~ArrivalAgenda() = default;

void
ArrivalAgenda::SetContext(uint32_t context)
{
    m_context = context;
}

void
ArrivalAgenda::SetTiming(Timing timing)
{
    m_timing = timing;
    Restart();
}

void
ArrivalAgenda::Attach(FabricLane* lane)
{
    m_lanes.push_back(lane);
    Restart();
}

void
ArrivalAgenda::Restart()
{
    m_tick = 0;
    if (m_horizon >= 0)
    {
        Arm();
    }
}

void
ArrivalAgenda::Start()
{
    m_tick = PicosecondsPerTick();
    m_window = kNever;
    for (const FabricLane* lane : m_lanes)
    {
        m_window = std::min(m_window, lane->Delay());
    }
    SCALEACROSS_INVARIANT(m_timing != Timing::Behind || m_lanes.size() == 1,
                          "a node with " + std::to_string(m_lanes.size()) +
                              " wires cannot be behind");
    if (m_tick != 1)
    {
        m_timing = Timing::Exact;
    }
    m_behind.clear();
    for (const FabricLane* lane : m_lanes)
    {
        ArrivalAgenda& sender = lane->From()->Agenda();
        if (sender.GetTiming() == Timing::Behind)
        {
            m_behind.push_back(&sender);
        }
    }
}

void
ArrivalAgenda::Clear()
{
    m_heap.clear();
    m_lanes.clear();
    m_behind.clear();
    m_visible.clear();
    m_alarm = kNever;
}

void
ArrivalAgenda::Add(FabricLane* lane)
{
    m_heap.emplace_back();
    SiftUp({lane->HeadArrival(), lane->Order(), lane});
    if (!m_busy)
    {
        Arm();
    }
}

void
ArrivalAgenda::NotePushed(const FabricPacket& packet)
{
    if (m_owner.IsVisible(packet))
    {
        m_visible.push_back(packet.arrival);
        if (!m_busy && !m_heap.empty())
        {
            Arm();
        }
    }
}

void
ArrivalAgenda::SetAlarm(int64_t time)
{
    if (time < m_alarm)
    {
        m_alarm = time;
        m_timeout = false;
        if (!m_busy)
        {
            Arm();
        }
    }
}

void
ArrivalAgenda::SetTimeout(int64_t time)
{
    if (time < m_alarm)
    {
        m_alarm = time;
        m_timeout = true;
        if (!m_busy)
        {
            Arm();
        }
    }
}

void
ArrivalAgenda::ClearAlarm()
{
    m_alarm = kNever;
    if (!m_busy)
    {
        Arm();
    }
}

void
ArrivalAgenda::Remove(const FabricLane* lane)
{
    const auto entry = std::find_if(m_heap.begin(), m_heap.end(), [lane](const Entry& other) {
        return other.lane == lane;
    });
    if (entry != m_heap.end())
    {
        m_heap.erase(entry);
        std::vector<Entry> rest;
        rest.swap(m_heap);
        for (const Entry& other : rest)
        {
            m_heap.emplace_back();
            SiftUp(other);
        }
    }
    m_visible.clear(); // of a node that is behind, which has one wire only
}

void
ArrivalAgenda::Finish()
{
    const int64_t now = SimulatorPicoseconds();
    const std::string name = "node " + std::to_string(m_context);
    if (m_horizon > now)
    {
        throw ConfigError(name,
                          "is to change at " + std::to_string(now) + " ps, but has run ahead to " +
                              std::to_string(m_horizon) + " ps",
                          "a change that has been announced",
                          "call FabricHelper::HoldAt(time) beforehand, or set LookAhead false");
    }
    if (m_busy)
    {
        throw ConfigError(name,
                          "is to change at " + std::to_string(now) +
                              " ps in the middle of what it does then",
                          "a change by an event of its own",
                          "call Simulator::ScheduleNow with it");
    }
    if (m_tick == 0)
    {
        Start();
    }
    for (ArrivalAgenda* sender : m_behind)
    {
        sender->Settle(now);
    }
    m_seen = now;
    Advance(now);
    Arm();
}

void
ArrivalAgenda::HoldAt(int64_t time)
{
    if (m_horizon > time)
    {
        throw ConfigError("node " + std::to_string(m_context),
                          "is asked to hold at " + std::to_string(time) +
                              " ps, but has run ahead to " + std::to_string(m_horizon) + " ps",
                          "at least " + std::to_string(m_window) + " ps beforehand",
                          "announce it earlier, or set LookAhead false");
    }
    ForgetHolds(SimulatorPicoseconds());
    m_holds.push(time);
}

void
ArrivalAgenda::ForgetHolds(int64_t now)
{
    while (!m_holds.empty() && m_holds.top() < now)
    {
        m_holds.pop();
    }
}

void
ArrivalAgenda::Fire()
{
    m_pending.pop_back();
    if (m_tick == 0)
    {
        Start();
    }
    const int64_t now = ns3::Simulator::Now().GetTimeStep() * m_tick;
    int64_t limit = now;
    if (m_timing == Timing::Ahead && m_window > 0 && !m_owner.IsWatched())
    {
        ForgetHolds(now);
        const int64_t hold = m_holds.empty() ? kNever : m_holds.top();
        // At the time of a hold, what is due then and no more: a change may still come.
        limit = std::max(now, std::min(now + m_window, hold) - 1);
    }
    for (ArrivalAgenda* sender : m_behind)
    {
        sender->Settle(now);
    }
    m_seen = now;
    Advance(limit);
    Arm();
}

void
ArrivalAgenda::FireTimeout()
{
    m_timeouts.pop_back();
    if (ns3::Simulator::GetContext() == m_context)
    {
        Fire();
        return;
    }
    // The event has the context of whoever made the packet leave that is being timed.
    m_event->Ref();
    ns3::Simulator::ScheduleWithContext(m_context, ns3::Time(0), ns3::PeekPointer(m_event));
}

void
ArrivalAgenda::RemoveTimeouts()
{
    // One that is below another event is left until that has gone off; so is one that is due now.
    const int64_t now = ns3::Simulator::Now().GetTimeStep();
    while (!m_timeouts.empty() && m_timeouts.back().tick == m_pending.back() &&
           m_pending.back() > now)
    {
        ns3::Simulator::Remove(m_timeouts.back().event);
        m_timeouts.pop_back();
        m_pending.pop_back();
    }
}

void
ArrivalAgenda::DoSettle(int64_t time)
{
    if (m_tick == 0) // a wire has changed since its last event
    {
        Start();
    }
    m_seen = time;
    Advance(time - 1);
    Arm();
}

void
ArrivalAgenda::Advance(int64_t limit)
{
    m_busy = true;
    const bool early = m_order == AlarmOrder::BeforeArrivals;
    for (;;)
    {
        const int64_t next = m_heap.empty() ? kNever : m_heap.front().time;
        bool alarm = early ? m_alarm <= next : m_alarm < next;
        if (m_tick != 1) // all that is due happens at the time of the event, which may be late
        {
            alarm = early ? m_alarm <= limit : next > limit;
        }
        const int64_t due = alarm ? m_alarm : next;
        if (due > limit)
        {
            break;
        }
        const int64_t now = m_tick == 1 ? due : limit;
        if (alarm)
        {
            m_alarm = kNever;
            m_owner.HandleAlarm(now);
            continue;
        }
        FabricLane* lane = m_heap.front().lane;
        // The sender's next departures follow from its queue; they are put on the wire now, at the
        // latest moment at which they make no difference.
        if (lane->SenderHasMore())
        {
            lane->From()->CatchUp(m_seen);
        }
        FabricPacket* packet = lane->Pop();
        if (lane->Empty())
        {
            Entry last = m_heap.back();
            m_heap.pop_back();
            if (!m_heap.empty())
            {
                SiftDown(last);
            }
        }
        else
        {
            SiftDown({lane->HeadArrival(), lane->Order(), lane});
        }
        lane->Deliver(packet, now);
    }
    m_horizon = std::max(m_horizon, limit);
    while (!m_visible.empty() && m_visible.front() <= m_horizon)
    {
        m_visible.pop_front();
    }
    m_busy = false;
}

int64_t
ArrivalAgenda::NextEvent() const
{
    if (m_heap.empty())
    {
        return m_alarm;
    }
    int64_t next = m_heap.front().time;
    if (m_timing == Timing::Behind && m_window > 0 && !m_owner.IsWatched())
    {
        // The last packet known bounds when there may be one that is visible and not known yet.
        next = std::min(next + m_window - 1, m_lanes.front()->LastArrival());
        next = m_visible.empty() ? next : std::min(next, m_visible.front());
    }
    return std::min(m_alarm, next);
}

void
ArrivalAgenda::Arm()
{
    if (m_tick == 0)
    {
        Start();
    }
    const int64_t next = NextEvent();
    if (next == kNever)
    {
        RemoveTimeouts();
        return;
    }
    int64_t now = ns3::Simulator::Now().GetTimeStep();
    int64_t tick = m_tick == 1 ? next : (next + m_tick - 1) / m_tick;
    tick = std::max(tick, now);
    // Events that were planned for later stay in the Simulator and are found below this one.
    if (m_pending.empty() || tick < m_pending.back())
    {
        m_pending.push_back(tick);
        const ns3::Time delay = ns3::TimeStep(static_cast<uint64_t>(tick - now));
        if (m_timeout && next == m_alarm)
        {
            // Of all ways to schedule, the one that tells how to take it back.
            const ns3::Ptr<ns3::EventImpl> event = ns3::Create<TimeoutEvent>(*this);
            m_timeouts.push_back({tick, ns3::Simulator::Schedule(delay, event)});
            return;
        }
        m_event->Ref();
        ns3::Simulator::ScheduleWithContext(m_context, delay, ns3::PeekPointer(m_event));
    }
}

void
ArrivalAgenda::SiftUp(Entry entry)
{
    size_t hole = m_heap.size() - 1;
    while (hole > 0)
    {
        size_t parent = (hole - 1) / 2;
        if (!entry.Before(m_heap[parent]))
        {
            break;
        }
        m_heap[hole] = m_heap[parent];
        hole = parent;
    }
    m_heap[hole] = entry;
}

void
ArrivalAgenda::SiftDown(Entry entry)
{
    const size_t size = m_heap.size();
    size_t hole = 0;
    for (size_t child = 1; child < size; child = 2 * hole + 1)
    {
        if (child + 1 < size && m_heap[child + 1].Before(m_heap[child]))
        {
            ++child;
        }
        if (!m_heap[child].Before(entry))
        {
            break;
        }
        m_heap[hole] = m_heap[child];
        hole = child;
    }
    m_heap[hole] = entry;
}

} // namespace scaleacross
