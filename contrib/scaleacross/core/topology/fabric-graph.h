// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_GRAPH_H
#define SCALEACROSS_FABRIC_GRAPH_H

#include "core/base/units.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/tier.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

struct SiteRoute;

enum class VertexKind : uint8_t
{
    Nic, //!< a port of a GPU's NIC, in order of the GPUs: port k of GPU g's is vertex g x ports + k
    Leaf,
    Spine,
    Aggregation //!< of a three-stage fabric, or of a hub
};

/// A switch, or a port of a NIC.
struct Vertex
{
    VertexKind kind{VertexKind::Nic};
    uint32_t site{0};  //!< building, or hub after the last building
    uint32_t index{0}; //!< within its kind and site
};

enum class LinkKind : uint8_t
{
    NicToLeaf,
    LeafToSpine,
    SpineToAggregation,
    Cross //!< between sites
};

/// A full-duplex link; rate and loss hold for each direction.
struct FabricLink
{
    uint32_t a{0}; //!< vertex, of the lower tier or of CrossLinkSpec::a
    uint32_t b{0};
    LinkKind kind{LinkKind::NicToLeaf};
    BitRate rate;
    Duration delay; //!< one way
    double loss{0};
    bool pfc{true};   //!< packets that arrive over it may be lossless
    uint32_t span{0}; //!< Cross: index into ClusterSpec::crossLinks
};

/// Every switch, NIC and link of a cluster: what the packet engine builds.
struct FabricGraph
{
    std::vector<Vertex> vertices;
    std::vector<FabricLink> links;
};

/**
 * Size of one building's fabric, from which both the graph and the cuts follow.
 *
 * Numbers of switches: leaves are counted port by port (port = plane x 2 + ToR with dualTor, else
 * the plane), then pod by pod; spines plane by plane, then zone by zone; aggregation switches plane
 * by plane.
 */
struct FabricShape
{
    uint32_t pods{0};
    uint32_t leavesPerPod{0}; //!< for one port of the NICs: gpusPerNode with rails, else 1
    uint32_t nicsPerLeaf{0};  //!< of a full pod
    uint32_t ports{1};        //!< of a NIC
    uint32_t planes{1};
    uint32_t zones{1}; //!< 1 where there are two stages
    uint32_t podsPerZone{0};
    uint32_t spines{0};       //!< of a zone in one plane
    uint32_t aggregations{0}; //!< in one plane; 0: two stages
    BitRate portRate;         //!< NIC to leaf
    BitRate uplinkRate;       //!< one leaf to one spine
    BitRate zoneUplinkRate;   //!< one spine to one aggregation switch; 0 where there are none

    /// For one port of the NICs.
    uint32_t Leaves() const
    {
        return pods * leavesPerPod;
    }
};

FabricShape ShapeOf(const BuildingSpec& building);

/// Leaf (index within its building) that port 0 of the NIC of the building's GPU `gpu` (0-based
/// there) is on. Port k is on the leaf k x Leaves() further on.
uint32_t LeafOf(const BuildingSpec& building, uint32_t gpu);

/// Zone (index within its building) of a GPU, of which there is one where there are two stages.
uint32_t ZoneOf(const BuildingSpec& building, const FabricShape& shape, uint32_t gpu);

/// Rate of one lane of one plane of a span.
BitRate LaneRate(const ClusterSpec& cluster, const CrossLinkSpec& link);

/// Spans begin at switches of this kind.
bool IsTop(const ClusterSpec& cluster, const Vertex& vertex);

FabricGraph BuildFabricGraph(const ClusterSpec& cluster);

/**
 * Unique name of a vertex: site, slash, kind and index, such as east/leaf3, east/spine0, hub/agg2;
 * NICs have the number of the GPU in its building, and where they have several ports a dot and the
 * port: east/nic12, east/nic12.1.
 */
std::string VertexName(const ClusterSpec& cluster, const Vertex& vertex);

/// What a packet meets between two NICs, lossless and empty.
struct FabricPath
{
    Tier tier{Tier::Node};
    Duration propagation; //!< one way, sum of the link delays (Node: the scale-up latency)
    Duration least;       //!< the same of the shortest of several ways
    /// Rates of the links in order, each of which stores and forwards a packet; empty for Node.
    std::vector<BitRate> rates;
    double loss{0};    //!< probability that a packet is lost on the way
    uint64_t paths{1}; //!< equal-cost paths of one port, at most UINT64_MAX
};

Tier TierBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB);

/// GPUs of a pod, or of a zone where there are several: two GPUs of a building that both go on by a
/// multiple of it are as far from each other as before.
uint32_t TierPeriod(const BuildingSpec& building, const FabricShape& shape);

/// Of two GPUs of one building, numbered there.
Tier TierWithin(const BuildingSpec& building,
                const FabricShape& shape,
                uint32_t gpuA,
                uint32_t gpuB);

/**
 * The path from one GPU's NIC to another's; of several ways over other sites, the longest in time.
 *
 * Throws ConfigError if no spans lead from one building to the other.
 */
FabricPath PathBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB);

/// A path inside a building. Domain: the tier is not Tier::Cross.
FabricPath PathWithin(const BuildingSpec& building, Tier tier);

/// The path from building `a` to `b`, which `route` leads to.
FabricPath PathAcross(const ClusterSpec& cluster, uint32_t a, uint32_t b, const SiteRoute& route);

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_GRAPH_H
