// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_GRAPH_H
#define SCALEACROSS_FABRIC_GRAPH_H

#include "core/base/units.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/tier.h"
#include "core/topology/fabric-path.h"
#include "core/topology/vertex.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

class FabricShape;
class Routing;
struct SiteRoute;

enum class LinkKind : uint8_t
{
    Nic,    //!< to its leaf
    Inside, //!< between switches of one site
    Cross   //!< between sites
};

/// A full-duplex link; rate and loss hold for each direction.
struct FabricLink
{
    uint32_t a{0}; //!< vertex, as ShapeLink or CrossLinkSpec has it
    uint32_t b{0};
    LinkKind kind{LinkKind::Nic};
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

Tier TierBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB);

/**
 * The path from one GPU's NIC to another's; of several ways over other sites, the longest in time.
 *
 * Throws ConfigError if no spans lead from one building to the other.
 */
FabricPath PathBetween(const ClusterSpec& cluster, uint32_t gpuA, uint32_t gpuB);

/// The path from building `a` to `b` of these shapes, which `route` leads to.
FabricPath PathAcross(const ClusterSpec& cluster,
                      const FabricShape& a,
                      const FabricShape& b,
                      const SiteRoute& route);

/// How packets find their way in a cluster: as its shapes have it.
const Routing& RoutingOf(const ClusterSpec& cluster);

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_GRAPH_H
