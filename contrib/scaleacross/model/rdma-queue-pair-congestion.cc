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
                              "a type derived from ns3::RdmaCongestionOps, as ns3::Dcqcn",
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
        m_sendTimes.Reset(m_next);
        m_congestion.wireSize += m_telemetry ? scaleacross::kTelemetryHeader : 0;
        m_control->Init(m_congestion);
        ApplyWindow();
    }
}

void
RdmaQueuePair::AdvanceControl(int64_t now)
{
    if (m_control->NextDeadline() <= now)
    {
        m_control->Advance(m_congestion, now);
    }
}

void
RdmaQueuePair::ApplyWindow()
{
    m_allowed = std::clamp<uint64_t>(m_congestion.windowBytes / m_mtu, 1, m_windowLimit);
}

void
RdmaQueuePair::Pace(const FabricPacket& packet, int64_t start)
{
    if (m_control)
    {
        AdvanceControl(start);
        m_congestion.unacked = UnderWay(m_una) - 1;
        m_control->OnSent(m_congestion, packet.size, start);
        if (m_timesPackets)
        {
            m_sendTimes.Note(packet.psn, start);
        }
    }
    if (m_congestion.rate >= m_portRate)
    {
        m_pacer.SentUnlimited();
        return;
    }
    m_pacer.Sent(packet.size, start, m_congestion.rate);
    if (!CanSend())
    {
        m_pacer.Rest();
    }
}

void
RdmaQueuePair::TellAck(const FabricPacket& packet, uint64_t psn, uint64_t cause, int64_t now)
{
    RdmaAck ack;
    ack.packets = psn - m_una;
    ack.psn = psn;
    ack.next = m_next;
    ack.marked = packet.ecnMarked;
    ack.trimmed = packet.kind == scaleacross::PacketKind::TrimNak;
    ack.switches = m_nic->HopsOf(packet);
    ack.trail = m_nic->ArrivedTrail();
    if (m_timesPackets)
    {
        const int64_t start = m_sendTimes.StartOf(cause);
        ack.rtt = start == scaleacross::SendTimes::kNone || ack.trimmed ? -1 : now - start;
        m_sendTimes.AdvanceTo(psn);
    }
    m_congestion.unacked = UnderWay(psn);
    m_control->OnAck(m_congestion, ack, now);
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
        ApplyWindow();
        UpdateSending();
    }
}

} // namespace ns3
