// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines.h"
#include "core/spec/presets.h"
#include "explore-fakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// Everything fits that has the number of GPUs.
std::optional<Infeasible>
DegreesFit(const Scenario& scenario)
{
    const ParallelPlan& plan = scenario.Job().plan;
    if (plan.Ranks() != scenario.cluster.Gpus() || plan.dp % plan.ep != 0)
    {
        return Infeasible{"degrees", "they do not fit"};
    }
    return std::nullopt;
}

ParallelPlan
Choose(const std::string& name, const Study& study, const FitCheck& fits)
{
    const auto chosen = FindBaseline(name).choose(study, fits);
    if (const auto* none = std::get_if<Infeasible>(&chosen))
    {
        ADD_FAILURE() << none->reason << ": " << none->detail;
        return {};
    }
    return std::get<Plan>(chosen).parallel;
}

TEST(Baselines, ProductionFillsTheServerAndInterleavesMost)
{
    // llama3-8b: 32 layers, 8 KV heads: tp 8; least pp 2; 32 / 2 = 16 chunks; dp = 64 / 16 = 4.
    const ParallelPlan plan = Choose("production", TwoBuildings("plan: {tp: 1}\n"), DegreesFit);
    EXPECT_EQ(plan.tp, 8);
    EXPECT_EQ(plan.pp, 2);
    EXPECT_EQ(plan.dp, 4);
    EXPECT_EQ(plan.chunks, 16);
    EXPECT_EQ(plan.ep, 1);
    EXPECT_EQ(plan.crossing, Crossing::Data);
    EXPECT_EQ(plan.sharding, Sharding::Hsdp);
    EXPECT_EQ(plan.schedule, Schedule("dorapp"));
    EXPECT_EQ(plan.recompute, Recompute::None);
    EXPECT_EQ(plan.microbatch, 1);
    EXPECT_FALSE(plan.reshard);
}

TEST(Baselines, ProductionUsesSixteenQueuePairs)
{
    const Study study = TwoBuildings("network: {qps: 2, collective: ring}\n");
    const Plan plan = std::get<Plan>(FindBaseline("production").choose(study, DegreesFit));
    EXPECT_EQ(plan.network.qps, 16);
    EXPECT_EQ(plan.network.multipath, Multipath::EEcmp);
    EXPECT_EQ(plan.network.collective, CollectiveAlgorithm::Hierarchical);
}

TEST(Baselines, ProductionTakesFewerChunksThenMorePipelineThenRecomputation)
{
    const Study study = TwoBuildings("plan: {tp: 1}\n");
    const ParallelPlan fewer = Choose("production", study, [](const Scenario& scenario) {
        const auto& plan = scenario.Job().plan;
        return plan.chunks > 5 ? Infeasible{"memory", ""} : DegreesFit(scenario);
    });
    EXPECT_EQ(fewer.pp, 2);
    EXPECT_EQ(fewer.chunks, 5);
    const ParallelPlan deeper = Choose("production", study, [](const Scenario& scenario) {
        const auto& plan = scenario.Job().plan;
        return plan.pp < 4 ? Infeasible{"memory", ""} : DegreesFit(scenario);
    });
    EXPECT_EQ(deeper.pp, 4);
    EXPECT_EQ(deeper.chunks, 8);
    const ParallelPlan again = Choose("production", study, [](const Scenario& scenario) {
        const auto& plan = scenario.Job().plan;
        return plan.recompute != Recompute::Full ? Infeasible{"memory", ""} : DegreesFit(scenario);
    });
    EXPECT_EQ(again.recompute, Recompute::Full);
    EXPECT_EQ(again.pp, 2);
}

TEST(Baselines, ProductionKeepsExpertsInsideAPod)
{
    // 16 experts, tp 8: 128 GPUs do not fit into a pod of 4 servers (32 GPUs): ep = 32 / 8 = 4.
    Study study = TwoBuildings("plan: {tp: 1}\n");
    study.scenario.Job().model = ModelPreset("llama4-scout");
    for (auto& building : study.scenario.cluster.buildings)
    {
        building.fabric.nodesPerPod = 4;
    }
    const ParallelPlan plan = Choose("production", study, DegreesFit);
    EXPECT_EQ(plan.tp, 8);
    EXPECT_EQ(plan.pp, 2);
    EXPECT_EQ(plan.dp, 4);
    EXPECT_EQ(plan.ep, 4);
}

