// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_GRAPH_H
#define SCALEACROSS_FABRIC_GRAPH_H

#include "core/base/units.h"
#include "core/spec/cluster-spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

enum class VertexKind : uint8_t
{
    Nic, //!< one per GPU, in GPU order: vertex g is the NIC of GPU g
    Leaf,
    Spine
};

struct Vertex
{
    VertexKind kind{VertexKind::Nic};
    uint32_t building{0};
    uint32_t index{0}; //!< within its kind and building
};

enum class LinkKind : uint8_t
{
    NicToLeaf,
    LeafToSpine,
    Cross //!< between buildings
};

/// A full-duplex link; rate and loss hold for each direction.
struct FabricLink
{
    uint32_t a{0}; //!< vertex
    uint32_t b{0};
    LinkKind kind{LinkKind::NicToLeaf};
    BitRate rate;
    Duration delay; //!< one way
    double loss{0};
};

/// Every switch, NIC and link of a cluster: what the packet engine builds.
struct FabricGraph
{
    std::vector<Vertex> vertices;
    std::vector<FabricLink> links;
};

/// Size of one building's leaf-spine fabric, from which both the graph and the cuts follow.
struct FabricShape
{
    uint32_t pods{0};
    uint32_t leavesPerPod{0}; //!< gpusPerNode with rails, else 1
    uint32_t nicsPerLeaf{0};  //!< of a full pod
    uint32_t spines{0};
    BitRate uplinkRate; //!< one leaf to one spine
};

FabricShape ShapeOf(const BuildingSpec& building);

/// Leaf (index within its building) that the NIC of the building's GPU `gpu` (0-based there) is on.
uint32_t LeafOf(const BuildingSpec& building, uint32_t gpu);

FabricGraph BuildFabricGraph(const ClusterSpec& cluster);

/// How far apart two GPUs are.
enum class Tier : uint8_t
{
    Node,     //!< same server: NVLink, no packets
    Leaf,     //!< one switch between
    Building, //!< leaf, spine, leaf
    Cross     //!< leaf, spine, remote spine, leaf
};

/// What a packet meets between two NICs, lossless and empty.
struct FabricPath
{
    Tier tier{Tier::Node};
    Duration propagation; //!< one way, sum of the link delays (Node: the NVLink latency)
    /// Rates of the links in order, each of which stores and forwards a packet; empty for Node.
    std::vector<BitRate> rates;
    double loss{0};    //!< probability that a packet is lost on the way
    uint32_t paths{1}; //!< equal-cost paths
};

Tier TierBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB);

/// Throws ConfigError if the two buildings have no direct span.
FabricPath PathBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB);

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_GRAPH_H
