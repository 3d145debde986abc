// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-connection.h"

#include "core/base/errors.h"
#include "rdma-nic.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/node.h"
#include "ns3/ns3-compat.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using scaleacross::Bytes;
using scaleacross::ConfigError;

NS_OBJECT_ENSURE_REGISTERED(RdmaConnection);

namespace
{

/// Marks the tag of the write that ends a message with Notification Final.
constexpr uint64_t kAnnouncement = uint64_t{1} << 63;

} // namespace

TypeId
RdmaConnection::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaConnection")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<RdmaConnection>()
            .AddAttribute("QueuePairs",
                          "Queue pairs, each a flow of its own to ECMP. More of them spread better "
                          "over parallel paths and share out the window of long round trips.",
                          UintegerValue(1),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaConnection::m_queuePairs)),
                          MakeUintegerChecker<uint32_t>(1, 4096))
            .AddAttribute(
                "SegmentSize",
                "Bytes of a message that go to one queue pair before the next one has its "
                "turn; 0 divides every message evenly over all of them.",
                UintegerValue(512 << 10),
                scaleacross::Fixed(MakeUintegerAccessor(&RdmaConnection::m_segmentSize)),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute("Operation",
                          "By what each segment is carried: Write, WriteWithImmediate or Send.",
                          EnumValue(UseWrite),
                          scaleacross::Fixed(
                              scaleacross::EnumAccessor<Operation>(&RdmaConnection::m_operation)),
                          MakeEnumChecker(UseWrite,
                                          "Write",
                                          UseWriteWithImmediate,
                                          "WriteWithImmediate",
                                          UseSend,
                                          "Send"))
            .AddAttribute(
                "Notification",
                "When a message is delivered: AllArrived, InOrder (numbered writes with "
                "immediate) or Final (a write with immediate after plain writes).",
                EnumValue(AllArrived),
                scaleacross::Fixed(
                    scaleacross::EnumAccessor<Notification>(&RdmaConnection::m_notification)),
                MakeEnumChecker(AllArrived, "AllArrived", InOrder, "InOrder", Final, "Final"))
            .AddAttribute(
                "MaxOutstanding",
                "Segments that a queue pair may have posted and not acknowledged; 0: any "
                "number. NCCLX has 128.",
                UintegerValue(0),
                scaleacross::Fixed(MakeUintegerAccessor(&RdmaConnection::m_maxOutstanding)),
                MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("ClearToSend",
                          "Send nothing before the receiver grants it: see ReceiverAdmission, of "
                          "which every receiving NIC has one.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&RdmaConnection::m_clearToSend)),
                          MakeBooleanChecker())
            .AddAttribute(
                "ControlPriority",
                "Priority of requests and grants.",
                UintegerValue(6),
                scaleacross::Fixed(MakeUintegerAccessor(&RdmaConnection::m_controlPriority)),
                MakeUintegerChecker<uint8_t>(0, scaleacross::kPriorities - 1))
            .AddAttribute("ControlBytes",
                          "Payload of a request and of a grant.",
                          UintegerValue(64),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaConnection::m_controlBytes)),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

RdmaConnection::RdmaConnection() = default;

RdmaConnection::~RdmaConnection() = default;

void
RdmaConnection::DoDispose()
{
    m_nics.clear();
    m_local.clear();
    m_remote.clear();
    m_localControl = nullptr;
    m_remoteControl = nullptr;
    m_admission = nullptr;
    m_messages.clear();
    m_unposted.clear();
    m_grants.clear();
    m_delivery.Nullify();
    m_completion.Nullify();
    m_failureCallback.Nullify();
    Object::DoDispose();
}

const char*
RdmaConnection::WhyFixed() const
{
    return m_nics.empty() ? nullptr : "the connection is made";
}

void
RdmaConnection::SetQueuePairAttribute(const std::string& name, const AttributeValue& value)
{
    if (!m_nics.empty())
    {
        throw ConfigError("RdmaConnection::SetQueuePairAttribute",
                          name + " is set after Connect, which has made the queue pairs",
                          "before Connect",
                          "");
    }
    m_attributes.emplace_back(name, value.Copy());
}

void
RdmaConnection::SetEntropies(const std::vector<uint16_t>& entropies)
{
    if (!m_nics.empty())
    {
        throw ConfigError("RdmaConnection::SetEntropies", "called after Connect", "", "");
    }
    m_entropies = entropies;
}

void
RdmaConnection::CheckNics(const std::vector<NicPair>& nics) const
{
    if (!m_nics.empty() || nics.empty())
    {
        throw ConfigError("RdmaConnection::Connect",
                          nics.empty() ? "there is no NIC: the list is empty" : "called twice",
                          "at least one pair of NICs, once",
                          "");
    }
    for (const auto& [from, to] : nics)
    {
        for (const auto& nic : {from, to})
        {
            if (!nic || !nic->GetNode())
            {
                throw ConfigError("RdmaConnection::Connect",
                                  nic ? "a NIC belongs to no node: it was added to none, or "
                                        "Simulator::Destroy has disposed of it"
                                      : "there is no NIC: the pointer is null",
                                  "NICs of a fabric that is there",
                                  "make them by FabricHelper::AddNic, and connect them before "
                                  "Simulator::Destroy");
            }
        }
        if (from == to)
        {
            throw ConfigError("RdmaConnection::Connect",
                              "both ends are " + from->Describe(),
                              "two different NICs",
                              "");
        }
    }
}

void
RdmaConnection::Connect(Ptr<RdmaNic> from, Ptr<RdmaNic> to)
{
    Connect(std::vector<NicPair>{{from, to}});
}

void
RdmaConnection::Connect(const std::vector<NicPair>& nics)
{
    CheckNics(nics);
    if (m_notification != AllArrived && m_operation == UseSend)
    {
        throw ConfigError("RdmaConnection::Notification",
                          "segments that are sends have no place to be numbered or announced",
                          "AllArrived with Operation Send",
                          "choose Operation Write or WriteWithImmediate");
    }
    m_nics = nics;
    m_outstanding.assign(m_queuePairs, {});
    for (uint32_t i = 0; i < m_queuePairs; ++i)
    {
        const NicPair& pair = m_nics[i % m_nics.size()];
        Ptr<RdmaQueuePair> local = pair.first->CreateQueuePair();
        Ptr<RdmaQueuePair> remote = pair.second->CreateQueuePair();
        ConnectPair(pair,
                    local,
                    remote,
                    m_entropies.empty() ? 0 : m_entropies[i % m_entropies.size()]);
        // The queue pairs keep the connection alive until they are disposed of.
        Ptr<RdmaConnection> self(this);
        remote->SetDeliveryCallback(MakeCallback(&RdmaConnection::SegmentDelivered, self));
        local->SetCompletionCallback(MakeCallback(&RdmaConnection::SegmentCompleted, self, i));
        local->SetFailureCallback(MakeCallback(&RdmaConnection::QueuePairFailed, self));
        m_local.push_back(local);
        m_remote.push_back(remote);
    }
    if (m_clearToSend)
    {
        ConnectControl();
    }
}

void
RdmaConnection::ConnectPair(const NicPair& nics,
                            Ptr<RdmaQueuePair> local,
                            Ptr<RdmaQueuePair> remote,
                            uint16_t entropy)
{
    for (const auto& [name, value] : m_attributes)
    {
        local->SetAttribute(name, *value);
        remote->SetAttribute(name, *value);
    }
    if (local == m_localControl)
    {
        for (const auto& queuePair : {local, remote})
        {
            queuePair->SetAttribute("Priority", UintegerValue(m_controlPriority));
            queuePair->SetAttribute("ReceiveQueueDepth", UintegerValue(0));
        }
    }
    local->Connect(nics.second->GetFabricAddress(), remote->GetNumber(), entropy);
    remote->Connect(nics.first->GetFabricAddress(), local->GetNumber());
}

void
RdmaConnection::ConnectControl()
{
    m_localControl = m_nics.front().first->CreateQueuePair();
    m_remoteControl = m_nics.front().second->CreateQueuePair();
    ConnectPair(m_nics.front(), m_localControl, m_remoteControl, 0);
    m_admission = ReceiverAdmission::Of(m_nics.front().second);
    Ptr<RdmaConnection> self(this);
    m_remoteControl->SetDeliveryCallback(MakeCallback(&RdmaConnection::RequestArrived, self));
    m_localControl->SetDeliveryCallback(MakeCallback(&RdmaConnection::GrantArrived, self));
    m_localControl->SetFailureCallback(MakeCallback(&RdmaConnection::QueuePairFailed, self));
    m_remoteControl->SetFailureCallback(MakeCallback(&RdmaConnection::QueuePairFailed, self));
    m_source = m_admission->AddSource(MakeCallback(&RdmaConnection::SendGrant, self));
}

bool
RdmaConnection::Send(Bytes bytes, uint64_t tag)
{
    if (m_nics.empty())
    {
        throw ConfigError("RdmaConnection::Send", "called before Connect", "", "");
    }
    RdmaQueuePair::CheckMessageSize("RdmaConnection::Send", bytes);
    if (HasFailed())
    {
        return false;
    }
    const uint64_t id = m_firstId + m_messages.size();
    m_messages.push_back({bytes.Count(), tag, bytes.Count(), false, 0, 0, false});
    ++m_undelivered;
    if (m_clearToSend)
    {
        m_localControl->Post(scaleacross::RdmaOperation::Send, Bytes(m_controlBytes), id);
    }
    else
    {
        Cut(id, bytes.Count());
    }
    return true;
}

void
RdmaConnection::Cut(uint64_t id, uint64_t bytes)
{
    uint64_t segment = std::max<uint64_t>(1, bytes);
    if (m_queuePairs > 1 || m_maxOutstanding > 0) // which counts segments
    {
        uint64_t even = (segment + m_queuePairs - 1) / m_queuePairs;
        segment = m_segmentSize > 0 ? m_segmentSize : even;
    }
    const uint64_t count = std::max<uint64_t>(1, (bytes + segment - 1) / segment);
    Message& message = m_messages[id - m_firstId];
    message.left -= bytes;
    message.posted = message.left == 0;
    message.toDeliver += count;
    message.toComplete += count;
    for (uint64_t i = 1; i <= count; ++i)
    {
        const uint64_t part = std::min(bytes, segment);
        m_unposted.push_back({id, part, message.posted && i == count});
        bytes -= part;
    }
    PostSegments();
}

uint32_t
RdmaConnection::NextQueuePair() const
{
    for (uint32_t i = 0; i < m_queuePairs && !m_order.Full(); ++i)
    {
        const uint32_t candidate = (m_turn + i) % m_queuePairs;
        if (m_maxOutstanding == 0 || m_outstanding[candidate].size() < m_maxOutstanding)
        {
            return candidate;
        }
    }
    return m_queuePairs;
}

scaleacross::RdmaOperation
RdmaConnection::OperationOfSegments() const
{
    switch (m_notification)
    {
    case InOrder:
        return scaleacross::RdmaOperation::WriteWithImmediate;
    case Final:
        return scaleacross::RdmaOperation::Write;
    case AllArrived:
        break;
    }
    return static_cast<scaleacross::RdmaOperation>(m_operation);
}

uint64_t
RdmaConnection::TagOf(const Segment& segment)
{
    return m_notification == InOrder ? m_order.Send(segment.id, segment.last) : segment.id;
}

void
RdmaConnection::PostSegments()
{
    while (!m_unposted.empty())
    {
        const uint32_t queuePair = NextQueuePair();
        if (queuePair == m_queuePairs)
        {
            return;
        }
        const Segment segment = m_unposted.front();
        m_unposted.pop_front();
        m_turn = (queuePair + 1) % m_queuePairs;
        Post(queuePair, OperationOfSegments(), segment, TagOf(segment));
    }
}

void
RdmaConnection::Post(uint32_t queuePair,
                     scaleacross::RdmaOperation operation,
                     const Segment& segment,
                     uint64_t tag)
{
    m_outstanding[queuePair].push_back(segment.id);
    m_local[queuePair]->Post(operation, Bytes(segment.bytes), tag);
}

void
RdmaConnection::RequestArrived(Bytes, uint64_t id)
{
    if (!HasFailed())
    {
        m_admission->Request(m_source, id, Bytes(m_messages[id - m_firstId].bytes));
    }
}

void
RdmaConnection::SendGrant(uint64_t id, Bytes bytes)
{
    m_grants.push_back({id, bytes.Count()});
    m_remoteControl->Post(scaleacross::RdmaOperation::Send, Bytes(m_controlBytes), id);
}

void
RdmaConnection::GrantArrived(Bytes, uint64_t)
{
    if (!HasFailed())
    {
        const Grant grant = m_grants.front();
        m_grants.pop_front();
        Cut(grant.id, grant.bytes);
    }
}

void
RdmaConnection::MessageDelivered(const Message& message)
{
    const Bytes bytes(message.bytes);
    const uint64_t tag = message.tag;
    --m_undelivered;
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
        MessageDelivered(m_messages[(tag & ~kAnnouncement) - m_firstId]);
        return;
    }
    if (m_admission)
    {
        m_admission->Arrived(m_source, segment);
    }
    if (m_notification == InOrder)
    {
        m_order.Arrive(static_cast<uint32_t>(tag),
                       [this](uint64_t id) { MessageDelivered(m_messages[id - m_firstId]); });
        return;
    }
    Message& message = m_messages[tag - m_firstId];
    --message.toDeliver;
    if (m_notification == AllArrived && message.posted && message.toDeliver == 0)
    {
        MessageDelivered(message);
    }
}

