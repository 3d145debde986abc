// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/fit-check.h"

#include "core/topology/rank-layout.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/memory/memory.h"

namespace scaleacross
{

std::optional<Infeasible>
CheckFit(const Scenario& scenario)
{
    if (const auto conflict = scenario.FindConflict())
    {
        const std::string where = conflict->Where(); // "network.pfc", "plan.layers"
        return Infeasible{where.substr(0, where.find('.')),
                          conflict->Problem() + ": " + conflict->Remedy()};
    }
    const auto layout = LayOut(scenario.Job().plan, scenario.cluster);
    if (const auto* infeasible = std::get_if<Infeasible>(&layout))
    {
        return *infeasible;
    }
    if (auto infeasible = CheckJob(scenario, std::get<RankLayout>(layout)))
    {
        return infeasible;
    }
    return CheckMemory(scenario, std::get<RankLayout>(layout));
}

} // namespace scaleacross
