// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-queue-pair.h"

#include "core/base/errors.h"
#include "fabric-wire.h"
#include "flow-hash.h"
#include "ns3-compat.h"
#include "rdma-nic.h"
#include "rnr-timer.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/object-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{

using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::FabricPacket;
using scaleacross::kMostUnacked;
using scaleacross::kNever;
using scaleacross::kPriorities;
using scaleacross::PacketKind;
using scaleacross::PsnNear;
using scaleacross::RdmaAnswer;
using scaleacross::RdmaDelivery;
using scaleacross::RdmaOperation;

namespace
{
constexpr int64_t kTimeoutUnit = 4'096'000; // ps

/// RnrRetryCount of this value has no end, as in the standard.
constexpr uint32_t kEndlessRnrRetries = 7;
} // namespace

NS_OBJECT_ENSURE_REGISTERED(RdmaQueuePair);

TypeId
RdmaQueuePair::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaQueuePair")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<RdmaQueuePair>()
            .AddAttribute("Window",
                          "Most unacknowledged payload in bytes, in whole packets and at least "
                          "one; 0 is no limit. The rate is at most Window per round trip.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaQueuePair::m_windowBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("AckInterval",
                          "Ask for an ACK on every n-th packet; the last packet of a message and "
                          "one that fills the window always ask.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RdmaQueuePair::m_ackInterval),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Timeout",
                          "n: the retransmission timer is 4.096 us * 2^n (14: 67 ms); 0 switches "
                          "it off.",
                          UintegerValue(14),
                          MakeUintegerAccessor(&RdmaQueuePair::m_timeoutExponent),
                          MakeUintegerChecker<uint32_t>(0, 31))
            .AddAttribute("RetryCount",
                          "Timeouts without progress after which the next one is an error.",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RdmaQueuePair::m_retryCount),
                          MakeUintegerChecker<uint32_t>(0, 1000000))
            .AddAttribute("RetransmissionMode",
                          "How losses are repaired, at both ends: GoBackN or SelectiveRepeat.",
                          EnumValue(GoBackN),
                          scaleacross::EnumAccessor<RetransmissionMode>(&RdmaQueuePair::m_mode),
                          MakeEnumChecker(GoBackN, "GoBackN", SelectiveRepeat, "SelectiveRepeat"))
            .AddAttribute("OutOfOrderLimit",
                          "SelectiveRepeat: packets beyond the expected one that the receiver "
                          "keeps; one further away is thrown away, so Window should not be "
                          "larger. A bit each, taken as needed.",
                          UintegerValue(kMostUnacked),
                          MakeUintegerAccessor(&RdmaQueuePair::m_outOfOrderLimit),
                          MakeUintegerChecker<uint64_t>(1, kMostUnacked))
            .AddAttribute("ReorderTolerance",
                          "SelectiveRepeat: a packet counts as lost when one that was sent more "
                          "than this many packets later has arrived. 0 for paths that keep the "
                          "order; for packets spread over unequal paths their difference in "
                          "delay, in packets.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaQueuePair::m_reorderTolerance),
                          MakeUintegerChecker<uint64_t>(0, kMostUnacked))
            .AddAttribute("StartingPsn",
                          "PSN of the first packet in either direction; equal at both ends.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaQueuePair::m_startingPsn),
                          MakeUintegerChecker<uint32_t>(0, scaleacross::kPsnSpace - 1))
            .AddAttribute("ReceiveQueueDepth",
                          "Most receives that may be posted (PostReceive) at this end for sends "
                          "and writes with immediate; 0: it is always ready for them.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaQueuePair::m_receiveQueueDepth),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("RnrTimer",
                          "Code of the time that the peer waits after a receiver-not-ready NAK of "
                          "this end, as in the standard: 1 is 10 us, 12 is 640 us, 31 is 491.52 "
                          "ms, 0 is 655.36 ms.",
                          UintegerValue(12),
                          MakeUintegerAccessor(&RdmaQueuePair::m_rnrTimer),
                          MakeUintegerChecker<uint32_t>(0, scaleacross::kRnrTimerCodes - 1))
            .AddAttribute("RnrRetryCount",
                          "Receiver-not-ready NAKs without progress after which the next one is "
                          "an error; 7: there is no such error.",
                          UintegerValue(kEndlessRnrRetries),
                          MakeUintegerAccessor(&RdmaQueuePair::m_rnrRetryCount),
                          MakeUintegerChecker<uint32_t>(0, kEndlessRnrRetries))
            .AddAttribute("Priority",
                          "Priority of data packets.",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaQueuePair::m_priority),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddAttribute("AckPriority",
                          "Priority of the ACKs and NAKs that this end sends.",
                          UintegerValue(6),
                          MakeUintegerAccessor(&RdmaQueuePair::m_ackPriority),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddAttribute("CongestionOps",
                          "Type of the congestion control of the sending end; RdmaCongestionOps "
                          "itself stands for none.",
                          TypeIdValue(RdmaCongestionOps::GetTypeId()),
                          MakeTypeIdAccessor(&RdmaQueuePair::m_controlType),
                          MakeTypeIdChecker())
            .AddAttribute("RateLimit",
                          "Most bits per second on the wire, whatever the congestion control "
                          "says; 0 is no limit.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RdmaQueuePair::m_rateLimit),
                          MakeDataRateChecker())
            .AddAttribute("EcnCapable",
                          "Switches may mark the data packets even if there is no congestion "
                          "control; with one they always may.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RdmaQueuePair::m_ecnAttribute),
                          MakeBooleanChecker())
            .AddAttribute("SendCnps",
                          "Answer marked packets with congestion notifications. To be switched "
                          "off for controls that go by the marks on ACKs.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RdmaQueuePair::m_sendCnps),
                          MakeBooleanChecker())
            .AddAttribute("CnpInterval",
                          "Least time between two CNPs of this end. DCQCN's paper: N = 50 us.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&RdmaQueuePair::m_cnpIntervalTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CnpPriority",
                          "Priority of the CNPs that this end sends.",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RdmaQueuePair::m_cnpPriority),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddTraceSource("MessagePosted",
                            "A message is posted: bytes, tag, PSN of its first packet, packets.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_postedTrace),
                            "ns3::RdmaQueuePair::PostedTracedCallback")
            .AddTraceSource("MessageStarted",
                            "The first bit of a message leaves for the first time: bytes, tag.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_startedTrace),
                            "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource("MessageArriving",
                            "The first packet of a message has come in at the receiver, again if "
                            "it was sent again: bytes of its payload, tag.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_arrivingTrace),
                            "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource("MessageSent",
                            "A message is acknowledged completely: bytes, tag.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_sentTrace),
                            "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource("MessageDelivered",
                            "A message has arrived completely and is next in order: bytes, tag.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_deliveredTrace),
                            "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource("MessageFlushed",
                            "A message is given up as the queue pair goes into error: bytes, tag.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_flushedTrace),
                            "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource("Retransmit",
                            "The sender finds packets to send again, after a NAK, an ACK or a "
                            "timeout: the first PSN, how many.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_retransmitTrace),
                            "ns3::RdmaQueuePair::RetransmitTracedCallback")
            .AddTraceSource("Timeout",
                            "The retransmission timer ran out: first unacknowledged PSN, timeouts "
                            "in a row before this one.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_timeoutTrace),
                            "ns3::RdmaQueuePair::TimeoutTracedCallback")
            .AddTraceSource("Cnp",
                            "A congestion notification has arrived at the sender.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_cnpTrace),
                            "ns3::RdmaQueuePair::CnpTracedCallback");
    return tid;
}

