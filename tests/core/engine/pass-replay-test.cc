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
    const PipelineTimes times{{pass, pass}, {Duration::Seconds(0.5)}};
    const ReplayedPasses replayed = ReplayPasses(shape, shape.schedule->Orders(shape), times);
    EXPECT_DOUBLE_EQ(replayed.end, 7);
    EXPECT_DOUBLE_EQ(replayed.ofFirst, 7);
}

// Every schedule whose passes do not overlap, as the programs of the same pipeline are replayed.
TEST(PassReplay, IsThatOfThePrograms)
{
    std::mt19937 random(19);
    for (const std::string& name : Schedule::Names())
    {
        for (uint32_t i = 0; i < 40; i++)
        {
            const PipelineShape shape =
                ShapeOf(name, 1U << random() % 4, 1 + random() % 12, 1 + random() % 4);
            if (shape.schedule->Check(shape) || shape.schedule->Facts().overlapsPasses)
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
            PipelineTimes times;
            times.passes.assign(Positions(shape), pass);
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

} // namespace

} // namespace scaleacross
