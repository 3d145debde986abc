// SPDX-License-Identifier: GPL-2.0-only

// How a queue pair's sender asks its congestion control, and what rate and window follow from it.

#include "core/base/errors.h"
#include "rdma-nic.h"
#include "rdma-queue-pair.h"

#include "ns3/object-factory.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::FabricPacket;

void
RdmaQueuePair::SetUpCongestionControl()
{
    if (!m_control && m_controlType != RdmaCongestionOps::GetTypeId())
    {
        if (!m_controlType.IsChildOf(RdmaCongestionOps::GetTypeId()) ||
            !m_controlType.HasConstructor())
        {
            throw ConfigError(Describe() + " CongestionOps",
                              m_controlType.GetName() + " is no congestion control",
                              "a type derived from ns3::RdmaCongestionOps",
                              "");
        }
        ObjectFactory factory;
        factory.SetTypeId(m_controlType);
        m_control = factory.Create<RdmaCongestionOps>();
    }
    m_portRate = m_nic->GetDataRate().GetBitRate();
    const uint64_t limit = m_rateLimit.GetBitRate();
    m_paced = m_control || limit > 0;
    m_ecnCapable = m_control || m_ecnAttribute || (m_entropyOps && m_entropyOps->HeedsMarks());
    m_congestion.lineRate = limit > 0 ? std::min(limit, m_portRate) : m_portRate;
    m_congestion.mtu = m_mtu;
    m_congestion.wireSize = m_nic->WireSize(m_mtu, scaleacross::RdmaOperation::Write, false, false);
    m_congestion.rate = m_congestion.lineRate;
    if (m_control)
    {
        m_timesPackets = m_control->WantsRoundTrips();
        m_telemetry = m_control->WantsTelemetry();
        m_pulls = m_control->WantsPulls();
        CheckPulls();
        m_sendTimes.Reset(m_next);
        m_congestion.wireSize += m_telemetry ? scaleacross::kTelemetryHeader : 0;
        m_control->Init(m_congestion);
        m_control->FixAttributes("its queue pair is connected");
        ApplyControl(0);
    }
}

void
RdmaQueuePair::CheckPulls() const
{
    if (m_pulls && (m_mode != SelectiveRepeat || !m_countFlight))
    {
        throw ConfigError(Describe() + " CongestionOps",
                          m_control->GetName() + " counts packets one by one, and " +
                              (m_mode == SelectiveRepeat ? "WindowCountsFlight is false"
                                                         : "RetransmissionMode is GoBackN"),
                          "RetransmissionMode SelectiveRepeat and WindowCountsFlight",
                          "set them for the queue pairs of both ends");
    }
}

uint64_t
RdmaQueuePair::Backlog() const
{
    const Message* last = m_visible > 0 ? &m_messages[m_visible - 1] : nullptr;
    const uint64_t end = last != nullptr ? last->firstPsn + last->packets : m_next;
    return end - m_next + m_selective.Waiting();
}

void
RdmaQueuePair::AdvanceControl(int64_t now)
{
    // One after the other, as the rate in between counts for a wait.
    for (int64_t due = m_control->NextDeadline(); due <= now; due = m_control->NextDeadline())
    {
        m_control->Advance(m_congestion, due);
        ApplyRate(due);
        SCALEACROSS_INVARIANT(
            m_control->NextDeadline() > due,
            m_control->GetName() + "'s timer of " + std::to_string(due) + " ps still is due at " +
                std::to_string(m_control->NextDeadline()) + " ps after Advance until then");
    }
}

void
RdmaQueuePair::AdvanceWait(int64_t now)
{
    if (m_control)
    {
        AdvanceControl(now);
    }
}

void
RdmaQueuePair::ApplyRate(int64_t now)
{
    m_pacer.RateChanged(std::min(m_congestion.rate, m_portRate), now);
}

void
RdmaQueuePair::WaitIfTimed()
{
    // A timer that runs out while the packet is on the line may cut the rate.
    if (m_control && m_control->NextDeadline() < m_pacer.WaitEnd())
    {
        m_pacer.Bind();
    }
}

void
RdmaQueuePair::ApplyControl(int64_t now)
{
    ApplyRate(now);
    WaitIfTimed();
    const uint64_t least = m_congestion.mayStop ? 0 : 1;
    m_allowed = std::clamp<uint64_t>(m_congestion.windowBytes / m_mtu, least, m_windowLimit);
}

void
RdmaQueuePair::Pace(FabricPacket& packet, int64_t start)
{
    if (m_control)
    {
        AdvanceControl(start);
        m_congestion.unacked = UnderWay(m_una) - 1;
        if (m_pulls)
        {
            m_congestion.backlog = Backlog();
        }
        m_control->OnSent(m_congestion, packet.size, start);
        packet.wantsPull = m_congestion.asks;
        if (m_timesPackets)
        {
            m_sendTimes.Note(packet.psn, start);
        }
    }
    if (m_congestion.rate >= m_portRate)
    {
        m_pacer.SentAtLineRate(packet.size, start, m_portRate);
        WaitIfTimed();
    }
    else
    {
        m_pacer.Sent(packet.size, start, m_congestion.rate);
    }
    if (!CanSend())
    {
        m_pacer.Rest();
    }
}

void
RdmaQueuePair::TellAck(const FabricPacket& packet, RdmaAck& ack, uint64_t cause, int64_t now)
{
    ack.next = m_next;
    ack.marked = packet.ecnMarked;
    ack.trimmed = packet.kind == scaleacross::PacketKind::TrimNak;
    ack.pullOwed = ack.trimmed && packet.wantsPull;
    ack.switches = m_nic->HopsOf(packet);
    ack.trail = m_nic->ArrivedTrail();
    if (m_timesPackets)
    {
        const int64_t start = m_sendTimes.StartOf(cause);
        const int64_t rtt = start == scaleacross::SendTimes::kNone ? -1 : now - start;
        (ack.trimmed ? ack.trimmedRtt : ack.rtt) = rtt;
        m_sendTimes.AdvanceTo(ack.psn);
    }
    m_congestion.unacked = UnderWay(ack.psn);
    m_control->OnAck(m_congestion, ack, now);
}

void
RdmaQueuePair::HandlePull(const FabricPacket& packet, int64_t now)
{
    if (!m_pulls || m_state != State::ReadyToSend)
    {
        return;
    }
    ++m_counters.pullsReceived;
    AdvanceControl(now);
    m_congestion.unacked = UnderWay(m_una);
    m_control->OnPull(m_congestion, packet.psn, now);
    ApplyControl(now);
    m_retries = 0; // the path works
    if (!m_heldBack)
    {
        RestartTimer(now);
    }
    UpdateSending(now);
}

void
RdmaQueuePair::HandleCnp(int64_t now)
{
    ++m_counters.cnpsReceived;
    m_cnpTrace();
    if (m_control && m_state == State::ReadyToSend)
    {
        AdvanceControl(now);
        m_congestion.unacked = UnderWay(m_una);
        m_control->OnCnp(m_congestion, now);
        ApplyControl(now);
        UpdateSending(now);
    }
}

} // namespace ns3
