// SPDX-License-Identifier: GPL-2.0-only

#include "cli/schedule-run.h"

#include "core/base/errors.h"
#include "core/engine/program-evaluator.h"
#include "core/pipeline/pipeline-order.h"
#include "core/work/graph/task-graph-builder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

PassTimes
OfChunk(const ScheduleSetting& setting)
{
    const int64_t v = setting.shape.chunks;
    return {setting.times.forward / v,
            setting.times.inputGradient / v,
            setting.times.weightGradient / v};
}

Duration
HopOf(const ScheduleSetting& setting, uint32_t from, uint32_t to)
{
    const bool crosses = setting.BuildingOf(from) != setting.BuildingOf(to);
    return setting.comm + (crosses ? setting.cross + setting.crossTransfer : Duration());
}

Duration
HoldOf(const ScheduleSetting& setting, uint32_t from, uint32_t to)
{
    const bool crosses = setting.BuildingOf(from) != setting.BuildingOf(to);
    return crosses ? setting.crossTransfer : Duration();
}

void
CountTransfers(const ScheduleSetting& setting, ScheduleRun& run)
{
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> counts;
    for (uint32_t position = 0; position + 1 < Positions(setting.shape); position++)
    {
        const uint32_t from = RankOf(setting.shape, position);
        const uint32_t to = RankOf(setting.shape, position + 1);
        run.transfers += from != to ? 1 : 0;
        const uint32_t a = setting.BuildingOf(from);
        const uint32_t b = setting.BuildingOf(to);
        if (a != b)
        {
            counts[{std::min(a, b), std::max(a, b)}]++;
        }
    }
    for (const auto& [pair, count] : counts)
    {
        run.crossings.push_back({pair.first, pair.second, count});
    }
}

} // namespace

void
FillSpan(ScheduleRun& run, uint32_t stages)
{
    std::vector<Duration> begin(stages, Duration::Max());
    std::vector<Duration> end(stages);
    std::vector<Duration> busy(stages);
    for (const ScheduledPass& entry : run.timeline)
    {
        begin[entry.stage] = std::min(begin[entry.stage], entry.begin);
        end[entry.stage] = std::max(end[entry.stage], entry.end);
        busy[entry.stage] += entry.end - entry.begin;
    }
    for (uint32_t r = 0; r < stages; r++)
    {
        run.makespan = std::max(run.makespan, end[r]);
        if (end[r] - begin[r] > run.span)
        {
            run.span = end[r] - begin[r];
            run.bubbleFraction = 1 - busy[r].S() / run.span.S();
        }
    }
}

void
SortByEnd(std::vector<ScheduledPass>& passes)
{
    std::sort(passes.begin(), passes.end(), [](const ScheduledPass& a, const ScheduledPass& b) {
        return std::tie(a.end, a.begin, a.stage) < std::tie(b.end, b.begin, b.stage);
    });
}

std::vector<double>
PeaksOf(const PipelineShape& shape)
{
    std::vector<double> peaks;
    const std::vector<uint64_t> one(shape.chunks, 1);
    for (const auto& order : shape.schedule->Orders(shape))
    {
        peaks.push_back(static_cast<double>(PeakHeld(order, one)) / shape.chunks);
    }
    return peaks;
}

PipelineTimes
TimesOf(const ScheduleSetting& setting)
{
    PipelineTimes times;
    times.passes.assign(Positions(setting.shape), OfChunk(setting));
    for (uint32_t position = 0; position + 1 < Positions(setting.shape); position++)
    {
        const uint32_t from = RankOf(setting.shape, position);
        const uint32_t to = RankOf(setting.shape, position + 1);
        times.hops.push_back(HopOf(setting, from, to));
        times.holds.push_back(HoldOf(setting, from, to));
    }
    return times;
}

namespace
{

std::vector<ScheduledPass>
Evaluated(const ScheduleSetting& setting)
{
    UniformPipeline pipeline;
    pipeline.shape = setting.shape;
    const PassTimes each = OfChunk(setting);
    pipeline.forward = each.forward;
    pipeline.inputGradient = each.inputGradient;
    pipeline.weightGradient = each.weightGradient;
    pipeline.forwardBackward = setting.forwardBackward;
    pipeline.receives = setting.receives;
    TransferTimes transfers;
    transfers.message = [&setting](Bytes /*bytes*/, Rank from, Rank to, uint32_t /*senders*/) {
        TransferCost cost;
        const Duration hold = HoldOf(setting, from, to);
        cost.least = hold.S();
        cost.latency = HopOf(setting, from, to) - hold;
        return cost;
    };
    transfers.credit = [&setting](Rank from, Rank to) {
        return setting.BuildingOf(from) == setting.BuildingOf(to) ? Duration() : setting.credit;
    };
    RunOptions options;
    options.warmup = 0;
    options.iterations = 1;
    options.timeline = Timelines::OfClasses;
    RunReport report;
    EvaluateProgram(BuildUniformPipeline(pipeline), transfers, options, report);
    std::vector<ScheduledPass> passes;
    for (const RankTimeline* rank : report.timeline->OnePerStage())
    {
        for (const RankRun& run : rank->record.runs)
        {
            passes.push_back({run, rank->stage});
        }
    }
    SortByEnd(passes);
    return passes;
}

} // namespace

ScheduleRun
RunSchedule(const ScheduleSetting& setting)
{
    ScheduleRun run;
    run.timeline = Evaluated(setting);
    FillSpan(run, setting.shape.ranks);
    run.peak = PeaksOf(setting.shape);
    for (uint32_t stage = 0; stage < setting.shape.ranks; stage++)
    {
        run.buildings.push_back(setting.BuildingOf(stage));
    }
    CountTransfers(setting, run);
    return run;
}

} // namespace scaleacross
