// SPDX-License-Identifier: GPL-2.0-only

// What is live in a pass and the stand-ins of gradients, by hand and to the byte.

#include "../schedule-scenario.h"
#include "core/work/memory/memory.h"
#include "core/work/memory/working-set.h"
#include "core/work/partition/balance.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// Llama 3 8B on two buildings of 16: h = 4,096, f = 14,336, a d = 4,096, g d = 1,024, V =
/// 128,256; one sequence of 1,024 tokens a microbatch.
Scenario
Llama(uint32_t tp, uint32_t pp, uint32_t cp = 1)
{
    ParallelPlan plan;
    plan.tp = tp;
    plan.pp = pp;
    plan.cp = cp;
    plan.dp = 32 / (tp * pp * cp);
    plan.sharding = Sharding("zero1");
    return ScenarioOf(BuildingsOf({16, 16}), ModelPreset("llama3-8b"), plan, 4);
}

std::vector<StageLayers>
ChunkOf(const Scenario& scenario, size_t stage)
{
    return {LayersOf(scenario, LayoutOf(scenario))[stage]};
}

WorkingSet
SetOf(const Scenario& scenario, size_t stage = 0)
{
    return WorkingSetOf(scenario, ChunkOf(scenario, stage));
}

constexpr double kA = 2 * 4096; // an activation of a token
constexpr double kF = 14336;
constexpr double kV = 128256;

} // namespace

TEST(WorkingSet, OfADenseLayer)
{
    // Without tp: gradients of gate and up, 4f, and of the output, A.
    EXPECT_EQ(SetOf(Llama(1, 2)).layers, kA + 4 * kF);
    // tp = 8: the activation function 8A (4f = 7A, and A); the down projection's gathered gradient
    // 8A, 2f = 3.5A and A, 12.5A; the up projection's input and its gradient, 16A, and A less 2f =
    // 3.5A, 13.5A; attention's gathered input and partial output, 16A, are the most.
    EXPECT_EQ(4 * kF, 7 * kA);
    EXPECT_EQ(SetOf(Llama(8, 2)).layers, 16 * kA);
    // GELU without tp: 2f.
    Scenario gelu = Llama(1, 2);
    gelu.Job().model.gatedMlp = false;
    EXPECT_EQ(SetOf(gelu).layers, kA + 2 * kF);
    // Attention with cp = 8 gathers K, V and their gradients, 4 cp g (d + d_v) = 4 x 8 x 2,048 =
    // 8A: as much as the MLP.
    EXPECT_EQ(SetOf(Llama(1, 2, 8)).layers, 8 * kA);
}

TEST(WorkingSet, OfTheHead)
{
    EXPECT_EQ(SetOf(Llama(1, 2), 0).head, 0);
    EXPECT_EQ(SetOf(Llama(1, 2), 1).head, kA + 4 * kV);
    EXPECT_EQ(SetOf(Llama(2, 2), 1).head, 4 * kA + 4 * kV);
    Scenario fused = Llama(1, 2);
    fused.Job().workload.stack.lossBuffer = 0;
    EXPECT_EQ(SetOf(fused, 1).head, kA);
    // Of the last stage's moments the later ones have 4h + 2V less of the head: the first counts.
    // 1,024 tokens; messages of the pipeline 4A.
    const auto uses = MemoryOf(fused, LayoutOf(fused));
    EXPECT_EQ(uses[0].buffers, Bytes(1024 * (4 * 8192 + 8192 + 4 * 14336)));
    EXPECT_EQ(uses[1].buffers, Bytes(1024 * (4 * 8192 + 8192)));
}

TEST(WorkingSet, HeadRunsBeforeRecomputation)
{
    // Full recomputation brings a layer of 139,392 bytes a token back (ActivationsOfALlamaLayer),
    // and then A + 4f = 65,536 more are live; of the head A + 4V = 521,216, and 4h + 2V = 272,896
    // that are gone by then. 521,216 is more than 139,392 + 65,536 - 272,896 < 0.
    Scenario scenario = Llama(1, 1);
    scenario.Job().plan.recompute = Recompute("full");
    const auto use = MemoryOf(scenario, LayoutOf(scenario))[0];
    EXPECT_EQ(use.activations + use.buffers,
              Bytes(1024 * (32 * 8192 + 4 * 4096 + 2 * 128256 + 521216)));
}

TEST(WorkingSet, StandInsOfADenseStage)
{
    // Nothing by itself; with it QKV h (a d + 2 g d), output, gate and up, down and on the last
    // stage the head, 2 bytes each: once, however many layers there are.
    Scenario scenario = Llama(2, 2);
    EXPECT_EQ(StandInsOf(scenario, ChunkOf(scenario, 1)), Bytes(0));
    scenario.Job().workload.stack.gradientStandIns = true;
    const uint64_t layer = 4096ULL * (6144 + 4096 + 3 * 14336) / 2;
    EXPECT_EQ(StandInsOf(scenario, ChunkOf(scenario, 0)), Bytes(2 * layer));
    EXPECT_EQ(StandInsOf(scenario, ChunkOf(scenario, 1)),
              Bytes(2 * (layer + 4096ULL * 128256 / 2)));
}

TEST(WorkingSet, StandInsOfExperts)
{
    // SmallMoe: h = 512, QKV 512 x 1,536, output 512 x 512; dense layers 512 x 4,096 and 2,048 x
    // 512; experts and the shared one 512 x 2,048 and 1,024 x 512, the same shapes. tp = 1.
    ParallelPlan plan;
    plan.dp = 16;
    plan.ep = 4;
    plan.pp = 1;
    plan.sharding = Sharding("zero1");
    Scenario scenario = ScenarioOf(BuildingsOf({8, 8}), SmallMoe(), plan, 4);
    scenario.Job().workload.stack.gradientStandIns = true;
    const uint64_t attention = 512 * 1536 + 512 * 512;
    const uint64_t dense = 3 * 512 * 2048;
    const uint64_t expert = 3 * 512 * 1024;
    const uint64_t head = 512 * 4096; // the shape of gate and up of a dense layer: not once more
    EXPECT_EQ(head, uint64_t{512} * 2 * 2048);
    EXPECT_EQ(StandInsOf(scenario, ChunkOf(scenario, 0)), Bytes(2 * (attention + dense + expert)));
}

} // namespace scaleacross
