// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-connection.h"

#include "core/base/errors.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaConnection");

using scaleacross::Bytes;
using scaleacross::ClearToSend;
using scaleacross::ConfigError;
using scaleacross::MessageSegment;
using scaleacross::QueuePairBundle;
using scaleacross::RdmaOperation;

namespace
{

/// Marks the tag of the write that ends a message with Notification Final.
constexpr uint64_t kAnnouncement = uint64_t{1} << 63;

} // namespace

RdmaConnection::RdmaConnection() = default;

RdmaConnection::~RdmaConnection() = default;

void
RdmaConnection::DoDispose()
{
    m_queuePairs.Clear();
    m_clearToSend.Clear();
    m_ledger.Clear();
    m_balance.Clear();
    m_delivery.Nullify();
    m_completion.Nullify();
    m_failureCallback.Nullify();
    Object::DoDispose();
}

bool
RdmaConnection::IsConnected() const
{
    return m_queuePairs.IsJoined();
}

void
RdmaConnection::Connect(Ptr<RdmaNic> from, Ptr<RdmaNic> to)
{
    Connect(std::vector<NicPair>{{from, to}});
}

void
RdmaConnection::Connect(const std::vector<NicPair>& nics)
{
    if (m_notification != AllArrived && m_operation == UseSend)
    {
        throw ConfigError("RdmaConnection::Notification",
                          "segments that are sends have no place to be numbered or announced",
                          "AllArrived with Operation Send",
                          "choose Operation Write or WriteWithImmediate");
    }
    m_queuePairs.Join(nics);
    m_balance.Configure(m_balanceConfig, GetSender()->GetPathMtu());
    // The queue pairs keep the connection alive until they are disposed of.
    Ptr<RdmaConnection> self(this);
    for (uint32_t i = 0; i < m_balanceConfig.queuePairs; ++i)
    {
        const QueuePairBundle::Ends ends = m_queuePairs.Add();
        ends.remote->SetDeliveryCallback(MakeCallback(&RdmaConnection::SegmentDelivered, self));
        ends.local->SetCompletionCallback(MakeCallback(&RdmaConnection::SegmentCompleted, self, i));
        ends.local->SetFailureCallback(MakeCallback(&RdmaConnection::QueuePairFailed, self));
    }
    if (m_clearToSendConfig.on)
    {
        ConnectControl();
    }
    NS_LOG_INFO(Simulator::Now().As(Time::US)
                << " " << Describe() << ": made, " << GetNQueuePairs() << " queue pairs");
}

void
RdmaConnection::ConnectControl()
{
    const QueuePairBundle::Ends ends =
        m_queuePairs.AddControl({{"Priority", Create<UintegerValue>(m_clearToSendConfig.priority)},
                                 {"ReceiveQueueDepth", Create<UintegerValue>(0)}});
    Ptr<RdmaConnection> self(this);
    ends.remote->SetDeliveryCallback(MakeCallback(&RdmaConnection::RequestArrived, self));
    ends.local->SetDeliveryCallback(MakeCallback(&RdmaConnection::GrantArrived, self));
    ends.local->SetFailureCallback(MakeCallback(&RdmaConnection::QueuePairFailed, self));
    ends.remote->SetFailureCallback(MakeCallback(&RdmaConnection::QueuePairFailed, self));
    m_clearToSend.Connect(m_clearToSendConfig,
                          ends.local,
                          ends.remote,
                          ReceiverAdmission::Of(GetReceiver()),
                          MakeCallback(&RdmaConnection::SendGrant, self));
}

bool
RdmaConnection::Send(Bytes bytes, uint64_t tag)
{
    if (!IsConnected())
    {
        throw ConfigError("RdmaConnection::Send", "called before Connect", "", "");
    }
    RdmaQueuePair::CheckMessageSize("RdmaConnection::Send", bytes);
    if (HasFailed())
    {
        return false;
    }
    NS_LOG_INFO(Simulator::Now().As(Time::US) << " " << Describe() << ": message " << tag << " of "
                                              << bytes.Count() << " bytes posted");
    m_postedTrace(this, bytes.Count(), tag);
    const uint64_t id = m_ledger.Add(bytes.Count(), tag);
    if (m_clearToSend.IsOn())
    {
        m_clearToSend.Request(id);
    }
    else
    {
        Cut(id, bytes);
    }
    return true;
}

void
RdmaConnection::Cut(uint64_t id, Bytes bytes)
{
    const bool ends = m_ledger.Cut(id, bytes.Count());
    m_ledger.AddSegments(id, m_balance.Cut(id, bytes.Count(), ends));
    PostSegments();
}

