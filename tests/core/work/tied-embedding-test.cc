// SPDX-License-Identifier: GPL-2.0-only

// An embedding that the output head shares: held by one rank or by two.

#include "../built-graph.h"
#include "core/work/memory/memory.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

ModelSpec
Tied()
{
    ModelSpec model = SmallModel();
    model.tiedEmbedding = true;
    return model;
}

// Parameters of SmallModel(): V h, a layer 4 h^2 + 3 h f + 2h, final norm h.
constexpr uint64_t kEmbedding = 4096 * 512;
constexpr uint64_t kLayer = 4 * 512 * 512 + 3 * 512 * 2048 + 2 * 512;
constexpr uint64_t kNorm = 512;

/// A schedule and its chunks.
struct ChunkCase
{
    const char* schedule;
    uint32_t chunks;
};

constexpr ChunkCase kVees[] = {{"zbv", 2},
                               {"zbv-interleaved", 2},
                               {"zbv-interleaved", 4},
                               {"dualpipev", 2}};

/// tp = 2, pp = 2, dp = 8, four layers on each stage.
ParallelPlan
PlanWith(const ChunkCase& vee, Sharding sharding)
{
    ParallelPlan plan = PlanOf(2, 1, 1, 2, 8);
    plan.schedule = vee.schedule;
    plan.chunks = vee.chunks;
    plan.sharding = sharding;
    return plan;
}

uint64_t
ParametersOf(const MemoryUse& use)
{
    EXPECT_EQ(use.gradients.Count(), 2 * use.parameters.Count());
    EXPECT_EQ(use.optimizer.Count(), 6 * use.parameters.Count());
    EXPECT_EQ(use.gathered.Count(), 0U);
    return use.parameters.Count() / 2;
}

} // namespace

TEST(TiedEmbedding, IsSummedOverItsTwoHolders)
{
    // V h / tp gradients of 4 bytes between first and last stage, either way, once per iteration;
    // of a shard where gradients are reduce-scattered: dense group of 8, HSDP 4 of it.
    const ModelSpec model = Tied();
    auto plan = PlanOf(2, 1, 1, 2, 8);
    const uint64_t messages = 4 * (2ULL * 1024 * 512 / 2); // m = 4, one direction
    const uint64_t whole = 4096ULL * 512 / 2 * 4;
    const auto sent = [&model, &plan](Sharding sharding, Rank rank) {
        plan.sharding = sharding;
        return Sent(TallyOf(Build(TwoBuildings(model, plan, 4)), rank), CommClass::Pipeline);
    };
    for (const Rank rank : {0U, 2U}) // stages 0 and 1
    {
        EXPECT_EQ(sent(Sharding("ddp"), rank), messages + whole);
        EXPECT_EQ(sent(Sharding("zero1"), rank), messages + whole / 8);
        EXPECT_EQ(sent(Sharding("fsdp"), rank), messages + whole / 8);
        EXPECT_EQ(sent(Sharding("hsdp"), rank), messages + whole / 4);
    }
    plan = PlanOf(2, 1, 1, 4, 4);
    EXPECT_EQ(sent(Sharding("ddp"), 2), 2 * messages); // a stage between
    plan = PlanOf(2, 1, 1, 1, 16);
    EXPECT_EQ(sent(Sharding("ddp"), 0), 0U); // one rank, one embedding
}

TEST(TiedEmbedding, IsHeldOnceWhereAVBringsFirstAndLastStageTogether)
{
    // DDP, 18 bytes a parameter, split by tp = 2. On a V rank 0 has the first and the last virtual
    // stage, with the embedding once; rank 1 has layers only.
    for (const ChunkCase& vee : kVees)
    {
        const auto scenario = TwoBuildings(Tied(), PlanWith(vee, Sharding("ddp")), 4);
        const auto stages = MemoryOf(scenario, LayoutOf(scenario));
        EXPECT_EQ(ParametersOf(stages[0]), (kEmbedding + 4 * kLayer + kNorm) / 2) << vee.schedule;
        EXPECT_EQ(ParametersOf(stages[1]), 4 * kLayer / 2) << vee.schedule;
    }
    // Where chunks begin at the first rank again, as those of latency-aware do, it is on both.
    for (const char* schedule : {"interleaved", "latency-aware"})
    {
        const auto scenario = TwoBuildings(Tied(), PlanWith({schedule, 2}, Sharding("ddp")), 4);
        const auto stages = MemoryOf(scenario, LayoutOf(scenario));
        EXPECT_EQ(ParametersOf(stages[0]), (kEmbedding + 4 * kLayer) / 2) << schedule;
        EXPECT_EQ(ParametersOf(stages[1]), (kEmbedding + 4 * kLayer + kNorm) / 2) << schedule;
    }
}

TEST(TiedEmbedding, IsReducedOnceAndNotExchangedOnAV)
{
    // m = 4 microbatches, p = 2. Rank 0 sends activations of every even virtual stage and gradients
    // of every odd one to rank 1, which sends as many back: v a microbatch, and nothing else.
    // Gradients of what a rank holds go through data parallelism over 8 ranks once: all-reduced
    // they are sent 2 x 7/8 times.
    for (const ChunkCase& vee : kVees)
    {
        const auto graph = Build(TwoBuildings(Tied(), PlanWith(vee, Sharding("ddp")), 4));
        const uint64_t message = 2ULL * 1024 * 512 / 2;
        for (const Rank rank : {0U, 2U}) // stages 0 and 1
        {
            const auto tally = TallyOf(graph, rank);
            const uint64_t held = (rank == 0 ? kEmbedding + kNorm : 0) + 4 * kLayer;
            EXPECT_EQ(Sent(tally, CommClass::Pipeline), vee.chunks * 4 * message) << vee.schedule;
            EXPECT_EQ(Sent(tally, CommClass::Data), 4 * held / 2 * 2 * 7 / 8) << vee.schedule;
        }
    }
    // With latency-aware both hold it: V h / tp gradients each way.
    const auto graph =
        Build(TwoBuildings(Tied(), PlanWith({"latency-aware", 1}, Sharding("ddp")), 4));
    EXPECT_EQ(Sent(TallyOf(graph, 0), CommClass::Pipeline),
              4 * (2ULL * 1024 * 512 / 2) + 4 * kEmbedding / 2);
}

} // namespace scaleacross