TEST(Baselines, MegatronTakesAsLittleModelParallelismAsFits)
{
    const Study study = TwoBuildings("plan: {tp: 8}\n");
    const ParallelPlan least = Choose("megatron", study, DegreesFit);
    EXPECT_EQ(least.tp, 1);
    EXPECT_EQ(least.pp, 1);
    EXPECT_EQ(least.dp, 64);
    EXPECT_EQ(least.sharding, Sharding::Fsdp);
    EXPECT_FALSE(least.reshard);
    EXPECT_EQ(least.schedule, Schedule("1f1b"));
    // Nothing below 16 ranks of model fits: the server first (tp 8), then pp 2; 32 layers in 2
    // stages of 16 chunks; its rank order has the pipeline outermost.
    const ParallelPlan more = Choose("megatron", study, [](const Scenario& scenario) {
        const auto& plan = scenario.Job().plan;
        return plan.tp * plan.pp < 16 ? Infeasible{"memory", ""} : DegreesFit(scenario);
    });
    EXPECT_EQ(more.tp, 8);
    EXPECT_EQ(more.pp, 2);
    EXPECT_EQ(more.chunks, 16);
    EXPECT_EQ(more.schedule, Schedule("interleaved"));
    EXPECT_EQ(more.crossing, Crossing::Pipeline);
}

TEST(Baselines, MegatronPrefersExpertsToTensors)
{
    Study study = TwoBuildings("plan: {tp: 8}\n");
    study.scenario.Job().model = ModelPreset("llama4-scout");
    const ParallelPlan plan = Choose("megatron", study, [](const Scenario& scenario) {
        const auto& p = scenario.Job().plan;
        return p.tp * p.ep < 4 ? Infeasible{"memory", ""} : DegreesFit(scenario);
    });
    EXPECT_EQ(plan.tp, 1);
    EXPECT_EQ(plan.ep, 4);
}

TEST(Baselines, MegatronFallsBackToDataParallelOutside)
{
    const ParallelPlan plan =
        Choose("megatron", TwoBuildings("plan: {tp: 8}\n"), [](const Scenario& scenario) {
            return scenario.Job().plan.crossing == Crossing::Pipeline ? Infeasible{"crossing", ""}
                                                                      : DegreesFit(scenario);
        });
    EXPECT_EQ(plan.crossing, Crossing::Data);
}

TEST(Baselines, SayWhyThereIsNone)
{
    const auto never = [](const Scenario& /* scenario */) {
        return Infeasible{"memory", "needs 99 GiB"};
    };
    for (const auto& baseline : Baselines())
    {
        const auto chosen = baseline.choose(TwoBuildings("plan: {tp: 8}\n"), never);
        ASSERT_TRUE(std::holds_alternative<Infeasible>(chosen)) << baseline.name;
        EXPECT_EQ(std::get<Infeasible>(chosen).reason, "memory");
        EXPECT_THAT(std::get<Infeasible>(chosen).detail, testing::HasSubstr("needs 99 GiB"));
    }
}

TEST(Baselines, AreWhatAStudyMayName)
{
    std::vector<std::string> names;
    for (const auto& baseline : Baselines())
    {
        names.push_back(baseline.name);
    }
    EXPECT_EQ(names, KnownBaselines());
    EXPECT_THROW(FindBaseline("megatrom"), ConfigError);
}

TEST(Baselines, FitARealStudy)
{
    for (const auto& baseline : Baselines())
    {
        const Study study = TwoBuildings("plan: {tp: 8}\n");
        const auto chosen = baseline.choose(study, CheckFit);
        ASSERT_TRUE(std::holds_alternative<Plan>(chosen)) << std::get<Infeasible>(chosen).detail;
        Scenario scenario = study.scenario;
        scenario.Job().plan = std::get<Plan>(chosen).parallel;
        scenario.network = std::get<Plan>(chosen).network;
        EXPECT_FALSE(CheckFit(scenario));
    }
}

} // namespace

} // namespace scaleacross
