// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/schedule-answer.h"

#include "cli/show/schedule-picture.h"
#include "cli/show/table.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

double
MostOf(const std::vector<double>& values)
{
    return *std::max_element(values.begin(), values.end());
}

uint32_t
CrossingsOf(const ScheduleRun& run)
{
    uint32_t sum = 0;
    for (const Crossings& pair : run.crossings)
    {
        sum += pair.count;
    }
    return sum;
}

Json
TimelineJson(const ScheduleRun& run)
{
    Json timeline = Json::array();
    for (const ScheduledPass& entry : run.timeline)
    {
        const bool both = entry.action == Action::ForwardBackward;
        Json action = {
            {"stage", entry.stage},
            {"action", both ? "FB" : std::string(1, "FBIWO"[static_cast<size_t>(entry.action)])},
            {"chunk", entry.chunk},
            {"microbatch", entry.microbatch}};
        if (both)
        {
            action["back_chunk"] = entry.backChunk;
            action["back_microbatch"] = entry.backMicrobatch;
        }
        action["begin_s"] = entry.begin.S();
        action["end_s"] = entry.end.S();
        timeline.push_back(action);
    }
    return timeline;
}

/// What each stage holds and spends its time on.
std::string
StagesText(const PlanSchedule& schedule)
{
    const StagePlaces& places = schedule.places;
    Table table({{"stage"},
                 {"buildings", Table::Align::Left},
                 {"layers"},
                 {"compute"},
                 {"bubble"},
                 {"exposed"},
                 {"memory"},
                 {"microbatches held"}});
    for (uint32_t stage = 0; stage < schedule.shape.ranks; stage++)
    {
        const StageTimes& times = schedule.times[stage];
        table.Add({std::to_string(stage),
                   fmt::format("{}", fmt::join(places.BuildingsOf(stage), ", ")),
                   std::to_string(places.layers[stage]),
                   ToString(times.compute),
                   ToString(times.bubble),
                   ToString(times.exposed),
                   ToString(schedule.report.memory[stage].Total()),
                   fmt::format("{:.4g}", schedule.run.peak[stage])});
    }
    return table.Text();
}

} // namespace

std::string
ScheduleAnswerText(const ScheduleSetting& setting, const ScheduleRun& run, uint32_t columns)
{
    const PipelineShape& shape = setting.shape;
    std::string text = fmt::format("{}, {} stages, {} microbatches, {} chunk{} per stage\n\n{}\n",
                                   ToString(shape.schedule),
                                   shape.ranks,
                                   shape.microbatches,
                                   shape.chunks,
                                   shape.chunks > 1 ? "s" : "",
                                   ScheduleText(shape, run, columns));
    const auto line = [&text](const char* what, const std::string& value) {
        text += fmt::format("{:<20}{}\n", what, value);
    };
    line("makespan", ToString(run.makespan));
    line("longest span", ToString(run.span) + " of a stage, first to last action");
    line("bubble_fraction", fmt::format("{:.4f}", run.bubbleFraction));
    std::string peaks;
    for (const double peak : run.peak)
    {
        peaks += (peaks.empty() ? "" : " ") + fmt::format("{:.4g}", peak);
    }
    line("peak activations",
         fmt::format("{:.4g} microbatches; by stage {}", MostOf(run.peak), peaks));
    line("transfers", fmt::format("{} per microbatch and direction", run.transfers));
    std::string pairs;
    for (const Crossings& pair : run.crossings)
    {
        pairs +=
            fmt::format("{} {}-{}: {}", pairs.empty() ? ";" : ",", pair.from, pair.to, pair.count);
    }
    line("crossings",
         fmt::format("{} per microbatch and direction between {} building{}{}",
                     CrossingsOf(run),
                     setting.buildings,
                     setting.buildings > 1 ? "s" : "",
                     pairs));
    return text;
}

Json
ScheduleJson(const ScheduleSetting& setting, const ScheduleRun& run)
{
    const PipelineShape& shape = setting.shape;
    Json crossings = Json::array();
    for (const Crossings& pair : run.crossings)
    {
        crossings.push_back({{"from", pair.from}, {"to", pair.to}, {"messages", pair.count}});
    }
    return {{"schedule", ToString(shape.schedule)},
            {"stages", shape.ranks},
            {"microbatches", shape.microbatches},
            {"chunks", shape.chunks},
            {"makespan_s", run.makespan.S()},
            {"span_s", run.span.S()},
            {"bubble_fraction", run.bubbleFraction},
            {"peak_activations", run.peak},
            {"transfers", run.transfers},
            {"crossings", CrossingsOf(run)},
            {"crossings_by_pair", crossings},
            {"timeline", TimelineJson(run)}};
}

std::string
ScheduleAnswerText(const Study& study, const PlanSchedule& schedule, uint32_t columns)
{
    const PipelineShape& shape = schedule.shape;
    return fmt::format("{}\n{}, {} stage{}, {} microbatches, {} chunk{} per stage\n\n{}\n",
                       Label({study.scenario.Job().plan, study.scenario.network}),
                       ToString(shape.schedule),
                       shape.ranks,
                       shape.ranks > 1 ? "s" : "",
                       shape.microbatches,
                       shape.chunks,
                       shape.chunks > 1 ? "s" : "",
                       ScheduleText(shape, schedule.run, columns)) +
           fmt::format("{} per iteration, bubble {}, exposed communication {} ({} engine); of "
                       "the lowest rank of each stage:\n\n{}",
                       ToString(schedule.report.iterationTime),
                       PercentText(schedule.report.bubbleFraction),
                       ToString(schedule.report.exposedComm),
                       schedule.report.engine,
                       StagesText(schedule));
}

Json
ScheduleJson(const Study& study, const PlanSchedule& schedule)
{
    Json stages = Json::array();
    for (uint32_t stage = 0; stage < schedule.shape.ranks; stage++)
    {
        const StageTimes& times = schedule.times[stage];
        stages.push_back({{"stage", stage},
                          {"buildings", schedule.places.BuildingsOf(stage)},
                          {"layers", schedule.places.layers[stage]},
                          {"compute_s", times.compute.S()},
                          {"bubble_s", times.bubble.S()},
                          {"exposed_s", times.exposed.S()},
                          {"memory_bytes", schedule.report.memory[stage].Total().Count()},
                          {"peak_activations", schedule.run.peak[stage]}});
    }
    return {{"study", study.name},
            {"plan", ToJson(Plan{study.scenario.Job().plan, study.scenario.network})},
            {"schedule", ToString(schedule.shape.schedule)},
            {"microbatches", schedule.shape.microbatches},
            {"chunks", schedule.shape.chunks},
            {"stages", stages},
            {"report", ToJson(schedule.report)},
            {"timeline", TimelineJson(schedule.run)}};
}

} // namespace scaleacross
