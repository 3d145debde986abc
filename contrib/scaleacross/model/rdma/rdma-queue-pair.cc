// SPDX-License-Identifier: GPL-2.0-only

// What the users of a queue pair see: attributes, connecting, posting, asking. What it does with
// packets is in rdma-queue-pair-sender.cc, -receiver.cc and -congestion.cc.

#include "rdma-queue-pair.h"

#include "core/base/errors.h"
#include "path-size.h"
#include "rdma-nic.h"
#include "reordering.h"
#include "rnr-timer.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/fabric-wire.h"
#include "ns3/flow-hash.h"
#include "ns3/ns3-compat.h"
#include "ns3/object-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::kEndlessRnrRetries;
using scaleacross::kMostUnacked;
using scaleacross::kPriorities;
using scaleacross::RdmaOperation;

namespace
{
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
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_windowBytes)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("AckInterval",
                          "Ask for an ACK on every n-th packet; the last packet of a message and "
                          "one that fills the window always ask.",
                          UintegerValue(1),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_ackInterval)),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "Timeout",
                "n: the retransmission timer is 4.096 us * 2^n (14: 67 ms); 0 switches "
                "it off.",
                UintegerValue(14),
                scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_timeoutExponent)),
                MakeUintegerChecker<uint32_t>(0, 31))
            .AddAttribute("RetryCount",
                          "Timeouts without progress after which the next one is an error.",
                          UintegerValue(7),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_retryCount)),
                          MakeUintegerChecker<uint32_t>(0, 1000000))
            .AddAttribute("RetransmissionMode",
                          "How losses are repaired, at both ends: GoBackN or SelectiveRepeat.",
                          EnumValue(GoBackN),
                          scaleacross::Fixed(scaleacross::EnumAccessor<RetransmissionMode>(
                              &RdmaQueuePair::m_mode)),
                          MakeEnumChecker(GoBackN, "GoBackN", SelectiveRepeat, "SelectiveRepeat"))
            .AddAttribute(
                "OutOfOrderLimit",
                "SelectiveRepeat: packets beyond the expected one that the receiver "
                "keeps; one further away is thrown away, so Window should not be "
                "larger. A bit each, taken as needed.",
                UintegerValue(kMostUnacked),
                scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_outOfOrderLimit)),
                MakeUintegerChecker<uint64_t>(1, kMostUnacked))
            .AddAttribute(
                "ReorderTolerance",
                "SelectiveRepeat: a packet counts as lost when one that was sent more "
                "than this many packets later has arrived. 0 for paths that keep the "
                "order; for packets spread over unequal paths their difference in "
                "delay, in packets.",
                UintegerValue(0),
                scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_reorderTolerance)),
                MakeUintegerChecker<uint64_t>(0, kMostUnacked))
            .AddAttribute("WindowCountsFlight",
                          "SelectiveRepeat: Window and congestion control bound the packets under "
                          "way, known neither to have arrived nor to be lost (true), or all from "
                          "the first unacknowledged one on (false). Repetitions, too, wait for "
                          "room if true.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&RdmaQueuePair::m_countFlight)),
                          MakeBooleanChecker())
            .AddAttribute("StartingPsn",
                          "PSN of the first packet in either direction; equal at both ends.",
                          UintegerValue(0),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_startingPsn)),
                          MakeUintegerChecker<uint32_t>(0, scaleacross::kPsnSpace - 1))
            .AddAttribute(
                "ReceiveQueueDepth",
                "Most receives that may be posted (PostReceive) at this end for sends "
                "and writes with immediate; 0: it is always ready for them.",
                UintegerValue(0),
                scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_receiveQueueDepth)),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute("RnrTimer",
                          "Code of the time that the peer waits after a receiver-not-ready NAK of "
                          "this end, as in the standard: 1 is 10 us, 12 is 640 us, 31 is 491.52 "
                          "ms, 0 is 655.36 ms.",
                          UintegerValue(12),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_rnrTimer)),
                          MakeUintegerChecker<uint32_t>(0, scaleacross::kRnrTimerCodes - 1))
            .AddAttribute("RnrRetryCount",
                          "Receiver-not-ready NAKs without progress after which the next one is "
                          "an error; 7: there is no such error.",
                          UintegerValue(kEndlessRnrRetries),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_rnrRetryCount)),
                          MakeUintegerChecker<uint32_t>(0, kEndlessRnrRetries))
            .AddAttribute("Priority",
                          "Priority of data packets.",
                          UintegerValue(3),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_priority)),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddAttribute("AckPriority",
                          "Priority of the ACKs and NAKs that this end sends.",
                          UintegerValue(6),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_ackPriority)),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddAttribute("CongestionOps",
                          "Type of the congestion control of the sending end; RdmaCongestionOps "
                          "itself stands for none.",
                          TypeIdValue(RdmaCongestionOps::GetTypeId()),
                          scaleacross::Fixed(MakeTypeIdAccessor(&RdmaQueuePair::m_controlType)),
                          MakeTypeIdChecker())
            .AddAttribute("Entropy",
                          "UDP source port of all packets of this end, which pins it to a path "
                          "where switches hash flows; 0: one that follows from the addresses and "
                          "the number of the queue pair.",
                          UintegerValue(0),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_pinnedEntropy)),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("EntropyOps",
                          "Type of what gives every data packet that this end sends its own UDP "
                          "source port; RdmaEntropyOps itself stands for none.",
                          TypeIdValue(RdmaEntropyOps::GetTypeId()),
                          scaleacross::Fixed(MakeTypeIdAccessor(&RdmaQueuePair::m_entropyType)),
                          MakeTypeIdChecker())
            .AddAttribute("RateLimit",
                          "Most bits per second on the wire, whatever the congestion control "
                          "says; 0 is no limit.",
                          DataRateValue(DataRate(0)),
                          scaleacross::Fixed(MakeDataRateAccessor(&RdmaQueuePair::m_rateLimit)),
                          MakeDataRateChecker())
            .AddAttribute("EcnCapable",
                          "Switches may mark the data packets even if there is no congestion "
                          "control; with one they always may.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&RdmaQueuePair::m_ecnAttribute)),
                          MakeBooleanChecker())
            .AddAttribute("SendCnps",
                          "Answer marked packets with congestion notifications. To be switched "
                          "off for controls that go by the marks on ACKs.",
                          BooleanValue(true),
                          scaleacross::Fixed(MakeBooleanAccessor(&RdmaQueuePair::m_sendCnps)),
                          MakeBooleanChecker())
            .AddAttribute("CnpInterval",
                          "Least time between two CNPs of this end. SIGCOMM 2015: N = 50 us.",
                          TimeValue(MicroSeconds(50)),
                          scaleacross::Fixed(MakeTimeAccessor(&RdmaQueuePair::m_cnpIntervalTime)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CnpPriority",
                          "Priority of the CNPs that this end sends.",
                          UintegerValue(7),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaQueuePair::m_cnpPriority)),
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
    m_entropyOps = nullptr;
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
    m_nic->BringUpToDate(); // what came before is not for it
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
    SetUpEntropy(entropy);
    SetUpCongestionControl();
    m_window = m_allowed;
    m_state = State::ReadyToSend;
    if (m_nic->IsInitialized())
    {
        CheckSizes();
    }
}

