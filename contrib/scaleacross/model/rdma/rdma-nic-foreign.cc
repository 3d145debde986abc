// SPDX-License-Identifier: GPL-2.0-only

// How an RDMA NIC is a NetDevice to other stacks (ForeignEndpoint).

#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "rdma-nic.h"

#include "ns3/fabric-wire.h"
#include "ns3/foreign-frame.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"

#include <algorithm>

namespace ns3
{

using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::ForeignEndpoint;
using scaleacross::PacketPool;
using scaleacross::SimulatorPicoseconds;

NS_LOG_COMPONENT_DEFINE("RdmaNic");

uint32_t
RdmaNic::ForeignWireSize(uint32_t bytes) const
{
    return std::max(bytes + scaleacross::kEthernetHeader + m_format.frame, m_format.least);
}

bool
RdmaNic::Refuse(Ptr<const Packet> packet, DropReason reason)
{
    NS_LOG_WARN(Describe() << " refused a packet of " << packet->GetSize()
                           << " bytes: " << NameOf(reason));
    m_foreign.Refuse(packet, reason);
    return false;
}

bool
RdmaNic::Send(Ptr<Packet> packet, const Address& destination, uint16_t protocol)
{
    return SendFrom(packet, GetAddress(), destination, protocol);
}

bool
RdmaNic::SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& destination,
                  uint16_t protocol)
{
    m_foreign.macTx(packet);
    const Mac48Address to = Mac48Address::ConvertFrom(destination);
    const bool wired = GetWire() != nullptr;
    const auto reason = ForeignEndpoint::WhyNever(to, packet->GetSize(), GetMtu(), wired);
    if (reason)
    {
        return Refuse(packet, *reason);
    }
    const uint32_t size = ForeignWireSize(packet->GetSize());
    const int64_t now = SimulatorPicoseconds();
    BringUpToDate();
    if (!m_foreign.HasRoom(size))
    {
        return Refuse(packet, DropReason::SendQueueFull);
    }
    FabricPacket* carrier = m_pool.Take();
    // What the caller does with its packet afterwards is not seen by the receiver.
    scaleacross::AttachFrame(*carrier,
                             {packet->Copy(), Mac48Address::ConvertFrom(source), to, protocol});
    carrier->source = m_address;
    carrier->hops = static_cast<uint8_t>(m_hopLimit);
    carrier->size = static_cast<uint16_t>(size);
    m_foreign.Post(carrier, now);
    m_agenda.SetAlarm(now);
    return true;
}

bool
RdmaNic::SupportsSendFrom() const
{
    return true;
}

bool
RdmaNic::NeedsArp() const
{
    return true;
}

bool
RdmaNic::IsBroadcast() const
{
    return true; // what ns-3's ARP cache asks of a device with ARP; Send refuses broadcasts
}

void
RdmaNic::ReceiveForeign(FabricPacket* packet, int64_t now)
{
    SCALEACROSS_INVARIANT(now == SimulatorPicoseconds(),
                          "a foreign packet is handed up at its arrival, " + std::to_string(now) +
                              " ps, not at " + std::to_string(SimulatorPicoseconds()));
    const scaleacross::ForeignFrame frame = scaleacross::FrameOf(*packet);
    PacketPool::Return(packet);
    m_foreign.HandUp(this, frame, m_receive, m_promiscReceive);
}

} // namespace ns3
