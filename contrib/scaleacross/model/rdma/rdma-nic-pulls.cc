// SPDX-License-Identifier: GPL-2.0-only

// The receiving NIC's part of receiver credits: handing out pulls.

#include "rdma-nic.h"
#include "rdma-queue-pair.h"

#include <algorithm>

namespace ns3
{

using scaleacross::FabricPacket;
using scaleacross::PacketKind;

void
RdmaNic::AskPull(const RdmaQueuePair& queuePair, int64_t now)
{
    m_pulling = true;
    m_pulls.Ask(queuePair.GetNumber());
    NoteEligible();
    Kick(now);
}

void
RdmaNic::NoteLineUsed(const FabricPacket& packet, int64_t now)
{
    if (packet.kind != PacketKind::Data || packet.trimmed)
    {
        m_pulls.LineUsed(packet.size, now, GetDataRate().GetBitRate());
        NoteEligible();
    }
}

void
RdmaNic::RateChanged(int64_t now)
{
    m_pulls.RateChanged(GetDataRate().GetBitRate(), now);
    NoteEligible();
    Kick(now);
}

FabricPacket*
RdmaNic::StartPull(int64_t start)
{
    const uint32_t full = WireSize(m_pathMtu, scaleacross::RdmaOperation::Write, false, false);
    const uint32_t number = m_pulls.Take(full, start, GetDataRate().GetBitRate());
    FabricPacket* packet = NewControl();
    packet->kind = PacketKind::Pull;
    packet->priority = m_pullPriority;
    m_queuePairs[number]->FillPull(*packet);
    m_pullReady = m_pulls.Due() <= start;
    UpdatePullable(m_pullPriority);
    NoteEligible();
    return packet;
}

} // namespace ns3
