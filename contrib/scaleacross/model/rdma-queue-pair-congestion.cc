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
    m_congestion.rate = m_congestion.lineRate;
    if (m_control)
    {
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
        m_congestion.unacked = m_next - m_una - 1;
        m_control->OnSent(m_congestion, packet.size, start);
        if (m_timedStart < 0 && !packet.retransmitted)
        {
            m_timedStart = start;
            m_timedPsn = packet.psn;
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

int64_t
RdmaQueuePair::RoundTrip(uint64_t psn, uint64_t cause, int64_t now)
{
    if (m_timedStart < 0 || psn <= m_timedPsn)
    {
        return -1;
    }
    // With coalesced ACKs a later packet may have caused it: no measure of the timed one.
    const int64_t roundTrip = cause == m_timedPsn ? now - m_timedStart : -1;
    m_timedStart = -1;
    return roundTrip;
}

void
RdmaQueuePair::HandleCnp(int64_t now)
{
    ++m_counters.cnpsReceived;
    m_cnpTrace();
    if (m_control && m_state == State::ReadyToSend)
    {
        AdvanceControl(now);
        m_congestion.unacked = m_next - m_una;
        m_control->OnCnp(m_congestion, now);
        ApplyWindow();
        UpdateSending();
    }
}

} // namespace ns3
