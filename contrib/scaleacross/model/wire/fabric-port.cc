// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-port.h"

#include "arrival-agenda.h"
#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "credit-link.h"
#include "fabric-lane.h"
#include "fabric-wire.h"
#include "lane-arbiter.h"
#include "weighted-turns.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::PacketPool;
using scaleacross::SimulatorPicoseconds;

namespace
{
constexpr uint64_t kPsPerByteAtOneBitPerSecond = 8'000'000'000'000;

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

NS_OBJECT_ENSURE_REGISTERED(FabricPort);

TypeId
FabricPort::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricPort")
            .SetParent<FabricDevice>()
            .SetGroupName("ScaleAcross")
            .AddAttribute("DataRate",
                          "Rate at which the port sends.",
                          DataRateValue(DataRate("100Gbps")),
                          scaleacross::Live(MakeDataRateAccessor(&FabricPort::SetDataRate,
                                                                 &FabricPort::GetDataRate)),
                          MakeDataRateChecker())
            .AddAttribute(
                "PauseSize",
                "Bytes of time that a PFC frame takes on the wire: 64, and 20 of preamble "
                "and gap.",
                UintegerValue(scaleacross::kPauseFrame),
                scaleacross::Fixed(MakeUintegerAccessor(&FabricPort::m_pauseSize)),
                MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute("CreditSize",
                          "Bytes of time that a credit packet takes on the wire: InfiniBand's flow "
                          "control packet has 6, and a delimiter on both sides.",
                          UintegerValue(scaleacross::kCreditPacket),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricPort::m_creditSize)),
                          MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute("Quanta",
                          "Bytes that each priority may send in its turn, eight numbers from "
                          "priority 0 on, as in 0,0,0,10000,30000,0,0,0: those that are not 0 "
                          "share the line in this proportion, the others are strict and go "
                          "first. Empty: all are strict.",
                          StringValue(""),
                          scaleacross::Fixed(
                              MakeStringAccessor(&FabricPort::SetQuanta, &FabricPort::GetQuanta)),
                          MakeStringChecker())
            .AddAttribute("LaneArbitration",
                          "InfiniBand's tables of virtual lanes, weights in units of 64 bytes, and "
                          "the limit of high priority in units of 4,096, as in high 6:64; low "
                          "0:1,3:200,4:100; limit 10. They take the place of Quanta. Empty: Quanta "
                          "decide.",
                          StringValue(""),
                          scaleacross::Fixed(MakeStringAccessor(&FabricPort::SetLaneArbitration,
                                                                &FabricPort::GetLaneArbitration)),
                          MakeStringChecker())
            .AddAttribute("Eager",
                          "Make every departure an event. Slower, with the same results; for "
                          "checking the lazy departures.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricPort::m_eager)),
                          MakeBooleanChecker())
            .AddTraceSource("Enqueue",
                            "A packet joins a queue of this port.",
                            MakeTraceSourceAccessor(&FabricPort::m_enqueueTrace),
                            "ns3::FabricPort::PacketTracedCallback")
            .AddTraceSource("Transmit",
                            "The first bit of a packet leaves.",
                            MakeTraceSourceAccessor(&FabricPort::m_transmitTrace),
                            "ns3::FabricPort::PacketTracedCallback")
            .AddTraceSource("Receive",
                            "The last bit of a packet has come in by this port and it was not lost "
                            "on the wire; pause frames fire Pause instead.",
                            MakeTraceSourceAccessor(&FabricPort::m_receiveTrace),
                            "ns3::FabricPort::PacketTracedCallback")
            .AddTraceSource("Drop",
                            "A packet that came in by this port is thrown away, and why.",
                            MakeTraceSourceAccessor(&FabricPort::m_dropTrace),
                            "ns3::FabricPort::DropTracedCallback")
            .AddTraceSource("Pause",
                            "The neighbour stops (true) or resumes (false) a priority.",
                            MakeTraceSourceAccessor(&FabricPort::m_pauseTrace),
                            "ns3::FabricPort::PauseTracedCallback")
            .AddTraceSource("PauseSent",
                            "The first bit of a frame leaves that stops (true) or resumes (false) "
                            "a priority of the neighbour.",
                            MakeTraceSourceAccessor(&FabricPort::m_pauseSentTrace),
                            "ns3::FabricPort::PauseTracedCallback")
            .AddTraceSource("Credit",
                            "The neighbour grants more of a virtual lane: the lane, and the blocks "
                            "of 64 bytes that may be sent now.",
                            MakeTraceSourceAccessor(&FabricPort::m_creditTrace),
                            "ns3::FabricPort::CreditTracedCallback")
            .AddTraceSource("CreditSent",
                            "The first bit of a credit packet leaves: the virtual lane, and the "
                            "limit it tells, in blocks since the link came up.",
                            MakeTraceSourceAccessor(&FabricPort::m_creditSentTrace),
                            "ns3::FabricPort::CreditTracedCallback")
            .AddTraceSource("QueueBytes",
                            "Bytes waiting in all priorities: before and after a change.",
                            MakeTraceSourceAccessor(&FabricPort::m_queueTrace),
                            "ns3::FabricPort::QueueTracedCallback");
    return tid;
}

