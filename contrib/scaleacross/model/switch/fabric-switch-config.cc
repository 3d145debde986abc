// SPDX-License-Identifier: GPL-2.0-only

// The attributes of a switch, and what follows from them before time zero: headroom, marking,
// seeds.

#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "fabric-switch.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ecmp-selector.h"
#include "ns3/fabric-wire.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::kPriorities;

TypeId
FabricSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricSwitch")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<FabricSwitch>()
            .AddAttribute("BufferSize",
                          "Packet memory in bytes, headroom included.",
                          UintegerValue(64 << 20),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_bufferSize)),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("Pfc",
                          "Pause the neighbour instead of dropping, for the priorities of "
                          "LosslessPriorities. If false, every priority is lossy.",
                          BooleanValue(true),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::m_pfc)),
                          MakeBooleanChecker())
            .AddAttribute("Credits",
                          "InfiniBand's flow control in place of PFC: credits for each virtual "
                          "lane, which is what a priority then is. To be the same at all switches "
                          "of a fabric; the NICs of a switch follow it.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::m_credits)),
                          MakeBooleanChecker())
            .AddAttribute("VirtualLanes",
                          "With Credits: bit v is set if virtual lane v has a receive buffer at "
                          "every port.",
                          UintegerValue(255),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_lanes)),
                          MakeUintegerChecker<uint32_t>(1, 255))
            .AddAttribute(
                "VlBuffer",
                "With Credits: bytes of the receive buffer of each lane and port, rounded "
                "up to blocks of 64. 0: by distance, what keeps the wire full, but no more "
                "than MaxCreditBlocks.",
                UintegerValue(0),
                scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_vlBuffer)),
                MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute(
                "CreditUpdate",
                "With Credits: the neighbour is told when it may send so many bytes more, "
                "rounded up to blocks of 64.",
                UintegerValue(scaleacross::kCreditUpdate),
                scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_creditUpdate)),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "MaxCreditBlocks",
                "With Credits: most blocks of 64 bytes that may be granted at a time. "
                "InfiniBand's limit has 12 bits, which allow 2,048; more stands for a "
                "device that extends the reach of a link.",
                UintegerValue(2048),
                scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_maxCreditBlocks)),
                MakeUintegerChecker<uint64_t>(1, uint64_t{1} << 40))
            .AddAttribute("LaneMap",
                          "With Credits: the virtual lane by which a packet of a service level "
                          "goes on, by the ports that it comes in and leaves by, as in: in any "
                          "out 1 0:1,3:4; in 2 out 1 0:0. Where several rules fit, the last one "
                          "counts. Empty: packets keep their lanes. Set before time zero.",
                          StringValue(""),
                          scaleacross::Fixed(MakeStringAccessor(&FabricSwitch::SetLaneMap,
                                                                &FabricSwitch::GetLaneMap)),
                          MakeStringChecker())
            .AddAttribute("LosslessPriorities",
                          "Bit p is set if priority p is lossless. Each one reserves headroom on "
                          "every port.",
                          UintegerValue(1U << 3),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_losslessMask)),
                          MakeUintegerChecker<uint32_t>(0, 255))
            .AddAttribute("LosslessAlpha",
                          "An ingress may hold this multiple of the free shared memory before it "
                          "is paused. Smaller is fairer among many, larger absorbs more.",
                          DoubleValue(0.125),
                          scaleacross::Fixed(MakeDoubleAccessor(&FabricSwitch::m_alphaLossless)),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("LossyAlpha",
                          "An egress queue of a lossy priority may hold this multiple of the free "
                          "shared memory before it drops.",
                          DoubleValue(1.0),
                          scaleacross::Fixed(MakeDoubleAccessor(&FabricSwitch::m_alphaLossy)),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("ResumeOffset",
                          "Bytes below its threshold at which a paused ingress is resumed.",
                          UintegerValue(scaleacross::kCreditUpdate),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_resumeOffset)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("MaxPacketSize",
                          "Longest packet in bytes of wire time; longer ones are dropped. Headroom "
                          "holds two of them. RoCEv2 with an MTU of 4,096: 4,096 + 62 + 16 + 24.",
                          UintegerValue(4200),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_maxPacket)),
                          MakeUintegerChecker<uint32_t>(64, 65535))
            .AddAttribute("PauseResponse",
                          "Time a neighbour may take to act on a pause: adds to the headroom. The "
                          "ports modelled here need none.",
                          TimeValue(Time(0)),
                          scaleacross::Fixed(MakeTimeAccessor(&FabricSwitch::m_response)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HeadroomScale",
                          "Multiplies the computed headroom. Below 1 only to study a switch that "
                          "is configured wrongly: packets are then dropped as headroom-full.",
                          DoubleValue(1.0),
                          scaleacross::Fixed(MakeDoubleAccessor(&FabricSwitch::m_headroomScale)),
                          MakeDoubleChecker<double>(0.0, 1000.0))
            .AddAttribute(
                "PathSelector",
                "Type that chooses among the ports to a destination, derived from "
                "ns3::PathSelector. Its attributes are set by their defaults, or at "
                "GetPathSelector().",
                TypeIdValue(EcmpSelector::GetTypeId()),
                scaleacross::Fixed(MakeTypeIdAccessor(&FabricSwitch::SetPathSelectorType,
                                                      &FabricSwitch::GetPathSelectorType)),
                MakeTypeIdChecker())
            .AddAttribute("HashFields",
                          "Header fields that tell flows apart for ECMP, UCMP and flowlets: some "
                          "of source, destination, udp-source-port and destination-qp, separated "
                          "by commas. Every queue pair has a UDP source port of its own.",
                          StringValue("source,destination,udp-source-port"),
                          scaleacross::Fixed(MakeStringAccessor(&FabricSwitch::SetHashFields,
                                                                &FabricSwitch::GetHashFields)),
                          MakeStringChecker())
            .AddAttribute("HashSeed",
                          "Seed of the hash that tells flows apart, besides ns-3's run number. Set "
                          "before time zero.",
                          UintegerValue(0),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::SetHashSeed,
                                                                  &FabricSwitch::GetHashSeed)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("HashPerSwitch",
                          "Mix the node id into HashSeed. If false, switches with equal HashSeed "
                          "decide alike, and those behind the first see only flows that it has "
                          "sorted (polarisation). Set before time zero.",
                          BooleanValue(true),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::SetHashPerSwitch,
                                                                 &FabricSwitch::GetHashPerSwitch)),
                          MakeBooleanChecker())
            .AddAttribute("WatchdogDetection",
                          "Time for which a queue has to stay paused with packets waiting until "
                          "the PFC watchdog gives up on it. 0: no watchdog. SONiC's default is "
                          "200 ms.",
                          TimeValue(Time(0)),
                          scaleacross::Fixed(MakeTimeAccessor(&FabricSwitch::m_watchdogDetection)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "WatchdogRestoration",
                "Time without a pause after which the PFC watchdog takes a queue back "
                "into service.",
                TimeValue(MilliSeconds(200)),
                scaleacross::Fixed(MakeTimeAccessor(&FabricSwitch::m_watchdogRestoration)),
                MakeTimeChecker(Time(0)))
            .AddAttribute("WatchdogForward",
                          "What is done with the packets of a queue that the PFC watchdog has "
                          "given up: drop them (false), or send them in spite of the pause (true).",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::m_watchdogForward)),
                          MakeBooleanChecker())
            .AddAttribute("KeepAtDownPort",
                          "What is done with packets for a port whose wire is down: throw them "
                          "away (false), or keep them until there is another way or the wire is "
                          "back (true).",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::m_keepAtDownPort)),
                          MakeBooleanChecker())
            .AddAttribute("LookAhead",
                          "Let one event do what is due within the least delay of the wires that "
                          "lead here, as nothing can arrive sooner. Results are the same; what is "
                          "asked of the switch between events may be that much ahead. No effect "
                          "unless the Simulator counts picoseconds. Set before time zero.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::m_lookAhead)),
                          MakeBooleanChecker())
            .AddTraceSource("PfcStorm",
                            "The PFC watchdog gives up on a queue (true) or takes it back (false): "
                            "port, priority, which of both.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_stormTrace),
                            "ns3::FabricSwitch::IngressPauseTracedCallback")
            .AddAttribute("EcnPriorities",
                          "Bit p is set if packets of priority p may be marked.",
                          UintegerValue(0),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_ecnMask)),
                          MakeUintegerChecker<uint32_t>(0, 255))
            .AddAttribute("EcnKmin",
                          "Bytes waiting in the egress queue up to which nothing is marked. "
                          "RED of SIGCOMM 2015: 5 KB at 40 Gb/s.",
                          UintegerValue(5000),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_kmin)),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("EcnKmax",
                          "Bytes waiting beyond which everything is marked. Paper: 200 KB at 40 "
                          "Gb/s.",
                          UintegerValue(200'000),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_kmax)),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("EcnPmax",
                          "Probability of a mark at EcnKmax. Paper: 0.01.",
                          DoubleValue(0.01),
                          scaleacross::Fixed(MakeDoubleAccessor(&FabricSwitch::m_pmax)),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("EcnMarkingRate",
                          "Packets beyond EcnKmax that are left unmarked on average for each that "
                          "is marked: InfiniBand's Marking_Rate. 0: all are marked.",
                          UintegerValue(0),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_ecnMarkingRate)),
                          MakeUintegerChecker<uint32_t>(0, 65'535))
            .AddAttribute("EcnAtDeparture",
                          "Mark a packet by what waits behind it when it leaves, not by what it "
                          "finds when it joins the queue.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::m_ecnAtDeparture)),
                          MakeBooleanChecker())
            .AddAttribute("EcnVictims",
                          "With Credits: mark packets also where their lane has no credits, and "
                          "so waits for congestion elsewhere (InfiniBand's victim mask).",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::m_ecnVictims)),
                          MakeBooleanChecker())
            .AddAttribute("EcnReferenceRate",
                          "If not 0: EcnKmin and EcnKmax are those of a port of this rate, and "
                          "grow with the rate of the port. 0: they are the same for all ports.",
                          DataRateValue(DataRate(0)),
                          scaleacross::Fixed(MakeDataRateAccessor(&FabricSwitch::m_ecnReference)),
                          MakeDataRateChecker())
            .AddAttribute("Trim",
                          "Cut the payload off data packets of lossy priorities that would make "
                          "their queue too long or find no room, and send the rest on.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricSwitch::m_trim)),
                          MakeBooleanChecker())
            .AddAttribute("TrimThreshold",
                          "Bytes that may wait in the queue of a priority at a port; what would "
                          "make them more is trimmed. 0: only the shared memory decides.",
                          UintegerValue(0),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_trimThreshold)),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("TrimReferenceRate",
                          "If not 0: TrimThreshold is that of a port of this rate, and grows with "
                          "the rate of the port. 0: it is the same for all ports.",
                          DataRateValue(DataRate(0)),
                          scaleacross::Fixed(MakeDataRateAccessor(&FabricSwitch::m_trimReference)),
                          MakeDataRateChecker())
            .AddAttribute("TrimmedSize",
                          "Bytes that a trimmed packet takes on the wire: 64 of headers and 24 of "
                          "FCS, preamble and gap. Packets that are not longer stay whole.",
                          UintegerValue(88),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_trimmedSize)),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("TrimPriority",
                          "Priority that a trimmed packet gets: a lossy one, as a rule that of "
                          "the answers. Where many send to one its packets can crowd out the data; "
                          "FabricPort::Quanta bounds that.",
                          UintegerValue(6),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_trimPriority)),
                          MakeUintegerChecker<uint8_t>(0, kPriorities - 1))
            .AddTraceSource("Trimmed",
                            "A data packet has lost its payload: the packet, as it goes on.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_trimTrace),
                            "ns3::FabricPort::PacketTracedCallback")
            .AddTraceSource("IngressPause",
                            "The switch stops (true) or resumes (false) a neighbour: port, "
                            "priority, which of both.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_pauseTrace),
                            "ns3::FabricSwitch::IngressPauseTracedCallback");
    return tid;
}

