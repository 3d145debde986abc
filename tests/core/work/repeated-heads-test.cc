// SPDX-License-Identifier: GPL-2.0-only

// Tensor parallelism over more ranks than KV heads, by hand: what a rank computes, keeps and sends.
// The way is Megatron Core's (core_v0.16.0, megatron/core/transformer/attention.py): a rank
// projects to (a + 2g) d / tp columns, all of a group gather all columns, and each goes on with a /
// tp query heads and one KV head.

#include "../built-graph.h"
#include "compute-cases.h"
#include "core/work/cost/kept-activations.h"
#include "core/work/memory/memory.h"
#include "core/work/memory/working-set.h"
#include "core/work/partition/balance.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

/// Qwen3-30B-A3B on eight GPUs: h = 2,048, a = 32, g = 4, d = 128, so (a + 2g) d = 5,120 columns.
Scenario
Qwen(uint32_t tp, uint32_t cp = 1)
{
    ParallelPlan plan = PlanOf(tp, cp, 8, 1, 8 / (tp * cp));
    plan.etp = 1;
    plan.sharding = Sharding("zero1");
    return ScenarioOf(BuildingsOf({8}), ModelPreset("qwen3-30b-a3b"), plan, 1);
}

/// How often a forward and a backward of the job have a collective of so many bytes.
uint32_t
Times(const TaskGraph& graph, const std::string& name, uint64_t bytes)
{
    uint32_t times = 0;
    for (const Op& run : graph.classes.front().program.ops)
    {
        if (run.kind != OpKind::Run)
        {
            continue;
        }
        for (const Op& op : graph.bodies[run.index].ops)
        {
            if (op.kind == OpKind::Collective)
            {
                const Collective& collective = graph.collectives[op.index];
                times += collective.name == name && collective.call.bytes.Count() == bytes ? 1 : 0;
            }
        }
    }
    return times;
}

} // namespace

TEST(RepeatedHeads, ComputingByHand)
{
    // a = 4, g = 2, d = 2, h = 8; tp = 4: 4 of 16 columns, one query head and one KV head. 32
    // tokens, of which 8 are a rank's own.
    ParallelPlan plan;
    plan.tp = 4;
    const auto workload = WorkloadOf(32, 1, true);
    // FLOPs: projections 2 x 32 x 4 x 8 = 2,048; scores and values 32^2 / 2 x 2 (2 + 2) = 4,096;
    // output 2 x 32 x 8 x 2 = 1,024. Backward 2.5 times the core.
    const auto flops = CostOfLayer(Tiny(), workload, plan, OnlyMatrices(), 0).attention;
    EXPECT_NEAR(Work(flops.forward), 2048 + 4096 + 1024, 1);
    EXPECT_NEAR(Work(flops.inputGradient), 2048 + 2.5 * 4096 + 1024, 1);
    EXPECT_NEAR(Work(flops.weightGradient), 2048 + 1024, 1);
    // Bytes: norm 8 x 4h = 256; projection 2 (32 x 8 + 4 x 8 + 32 x 4) = 832; columns put together
    // 32 x 4 x 16 = 2,048; rotary 8 x 4 (4 + 4) 2 = 512, with 4 KV heads for 4 ranks; output 2 (32
    // x 2 + 8 x 2 + 32 x 8) = 672; residual 8 x 6h = 384. Backward the norm has 6h, 384, and the
    // columns 32 x 6 x 16 = 3,072.
    const auto bytes = CostOfLayer(Tiny(), workload, plan, OnlyMemory(), 0).attention;
    EXPECT_NEAR(Work(bytes.forward), 256 + 832 + 2048 + 512 + 672 + 384, 1);
    EXPECT_NEAR(Work(bytes.inputGradient), 384 + 832 + 3072 + 512 + 672 + 384, 1);
    EXPECT_NEAR(Work(bytes.weightGradient), 832 + 672, 1);
    // No software moves more for the copies: of 2 bytes for one only the rest doubles.
    auto slow = workload;
    slow.stack.elementwise = 2;
    EXPECT_NEAR(Work(CostOfLayer(Tiny(), slow, plan, OnlyMemory(), 0).attention.forward),
                2 * (256 + 512 + 384) + 832 + 2048 + 672,
                1);
}

TEST(RepeatedHeads, WeightsAreHeldOnce)
{
    // Embedding 151,936 x 2,048 = 311,164,928, and the head and a norm of 2,048. A layer:
    // projections 2,048 (4,096 + 2 x 512) = 10,485,760, output 4,096 x 2,048 = 8,388,608, norms of
    // heads 2 x 128, of the layer 2 x 2,048, router 2,048 x 128 = 262,144: 19,140,864; experts 3 x
    // 2,048 x 768 x 128 = 603,979,776. An eighth of each on each of eight ranks: 38,895,616 +
    // 38,895,872 + 48 (2,392,608 + 75,497,472) = 3,816,515,328.
    const Scenario scenario = Qwen(8);
    EXPECT_EQ(MemoryOf(scenario, LayoutOf(scenario))[0].parameters, Bytes(2 * 3816515328ULL));
}

