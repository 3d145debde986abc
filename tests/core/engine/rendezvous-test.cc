// SPDX-License-Identifier: GPL-2.0-only

// Messages that leave when their receives are posted, and their senders know.

#include "../../waiting-oracle.h"
#include "../graph-interpreter.h"
#include "core/engine/program-evaluator.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/graph/task-graph-builder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr Duration kSecond = Duration::Microseconds(1000000);

/// Shapes of every schedule with p <= 8, a few numbers of microbatches and up to four chunks.
std::vector<PipelineShape>
Shapes()
{
    std::vector<PipelineShape> shapes;
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        for (const uint32_t p : {1U, 2U, 3U, 4U, 8U})
        {
            for (const uint32_t m : {1U, 2U, 4U, 7U, 8U, 16U})
            {
                for (uint32_t v = 1; v <= 4; v++)
                {
                    const PipelineShape shape{*schedule, p, m, v};
                    if (!CheckPipeline(shape))
                    {
                        shapes.push_back(shape);
                    }
                }
            }
        }
    }
    return shapes;
}

std::string
Describe(const PipelineShape& shape)
{
    return ToString(shape.schedule) + " p " + std::to_string(shape.ranks) + " m " +
           std::to_string(shape.microbatches) + " v " + std::to_string(shape.chunks);
}

/// Of every stage; a message takes `latency`, a credit `credit`.
struct Times
{
    int64_t forward{1};
    int64_t inputGradient{1};
    int64_t weightGradient{1};
    int64_t latency{0};
    int64_t hold{0}; //!< of a message, before its latency: of its way
    int64_t credit{0};
};

/// Every action of the first iteration, by end, begin and stage.
scaleacross::Timeline
TimelineOf(const PipelineShape& shape, const Times& times, Receives receives)
{
    UniformPipeline pipeline;
    pipeline.shape = shape;
    pipeline.forward = kSecond * times.forward;
    pipeline.inputGradient = kSecond * times.inputGradient;
    pipeline.weightGradient = kSecond * times.weightGradient;
    pipeline.receives = receives;
    TransferTimes transfers;
    transfers.message = [&times](Bytes, Rank, Rank, uint32_t) {
        TransferCost cost;
        cost.least = static_cast<double>(times.hold);
        cost.latency = kSecond * times.latency;
        return cost;
    };
    transfers.credit = [&times](Rank, Rank) { return kSecond * times.credit; };
    RunOptions options;
    options.warmup = 0;
    options.iterations = 1;
    options.timeline = Timelines::OfClasses;
    RunReport report;
    EvaluateProgram(BuildUniformPipeline(pipeline), transfers, options, report);
    return *report.timeline;
}

double
EndOf(const scaleacross::Timeline& timeline, uint32_t stage)
{
    Duration end;
    for (const RankRun& run : timeline.OnePerStage().at(stage)->record.runs)
    {
        end = std::max(end, run.end);
    }
    return end.S();
}

} // namespace

TEST(Rendezvous, AMessageWaitsForItsPlannedReceive)
{
    // 1F1B, p = 2, m = 2, F = 1, B = 2. Without delays rank 0 has F 0-1, F 1-2, B 4-6, B 7-9, and
    // rank 1 F 1-2, B 2-4, F 4-5, B 5-7. So rank 1 posts the receive of F1, sent at 2, before its
    // first B, and rank 0 those of the gradients, sent at 4 and 7, before the backwards themselves.
    const PipelineShape shape{"1f1b", 2, 2};
    // A latency of 4, early: F0 and F1 are at rank 1 at 5 and 6. F 5-6, B 6-8, F 8-9, B 9-11; rank
    // 0: B 12-14, B 15-17.
    auto timeline = TimelineOf(shape, {1, 1, 1, 4}, "early");
    EXPECT_EQ(EndOf(timeline, 0), 17);
    EXPECT_EQ(EndOf(timeline, 1), 11);
    // Planned, credits at once: F1 leaves at 6, not 2, and comes at 10: F 10-11, B 11-13. Rank 0:
    // the first gradient comes at 12, B 12-14; the second leaves at 14, not 13: B 18-20.
    timeline = TimelineOf(shape, {1, 1, 1, 4}, "planned");
    EXPECT_EQ(EndOf(timeline, 0), 20);
    EXPECT_EQ(EndOf(timeline, 1), 13);
    // With credits that take 3, F0, posted at 0, leaves at 3 and comes at 7: F 7-8, B 8-10. F1,
    // posted at 8, leaves at 11: F 15-16, B 16-18. Rank 0 posted the first gradient at 2: it leaves
    // at 10, B 14-16; the second, posted at 16, leaves at 19: B 23-25.
    timeline = TimelineOf(shape, {1, 1, 1, 4, 0, 3}, "planned");
    EXPECT_EQ(EndOf(timeline, 0), 25);
    EXPECT_EQ(EndOf(timeline, 1), 18);
}

