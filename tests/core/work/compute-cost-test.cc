// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"
#include "core/work/cost/compute-cost.h"

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

/// An H100 whose GEMMs are as fast whatever their size is, so that times are in proportion to work.
GpuSpec
Flat()
{
    GpuSpec gpu = GpuPreset("h100");
    gpu.gemm = GemmCurve();
    gpu.kernelGap = Duration();
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

/// A GPT's layer has two linear layers split by columns and two by rows. In tp parts of the tokens
/// forward of each has tp - 1 kernels more and as many FLOPs, and so has the input gradient of
/// rows; weight gradients are whole.
TEST(ComputeCost, AsynchronousTensorParallelismDoesGemmsInParts)
{
    GpuSpec gpu = OnlyMatrices();
    gpu.kernelGap = Duration::Microseconds(7);
    ParallelPlan plan;
    plan.tp = 4;
    const auto cost = [&] {
        const auto layer = CostOfLayer(Gpt(2, 1024, 8), WorkloadOf(512, 1, true), plan, gpu, 0);
        return ComputeCost{layer.attention.forward + layer.mlp.forward,
                           layer.attention.inputGradient + layer.mlp.inputGradient,
                           layer.attention.weightGradient + layer.mlp.weightGradient,
                           {}};
    };
    const ComputeCost whole = cost();
    plan.asyncTensor = true;
    const ComputeCost parts = cost();
    EXPECT_NEAR((parts.forward - whole.forward).S(), 4 * 3 * 7e-6, 1e-11);
    EXPECT_NEAR((parts.inputGradient - whole.inputGradient).S(), 2 * 3 * 7e-6, 1e-11);
    EXPECT_EQ(parts.weightGradient, whole.weightGradient);
    // Each part has waves of its own.
    gpu.kernelGap = Duration();
    gpu.gemm = GpuPreset("h100").gemm;
    plan.asyncTensor = false;
    const Duration full = cost().forward;
    plan.asyncTensor = true;
    EXPECT_GT(cost().forward, full);
}

/// Neither MLA's projections down, of which each rank does its tokens, nor routed experts are done
/// in parts: of DeepSeek-V3's linear layers those up to queries and to keys and values, the output,
/// and gate with up, and down, of the shared expert.
TEST(ComputeCost, OnlyWhatIsSplitIsDoneInParts)
{
    GpuSpec gpu = OnlyMatrices();
    gpu.kernelGap = Duration::Microseconds(7);
    const ModelSpec model = ModelPreset("deepseek-v3");
    ParallelPlan plan;
    plan.tp = 4;
    plan.etp = 1;
    plan.ep = 8;
    const auto cost = [&] {
        const auto layer = CostOfLayer(model, WorkloadOf(512, 1, true), plan, gpu, 10);
        return layer.attention.forward + layer.mlp.forward;
    };
    const Duration whole = cost();
    plan.asyncTensor = true;
    EXPECT_NEAR((cost() - whole).S(), 5 * 3 * 7e-6, 1e-11);
}

/// The head's loss: a third of its bytes forward, two thirds backward, whatever `elementwise` is.
TEST(ComputeCost, LossMovesItsBytes)
{
    ParallelPlan plan;
    plan.tp = 2;
    auto workload = WorkloadOf(512, 1, true);
    const auto model = Gpt(1, 1024, 8);
    const auto before = CostOfHead(model, workload, plan, OnlyMemory());
    workload.stack.lossBytes += 30;
    const auto after = CostOfHead(model, workload, plan, OnlyMemory());
    const double logits = 512.0 * 51200 / 2;
    EXPECT_NEAR(Work(after.forward - before.forward), 10 * logits, 1);
    EXPECT_NEAR(Work(after.inputGradient - before.inputGradient), 20 * logits, 1);
    workload.stack.elementwise = 2;
    const auto norm = CostOfHead(model, workload, plan, OnlyMemory());
    // Twice the norm's 4 h forward and 6 h backward of the rank's half of the tokens, no more.
    EXPECT_NEAR(Work(norm.forward - after.forward), 256.0 * 4 * 1024, 1);
    EXPECT_NEAR(Work(norm.inputGradient - after.inputGradient), 256.0 * 6 * 1024, 1);
}

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

/// h = 8, a = 4, g = 2, d = 2, f = 16, V = 32; SwiGLU.
ModelSpec
Tiny()
{
    ModelSpec model;
    model.layers = 1;
    model.hidden = 8;
    model.heads = 4;
    model.kvHeads = 2;
    model.headDim = 2;
    model.denseFfn = 16;
    model.vocabulary = 32;
    return model;
}

/// Bytes of a GEMM of 1,000 tokens: operands and result, and no other GEMM of the three counts
/// differently, as each reads two of the three matrices and writes the third.
double
GemmBytes(double n, double k)
{
    return 2 * (1000 * k + n * k + 1000 * n);
}

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

TEST(ComputeCost, Fp8DoublesLinearLayersOnly)
{
    // On a GPU with twice the FLOP/s in FP8: of PassesOfALlamaLayerByHand() the projections and the
    // MLP take half as long, core attention as long as before; the head does not change.
    const auto& model = ModelPreset("llama3-405b");
    ParallelPlan plan;
    plan.tp = 8;
    auto gpu = OnlyMatrices();
    gpu.fp8Peak = FlopRate(4e12);
    auto workload = WorkloadOf(8192, 1, true);
    const auto head = CostOfHead(model, workload, plan, gpu);
    workload.precision = Precision("fp8");
    const auto cost = CostOfLayer(model, workload, plan, gpu, 5);
    EXPECT_NEAR(Work(cost.attention.forward), 1024 * (1.140850688e9 / 2 + 0.268435456e9), 1e3);
    EXPECT_NEAR(Work(cost.mlp.forward), 1024 * 5.234491392e9 / 2, 1e3);
    EXPECT_NEAR(Work(cost.mlp.weightGradient), 1024 * 5.234491392e9 / 2, 1e3);
    EXPECT_EQ(CostOfHead(model, workload, plan, gpu).forward, head.forward);

    // Bytes of Tiny()'s MLP: operands of 1 byte in GEMMs of 32 x 8 and 8 x 16, and 4 bytes for each
    // element that is cast, tokens and weights forward (1000 x 8, 32 x 8, 1000 x 16, 8 x 16), the
    // outputs' gradients backward (1000 x 32, 1000 x 8).
    workload = WorkloadOf(1000, 1, true);
    const auto plain = CostOfLayer(Tiny(), workload, ParallelPlan(), OnlyMemory(), 0);
    workload.precision = Precision("fp8");
    gpu = OnlyMemory();
    gpu.fp8Peak = FlopRate(1e30);
    const auto fp8 = CostOfLayer(Tiny(), workload, ParallelPlan(), gpu, 0);
    const double cast = 4 * (8000 + 256 + 16000 + 128);
    const double saved = 8000 + 256 + 16000 + 128;
    EXPECT_NEAR(Work(fp8.mlp.forward) - Work(plain.mlp.forward), cast - saved, 1);
    // Input gradients read gradient and weights: 32,000 + 256 and 8,000 + 128 elements.
    EXPECT_NEAR(Work(fp8.mlp.inputGradient) - Work(plain.mlp.inputGradient),
                4 * 40000 - (32000 + 256 + 8000 + 128),
                1);
}

TEST(ComputeCost, EveryNarrowFormatHasItsPeakItsOperandsAndItsCasts)
{
    const auto workload = WorkloadOf(1000, 1, true);
    const auto plain = CostOfLayer(Tiny(), workload, ParallelPlan(), OnlyMemory(), 0);
    const auto flops = CostOfLayer(Tiny(), workload, ParallelPlan(), OnlyMatrices(), 0);
    for (const PrecisionFacts* facts : Precision::Rows())
    {
        SCOPED_TRACE(facts->word);
        auto narrow = workload;
        narrow.precision = *facts;
        // Its own peak, four times the other, and no other's.
        GpuSpec gpu = OnlyMatrices();
        gpu.bf16Peak = FlopRate(2e12);
        gpu.*facts->peak = FlopRate(8e12);
        EXPECT_NEAR(Work(CostOfLayer(Tiny(), narrow, ParallelPlan(), gpu, 0).mlp.forward),
                    Work(flops.mlp.forward) / 4,
                    1e3);
        // Elements of the MLP's operands as in Fp8DoublesLinearLayersOnly: forward 8,000 + 16,000
        // of tokens and 256 + 128 of weights, of which GEMMs read so much less.
        gpu = OnlyMemory();
        gpu.*facts->peak = FlopRate(1e30);
        const double tokens = 24000;
        const double weights = 384;
        const double saved = (2 - facts->operandBytes) * (tokens + weights);
        const auto each = CostOfLayer(Tiny(), narrow, ParallelPlan(), gpu, 0);
        EXPECT_NEAR(Work(each.mlp.forward) - Work(plain.mlp.forward),
                    facts->castBytes * (tokens + weights) - saved,
                    1);
        narrow.stack.castsWeights = false;
        const auto kept = CostOfLayer(Tiny(), narrow, ParallelPlan(), gpu, 0);
        EXPECT_NEAR(Work(kept.mlp.forward) - Work(plain.mlp.forward),
                    facts->castBytes * tokens - saved,
                    1);
        narrow.stack.castShare = 0.5;
        EXPECT_NEAR(Work(CostOfLayer(Tiny(), narrow, ParallelPlan(), gpu, 0).mlp.forward) -
                        Work(plain.mlp.forward),
                    facts->castBytes * tokens / 2 - saved,
                    1);
        // A cast reads 16 bits, and writes the operand and its transpose; some read more.
        if (facts->castBytes > 0)
        {
            EXPECT_GE(facts->castBytes, 2 + 2 * facts->operandBytes);
        }
        else
        {
            EXPECT_EQ(facts->operandBytes, 2);
        }
    }
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

/// Tiny() with four experts, of which a token visits two.
ModelSpec
TinyMoe()
{
    ModelSpec model = Tiny();
    model.experts = 4;
    model.topK = 2;
    model.expertFfn = 16;
    model.moeEvery = 1;
    model.denseFfn = 0;
    return model;
}

TEST(ComputeCost, HostAndRoutingByHand)
{
    auto workload = WorkloadOf(1000, 1, true);
    const auto cost = [&](const ModelSpec& model) {
        return CostOfLayer(model, workload, ParallelPlan(), OnlyMemory(), 0).mlp;
    };
    const auto fused = cost(TinyMoe());
    const auto dense = cost(Tiny());
    // Routing reads and writes 8 E = 32 bytes a token, the permutation (6 k + 2) h = 112; three
    // times as much are 288 more, in either direction, and no dense layer has any.
    workload.stack.permutation = 3;
    EXPECT_NEAR(Work(cost(TinyMoe()).forward - fused.forward), 288e3, 1);
    EXPECT_NEAR(Work(cost(TinyMoe()).inputGradient - fused.inputGradient), 288e3, 1);
    EXPECT_EQ(cost(Tiny()).forward, dense.forward);
    // Forward waits for what comes; with a capacity it knows, and in a graph nobody asks.
    workload.stack = SoftwareStack();
    workload.stack.routingStall = Duration::Microseconds(1000);
    EXPECT_EQ(cost(TinyMoe()).forward - fused.forward, Duration::Microseconds(1000));
    EXPECT_EQ(cost(TinyMoe()).inputGradient, fused.inputGradient);
    EXPECT_EQ(cost(Tiny()).forward, dense.forward);
    workload.stack.cudaGraphs = true;
    EXPECT_EQ(cost(TinyMoe()).forward, fused.forward);
    workload.stack.cudaGraphs = false;
    workload.capacityFactor = 1;
    EXPECT_EQ(cost(TinyMoe()).forward, fused.forward);
    // A capacity of 1.5: half as many copies again to permute, 6 x 3 x 8 + 16 = 160 for 112, and to
    // multiply: see the experts of BytesByHand, with 750 tokens each for 500.
    workload.capacityFactor = 1.5;
    const auto experts = [](double tokens) {
        const double elements = tokens * (8 + 32 + 16 + 8) + 8 * 32 + 16 * 8;
        return 4 * (2 * elements + 6 * 16 * tokens);
    };
    EXPECT_NEAR(Work(cost(TinyMoe()).forward - fused.forward),
                48e3 + experts(750) - experts(500),
                1);
    // The host's floor is none in a graph.
    workload = WorkloadOf(1000, 1, true);
    workload.stack.hostPerLayer = Duration::Seconds(1);
    EXPECT_EQ(cost(Tiny()).forward, Duration::Microseconds(500000));
    workload.stack.cudaGraphs = true;
    EXPECT_EQ(cost(Tiny()).forward, dense.forward);
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

TEST(ComputeCost, StacksDiffer)
{
    ModelSpec model = Tiny();
    auto workload = WorkloadOf(1000, 1, true);
    const auto gpu = OnlyMemory();
    ParallelPlan plan;
    plan.tp = 2;
    const auto fused = CostOfLayer(model, workload, plan, gpu, 0);
    // Three times the element-wise bytes, 176 / 2 per token, and the same GEMMs.
    workload.stack.elementwise = 3;
    const auto eager = CostOfLayer(model, workload, plan, gpu, 0);
    EXPECT_NEAR(Work(eager.mlp.forward - fused.mlp.forward), 2 * 88e3, 1);
    // Without sequence parallelism both ranks do norm and residual, 10h = 80, for all tokens.
    workload.stack = SoftwareStack();
    workload.stack.sequenceParallel = false;
    const auto repeated = CostOfLayer(model, workload, plan, gpu, 0);
    EXPECT_NEAR(Work(repeated.mlp.forward - fused.mlp.forward), 40e3, 1);
    EXPECT_NEAR(Work(repeated.mlp.inputGradient - fused.mlp.inputGradient), 48e3, 1);
    // Scores in HBM: 2 heads here, 1000^2 of 2 bytes, read or written 4 times by element-wise
    // kernels; GEMMs (s, s, d) and (s, d, s) read and write 2 (2 s d + s^2) each; backward twice.
    workload.stack = SoftwareStack();
    workload.stack.flashAttention = false;
    workload.stack.scorePasses = 4;
    const auto scores = CostOfLayer(model, workload, plan, gpu, 0);
    const double gemms = 2 * 2 * 2 * (2 * 1000 * 2 + 1e6);
    EXPECT_NEAR(Work(scores.attention.forward - fused.attention.forward), 2 * 4 * 2e6 + gemms, 1);
    EXPECT_NEAR(Work(scores.attention.inputGradient - fused.attention.inputGradient),
                2 * 4 * 2e6 + 2 * gemms,
                1);
    // Adding up weight gradients: 6 bytes for each of the 3 x 8 x 8 elements of the MLP here.
    workload.stack = SoftwareStack();
    workload.stack.accumulation = 6;
    const auto added = CostOfLayer(model, workload, plan, gpu, 0);
    EXPECT_NEAR(Work(added.mlp.weightGradient - fused.mlp.weightGradient), 6 * 192, 1);
    // Q, K, V and gate, up each by itself: the input is read once more each, forward and for the
    // weights, and their input gradients, 2 h each, are read and their sum is written: 8 h and 6 h.
    workload.stack = SoftwareStack();
    workload.stack.joinedProjections = false;
    const auto apart = CostOfLayer(model, workload, plan, gpu, 0);
    EXPECT_NEAR(Work(apart.attention.forward - fused.attention.forward), 2 * 16e3, 1);
    EXPECT_NEAR(Work(apart.attention.inputGradient - fused.attention.inputGradient),
                2 * 16e3 + 64e3,
                1);
    EXPECT_NEAR(Work(apart.attention.weightGradient - fused.attention.weightGradient), 2 * 16e3, 1);
    EXPECT_NEAR(Work(apart.mlp.forward - fused.mlp.forward), 16e3, 1);
    EXPECT_NEAR(Work(apart.mlp.inputGradient - fused.mlp.inputGradient), 16e3 + 48e3, 1);
    // The host issues half a layer in 1 ms, which is longer than it takes.
    workload.stack = SoftwareStack();
    workload.stack.hostPerLayer = Duration::Microseconds(2000);
    const auto late = CostOfLayer(model, workload, plan, gpu, 0);
    EXPECT_EQ(late.mlp.forward, Duration::Microseconds(1000));
    EXPECT_EQ(late.mlp.inputGradient, fused.mlp.inputGradient);
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
