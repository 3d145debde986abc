// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-requester.h"

#include "rdma-nic.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace scaleacross
{

NS_LOG_COMPONENT_DEFINE("RdmaRequester");

/// What an answer says.
struct RdmaRequester::Verdict
{
    uint64_t psn;   //!< all before have arrived
    uint64_t cause; //!< the packet that it answers
    bool progress;
    bool loss;
    uint64_t arrived; //!< packets that are newly known to have arrived
    uint64_t lost;    //!< packets that it shows to be lost, but for one that was trimmed
};

void
RdmaRequester::Fill(FabricPacket& packet, const PostedMessage& message, uint64_t psn) const
{
    const uint64_t index = psn - message.firstPsn;
    const uint64_t left = message.bytes - index * m_mtu;
    packet.kind = PacketKind::Data;
    packet.psn = psn;
    packet.tag = message.tag;
    m_ends.Address(packet);
    packet.priority = m_config.priority;
    packet.operation = message.operation;
    packet.payload = static_cast<uint16_t>(std::min<uint64_t>(left, m_mtu));
    packet.firstOfMessage = index == 0;
    packet.lastOfMessage = index + 1 == message.packets;
    packet.size = static_cast<uint16_t>(m_ends.nic->WireSize(packet.payload,
                                                             message.operation,
                                                             packet.firstOfMessage,
                                                             packet.lastOfMessage));
    packet.ecnCapable = m_ecnCapable;
}

void
RdmaRequester::FillRepeated(FabricPacket& packet)
{
    const uint64_t psn = m_repeat.TakeLost(m_queue.Next());
    Fill(packet, m_queue.MessageOf(psn), psn);
    packet.retransmitted = true;
    packet.ackRequested = true; // the answer tells which packets sent before are lost
    m_window.Asked(psn);
    UpdateWindow();
}

void
RdmaRequester::FillNew(FabricPacket& packet)
{
    const PostedMessage& message = m_queue.Current();
    Fill(packet, message, m_queue.Next());
    packet.retransmitted = m_queue.Next() < m_queue.SentUpTo();
    if (packet.firstOfMessage && !packet.retransmitted && !startedTrace.IsEmpty())
    {
        m_ends.nic->NoteStarted(this, message.bytes, message.tag);
    }
    m_queue.TakeNext(packet.lastOfMessage);
    packet.ackRequested =
        packet.lastOfMessage || m_window.IsTurnToAsk(m_queue.Next()) || !CanSend();
    if (packet.ackRequested)
    {
        m_window.Asked(packet.psn);
    }
}

void
RdmaRequester::FillNext(FabricPacket& packet, int64_t start)
{
    const bool timed = m_timer.Sent();
    if (m_window.MayRepeat())
    {
        FillRepeated(packet);
    }
    else
    {
        FillNew(packet);
    }
    if (timed)
    {
        m_timer.Restart(start, Waits());
    }
    if (m_ports.Ops() != nullptr)
    {
        packet.entropy = m_ports.Ops()->Next(start);
        packet.ownEntropy = true;
    }
    m_counters.retransmissions += packet.retransmitted ? 1 : 0;
    if (m_allowance.WantsTelemetry())
    {
        AttachTrail(packet, m_ends.nic->NewTrail());
    }
    if (m_allowance.IsPaced())
    {
        const uint64_t backlog = m_allowance.GoesByPulls() ? Backlog() : 0;
        packet.wantsPull = m_allowance.Sent(packet.psn,
                                            packet.size,
                                            start,
                                            {UnderWay(m_queue.Una()) - 1, backlog});
        if (!CanSend())
        {
            m_allowance.Rest();
        }
    }
}

void
RdmaRequester::LeaveOut(uint64_t packets, std::size_t messages)
{
    m_queue.LeaveOut(packets, messages, m_mtu);
    m_counters.postedBytes -= packets * m_mtu;
}

void
RdmaRequester::HandleAck(const FabricPacket& packet, int64_t now)
{
    const bool notReady = packet.kind == PacketKind::RnrNak;
    uint64_t psn = PsnNear(packet.psn, m_queue.Una());
    if (!IsOpen() || psn > m_queue.SentUpTo() ||
        (psn < m_queue.Una() && (!m_reordering.selective || notReady)))
    {
        return;
    }
    psn = std::max(psn, m_queue.Una()); // an answer that was overtaken still tells of its cause
    Verdict verdict{psn,
                    notReady ? psn : PsnNear(packet.tag, m_queue.Una()),
                    psn > m_queue.Una(),
                    packet.kind == PacketKind::Nak && !m_reordering.selective,
                    psn - m_queue.Una(),
                    0};
    if (m_reordering.selective)
    {
        Judge(packet, verdict);
    }
    m_window.Answered(psn, verdict.cause);
    if (m_ports.Ops() != nullptr || m_allowance.Control() != nullptr)
    {
        Tell(packet, verdict, now);
    }
    std::vector<PostedMessage> completed;
    m_queue.Acknowledge(psn, completed);
    if (verdict.progress)
    {
        m_timer.Progress(now, Waits(), m_queue.Unacked() == 0);
    }
    if (packet.kind == PacketKind::Nak && !m_reordering.selective && m_queue.Unacked() > 0)
    {
        GoBack(now);
    }
    const bool ready = !notReady || m_queue.Unacked() == 0 || HoldBack(packet.tag, now);
    UpdateSending(now);
    Complete(completed);
    if (!ready)
    {
        Fail("receiver not ready: " + m_ends.Describe() + " had PSN " +
                 std::to_string(m_queue.Una()) + " refused " +
                 std::to_string(m_timer.RnrRetries() + 1) + " times",
             now);
    }
}

void
RdmaRequester::Judge(const FabricPacket& packet, Verdict& verdict)
{
    const uint64_t next = m_queue.Next();
    const bool notReady = packet.kind == PacketKind::RnrNak;
    const bool trimmed = packet.kind == PacketKind::TrimNak;
    // Of a packet that was refused nothing can be said but that it has to come again.
    const auto finding =
        trimmed ? m_repeat.Trimmed(verdict.psn, verdict.cause, next, packet.retransmitted)
                : m_repeat.Answered(verdict.psn, notReady ? next : verdict.cause, next);
    // If it was trimmed, the path works, and nothing is left to guess.
    verdict.progress = finding.progress || trimmed;
    verdict.loss = finding.lost > 0;
    verdict.arrived = finding.arrived;
    verdict.lost = trimmed ? 0 : finding.lost;
    Found(finding);
}

void
RdmaRequester::Tell(const FabricPacket& packet, const Verdict& verdict, int64_t now)
{
    const bool trimmed = packet.kind == PacketKind::TrimNak;
    if (m_ports.Ops() != nullptr && packet.kind != PacketKind::RnrNak)
    {
        m_ports.Ops()->OnAck(packet.entropy, packet.ecnMarked || trimmed, now);
        if (verdict.loss && !trimmed)
        {
            m_ports.Ops()->OnLoss(now);
        }
    }
    if (m_allowance.Control() != nullptr)
    {
        ns3::RdmaAck ack;
        ack.packets = verdict.psn - m_queue.Una();
        ack.arrived = verdict.arrived;
        ack.lost = verdict.lost;
        ack.pullOwed = trimmed && packet.wantsPull;
        ack.psn = verdict.psn;
        ack.next = m_queue.Next();
        ack.marked = packet.ecnMarked;
        ack.trimmed = trimmed;
        ack.switches = m_ends.nic->HopsOf(packet);
        ack.trail = m_ends.nic->ArrivedTrail();
        m_allowance.OnAck(ack, verdict.cause, verdict.loss, {UnderWay(verdict.psn), 0}, now);
    }
}

void
RdmaRequester::Complete(const std::vector<PostedMessage>& messages)
{
    for (const PostedMessage& message : messages)
    {
        ++m_counters.ackedMessages;
        m_counters.ackedBytes += message.bytes;
        sentTrace(message.bytes, message.tag);
        if (!completion.IsNull())
        {
            completion(Bytes(message.bytes), message.tag);
        }
    }
}

void
RdmaRequester::Found(const SelectiveRepeat::Finding& finding)
{
    if (finding.lost > 0)
    {
        NS_LOG_INFO(ns3::Simulator::Now().As(ns3::Time::US)
                    << " " << m_ends.Describe() << ": sends " << finding.lost
                    << " packets again, from PSN " << finding.firstLost);
        retransmitTrace(finding.firstLost, finding.lost);
    }
}

void
RdmaRequester::GoBack(int64_t now)
{
    NS_LOG_INFO(ns3::Simulator::Now().As(ns3::Time::US)
                << " " << m_ends.Describe() << ": sends " << m_queue.Unacked()
                << " packets again, from PSN " << m_queue.Una());
    retransmitTrace(m_queue.Una(), m_queue.Unacked());
    m_queue.GoBack();
    m_timer.WentBack(now, Waits());
}

bool
RdmaRequester::HoldBack(uint64_t timerCode, int64_t now)
{
    ++m_counters.notReady;
    if (!m_timer.HoldBack(timerCode, now))
    {
        return false;
    }
    if (m_reordering.selective)
    {
        m_repeat.Refused(m_queue.Una());
        retransmitTrace(m_queue.Una(), 1);
    }
    else
    {
        GoBack(now);
    }
    return true;
}

bool
RdmaRequester::Waits() const
{
    return m_queue.SentUpTo() > m_queue.Una() || (m_allowance.GoesByPulls() && Backlog() > 0);
}

uint64_t
RdmaRequester::Backlog() const
{
    return m_queue.Waiting() + m_repeat.Waiting();
}

uint64_t
RdmaRequester::UnderWay(uint64_t from) const
{
    return m_window.UnderWay(m_queue, m_repeat, from);
}

void
RdmaRequester::UpdateWindow()
{
    if (m_timer.IsHeldBack())
    {
        m_window.Close();
    }
    else
    {
        m_window.Update(m_queue, m_repeat, m_allowance.Packets());
    }
}

void
RdmaRequester::UpdateSending(int64_t now)
{
    UpdateWindow();
    m_ends.nic->UpdateActive(this, now);
}

void
RdmaRequester::HandlePull(const FabricPacket& packet, int64_t now)
{
    if (!m_allowance.GoesByPulls() || !IsOpen())
    {
        return;
    }
    ++m_counters.pullsReceived;
    m_allowance.OnPull(packet.psn, {UnderWay(m_queue.Una()), 0}, now);
    m_timer.PathWorks(now, Waits());
    UpdateSending(now);
}

void
RdmaRequester::HandleCnp(int64_t now)
{
    ++m_counters.cnpsReceived;
    NS_LOG_DEBUG(ns3::Simulator::Now().As(ns3::Time::US) << " " << m_ends.Describe() << ": CNP");
    cnpTrace();
    if (m_allowance.Control() != nullptr && IsOpen())
    {
        m_allowance.OnCnp({UnderWay(m_queue.Una()), 0}, now);
        UpdateSending(now);
    }
}

void
RdmaRequester::HandleTimeout(int64_t now)
{
    if (!m_timer.Expire(now, Waits()))
    {
        UpdateSending(now);
        return;
    }
    ++m_counters.timeouts;
    timeoutTrace(m_queue.Una(), m_timer.Retries());
    NS_LOG_INFO(ns3::Simulator::Now().As(ns3::Time::US)
                << " " << m_ends.Describe() << ": timeout, PSN " << m_queue.Una()
                << " is not acknowledged");
    if (!m_timer.Retry())
    {
        Fail("retry limit: " + m_ends.Describe() + " got no answer for PSN " +
                 std::to_string(m_queue.Una()) + " in " + std::to_string(m_timer.Retries() + 1) +
                 " timeouts of " + std::to_string(static_cast<double>(m_timer.Timeout()) * 1e-6) +
                 " us",
             now);
        return;
    }
    m_window.ForgetAsked();
    if (m_ports.Ops() != nullptr)
    {
        m_ports.Ops()->OnTimeout(now);
    }
    if (m_reordering.selective)
    {
        Found(m_repeat.TimedOut(m_queue.Next()));
    }
    else
    {
        GoBack(now);
    }
    if (m_allowance.Control() != nullptr)
    {
        m_allowance.OnTimeout(now);
    }
    UpdateSending(now);
    RunTimerIfHeldUp(now);
}

void
RdmaRequester::LinkChanged(bool up, int64_t now)
{
    if (up && m_queue.SentUpTo() == m_queue.Una())
    {
        m_timer.Stop(); // it starts when the first packet leaves
    }
    RunTimerIfHeldUp(now);
}

void
RdmaRequester::RunTimerIfHeldUp(int64_t now)
{
    if (m_queue.HasShown() &&
        (!m_ends.nic->IsLinkUp() || (m_allowance.GoesByPulls() && !CanSend())))
    {
        m_timer.StartUnlessRunning(now);
    }
}

void
RdmaRequester::Fail(const std::string& error, int64_t now)
{
    const std::deque<PostedMessage> flushed = m_queue.Flush();
    uint64_t bytes = 0;
    for (const PostedMessage& message : flushed)
    {
        bytes += message.bytes;
    }
    m_failure = error + "; " + std::to_string(flushed.size()) + " messages of " +
                std::to_string(bytes) + " bytes are lost";
    m_counters.flushedMessages += flushed.size();
    m_counters.flushedBytes += bytes;
    m_window.Close();
    m_timer.Stop();
    m_ends.nic->UpdateActive(this, now);
    for (const PostedMessage& message : flushed)
    {
        flushedTrace(message.bytes, message.tag);
    }
    if (!failure.IsNull())
    {
        failure(m_failure);
    }
}

} // namespace scaleacross
