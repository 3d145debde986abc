// SPDX-License-Identifier: GPL-2.0-only

// What ranks send, keep and compute whose experts are split by less than tp (plan.etp), by hand.

#include "../built-graph.h"
#include "core/engine/analytical-engine.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/memory/memory.h"
#include "core/work/memory/working-set.h"
#include "core/work/partition/balance.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// One layer: attention and eight experts of 1,024, two a token, no shared ones. h = 512.
ModelSpec
OneLayer()
{
    ModelSpec model = SmallMoe();
    model.layers = 1;
    model.moeEvery = 1;
    model.sharedFfn = 0;
    return model;
}

/// Eight GPUs in one server, one microbatch of 1,024 tokens.
Scenario
OnEight(uint32_t tp, uint32_t dp, uint32_t etp, uint32_t ep)
{
    ParallelPlan plan = PlanOf(tp, 1, ep, 1, dp);
    plan.etp = etp;
    plan.sharding = Sharding("ddp");
    return ScenarioOf(BuildingsOf({8}), OneLayer(), plan, 1);
}

constexpr uint64_t kMiB = 1 << 20;
/// S = 2 s h: an activation.
constexpr uint64_t kActivation = 2 * 1024 * 512;
/// Gate, up and down of eight experts.
constexpr uint64_t kExperts = 8 * 3 * 512 * 1024;

/// All others, of which tp holds a part each.
uint64_t
Dense()
{
    return OneLayer().TotalParameters() - kExperts;
}

} // namespace

TEST(ExpertTensor, WholeExpertsByHand)
{
    // TP2 DP4, ETP1 EP4. A rank has 512 tokens, whose two copies are 2 x 512 x 512 x 2 = 1 MiB: 3/4
    // of that goes to the three others, comes back, and both again backward.
    const auto tally = TallyOf(Build(OnEight(2, 4, 1, 4)), 0);
    EXPECT_EQ(Sent(tally, CommClass::Expert), 4 * kMiB * 3 / 4);
    // Attention gathers and scatters S forward, and backward with its input once more, 5 times;
    // embedding and head 5 times. Experts gather nothing. Each sends one of two halves.
    EXPECT_EQ(Sent(tally, CommClass::Tensor), (5 + 5) * kActivation / 2);
    // Two of the experts, whole, are reduced with one other rank; half of what is dense with three.
    EXPECT_EQ(Sent(tally, CommClass::Data), 8 * (Dense() / 2) * 3 / 4 + 8 * (kExperts / 4) / 2);

    // Split over tp as well, ep a part of dp: as many bytes are dispatched, two gathers and two
    // scatters of k S more.
    const auto split = TallyOf(Build(OnEight(2, 4, 0, 4)), 0);
    EXPECT_EQ(Sent(split, CommClass::Expert), Sent(tally, CommClass::Expert));
    EXPECT_EQ(Sent(split, CommClass::Tensor), (5 + 5 + 2 * 4) * kActivation / 2);
    // Half of two experts on every rank, and no other has it.
    EXPECT_EQ(Sent(split, CommClass::Data), 8 * (Dense() / 2) * 3 / 4);
}

TEST(ExpertTensor, HalvesOfExpertsByHand)
{
    // TP4 DP2, ETP2 EP4: 256 tokens, 512 KiB of copies, 3/4 of them on the way four times. The two
    // ranks of an expert gather and scatter both their copies, 1 MiB, of which each sends half.
    const auto tally = TallyOf(Build(OnEight(4, 2, 2, 4)), 0);
    EXPECT_EQ(Sent(tally, CommClass::Expert), 4 * (kMiB / 2) * 3 / 4);
    EXPECT_EQ(Sent(tally, CommClass::Tensor), (5 + 5) * kActivation * 3 / 4 + 4 * kMiB / 2);
    EXPECT_EQ(Sent(tally, CommClass::Data), 8 * (Dense() / 4) / 2); // edp = 1
}

