// SPDX-License-Identifier: GPL-2.0-only

#include "dctcp-like.h"

#include "ns3/attribute-guard.h"
#include "ns3/double.h"

#include <algorithm>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(DctcpLike);

TypeId
DctcpLike::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::DctcpLike")
            .SetParent<RdmaCongestionOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<DctcpLike>()
            .AddAttribute("Gain",
                          "g: weight of the newest window in alpha. Paper: 1/16.",
                          DoubleValue(1.0 / 16),
                          scaleacross::Fixed(MakeDoubleAccessor(&DctcpLike::m_gain)),
                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

DctcpLike::DctcpLike() = default;

DctcpLike::~DctcpLike() = default;

std::string
DctcpLike::GetName() const
{
    return "DCTCP-like";
}

Ptr<RdmaCongestionOps>
DctcpLike::Fork() const
{
    return CopyObject<DctcpLike>(this);
}

void
DctcpLike::Init(RdmaCongestionState& state)
{
    m_window = std::numeric_limits<double>::infinity();
    m_alpha = 1;
    m_acked = 0;
    m_marked = 0;
    m_windowEnd = 0;
    m_cut = false;
    m_cutEnd = 0;
    Publish(state);
}

bool
DctcpLike::IsLimited() const
{
    return m_window < std::numeric_limits<double>::infinity();
}

void
DctcpLike::OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t)
{
    m_acked += ack.arrived;
    m_marked += ack.marked ? ack.arrived : 0;
    if (!IsLimited())
    {
        if (!ack.marked)
        {
            return;
        }
        // What was sent before the first mark is the first window.
        m_window = static_cast<double>((state.unacked + ack.packets) * state.mtu);
        m_acked = ack.arrived;
        m_marked = ack.arrived;
        m_windowEnd = ack.next;
    }
    else if (ack.psn >= m_windowEnd && m_acked > 0)
    {
        const double share = static_cast<double>(m_marked) / static_cast<double>(m_acked);
        m_alpha = (1 - m_gain) * m_alpha + m_gain * share;
        // Only a window that was used up is known to be too small.
        const bool full =
            static_cast<double>((state.unacked + ack.packets + 1) * state.mtu) >= m_window;
        if (m_marked == 0 && !m_cut && full)
        {
            m_window += state.mtu;
        }
        m_acked = 0;
        m_marked = 0;
        m_cut = false;
        m_windowEnd = ack.next;
    }
    if (ack.marked && ack.psn > m_cutEnd)
    {
        m_window *= 1 - m_alpha / 2;
        m_cut = true;
        m_cutEnd = ack.next;
    }
    Publish(state);
}

void
DctcpLike::OnLoss(RdmaCongestionState& state, int64_t)
{
    if (!IsLimited())
    {
        m_window = static_cast<double>(state.unacked * state.mtu);
    }
    if (!m_cut)
    {
        m_window /= 2;
        m_cut = true;
    }
    Publish(state);
}

void
DctcpLike::OnTimeout(RdmaCongestionState& state, int64_t)
{
    m_window = state.mtu;
    Publish(state);
}

void
DctcpLike::Publish(RdmaCongestionState& state)
{
    m_window = std::max(m_window, static_cast<double>(state.mtu));
    state.windowBytes =
        m_window < 1e18 ? static_cast<uint64_t>(m_window) : std::numeric_limits<uint64_t>::max();
}

double
DctcpLike::GetAlpha() const
{
    return m_alpha;
}

double
DctcpLike::GetWindow() const
{
    return m_window;
}

} // namespace ns3
