// SPDX-License-Identifier: GPL-2.0-only

#include "arrival-agenda.h"

#include "core/base/errors.h"
#include "fabric-port.h"
#include "fabric-wire.h"

#include "ns3/event-impl.h"
#include "ns3/simulator.h"

#include <algorithm>

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

int64_t
PicosecondsPerTick()
{
    if (ns3::Time::GetResolution() == ns3::Time::FS)
    {
        throw ConfigError("ns3::Time resolution",
                          "femtoseconds",
                          "ps, ns or coarser",
                          "call Time::SetResolution(Time::PS) first of all");
    }
    return ns3::TimeStep(1).GetPicoSeconds();
}

} // namespace

int64_t
SimulatorPicoseconds()
{
    return ns3::Simulator::Now().GetPicoSeconds();
}

ArrivalAgenda::ArrivalAgenda(Owner& owner, AlarmOrder order)
    : m_event(ns3::Create<AgendaEvent>(*this)),
      m_owner(owner),
      m_order(order)
{
}

ArrivalAgenda::~ArrivalAgenda() = default;

void
ArrivalAgenda::SetContext(uint32_t context)
{
    m_context = context;
}

void
ArrivalAgenda::Clear()
{
    m_heap.clear();
    m_alarm = kNever;
}

int64_t
ArrivalAgenda::Now() const
{
    return m_tick == 0 ? SimulatorPicoseconds() : ns3::Simulator::Now().GetTimeStep() * m_tick;
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
ArrivalAgenda::SetAlarm(int64_t time)
{
    if (time < m_alarm)
    {
        m_alarm = time;
        if (!m_busy)
        {
            Arm();
        }
    }
}

void
ArrivalAgenda::Fire()
{
    m_pending.pop_back();
    Process(ns3::Simulator::Now().GetTimeStep() * m_tick);
    Arm();
}

void
ArrivalAgenda::Process(int64_t now)
{
    m_busy = true;
    if (m_order == AlarmOrder::BeforeArrivals && m_alarm <= now)
    {
        m_alarm = kNever;
        m_owner.HandleAlarm(now);
    }
    while (!m_heap.empty() && m_heap.front().time <= now)
    {
        FabricLane* lane = m_heap.front().lane;
        // The sender's next departures follow from its queue; they are put on the wire now, at the
        // latest moment at which they make no difference.
        if (lane->SenderHasMore())
        {
            lane->From()->CatchUp(now);
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
    while (m_order == AlarmOrder::AfterArrivals && m_alarm <= now)
    {
        m_alarm = kNever;
        m_owner.HandleAlarm(now);
    }
    m_busy = false;
}

void
ArrivalAgenda::Arm()
{
    int64_t next = m_heap.empty() ? m_alarm : std::min(m_alarm, m_heap.front().time);
    if (next == kNever)
    {
        return;
    }
    if (m_tick == 0)
    {
        m_tick = PicosecondsPerTick();
    }
    int64_t now = ns3::Simulator::Now().GetTimeStep();
    int64_t tick = m_tick == 1 ? next : (next + m_tick - 1) / m_tick;
    tick = std::max(tick, now);
    // Events that were planned for later stay in the Simulator and are found below this one.
    if (m_pending.empty() || tick < m_pending.back())
    {
        m_pending.push_back(tick);
        m_event->Ref();
        ns3::Simulator::ScheduleWithContext(m_context,
                                            ns3::TimeStep(static_cast<uint64_t>(tick - now)),
                                            ns3::PeekPointer(m_event));
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
