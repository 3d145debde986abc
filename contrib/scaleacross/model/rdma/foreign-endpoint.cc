// SPDX-License-Identifier: GPL-2.0-only

#include "foreign-endpoint.h"

#include "ns3/fabric-address.h"

namespace scaleacross
{

std::optional<DropReason>
ForeignEndpoint::WhyNever(ns3::Mac48Address destination, uint32_t bytes, uint32_t mtu, bool wired)
{
    uint32_t address = 0;
    if (destination.IsGroup())
    {
        return DropReason::Broadcast;
    }
    if (!FabricAddressOf(destination, address))
    {
        return DropReason::WrongAddress;
    }
    if (bytes > mtu)
    {
        return DropReason::Oversize;
    }
    return wired ? std::nullopt : std::optional<DropReason>(DropReason::NoRoute);
}

void
ForeignEndpoint::Refuse(ns3::Ptr<const ns3::Packet> packet, DropReason reason)
{
    m_refused.Add(reason);
    macTxDrop(packet);
}

void
ForeignEndpoint::Post(FabricPacket* carrier, int64_t now)
{
    const ForeignFrame& frame = FrameOf(*carrier);
    uint32_t address = 0;
    FabricAddressOf(frame.destination, address);
    carrier->destination = address;
    carrier->queuePair = kForeignQueuePair;
    carrier->entropy = EntropyOf(*frame.packet, frame.protocol);
    carrier->priority = priority;
    m_queue.Post(carrier, now);
}

bool
ForeignEndpoint::ShowPosted()
{
    m_queue.ShowPosted();
    if (m_ready != kNoPriority || !m_queue.IsReady())
    {
        return false;
    }
    m_ready = priority;
    m_foreignLast = false;
    return true;
}

FabricPacket*
ForeignEndpoint::Start(int64_t start)
{
    FabricPacket* packet = m_queue.Pop(start);
    ++m_sent;
    if (!m_queue.IsReady())
    {
        m_ready = kNoPriority;
    }
    return packet;
}

void
ForeignEndpoint::HandUp(ns3::Ptr<ns3::NetDevice> device,
                        const ForeignFrame& frame,
                        const ReceiveCallback& receive,
                        const PromiscReceiveCallback& promiscuous)
{
    ++m_received;
    if (!promiscuous.IsNull())
    {
        macPromiscRx(frame.packet);
        promiscuous(device,
                    frame.packet,
                    frame.protocol,
                    frame.source,
                    frame.destination,
                    ns3::NetDevice::PACKET_HOST);
    }
    macRx(frame.packet);
    if (!receive.IsNull())
    {
        receive(device, frame.packet, frame.protocol, frame.source);
    }
}

void
ForeignEndpoint::Clear()
{
    m_queue.Clear();
    m_ready = kNoPriority;
}

} // namespace scaleacross
