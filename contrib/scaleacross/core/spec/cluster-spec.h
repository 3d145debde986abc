// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLUSTER_SPEC_H
#define SCALEACROSS_CLUSTER_SPEC_H

#include "core/base/field.h"
#include "core/base/units.h"
#include "core/spec/fabric-shape-words.h"
#include "core/spec/gpu-spec.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The network inside one building: a leaf-spine fabric, a three-stage Clos of zones, or a full mesh
 * of leaves.
 *
 * A pod is nodesPerPod servers. Without rails all NICs of a pod share one leaf switch; with rails
 * a pod has one leaf per NIC position, so that equal positions meet without a spine. Every leaf has
 * one link to each spine above it; its rate follows from the oversubscription:
 * port rates below the leaf / (oversubscription x spines).
 *
 * Clos of two stages (aggregations 0): all leaves are under the same spines, and the spines are the
 * top of the building, where spans to other buildings begin. Three stages: podsPerZone pods with
 * spines of their own are a zone; every spine has one link to each aggregation switch, its links up
 * carry what its links down do over zoneOversubscription, and the aggregation switches are the top.
 *
 * Full mesh: every leaf also has a link to each other leaf of its port, of the rate
 * port rates below the leaf / (oversubscription x (leaves - 1)), and traffic inside the building
 * takes those, over a third leaf for the most part. The spines are where spans begin and carry
 * nothing else. A leaf has as much capacity to all other leaves as to all spines.
 *
 * planes > 1: that many copies of all this side by side, and every NIC has a port in each of them
 * with its share of the NIC's rate; traffic does not change planes. dualTor: in each plane a NIC
 * has two ports on two leaves that stand side by side, each with half of the rate.
 *
 * Worked case: 4,096 GPUs at 400 Gb/s without rails in pods of 2 servers (16 NICs per leaf), 64
 * pods to a zone, 16 spines per zone, 1:1, 16 aggregation switches at 1:2.8: 4 zones of 64 leaves;
 * leaf uplinks 16 x 400 / 16 = 400 Gb/s; spine uplinks 64 x 400 / (2.8 x 16) = 571 Gb/s.
 */
struct FabricSpec
{
    Shape shape;             //!< how leaves and spines are joined
    bool rails{true};        //!< one leaf per NIC position of a pod
    uint32_t nodesPerPod{0}; //!< servers under one set of leaves; 0: all of the building
    uint32_t spines{1};      //!< spine switches of a zone, or of the building, in each plane
    /// Leaf: port capacity below over capacity to the spines, and to the other leaves, >= 1.
    double oversubscription{1};
    uint32_t podsPerZone{0};        //!< three stages: pods under one set of spines; 0: all of them
    uint32_t aggregations{0};       //!< switches above the spines in each plane; 0: two stages
    double zoneOversubscription{1}; //!< spine: capacity to the leaves over capacity upwards, >= 1
    uint32_t planes{1};             //!< copies of the fabric, one port of each NIC in each
    bool dualTor{false};            //!< two ports per plane, on leaves of their own
    /// One way, NIC to leaf: cable and switch pipeline. Twice this is the 1.5 us inside a rack that
    /// the published latency ratios of a large fabric (1 : 7 : 15 : 30) are scaled from (inferred).
    Duration nicDelay{Duration::Nanoseconds(750)};
    /// One way, leaf to spine: 2 x (0.75 + 4.5) us = 10.5 us across racks, 7 times a rack
    /// (inferred).
    Duration leafDelay{Duration::Nanoseconds(4500)};
    /// One way, spine to aggregation: 2 x (0.75 + 4.5 + 6) us = 22.5 us across zones, 15 times a
    /// rack (inferred).
    Duration aggregationDelay{Duration::Nanoseconds(6000)};

    /// Ports of one NIC.
    uint32_t PortsPerNic() const
    {
        return dualTor ? 2 * planes : planes;
    }

    /// Switches, in all planes, at which spans to other buildings begin.
    uint32_t TopSwitches() const
    {
        return planes * (aggregations == 0 ? spines : aggregations);
    }

    /// What a study may say of a fabric, in canonical order.
    static const FieldTable<FabricSpec>& Fields();
};

bool operator==(const FabricSpec& a, const FabricSpec& b);

