// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARTS_LEFT_H
#define SCALEACROSS_PARTS_LEFT_H

#include "core/spec/cluster-spec.h"
#include "core/spec/event-spec.h"
#include "core/topology/fabric-graph.h"

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * By link of the graph: what part of its rate is left while all events hold; 0 if it is down. With
 * degradations to factors f and foreign traffic of loads l it is prod f - sum l: others send what
 * they do whatever became of the link.
 *
 * Throws ConfigError (where = "events.<i>") for an event that begins or ends during the run, which
 * is more than `engine` computes with, where others leave nothing of a link, and where TargetOf()
 * does.
 */
std::vector<double> PartsLeft(const ClusterSpec& cluster,
                              const std::vector<EventSpec>& events,
                              const FabricGraph& graph,
                              const std::string& engine);

} // namespace scaleacross

#endif // SCALEACROSS_PARTS_LEFT_H
