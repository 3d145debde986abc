// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_FRAME_H
#define SCALEACROSS_FOREIGN_FRAME_H

#include "fabric-packet.h"

#include "ns3/mac48-address.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>

namespace scaleacross
{

/**
 * What a FabricPacket of kind Foreign carries: an ns3::Packet of another stack, opaquely, and what
 * an Ethernet header says of it.
 *
 * It belongs to the FabricPacket, whose tag is its address, and ends with it: PacketPool::Return
 * releases it, wherever the packet was delivered or dropped, and the NIC that sent it releases what
 * is still under way when it is disposed of.
 */
struct ForeignFrame
{
    ns3::Ptr<ns3::Packet> packet;
    ns3::Mac48Address source;
    ns3::Mac48Address destination;
    uint16_t protocol; //!< EtherType
};

/// Queue pair number of foreign packets; no queue pair has it.
constexpr uint32_t kForeignQueuePair = 0xFFFFFF;

/// Hangs a frame on a packet, which becomes foreign.
void AttachFrame(FabricPacket& packet, const ForeignFrame& frame);

/// Releases the frame of a packet, which is foreign no more. Domain: packet.kind is Foreign.
void ReleaseFrame(FabricPacket& packet);

/// Domain: packet.kind is Foreign.
const ForeignFrame& FrameOf(const FabricPacket& packet);

/**
 * What ECMP tells flows of two NICs apart by: a hash of protocol and ports for TCP and UDP over
 * IPv4 or IPv6, of the protocol alone for other IP packets and fragments, 0 for everything else.
 */
uint16_t EntropyOf(const ns3::Packet& packet, uint16_t protocol);

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_FRAME_H
