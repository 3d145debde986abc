// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-replay.h"
#include "core/engine/pass-replay.h"
#include "core/work/graph/task-graph-builder.h"

#include <gtest/gtest.h>
#include <random>

namespace scaleacross
{

namespace
{

PipelineShape
ShapeOf(const std::string& schedule, uint32_t ranks, uint32_t microbatches, uint32_t chunks)
{
    PipelineShape shape;
    shape.schedule = Schedule(schedule);
    shape.ranks = ranks;
    shape.microbatches = microbatches;
    shape.chunks = chunks;
    return shape;
}

/// Bodies of a pipeline whose passes are all alike, and the same time on every way.
class AlikeTimes : public LeastTimes
{
  public:
    AlikeTimes(const TaskGraph& graph, Duration hop)
        : m_graph(graph),
          m_hop(hop)
    {
    }

    double OfBody(uint32_t /* classId */, uint32_t body) override
    {
        double sum = 0;
        for (const Op& op : m_graph.bodies[body].ops)
        {
            sum += op.duration.S();
        }
        return sum;
    }

    double OfCollective(uint32_t /* classId */, uint32_t /* collective */) override
    {
        return 0;
    }

    Message OfMessage(uint32_t /* classId */, int32_t /* peer */, Bytes /* bytes */) override
    {
        return {0, m_hop.S()};
    }

