// SPDX-License-Identifier: GPL-2.0-only

// What can be set at a queue pair, and what it can be watched by.

#include "rdma-queue-pair.h"
#include "rnr-timer.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/ns3-compat.h"
#include "ns3/part-accessor.h"
#include "ns3/part-trace-source.h"
#include "ns3/psn.h"
#include "ns3/uinteger.h"

namespace ns3
{

using scaleacross::kEndlessRnrRetries;
using scaleacross::kMostUnacked;
using scaleacross::kPriorities;
using scaleacross::PartAccessor;
using scaleacross::PartTraceSource;
using scaleacross::QueuePairEnds;
using scaleacross::RdmaRequester;
using scaleacross::RdmaResponder;
using scaleacross::Reordering;

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
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::window)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("AckInterval",
                          "Ask for an ACK on every n-th packet; the last packet of a message and "
                          "one that fills the window always ask.",
                          UintegerValue(1),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::ackInterval)),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Timeout",
                          "n: the retransmission timer is 4.096 us * 2^n (14: 67 ms); 0 switches "
                          "it off.",
                          UintegerValue(14),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::timeout)),
                          MakeUintegerChecker<uint32_t>(0, 31))
            .AddAttribute("RetryCount",
                          "Timeouts without progress after which the next one is an error.",
                          UintegerValue(7),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::retryCount)),
                          MakeUintegerChecker<uint32_t>(0, 1000000))
            .AddAttribute("RetransmissionMode",
                          "How losses are repaired, at both ends: GoBackN or SelectiveRepeat.",
                          EnumValue(GoBackN),
                          scaleacross::Fixed(scaleacross::EnumAccessor<RetransmissionMode>(
                              &RdmaQueuePair::SetMode,
                              &RdmaQueuePair::GetMode)),
                          MakeEnumChecker(GoBackN, "GoBackN", SelectiveRepeat, "SelectiveRepeat"))
            .AddAttribute("OutOfOrderLimit",
                          "SelectiveRepeat: packets beyond the expected one that the receiver "
                          "keeps; one further away is thrown away, so Window should not be "
                          "larger. A bit each, taken as needed.",
                          UintegerValue(kMostUnacked),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_reordering,
                                                          &Reordering::outOfOrderLimit)),
                          MakeUintegerChecker<uint64_t>(1, kMostUnacked))
            .AddAttribute("ReorderTolerance",
                          "SelectiveRepeat: a packet counts as lost when one that was sent more "
                          "than this many packets later has arrived. 0 for paths that keep the "
                          "order; for packets spread over unequal paths their difference in "
                          "delay, in packets.",
                          UintegerValue(0),
                          scaleacross::Fixed(
                              PartAccessor(&RdmaQueuePair::m_reordering, &Reordering::tolerance)),
                          MakeUintegerChecker<uint64_t>(0, kMostUnacked))
            .AddAttribute("WindowCountsFlight",
                          "SelectiveRepeat: Window and congestion control bound the packets under "
                          "way, known neither to have arrived nor to be lost (true), or all from "
                          "the first unacknowledged one on (false). Repetitions, too, wait for "
                          "room if true.",
                          BooleanValue(false),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::countsFlight)),
                          MakeBooleanChecker())
            .AddAttribute("StartingPsn",
                          "PSN of the first packet in either direction; equal at both ends.",
                          UintegerValue(0),
                          scaleacross::Fixed(
                              PartAccessor(&RdmaQueuePair::m_ends, &QueuePairEnds::startingPsn)),
                          MakeUintegerChecker<uint32_t>(0, scaleacross::kPsnSpace - 1))
            .AddAttribute(
                "ReceiveQueueDepth",
                "Most receives that may be posted (PostReceive) at this end for sends "
                "and writes with immediate; 0: it is always ready for them.",
                UintegerValue(0),
                scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_responderConfig,
                                                &RdmaResponder::Config::receiveQueueDepth)),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("RnrTimer",
                          "Code of the time that the peer waits after a receiver-not-ready NAK of "
                          "this end, as in the standard: 1 is 10 us, 12 is 640 us, 31 is 491.52 "
                          "ms, 0 is 655.36 ms.",
                          UintegerValue(12),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_responderConfig,
                                                          &RdmaResponder::Config::rnrTimer)),
                          MakeUintegerChecker<uint32_t>(0, scaleacross::kRnrTimerCodes - 1))
            .AddAttribute("RnrRetryCount",
                          "Receiver-not-ready NAKs without progress after which the next one is "
                          "an error; 7: there is no such error.",
                          UintegerValue(kEndlessRnrRetries),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::rnrRetryCount)),
                          MakeUintegerChecker<uint32_t>(0, kEndlessRnrRetries))
            .AddAttribute("Priority",
                          "Priority of data packets.",
                          UintegerValue(3),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::priority)),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddAttribute("AckPriority",
                          "Priority of the ACKs and NAKs that this end sends.",
                          UintegerValue(6),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_responderConfig,
                                                          &RdmaResponder::Config::ackPriority)),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddAttribute("CongestionOps",
                          "Type of the congestion control of the sending end; RdmaCongestionOps "
                          "itself stands for none.",
                          TypeIdValue(RdmaCongestionOps::GetTypeId()),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::congestionOps)),
                          MakeTypeIdChecker())
            .AddAttribute("Entropy",
                          "UDP source port of all packets of this end, which pins it to a path "
                          "where switches hash flows; 0: one that follows from the addresses and "
                          "a number (RdmaQueuePair::SetPath).",
                          UintegerValue(0),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::entropy)),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("EntropyOps",
                          "Type of what gives every data packet that this end sends its own UDP "
                          "source port; RdmaEntropyOps itself stands for none.",
                          TypeIdValue(RdmaEntropyOps::GetTypeId()),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::entropyOps)),
                          MakeTypeIdChecker())
            .AddAttribute("RateLimit",
                          "Most bits per second on the wire, whatever the congestion control "
                          "says; 0 is no limit.",
                          DataRateValue(DataRate(0)),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::rateLimit)),
                          MakeDataRateChecker())
            .AddAttribute("EcnCapable",
                          "Switches may mark the data packets even if there is no congestion "
                          "control; with one they always may.",
                          BooleanValue(false),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_requesterConfig,
                                                          &RdmaRequester::Config::ecnCapable)),
                          MakeBooleanChecker())
            .AddAttribute("SendCnps",
                          "Answer marked packets with congestion notifications. To be switched "
                          "off for controls that go by the marks on ACKs.",
                          BooleanValue(true),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_responderConfig,
                                                          &RdmaResponder::Config::sendCnps)),
                          MakeBooleanChecker())
            .AddAttribute("CnpInterval",
                          "Least time between two CNPs of this end. SIGCOMM 2015: N = 50 us.",
                          TimeValue(MicroSeconds(50)),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_responderConfig,
                                                          &RdmaResponder::Config::cnpInterval)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CnpPriority",
                          "Priority of the CNPs that this end sends.",
                          UintegerValue(7),
                          scaleacross::Fixed(PartAccessor(&RdmaQueuePair::m_responderConfig,
                                                          &RdmaResponder::Config::cnpPriority)),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddTraceSource("MessagePosted",
                            "A message is posted: bytes, tag, PSN of its first packet, packets.",
                            MakeTraceSourceAccessor(&RdmaQueuePair::m_postedTrace),
                            "ns3::RdmaQueuePair::PostedTracedCallback")
            .AddTraceSource(
                "MessageStarted",
                "The first bit of a message leaves for the first time: bytes, tag.",
                PartTraceSource(&RdmaQueuePair::m_requester, &RdmaRequester::startedTrace),
                "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource(
                "MessageArriving",
                "The first packet of a message has come in at the receiver, again if "
                "it was sent again: bytes of its payload, tag.",
                PartTraceSource(&RdmaQueuePair::m_responder, &RdmaResponder::arrivingTrace),
                "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource("MessageSent",
                            "A message is acknowledged completely: bytes, tag.",
                            PartTraceSource(&RdmaQueuePair::m_requester, &RdmaRequester::sentTrace),
                            "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource(
                "MessageDelivered",
                "A message has arrived completely and is next in order: bytes, tag.",
                PartTraceSource(&RdmaQueuePair::m_responder, &RdmaResponder::deliveredTrace),
                "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource(
                "MessageFlushed",
                "A message is given up as the queue pair goes into error: bytes, tag.",
                PartTraceSource(&RdmaQueuePair::m_requester, &RdmaRequester::flushedTrace),
                "ns3::RdmaQueuePair::MessageTracedCallback")
            .AddTraceSource(
                "Retransmit",
                "The sender finds packets to send again, after a NAK, an ACK or a "
                "timeout: the first PSN, how many.",
                PartTraceSource(&RdmaQueuePair::m_requester, &RdmaRequester::retransmitTrace),
                "ns3::RdmaQueuePair::RetransmitTracedCallback")
            .AddTraceSource(
                "Timeout",
                "The retransmission timer ran out: first unacknowledged PSN, timeouts "
                "in a row before this one.",
                PartTraceSource(&RdmaQueuePair::m_requester, &RdmaRequester::timeoutTrace),
                "ns3::RdmaQueuePair::TimeoutTracedCallback")
            .AddTraceSource("Cnp",
                            "A congestion notification has arrived at the sender.",
                            PartTraceSource(&RdmaQueuePair::m_requester, &RdmaRequester::cnpTrace),
                            "ns3::RdmaQueuePair::CnpTracedCallback");
    return tid;
}

const char*
RdmaQueuePair::WhyFixed() const
{
    return m_requester.IsConnected() ? "the queue pair is connected" : nullptr;
}

void
RdmaQueuePair::SetMode(RetransmissionMode mode)
{
    m_reordering.selective = mode == SelectiveRepeat;
}

RdmaQueuePair::RetransmissionMode
RdmaQueuePair::GetMode() const
{
    return m_reordering.selective ? SelectiveRepeat : GoBackN;
}

} // namespace ns3
