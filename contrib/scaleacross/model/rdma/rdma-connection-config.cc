// SPDX-License-Identifier: GPL-2.0-only

// What can be set at a connection.

#include "rdma-connection.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/ns3-compat.h"
#include "ns3/part-accessor.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3
{

using scaleacross::ClearToSend;
using scaleacross::PartAccessor;
using scaleacross::SegmentBalance;

NS_OBJECT_ENSURE_REGISTERED(RdmaConnection);

TypeId
RdmaConnection::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaConnection")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<RdmaConnection>()
            .AddAttribute("Label",
                          "What the connection is for, in a word of your own, which files of "
                          "message times and log messages repeat.",
                          StringValue(""),
                          scaleacross::Fixed(MakeStringAccessor(&RdmaConnection::m_label)),
                          MakeStringChecker())
            .AddAttribute("QueuePairs",
                          "Queue pairs, each a flow of its own to ECMP. More of them spread better "
                          "over parallel paths and share out the window of long round trips.",
                          UintegerValue(1),
                          scaleacross::Fixed(PartAccessor(&RdmaConnection::m_balanceConfig,
                                                          &SegmentBalance::Config::queuePairs)),
                          MakeUintegerChecker<uint32_t>(1, 4096))
            .AddAttribute(
                "SegmentSize",
                "Bytes of a message that go to one queue pair before the next one has its "
                "turn; 0 divides every message evenly over all of them, by whole packets.",
                UintegerValue(512 << 10),
                scaleacross::Fixed(PartAccessor(&RdmaConnection::m_balanceConfig,
                                                &SegmentBalance::Config::segmentSize)),
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
            .AddAttribute("MaxOutstanding",
                          "Segments that a queue pair may have posted and not acknowledged; 0: any "
                          "number. NCCLX has 128.",
                          UintegerValue(0),
                          scaleacross::Fixed(PartAccessor(&RdmaConnection::m_balanceConfig,
                                                          &SegmentBalance::Config::maxOutstanding)),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("ClearToSend",
                          "Send nothing before the receiver grants it: see ReceiverAdmission, of "
                          "which every receiving NIC has one.",
                          BooleanValue(false),
                          scaleacross::Fixed(PartAccessor(&RdmaConnection::m_clearToSendConfig,
                                                          &ClearToSend::Config::on)),
                          MakeBooleanChecker())
            .AddAttribute("ControlPriority",
                          "Priority of requests and grants.",
                          UintegerValue(6),
                          scaleacross::Fixed(PartAccessor(&RdmaConnection::m_clearToSendConfig,
                                                          &ClearToSend::Config::priority)),
                          MakeUintegerChecker<uint8_t>(0, scaleacross::kPriorities - 1))
            .AddAttribute("ControlBytes",
                          "Payload of a request and of a grant.",
                          UintegerValue(64),
                          scaleacross::Fixed(PartAccessor(&RdmaConnection::m_clearToSendConfig,
                                                          &ClearToSend::Config::bytes)),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource("MessagePosted",
                            "Send has taken a message: the connection, bytes, tag.",
                            MakeTraceSourceAccessor(&RdmaConnection::m_postedTrace),
                            "ns3::RdmaConnection::MessageTracedCallback")
            .AddTraceSource("MessageDelivered",
                            "A message is delivered: the connection, bytes, tag.",
                            MakeTraceSourceAccessor(&RdmaConnection::m_deliveredTrace),
                            "ns3::RdmaConnection::MessageTracedCallback")
            .AddTraceSource("Failed",
                            "Nothing more will get through: the connection, why.",
                            MakeTraceSourceAccessor(&RdmaConnection::m_failedTrace),
                            "ns3::RdmaConnection::FailureTracedCallback");
    return tid;
}

const char*
RdmaConnection::WhyFixed() const
{
    return IsConnected() ? "the connection is made" : nullptr;
}

void
RdmaConnection::SetQueuePairAttribute(const std::string& name, const AttributeValue& value)
{
    m_queuePairs.SetAttribute(name, value);
}

void
RdmaConnection::SetEntropies(const std::vector<uint16_t>& entropies)
{
    m_queuePairs.SetEntropies(entropies);
}

} // namespace ns3
