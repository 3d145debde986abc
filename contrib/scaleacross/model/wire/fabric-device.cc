// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-device.h"

#include "ns3/attribute-guard.h"
#include "ns3/channel.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/partition-check.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricDevice");

namespace
{
constexpr uint16_t kMinIpMtu = 68;    // of every IPv4 host (RFC 791)
constexpr uint16_t kMaxIpMtu = 65497; // 65,535 bytes of wire time hold no more
} // namespace

NS_OBJECT_ENSURE_REGISTERED(FabricDevice);

TypeId
FabricDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricDevice")
            .SetParent<NetDevice>()
            .SetGroupName("ScaleAcross")
            .AddAttribute("IpMtu",
                          "Longest packet in bytes that another stack (IP) may "
                          "hand to Send, without the Ethernet header: what "
                          "GetMtu() returns. RDMA has RdmaNic::PathMtu instead.",
                          UintegerValue(1500),
                          scaleacross::Fixed(MakeUintegerAccessor(&FabricDevice::m_ipMtu)),
                          MakeUintegerChecker<uint16_t>(kMinIpMtu, kMaxIpMtu));
    return tid;
}

FabricDevice::FabricDevice()
    : m_address(Mac48Address::Allocate())
{
}

FabricDevice::~FabricDevice() = default;

void
FabricDevice::DoInitialize()
{
    // Node::SystemId may have been set after the device was added.
    scaleacross::CheckPartition(m_node, GetInstanceTypeId().GetName());
    NetDevice::DoInitialize();
}

void
FabricDevice::DoDispose()
{
    m_node = nullptr;
    m_receive.Nullify();
    m_promiscReceive.Nullify();
    NetDevice::DoDispose();
}

void
FabricDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
FabricDevice::GetIfIndex() const
{
    return m_ifIndex;
}

void
FabricDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
FabricDevice::GetAddress() const
{
    return m_address;
}

bool
FabricDevice::SetMtu(const uint16_t mtu)
{
    // During the run it is fixed, as the attribute is.
    if (mtu < kMinIpMtu || mtu > kMaxIpMtu || (IsInitialized() && mtu != m_ipMtu))
    {
        return false;
    }
    m_ipMtu = mtu;
    return true;
}

uint16_t
FabricDevice::GetMtu() const
{
    return m_ipMtu;
}

bool
FabricDevice::IsLinkUp() const
{
    return GetChannel() != nullptr;
}

void
FabricDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool
FabricDevice::IsBroadcast() const
{
    return false;
}

Address
FabricDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
FabricDevice::IsMulticast() const
{
    return false;
}

Address
FabricDevice::GetMulticast(Ipv4Address group) const
{
    return Mac48Address::GetMulticast(group);
}

Address
FabricDevice::GetMulticast(Ipv6Address group) const
{
    return Mac48Address::GetMulticast(group);
}

bool
FabricDevice::IsBridge() const
{
    return false;
}

bool
FabricDevice::IsPointToPoint() const
{
    return true;
}

bool
FabricDevice::Send(Ptr<Packet> packet, const Address&, uint16_t protocol)
{
    NS_LOG_WARN("refused a packet of " << packet->GetSize() << " bytes, protocol " << protocol
                                       << ": only NICs carry packets of other stacks");
    return false;
}

bool
FabricDevice::SendFrom(Ptr<Packet> packet,
                       const Address&,
                       const Address& destination,
                       uint16_t protocol)
{
    return Send(packet, destination, protocol);
}

Ptr<Node>
FabricDevice::GetNode() const
{
    return m_node;
}

void
FabricDevice::SetNode(Ptr<Node> node)
{
    scaleacross::CheckPartition(node, GetInstanceTypeId().GetName());
    m_node = node;
}

bool
FabricDevice::NeedsArp() const
{
    return false;
}

void
FabricDevice::SetReceiveCallback(ReceiveCallback callback)
{
    m_receive = callback;
}

void
FabricDevice::SetPromiscReceiveCallback(PromiscReceiveCallback callback)
{
    m_promiscReceive = callback;
}

bool
FabricDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
