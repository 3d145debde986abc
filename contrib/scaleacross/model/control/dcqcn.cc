// SPDX-License-Identifier: GPL-2.0-only

#include "dcqcn.h"

#include "core/base/errors.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::kNever;

NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

TypeId
Dcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Dcqcn")
            .SetParent<RdmaCongestionOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<Dcqcn>()
            .AddAttribute("Gain",
                          "g: weight of the newest interval in alpha. Smaller is steadier and "
                          "slower. Paper: 1/256.",
                          DoubleValue(1.0 / 256),
                          scaleacross::Fixed(MakeDoubleAccessor(&Dcqcn::m_gain)),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("AlphaTimer",
                          "K: alpha decays each time this passes without a CNP. More than the "
                          "receiver's CnpInterval, and at least 100 ns. Paper: 55 us.",
                          TimeValue(MicroSeconds(55)),
                          scaleacross::Fixed(MakeTimeAccessor(&Dcqcn::m_alphaTimer)),
                          MakeTimeChecker(NanoSeconds(100)))
            .AddAttribute("IncreaseTimer",
                          "The rate is raised each time this passes without a CNP; at least 100 "
                          "ns. Paper: 55 us; NICs have shipped with 300 us.",
                          TimeValue(MicroSeconds(55)),
                          scaleacross::Fixed(MakeTimeAccessor(&Dcqcn::m_increaseTimer)),
                          MakeTimeChecker(NanoSeconds(100)))
            .AddAttribute("ByteCounter",
                          "The rate is raised each time this many bytes have been sent without a "
                          "CNP. Paper: 10 MB.",
                          UintegerValue(10'000'000),
                          scaleacross::Fixed(MakeUintegerAccessor(&Dcqcn::m_byteCounter)),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("FastRecovery",
                          "F: so many times the rate is raised half way to where it was before "
                          "the target grows. Paper, after QCN: 5.",
                          UintegerValue(5),
                          scaleacross::Fixed(MakeUintegerAccessor(&Dcqcn::m_fastRecovery)),
                          MakeUintegerChecker<uint32_t>(0, 1000))
            .AddAttribute("AdditiveIncrease",
                          "R_AI, by which the target grows. Paper: 40 Mb/s.",
                          DataRateValue(DataRate("40Mbps")),
                          scaleacross::Fixed(MakeDataRateAccessor(&Dcqcn::m_additive)),
                          MakeDataRateChecker())
            .AddAttribute("HyperIncrease",
                          "R_HAI, i times which the target grows in the i-th hyper increase. The "
                          "paper gives no value: ten times AdditiveIncrease, as in NICs (5 and 50 "
                          "Mb/s).",
                          DataRateValue(DataRate("400Mbps")),
                          scaleacross::Fixed(MakeDataRateAccessor(&Dcqcn::m_hyper)),
                          MakeDataRateChecker())
            .AddAttribute("MinRate",
                          "The rate is never cut below. The paper gives no value: 100 Mb/s, as "
                          "in HPCC's simulator. A packet of 4 kB then waits for 0.3 ms.",
                          DataRateValue(DataRate("100Mbps")),
                          scaleacross::Fixed(MakeDataRateAccessor(&Dcqcn::m_minRate)),
                          MakeDataRateChecker())
            .AddAttribute("ClampTargetRate",
                          "Every CNP sets the target to the current rate, as in the paper. If "
                          "false, only one before which the rate had been raised.",
                          BooleanValue(true),
                          scaleacross::Fixed(MakeBooleanAccessor(&Dcqcn::m_clampTarget)),
                          MakeBooleanChecker());
    return tid;
}

Dcqcn::Dcqcn() = default;

Dcqcn::~Dcqcn() = default;

std::string
Dcqcn::GetName() const
{
    return "DCQCN";
}

Ptr<RdmaCongestionOps>
Dcqcn::Fork() const
{
    Ptr<Dcqcn> copy = CreateObject<Dcqcn>();
    copy->m_gain = m_gain;
    copy->m_alphaTimer = m_alphaTimer;
    copy->m_increaseTimer = m_increaseTimer;
    copy->m_byteCounter = m_byteCounter;
    copy->m_fastRecovery = m_fastRecovery;
    copy->m_additive = m_additive;
    copy->m_hyper = m_hyper;
    copy->m_minRate = m_minRate;
    copy->m_clampTarget = m_clampTarget;
    return copy;
}

void
Dcqcn::Init(RdmaCongestionState& state)
{
    if (m_minRate.GetBitRate() == 0 || m_minRate.GetBitRate() > state.lineRate)
    {
        throw ConfigError("Dcqcn::MinRate",
                          std::to_string(m_minRate.GetBitRate()) + " bit/s",
                          "more than 0, at most the line rate of " +
                              std::to_string(state.lineRate) + " bit/s",
                          "");
    }
    m_current = static_cast<double>(state.lineRate);
    m_target = m_current;
    Publish(state);
}

void
Dcqcn::OnSent(RdmaCongestionState& state, uint32_t bytes, int64_t)
{
    if (!m_limited)
    {
        return;
    }
    m_bytes += bytes;
    if (m_bytes >= m_byteCounter)
    {
        m_bytes -= m_byteCounter;
        ++m_byteCount;
        Raise(state);
        PlanDeadline();
    }
}

void
Dcqcn::OnCnp(RdmaCongestionState& state, int64_t now)
{
    if (m_clampTarget || m_timerCount > 0 || m_byteCount > 0)
    {
        m_target = m_current;
    }
    m_current =
        std::max(m_current * (1 - m_alpha / 2), static_cast<double>(m_minRate.GetBitRate()));
    m_alpha = (1 - m_gain) * m_alpha + m_gain;
    m_alphaAt = now + m_alphaTimer.GetPicoSeconds();
    m_raiseAt = now + m_increaseTimer.GetPicoSeconds();
    m_bytes = 0;
    m_timerCount = 0;
    m_byteCount = 0;
    m_limited = true;
    Publish(state);
    PlanDeadline();
}

void
Dcqcn::Advance(RdmaCongestionState& state, int64_t now)
{
    // Both timers touch different things, so their order at equal times does not matter.
    while (m_alphaAt <= now)
    {
        m_alpha *= 1 - m_gain;
        m_alphaAt += m_alphaTimer.GetPicoSeconds();
    }
    while (m_raiseAt <= now)
    {
        m_raiseAt += m_increaseTimer.GetPicoSeconds();
        ++m_timerCount;
        Raise(state);
    }
    PlanDeadline();
}

void
Dcqcn::Raise(RdmaCongestionState& state)
{
    const auto line = static_cast<double>(state.lineRate);
    const uint32_t least = std::min(m_timerCount, m_byteCount);
    if (least > m_fastRecovery)
    {
        m_target += (least - m_fastRecovery) * static_cast<double>(m_hyper.GetBitRate());
    }
    else if (std::max(m_timerCount, m_byteCount) > m_fastRecovery)
    {
        m_target += static_cast<double>(m_additive.GetBitRate());
    }
    m_target = std::min(m_target, line);
    m_current = (m_target + m_current) / 2;
    Publish(state);
    if (state.rate == state.lineRate) // closer than half a bit/s
    {
        m_current = line;
        m_target = line;
        m_limited = false;
        m_raiseAt = kNever;
    }
}

void
Dcqcn::Publish(RdmaCongestionState& state)
{
    state.rate = static_cast<uint64_t>(std::llround(m_current));
}

void
Dcqcn::PlanDeadline()
{
    SetDeadline(std::min(m_alphaAt, m_raiseAt));
}

double
Dcqcn::GetCurrentRate() const
{
    return m_current;
}

double
Dcqcn::GetTargetRate() const
{
    return m_target;
}

double
Dcqcn::GetAlpha() const
{
    return m_alpha;
}

} // namespace ns3
