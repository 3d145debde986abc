// SPDX-License-Identifier: GPL-2.0-only

// What software and precision make of the times of a layer and of the head.

#include "compute-cases.h"

#include <gtest/gtest.h>

namespace scaleacross
{

/// A GPT's layer has two linear layers split by columns and two by rows. In tp parts of the tokens
/// forward of each has tp - 1 kernels more and as many FLOPs, and so has the input gradient of
/// rows; weight gradients are whole.
TEST(StackCost, AsynchronousTensorParallelismDoesGemmsInParts)
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
TEST(StackCost, OnlyWhatIsSplitIsDoneInParts)
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
TEST(StackCost, LossMovesItsBytes)
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

TEST(StackCost, Fp8DoublesLinearLayersOnly)
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

TEST(StackCost, EveryNarrowFormatHasItsPeakItsOperandsAndItsCasts)
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

TEST(StackCost, HostAndRoutingByHand)
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
    workload.stack.cudaGraphs = "iteration";
    EXPECT_EQ(cost(TinyMoe()).forward, fused.forward);
    workload.stack.cudaGraphs = "none";
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
    workload.stack.cudaGraphs = "layers";
    EXPECT_EQ(cost(Tiny()).forward, dense.forward);
}

TEST(StackCost, HostIssuesBackwardAndExpertByExpert)
{
    auto workload = WorkloadOf(1000, 1, true);
    const auto cost = [&](const ModelSpec& model) {
        return CostOfLayer(model, workload, ParallelPlan(), OnlyMemory(), 0).mlp;
    };
    const auto gradients = [](const ComputeCost& of) {
        return of.inputGradient + of.weightGradient;
    };
    const auto dense = cost(Tiny());
    // Half a layer takes half of the layer's floor; both gradients are stretched alike.
    workload.stack.hostPerLayerBackward = Duration::Seconds(1);
    const auto slow = cost(Tiny());
    EXPECT_EQ(slow.forward, dense.forward);
    EXPECT_NEAR(gradients(slow).S(), 0.5, 1e-11);
    EXPECT_NEAR(slow.inputGradient.S() / slow.weightGradient.S(),
                dense.inputGradient.S() / dense.weightGradient.S(),
                1e-6);
    // Four experts of 0.1 s each, in either direction, beside what a layer takes.
    workload.stack.hostPerExpert = Duration::Seconds(0.1);
    EXPECT_NEAR(cost(TinyMoe()).forward.S(), 0.4, 1e-11);
    EXPECT_NEAR(gradients(cost(TinyMoe())).S(), 0.5 + 0.4, 1e-11);
    EXPECT_EQ(cost(Tiny()).forward, dense.forward);
    // Biases that are kernels of their own take the host as long again.
    ModelSpec biased = TinyMoe();
    biased.mlpBias = true;
    EXPECT_NEAR(cost(biased).forward.S(), 0.4, 1e-11);
    workload.stack.fusesExperts = false;
    EXPECT_NEAR(cost(biased).forward.S(), 0.8, 1e-11);
    EXPECT_NEAR(cost(TinyMoe()).forward.S(), 0.4, 1e-11);
    workload.stack.fusesExperts = true;
    // Where forward has waited for the host, the GPU waits for that, too, and then computes.
    const Duration issued = cost(TinyMoe()).forward;
    workload.stack.hostPerExpert = Duration();
    const Duration computed = cost(TinyMoe()).forward;
    workload.stack.hostPerExpert = Duration::Seconds(0.1);
    workload.stack.routingStall = Duration::Seconds(0.3);
    EXPECT_EQ(cost(TinyMoe()).forward, issued + Duration::Seconds(0.3) + computed);
    workload.stack.routingStall = Duration();
    // Recorded layers: the experts' kernels are issued as before. A whole iteration: none is.
    workload.stack.cudaGraphs = "layers";
    EXPECT_NEAR(gradients(cost(TinyMoe())).S(), 0.4, 1e-11);
    EXPECT_EQ(gradients(cost(Tiny())), gradients(dense));
    workload.stack.cudaGraphs = "iteration";
    EXPECT_LT(gradients(cost(TinyMoe())).S(), 0.01);
}

TEST(StackCost, ExpertsThatAreNotFused)
{
    // 1,000 tokens to 2 of 4 experts each, 2,000 copies; h = 8 and f = 16. By hand, of kernels in
    // the order in which autograd runs them, bytes a copy. Biases: forward a product in FP32 (4 x
    // 8), its sum with BF16 (10 x 8), parts together (8 x 8), a cast (6 x 8): 224. Backward a cast
    // (6 x 8), the sum's to BF16 (6 x 8), parts together (4 x 8), product and sum for bias and
    // weight (12 x 8 each): 320. Clamps: forward 4 x 16 each, together 8 x 16: 256. Backward
    // comparisons 3 x 16, three of them, joined 3 x 16, chosen 5 x 16 each, together 8 x 16: 480.
    auto workload = WorkloadOf(1000, 1, true);
    ParallelPlan plan;
    const auto cost = [&](const ModelSpec& model) {
        return CostOfLayer(model, workload, plan, OnlyMemory(), 0).mlp;
    };
    ModelSpec model = TinyMoe();
    model.mlpBias = true;
    const auto fused = cost(model);
    EXPECT_EQ(fused.forward, cost(TinyMoe()).forward);
    workload.stack.fusesExperts = false;
    EXPECT_EQ(cost(TinyMoe()).forward, fused.forward);
    const auto biased = cost(model);
    EXPECT_NEAR(Work(biased.forward - fused.forward), 2000 * 224, 1);
    EXPECT_NEAR(Work(biased.inputGradient - fused.inputGradient), 2000 * 320, 1);
    EXPECT_EQ(biased.weightGradient, fused.weightGradient);
    model.clampedMlp = true;
    const auto clamped = cost(model);
    EXPECT_NEAR(Work(clamped.forward - biased.forward), 2000 * 256, 1);
    EXPECT_NEAR(Work(clamped.inputGradient - biased.inputGradient), 2000 * 480, 1);
    // With the activation function clamps are done again.
    plan.recompute = "activation";
    const auto again = cost(model);
    workload.stack.fusesExperts = true;
    const auto plain = cost(model);
    EXPECT_EQ(again.forward, clamped.forward);
    EXPECT_NEAR(Work(again.inputGradient - clamped.inputGradient) -
                    Work(plain.inputGradient - fused.inputGradient),
                2000 * 256,
                1);
}

TEST(StackCost, StacksDiffer)
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

} // namespace scaleacross