FabricPort::FabricPort()
{
    m_transmitTrace.OnConnect([this]() { WatchDepartures(); });
    m_queueTrace.OnConnect([this]() { WatchDepartures(); });
    m_pauseSentTrace.OnConnect([this]() { WatchDepartures(); });
    m_creditSentTrace.OnConnect([this]() { WatchDepartures(); });
    m_receiveTrace.OnConnect([this]() { m_receiveWatched = true; });
}

FabricPort::~FabricPort() = default;

void
FabricPort::DoInitialize()
{
    if (m_lane == nullptr)
    {
        throw ConfigError(Describe(), "has no wire", "every port on one wire", "connect it");
    }
    m_wire->BeginRun();
    FabricDevice::DoInitialize();
}

void
FabricPort::DoDispose()
{
    for (auto& queue : m_queues)
    {
        queue.packets.Clear();
    }
    m_queued = 0;
    m_pullable = 0;
    m_wire = nullptr;
    m_lane = nullptr;
    FabricDevice::DoDispose();
}

DataRate
FabricPort::GetDataRate() const
{
    return m_rate;
}

void
FabricPort::SetDataRate(DataRate rate)
{
    if (rate.GetBitRate() == 0)
    {
        throw ConfigError("FabricPort::DataRate", "0 bit/s", "more than 0", "");
    }
    if (m_wire != nullptr)
    {
        m_wire->SetDataRate(*this, rate);
    }
    else
    {
        ApplyDataRate(rate);
    }
}

void
FabricPort::ApplyDataRate(DataRate rate)
{
    if (m_lane != nullptr)
    {
        BringUpToDate();
    }
    m_rate = rate;
    m_bitsPerSecond = static_cast<double>(rate.GetBitRate());
    m_remainder = 0;
    m_psPerByte = kPsPerByteAtOneBitPerSecond % rate.GetBitRate() == 0
                      ? kPsPerByteAtOneBitPerSecond / rate.GetBitRate()
                      : 0;
}

std::string
FabricPort::GetQuanta() const
{
    return m_quanta;
}

void
FabricPort::SetQuanta(std::string quanta)
{
    if (!quanta.empty())
    {
        scaleacross::WeightedTurns::Parse(quanta);
    }
    m_quanta = quanta;
    MakeArbiter();
}

std::string
FabricPort::GetLaneArbitration() const
{
    return m_laneArbitration;
}

void
FabricPort::SetLaneArbitration(std::string tables)
{
    if (!tables.empty())
    {
        scaleacross::LaneArbiter::Parse(tables, "FabricPort::LaneArbitration");
    }
    m_laneArbitration = tables;
    MakeArbiter();
}

void
FabricPort::MakeArbiter()
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

void
FabricPort::SetWire(FabricWire* wire, scaleacross::FabricLane* lane)
{
    m_wire = wire;
    m_lane = lane;
}

