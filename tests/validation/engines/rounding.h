// SPDX-License-Identifier: GPL-2.0-only

// How far times may differ that are the same but for rounding.

#ifndef SCALEACROSS_TESTS_ROUNDING_H
#define SCALEACROSS_TESTS_ROUNDING_H

#include "core/engine/engine.h"
#include "core/program/program.h"

#include <variant>

namespace scaleacross
{
namespace volumes
{

// Clocks have picoseconds, of which rounding may move one in each step.
constexpr double kPicosecond = 1e-12; // s

/// Steps of a program, each of which may end a picosecond late.
inline double
StepsOf(const TaskGraph& graph, const Program& program)
{
    double steps = 0;
    for (const Op& op : program.ops)
    {
        steps += 1;
        if (op.kind == OpKind::Run)
        {
            steps += StepsOf(graph, graph.bodies[op.index]);
        }
        else if (op.kind == OpKind::Collective)
        {
            for (const Phase& phase : graph.collectives[op.index].phases)
            {
                steps += StepCount(phase) * static_cast<double>(graph.collectives[op.index].chunks);
            }
        }
    }
    return steps;
}

/// What rounding comes to at most, s: no chain of steps has more than all programs together.
inline double
RoundingOf(const Scenario& scenario)
{
    const TaskGraph graph = std::get<PreparedRun>(PrepareRun(scenario)).graph;
    const RunOptions options;
    double steps = 0;
    for (const RankClass& rankClass : graph.classes)
    {
        steps += StepsOf(graph, rankClass.program);
    }
    return kPicosecond * steps * (options.warmup + options.iterations);
}

} // namespace volumes
} // namespace scaleacross

#endif // SCALEACROSS_TESTS_ROUNDING_H
