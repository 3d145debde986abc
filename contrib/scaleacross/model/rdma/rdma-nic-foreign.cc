// SPDX-License-Identifier: GPL-2.0-only

// How an RDMA NIC carries the packets of other stacks.

#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "rdma-nic.h"

#include "ns3/fabric-address.h"
#include "ns3/fabric-wire.h"
#include "ns3/foreign-frame.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"

#include <algorithm>
#include <numeric>

namespace ns3
{

using scaleacross::DropReason;
using scaleacross::FabricPacket;
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
    ++m_refused[static_cast<size_t>(reason)];
    m_macTxDropTrace(packet);
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
    m_macTxTrace(packet);
    const Mac48Address to = Mac48Address::ConvertFrom(destination);
    const uint32_t size = ForeignWireSize(packet->GetSize());
    uint32_t address = 0;
    if (to.IsGroup())
    {
        return Refuse(packet, DropReason::Broadcast);
    }
    if (!scaleacross::FabricAddressOf(to, address))
    {
        return Refuse(packet, DropReason::WrongAddress);
    }
    if (packet->GetSize() > GetMtu())
    {
        return Refuse(packet, DropReason::Oversize);
    }
    if (!GetWire())
    {
        return Refuse(packet, DropReason::NoRoute);
    }
    const int64_t now = SimulatorPicoseconds();
    BringUpToDate();
    if (!m_foreign.Fits(size, m_foreignLimit))
    {
        return Refuse(packet, DropReason::SendQueueFull);
    }
    FabricPacket* carrier = m_pool.Take();
    // What the caller does with its packet afterwards is not seen by the receiver.
    scaleacross::AttachFrame(*carrier,
                             {packet->Copy(), Mac48Address::ConvertFrom(source), to, protocol});
    carrier->source = m_address;
    carrier->destination = address;
    carrier->queuePair = scaleacross::kForeignQueuePair;
    carrier->hops = static_cast<uint8_t>(m_hopLimit);
    carrier->size = static_cast<uint16_t>(size);
    carrier->entropy = scaleacross::EntropyOf(*packet, protocol);
    carrier->priority = m_foreignPriority;
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

FabricPacket*
RdmaNic::PullForeign(int64_t start)
{
    FabricPacket* packet = m_foreign.Pop(start);
    ++m_foreignSent;
    if (!m_foreign.IsReady())
    {
        m_foreignReady = kNoPriority;
        UpdatePullable(packet->priority);
    }
    return packet;
}

void
RdmaNic::ReceiveForeign(FabricPacket* packet, int64_t now)
{
    SCALEACROSS_INVARIANT(now == SimulatorPicoseconds(),
                          "a foreign packet is handed up at its arrival, " + std::to_string(now) +
                              " ps, not at " + std::to_string(SimulatorPicoseconds()));
    const scaleacross::ForeignFrame frame = scaleacross::FrameOf(*packet);
    PacketPool::Return(packet);
    ++m_foreignReceived;
    if (!m_promiscReceive.IsNull())
    {
        m_macPromiscRxTrace(frame.packet);
        m_promiscReceive(this,
                         frame.packet,
                         frame.protocol,
                         frame.source,
                         frame.destination,
                         PACKET_HOST);
    }
    m_macRxTrace(frame.packet);
    if (!m_receive.IsNull())
    {
        m_receive(this, frame.packet, frame.protocol, frame.source);
    }
}

uint64_t
RdmaNic::GetForeignSent()
{
    BringUpToDate();
    return m_foreignSent;
}

uint64_t
RdmaNic::GetForeignReceived()
{
    BringUpToDate();
    return m_foreignReceived;
}

uint64_t
RdmaNic::GetForeignRefused(DropReason reason) const
{
    return m_refused.at(static_cast<size_t>(reason));
}

uint64_t
RdmaNic::GetForeignRefused() const
{
    return std::accumulate(m_refused.begin(), m_refused.end(), uint64_t{0});
}

uint64_t
RdmaNic::GetForeignQueueBytes()
{
    BringUpToDate();
    return m_foreign.Bytes();
}

uint64_t
RdmaNic::GetForeignQueuePackets()
{
    BringUpToDate();
    return m_foreign.Packets();
}

Time
RdmaNic::GetForeignWaitedTime()
{
    BringUpToDate();
    const int64_t now = SimulatorPicoseconds();
    return PicoSeconds(m_foreign.Waited(now));
}

} // namespace ns3
