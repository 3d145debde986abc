// SPDX-License-Identifier: GPL-2.0-only

#include "swift.h"

#include "core/base/errors.h"

#include "ns3/attribute-guard.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using scaleacross::ConfigError;

NS_OBJECT_ENSURE_REGISTERED(Swift);

TypeId
Swift::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Swift")
            .SetParent<RdmaCongestionOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<Swift>()
            .AddAttribute("AdditiveIncrease",
                          "ai: packets by which the window grows per round trip.",
                          DoubleValue(1.0),
                          scaleacross::Fixed(MakeDoubleAccessor(&Swift::m_ai)),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("Beta",
                          "beta: share of the excess delay by which the window is cut.",
                          DoubleValue(0.8),
                          scaleacross::Fixed(MakeDoubleAccessor(&Swift::m_beta)),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("MaxDecrease",
                          "max_mdf: largest share of the window that one cut takes.",
                          DoubleValue(0.5),
                          scaleacross::Fixed(MakeDoubleAccessor(&Swift::m_maxMdf)),
                          MakeDoubleChecker<double>(0.0, 0.999))
            .AddAttribute("MinWindow",
                          "Least window in packets. Below 1 packets are spaced.",
                          DoubleValue(0.001),
                          scaleacross::Fixed(MakeDoubleAccessor(&Swift::m_minWindow)),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("MaxWindow",
                          "Largest window in packets, and the first one. 0: what the line takes "
                          "in the round trip aimed at, and no limit until an ACK is back.",
                          DoubleValue(0),
                          scaleacross::Fixed(MakeDoubleAccessor(&Swift::m_maxWindow)),
                          MakeDoubleChecker<double>(0.0, 1e9))
            .AddAttribute("BaseTarget",
                          "Round trip aimed at, hops and competition not counted. 0: the least "
                          "round trip so far and QueueTarget.",
                          TimeValue(Time(0)),
                          scaleacross::Fixed(MakeTimeAccessor(&Swift::m_baseTarget)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("QueueTarget",
                          "Queueing aimed at where BaseTarget is 0.",
                          TimeValue(MicroSeconds(10)),
                          scaleacross::Fixed(MakeTimeAccessor(&Swift::m_queueTarget)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HopDelay",
                          "Grows the target by this much per switch. Of use with BaseTarget only: "
                          "the least round trip knows the switches.",
                          TimeValue(Time(0)),
                          scaleacross::Fixed(MakeTimeAccessor(&Swift::m_hopDelay)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("FlowScalingRange",
                          "fs_range: most by which the target grows as the window shrinks, which "
                          "makes room for many flows and speeds up fairness.",
                          TimeValue(MicroSeconds(100)),
                          scaleacross::Fixed(MakeTimeAccessor(&Swift::m_flowRange)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("FlowScalingMin",
                          "Window in packets at which the target has grown by all of "
                          "FlowScalingRange.",
                          DoubleValue(0.1),
                          scaleacross::Fixed(MakeDoubleAccessor(&Swift::m_flowMin)),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("FlowScalingMax",
                          "Window in packets from which on it does not grow.",
                          DoubleValue(100),
                          scaleacross::Fixed(MakeDoubleAccessor(&Swift::m_flowMax)),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("RetransmitReset",
                          "Timeouts in a row after which the window is the least one.",
                          UintegerValue(5),
                          scaleacross::Fixed(MakeUintegerAccessor(&Swift::m_retransmitReset)),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

Swift::Swift() = default;

Swift::~Swift() = default;

std::string
Swift::GetName() const
{
    return "Swift";
}

Ptr<RdmaCongestionOps>
Swift::Fork() const
{
    return CopyObject<Swift>(this);
}

bool
Swift::WantsRoundTrips() const
{
    return true;
}

void
Swift::Init(RdmaCongestionState& state)
{
    if (m_flowMin >= m_flowMax)
    {
        throw ConfigError("Swift::FlowScalingMin",
                          std::to_string(m_flowMin) + " packets",
                          "less than FlowScalingMax, " + std::to_string(m_flowMax),
                          "");
    }
    if (m_maxWindow > 0 && m_minWindow > m_maxWindow)
    {
        throw ConfigError("Swift::MinWindow",
                          std::to_string(m_minWindow) + " packets",
                          "at most MaxWindow, " + std::to_string(m_maxWindow),
                          "");
    }
    m_window = m_maxWindow;
    m_useful = 1;
    m_leastRtt = -1;
    m_rtt = -1;
    m_decreasedAt = INT64_MIN;
    m_timeouts = 0;
    if (m_window > 0)
    {
        Publish(state);
    }
}

double
Swift::TargetDelay(uint32_t switches) const
{
    const double base = m_baseTarget.IsZero()
                            ? static_cast<double>(m_leastRtt + m_queueTarget.GetPicoSeconds())
                            : static_cast<double>(m_baseTarget.GetPicoSeconds());
    const auto range = static_cast<double>(m_flowRange.GetPicoSeconds());
    const double alpha = range / (1 / std::sqrt(m_flowMin) - 1 / std::sqrt(m_flowMax));
    const double scaling = alpha / std::sqrt(m_window) - alpha / std::sqrt(m_flowMax);
    return base + switches * static_cast<double>(m_hopDelay.GetPicoSeconds()) +
           std::clamp(scaling, 0.0, range);
}

bool
Swift::MayDecrease(int64_t now) const
{
    return m_window > 0 && m_rtt >= 0 &&
           (m_decreasedAt == INT64_MIN || now - m_decreasedAt >= m_rtt);
}

void
Swift::Decrease(double factor, int64_t now)
{
    m_window *= factor;
    m_decreasedAt = now;
}

void
Swift::OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now)
{
    m_timeouts = ack.arrived > 0 ? 0 : m_timeouts;
    if (ack.rtt < 0)
    {
        return;
    }
    m_rtt = ack.rtt;
    m_leastRtt = m_leastRtt < 0 ? ack.rtt : std::min(m_leastRtt, ack.rtt);
    if (m_window == 0)
    {
        // All that the line took while nothing was known: the packets of one round trip.
        m_window = std::max(1.0, static_cast<double>(state.unacked + ack.packets));
    }
    const auto delay = static_cast<double>(ack.rtt);
    const double target = TargetDelay(ack.switches);
    // What the line takes in the round trip aimed at; more would never be under way.
    m_useful = std::max(1.0, static_cast<double>(state.lineRate) * target / 8e12 / state.wireSize);
    if (delay < target)
    {
        const auto packets = static_cast<double>(ack.arrived);
        m_window += m_window >= 1 ? m_ai * packets / m_window : m_ai * packets;
    }
    else if (MayDecrease(now))
    {
        Decrease(std::max(1 - m_beta * (delay - target) / delay, 1 - m_maxMdf), now);
    }
    Publish(state);
}

void
Swift::OnLoss(RdmaCongestionState& state, int64_t now)
{
    m_timeouts = 0;
    if (MayDecrease(now))
    {
        Decrease(1 - m_maxMdf, now);
        Publish(state);
    }
}

void
Swift::OnTimeout(RdmaCongestionState& state, int64_t now)
{
    ++m_timeouts;
    if (m_timeouts >= m_retransmitReset)
    {
        m_window = m_minWindow;
        m_decreasedAt = now;
        Publish(state);
    }
    else if (MayDecrease(now))
    {
        Decrease(1 - m_maxMdf, now);
        Publish(state);
    }
}

void
Swift::Publish(RdmaCongestionState& state)
{
    const double most = m_maxWindow > 0 ? m_maxWindow : m_useful;
    m_window = std::clamp(m_window, std::min(m_minWindow, most), most);
    state.windowBytes = static_cast<uint64_t>(std::max(1.0, m_window) * state.mtu);
    state.rate = state.lineRate;
    if (m_window < 1 && m_rtt > 0)
    {
        const double rate = m_window * 8e12 * state.wireSize / static_cast<double>(m_rtt);
        state.rate = std::clamp<uint64_t>(static_cast<uint64_t>(rate), 1, state.lineRate);
    }
}

double
Swift::GetWindow() const
{
    return m_window;
}

} // namespace ns3
