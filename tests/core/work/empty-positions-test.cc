// SPDX-License-Identifier: GPL-2.0-only

// Positions of a pipeline that have no layer, and ranks of which no chunk has one.

#include "../built-graph.h"
#include "core/pipeline/pipeline-schedule.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

TEST(EmptyPositions, RunUnderEverySchedule)
{
    // All kinds of holes: at the ends, in the middle, a stage of which no chunk has a layer.
    uint32_t plans = 0;
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        const uint32_t chunks = schedule->Facts().chunks.least;
        const std::string four[] = {"0+4x2+0", "8+0x3", "0x3+8", "0+8+0x2"};
        const std::string eight[] = {"0+1x2+2x2+1x2+0", "0+4+0x4+4+0", "0x7+8", "8+0x7"};
        for (const std::string& layers : chunks == 1 ? four : eight)
        {
            for (const auto sharding : {Sharding("ddp"), Sharding("fsdp"), Sharding("hsdp")})
            {
                ParallelPlan plan = PlanOf(2, 1, 1, 4, 4);
                plan.schedule = *schedule;
                plan.chunks = chunks;
                plan.layers = LayerLayout::Parse(layers);
                plan.sharding = sharding;
                plan.reshard = plans % 2 == 0;
                plan.prefetch = plans % 4;
                plan.bucket = Bytes(plans % 5 == 0 ? 40 << 20 : 0);
                ModelSpec model = SmallModel();
                model.tiedEmbedding = plans % 3 == 0;
                EXPECT_EQ(GraphInterpreter(Build(TwoBuildings(model, plan, 8))).Run(2), "")
                    << schedule->Facts().name << ' ' << layers;
                plans++;
            }
        }
    }
    EXPECT_EQ(plans, Schedule::Rows().size() * 4 * 3);
}

TEST(EmptyPositions, PassOnMessagesAsOthersDo)
{
    // Six microbatches over four stages: 2 b s h / tp bytes from each stage to the next and as many
    // back, so that both stages in the middle send twice as much as the ends, whoever has layers.
    const uint64_t message = 2ULL * 1024 * 512 / 2;
    for (const std::string layers : {"auto", "0+8+0x2", "0x2+8+0"})
    {
        ParallelPlan plan = PlanOf(2, 1, 1, 4, 4);
        plan.layers = LayerLayout::Parse(layers);
        const TaskGraph graph = Build(TwoBuildings(SmallModel(), plan, 6));
        for (const uint32_t stage : {0U, 1U, 2U, 3U})
        {
            const RankTally tally = TallyOf(graph, graph.pipeline.Member(0, stage));
            const uint64_t ways = stage == 0 || stage == 3 ? 1 : 2;
            EXPECT_EQ(Sent(tally, CommClass::Pipeline), ways * 6 * message) << layers << stage;
            // A stage that has neither layers nor an end sends nothing else, and computes nothing.
            const bool nothing = layers == "0+8+0x2" ? stage == 2 : layers != "auto" && stage == 1;
            EXPECT_EQ(Sent(tally, CommClass::Data) == 0, nothing) << layers << stage;
            EXPECT_EQ(Sent(tally, CommClass::Tensor) == 0, nothing) << layers << stage;
            EXPECT_EQ(tally.compute == Duration(), nothing) << layers << stage;
        }
    }
}

} // namespace scaleacross
