// SPDX-License-Identifier: GPL-2.0-only

// Modules of multi-token prediction: parameters, FLOPs, time, memory and messages.

#include "../built-graph.h"
#include "core/io/presets.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/memory/memory.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

ModelSpec
WithModules(ModelSpec model, uint32_t modules)
{
    model.mtpLayers = modules;
    return model;
}

// Of SmallModel(): V h, a layer 4 h^2 + 3 h f + 2h, and what a module has before it, 2 h^2 + 2h.
constexpr uint64_t kEmbedding = 4096 * 512;
constexpr uint64_t kLayer = 4 * 512 * 512 + 3 * 512 * 2048 + 2 * 512;
constexpr uint64_t kInput = 2 * 512 * 512 + 2 * 512;

double
SecondsOf(const ComputeCost& cost)
{
    return (cost.forward + cost.inputGradient + cost.weightGradient).S();
}

} // namespace

TEST(MultiToken, ModulesAreLayersLikeTheLastOne)
{
    const ModelSpec plain = SmallModel();
    EXPECT_EQ(WithModules(plain, 2).TotalParameters(),
              plain.TotalParameters() + 2 * (kLayer + kInput));
    EXPECT_EQ(WithModules(plain, 2).ActiveParameters(),
              plain.ActiveParameters() + 2 * (kLayer + kInput));
    // Of six layers the last one is MoE and sees all, where a seventh would be dense with a window.
    ModelSpec mixed = SmallMoe();
    mixed.layers = 6;
    mixed.window = 128;
    mixed.fullAttentionEvery = 6;
    mixed.mtpLayers = 1;
    EXPECT_TRUE(mixed.IsMoeLayer(6));
    EXPECT_FALSE(mixed.IsWindowedLayer(6));
    EXPECT_TRUE(mixed.IsModule(6));
    EXPECT_FALSE(mixed.IsModule(5));
    EXPECT_NE(mixed.KindOf(6), mixed.KindOf(5));
    EXPECT_EQ(mixed.ExpertParametersOfLayer(6), mixed.ExpertParametersOfLayer(5));
    // DeepSeek-V3's weights are published as 685 billion: with the module, and the embedding and
    // head that it shares stored twice.
    const ModelSpec deepSeek = WithModules(ModelPreset("deepseek-v3"), 1);
    const uint64_t shared = 2 * deepSeek.EmbeddingParameters();
    EXPECT_NEAR(static_cast<double>(deepSeek.TotalParameters() + shared), 685e9, 1e9);
}

TEST(MultiToken, FlopsAreOfALayerAProjectionAndAHead)
{
    // Three times forward's 2 s (2 h^2 + h V), and what a ninth layer does, by batch.
    WorkloadSpec workload;
    workload.sequence = 1024;
    workload.globalBatch = 4;
    ModelSpec nine = SmallModel();
    nine.layers++;
    const auto flops = [&workload](const ModelSpec& model) {
        return ModelFlops(model, workload).Value();
    };
    const double extra = 3.0 * 4 * 2 * 1024 * (2.0 * 512 * 512 + 512.0 * 4096);
    const double module = flops(WithModules(SmallModel(), 1)) - flops(SmallModel());
    EXPECT_NEAR(module / (flops(nine) - flops(SmallModel()) + extra), 1, 1e-12);
}

