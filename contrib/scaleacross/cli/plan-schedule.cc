// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-schedule.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/rank-layout.h"
#include "core/work/cost/schedule-times.h"

#include <algorithm>
#include <variant>

namespace scaleacross
{

namespace
{

RunReport
Report(const Scenario& scenario, const Engine& engine, uint64_t seed)
{
    RunOptions options;
    options.seed = seed;
    options.timeline = Timelines::OfClasses;
    RunResult result = engine.Run(scenario, options);
    if (const auto* no = std::get_if<Infeasible>(&result))
    {
        throw RunError(no->reason, no->detail);
    }
    RunReport report = std::get<RunReport>(std::move(result));
    if (!report.timeline)
    {
        throw ConfigError("--engine",
                          Quoted(report.engine) + " does not say when passes run",
                          "analytical, flow or packet",
                          "");
    }
    return report;
}

StageTimes
TimesOf(const RankRecord& record, uint32_t iterations)
{
    StageTimes times;
    for (const RankSpell& spell : record.spells)
    {
        Duration& part = spell.occupation == Occupation::Compute  ? times.compute
                         : spell.occupation == Occupation::Bubble ? times.bubble
                                                                  : times.exposed;
        part += spell.end - spell.begin;
    }
    return {times.compute / iterations, times.bubble / iterations, times.exposed / iterations};
}

} // namespace

PlanSchedule
RunPlanSchedule(const Study& study, const Engine& engine)
{
    PlanSchedule schedule;
    schedule.report = Report(study.scenario, engine, study.seed);
    const auto layout =
        std::get<RankLayout>(LayOut(study.scenario.Job().plan, study.scenario.cluster));
    schedule.shape = PipelineShapeOf(study.scenario, layout);
    schedule.places = FindStagePlaces(study.scenario).value();
    // As many as are measured: the first of them.
    for (const RankTimeline* rank : schedule.report.timeline->OnePerStage())
    {
        for (const RankRun& run : rank->record.runs)
        {
            if (run.iteration == rank->record.runs.front().iteration)
            {
                schedule.run.timeline.push_back({run, rank->stage});
                schedule.run.makespan = std::max(schedule.run.makespan, run.end);
            }
        }
        schedule.run.buildings.push_back(layout.BuildingOf(rank->rank));
        schedule.times.push_back(TimesOf(rank->record, schedule.report.iterations));
    }
    SortByEnd(schedule.run.timeline);
    FillSpan(schedule.run, schedule.shape.ranks);
    schedule.run.bubbleFraction = schedule.report.bubbleFraction;
    schedule.run.peak = PeaksOf(schedule.shape);
    return schedule;
}

} // namespace scaleacross
