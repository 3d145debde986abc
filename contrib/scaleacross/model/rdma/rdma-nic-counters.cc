// SPDX-License-Identifier: GPL-2.0-only

// What an RDMA NIC has counted, exact at the time of the call.

#include "rdma-nic.h"
#include "rdma-queue-pair.h"

namespace ns3
{

using scaleacross::DropReason;
using scaleacross::SimulatorPicoseconds;

uint64_t
RdmaNic::GetDataSent()
{
    BringUpToDate();
    return m_dataSent;
}

uint64_t
RdmaNic::GetControlSent()
{
    return GetSentPackets() - m_dataSent - m_foreign.Sent();
}

uint64_t
RdmaNic::GetDataReceived()
{
    BringUpToDate();
    return m_dataReceived;
}

uint64_t
RdmaNic::GetControlReceived()
{
    BringUpToDate();
    return m_controlReceived;
}

uint64_t
RdmaNic::GetForeignSent()
{
    BringUpToDate();
    return m_foreign.Sent();
}

uint64_t
RdmaNic::GetForeignReceived()
{
    BringUpToDate();
    return m_foreign.Received();
}

uint64_t
RdmaNic::GetForeignRefused(DropReason reason) const
{
    return m_foreign.Refused().Of(reason);
}

uint64_t
RdmaNic::GetForeignRefused() const
{
    return m_foreign.Refused().Total();
}

uint64_t
RdmaNic::GetForeignQueueBytes()
{
    BringUpToDate();
    return m_foreign.Queue().Bytes();
}

uint64_t
RdmaNic::GetForeignQueuePackets()
{
    BringUpToDate();
    return m_foreign.Queue().Packets();
}

Time
RdmaNic::GetForeignWaitedTime()
{
    BringUpToDate();
    const int64_t now = SimulatorPicoseconds();
    return PicoSeconds(m_foreign.Queue().Waited(now));
}

uint64_t
RdmaNic::GetDrops(DropReason reason) const
{
    return m_drops.Of(reason);
}

uint64_t
RdmaNic::GetDrops() const
{
    return m_drops.Total();
}

uint64_t
RdmaNic::Sum(uint64_t scaleacross::RdmaCounters::*counter) const
{
    uint64_t sum = 0;
    for (const auto& queuePair : m_queuePairs)
    {
        sum += queuePair->GetCounters().*counter;
    }
    return sum;
}

uint64_t
RdmaNic::GetDeliveredBytes() const
{
    return Sum(&scaleacross::RdmaCounters::deliveredBytes);
}

uint64_t
RdmaNic::GetRetransmissions() const
{
    return Sum(&scaleacross::RdmaCounters::retransmissions);
}

uint64_t
RdmaNic::GetTimeouts() const
{
    return Sum(&scaleacross::RdmaCounters::timeouts);
}

} // namespace ns3
