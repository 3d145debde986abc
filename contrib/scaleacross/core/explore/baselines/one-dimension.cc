// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/one-dimension.h"

#include "core/spec/plan-fields.h"

#include <algorithm>
#include <set>

namespace scaleacross::school
{

bool
IsOf(const std::string& key, SearchDimension dimension)
{
    static const std::set<std::string> placement = {"plan.crossing",
                                                    "plan.apportion",
                                                    "plan.layers",
                                                    "plan.embedding_as_layer",
                                                    "plan.loss_as_layer"};
    static const std::set<std::string> schedule = {"plan.schedule",
                                                   "plan.microbatch",
                                                   "plan.chunks",
                                                   "plan.round",
                                                   "plan.in_flight"};
    const bool network = key.rfind("network.", 0) == 0;
    switch (dimension)
    {
    case SearchDimension::Placement:
        return placement.count(key) > 0;
    case SearchDimension::Schedule:
        return schedule.count(key) > 0;
    case SearchDimension::Network:
        return network;
    case SearchDimension::Parallelism:
        break;
    }
    return key == "plan.microbatch" ||
           (!network && placement.count(key) == 0 && schedule.count(key) == 0);
}

Study
OnlyVarying(const Study& study, SearchDimension dimension, const std::vector<SearchAxis>& complete)
{
    const Plan fixed{study.scenario.Job().plan, study.scenario.network};
    std::vector<SearchAxis> axes;
    for (const auto* from : {&study.search, &complete})
    {
        for (const auto& axis : *from)
        {
            const auto same = [&axis](const SearchAxis& other) { return other.key == axis.key; };
            if (IsOf(axis.key, dimension) && std::none_of(axes.begin(), axes.end(), same))
            {
                axes.push_back(axis);
            }
        }
    }
    bool variesDp = false;
    for (auto& [key, values] : axes)
    {
        variesDp = variesDp || key == "plan.dp";
        const std::string begin = FindPlanField(key)->get(fixed);
        values.erase(std::remove(values.begin(), values.end(), begin), values.end());
        values.insert(values.begin(), begin);
    }
    Study only = study;
    only.search = axes;
    // A dp that the study fixes holds all else fixed, too.
    only.dpGiven = dimension == SearchDimension::Parallelism ? variesDp : study.dpGiven;
    return only;
}

} // namespace scaleacross::school
