// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-port.h"

#include "arrival-agenda.h"
#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "fabric-wire.h"

#include "ns3/node.h"

#include <string>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::PacketPool;
using scaleacross::PriorityQueues;
using scaleacross::SimulatorPicoseconds;

FabricPort::FabricPort()
{
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
    EgressPort::DoInitialize();
}

void
FabricPort::DoDispose()
{
    m_wire = nullptr;
    EgressPort::DoDispose();
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
    SetLineRate(rate);
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

bool
FabricPort::IsWatched() const
{
    return EgressPort::IsWatched() || m_receiveWatched || !m_dropTrace.IsEmpty() ||
           !m_pauseTrace.IsEmpty() || !m_creditTrace.IsEmpty();
}

uint32_t
FabricPort::PauseSize() const
{
    return m_pauseSize;
}

uint32_t
FabricPort::CreditSize() const
{
    return m_creditSize;
}

// --- What comes in

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
        m_credits->Link().Take(packet->priority, scaleacross::CreditBlocks(packet->size));
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

// --- Pauses

void
FabricPort::PauseChanged(uint8_t, bool, int64_t)
{
}

void
FabricPort::Resumed(int64_t)
{
}

FabricPacket*
FabricPort::NewFrame(PacketKind kind, uint8_t priority, uint32_t bytes)
{
    FabricPacket* frame = m_pool.Take();
    frame->kind = kind;
    frame->priority = PriorityQueues::kLinkControl;
    frame->level = priority & 0x7;
    frame->size = static_cast<uint16_t>(bytes);
    return frame;
}

void
FabricPort::SendPause(uint8_t priority, bool pause, int64_t now)
{
    if (m_down)
    {
        return;
    }
    CatchUp(now);
    ++m_pausesSent;
    Enqueue(NewFrame(pause ? PacketKind::Pause : PacketKind::Resume, priority, m_pauseSize), now);
    Kick(now);
}

void
FabricPort::ControlStarted(const FabricPacket& frame)
{
    if (frame.kind == PacketKind::Credit)
    {
        m_creditSentTrace(frame.level, frame.psn);
        return;
    }
    m_pauseSentTrace(frame.level, frame.kind == PacketKind::Pause);
}

void
FabricPort::HandlePause(const FabricPacket& packet, int64_t now)
{
    CatchUp(now);
    ++m_pausesReceived;
    const bool pause = packet.kind == PacketKind::Pause;
    SetStopped(packet.level, pause, now);
    if (!pause)
    {
        Kick(now);
        Resumed(now);
    }
}

void
FabricPort::SetStopped(uint8_t priority, bool stopped, int64_t now)
{
    const bool changed = m_pauses.Set(priority, stopped, now);
    UpdateBlocked();
    m_pauseTrace(priority, stopped);
    if (changed)
    {
        PauseChanged(priority, stopped, now);
    }
}

void
FabricPort::UpdateBlocked()
{
    SetBlocked(m_down ? PriorityQueues::kEverything : NeighbourStops());
}

void
FabricPort::IgnorePause(uint8_t priority, bool ignore)
{
    const uint32_t bit = 1U << priority;
    m_ignored = ignore ? m_ignored | bit : m_ignored & ~bit;
    UpdateBlocked();
}

uint64_t
FabricPort::GetPausesSent() const
{
    return m_pausesSent;
}

uint64_t
FabricPort::GetPausesReceived()
{
    BringUpToDate();
    return m_pausesReceived;
}

bool
FabricPort::IsPaused(uint8_t priority)
{
    BringUpToDate();
    return m_pauses.Has(priority);
}

bool
FabricPort::IsBlocked(uint8_t priority) const
{
    return HasWaiting(priority) && IsToldToStop(priority);
}

Time
FabricPort::GetPausedTime()
{
    BringUpToDate();
    return PicoSeconds(m_pauses.TotalOfAny(SimulatorPicoseconds()));
}

Time
FabricPort::GetPausedTime(uint8_t priority)
{
    BringUpToDate();
    return PicoSeconds(m_pauses.Total(priority, SimulatorPicoseconds()));
}

// --- The wire breaks, is back or gets another rate

void
FabricPort::SetLinkUp(bool up, int64_t now)
{
    m_down = !up;
    UpdateBlocked();
    if (up)
    {
        if (m_credits)
        {
            m_credits->Link().BeginReceiving();
            GetPeer()->BeginCredits(now);
        }
        return;
    }
    CutLine(now);
    if (m_credits)
    {
        m_credits->ForgetWaiting();
    }
    for (uint8_t priority = 0; priority < scaleacross::kPriorities; ++priority)
    {
        if (m_pauses.Has(priority))
        {
            SetStopped(priority, false, now);
        }
    }
    NoteBacklog(now);
}

void
FabricPort::LinkChanged(bool up, int64_t now)
{
    DoLinkChanged(up, now);
    if (up)
    {
        Kick(now);
        Resumed(now);
    }
    m_linkChange();
}

void
FabricPort::DoLinkChanged(bool, int64_t)
{
}

void
FabricPort::CheckLink(DataRate, DataRate, Time) const
{
}

void
FabricPort::ConfigChanged()
{
}

const char*
FabricPort::WhyFixed() const
{
    return IsInitialized() ? "the run has begun" : nullptr;
}

void
FabricPort::AttributeSet()
{
    ConfigChanged();
    if (const Ptr<FabricPort> peer = GetPeer())
    {
        peer->ConfigChanged();
    }
}

void
FabricPort::RateChanged(int64_t)
{
}

} // namespace ns3
