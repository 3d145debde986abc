// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/program-evaluator.h"

#include "core/base/errors.h"
#include "core/engine/evaluator.h"

#include <algorithm>

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
    }
    report.iterationTime = slowest / static_cast<int64_t>(m_options.iterations);
    report.computeTime = Duration::Seconds(compute / ranks);
    report.bubble = Duration::Seconds(bubble / ranks);
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        report.classes[k].exposed = Duration::Seconds(exposed[k] / ranks);
        report.classes[k].busy = Duration::Seconds(busy[k] / ranks);
    }
    report.timeline = m_timeline;
    if (!report.timeline.empty())
    {
        Duration origin = Duration::Max();
        for (const ClassState& state : m_classes)
        {
            origin = std::min(origin, state.begin);
        }
        for (TimelineEntry& entry : report.timeline)
        {
            entry.begin -= origin;
            entry.end -= origin;
        }
    }
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

void
EvaluateProgram(const TaskGraph& graph,
                const TransferTimes& times,
                const RunOptions& options,
                RunReport& report)
{
    evaluation::Evaluator(graph, times, options).Run(report);
}

} // namespace scaleacross
