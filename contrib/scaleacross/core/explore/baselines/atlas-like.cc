// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/**
 * Atlas (Palak et al., arXiv:2411.14458), reconstructed: the pipeline goes over the buildings, and
 * data and tensor parallelism stay inside one, since gradients between sites cost it most; 1F1B;
 * many connections between two machines, where one alone does not fill the way.
 *
 * It deals replicas out in cells inside a building, dp of them together, which with all GPUs in use
 * follows from tp and pp. The paper takes degrees as given; comparisons with it try all pp, dp
 * and microbatches (Sailor, arXiv:2504.17096). Its replicas are whole; ZeRO-1, which sends
 * as much, counts where none fits.
 *
 * What no plan here can say is that replicas of a cell take turns on the span (temporal bandwidth
 * sharing): transfers that meet there share it. Turns change when messages of a microbatch
 * arrive, the first earlier and none later, not how much the span carries.
 */
std::vector<Study>
Spaces(const Study& study)
{
    Study whole = school::PlannerOf(study);
    ParallelPlan& plan = whole.scenario.Job().plan;
    plan.crossing = Crossing::Pipeline;
    plan.sharding = "ddp";
    plan.schedule = "1f1b";
    whole.scenario.network.qps = 16;
    Study sharded = whole;
    sharded.scenario.Job().plan.sharding = "zero1";
    return {whole, sharded};
}

} // namespace

const BaselineFacts&
AtlasLikeBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "atlas-like";
        known.help = "PP-out, 1F1B, whole replicas inside a building (DDP; ZeRO-1 where none "
                     "fits), 16 queue pairs; replicas that take turns on the span are not "
                     "modelled, they share it; recomputes the least that fits";
        known.tunes = "tp, ep, pp, microbatch, async_tp";
        known.untouched = "what crosses, sharding, schedule, cp, network but queue pairs";
        known.source = "Atlas, arXiv:2411.14458, reconstructed";
        known.spaces = Spaces;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
