// SPDX-License-Identifier: GPL-2.0-only

// The receiver of a queue pair: RdmaReceiver decides, this answers, delivers and notifies of marks.

#include "core/base/errors.h"
#include "rdma-nic.h"
#include "rdma-queue-pair.h"

#include <vector>

namespace ns3
{

using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::RdmaAnswer;
using scaleacross::RdmaDelivery;

void
RdmaQueuePair::PostReceive(uint32_t count)
{
    const uint64_t posted = (m_nic != nullptr ? GetPostedReceives() : 0) + count;
    if (m_state == State::Reset || posted > m_receiveQueueDepth)
    {
        throw ConfigError(m_nic == nullptr ? "RdmaQueuePair::PostReceive" : Describe(),
                          m_state == State::Reset
                              ? "a receive is posted before Connect"
                              : std::to_string(posted) + " receives would be posted",
                          "at most ReceiveQueueDepth, " + std::to_string(m_receiveQueueDepth) +
                              "; 0 needs no receives",
                          "a larger RdmaQueuePair::ReceiveQueueDepth");
    }
    m_newReceives += count;
    m_nic->Posted(this);
}

uint64_t
RdmaQueuePair::GetPostedReceives() const
{
    m_nic->BringUpToDate();
    return m_receiver.PostedReceives() + m_newReceives;
}

void
RdmaQueuePair::HandleData(const FabricPacket& packet, int64_t now)
{
    if (m_state != State::ReadyToSend)
    {
        return;
    }
    if (packet.ecnMarked)
    {
        NoteMark(now);
    }
    if (packet.firstOfMessage && !packet.trimmed)
    {
        m_arrivingTrace(packet.payload, packet.tag);
    }
    const RdmaAnswer answer =
        packet.trimmed ? m_receiver.TakeTrimmed(packet) : m_receiver.Take(packet);
    if (answer != RdmaAnswer::None)
    {
        Answer(answer, packet, now);
    }
    if (m_pulls && (packet.wantsPull || answer == RdmaAnswer::TrimNak))
    {
        m_pullEntropy = packet.ownEntropy ? packet.entropy : m_pullEntropy;
        m_nic->AskPull(*this, now);
    }
    if (!m_receiver.Delivered().empty())
    {
        Deliver();
    }
}

void
RdmaQueuePair::Answer(RdmaAnswer answer, const FabricPacket& packet, int64_t now)
{
    FabricPacket* control = m_nic->NewControl();
    control->kind = answer == RdmaAnswer::Ack       ? PacketKind::Ack
                    : answer == RdmaAnswer::Nak     ? PacketKind::Nak
                    : answer == RdmaAnswer::TrimNak ? PacketKind::TrimNak
                                                    : PacketKind::RnrNak;
    control->retransmitted = packet.retransmitted && answer == RdmaAnswer::TrimNak;
    control->wantsPull = m_pulls && answer == RdmaAnswer::TrimNak && !packet.wantsPull;
    control->psn = m_receiver.Expected();
    control->tag = answer == RdmaAnswer::RnrNak ? m_rnrTimer : packet.psn;
    control->ecnMarked = m_echo;
    m_echo = false;
    Address(*control);
    if (packet.ownEntropy)
    {
        control->entropy = packet.entropy;
    }
    control->priority = m_ackPriority;
    if (m_nic->ArrivedTrail() != nullptr)
    {
        scaleacross::AttachTrail(*control, m_nic->TakeArrivedTrail());
    }
    m_nic->SendControl(control, now);
}

void
RdmaQueuePair::Deliver()
{
    std::vector<RdmaDelivery>& delivered = m_receiver.Delivered();
    for (const RdmaDelivery& message : delivered)
    {
        m_deliveredTrace(message.bytes, message.tag);
        if (!m_delivery.IsNull())
        {
            m_delivery(Bytes(message.bytes), message.tag);
        }
    }
    delivered.clear();
}

void
RdmaQueuePair::FillPull(FabricPacket& packet)
{
    ++m_counters.pullsSent;
    Address(packet);
    packet.entropy = m_pullEntropy != 0 ? m_pullEntropy : m_entropy;
    packet.psn = ++m_pulled;
}

void
RdmaQueuePair::Address(FabricPacket& packet) const
{
    packet.destination = m_remoteAddress;
    packet.queuePair = m_remoteNumber;
    packet.entropy = m_entropy;
}

void
RdmaQueuePair::NoteMark(int64_t now)
{
    ++m_counters.markedPackets;
    m_echo = true;
    if (!m_sendCnps || now < m_nextCnp)
    {
        return;
    }
    m_nextCnp = now + m_cnpInterval;
    ++m_counters.cnpsSent;
    FabricPacket* packet = m_nic->NewCnp();
    Address(*packet);
    packet->priority = m_cnpPriority;
    m_nic->SendControl(packet, now);
}

} // namespace ns3
