// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_SHAPE_H
#define SCALEACROSS_FABRIC_SHAPE_H

#include "core/base/units.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/tier.h"
#include "core/topology/fabric-path.h"
#include "core/topology/shapes/shape-cut.h"
#include "core/topology/vertex.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace scaleacross
{

class Routing;

/// Switches of one building.
struct SwitchCounts
{
    uint32_t leaves{0};
    uint32_t spines{0};
    uint32_t aggregations{0};
};

/// A link between two switches of a building, by their kinds and numbers there.
struct ShapeLink
{
    VertexKind kindA{VertexKind::Leaf}; //!< of the lower tier, or of the smaller number
    uint32_t a{0};
    VertexKind kindB{VertexKind::Spine};
    uint32_t b{0};
    BitRate rate;
    Duration delay; //!< one way
};

/**
 * How one building's NICs and switches are joined: the graph that the packet engine builds, how far
 * GPUs are from each other, the cuts that they share, and the paths between them. Engines and
 * drawings ask this; which switches are the top ones, where spans begin, ClusterSpec says, as that
 * is the same for all buildings.
 *
 * All shapes have servers in pods whose NICs are on leaves (FabricSpec), every port of a NIC on
 * leaves of its own. Spans to other buildings begin at the top switches. GPUs are numbered within
 * the building here. Leaves are counted port by port (port = plane x 2 + ToR with dualTor, else the
 * plane), then pod by pod; spines plane by plane, then zone by zone; aggregation switches plane by
 * plane.
 *
 * To add one: a file with a subclass, a row of its word (core/spec/fabric-shape-words.cc), and a
 * line in the registry beside this.
 */
class FabricShape
{
  public:
    virtual ~FabricShape() = default;

    /// Ports of a NIC.
    uint32_t Ports() const
    {
        return m_ports;
    }

    uint32_t Planes() const
    {
        return m_fabric.planes;
    }

    /// For one port of the NICs.
    uint32_t Leaves() const
    {
        return m_leaves;
    }

    /// NIC to leaf.
    BitRate PortRate() const
    {
        return m_portRate;
    }

    /// Leaf that port 0 of the NIC of a GPU is on. Port k is on the leaf k x Leaves() further on.
    uint32_t LeafOf(uint32_t gpu) const
    {
        const uint32_t pod = gpu / m_pod;
        return m_fabric.rails ? pod * m_gpusPerNode + gpu % m_gpusPerNode : pod;
    }

    // --- Graph

    virtual SwitchCounts Switches() const = 0;

    /// All links between switches, in the order in which they are numbered.
    virtual std::vector<ShapeLink> Links() const = 0;

    /// How packets find their way between switches.
    virtual const Routing& Routes() const;

    // --- Tiers

    Tier TierBetween(uint32_t gpuA, uint32_t gpuB) const;

    /// Numbers of GPUs, ascending, each a multiple of those before: of a pod, and of what else has
    /// switches of its own. Switches are alike for a layout that no multiple of them cuts.
    const std::vector<uint32_t>& Boundaries() const
    {
        return m_boundaries;
    }

    /// Two GPUs that both go on by a multiple of it are as far from each other as before.
    uint32_t TierPeriod() const
    {
        return m_boundaries.back();
    }

    /// So are GPUs that go on by a multiple of this and stay within the same TierPeriod().
    uint32_t TierUnit() const
    {
        return m_tierUnit;
    }

    // --- Cuts

    /// By level; at most kCutLevels.
    const std::vector<ShapeCut>& Cuts() const
    {
        return m_cuts;
    }

    /// Whether some of the traffic that passes a cut goes over other switches on its way.
    bool HasDetours() const;

    /// Links of a cut that no queue pair has a choice between are in so many parts.
    uint32_t PartsOf(const ShapeCut& cut) const
    {
        return cut.byPlane ? Planes() : Ports();
    }

    /// The switch, or group of switches, of a level that a GPU is below; 0 where there is no cut.
    virtual uint32_t SwitchOf(uint32_t level, uint32_t gpu) const = 0;

    /// The cuts that a link between switches belongs to in the direction from one to the other.
    virtual std::vector<CutSide> SidesOf(const Vertex& from, const Vertex& to) const = 0;

    /// What messages call a switch, or group of switches, with a cut: "east/leaf3", "zone 1 of
    /// east".
    virtual std::string NameOf(const CutSide& side, const std::string& site) const;

    // --- Paths

    /// Domain: the tier is not Tier::Cross.
    FabricPath Within(Tier tier) const;

    /// To the spines, unless there is more above those.
    virtual Climb ToTop() const;

  protected:
    explicit FabricShape(const BuildingSpec& building);

    const FabricSpec& Fabric() const
    {
        return m_fabric;
    }

    uint32_t Pods() const
    {
        return m_leaves / m_leavesPerPod;
    }

    uint32_t LeavesPerPod() const
    {
        return m_leavesPerPod;
    }

    /// GPUs of a full pod.
    uint32_t Pod() const
    {
        return m_pod;
    }

    /// One leaf to one spine.
    BitRate UplinkRate() const
    {
        return LeafShare(m_fabric.spines);
    }

    /// A link from every leaf to each spine of its plane and zone, of `zones` of equally many
    /// leaves for one port of the NICs.
    std::vector<ShapeLink> LinksToSpines(uint32_t zones) const;

    /// The cut of a leaf's links to spines, which traffic of `nearest` and farther passes.
    void AddLeafCut(Tier nearest);

    /// Rate of each of so many links that together carry what a leaf's ports below do over the
    /// oversubscription.
    BitRate LeafShare(uint32_t links) const;

    void AddCut(const ShapeCut& cut);

    /// So many GPUs are below one group of switches above the leaves, and are moved by pods then.
    void AddBoundary(uint32_t gpus);

    /// Leaf that a leaf is, whatever port it is of.
    CutSide LeafSide(uint32_t level, bool up, const Vertex& leaf, const Vertex& other) const;

  private:
    /// Of GPUs that are on different leaves.
    virtual Tier TierAbove(uint32_t gpuA, uint32_t gpuB) const = 0;

    /// Between leaves: propagation, least, rates and paths. Domain: a tier that TierAbove gives.
    virtual FabricPath Above(Tier tier) const = 0;

    FabricSpec m_fabric;
    uint32_t m_gpusPerNode;
    uint32_t m_pod;
    uint32_t m_leavesPerPod;
    uint32_t m_leaves;
    uint32_t m_nicsPerLeaf; //!< of a full pod
    uint32_t m_ports;
    BitRate m_portRate;
    Duration m_serverLatency; //!< between GPUs of one server
    std::vector<uint32_t> m_boundaries;
    uint32_t m_tierUnit;
    std::vector<ShapeCut> m_cuts;
};

/// Of the building's FabricSpec. Threads may share it.
std::shared_ptr<const FabricShape> ShapeOf(const BuildingSpec& building);

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_SHAPE_H