RdmaOperation
RdmaConnection::OperationOfSegments() const
{
    switch (m_notification)
    {
    case InOrder:
        return RdmaOperation::WriteWithImmediate;
    case Final:
        return RdmaOperation::Write;
    case AllArrived:
        break;
    }
    return static_cast<RdmaOperation>(m_operation);
}

uint64_t
RdmaConnection::TagOf(const MessageSegment& segment)
{
    return m_notification == InOrder ? m_order.Send(segment.id, segment.last) : segment.id;
}

void
RdmaConnection::PostSegments()
{
    while (m_balance.HasWaiting() && !m_order.Full())
    {
        const std::optional<uint32_t> queuePair = m_balance.Turn();
        if (!queuePair)
        {
            return;
        }
        const MessageSegment segment = m_balance.Take(*queuePair);
        Post(*queuePair, OperationOfSegments(), segment, TagOf(segment));
    }
}

void
RdmaConnection::Post(uint32_t queuePair,
                     RdmaOperation operation,
                     const MessageSegment& segment,
                     uint64_t tag)
{
    m_balance.Posted(queuePair, segment.id);
    GetQueuePair(queuePair)->Post(operation, Bytes(segment.bytes), tag);
}

void
RdmaConnection::RequestArrived(Bytes, uint64_t id)
{
    if (!HasFailed())
    {
        m_clearToSend.RequestArrived(id, Bytes(m_ledger.BytesOf(id)));
    }
}

void
RdmaConnection::SendGrant(uint64_t id, Bytes bytes)
{
    m_clearToSend.SendGrant(id, bytes);
}

void
RdmaConnection::GrantArrived(Bytes, uint64_t)
{
    if (!HasFailed())
    {
        const ClearToSend::Grant grant = m_clearToSend.TakeGrant();
        Cut(grant.id, Bytes(grant.bytes));
    }
}

void
RdmaConnection::MessageDelivered(uint64_t id)
{
    const Bytes bytes(m_ledger.BytesOf(id));
    const uint64_t tag = m_ledger.TagOf(id);
    m_ledger.Delivered();
    NS_LOG_INFO(Simulator::Now().As(Time::US)
                << " " << Describe() << ": message " << tag << " delivered");
    m_deliveredTrace(this, bytes.Count(), tag);
    if (!m_delivery.IsNull())
    {
        m_delivery(bytes, tag);
    }
}

void
RdmaConnection::SegmentDelivered(Bytes segment, uint64_t tag)
{
    if (HasFailed())
    {
        return;
    }
    if (m_notification == Final && (tag & kAnnouncement) != 0)
    {
        MessageDelivered(tag & ~kAnnouncement);
        return;
    }
    if (m_clearToSend.IsOn())
    {
        m_clearToSend.Arrived(segment);
    }
    if (m_notification == InOrder)
    {
        m_order.Arrive(static_cast<uint32_t>(tag), [this](uint64_t id) { MessageDelivered(id); });
        return;
    }
    if (m_ledger.Arrived(tag) && m_notification == AllArrived)
    {
        MessageDelivered(tag);
    }
}

void
RdmaConnection::SegmentCompleted(uint32_t queuePair, Bytes, uint64_t)
{
    if (HasFailed())
    {
        return;
    }
    const uint64_t id = m_balance.Acknowledged(queuePair);
    bool complete = m_ledger.Acknowledged(id);
    if (m_notification == Final && complete && m_ledger.Announce(id))
    {
        complete = false;
        Post(queuePair, RdmaOperation::WriteWithImmediate, {id, 0, true}, id | kAnnouncement);
    }
    const Bytes bytes(m_ledger.BytesOf(id));
    const uint64_t tag = m_ledger.TagOf(id);
    m_ledger.Forget();
    PostSegments();
    if (complete && !m_completion.IsNull())
    {
        m_completion(bytes, tag);
    }
}

void
RdmaConnection::QueuePairFailed(const std::string& reason)
{
    if (HasFailed())
    {
        return;
    }
    m_failure = reason;
    NS_LOG_WARN(Simulator::Now().As(Time::US) << " " << Describe() << ": failed: " << reason);
    m_failedTrace(this, m_failure);
    m_ledger.Clear();
    m_balance.Clear();
    if (m_clearToSend.IsOn())
    {
        m_clearToSend.Withdraw();
    }
    if (!m_failureCallback.IsNull())
    {
        m_failureCallback(m_failure);
    }
}

void
RdmaConnection::SetDeliveryCallback(RdmaMessageCallback callback)
{
    m_delivery = callback;
}

void
RdmaConnection::SetCompletionCallback(RdmaMessageCallback callback)
{
    m_completion = callback;
}

