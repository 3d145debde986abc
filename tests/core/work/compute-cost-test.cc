// SPDX-License-Identifier: GPL-2.0-only

#include "compute-cases.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// An H100 whose GEMMs are as fast whatever their size is, so that times are in proportion to work.
GpuSpec
Flat()
{
    GpuSpec gpu = GpuPreset("h100");
    gpu.gemm = GemmCurve();
    gpu.kernelGap = Duration();
    return gpu;
}

Duration
Total(const ComputeCost& cost)
{
    return cost.forward + cost.inputGradient + cost.weightGradient;
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

    // Time as the formula has it: scores kept, so that attention backward is twice forward.
    auto kept = workload;
    kept.stack.flashAttention = false;
    ParallelPlan plan;
    plan.microbatch = 3;
    plan.recompute = Recompute("full");
    const auto layer = CostOfLayer(model, kept, plan, OnlyMatrices(), 0);
    const auto head = CostOfHead(model, kept, plan, OnlyMatrices());
    const Duration total = (Total(layer.attention) + Total(layer.mlp)) * 96 + Total(head);
    const double model96 = 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
    EXPECT_NEAR(Work(total) / model96, 1, 1e-6); // times are whole picoseconds
}

TEST(ComputeCost, GemmsCostTwoFlopsPerParameterAndToken)
{
    // Independent of any layer formula: a matrix of P parameters does 2 P FLOPs per token. Matrices
    // are all active parameters but the embedding, norms (2h per layer, h at the end, those of
    // latent vectors and heads) and what else is added to: biases and sinks, left out here.
    for (const auto& preset : Presets<ModelSpec>())
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
    // Flash attention makes the scores again: five GEMMs backward for two forward.
    EXPECT_NEAR(Work(cost.attention.inputGradient),
                tokens * (1.140850688e9 + 2.5 * 0.268435456e9),
                1e3);
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
    plan.recompute = Recompute("full");
    const auto full = CostOfLayer(model, workload, plan, gpu, 0);
    EXPECT_NEAR(full.attention.inputGradient.S(),
                (none.attention.inputGradient + none.attention.forward).S(),
                2e-12);
    EXPECT_NEAR(full.mlp.inputGradient.S(), (none.mlp.inputGradient + none.mlp.forward).S(), 2e-12);
    EXPECT_EQ(full.mlp.forward, none.mlp.forward);
    EXPECT_EQ(full.mlp.weightGradient, none.mlp.weightGradient);
    // Selective: no matrix again.
    plan.recompute = Recompute("selective");
    const auto before = CostOfLayer(model, workload, ParallelPlan(), OnlyMatrices(), 0);
    const auto after = CostOfLayer(model, workload, plan, OnlyMatrices(), 0);
    EXPECT_EQ(after.attention.inputGradient, before.attention.inputGradient);
    EXPECT_EQ(after.mlp.inputGradient, before.mlp.inputGradient);
    // Alternate: K, output and up, 2 h g d + 2 h a d + 2 h f FLOPs per token; not core attention.
    plan.recompute = Recompute("alternate");
    const auto alternate = CostOfLayer(model, workload, plan, OnlyMatrices(), 0);
    EXPECT_NEAR(Work(alternate.attention.inputGradient - before.attention.inputGradient),
                4096 * 2.0 * 4096 * (1024 + 4096),
                1e3);
    EXPECT_NEAR(Work(alternate.mlp.inputGradient - before.mlp.inputGradient),
                4096 * 2.0 * 4096 * 14336,
                1e3);
    EXPECT_EQ(alternate.attention.forward, before.attention.forward);
    EXPECT_EQ(alternate.mlp.weightGradient, before.mlp.weightGradient);
    // tp divides all of it.
    plan.tp = 8;
    const auto split = CostOfLayer(model, workload, plan, OnlyMatrices(), 0);
    EXPECT_NEAR(Work(alternate.attention.inputGradient),
                8 * Work(split.attention.inputGradient),
                1e3);
    EXPECT_NEAR(Work(alternate.mlp.inputGradient), 8 * Work(split.mlp.inputGradient), 1e3);
}

