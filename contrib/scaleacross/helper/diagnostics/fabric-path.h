// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_PATH_H
#define SCALEACROSS_FABRIC_PATH_H

#include "ns3/ptr.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3
{

class FabricPort;
class RdmaNic;
class RdmaQueuePair;

/// What switches can tell a data packet's flow by.
struct FabricFlow
{
    Ptr<RdmaNic> from;
    Ptr<RdmaNic> to;
    uint16_t entropy;   //!< UDP source port
    uint32_t queuePair; //!< number at `to`; counts only if switches hash destination-qp
};

/**
 * The ports that a flow's packets leave by, as routes are now: the NIC's, then one of every switch
 * on the way. To be called after InstallRoutes. Throws ConfigError if a switch on the way has no
 * route, or more than one port and another path selector than ECMP.
 *
 * Worked case: two leaves and eight spines: four ports, of the NIC, of its leaf (which spine), of
 * that spine (which leaf), and of that leaf (which NIC).
 */
std::vector<Ptr<FabricPort>> PathOf(const FabricFlow& flow);

/// The path of what a connected queue pair sends, if it has no EntropyOps.
std::vector<Ptr<FabricPort>> PathOf(const RdmaQueuePair& queuePair);

/**
 * The least UDP source port of RoCEv2 (0xC000 to 0xFFFF) with which a flow goes through `port`, for
 * static pinning: RdmaQueuePair::Entropy. None if there is no such one. What `flow.entropy` is does
 * not matter. Throws as PathOf does.
 */
std::optional<uint16_t> FindEntropy(FabricFlow flow, Ptr<FabricPort> port);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_PATH_H
