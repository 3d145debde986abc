// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-responder.h"

#include "rdma-nic.h"

#include <vector>

namespace scaleacross
{

RdmaResponder::RdmaResponder(const QueuePairEnds& ends,
                             const Config& config,
                             const Reordering& reordering,
                             RdmaCounters& counters)
    : m_ends(ends),
      m_config(config),
      m_reordering(reordering),
      m_counters(counters),
      m_receiver(counters)
{
}

void
RdmaResponder::Watch(const std::function<void()>& look)
{
    arrivingTrace.OnConnect(look);
    deliveredTrace.OnConnect(look);
}

void
RdmaResponder::Connect(bool pulled)
{
    m_receiver.Configure({m_ends.startingPsn,
                          m_reordering.selective ? m_reordering.outOfOrderLimit : 0,
                          m_reordering.tolerance,
                          m_config.receiveQueueDepth > 0});
    m_notices.Configure(m_config);
    m_pulled = pulled;
    m_connected = true;
}

void
RdmaResponder::HandleData(const FabricPacket& packet, int64_t now)
{
    if (packet.ecnMarked)
    {
        NoteMark(now);
    }
    if (packet.firstOfMessage && !packet.trimmed)
    {
        arrivingTrace(packet.payload, packet.tag);
    }
    const RdmaAnswer answer =
        packet.trimmed ? m_receiver.TakeTrimmed(packet) : m_receiver.Take(packet);
    if (answer != RdmaAnswer::None)
    {
        Answer(answer, packet, now);
    }
    if (m_pulled && (packet.wantsPull || answer == RdmaAnswer::TrimNak))
    {
        m_pullEntropy = packet.ownEntropy ? packet.entropy : m_pullEntropy;
        m_ends.nic->AskPull(m_ends.number, now);
    }
    if (!m_receiver.Delivered().empty())
    {
        Deliver();
    }
}

void
RdmaResponder::Answer(RdmaAnswer answer, const FabricPacket& packet, int64_t now)
{
    ns3::RdmaNic& nic = *m_ends.nic;
    FabricPacket* control = nic.NewControl();
    control->kind = answer == RdmaAnswer::Ack       ? PacketKind::Ack
                    : answer == RdmaAnswer::Nak     ? PacketKind::Nak
                    : answer == RdmaAnswer::TrimNak ? PacketKind::TrimNak
                                                    : PacketKind::RnrNak;
    control->retransmitted = packet.retransmitted && answer == RdmaAnswer::TrimNak;
    control->wantsPull = m_pulled && answer == RdmaAnswer::TrimNak && !packet.wantsPull;
    control->psn = m_receiver.Expected();
    control->tag = answer == RdmaAnswer::RnrNak ? m_config.rnrTimer : packet.psn;
    control->ecnMarked = m_notices.TakeEcho();
    m_ends.Address(*control);
    if (packet.ownEntropy)
    {
        control->entropy = packet.entropy;
    }
    control->priority = m_config.ackPriority;
    if (nic.ArrivedTrail() != nullptr)
    {
        AttachTrail(*control, nic.TakeArrivedTrail());
    }
    nic.SendControl(control, now);
}

void
RdmaResponder::Deliver()
{
    std::vector<RdmaDelivery>& delivered = m_receiver.Delivered();
    for (const RdmaDelivery& message : delivered)
    {
        deliveredTrace(message.bytes, message.tag);
        if (!delivery.IsNull())
        {
            delivery(Bytes(message.bytes), message.tag);
        }
    }
    delivered.clear();
}

void
RdmaResponder::FillPull(FabricPacket& packet)
{
    ++m_counters.pullsSent;
    m_ends.Address(packet);
    packet.entropy = m_pullEntropy != 0 ? m_pullEntropy : m_ends.entropy;
    packet.psn = ++m_pulls;
}

void
RdmaResponder::NoteMark(int64_t now)
{
    ++m_counters.markedPackets;
    if (!m_notices.Note(now))
    {
        return;
    }
    ++m_counters.cnpsSent;
    FabricPacket* packet = m_ends.nic->NewCnp();
    m_ends.Address(*packet);
    packet->priority = m_config.cnpPriority;
    m_ends.nic->SendControl(packet, now);
}

void
RdmaResponder::Clear()
{
    delivery.Nullify();
}

} // namespace scaleacross