RdmaQueuePair::RdmaQueuePair() = default;

RdmaQueuePair::~RdmaQueuePair() = default;

void
RdmaQueuePair::DoDispose()
{
    m_nic = nullptr;
    m_control = nullptr;
    m_messages.clear();
    m_visible = 0;
    m_completion.Nullify();
    m_delivery.Nullify();
    m_failureCallback.Nullify();
    Object::DoDispose();
}

void
RdmaQueuePair::SetNic(RdmaNic* nic, uint32_t number)
{
    m_nic = nic;
    m_number = number;
    // Whoever looks at this queue pair has to see its NIC act at the right time.
    const auto watch = [nic]() { nic->WatchDepartures(); };
    m_startedTrace.OnConnect(watch);
    m_arrivingTrace.OnConnect(watch);
    m_sentTrace.OnConnect(watch);
    m_flushedTrace.OnConnect(watch);
    m_deliveredTrace.OnConnect(watch);
    m_retransmitTrace.OnConnect(watch);
    m_timeoutTrace.OnConnect(watch);
    m_cnpTrace.OnConnect(watch);
}

void
RdmaQueuePair::Connect(uint32_t address, uint32_t remote, uint16_t entropy)
{
    const bool connected = m_state != State::Reset;
    if (m_nic == nullptr || connected || address == m_nic->GetFabricAddress())
    {
        throw ConfigError(m_nic == nullptr ? "RdmaQueuePair::Connect" : Describe(),
                          m_nic == nullptr ? "belongs to no NIC"
                                           : (connected ? "is connected already"
                                                        : "would be connected to its own NIC"),
                          "one connection, to another NIC",
                          "create queue pairs with RdmaNic::CreateQueuePair");
    }
    m_remoteAddress = address;
    m_remoteNumber = remote;
    m_mtu = m_nic->GetPathMtu();
    m_windowLimit = kMostUnacked;
    if (m_windowBytes > 0)
    {
        m_windowLimit = std::clamp<uint64_t>(m_windowBytes / m_mtu, 1, kMostUnacked);
    }
    m_allowed = m_windowLimit;
    m_next = m_una = m_sentUpTo = m_endPsn = m_startingPsn;
    m_selective.Start(m_startingPsn, m_reorderTolerance);
    m_receiver.Configure({m_startingPsn,
                          m_mode == SelectiveRepeat ? m_outOfOrderLimit : 0,
                          m_reorderTolerance,
                          m_receiveQueueDepth > 0});
    m_timeout = m_timeoutExponent == 0 ? 0 : kTimeoutUnit << m_timeoutExponent;
    int64_t nearest = m_nic->GetWire() ? 2 * m_nic->GetWire()->GetDelay().GetPicoSeconds() : 0;
    if (m_timeout != 0 && m_timeout <= nearest)
    {
        throw ConfigError(Describe() + " Timeout",
                          std::to_string(m_timeoutExponent) + " is " +
                              std::to_string(m_timeout / 1'000'000) +
                              " us, but there and back on the NIC's own wire takes " +
                              std::to_string(nearest / 1'000'000) + " us",
                          "more than the round trip: 4.096 us * 2^n",
                          "a larger RdmaQueuePair::Timeout");
    }
    m_cnpInterval = m_cnpIntervalTime.GetPicoSeconds();
    SetUpCongestionControl();
    m_window = m_allowed;
    // UDP source ports of RoCEv2 are 0xC000 to 0xFFFF.
    m_entropy = entropy;
    if (entropy == 0)
    {
        uint32_t hash = scaleacross::HashOf(m_nic->GetFabricAddress(), address, 0, m_number);
        m_entropy = static_cast<uint16_t>(0xC000U | (hash & 0x3FFFU));
    }
    m_state = State::ReadyToSend;
}

