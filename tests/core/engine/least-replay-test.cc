// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-replay.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

Op
Made(OpKind kind, uint32_t index)
{
    Op op;
    op.kind = kind;
    op.index = index;
    return op;
}

Op
Hop(OpKind kind, uint32_t message, int32_t peer)
{
    Op op = Made(kind, message);
    op.peer = peer;
    return op;
}

Op
Posted(Stream stream, uint32_t handle)
{
    Op op = Made(OpKind::Collective, 0);
    op.stream = stream;
    op.handle = handle;
    return op;
}

Op
Awaited(uint32_t handle)
{
    Op op = Made(OpKind::Wait, 0);
    op.handle = handle;
    return op;
}

/// Two stages of a rank each; body 0 is a forward of 1, body 1 a backward of 2, hops take 0.5 and
/// collectives 4.
TaskGraph
TwoStages()
{
    TaskGraph graph;
    graph.ranks = 2;
    graph.pipeline = RankGroup({{1, 2}});
    graph.classOf = {0, TaskGraph::kNoClass, TaskGraph::kNoClass, 1};
    graph.classes.resize(2);
    graph.classes[1].stage = 1;
    graph.classes[1].representative = 1;
    graph.bodies.resize(2);
    graph.collectives.resize(1);
    graph.messages = 2;
    graph.handles = 2;
    return graph;
}

class PlainTimes : public LeastTimes
{
  public:
    double OfBody(uint32_t /* classId */, uint32_t body) override
    {
        return body == 0 ? 1.0 : 2.0;
    }

    double OfCollective(uint32_t /* classId */, uint32_t /* collective */) override
    {
        return 4.0;
    }

    Message OfMessage(uint32_t /* classId */, int32_t /* peer */, Bytes /* bytes */) override
    {
        return {volume, 0.5 - volume};
    }

    double TakenBy(uint32_t /* classId */, uint32_t /* collective */) override
    {
        return taken;
    }

    double volume{0};
    double taken{0};
};

double
ReplayOf(const TaskGraph& graph, uint32_t classId, PlainTimes times = {})
{
    return LeastReplay(graph, classId, times);
}

const Op kForward = Made(OpKind::Run, 0);
const Op kBackward = Made(OpKind::Run, 1);

TEST(LeastReplay, GoesThroughAllStagesAndBack)
{
    TaskGraph graph = TwoStages();
    graph.classes[0].program.ops = {kForward,
                                    Hop(OpKind::Send, 0, 1),
                                    Hop(OpKind::Receive, 1, 1),
                                    kBackward};
    graph.classes[1].program.ops = {Hop(OpKind::Receive, 0, -1),
                                    kForward,
                                    kBackward,
                                    Hop(OpKind::Send, 1, -1)};
    // 1 + 0.5 + (1 + 2) + 0.5 + 2.
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 7);
    // What it receives may have been sent long ago: its own 3.
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 1), 3);
}

TEST(LeastReplay, CollectivesOfAStreamFollowEachOtherBesideComputing)
{
    TaskGraph graph = TwoStages();
    graph.classes[0].program.ops = {Posted(Stream::Gather, 0),
                                    kForward,
                                    Posted(Stream::Gather, 1),
                                    Awaited(0),
                                    Awaited(1),
                                    kBackward};
    // 0 to 4, then 4 to 8 although it is posted at 1; then 2.
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 10);
    graph.classes[0].program.ops[2].stream = Stream::Reduce;
    // Beside the first: 1 to 5.
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 7);
    // What nobody has posted is complete.
    graph.classes[0].program.ops = {Awaited(0), kForward};
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 1);
}

// Body 0 posts the gather that body 1 awaits before it computes for 2: from 0 to 4, beside 1 of
// computing, then 2. What body 1 posts for later keeps the stream busy.
TEST(LeastReplay, BodiesAwaitWhatOthersGathered)
{
    Op work = Made(OpKind::Compute, 0);
    TaskGraph graph = TwoStages();
    work.duration = Duration::Seconds(1);
    graph.bodies[0].ops = {Posted(Stream::Gather, 0), work};
    work.duration = Duration::Seconds(2);
    graph.bodies[1].ops = {Awaited(0), Posted(Stream::Gather, 1), work};
    graph.classes[0].program.ops = {kForward, kBackward};
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 6);
    // Its gather lasts from 4 to 8.
    graph.classes[0].program.ops = {kForward, kBackward, Awaited(1)};
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 8);
    // A body that awaits only its own is taken by its time.
    graph.bodies[0].ops = {Posted(Stream::Tensor, 0), Awaited(0), work};
    graph.classes[0].program.ops = {kForward};
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 1);
}

