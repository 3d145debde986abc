// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/one-dimension.h"
#include "core/explore/baselines/school.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Every schedule; rounds and microbatches in flight as the study's degrees allow: rounds are
/// divisors of the sequences of a replica from pp on, and a rank holds up to so many, in doublings
/// of pp.
std::vector<Study>
Spaces(const Study& study)
{
    const JobSpec& job = study.scenario.Job();
    const uint64_t replica = uint64_t{job.plan.tp} * job.plan.cp * job.plan.pp;
    const uint64_t dp =
        std::max<uint64_t>(study.dpGiven ? job.plan.dp : study.scenario.cluster.Gpus() / replica,
                           1);
    const auto sequences = static_cast<uint32_t>(job.workload.globalBatch / dp);
    Values rounds = {"0"}; // means pp
    for (uint32_t round = job.plan.pp + 1; round <= sequences; round++)
    {
        if (sequences % round == 0)
        {
            rounds.push_back(std::to_string(round));
        }
    }
    Values limits = {"0"}; // means pp
    for (uint64_t limit = uint64_t{2} * job.plan.pp; limit <= sequences; limit *= 2)
    {
        limits.push_back(std::to_string(limit));
    }
    return {school::OnlyVarying(study,
                                school::SearchDimension::Schedule,
                                {{"plan.schedule", Schedule::Names()},
                                 {"plan.chunks", ChunkCounts(study)},
                                 {"plan.microbatch", school::Microbatches(study)},
                                 {"plan.round", rounds},
                                 {"plan.in_flight", limits}})};
}

} // namespace

const BaselineFacts&
ScheduleOnlyBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "schedule-only";
        known.help = "as production, but the schedule and what it runs";
        known.beginsAtAnother = true;
        known.tunes = "schedule, chunks, microbatch, round, in_flight";
        known.untouched = "placement, parallelism, network";
        known.source = "one of the dimensions of arXiv:2605.24326 by itself";
        known.spaces = Spaces;
        known.recomputesLeast = false;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
