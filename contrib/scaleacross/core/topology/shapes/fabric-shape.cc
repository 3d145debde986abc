// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/shapes/fabric-shape.h"

#include "core/base/errors.h"
#include "core/topology/routing.h"

namespace scaleacross
{

FabricShape::FabricShape(const BuildingSpec& building)
    : m_fabric(building.fabric),
      m_gpusPerNode(building.gpusPerNode),
      m_pod(building.NodesPerPod() * building.gpusPerNode),
      m_leavesPerPod(building.fabric.rails ? building.gpusPerNode : 1),
      m_leaves(building.Leaves()),
      m_nicsPerLeaf(building.fabric.rails ? building.NodesPerPod() : m_pod),
      m_ports(building.fabric.PortsPerNic()),
      m_portRate(building.gpu.nicRate / m_ports),
      m_serverLatency(building.gpu.scaleUpLatency),
      m_boundaries{m_pod},
      m_tierUnit(building.gpusPerNode)
{
}

BitRate
FabricShape::LeafShare(uint32_t links) const
{
    return m_portRate * static_cast<double>(m_nicsPerLeaf) / (m_fabric.oversubscription * links);
}

std::vector<ShapeLink>
FabricShape::LinksToSpines(uint32_t zones) const
{
    std::vector<ShapeLink> links;
    for (uint32_t leaf = 0; leaf < m_ports * m_leaves; leaf++)
    {
        const uint32_t plane = leaf / m_leaves / (m_ports / m_fabric.planes);
        const uint32_t zone = leaf % m_leaves / (m_leaves / zones);
        for (uint32_t i = 0; i < m_fabric.spines; i++)
        {
            links.push_back({VertexKind::Leaf,
                             leaf,
                             VertexKind::Spine,
                             (plane * zones + zone) * m_fabric.spines + i,
                             UplinkRate(),
                             m_fabric.leafDelay});
        }
    }
    return links;
}

void
FabricShape::AddLeafCut(Tier nearest)
{
    ShapeCut leaf;
    leaf.name = "leaf";
    leaf.links = m_fabric.spines * m_ports;
    leaf.rate = UplinkRate();
    leaf.delay = m_fabric.leafDelay;
    leaf.nearest = nearest;
    AddCut(leaf);
}

void
FabricShape::AddCut(const ShapeCut& cut)
{
    SCALEACROSS_INVARIANT(m_cuts.size() < kCutLevels, "engines know of so many levels");
    m_cuts.push_back(cut);
}

void
FabricShape::AddBoundary(uint32_t gpus)
{
    m_tierUnit = m_boundaries.back();
    m_boundaries.push_back(gpus);
}

CutSide
FabricShape::LeafSide(uint32_t level, bool up, const Vertex& leaf, const Vertex& other) const
{
    return {level, up, leaf.index / m_leaves, leaf.index % m_leaves, other.index};
}

bool
FabricShape::HasDetours() const
{
    return std::any_of(m_cuts.begin(), m_cuts.end(), [](const ShapeCut& cut) {
        return cut.detour > 0;
    });
}

const Routing&
FabricShape::Routes() const
{
    return ShortestPaths();
}

Tier
FabricShape::TierBetween(uint32_t gpuA, uint32_t gpuB) const
{
    if (gpuA / m_gpusPerNode == gpuB / m_gpusPerNode)
    {
        return Tier::Node;
    }
    return LeafOf(gpuA) == LeafOf(gpuB) ? Tier::Leaf : TierAbove(gpuA, gpuB);
}

std::string
FabricShape::NameOf(const CutSide& side, const std::string& site) const
{
    return site + "/leaf" + std::to_string(side.part * m_leaves + side.which);
}

Climb
FabricShape::ToTop() const
{
    Climb climb;
    climb.propagation = m_fabric.nicDelay + m_fabric.leafDelay;
    climb.rates = {m_portRate, UplinkRate()};
    climb.up = m_fabric.spines;
    return climb;
}

FabricPath
FabricShape::Within(Tier tier) const
{
    if (tier == Tier::Node || tier == Tier::Leaf)
    {
        FabricPath path;
        path.tier = tier;
        path.propagation = tier == Tier::Node ? m_serverLatency : m_fabric.nicDelay * 2;
        path.least = path.propagation;
        if (tier == Tier::Leaf)
        {
            path.rates = {m_portRate, m_portRate};
        }
        return path;
    }
    SCALEACROSS_INVARIANT(tier != Tier::Cross, "a path inside a building does not leave it");
    FabricPath path = Above(tier);
    path.tier = tier;
    path.propagation += m_fabric.nicDelay * 2;
    path.least += m_fabric.nicDelay * 2;
    path.rates.insert(path.rates.begin(), m_portRate);
    path.rates.push_back(m_portRate);
    return path;
}

} // namespace scaleacross