// Two messages of 0.4 on the port and 0.1 of latency, posted together: they arrive after 0.5 and
// 0.9. Where engines need not keep them in order, both after 0.5.
TEST(LeastReplay, MessagesToOneRankLeaveInOrder)
{
    TaskGraph graph = TwoStages();
    graph.messages = 3;
    graph.classes[0].program.ops = {Hop(OpKind::Send, 0, 1),
                                    Hop(OpKind::Send, 1, 1),
                                    Hop(OpKind::Receive, 2, 1)};
    graph.classes[1].program.ops = {Hop(OpKind::Receive, 0, -1),
                                    Hop(OpKind::Receive, 1, -1),
                                    Hop(OpKind::Send, 2, -1)};
    PlainTimes inOrder;
    inOrder.volume = 0.4;
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0, inOrder), 0.9 + 0.5);
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 0.5 + 0.5);
}

// A reduction of 4 that takes a quarter of computing. 5 of work beside it: 3 are done when it ends,
// and 2 follow. A second one on another stream: at half the speed 2 are done in 4, and 3 follow. A
// body of its own collectives is gone through where it is beside others', and jumped over where it
// is not.
TEST(LeastReplay, ComputingIsSlowerBesideCollectives)
{
    TaskGraph graph = TwoStages();
    Op work = Made(OpKind::Compute, 0);
    work.duration = Duration::Seconds(5);
    graph.classes[0].program.ops = {Posted(Stream::Reduce, 0), work};
    PlainTimes times;
    times.taken = 0.25;
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0, times), 6);
    graph.classes[0].program.ops = {Posted(Stream::Reduce, 0), Posted(Stream::Gather, 1), work};
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0, times), 7);
    graph.bodies[0].ops = {work};
    graph.classes[0].program.ops = {Posted(Stream::Reduce, 0), kForward};
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0, times), 6);
    graph.classes[0].program.ops = {Posted(Stream::Reduce, 0), Awaited(0), kForward};
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0, times), 4 + 1);
}

// Stage 1 begins its forward of 1 at 0, then its backward of 2, and stage 0 has the gradient after
// another 0.5. What it posts then comes at 3.5, after its own backward at 5.5; stage 1 itself posts
// at 3.
TEST(LeastReplay, FindsTheFirstPostBehindAPoint)
{
    TaskGraph graph = TwoStages();
    graph.classes[0].program.ops = {kForward,
                                    Hop(OpKind::Send, 0, 1),
                                    Hop(OpKind::Receive, 1, 1),
                                    Posted(Stream::Reduce, 0),
                                    kBackward,
                                    Posted(Stream::Gather, 1)};
    graph.classes[1].program.ops = {Hop(OpKind::Receive, 0, -1),
                                    kForward,
                                    kBackward,
                                    Hop(OpKind::Send, 1, -1),
                                    Posted(Stream::Reduce, 0)};
    PlainTimes times;
    const auto until = [&](const ProgramPoint& from, const auto& isLate) {
        return LeastUntilPosted(graph, 1, from, isLate, times);
    };
    const auto of = [](uint32_t stage, Stream stream) {
        return [=](uint32_t c, const Op& op) { return c == stage && op.stream == stream; };
    };
    const ProgramPoint forward{1, std::nullopt};
    EXPECT_DOUBLE_EQ(until(forward, of(0, Stream::Reduce)), 3.5);
    EXPECT_DOUBLE_EQ(until(forward, of(0, Stream::Gather)), 5.5);
    EXPECT_DOUBLE_EQ(until(forward, of(1, Stream::Reduce)), 3);
    EXPECT_DOUBLE_EQ(
        until(forward, [](uint32_t, const Op& op) { return op.stream == Stream::Reduce; }),
        3);
    // From the end of its last backward on there is nothing between.
    EXPECT_DOUBLE_EQ(until({3, std::nullopt}, of(1, Stream::Reduce)), 0);
    // Nothing of the kind is posted; and what stage 0 posts does not wait for stage 1's last post.
    EXPECT_LT(until(forward, of(1, Stream::Gather)), 0);
    EXPECT_LT(until({4, std::nullopt}, of(0, Stream::Reduce)), 0);
    // Within a body of stage 1: the wait for a gather, before 2 of computing.
    Op work = Made(OpKind::Compute, 0);
    work.duration = Duration::Seconds(2);
    graph.bodies[0].ops = {Awaited(1), work};
    EXPECT_DOUBLE_EQ(until({1, 0}, of(1, Stream::Reduce)), 2 + 2);
}

TEST(LeastReplay, IsNothingForAClassThatNeverEnds)
{
    TaskGraph graph = TwoStages();
    graph.classes[0].program.ops = {kForward, Hop(OpKind::Receive, 1, 1)};
    EXPECT_DOUBLE_EQ(ReplayOf(graph, 0), 0);
}

} // namespace

} // namespace scaleacross
