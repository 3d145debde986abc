// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/**
 * CrossPipe (Chen et al., arXiv:2507.00217), reconstructed: the pipeline goes over the buildings,
 * data parallelism stays inside one, and the schedule is made for the latency and bandwidth of the
 * boundaries under a limit of memory.
 *
 * In place of its solver and its greedy algorithm stands our latency-aware schedule, with the limit
 * of one and of two pipelines of microbatches, beside the fixed orders that it compares with and
 * their kin. Its engine is Megatron-LM's: distributed optimizer (FSDP without reshard). The
 * degrees inside a building are inputs of the paper.
 */
std::vector<Study>
Spaces(const Study& study)
{
    Study school = school::PlannerOf(study);
    ParallelPlan& plan = school.scenario.Job().plan;
    plan.crossing = Crossing::Pipeline;
    plan.sharding = "fsdp";
    school.search.push_back({"plan.schedule",
                             {"1f1b",
                              "interleaved",
                              "zb-h1",
                              "zb-h2",
                              "zb1p",
                              "zbv",
                              "zbv-interleaved",
                              "latency-aware"}});
    school.search.push_back({"plan.chunks", ChunkCounts(study)});
    Values limits = {"0"};
    for (const auto& pp : PipelineDegrees(study))
    {
        limits.push_back(std::to_string(2 * std::stoul(pp)));
    }
    school.search.push_back({"plan.in_flight", limits});
    return {school};
}

/// The limits of the paper are one and two pipelines of its own, not of another number of stages.
bool
HasItsLimit(const ParallelPlan& plan)
{
    return plan.inFlight == 0 || plan.inFlight == 2 * plan.pp;
}

} // namespace

const BaselineFacts&
CrosspipeLikeBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "crosspipe-like";
        known.help = "PP-out, distributed optimizer (FSDP without reshard) inside a building, a "
                     "schedule made for the spans (latency-aware) or the best of the fixed ones; "
                     "recomputes the least that fits";
        known.tunes = "schedule, chunks, in_flight, tp, ep, pp, microbatch, async_tp";
        known.untouched = "what crosses, sharding, cp, network";
        known.source = "CrossPipe, arXiv:2507.00217, reconstructed";
        known.spaces = Spaces;
        known.isOf = HasItsLimit;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
