// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-internet-helper.h"

#include "core/base/errors.h"
#include "fabric-helper.h"

#include "ns3/arp-cache.h"
#include "ns3/fabric-switch.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/node.h"
#include "ns3/rdma-nic.h"
#include "ns3/uinteger.h"

#include <sstream>
#include <string>

namespace ns3
{

using scaleacross::ConfigError;

namespace
{

std::string
TextOf(Ipv4Address address)
{
    std::ostringstream text;
    text << address;
    return text.str();
}

/// Full IP packets of the NICs get through every switch.
void
CheckSizes(const FabricHelper& fabric, const std::vector<Ptr<RdmaNic>>& nics)
{
    for (const auto& nic : nics)
    {
        const uint32_t size = nic->ForeignWireSize(nic->GetMtu());
        for (const auto& fabricSwitch : fabric.Switches())
        {
            UintegerValue most;
            fabricSwitch->GetAttribute("MaxPacketSize", most);
            if (size > most.Get())
            {
                throw ConfigError(nic->Describe() + " IpMtu",
                                  std::to_string(nic->GetMtu()) + " makes packets of " +
                                      std::to_string(size) +
                                      " bytes, but a switch drops what is longer than its "
                                      "MaxPacketSize of " +
                                      std::to_string(most.Get()),
                                  "packets that all switches forward",
                                  "a smaller IpMtu or a larger FabricSwitch::MaxPacketSize");
            }
        }
    }
}

Ptr<Ipv4Interface>
AddInterface(const RdmaNic& nic, Ipv4InterfaceAddress address, uint32_t& number)
{
    Ptr<Node> node = nic.GetNode();
    Ptr<Ipv4L3Protocol> ipv4 = node->GetObject<Ipv4L3Protocol>();
    if (!ipv4)
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.Install(node);
        ipv4 = node->GetObject<Ipv4L3Protocol>();
    }
    Ptr<NetDevice> device = node->GetDevice(nic.GetIfIndex());
    if (ipv4->GetInterfaceForDevice(device) >= 0)
    {
        throw ConfigError(nic.Describe(), "has an IPv4 interface already", "one per NIC", "");
    }
    number = ipv4->AddInterface(device);
    ipv4->AddAddress(number, address);
    ipv4->SetMetric(number, 1);
    ipv4->SetUp(number);
    return ipv4->GetInterface(number);
}

} // namespace

FabricInternetHelper::FabricInternetHelper()
    : m_network("10.0.0.0"),
      m_mask("255.0.0.0")
{
}

void
FabricInternetHelper::SetBase(Ipv4Address network, Ipv4Mask mask)
{
    m_network = network.CombineMask(mask);
    m_mask = mask;
}

Ipv4Address
FabricInternetHelper::AddressOf(const RdmaNic& nic) const
{
    return AddressOf(nic.GetFabricAddress());
}

Ipv4Address
FabricInternetHelper::AddressOf(uint32_t fabricAddress) const
{
    // The last address of the subnet is its broadcast address.
    const uint32_t hosts = ~m_mask.Get();
    if (fabricAddress + uint64_t{2} > hosts)
    {
        throw ConfigError("FabricInternetHelper::SetBase",
                          TextOf(m_network) + " has no address for fabric address " +
                              std::to_string(fabricAddress),
                          "network + 1 + fabric address within the subnet",
                          "a shorter mask");
    }
    return Ipv4Address(m_network.Get() + 1 + fabricAddress);
}

Ipv4InterfaceContainer
FabricInternetHelper::Install(FabricHelper& fabric) const
{
    return Install(fabric, fabric.Nics());
}

Ipv4InterfaceContainer
FabricInternetHelper::Install(FabricHelper& fabric, const std::vector<Ptr<RdmaNic>>& nics) const
{
    fabric.FixAddresses();
    CheckSizes(fabric, nics);
    Ipv4InterfaceContainer container;
    std::vector<Ptr<Ipv4Interface>> interfaces;
    for (const auto& nic : nics)
    {
        uint32_t number = 0;
        interfaces.push_back(
            AddInterface(*nic, Ipv4InterfaceAddress(AddressOf(*nic), m_mask), number));
        container.Add(nic->GetNode()->GetObject<Ipv4>(), number);
    }
    for (size_t i = 0; i < nics.size(); ++i)
    {
        for (size_t j = 0; j < nics.size(); ++j)
        {
            if (i != j)
            {
                ArpCache::Entry* entry = interfaces[i]->GetArpCache()->Add(AddressOf(*nics[j]));
                entry->SetMacAddress(nics[j]->GetAddress());
                entry->MarkPermanent();
            }
        }
    }
    return container;
}

} // namespace ns3
