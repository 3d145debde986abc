// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/program-evaluator.h"

#include "core/base/errors.h"
#include "core/engine/arrivals.h"
#include "core/engine/evaluator.h"
#include "core/engine/series-sampler.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace scaleacross
{

namespace evaluation
{

void
Evaluator::Fill(RunReport& report) const
{
    report.warmup = m_options.warmup;
    report.iterations = m_options.iterations;
    const double iterations = m_options.iterations;
    double ranks = 0;
    double compute = 0;
    double bubble = 0;
    std::array<double, kCommClasses> exposed{};
    std::array<double, kCommClasses> busy{};
    Duration slowest;
    for (uint32_t c = 0; c < m_classes.size(); c++)
    {
        const ClassState& state = m_classes[c];
        if (m_graph.classes[c].program.ops.empty())
        {
            continue;
        }
        // Whatever a rank does at any time is one of these.
        Duration parts = (state.atEnd.compute - state.atBegin.compute) +
                         (state.atEnd.bubble - state.atBegin.bubble);
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            parts += state.atEnd.exposed[k] - state.atBegin.exposed[k];
        }
        SCALEACROSS_INVARIANT(parts == state.end - state.begin,
                              "class " + std::to_string(c) + ": compute, bubble and exposed are " +
                                  ToString(parts) + " of " + ToString(state.end - state.begin));
        const double weight = m_graph.classes[c].ranks / iterations;
        slowest = std::max(slowest, state.end - state.begin);
        ranks += m_graph.classes[c].ranks;
        compute += weight * (state.atEnd.compute - state.atBegin.compute).S();
        bubble += weight * (state.atEnd.bubble - state.atBegin.bubble).S();
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            exposed[k] += weight * (state.atEnd.exposed[k] - state.atBegin.exposed[k]).S();
            busy[k] += weight * (state.atEnd.busy[k] - state.atBegin.busy[k]).S();
        }
        busy[static_cast<size_t>(CommClass::Pipeline)] += weight * BusyBetween(state).S();
    }
    report.iterationTime = slowest / static_cast<int64_t>(m_options.iterations);
    report.computeTime = Duration::Seconds(compute / ranks);
    report.bubble = Duration::Seconds(bubble / ranks);
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        report.classes[k].exposed = Duration::Seconds(exposed[k] / ranks);
        report.classes[k].busy = Duration::Seconds(busy[k] / ranks);
    }
    FillTimeline(report);
}

void
Evaluator::FillTimeline(RunReport& report) const
{
    if (m_records.empty())
    {
        return;
    }
    Timeline timeline;
    for (uint32_t c = 0; c < m_classes.size(); c++)
    {
        const RankClass& rankClass = m_graph.classes[c];
        if (!rankClass.program.ops.empty())
        {
            timeline.Add({rankClass.representative,
                          rankClass.stage,
                          rankClass.ranks,
                          m_classes[c].begin,
                          m_classes[c].end,
                          {}},
                         m_records[c],
                         m_options.warmup,
                         m_options.iterations);
        }
    }
    Duration begin = Duration::Max();
    Duration end;
    for (const RankTimeline& rank : timeline.ranks)
    {
        begin = std::min(begin, rank.begin);
        end = std::max(end, rank.end);
    }
    timeline.network = SeriesOf(begin, end);
    timeline.Complete(m_graph);
    report.timeline = std::move(timeline);
}

/// Bytes of transfers, by resource as ResourceUse numbers them.
NetworkSeries
Evaluator::SeriesOf(Duration begin, Duration end) const
{
    const Duration step = std::max((end - begin) / SeriesSampler::kMost, Duration::Picoseconds(1));
    NetworkSeries series;
    series.series.resize(ResourceUse::Ports(m_graph) + m_costs.Cuts());
    for (Duration at = begin; at < end; at += step)
    {
        series.at.push_back(at);
    }
    series.at.push_back(end);
    for (Series& one : series.series)
    {
        one.values.assign(series.Steps(), 0.0);
    }
    for (const MovedVolume& moved : m_moved)
    {
        const auto spread = [&](uint32_t resource, double bytes) {
            series.Spread(series.series[resource], bytes * moved.volume, moved.begin, moved.end);
        };
        m_use.ForEach(*moved.cost, moved.place.sender, moved.place.receiver, spread);
    }
    return series;
}

void
Evaluator::FailStuck() const
{
    std::string text = "deadlock: no class can go on";
    for (uint32_t c = 0; c < m_classes.size(); c++)
    {
        const ClassState& state = m_classes[c];
        text += "; stage " + std::to_string(m_graph.classes[c].stage) + " iteration " +
                std::to_string(state.iteration) + " operation " + std::to_string(state.pc) +
                (state.blocked == Blocked::Message ? " waits for message "
                                                   : " waits for collective handle ") +
                std::to_string(state.waitFor);
    }
    throw RunError(text);
}

} // namespace evaluation

EvaluationWork
EvaluateProgram(const TaskGraph& graph,
                ClassCosts& costs,
                const ResourceUse& use,
                const RunOptions& options,
                RunReport& report,
                Shortcuts shortcuts)
{
    // A body in one step has no parts to record.
    const bool whole = options.timeline == Timelines::None;
    return evaluation::Evaluator(graph, costs, use, options, whole ? shortcuts : Shortcuts::None)
        .Run(report);
}

void
EvaluateProgram(const TaskGraph& graph,
                const TransferTimes& times,
                const RunOptions& options,
                RunReport& report)
{
    ClassCosts costs(graph, times);
    const ResourceUse use(graph, costs);
    EvaluateProgram(graph, costs, use, options, report);
}

} // namespace scaleacross
