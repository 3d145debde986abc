// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/first-look.h"

#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/cost/schedule-times.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/memory/memory.h"
#include "core/work/partition/balance.h"

#include <algorithm>
#include <vector>

namespace scaleacross
{

double
ComputeBound(const PipelineShape& shape, const std::vector<PassTimes>& passes)
{
    const bool whole = !shape.schedule->Facts().splitsBackward;
    std::vector<double> work(shape.ranks, 0.0);    // of all microbatches
    std::vector<double> chained(shape.ranks, 0.0); // of that, what comes before the last gradient
    std::vector<double> around(shape.ranks, -1.0); // before the first and behind the last
    double before = 0;
    for (uint32_t position = 0; position < passes.size(); position++)
    {
        const PassTimes& pass = passes[position];
        const double total = pass.Total().S();
        const double onTheWay = whole ? total : (pass.forward + pass.inputGradient).S();
        const uint32_t rank = RankOf(shape, position);
        if (around[rank] < 0)
        {
            around[rank] = before;
        }
        work[rank] += shape.microbatches * total;
        chained[rank] += shape.microbatches * onTheWay;
        before += onTheWay;
    }
    double bound = 0;
    for (uint32_t rank = 0; rank < shape.ranks; rank++)
    {
        bound = std::max({bound, work[rank], chained[rank] + around[rank]});
    }
    return bound;
}

std::variant<ClosedForm, Infeasible>
FirstLook(const Scenario& scenario)
{
    const auto laidOut = LayOut(scenario.Job().plan, scenario.cluster);
    if (const auto* no = std::get_if<Infeasible>(&laidOut))
    {
        return *no;
    }
    const RankLayout& layout = std::get<RankLayout>(laidOut);
    if (auto no = CheckJob(scenario, layout))
    {
        return *no;
    }
    const std::vector<MemoryUse> memory = MemoryOf(scenario, layout);
    if (auto no = CheckMemory(scenario, memory))
    {
        return *no;
    }
    ClosedForm form;
    for (const MemoryUse& use : memory)
    {
        form.memoryMax = std::max(form.memoryMax, use.Total());
    }
    PipelineShape shape = PipelineShapeOf(scenario.Job());
    // Of the replica that the first ranks of all stages are: none has a shorter iteration than any
    // other in the long run.
    const auto microbatches = std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, layout));
    shape.microbatches = microbatches[layout.BuildingOf(layout.FirstOf(0))];
    form.bound = LessRounding(ComputeBound(shape, PassTimesOf(scenario, layout)));
    return form;
}

} // namespace scaleacross
