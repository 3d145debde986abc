// SPDX-License-Identifier: GPL-2.0-only

// Where the layers of a pipeline are: what is said that holds anyway changes nothing, and positions
// without any layer are run by every engine under every schedule.

#include "../volumes/parameter-units.h"
#include "../volumes/volume-plans.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/closed-form.h"
#include "core/pipeline/pipeline-schedule.h"
#include "helper/engine/packet-engine.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

RunReport
RunOn(const Engine& engine, const Scenario& scenario)
{
    return std::get<RunReport>(engine.Run(scenario, RunOptions()));
}

/// The same scenario, its layers said position by position.
Scenario
Said(const Scenario& scenario)
{
    std::vector<uint32_t> counts;
    for (const StageLayers& stage : volumes::LayersOfStages(scenario))
    {
        counts.push_back(stage.count);
    }
    counts.back() -= scenario.Job().model.mtpLayers; // are where the last layer is, or would be
    Scenario said = scenario;
    ParallelPlan& plan = said.Job().plan;
    plan.layers = LayerLayout::Of(counts);
    plan.embeddingAsLayer = plan.lossAsLayer = false;
    return said;
}

/// All that a report says of times, memory and bytes, to the bit.
void
ExpectSame(const RunReport& a, const RunReport& b, const std::string& plan)
{
    EXPECT_EQ(a.iterationTime, b.iterationTime) << plan;
    EXPECT_EQ(a.computeTime, b.computeTime) << plan;
    EXPECT_EQ(a.bubble, b.bubble) << plan;
    EXPECT_EQ(a.crossBuildingBytes, b.crossBuildingBytes) << plan;
    ASSERT_EQ(a.memory.size(), b.memory.size());
    for (size_t stage = 0; stage < a.memory.size(); stage++)
    {
        EXPECT_EQ(a.memory[stage].Total(), b.memory[stage].Total()) << plan;
    }
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        EXPECT_EQ(a.classes[k].bytes, b.classes[k].bytes) << plan;
        EXPECT_EQ(a.classes[k].busy, b.classes[k].busy) << plan;
        EXPECT_EQ(a.classes[k].exposed, b.classes[k].exposed) << plan;
    }
}

/// Two buildings of 8 H100 in servers of four: the pipeline crosses them, with four stages.
Scenario
AcrossFour(const Schedule& schedule, const std::string& layers)
{
    ParallelPlan plan;
    plan.tp = 2;
    plan.pp = 4;
    plan.dp = 2;
    plan.crossing = Crossing::Pipeline;
    plan.sharding = Sharding("fsdp");
    plan.schedule = schedule;
    plan.chunks = schedule->Facts().chunks.least;
    plan.layers = LayerLayout::Parse(layers);
    return volumes::ScenarioOf(volumes::Buildings(2, 8), volumes::Model(false), plan, 8);
}

} // namespace

TEST(LayerLayoutLaw, SayingWhatHoldsAnywayChangesNothing)
{
    uint32_t ends = 0;
    for (const Scenario& scenario : volumes::Plans(150, 64, volumes::DrawAny))
    {
        const ParallelPlan& plan = scenario.Job().plan;
        if (plan.layers.IsGiven() || plan.apportion == Apportion("time"))
        {
            continue;
        }
        ends += plan.embeddingAsLayer || plan.lossAsLayer ? 1 : 0;
        ExpectSame(RunOn(AnalyticalEngine(), scenario),
                   RunOn(AnalyticalEngine(), Said(scenario)),
                   volumes::TextOf(scenario));
    }
    EXPECT_GT(ends, 3U);
    for (const char* const schedule : {"1f1b", "interleaved", "zbv"})
    {
        Scenario scenario = AcrossFour(Schedule(schedule), "auto");
        for (const bool loss : {false, true})
        {
            scenario.Job().plan.lossAsLayer = loss;
            ExpectSame(RunOn(PacketEngine(), scenario),
                       RunOn(PacketEngine(), Said(scenario)),
                       schedule);
        }
    }
}

TEST(LayerLayoutLaw, EnginesRunPositionsWithoutLayersUnderEverySchedule)
{
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        const bool one = schedule->Facts().chunks.least == 1;
        for (const std::string layers :
             {one ? "0+8x2+0" : "0+2x2+3x4+0", one ? "0+16+0x2" : "0+8+0x4+8+0"})
        {
            const Scenario scenario = AcrossFour(*schedule, layers);
            const std::string plan = volumes::TextOf(scenario);
            const RunReport exact = RunOn(AnalyticalEngine(), scenario);
            const RunReport packets = RunOn(PacketEngine(), scenario);
            const ClosedForm closed =
                ClosedFormOf(scenario, std::get<PreparedRun>(PrepareRun(scenario)));
            EXPECT_LE(closed.bound, exact.iterationTime) << plan;
            EXPECT_LE(closed.bound, packets.iterationTime) << plan;
            EXPECT_NEAR(exact.iterationTime.S(),
                        packets.iterationTime.S(),
                        0.05 * packets.iterationTime.S())
                << plan;
            for (uint32_t k = 0; k < kCommClasses; k++)
            {
                EXPECT_EQ(exact.classes[k].bytes, packets.classes[k].bytes) << plan;
                EXPECT_EQ(exact.classes[k].crossBytes, packets.classes[k].crossBytes) << plan;
            }
            // 2 s h / tp bytes over every boundary between positions, both ways, 8 times for each
            // of 4 pipelines; a turn of a V is none between ranks.
            const ParallelPlan& said = scenario.Job().plan;
            const bool vee = schedule->Facts().placement == Placement::Vee;
            const uint64_t boundaries = 4 * said.chunks - 1 - (vee ? said.chunks - 1 : 0);
            EXPECT_EQ(packets.classes[static_cast<size_t>(CommClass::Pipeline)].bytes,
                      Bytes(4 * 8 * 2 * boundaries * (2 * 256 * 384 / 2)))
                << plan;
        }
    }
}

} // namespace scaleacross
