// SPDX-License-Identifier: GPL-2.0-only

// Memory of what the newer models are made of, by hand and to the byte: latent attention, leading
// dense layers, routed and shared experts, unbalanced experts, FP8.

#include "../schedule-scenario.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/memory/memory.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// DeepSeek-V3's latent attention, small, with dense layers. h = 64, a = 4, d = 16 + r = 24,
/// d_v = 16, q = 32, c = 16, r = 8, f = 128, V = 256.
ModelSpec
Latent()
{
    ModelSpec model;
    model.name = "latent";
    model.layers = 2;
    model.hidden = 64;
    model.heads = 4;
    model.kvHeads = 4;
    model.headDim = 24;
    model.valueDim = 16;
    model.queryRank = 32;
    model.kvRank = 16;
    model.ropeDim = 8;
    model.denseFfn = 128;
    model.vocabulary = 256;
    return model;
}

/// One leading dense layer and three with eight experts, two a token, and shared ones:
/// f_e = 32, f_s = 48.
ModelSpec
LatentMoe()
{
    ModelSpec model = Latent();
    model.layers = 4;
    model.experts = 8;
    model.topK = 2;
    model.expertFfn = 32;
    model.sharedFfn = 48;
    model.moeEvery = 1;
    model.leadingDense = 1;
    return model;
}

// Parameters. Queries h q + q + q a d; keys and values h (c + r) + c + c a (16 + 16); output.
constexpr uint64_t kAttention =
    (64 * 32 + 32 + 32 * 96) + (64 * 24 + 16 + 16 * 4 * 32) + 4 * 16 * 64; // 12,848
constexpr uint64_t kDenseLayer = kAttention + 2 * 64 + 3 * 64 * 128;
/// Norms, shared experts and router.
constexpr uint64_t kMoeLayer = kAttention + 2 * 64 + 3 * 64 * 48 + 64 * 8;
constexpr uint64_t kExperts = 8 * 3 * 64 * 32;
constexpr uint64_t kEmbedding = 256 * 64;
constexpr uint64_t kHead = 256 * 64 + 64;

/// Tokens of a rank in all of these: 1,024 over tp = 2.
constexpr uint64_t kTokens = 512;

// Kept per token. Norm's input and output 4h; Q, K 2 a d each, V and output 2 a d_v each;
// log-sum-exp 4a; the latents before and after their norms 4 (q + c) and the rotary key 2r.
constexpr uint64_t kAttentionKept = 256 + 2 * 192 + 2 * 128 + 16 + 192 + 16; // 1,120
/// Norm's input and output, gate, up and product.
constexpr uint64_t kDenseKept = kAttentionKept + 256 + 6 * 128; // 2,144
/// Final norm's input and output and logits.
constexpr uint64_t kHeadKept = 256 + 2 * 256;

Scenario
JobOf(const ModelSpec& model, const ParallelPlan& plan)
{
    return ScenarioOf(BuildingsOf({8, 8}), model, plan, 4);
}

std::vector<MemoryUse>
Uses(const Scenario& scenario)
{
    return MemoryOf(scenario, LayoutOf(scenario));
}

void
ExpectUse(const MemoryUse& use,
          uint64_t parameters,
          uint64_t gradients,
          uint64_t optimizer,
          uint64_t activations,
          uint64_t buffers)
{
    EXPECT_EQ(use.parameters.Count(), parameters);
    EXPECT_EQ(use.gradients.Count(), gradients);
    EXPECT_EQ(use.optimizer.Count(), optimizer);
    EXPECT_EQ(use.activations.Count(), activations);
    EXPECT_EQ(use.gathered.Count(), 0U);
    EXPECT_EQ(use.buffers.Count(), buffers);
}

ParallelPlan
DensePlan()
{
    ParallelPlan plan;
    plan.tp = 2;
    plan.dp = 8;
    plan.sharding = Sharding("ddp");
    return plan;
}

/// Stage 0 has the embedding, the dense layer and a MoE layer, stage 1 two MoE layers and the head.
ParallelPlan
MoePlan()
{
    ParallelPlan plan;
    plan.tp = 2;
    plan.pp = 2;
    plan.dp = 4;
    plan.ep = 2;
    plan.sharding = Sharding("zero1");
    return plan;
}

} // namespace

