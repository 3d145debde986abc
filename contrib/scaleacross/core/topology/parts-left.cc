// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/parts-left.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/event-target.h"
#include "core/topology/graph-names.h"

#include <algorithm>

namespace scaleacross
{

std::vector<double>
PartsLeft(const ClusterSpec& cluster,
          const std::vector<EventSpec>& events,
          const FabricGraph& graph,
          const std::string& engine)
{
    std::vector<double> parts(graph.links.size(), 1.0);
    std::vector<double> others(graph.links.size(), 0.0);
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
                              "failures, degradations and foreign traffic at 0s without an end",
                              "the packet engine computes with it");
        }
        for (const uint32_t l : TargetOf(cluster, graph, event, where).links)
        {
            switch (event.kind->change)
            {
            case EventChange::Slows:
                parts[l] *= event.factor;
                break;
            case EventChange::Shares:
                others[l] += event.load;
                break;
            case EventChange::Fails:
            case EventChange::Flaps:
                parts[l] = 0;
                break;
            }
        }
    }
    for (uint32_t l = 0; l < graph.links.size(); l++)
    {
        if (parts[l] > 0 && others[l] >= parts[l])
        {
            throw ConfigError("events",
                              "foreign traffic leaves nothing of the link " +
                                  LinkName(cluster, graph, l) + ": " + NumberText(others[l]) +
                                  " of its rate, of which there is " + NumberText(parts[l]),
                              "loads below that, together",
                              "lower a load");
        }
        parts[l] = std::max(0.0, parts[l] - others[l]);
    }
    return parts;
}

} // namespace scaleacross
