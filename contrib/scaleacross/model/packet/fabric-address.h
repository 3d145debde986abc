// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_ADDRESS_H
#define SCALEACROSS_FABRIC_ADDRESS_H

#include "ns3/mac48-address.h"

#include <cstdint>

namespace scaleacross
{

/**
 * The MAC address that stands for a fabric address: 02:00 and the 32 bits of the fabric address.
 *
 * 02 marks a locally administered unicast address, so none of a real card can be the same. Frames
 * of other stacks are routed by it as RDMA packets are by the fabric address itself.
 *
 * Worked case: fabric address 259 is 02:00:00:00:01:03.
 */
ns3::Mac48Address MacOf(uint32_t fabricAddress);

/// True if the MAC address stands for a fabric address, which is then written to `fabricAddress`.
bool FabricAddressOf(ns3::Mac48Address mac, uint32_t& fabricAddress);

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_ADDRESS_H
