// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/planned-job.h"

#include "core/base/errors.h"
#include "core/explore/fit-check.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/cost/schedule-times.h"
#include "core/work/partition/balance.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace scaleacross
{

namespace
{

bool
AreSame(const PipelineAction& a, const PipelineAction& b)
{
    return a.action == b.action && a.chunk == b.chunk && a.microbatch == b.microbatch &&
           (a.action != Action::ForwardBackward ||
            (a.backChunk == b.backChunk && a.backMicrobatch == b.backMicrobatch));
}

} // namespace

uint32_t
PlannedJob::ShardMembers() const
{
    const bool part = plan.parallel.sharding->insideBuildings;
    return part ? layout.dense.SplitAt(layout.ShardSpan()).inner.Size() : layout.dense.Size();
}

bool
PlannedJob::RunsAs(const Schedule& schedule, uint32_t chunks, uint32_t round) const
{
    PipelineShape other = shape;
    other.schedule = schedule;
    other.chunks = chunks;
    other.round = round;
    other.inFlight = 0;
    if (other.chunks != shape.chunks || schedule->Check(other) ||
        schedule->Facts().placement != shape.schedule->Facts().placement)
    {
        return false;
    }
    const PipelineOrders ours = shape.schedule->Orders(shape);
    const PipelineOrders theirs = schedule->Orders(other);
    return std::equal(ours.begin(),
                      ours.end(),
                      theirs.begin(),
                      theirs.end(),
                      [](const auto& a, const auto& b) {
                          return std::equal(a.begin(), a.end(), b.begin(), b.end(), AreSame);
                      });
}

PlannedJob
PlannedJobOf(Study study, const std::string& source)
{
    const auto refuse = [&source](const Infeasible& no) {
        throw ConfigError(source,
                          "the plan cannot run: " + no.reason + ": " + no.detail,
                          "a plan that can",
                          "`explore` finds some");
    };
    if (const auto no = CheckFit(study.scenario))
    {
        refuse(*no);
    }
    PlannedJob job;
    job.study = std::move(study);
    job.source = source;
    const Scenario& scenario = job.study.scenario;
    job.plan = {scenario.Job().plan, scenario.network};
    job.layout = std::get<RankLayout>(LayOut(job.plan.parallel, scenario.cluster));
    job.layers = LayersOf(scenario, job.layout);
    job.microbatches = std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, job.layout));
    job.shape = PipelineShapeOf(scenario, job.layout);
    return job;
}

} // namespace scaleacross
