// SPDX-License-Identifier: GPL-2.0-only

#include "../schedule-scenario.h"
#include "core/work/memory/memory.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace scaleacross
{

namespace
{

/// SmallModel as a GPT: GELU with f = 4h, a d = h, g = a.
ModelSpec
SmallGpt()
{
    ModelSpec model = SmallModel();
    model.gatedMlp = false;
    return model;
}

ParallelPlan
PlanOf(uint32_t tp, uint32_t pp, uint32_t dp, Sharding sharding)
{
    ParallelPlan plan;
    plan.tp = tp;
    plan.pp = pp;
    plan.dp = dp;
    plan.sharding = sharding;
    return plan;
}

std::vector<MemoryUse>
MemoryOfPlan(const ModelSpec& model, const ParallelPlan& plan, uint32_t m = 8)
{
    const auto gpus = static_cast<uint32_t>(plan.Ranks() / 2);
    const auto scenario = ScenarioOf(BuildingsOf({gpus, gpus}), model, plan, m);
    return MemoryOf(scenario, LayoutOf(scenario));
}

/// Weights, gradients and optimizer state, gathered or not.
double
States(const MemoryUse& use)
{
    return static_cast<double>(
        (use.parameters + use.gradients + use.optimizer + use.gathered).Count());
}

double
Activations(const MemoryUse& use)
{
    return static_cast<double>(use.activations.Count());
}

/// Saved by one layer of SmallGpt: 34 s b h / t of 2205.05198 without the dropout masks of
/// attention and MLP (1 byte per element each), and 4 a s for the log-sum-exp: 32 s b h + 4 a s.
constexpr double kGptLayer = 32.0 * 1024 * 512 + 4.0 * 8 * 1024;

/// A model of layers that differ, dense and with experts, and of words that change what they keep.
Scenario
RandomOffload(std::mt19937& random)
{
    const auto pick = [&random](const std::vector<uint32_t>& values) {
        return values[random() % values.size()];
    };
    ModelSpec model = random() % 4 == 0 ? SmallModel() : SmallMoe();
    model.layers = pick({1, 2, 3, 8, 12});
    model.denseFfn = pick({512, 2048, 8192});
    model.mtpLayers = pick({0, 0, 1});
    if (model.IsMoe())
    {
        model.moeEvery = pick({1, 2, 3});
        model.leadingDense = pick({0, 1, 3});
        model.expertFfn = pick({256, 1024, 4096});
        model.sharedFfn = pick({0, 1024});
        model.topK = pick({1, 2, 4});
    }
    ParallelPlan plan = PlanOf(pick({1, 2}), 1, 16, Sharding(pick({0, 1}) == 0 ? "fsdp" : "zero1"));
    plan.ep = model.IsMoe() ? pick({1, 4}) : 1;
    plan.recompute =
        Recompute(std::vector<const char*>{"none", "selective", "mlp", "moe"}[pick({0, 1, 2, 3})]);
    const auto gpus = static_cast<uint32_t>(plan.Ranks() / 2);
    auto scenario = ScenarioOf(BuildingsOf({gpus, gpus}), model, plan, pick({1, 4}));
    if (plan.ep > 1)
    {
        scenario.Job().workload.expertImbalance = 1 + 0.01 * pick({0, 13, 90});
    }
    return scenario;
}

} // namespace

TEST(Memory, BytesPerParameter)
{
    // Mixed precision with Adam on D = 32 ranks in two buildings: DDP 18; ZeRO-1 6 + 12/D; ZeRO-2
    // 2 + 16/D; FSDP kept 6 + 12/D; FSDP resharded 18/D and what is gathered; HSDP as FSDP with D =
    // 16.
    const ModelSpec model = SmallModel();
    const auto p = static_cast<double>(model.TotalParameters());
    auto plan = PlanOf(1, 1, 32, Sharding("ddp"));
    EXPECT_DOUBLE_EQ(States(MemoryOfPlan(model, plan)[0]), 18 * p);
    plan.sharding = Sharding("zero1");
    EXPECT_DOUBLE_EQ(States(MemoryOfPlan(model, plan)[0]), (6 + 12.0 / 32) * p);
    EXPECT_DOUBLE_EQ(static_cast<double>(MemoryOfPlan(model, plan)[0].gathered.Count()), 0);
    plan.sharding = Sharding("zero2");
    // 2 + 16/D, and gradients of two layers that are not yet reduced.
    const double unit = 4.0 * 512 * 512 + 3.0 * 512 * 2048 + 2 * 512;
    EXPECT_DOUBLE_EQ(States(MemoryOfPlan(model, plan)[0]), (2 + 16.0 / 32) * p + 4 * 2 * unit);
    plan.sharding = Sharding("fsdp");
    EXPECT_DOUBLE_EQ(States(MemoryOfPlan(model, plan)[0]), (6 + 12.0 / 32) * p);
    // Weights kept, gradients reduced for every microbatch, as Llama 3: the same as ZeRO-2.
    plan.reduce = Reduction("microbatch");
    EXPECT_DOUBLE_EQ(States(MemoryOfPlan(model, plan)[0]), (2 + 16.0 / 32) * p + 4 * 2 * unit);
    // Weights given up, whole gradients adding up: 4 + 14/D and the gathered units.
    plan.reshard = true;
    plan.reduce = Reduction("accumulated");
    EXPECT_DOUBLE_EQ(States(MemoryOfPlan(model, plan)[0]), (4 + 14.0 / 32) * p + 2 * 3 * unit);
    // A layer more or less prefetched is a layer more or less held.
    plan.prefetch = 0;
    EXPECT_DOUBLE_EQ(States(MemoryOfPlan(model, plan)[0]), (4 + 14.0 / 32) * p + 2 * 1 * unit);
    plan = PlanOf(1, 1, 32, Sharding("hsdp"));
    plan.sharding = Sharding("hsdp");
    EXPECT_DOUBLE_EQ(States(MemoryOfPlan(model, plan)[0]), (6 + 12.0 / 16) * p);
    plan.reshard = true;
    const auto hsdp = MemoryOfPlan(model, plan)[0];
    EXPECT_DOUBLE_EQ(States(hsdp) - static_cast<double>(hsdp.gathered.Count()), 18.0 / 16 * p);
    // Live units: weights of three layers, 2 bytes (a layer, 4h^2 + 3hf + 2h parameters, is larger
    // than embedding and head, 4,096 h each), and gradients of two, 4 bytes.
    const double layer = 4.0 * 512 * 512 + 3.0 * 512 * 2048 + 2 * 512;
    EXPECT_DOUBLE_EQ(static_cast<double>(hsdp.gathered.Count()), (2 * 3 + 4 * 2) * layer);
}

TEST(Memory, ExpertsHaveTheirOwnDegree)
{
    // dp = 16, ep = 4: dense parameters over 16 ranks, a quarter of the experts over 4: every rank
    // keeps 1/16 of either. Gathered whole: all dense and a quarter of the experts.
    const ModelSpec model = SmallMoe();
    auto plan = PlanOf(1, 1, 16, Sharding("fsdp"));
    plan.ep = 4;
    double experts = 0;
    for (uint32_t layer = 0; layer < model.layers; layer++)
    {
        experts += static_cast<double>(model.ExpertParametersOfLayer(layer));
    }
    const double dense = static_cast<double>(model.TotalParameters()) - experts;
    EXPECT_NEAR(States(MemoryOfPlan(model, plan)[0]),
                (6 + 12.0 / 16) * dense + (6 + 12.0 / 4) * experts / 4,
                18.0 * 20); // each of some ten units is rounded up
}

TEST(Memory, ActivationsOfAGpt)
{
    // 1F1B, p = 4, two layers a stage: rank r holds p - r microbatches.
    const auto stages = MemoryOfPlan(SmallGpt(), PlanOf(1, 4, 4, Sharding("hsdp")));
    for (uint32_t r = 0; r < 3; r++)
    {
        EXPECT_DOUBLE_EQ(Activations(stages[r]), (4 - r) * 2 * kGptLayer);
    }
    // The last stage adds its final norm's input and output, 4h, and logits, 2V, per token.
    EXPECT_DOUBLE_EQ(Activations(stages[3]), 2 * kGptLayer + 1024.0 * (4 * 512 + 2 * 4096));
    // Sequence parallel divides everything by t.
    const auto split = MemoryOfPlan(SmallGpt(), PlanOf(8, 4, 1 * 4, Sharding("hsdp")));
    EXPECT_DOUBLE_EQ(Activations(split[0]) * 8, Activations(stages[0]));
}

TEST(Memory, MicrobatchesInFlight)
{
    // On the first stage, in layers of the whole model: 1F1B L; interleaved L (1 + (p-1)/(pv));
    // GPipe L m / p; ZB-H1 as 1F1B, and as much on every other stage.
    auto plan = PlanOf(1, 4, 4, Sharding("hsdp"));
    const auto first = [&plan] { return Activations(MemoryOfPlan(SmallGpt(), plan, 8)[0]); };
    EXPECT_DOUBLE_EQ(first(), 8 * kGptLayer);
    plan.schedule = "gpipe";
    EXPECT_DOUBLE_EQ(first(), 8 * kGptLayer * 8 / 4);
    plan.schedule = "zb-h1";
    EXPECT_DOUBLE_EQ(first(), 8 * kGptLayer);
    EXPECT_DOUBLE_EQ(Activations(MemoryOfPlan(SmallGpt(), plan, 8)[2]), 8 * kGptLayer);
    plan.schedule = "interleaved";
    plan.chunks = 2;
    EXPECT_DOUBLE_EQ(first(), 8 * kGptLayer * (1 + 3.0 / (4 * 2)));
}

TEST(Memory, FullRecomputationKeepsLayerInputs)
{
    // 2 s b h per layer and microbatch, and one layer brought back for its backward.
    auto plan = PlanOf(1, 4, 4, Sharding("hsdp"));
    plan.recompute = Recompute("full");
    EXPECT_DOUBLE_EQ(Activations(MemoryOfPlan(SmallGpt(), plan)[0]),
                     8 * 2.0 * 1024 * 512 + kGptLayer);
}

TEST(Memory, SelectiveRecomputationKeepsNoNormsAndActivations)
{
    // GELU: of 32 s b h + 4 a s, the two norms' outputs, 2h each, and the activation's, 2f = 8h,
    // go: 20 s b h + 4 a s stay, and one layer's 12 s b h come back for its backward.
    auto plan = PlanOf(1, 4, 4, Sharding("hsdp"));
    plan.recompute = Recompute("selective");
    EXPECT_DOUBLE_EQ(Activations(MemoryOfPlan(SmallGpt(), plan)[0]),
                     8 * (20.0 * 1024 * 512 + 4.0 * 8 * 1024) + 12.0 * 1024 * 512);
    // SwiGLU, Llama 3 8B: of the 139,392 bytes per token and layer (ActivationsOfALlamaLayer)
    // 4h + 2f = 16,384 + 28,672 = 45,056 go.
    plan = PlanOf(1, 1, 16, Sharding("fsdp"));
    plan.recompute = Recompute("selective");
    const double head = 4 * 4096 + 2.0 * 128256;
    EXPECT_DOUBLE_EQ(Activations(MemoryOfPlan(ModelPreset("llama3-8b"), plan)[0]),
                     1024 * (32 * (139392.0 - 45056) + head + 45056));
    // MoE, h = 512, k f_e + f_s = 3,072: 4h + 2 x 3,072 = 8,192 per token go; the dispatched copies
    // stay. Dense layers, f = 2,048: 6,144. Four layers of each; one MoE layer comes back.
    plan.recompute = Recompute("none");
    const double whole = Activations(MemoryOfPlan(SmallMoe(), plan)[0]);
    plan.recompute = Recompute("selective");
    EXPECT_DOUBLE_EQ(whole - Activations(MemoryOfPlan(SmallMoe(), plan)[0]),
                     1024 * (4 * 8192.0 + 4 * 6144 - 8192));
}

TEST(Memory, AlternateRecomputationKeepsEverySecondLinearLayer)
{
    // Beside what selective drops: GELU, K and the sum of attention's output with the residual, 2h
    // each: 16 s b h + 4 a s stay, and one layer's 16 s b h come back for its backward.
    auto plan = PlanOf(1, 4, 4, Sharding("hsdp"));
    plan.recompute = Recompute("alternate");
    EXPECT_DOUBLE_EQ(Activations(MemoryOfPlan(SmallGpt(), plan)[0]),
                     8 * (16.0 * 1024 * 512 + 4.0 * 8 * 1024) + 16.0 * 1024 * 512);
    // SwiGLU, Llama 3 8B: K 2 g d = 2,048, the sum 2h = 8,192 and up 2f = 28,672 beside 45,056.
    plan = PlanOf(1, 1, 16, Sharding("fsdp"));
    plan.recompute = Recompute("alternate");
    const double head = 4 * 4096 + 2.0 * 128256;
    EXPECT_DOUBLE_EQ(Activations(MemoryOfPlan(ModelPreset("llama3-8b"), plan)[0]),
                     1024 * (32 * (139392.0 - 83968) + head + 83968));
}

TEST(Memory, AlternateRecomputationKeepsNothingOfRoutedExperts)
{
    // h = 512, g d = 512, two routed experts of 1,024 and a shared one of 1,024. Of a dense layer,
    // f = 2,048, 4h + 2f + 2 g d + 2h + 2f go. Of a MoE layer 4h + 2 g d + 2h, the shared expert's
    // product and up, 4 x 1,024, and of the routed ones gate, up and product, 6 x 2,048, and two
    // dispatched copies, 4h. Four layers of each; one MoE layer comes back for its backward.
    const double dense = 2048 + 4096 + 1024 + 1024 + 4096;
    const double moe = 2048 + 1024 + 1024 + 4096 + 12288 + 2048;
    auto plan = PlanOf(1, 1, 16, Sharding("fsdp"));
    const auto saved = [&plan] {
        plan.recompute = Recompute("none");
        const double whole = Activations(MemoryOfPlan(SmallMoe(), plan)[0]);
        plan.recompute = Recompute("alternate");
        return whole - Activations(MemoryOfPlan(SmallMoe(), plan)[0]);
    };
    EXPECT_DOUBLE_EQ(saved(), 1024 * (4 * dense + 4 * moe - moe));
    // Between ranks, what dispatch has brought and what came back stay, two copies of 2h each.
    plan.ep = 4;
    EXPECT_DOUBLE_EQ(saved(), 1024 * (4 * dense + 4 * (moe - 4096) - moe));
    // Copies that a gather among etp ranks has brought stay, 4h of a rank's own, and so does what a
    // scatter has left, as much: against experts that are not split over the ranks of tp.
    plan = PlanOf(2, 1, 8, Sharding("fsdp"));
    plan.ep = 2;
    plan.etp = 1;
    const double whole = saved();
    plan.etp = 2;
    EXPECT_DOUBLE_EQ(whole - saved(), 512 * (4 * (2048.0 + 2048) - 2048));
}

TEST(Memory, ActivationsOfALlamaLayer)
{
    // Llama 3 8B, s = 1,024, one stage of 32 layers, p = 1: per token and layer 4h + 2(a + 2g)d +
    // 2ad
    // + 4a + 4h + 6f = 16,384 + 12,288 + 8,192 + 128 + 16,384 + 86,016 = 139,392 bytes.
    const auto use = MemoryOfPlan(ModelPreset("llama3-8b"), PlanOf(1, 1, 16, Sharding("fsdp")))[0];
    const double head = 4 * 4096 + 2.0 * 128256;
    EXPECT_DOUBLE_EQ(Activations(use), 1024 * (32 * 139392.0 + head));
}

TEST(Memory, Llama405BTrainsAsPublished)
{
    // 2407.21783, section 3.3 and table 4: TP8 PP16 DP128 on 16,384 H100, sequence 8,192, 16M
    // tokens a batch, no activation checkpointing, weights kept after forward, gradients and
    // optimizer state sharded, that is 2 + 16/D bytes per parameter. It ran in 80 GB, so
    // activations and buffers beside these states must fit.
    auto plan = PlanOf(8, 16, 128, Sharding("fsdp"));
    auto scenario = ScenarioOf(BuildingsOf({8192, 8192}), ModelPreset("llama3-405b"), plan, 16);
    scenario.Job().workload.sequence = 8192;
    const double usable =
        static_cast<double>(scenario.cluster.buildings.front().gpu.UsableHbm().Count());
    for (const auto& use : MemoryOf(scenario, LayoutOf(scenario)))
    {
        const double atRest = static_cast<double>(use.parameters.Count()) / 2;
        const double states = (2 + 16.0 / 128) * atRest * 128;
        EXPECT_LT(Activations(use) + static_cast<double>(use.buffers.Count()) + states, usable);
    }
    // So it does as it was run, with gradients reduced for every microbatch. The two other modes
    // lie on either side: with whole FP32 gradients it is too much, with resharding it fits.
    scenario.Job().plan.reduce = Reduction("microbatch");
    EXPECT_FALSE(CheckMemory(scenario, LayoutOf(scenario)));
    scenario.Job().plan.reduce.reset();
    const auto kept = CheckMemory(scenario, LayoutOf(scenario));
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->reason, "memory");
    EXPECT_NE(kept->detail.find("most of it activations"), std::string::npos) << kept->detail;
    scenario.Job().plan.reshard = true;
    EXPECT_FALSE(CheckMemory(scenario, LayoutOf(scenario)));
    // So does keeping whole gradients with selective recomputation.
    scenario.Job().plan.reshard = false;
    scenario.Job().plan.recompute = Recompute("selective");
    EXPECT_FALSE(CheckMemory(scenario, LayoutOf(scenario)));
}