TEST(ExpertTensor, EveryExpertOnEveryRankSendsNoTokens)
{
    // TP2 DP4, ETP1 EP1: tokens stay where they are, and all experts are reduced over all ranks.
    const auto tally = TallyOf(Build(OnEight(2, 4, 1, 1)), 0);
    EXPECT_EQ(Sent(tally, CommClass::Expert), 0U);
    EXPECT_EQ(Sent(tally, CommClass::Tensor), (5 + 5) * kActivation / 2);
    EXPECT_EQ(Sent(tally, CommClass::Data), 8 * (Dense() / 2) * 3 / 4 + 8 * kExperts * 7 / 8);
    // Split over tp they are a dense MLP, which gathers and scatters S.
    const auto split = TallyOf(Build(OnEight(2, 4, 0, 1)), 0);
    EXPECT_EQ(Sent(split, CommClass::Tensor), (5 + 5 + 5) * kActivation / 2);
}

TEST(ExpertTensor, WithoutEpNobodyIsFuller)
{
    // TP4 DP2, ETP2 EP1: both ranks of an expert gather and scatter their copies, 1 MiB, of which
    // each sends half; all have the same, whatever the imbalance between ranks would be.
    Scenario scenario = OnEight(4, 2, 2, 1);
    scenario.Job().workload.expertImbalance = 1.5;
    const auto tally = TallyOf(Build(scenario), 0);
    EXPECT_EQ(Sent(tally, CommClass::Tensor), (5 + 5) * kActivation * 3 / 4 + 4 * kMiB / 2);
    EXPECT_EQ(Sent(tally, CommClass::Expert), 0U);
    // With it the fullest rank dispatches and gathers 1.5 times as much.
    Scenario fuller = OnEight(4, 2, 2, 4);
    fuller.Job().workload.expertImbalance = 1.5;
    const auto full = TallyOf(Build(fuller), 0);
    EXPECT_EQ(Sent(full, CommClass::Tensor),
              (5 + 5) * kActivation * 3 / 4 + 4 * (kMiB + kMiB / 2) / 2);
    EXPECT_EQ(Sent(full, CommClass::Expert), 4 * (kMiB / 2 + kMiB / 4) * 3 / 4);
}

TEST(ExpertTensor, SharedExpertsStaySplitByTp)
{
    // Beside the dispatch: S gathered and scattered, and its input once more, as of a dense MLP.
    Scenario scenario = OnEight(2, 4, 1, 4);
    scenario.Job().model.sharedFfn = 1024;
    const auto tally = TallyOf(Build(scenario), 0);
    EXPECT_EQ(Sent(tally, CommClass::Tensor), (5 + 5 + 5) * kActivation / 2);
    EXPECT_EQ(Sent(tally, CommClass::Expert), 4 * kMiB * 3 / 4);
}

TEST(ExpertTensor, MemoryByHand)
{
    // As WholeExpertsByHand: half of what is dense, a quarter of the experts, 2 + 4 + 12 bytes
    // each.
    const auto use = [](const Scenario& scenario) {
        return MemoryOf(scenario, LayoutOf(scenario)).front();
    };
    const MemoryUse whole = use(OnEight(2, 4, 1, 4));
    const uint64_t held = Dense() / 2 + kExperts / 4;
    EXPECT_EQ(whole.parameters.Count(), 2 * held);
    EXPECT_EQ(whole.gradients.Count(), 4 * held);
    EXPECT_EQ(whole.optimizer.Count(), 12 * held);
    // Split by tp an eighth of them.
    const MemoryUse split = use(OnEight(2, 4, 0, 4));
    EXPECT_EQ(split.parameters.Count(), 2 * (Dense() / 2 + kExperts / 8));
    // Copies kept for weight gradients: k h x 2 bytes of 512 tokens, 1 MiB, and not the other's;
    // the width is as much, half the tokens and twice the width.
    EXPECT_EQ(split.activations - whole.activations, Bytes(kMiB));
    // ZeRO-1: the optimizer's state over dp = 4 and over edp = 2.
    Scenario sharded = OnEight(2, 4, 1, 4);
    sharded.Job().plan.sharding = Sharding("zero1");
    EXPECT_EQ(use(sharded).optimizer.Count(), 12 * (Dense() / 2 / 4 + kExperts / 4 / 2));
    // No tokens are sent for: no other rank's copies.
    const MemoryUse alone = use(OnEight(2, 4, 1, 1));
    EXPECT_EQ(alone.activations, whole.activations);
}

