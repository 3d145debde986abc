// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/**
 * What an operator who trains over several buildings today would do.
 *
 * DP-out, HSDP without reshard, flexible interleaved 1F1B (dorapp, reconstructed, in rounds of pp),
 * hierarchical collectives, E-ECMP with 16 queue pairs; tp is the largest divisor of a server's
 * GPUs that deals out the heads (Llama 3: tensor parallelism fills the server). Sources:
 * what is published of Llama 3 and of the study's "production configuration" says DP-out, HSDP and
 * QP scaling.
 */
std::vector<Study>
Spaces(const Study& study)
{
    Study school = school::SchoolOf(study);
    ParallelPlan& plan = school.scenario.Job().plan;
    plan.crossing = Crossing::Data;
    plan.sharding = "hsdp";
    plan.schedule = "dorapp";
    school.scenario.network.multipath = "e-ecmp";
    school.scenario.network.qps = 16;
    school.scenario.network.collective = "hierarchical";
    school.search.push_back({"plan.tp", {school::TensorDegrees(study).back()}});
    return {school};
}

} // namespace

const BaselineFacts&
ProductionBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "production";
        known.help =
            "DP-out, HSDP, dorapp (reconstructed), hierarchical collectives, E-ECMP with 16 queue "
            "pairs; tp fills the server; recomputes the least that fits";
        known.tunes = "pp, cp, ep, chunks, microbatch, async_tp";
        known.untouched = "what crosses, sharding, schedule, tp, network";
        known.source =
            "what is published of Llama 3 (arXiv:2407.21783) and of the study's production "
            "configuration (arXiv:2605.24326)";
        known.spaces = Spaces;
        known.prefersFirst = false;
        known.othersBegin = true;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