TEST(Memory, LimitIsThatOfTheStagesBuilding)
{
    // PP-out over two buildings, the second with hardly any memory: its stage is named. DP-out:
    // every stage is in both.
    auto cluster = BuildingsOf({16, 16});
    cluster.buildings[1].gpu.hbmCapacity = cluster.buildings[1].gpu.hbmReserve + Bytes(1000);
    auto plan = PlanOf(8, 2, 2, Sharding("hsdp"));
    plan.crossing = Crossing::Pipeline;
    const auto scenario = ScenarioOf(cluster, SmallModel(), plan, 4);
    const auto out = CheckMemory(scenario, LayoutOf(scenario));
    ASSERT_TRUE(out);
    EXPECT_EQ(out->detail.rfind("stage 1 ", 0), 0U) << out->detail;
    // Without the limit it may run, and the same is a warning.
    EXPECT_TRUE(MemoryWarnings(scenario).empty());
    auto told = scenario;
    told.Job().workload.memoryLimit = false;
    EXPECT_FALSE(CheckMemory(told, LayoutOf(told)));
    EXPECT_EQ(MemoryWarnings(told), std::vector<std::string>{"memory: " + out->detail});
    auto within = scenario;
    within.Job().plan.crossing = Crossing::Data;
    const auto both = CheckMemory(within, LayoutOf(within));
    ASSERT_TRUE(both);
    EXPECT_EQ(both->detail.rfind("stage 0 ", 0), 0U) << both->detail;
}

