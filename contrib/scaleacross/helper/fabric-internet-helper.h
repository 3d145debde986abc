// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_INTERNET_HELPER_H
#define SCALEACROSS_FABRIC_INTERNET_HELPER_H

#include "ns3/ipv4-address.h"
#include "ns3/ipv4-interface-container.h"
#include "ns3/ptr.h"

#include <vector>

namespace ns3
{

class FabricHelper;
class RdmaNic;

/**
 * Puts IPv4 over the NICs of a fabric, so that ns-3's TCP and UDP applications run beside RDMA.
 *
 * \code
 *   fabric.InstallRoutes();
 *   FabricInternetHelper internet;
 *   Ipv4InterfaceContainer addresses = internet.Install(fabric);
 *   BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(addresses.GetAddress(1),
 * 5001)); source.Install(fabric.Nics()[0]->GetNode()); \endcode
 *
 * All NICs are in one subnet: NIC with fabric address f is network + 1 + f. Nodes without an IPv4
 * stack get one (without IPv6, whose neighbour discovery is multicast). Every interface gets a
 * permanent neighbour entry for every other one, so that no ARP request, which is a broadcast, is
 * ever needed: n (n - 1) entries for n NICs; install on those that need it where n is large.
 *
 * A node with several NICs sends by the one that its routing finds first, as all are in one subnet.
 */
class FabricInternetHelper
{
  public:
    FabricInternetHelper();

    /// The subnet; 10.0.0.0 and 255.0.0.0 if not set.
    void SetBase(Ipv4Address network, Ipv4Mask mask);

    /// Over all NICs, in their order. Throws ConfigError as the other one does.
    Ipv4InterfaceContainer Install(FabricHelper& fabric) const;

    /**
     * Over some NICs, in the given order. To be called once for a NIC, after InstallRoutes.
     *
     * Throws ConfigError if addresses are not final yet, if the subnet is too small for a fabric
     * address, if an interface exists already, or if a switch of the fabric would drop full IP
     * packets (FabricSwitch::MaxPacketSize).
     */
    Ipv4InterfaceContainer Install(FabricHelper& fabric,
                                   const std::vector<Ptr<RdmaNic>>& nics) const;

    /// IPv4 address of a NIC, whether anything is installed or not.
    Ipv4Address AddressOf(const RdmaNic& nic) const;
    /// The same for a fabric address.
    Ipv4Address AddressOf(uint32_t fabricAddress) const;

  private:
    Ipv4Address m_network;
    Ipv4Mask m_mask;
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_INTERNET_HELPER_H
