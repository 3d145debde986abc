// SPDX-License-Identifier: GPL-2.0-only

#include "timely.h"

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

namespace
{
constexpr uint32_t kHyperSteps = 5; //!< the paper's N
} // namespace

NS_OBJECT_ENSURE_REGISTERED(Timely);

TypeId
Timely::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Timely")
            .SetParent<RdmaCongestionOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<Timely>()
            .AddAttribute("Alpha",
                          "alpha: weight of the newest difference of round trips.",
                          DoubleValue(0.875),
                          scaleacross::Fixed(MakeDoubleAccessor(&Timely::m_alpha)),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Beta",
                          "beta: how much of the gradient, or of the excess over HighThreshold, "
                          "a cut takes.",
                          DoubleValue(0.8),
                          scaleacross::Fixed(MakeDoubleAccessor(&Timely::m_beta)),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("AdditiveIncrease",
                          "delta, by which the rate grows per segment. 0: a thousandth of the line "
                          "rate, as the paper's 10 Mb/s at 10 Gb/s.",
                          DataRateValue(DataRate(0)),
                          scaleacross::Fixed(MakeDataRateAccessor(&Timely::m_delta)),
                          MakeDataRateChecker())
            .AddAttribute("LowThreshold",
                          "Queueing below which the rate grows whatever the gradient. Paper: a "
                          "round trip of 50 us, where the least is 20 us.",
                          TimeValue(MicroSeconds(30)),
                          scaleacross::Fixed(MakeTimeAccessor(&Timely::m_low)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HighThreshold",
                          "Queueing above which it is cut whatever the gradient. Paper: a round "
                          "trip of 500 us.",
                          TimeValue(MicroSeconds(480)),
                          scaleacross::Fixed(MakeTimeAccessor(&Timely::m_high)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("MinRtt",
                          "m, round trip without queueing. 0: the least so far.",
                          TimeValue(Time(0)),
                          scaleacross::Fixed(MakeTimeAccessor(&Timely::m_minRttTime)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Segment",
                          "Acknowledged payload bytes per update. Paper: 16 KB to 64 KB.",
                          UintegerValue(16'000),
                          scaleacross::Fixed(MakeUintegerAccessor(&Timely::m_segment)),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("HyperSegments",
                          "Segments in a row without a growing round trip after which the rate "
                          "grows five times as fast.",
                          UintegerValue(5),
                          scaleacross::Fixed(MakeUintegerAccessor(&Timely::m_hyperSegments)),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MinRate",
                          "The rate is never cut below.",
                          DataRateValue(DataRate("100Mbps")),
                          scaleacross::Fixed(MakeDataRateAccessor(&Timely::m_minRate)),
                          MakeDataRateChecker())
            .AddAttribute("Patched",
                          "Between the thresholds go by gradient and queueing, as in \"ECN or "
                          "Delay\", which takes a Beta of 0.008 then.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&Timely::m_patched)),
                          MakeBooleanChecker());
    return tid;
}

Timely::Timely() = default;

Timely::~Timely() = default;

std::string
Timely::GetName() const
{
    return m_patched ? "patched TIMELY" : "TIMELY";
}

Ptr<RdmaCongestionOps>
Timely::Fork() const
{
    return CopyObject<Timely>(this);
}

bool
Timely::WantsRoundTrips() const
{
    return true;
}

void
Timely::Init(RdmaCongestionState& state)
{
    if (m_low >= m_high)
    {
        throw ConfigError("Timely::LowThreshold",
                          std::to_string(m_low.GetPicoSeconds()) + " ps",
                          "less than HighThreshold, " + std::to_string(m_high.GetPicoSeconds()) +
                              " ps",
                          "");
    }
    if (m_minRate.GetBitRate() == 0 || m_minRate.GetBitRate() > state.lineRate)
    {
        throw ConfigError("Timely::MinRate",
                          std::to_string(m_minRate.GetBitRate()) + " bit/s",
                          "more than 0, at most the line rate of " +
                              std::to_string(state.lineRate) + " bit/s",
                          "");
    }
    m_rate = static_cast<double>(state.lineRate);
    m_difference = 0;
    m_gradient = 0;
    m_minRtt = static_cast<double>(m_minRttTime.GetPicoSeconds());
    m_before = -1;
    m_bytes = 0;
    m_falling = 0;
}

void
Timely::OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t)
{
    m_bytes += ack.arrived * state.mtu;
    if (ack.rtt < 0)
    {
        return;
    }
    const auto rtt = static_cast<double>(ack.rtt);
    if (m_minRttTime.IsZero())
    {
        m_minRtt = m_minRtt == 0 ? rtt : std::min(m_minRtt, rtt);
    }
    if (m_bytes >= m_segment)
    {
        m_bytes = 0;
        Update(state, rtt);
    }
}

void
Timely::Update(RdmaCongestionState& state, double rtt)
{
    const double change = m_before < 0 ? 0 : rtt - m_before;
    m_before = rtt;
    m_difference = (1 - m_alpha) * m_difference + m_alpha * change;
    m_gradient = m_difference / m_minRtt;
    m_falling = m_gradient <= 0 ? m_falling + 1 : 0;
    const double delta = m_delta.GetBitRate() > 0 ? static_cast<double>(m_delta.GetBitRate())
                                                  : static_cast<double>(state.lineRate) / 1000;
    const double queueing = rtt - m_minRtt;
    const auto low = static_cast<double>(m_low.GetPicoSeconds());
    const auto high = static_cast<double>(m_high.GetPicoSeconds());
    if (queueing < low)
    {
        m_rate += delta;
    }
    else if (queueing > high)
    {
        m_rate *= 1 - m_beta * (1 - (m_minRtt + high) / rtt);
    }
    else if (m_patched)
    {
        const double weight = std::clamp(2 * m_gradient + 0.5, 0.0, 1.0);
        const double excess = (queueing - low) / (m_minRtt + low);
        m_rate = delta * (1 - weight) + m_rate * (1 - m_beta * weight * excess);
    }
    else if (m_gradient <= 0)
    {
        m_rate += delta * (m_falling >= m_hyperSegments ? kHyperSteps : 1);
    }
    else
    {
        m_rate *= 1 - m_beta * m_gradient;
    }
    m_rate = std::clamp(m_rate,
                        static_cast<double>(m_minRate.GetBitRate()),
                        static_cast<double>(state.lineRate));
    state.rate = static_cast<uint64_t>(std::llround(m_rate));
}

double
Timely::GetGradient() const
{
    return m_gradient;
}

} // namespace ns3
