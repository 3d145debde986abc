// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/**
 * All data parallel, as PyTorch's FSDP is used by itself: tp 1, pp 1, weights sharded over
 * all ranks, or over a server or building and replicated outside (HSDP), given up after use or
 * kept.
 *
 * What of other parallelism it needs: cp where there are more ranks than sequences, and ep of
 * experts.
 */
std::vector<Study>
Spaces(const Study& study)
{
    Study school = school::Without(school::SchoolOf(study), "plan.pp");
    school = school::Without(school::Without(school, "plan.chunks"), "plan.async_tp");
    school.search.push_back({"plan.sharding", {"fsdp", "hsdp"}});
    school.search.push_back({"plan.shard_ranks", ShardGroups(study)});
    school.search.push_back({"plan.reshard", Either()});
    school.search.push_back({"plan.prefetch", {"0", "1", "2", "4", "8"}});
    return {school};
}

} // namespace

const BaselineFacts&
FsdpOnlyBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "fsdp-only";
        known.help = "FSDP or HSDP of servers or buildings over all GPUs: tp 1, pp 1, DP-out; "
                     "recomputes the least that fits";
        known.tunes = "cp, ep, sharding, shard_ranks, reshard, prefetch, microbatch";
        known.untouched = "tp, pp, what crosses, schedule, network";
        known.source = "PyTorch FSDP, arXiv:2304.11277";
        known.spaces = Spaces;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
