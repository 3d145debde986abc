// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/parts-left.h"

#include "core/base/errors.h"
#include "core/topology/event-target.h"

namespace scaleacross
{

std::vector<double>
PartsLeft(const ClusterSpec& cluster,
          const std::vector<EventSpec>& events,
          const FabricGraph& graph,
          const std::string& engine)
{
    std::vector<double> parts(graph.links.size(), 1.0);
    for (size_t i = 0; i < events.size(); i++)
    {
        const EventSpec& event = events[i];
        const std::string where = "events." + std::to_string(i);
        if (!event.IsConstant())
        {
            throw ConfigError(where,
                              "a " + ToString(event.kind) +
                                  " in the middle of a run is more than the " + engine +
                                  " engine computes with",
                              "failures and degradations at 0s without an end",
                              "the packet engine computes with it");
        }
        for (const uint32_t l : TargetOf(cluster, graph, event, where).links)
        {
            parts[l] *= event.kind->change == EventChange::Slows ? event.factor : 0.0;
        }
    }
    return parts;
}

} // namespace scaleacross
