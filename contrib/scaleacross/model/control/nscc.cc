// SPDX-License-Identifier: GPL-2.0-only

#include "nscc.h"

#include "ns3/attribute-guard.h"
#include "ns3/double.h"

#include <algorithm>

namespace ns3
{

namespace
{
constexpr double kOutlier = 5;          // base round trips: believed even if not marked
constexpr double kUnmarkedDelay = 0.25; // of the base round trip: what an unmarked long one counts
constexpr double kEtaPackets = 8;       // in which eta is added once
} // namespace

NS_OBJECT_ENSURE_REGISTERED(Nscc);

TypeId
Nscc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Nscc")
            .SetParent<RdmaCongestionOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<Nscc>()
            .AddAttribute("BaseRtt",
                          "T: round trip without any queueing. 0: the least so far.",
                          TimeValue(Time(0)),
                          scaleacross::Fixed(MakeTimeAccessor(&Nscc::m_baseRtt)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Target",
                          "Queueing aimed at. 0: TargetShare of the base round trip.",
                          TimeValue(Time(0)),
                          scaleacross::Fixed(MakeTimeAccessor(&Nscc::m_targetTime)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("TargetShare",
                          "Queueing aimed at in base round trips, where Target is 0. 0.75 with "
                          "switches that trim, 1 with others.",
                          DoubleValue(0.75),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_targetShare)),
                          MakeDoubleChecker<double>(1e-3, 1e3))
            .AddAttribute("MaxShare",
                          "Largest window, and the first one, in bandwidth-delay products. 1.5 is "
                          "usual where T is that of the longest path.",
                          DoubleValue(2),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_maxShare)),
                          MakeDoubleChecker<double>(1e-3, 1e3))
            .AddAttribute("ProportionalIncrease",
                          "P: packets by which the window grows in a round trip without queueing.",
                          DoubleValue(4),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_proportional)),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("FairIncrease",
                          "F: the same with long queueing and no marks.",
                          DoubleValue(5),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_fair)),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("Eta",
                          "E: packets by which the window grows in eight that arrive, whatever "
                          "they tell.",
                          DoubleValue(0.15),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_eta)),
                          MakeDoubleChecker<double>(0, 1e3))
            .AddAttribute("Gamma",
                          "Share of the excess queueing by which the window is cut.",
                          DoubleValue(0.8),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_gamma)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MaxDecrease",
                          "D: largest share of the window that one cut takes.",
                          DoubleValue(0.5),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_maxDecrease)),
                          MakeDoubleChecker<double>(0, 0.999))
            .AddAttribute("MeanGain",
                          "g: weight of the newest packet in the mean queueing.",
                          DoubleValue(0.0125),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_meanGain)),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("FastIncrease",
                          "I: bytes by which the window grows per byte that arrives, after a whole "
                          "window without queueing.",
                          DoubleValue(0.25),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_fastGain)),
                          MakeDoubleChecker<double>(0, 1e3))
            .AddAttribute("FastDelay",
                          "Queueing below this counts as none for FastIncrease.",
                          TimeValue(MicroSeconds(1)),
                          scaleacross::Fixed(MakeTimeAccessor(&Nscc::m_fastDelay)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("QuickAdaptGate",
                          "Quick adapt sets in if less than this part (1/n) of the largest window "
                          "arrives in a period.",
                          DoubleValue(8),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_gate)),
                          MakeDoubleChecker<double>(1, 1e6))
            .AddAttribute("QuickAdaptDelay",
                          "Queueing, in targets, that lets quick adapt set in as a loss does.",
                          DoubleValue(4),
                          scaleacross::Fixed(MakeDoubleAccessor(&Nscc::m_quickDelay)),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("ReferenceRate",
                          "Line rate for which increases are given as they are.",
                          DataRateValue(DataRate("100Gbps")),
                          scaleacross::Fixed(MakeDataRateAccessor(&Nscc::m_referenceRate)),
                          MakeDataRateChecker())
            .AddAttribute("ReferenceRtt",
                          "Round trip for which increases are given as they are.",
                          TimeValue(MicroSeconds(12)),
                          scaleacross::Fixed(MakeTimeAccessor(&Nscc::m_referenceRtt)),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

Nscc::Nscc() = default;

Nscc::~Nscc() = default;

std::string
Nscc::GetName() const
{
    return "NSCC";
}

Ptr<RdmaCongestionOps>
Nscc::Fork() const
{
    return CopyObject<Nscc>(this);
}

bool
Nscc::WantsRoundTrips() const
{
    return true;
}

void
Nscc::Init(RdmaCongestionState& state)
{
    m_base = 0;
    m_window = 0;
    m_mean = 0;
    m_fastRun = 0;
    m_achieved = 0;
    m_ignore = 0;
    m_trouble = false;
    m_periodEnd = 0;
    m_decreasedAt = INT64_MIN;
    m_quickAdapts = 0;
    if (!m_baseRtt.IsZero())
    {
        RdmaAck known;
        known.rtt = m_baseRtt.GetPicoSeconds();
        LearnBase(state, known, 0);
        Publish(state);
    }
}

void
Nscc::LearnBase(RdmaCongestionState& state, const RdmaAck& ack, int64_t now)
{
    const auto rtt = static_cast<double>(ack.rtt >= 0 ? ack.rtt : ack.trimmedRtt);
    if (rtt <= 0 || (m_base > 0 && rtt >= m_base))
    {
        return;
    }
    m_base = rtt;
    m_target = m_targetTime.IsZero() ? m_targetShare * m_base
                                     : static_cast<double>(m_targetTime.GetPicoSeconds());
    const auto reference = static_cast<double>(m_referenceRtt.GetPicoSeconds());
    const auto line = static_cast<double>(state.lineRate);
    m_scaleA = line * m_base / (static_cast<double>(m_referenceRate.GetBitRate()) * reference);
    m_scaleB = m_target / reference;
    m_most = m_maxShare * line * m_base / 8e12 * state.mtu / state.wireSize;
    m_most = std::max(m_most, static_cast<double>(state.mtu));
    if (m_window == 0)
    {
        m_window = m_most;
        m_periodEnd = now + static_cast<int64_t>(m_base + m_target);
    }
}

void
Nscc::OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now)
{
    if (m_baseRtt.IsZero())
    {
        LearnBase(state, ack, now);
    }
    if (m_base == 0)
    {
        return;
    }
    const auto bytes = static_cast<double>(ack.arrived * state.mtu);
    m_achieved += bytes;
    m_trouble = m_trouble || ack.trimmed;
    const double delay =
        ack.rtt >= 0 ? std::max(0.0, static_cast<double>(ack.rtt) - m_base) : m_mean;
    if (ack.rtt >= 0)
    {
        NoteDelay(delay, ack.marked);
        m_trouble = m_trouble || delay >= m_quickDelay * m_target;
    }
    const bool ignored = m_ignore > 0;
    m_ignore -= bytes + (ack.trimmed ? state.mtu : 0);
    if (QuickAdapt(state, now) || ignored)
    {
        m_fastRun = 0;
    }
    else if (ack.trimmed)
    {
        m_window -= state.mtu;
        m_fastRun = 0;
    }
    else if (!ack.marked)
    {
        Increase(state, bytes, delay);
    }
    else
    {
        m_fastRun = 0;
        m_window += m_eta * m_scaleA * bytes / kEtaPackets;
        if (delay >= m_target)
        {
            Decrease(now);
        }
    }
    Publish(state);
}

bool
Nscc::QuickAdapt(const RdmaCongestionState& state, int64_t now)
{
    if (now < m_periodEnd)
    {
        return false;
    }
    const bool adapt = m_trouble && m_achieved * m_gate < m_most;
    if (adapt)
    {
        m_window = std::min(m_window, m_achieved);
        m_ignore = static_cast<double>(state.unacked * state.mtu);
        m_fastRun = 0;
        ++m_quickAdapts;
    }
    m_periodEnd = now + static_cast<int64_t>(m_base + m_target);
    m_achieved = 0;
    m_trouble = false;
    return adapt;
}

void
Nscc::NoteDelay(double delay, bool marked)
{
    const bool doubtful = !marked && delay > m_target && delay <= kOutlier * m_base;
    m_mean += m_meanGain * ((doubtful ? kUnmarkedDelay * m_base : delay) - m_mean);
}

void
Nscc::Increase(const RdmaCongestionState& state, double bytes, double delay)
{
    const double share = bytes * state.mtu / m_window;
    m_fastRun = delay < static_cast<double>(m_fastDelay.GetPicoSeconds()) ? m_fastRun + bytes : 0;
    if (m_fastRun > m_window)
    {
        m_window += m_fastGain * m_scaleA * bytes;
    }
    else if (delay < m_target)
    {
        m_window += m_proportional * m_scaleA * m_scaleB * (1 - delay / m_target) * share;
    }
    else
    {
        m_window += m_fair * m_scaleA * share;
    }
    m_window += m_eta * m_scaleA * bytes / kEtaPackets;
}

void
Nscc::Decrease(int64_t now)
{
    const bool again =
        m_decreasedAt != INT64_MIN && static_cast<double>(now - m_decreasedAt) < m_base;
    if (m_mean > m_target && !again)
    {
        m_window *= std::max(1 - m_gamma * (m_mean - m_target) / m_mean, 1 - m_maxDecrease);
        m_decreasedAt = now;
    }
}

void
Nscc::OnLoss(RdmaCongestionState&, int64_t)
{
    m_trouble = true;
}

void
Nscc::OnTimeout(RdmaCongestionState& state, int64_t)
{
    m_trouble = false; // there is nothing left to take away
    m_ignore = 0;      // what was under way is lost
    if (m_base > 0)
    {
        m_window = state.mtu;
        Publish(state);
    }
}

void
Nscc::Publish(RdmaCongestionState& state)
{
    m_window = std::clamp(m_window, static_cast<double>(state.mtu), m_most);
    state.windowBytes = static_cast<uint64_t>(m_window);
}

double
Nscc::GetWindow() const
{
    return m_window;
}

double
Nscc::GetTarget() const
{
    return m_target;
}

double
Nscc::GetMeanDelay() const
{
    return m_mean;
}

uint64_t
Nscc::GetQuickAdapts() const
{
    return m_quickAdapts;
}

} // namespace ns3
