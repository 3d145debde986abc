// SPDX-License-Identifier: GPL-2.0-only

#include "send-allowance.h"

#include "core/base/errors.h"

#include "ns3/object-factory.h"
#include "ns3/psn.h"
#include "ns3/telemetry.h"

namespace scaleacross
{

using ns3::RdmaCongestionOps;

void
SendAllowance::SetUp(const Config& config, uint32_t mtu, const std::string& owner)
{
    m_windowLimit = kMostUnacked;
    if (config.window > 0)
    {
        m_windowLimit = std::clamp<uint64_t>(config.window / mtu, 1, kMostUnacked);
    }
    m_packets = m_windowLimit;
    m_state.mtu = mtu;
    m_rateLimit = config.rateLimit.GetBitRate();
    const ns3::TypeId base = RdmaCongestionOps::GetTypeId();
    if (!m_control && config.congestionOps != base)
    {
        if (!config.congestionOps.IsChildOf(base) || !config.congestionOps.HasConstructor())
        {
            throw ConfigError(owner + " CongestionOps",
                              config.congestionOps.GetName() + " is no congestion control",
                              "a type derived from ns3::RdmaCongestionOps",
                              "");
        }
        ns3::ObjectFactory factory;
        factory.SetTypeId(config.congestionOps);
        m_control = factory.Create<RdmaCongestionOps>();
    }
    m_paced = m_control || m_rateLimit > 0;
    if (m_control)
    {
        m_timesPackets = m_control->WantsRoundTrips();
        m_telemetry = m_control->WantsTelemetry();
        m_pulls = m_control->WantsPulls();
    }
}

void
SendAllowance::Start(uint64_t portRate, uint32_t wireSize, uint64_t psn)
{
    m_portRate = portRate;
    m_state.lineRate = m_rateLimit > 0 ? std::min(m_rateLimit, portRate) : portRate;
    m_state.wireSize = wireSize + (m_telemetry ? kTelemetryHeader : 0);
    m_state.rate = m_state.lineRate;
    if (m_control)
    {
        m_sendTimes.Reset(psn);
        m_control->Init(m_state);
        m_control->FixAttributes("its queue pair is connected");
        Apply(0);
    }
}

void
SendAllowance::RunTimers(int64_t now)
{
    // One after the other, as the rate in between counts for a wait.
    for (int64_t due = m_control->NextDeadline(); due <= now; due = m_control->NextDeadline())
    {
        m_control->Advance(m_state, due);
        ApplyRate(due);
        SCALEACROSS_INVARIANT(
            m_control->NextDeadline() > due,
            m_control->GetName() + "'s timer of " + std::to_string(due) + " ps still is due at " +
                std::to_string(m_control->NextDeadline()) + " ps after Advance until then");
    }
}

void
SendAllowance::ApplyRate(int64_t now)
{
    m_pacer.RateChanged(std::min(m_state.rate, m_portRate), now);
}

void
SendAllowance::WaitIfTimed()
{
    // A timer that runs out while the packet is on the line may cut the rate.
    if (m_control && m_control->NextDeadline() < m_pacer.WaitEnd())
    {
        m_pacer.Bind();
    }
}

void
SendAllowance::Apply(int64_t now)
{
    ApplyRate(now);
    WaitIfTimed();
    const uint64_t least = m_state.mayStop ? 0 : 1;
    m_packets = std::clamp<uint64_t>(m_state.windowBytes / m_state.mtu, least, m_windowLimit);
}

bool
SendAllowance::Sent(uint64_t psn, uint32_t size, int64_t start, const Flight& flight)
{
    bool asks = false;
    if (m_control)
    {
        Advance(start);
        m_state.unacked = flight.unacked;
        m_state.backlog = flight.backlog;
        m_control->OnSent(m_state, size, start);
        asks = m_state.asks;
        if (m_timesPackets)
        {
            m_sendTimes.Note(psn, start);
        }
    }
    if (m_state.rate >= m_portRate)
    {
        m_pacer.SentAtLineRate(size, start, m_portRate);
        WaitIfTimed();
    }
    else
    {
        m_pacer.Sent(size, start, m_state.rate);
    }
    return asks;
}

void
SendAllowance::OnAck(ns3::RdmaAck& ack,
                     uint64_t cause,
                     bool loss,
                     const Flight& flight,
                     int64_t now)
{
    Advance(now);
    if (m_timesPackets)
    {
        const int64_t start = m_sendTimes.StartOf(cause);
        const int64_t rtt = start == SendTimes::kNone ? -1 : now - start;
        (ack.trimmed ? ack.trimmedRtt : ack.rtt) = rtt;
        m_sendTimes.AdvanceTo(ack.psn);
    }
    m_state.unacked = flight.unacked;
    m_control->OnAck(m_state, ack, now);
    if (loss)
    {
        m_control->OnLoss(m_state, now);
    }
    Apply(now);
}

void
SendAllowance::OnCnp(const Flight& flight, int64_t now)
{
    Advance(now);
    m_state.unacked = flight.unacked;
    m_control->OnCnp(m_state, now);
    Apply(now);
}

void
SendAllowance::OnPull(uint64_t number, const Flight& flight, int64_t now)
{
    Advance(now);
    m_state.unacked = flight.unacked;
    m_control->OnPull(m_state, number, now);
    Apply(now);
}

void
SendAllowance::OnTimeout(int64_t now)
{
    Advance(now);
    m_state.unacked = 0;
    m_control->OnTimeout(m_state, now);
    Apply(now);
}

} // namespace scaleacross
