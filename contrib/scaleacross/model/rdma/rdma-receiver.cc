// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-receiver.h"

namespace scaleacross
{

void
RdmaReceiver::Configure(const Config& config)
{
    m_config = config;
    m_expected = config.firstPsn;
    m_messageFirst = config.firstPsn;
}

void
RdmaReceiver::Complete(const Part& part)
{
    const uint64_t bytes = (part.psn - m_messageFirst) * m_pathMtu + part.payload;
    m_messageFirst = part.psn + 1;
    ++m_counters.deliveredMessages;
    m_counters.notified += part.operation == RdmaOperation::Write ? 0 : 1;
    m_delivered.push_back({bytes, part.tag, part.operation});
}

bool
RdmaReceiver::UseReceive()
{
    if (!m_config.countReceives)
    {
        return true;
    }
    if (m_receives == 0)
    {
        return false;
    }
    --m_receives;
    return true;
}

RdmaAnswer
RdmaReceiver::Refuse()
{
    ++m_counters.rnrNaks;
    m_nakSent = true; // what follows the refused packet is no gap
    return RdmaAnswer::RnrNak;
}

RdmaAnswer
RdmaReceiver::TakeTrimmed(const FabricPacket& packet)
{
    ++m_counters.trimmedPackets;
    const uint64_t psn = PsnNear(packet.psn, m_expected);
    if (psn < m_expected || m_ahead.Test(psn))
    {
        ++m_counters.duplicates;
        return m_config.keepAhead > 0 || packet.ackRequested ? RdmaAnswer::Ack : RdmaAnswer::None;
    }
    if (m_config.keepAhead == 0)
    {
        return NakOnce();
    }
    ++m_counters.naks;
    return RdmaAnswer::TrimNak;
}

RdmaAnswer
RdmaReceiver::NakOnce()
{
    if (m_nakSent)
    {
        return RdmaAnswer::None;
    }
    m_nakSent = true;
    ++m_counters.naks;
    return RdmaAnswer::Nak;
}

RdmaAnswer
RdmaReceiver::TakeUnusual(const FabricPacket& packet, uint64_t psn)
{
    if (psn > m_expected)
    {
        ++m_counters.outOfOrder;
        return TakeAhead(packet, psn);
    }
    if (psn < m_expected)
    {
        ++m_counters.duplicates;
        return packet.ackRequested ? RdmaAnswer::Ack : RdmaAnswer::None;
    }
    if (NeedsReceive(packet) && !UseReceive())
    {
        return Refuse();
    }
    const bool gap = !m_ahead.Empty();
    Accept({psn, packet.tag, packet.payload, packet.lastOfMessage, packet.operation});
    if (gap)
    {
        return CloseGap();
    }
    return packet.ackRequested ? RdmaAnswer::Ack : RdmaAnswer::None;
}

RdmaAnswer
RdmaReceiver::TakeAhead(const FabricPacket& packet, uint64_t psn)
{
    if (m_config.keepAhead == 0)
    {
        return NakOnce();
    }
    const uint64_t distance = psn - m_expected;
    if (distance > m_config.keepAhead)
    {
        return RdmaAnswer::None;
    }
    if (m_ahead.Empty())
    {
        m_ahead.Reset(m_expected);
    }
    if (m_ahead.Set(psn))
    {
        ++m_counters.placedEarly;
        NoteMark(packet, psn);
    }
    else
    {
        ++m_counters.duplicates;
    }
    if (distance <= m_config.reorderTolerance)
    {
        return RdmaAnswer::Ack;
    }
    ++m_counters.naks;
    return RdmaAnswer::Nak;
}

void
RdmaReceiver::NoteMark(const FabricPacket& packet, uint64_t psn)
{
    const bool needsReceive = NeedsReceive(packet);
    if (!packet.lastOfMessage)
    {
        m_pathMtu = packet.payload;
        if (!needsReceive)
        {
            return;
        }
    }
    // Packets come nearly in order: the place is near the end.
    auto place = m_marks.end();
    while (place != m_marks.begin() && (place - 1)->part.psn > psn)
    {
        --place;
    }
    m_marks.insert(
        place,
        {{psn, packet.tag, packet.payload, packet.lastOfMessage, packet.operation}, needsReceive});
}

RdmaAnswer
RdmaReceiver::CloseGap()
{
    RdmaAnswer answer = RdmaAnswer::Ack;
    while (m_ahead.Test(m_expected))
    {
        Part part{m_expected, 0, m_pathMtu, false, RdmaOperation::Write};
        if (!m_marks.empty() && m_marks.front().part.psn == m_expected)
        {
            const Mark mark = m_marks.front();
            m_marks.pop_front();
            if (mark.needsReceive && !UseReceive())
            {
                m_ahead.Clear(m_expected);
                answer = Refuse();
                break;
            }
            part = mark.part;
        }
        Accept(part);
    }
    m_ahead.AdvanceTo(m_expected);
    return answer;
}

} // namespace scaleacross
