// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-connection.h"

#include "core/base/errors.h"
#include "rdma-nic.h"

#include "ns3/enum.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using scaleacross::Bytes;
using scaleacross::ConfigError;

NS_OBJECT_ENSURE_REGISTERED(RdmaConnection);

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
                          MakeUintegerAccessor(&RdmaConnection::m_queuePairs),
                          MakeUintegerChecker<uint32_t>(1, 4096))
            .AddAttribute(
                "SegmentSize",
                "Bytes of a message that go to one queue pair before the next one has its "
                "turn; 0 divides every message evenly over all of them.",
                UintegerValue(512 << 10),
                MakeUintegerAccessor(&RdmaConnection::m_segmentSize),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute("Operation",
                          "By what each segment is carried: Write, WriteWithImmediate or Send.",
                          EnumValue(UseWrite),
                          MakeEnumAccessor(&RdmaConnection::m_operation),
                          MakeEnumChecker(UseWrite,
                                          "Write",
                                          UseWriteWithImmediate,
                                          "WriteWithImmediate",
                                          UseSend,
                                          "Send"));
    return tid;
}

RdmaConnection::RdmaConnection() = default;

RdmaConnection::~RdmaConnection() = default;

void
RdmaConnection::DoDispose()
{
    m_from = nullptr;
    m_to = nullptr;
    m_local.clear();
    m_remote.clear();
    m_messages.clear();
    m_delivery.Nullify();
    m_completion.Nullify();
    m_failureCallback.Nullify();
    Object::DoDispose();
}

void
RdmaConnection::SetQueuePairAttribute(const std::string& name, const AttributeValue& value)
{
    m_attributes.emplace_back(name, value.Copy());
}

void
RdmaConnection::Connect(Ptr<RdmaNic> from, Ptr<RdmaNic> to)
{
    if (m_from || from == to)
    {
        throw ConfigError("RdmaConnection::Connect",
                          m_from ? "called twice" : "both ends are " + from->Describe(),
                          "two different NICs, once",
                          "");
    }
    m_from = from;
    m_to = to;
    for (uint32_t i = 0; i < m_queuePairs; ++i)
    {
        Ptr<RdmaQueuePair> local = from->CreateQueuePair();
        Ptr<RdmaQueuePair> remote = to->CreateQueuePair();
        for (const auto& [name, value] : m_attributes)
        {
            local->SetAttribute(name, *value);
            remote->SetAttribute(name, *value);
        }
        local->Connect(to->GetFabricAddress(), remote->GetNumber());
        remote->Connect(from->GetFabricAddress(), local->GetNumber());
        // The queue pairs keep the connection alive until they are disposed of.
        Ptr<RdmaConnection> self(this);
        remote->SetDeliveryCallback(MakeCallback(&RdmaConnection::SegmentDelivered, self));
        local->SetCompletionCallback(MakeCallback(&RdmaConnection::SegmentCompleted, self));
        local->SetFailureCallback(MakeCallback(&RdmaConnection::QueuePairFailed, self));
        m_local.push_back(local);
        m_remote.push_back(remote);
    }
}

bool
RdmaConnection::Send(Bytes bytes, uint64_t tag)
{
    if (!m_from)
    {
        throw ConfigError("RdmaConnection::Send", "called before Connect", "", "");
    }
    if (HasFailed())
    {
        return false;
    }
    uint64_t segment = std::max<uint64_t>(1, bytes.Count());
    if (m_queuePairs > 1)
    {
        uint64_t even = (segment + m_queuePairs - 1) / m_queuePairs;
        segment = m_segmentSize > 0 ? m_segmentSize : even;
    }
    uint64_t count = std::max<uint64_t>(1, (bytes.Count() + segment - 1) / segment);
    uint64_t id = m_firstId + m_messages.size();
    m_messages.push_back({bytes.Count(), tag, count, count});
    ++m_undelivered;
    for (uint64_t left = bytes.Count(); count > 0; --count)
    {
        uint64_t part = std::min(left, segment);
        m_local[m_turn]->Post(static_cast<scaleacross::RdmaOperation>(m_operation),
                              Bytes(part),
                              id);
        m_turn = (m_turn + 1) % m_queuePairs;
        left -= part;
    }
    return true;
}

void
RdmaConnection::SegmentDelivered(Bytes, uint64_t id)
{
    if (HasFailed())
    {
        return;
    }
    Message& message = m_messages[id - m_firstId];
    if (--message.toDeliver > 0)
    {
        return;
    }
    --m_undelivered;
    Bytes bytes(message.bytes);
    uint64_t tag = message.tag;
    if (!m_delivery.IsNull())
    {
        m_delivery(bytes, tag);
    }
}

void
RdmaConnection::SegmentCompleted(Bytes, uint64_t id)
{
    if (HasFailed())
    {
        return;
    }
    Message& message = m_messages[id - m_firstId];
    if (--message.toComplete > 0)
    {
        return;
    }
    Bytes bytes(message.bytes);
    uint64_t tag = message.tag;
    // Everything acknowledged has been delivered before.
    while (!m_messages.empty() && m_messages.front().toComplete == 0)
    {
        m_messages.pop_front();
        ++m_firstId;
    }
    if (!m_completion.IsNull())
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
    m_messages.clear();
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

Ptr<RdmaNic>
RdmaConnection::GetSender() const
{
    return m_from;
}

Ptr<RdmaNic>
RdmaConnection::GetReceiver() const
{
    return m_to;
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