TEST(MemoryOfModels, LatentAttention)
{
    // Half of all parameters, 18 bytes each. A = 2 h tokens = 64 KiB: gathered input and partial
    // output 2 tp A; FP32 logits 4V per token.
    const uint64_t held = (2 * kDenseLayer + kEmbedding + kHead) / 2;
    const uint64_t buffers = 4 * 128 * kTokens + 4 * 256 * kTokens;
    ExpectUse(Uses(JobOf(Latent(), DensePlan()))[0],
              2 * held,
              4 * held,
              12 * held,
              kTokens * (2 * kDenseKept + kHeadKept),
              buffers);
}

TEST(MemoryOfModels, RecomputedLatentAttention)
{
    // Outputs of the norms 2h each and of the latents' 2 (q + c), product 2f: 128 + 128 + 96 + 256.
    auto plan = DensePlan();
    plan.recompute = Recompute("selective");
    EXPECT_EQ(Uses(JobOf(Latent(), plan))[0].activations.Count(),
              kTokens * (2 * (kDenseKept - 608) + kHeadKept + 608));
}

TEST(MemoryOfModels, LatentAttentionWithoutSequenceParallelism)
{
    // All tp = 2 ranks keep what is of norms and latents for all tokens, twice as much per token of
    // a rank: 4h twice a layer and with the head, 4 (q + c) and 2r.
    auto scenario = JobOf(Latent(), DensePlan());
    scenario.Job().workload.stack.sequenceParallel = false;
    EXPECT_EQ(Uses(scenario)[0].activations.Count(),
              kTokens * (2 * (kDenseKept + 2 * 256 + 192 + 16) + kHeadKept + 256));
}

TEST(MemoryOfModels, SoftwareThatGathersOnceKeepsWholeInputs)
{
    // The outputs of both norms, 2h each, for the tokens of both tp ranks.
    auto scenario = JobOf(Latent(), DensePlan());
    scenario.Job().workload.stack.gathersForWeights = false;
    EXPECT_EQ(Uses(scenario)[0].activations.Count(),
              kTokens * (2 * (kDenseKept + 2 * 128) + kHeadKept));
}

TEST(MemoryOfModels, QueriesWithoutALatentVector)
{
    // h a d for h q + q + q a d, and no latent vector of queries before and after a norm, 4q.
    ModelSpec model = Latent();
    model.queryRank = 0;
    const auto use = Uses(JobOf(model, DensePlan()))[0];
    const uint64_t layer = kDenseLayer - (64 * 32 + 32 + 32 * 96) + 64 * 96;
    EXPECT_EQ(use.parameters.Count(), 2 * layer + kEmbedding + kHead);
    EXPECT_EQ(use.activations.Count(), kTokens * (2 * (kDenseKept - 4 * 32) + kHeadKept));
}

TEST(MemoryOfModels, Fp8KeepsOperandsOfGemmsInOneByte)
{
    // Outputs of both norms h each, of the latents' norms q + c, and the product f less: 64 + 64 +
    // 48 + 128 = 304. Inputs of norms, Q, K, V and attention's output, which its backward reads,
    // gate and up stay, and so do the head, weights, gradients and buffers.
    auto scenario = JobOf(Latent(), DensePlan());
    const auto bf16 = Uses(scenario)[0];
    scenario.Job().workload.precision = Precision("fp8");
    ExpectUse(Uses(scenario)[0],
              bf16.parameters.Count(),
              bf16.gradients.Count(),
              bf16.optimizer.Count(),
              kTokens * (2 * (kDenseKept - 304) + kHeadKept),
              bf16.buffers.Count());
    // These are what selective recomputation drops, so the same stays as in BF16, and half as much
    // comes back.
    scenario.Job().plan.recompute = Recompute("selective");
    EXPECT_EQ(Uses(scenario)[0].activations.Count(),
              kTokens * (2 * (kDenseKept - 608) + kHeadKept + 304));
}

TEST(MemoryOfModels, GradientsTakeTheirFormat)
{
    auto scenario = JobOf(Latent(), DensePlan());
    const auto fp32 = Uses(scenario)[0];
    scenario.Job().workload.gradientBytes = 2;
    EXPECT_EQ(2 * Uses(scenario)[0].gradients.Count(), fp32.gradients.Count());
}