void
RdmaQueuePair::SetUpEntropy(uint16_t entropy)
{
    m_entropy = entropy != 0 ? entropy : m_pinnedEntropy;
    if (!m_entropyOps && m_entropyType != RdmaEntropyOps::GetTypeId())
    {
        if (!m_entropyType.IsChildOf(RdmaEntropyOps::GetTypeId()) ||
            !m_entropyType.HasConstructor())
        {
            throw ConfigError(Describe() + " EntropyOps",
                              m_entropyType.GetName() + " gives no entropies",
                              "a type derived from ns3::RdmaEntropyOps",
                              "");
        }
        ObjectFactory factory;
        factory.SetTypeId(m_entropyType);
        m_entropyOps = factory.Create<RdmaEntropyOps>();
    }
    if (m_entropyOps)
    {
        scaleacross::CheckTolerates(
            Describe() + " EntropyOps",
            m_entropyOps->GetName() + " entropies let packets overtake each other",
            {m_mode == SelectiveRepeat, m_reorderTolerance, m_outOfOrderLimit});
        if (m_entropy != 0)
        {
            throw ConfigError(Describe() + " Entropy",
                              std::to_string(m_entropy) + " is pinned, and EntropyOps is " +
                                  m_entropyOps->GetName(),
                              "one of the two",
                              "leave Entropy or EntropyOps as it is by default");
        }
        if (m_stream >= 0)
        {
            m_entropyOps->SetStream(m_stream);
        }
        m_entropyOps->TakeStream();
        m_entropyOps->FixAttributes("its queue pair is connected");
    }
    if (m_entropy == 0)
    {
        const uint32_t hash =
            scaleacross::HashOf(m_nic->GetFabricAddress(), m_remoteAddress, 0, m_number);
        m_entropy = static_cast<uint16_t>(RdmaEntropyOps::kFirst + hash % RdmaEntropyOps::kCount);
    }
}