Ptr<Channel>
FabricPort::GetChannel() const
{
    return m_wire;
}

bool
FabricPort::IsLinkUp() const
{
    return m_wire != nullptr && !m_down;
}

Ptr<FabricWire>
FabricPort::GetWire() const
{
    return m_wire;
}

Ptr<FabricPort>
FabricPort::GetPeer() const
{
    return m_wire == nullptr ? nullptr : m_wire->GetPeer(this);
}

std::string
FabricPort::Describe() const
{
    std::string node = GetNode() ? std::to_string(GetNode()->GetId()) : "?";
    return "node " + node + " port " + std::to_string(GetIfIndex());
}

// --- Departures

int64_t
FabricPort::Serialise(uint32_t bytes)
{
    if (m_psPerByte != 0)
    {
        return static_cast<int64_t>(bytes * m_psPerByte);
    }
    // Packets have at most 65,535 bytes: no overflow.
    uint64_t rate = m_rate.GetBitRate();
    uint64_t work = bytes * kPsPerByteAtOneBitPerSecond + m_remainder;
    m_remainder = work % rate;
    return static_cast<int64_t>(work / rate);
}

void
FabricPort::StartNext(uint32_t ready)
{
    uint8_t priority = m_turns ? m_turns->Choose(ready, m_sentBytes) : Largest(ready);
    Queue& queue = m_queues[priority];
    FabricPacket* packet;
    const bool queued = !queue.packets.Empty();
    const int64_t start = m_freeAt;
    m_freeAt = scaleacross::kNever; // whoever asks for a counter meanwhile must not start another
    if (!queued)
    {
        packet = Pull(priority, start);
    }
    else
    {
        packet = queue.packets.PopFront();
        queue.bytes -= packet->size;
        queue.waited += static_cast<uint64_t>(start);
        if (queue.packets.Empty())
        {
            m_queued &= ~(1U << priority);
        }
        m_queueBytes -= priority != kLinkControl ? packet->size : 0;
    }
    const uint32_t waited = packet->size; // a switch may add telemetry to it
    m_inService = Started(*packet, start);
    m_freeAt = start + Serialise(packet->size);
    m_lane->Push(packet, m_freeAt);
    if (m_credits)
    {
        NoteCreditStarted(*packet, start);
    }
    // Sinks come last: one that asks for a counter brings the port up to date.
    if (priority == kLinkControl)
    {
        if (packet->kind == PacketKind::Credit)
        {
            m_creditSentTrace(packet->level, packet->psn);
            return;
        }
        m_pauseSentTrace(packet->level, packet->kind == PacketKind::Pause);
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
        TraceQueue(m_queueBytes + waited);
    }
    m_transmitTrace(*packet);
}

void
FabricPort::BringUpToDate()
{
    const int64_t now = SimulatorPicoseconds();
    Agenda().Settle(now);
    CatchUp(now);
}

void
FabricPort::DoCatchUp(int64_t now)
{
    if (m_lane == nullptr)
    {
        return; // not connected yet, or disposed of: a getter was called
    }
    while (m_freeAt <= now)
    {
        if (m_inService)
        {
            m_inService = false;
            Finished();
        }
        if (m_nextEligible <= m_freeAt)
        {
            AdmitEligible(m_freeAt);
        }
        uint32_t ready = Ready();
        if (ready != 0)
        {
            StartNext(ready);
            continue;
        }
        // Idle until something is eligible; or until now, after which it may only start later.
        const int64_t idleUntil = std::min(m_nextEligible, now);
        if (m_freeAt < idleUntil)
        {
            m_idle += idleUntil - m_freeAt;
            m_freeAt = idleUntil;
            m_remainder = 0;
        }
        if (m_nextEligible > now)
        {
            break;
        }
    }
    NoteBacklog(now);
}

void
FabricPort::PlanDeparture(int64_t now, bool ready)
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
        ScheduleDeparture(now, ready ? m_freeAt : std::max(m_freeAt, m_nextEligible));
    }
}

