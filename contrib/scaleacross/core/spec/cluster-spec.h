// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLUSTER_SPEC_H
#define SCALEACROSS_CLUSTER_SPEC_H

#include "core/base/units.h"
#include "core/spec/gpu-spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The network inside one building: a leaf-spine fabric.
 *
 * A pod is nodesPerPod servers. Without rails all NICs of a pod share one leaf switch; with rails
 * a pod has one leaf per NIC position, so that equal positions meet without a spine. Every leaf has
 * one link to each spine of the building; its rate follows from the oversubscription:
 * NICs per leaf x NIC rate / (oversubscription x spines).
 */
struct FabricSpec
{
    bool rails{true};           //!< one leaf per NIC position of a pod
    uint32_t nodesPerPod{0};    //!< servers under one set of leaves; 0: all of the building
    uint32_t spines{1};         //!< spine switches; spine i of every building is plane i
    double oversubscription{1}; //!< leaf: NIC capacity below over capacity to the spines, >= 1
    /// One way, NIC to leaf: cable and switch pipeline. Twice this is the 1.5 us inside a rack that
    /// the published latency ratios of a large fabric (1 : 7 : 15 : 30) are scaled from (inferred).
    Duration nicDelay{Duration::Nanoseconds(750)};
    /// One way, leaf to spine: 2 x (0.75 + 4.5) us = 10.5 us across racks, 7 times a rack
    /// (inferred).
    Duration leafDelay{Duration::Nanoseconds(4500)};
};

/// One building: equal servers, each with one NIC per GPU.
struct BuildingSpec
{
    std::string name;
    uint32_t gpus{0};        //!< in total; a multiple of gpusPerNode
    uint32_t gpusPerNode{8}; //!< accelerators and NICs of one server, joined by NVLink
    GpuSpec gpu;
    FabricSpec fabric;

    uint32_t Nodes() const
    {
        return gpus / gpusPerNode;
    }

    /// Sum of the NIC rates.
    BitRate NicCapacity() const;
};

/**
 * The direct span between two buildings: spine i of one to spine i of the other, one link each.
 *
 * capacity is per direction and for all planes together. Where a study gives an oversubscription r
 * instead, capacity = min(NIC capacity of a, of b) / (r x peers of a building).
 */
struct CrossLinkSpec
{
    uint32_t a{0}; //!< index into ClusterSpec::buildings
    uint32_t b{0};
    Distance distance; //!< of fibre
    Duration latency;  //!< one way; 5 us per km unless the study says otherwise
    BitRate capacity;  //!< per direction
    double loss{0};    //!< probability that a packet is lost, i.i.d., per direction, [0, 1)
};

/// More buildings than any training cluster has; keeps the number of pairs small.
constexpr uint32_t kMostBuildings = 64;

/// Buildings and the spans between them: every pair has one.
struct ClusterSpec
{
    std::vector<BuildingSpec> buildings;
    std::vector<CrossLinkSpec> crossLinks;

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

} // namespace scaleacross

#endif // SCALEACROSS_CLUSTER_SPEC_H
