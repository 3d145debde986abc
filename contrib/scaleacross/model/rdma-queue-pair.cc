// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-queue-pair.h"

#include "core/base/errors.h"
#include "fabric-wire.h"
#include "rdma-nic.h"
#include "route-table.h"

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
                            "ns3::RdmaQueuePair::TimeoutTracedCallback");
    return tid;
}

RdmaQueuePair::RdmaQueuePair() = default;

RdmaQueuePair::~RdmaQueuePair() = default;

void
RdmaQueuePair::DoDispose()
{
    m_nic = nullptr;
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
    m_mtu = m_nic->GetMtu();
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
    packet.lastOfMessage = index + 1 == message.packets;
    packet.size = static_cast<uint16_t>(m_nic->WireSize(packet.payload, index == 0));

    if (m_next == m_una && m_timeout != 0)
    {
        m_deadline = start + m_timeout;
        m_nic->WatchDeadline(m_deadline);
    }
    ++m_next;
    if (m_next > m_sentUpTo)
    {
        m_sentUpTo = m_next;
    }
    else
    {
        ++m_counters.retransmissions;
    }
    m_cursor += packet.lastOfMessage ? 1 : 0;
    packet.ackRequested =
        packet.lastOfMessage || m_ackInterval == 1 || m_next % m_ackInterval == 0 || !CanSend();
}

void
RdmaQueuePair::HandleAck(const FabricPacket& packet, int64_t now)
{
    if (HasFailed() || packet.psn < m_una || packet.psn > m_sentUpTo)
    {
        return;
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
    m_deadline = kNever; // set again when the packet leaves
}

void
RdmaQueuePair::HandleTimeout(int64_t)
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
    if (packet.psn > m_expected)
    {
        ++m_counters.outOfOrder;
        if (!m_nakSent)
        {
            m_nakSent = true;
            SendAck(true, now);
        }
        return;
    }
    if (packet.psn < m_expected)
    {
        ++m_counters.duplicates;
        if (packet.ackRequested)
        {
            SendAck(false, now);
        }
        return;
    }
    ++m_expected;
    m_nakSent = false;
    m_messageBytes += packet.payload;
    m_counters.deliveredBytes += packet.payload;
    if (packet.ackRequested)
    {
        SendAck(false, now);
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
RdmaQueuePair::SendAck(bool nak, int64_t now)
{
    m_counters.naks += nak ? 1 : 0;
    FabricPacket* packet = m_nic->NewControl();
    packet->kind = nak ? PacketKind::Nak : PacketKind::Ack;
    packet->psn = m_expected;
    packet->destination = m_remoteAddress;
    packet->queuePair = m_remoteNumber;
    packet->entropy = m_entropy;
    packet->priority = m_ackPriority;
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
    m_nic->CatchUp(scaleacross::SimulatorPicoseconds());
    return m_counters;
}

uint64_t
RdmaQueuePair::GetUnacked() const
{
    m_nic->CatchUp(scaleacross::SimulatorPicoseconds());
    return m_next - m_una;
}

uint64_t
RdmaQueuePair::GetPendingMessages() const
{
    return m_messages.size();
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