bool
RdmaQueuePair::Post(RdmaOperation operation, Bytes bytes, uint64_t tag)
{
    if (m_state == State::Reset)
    {
        throw ConfigError(m_nic == nullptr ? "RdmaQueuePair::Post" : Describe(),
                          "a message is posted before Connect",
                          "",
                          "");
    }
    if (HasFailed())
    {
        return false;
    }
    uint64_t packets = std::max<uint64_t>(1, (bytes.Count() + m_mtu - 1) / m_mtu);
    m_messages.push_back({bytes.Count(), tag, m_endPsn, packets, operation});
    const uint64_t firstPsn = m_endPsn;
    m_endPsn += packets;
    ++m_counters.postedMessages;
    m_counters.postedBytes += bytes.Count();
    m_nic->Posted(this);
    m_postedTrace(bytes.Count(), tag, firstPsn, packets); // last: a sink may post
    return true;
}

void
RdmaQueuePair::PostReceive(uint32_t count)
{
    const uint64_t posted = m_receiver.PostedReceives() + count;
    if (m_state == State::Reset || posted > m_receiveQueueDepth)
    {
        throw ConfigError(m_nic == nullptr ? "RdmaQueuePair::PostReceive" : Describe(),
                          m_state == State::Reset
                              ? "a receive is posted before Connect"
                              : std::to_string(posted) + " receives would be posted",
                          "at most ReceiveQueueDepth, " + std::to_string(m_receiveQueueDepth) +
                              "; 0 needs no receives",
                          "a larger RdmaQueuePair::ReceiveQueueDepth");
    }
    m_receiver.PostReceives(count);
}

