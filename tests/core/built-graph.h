// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_BUILT_GRAPH_H
#define SCALEACROSS_TESTS_BUILT_GRAPH_H

#include "core/work/graph/task-graph-builder.h"
#include "graph-interpreter.h"
#include "schedule-scenario.h"

#include <gtest/gtest.h>

/// Task graphs of small jobs, and what their ranks send.
namespace scaleacross
{

/// The graph of a scenario that has one.
inline TaskGraph
Build(const Scenario& scenario)
{
    auto graph = BuildTaskGraph(scenario, LayoutOf(scenario));
    if (const auto* bad = std::get_if<Infeasible>(&graph))
    {
        SCALEACROSS_INVARIANT(false, bad->reason + ": " + bad->detail);
    }
    return std::get<TaskGraph>(std::move(graph));
}

inline ParallelPlan
PlanOf(uint32_t tp, uint32_t cp, uint32_t ep, uint32_t pp, uint32_t dp)
{
    ParallelPlan plan;
    plan.tp = tp;
    plan.cp = cp;
    plan.ep = ep;
    plan.pp = pp;
    plan.dp = dp;
    return plan;
}

/// 32 GPUs in two buildings, in nodes of four.
inline Scenario
TwoBuildings(const ModelSpec& model, const ParallelPlan& plan, uint32_t m)
{
    return ScenarioOf(BuildingsOf({16, 16}, 4), model, plan, m);
}

/// What a rank does in one iteration.
inline RankTally
TallyOf(const TaskGraph& graph, Rank rank)
{
    GraphInterpreter interpreter(graph);
    EXPECT_EQ(interpreter.Run(1), "");
    return interpreter.Tallies()[rank];
}

/// Bytes of a class that it sends.
inline uint64_t
Sent(const RankTally& tally, CommClass comm)
{
    return tally.sent[static_cast<size_t>(comm)].Count();
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_BUILT_GRAPH_H
