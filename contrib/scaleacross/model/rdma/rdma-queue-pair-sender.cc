// SPDX-License-Identifier: GPL-2.0-only

// The sender of a queue pair: what to send next, what ACKs, NAKs and timers do to that, and how it
// ends in an error. Rate and window are in rdma-queue-pair-congestion.cc.

#include "rdma-nic.h"
#include "rdma-queue-pair.h"
#include "rnr-timer.h"

#include <algorithm>
#include <utility>

namespace ns3
{

using scaleacross::Bytes;
using scaleacross::FabricPacket;
using scaleacross::kEndlessRnrRetries;
using scaleacross::kNever;
using scaleacross::PacketKind;
using scaleacross::PsnNear;

void
RdmaQueuePair::ShowPosted()
{
    m_visible = m_messages.size();
    m_receiver.PostReceives(std::exchange(m_newReceives, 0));
}

void
RdmaQueuePair::Fill(FabricPacket& packet, const Message& message, uint64_t psn)
{
    const uint64_t index = psn - message.firstPsn;
    const uint64_t left = message.bytes - index * m_mtu;
    packet.kind = PacketKind::Data;
    packet.psn = psn;
    packet.tag = message.tag;
    packet.destination = m_remoteAddress;
    packet.queuePair = m_remoteNumber;
    packet.entropy = m_entropy;
    packet.priority = m_priority;
    packet.operation = message.operation;
    packet.payload = static_cast<uint16_t>(std::min<uint64_t>(left, m_mtu));
    packet.firstOfMessage = index == 0;
    packet.lastOfMessage = index + 1 == message.packets;
    packet.size = static_cast<uint16_t>(m_nic->WireSize(packet.payload,
                                                        message.operation,
                                                        packet.firstOfMessage,
                                                        packet.lastOfMessage));
    packet.ecnCapable = m_ecnCapable;
}

void
RdmaQueuePair::FillNext(FabricPacket& packet, int64_t start)
{
    const bool timed = m_timesNext;
    m_timesNext = false;
    if (m_mayRepeat)
    {
        const uint64_t psn = m_selective.TakeLost(m_next);
        Fill(packet, MessageOf(psn), psn);
        packet.retransmitted = true;
        packet.ackRequested = true; // the answer tells which packets sent before are lost
        m_asked = psn;
        UpdateWindow();
    }
    else
    {
        const Message& message = m_messages[m_cursor];
        Fill(packet, message, m_next);
        packet.retransmitted = m_next < m_sentUpTo;
        if (packet.firstOfMessage && !packet.retransmitted && !m_startedTrace.IsEmpty())
        {
            m_nic->NoteStarted(this, message.bytes, message.tag);
        }
        ++m_next;
        m_sentUpTo = std::max(m_sentUpTo, m_next);
        m_cursor += packet.lastOfMessage ? 1 : 0;
        packet.ackRequested =
            packet.lastOfMessage || m_ackInterval == 1 || m_next % m_ackInterval == 0 || !CanSend();
        m_asked = packet.ackRequested ? packet.psn : m_asked;
    }
    if (timed)
    {
        RestartTimer(start);
    }
    if (m_entropyOps)
    {
        packet.entropy = m_entropyOps->Next(start);
        packet.ownEntropy = true;
    }
    m_counters.retransmissions += packet.retransmitted ? 1 : 0;
    if (m_telemetry)
    {
        scaleacross::AttachTrail(packet, m_nic->NewTrail());
    }
    if (m_paced)
    {
        Pace(packet, start);
    }
}

const RdmaQueuePair::Message&
RdmaQueuePair::MessageOf(uint64_t psn) const
{
    const auto after = std::upper_bound(
        m_messages.begin(),
        m_messages.end(),
        psn,
        [](uint64_t value, const Message& message) { return value < message.firstPsn; });
    return *(after - 1);
}

void
RdmaQueuePair::HandleAck(const FabricPacket& packet, int64_t now)
{
    uint64_t psn = PsnNear(packet.psn, m_una);
    const bool selective = m_mode == SelectiveRepeat;
    const bool notReady = packet.kind == PacketKind::RnrNak;
    const bool trimmed = packet.kind == PacketKind::TrimNak;
    if (m_state != State::ReadyToSend || psn > m_sentUpTo ||
        (psn < m_una && (!selective || notReady)))
    {
        return;
    }
    psn = std::max(psn, m_una); // an answer that was overtaken still tells of its cause
    const uint64_t cause = notReady ? psn : PsnNear(packet.tag, m_una);
    bool progress = psn > m_una;
    bool loss = packet.kind == PacketKind::Nak && !selective;
    RdmaAck ack;
    ack.psn = psn;
    ack.packets = ack.arrived = psn - m_una;
    if (selective)
    {
        // Of a packet that was refused nothing can be said but that it has to come again.
        const auto finding = trimmed ? m_selective.Trimmed(psn, cause, m_next, packet.retransmitted)
                                     : m_selective.Answered(psn, notReady ? m_next : cause, m_next);
        progress = finding.progress || trimmed; // the path works, and nothing is left to guess
        loss = finding.lost > 0;
        ack.arrived = finding.arrived;
        ack.lost = trimmed ? 0 : finding.lost;
        Found(finding);
    }
    if (m_entropyOps && !notReady)
    {
        m_entropyOps->OnAck(packet.entropy, packet.ecnMarked || trimmed, now);
        if (loss && !trimmed)
        {
            m_entropyOps->OnLoss(now);
        }
    }
    if (psn > m_asked || cause == m_asked)
    {
        m_asked = kNothing;
    }
    if (m_control)
    {
        AdvanceControl(now);
        TellAck(packet, ack, cause, now);
        if (loss)
        {
            m_control->OnLoss(m_congestion, now);
        }
        ApplyControl(now);
    }
    std::vector<Message> completed;
    Advance(psn, completed);
    if (progress)
    {
        m_retries = 0;
        m_rnrRetries = 0;
        if (!m_heldBack)
        {
            RestartTimer(now);
            m_timesNext = m_next == m_una;
        }
    }
    if (packet.kind == PacketKind::Nak && !selective && m_next > m_una)
    {
        GoBack(now);
    }
    const bool ready = !notReady || m_next == m_una || HoldBack(packet.tag, now);
    UpdateSending(now);
    Complete(completed);
    if (!ready)
    {
        Fail("receiver not ready: " + Describe() + " had PSN " + std::to_string(m_una) +
                 " refused " + std::to_string(m_rnrRetries + 1) + " times",
             now);
    }
}

void
RdmaQueuePair::Advance(uint64_t psn, std::vector<Message>& completed)
{
    if (psn == m_una)
    {
        return;
    }
    m_una = psn;
    size_t done = 0;
    while (done < m_visible && m_messages[done].firstPsn + m_messages[done].packets <= m_una)
    {
        ++done;
    }
    if (m_next < m_una) // it had gone back, needlessly
    {
        m_next = m_una;
        m_cursor = done;
    }
    if (done > 0)
    {
        const auto end = m_messages.begin() + static_cast<std::ptrdiff_t>(done);
        completed.assign(m_messages.begin(), end);
        m_messages.erase(m_messages.begin(), end);
        m_cursor -= done;
        m_visible -= done;
    }
}

void
RdmaQueuePair::Complete(const std::vector<Message>& messages)
{
    for (const Message& message : messages)
    {
        ++m_counters.ackedMessages;
        m_counters.ackedBytes += message.bytes;
        m_sentTrace(message.bytes, message.tag);
        if (!m_completion.IsNull())
        {
            m_completion(Bytes(message.bytes), message.tag);
        }
    }
}

void
RdmaQueuePair::Found(const scaleacross::SelectiveRepeat::Finding& finding)
{
    if (finding.lost > 0)
    {
        m_retransmitTrace(finding.firstLost, finding.lost);
    }
}

void
RdmaQueuePair::GoBack(int64_t now)
{
    m_retransmitTrace(m_una, m_next - m_una);
    m_next = m_una;
    m_cursor = 0;
    m_timesNext = true;
    if (!m_heldBack)
    {
        RestartTimer(now); // the priority may be paused for good
    }
}

bool
RdmaQueuePair::HoldBack(uint64_t timerCode, int64_t now)
{
    ++m_counters.notReady;
    if (m_rnrRetries == m_rnrRetryCount && m_rnrRetryCount != kEndlessRnrRetries)
    {
        return false;
    }
    ++m_rnrRetries;
    m_heldBack = true;
    SetDeadline(now + scaleacross::RnrTimerPicoseconds(timerCode % scaleacross::kRnrTimerCodes));
    if (m_mode == SelectiveRepeat)
    {
        m_selective.Refused(m_una);
        m_retransmitTrace(m_una, 1);
    }
    else
    {
        GoBack(now);
    }
    return true;
}

void
RdmaQueuePair::RestartTimer(int64_t now)
{
    const bool waits = m_sentUpTo > m_una || (m_pulls && Backlog() > 0);
    SetDeadline(waits && m_timeout != 0 ? now + m_timeout : kNever);
}

void
RdmaQueuePair::SetDeadline(int64_t deadline)
{
    const bool ran = m_deadline != kNever;
    m_deadline = deadline;
    if (deadline != kNever)
    {
        m_nic->WatchDeadline(deadline, !ran);
    }
    else if (ran)
    {
        m_nic->ForgetDeadline();
    }
}

void
RdmaQueuePair::UpdateSending(int64_t now)
{
    UpdateWindow();
    m_nic->UpdateActive(this, now);
}

void
RdmaQueuePair::UpdateWindow()
{
    m_window = m_heldBack ? 0 : m_allowed;
    m_mayRepeat = m_selective.HasLost() && !m_heldBack;
    if (m_heldBack)
    {
        return;
    }
    // Packets that asked for no answer may have arrived long since. If no answer is to come that
    // could say so, the window must not wait for one. Pulls come without.
    const bool unanswered = m_ackInterval > 1 && m_asked == kNothing && m_next > m_una && !m_pulls;
    if (m_countFlight)
    {
        const uint64_t elsewhere = m_selective.NotUnderWay();
        m_window = std::min(m_allowed + elsewhere, m_outOfOrderLimit);
        m_mayRepeat = m_mayRepeat && (unanswered || UnderWay(m_una) < m_allowed);
    }
    if (unanswered)
    {
        m_window = std::max(m_window, std::min(m_next - m_una + 1, m_outOfOrderLimit));
    }
}

uint64_t
RdmaQueuePair::UnderWay(uint64_t from) const
{
    const uint64_t span = m_next > from ? m_next - from : 0;
    const uint64_t elsewhere = m_countFlight ? m_selective.NotUnderWay() : 0;
    return span > elsewhere ? span - elsewhere : 0;
}

void
RdmaQueuePair::HandleTimeout(int64_t now)
{
    m_timesNext = true;
    RestartTimer(now);
    if (m_heldBack)
    {
        m_heldBack = false;
        UpdateSending(now);
        return;
    }
    ++m_counters.timeouts;
    m_timeoutTrace(m_una, m_retries);
    if (m_retries == m_retryCount)
    {
        Fail("retry limit: " + Describe() + " got no answer for PSN " + std::to_string(m_una) +
                 " in " + std::to_string(m_retries + 1) + " timeouts of " +
                 std::to_string(static_cast<double>(m_timeout) * 1e-6) + " us",
             now);
        return;
    }
    ++m_retries;
    m_asked = kNothing;
    if (m_entropyOps)
    {
        m_entropyOps->OnTimeout(now);
    }
    if (m_mode == SelectiveRepeat)
    {
        Found(m_selective.TimedOut(m_next));
    }
    else
    {
        GoBack(now);
    }
    if (m_control)
    {
        AdvanceControl(now);
        m_congestion.unacked = 0;
        m_control->OnTimeout(m_congestion, now);
        ApplyControl(now);
    }
    UpdateSending(now);
    RunTimerIfHeldUp(now);
}

void
RdmaQueuePair::LinkChanged(bool up, int64_t now)
{
    if (up && m_sentUpTo == m_una)
    {
        SetDeadline(kNever); // it starts when the first packet leaves
    }
    RunTimerIfHeldUp(now);
}

void
RdmaQueuePair::RunTimerIfHeldUp(int64_t now)
{
    const bool heldUp = !m_nic->IsLinkUp() || (m_pulls && !CanSend());
    if (m_deadline == kNever && m_visible > 0 && m_timeout != 0 && heldUp)
    {
        SetDeadline(now + m_timeout);
    }
}

void
RdmaQueuePair::Fail(const std::string& error, int64_t now)
{
    const std::deque<Message> flushed = std::move(m_messages);
    m_messages.clear();
    uint64_t bytes = 0;
    for (const Message& message : flushed)
    {
        bytes += message.bytes;
    }
    m_failure = error + "; " + std::to_string(flushed.size()) + " messages of " +
                std::to_string(bytes) + " bytes are lost";
    m_state = State::Error;
    m_counters.flushedMessages += flushed.size();
    m_counters.flushedBytes += bytes;
    m_visible = 0;
    m_cursor = 0;
    m_next = m_una;
    m_mayRepeat = false;
    SetDeadline(kNever);
    m_nic->UpdateActive(this, now);
    for (const Message& message : flushed)
    {
        m_flushedTrace(message.bytes, message.tag);
    }
    if (!m_failureCallback.IsNull())
    {
        m_failureCallback(m_failure);
    }
}

} // namespace ns3