/// Of the first stage's n layers the first k keep their input, I = 2 h a token over tp, the others
/// all that they save, S; two microbatches are in flight: 2 (k I + (n - k) S).
TEST(Memory, OffloadedLayersLeaveTwoBuffers)
{
    // SmallGpt() has 8 layers alike; a layer is copied while the next one computes.
    auto plan = PlanOf(1, 1, 32, Sharding("zero1"));
    const auto none = MemoryOfPlan(SmallGpt(), plan)[0];
    for (const uint32_t k : {1U, 2U, 5U, 7U})
    {
        plan.offloadLayers = k;
        const auto use = MemoryOfPlan(SmallGpt(), plan)[0];
        EXPECT_DOUBLE_EQ(Activations(none) - Activations(use), k * kGptLayer);
        EXPECT_DOUBLE_EQ(static_cast<double>((use.buffers - none.buffers).Count()),
                         std::min(k, 2U) * kGptLayer);
        EXPECT_EQ(use.parameters + use.gradients + use.optimizer + use.gathered,
                  none.parameters + none.gradients + none.optimizer + none.gathered);
    }
}

TEST(Memory, BuffersOfOffloadHoldTheLargestNeighbours)
{
    // Three dense layers, then five with experts. Per token a dense one keeps 16h + 4a + 6f, one of
    // experts the same with k f_e + f_s = 3,072 for f, and k copies of 2h. The largest two that are
    // there at once are, by the number offloaded: one dense, two dense, one of each, two of
    // experts.
    ModelSpec model = SmallMoe();
    model.moeEvery = 1;
    model.leadingDense = 3;
    const double dense = 1024 * (16.0 * 512 + 4 * 8 + 6 * 2048);
    const double moe = 1024 * (16.0 * 512 + 4 * 8 + 6 * 3072 + 2 * 2 * 512);
    auto plan = PlanOf(1, 1, 32, Sharding("zero1"));
    const auto none = MemoryOfPlan(model, plan)[0];
    const std::vector<double> expected =
        {dense, 2 * dense, 2 * dense, dense + moe, 2 * moe, 2 * moe, 2 * moe, 2 * moe};
    for (uint32_t k = 1; k <= 8; k++)
    {
        plan.offloadLayers = k;
        const auto use = MemoryOfPlan(model, plan)[0];
        EXPECT_DOUBLE_EQ(static_cast<double>((use.buffers - none.buffers).Count()), expected[k - 1])
            << k;
        EXPECT_DOUBLE_EQ(Activations(none) - Activations(use),
                         std::min(k, 3U) * dense + (k - std::min(k, 3U)) * moe)
            << k;
    }
}