TEST(MemoryOfModels, SoftwareThatShardsMastersKeepsNoOtherShard)
{
    auto scenario = JobOf(Latent(), DensePlan());
    scenario.Job().workload.stack.shardsMasters = true;
    // Whole weights are there in any case; of a shard there are the masters.
    EXPECT_GT(Uses(scenario)[0].parameters, Bytes(0));
    scenario.Job().plan.sharding = Sharding("fsdp");
    const auto whole = Uses(scenario)[0];
    scenario.Job().workload.stack.shardsMasters = false;
    EXPECT_EQ(whole.Total(), Uses(scenario)[0].Total()); // 2 bytes a weight, in one place or two
    scenario.Job().workload.stack.shardsMasters = true;
    scenario.Job().plan.reshard = true;
    const auto masters = Uses(scenario)[0];
    scenario.Job().workload.stack.shardsMasters = false;
    const auto both = Uses(scenario)[0];
    EXPECT_EQ(masters.parameters, Bytes(0));
    EXPECT_EQ(6 * both.parameters.Count(), both.optimizer.Count()); // 2 of 12 bytes
    EXPECT_EQ(masters.Total() + both.parameters, both.Total());
}

TEST(MemoryOfModels, WholeLayersAgainKeepProjections)
{
    // Beside the layer's input: Q, K and V of SmallModel(), 2 (a d + 2 g d) bytes a token.
    const ModelSpec model = SmallModel();
    auto scenario = JobOf(model, DensePlan());
    scenario.Job().plan.recompute = Recompute("full");
    const uint64_t full = Uses(scenario)[0].activations.Count();
    scenario.Job().plan.recompute = Recompute("full-but-qkv");
    const uint64_t width =
        uint64_t{model.heads} * model.headDim + 2 * uint64_t{model.kvHeads} * model.headDim;
    EXPECT_EQ(Uses(scenario)[0].activations.Count() - full, kTokens * model.layers * 2 * width);
}

TEST(MemoryOfModels, ModulesAreDroppedAndComeBackForALayer)
{
    // Latent(): 2 a (2 d + d_v) bytes a token of queries, keys and values, 6f of the MLP; of the
    // two layers one is brought back while its backward runs.
    const ModelSpec model = Latent();
    const uint64_t projections =
        2 * uint64_t{model.heads} * (2 * uint64_t{model.headDim} + model.valueDim);
    const uint64_t mlp = 6 * model.denseFfn;
    auto scenario = JobOf(model, DensePlan());
    const uint64_t all = Uses(scenario)[0].activations.Count();
    const auto saved = [&](const char* word) {
        scenario.Job().plan.recompute = Recompute(word);
        return all - Uses(scenario)[0].activations.Count();
    };
    EXPECT_EQ(saved("mla-up-proj"), kTokens * projections);
    EXPECT_EQ(saved("mlp"), kTokens * mlp);
    EXPECT_EQ(saved("mla-up-proj+mlp"), kTokens * (projections + mlp));
    // Norms' outputs of h before each half and of the latent vectors, and the product's 2f of 6f,
    // unless all of the MLP is done again.
    const uint64_t norms = 2 * (2 * uint64_t{model.hidden} + model.queryRank + model.kvRank);
    EXPECT_EQ(saved("norm"), kTokens * norms);
    EXPECT_EQ(saved("activation"), kTokens * mlp / 3);
    EXPECT_EQ(saved("activation+mlp"), kTokens * mlp);
    EXPECT_EQ(saved("norm+mlp"), kTokens * (norms + mlp));
}

TEST(MemoryOfModels, ExpertsAgainKeepTheirInput)
{
    // DenseLayersExpertsAndSharedOnes has what a MoE layer keeps. From the norm's output on that is
    // 6 x 112 of the MLPs, 6 x 48 of it shared, and the dispatched copies 2 k h tp. Stage 0 has two
    // microbatches of a dense and a MoE layer, the last stage one of two MoE layers; one comes
    // back.
    constexpr uint64_t experts = 6 * 112 + 2 * 2 * 64 * 2;
    auto scenario = JobOf(LatentMoe(), MoePlan());
    const auto all = Uses(scenario);
    const auto saved = [&](const char* words, size_t stage) {
        scenario.Job().plan.recompute = Recompute(words);
        return all[stage].activations.Count() - Uses(scenario)[stage].activations.Count();
    };
    EXPECT_EQ(saved("moe", 0), (2 - 1) * kTokens * experts);
    EXPECT_EQ(saved("moe", 1), (2 - 1) * kTokens * experts);
    EXPECT_EQ(saved("shared-experts", 1), kTokens * 6 * 48);
    EXPECT_EQ(saved("moe+shared-experts+activation", 1), kTokens * experts);
    // Software that keeps what it has gathered gathers the experts' input again.
    scenario.Job().workload.stack.gathersForWeights = false;
    scenario.Job().plan.recompute = Recompute();
    const auto gathered = Uses(scenario)[1].activations.Count();
    scenario.Job().plan.recompute = Recompute("moe");
    EXPECT_EQ(gathered - Uses(scenario)[1].activations.Count(), kTokens * (experts + 2 * 64));
}

