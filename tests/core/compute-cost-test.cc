// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/compute-cost.h"
#include "core/spec/presets.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// 1 TFLOP/s and no time for memory: a duration in microseconds is a work in MFLOP.
GpuSpec
OnlyMatrices()
{
    GpuSpec gpu;
    gpu.bf16Peak = FlopRate(2e12);
    gpu.gemmEfficiency = 0.5;
    gpu.hbmBandwidth = BytesPerSecond(1e30);
    gpu.hbmEfficiency = 1;
    return gpu;
}

/// 1 TB/s and no time for matrices: a duration in microseconds is a number of MB.
GpuSpec
OnlyMemory()
{
    GpuSpec gpu;
    gpu.bf16Peak = FlopRate(1e30);
    gpu.gemmEfficiency = 1;
    gpu.hbmBandwidth = BytesPerSecond(2e12);
    gpu.hbmEfficiency = 0.5;
    return gpu;
}

/// FLOPs or bytes of a duration on the accelerators above.
double
Work(Duration time)
{
    return time.S() * 1e12;
}

Duration
Total(const ComputeCost& cost)
{
    return cost.forward + cost.inputGradient + cost.weightGradient;
}

/// A GPT: GELU with f = 4h, a d = h, g = a.
ModelSpec
Gpt(uint32_t layers, uint32_t hidden, uint32_t heads)
{
    ModelSpec model;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = model.kvHeads = heads;
    model.headDim = hidden / heads;
    model.denseFfn = 4ULL * hidden;
    model.vocabulary = 51200;
    model.gatedMlp = false;
    return model;
}

WorkloadSpec
WorkloadOf(uint32_t sequence, uint32_t batch, bool causal)
{
    WorkloadSpec workload;
    workload.sequence = sequence;
    workload.globalBatch = batch;
    workload.causalAttention = causal;
    return workload;
}

} // namespace

TEST(ComputeCost, GptClosedForm)
{
    // Narayanan et al. (SC21), 2104.04473, full attention: 96 B s l h^2 (1 + s/6h + V/16lh) with
    // recomputation; without it 72 B s l h^2 (1 + s/6h + V/12lh).
    const double s = 2048;
    const double l = 96;
    const double h = 12288;
    const double v = 51200;
    const double b = 3;
    const auto model = Gpt(96, 12288, 96);
    const auto workload = WorkloadOf(2048, 3, false);
    const double model72 = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
    EXPECT_NEAR(ModelFlops(model, workload).Value() / model72, 1, 1e-12);

    ParallelPlan plan;
    plan.microbatch = 3;
    plan.recompute = Recompute::Full;
    const auto layer = CostOfLayer(model, workload, plan, OnlyMatrices(), 0);
    const auto head = CostOfHead(model, workload, plan, OnlyMatrices());
    const Duration total = (Total(layer.attention) + Total(layer.mlp)) * 96 + Total(head);
    const double model96 = 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
    EXPECT_NEAR(Work(total) / model96, 1, 1e-6); // times are whole picoseconds
}

TEST(ComputeCost, GemmsCostTwoFlopsPerParameterAndToken)
{
    // Independent of any layer formula: a matrix of P parameters does 2 P FLOPs per token. Matrices
    // are all active parameters but the embedding, norms (2h per layer, h at the end, those of
    // latent vectors and heads) and what else is added to: biases and sinks, left out here.
    for (const auto& preset : ModelPresets())
    {
        ModelSpec model = preset.value;
        model.attentionBias = model.mlpBias = model.attentionSinks = model.queryKeyNorm = false;
        model.window = 0;
        const auto workload = WorkloadOf(64, 1, false);
        uint64_t matrices = model.ActiveParameters() - (2ULL * model.layers + 1) * model.hidden -
                            uint64_t{model.layers} * (model.queryRank + model.kvRank);
        if (!model.tiedEmbedding)
        {
            matrices -= model.EmbeddingParameters();
        }
        const double core =
            2.0 * 64 * 64 * model.heads * (model.headDim + model.ValueDim()) * model.layers;
        const double expected = 3 * (2.0 * static_cast<double>(matrices) * 64 + core);
        EXPECT_NEAR(ModelFlops(model, workload).Value() / expected, 1, 1e-12) << model.name;
    }
}

