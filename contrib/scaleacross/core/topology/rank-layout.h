// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANK_LAYOUT_H
#define SCALEACROSS_RANK_LAYOUT_H

#include "core/base/errors.h"
#include "core/program/rank-group.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/parallel-plan.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace scaleacross
{

/**
 * Where the ranks of a job are: rank r runs on GPU r of the cluster (GPUs are numbered building by
 * building), and its parallel coordinates are digits of r.
 *
 * DP-out: inner to outer [tp, cp, ep, pp, dp/ep]; PP-out: [tp, cp, ep, dp/ep, pp]. The outermost
 * dimension is cut by the buildings at whole multiples, so that nothing but it crosses buildings.
 */
struct RankLayout
{
    ParallelPlan plan;
    uint32_t ranks{0};
    uint32_t gpusPerNode{0};
    uint32_t cpStride{1};
    uint32_t epStride{1};
    uint32_t edpStride{1}; //!< of the expert-data-parallel coordinate, count dp / ep
    uint32_t ppStride{1};
    /// First rank of each building, then the number of ranks.
    std::vector<uint32_t> buildingBegin;
    /// The greatest block of ranks that no building boundary cuts (the gcd of the boundaries);
    /// equals the ranks per building where all buildings are equal, all ranks where there is one.
    uint32_t buildingSpan{0};

    /// Ranks of a building that take part.
    struct Active
    {
        uint32_t ranks{0};
        uint32_t onLeaf{0}; //!< those on the leaf that has most
        uint32_t inZone{0}; //!< those in the zone that has most
    };

    std::vector<Active> active; //!< by building; empty: all ranks take part

    uint32_t StageOf(Rank rank) const
    {
        return (rank / ppStride) % plan.pp;
    }

    uint32_t BuildingOf(Rank rank) const;

    uint32_t NodeOf(Rank rank) const
    {
        return rank / gpusPerNode;
    }

    RankGroup TensorGroup() const;
    RankGroup ContextGroup() const;
    RankGroup ExpertGroup() const;
    /// Ranks that hold the same dense parameters: cp x ep x dp/ep.
    RankGroup DenseDataGroup() const;
    /// Ranks that hold the same expert parameters: cp x dp/ep.
    RankGroup ExpertDataGroup() const;
};

/**
 * Lays a plan over a cluster.
 *
 * Infeasible: "degrees" (tp cp pp dp is not the number of GPUs, or ep does not divide dp), "node"
 * (tp does not divide the GPUs of a node), "building" (a building would hold part of a replica
 * under DP-out or part of a stage under PP-out), "crossing" (PP-out with fewer stages than
 * buildings), each with the values.
 */
std::variant<RankLayout, Infeasible> LayOut(const ParallelPlan& plan, const ClusterSpec& cluster);

} // namespace scaleacross

#endif // SCALEACROSS_RANK_LAYOUT_H
