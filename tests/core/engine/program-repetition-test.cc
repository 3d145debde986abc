// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/program-repetition.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/graph/task-graph-builder.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

/// Passes of a microsecond each on so many stages.
TaskGraph
GraphOf(const Schedule& schedule, uint32_t ranks, uint32_t chunks, uint32_t microbatches)
{
    UniformPipeline pipeline;
    pipeline.shape.schedule = schedule;
    pipeline.shape.ranks = ranks;
    pipeline.shape.chunks = chunks;
    pipeline.shape.microbatches = microbatches;
    pipeline.forward = pipeline.inputGradient = pipeline.weightGradient = Duration::Microseconds(1);
    pipeline.bytes = Bytes(1);
    return BuildUniformPipeline(pipeline);
}

ProgramRepetition
Expected(uint32_t period, uint32_t begin, uint32_t end, uint32_t mark)
{
    ProgramRepetition expected;
    expected.period = period;
    expected.begin = begin;
    expected.end = end;
    expected.mark = mark;
    return expected;
}

} // namespace

TEST(ProgramRepetition, OfTheWorkedCase)
{
    const TaskGraph graph = GraphOf(Schedule("1f1b"), 2, 1, 4);
    // Last stage: (receive, F, B, send) four times, 16 operations, of which the first twelve have
    // the next microbatch four later. The first forward is operation 1.
    EXPECT_EQ(RepetitionOf(graph.classes[1].program, 1), Expected(4, 0, 12, 1));
    // First stage: F send, then (F send receive B) three times, then receive B: 16 operations.
    // Operation 2 has another four later and is the first that does; operation 10, the last F,
    // none.
    EXPECT_EQ(RepetitionOf(graph.classes[0].program, 1), Expected(4, 2, 10, 2));
}

TEST(ProgramRepetition, OfAllClassesOfASchedule)
{
    // In rounds of as many microbatches as there are stages a period is a round.
    const auto ofRounds = RepetitionOf(GraphOf(Schedule("interleaved"), 4, 2, 64));
    ASSERT_TRUE(ofRounds);
    EXPECT_EQ(ofRounds->microbatches, 4U);
    // F and B of two chunks, with a message before and behind each.
    for (uint32_t stage = 1; stage < 3; stage++)
    {
        EXPECT_EQ(ofRounds->classes[stage].period, 4U * 2 * 2 * 3);
    }
    const auto one = RepetitionOf(GraphOf(Schedule("zb-h1"), 4, 1, 64));
    ASSERT_TRUE(one);
    EXPECT_EQ(one->microbatches, 1U);
    EXPECT_EQ(one->classes[1].period, 7U); // F, I and W, and two messages before and behind
    EXPECT_FALSE(RepetitionOf(TaskGraph()));
}

TEST(ProgramRepetition, IsNoPartOfALongerOne)
{
    // Eight forwards of the first chunk in a row repeat themselves one by one, but for a small part
    // of the program: the period is the round.
    const auto repetition = RepetitionOf(GraphOf(Schedule("interleaved"), 8, 2, 128));
    ASSERT_TRUE(repetition);
    EXPECT_EQ(repetition->microbatches, 8U);
}

} // namespace scaleacross