uint64_t
RdmaQueuePair::GetPostedReceives() const
{
    return m_receiver.PostedReceives();
}

void
RdmaQueuePair::ShowPosted()
{
    m_visible = m_messages.size();
}

// --- Sender
// ---------------------------------------------------------------------------------------

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
        m_mayRepeat = m_selective.HasLost();
        packet.retransmitted = true;
        packet.ackRequested = true; // the answer tells which packets sent before are lost
        m_timedStart = psn == m_timedPsn ? -1 : m_timedStart;
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
    }
    if (timed)
    {
        RestartTimer(start);
    }
    m_counters.retransmissions += packet.retransmitted ? 1 : 0;
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
    if (m_state != State::ReadyToSend || psn > m_sentUpTo ||
        (psn < m_una && (!selective || notReady)))
    {
        return;
    }
    psn = std::max(psn, m_una); // an answer that was overtaken still tells of its cause
    const uint64_t cause = notReady ? psn : PsnNear(packet.tag, m_una);
    bool progress = psn > m_una;
    bool loss = packet.kind == PacketKind::Nak && !selective;
    if (selective && !notReady)
    {
        const auto finding = m_selective.Answered(psn, cause, m_next);
        progress = finding.progress;
        loss = finding.lost > 0;
        Found(finding);
    }
    if (m_control)
    {
        AdvanceControl(now);
        const int64_t roundTrip = RoundTrip(psn, cause, now);
        m_congestion.unacked = m_next > psn ? m_next - psn : 0;
        m_control->OnAck(m_congestion, psn - m_una, packet.ecnMarked, roundTrip, now);
        if (loss)
        {
            m_control->OnLoss(m_congestion, now);
        }
        ApplyWindow();
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
    UpdateSending();
    Complete(completed);
    if (!ready)
    {
        Fail("receiver not ready: " + Describe() + " had PSN " + std::to_string(m_una) +
             " refused " + std::to_string(m_rnrRetries + 1) + " times");
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
    m_timedStart = -1; // whose ACK it would be could not be told
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
    SetDeadline(m_sentUpTo > m_una && m_timeout != 0 ? now + m_timeout : kNever);
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
RdmaQueuePair::UpdateSending()
{
    m_window = m_heldBack ? 0 : m_allowed;
    m_mayRepeat = m_selective.HasLost() && !m_heldBack;
    m_nic->UpdateActive(this);
}

void
RdmaQueuePair::HandleTimeout(int64_t now)
{
    m_timesNext = true;
    RestartTimer(now);
    if (m_heldBack)
    {
        m_heldBack = false;
        UpdateSending();
        return;
    }
    ++m_counters.timeouts;
    m_timeoutTrace(m_una, m_retries);
    if (m_retries == m_retryCount)
    {
        Fail("retry limit: " + Describe() + " got no answer for PSN " + std::to_string(m_una) +
             " in " + std::to_string(m_retries + 1) + " timeouts of " +
             std::to_string(static_cast<double>(m_timeout) * 1e-6) + " us");
        return;
    }
    ++m_retries;
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
        ApplyWindow();
    }
    UpdateSending();
}

void
RdmaQueuePair::Fail(const std::string& error)
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
    m_nic->UpdateActive(this);
    for (const Message& message : flushed)
    {
        m_flushedTrace(message.bytes, message.tag);
    }
    if (!m_failureCallback.IsNull())
    {
        m_failureCallback(m_failure);
    }
}