/// What a layer that is offloaded takes of the buffers is no more than what it kept on the GPU, so
/// a layer more never needs more. A byte is for two parts of the sum that are each cut off.
TEST(Memory, OffloadingMoreNeverTakesMore)
{
    std::mt19937 random(20260714);
    for (int draw = 0; draw < 300; draw++)
    {
        auto scenario = RandomOffload(random);
        const RankLayout layout = LayoutOf(scenario);
        Bytes before = MemoryOf(scenario, layout)[0].Total();
        for (uint32_t k = 1; k <= scenario.Job().model.LayersInTraining(); k++)
        {
            scenario.Job().plan.offloadLayers = k;
            const Bytes total = MemoryOf(scenario, layout)[0].Total();
            EXPECT_LE(total, before + Bytes(1)) << "draw " << draw << ", " << k << " layers";
            before = total;
        }
    }
}

TEST(Memory, OfTheFirstLayersRecomputed)
{
    auto plan = PlanOf(2, 2, 8, Sharding("hsdp"));
    const auto kept = [&plan](const char* words, uint32_t layers) {
        plan.recompute = words;
        plan.recomputeLayers = layers;
        return Activations(MemoryOfPlan(SmallModel(), plan)[0]);
    };
    const uint32_t n = SmallModel().layers / 2;
    const double input = 2.0 * 1024 * 512 / 2;
    const double saved = input + (kept("full", 1) - kept("full", 2)) / 2;
    EXPECT_NEAR(kept("none", 0), 2 * n * saved, 1);
    for (uint32_t k = 1; k <= n; k++)
    {
        EXPECT_NEAR(kept("full", k), 2 * (k * input + (n - k) * saved) + (k == n ? saved : 0), 1);
    }
    EXPECT_EQ(kept("full", 0), kept("full", n));
}

