// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"
#include "core/spec/without-effect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

Scenario
Of(const std::string& model)
{
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.Job().model = ModelPreset(model);
    return scenario;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WithoutEffect, WordsOfExperts)
{
    Scenario dense = Of("llama3-8b");
    EXPECT_THAT(WarningsOfNoEffect(dense), IsEmpty());
    dense.Job().workload.expertImbalance = 1.5;
    dense.network.allToAll = "once";
    EXPECT_THAT(WarningsOfNoEffect(dense),
                ElementsAre("workload.expert_imbalance changes nothing: the model has no experts",
                            "network.all_to_all: once changes nothing: the model has no experts"));
    dense = Of("llama3-8b");
    dense.Job().workload.capacityFactor = 1;
    EXPECT_THAT(WarningsOfNoEffect(dense),
                ElementsAre("workload.capacity_factor changes nothing: the model has no experts"));
    Scenario experts = Of("mixtral-8x7b");
    experts.Job().workload.expertImbalance = 1.5;
    experts.network.allToAll = "once";
    EXPECT_THAT(WarningsOfNoEffect(experts),
                ElementsAre("workload.expert_imbalance changes nothing: without plan.ep no ranks "
                            "have different experts"));
    experts.Job().plan.ep = 2;
    EXPECT_THAT(WarningsOfNoEffect(experts), IsEmpty());
}

TEST(WithoutEffect, RecomputationOfWhatThereIsNot)
{
    const auto warned = [](const char* model, const char* words) {
        Scenario scenario = Of(model);
        scenario.Job().plan.recompute = words;
        return !WarningsOfNoEffect(scenario).empty();
    };
    EXPECT_TRUE(warned("llama3-8b", "mla-up-proj"));
    EXPECT_FALSE(warned("llama3-8b", "mla-up-proj-mlp")); // its MLPs are
    EXPECT_FALSE(warned("llama3-8b", "mlp"));
    EXPECT_TRUE(warned("mixtral-8x7b", "mlp"));
    EXPECT_TRUE(warned("mixtral-8x7b", "mla-up-proj-mlp"));
    EXPECT_FALSE(warned("deepseek-v3", "mla-up-proj-mlp"));
    EXPECT_FALSE(warned("mixtral-8x7b", "full"));
}

TEST(WithoutEffect, StepsOfOneRank)
{
    Scenario scenario = Of("llama3-8b");
    scenario.Job().plan.asyncTensor = true;
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("plan.async_tp changes nothing: plan.tp is 1"));
    scenario.Job().plan.tp = 2;
    EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty());
}

TEST(WithoutEffect, ReceivesOfNoPipeline)
{
    Scenario scenario = Of("llama3-8b");
    scenario.Job().workload.stack.receives = "planned";
    EXPECT_THAT(WarningsOfNoEffect(scenario),
                ElementsAre("workload.stack.receives: planned changes nothing: plan.pp is 1"));
    scenario.Job().plan.pp = 2;
    EXPECT_THAT(WarningsOfNoEffect(scenario), IsEmpty());
}

} // namespace

} // namespace scaleacross