/// One building: equal servers, each with one NIC per GPU.
struct BuildingSpec
{
    std::string name;
    uint32_t gpus{0}; //!< in total; a multiple of gpusPerNode
    uint32_t gpusPerNode{
        8}; //!< accelerators and NICs of one server, which a scale-up network joins
    GpuSpec gpu;
    FabricSpec fabric;

    uint32_t Nodes() const
    {
        return gpus / gpusPerNode;
    }

    /// Servers of a pod, of the largest where the last one is smaller.
    uint32_t NodesPerPod() const;

    /// Leaves for one port of the NICs.
    uint32_t Leaves() const;

    /// Sum of the NIC rates.
    BitRate NicCapacity() const;

    /// What a study may say of a building besides GPU and fabric, in canonical order.
    static const FieldTable<BuildingSpec>& Fields();
};

bool operator==(const BuildingSpec& a, const BuildingSpec& b);

/**
 * A place with switches and no GPUs, which joins buildings: a regional aggregation site.
 *
 * It has as many switches as the top of a building; switch i is in plane i.
 */
struct HubSpec
{
    std::string name;
};

bool operator==(const HubSpec& a, const HubSpec& b);

/**
 * The direct span between two sites: top switch i of one to top switch i of the other, one link per
 * lane each.
 *
 * capacity is per direction and for all planes together. Where a study gives an oversubscription r
 * instead, capacity = min(NIC capacity of a, of b) / (r x spans of the site that has more of them),
 * where a hub neither limits the first nor counts for the second.
 */
struct CrossLinkSpec
{
    uint32_t a{0}; //!< site: index into ClusterSpec::buildings, after those into hubs
    uint32_t b{0};
    Distance distance; //!< of fibre
    Duration latency;  //!< one way; 5 us per km unless the study says otherwise
    BitRate capacity;  //!< per direction
    double loss{0};    //!< probability that a packet is lost, i.i.d., per direction, [0, 1)
    uint32_t lanes{1}; //!< parallel links of each plane, which share the plane's capacity equally
    bool pfc{true};    //!< packets that arrive over it are lossless where the network's are

    /// What a study may say of a span besides its ends, in canonical order. (It may also give an
    /// oversubscription, from which the capacity follows.)
    static const FieldTable<CrossLinkSpec>& Fields();
};

bool operator==(const CrossLinkSpec& a, const CrossLinkSpec& b);

/// More buildings than any training cluster has; keeps the number of pairs small.
constexpr uint32_t kMostBuildings = 64;

/// More than any NIC has ports.
constexpr uint32_t kMostPlanes = 16;

/**
 * Buildings, hubs and the spans between them.
 *
 * Every building can be reached from every other; between those without a direct span, packets
 * pass through the top switches of the sites on the way with the fewest spans, over all such ways
 * alike.
 */
struct ClusterSpec
{
    std::vector<BuildingSpec> buildings;
    std::vector<HubSpec> hubs;
    std::vector<CrossLinkSpec> crossLinks;

    uint32_t Sites() const
    {
        return static_cast<uint32_t>(buildings.size() + hubs.size());
    }

    /// Name of a building or hub.
    const std::string& SiteName(uint32_t site) const;

    /// Whether packets may get lost between buildings.
    bool LosesPackets() const
    {
        return std::any_of(crossLinks.begin(), crossLinks.end(), [](const CrossLinkSpec& link) {
            return link.loss > 0;
        });
    }

    /// Ports of every NIC: the same in all buildings, since port i of one sends to port i of
    /// another.
    uint32_t PortsPerNic() const
    {
        return buildings.front().fabric.PortsPerNic();
    }

    /// Top switches of every site.
    uint32_t TopSwitches() const
    {
        return buildings.front().fabric.TopSwitches();
    }

    uint32_t Gpus() const;

    /// The building that holds GPU `gpu`; GPUs are numbered building by building.
    uint32_t BuildingOf(uint32_t gpu) const;

    /// First GPU of a building.
    uint32_t FirstGpu(uint32_t building) const;

    /// The span between two buildings, or nullptr if there is no direct one.
    const CrossLinkSpec* Between(uint32_t a, uint32_t b) const;

    /// Throws ConfigError (where = "cluster.<...>").
    void Validate() const;
};

bool operator==(const ClusterSpec& a, const ClusterSpec& b);

} // namespace scaleacross

#endif // SCALEACROSS_CLUSTER_SPEC_H
