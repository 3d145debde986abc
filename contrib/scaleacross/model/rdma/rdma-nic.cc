// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-nic.h"

#include "core/base/errors.h"
#include "rdma-queue-pair.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/credit-link.h"
#include "ns3/fabric-address.h"
#include "ns3/fabric-wire.h"
#include "ns3/foreign-frame.h"
#include "ns3/node.h"
#include "ns3/object-vector.h"
#include "ns3/packet.h"
#include "ns3/part-accessor.h"
#include "ns3/switch-port.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::kNever;
using scaleacross::kRoceFormat;
using scaleacross::PacketFormat;
using scaleacross::PacketKind;
using scaleacross::PacketPool;
using scaleacross::PartAccessor;
using scaleacross::RdmaOperation;
using scaleacross::SimulatorPicoseconds;

namespace
{
/// Random stream of a queue pair, from that of its NIC.
int64_t
StreamOf(int64_t nic, uint32_t queuePair)
{
    return nic + ((int64_t{queuePair} + 1) << 40);
}
} // namespace

NS_OBJECT_ENSURE_REGISTERED(RdmaNic);

TypeId
RdmaNic::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaNic")
            .SetParent<FabricPort>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<RdmaNic>()
            .AddAttribute("FabricAddress",
                          "Number by which routes know this NIC; unique in a fabric.",
                          UintegerValue(0),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaNic::SetFabricAddress,
                                                                  &RdmaNic::GetFabricAddress)),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("PathMtu",
                          "Payload of a full RDMA packet in bytes, without any header; read when "
                          "a queue pair is connected. IP packets have the attribute IpMtu.",
                          UintegerValue(4096),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaNic::m_pathMtu)),
                          MakeUintegerChecker<uint32_t>(1, 32768))
            .AddAttribute(
                "HeaderSize",
                "Header bytes of every data packet. RoCEv2: Ethernet 14, IPv4 20, UDP 8, "
                "BTH 12, ICRC 4. RoCEv2 over IPv6: 78. InfiniBand: LRH 8, BTH 12, ICRC 4, "
                "VCRC 2.",
                UintegerValue(kRoceFormat.header),
                scaleacross::Fixed(PartAccessor(&RdmaNic::m_format, &PacketFormat::header)),
                MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute(
                "FrameSize",
                "Bytes of wire time around each packet. Ethernet: FCS 4, preamble 8, "
                "gap 12.",
                UintegerValue(kRoceFormat.frame),
                scaleacross::Fixed(PartAccessor(&RdmaNic::m_format, &PacketFormat::frame)),
                MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute(
                "MinWireSize",
                "Least bytes that a data or foreign packet takes on the wire. Ethernet: "
                "64, preamble 8, gap 12. InfiniBand: none.",
                UintegerValue(kRoceFormat.least),
                scaleacross::Fixed(PartAccessor(&RdmaNic::m_format, &PacketFormat::least)),
                MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("RethSize",
                          "Further header bytes of the first packet of a write.",
                          UintegerValue(kRoceFormat.reth),
                          scaleacross::Fixed(PartAccessor(&RdmaNic::m_format, &PacketFormat::reth)),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute(
                "ImmediateSize",
                "Further header bytes of the last packet of a write with immediate.",
                UintegerValue(kRoceFormat.immediate),
                scaleacross::Fixed(PartAccessor(&RdmaNic::m_format, &PacketFormat::immediate)),
                MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute(
                "FixedOverhead",
                "If not 0: every data packet takes its payload and this many bytes on "
                "the wire, and the sizes of headers and frame do not count. 48 to "
                "compare with HPCC's simulator.",
                UintegerValue(kRoceFormat.overhead),
                scaleacross::Fixed(PartAccessor(&RdmaNic::m_format, &PacketFormat::overhead)),
                MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("AckSize",
                          "Bytes that an ACK or NAK takes on the wire. RoCEv2: 58 of headers, "
                          "AETH 4, frame 24.",
                          UintegerValue(kRoceFormat.ack),
                          scaleacross::Fixed(PartAccessor(&RdmaNic::m_format, &PacketFormat::ack)),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("CnpSize",
                          "Bytes that a CNP takes on the wire. RoCEv2: 58 of headers, 16 reserved, "
                          "frame 24.",
                          UintegerValue(kRoceFormat.cnp),
                          scaleacross::Fixed(PartAccessor(&RdmaNic::m_format, &PacketFormat::cnp)),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("HopLimit",
                          "Switches a packet may pass before it is dropped.",
                          UintegerValue(64),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaNic::m_hopLimit)),
                          MakeUintegerChecker<uint32_t>(1, 255))
            .AddAttribute("LookAhead",
                          "Let one event do what has become due within the delay of the wire, as "
                          "nobody notices sooner; whatever calls back to a user has an event at "
                          "its time. Results are the same. No effect unless the Simulator counts "
                          "picoseconds. Set before time zero.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&RdmaNic::m_lookAhead)),
                          MakeBooleanChecker())
            .AddAttribute("StalledLanes",
                          "With credits: bit v is set while packets of virtual lane v stay in the "
                          "receive buffer, as if the host took nothing. They are answered all the "
                          "same.",
                          UintegerValue(0),
                          scaleacross::Live(MakeUintegerAccessor(&RdmaNic::SetStalledLanes,
                                                                 &RdmaNic::GetStalledLanes)),
                          MakeUintegerChecker<uint32_t>(0, 255))
            .AddAttribute("ForeignPriority",
                          "Priority of packets of other stacks (IP); to be set before time zero.",
                          UintegerValue(0),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaNic::m_foreignPriority)),
                          MakeUintegerChecker<uint8_t>(0, scaleacross::kPriorities - 1))
            .AddAttribute("PullPriority",
                          "Priority of the pulls that this NIC hands out to senders that go by "
                          "them; to be set before time zero.",
                          UintegerValue(6),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaNic::m_pullPriority)),
                          MakeUintegerChecker<uint8_t>(0, scaleacross::kPriorities - 1))
            .AddAttribute("ForeignQueueSize",
                          "Bytes, as on the wire, that packets of other stacks may wait with here; "
                          "Send refuses what goes beyond (send-queue-full).",
                          UintegerValue(1 << 20),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaNic::m_foreignLimit)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("QueuePairList",
                          "The queue pairs of this NIC, by number.",
                          ObjectVectorValue(),
                          MakeObjectVectorAccessor(&RdmaNic::m_queuePairs),
                          MakeObjectVectorChecker<RdmaQueuePair>())
            .AddTraceSource("QueuePairCreated",
                            "There is a new queue pair, not connected yet: where its own trace "
                            "sources can be connected in time.",
                            MakeTraceSourceAccessor(&RdmaNic::m_queuePairTrace),
                            "ns3::RdmaNic::QueuePairTracedCallback")
            .AddTraceSource("MacTx",
                            "Another stack hands over a packet.",
                            MakeTraceSourceAccessor(&RdmaNic::m_macTxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "A packet of another stack is refused: it is never sent.",
                            MakeTraceSourceAccessor(&RdmaNic::m_macTxDropTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRx",
                            "A packet of another stack has arrived and is handed up.",
                            MakeTraceSourceAccessor(&RdmaNic::m_macRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "The same for those who want all packets. The fabric delivers to a NIC "
                            "only what is addressed to it.",
                            MakeTraceSourceAccessor(&RdmaNic::m_macPromiscRxTrace),
                            "ns3::Packet::TracedCallback");
    return tid;
}

RdmaNic::RdmaNic()
    : m_agenda(*this, scaleacross::ArrivalAgenda::AlarmOrder::AfterArrivals)
{
    SetFabricAddress(0);
}

RdmaNic::~RdmaNic() = default;

bool
RdmaNic::IsVisible(const FabricPacket& packet) const
{
    if (packet.kind == PacketKind::Foreign)
    {
        return true;
    }
    if (packet.kind >= PacketKind::Pause)
    {
        return false;
    }
    if (packet.queuePair >= m_queuePairs.size())
    {
        return true; // there may be one until it arrives
    }
    RdmaQueuePair& queuePair = *m_queuePairs[packet.queuePair];
    return packet.kind == PacketKind::Data ? queuePair.MayDeliver(packet)
                                           : queuePair.MayComplete(packet);
}

bool
RdmaNic::IsWatched() const
{
    return FabricPort::IsWatched();
}

const char*
RdmaNic::WhyFixed() const
{
    const bool connected =
        std::any_of(m_queuePairs.begin(), m_queuePairs.end(), [](const auto& queuePair) {
            return queuePair->WhyFixed() != nullptr;
        });
    return connected ? "a queue pair of the NIC is connected" : FabricPort::WhyFixed();
}

void
RdmaNic::DoInitialize()
{
    m_agenda.SetPace(m_lookAhead && DynamicCast<SwitchPort>(GetPeer())
                         ? scaleacross::ArrivalAgenda::Pace::Behind
                         : scaleacross::ArrivalAgenda::Pace::Exact);
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->CheckSizes();
        queuePair->Initialize();
    }
    FabricPort::DoInitialize();
}

void
RdmaNic::DoDispose()
{
    m_agenda.Clear();
    m_rings = {};
    m_waiting.Clear();
    m_pulls.Clear();
    m_pullReady = false;
    NoteEligible();
    m_posted.clear();
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->Dispose();
    }
    m_queuePairs.clear();
    m_started.queuePair = nullptr;
    m_foreign.Clear();
    m_foreignReady = kNoPriority;
    m_pool.ReleaseFrames();
    FabricPort::DoDispose();
}

uint32_t
RdmaNic::GetFabricAddress() const
{
    return m_address;
}

void
RdmaNic::SetFabricAddress(uint32_t address)
{
    m_address = address;
    FabricPort::SetAddress(scaleacross::MacOf(address));
}

void
RdmaNic::SetAddress(Address address)
{
    if (Mac48Address::ConvertFrom(address) != scaleacross::MacOf(m_address))
    {
        throw ConfigError(Describe() + " address",
                          "another MAC address",
                          "02:00 and the fabric address, by which switches route",
                          "set RdmaNic::FabricAddress");
    }
}

uint32_t
RdmaNic::GetPortNumber() const
{
    return 0;
}

scaleacross::ArrivalAgenda&
RdmaNic::Agenda()
{
    return m_agenda;
}

Ptr<RdmaQueuePair>
RdmaNic::CreateQueuePair()
{
    Ptr<RdmaQueuePair> queuePair = CreateObject<RdmaQueuePair>();
    queuePair->SetNic(this, GetNQueuePairs());
    if (m_stream >= 0)
    {
        queuePair->AssignStreams(StreamOf(m_stream, GetNQueuePairs()));
    }
    m_queuePairs.push_back(queuePair);
    m_queuePairTrace(queuePair);
    return queuePair;
}

uint32_t
RdmaNic::GetNQueuePairs() const
{
    return static_cast<uint32_t>(m_queuePairs.size());
}

int64_t
RdmaNic::AssignStreams(int64_t stream)
{
    m_stream = stream;
    for (uint32_t i = 0; i < GetNQueuePairs(); ++i)
    {
        m_queuePairs[i]->AssignStreams(StreamOf(stream, i));
    }
    return 1;
}

Ptr<RdmaQueuePair>
RdmaNic::GetQueuePair(uint32_t number) const
{
    return m_queuePairs.at(number);
}

uint32_t
RdmaNic::GetPathMtu() const
{
    return m_pathMtu;
}

uint32_t
RdmaNic::WireSize(uint32_t payload, RdmaOperation operation, bool first, bool last) const
{
    return m_format.DataSize(payload,
                             first && operation != RdmaOperation::Send,
                             last && operation == RdmaOperation::WriteWithImmediate);
}

uint32_t
RdmaNic::FullPacketSize(uint8_t lane) const
{
    const uint32_t full = WireSize(m_pathMtu, RdmaOperation::WriteWithImmediate, true, true);
    return lane == m_foreignPriority ? std::max(full, ForeignWireSize(GetMtu())) : full;
}

uint32_t
RdmaNic::GetStalledLanes() const
{
    return m_stalled;
}

void
RdmaNic::SetStalledLanes(uint32_t lanes)
{
    if (Credits() != nullptr)
    {
        BringUpToDate();
    }
    m_stalled = lanes;
    for (uint8_t lane = 0; lane < scaleacross::kPriorities; ++lane)
    {
        if (((lanes >> lane) & 1U) == 0 && m_stalledBlocks[lane] > 0)
        {
            Credits()->Free(lane, m_stalledBlocks[lane]);
            m_stalledBlocks[lane] = 0;
            SendCredit(lane, SimulatorPicoseconds());
        }
    }
}

// --- Sending

void
RdmaNic::Append(Ring& ring, RdmaQueuePair* queuePair)
{
    queuePair->m_nextActive = nullptr;
    (ring.head == nullptr ? ring.head : ring.tail->m_nextActive) = queuePair;
    ring.tail = queuePair;
}

FabricPacket*
RdmaNic::Pull(uint8_t priority, int64_t start)
{
    if (m_pullReady && priority == m_pullPriority)
    {
        return StartPull(start);
    }
    Ring& ring = m_rings[priority];
    RdmaQueuePair* queuePair = ring.head;
    if (priority == m_foreignReady)
    {
        m_foreignTurn = !m_foreignTurn || queuePair == nullptr;
        if (m_foreignTurn)
        {
            return PullForeign(start);
        }
    }
    FabricPacket* packet = m_pool.Take();
    packet->source = m_address;
    packet->hops = static_cast<uint8_t>(m_hopLimit);
    queuePair->FillNext(*packet, start);
    ++m_dataSent;
    if (!queuePair->CanSend())
    {
        LeaveHead(priority);
        queuePair->m_active = false;
    }
    else if (queuePair->Eligible() > start)
    {
        LeaveHead(priority);
        WaitUntilEligible(queuePair);
    }
    else if (queuePair->m_nextActive != nullptr)
    {
        ring.head = queuePair->m_nextActive;
        Append(ring, queuePair);
    }
    return packet;
}

void
RdmaNic::LeaveHead(uint8_t priority)
{
    Ring& ring = m_rings[priority];
    ring.head = ring.head->m_nextActive;
    UpdatePullable(priority);
}

void
RdmaNic::WaitUntilEligible(RdmaQueuePair* queuePair)
{
    queuePair->m_waiting = true;
    m_waiting.Set(queuePair->GetNumber(), queuePair->EligibleUnlessTimed());
    NoteEligible();
}

void
RdmaNic::NoteEligible()
{
    const int64_t waiting = m_waiting.Empty() ? kNever : m_waiting.Front().time;
    SetNextEligible(m_pullReady ? waiting : std::min(waiting, m_pulls.Due()));
}

void
RdmaNic::AdmitEligible(int64_t now)
{
    while (!m_waiting.Empty() && m_waiting.Front().time <= now)
    {
        const scaleacross::PacingQueue::Entry first = m_waiting.Front();
        RdmaQueuePair* queuePair = PeekPointer(m_queuePairs[first.number]);
        queuePair->AdvanceWait(first.time);
        if (queuePair->Eligible() > first.time)
        {
            m_waiting.Set(first.number, queuePair->EligibleUnlessTimed());
            continue;
        }
        m_waiting.Remove(first.number);
        queuePair->m_waiting = false;
        Append(m_rings[queuePair->GetPriority()], queuePair);
        SetPullable(queuePair->GetPriority(), true);
    }
    if (!m_pullReady && m_pulls.Due() <= now)
    {
        m_pullReady = true;
        SetPullable(m_pullPriority, true);
    }
    NoteEligible();
}

void
RdmaNic::Remove(Ring& ring, const RdmaQueuePair* queuePair)
{
    RdmaQueuePair* rest = ring.head;
    ring = Ring();
    while (rest != nullptr)
    {
        RdmaQueuePair* next = rest->m_nextActive;
        if (rest != queuePair)
        {
            Append(ring, rest);
        }
        rest = next;
    }
}

void
RdmaNic::UpdateActive(RdmaQueuePair* queuePair, int64_t now)
{
    const uint8_t priority = queuePair->GetPriority();
    Ring& ring = m_rings[priority];
    const bool active = queuePair->CanSend();
    if (active == queuePair->m_active)
    {
        if (queuePair->m_waiting)
        {
            WaitUntilEligible(queuePair); // its rate may be another one
        }
        else if (active && queuePair->Eligible() > now)
        {
            // It had the rate of the line, and its packet is on it.
            Remove(ring, queuePair);
            UpdatePullable(priority);
            WaitUntilEligible(queuePair);
        }
        return;
    }
    queuePair->m_active = active;
    if (active && queuePair->Eligible() > 0)
    {
        WaitUntilEligible(queuePair); // until Kick, if it is due already
        return;
    }
    if (active)
    {
        Append(ring, queuePair);
        SetPullable(priority, true);
        return;
    }
    // Rare: it had gone back or has failed.
    if (queuePair->m_waiting)
    {
        queuePair->m_waiting = false;
        m_waiting.Remove(queuePair->GetNumber());
        NoteEligible();
        return;
    }
    Remove(ring, queuePair);
    UpdatePullable(priority);
}

void
RdmaNic::UpdatePullable(uint8_t priority)
{
    SetPullable(priority,
                m_rings[priority].head != nullptr || priority == m_foreignReady ||
                    (m_pullReady && priority == m_pullPriority));
}

void
RdmaNic::Posted(RdmaQueuePair* queuePair)
{
    const int64_t now = SimulatorPicoseconds();
    m_agenda.Settle(now); // an alarm of before must not find it
    if (m_posted.empty())
    {
        m_agenda.SetAlarm(now);
    }
    if (m_posted.empty() || m_posted.back() != queuePair)
    {
        m_posted.push_back(queuePair);
    }
}

void
RdmaNic::WatchDeadline(int64_t deadline, bool anew)
{
    m_timers += anew ? 1 : 0;
    if (deadline < m_nextDeadline)
    {
        m_nextDeadline = deadline;
        m_agenda.SetTimeout(deadline);
    }
}

void
RdmaNic::ForgetDeadline()
{
    if (--m_timers > 0)
    {
        return;
    }
    m_nextDeadline = kNever;
    // The alarm may have been set for something else; it then goes off once for nothing.
    if (m_posted.empty() && !m_foreign.HasPosted() && NextEligible() == kNever)
    {
        m_agenda.ClearAlarm();
    }
}

void
RdmaNic::DoLinkChanged(bool up, int64_t now)
{
    for (const auto& queuePair : m_queuePairs)
    {
        queuePair->LinkChanged(up, now);
    }
}

void
RdmaNic::HandleAlarm(int64_t now)
{
    CatchUp(now);
    if (NextEligible() <= now)
    {
        AdmitEligible(now); // before any that comes now
    }
    std::vector<RdmaQueuePair*> posted;
    posted.swap(m_posted);
    for (RdmaQueuePair* queuePair : posted)
    {
        queuePair->ShowPosted();
        UpdateActive(queuePair, now);
        queuePair->RunTimerIfHeldUp(now);
    }
    m_foreign.ShowPosted();
    if (m_foreignReady == kNoPriority && m_foreign.IsReady())
    {
        m_foreignReady = m_foreignPriority;
        m_foreignTurn = false;
        UpdatePullable(m_foreignReady);
    }
    if (m_nextDeadline <= now)
    {
        m_nextDeadline = kNever;
        // By index: a failure callback may create queue pairs.
        for (size_t i = 0; i < m_queuePairs.size(); ++i)
        {
            if (m_queuePairs[i]->Deadline() <= now)
            {
                m_queuePairs[i]->HandleTimeout(now);
            }
            m_nextDeadline = std::min(m_nextDeadline, m_queuePairs[i]->Deadline());
        }
    }
    if (m_nextDeadline != kNever)
    {
        m_agenda.SetTimeout(m_nextDeadline);
    }
    Kick(now);
}

FabricPacket*
RdmaNic::NewControl()
{
    FabricPacket* packet = m_pool.Take();
    packet->source = m_address;
    packet->hops = static_cast<uint8_t>(m_hopLimit);
    packet->size = static_cast<uint16_t>(m_format.ack);
    return packet;
}

scaleacross::TelemetryTrail*
RdmaNic::NewTrail()
{
    return m_trails.Take();
}

const scaleacross::TelemetryTrail*
RdmaNic::ArrivedTrail() const
{
    return m_arrivedTrail;
}

scaleacross::TelemetryTrail*
RdmaNic::TakeArrivedTrail()
{
    return std::exchange(m_arrivedTrail, nullptr);
}

FabricPacket*
RdmaNic::NewCnp()
{
    FabricPacket* packet = NewControl();
    packet->kind = PacketKind::Cnp;
    packet->size = static_cast<uint16_t>(m_format.cnp);
    return packet;
}

void
RdmaNic::SendControl(FabricPacket* packet, int64_t now)
{
    Enqueue(packet, now);
    Kick(now);
}

void
RdmaNic::NoteStarted(RdmaQueuePair* queuePair, uint64_t bytes, uint64_t tag)
{
    m_started = {queuePair, bytes, tag};
}

void
RdmaNic::Departed()
{
    if (m_started.queuePair != nullptr)
    {
        const StartedMessage started = m_started;
        m_started.queuePair = nullptr;
        started.queuePair->TraceStarted(started.bytes, started.tag);
    }
}

// --- Receiving

void
RdmaNic::Receive(FabricPacket* packet, int64_t now)
{
    if (Credits() != nullptr)
    {
        if (((m_stalled >> packet->priority) & 1U) != 0)
        {
            m_stalledBlocks[packet->priority] += scaleacross::CreditBlocks(packet->size);
        }
        else
        {
            FreeCredit(*packet, now);
        }
    }
    if (packet->destination != m_address || packet->queuePair >= m_queuePairs.size())
    {
        // Queue pair numbers never reach that of foreign packets, so they all come by here.
        if (packet->kind == PacketKind::Foreign && packet->destination == m_address)
        {
            ReceiveForeign(packet, now);
            return;
        }
        DropReason reason =
            packet->destination != m_address ? DropReason::WrongAddress : DropReason::NoQueuePair;
        ++m_drops[static_cast<size_t>(reason)];
        NotifyDrop(*packet, reason);
        PacketPool::Return(packet);
        return;
    }
    CatchUp(now);
    if (NextEligible() <= now)
    {
        AdmitEligible(now); // before any that this packet lets send
    }
    // The packet is done with before any callback runs: what it says is copied.
    m_arrivedTrail = packet->telemetry ? scaleacross::DetachTrail(*packet) : nullptr;
    const FabricPacket copy = *packet;
    PacketPool::Return(packet);
    if (m_pulling)
    {
        NoteLineUsed(copy, now);
    }
    RdmaQueuePair& queuePair = *m_queuePairs[copy.queuePair];
    if (copy.kind == PacketKind::Data)
    {
        ++m_dataReceived;
        queuePair.HandleData(copy, now);
    }
    else
    {
        ++m_controlReceived;
        if (copy.kind == PacketKind::Cnp)
        {
            queuePair.HandleCnp(now);
        }
        else if (copy.kind == PacketKind::Pull)
        {
            queuePair.HandlePull(copy, now);
        }
        else
        {
            queuePair.HandleAck(copy, now);
        }
        Kick(now);
    }
    if (m_arrivedTrail != nullptr)
    {
        scaleacross::TelemetryPool::Return(TakeArrivedTrail());
    }
}

// --- Counters

uint64_t
RdmaNic::GetDataSent()
{
    BringUpToDate();
    return m_dataSent;
}

uint64_t
RdmaNic::GetControlSent()
{
    return GetSentPackets() - m_dataSent - m_foreignSent;
}

uint64_t
RdmaNic::GetDataReceived()
{
    BringUpToDate();
    return m_dataReceived;
}

uint64_t
RdmaNic::GetControlReceived()
{
    BringUpToDate();
    return m_controlReceived;
}

uint64_t
RdmaNic::GetDrops(DropReason reason) const
{
    return m_drops.at(static_cast<size_t>(reason));
}

uint64_t
RdmaNic::GetDrops() const
{
    return std::accumulate(m_drops.begin(), m_drops.end(), uint64_t{0});
}

uint64_t
RdmaNic::Sum(uint64_t scaleacross::RdmaCounters::*counter) const
{
    uint64_t sum = 0;
    for (const auto& queuePair : m_queuePairs)
    {
        sum += queuePair->GetCounters().*counter;
    }
    return sum;
}

uint64_t
RdmaNic::GetDeliveredBytes() const
{
    return Sum(&scaleacross::RdmaCounters::deliveredBytes);
}

uint64_t
RdmaNic::GetRetransmissions() const
{
    return Sum(&scaleacross::RdmaCounters::retransmissions);
}

uint64_t
RdmaNic::GetTimeouts() const
{
    return Sum(&scaleacross::RdmaCounters::timeouts);
}

} // namespace ns3
