// SPDX-License-Identifier: GPL-2.0-only

#include "egress-port.h"

#include "egress-arbiter.h"
#include "lane-arbiter.h"
#include "weighted-turns.h"

#include "ns3/node.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

using scaleacross::FabricPacket;
using scaleacross::kNever;
using scaleacross::SimulatorPicoseconds;

namespace
{
constexpr uint8_t kLinkControl = scaleacross::PriorityQueues::kLinkControl;

/// The largest priority whose bit is set. Domain: mask is not 0.
uint8_t
Largest(uint32_t mask)
{
    uint8_t bit = 0;
    for (uint32_t step = 8; step > 0; step /= 2)
    {
        if ((mask >> step) != 0)
        {
            mask >>= step;
            bit = static_cast<uint8_t>(bit + step);
        }
    }
    return bit;
}
} // namespace

EgressPort::EgressPort()
{
    m_transmitTrace.OnConnect([this]() { WatchDepartures(); });
    m_queueTrace.OnConnect([this]() { WatchDepartures(); });
}

EgressPort::~EgressPort() = default;

void
EgressPort::DoDispose()
{
    m_queues.Clear();
    m_pullable = 0;
    m_lane = nullptr;
    FabricDevice::DoDispose();
}

DataRate
EgressPort::GetDataRate() const
{
    return DataRate(m_line.Rate());
}

void
EgressPort::SetLineRate(DataRate rate)
{
    if (m_lane != nullptr)
    {
        BringUpToDate();
    }
    m_line.SetRate(rate.GetBitRate());
}

std::string
EgressPort::GetQuanta() const
{
    return m_quanta;
}

void
EgressPort::SetQuanta(std::string quanta)
{
    if (!quanta.empty())
    {
        scaleacross::WeightedTurns::Parse(quanta);
    }
    m_quanta = quanta;
    MakeArbiter();
}

std::string
EgressPort::GetLaneArbitration() const
{
    return m_laneArbitration;
}

void
EgressPort::SetLaneArbitration(std::string tables)
{
    if (!tables.empty())
    {
        scaleacross::LaneArbiter::Parse(tables, "FabricPort::LaneArbitration");
    }
    m_laneArbitration = tables;
    MakeArbiter();
}

void
EgressPort::MakeArbiter()
{
    if (m_lane != nullptr)
    {
        CatchUp(SimulatorPicoseconds());
    }
    m_turns.reset();
    if (!m_laneArbitration.empty())
    {
        m_turns = std::make_unique<scaleacross::LaneArbiter>(
            scaleacross::LaneArbiter::Parse(m_laneArbitration, "FabricPort::LaneArbitration"));
    }
    else if (!m_quanta.empty())
    {
        m_turns = std::make_unique<scaleacross::WeightedTurns>(
            scaleacross::WeightedTurns::Parse(m_quanta));
    }
}

// --- What can be asked while it runs

uint64_t
EgressPort::GetSentPackets()
{
    BringUpToDate();
    return m_sentPackets;
}

uint64_t
EgressPort::GetSentBytes()
{
    BringUpToDate();
    return m_sentBytes;
}

uint64_t
EgressPort::GetQueueBytes()
{
    BringUpToDate();
    return m_queues.Bytes();
}

uint64_t
EgressPort::GetQueueBytes(uint8_t priority)
{
    BringUpToDate();
    return m_queues.Bytes(priority);
}

uint64_t
EgressPort::GetQueuedPackets() const
{
    uint64_t count = 0;
    for (uint8_t priority = 0; priority < scaleacross::kPriorities; ++priority)
    {
        count += m_queues.Count(priority);
    }
    return count;
}

bool
EgressPort::HasWaiting(uint8_t priority) const
{
    return (((m_queues.Occupied() | m_pullable) >> priority) & 1U) != 0;
}

Time
EgressPort::GetBusyTime()
{
    BringUpToDate();
    return PicoSeconds(m_line.BusyUntil(SimulatorPicoseconds()));
}

Time
EgressPort::GetWaitedTime(uint8_t priority)
{
    BringUpToDate();
    return PicoSeconds(m_queues.Waited(priority, SimulatorPicoseconds()));
}

// --- Departures

void
EgressPort::StartNext(uint32_t ready)
{
    const uint8_t priority = m_turns ? m_turns->Choose(ready, m_sentBytes) : Largest(ready);
    const bool queued = !m_queues.Packets(priority).Empty();
    const int64_t start = m_line.FreeAt();
    m_line.Hold(); // whoever asks for a counter meanwhile must not start another
    FabricPacket* packet = queued ? m_queues.Pop(priority, start) : Pull(priority, start);
    const uint32_t waited = packet->size; // a switch may add telemetry to it
    m_inService = Started(*packet, start);
    m_line.Occupy(start, packet->size);
    m_lane->Push(packet, m_line.FreeAt());
    if (m_gated)
    {
        Occupied(*packet, start);
    }
    // Sinks come last: one that asks for a counter brings the port up to date.
    if (priority == kLinkControl)
    {
        ControlStarted(*packet);
        return;
    }
    ++m_sentPackets;
    m_sentBytes += packet->size;
    if (m_watched)
    {
        Departed();
    }
    if (queued)
    {
        TraceQueue(m_queues.Bytes() + waited);
    }
    m_transmitTrace(*packet);
}

