// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/school.h"

#include <algorithm>
#include <numeric>

namespace scaleacross::school
{

namespace
{

/// The divisors of n up to `most`, ascending.
Values
Divisors(uint32_t n, uint32_t most)
{
    Values divisors;
    for (uint32_t d = 1; d <= std::min(n, most); d++)
    {
        if (n % d == 0)
        {
            divisors.push_back(std::to_string(d));
        }
    }
    return divisors;
}

/// GPUs that every server has a whole number of.
uint32_t
ServerGpus(const Study& study)
{
    uint32_t gpus = 0;
    for (const auto& building : study.scenario.cluster.buildings)
    {
        gpus = std::gcd(gpus, building.gpusPerNode);
    }
    return gpus;
}

/// Chunk counts that split the layers evenly over some number of stages, or the layers with the
/// embedding and the loss counted as two more.
Values
ChunkCounts(uint32_t layers)
{
    Values counts;
    for (uint32_t v = 1; v <= layers / 2; v++)
    {
        if (layers % v == 0 || (layers + 2) % v == 0)
        {
            counts.push_back(std::to_string(v));
        }
    }
    return counts.empty() ? Values{"1"} : counts;
}

} // namespace

Values
TensorDegrees(const Study& study)
{
    const ModelSpec& model = study.scenario.Job().model;
    const uint32_t most = std::gcd(ServerGpus(study), std::gcd(model.heads, model.kvHeads));
    return Divisors(most, most);
}

bool
NamesExpertTensor(const Study& study)
{
    const auto isIt = [](const SearchAxis& axis) { return axis.key == "plan.etp"; };
    return study.scenario.Job().plan.etp > 0 ||
           std::any_of(study.search.begin(), study.search.end(), isIt);
}

Study
SchoolOf(const Study& study)
{
    const JobSpec& job = study.scenario.Job();
    Study school = study;
    school.scenario.Job().plan = ParallelPlan();
    school.dpGiven = false;
    school.search = {
        {"plan.cp", Divisors(ServerGpus(study), ServerGpus(study))},
        {"plan.ep", Divisors(std::max(job.model.experts, 1U), UINT32_MAX)},
        {"plan.pp", Divisors(study.scenario.cluster.Gpus(), job.model.layers)},
        {"plan.chunks", ChunkCounts(job.model.layers)},
        {"plan.microbatch", Divisors(job.workload.globalBatch, 8)},
        {"plan.recompute", {"none", "selective", "full"}},
        {"plan.async_tp", {"false", "true"}},
    };
    return school;
}

} // namespace scaleacross::school