TEST(RepeatedHeads, KeysOfEveryRankAreKept)
{
    // Per token of a rank 2 (g d + g d_v): 2 x 4 x 256 = 2,048 bytes with 4 KV heads over 4 ranks,
    // 4,096 over 8, 16,384 over 32.
    const auto keptOver = [](uint32_t tp) { return SavedPerToken(Qwen(tp).Job(), 0); };
    EXPECT_EQ(keptOver(8) - keptOver(4), 2048);
    JobSpec job = Qwen(8).Job();
    job.plan.tp = 32;
    EXPECT_EQ(SavedPerToken(job, 0) - keptOver(4), 3 * 4096 + 2048);
    // The same where a recomputation keeps queries, keys and values: h 2, and 2 (32 + 2 x 8) 128.
    job.plan.tp = 8;
    job.plan.recompute = Recompute("full-but-qkv");
    EXPECT_EQ(KeptOfLayer(job, 0, 0), 2 * 2048 + 2 * 48 * 128);
}

TEST(RepeatedHeads, ColumnsAreLiveTwice)
{
    // Llama 3 8B over tp = 16: (32 + 2 x 8) 128 = 6,144 columns; per token of a rank 16 x 2 x 6,144
    // = 196,608 bytes, as gathered and in order. Its input and output, 2 x 16 x 8,192 = 262,144,
    // are less. With cp = 2 beside the keys and values of all tokens and their gradients, 4 x 2 x
    // 16 x 256 = 32,768.
    ParallelPlan plan = PlanOf(16, 1, 1, 1, 2);
    Scenario scenario = ScenarioOf(BuildingsOf({32}), ModelPreset("llama3-8b"), plan, 4);
    const auto live = [&scenario] {
        return WorkingSetOf(scenario, LayersOf(scenario, LayoutOf(scenario))).layers;
    };
    EXPECT_EQ(live(), 2 * 196608);
    scenario.Job().plan = PlanOf(16, 2, 1, 1, 1);
    EXPECT_EQ(live(), 2 * 196608 + 32768);
}

TEST(RepeatedHeads, ColumnsAreGatheredAndTheirGradientsScattered)
{
    // 1,024 tokens x 5,120 columns x 2 bytes = 10,485,760 for each of 48 layers: gathered forward,
    // scattered backward. With recomputation gathered twice, but not where it keeps them.
    constexpr uint64_t kColumns = 10485760;
    Scenario scenario = Qwen(8);
    TaskGraph graph = Build(scenario);
    EXPECT_EQ(Times(graph, "all_gather", kColumns), 48U);
    EXPECT_EQ(Times(graph, "reduce_scatter", kColumns), 48U);
    scenario.Job().plan.recompute = Recompute("full");
    graph = Build(scenario);
    EXPECT_EQ(Times(graph, "all_gather", kColumns), 96U);
    EXPECT_EQ(Times(graph, "reduce_scatter", kColumns), 48U);
    scenario.Job().plan.recompute = Recompute("full-but-qkv");
    EXPECT_EQ(Times(Build(scenario), "all_gather", kColumns), 48U);
    // As many ranks as KV heads, or fewer: nothing is.
    graph = Build(Qwen(4));
    EXPECT_EQ(Times(graph, "all_gather", kColumns) + Times(graph, "reduce_scatter", kColumns), 0U);
}

TEST(RepeatedHeads, ContextRanksGatherOneKeyHead)
{
    // Of tp = 8 over two servers, cp = 2: each rank has a KV head, 1,024 x 2 x 128 x 2 = 524,288
    // bytes over the group, forward and backward, and 1,024 / 2 x 5,120 x 2 = 5,242,880 of columns.
    Scenario scenario = Qwen(8);
    scenario.cluster = BuildingsOf({16});
    scenario.Job().plan = PlanOf(8, 2, 8, 1, 1);
    scenario.Job().plan.etp = 1;
    const TaskGraph graph = Build(scenario);
    EXPECT_EQ(Times(graph, "all_gather", 524288), 2 * 48U);
    EXPECT_EQ(Times(graph, "reduce_scatter", 524288), 48U);
    EXPECT_EQ(Times(graph, "all_gather", 5242880), 48U);
    EXPECT_EQ(Times(graph, "reduce_scatter", 5242880), 48U);
}

TEST(RepeatedHeads, AWholeModelIsSplitAsItsHeadsAre)
{
    // A tensor group of 8 sends in a ring (tp - 1) / tp of what is gathered or scattered. Of a
    // dense layer of SmallModel (h = 512, a = 8, d = 64) with 2 KV heads, S = 2 x 1,024 x 512 =
    // 1,048,576 and C = 2 x 1,024 x (8 + 4) 64 = 1,572,864; with 8, only S. So a layer sends 7/8 of
    // 2 C more.
    const auto sent = [](uint32_t kvHeads) {
        ModelSpec model = SmallModel();
        model.kvHeads = kvHeads;
        const auto scenario = ScenarioOf(BuildingsOf({8}), model, PlanOf(8, 1, 1, 1, 1), 1);
        return Sent(TallyOf(Build(scenario), 0), CommClass::Tensor);
    };
    EXPECT_EQ(sent(2) - sent(8), 8 * 2 * 1572864 / 8 * 7);
}

} // namespace scaleacross
