// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/routing.h"
#include "core/topology/shapes/registry.h"

namespace scaleacross
{

namespace
{

/**
 * Every leaf has a link to each other leaf of the same port, and one to each spine of its plane.
 * Spines are where spans begin; what stays in the building does not pass them.
 *
 * Traffic between two of L leaves is spread over all L - 1 links of the first one: by the direct
 * link, and over each of the L - 2 others to the link that leads on from there (Valiant). So what
 * comes out of a leaf loads its links alike, and what goes into one the links to it, at the price
 * of passing two: each of the others has 1 / (L - 1) of the traffic between two leaves come in and
 * go out.
 *
 * Worked case: 4 leaves of 8 NICs of 400 Gb/s, 1:1. Links of 8 x 400 / 3 = 1,067 Gb/s. Leaf 0 sends
 * 3 Tb/s to leaf 1: 1 Tb/s on each of its links, and 1 Tb/s from leaf 2 and from leaf 3 to leaf 1.
 */
class FullMesh : public FabricShape
{
  public:
    explicit FullMesh(const BuildingSpec& building)
        : FabricShape(building)
    {
        const FabricSpec& fabric = Fabric();
        AddLeafCut(Tier::Cross);
        if (Others() == 0)
        {
            return;
        }
        m_meshRate = LeafShare(Others());
        ShapeCut mesh;
        mesh.name = "mesh";
        mesh.links = Others() * Ports();
        mesh.rate = m_meshRate;
        mesh.delay = fabric.leafDelay;
        mesh.nearest = Tier::Building;
        mesh.farthest = Tier::Building;
        mesh.detour = 1.0 / Others();
        AddCut(mesh);
    }

    SwitchCounts Switches() const override
    {
        return {Ports() * Leaves(), Planes() * Fabric().spines, 0};
    }

    std::vector<ShapeLink> Links() const override
    {
        std::vector<ShapeLink> links = LinksToSpines(1);
        for (uint32_t leaf = 0; leaf < Ports() * Leaves(); leaf++)
        {
            const uint32_t end = (leaf / Leaves() + 1) * Leaves(); // of the leaves of its port
            for (uint32_t other = leaf + 1; other < end; other++)
            {
                links.push_back({VertexKind::Leaf,
                                 leaf,
                                 VertexKind::Leaf,
                                 other,
                                 m_meshRate,
                                 Fabric().leafDelay});
            }
        }
        return links;
    }

    const Routing& Routes() const override
    {
        return ValiantRouting();
    }

    uint32_t SwitchOf(uint32_t /* level */, uint32_t gpu) const override
    {
        return LeafOf(gpu);
    }

    std::vector<CutSide> SidesOf(const Vertex& from, const Vertex& to) const override
    {
        if (from.kind == to.kind)
        {
            return {LeafSide(1, true, from, to), LeafSide(1, false, to, from)};
        }
        const bool up = from.kind == VertexKind::Leaf;
        return {up ? LeafSide(0, true, from, to) : LeafSide(0, false, to, from)};
    }

  private:
    /// Leaves that one can send to.
    uint32_t Others() const
    {
        return Leaves() - 1;
    }

    Tier TierAbove(uint32_t /* gpuA */, uint32_t /* gpuB */) const override
    {
        return Tier::Building;
    }

    /// Nearly all goes over a third leaf, if there is one.
    FabricPath Above(Tier /* tier */) const override
    {
        FabricPath path;
        path.least = Fabric().leafDelay;
        path.propagation = Others() > 1 ? path.least * 2 : path.least;
        path.rates.assign(Others() > 1 ? 2 : 1, m_meshRate);
        path.paths = Others();
        return path;
    }

    BitRate m_meshRate; //!< one leaf to another
};

} // namespace

std::shared_ptr<const FabricShape>
MakeFullMesh(const BuildingSpec& building)
{
    return std::make_shared<const FullMesh>(building);
}

} // namespace scaleacross
