// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/cut-share.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/event-target.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/graph-names.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

/// By link: what part of its rate is left while all events hold; 0 if it is down.
std::vector<double>
PartsLeft(const Scenario& scenario, const FabricGraph& graph)
{
    std::vector<double> parts(graph.links.size(), 1.0);
    for (size_t i = 0; i < scenario.events.size(); i++)
    {
        const EventSpec& event = scenario.events[i];
        const std::string where = "events." + std::to_string(i);
        if (!event.IsConstant())
        {
            throw ConfigError(where,
                              "a " + ToString(event.kind) +
                                  " in the middle of a run is more than the analytical engine "
                                  "computes with",
                              "failures and degradations at 0s without an end",
                              "use --engine packet");
        }
        for (const uint32_t l : TargetOf(scenario.cluster, graph, event, where).links)
        {
            if (graph.links[l].kind == LinkKind::NicToLeaf)
            {
                throw ConfigError(where,
                                  Quoted(event.target) + " has links of NICs (" +
                                      LinkName(scenario.cluster, graph, l) +
                                      "), and the analytical engine takes all NICs of a building "
                                      "to be equal",
                                  "links between switches",
                                  "use --engine packet");
            }
            parts[l] *= event.kind == EventKind::Degradation ? event.factor : 0.0;
        }
    }
    return parts;
}

/// The links of one cut, which are equal without events.
struct Cut
{
    uint32_t all{0};
    uint32_t left{0};
    double slowest{1};
    double sum{0};
    std::string name; //!< what would be cut off

    void Add(double part)
    {
        all++;
        left += part > 0 ? 1 : 0;
        slowest = part > 0 ? std::min(slowest, part) : slowest;
        sum += part;
    }

    /// `proportional`: links are used for what they carry, not equally.
    CutShare Share(bool proportional) const
    {
        if (left == 0)
        {
            throw ConfigError("events",
                              "they leave " + name + " without a link",
                              "at least one link of every cut",
                              "let less fail, or use --engine packet");
        }
        const double links = static_cast<double>(left) / all;
        return {proportional ? sum / all : links * slowest, links};
    }
};

void
TakeLeast(CutShare& least, const CutShare& share)
{
    least = share.capacity < least.capacity ? share : least;
}

} // namespace

CutShares::CutShares(const Scenario& scenario)
    : m_leaf(scenario.cluster.buildings.size()),
      m_zone(scenario.cluster.buildings.size()),
      m_span(scenario.cluster.crossLinks.size())
{
    if (!scenario.events.empty())
    {
        Apply(scenario);
    }
}

void
CutShares::Apply(const Scenario& scenario)
{
    const ClusterSpec& cluster = scenario.cluster;
    const Multipath multipath = scenario.network.multipath;
    const bool proportional = multipath == Multipath::Ucmp || multipath == Multipath::SprayAdaptive;
    const FabricGraph graph = BuildFabricGraph(cluster);
    const std::vector<double> parts = PartsLeft(scenario, graph);
    std::vector<FabricShape> shapes;
    for (const BuildingSpec& building : cluster.buildings)
    {
        shapes.push_back(ShapeOf(building));
    }
    std::map<uint32_t, Cut> leaves;                     // by vertex
    std::map<std::pair<uint32_t, uint32_t>, Cut> zones; // by building and number
    std::map<uint32_t, Cut> spans;
    for (size_t i = 0; i < graph.links.size(); i++)
    {
        const FabricLink& link = graph.links[i];
        const Vertex& below = graph.vertices[link.a];
        if (link.kind == LinkKind::LeafToSpine)
        {
            leaves[link.a].Add(parts[i]);
        }
        else if (link.kind == LinkKind::SpineToAggregation)
        {
            const FabricShape& shape = shapes[below.site];
            zones[{below.site, below.index / shape.spines % shape.zones}].Add(parts[i]);
        }
        else if (link.kind == LinkKind::Cross)
        {
            spans[link.span].Add(parts[i]);
        }
    }
    for (auto& [vertex, cut] : leaves)
    {
        cut.name = VertexName(cluster, graph.vertices[vertex]);
        TakeLeast(m_leaf[graph.vertices[vertex].site], cut.Share(proportional));
    }
    for (auto& [zone, cut] : zones)
    {
        cut.name = "zone " + std::to_string(zone.second) + " of " + cluster.SiteName(zone.first);
        TakeLeast(m_zone[zone.first], cut.Share(proportional));
    }
    for (auto& [span, cut] : spans)
    {
        const CrossLinkSpec& link = cluster.crossLinks[span];
        cut.name = cluster.SiteName(link.a) + " and " + cluster.SiteName(link.b);
        m_span[span] = cut.Share(proportional);
    }
}

} // namespace scaleacross