TEST(Rendezvous, EverySchedulesTimesAreTheOracles)
{
    const Times times{3, 4, 2, 5, 6, 7};
    size_t compared = 0;
    for (const PipelineShape& shape : Shapes())
    {
        if (shape.ranks * shape.microbatches * shape.chunks > 64)
        {
            continue; // the oracle takes its time
        }
        for (const bool planned : {false, true})
        {
            const auto timeline = TimelineOf(shape, times, planned ? "planned" : "early");
            WaitingTimes waits{3, 4, 2, 5, 6, 1, planned};
            waits.credit = 7;
            const auto oracle = EvaluateWaiting(shape, waits);
            ASSERT_TRUE(oracle) << Describe(shape);
            for (uint32_t r = 0; r < shape.ranks; r++)
            {
                EXPECT_DOUBLE_EQ(EndOf(timeline, r), oracle->end[r].back())
                    << Describe(shape) << " rank " << r << " planned " << planned;
            }
            compared++;
        }
    }
    EXPECT_GT(compared, 200U);
}

TEST(Rendezvous, PlannedReceivesDoNotDelayTheirPlan)
{
    for (const PipelineShape& shape : Shapes())
    {
        const auto early = TimelineOf(shape, {}, "early");
        const auto planned = TimelineOf(shape, {}, "planned");
        ASSERT_EQ(early.ranks.size(), planned.ranks.size());
        for (uint32_t r = 0; r < shape.ranks; r++)
        {
            EXPECT_EQ(early.ranks[r].record.runs.size(), planned.ranks[r].record.runs.size());
            EXPECT_EQ(EndOf(early, r), EndOf(planned, r)) << Describe(shape);
        }
    }
}

TEST(Rendezvous, NoScheduleWaitsInACircleWhateverThingsTake)
{
    // The interpreter knows no times: what runs to its end in it does so with any. Orders that are
    // made for times are made for random ones, among them passes that take none.
    std::mt19937 random(20260712);
    size_t made = 0;
    for (PipelineShape shape : Shapes())
    {
        if (shape.schedule->Facts().usesTimes)
        {
            auto times = std::make_shared<PipelineTimes>();
            for (uint32_t i = 0; i < Positions(shape); i++)
            {
                const auto time = [&] { return kSecond * static_cast<int64_t>(random() % 4); };
                times->passes.push_back({time(), time(), time()});
                times->hops.push_back(time() * static_cast<int64_t>(random() % 8));
            }
            shape.times = times;
            made++;
        }
        UniformPipeline pipeline;
        pipeline.shape = shape;
        pipeline.forward = pipeline.inputGradient = pipeline.weightGradient = kSecond;
        pipeline.receives = "planned";
        const TaskGraph graph = BuildUniformPipeline(pipeline);
        EXPECT_TRUE(graph.rendezvous);
        EXPECT_EQ(GraphInterpreter(graph).Run(3), "") << Describe(shape);
    }
    EXPECT_GT(made, 20U);
}

} // namespace scaleacross
