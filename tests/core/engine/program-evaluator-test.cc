// SPDX-License-Identifier: GPL-2.0-only

#include "../hand-written-ops.h"
#include "core/base/errors.h"
#include "core/engine/program-evaluator.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

/// Two ranks of one class that run one body per iteration. Collective 0 is tensor parallel over
/// NVLink, 1 expert parallel and 2 data parallel over the NIC; each takes 3 ms alone.
TaskGraph
GraphOf(const std::vector<Op>& body, double share)
{
    TaskGraph graph;
    graph.ranks = graph.blockRanks = 2;
    graph.classOf = {0};
    graph.handles = kStreams;
    RankClass both;
    both.ranks = 2;
    both.collectiveShare.usual = share;
    Op run;
    run.kind = OpKind::Run;
    both.program.ops = {run};
    graph.classes = {both};
    graph.bodies = {Program{body}};
    for (const CommClass comm : {CommClass::Tensor, CommClass::Expert, CommClass::Data})
    {
        Collective collective;
        collective.comm = comm;
        collective.phases = {{Pattern::RingAllGather, RankGroup({{1, 2}}), Bytes(1000)}};
        graph.collectives.push_back(collective);
    }
    // Bytes tell the phases apart below.
    graph.collectives[0].phases[0].bytes = Bytes(500);
    return graph;
}

RunReport
Evaluate(const TaskGraph& graph, const TrafficClasses& classes = {})
{
    TransferTimes times;
    times.classes = classes;
    times.phase = [](const Phase& phase, Rank, const std::vector<RankCount>&) {
        TransferCost cost;
        cost.On(phase.bytes == Bytes(500) ? Port::ScaleUpOut : Port::NicOut) = 3e-3;
        return cost;
    };
    times.message = [](Bytes, Rank, Rank, uint32_t) { return TransferCost(); };
    RunReport report;
    EvaluateProgram(graph, times, RunOptions(), report);
    return report;
}

/// The same body, which cannot be taken in one step for an empty gather in it.
std::vector<Op>
StepByStep(std::vector<Op> body, TaskGraph& graph)
{
    Collective nothing;
    nothing.comm = CommClass::Data;
    graph.collectives.push_back(nothing);
    body.insert(body.begin(), Post(Stream::Gather, 3));
    return body;
}

} // namespace

TEST(ProgramEvaluator, CollectivesTakeTheirShareOfComputing)
{
    // 3 ms at rate 0.75 do 2.25 ms of the 4, 1.75 ms more alone: 4.75 ms, all of it computing.
    auto report =
        Evaluate(GraphOf({Post(Stream::Reduce, 2), Compute(4), Await(Stream::Reduce)}, 0.25));
    EXPECT_EQ(report.iterationTime, Ms(4.75));
    EXPECT_EQ(report.computeTime, Ms(4.75));
    EXPECT_EQ(report.Of(CommClass::Data).exposed, Duration());
    EXPECT_EQ(report.Of(CommClass::Data).busy, Ms(3));
    // 1 ms in 1.33 ms; the rest of 3 ms is waited for.
    report = Evaluate(GraphOf({Post(Stream::Reduce, 2), Compute(1), Await(Stream::Reduce)}, 0.25));
    EXPECT_EQ(report.iterationTime, Ms(3));
    EXPECT_NEAR(report.computeTime.S(), 4e-3 / 3, 1e-11);
    EXPECT_NEAR(report.Of(CommClass::Data).exposed.S(), 5e-3 / 3, 1e-11);
    // Nothing is taken where nothing is under way, and nothing without a share.
    report = Evaluate(GraphOf({Post(Stream::Reduce, 2), Await(Stream::Reduce), Compute(4)}, 0.25));
    EXPECT_EQ(report.computeTime, Ms(4));
    report = Evaluate(GraphOf({Post(Stream::Reduce, 2), Compute(4), Await(Stream::Reduce)}, 0));
    EXPECT_EQ(report.computeTime, Ms(4));
}

