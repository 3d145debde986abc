// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_MEANING_H
#define SCALEACROSS_PLAN_MEANING_H

#include "core/pipeline/pipeline-shape.h"
#include "core/spec/plan-fields.h"
#include "core/spec/scenario.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * Which plans of a study mean the same: plans that differ in their words and in nothing that an
 * engine, a memory or a cluster could tell.
 *
 * Two plans mean the same if they are equal once normalised, and in these cases: fsdp and hsdp
 * whose shard groups lie inside one building; any sharding of a single rank; zero1 and zero2, and
 * the fsdp that keeps its weights; ring and hierarchical collectives that never leave a building;
 * any way of all-to-alls without expert parallelism, ways that differ in hops alone where every
 * exchange stays inside a server, and what they follow said outright; schedules and rounds of which
 * the ranks run the same actions in the same order (SimplestShape()); orders of ranks in a single
 * building that differ only in degrees of 1; ends that count as layers, where one position has all;
 * layers as said, or ends that count as layers, where every position has the same layers without,
 * unless time deals them out; as many recomputed layers as a position has, or more; modules of
 * recomputation that the model does not have; etp = tp, left out or not, unless ep goes over cp.
 *
 * May be asked from any thread.
 */
class PlanMeaning
{
  public:
    /// Of plans in this scenario; its own plan does not count.
    explicit PlanMeaning(const Scenario& scenario);

    /// A plan of which all that mean the same have the same. It need not be one that can be written
    /// with the fields that a space varies. Domain: a normalised plan (Normalised()), dp derived.
    Plan Of(Plan plan) const;

    /// Whether two values of a field that differ never mean the same, whatever the others are: what
    /// neither Normalised() nor Of() changes; ranks' places, in several buildings.
    bool NeverChanges(const PlanField& field) const;

    /// Whether a value of a field that means another one always means the usual one.
    static bool StaysOrResets(const PlanField& field);

    /// What decides, beside the fields themselves, what shards and networks mean; `shardRanks` are
    /// the values of plan.shard_ranks that are asked about.
    std::vector<uint64_t> PlaceContext(const ParallelPlan& p,
                                       const std::set<uint64_t>& shardRanks) const;
    /// The same of schedules, chunks and layers.
    std::vector<uint64_t> OrderContext(const ParallelPlan& p) const;
    /// The same of recomputation.
    std::vector<uint64_t> KernelContext(ParallelPlan p) const;

  private:
    /// Its name, and ranks, microbatches, chunks and rounds.
    using ShapeKey = std::pair<std::string, std::array<uint32_t, 4>>;

    /// SimplestShape(), compared with the other schedules once.
    PipelineShape SimplestOf(const PipelineShape& shape) const;

    Scenario m_scenario;
    mutable std::shared_mutex m_mutex;
    mutable std::map<ShapeKey, PipelineShape> m_simplest;
};

} // namespace scaleacross

#endif // SCALEACROSS_PLAN_MEANING_H
