// SPDX-License-Identifier: GPL-2.0-only

#include "foreign-source.h"

#include "core/base/errors.h"

#include "ns3/attribute-guard.h"
#include "ns3/fabric-wire.h"
#include "ns3/ipv4-header.h"
#include "ns3/log.h"
#include "ns3/ns3-compat.h"
#include "ns3/packet.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/udp-header.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <string>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("ForeignSource");
NS_OBJECT_ENSURE_REGISTERED(ForeignSource);

namespace
{

constexpr uint32_t kHeaders = 20 + 8;  //!< IPv4 and UDP
constexpr uint16_t kFirstPort = 49152; //!< of those that nobody is assigned (RFC 6335)

} // namespace

TypeId
ForeignSource::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ForeignSource")
            .SetParent<Application>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<ForeignSource>()
            .AddAttribute("Rate",
                          "Bits on the wire per second, in the mean.",
                          DataRateValue(DataRate("1Gbps")),
                          scaleacross::Fixed(MakeDataRateAccessor(&ForeignSource::m_rate)),
                          MakeDataRateChecker())
            .AddAttribute("PacketSize",
                          "Bytes of an IP packet; at most the NIC's IpMtu.",
                          UintegerValue(1500),
                          scaleacross::Fixed(MakeUintegerAccessor(&ForeignSource::m_packetSize)),
                          MakeUintegerChecker<uint32_t>(kHeaders, 65535));
    return tid;
}

ForeignSource::ForeignSource()
    : m_gap(CreateObject<ExponentialRandomVariable>()),
      m_port(CreateObject<UniformRandomVariable>())
{
}

ForeignSource::~ForeignSource() = default;

void
ForeignSource::SetEnds(Ptr<RdmaNic> from, Ptr<RdmaNic> to)
{
    m_from = from;
    m_to = to;
}

void
ForeignSource::SetWire(Ptr<FabricWire> wire)
{
    m_wire = wire;
}

uint64_t
ForeignSource::GetOffered() const
{
    return m_offered;
}

int64_t
ForeignSource::AssignStreams(int64_t stream)
{
    m_gap->SetStream(stream);
    m_port->SetStream(stream + 1);
    return 2;
}

void
ForeignSource::DoDispose()
{
    m_from = nullptr;
    m_to = nullptr;
    m_wire = nullptr;
    m_gap = nullptr;
    m_port = nullptr;
    RepeatingApplication::DoDispose();
}

void
ForeignSource::DoStart()
{
    if (!m_from || !m_to || m_from == m_to)
    {
        throw scaleacross::ConfigError("ForeignSource",
                                       "it has no two NICs",
                                       "a source with SetEnds of two",
                                       "");
    }
    if (m_packetSize > m_from->GetMtu())
    {
        throw scaleacross::ConfigError("ns3::ForeignSource::PacketSize",
                                       std::to_string(m_packetSize) + " bytes are no packet of " +
                                           m_from->Describe(),
                                       "up to its IpMtu, " + std::to_string(m_from->GetMtu()),
                                       "");
    }
    if (m_rate.GetBitRate() == 0)
    {
        throw scaleacross::ConfigError("ns3::ForeignSource::Rate",
                                       "at 0 no packet ever leaves",
                                       "more than 0",
                                       "");
    }
    m_meanGap = m_rate.CalculateBytesTxTime(m_from->ForeignWireSize(m_packetSize));
}

std::optional<Time>
ForeignSource::NextGap()
{
    return Time(std::llround(m_meanGap.GetDouble() * m_gap->GetValue()));
}

void
ForeignSource::Act()
{
    if (m_wire && !m_wire->IsUp())
    {
        return;
    }
    m_offered++;
    auto packet = Create<Packet>(m_packetSize - kHeaders);
    UdpHeader udp;
    udp.SetSourcePort(static_cast<uint16_t>(m_port->GetInteger(kFirstPort, UINT16_MAX)));
    udp.SetDestinationPort(static_cast<uint16_t>(m_port->GetInteger(kFirstPort, UINT16_MAX)));
    packet->AddHeader(udp);
    Ipv4Header ip;
    ip.SetProtocol(scaleacross::kProtocolUdp);
    ip.SetPayloadSize(static_cast<uint16_t>(packet->GetSize()));
    packet->AddHeader(ip);
    m_from->Send(packet, m_to->GetAddress(), scaleacross::kEtherTypeIpv4);
}

} // namespace ns3
