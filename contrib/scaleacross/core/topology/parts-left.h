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

/// What is left of a link while all events hold, in parts of the rate that it was built with.
struct LinkParts
{
    double left{1};   //!< 0: it is down
    double others{0}; //!< of foreign traffic, which comes first; nothing where it is down

    bool IsUp() const
    {
        return left > 0;
    }

    /// For the job.
    double Free() const
    {
        return left - others;
    }
};

/**
 * By link of the graph. With degradations to factors f and foreign traffic of loads l its rate is
 * prod f, and sum l of that is others': they send what they do whatever became of the link.
 *
 * Throws ConfigError (where = PlaceOf()) for an event that begins or ends during the run, which is
 * more than `engine` computes with, where others leave nothing of a link, and where TargetOf()
 * does.
 */
std::vector<LinkParts> PartsLeft(const ClusterSpec& cluster,
                                 const std::vector<EventSpec>& events,
                                 const FabricGraph& graph,
                                 const std::string& engine);

} // namespace scaleacross

#endif // SCALEACROSS_PARTS_LEFT_H
