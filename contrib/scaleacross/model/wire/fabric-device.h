// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_DEVICE_H
#define SCALEACROSS_FABRIC_DEVICE_H

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/traced-callback.h"

namespace ns3
{

/**
 * What every NetDevice of a fabric has in common and what has nothing to do with packets of the
 * fabric: node, index, address, link state.
 *
 * Send() and SendFrom() of packets from other stacks (IP over the fabric) are refused here, as
 * ports of switches do: they return false and log why. RdmaNic carries them.
 */
class FabricDevice : public NetDevice
{
  public:
    static TypeId GetTypeId();
    FabricDevice();
    ~FabricDevice() override;

    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address group) const override;
    Address GetMulticast(Ipv6Address group) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& destination, uint16_t protocol) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& destination,
                  uint16_t protocol) override;
    Ptr<Node> GetNode() const override;
    /// Throws ConfigError if another process simulates the node (scaleacross::CheckPartition).
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

  protected:
    /// Throws ConfigError like SetNode.
    void DoInitialize() override;
    void DoDispose() override;

    ReceiveCallback m_receive;
    PromiscReceiveCallback m_promiscReceive;

    TracedCallback<> m_linkChange;

  private:
    Ptr<Node> m_node;
    Mac48Address m_address;
    uint32_t m_ifIndex{0};
    uint16_t m_ipMtu{1500};
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_DEVICE_H