Ptr<PathSelector>
FabricSwitch::GetPathSelector() const
{
    return m_selector;
}

const char*
FabricSwitch::WhyFixed() const
{
    return IsInitialized() ? "the run has begun" : nullptr;
}

void
FabricSwitch::AttributeSet()
{
    m_checked = false;
}

void
FabricSwitch::CheckNotRunning(const char* attribute) const
{
    if (IsInitialized())
    {
        throw ConfigError("node " + std::to_string(GetObject<Node>()->GetId()) +
                              " FabricSwitch::" + attribute,
                          "comes during the run",
                          "before time zero",
                          "do it before Simulator::Run");
    }
}

void
FabricSwitch::SetPathSelector(Ptr<PathSelector> selector)
{
    CheckNotRunning("PathSelector");
    if (!selector)
    {
        throw ConfigError("FabricSwitch::SetPathSelector",
                          "there is no object",
                          "a PathSelector",
                          "leave the default, which goes by a hash");
    }
    m_selector = selector;
    if (m_stream >= 0)
    {
        m_selector->AssignStreams(m_stream + GetNPorts());
    }
    // What is done for every packet is done without a call.
    m_asked = selector->GoesByHash() ? nullptr : PeekPointer(selector);
    m_checked = false;
}

void
FabricSwitch::SetPathSelectorType(TypeId type)
{
    if (!type.IsChildOf(PathSelector::GetTypeId()) || !type.HasConstructor())
    {
        throw ConfigError("FabricSwitch::PathSelector",
                          type.GetName() + " is not a path selector",
                          "a type derived from ns3::PathSelector",
                          "");
    }
    ObjectFactory factory;
    factory.SetTypeId(type);
    SetPathSelector(factory.Create<PathSelector>());
}