TEST(ComputeCost, PassesOfALlamaLayerByHand)
{
    // Llama 3 405B, s = 8,192, causal, GFLOP per token: projections 4 h^2 + 4 h (8 x 128) =
    // 1.140850688; core 2 s h = 0.268435456; SwiGLU 6 h f = 5.234491392.
    const auto& model = ModelPreset("llama3-405b");
    ParallelPlan plan;
    plan.tp = 8;
    const auto cost = CostOfLayer(model, WorkloadOf(8192, 1, true), plan, OnlyMatrices(), 5);
    const double tokens = 8192.0 / 8;
    EXPECT_NEAR(Work(cost.attention.forward), tokens * 1.409286144e9, 1e3);
    EXPECT_NEAR(Work(cost.attention.inputGradient), tokens * 1.677721600e9, 1e3);
    EXPECT_NEAR(Work(cost.attention.weightGradient), tokens * 1.140850688e9, 1e3);
    EXPECT_NEAR(Work(cost.mlp.forward), tokens * 5.234491392e9, 1e3);
    EXPECT_EQ(cost.mlp.inputGradient, cost.mlp.forward);
    EXPECT_EQ(cost.mlp.weightGradient, cost.mlp.forward);
    // The zero-bubble paper's observation: T_I > T_F > T_W.
    EXPECT_GT(cost.attention.inputGradient, cost.attention.forward);
    EXPECT_GT(cost.attention.forward, cost.attention.weightGradient);
}

TEST(ComputeCost, RecomputationIsPartOfTheInputGradient)
{
    const auto& model = ModelPreset("llama3-8b");
    const auto workload = WorkloadOf(4096, 1, true);
    const GpuSpec& gpu = GpuPreset("h100");
    ParallelPlan plan;
    const auto none = CostOfLayer(model, workload, plan, gpu, 0);
    plan.recompute = Recompute::Full;
    const auto full = CostOfLayer(model, workload, plan, gpu, 0);
    EXPECT_NEAR(full.attention.inputGradient.S(),
                (none.attention.inputGradient + none.attention.forward).S(),
                2e-12);
    EXPECT_NEAR(full.mlp.inputGradient.S(), (none.mlp.inputGradient + none.mlp.forward).S(), 2e-12);
    EXPECT_EQ(full.mlp.forward, none.mlp.forward);
    EXPECT_EQ(full.mlp.weightGradient, none.mlp.weightGradient);
    // Selective: no matrix again.
    plan.recompute = Recompute::Selective;
    const auto before = CostOfLayer(model, workload, ParallelPlan(), OnlyMatrices(), 0);
    const auto after = CostOfLayer(model, workload, plan, OnlyMatrices(), 0);
    EXPECT_EQ(after.attention.inputGradient, before.attention.inputGradient);
    EXPECT_EQ(after.mlp.inputGradient, before.mlp.inputGradient);
}

TEST(ComputeCost, TensorAndContextParallelSplitEvenly)
{
    const auto& model = ModelPreset("llama3-8b");
    const auto workload = WorkloadOf(8192, 1, true);
    const GpuSpec& gpu = GpuPreset("h100");
    ParallelPlan whole;
    whole.microbatch = 4;
    ParallelPlan split = whole;
    split.tp = 4;
    split.cp = 2;
    const auto a = CostOfLayer(model, workload, whole, gpu, 0);
    const auto b = CostOfLayer(model, workload, split, gpu, 0);
    EXPECT_NEAR(a.attention.forward.S(), 8 * b.attention.forward.S(), 8e-12);
    EXPECT_NEAR(a.mlp.inputGradient.S(), 8 * b.mlp.inputGradient.S(), 8e-12);
    EXPECT_NEAR(CostOfHead(model, workload, whole, gpu).forward.S(),
                8 * CostOfHead(model, workload, split, gpu).forward.S(),
                8e-12);
}

