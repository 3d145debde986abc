// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-nic.h"

#include "rdma-queue-pair.h"

#include "ns3/node.h"
#include "ns3/switch-port.h"

#include <algorithm>

namespace ns3
{

using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::kNever;
using scaleacross::PacketKind;
using scaleacross::PacketPool;
using scaleacross::RdmaOperation;
using scaleacross::RdmaRequester;
using scaleacross::SimulatorPicoseconds;

RdmaNic::RdmaNic()
    : m_agenda(*this, scaleacross::ArrivalAgenda::AlarmOrder::AfterArrivals)
{
    SetFabricAddress(0);
}

RdmaNic::~RdmaNic() = default;

bool
RdmaNic::IsVisible(const FabricPacket& packet) const
{
    if (packet.kind == PacketKind::Foreign)
    {
        return true;
    }
    if (packet.kind >= PacketKind::Pause)
    {
        return false;
    }
    if (packet.queuePair >= m_queuePairs.size())
    {
        return true; // there may be one until it arrives
    }
    RdmaQueuePair& queuePair = *m_queuePairs[packet.queuePair];
    return packet.kind == PacketKind::Data ? queuePair.MayDeliver(packet)
                                           : queuePair.MayComplete(packet);
}

bool
RdmaNic::IsWatched() const
{
    return FabricPort::IsWatched();
}

void
RdmaNic::DoInitialize()
{
    m_agenda.SetTiming(m_lookAhead && DynamicCast<SwitchPort>(GetPeer())
                           ? scaleacross::ArrivalAgenda::Timing::Behind
                           : scaleacross::ArrivalAgenda::Timing::Exact);
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->Requester().CheckSizes();
        queuePair->Initialize();
    }
    FabricPort::DoInitialize();
}

void
RdmaNic::DoDispose()
{
    m_agenda.Clear();
    m_turns.Clear();
    m_pulls.Clear();
    NoteEligible();
    m_posted.clear();
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->Dispose();
    }
    m_queuePairs.clear();
    m_started.requester = nullptr;
    m_foreign.Clear();
    m_pool.ReleaseFrames();
    FabricPort::DoDispose();
}

uint32_t
RdmaNic::GetPortNumber() const
{
    return 0;
}

scaleacross::ArrivalAgenda&
RdmaNic::Agenda()
{
    return m_agenda;
}

// --- Sending

FabricPacket*
RdmaNic::Pull(uint8_t priority, int64_t start)
{
    if (m_pulls.IsReady() && priority == m_pullPriority)
    {
        return StartPull(start);
    }
    RdmaRequester* requester = m_turns.First(priority);
    if (m_foreign.IsReady(priority) && m_foreign.TakeTurn(requester != nullptr))
    {
        FabricPacket* packet = m_foreign.Start(start);
        UpdatePullable(priority);
        return packet;
    }
    FabricPacket* packet = m_pool.Take();
    packet->source = m_address;
    packet->hops = static_cast<uint8_t>(m_hopLimit);
    requester->FillNext(*packet, start);
    ++m_dataSent;
    if (m_turns.Started(priority, start, m_turnLength.EndsWith(*packet, requester->Turn().sent)))
    {
        UpdatePullable(priority);
        NoteEligible();
    }
    return packet;
}

FabricPacket*
RdmaNic::StartPull(int64_t start)
{
    const uint32_t full = WireSize(m_pathMtu, RdmaOperation::Write, false, false);
    const uint32_t number = m_pulls.Take(full, start, GetDataRate().GetBitRate());
    FabricPacket* packet = NewControl();
    packet->kind = PacketKind::Pull;
    packet->priority = m_pullPriority;
    m_queuePairs[number]->Responder().FillPull(*packet);
    UpdatePullable(m_pullPriority);
    NoteEligible();
    return packet;
}

void
RdmaNic::UpdatePullable(uint8_t priority)
{
    SetPullable(priority,
                m_turns.First(priority) != nullptr || m_foreign.IsReady(priority) ||
                    (m_pulls.IsReady() && priority == m_pullPriority));
}

void
RdmaNic::NoteEligible()
{
    SetNextEligible(std::min(m_turns.Due(), m_pulls.NextDue()));
}

void
RdmaNic::AdmitEligible(int64_t now)
{
    m_turns.Admit(now, [this](uint8_t priority) { SetPullable(priority, true); });
    if (m_pulls.Admit(now))
    {
        SetPullable(m_pullPriority, true);
    }
    NoteEligible();
}

void
RdmaNic::UpdateActive(RdmaRequester* requester, int64_t now)
{
    if (m_turns.Update(requester, now))
    {
        UpdatePullable(requester->GetPriority());
        NoteEligible();
    }
}

void
RdmaNic::AskPull(uint32_t number, int64_t now)
{
    m_pulls.Ask(number);
    NoteEligible();
    Kick(now);
}

void
RdmaNic::RateChanged(int64_t now)
{
    m_pulls.RateChanged(GetDataRate().GetBitRate(), now);
    NoteEligible();
    Kick(now);
}

void
RdmaNic::Posted(RdmaQueuePair* queuePair)
{
    const int64_t now = SimulatorPicoseconds();
    m_agenda.Settle(now); // an alarm of before must not find it
    if (m_posted.empty())
    {
        m_agenda.SetAlarm(now);
    }
    if (m_posted.empty() || m_posted.back() != queuePair)
    {
        m_posted.push_back(queuePair);
    }
}

