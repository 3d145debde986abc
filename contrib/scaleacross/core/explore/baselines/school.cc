// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/school.h"

#include <algorithm>
#include <numeric>

namespace scaleacross::school
{

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

Values
ContextDegrees(const Study& study)
{
    return Divisors(ServerGpus(study), ServerGpus(study));
}

Values
ExpertDegrees(const Study& study)
{
    return Divisors(std::max(study.scenario.Job().model.experts, 1U), UINT32_MAX);
}

Values
PipelineDegrees(const Study& study)
{
    return Divisors(study.scenario.cluster.Gpus(), study.scenario.Job().model.layers);
}

Values
ChunkCounts(const Study& study)
{
    const uint32_t layers = study.scenario.Job().model.layers;
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

Values
Microbatches(const Study& study)
{
    return Divisors(study.scenario.Job().workload.globalBatch, 8);
}

Values
ShardGroups(const Study& study)
{
    Values groups = Divisors(ServerGpus(study), ServerGpus(study));
    groups.front() = "0"; // in place of 1: nothing is shared by one rank
    return groups;
}

Values
Recomputations()
{
    return {"none", "selective", "full"};
}

Values
Either()
{
    return {"false", "true"};
}

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
    Study school = study;
    school.scenario.Job().plan = ParallelPlan();
    school.dpGiven = false;
    school.search = {
        {"plan.cp", ContextDegrees(study)},
        {"plan.ep", ExpertDegrees(study)},
        {"plan.pp", PipelineDegrees(study)},
        {"plan.chunks", ChunkCounts(study)},
        {"plan.microbatch", Microbatches(study)},
        {"plan.recompute", Recomputations()},
        {"plan.async_tp", Either()},
    };
    return school;
}

Study
PlannerOf(const Study& study)
{
    Study school = Without(Without(SchoolOf(study), "plan.cp"), "plan.chunks");
    school.search.push_back({"plan.tp", TensorDegrees(study)});
    return school;
}

Study
Without(Study study, const std::string& key)
{
    const auto isIt = [&key](const SearchAxis& axis) { return axis.key == key; };
    study.search.erase(std::remove_if(study.search.begin(), study.search.end(), isIt),
                       study.search.end());
    return study;
}

} // namespace scaleacross::school
