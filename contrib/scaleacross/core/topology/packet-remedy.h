// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PACKET_REMEDY_H
#define SCALEACROSS_PACKET_REMEDY_H

#include "core/spec/cluster-spec.h"
#include "core/spec/event-spec.h"
#include "core/topology/fabric-graph.h"

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Whether events cut NICs off for good: the failures that have no end leave the switch of a NIC
 * without any way to one that it had a way to, or a NIC without its link. What has to go there is
 * sent again until its queue pair gives up, in the packet engine, too.
 *
 * Throws ConfigError where TargetOf() does.
 */
bool CutNicsOff(const ClusterSpec& cluster,
                const FabricGraph& graph,
                const std::vector<EventSpec>& events);

/// The same of links that are down, by their numbers in the graph.
bool CutNicsOff(const FabricGraph& graph, const std::vector<bool>& isDown);

/// What to do about events that an engine without packets does not compute with: to run packets, or
/// where that ends in a failure, what serves.
std::string RemedyByPackets(const ClusterSpec& cluster,
                            const FabricGraph& graph,
                            const std::vector<EventSpec>& events);

/// The same where NICs are known to be cut off.
std::string RemedyOfCutOff();

} // namespace scaleacross

#endif // SCALEACROSS_PACKET_REMEDY_H