void
RdmaNic::WatchDeadline(int64_t deadline, bool anew)
{
    if (m_timers.Set(deadline, anew))
    {
        m_agenda.SetTimeout(deadline);
    }
}

void
RdmaNic::ForgetDeadline()
{
    // The alarm may have been set for something else; it then goes off once for nothing.
    if (m_timers.Stop() && m_posted.empty() && !m_foreign.HasPosted() && NextEligible() == kNever)
    {
        m_agenda.ClearAlarm();
    }
}

void
RdmaNic::DoLinkChanged(bool up, int64_t now)
{
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->Requester().LinkChanged(up, now);
    }
}

void
RdmaNic::HandleAlarm(int64_t now)
{
    CatchUp(now);
    if (NextEligible() <= now)
    {
        AdmitEligible(now); // before any that comes now
    }
    std::vector<RdmaQueuePair*> posted;
    posted.swap(m_posted);
    for (RdmaQueuePair* queuePair : posted)
    {
        queuePair->ShowPosted();
        UpdateActive(&queuePair->Requester(), now);
        queuePair->Requester().RunTimerIfHeldUp(now);
    }
    if (m_foreign.ShowPosted())
    {
        UpdatePullable(m_foreign.priority);
    }
    m_timers.Expire(m_turns.Senders(), now); // a failure callback may create queue pairs
    if (m_timers.Next() != kNever)
    {
        m_agenda.SetTimeout(m_timers.Next());
    }
    Kick(now);
}

FabricPacket*
RdmaNic::NewControl()
{
    FabricPacket* packet = m_pool.Take();
    packet->source = m_address;
    packet->hops = static_cast<uint8_t>(m_hopLimit);
    packet->size = static_cast<uint16_t>(m_format.ack);
    return packet;
}

scaleacross::TelemetryTrail*
RdmaNic::NewTrail()
{
    return m_trails.Take();
}

const scaleacross::TelemetryTrail*
RdmaNic::ArrivedTrail() const
{
    return m_arrivedTrail;
}

scaleacross::TelemetryTrail*
RdmaNic::TakeArrivedTrail()
{
    return std::exchange(m_arrivedTrail, nullptr);
}

FabricPacket*
RdmaNic::NewCnp()
{
    FabricPacket* packet = NewControl();
    packet->kind = PacketKind::Cnp;
    packet->size = static_cast<uint16_t>(m_format.cnp);
    return packet;
}

void
RdmaNic::SendControl(FabricPacket* packet, int64_t now)
{
    Enqueue(packet, now);
    Kick(now);
}

void
RdmaNic::NoteStarted(RdmaRequester* requester, uint64_t bytes, uint64_t tag)
{
    m_started = {requester, bytes, tag};
}

void
RdmaNic::Departed()
{
    if (m_started.requester != nullptr)
    {
        const StartedMessage started = m_started;
        m_started.requester = nullptr;
        started.requester->startedTrace(started.bytes, started.tag);
    }
}

// --- Receiving

void
RdmaNic::Receive(FabricPacket* packet, int64_t now)
{
    if (Credits() != nullptr && !m_stalled.Keep(packet->priority, packet->size))
    {
        FreeCredit(*packet, now);
    }
    if (packet->destination != m_address || packet->queuePair >= m_queuePairs.size())
    {
        // Queue pair numbers never reach that of foreign packets, so they all come by here.
        if (packet->kind == PacketKind::Foreign && packet->destination == m_address)
        {
            ReceiveForeign(packet, now);
            return;
        }
        DropReason reason =
            packet->destination != m_address ? DropReason::WrongAddress : DropReason::NoQueuePair;
        m_drops.Add(reason);
        NotifyDrop(*packet, reason);
        PacketPool::Return(packet);
        return;
    }
    CatchUp(now);
    if (NextEligible() <= now)
    {
        AdmitEligible(now); // before any that this packet lets send
    }
    // The packet is done with before any callback runs: what it says is copied.
    m_arrivedTrail = packet->telemetry ? scaleacross::DetachTrail(*packet) : nullptr;
    const FabricPacket copy = *packet;
    PacketPool::Return(packet);
    if (m_pulls.IsUsed() && (copy.kind != PacketKind::Data || copy.trimmed))
    {
        m_pulls.LineUsed(copy.size, now, GetDataRate().GetBitRate());
        NoteEligible();
    }
    RdmaQueuePair& queuePair = *m_queuePairs[copy.queuePair];
    if (copy.kind == PacketKind::Data)
    {
        ++m_dataReceived;
        queuePair.HandleData(copy, now);
    }
    else
    {
        ++m_controlReceived;
        if (copy.kind == PacketKind::Cnp)
        {
            queuePair.Requester().HandleCnp(now);
        }
        else if (copy.kind == PacketKind::Pull)
        {
            queuePair.Requester().HandlePull(copy, now);
        }
        else
        {
            queuePair.Requester().HandleAck(copy, now);
        }
        Kick(now);
    }
    if (m_arrivedTrail != nullptr)
    {
        scaleacross::TelemetryPool::Return(TakeArrivedTrail());
    }
}

} // namespace ns3