TEST(Memory, BuffersByHand)
{
    // tp = 2, cp = 1, ep = 4, pp = 2, shard of an activation A = 2 s h / tp: four pipeline
    // messages. Experts: their outputs and the shared ones' 2A, dispatch and combine 2kA and the
    // partial output k tp A, 10A; the dense layers' activation function, A + 4f = 9A, is less.
    auto plan = PlanOf(2, 2, 8, Sharding("hsdp"));
    plan.ep = 4;
    const auto stages = MemoryOfPlan(SmallMoe(), plan);
    const double shard = 2.0 * 1024 * 512 / 2;
    EXPECT_DOUBLE_EQ(static_cast<double>(stages[0].buffers.Count()), shard * (4 + 10));
    // The head: gathered input and its gradient, 2 tp A, and its logits once more in FP32, 4V.
    EXPECT_DOUBLE_EQ(static_cast<double>(stages[1].buffers.Count()),
                     shard * (4 + 4) + 4.0 * 1024 / 2 * 4096);
}

TEST(Memory, PositionsWithoutLayers)
{
    // Eight layers on four stages of DDP, 2 + 4 + 12 bytes per parameter: stage 0 has the embedding
    // alone, V h; stage 1 all layers; stage 2 nothing; stage 3 the head alone, V h and the final
    // norm's h. 1F1B, and 1,024 tokens of a microbatch.
    auto plan = PlanOf(1, 4, 8, Sharding("ddp"));
    plan.layers = LayerLayout::Parse("0+8+0x2");
    ModelSpec model = SmallGpt();
    const auto stages = MemoryOfPlan(model, plan);
    const double table = 4096.0 * 512;
    EXPECT_DOUBLE_EQ(States(stages[0]), 18 * table);
    EXPECT_DOUBLE_EQ(States(stages[2]), 0);
    EXPECT_DOUBLE_EQ(States(stages[3]), 18 * (table + 512));
    double all = 0;
    for (const MemoryUse& use : stages)
    {
        all += States(use);
    }
    EXPECT_DOUBLE_EQ(all, 18.0 * static_cast<double>(model.TotalParameters()));
    // Stage 1 holds its three microbatches in flight (p - 1), stage 3 the norm's input and output
    // and the logits of one.
    EXPECT_DOUBLE_EQ(Activations(stages[0]), 0);
    EXPECT_DOUBLE_EQ(Activations(stages[1]), 3 * 8 * kGptLayer);
    EXPECT_DOUBLE_EQ(Activations(stages[2]), 0);
    EXPECT_DOUBLE_EQ(Activations(stages[3]), 1024 * (4.0 * 512 + 2 * 4096));
    // Two messages each way, of 2 bytes an element; the gradient of the head's input, as long, and
    // its logits in FP32.
    const uint64_t messages = 4 * 2 * 1024 * 512;
    EXPECT_EQ(stages[0].buffers, Bytes(messages));
    EXPECT_EQ(stages[2].buffers, Bytes(messages));
    EXPECT_EQ(stages[3].buffers, Bytes(messages + 2 * 1024 * 512 + 4 * 1024 * 4096));
    // Weights that are given up: nothing is gathered where there is nothing.
    plan.sharding = Sharding("fsdp");
    plan.reshard = true;
    EXPECT_EQ(MemoryOfPlan(model, plan)[2].Total(), Bytes(messages));
}

} // namespace scaleacross