void
EgressPort::BringUpToDate()
{
    const int64_t now = SimulatorPicoseconds();
    Agenda().Settle(now);
    CatchUp(now);
}

void
EgressPort::DoCatchUp(int64_t now)
{
    if (m_lane == nullptr)
    {
        return; // not connected yet, or disposed of: a getter was called
    }
    while (m_line.FreeAt() <= now)
    {
        if (m_inService)
        {
            m_inService = false;
            Finished();
        }
        if (m_nextEligible <= m_line.FreeAt())
        {
            AdmitEligible(m_line.FreeAt());
        }
        const uint32_t ready = Ready();
        if (ready != 0)
        {
            StartNext(ready);
            continue;
        }
        // Idle until something is eligible; or until now, after which it may only start later.
        m_line.Idle(std::min(m_nextEligible, now));
        if (m_nextEligible > now)
        {
            break;
        }
    }
    NoteBacklog(now);
}

void
EgressPort::PlanDeparture(int64_t now, bool ready)
{
    if (!ready)
    {
        // What is on the wire brings the port up to date when it arrives, or a window before if the
        // receiver runs ahead; if the next packet is due only after that, an alarm has to.
        if (m_lane->Empty() || m_lane->LastArrival() - m_lane->ReceiverWindow() < m_nextEligible)
        {
            Agenda().SetAlarm(m_nextEligible);
        }
    }
    if (m_eager || m_watched)
    {
        ScheduleDeparture(now, ready ? m_line.FreeAt() : std::max(m_line.FreeAt(), m_nextEligible));
    }
}

void
EgressPort::Kick(int64_t now)
{
    if (m_nextEligible <= now)
    {
        AdmitEligible(now);
    }
    const uint32_t ready = Ready();
    if (ready == 0)
    {
        if (m_nextEligible != kNever)
        {
            NoteBacklog(now);
        }
        return;
    }
    if (m_line.FreeAt() <= now)
    {
        // The port has been idle: CatchUp(now) would have started anything that could start before.
        m_line.Idle(now);
        StartNext(ready);
    }
    NoteBacklog(now);
}

void
EgressPort::Enqueue(FabricPacket* packet, int64_t now)
{
    const bool first = m_queues.Push(packet, now);
    if (packet->priority != kLinkControl)
    {
        if (m_gated && first)
        {
            NextChanged(packet->priority, now);
        }
        // A sink that asks for a counter may make the packet leave: no sink after it looks at the
        // queue.
        TraceQueue(m_queues.Bytes() - packet->size);
        m_enqueueTrace(*packet);
    }
}

scaleacross::PacketList
EgressPort::TakeQueue(uint8_t priority, int64_t now)
{
    const uint64_t before = m_queues.Bytes();
    const scaleacross::PacketList packets = m_queues.TakeAll(priority, now);
    if (m_gated)
    {
        NextChanged(priority, now);
    }
    TraceQueue(before);
    return packets;
}

void
EgressPort::CutLine(int64_t now)
{
    if (m_line.FreeAt() > now)
    {
        m_line.Cut(now);
        if (m_inService)
        {
            m_inService = false;
            Finished();
        }
    }
    m_queues.ReturnControl();
}

FabricPacket*
EgressPort::Pull(uint8_t, int64_t)
{
    return nullptr;
}

bool
EgressPort::Started(FabricPacket&, int64_t)
{
    return false;
}

void
EgressPort::Finished()
{
}

void
EgressPort::Departed()
{
}

void
EgressPort::AdmitEligible(int64_t)
{
}

void
EgressPort::ControlStarted(const FabricPacket&)
{
}

void
EgressPort::NextChanged(uint8_t, int64_t)
{
}

void
EgressPort::Occupied(const FabricPacket&, int64_t)
{
}

void
EgressPort::TraceQueue(uint64_t before)
{
    if (!m_queueTrace.IsEmpty())
    {
        m_queueTrace(before, m_queues.Bytes());
    }
}

// --- Departures as events

void
EgressPort::WatchDepartures()
{
    m_watched = true;
    if (m_lane != nullptr)
    {
        BringUpToDate();
        NoteBacklog(SimulatorPicoseconds());
    }
}

bool
EgressPort::IsWatched() const
{
    return m_eager || m_watched || !m_enqueueTrace.IsEmpty();
}

void
EgressPort::ScheduleDeparture(int64_t now, int64_t at)
{
    if (m_departureAt == at)
    {
        return;
    }
    m_departureAt = at;
    Time delay = PicoSeconds(at - now);
    if (delay.GetPicoSeconds() < at - now) // the resolution is coarser: round up
    {
        delay += TimeStep(1);
    }
    Simulator::ScheduleWithContext(GetNode()->GetId(),
                                   delay,
                                   &EgressPort::Depart,
                                   Ptr<EgressPort>(this));
}

void
EgressPort::Depart()
{
    if (m_lane != nullptr)
    {
        CatchUp(SimulatorPicoseconds());
    }
}

} // namespace ns3