void
RdmaConnection::SegmentCompleted(uint32_t queuePair, Bytes, uint64_t)
{
    if (HasFailed())
    {
        return;
    }
    // A queue pair completes in the order of posting.
    const uint64_t id = m_outstanding[queuePair].front();
    m_outstanding[queuePair].pop_front();
    Message& message = m_messages[id - m_firstId];
    --message.toComplete;
    if (m_notification == Final && IsComplete(message) && !message.announced)
    {
        message.announced = true;
        ++message.toComplete;
        Post(queuePair,
             scaleacross::RdmaOperation::WriteWithImmediate,
             {id, 0, true},
             id | kAnnouncement);
    }
    const bool complete = IsComplete(message);
    const Bytes bytes(message.bytes);
    const uint64_t tag = message.tag;
    // Everything acknowledged has arrived before; what is in front of all others has been
    // delivered.
    while (!m_messages.empty() && IsComplete(m_messages.front()))
    {
        m_messages.pop_front();
        ++m_firstId;
    }
    PostSegments();
    if (complete && !m_completion.IsNull())
    {
        m_completion(bytes, tag);
    }
}

bool
RdmaConnection::IsComplete(const Message& message)
{
    return message.posted && message.toComplete == 0;
}

void
RdmaConnection::QueuePairFailed(const std::string& reason)
{
    if (HasFailed())
    {
        return;
    }
    m_failure = reason;
    m_messages.clear();
    m_unposted.clear();
    m_grants.clear();
    if (m_admission)
    {
        // The receiver is told at once; a real one finds out by its own timeouts.
        m_admission->Withdraw(m_source);
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

const RdmaConnection::NicPair&
RdmaConnection::FirstNics() const
{
    if (m_nics.empty())
    {
        throw ConfigError("RdmaConnection",
                          "is asked for its NICs, and has none",
                          "after Connect, and before Simulator::Destroy",
                          "call Connect first");
    }
    return m_nics.front();
}

Ptr<RdmaNic>
RdmaConnection::GetSender() const
{
    return FirstNics().first;
}

Ptr<RdmaNic>
RdmaConnection::GetReceiver() const
{
    return FirstNics().second;
}

uint32_t
RdmaConnection::GetNQueuePairs() const
{
    return static_cast<uint32_t>(m_local.size());
}

Ptr<RdmaQueuePair>
RdmaConnection::GetQueuePair(uint32_t i) const
{
    return m_local.at(i);
}

Ptr<RdmaQueuePair>
RdmaConnection::GetRemoteQueuePair(uint32_t i) const
{
    return m_remote.at(i);
}

uint64_t
RdmaConnection::GetUndelivered() const
{
    return m_undelivered;
}

uint64_t
RdmaConnection::GetRetransmissions() const
{
    uint64_t sum = 0;
    for (const auto& queuePair : m_local)
    {
        sum += queuePair->GetCounters().retransmissions;
    }
    return sum;
}

} // namespace ns3