TEST(ComputeCost, TensorAndContextParallelSplitEvenly)
{
    const auto& model = ModelPreset("llama3-8b");
    const auto workload = WorkloadOf(8192, 1, true);
    const GpuSpec gpu = Flat();
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

namespace
{

/// Bytes of a GEMM of 1,000 tokens: operands and result, and no other GEMM of the three counts
/// differently, as each reads two of the three matrices and writes the third.
double
GemmBytes(double n, double k)
{
    return 2 * (1000 * k + n * k + 1000 * n);
}

} // namespace

TEST(ComputeCost, BytesByHand)
{
    // On OnlyMemory() a GEMM costs its bytes as well. 1,000 tokens; bytes per token, BF16:
    // attention forward  norm 4h + residual 6h + rope 4 (a+g) d = 80 + 48       = 128
    // attention I        norm 6h + sum 6h + rope 48 = 96 + 48                   = 144
    // MLP forward        10h + 6f = 80 + 96                                     = 176
    // MLP I              12h + 10f = 96 + 160                                   = 256
    // head forward       4h + 2V = 96; I 6h + 4V = 176
    // embedding forward  4h = 32; W 10h = 80
    // GEMMs: Q, K and V together 16 x 8, output 8 x 8; gate and up 32 x 8, down 8 x 16; head 32
    // x 8.
    ModelSpec model = Tiny();
    const auto workload = WorkloadOf(1000, 1, true);
    const auto gpu = OnlyMemory();
    const double projections = GemmBytes(16, 8) + GemmBytes(8, 8);
    const double mlp = GemmBytes(32, 8) + GemmBytes(8, 16);
    const auto cost = CostOfLayer(model, workload, ParallelPlan(), gpu, 0);
    EXPECT_NEAR(Work(cost.attention.forward), 128e3 + projections, 1);
    EXPECT_NEAR(Work(cost.attention.inputGradient), 144e3 + projections, 1);
    EXPECT_NEAR(Work(cost.attention.weightGradient), projections, 1);
    EXPECT_NEAR(Work(cost.mlp.forward), 176e3 + mlp, 1);
    EXPECT_NEAR(Work(cost.mlp.inputGradient), 256e3 + mlp, 1);
    EXPECT_NEAR(Work(cost.mlp.weightGradient), mlp, 1);
    // Selective recomputation adds to I the norms' forward, 4h = 32 each, and 6f = 96.
    ParallelPlan selective;
    selective.recompute = Recompute("selective");
    const auto again = CostOfLayer(model, workload, selective, gpu, 0);
    EXPECT_NEAR(Work(again.attention.inputGradient), (144 + 32) * 1e3 + projections, 1);
    EXPECT_NEAR(Work(again.mlp.inputGradient), (256 + 32 + 96) * 1e3 + mlp, 1);
    EXPECT_EQ(again.mlp.forward, cost.mlp.forward);
    // Alternate adds rope 48 and the residual between the halves 48 to that, and the GEMMs K 4 x 8,
    // output 8 x 8 and up 16 x 8.
    ParallelPlan alternate;
    alternate.recompute = Recompute("alternate");
    const auto more = CostOfLayer(model, workload, alternate, gpu, 0);
    EXPECT_NEAR(Work(more.attention.inputGradient),
                (144 + 32 + 48 + 48) * 1e3 + projections + GemmBytes(4, 8) + GemmBytes(8, 8),
                1);
    EXPECT_NEAR(Work(more.mlp.inputGradient), (256 + 32 + 96) * 1e3 + mlp + GemmBytes(16, 8), 1);
    const auto head = CostOfHead(model, workload, ParallelPlan(), gpu);
    EXPECT_NEAR(Work(head.forward), 96e3 + GemmBytes(32, 8), 1);
    EXPECT_NEAR(Work(head.inputGradient), 176e3 + GemmBytes(32, 8), 1);
    const auto embedding = CostOfEmbedding(model, workload, ParallelPlan(), gpu);
    EXPECT_NEAR(Work(embedding.forward), 32e3, 1);
    EXPECT_EQ(embedding.inputGradient, Duration());
    EXPECT_NEAR(Work(embedding.weightGradient), 80e3, 1);
    // Adam touches 30 bytes per parameter.
    EXPECT_NEAR(Work(CostOfOptimizer(1000, workload, gpu)), 30e3, 1);

    // As MoE with E = 4, k = 2, f_e = 8, f_s = 16: width 32, permutation 6kh + 2h = 112, routing
    // 8E = 32: forward 80 + 192 + 112 + 32 = 416, I 96 + 320 + 112 + 32 = 560. GEMMs: router 4 x 8;
    // shared as above; four experts with 500 copies each, 16 x 8 and 8 x 8.
    model.experts = 4;
    model.topK = 2;
    model.expertFfn = 8;
    model.sharedFfn = 16;
    model.moeEvery = 1;
    const double experts = 4 * 2 * (500 * 8 + 16 * 8 + 500 * 16 + 500 * 8 + 8 * 8 + 500 * 8);
    const double moeGemms = GemmBytes(4, 8) + mlp + experts;
    const auto moe = CostOfLayer(model, workload, ParallelPlan(), gpu, 0);
    EXPECT_NEAR(Work(moe.mlp.forward), 416e3 + moeGemms, 1);
    EXPECT_NEAR(Work(moe.mlp.inputGradient), 560e3 + moeGemms, 1);
    // Selective: 32 and 6 x 32 again, but neither permutation nor routing.
    const auto moeAgain = CostOfLayer(model, workload, selective, gpu, 0);
    EXPECT_NEAR(Work(moeAgain.mlp.inputGradient), (560 + 32 + 192) * 1e3 + moeGemms, 1);
    // Alternate: the norm, the activation of all experts and the shared ones' up, as above; of the
    // routed ones all: router, routing, permutation and GEMMs.
    const auto routedAgain = CostOfLayer(model, workload, alternate, gpu, 0);
    EXPECT_NEAR(Work(routedAgain.mlp.inputGradient),
                (560 + 32 + 192 + 32 + 112) * 1e3 + moeGemms + GemmBytes(16, 8) + GemmBytes(4, 8) +
                    experts,
                1);
    EXPECT_EQ(routedAgain.mlp.weightGradient, moe.mlp.weightGradient);
    // What the host has learnt it knows.
    auto waiting = workload;
    waiting.stack.routingStall = Duration::Seconds(1e-3);
    const auto waited = CostOfLayer(model, waiting, alternate, gpu, 0);
    EXPECT_GT(waited.mlp.forward, routedAgain.mlp.forward);
    EXPECT_EQ(waited.mlp.inputGradient, routedAgain.mlp.inputGradient);
    EXPECT_EQ(routedAgain.mlp.forward, moe.mlp.forward);

    // An imbalance of 1.5 with ep = 2: two experts here with 750 copies each; of the bytes by the
    // token, the permutation is 6 x 3 x 8 + 16 = 160 and the routed width 24 of 40.
    auto unbalanced = workload;
    unbalanced.expertImbalance = 1.5;
    ParallelPlan expertParallel;
    expertParallel.ep = 2;
    const double two = 2 * 2 * (1500 * 8 + 16 * 8 + 1500 * 16 + 1500 * 8 + 8 * 8 + 1500 * 8);
    const auto loaded = CostOfLayer(model, unbalanced, expertParallel, gpu, 0);
    EXPECT_NEAR(Work(loaded.mlp.forward),
                (80 + 6 * 40 + 160 + 32) * 1e3 + GemmBytes(4, 8) + mlp + two,
                1);
    // Without expert parallelism nobody waits for anybody.
    EXPECT_EQ(CostOfLayer(model, unbalanced, ParallelPlan(), gpu, 0).mlp.forward, moe.mlp.forward);
}

TEST(ComputeCost, LatentAttentionByHand)
{
    // DeepSeek-V3, MFLOP per token: its attention's matrices have 187,107,328 - 2,048 (norms)
    // elements, 2 FLOPs each; core attention over s / 2 = 2,048 pairs of 128 heads,
    // 2 x (192 + 128) each.
    const auto& model = ModelPreset("deepseek-v3");
    const auto cost =
        CostOfLayer(model, WorkloadOf(4096, 1, true), ParallelPlan(), OnlyMatrices(), 0);
    const double matrices = 2 * 187105280.0;
    const double core = 2048.0 * 128 * 640;
    EXPECT_NEAR(Work(cost.attention.forward) / 4096, matrices + core, 10);
    EXPECT_NEAR(Work(cost.attention.inputGradient) / 4096, matrices + 2.5 * core, 10);
}

TEST(ComputeCost, WindowsCutCoreAttention)
{
    // GPT-OSS, s = 8,192: layer 0 sees 128 tokens, layer 1 all. Pairs per token: 128 - 128^2 / 2 /
    // 8192 = 127 and 4,096; 64 heads of 2 x 128 FLOPs.
    const auto& model = ModelPreset("gpt-oss-20b");
    const auto workload = WorkloadOf(8192, 1, true);
    const auto seen = CostOfLayer(model, workload, ParallelPlan(), OnlyMatrices(), 0);
    const auto all = CostOfLayer(model, workload, ParallelPlan(), OnlyMatrices(), 1);
    EXPECT_NEAR(Work(all.attention.forward - seen.attention.forward) / 8192,
                (4096 - 127) * 64 * 2 * 128.0,
                10);
}

TEST(ComputeCost, WholeLayersAgainButForQueriesKeysAndValues)
{
    // Llama 3 405B, MFLOP per token: full recomputation does forward again. Kept projections save
    // Q, K and V, 2 h (a + 2 g) d = 2 x 16,384 x 18,432 = 604.0, and the layer's output is the next
    // one's input, so that nothing reads the down projection's, 2 h f = 2 x 16,384 x 53,248.
    const auto& model = ModelPreset("llama3-405b");
    const auto workload = WorkloadOf(8192, 1, true);
    ParallelPlan plan;
    plan.recompute = Recompute("full");
    const auto full = CostOfLayer(model, workload, plan, OnlyMatrices(), 0);
    plan.recompute = Recompute("full-but-qkv");
    const auto kept = CostOfLayer(model, workload, plan, OnlyMatrices(), 0);
    EXPECT_NEAR(Work(full.attention.inputGradient - kept.attention.inputGradient) / 8192,
                2.0 * 16384 * 18432,
                10);
    EXPECT_NEAR(Work(full.mlp.inputGradient - kept.mlp.inputGradient) / 8192,
                2.0 * 16384 * 53248,
                10);
}

TEST(ComputeCost, ModulesAgain)
{
    // DeepSeek-V3, FLOP per token: from the latent vectors 2 x 1,536 x 128 x 192 and
    // 2 x 512 x 128 x (128 + 128); a dense layer's MLP 2 x 3 x 7,168 x 18,432, which layer 3, a MoE
    // layer, does not have.
    const auto& model = ModelPreset("deepseek-v3");
    const auto workload = WorkloadOf(4096, 1, true);
    const auto more = [&](const char* word, uint32_t layer) {
        ParallelPlan plan;
        const auto none = CostOfLayer(model, workload, plan, OnlyMatrices(), layer);
        plan.recompute = Recompute(word);
        const auto again = CostOfLayer(model, workload, plan, OnlyMatrices(), layer);
        EXPECT_EQ(again.attention.forward, none.attention.forward);
        EXPECT_EQ(again.mlp.weightGradient, none.mlp.weightGradient);
        return Work(again.attention.inputGradient + again.mlp.inputGradient -
                    none.attention.inputGradient - none.mlp.inputGradient) /
               4096;
    };
    const double latent = 2.0 * 1536 * 128 * 192 + 2.0 * 512 * 128 * 256;
    const double mlp = 2.0 * 3 * 7168 * 18432;
    EXPECT_NEAR(more("mla-up-proj", 0), latent, 10);
    EXPECT_NEAR(more("mlp", 0), mlp, 10);
    EXPECT_NEAR(more("mlp", 3), 0, 1e-9);
    EXPECT_NEAR(more("mla-up-proj+mlp", 0), latent + mlp, 10);
    EXPECT_NEAR(more("mla-up-proj+mlp", 3), latent, 10);
    // A MoE layer: the router 2 x 7,168 x 256, 8 experts and a shared one of 2 x 3 x 7,168 x 2,048.
    const double expert = 2.0 * 3 * 7168 * 2048;
    EXPECT_NEAR(more("moe", 3), 2.0 * 7168 * 256 + 9 * expert, 10);
    EXPECT_NEAR(more("moe", 0), 0, 1e-9);
    EXPECT_NEAR(more("shared-experts", 3), expert, 10);
    EXPECT_NEAR(more("moe+shared-experts", 3), more("moe", 3), 1e-9);
    EXPECT_NEAR(more("mla-up-proj+mlp+moe", 3), latent + more("moe", 3), 10);
}

TEST(ComputeCost, ElementsAgainThatBelongToAnMlpComeWithIt)
{
    // Bytes a token of a MoE layer of Mixtral, which has no shared experts: the norm before each
    // half 4h, the activation function of k experts 6 k f. With all of the MLP again the function
    // is part of it.
    const auto& model = ModelPreset("mixtral-8x7b");
    const auto workload = WorkloadOf(4096, 1, true);
    const auto again = [&](const char* words) {
        ParallelPlan plan;
        const auto none = CostOfLayer(model, workload, plan, OnlyMemory(), 0);
        plan.recompute = Recompute(words);
        const auto cost = CostOfLayer(model, workload, plan, OnlyMemory(), 0);
        return Work(cost.attention.inputGradient + cost.mlp.inputGradient -
                    none.attention.inputGradient - none.mlp.inputGradient) /
               4096;
    };
    const double norms = 2 * 4.0 * 4096;
    EXPECT_NEAR(again("norm"), norms, 1);
    EXPECT_NEAR(again("activation"), 6.0 * 2 * 14336, 1);
    EXPECT_NEAR(again("selective"), norms + 6.0 * 2 * 14336, 1);
    EXPECT_NEAR(again("activation+moe"), again("moe"), 1);
    EXPECT_NEAR(again("norm+moe"), norms + again("moe"), 1);
}

TEST(ComputeCost, AnMlpAgainIsNotFasterThanTheHost)
{
    auto workload = WorkloadOf(1, 1, true);
    workload.stack.hostPerLayer = Duration::Seconds(1);
    ParallelPlan plan;
    plan.recompute = Recompute("mlp");
    const auto cost = CostOfLayer(Tiny(), workload, plan, OnlyMatrices(), 0);
    EXPECT_EQ(cost.mlp.again, Duration::Microseconds(500000));
    EXPECT_EQ(cost.attention.again, Duration());
}

TEST(ComputeCost, OffloadTakesAsLongAsTheLink)
{
    // Llama 3 70B in FP8 keeps 229,632 B per token and layer (doc/memory.md), a microbatch has
    // 16,384 tokens, and 40 of 80 layers go: 1.881 GB a layer, 8.4 ms over 225 GB/s, which the
    // layer's own work hides, and 34.2 ms over 55 GB/s.
    const auto& model = ModelPreset("llama3-70b");
    auto workload = WorkloadOf(8192, 1, true);
    workload.precision = Precision("fp8");
    GpuSpec gpu = GpuPreset("gb200");
    ParallelPlan plan;
    plan.microbatch = 2;
    const auto forward = [](const LayerCost& cost) {
        return (cost.attention.forward + cost.mlp.forward).S();
    };
    const auto backward = [](const LayerCost& cost) {
        return (cost.attention.inputGradient + cost.attention.weightGradient +
                cost.mlp.inputGradient + cost.mlp.weightGradient)
            .S();
    };
    const auto none = CostOfLayer(model, workload, plan, gpu, 3);
    plan.offloadLayers = 40;
    const double bytes = 229632.0 * 16384 * 40 / 80;
    ASSERT_GT(forward(none), bytes / 225e9);
    const auto hidden = CostOfLayer(model, workload, plan, gpu, 3);
    EXPECT_EQ(forward(hidden), forward(none));
    EXPECT_EQ(backward(hidden), backward(none));
    for (const double rate : {55e9, 20e9})
    {
        gpu.hostBandwidth = BytesPerSecond(rate);
        const auto cost = CostOfLayer(model, workload, plan, gpu, 3);
        EXPECT_NEAR(forward(cost), std::max(forward(none), bytes / rate), 1e-11);
        EXPECT_NEAR(backward(cost), std::max(backward(none), bytes / rate), 1e-11);
        EXPECT_EQ(cost.mlp.weightGradient, none.mlp.weightGradient);
        EXPECT_EQ(cost.mlp.again, none.mlp.again);
    }
}

TEST(ComputeCost, SharedExpertsAreTheirKernelsWhateverTheHostDoes)
{
    // 1,000 tokens, h = 8, f_s = 16: in each pass three GEMMs of 2 x 1,000 x 8 x 16 = 256,000 FLOP.
    auto model = TinyMoe();
    model.layers = 2;
    model.sharedFfn = 16;
    auto workload = WorkloadOf(1000, 1, true);
    ParallelPlan plan;
    const double pass = 3 * 256e3;
    const auto none = CostOfLayer(model, workload, plan, OnlyMatrices(), 0).shared;
    EXPECT_NEAR(Work(none.forward), pass, 10);
    EXPECT_NEAR(Work(none.inputGradient), pass, 10);
    EXPECT_NEAR(Work(none.weightGradient), pass, 10);
    EXPECT_EQ(none.again, Duration());
    // Again: all of it with its module or all experts, or but the last GEMM, of three; its
    // activation function, 6 bytes an element, among the input gradient's own.
    const auto again = [&](const char* words, const GpuSpec& gpu) {
        plan.recompute = words;
        return CostOfLayer(model, workload, plan, gpu, 0).shared;
    };
    EXPECT_NEAR(Work(again("shared-experts", OnlyMatrices()).again), pass, 10);
    EXPECT_NEAR(Work(again("moe", OnlyMatrices()).again), pass, 10);
    EXPECT_NEAR(Work(again("full", OnlyMatrices()).again), pass, 10);
    EXPECT_NEAR(Work(again("full-but-qkv", OnlyMatrices()).again), pass * 2 / 3, 10);
    EXPECT_NEAR(Work(again("activation", OnlyMemory()).inputGradient -
                     again("none", OnlyMemory()).inputGradient),
                6 * 16e3,
                10);
    // A host that is late makes the layer longer and not its shared experts; nor do copies.
    const auto kept = workload;
    for (const auto* row : RecomputeWord::Rows())
    {
        for (const double ms : {0, 1, 20})
        {
            for (const uint32_t which : {0, 1, 2, 3})
            {
                workload = kept;
                workload.stack.hostPerLayer = Duration::Seconds(which == 0 ? ms / 1e3 : 0);
                workload.stack.hostPerLayerBackward = Duration::Seconds(which == 1 ? ms / 1e3 : 0);
                workload.stack.hostPerExpert = Duration::Seconds(which == 2 ? ms / 1e3 : 0);
                GpuSpec gpu = OnlyMatrices();
                gpu.hostBandwidth = BytesPerSecond(1e6);
                plan.recompute = row->word;
                plan.offloadLayers = which == 3 && plan.recompute == Recompute("none") ? 1 : 0;
                const auto cost = CostOfLayer(model, workload, plan, gpu, 0);
                EXPECT_EQ(cost.shared.forward, none.forward);
                EXPECT_EQ(cost.shared.weightGradient, none.weightGradient);
                const auto rest = cost.mlp - cost.shared;
                EXPECT_GE(rest.forward, Duration()) << row->word << which;
                EXPECT_GE(rest.inputGradient, rest.again) << row->word << which;
                EXPECT_GE(rest.weightGradient, Duration()) << row->word << which;
                EXPECT_GE(rest.again, Duration()) << row->word << which;
            }
        }
    }
}

TEST(ComputeCost, GemmsComeInWaves)
{
    // The worked case of GemmCurve: 1,024 x 4,096 x 1,024 on 108 processors with tiles of 128 x 256
    // and a depth of 64.
    GemmCurve curve;
    curve.processors = 108;
    curve.depth = 64;
    curve.tiles = {{128, 256, 1}};
    const double flops = 2.0 * 1024 * 4096 * 1024;
    EXPECT_EQ(curve.EffectiveFlops(1, 1024, 4096, 1024), 216.0 * 2 * 128 * 256 * 1088);
    EXPECT_NEAR(flops / curve.EffectiveFlops(1, 1024, 4096, 1024), 0.558, 5e-4);
    // Large products come near the asymptote: 1,728 tiles are 16 waves to the last one.
    EXPECT_NEAR(2.0 * 128 * 48 * 256 * 36 * 65536 /
                    curve.EffectiveFlops(1, 128 * 48, 256 * 36, 65536),
                65536.0 / 65600,
                1e-9);
    // A smaller tile is taken where it is done first: 64 x 64 of 32 rows are 1 wave of either.
    curve.tiles.push_back({64, 64, 0.5});
    EXPECT_EQ(curve.EffectiveFlops(1, 64, 64, 1024), 108 * 2.0 * 64 * 64 * 1088 / 0.5);
    // Grouped products share the waves: 108 tiles of 108 experts are one.
    EXPECT_EQ(curve.EffectiveFlops(108, 64, 64, 1024), 108 * 2.0 * 64 * 64 * 1088 / 0.5);
    EXPECT_EQ(GemmCurve().EffectiveFlops(3, 5, 7, 11), 2.0 * 3 * 5 * 7 * 11);
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
