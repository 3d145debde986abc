// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/parts-left.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/event-target.h"
#include "core/topology/graph-names.h"

namespace scaleacross
{

std::vector<LinkParts>
PartsLeft(const ClusterSpec& cluster,
          const std::vector<EventSpec>& events,
          const FabricGraph& graph,
          const std::string& engine)
{
    std::vector<LinkParts> parts(graph.links.size());
    std::vector<size_t> last(graph.links.size(), 0); // of the events by which others load it
    for (size_t i = 0; i < events.size(); i++)
    {
        const EventSpec& event = events[i];
        const std::string where = PlaceOf(events, i);
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
                parts[l].left *= event.factor;
                break;
            case EventChange::Shares:
                parts[l].others += event.load;
                last[l] = i;
                break;
            case EventChange::Fails:
            case EventChange::Flaps:
                parts[l].left = 0;
                break;
            }
        }
    }
    for (uint32_t l = 0; l < graph.links.size(); l++)
    {
        LinkParts& link = parts[l];
        link.others = link.IsUp() ? link.others : 0.0;
        if (link.IsUp() && link.Free() <= 0)
        {
            throw ConfigError(PlaceOf(events, last[l]) + ".load",
                              "foreign traffic leaves nothing of the link " +
                                  LinkName(cluster, graph, l) + ": " + NumberText(link.others) +
                                  " of its rate, of which there is " + NumberText(link.left),
                              "loads below that, together",
                              "lower a load");
        }
    }
    return parts;
}

} // namespace scaleacross
