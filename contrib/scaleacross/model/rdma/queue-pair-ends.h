// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_QUEUE_PAIR_ENDS_H
#define SCALEACROSS_QUEUE_PAIR_ENDS_H

#include "ns3/fabric-packet.h"

#include <cstdint>
#include <string>

namespace ns3
{
class RdmaNic;
} // namespace ns3

namespace scaleacross
{

/// Where a queue pair is, and where its packets go.
struct QueuePairEnds
{
    ns3::RdmaNic* nic{nullptr}; //!< whose it is, null if no NIC's (any more)
    uint32_t number{0};         //!< its place at that NIC
    uint32_t remoteAddress{0};  //!< fabric address of the other end's NIC
    uint32_t remoteNumber{0};   //!< of the other end there
    uint32_t path{0};           //!< what its UDP source port follows from, beside the addresses
    uint16_t entropy{0};        //!< UDP source port of packets that have none of their own
    uint32_t startingPsn{0};    //!< of the first packet in either direction

    /// Fills in where a packet goes, and by which UDP source port.
    void Address(FabricPacket& packet) const
    {
        packet.destination = remoteAddress;
        packet.queuePair = remoteNumber;
        packet.entropy = entropy;
    }

    /// "queue pair 2 of node 0 port 0 to address 5".
    std::string Describe() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_QUEUE_PAIR_ENDS_H