  private:
    const TaskGraph& m_graph;
    Duration m_hop;
};

TEST(PassReplay, GoesThereAndBack)
{
    // Forward 1, backward 2, hops of 0.5: 1 + 0.5 + (1 + 2) + 0.5 + 2.
    const PipelineShape shape = ShapeOf("1f1b", 2, 1, 1);
    const PassTimes pass{Duration::Seconds(1), Duration::Seconds(1), Duration::Seconds(1)};
    const ReplayTimes times{{pass, pass}, {Duration::Seconds(0.5)}};
    const ReplayedPasses replayed = ReplayPasses(shape, shape.schedule->Orders(shape), times);
    EXPECT_DOUBLE_EQ(replayed.end, 7);
    EXPECT_DOUBLE_EQ(replayed.ofFirst, 7);
}

// Every schedule, as the programs of the same pipeline are replayed; passes that overlap take any
// time together, or both of theirs.
TEST(PassReplay, IsThatOfThePrograms)
{
    std::mt19937 random(19);
    for (const std::string& name : Schedule::Names())
    {
        for (uint32_t i = 0; i < 40; i++)
        {
            const PipelineShape shape =
                ShapeOf(name, 1U << random() % 4, 1 + random() % 12, 1 + random() % 4);
            if (shape.schedule->Check(shape))
            {
                continue;
            }
            UniformPipeline pipeline;
            pipeline.shape = shape;
            pipeline.forward = Duration::Microseconds(1000 * (1 + random() % 5));
            pipeline.inputGradient = Duration::Microseconds(1000 * (1 + random() % 5));
            pipeline.weightGradient = Duration::Microseconds(1000 * (1 + random() % 5));
            pipeline.bytes = Bytes(1);
            const Duration hop = Duration::Microseconds(1000 * (random() % 4));
            const PassTimes pass{pipeline.forward, pipeline.inputGradient, pipeline.weightGradient};
            ReplayTimes times;
            times.passes.assign(Positions(shape), pass);
            if (i % 2 == 0)
            {
                pipeline.forwardBackward = Duration::Microseconds(1000 * (1 + random() % 12));
                times.pairs.assign(size_t{shape.ranks} * shape.chunks * shape.chunks,
                                   *pipeline.forwardBackward);
            }
            for (uint32_t b = 0; b + 1 < Positions(shape); b++)
            {
                const bool same = RankOf(shape, b) == RankOf(shape, b + 1);
                times.hops.push_back(same ? Duration() : hop);
            }
            const TaskGraph graph = BuildUniformPipeline(pipeline);
            AlikeTimes least(graph, hop);
            const double expected = LeastReplay(graph, RankOf(shape, 0), least);
            const auto replayed = ReplayPasses(shape, shape.schedule->Orders(shape), times);
            EXPECT_NEAR(replayed.end, expected, 1e-9)
                << name << " p " << shape.ranks << " m " << shape.microbatches << " v "
                << shape.chunks;
            EXPECT_LE(replayed.ofFirst, replayed.end);
        }
    }
}

/// All of the passes of every position is before its first reduction.
PassWindow
WindowOf(uint32_t position, Duration left, const std::vector<PassTimes>& passes)
{
    PassWindow window{position, left, {}, {}};
    for (const PassTimes& pass : passes)
    {
        window.weights.push_back(pass.weightGradient);
        window.backwards.push_back(pass.Backward());
    }
    return window;
}

TEST(PassReplay, OfAWindowIsWhatTheLastStageHasToDo)
{
    // Forward 1, backward 2, four microbatches: the last of two stages does 4 (1 + 2) from its
    // first forward on, and half a second less where only that is left of it.
    const PipelineShape shape = ShapeOf("1f1b", 2, 4, 1);
    const PipelineOrders orders = shape.schedule->Orders(shape);
    const PassTimes pass{Duration::Seconds(1), Duration::Seconds(1), Duration::Seconds(1)};
    ReplayTimes times{{pass, pass}, {Duration()}};
    PassWindow window = WindowOf(1, pass.forward, times.passes);
    EXPECT_DOUBLE_EQ(ReplayWindow(shape, orders, times, window), 12);
    window.left = Duration::Seconds(0.5);
    EXPECT_DOUBLE_EQ(ReplayWindow(shape, orders, times, window), 11.5);
    // With hops of 0.5 the first gradient leaves at 2.5 and is there at 3; the first stage does its
    // backward and its third forward until 6, which the last one has at 6.5. It is done with its
    // second backward at 5.5, and so is late by 1: 12.5. The first stage's last backward begins
    // another 0.5 later, and even if it reduces then, it is not the first.
    window.backwards[0] = Duration();
    times.hops = {Duration::Seconds(0.5)};
    EXPECT_DOUBLE_EQ(ReplayWindow(shape, orders, times, window), 12.5);
    // Where nothing of its last backward is before its reduction, that is 2 earlier.
    window.backwards[1] = Duration();
    EXPECT_DOUBLE_EQ(ReplayWindow(shape, orders, times, window), 10.5);
}

TEST(PassReplay, OfAWindowEndsWithTheFirstOfAll)
{
    // Each of two microbatches forward 1 and input gradient 1 on the last of two stages, 4 in all.
    // ZB-H1 puts its weight gradients off, of which the last comes behind the others, at 6; the
    // first stage, whose backwards take no time, has made all of its own as soon as the last input
    // gradient is there, at 4.
    const PipelineShape shape = ShapeOf("zb-h1", 2, 2, 1);
    const PassTimes pass{Duration::Seconds(1), Duration::Seconds(1), Duration::Seconds(1)};
    const PassTimes forward{Duration::Seconds(1), Duration(), Duration()};
    const ReplayTimes times{{forward, pass}, {Duration()}};
    const PassWindow window = WindowOf(1, pass.forward, times.passes);
    const double rest = ReplayWindow(shape, shape.schedule->Orders(shape), times, window);
    EXPECT_GE(rest, 4);
    EXPECT_LE(rest, 5);
}

TEST(PassReplay, OfAWindowOnOneStageIsAllOfIt)
{
    // Three forwards of 1 and backwards of 2 on one rank, in whatever order.
    const PassTimes pass{Duration::Seconds(1), Duration::Seconds(1), Duration::Seconds(1)};
    const ReplayTimes times{{pass}, {}};
    const PassWindow window = WindowOf(0, pass.forward, times.passes);
    for (const std::string schedule : {"gpipe", "1f1b", "zb-h1"})
    {
        const PipelineShape shape = ShapeOf(schedule, 1, 3, 1);
        EXPECT_DOUBLE_EQ(ReplayWindow(shape, shape.schedule->Orders(shape), times, window), 9);
    }
}

} // namespace

} // namespace scaleacross