TEST(ComputeCost, ElementWiseBytesByHand)
{
    // h = 8, a = 4, g = 2, d = 2, f = 16, V = 32; SwiGLU; 1,000 tokens. Bytes per token, BF16:
    // attention forward  norm 4h + residual 6h + rope 4 (a+g) d = 80 + 48       = 128
    // attention I        norm 6h + sum 6h + rope 48 = 96 + 48                   = 144
    // MLP forward        10h + 6f = 80 + 96                                     = 176
    // MLP I              12h + 10f = 96 + 160                                   = 256
    // head forward       4h + 2V = 96; I 6h + 4V = 176
    // embedding forward  4h = 32; W 10h = 80
    ModelSpec model;
    model.layers = 1;
    model.hidden = 8;
    model.heads = 4;
    model.kvHeads = 2;
    model.headDim = 2;
    model.denseFfn = 16;
    model.vocabulary = 32;
    const auto workload = WorkloadOf(1000, 1, true);
    const auto gpu = OnlyMemory();
    const auto cost = CostOfLayer(model, workload, ParallelPlan(), gpu, 0);
    EXPECT_NEAR(Work(cost.attention.forward), 128e3, 1);
    EXPECT_NEAR(Work(cost.attention.inputGradient), 144e3, 1);
    EXPECT_NEAR(Work(cost.mlp.forward), 176e3, 1);
    EXPECT_NEAR(Work(cost.mlp.inputGradient), 256e3, 1);
    EXPECT_EQ(cost.attention.weightGradient, Duration());
    // Selective recomputation adds to I the norms' forward, 4h = 32 each, and 6f = 96.
    ParallelPlan selective;
    selective.recompute = Recompute::Selective;
    const auto again = CostOfLayer(model, workload, selective, gpu, 0);
    EXPECT_NEAR(Work(again.attention.inputGradient), (144 + 32) * 1e3, 1);
    EXPECT_NEAR(Work(again.mlp.inputGradient), (256 + 32 + 96) * 1e3, 1);
    EXPECT_EQ(again.mlp.forward, cost.mlp.forward);
    const auto head = CostOfHead(model, workload, ParallelPlan(), gpu);
    EXPECT_NEAR(Work(head.forward), 96e3, 1);
    EXPECT_NEAR(Work(head.inputGradient), 176e3, 1);
    const auto embedding = CostOfEmbedding(model, workload, ParallelPlan(), gpu);
    EXPECT_NEAR(Work(embedding.forward), 32e3, 1);
    EXPECT_EQ(embedding.inputGradient, Duration());
    EXPECT_NEAR(Work(embedding.weightGradient), 80e3, 1);
    // Adam touches 30 bytes per parameter.
    EXPECT_NEAR(Work(CostOfOptimizer(1000, gpu)), 30e3, 1);

    // As MoE with E = 4, k = 2, f_e = 8, f_s = 16: width 32, permutation 6kh + 2h = 112, routing
    // 8E = 32: forward 80 + 192 + 112 + 32 = 416, I 96 + 320 + 112 + 32 = 560.
    model.experts = 4;
    model.topK = 2;
    model.expertFfn = 8;
    model.sharedFfn = 16;
    model.moeEvery = 1;
    const auto moe = CostOfLayer(model, workload, ParallelPlan(), gpu, 0);
    EXPECT_NEAR(Work(moe.mlp.forward), 416e3, 1);
    EXPECT_NEAR(Work(moe.mlp.inputGradient), 560e3, 1);
    // Selective: 32 and 6 x 32 again, but neither permutation nor routing.
    const auto moeAgain = CostOfLayer(model, workload, selective, gpu, 0);
    EXPECT_NEAR(Work(moeAgain.mlp.inputGradient), (560 + 32 + 192) * 1e3, 1);
}

TEST(ComputeCost, ATokenVisitsTopKOfTheExperts)
{
    // Maverick: layers 1, 3, 5... are MoE. Per token 6 h (k f_e + f_s) + 2 h E with
    // h = 5,120, k f_e + f_s = 16,384, E = 128: 503,316,480 + 1,310,720.
    const auto& model = ModelPreset("llama4-maverick");
    const auto workload = WorkloadOf(8192, 1, true);
    const auto moe = CostOfLayer(model, workload, ParallelPlan(), OnlyMatrices(), 1);
    EXPECT_NEAR(Work(moe.mlp.forward) / 8192, 504627200.0, 1);
    // Its dense layers are as wide, 16,384, and have no router.
    const auto dense = CostOfLayer(model, workload, ParallelPlan(), OnlyMatrices(), 0);
    EXPECT_NEAR(Work(dense.mlp.forward) / 8192, 503316480.0, 1);
}

} // namespace scaleacross
