// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANK_LAYOUT_H
#define SCALEACROSS_RANK_LAYOUT_H

#include "core/base/errors.h"
#include "core/program/rank-group.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/parallel-plan.h"

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

namespace scaleacross
{

/**
 * Where the ranks of a job are: rank r runs on GPU r of the cluster (GPUs are numbered building by
 * building), and its parallel coordinates are digits of r, in the order of the plan's crossing.
 *
 * With etp the ranks of a stage have coordinates of their own for routed experts, see
 * ExpertDigitsOf().
 *
 * A dimension with several parts counts its inner part first: with pp4 inside and the rest of
 * pp = 8 outside, stages 0 to 3 are neighbours and 4 to 7 lie beyond what stands between.
 */
struct RankLayout
{
    ParallelPlan plan;
    uint32_t ranks{0};
    uint32_t gpusPerNode{0};

    RankGroup tensor;
    RankGroup context;
    RankGroup expert;       //!< ranks that tokens are dispatched to
    RankGroup expertTensor; //!< ranks that an expert is split over: tensor, or etp
    RankGroup pipeline;     //!< a rank's index in it is its stage
    RankGroup dense;        //!< ranks that hold the same dense parameters: cp x dp
    RankGroup experts;      //!< ranks that hold the same expert parameters: cp x dp/ep, or edp

    /// All of these.
    std::array<const RankGroup*, 7> Families() const
    {
        return {&tensor, &context, &expert, &expertTensor, &pipeline, &dense, &experts};
    }

    /// First rank of each building, then the number of ranks.
    std::vector<uint32_t> buildingBegin;
    /// The greatest block of ranks that no building boundary cuts (the gcd of the boundaries);
    /// equals the ranks per building where all buildings are equal, all ranks where there is one.
    uint32_t buildingSpan{0};
    std::vector<uint32_t> stageRanks; //!< ranks of a stage by building x stage

    std::vector<bool> takingPart; //!< by rank; empty: all take part

    /// Ranks of a stage in a building that take part. Domain: takingPart is not empty.
    uint32_t TakingPartIn(uint32_t building, uint32_t stage) const;

    uint32_t StageOf(Rank rank) const
    {
        return pipeline.IndexOf(rank);
    }

    /// The lowest rank of a stage.
    Rank FirstOf(uint32_t stage) const
    {
        return pipeline.Member(0, stage);
    }

    uint32_t BuildingOf(Rank rank) const;

    uint32_t Buildings() const
    {
        return static_cast<uint32_t>(buildingBegin.size() - 1);
    }

    uint32_t StageRanksIn(uint32_t building, uint32_t stage) const
    {
        return stageRanks[building * plan.pp + stage];
    }

    /// Ranks of a block inside which parameters are shared: plan.shard_ranks members of a
    /// data-parallel group, or buildingSpan.
    uint32_t ShardSpan() const
    {
        return plan.shardRanks == 0             ? buildingSpan
               : plan.shardRanks < dense.Size() ? dense.Member(0, plan.shardRanks)
                                                : ranks;
    }

    /// Whether the groups of a family reach over the end of a block of buildingSpan ranks.
    bool Crosses(const RankGroup& group) const;
};

/**
 * Lays a plan over a cluster.
 *
 * Infeasible, each with the values: "degrees" (tp cp pp dp is not the number of GPUs, ep or etp
 * does not fit the others, a part of a dimension does not divide it, or plan.shard_ranks does not
 * cut data-parallel groups evenly), "node" (a dimension would be cut unevenly by servers, so that
 * they would not all have the same place in the order), "building" (the same of buildings; or one
 * would hold part of a replica under DP-out, or part of a stage under PP-out), "crossing" (the
 * outermost dimension of a named crossing counts less than there are buildings).
 */
std::variant<RankLayout, Infeasible> LayOut(const ParallelPlan& plan, const ClusterSpec& cluster);

} // namespace scaleacross

#endif // SCALEACROSS_RANK_LAYOUT_H