TEST(MemoryOfModels, EveryModuleMoreKeepsNoMoreAndComputesNoLess)
{
    // Of every set of modules: what one more drops of all layers is at least what it brings back of
    // one. Layers 0 and 1 of LatentMoe() are dense and MoE.
    std::vector<const RecomputeFacts*> modules;
    for (const RecomputeFacts* row : RecomputeWord::Rows())
    {
        if (row->module != nullptr)
        {
            modules.push_back(row);
        }
    }
    auto scenario = JobOf(LatentMoe(), MoePlan());
    const auto with = [&](uint32_t set) {
        std::string words;
        for (size_t i = 0; i < modules.size(); i++)
        {
            words += (set >> i & 1) == 0 ? "" : (words.empty() ? "" : "+") + modules[i]->word;
        }
        JobSpec& job = scenario.Job();
        job.plan.recompute = set == 0 ? Recompute() : Recompute(words);
        std::vector<uint64_t> figures;
        for (const MemoryUse& use : Uses(scenario))
        {
            figures.push_back(use.activations.Count());
        }
        for (const uint32_t layer : {0U, 1U})
        {
            const GpuSpec& gpu = scenario.cluster.buildings[0].gpu;
            const auto cost = CostOfLayer(job.model, job.workload, job.plan, gpu, layer);
            const Duration input = cost.attention.inputGradient + cost.mlp.inputGradient;
            figures.push_back(static_cast<uint64_t>(input.Ps()));
        }
        return figures;
    };
    for (uint32_t set = 0; set < 1U << modules.size(); set++)
    {
        const auto some = with(set);
        for (size_t i = 0; i < modules.size(); i++)
        {
            const auto more = with(set | 1U << i);
            EXPECT_LE(more[0], some[0]) << set << " " << modules[i]->word;
            EXPECT_LE(more[1], some[1]) << set << " " << modules[i]->word;
            EXPECT_GE(more[2] + 1, some[2]) << set << " " << modules[i]->word; // rounded to 1 ps
            EXPECT_GE(more[3] + 1, some[3]) << set << " " << modules[i]->word;
        }
    }
}

TEST(MemoryOfModels, Fp8OfAGpt)
{
    // GELU: of its input and output, 4f, the output's 2f become f; h for h in both norms.
    ModelSpec model = SmallModel();
    model.gatedMlp = false;
    auto scenario = JobOf(model, DensePlan());
    const auto bf16 = Uses(scenario)[0].activations.Count();
    scenario.Job().workload.precision = Precision("fp8");
    EXPECT_EQ(bf16 - Uses(scenario)[0].activations.Count(), kTokens * 8 * (2 * 512 + 2048));
}

TEST(MemoryOfModels, DenseLayersExpertsAndSharedOnes)
{
    // A MoE layer's MLP: k f_e + f_s = 112 wide, and the k copies that the two tp ranks have been
    // dispatched, 2 k h tp: an expert's weight gradient reads them all.
    constexpr uint64_t kept = kAttentionKept + 256 + 6 * 112 + 2 * 2 * 64 * 2; // 2,560
    // Half of what is dense, of experts a half of the half. ZeRO-1: the optimizer's over dp = 4 and
    // dp / ep = 2 ranks.
    constexpr uint64_t dense0 = (kEmbedding + kDenseLayer + kMoeLayer) / 2;
    constexpr uint64_t dense1 = (2 * kMoeLayer + kHead) / 2;
    constexpr uint64_t experts = kExperts / 4;
    // A = 64 KiB: pipeline's messages 4A. The dense layer's activation function A + 4f = 5A;
    // experts: their outputs and the shared ones' 2A, dispatch, combine and the experts' partial
    // output k A (2 + tp), 10A, which is more. The head: gathered input and its gradient 2 tp A,
    // logits in FP32 4V = 8A; with its own 4h + 2V = 6A still there, 12A are more than 10A.
    constexpr uint64_t a = 128 * kTokens;
    const auto stages = Uses(JobOf(LatentMoe(), MoePlan()));
    ASSERT_EQ(stages.size(), 2U);
    // 1F1B: two microbatches on stage 0, one on stage 1.
    ExpectUse(stages[0],
              2 * (dense0 + experts),
              4 * (dense0 + experts),
              12 * (dense0 / 4 + experts / 2),
              2 * kTokens * (kDenseKept + kept),
              (4 + 2 + 2 * 4) * a);
    ExpectUse(stages[1],
              2 * (dense1 + 2 * experts),
              4 * (dense1 + 2 * experts),
              12 * (dense1 / 4 + 2 * experts / 2),
              kTokens * (2 * kept + kHeadKept),
              (4 + 4 + 8) * a);
}