TypeId
FabricSwitch::GetPathSelectorType() const
{
    return m_selector->GetInstanceTypeId();
}

void
FabricSwitch::SetHashFields(std::string names)
{
    CheckNotRunning("HashFields");
    m_hashFields = scaleacross::ParseHashFields(names);
    m_checked = false;
}

void
FabricSwitch::SetHashSeed(uint64_t seed)
{
    CheckNotRunning("HashSeed");
    m_hashSeed = seed;
    m_checked = false;
}

uint64_t
FabricSwitch::GetHashSeed() const
{
    return m_hashSeed;
}

void
FabricSwitch::SetHashPerSwitch(bool perSwitch)
{
    CheckNotRunning("HashPerSwitch");
    m_hashPerSwitch = perSwitch;
    m_checked = false;
}

bool
FabricSwitch::GetHashPerSwitch() const
{
    return m_hashPerSwitch;
}

std::string
FabricSwitch::GetHashFields() const
{
    return scaleacross::NamesOfHashFields(m_hashFields);
}

void
FabricSwitch::CheckRoutes() const
{
    if (m_routes.EndOfPorts() > GetNPorts())
    {
        throw ConfigError(
            "node " + std::to_string(GetObject<Node>()->GetId()) + " FabricSwitch::Routes",
            "port " + std::to_string(m_routes.EndOfPorts() - 1) + " of a route is not there",
            "ports below " + std::to_string(GetNPorts()),
            "add ports first, or mend the route");
    }
}

