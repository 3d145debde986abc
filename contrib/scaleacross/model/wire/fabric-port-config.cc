// SPDX-License-Identifier: GPL-2.0-only

// What can be set at a port, and what it can be watched by.

#include "core/base/packet-format.h"
#include "fabric-port.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricPort);

TypeId
FabricPort::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricPort")
            .SetParent<FabricDevice>()
            .SetGroupName("ScaleAcross")
            .AddAttribute("DataRate",
                          "Rate at which the port sends.",
                          DataRateValue(DataRate("100Gbps")),
                          scaleacross::Live(MakeDataRateAccessor(&EgressPort::SetDataRate,
                                                                 &EgressPort::GetDataRate)),
                          MakeDataRateChecker())
            .AddAttribute(
                "PauseSize",
                "Bytes of time that a PFC frame takes on the wire: 64, and 20 of preamble "
                "and gap.",
                UintegerValue(scaleacross::kPauseFrame),
                scaleacross::Fixed(MakeUintegerAccessor(&FabricPort::m_pauseSize)),
                MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute("CreditSize",
                          "Bytes of time that a credit packet takes on the wire: InfiniBand's flow "
                          "control packet has 6, and a delimiter on both sides.",
                          UintegerValue(scaleacross::kCreditPacket),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricPort::m_creditSize)),
                          MakeUintegerChecker<uint32_t>(1, 9000))
            .AddAttribute("Quanta",
                          "Bytes that each priority may send in its turn, eight numbers from "
                          "priority 0 on, as in 0,0,0,10000,30000,0,0,0: those that are not 0 "
                          "share the line in this proportion, the others are strict and go "
                          "first. Empty: all are strict.",
                          StringValue(""),
                          scaleacross::Fixed(
                              MakeStringAccessor(&FabricPort::SetQuanta, &FabricPort::GetQuanta)),
                          MakeStringChecker())
            .AddAttribute("LaneArbitration",
                          "InfiniBand's tables of virtual lanes, weights in units of 64 bytes, and "
                          "the limit of high priority in units of 4,096, as in high 6:64; low "
                          "0:1,3:200,4:100; limit 10. They take the place of Quanta. Empty: Quanta "
                          "decide.",
                          StringValue(""),
                          scaleacross::Fixed(MakeStringAccessor(&FabricPort::SetLaneArbitration,
                                                                &FabricPort::GetLaneArbitration)),
                          MakeStringChecker())
            .AddAttribute("Eager",
                          "Make every departure an event. Slower, with the same results; for "
                          "checking the lazy departures.",
                          BooleanValue(false),
                          scaleacross::Fixed(MakeBooleanAccessor(&FabricPort::m_eager)),
                          MakeBooleanChecker())
            .AddTraceSource("Enqueue",
                            "A packet joins a queue of this port.",
                            MakeTraceSourceAccessor(&FabricPort::m_enqueueTrace),
                            "ns3::FabricPort::PacketTracedCallback")
            .AddTraceSource("Transmit",
                            "The first bit of a packet leaves.",
                            MakeTraceSourceAccessor(&FabricPort::m_transmitTrace),
                            "ns3::FabricPort::PacketTracedCallback")
            .AddTraceSource("Receive",
                            "The last bit of a packet has come in by this port and it was not lost "
                            "on the wire; pause frames fire Pause instead.",
                            MakeTraceSourceAccessor(&FabricPort::m_receiveTrace),
                            "ns3::FabricPort::PacketTracedCallback")
            .AddTraceSource("Drop",
                            "A packet that came in by this port is thrown away, and why.",
                            MakeTraceSourceAccessor(&FabricPort::m_dropTrace),
                            "ns3::FabricPort::DropTracedCallback")
            .AddTraceSource("Pause",
                            "The neighbour stops (true) or resumes (false) a priority.",
                            MakeTraceSourceAccessor(&FabricPort::m_pauseTrace),
                            "ns3::FabricPort::PauseTracedCallback")
            .AddTraceSource("PauseSent",
                            "The first bit of a frame leaves that stops (true) or resumes (false) "
                            "a priority of the neighbour.",
                            MakeTraceSourceAccessor(&FabricPort::m_pauseSentTrace),
                            "ns3::FabricPort::PauseTracedCallback")
            .AddTraceSource("Credit",
                            "The neighbour grants more of a virtual lane: the lane, and the blocks "
                            "of 64 bytes that may be sent now.",
                            MakeTraceSourceAccessor(&FabricPort::m_creditTrace),
                            "ns3::FabricPort::CreditTracedCallback")
            .AddTraceSource("CreditSent",
                            "The first bit of a credit packet leaves: the virtual lane, and the "
                            "limit it tells, in blocks since the link came up.",
                            MakeTraceSourceAccessor(&FabricPort::m_creditSentTrace),
                            "ns3::FabricPort::CreditTracedCallback")
            .AddTraceSource("QueueBytes",
                            "Bytes waiting in all priorities: before and after a change.",
                            MakeTraceSourceAccessor(&FabricPort::m_queueTrace),
                            "ns3::FabricPort::QueueTracedCallback");
    return tid;
}

} // namespace ns3
