// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/**
 * What a Megatron-LM user would end up with by its published guidance: tensor parallelism inside
 * the server, its distributed optimizer, interleaved or plain 1F1B, rings (NCCL knows no
 * buildings).
 *
 * FSDP without reshard holds and sends the same as Megatron's distributed optimizer (gradient
 * reduce-scatter and parameter all-gather once per iteration, optimizer states over all of DP). Its
 * rank order is tp-cp-ep-dp-pp, the pipeline outermost (the default of initialize_model_parallel):
 * PP-out where any plan of it can run, else DP-out (its --use-tp-pp-dp-mapping). Tensor parallelism
 * beside computing is its --tp-comm-overlap. Experts are split over tp, or over less with its
 * --expert-tensor-parallel-size where the study names plan.etp.
 */
std::vector<Study>
Spaces(const Study& study)
{
    Study outside = school::SchoolOf(study);
    ParallelPlan& plan = outside.scenario.Job().plan;
    plan.crossing = Crossing::Pipeline;
    plan.sharding = "fsdp";
    outside.scenario.network.collective = "ring";
    outside.search.push_back({"plan.tp", school::TensorDegrees(study)});
    if (school::NamesExpertTensor(study))
    {
        Values splits = school::TensorDegrees(study);
        splits.insert(splits.begin(), "0");
        outside.search.push_back({"plan.etp", splits});
    }
    outside.search.push_back({"plan.schedule", {"1f1b", "interleaved"}});
    Study inside = outside;
    inside.scenario.Job().plan.crossing = Crossing::Data;
    return {outside, inside};
}

} // namespace

const BaselineFacts&
MegatronBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "megatron";
        known.help =
            "distributed optimizer (FSDP without reshard), 1F1B plain or interleaved, ring "
            "collectives; tp inside the server; PP-out where it can be laid out, else DP-out; "
            "recomputes the least that fits";
        known.tunes = "tp, cp, ep, pp, schedule, chunks, microbatch, async_tp";
        known.untouched = "what crosses, sharding, network";
        known.source = "Megatron-LM's documentation; arXiv:2104.04473";
        known.spaces = Spaces;
        known.prefersFirst = false;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