void
FabricSwitch::CheckConfig()
{
    CheckRoutes();
    if (m_checked)
    {
        return;
    }
    CheckFlowControl();
    m_lossless = m_pfc && !m_credits ? m_losslessMask : 0;
    // Node ids and runs differ in few bits; the hash spreads them. ns-3 counts runs from 1.
    const auto run = static_cast<uint32_t>(RngSeedManager::GetRun() - 1);
    const uint32_t id = m_hashPerSwitch ? GetObject<Node>()->GetId() : 0;
    const uint64_t seed = scaleacross::HashOf(id, run, 0, m_hashSeed) ^ (m_hashSeed << 32);
    m_flowHash = scaleacross::FlowHash(m_hashFields, seed);
    m_selector->Attach(m_flowHash, *this);
    m_buffer.Configure({m_bufferSize,
                        static_cast<uint8_t>(m_lossless),
                        m_alphaLossless,
                        m_alphaLossy,
                        m_resumeOffset},
                       GetNPorts());
    m_watchdog.Configure(m_watchdogDetection.GetPicoSeconds(),
                         m_watchdogRestoration.GetPicoSeconds(),
                         m_watchdogForward);
    m_pausingBits.assign(GetNPorts(), 0);
    m_headroom.assign(GetNPorts(), 0);
    const uint32_t priorities = CountLossless();
    for (uint32_t i = 0; i < GetNPorts() && priorities > 0; ++i)
    {
        if (!m_ports[i]->GetPeer())
        {
            continue; // FabricPort itself complains
        }
        if (!m_ports[i]->m_pfc)
        {
            m_buffer.SetLossy(i);
            continue;
        }
        m_headroom[i] = HeadroomOf(i,
                                   m_ports[i]->GetDataRate(),
                                   m_ports[i]->GetPeer()->GetDataRate(),
                                   m_ports[i]->GetWire()->GetDelay());
        for (uint8_t priority = 0; priority < kPriorities; ++priority)
        {
            m_buffer.Reserve(i, priority, m_buffer.IsLossless(i, priority) ? m_headroom[i] : 0);
        }
    }
    if (m_buffer.Reserved() + m_maxPacket > m_bufferSize)
    {
        throw ConfigError(
            "node " + std::to_string(GetObject<Node>()->GetId()) + " FabricSwitch::BufferSize",
            std::to_string(m_bufferSize) + " bytes cannot hold the PFC headroom of " +
                std::to_string(m_buffer.Reserved()) + " bytes (" + std::to_string(GetNPorts()) +
                " ports, " + std::to_string(priorities) + " lossless priorities, the largest " +
                std::to_string(*std::max_element(m_headroom.begin(), m_headroom.end())) +
                " bytes for one port)",
            "at least " + std::to_string(m_buffer.Reserved() + m_maxPacket) + " bytes",
            "a larger BufferSize, shorter wires, fewer LosslessPriorities, or Pfc false");
    }
    SetUpCredits();
    SetUpEcn();
    SetUpTrimming();
    m_checked = true;
}