void
RdmaConnection::SetFailureCallback(RdmaFailureCallback callback)
{
    m_failureCallback = callback;
}

bool
RdmaConnection::HasFailed() const
{
    return !m_failure.empty();
}

const std::string&
RdmaConnection::GetFailure() const
{
    return m_failure;
}

const std::string&
RdmaConnection::GetLabel() const
{
    return m_label;
}

std::string
RdmaConnection::Describe() const
{
    return "connection of " + GetSender()->Describe() + " to " + GetReceiver()->Describe() +
           (m_label.empty() ? "" : ", " + m_label);
}

Ptr<RdmaNic>
RdmaConnection::GetSender() const
{
    return m_queuePairs.FirstNics().first;
}

Ptr<RdmaNic>
RdmaConnection::GetReceiver() const
{
    return m_queuePairs.FirstNics().second;
}

uint32_t
RdmaConnection::GetNQueuePairs() const
{
    return static_cast<uint32_t>(m_queuePairs.QueuePairs().size());
}

Ptr<RdmaQueuePair>
RdmaConnection::GetQueuePair(uint32_t i) const
{
    return m_queuePairs.QueuePairs().at(i).local;
}

Ptr<RdmaQueuePair>
RdmaConnection::GetRemoteQueuePair(uint32_t i) const
{
    return m_queuePairs.QueuePairs().at(i).remote;
}

uint64_t
RdmaConnection::GetUndelivered() const
{
    return m_ledger.Undelivered();
}

scaleacross::SendProgress
RdmaConnection::GetProgress(uint32_t i) const
{
    const QueuePairBundle::Ends& ends = m_queuePairs.QueuePairs().at(i);
    const RdmaQueuePair::Counters& counters = ends.local->GetCounters();
    ends.remote->GetNic().BringUpToDate();
    const scaleacross::RdmaRequester& requester = ends.local->Requester();
    const scaleacross::SendAllowance& allowance = requester.Allowance();
    scaleacross::SendProgress progress;
    progress.sent = requester.Queue().SentUpTo();
    progress.arrived = ends.remote->Responder().Expected();
    progress.acknowledged = requester.Queue().Una();
    progress.waitsUntil = requester.WaitsUntil();
    progress.troubles = counters.retransmissions + counters.timeouts + counters.notReady;
    progress.bounded =
        allowance.Control() != nullptr || allowance.Packets() < scaleacross::kMostUnacked;
    return progress;
}

bool
RdmaConnection::IsMidMessage() const
{
    if (HasFailed() || m_balance.HasWaiting())
    {
        return false;
    }
    bool any = false;
    for (uint32_t i = 0; i < GetNQueuePairs(); ++i)
    {
        const std::size_t next = m_queuePairs.QueuePairs()[i].local->Requester().Queue().Cursor();
        const uint64_t sending = m_balance.MessageOf(i, next);
        any = any || sending != UINT64_MAX;
        for (std::size_t segment = 0; segment < next; ++segment)
        {
            // Delivered is what has arrived, in order or by what follows it only once acknowledged.
            const uint64_t id = m_balance.MessageOf(i, segment);
            const bool done = m_notification == AllArrived ? m_ledger.HasArrived(id)
                                                           : m_ledger.HasBeenAcknowledged(id);
            if (!done && id != sending)
            {
                return false;
            }
        }
    }
    return any;
}

uint64_t
RdmaConnection::GetSpare(uint32_t i) const
{
    for (const QueuePairBundle::Ends& ends : m_queuePairs.QueuePairs())
    {
        ends.local->GetNic().BringUpToDate();
    }
    const scaleacross::RdmaRequester& requester =
        m_queuePairs.QueuePairs().at(i).local->Requester();
    const std::size_t next = requester.Queue().Cursor();
    const bool sends = requester.Queue().HasNext() && m_balance.MessageOf(i, next) != UINT64_MAX;
    return sends && !m_clearToSend.IsOn() && IsMidMessage()
               ? requester.Spare(m_balance.SameMessage(i, next))
               : 0;
}

void
RdmaConnection::LeaveOut(uint32_t i, uint64_t packets)
{
    scaleacross::RdmaRequester& requester = m_queuePairs.QueuePairs().at(i).local->Requester();
    requester.LeaveOut(packets, m_balance.SameMessage(i, requester.Queue().Cursor()));
}

uint64_t
RdmaConnection::GetRetransmissions() const
{
    uint64_t sum = 0;
    for (const auto& [local, remote] : m_queuePairs.QueuePairs())
    {
        sum += local->GetCounters().retransmissions;
    }
    return sum;
}

} // namespace ns3
