// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/fabric-graph.h"

#include "core/base/capped.h"
#include "core/base/errors.h"
#include "core/topology/routing.h"
#include "core/topology/shapes/fabric-shape.h"
#include "core/topology/site-route.h"

#include <map>
#include <utility>

namespace scaleacross
{

namespace
{

/// Adds the vertices and links of a cluster site by site.
class GraphBuilder
{
  public:
    explicit GraphBuilder(const ClusterSpec& cluster)
        : m_cluster(cluster)
    {
    }

    FabricGraph Build()
    {
        const auto buildings = static_cast<uint32_t>(m_cluster.buildings.size());
        for (uint32_t b = 0; b < buildings; b++)
        {
            const BuildingSpec& building = m_cluster.buildings[b];
            m_firstNic.push_back(
                AddVertices(VertexKind::Nic, b, building.gpus * building.fabric.PortsPerNic()));
        }
        for (uint32_t b = 0; b < buildings; b++)
        {
            AddBuilding(b);
        }
        for (uint32_t hub = buildings; hub < m_cluster.Sites(); hub++)
        {
            m_firstTop.push_back(
                AddVertices(VertexKind::Aggregation, hub, m_cluster.TopSwitches()));
        }
        for (uint32_t span = 0; span < m_cluster.crossLinks.size(); span++)
        {
            AddSpan(span);
        }
        return std::move(m_graph);
    }

  private:
    /// The first one's number.
    uint32_t AddVertices(VertexKind kind, uint32_t site, uint32_t count)
    {
        const auto first = static_cast<uint32_t>(m_graph.vertices.size());
        for (uint32_t i = 0; i < count; i++)
        {
            m_graph.vertices.push_back({kind, site, i});
        }
        return first;
    }

    void AddBuilding(uint32_t b)
    {
        const BuildingSpec& building = m_cluster.buildings[b];
        const auto shape = ShapeOf(building);
        const SwitchCounts counts = shape->Switches();
        std::map<VertexKind, uint32_t> first;
        first[VertexKind::Leaf] = AddVertices(VertexKind::Leaf, b, counts.leaves);
        first[VertexKind::Spine] = AddVertices(VertexKind::Spine, b, counts.spines);
        first[VertexKind::Aggregation] =
            AddVertices(VertexKind::Aggregation, b, counts.aggregations);
        m_firstTop.push_back(
            first[counts.aggregations == 0 ? VertexKind::Spine : VertexKind::Aggregation]);

        const uint32_t ports = shape->Ports();
        for (uint32_t nic = 0; nic < building.gpus * ports; nic++)
        {
            const uint32_t leaf = nic % ports * shape->Leaves() + shape->LeafOf(nic / ports);
            m_graph.links.push_back({m_firstNic[b] + nic,
                                     first[VertexKind::Leaf] + leaf,
                                     LinkKind::Nic,
                                     shape->PortRate(),
                                     building.fabric.nicDelay});
        }
        for (const ShapeLink& link : shape->Links())
        {
            m_graph.links.push_back({first[link.kindA] + link.a,
                                     first[link.kindB] + link.b,
                                     LinkKind::Inside,
                                     link.rate,
                                     link.delay});
        }
    }

    void AddSpan(uint32_t span)
    {
        const CrossLinkSpec& link = m_cluster.crossLinks[span];
        for (uint32_t top = 0; top < m_cluster.TopSwitches(); top++)
        {
            for (uint32_t lane = 0; lane < link.lanes; lane++)
            {
                m_graph.links.push_back({m_firstTop[link.a] + top,
                                         m_firstTop[link.b] + top,
                                         LinkKind::Cross,
                                         LaneRate(m_cluster, link),
                                         link.latency,
                                         link.loss,
                                         link.pfc,
                                         span});
            }
        }
    }

    const ClusterSpec& m_cluster;
    FabricGraph m_graph;
    std::vector<uint32_t> m_firstNic; //!< by building
    std::vector<uint32_t> m_firstTop; //!< by site
};

} // namespace

BitRate
LaneRate(const ClusterSpec& cluster, const CrossLinkSpec& link)
{
    return link.capacity / (static_cast<double>(cluster.TopSwitches()) * link.lanes);
}

bool
IsTop(const ClusterSpec& cluster, const Vertex& vertex)
{
    return vertex.kind == VertexKind::Aggregation ||
           (vertex.kind == VertexKind::Spine &&
            cluster.buildings[vertex.site].fabric.aggregations == 0);
}

FabricGraph
BuildFabricGraph(const ClusterSpec& cluster)
{
    return GraphBuilder(cluster).Build();
}

std::string
VertexName(const ClusterSpec& cluster, const Vertex& vertex)
{
    const std::string site = cluster.SiteName(vertex.site) + "/";
    const std::string index = std::to_string(vertex.index);
    switch (vertex.kind)
    {
    case VertexKind::Leaf:
        return site + "leaf" + index;
    case VertexKind::Spine:
        return site + "spine" + index;
    case VertexKind::Aggregation:
        return site + "agg" + index;
    case VertexKind::Nic:
        break;
    }
    const uint32_t ports = cluster.PortsPerNic();
    const std::string nic = site + "nic" + std::to_string(vertex.index / ports);
    return ports == 1 ? nic : nic + "." + std::to_string(vertex.index % ports);
}

Tier
TierBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB)
{
    const uint32_t a = cluster.BuildingOf(gpuA);
    if (a != cluster.BuildingOf(gpuB))
    {
        return Tier::Cross;
    }
    const uint32_t first = cluster.FirstGpu(a);
    return ShapeOf(cluster.buildings[a])->TierBetween(gpuA - first, gpuB - first);
}

FabricPath
PathAcross(const ClusterSpec& cluster,
           const FabricShape& a,
           const FabricShape& b,
           const SiteRoute& route)
{
    const Climb from = a.ToTop();
    const Climb to = b.ToTop();
    FabricPath path;
    path.tier = Tier::Cross;
    path.propagation = from.propagation + to.propagation;
    path.least = path.propagation + route.least;
    path.rates = from.rates;
    for (const SiteRoute::Hop& hop : route.longest)
    {
        const CrossLinkSpec& link = cluster.crossLinks[hop.link];
        path.propagation += link.latency;
        path.rates.push_back(LaneRate(cluster, link));
    }
    path.rates.insert(path.rates.end(), to.rates.rbegin(), to.rates.rend());
    path.loss = route.loss;
    path.paths = MultiplyCapped(from.up * to.down, route.ways);
    return path;
}

FabricPath
PathBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB)
{
    const uint32_t a = cluster.BuildingOf(gpuA);
    const uint32_t b = cluster.BuildingOf(gpuB);
    const auto shape = ShapeOf(cluster.buildings[a]);
    return a == b ? shape->Within(TierBetween(cluster, gpuA, gpuB))
                  : PathAcross(cluster,
                               *shape,
                               *ShapeOf(cluster.buildings[b]),
                               RouteBetweenSites(cluster, a, b));
}

const Routing&
RoutingOf(const ClusterSpec& cluster)
{
    const Routing* special = nullptr;
    for (const BuildingSpec& building : cluster.buildings)
    {
        const Routing& routing = ShapeOf(building)->Routes();
        SCALEACROSS_INVARIANT(special == nullptr || &routing == special ||
                                  &routing == &ShortestPaths(),
                              "one strategy serves all shapes");
        special = &routing == &ShortestPaths() ? special : &routing;
    }
    return special == nullptr ? ShortestPaths() : *special;
}

} // namespace scaleacross