TEST(ExpertTensor, WorkingSetByHand)
{
    // A = 1,024 B a token. Experts' outputs 2A; dispatch and combine 2 k A; split over tp = 2 a
    // partial output, k tp A = 4A. Whole, without tokens sent, gradients of gate and up, 4 k f_e =
    // 8A, and that of the output, A. Dispatched copies twice as often live: 2 k A more.
    const auto layers = [](const Scenario& scenario) {
        return WorkingSetOf(scenario, LayersOf(scenario, LayoutOf(scenario))).layers;
    };
    EXPECT_EQ(layers(OnEight(2, 4, 0, 4)), (2 + 4 + 4) * 1024);
    EXPECT_EQ(layers(OnEight(2, 4, 1, 1)), (1 + 8) * 1024);
    EXPECT_EQ(layers(OnEight(2, 4, 1, 4)), (1 + 8) * 1024); // more than 2 + 4
    Scenario twice = OnEight(2, 4, 1, 4);
    twice.Job().workload.stack.dispatchCopies = 4;
    EXPECT_EQ(layers(twice), (2 + 8) * 1024);
    // Half of the copies are on their way there, in FP8 half as long.
    twice.Job().workload.precision = Precision("fp8");
    twice.Job().model.expertFfn = 512;
    EXPECT_EQ(layers(twice), (2 + 6) * 1024);
}

TEST(ExpertTensor, WholeExpertsAreFewerWiderGemms)
{
    // Only matrices cost, 1 FLOP a picosecond: as much, wherever it is done.
    GpuSpec matrices;
    matrices.bf16Peak = FlopRate(1e12);
    matrices.gemmEfficiency = 1;
    matrices.hbmBandwidth = BytesPerSecond(1e30);
    matrices.hbmEfficiency = 1;
    // Only memory costs, 1 byte a picosecond.
    GpuSpec memory = matrices;
    memory.bf16Peak = FlopRate(1e30);
    memory.hbmBandwidth = BytesPerSecond(1e12);
    const auto mlp = [](uint32_t etp, const GpuSpec& gpu) {
        const JobSpec job = OnEight(2, 4, etp, 4).Job();
        return CostOfLayer(job.model, job.workload, job.plan, gpu, 0).mlp;
    };
    EXPECT_EQ(mlp(1, matrices).forward, mlp(0, matrices).forward);
    EXPECT_EQ(mlp(1, matrices).weightGradient, mlp(0, matrices).weightGradient);
    // 1,024 copies on a rank, 512 for each of two experts; split, twice as many for half of each.
    // A GEMM of m tokens moves 2 (m k + n k + m n) bytes: n = 2 x 1,024 and k = 512 for gate and
    // up, n = 512 and k = 1,024 for down; all else is the same.
    const auto bytes = [](double m, double n, double k) { return 2 * (m * k + n * k + m * n); };
    const double whole = 2 * (bytes(512, 2048, 512) + bytes(512, 512, 1024));
    const double split = 2 * (bytes(1024, 1024, 512) + bytes(1024, 512, 512));
    const Duration difference = mlp(1, memory).forward - mlp(0, memory).forward;
    EXPECT_NEAR(static_cast<double>(difference.Ps()), whole - split, 2);
}

TEST(ExpertTensor, LeftOutIsTp)
{
    // Equal to the bit, where ep is a part of dp.
    for (const uint32_t ep : {1, 2, 4})
    {
        const auto left = AnalyticalEngine().Run(OnEight(2, 4, 0, ep), RunOptions());
        const auto named = AnalyticalEngine().Run(OnEight(2, 4, 2, ep), RunOptions());
        const auto& a = std::get<RunReport>(left);
        const auto& b = std::get<RunReport>(named);
        EXPECT_EQ(a.iterationTime, b.iterationTime) << ep;
        EXPECT_EQ(a.memoryMax, b.memoryMax) << ep;
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            EXPECT_EQ(a.classes[k].bytes, b.classes[k].bytes) << ep;
            EXPECT_EQ(a.classes[k].busy, b.classes[k].busy) << ep;
        }
    }
}

TEST(ExpertTensor, NeedsExperts)
{
    Scenario scenario = OnEight(2, 4, 1, 1);
    scenario.Job().model = SmallModel();
    const auto bad = CheckJob(scenario, LayoutOf(scenario));
    ASSERT_TRUE(bad.has_value());
    EXPECT_EQ(bad->reason, "experts");
    EXPECT_EQ(bad->detail, "plan.etp 1 with a model that has no experts: leave it out");
}

} // namespace scaleacross
