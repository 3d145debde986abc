// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/**
 * MAD-Max (Hsia et al., arXiv:2310.02784), reconstructed: a strategy for each class of layers on
 * each level of the machine, and no pipeline.
 *
 * Dense layers: tensor parallelism over some of the ranks, DDP or FSDP over the others, or FSDP
 * inside a server or building and replicas outside (HSDP). Experts: dealt out over ep ranks, which
 * buildings divide or not (EP-out, DP-out), with more or less of a split of each (etp). Where
 * weights are sharded they are gathered again for backward, or kept. It has no microbatches; here
 * they are tuned, so that memory does not decide. Context parallelism, which it does not
 * have either, counts where nothing fits without.
 */
std::vector<Study>
Spaces(const Study& study)
{
    Study school = school::Without(school::Without(school::PlannerOf(study), "plan.pp"), "plan.tp");
    const ModelSpec& model = school.scenario.Job().model;
    school.search.push_back({"plan.tp", TensorDegrees(study, study.scenario.cluster.Gpus())});
    school.search.push_back({"plan.sharding", {"ddp", "fsdp", "hsdp"}});
    school.search.push_back({"plan.shard_ranks", ShardGroups(study)});
    school.search.push_back({"plan.reshard", Either()});
    if (model.IsMoe())
    {
        school.search.push_back(
            {"plan.crossing", {ToString(Crossing::Data), ToString(Crossing::Expert)}});
        school.search.push_back({"plan.etp", {"0", "1"}});
    }
    Study context = school;
    context.search.push_back({"plan.cp", school::ContextDegrees(study)});
    return {school, context};
}

} // namespace

const BaselineFacts&
MadmaxLikeBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "madmax-like";
        known.help =
            "no pipeline; tensor parallelism, DDP, FSDP or HSDP of servers or buildings for dense "
            "layers, ep ranks with whole experts or split as by tp; recomputes the least that fits";
        known.tunes = "tp, ep, etp, sharding, shard_ranks, reshard, DP-out or EP-out of experts, "
                      "microbatch, async_tp";
        known.untouched = "pp, schedule, cp where it fits without, network";
        known.source = "MAD-Max, arXiv:2310.02784, reconstructed";
        known.spaces = Spaces;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
