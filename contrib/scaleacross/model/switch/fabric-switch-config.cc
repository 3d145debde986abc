// SPDX-License-Identifier: GPL-2.0-only

// What can be set at a switch, and what it can be watched by.

#include "core/base/packet-format.h"
#include "fabric-switch.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ecmp-selector.h"
#include "ns3/part-accessor.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

using scaleacross::CreditConfig;
using scaleacross::EcnConfig;
using scaleacross::kPriorities;
using scaleacross::PartAccessor;
using scaleacross::PfcConfig;
using scaleacross::PfcWatchdog;
using scaleacross::SharedBuffer;
using scaleacross::TrimConfig;

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

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
                          scaleacross::Fixed(PartAccessor(&FabricSwitch::m_bufferConfig,
                                                          &SharedBuffer::Config::size)),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute(
                "Pfc",
                "Pause the neighbour instead of dropping, for the priorities of "
                "LosslessPriorities. If false, every priority is lossy.",
                BooleanValue(true),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_pfcConfig, &PfcConfig::on)),
                MakeBooleanChecker())
            .AddAttribute(
                "Credits",
                "InfiniBand's flow control in place of PFC: credits for each virtual "
                "lane, which is what a priority then is. To be the same at all switches "
                "of a fabric; the NICs of a switch follow it.",
                BooleanValue(false),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_creditConfig, &CreditConfig::on)),
                MakeBooleanChecker())
            .AddAttribute("VirtualLanes",
                          "With Credits: bit v is set if virtual lane v has a receive buffer at "
                          "every port.",
                          UintegerValue(255),
                          scaleacross::Fixed(
                              PartAccessor(&FabricSwitch::m_creditConfig, &CreditConfig::lanes)),
                          MakeUintegerChecker<uint32_t>(1, 255))
            .AddAttribute(
                "VlBuffer",
                "With Credits: bytes of the receive buffer of each lane and port, rounded "
                "up to blocks of 64. 0: by distance, what keeps the wire full, but no more "
                "than MaxCreditBlocks.",
                UintegerValue(0),
                scaleacross::Fixed(
                    PartAccessor(&FabricSwitch::m_creditConfig, &CreditConfig::buffer)),
                MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute(
                "CreditUpdate",
                "With Credits: the neighbour is told when it may send so many bytes more, "
                "rounded up to blocks of 64.",
                UintegerValue(scaleacross::kCreditUpdate),
                scaleacross::Fixed(
                    PartAccessor(&FabricSwitch::m_creditConfig, &CreditConfig::update)),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MaxCreditBlocks",
                          "With Credits: most blocks of 64 bytes that may be granted at a time. "
                          "InfiniBand's limit has 12 bits, which allow 2,048; more stands for a "
                          "device that extends the reach of a link.",
                          UintegerValue(2048),
                          scaleacross::Fixed(PartAccessor(&FabricSwitch::m_creditConfig,
                                                          &CreditConfig::mostBlocks)),
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
                          scaleacross::Fixed(
                              PartAccessor(&FabricSwitch::m_pfcConfig, &PfcConfig::priorities)),
                          MakeUintegerChecker<uint32_t>(0, 255))
            .AddAttribute("LosslessAlpha",
                          "An ingress may hold this multiple of the free shared memory before it "
                          "is paused. Smaller is fairer among many, larger absorbs more.",
                          DoubleValue(0.125),
                          scaleacross::Fixed(PartAccessor(&FabricSwitch::m_bufferConfig,
                                                          &SharedBuffer::Config::alphaLossless)),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("LossyAlpha",
                          "An egress queue of a lossy priority may hold this multiple of the free "
                          "shared memory before it drops.",
                          DoubleValue(1.0),
                          scaleacross::Fixed(PartAccessor(&FabricSwitch::m_bufferConfig,
                                                          &SharedBuffer::Config::alphaLossy)),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("ResumeOffset",
                          "Bytes below its threshold at which a paused ingress is resumed.",
                          UintegerValue(scaleacross::kCreditUpdate),
                          scaleacross::Fixed(PartAccessor(&FabricSwitch::m_bufferConfig,
                                                          &SharedBuffer::Config::resumeOffset)),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("MaxPacketSize",
                          "Longest packet in bytes of wire time; longer ones are dropped. Headroom "
                          "holds two of them. RoCEv2 with an MTU of 4,096: 4,096 + 62 + 16 + 24.",
                          UintegerValue(4200),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricSwitch::m_maxPacket)),
                          MakeUintegerChecker<uint32_t>(64, 65535))
            .AddAttribute(
                "PauseResponse",
                "Time a neighbour may take to act on a pause: adds to the headroom. The "
                "ports modelled here need none.",
                TimeValue(Time(0)),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_pfcConfig, &PfcConfig::response)),
                MakeTimeChecker(Time(0)))
            .AddAttribute(
                "HeadroomScale",
                "Multiplies the computed headroom. Below 1 only to study a switch that "
                "is configured wrongly: packets are then dropped as headroom-full.",
                DoubleValue(1.0),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_pfcConfig, &PfcConfig::scale)),
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
                          scaleacross::Fixed(PartAccessor(&FabricSwitch::m_watchdogConfig,
                                                          &PfcWatchdog::Config::detection)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("WatchdogRestoration",
                          "Time without a pause after which the PFC watchdog takes a queue back "
                          "into service.",
                          TimeValue(MilliSeconds(200)),
                          scaleacross::Fixed(PartAccessor(&FabricSwitch::m_watchdogConfig,
                                                          &PfcWatchdog::Config::restoration)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("WatchdogForward",
                          "What is done with the packets of a queue that the PFC watchdog has "
                          "given up: drop them (false), or send them in spite of the pause (true).",
                          BooleanValue(false),
                          scaleacross::Fixed(PartAccessor(&FabricSwitch::m_watchdogConfig,
                                                          &PfcWatchdog::Config::forward)),
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
                          scaleacross::Fixed(
                              PartAccessor(&FabricSwitch::m_ecnConfig, &EcnConfig::priorities)),
                          MakeUintegerChecker<uint32_t>(0, 255))
            .AddAttribute(
                "EcnKmin",
                "Bytes waiting in the egress queue up to which nothing is marked. "
                "RED of SIGCOMM 2015: 5 KB at 40 Gb/s.",
                UintegerValue(5000),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_ecnConfig, &EcnConfig::kmin)),
                MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute(
                "EcnKmax",
                "Bytes waiting beyond which everything is marked. Paper: 200 KB at 40 "
                "Gb/s.",
                UintegerValue(200'000),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_ecnConfig, &EcnConfig::kmax)),
                MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute(
                "EcnPmax",
                "Probability of a mark at EcnKmax. Paper: 0.01.",
                DoubleValue(0.01),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_ecnConfig, &EcnConfig::pmax)),
                MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("EcnMarkingRate",
                          "Packets beyond EcnKmax that are left unmarked on average for each that "
                          "is marked: InfiniBand's Marking_Rate. 0: all are marked.",
                          UintegerValue(0),
                          scaleacross::Fixed(
                              PartAccessor(&FabricSwitch::m_ecnConfig, &EcnConfig::markingRate)),
                          MakeUintegerChecker<uint32_t>(0, 65'535))
            .AddAttribute("EcnAtDeparture",
                          "Mark a packet by what waits behind it when it leaves, not by what it "
                          "finds when it joins the queue.",
                          BooleanValue(false),
                          scaleacross::Fixed(
                              PartAccessor(&FabricSwitch::m_ecnConfig, &EcnConfig::atDeparture)),
                          MakeBooleanChecker())
            .AddAttribute(
                "EcnVictims",
                "With Credits: mark packets also where their lane has no credits, and "
                "so waits for congestion elsewhere (InfiniBand's victim mask).",
                BooleanValue(false),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_ecnConfig, &EcnConfig::victims)),
                MakeBooleanChecker())
            .AddAttribute(
                "EcnReferenceRate",
                "If not 0: EcnKmin and EcnKmax are those of a port of this rate, and "
                "grow with the rate of the port. 0: they are the same for all ports.",
                DataRateValue(DataRate(0)),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_ecnConfig, &EcnConfig::reference)),
                MakeDataRateChecker())
            .AddAttribute(
                "Trim",
                "Cut the payload off data packets of lossy priorities that would make "
                "their queue too long or find no room, and send the rest on.",
                BooleanValue(false),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_trimConfig, &TrimConfig::on)),
                MakeBooleanChecker())
            .AddAttribute("TrimThreshold",
                          "Bytes that may wait in the queue of a priority at a port; what would "
                          "make them more is trimmed. 0: only the shared memory decides.",
                          UintegerValue(0),
                          scaleacross::Fixed(
                              PartAccessor(&FabricSwitch::m_trimConfig, &TrimConfig::threshold)),
                          MakeUintegerChecker<uint64_t>(0, uint64_t{1} << 40))
            .AddAttribute("TrimReferenceRate",
                          "If not 0: TrimThreshold is that of a port of this rate, and grows with "
                          "the rate of the port. 0: it is the same for all ports.",
                          DataRateValue(DataRate(0)),
                          scaleacross::Fixed(
                              PartAccessor(&FabricSwitch::m_trimConfig, &TrimConfig::reference)),
                          MakeDataRateChecker())
            .AddAttribute(
                "TrimmedSize",
                "Bytes that a trimmed packet takes on the wire: 64 of headers and 24 of "
                "FCS, preamble and gap. Packets that are not longer stay whole.",
                UintegerValue(88),
                scaleacross::Fixed(PartAccessor(&FabricSwitch::m_trimConfig, &TrimConfig::size)),
                MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("TrimPriority",
                          "Priority that a trimmed packet gets: a lossy one, as a rule that of "
                          "the answers. Where many send to one its packets can crowd out the data; "
                          "FabricPort::Quanta bounds that.",
                          UintegerValue(6),
                          scaleacross::Fixed(
                              PartAccessor(&FabricSwitch::m_trimConfig, &TrimConfig::priority)),
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

} // namespace ns3
