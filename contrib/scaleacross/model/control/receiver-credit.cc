// SPDX-License-Identifier: GPL-2.0-only

#include "receiver-credit.h"

#include "ns3/attribute-guard.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ReceiverCredit);

TypeId
ReceiverCredit::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ReceiverCredit")
            .SetParent<RdmaCongestionOps>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<ReceiverCredit>()
            .AddAttribute("FirstWindow",
                          "What the line carries in this time may be sent before the receiver has "
                          "said anything, and be under way later. About twice the longest round "
                          "trip without queueing: less leaves the line idle where packets wait on "
                          "their way, more makes larger bursts.",
                          TimeValue(MicroSeconds(20)),
                          scaleacross::Fixed(MakeTimeAccessor(&ReceiverCredit::m_firstWindow)),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

ReceiverCredit::ReceiverCredit() = default;

ReceiverCredit::~ReceiverCredit() = default;

std::string
ReceiverCredit::GetName() const
{
    return "receiver credit";
}

Ptr<RdmaCongestionOps>
ReceiverCredit::Fork() const
{
    return CopyObject<ReceiverCredit>(this);
}

bool
ReceiverCredit::WantsPulls() const
{
    return true;
}

void
ReceiverCredit::Init(RdmaCongestionState& state)
{
    const double packets =
        static_cast<double>(state.lineRate) * m_firstWindow.GetSeconds() / (8.0 * state.wireSize);
    m_first = std::max<uint64_t>(1, static_cast<uint64_t>(packets));
    m_atHand = m_first;
    m_asked = 0;
    m_pulled = 0;
    Forget();
    state.mayStop = true;
    Refill(state);
}

void
ReceiverCredit::OnSent(RdmaCongestionState& state, uint32_t, int64_t)
{
    m_atHand -= m_atHand > 0 ? 1 : 0;
    state.asks = state.backlog > m_atHand + GetOwed();
    m_asked += state.asks ? 1 : 0;
    m_silent += state.asks ? 0 : 1;
    if (m_sent.empty() || m_sent.back().asked != state.asks)
    {
        m_sent.push_back({state.asks, 0});
    }
    ++m_sent.back().packets;
}

/// So many packets are not under way any more: those that were sent first.
void
ReceiverCredit::Leave(uint64_t packets)
{
    while (packets > 0 && !m_sent.empty())
    {
        Run& first = m_sent.front();
        const uint64_t gone = std::min(packets, first.packets);
        m_silent -= first.asked ? 0 : gone;
        first.packets -= gone;
        packets -= gone;
        if (first.packets == 0)
        {
            m_sent.pop_front();
        }
    }
}

/// Nothing is under way.
void
ReceiverCredit::Forget()
{
    m_sent.clear();
    m_silent = 0;
}

void
ReceiverCredit::OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t)
{
    m_asked += ack.pullOwed ? 1 : 0;
    Leave(ack.arrived + ack.lost + (ack.trimmed ? 1 : 0));
    if (ack.lost > 0)
    {
        m_asked -= std::min(ack.lost, GetOwed());
        m_atHand = std::min(m_atHand + ack.lost, m_first);
    }
    Refill(state);
}

void
ReceiverCredit::OnPull(RdmaCongestionState& state, uint64_t number, int64_t)
{
    if (number > m_pulled)
    {
        m_atHand = std::min(m_atHand + number - m_pulled, m_first);
        m_pulled = number;
        m_asked = std::max(m_asked, m_pulled);
    }
    Refill(state);
}

void
ReceiverCredit::OnTimeout(RdmaCongestionState& state, int64_t)
{
    m_asked = m_pulled;
    Forget();
    Refill(state);
}

void
ReceiverCredit::Refill(RdmaCongestionState& state)
{
    if (state.unacked == 0)
    {
        Forget();
    }
    const uint64_t away = std::max(state.unacked, GetOwed() + m_silent);
    if (away < m_first)
    {
        m_atHand = std::max(m_atHand, m_first - away);
    }
    state.windowBytes = (state.unacked + m_atHand) * state.mtu;
}

uint64_t
ReceiverCredit::GetAtHand() const
{
    return m_atHand;
}

uint64_t
ReceiverCredit::GetOwed() const
{
    return m_asked - m_pulled;
}

} // namespace ns3