TEST(MultiToken, TimeIsThatOfItsPartsForEveryMicrobatch)
{
    // m = 3 on one stage: a layer with its input and the head once more, and the optimizer.
    const ParallelPlan plan = PlanOf(2, 1, 1, 1, 16);
    const auto with = [&plan](uint32_t modules) {
        return TwoBuildings(WithModules(SmallModel(), modules), plan, 3);
    };
    const Scenario scenario = with(1);
    const JobSpec& job = scenario.Job();
    const GpuSpec& gpu = scenario.cluster.buildings[0].gpu;
    const auto layer = [&](uint32_t number) {
        const LayerCost cost = CostOfLayer(job.model, job.workload, plan, gpu, number);
        return SecondsOf(cost.attention) + SecondsOf(cost.mlp);
    };
    const double head = SecondsOf(CostOfHead(job.model, job.workload, plan, gpu));
    const double embedding = SecondsOf(CostOfEmbedding(job.model, job.workload, plan, gpu));
    // More than a layer by the embedding, two norms and a projection of three times 2 x 2 h^2 per
    // token, which takes longer than at the peak.
    const double projection = 12.0 * 512 * 512 * (1024.0 / 2) / gpu.bf16Peak.Value();
    EXPECT_GT(layer(8), layer(7) + embedding + projection);
    // tp shares the parameters, and HSDP the 8 replicas in a building.
    const double stepped = CostOfOptimizer((kLayer + kInput) / 2 / 8, job.workload, gpu).S();
    const double compute = TallyOf(Build(with(1)), 0).compute.S();
    EXPECT_NEAR(compute - TallyOf(Build(with(0)), 0).compute.S(),
                3 * (layer(8) + head) + stepped,
                1e-9 * compute);
}

TEST(MultiToken, TensorGroupsGatherForAModuleAsForAnyLayer)
{
    // m = 3, tp = 2, S / 2 each: 10 a layer, 2 for an embedding, 3 for a head (task-graph-test.cc).
    const uint64_t activation = 2ULL * 1024 * 512;
    const auto sent = [](uint32_t modules) {
        const Scenario scenario =
            TwoBuildings(WithModules(SmallModel(), modules), PlanOf(2, 1, 1, 1, 16), 3);
        return Sent(TallyOf(Build(scenario), 0), CommClass::Tensor);
    };
    EXPECT_EQ(sent(1), 3 * (9 * 10 + 2 * 5) * activation / 2);
    EXPECT_EQ(sent(2), 3 * (10 * 10 + 3 * 5) * activation / 2);
}

TEST(MultiToken, TheLastStageHoldsTheModuleAndTheEmbedding)
{
    // Four stages of two layers, DDP: 18 bytes per parameter. The last has the module, and the
    // embedding, whose gradients it exchanges with the first: V h of 4 bytes.
    const auto with = [](uint32_t modules) {
        ParallelPlan plan = PlanOf(1, 1, 1, 4, 8);
        plan.sharding = Sharding("ddp");
        return TwoBuildings(WithModules(SmallModel(), modules), plan, 8);
    };
    const auto plain = MemoryOf(with(0), LayoutOf(with(0)));
    const auto modules = MemoryOf(with(1), LayoutOf(with(1)));
    for (const uint32_t stage : {0U, 1U, 2U})
    {
        EXPECT_EQ(modules[stage].Total(), plain[stage].Total()) << stage;
    }
    const MemoryUse& use = modules[3];
    const uint64_t held = 3 * kLayer + kInput + 2 * kEmbedding + 512;
    EXPECT_EQ(use.parameters, Bytes(2 * held));
    EXPECT_EQ(use.gradients, Bytes(4 * held));
    EXPECT_EQ(use.optimizer, Bytes(12 * held));
    // Of one microbatch: a third layer, h and an embedding before and behind their norms, 2 bytes
    // each, and what two heads keep in place of one, 4 h + 2 V.
    const uint64_t layer = (plain[3].activations.Count() - 1024 * (4 * 512 + 2 * 4096)) / 2;
    EXPECT_EQ(use.activations.Count() - plain[3].activations.Count(),
              layer + 1024 * (8 * 512 + 4 * 512 + 2 * 4096));
    const auto sent = [](const TaskGraph& graph, uint32_t stage) {
        return Sent(TallyOf(graph, graph.pipeline.Member(0, stage)), CommClass::Pipeline);
    };
    const TaskGraph before = Build(with(0));
    const TaskGraph after = Build(with(1));
    for (const uint32_t stage : {0U, 3U})
    {
        EXPECT_EQ(sent(after, stage), sent(before, stage) + 4 * kEmbedding) << stage;
    }
    EXPECT_EQ(sent(after, 1), sent(before, 1));
}

} // namespace scaleacross