TEST(MemoryOfModels, UnbalancedExperts)
{
    // 1.5 times the k = 2 routed copies, 3: the routed width 3 f_e, the copies 3 h tp, and the
    // buffers that hold them, 3 A (2 + tp). Shared experts, dense layers and everything else see
    // every token once.
    auto scenario = JobOf(LatentMoe(), MoePlan());
    const auto balanced = Uses(scenario);
    scenario.Job().workload.expertImbalance = 1.5;
    const auto stages = Uses(scenario);
    constexpr uint64_t kept = kAttentionKept + 256 + 6 * (3 * 32 + 48) + 2 * 3 * 64 * 2; // 3,008
    constexpr uint64_t a = 128 * kTokens;
    for (uint32_t stage = 0; stage < 2; stage++)
    {
        ExpectUse(stages[stage],
                  balanced[stage].parameters.Count(),
                  balanced[stage].gradients.Count(),
                  balanced[stage].optimizer.Count(),
                  stage == 0 ? 2 * kTokens * (kDenseKept + kept) : kTokens * (2 * kept + kHeadKept),
                  stage == 0 ? (4 + 2 + 3 * 4) * a : (4 + 4 + 8) * a);
    }
    // Without expert parallelism every rank has all experts and all tokens, and nothing is sent.
    scenario.Job().plan.ep = 1;
    const auto whole = Uses(scenario);
    constexpr uint64_t even = kAttentionKept + 256 + 6 * 112 + 2 * 2 * 64;
    EXPECT_EQ(whole[0].activations.Count(), 2 * kTokens * (kDenseKept + even));
    // The dense layer's A + 4f is the most.
    EXPECT_EQ(whole[0].buffers.Count(), (4 + 5) * a);
    EXPECT_EQ(whole[0].parameters.Count(), kEmbedding + kDenseLayer + kMoeLayer + kExperts);
}

TEST(MemoryOfModels, Fp8Experts)
{
    // Of 3,008 bytes with k = 3 (UnbalancedExperts): the first norm's output h, the latents' q + c,
    // the product 144 and the copies 3h tp less, 64 + 48 + 144 + 384 = 640. The second norm's
    // output stays, the router reads it in BF16. Tokens are dispatched in one byte and combined in
    // two: k A (0.5 + 1 + tp).
    auto scenario = JobOf(LatentMoe(), MoePlan());
    scenario.Job().workload.expertImbalance = 1.5;
    scenario.Job().workload.precision = Precision("fp8");
    const auto stages = Uses(scenario);
    constexpr uint64_t a = 128 * kTokens;
    EXPECT_EQ(stages[0].activations.Count(), 2 * kTokens * (kDenseKept - 304 + 3008 - 640));
    EXPECT_EQ(stages[0].buffers.Count(), (4 + 2) * a + 3 * 7 * a / 2);
    EXPECT_EQ(stages[1].activations.Count(), kTokens * (2 * (3008 - 640) + kHeadKept));
    // Selective recomputation drops the norms' outputs 64 and 128, the latents' 48 and the product
    // 144, 384, and brings them back for one layer.
    scenario.Job().plan.recompute = Recompute("selective");
    EXPECT_EQ(Uses(scenario)[1].activations.Count(),
              kTokens * (2 * (3008 - 640 - 384) + kHeadKept + 384));
}

} // namespace scaleacross
