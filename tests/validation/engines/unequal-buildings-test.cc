// SPDX-License-Identifier: GPL-2.0-only

// Orders of dimensions of one's own over buildings of unequal sizes: what one class of ranks sends
// there may arrive in several buildings. Rung 2 has to run whatever the packet engine runs.

#include "../volumes/volume-plans.h"
#include "core/engine/analytical-engine.h"
#include "core/work/cost/schedule-times.h"
#include "core/work/partition/balance.h"
#include "helper/engine/packet-engine.h"

#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <vector>

namespace scaleacross
{

namespace
{

/// Buildings with servers of four, whose links hold nothing back.
Scenario
Unequal(const std::vector<uint32_t>& gpus, const ParallelPlan& plan)
{
    ClusterSpec cluster = volumes::Buildings(static_cast<uint32_t>(gpus.size()), 4);
    for (size_t b = 0; b < gpus.size(); b++)
    {
        cluster.buildings[b].gpus = gpus[b];
        cluster.buildings[b].fabric.spines = 1; // nothing to hash over
    }
    for (CrossLinkSpec& link : cluster.crossLinks)
    {
        link.capacity = GigabitsPerSecond(400 * 24);
    }
    ModelSpec model = volumes::Model(false);
    Scenario scenario = volumes::ScenarioOf(cluster, model, plan, 8);
    // In turn: messages of a ring that are under way on several queue pairs of a NIC share it, and
    // those which caught up with each other over a short edge then stay together (engines.md).
    scenario.network.qps = 1;
    scenario.network.spineBuffer = Bytes(uint64_t{4} << 30);
    scenario.network.leafBuffer = Bytes(uint64_t{4} << 30);
    return scenario;
}

/// Bytes are equal to the byte. Where messages and reductions meet on a NIC the engines take turns
/// in ways of their own, and phases end for all members at once in one of them (engines.md, "Known
/// differences"): some per cent. Classes that wait for each other in vain never end.
void
ExpectAgreement(const Scenario& scenario)
{
    const auto exact = AnalyticalEngine().Run(scenario, RunOptions());
    const auto packets = PacketEngine().Run(scenario, RunOptions());
    const auto& rung2 = std::get<RunReport>(exact);
    const auto& packet = std::get<RunReport>(packets);
    std::string text = volumes::TextOf(scenario) + " over";
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        text += ' ' + std::to_string(building.gpus);
    }
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        EXPECT_EQ(rung2.classes[k].bytes, packet.classes[k].bytes) << text;
        EXPECT_EQ(rung2.classes[k].crossBytes, packet.classes[k].crossBytes) << text;
    }
    EXPECT_NEAR(rung2.iterationTime.S(), packet.iterationTime.S(), 0.1 * packet.iterationTime.S())
        << text;
}

} // namespace

/// Buildings of 8, 8 and 16 GPUs: stages 0 to 3 of a replica in each of the small ones, stages 4 to
/// 7 of both in the large one.
Scenario
HalvesOfAPipeline()
{
    ParallelPlan plan;
    plan.tp = 2;
    plan.pp = 8;
    plan.dp = 2;
    plan.crossing = Crossing::Parse("tp-cp-ep-pp4-dp-pp");
    return Unequal({8, 8, 16}, plan);
}

TEST(UnequalBuildings, MayHoldHalvesOfOnePipelineEach)
{
    ExpectAgreement(HalvesOfAPipeline());
}

TEST(UnequalBuildings, LoadTheSpansWithWhatEachHalfSends)
{
    // Stage 3 of a replica sends its activations to stage 4, stage 4 its gradients back: two ranks,
    // 8 microbatches, messages of so many bytes in packets of 4,096 and headers. Nothing else
    // crosses the spans to the large building, as its stages are reduced inside.
    const Scenario scenario = HalvesOfAPipeline();
    const uint64_t message = PipelineMessageBytes(scenario.Job()).Count();
    const uint64_t packets = (message + 4095) / 4096;
    ASSERT_EQ(scenario.network.mtu, Bytes(4096));
    const uint64_t expected =
        2 * 8 * (message + packets * scenario.network.Format().DataHeaders().Count());
    const auto result = AnalyticalEngine().Run(scenario, RunOptions());
    uint32_t spans = 0;
    for (const ResourceReport& resource : std::get<RunReport>(result).resources)
    {
        const bool toHalf = resource.name == "b0 to b2" || resource.name == "b1 to b2" ||
                            resource.name == "b2 to b0" || resource.name == "b2 to b1";
        spans += toHalf ? 1 : 0;
        EXPECT_TRUE(!toHalf || resource.bytes == Bytes(expected))
            << resource.name << " carries " << ToString(resource.bytes);
    }
    EXPECT_EQ(spans, 4U);
}

