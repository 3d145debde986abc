// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/fabric-graph.h"

#include "core/base/capped.h"
#include "core/base/errors.h"
#include "core/topology/site-route.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

uint32_t
NodesPerPod(const BuildingSpec& building)
{
    const uint32_t nodes = building.Nodes();
    return building.fabric.nodesPerPod == 0 ? nodes : std::min(building.fabric.nodesPerPod, nodes);
}

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
        const FabricSpec& fabric = building.fabric;
        const FabricShape shape = ShapeOf(building);
        const uint32_t firstLeaf = AddVertices(VertexKind::Leaf, b, shape.ports * shape.Leaves());
        const uint32_t firstSpine =
            AddVertices(VertexKind::Spine, b, shape.planes * shape.zones * shape.spines);
        const uint32_t firstAggregation =
            AddVertices(VertexKind::Aggregation, b, shape.planes * shape.aggregations);
        m_firstTop.push_back(shape.aggregations == 0 ? firstSpine : firstAggregation);

        for (uint32_t nic = 0; nic < building.gpus * shape.ports; nic++)
        {
            const uint32_t leaf =
                nic % shape.ports * shape.Leaves() + LeafOf(building, nic / shape.ports);
            m_graph.links.push_back({m_firstNic[b] + nic,
                                     firstLeaf + leaf,
                                     LinkKind::NicToLeaf,
                                     shape.portRate,
                                     fabric.nicDelay});
        }
        const uint32_t portsPerPlane = shape.ports / shape.planes;
        const uint32_t leavesPerZone = shape.leavesPerPod * shape.podsPerZone;
        for (uint32_t leaf = 0; leaf < shape.ports * shape.Leaves(); leaf++)
        {
            const uint32_t plane = leaf / shape.Leaves() / portsPerPlane;
            const uint32_t zone = leaf % shape.Leaves() / leavesPerZone;
            const uint32_t spines = firstSpine + (plane * shape.zones + zone) * shape.spines;
            for (uint32_t spine = 0; spine < shape.spines; spine++)
            {
                m_graph.links.push_back({firstLeaf + leaf,
                                         spines + spine,
                                         LinkKind::LeafToSpine,
                                         shape.uplinkRate,
                                         fabric.leafDelay});
            }
        }
        for (uint32_t spine = 0; spine < shape.planes * shape.zones * shape.spines; spine++)
        {
            const uint32_t plane = spine / (shape.zones * shape.spines);
            for (uint32_t i = 0; i < shape.aggregations; i++)
            {
                m_graph.links.push_back({firstSpine + spine,
                                         firstAggregation + plane * shape.aggregations + i,
                                         LinkKind::SpineToAggregation,
                                         shape.zoneUplinkRate,
                                         fabric.aggregationDelay});
            }
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

/// Rates and delays of the links from a NIC up to the top switch that spans begin at.
struct Climb
{
    Duration propagation;
    std::vector<BitRate> rates;
    uint64_t up{1};   //!< ways to any top switch
    uint64_t down{1}; //!< ways from a given top switch
};

Climb
ClimbOf(const BuildingSpec& building)
{
    const FabricShape shape = ShapeOf(building);
    const FabricSpec& fabric = building.fabric;
    Climb climb;
    climb.propagation = fabric.nicDelay + fabric.leafDelay;
    climb.rates = {shape.portRate, shape.uplinkRate};
    climb.up = shape.spines;
    if (shape.aggregations > 0)
    {
        climb.propagation += fabric.aggregationDelay;
        climb.rates.push_back(shape.zoneUplinkRate);
        climb.up *= shape.aggregations;
        climb.down = shape.spines;
    }
    return climb;
}

} // namespace

