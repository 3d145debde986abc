// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/school.h"

#include <algorithm>

namespace scaleacross::school
{

Values
ContextDegrees(const Study& study)
{
    return Divisors(ServerGpus(study), ServerGpus(study));
}

Values
Microbatches(const Study& study)
{
    return Divisors(study.scenario.Job().workload.globalBatch, 8);
}

Values
Recomputations()
{
    return {"none", "selective", "full"};
}

Values
TensorDegrees(const Study& study)
{
    return scaleacross::TensorDegrees(study, ServerGpus(study));
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
