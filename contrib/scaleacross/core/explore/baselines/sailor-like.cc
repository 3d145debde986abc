// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/**
 * Sailor (Strati et al., arXiv:2504.17096), reconstructed from its planner's description: pipelines
 * in 1F1B over all GPUs there are; tensor parallelism inside a server (its heuristic H1), data
 * parallelism inside a region and the pipeline between regions (H5); layers by the time that they
 * take on the GPUs of a stage, or in equal numbers; no word of the network.
 *
 * Its memory model counts whole copies of weights, gradients and optimizer states: DDP. ZeRO-1,
 * which sends as much, counts where none fits. It leaves mixtures of experts to later work; here
 * ep is tuned for them.
 */
std::vector<Study>
Spaces(const Study& study)
{
    Study whole = school::PlannerOf(study);
    ParallelPlan& plan = whole.scenario.Job().plan;
    plan.crossing = Crossing::Pipeline;
    plan.sharding = "ddp";
    plan.schedule = "1f1b";
    whole.search.push_back({"plan.apportion", Apportion::Names()});
    Study sharded = whole;
    sharded.scenario.Job().plan.sharding = "zero1";
    return {whole, sharded};
}

} // namespace

const BaselineFacts&
SailorLikeBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "sailor-like";
        known.help =
            "PP-out, 1F1B, whole replicas inside a building (DDP; ZeRO-1 where none fits), tp "
            "inside the server, layers in equal numbers or by time; recomputes the least that fits";
        known.tunes = "tp, ep, pp, microbatch, apportion, async_tp";
        known.untouched = "what crosses, sharding, schedule, cp, network";
        known.source = "Sailor, arXiv:2504.17096, reconstructed";
        known.spaces = Spaces;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