TEST(UnequalBuildings, HalveOverTheSpanWhatTheyShare)
{
    // Replicas of 8 ranks in buildings of 24 and 8. Gradients of S are exchanged in halves by
    // replicas 2 and 3, S / 2 each way over the span, then in quarters by 1 and 3, and back: 3 S.
    // All groups together hold those of the model, four bytes a parameter.
    ParallelPlan plan;
    plan.tp = 4;
    plan.pp = 2;
    plan.dp = 4;
    plan.crossing = Crossing::Data;
    Scenario scenario = Unequal({24, 8}, plan);
    scenario.network.collective = CollectiveAlgorithm("halving-doubling");
    ASSERT_EQ(scenario.Job().workload.gradientBytes, 4U);
    const auto result = AnalyticalEngine().Run(scenario, RunOptions());
    EXPECT_EQ(std::get<RunReport>(result).crossBuildingBytes.Count(),
              3 * 4 * scenario.Job().model.TotalParameters());
    ExpectAgreement(scenario);
}

TEST(UnequalBuildings, ReduceInsideForEveryMicrobatchAndAcrossOnce)
{
    // Half as fast in the second building, whose replicas have fewer microbatches, and so fewer
    // reductions inside the building before the one that both take part in.
    ParallelPlan plan;
    plan.tp = 2;
    plan.dp = 8;
    plan.crossing = Crossing::Data;
    plan.sharding = Sharding("hsdp");
    plan.reduce = Reduction("microbatch");
    plan.apportion = Apportion("time");
    Scenario scenario = Unequal({8, 8}, plan);
    scenario.Job().workload.globalBatch = 48;
    GpuSpec& slow = scenario.cluster.buildings[1].gpu;
    slow.bf16Peak = slow.bf16Peak / 2;
    slow.hbmBandwidth = slow.hbmBandwidth / 2;
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.gpu.kernelGap = Duration();
    }
    const auto layout = std::get<RankLayout>(LayOut(plan, scenario.cluster));
    const auto microbatches = std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, layout));
    ASSERT_GT(microbatches[0], microbatches[1]);
    ExpectAgreement(scenario);
}

namespace
{

/// A random plan over unequal buildings, which has its classes split by them; null: none of those.
std::optional<Scenario>
DrawUnequal(std::mt19937& random, CollectiveAlgorithm algorithm)
{
    const auto pick = [&random](const std::vector<uint32_t>& values) {
        return values[random() % values.size()];
    };
    std::vector<uint32_t> gpus;
    uint32_t all = 0;
    for (uint32_t b = pick({2, 3, 3}); b > 0; b--)
    {
        gpus.push_back(pick({4, 8, 8, 16, 24}));
        all += gpus.back();
    }
    ParallelPlan plan;
    plan.tp = pick({1, 2, 4});
    plan.pp = pick({1, 2, 4, 8});
    plan.dp = std::max(1U, all / (plan.tp * plan.pp));
    plan.schedule = Schedule(pick({0, 1}) == 0 ? "1f1b" : "zb-h1");
    plan.sharding = pick({0, 1}) == 0 ? Sharding("ddp") : Sharding("fsdp");
    plan.crossing = pick({0, 1}) == 0 ? volumes::DrawOrder(random) : Crossing(Crossing::Data);
    Scenario scenario = Unequal(gpus, plan);
    scenario.network.collective = algorithm;
    const auto prepared = PrepareRun(scenario);
    const auto* run = std::get_if<PreparedRun>(&prepared);
    // Rings of tensor parallelism over unlike edges are a known difference of their own, as
    // they follow each other without end: (n-1)/n of all latencies, not all but one.
    if (run == nullptr || run->graph.classes.size() == plan.pp ||
        run->layout.Crosses(run->layout.tensor))
    {
        return std::nullopt;
    }
    return scenario;
}

} // namespace

class UnequalBuildingsBy : public testing::TestWithParam<CollectiveAlgorithm>
{
};

TEST_P(UnequalBuildingsBy, TakeOrdersOfTheirOwn)
{
    std::mt19937 random(20261122);
    uint32_t held = 0;
    for (uint32_t tries = 0; tries < 20000 && held < 12; tries++)
    {
        if (const auto scenario = DrawUnequal(random, GetParam()))
        {
            ExpectAgreement(*scenario);
            held++;
        }
    }
    EXPECT_EQ(held, 12U);
}

INSTANTIATE_TEST_SUITE_P(Algorithms,
                         UnequalBuildingsBy,
                         testing::Values(CollectiveAlgorithm("ring"),
                                         CollectiveAlgorithm("hierarchical"),
                                         CollectiveAlgorithm("halving-doubling"),
                                         CollectiveAlgorithm("bidirectional-ring"),
                                         CollectiveAlgorithm("tree"),
                                         CollectiveAlgorithm("auto"),
                                         CollectiveAlgorithm("nccl")));

} // namespace scaleacross
