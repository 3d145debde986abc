// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-queue-pair.h"

#include "core/base/errors.h"
#include "fabric-wire.h"
#include "rdma-nic.h"
#include "route-table.h"

#include "ns3/boolean.h"
#include "ns3/object-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <vector>

namespace ns3
{

using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::FabricPacket;
using scaleacross::kNever;
using scaleacross::kPriorities;
using scaleacross::PacketKind;

namespace
{
/// Half of the 24-bit PSN space: beyond it a receiver cannot tell new packets from old ones.
constexpr uint64_t kMostUnacked = (1U << 23) - 1;

constexpr int64_t kTimeoutUnit = 4'096'000; // ps
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
                            "A message has arrived completely: bytes, tag.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_deliveredTrace),
                            "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource("Retransmit",
                            "The sender goes back, after a NAK or a timeout: to which PSN, over "
                            "how many packets.",
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
    m_deliveredTrace.OnConnect(watch);
    m_retransmitTrace.OnConnect(watch);
    m_timeoutTrace.OnConnect(watch);
    m_cnpTrace.OnConnect(watch);
}

void
RdmaQueuePair::Connect(uint32_t address, uint32_t remote, uint16_t entropy)
{
    if (m_nic == nullptr || m_connected || address == m_nic->GetFabricAddress())
    {
        throw ConfigError(m_nic == nullptr ? "RdmaQueuePair::Connect" : Describe(),
                          m_nic == nullptr ? "belongs to no NIC"
                                           : (m_connected ? "is connected already"
                                                          : "would be connected to its own NIC"),
                          "one connection, to another NIC",
                          "create queue pairs with RdmaNic::CreateQueuePair");
    }
    m_connected = true;
    m_remoteAddress = address;
    m_remoteNumber = remote;
    m_mtu = m_nic->GetPathMtu();
    m_window = kMostUnacked;
    if (m_windowBytes > 0)
    {
        m_window = std::clamp<uint64_t>(m_windowBytes / m_mtu, 1, kMostUnacked);
    }
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
    m_windowLimit = m_window;
    m_cnpInterval = m_cnpIntervalTime.GetPicoSeconds();
    SetUpCongestionControl();
    // UDP source ports of RoCEv2 are 0xC000 to 0xFFFF.
    m_entropy = entropy;
    if (entropy == 0)
    {
        uint32_t hash =
            scaleacross::RouteTable::Hash(m_nic->GetFabricAddress(), address, 0, m_number);
        m_entropy = static_cast<uint16_t>(0xC000U | (hash & 0x3FFFU));
    }
}

bool
RdmaQueuePair::PostSend(Bytes bytes, uint64_t tag)
{
    if (!m_connected)
    {
        throw ConfigError(m_nic == nullptr ? "RdmaQueuePair::PostSend" : Describe(),
                          "a message is posted before Connect",
                          "",
                          "");
    }
    if (HasFailed())
    {
        return false;
    }
    uint64_t packets = std::max<uint64_t>(1, (bytes.Count() + m_mtu - 1) / m_mtu);
    m_messages.push_back({bytes.Count(), tag, m_endPsn, packets});
    m_postedTrace(bytes.Count(), tag, m_endPsn, packets);
    m_endPsn += packets;
    ++m_counters.postedMessages;
    m_counters.postedBytes += bytes.Count();
    m_nic->Posted(this);
    return true;
}

void
RdmaQueuePair::ShowPosted()
{
    m_visible = m_messages.size();
}

// --- Sender
// ---------------------------------------------------------------------------------------

void
RdmaQueuePair::FillNext(FabricPacket& packet, int64_t start)
{
    const Message& message = m_messages[m_cursor];
    uint64_t index = m_next - message.firstPsn;
    uint64_t left = message.bytes - index * m_mtu;
    packet.kind = PacketKind::Data;
    packet.psn = m_next;
    packet.tag = message.tag;
    packet.destination = m_remoteAddress;
    packet.queuePair = m_remoteNumber;
    packet.entropy = m_entropy;
    packet.priority = m_priority;
    packet.payload = static_cast<uint16_t>(std::min<uint64_t>(left, m_mtu));
    packet.firstOfMessage = index == 0;
    packet.lastOfMessage = index + 1 == message.packets;
    packet.size = static_cast<uint16_t>(m_nic->WireSize(packet.payload, index == 0));
    packet.ecnCapable = m_ecnCapable;

    if (m_next == m_una && m_timeout != 0)
    {
        m_deadline = start + m_timeout;
        m_nic->WatchDeadline(m_deadline);
    }
    ++m_next;
    if (m_next > m_sentUpTo)
    {
        if (packet.firstOfMessage)
        {
            m_startedTrace(message.bytes, message.tag);
        }
        m_sentUpTo = m_next;
    }
    else
    {
        ++m_counters.retransmissions;
    }
    m_cursor += packet.lastOfMessage ? 1 : 0;
    packet.ackRequested =
        packet.lastOfMessage || m_ackInterval == 1 || m_next % m_ackInterval == 0 || !CanSend();
    if (m_paced)
    {
        Pace(packet.size, start);
    }
}

void
RdmaQueuePair::HandleAck(const FabricPacket& packet, int64_t now)
{
    if (HasFailed() || packet.psn < m_una || packet.psn > m_sentUpTo)
    {
        return;
    }
    if (m_control)
    {
        AdvanceControl(now);
        const int64_t roundTrip = RoundTrip(packet, now);
        const uint64_t acked = packet.psn - m_una;
        m_congestion.unacked = m_next > packet.psn ? m_next - packet.psn : 0;
        m_control->OnAck(m_congestion, acked, packet.ecnMarked, roundTrip, now);
        if (packet.kind == PacketKind::Nak)
        {
            m_control->OnLoss(m_congestion, now);
        }
        ApplyWindow();
    }
    size_t done = 0;
    if (packet.psn > m_una)
    {
        m_una = packet.psn;
        m_retries = 0;
        while (done < m_visible && m_messages[done].firstPsn + m_messages[done].packets <= m_una)
        {
            ++done;
        }
        if (m_next < m_una) // it had gone back, needlessly
        {
            m_next = m_una;
            m_cursor = done;
        }
        m_deadline = m_next > m_una && m_timeout != 0 ? now + m_timeout : kNever;
        if (m_deadline != kNever)
        {
            m_nic->WatchDeadline(m_deadline);
        }
    }
    if (packet.kind == PacketKind::Nak && m_next > m_una)
    {
        GoBack();
        m_cursor = done;
    }
    m_cursor -= done;
    m_visible -= done;
    if (done == 0)
    {
        m_nic->UpdateActive(this);
        return;
    }
    const auto end = m_messages.begin() + static_cast<std::ptrdiff_t>(done);
    const std::vector<Message> completed(m_messages.begin(), end);
    m_messages.erase(m_messages.begin(), end);
    m_nic->UpdateActive(this);
    for (const Message& message : completed)
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
RdmaQueuePair::GoBack()
{
    m_retransmitTrace(m_una, m_next - m_una);
    m_next = m_una;
    m_cursor = 0;
    m_timedStart = -1;   // whose ACK it would be could not be told
    m_deadline = kNever; // set again when the packet leaves
}

void
RdmaQueuePair::HandleTimeout(int64_t now)
{
    ++m_counters.timeouts;
    m_timeoutTrace(m_una, m_retries);
    if (m_retries == m_retryCount)
    {
        Fail();
        return;
    }
    ++m_retries;
    GoBack();
    if (m_control)
    {
        AdvanceControl(now);
        m_congestion.unacked = 0;
        m_control->OnTimeout(m_congestion, now);
        ApplyWindow();
    }
    m_nic->UpdateActive(this);
}

void
RdmaQueuePair::Fail()
{
    m_failure = "retry limit: " + Describe() + " got no answer for PSN " + std::to_string(m_una) +
                " in " + std::to_string(m_retries + 1) + " timeouts of " +
                std::to_string(static_cast<double>(m_timeout) * 1e-6) + " us; " +
                std::to_string(m_messages.size()) + " messages are lost";
    m_messages.clear();
    m_visible = 0;
    m_cursor = 0;
    m_next = m_una;
    m_deadline = kNever;
    m_nic->UpdateActive(this);
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
    if (packet.ecnMarked)
    {
        NoteMark(now);
    }
    if (packet.firstOfMessage)
    {
        m_arrivingTrace(packet.payload, packet.tag);
    }
    if (packet.psn > m_expected)
    {
        ++m_counters.outOfOrder;
        if (!m_nakSent)
        {
            m_nakSent = true;
            SendAck(true, packet, now);
        }
        return;
    }
    if (packet.psn < m_expected)
    {
        ++m_counters.duplicates;
        if (packet.ackRequested)
        {
            SendAck(false, packet, now);
        }
        return;
    }
    ++m_expected;
    m_nakSent = false;
    m_messageBytes += packet.payload;
    m_counters.deliveredBytes += packet.payload;
    if (packet.ackRequested)
    {
        SendAck(false, packet, now);
    }
    if (packet.lastOfMessage)
    {
        Bytes bytes(m_messageBytes);
        m_messageBytes = 0;
        ++m_counters.deliveredMessages;
        m_deliveredTrace(bytes.Count(), packet.tag);
        if (!m_delivery.IsNull())
        {
            m_delivery(bytes, packet.tag);
        }
    }
}

void
RdmaQueuePair::SendAck(bool nak, const FabricPacket& cause, int64_t now)
{
    m_counters.naks += nak ? 1 : 0;
    FabricPacket* packet = m_nic->NewControl();
    packet->kind = nak ? PacketKind::Nak : PacketKind::Ack;
    packet->psn = m_expected;
    packet->tag = cause.psn;
    packet->ecnMarked = m_echo;
    m_echo = false;
    Address(*packet);
    packet->priority = m_ackPriority;
    m_nic->SendControl(packet, now);
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
    m_window = std::clamp<uint64_t>(m_congestion.windowBytes / m_mtu, 1, m_windowLimit);
}

void
RdmaQueuePair::Pace(uint32_t bytes, int64_t start)
{
    if (m_control)
    {
        AdvanceControl(start);
        m_congestion.unacked = m_next - m_una - 1;
        m_control->OnSent(m_congestion, bytes, start);
        if (m_timedStart < 0 && m_next == m_sentUpTo)
        {
            m_timedStart = start;
            m_timedPsn = m_next - 1;
        }
    }
    if (m_congestion.rate >= m_portRate)
    {
        m_pacer.SentUnlimited();
        return;
    }
    m_pacer.Sent(bytes, start, m_congestion.rate);
    if (!CanSend())
    {
        m_pacer.Rest();
    }
}

int64_t
RdmaQueuePair::RoundTrip(const FabricPacket& ack, int64_t now)
{
    if (m_timedStart < 0 || ack.psn <= m_timedPsn)
    {
        return -1;
    }
    // With coalesced ACKs a later packet may have caused it: no measure of the timed one.
    const int64_t roundTrip = ack.tag == m_timedPsn ? now - m_timedStart : -1;
    m_timedStart = -1;
    return roundTrip;
}

void
RdmaQueuePair::HandleCnp(int64_t now)
{
    ++m_counters.cnpsReceived;
    m_cnpTrace();
    if (m_control && !HasFailed())
    {
        AdvanceControl(now);
        m_congestion.unacked = m_next - m_una;
        m_control->OnCnp(m_congestion, now);
        ApplyWindow();
        m_nic->UpdateActive(this);
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

bool
RdmaQueuePair::HasFailed() const
{
    return !m_failure.empty();
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
    if (m_connected)
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
