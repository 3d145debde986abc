// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/fast-links.h"

#include "core/base/text.h"
#include "core/topology/fabric-graph.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace scaleacross
{

namespace
{

/// How often the fastest port goes into a rate, rounded up.
uint32_t
PortsFor(BitRate rate)
{
    return static_cast<uint32_t>(std::ceil(rate.Value() / kFastestPort.Value() * (1 - 1e-12)));
}

/// Links between two kinds of switches, and the key of a fabric that divides what they have.
struct Tiers
{
    std::string links;
    std::string key;
    double (*number)(const FabricSpec&);
};

Tiers
TiersOf(const std::pair<VertexKind, VertexKind>& ends)
{
    if (ends.first == ends.second)
    {
        return {"links between leaves", "oversubscription", [](const FabricSpec& fabric) {
                    return fabric.oversubscription;
                }};
    }
    if (ends.first == VertexKind::Leaf)
    {
        return {"links between leaves and spines", "spines", [](const FabricSpec& fabric) {
                    return static_cast<double>(fabric.spines);
                }};
    }
    return {"links between spines and aggregation switches",
            "aggregations",
            [](const FabricSpec& fabric) { return static_cast<double>(fabric.aggregations); }};
}

std::string
Warning(const std::string& key, const std::string& links, BitRate rate, const std::string& remedy)
{
    return key + ": " + links + " have " + ToString(rate) + ", more than any port (" +
           ToString(kFastestPort) + "): each would be several, of which a flow takes one; " +
           remedy;
}

} // namespace

std::vector<std::string>
FastLinkWarnings(const ClusterSpec& cluster)
{
    const FabricGraph graph = BuildFabricGraph(cluster);
    std::map<std::pair<VertexKind, VertexKind>, std::vector<BitRate>> inside; // by building
    for (const FabricLink& link : graph.links)
    {
        const Vertex& a = graph.vertices[link.a];
        const Vertex& b = graph.vertices[link.b];
        if (link.kind == LinkKind::Inside && a.site < cluster.buildings.size())
        {
            std::vector<BitRate>& rates = inside[std::minmax(a.kind, b.kind)];
            rates.resize(cluster.buildings.size());
            rates[a.site] = std::max(rates[a.site], link.rate);
        }
    }
    std::vector<std::string> warnings;
    for (const auto& [ends, rates] : inside)
    {
        const size_t worst = std::max_element(rates.begin(), rates.end()) - rates.begin();
        if (rates[worst] <= kFastestPort)
        {
            continue;
        }
        const Tiers tiers = TiersOf(ends);
        double wanted = 0;
        for (size_t i = 0; i < rates.size(); i++)
        {
            wanted =
                std::max(wanted, tiers.number(cluster.buildings[i].fabric) * PortsFor(rates[i]));
        }
        warnings.push_back(Warning("cluster.buildings.fabric." + tiers.key,
                                   tiers.links + " in " + cluster.buildings[worst].name,
                                   rates[worst],
                                   "raise it from " +
                                       NumberText(tiers.number(cluster.buildings[worst].fabric)) +
                                       " to " + NumberText(wanted) + " or more"));
    }
    const CrossLinkSpec* fastest = nullptr;
    uint32_t lanes = 0; // so many of every span are enough
    for (const CrossLinkSpec& span : cluster.crossLinks)
    {
        const BitRate rate = LaneRate(cluster, span);
        if (fastest == nullptr || rate > LaneRate(cluster, *fastest))
        {
            fastest = &span;
        }
        lanes = std::max(lanes, span.lanes * PortsFor(rate));
    }
    if (fastest != nullptr && LaneRate(cluster, *fastest) > kFastestPort)
    {
        warnings.push_back(Warning("cluster.cross.lanes",
                                   "links of the span " + cluster.SiteName(fastest->a) + "--" +
                                       cluster.SiteName(fastest->b),
                                   LaneRate(cluster, *fastest),
                                   "raise it from " + std::to_string(fastest->lanes) + " to " +
                                       std::to_string(lanes) + " or more"));
    }
    return warnings;
}

} // namespace scaleacross