TEST(ProgramEvaluator, TwoOnOnePortShareItAndTakeTwice)
{
    // Both on the NIC: 6 ms at half the rate each, beside computing at 1 - 2 x 0.25: 3 of 4 ms
    // done, one more alone.
    const auto report = Evaluate(GraphOf({Post(Stream::Expert, 1),
                                          Post(Stream::Reduce, 2),
                                          Compute(4),
                                          Await(Stream::Expert),
                                          Await(Stream::Reduce)},
                                         0.25));
    EXPECT_EQ(report.iterationTime, Ms(7));
    EXPECT_EQ(report.Of(CommClass::Expert).busy, Ms(6));
    EXPECT_EQ(report.Of(CommClass::Data).busy, Ms(6));
}

TEST(ProgramEvaluator, ClassesOnOnePortGoBeforeOthersOrHaveTheirShare)
{
    // Both on the NIC, 3 ms each. Experts in a class that goes first: 3 ms, and 6 for the others.
    // With three shares of four: 4 ms, in which the other does 1 of 3 ms; the rest until 6 ms.
    const TaskGraph graph = GraphOf({Post(Stream::Expert, 1),
                                     Post(Stream::Reduce, 2),
                                     Await(Stream::Expert),
                                     Await(Stream::Reduce)},
                                    0);
    TrafficClasses classes;
    classes.of[static_cast<size_t>(CommClass::Expert)] = 1;
    RunReport report = Evaluate(graph, classes);
    EXPECT_EQ(report.iterationTime, Ms(6));
    EXPECT_EQ(report.Of(CommClass::Expert).busy, Ms(3));
    EXPECT_EQ(report.Of(CommClass::Data).busy, Ms(6));
    classes.weights = {1, 3};
    report = Evaluate(graph, classes);
    EXPECT_EQ(report.iterationTime, Ms(6));
    EXPECT_EQ(report.Of(CommClass::Expert).busy, Ms(4));
    EXPECT_EQ(report.Of(CommClass::Data).busy, Ms(6));
}

TEST(ProgramEvaluator, OneStepIsAsLongAsMany)
{
    // Dispatch over the NIC beside the shared experts' gather over NVLink and their computing, as a
    // MoE layer does; a weight gradient beside a scatter; and what blocks.
    const std::vector<Op> body = {Post(Stream::Expert, 1),
                                  Post(Stream::Tensor, 0),
                                  Await(Stream::Tensor),
                                  Compute(1),
                                  Await(Stream::Expert),
                                  Compute(2),
                                  Post(Stream::Tensor, 0),
                                  Compute(0.5),
                                  Await(Stream::Tensor)};
    for (const double share : {0.0, 0.15})
    {
        const RunReport once = Evaluate(GraphOf(body, share));
        TaskGraph graph = GraphOf(body, share);
        graph.bodies[0].ops = StepByStep(body, graph);
        const RunReport steps = Evaluate(graph);
        EXPECT_EQ(once.iterationTime, steps.iterationTime);
        EXPECT_EQ(once.computeTime, steps.computeTime);
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            EXPECT_EQ(once.classes[k].exposed, steps.classes[k].exposed) << k;
            EXPECT_EQ(once.classes[k].busy, steps.classes[k].busy) << k;
        }
        // By hand without a share: 3 ms for both collectives, 1 ms, 2 ms, 3 ms.
        if (share == 0)
        {
            EXPECT_EQ(once.iterationTime, Ms(9));
            EXPECT_EQ(once.Of(CommClass::Tensor).exposed, Ms(3 + 2.5));
            EXPECT_EQ(once.Of(CommClass::Expert).exposed, Duration());
        }
    }
}

TEST(ProgramEvaluator, GivesUpAtItsTimeLimit)
{
    // Four thousand million iterations.
    const TaskGraph graph = GraphOf({Compute(1)}, 0);
    TransferTimes times;
    RunOptions options;
    options.iterations = UINT32_MAX - options.warmup;
    options.limits.wallTime = Ms(10);
    RunReport report;
    try
    {
        EvaluateProgram(graph, times, options, report);
        ADD_FAILURE() << "it ended";
    }
    catch (const RunError& error)
    {
        EXPECT_EQ(std::string(error.what()).rfind("time limit: ", 0), 0U) << error.what();
    }
}

} // namespace scaleacross