// --- Receiver
// -------------------------------------------------------------------------------------

void
RdmaQueuePair::HandleData(const FabricPacket& packet, int64_t now)
{
    if (m_state != State::ReadyToSend)
    {
        return;
    }
    if (packet.ecnMarked)
    {
        NoteMark(now);
    }
    if (packet.firstOfMessage)
    {
        m_arrivingTrace(packet.payload, packet.tag);
    }
    const RdmaAnswer answer = m_receiver.Take(packet);
    if (answer != RdmaAnswer::None)
    {
        Answer(answer, packet, now);
    }
    if (!m_receiver.Delivered().empty())
    {
        Deliver();
    }
}

void
RdmaQueuePair::Answer(RdmaAnswer answer, const FabricPacket& packet, int64_t now)
{
    FabricPacket* control = m_nic->NewControl();
    control->kind = answer == RdmaAnswer::Ack   ? PacketKind::Ack
                    : answer == RdmaAnswer::Nak ? PacketKind::Nak
                                                : PacketKind::RnrNak;
    control->psn = m_receiver.Expected();
    control->tag = answer == RdmaAnswer::RnrNak ? m_rnrTimer : packet.psn;
    control->ecnMarked = m_echo;
    m_echo = false;
    Address(*control);
    control->priority = m_ackPriority;
    m_nic->SendControl(control, now);
}

void
RdmaQueuePair::Deliver()
{
    std::vector<RdmaDelivery>& delivered = m_receiver.Delivered();
    for (const RdmaDelivery& message : delivered)
    {
        m_deliveredTrace(message.bytes, message.tag);
        if (!m_delivery.IsNull())
        {
            m_delivery(Bytes(message.bytes), message.tag);
        }
    }
    delivered.clear();
}

void
RdmaQueuePair::Address(FabricPacket& packet) const
{
    packet.destination = m_remoteAddress;
    packet.queuePair = m_remoteNumber;
    packet.entropy = m_entropy;
}

// --- Congestion
// -----------------------------------------------------------------------------------

void
RdmaQueuePair::SetUpCongestionControl()
{
    if (!m_control && m_controlType != RdmaCongestionOps::GetTypeId())
    {
        if (!m_controlType.IsChildOf(RdmaCongestionOps::GetTypeId()) ||
            !m_controlType.HasConstructor())
        {
            throw ConfigError(Describe() + " CongestionOps",
                              m_controlType.GetName() + " is no congestion control",
                              "a type derived from ns3::RdmaCongestionOps, as ns3::Dcqcn",
                              "");
        }
        ObjectFactory factory;
        factory.SetTypeId(m_controlType);
        m_control = factory.Create<RdmaCongestionOps>();
    }
    m_portRate = m_nic->GetDataRate().GetBitRate();
    const uint64_t limit = m_rateLimit.GetBitRate();
    m_paced = m_control || limit > 0;
    m_ecnCapable = m_control || m_ecnAttribute;
    m_congestion.lineRate = limit > 0 ? std::min(limit, m_portRate) : m_portRate;
    m_congestion.mtu = m_mtu;
    m_congestion.rate = m_congestion.lineRate;
    if (m_control)
    {
        m_control->Init(m_congestion);
        ApplyWindow();
    }
}

void
RdmaQueuePair::AdvanceControl(int64_t now)
{
    if (m_control->NextDeadline() <= now)
    {
        m_control->Advance(m_congestion, now);
    }
}

void
RdmaQueuePair::ApplyWindow()
{
    m_allowed = std::clamp<uint64_t>(m_congestion.windowBytes / m_mtu, 1, m_windowLimit);
}

void
RdmaQueuePair::Pace(const FabricPacket& packet, int64_t start)
{
    if (m_control)
    {
        AdvanceControl(start);
        m_congestion.unacked = m_next - m_una - 1;
        m_control->OnSent(m_congestion, packet.size, start);
        if (m_timedStart < 0 && !packet.retransmitted)
        {
            m_timedStart = start;
            m_timedPsn = packet.psn;
        }
    }
    if (m_congestion.rate >= m_portRate)
    {
        m_pacer.SentUnlimited();
        return;
    }
    m_pacer.Sent(packet.size, start, m_congestion.rate);
    if (!CanSend())
    {
        m_pacer.Rest();
    }
}

