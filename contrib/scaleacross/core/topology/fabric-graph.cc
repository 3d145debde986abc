// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/fabric-graph.h"

#include "core/base/errors.h"

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

/// Plane i joins spine i of both buildings, so the building with fewer spines decides.
uint32_t
Planes(const ClusterSpec& cluster, const CrossLinkSpec& link)
{
    return std::min(cluster.buildings[link.a].fabric.spines,
                    cluster.buildings[link.b].fabric.spines);
}

const CrossLinkSpec&
SpanBetween(const ClusterSpec& cluster, uint32_t a, uint32_t b)
{
    const CrossLinkSpec* link = cluster.Between(a, b);
    if (link == nullptr)
    {
        throw ConfigError("cluster.cross",
                          "no span joins the buildings '" + cluster.buildings[a].name + "' and '" +
                              cluster.buildings[b].name + "', which have traffic for each other",
                          "a direct span between every pair of buildings",
                          "add the pair to cluster.cross");
    }
    return *link;
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
    shape.spines = fabric.spines;
    shape.uplinkRate = building.gpu.nicRate * static_cast<double>(shape.nicsPerLeaf) /
                       (fabric.oversubscription * fabric.spines);
    return shape;
}

uint32_t
LeafOf(const BuildingSpec& building, uint32_t gpu)
{
    const uint32_t pod = gpu / building.gpusPerNode / NodesPerPod(building);
    return building.fabric.rails ? pod * building.gpusPerNode + gpu % building.gpusPerNode : pod;
}

FabricGraph
BuildFabricGraph(const ClusterSpec& cluster)
{
    FabricGraph graph;
    for (uint32_t b = 0; b < cluster.buildings.size(); b++)
    {
        for (uint32_t g = 0; g < cluster.buildings[b].gpus; g++)
        {
            graph.vertices.push_back({VertexKind::Nic, b, g});
        }
    }
    std::vector<uint32_t> firstSpine(cluster.buildings.size());
    for (uint32_t b = 0; b < cluster.buildings.size(); b++)
    {
        const BuildingSpec& building = cluster.buildings[b];
        const FabricShape shape = ShapeOf(building);
        const uint32_t leaves = shape.pods * shape.leavesPerPod;
        const auto firstLeaf = static_cast<uint32_t>(graph.vertices.size());
        for (uint32_t i = 0; i < leaves; i++)
        {
            graph.vertices.push_back({VertexKind::Leaf, b, i});
        }
        firstSpine[b] = static_cast<uint32_t>(graph.vertices.size());
        for (uint32_t i = 0; i < shape.spines; i++)
        {
            graph.vertices.push_back({VertexKind::Spine, b, i});
        }
        for (uint32_t g = 0; g < building.gpus; g++)
        {
            graph.links.push_back({cluster.FirstGpu(b) + g,
                                   firstLeaf + LeafOf(building, g),
                                   LinkKind::NicToLeaf,
                                   building.gpu.nicRate,
                                   building.fabric.nicDelay,
                                   0.0});
        }
        for (uint32_t leaf = 0; leaf < leaves; leaf++)
        {
            for (uint32_t spine = 0; spine < shape.spines; spine++)
            {
                graph.links.push_back({firstLeaf + leaf,
                                       firstSpine[b] + spine,
                                       LinkKind::LeafToSpine,
                                       shape.uplinkRate,
                                       building.fabric.leafDelay,
                                       0.0});
            }
        }
    }
    for (const CrossLinkSpec& link : cluster.crossLinks)
    {
        const uint32_t planes = Planes(cluster, link);
        for (uint32_t plane = 0; plane < planes; plane++)
        {
            graph.links.push_back({firstSpine[link.a] + plane,
                                   firstSpine[link.b] + plane,
                                   LinkKind::Cross,
                                   link.capacity / planes,
                                   link.latency,
                                   link.loss});
        }
    }
    return graph;
}

Tier
TierBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB)
{
    const uint32_t a = cluster.BuildingOf(gpuA);
    const uint32_t b = cluster.BuildingOf(gpuB);
    if (a != b)
    {
        return Tier::Cross;
    }
    const BuildingSpec& building = cluster.buildings[a];
    const uint32_t localA = gpuA - cluster.FirstGpu(a);
    const uint32_t localB = gpuB - cluster.FirstGpu(a);
    if (localA / building.gpusPerNode == localB / building.gpusPerNode)
    {
        return Tier::Node;
    }
    return LeafOf(building, localA) == LeafOf(building, localB) ? Tier::Leaf : Tier::Building;
}

FabricPath
PathBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB)
{
    const uint32_t a = cluster.BuildingOf(gpuA);
    const uint32_t b = cluster.BuildingOf(gpuB);
    const BuildingSpec& from = cluster.buildings[a];
    const BuildingSpec& to = cluster.buildings[b];
    FabricPath path;
    path.tier = TierBetween(cluster, gpuA, gpuB);
    switch (path.tier)
    {
    case Tier::Node:
        path.propagation = from.gpu.nvlinkLatency;
        break;
    case Tier::Leaf:
        path.propagation = from.fabric.nicDelay * 2;
        path.rates = {from.gpu.nicRate, from.gpu.nicRate};
        break;
    case Tier::Building: {
        const BitRate uplink = ShapeOf(from).uplinkRate;
        path.propagation = from.fabric.nicDelay * 2 + from.fabric.leafDelay * 2;
        path.rates = {from.gpu.nicRate, uplink, uplink, from.gpu.nicRate};
        path.paths = from.fabric.spines;
        break;
    }
    case Tier::Cross: {
        const CrossLinkSpec& span = SpanBetween(cluster, a, b);
        const uint32_t planes = Planes(cluster, span);
        path.propagation = from.fabric.nicDelay + from.fabric.leafDelay + span.latency +
                           to.fabric.leafDelay + to.fabric.nicDelay;
        path.rates = {from.gpu.nicRate,
                      ShapeOf(from).uplinkRate,
                      span.capacity / planes,
                      ShapeOf(to).uplinkRate,
                      to.gpu.nicRate};
        path.loss = span.loss;
        path.paths = planes;
        break;
    }
    }
    return path;
}

} // namespace scaleacross
