// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/one-dimension.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/// All degrees, shardings and recomputation; dp follows unless the study varies it.
std::vector<Study>
Spaces(const Study& study)
{
    std::vector<SearchAxis> complete = {{"plan.tp", school::TensorDegrees(study)},
                                        {"plan.cp", school::ContextDegrees(study)},
                                        {"plan.ep", ExpertDegrees(study)},
                                        {"plan.pp", PipelineDegrees(study)},
                                        {"plan.sharding", Sharding::Names()},
                                        {"plan.shard_ranks", ShardGroups(study)},
                                        {"plan.reshard", Either()},
                                        {"plan.recompute", school::Recomputations()},
                                        {"plan.async_tp", Either()},
                                        {"plan.microbatch", school::Microbatches(study)}};
    if (school::NamesExpertTensor(study))
    {
        Values splits = school::TensorDegrees(study);
        splits.insert(splits.begin(), "0");
        complete.push_back({"plan.etp", splits});
    }
    return {school::OnlyVarying(study, school::SearchDimension::Parallelism, complete)};
}

} // namespace

const BaselineFacts&
ParallelismOnlyBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "parallelism-only";
        known.help = "as production, but degrees, microbatch, sharding and recomputation";
        known.beginsAtAnother = true;
        known.tunes =
            "tp, cp, ep, etp if the study names it, pp, microbatch, sharding, shard_ranks, "
            "reshard, recompute, async_tp; dp, reduce, prefetch, bucket, recompute_layers, "
            "offload_layers if the study varies them";
        known.untouched = "placement, schedule, network";
        known.source = "one of the dimensions of arXiv:2605.24326 by itself";
        known.spaces = Spaces;
        known.recomputesLeast = false;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