void
FabricPort::Kick(int64_t now)
{
    if (m_nextEligible <= now)
    {
        AdmitEligible(now);
    }
    uint32_t ready = Ready();
    if (ready == 0)
    {
        if (m_nextEligible != scaleacross::kNever)
        {
            NoteBacklog(now);
        }
        return;
    }
    if (m_freeAt <= now)
    {
        // The port has been idle: CatchUp(now) would have started anything that could start before.
        if (m_freeAt < now)
        {
            m_idle += now - m_freeAt;
            m_freeAt = now;
            m_remainder = 0;
        }
        StartNext(ready);
    }
    NoteBacklog(now);
}

void
FabricPort::Enqueue(FabricPacket* packet, int64_t now)
{
    Queue& queue = m_queues[packet->priority];
    const bool first = queue.packets.Empty();
    queue.packets.PushBack(packet);
    queue.bytes += packet->size;
    queue.waited -= static_cast<uint64_t>(now);
    m_queued |= 1U << packet->priority;
    if (packet->priority != kLinkControl)
    {
        if (m_credits && first)
        {
            CheckLane(packet->priority);
            UpdateStarved(packet->priority, now);
        }
        m_queueBytes += packet->size;
        // A sink that asks for a counter may make the packet leave: no sink after it looks at the
        // queue.
        TraceQueue(m_queueBytes - packet->size);
        m_enqueueTrace(*packet);
    }
}

scaleacross::PacketList
FabricPort::TakeQueue(uint8_t priority, int64_t now)
{
    Queue& queue = m_queues[priority];
    queue.waited += CountWaiting(priority) * static_cast<uint64_t>(now);
    scaleacross::PacketList packets = queue.packets;
    const uint64_t before = m_queueBytes;
    queue.packets.Clear();
    m_queueBytes -= queue.bytes;
    queue.bytes = 0;
    m_queued &= ~(1U << priority);
    if (m_credits)
    {
        UpdateStarved(priority, now);
    }
    TraceQueue(before);
    return packets;
}

FabricPacket*
FabricPort::Pull(uint8_t, int64_t)
{
    return nullptr;
}

bool
FabricPort::Started(FabricPacket&, int64_t)
{
    return false;
}

void
FabricPort::Finished()
{
}

void
FabricPort::Departed()
{
}

void
FabricPort::AdmitEligible(int64_t)
{
}

void
FabricPort::TraceQueue(uint64_t before)
{
    if (!m_queueTrace.IsEmpty())
    {
        m_queueTrace(before, m_queueBytes);
    }
}

// --- Departures as events

void
FabricPort::WatchDepartures()
{
    m_watched = true;
    if (m_lane != nullptr)
    {
        BringUpToDate();
        NoteBacklog(SimulatorPicoseconds());
    }
}

bool
FabricPort::IsWatched() const
{
    return m_eager || m_watched || m_receiveWatched || !m_enqueueTrace.IsEmpty() ||
           !m_dropTrace.IsEmpty() || !m_pauseTrace.IsEmpty() || !m_creditTrace.IsEmpty();
}

void
FabricPort::ScheduleDeparture(int64_t now, int64_t at)
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
                                   &FabricPort::Depart,
                                   Ptr<FabricPort>(this));
}

void
FabricPort::Depart()
{
    if (m_lane != nullptr)
    {
        CatchUp(SimulatorPicoseconds());
    }
}

void
FabricPort::Arrive(FabricPacket* packet, int64_t now)
{
    if (packet->kind >= PacketKind::Pause)
    {
        if (packet->kind == PacketKind::Credit)
        {
            HandleCredit(*packet, now);
        }
        else
        {
            HandlePause(*packet, now);
        }
        PacketPool::Return(packet);
        return;
    }
    if (m_credits)
    {
        m_credits->Take(packet->priority, scaleacross::CreditBlocks(packet->size));
    }
    if (m_receiveWatched)
    {
        m_receiveTrace(*packet);
    }
    Receive(packet, now);
}

void
FabricPort::NotifyDrop(const FabricPacket& packet, DropReason reason)
{
    m_dropTrace(packet, reason);
}

} // namespace ns3
