// SPDX-License-Identifier: GPL-2.0-only

#include "hpcc.h"

#include "ns3/attribute-guard.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using scaleacross::TelemetryHop;

NS_OBJECT_ENSURE_REGISTERED(Hpcc);

TypeId
Hpcc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Hpcc")
            .SetParent<RdmaCongestionOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<Hpcc>()
            .AddAttribute("TargetUtilization",
                          "eta: share of a port's rate and delay that is to be under way.",
                          DoubleValue(0.95),
                          scaleacross::Fixed(MakeDoubleAccessor(&Hpcc::m_eta)),
                          MakeDoubleChecker<double>(0.01, 1.0))
            .AddAttribute("MaxStage",
                          "Additive steps in a row before the window is set by utilisation.",
                          UintegerValue(5),
                          scaleacross::Fixed(MakeUintegerAccessor(&Hpcc::m_maxStage)),
                          MakeUintegerChecker<uint32_t>(0, 1000))
            .AddAttribute("Flows",
                          "N: flows on a port whose additive steps together are to stay within "
                          "the headroom of 1 - eta.",
                          UintegerValue(100),
                          scaleacross::Fixed(MakeUintegerAccessor(&Hpcc::m_flows)),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("BaseRtt",
                          "T, round trip without queueing. 0: the least so far, of each queue pair "
                          "its own.",
                          TimeValue(Time(0)),
                          scaleacross::Fixed(MakeTimeAccessor(&Hpcc::m_baseRttTime)),
                          MakeTimeChecker(Time(0)));
    return tid;
}

Hpcc::Hpcc() = default;

Hpcc::~Hpcc() = default;

std::string
Hpcc::GetName() const
{
    return "HPCC";
}

Ptr<RdmaCongestionOps>
Hpcc::Fork() const
{
    return CopyObject<Hpcc>(this);
}

bool
Hpcc::WantsRoundTrips() const
{
    return m_baseRttTime.IsZero();
}

bool
Hpcc::WantsTelemetry() const
{
    return true;
}

void
Hpcc::Init(RdmaCongestionState& state)
{
    m_baseRtt = static_cast<double>(m_baseRttTime.GetPicoSeconds());
    m_most = m_baseRtt * static_cast<double>(state.lineRate) / 8e12;
    m_window = m_most;
    m_reference = m_window;
    m_utilization = 0;
    m_stage = 0;
    m_updated = 0;
    m_hops.clear();
    if (m_window > 0)
    {
        Publish(state);
    }
}

bool
Hpcc::SameWay(const std::vector<TelemetryHop>& hops) const
{
    bool same = hops.size() == m_hops.size() && !hops.empty();
    for (size_t i = 0; same && i < hops.size(); ++i)
    {
        // An answer that was overtaken tells of an earlier time.
        same = hops[i].port == m_hops[i].port && hops[i].time > m_hops[i].time &&
               hops[i].rate == m_hops[i].rate;
    }
    return same;
}

void
Hpcc::Measure(const std::vector<TelemetryHop>& hops)
{
    double most = 0;
    double tau = 0;
    for (size_t i = 0; i < hops.size(); ++i)
    {
        const TelemetryHop& now = hops[i];
        const TelemetryHop& before = m_hops[i];
        const double bytesPerPs = static_cast<double>(now.rate) / 8e12;
        const auto time = static_cast<double>(now.time - before.time);
        const double u =
            static_cast<double>(std::min(now.queueBytes, before.queueBytes)) /
                (bytesPerPs * m_baseRtt) +
            static_cast<double>(now.sentBytes - before.sentBytes) / (time * bytesPerPs);
        if (u > most)
        {
            most = u;
            tau = time;
        }
    }
    const double weight = std::min(tau, m_baseRtt) / m_baseRtt;
    m_utilization = (1 - weight) * m_utilization + weight * most;
}

void
Hpcc::OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t)
{
    if (m_baseRttTime.IsZero() && ack.rtt >= 0)
    {
        const auto rtt = static_cast<double>(ack.rtt);
        m_baseRtt = m_baseRtt == 0 ? rtt : std::min(m_baseRtt, rtt);
        m_most = m_baseRtt * static_cast<double>(state.lineRate) / 8e12;
        if (m_window == 0)
        {
            m_window = m_most;
            m_reference = m_window;
        }
    }
    if (m_baseRtt == 0 || ack.trail == nullptr)
    {
        return;
    }
    const auto& hops = ack.trail->hops;
    if (!SameWay(hops))
    {
        m_hops = hops;
        return;
    }
    Measure(hops);
    m_hops = hops;
    const double additive = m_most * (1 - m_eta) / m_flows;
    const bool first = ack.psn > m_updated;
    const bool multiply = m_utilization >= m_eta || m_stage >= m_maxStage;
    m_window = (multiply ? m_reference / (m_utilization / m_eta) : m_reference) + additive;
    m_window = std::clamp(m_window, static_cast<double>(state.wireSize), m_most);
    if (first)
    {
        m_stage = multiply ? 0 : m_stage + 1;
        m_reference = m_window;
        m_updated = ack.next;
    }
    Publish(state);
}

void
Hpcc::Publish(RdmaCongestionState& state)
{
    m_window = std::max(m_window, static_cast<double>(state.wireSize));
    // A packet may start while less than W is under way, so the last one may exceed it.
    state.windowBytes = static_cast<uint64_t>(std::ceil(m_window / state.wireSize)) * state.mtu;
    const double rate = m_window * 8e12 / m_baseRtt;
    state.rate = std::clamp<uint64_t>(static_cast<uint64_t>(rate), 1, state.lineRate);
}

double
Hpcc::GetUtilization() const
{
    return m_utilization;
}

double
Hpcc::GetWindow() const
{
    return m_window;
}

} // namespace ns3
