// SPDX-License-Identifier: GPL-2.0-only

// What a port does about credits.

#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "credit-link.h"
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

scaleacross::CreditLink&
FabricPort::MakeCredits()
{
    if (!m_credits)
    {
        m_credits = std::make_unique<scaleacross::CreditLink>();
        m_creditLanes = std::make_unique<CreditLanes>();
    }
    return *m_credits;
}

void
FabricPort::SetUpCredits(const scaleacross::CreditBuffer& buffer)
{
    MakeCredits().SetBuffer(buffer);
    m_credits->BeginReceiving();
    Ptr<FabricPort> peer = GetPeer();
    peer->MakeCredits();
    peer->BeginCredits(SimulatorPicoseconds());
}

void
FabricPort::ForgetCredits()
{
    m_credits.reset();
    m_creditLanes.reset();
    m_starved = 0;
    UpdatePaused();
}

void
FabricPort::BeginCredits(int64_t now)
{
    m_credits->Begin(*GetPeer()->m_credits);
    for (uint8_t lane = 0; lane < kPriorities; ++lane)
    {
        if (HasWaiting(lane))
        {
            CheckLane(lane);
        }
        UpdateStarved(lane, now);
    }
}

void
FabricPort::CheckLane(uint8_t lane) const
{
    if (!m_credits->HasLane(lane))
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
    const FabricPacket* next = m_queues[lane].packets.Front();
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
    // What is on its way counts as arrived and gone, and what has been told as known.
    const uint64_t told = m_credits->Told(lane) - peer->m_credits->Sent(lane);
    const uint64_t room = std::min(m_credits->Buffer().capacity - held, m_credits->Buffer().most);
    // A credit packet that waits is brought up to date.
    const uint64_t update = m_creditLanes->frames[lane] != nullptr ? 1 : m_credits->Buffer().update;
    return (room >= told + update ? room : told) >= peer->NeededBlocks(lane);
}

bool
FabricPort::IsStarved(uint8_t lane)
{
    BringUpToDate();
    return ((m_starved >> lane) & 1U) != 0;
}

void
FabricPort::UpdateStarved(uint8_t lane, int64_t now)
{
    const uint32_t before = m_starved;
    const uint32_t bit = 1U << lane;
    m_starved = m_credits->Left(lane) < NeededBlocks(lane) ? m_starved | bit : m_starved & ~bit;
    if (m_starved == before)
    {
        return;
    }
    if ((m_starved & bit) != 0)
    {
        m_creditLanes->starvedSince[lane] = now;
    }
    else
    {
        m_creditLanes->starvedTotal[lane] += now - m_creditLanes->starvedSince[lane];
    }
    UpdatePaused();
}

void
FabricPort::NoteCreditStarted(const FabricPacket& packet, int64_t start)
{
    if (packet.kind < PacketKind::Pause)
    {
        m_credits->Spend(packet.priority, CreditBlocks(packet.size));
        UpdateStarved(packet.priority, start);
    }
    else if (packet.kind == PacketKind::Credit)
    {
        m_creditLanes->frames[packet.level] = nullptr;
    }
    Leaving(m_freeAt);
}

void
FabricPort::SendCredit(uint8_t lane, int64_t now)
{
    if (m_down)
    {
        return; // what there is then is granted when the wire is back
    }
    CatchUp(now);
    FabricPacket* waiting = m_creditLanes->frames[lane];
    if (m_credits->Untold(lane) < (waiting != nullptr ? 1 : m_credits->Buffer().update))
    {
        return;
    }
    if (waiting != nullptr)
    {
        waiting->psn = m_credits->Tell(lane);
        return;
    }
    FabricPacket* frame = m_pool.Take();
    frame->kind = PacketKind::Credit;
    frame->priority = kLinkControl;
    frame->level = lane & 0x7;
    frame->size = static_cast<uint16_t>(m_creditSize);
    frame->psn = m_credits->Tell(lane);
    m_creditLanes->frames[lane] = frame;
    ++m_creditsSent;
    Enqueue(frame, now);
    Kick(now);
}

void
FabricPort::FreeCredit(const FabricPacket& packet, int64_t now)
{
    const uint8_t lane = packet.priority;
    m_credits->Free(lane, CreditBlocks(packet.size));
    SendCredit(lane, now);
}

void
FabricPort::CreditLost(const FabricPacket& packet, int64_t now)
{
    m_credits->Take(packet.priority, CreditBlocks(packet.size));
    FreeCredit(packet, now);
}

void
FabricPort::HandleCredit(const FabricPacket& packet, int64_t now)
{
    CatchUp(now);
    ++m_creditsReceived;
    const uint8_t lane = packet.level;
    m_credits->SetLimit(lane, packet.psn);
    UpdateStarved(lane, now);
    m_creditTrace(lane, m_credits->Left(lane));
    Kick(now);
}

uint64_t
FabricPort::GetCreditsSent() const
{
    return m_creditsSent;
}

uint64_t
FabricPort::GetCreditsReceived()
{
    BringUpToDate();
    return m_creditsReceived;
}

uint64_t
FabricPort::GetCreditsLeft(uint8_t lane)
{
    BringUpToDate();
    return m_credits && lane < kPriorities ? m_credits->Left(lane) : 0;
}

uint64_t
FabricPort::GetHeldBlocks(uint8_t lane)
{
    BringUpToDate();
    return m_credits && lane < kPriorities ? m_credits->Held(lane) : 0;
}

uint64_t
FabricPort::GetPeakHeldBlocks() const
{
    return m_credits ? m_credits->Peak() : 0;
}

uint64_t
FabricPort::GetBlockCapacity() const
{
    return m_credits ? m_credits->Buffer().capacity : 0;
}

Time
FabricPort::GetStarvedTime(uint8_t lane)
{
    BringUpToDate();
    if (!m_creditLanes || lane >= kPriorities)
    {
        return Time(0);
    }
    const bool starved = ((m_starved >> lane) & 1U) != 0;
    const int64_t open = starved ? SimulatorPicoseconds() - m_creditLanes->starvedSince[lane] : 0;
    return PicoSeconds(m_creditLanes->starvedTotal[lane] + open);
}

} // namespace ns3
