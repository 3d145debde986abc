// SPDX-License-Identifier: GPL-2.0-only

// What a port does about credits.

#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "fabric-port.h"

#include "ns3/telemetry.h"

#include <algorithm>
#include <string>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::CreditBlocks;
using scaleacross::FabricPacket;
using scaleacross::kPriorities;
using scaleacross::kTelemetryEntry;
using scaleacross::kTelemetryHeader;
using scaleacross::PacketKind;
using scaleacross::SimulatorPicoseconds;

void
FabricPort::Leaving(int64_t)
{
}

uint32_t
FabricPort::FullPacketSize(uint8_t) const
{
    return 1; // whatever a switch sends has been there before
}

scaleacross::PortCredits&
FabricPort::MakeCredits()
{
    if (!m_credits)
    {
        m_credits = std::make_unique<scaleacross::PortCredits>();
        m_gated = true;
    }
    return *m_credits;
}

void
FabricPort::SetUpCredits(const scaleacross::CreditBuffer& buffer)
{
    scaleacross::CreditLink& link = MakeCredits().Link();
    link.SetBuffer(buffer);
    link.BeginReceiving();
    Ptr<FabricPort> peer = GetPeer();
    peer->MakeCredits();
    peer->BeginCredits(SimulatorPicoseconds());
}

void
FabricPort::ForgetCredits()
{
    m_credits.reset();
    m_gated = false;
    UpdateBlocked();
}

void
FabricPort::BeginCredits(int64_t now)
{
    m_credits->Link().Begin(GetPeer()->m_credits->Link());
    for (uint8_t lane = 0; lane < kPriorities; ++lane)
    {
        NextChanged(lane, now);
    }
}

void
FabricPort::NextChanged(uint8_t lane, int64_t now)
{
    if (HasWaiting(lane))
    {
        CheckLane(lane);
    }
    UpdateStarved(lane, now);
}

void
FabricPort::CheckLane(uint8_t lane) const
{
    if (!m_credits->Link().HasLane(lane))
    {
        throw ConfigError(Describe(),
                          "has a packet for virtual lane " + std::to_string(lane) +
                              ", for which its neighbour has no buffer",
                          "a lane of the neighbour's VirtualLanes",
                          "set FabricSwitch::VirtualLanes, or Priority and AckPriority of the "
                          "queue pairs");
    }
}

uint64_t
FabricPort::NeededBlocks(uint8_t lane) const
{
    const FabricPacket* next = Queues().Packets(lane).Front();
    // Telemetry is added when a packet starts: by a switch to one that waits, by a NIC to a new
    // one.
    const uint32_t added =
        next == nullptr ? kTelemetryHeader : (next->telemetry ? kTelemetryEntry : 0);
    return CreditBlocks((next != nullptr ? next->size : FullPacketSize(lane)) + added);
}

bool
FabricPort::CouldGrant(uint8_t lane, uint64_t held) const
{
    const Ptr<FabricPort> peer = GetPeer();
    const scaleacross::CreditLink& link = m_credits->Link();
    // What is on its way counts as arrived and gone, and what has been told as known.
    const uint64_t told = link.Told(lane) - peer->m_credits->Link().Sent(lane);
    const uint64_t room = std::min(link.Buffer().capacity - held, link.Buffer().most);
    return (room >= told + m_credits->Step(lane) ? room : told) >= peer->NeededBlocks(lane);
}

void
FabricPort::UpdateStarved(uint8_t lane, int64_t now)
{
    if (m_credits->Need(lane, NeededBlocks(lane), now))
    {
        UpdateBlocked();
    }
}

void
FabricPort::Occupied(const FabricPacket& packet, int64_t start)
{
    if (packet.kind < PacketKind::Pause)
    {
        m_credits->Link().Spend(packet.priority, CreditBlocks(packet.size));
        UpdateStarved(packet.priority, start);
    }
    else if (packet.kind == PacketKind::Credit)
    {
        m_credits->SetWaiting(packet.level, nullptr);
    }
    Leaving(Line().FreeAt());
}

void
FabricPort::SendCredit(uint8_t lane, int64_t now)
{
    if (m_down)
    {
        return; // what there is then is granted when the wire is back
    }
    CatchUp(now);
    scaleacross::CreditLink& link = m_credits->Link();
    if (link.Untold(lane) < m_credits->Step(lane))
    {
        return;
    }
    if (FabricPacket* waiting = m_credits->Waiting(lane); waiting != nullptr)
    {
        waiting->psn = link.Tell(lane);
        return;
    }
    FabricPacket* frame = NewFrame(PacketKind::Credit, lane, m_creditSize);
    frame->psn = link.Tell(lane);
    m_credits->SetWaiting(lane, frame);
    ++m_credits->sent;
    Enqueue(frame, now);
    Kick(now);
}

void
FabricPort::FreeCredit(const FabricPacket& packet, int64_t now)
{
    const uint8_t lane = packet.priority;
    m_credits->Link().Free(lane, CreditBlocks(packet.size));
    SendCredit(lane, now);
}

void
FabricPort::NoteLost(const FabricPacket& packet, int64_t now)
{
    if (m_credits)
    {
        m_credits->Link().Take(packet.priority, CreditBlocks(packet.size));
        FreeCredit(packet, now);
    }
}

void
FabricPort::HandleCredit(const FabricPacket& packet, int64_t now)
{
    CatchUp(now);
    ++m_credits->received;
    const uint8_t lane = packet.level;
    m_credits->Link().SetLimit(lane, packet.psn);
    UpdateStarved(lane, now);
    m_creditTrace(lane, m_credits->Link().Left(lane));
    Kick(now);
}

uint64_t
FabricPort::GetCreditsSent() const
{
    return m_credits ? m_credits->sent : 0;
}

uint64_t
FabricPort::GetCreditsReceived()
{
    BringUpToDate();
    return m_credits ? m_credits->received : 0;
}

uint64_t
FabricPort::GetCreditsLeft(uint8_t lane)
{
    BringUpToDate();
    return m_credits && lane < kPriorities ? m_credits->Link().Left(lane) : 0;
}

uint64_t
FabricPort::GetHeldBlocks(uint8_t lane)
{
    BringUpToDate();
    return m_credits && lane < kPriorities ? m_credits->Link().Held(lane) : 0;
}

uint64_t
FabricPort::GetPeakHeldBlocks() const
{
    return m_credits ? m_credits->Link().Peak() : 0;
}

uint64_t
FabricPort::GetBlockCapacity() const
{
    return m_credits ? m_credits->Link().Buffer().capacity : 0;
}

bool
FabricPort::IsStarved(uint8_t lane)
{
    BringUpToDate();
    return m_credits && m_credits->Starved().Has(lane);
}

Time
FabricPort::GetStarvedTime(uint8_t lane)
{
    BringUpToDate();
    return m_credits && lane < kPriorities
               ? PicoSeconds(m_credits->Starved().Total(lane, SimulatorPicoseconds()))
               : Time(0);
}

} // namespace ns3