void
RdmaQueuePair::CheckMessageSize(const char* where, Bytes bytes)
{
    if (bytes.Count() > kMostMessageBytes)
    {
        throw ConfigError(where,
                          "a message of " + std::to_string(bytes.Count()) + " bytes",
                          "at most " + std::to_string(kMostMessageBytes) + " bytes",
                          "send several, or look for a difference that fell below 0");
    }
}

void
RdmaQueuePair::NoteLargest(RdmaOperation operation, Bytes bytes, uint64_t packets)
{
    const uint64_t last = bytes.Count() - (packets - 1) * m_mtu;
    const uint64_t first = packets > 1 ? m_mtu : last;
    // Those in the middle are not longer than the first.
    const uint32_t largest =
        std::max(m_nic->WireSize(static_cast<uint32_t>(first), operation, true, packets == 1),
                 m_nic->WireSize(static_cast<uint32_t>(last), operation, packets == 1, true));
    if (largest > m_largest)
    {
        if (m_nic->IsInitialized())
        {
            CheckFits(largest);
        }
        m_largest = largest;
    }
}

void
RdmaQueuePair::CheckSizes() const
{
    if (m_state != State::Reset)
    {
        CheckFits(std::max(m_largest, m_nic->WireSize(m_mtu, RdmaOperation::Write, false, false)));
    }
}

void
RdmaQueuePair::CheckFits(uint32_t size) const
{
    scaleacross::CheckFitsPath({Describe() + ", RdmaNic::PathMtu " + std::to_string(m_mtu),
                                *m_nic,
                                m_remoteAddress,
                                size,
                                m_telemetry});
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
    CheckMessageSize("RdmaQueuePair::Post", bytes);
    const uint64_t packets = std::max<uint64_t>(1, (bytes.Count() + m_mtu - 1) / m_mtu);
    NoteLargest(operation, bytes, packets);
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
    GetNic().BringUpToDate();
    return m_counters;
}

uint64_t
RdmaQueuePair::GetUnacked() const
{
    GetNic().BringUpToDate();
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

Ptr<RdmaEntropyOps>
RdmaQueuePair::GetEntropyOps() const
{
    return m_entropyOps;
}

void
RdmaQueuePair::SetEntropyOps(Ptr<RdmaEntropyOps> entropies)
{
    if (m_state != State::Reset)
    {
        throw ConfigError(Describe() + " SetEntropyOps",
                          "called after Connect",
                          "one object, before Connect",
                          "");
    }
    m_entropyOps = entropies;
}

int64_t
RdmaQueuePair::AssignStreams(int64_t stream)
{
    m_stream = stream;
    if (m_entropyOps)
    {
        m_entropyOps->SetStream(stream);
    }
    return 1;
}

DataRate
RdmaQueuePair::GetRate()
{
    GetNic().BringUpToDate();
    if (m_control)
    {
        AdvanceControl(scaleacross::SimulatorPicoseconds());
    }
    return DataRate(m_congestion.rate);
}

const char*
RdmaQueuePair::WhyFixed() const
{
    return m_state != State::Reset ? "the queue pair is connected" : nullptr;
}

RdmaNic&
RdmaQueuePair::GetNic() const
{
    if (m_nic == nullptr)
    {
        throw ConfigError("RdmaQueuePair",
                          "belongs to no NIC: it was not made by one, or Simulator::Destroy has "
                          "disposed of it",
                          "a queue pair of a NIC that is there",
                          "create queue pairs with RdmaNic::CreateQueuePair, and ask before "
                          "Simulator::Destroy");
    }
    return *m_nic;
}

std::string
RdmaQueuePair::Describe() const
{
    return "queue pair " + std::to_string(m_number) + " of " +
           (m_nic != nullptr ? m_nic->Describe() : "no NIC") + " to address " +
           std::to_string(m_remoteAddress);
}

} // namespace ns3