int64_t
RdmaQueuePair::RoundTrip(uint64_t psn, uint64_t cause, int64_t now)
{
    if (m_timedStart < 0 || psn <= m_timedPsn)
    {
        return -1;
    }
    // With coalesced ACKs a later packet may have caused it: no measure of the timed one.
    const int64_t roundTrip = cause == m_timedPsn ? now - m_timedStart : -1;
    m_timedStart = -1;
    return roundTrip;
}

void
RdmaQueuePair::HandleCnp(int64_t now)
{
    ++m_counters.cnpsReceived;
    m_cnpTrace();
    if (m_control && m_state == State::ReadyToSend)
    {
        AdvanceControl(now);
        m_congestion.unacked = m_next - m_una;
        m_control->OnCnp(m_congestion, now);
        ApplyWindow();
        UpdateSending();
    }
}

void
RdmaQueuePair::NoteMark(int64_t now)
{
    ++m_counters.markedPackets;
    m_echo = true;
    if (!m_sendCnps || now < m_nextCnp)
    {
        return;
    }
    m_nextCnp = now + m_cnpInterval;
    ++m_counters.cnpsSent;
    FabricPacket* packet = m_nic->NewCnp();
    Address(*packet);
    packet->priority = m_cnpPriority;
    m_nic->SendControl(packet, now);
}

// --- Access
// ---------------------------------------------------------------------------------------

void
RdmaQueuePair::SetCompletionCallback(RdmaMessageCallback callback)
{
    m_completion = callback;
}

void
RdmaQueuePair::SetDeliveryCallback(RdmaMessageCallback callback)
{
    m_delivery = callback;
}

void
RdmaQueuePair::SetFailureCallback(RdmaFailureCallback callback)
{
    m_failureCallback = callback;
}

uint32_t
RdmaQueuePair::GetNumber() const
{
    return m_number;
}

uint32_t
RdmaQueuePair::GetRemoteAddress() const
{
    return m_remoteAddress;
}

uint32_t
RdmaQueuePair::GetRemoteNumber() const
{
    return m_remoteNumber;
}

uint16_t
RdmaQueuePair::GetEntropy() const
{
    return m_entropy;
}

uint8_t
RdmaQueuePair::GetPriority() const
{
    return m_priority;
}

RdmaQueuePair::State
RdmaQueuePair::GetState() const
{
    return m_state;
}

bool
RdmaQueuePair::HasFailed() const
{
    return m_state == State::Error;
}

const std::string&
RdmaQueuePair::GetFailure() const
{
    return m_failure;
}

const RdmaQueuePair::Counters&
RdmaQueuePair::GetCounters() const
{
    m_nic->BringUpToDate();
    return m_counters;
}

uint64_t
RdmaQueuePair::GetUnacked() const
{
    m_nic->BringUpToDate();
    return m_next - m_una;
}

uint64_t
RdmaQueuePair::GetPendingMessages() const
{
    return m_messages.size();
}

Ptr<RdmaCongestionOps>
RdmaQueuePair::GetCongestionOps() const
{
    return m_control;
}

void
RdmaQueuePair::SetCongestionOps(Ptr<RdmaCongestionOps> control)
{
    if (m_state != State::Reset)
    {
        throw ConfigError(Describe() + " SetCongestionOps",
                          "called after Connect",
                          "one congestion control, before Connect",
                          "");
    }
    m_control = control;
}

DataRate
RdmaQueuePair::GetRate()
{
    m_nic->BringUpToDate();
    if (m_control)
    {
        AdvanceControl(scaleacross::SimulatorPicoseconds());
    }
    return DataRate(m_congestion.rate);
}

RdmaNic&
RdmaQueuePair::GetNic() const
{
    return *m_nic;
}

std::string
RdmaQueuePair::Describe() const
{
    return "queue pair " + std::to_string(m_number) + " of " + m_nic->Describe() + " to address " +
           std::to_string(m_remoteAddress);
}

} // namespace ns3
