// SPDX-License-Identifier: GPL-2.0-only

// What an RDMA NIC is set up with: attributes, addresses, queue pairs, sizes, stalled lanes.

#include "core/base/errors.h"
#include "rdma-nic.h"
#include "rdma-queue-pair.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/credit-link.h"
#include "ns3/enum.h"
#include "ns3/fabric-address.h"
#include "ns3/node.h"
#include "ns3/ns3-compat.h"
#include "ns3/object-vector.h"
#include "ns3/part-accessor.h"
#include "ns3/part-trace-source.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::ForeignEndpoint;
using scaleacross::kRoceFormat;
using scaleacross::PacketFormat;
using scaleacross::PartAccessor;
using scaleacross::PartTraceSource;
using scaleacross::RdmaOperation;
using scaleacross::SimulatorPicoseconds;
using scaleacross::TurnLength;

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
            .AddAttribute(
                "ForeignPriority",
                "Priority of packets of other stacks (IP); to be set before time zero.",
                UintegerValue(0),
                scaleacross::Fixed(PartAccessor(&RdmaNic::m_foreign, &ForeignEndpoint::priority)),
                MakeUintegerChecker<uint8_t>(0, scaleacross::kPriorities - 1))
            .AddAttribute("PullPriority",
                          "Priority of the pulls that this NIC hands out to senders that go by "
                          "them; to be set before time zero.",
                          UintegerValue(6),
                          scaleacross::Fixed(MakeUintegerAccessor(&RdmaNic::m_pullPriority)),
                          MakeUintegerChecker<uint8_t>(0, scaleacross::kPriorities - 1))
            .AddAttribute(
                "ForeignQueueSize",
                "Bytes, as on the wire, that packets of other stacks may wait with here; "
                "Send refuses what goes beyond (send-queue-full).",
                UintegerValue(1 << 20),
                scaleacross::Fixed(PartAccessor(&RdmaNic::m_foreign, &ForeignEndpoint::limit)),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "QueuePairTurn",
                "How much a queue pair sends until the next one of its priority takes its turn: a "
                "Packet, a Burst (QueuePairBurst) or a Message. One that may not go on loses the "
                "rest of its turn.",
                EnumValue(TurnLength::Packet),
                scaleacross::Fixed(
                    scaleacross::EnumAccessor<TurnLength::Unit>(&RdmaNic::SetQueuePairTurn,
                                                                &RdmaNic::GetQueuePairTurn)),
                MakeEnumChecker(TurnLength::Packet,
                                "Packet",
                                TurnLength::Burst,
                                "Burst",
                                TurnLength::Message,
                                "Message"))
            .AddAttribute(
                "QueuePairBurst",
                "With QueuePairTurn Burst: bytes on the wire that end a turn, in whole "
                "packets.",
                UintegerValue(16384),
                scaleacross::Fixed(PartAccessor(&RdmaNic::m_turnLength, &TurnLength::burst)),
                MakeUintegerChecker<uint64_t>(1, 1ULL << 40))
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
                            PartTraceSource(&RdmaNic::m_foreign, &ForeignEndpoint::macTx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "A packet of another stack is refused: it is never sent.",
                            PartTraceSource(&RdmaNic::m_foreign, &ForeignEndpoint::macTxDrop),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRx",
                            "A packet of another stack has arrived and is handed up.",
                            PartTraceSource(&RdmaNic::m_foreign, &ForeignEndpoint::macRx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "The same for those who want all packets. The fabric delivers to a NIC "
                            "only what is addressed to it.",
                            PartTraceSource(&RdmaNic::m_foreign, &ForeignEndpoint::macPromiscRx),
                            "ns3::Packet::TracedCallback");
    return tid;
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

Ptr<RdmaQueuePair>
RdmaNic::CreateQueuePair()
{
    Ptr<RdmaQueuePair> queuePair = CreateObject<RdmaQueuePair>();
    queuePair->SetNic(*this, GetNQueuePairs());
    if (m_stream >= 0)
    {
        queuePair->AssignStreams(StreamOf(m_stream, GetNQueuePairs()));
    }
    m_queuePairs.push_back(queuePair);
    m_turns.Add(&queuePair->Requester());
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
RdmaNic::FullPacketSize(uint8_t lane) const
{
    const uint32_t full = WireSize(m_pathMtu, RdmaOperation::WriteWithImmediate, true, true);
    return lane == m_foreign.priority ? std::max(full, ForeignWireSize(GetMtu())) : full;
}

void
RdmaNic::SetQueuePairTurn(TurnLength::Unit unit)
{
    m_turnLength.unit = unit;
}

TurnLength::Unit
RdmaNic::GetQueuePairTurn() const
{
    return m_turnLength.unit;
}

uint32_t
RdmaNic::GetStalledLanes() const
{
    return m_stalled.Mask();
}

void
RdmaNic::SetStalledLanes(uint32_t lanes)
{
    if (Credits() != nullptr)
    {
        BringUpToDate();
    }
    m_stalled.Set(lanes, [this](uint8_t lane, uint64_t blocks) {
        Credits()->Free(lane, blocks);
        SendCredit(lane, SimulatorPicoseconds());
    });
}

} // namespace ns3