uint32_t
FabricSwitch::CountLossless() const
{
    uint32_t priorities = 0;
    for (uint8_t priority = 0; priority < kPriorities; ++priority)
    {
        priorities += (m_lossless >> priority) & 1U;
    }
    return priorities;
}

uint64_t
FabricSwitch::HeadroomOf(uint32_t port, DataRate own, DataRate peer, Time delay) const
{
    const uint64_t headroom = scaleacross::HeadroomBytes({delay.GetPicoSeconds(),
                                                          peer.GetBitRate(),
                                                          own.GetBitRate(),
                                                          m_maxPacket,
                                                          CountLossless(),
                                                          m_ports[port]->PauseSize(),
                                                          m_response.GetPicoSeconds()});
    return static_cast<uint64_t>(static_cast<double>(headroom) * m_headroomScale);
}

void
FabricSwitch::SetUpEcn()
{
    if (m_kmin > m_kmax)
    {
        throw ConfigError("node " + std::to_string(GetObject<Node>()->GetId()) +
                              " FabricSwitch::EcnKmin",
                          std::to_string(m_kmin) + " bytes are more than EcnKmax, " +
                              std::to_string(m_kmax) + " bytes",
                          "at most EcnKmax",
                          "");
    }
    m_ecn = m_ecnAtDeparture ? 0 : m_ecnMask;
    for (uint32_t i = 0; i < GetNPorts(); ++i)
    {
        m_ports[i]->m_ecnDeparting = m_ecnAtDeparture ? m_ecnMask : 0;
        if (m_ecnMask == 0)
        {
            continue;
        }
        scaleacross::EcnThresholds thresholds{m_kmin,
                                              m_kmax,
                                              m_pmax,
                                              1.0 / (1.0 + m_ecnMarkingRate)};
        if (m_ecnReference.GetBitRate() > 0)
        {
            thresholds = thresholds.Scaled(m_ports[i]->GetDataRate().GetBitRate(),
                                           m_ecnReference.GetBitRate());
        }
        m_ports[i]->m_ecn = std::make_unique<scaleacross::EcnMarker>(thresholds);
        if (m_stream >= 0)
        {
            m_ports[i]->m_ecn->SetStream(m_stream + i);
        }
    }
}

int64_t
FabricSwitch::AssignStreams(int64_t stream)
{
    m_stream = stream;
    for (uint32_t i = 0; i < GetNPorts(); ++i)
    {
        if (m_ports[i]->m_ecn)
        {
            m_ports[i]->m_ecn->SetStream(stream + i);
        }
    }
    return GetNPorts() + m_selector->AssignStreams(stream + GetNPorts());
}

uint32_t
FabricSwitch::GetMaxPacketSize() const
{
    return m_maxPacket;
}

uint64_t
FabricSwitch::GetHeadroom(uint32_t port) const
{
    return m_headroom.at(port);
}

} // namespace ns3