FabricShape
ShapeOf(const BuildingSpec& building)
{
    const uint32_t perPod = NodesPerPod(building);
    const FabricSpec& fabric = building.fabric;
    FabricShape shape;
    shape.pods = (building.Nodes() + perPod - 1) / perPod;
    shape.leavesPerPod = fabric.rails ? building.gpusPerNode : 1;
    shape.nicsPerLeaf = fabric.rails ? perPod : perPod * building.gpusPerNode;
    shape.ports = fabric.PortsPerNic();
    shape.planes = fabric.planes;
    shape.podsPerZone = fabric.podsPerZone == 0 ? shape.pods : fabric.podsPerZone;
    shape.zones = shape.pods / shape.podsPerZone;
    shape.spines = fabric.spines;
    shape.aggregations = fabric.aggregations;
    shape.portRate = building.gpu.nicRate / shape.ports;
    shape.uplinkRate = shape.portRate * static_cast<double>(shape.nicsPerLeaf) /
                       (fabric.oversubscription * fabric.spines);
    if (shape.aggregations > 0)
    {
        const uint32_t leavesBelow =
            shape.podsPerZone * shape.leavesPerPod * shape.ports / shape.planes;
        shape.zoneUplinkRate = shape.uplinkRate * static_cast<double>(leavesBelow) /
                               (fabric.zoneOversubscription * fabric.aggregations);
    }
    return shape;
}

uint32_t
LeafOf(const BuildingSpec& building, uint32_t gpu)
{
    const uint32_t pod = gpu / building.gpusPerNode / NodesPerPod(building);
    return building.fabric.rails ? pod * building.gpusPerNode + gpu % building.gpusPerNode : pod;
}

uint32_t
ZoneOf(const BuildingSpec& building, const FabricShape& shape, uint32_t gpu)
{
    return gpu / building.gpusPerNode / NodesPerPod(building) / shape.podsPerZone;
}

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

uint32_t
TierPeriod(const BuildingSpec& building, const FabricShape& shape)
{
    const uint32_t pod = building.gpusPerNode * NodesPerPod(building);
    return shape.aggregations > 0 ? pod * shape.podsPerZone : pod;
}

Tier
TierWithin(const BuildingSpec& building, const FabricShape& shape, uint32_t gpuA, uint32_t gpuB)
{
    if (gpuA / building.gpusPerNode == gpuB / building.gpusPerNode)
    {
        return Tier::Node;
    }
    if (LeafOf(building, gpuA) == LeafOf(building, gpuB))
    {
        return Tier::Leaf;
    }
    return shape.aggregations > 0 && ZoneOf(building, shape, gpuA) == ZoneOf(building, shape, gpuB)
               ? Tier::Zone
               : Tier::Building;
}

Tier
TierBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB)
{
    const uint32_t a = cluster.BuildingOf(gpuA);
    if (a != cluster.BuildingOf(gpuB))
    {
        return Tier::Cross;
    }
    const BuildingSpec& building = cluster.buildings[a];
    const uint32_t first = cluster.FirstGpu(a);
    return TierWithin(building, ShapeOf(building), gpuA - first, gpuB - first);
}

FabricPath
PathAcross(const ClusterSpec& cluster, uint32_t a, uint32_t b, const SiteRoute& route)
{
    const Climb from = ClimbOf(cluster.buildings[a]);
    const Climb to = ClimbOf(cluster.buildings[b]);
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
PathWithin(const BuildingSpec& building, Tier tier)
{
    const FabricSpec& fabric = building.fabric;
    const FabricShape shape = ShapeOf(building);
    FabricPath path;
    path.tier = tier;
    switch (tier)
    {
    case Tier::Node:
        path.propagation = building.gpu.scaleUpLatency;
        break;
    case Tier::Leaf:
        path.propagation = fabric.nicDelay * 2;
        path.rates = {shape.portRate, shape.portRate};
        break;
    case Tier::Zone:
        path.propagation = (fabric.nicDelay + fabric.leafDelay) * 2;
        path.rates = {shape.portRate, shape.uplinkRate, shape.uplinkRate, shape.portRate};
        path.paths = shape.spines;
        break;
    case Tier::Building: {
        const Climb climb = ClimbOf(building);
        path.propagation = climb.propagation * 2;
        path.rates = climb.rates;
        path.rates.insert(path.rates.end(), climb.rates.rbegin(), climb.rates.rend());
        path.paths = climb.up * climb.down;
        break;
    }
    case Tier::Cross:
        SCALEACROSS_INVARIANT(false, "a path inside a building does not leave it");
    }
    path.least = path.propagation;
    return path;
}

FabricPath
PathBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB)
{
    const uint32_t a = cluster.BuildingOf(gpuA);
    const uint32_t b = cluster.BuildingOf(gpuB);
    return a == b ? PathWithin(cluster.buildings[a], TierBetween(cluster, gpuA, gpuB))
                  : PathAcross(cluster, a, b, RouteBetweenSites(cluster, a, b));
}

} // namespace scaleacross
