// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/time-error.h"
#include "core/io/presets.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace scaleacross
{

namespace
{

std::string
KindOf(const std::string& gpu,
       const std::string& model,
       const std::string& precision,
       const std::string& stack = "megatron-core",
       Duration time = Duration::Seconds(5))
{
    BuildingSpec building;
    building.gpu = GpuPreset(gpu);
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.cluster.buildings = {building};
    JobSpec& job = scenario.Job();
    job.model = ModelPreset(model);
    job.workload.precision = precision;
    job.workload.stack = PresetNamed<SoftwareStack>(stack);
    const auto error = FindTimeError(scenario, time);
    return error ? error->kind : "";
}

TEST(TimeError, IsOfTheKindOfJob)
{
    EXPECT_EQ(KindOf("a100-80g", "llama3-8b", "bf16", "megatron-2022"), "A100");
    EXPECT_EQ(KindOf("h100-96g", "llama3-8b", "bf16", "torch-compile"), "FSDP of PyTorch");
    EXPECT_EQ(KindOf("h100", "mixtral-8x7b", "bf16", "torch-te"), "MoE on H100 and H200");
    EXPECT_EQ(KindOf("h200", "llama3-8b", "bf16"), "dense on H100 and H200, BF16");
    EXPECT_EQ(KindOf("h100", "llama3-8b", "fp8-current"), "dense on H100 and H200, FP8");
    EXPECT_EQ(KindOf("h100", "deepseek-v3", "bf16"), "MoE on H100 and H200");
    EXPECT_EQ(KindOf("gb200", "llama3-8b", "mxfp8"), "dense on Blackwell, FP8");
    EXPECT_EQ(KindOf("b300", "llama3-8b", "nvfp4"), "dense on Blackwell, NVFP4");
    EXPECT_EQ(KindOf("gb300", "qwen3-30b-a3b", "mxfp8"), "MoE on Blackwell");
    EXPECT_EQ(KindOf("h100", "llama3-8b", "bf16", "megatron-core", Duration::Seconds(0.5)),
              "steps under a second");
    // No such runs: another stack, another variant of a GPU, another width.
    EXPECT_EQ(KindOf("h100", "llama3-8b", "bf16", "fused"), "");
    EXPECT_EQ(KindOf("h100-96g", "llama3-8b", "bf16"), "");
    EXPECT_EQ(KindOf("mi355x", "llama3-8b", "bf16"), "");
    EXPECT_EQ(KindOf("mi300x", "llama3-8b", "bf16"), "");
    EXPECT_EQ(KindOf("a100-80g", "mixtral-8x7b", "bf16"), "");
}

TEST(TimeError, AKindOfFewFamiliesHasTheWidestErrors)
{
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.Job().model = ModelPreset("llama3-8b");
    BuildingSpec& building = scenario.cluster.buildings.emplace_back();
    const auto of = [&](const char* gpu, const char* stack) {
        building.gpu = GpuPreset(gpu);
        scenario.Job().workload.stack = PresetNamed<SoftwareStack>(stack);
        return FindTimeError(scenario, Duration::Seconds(5)).value();
    };
    const TimeError validated = of("h100", "megatron-core");
    EXPECT_TRUE(validated.IsValidated());
    EXPECT_GE(validated.families, 3U);
    EXPECT_LE(validated.mean, validated.within);
    EXPECT_LE(validated.within, std::abs(validated.worst));
    // All runs on A100 are of GPT, all of PyTorch's FSDP of two families: both have the figures of
    // one kind, which no other kind exceeds.
    const TimeError a100 = of("a100-80g", "megatron-2022");
    EXPECT_FALSE(a100.IsValidated());
    EXPECT_EQ(a100.families, 1U);
    EXPECT_EQ(a100.kind, "A100");
    EXPECT_GT(a100.mean, validated.mean);
    const TimeError fsdp = of("h100", "torch-fsdp");
    EXPECT_EQ(fsdp.families, 2U);
    EXPECT_EQ(fsdp.mean, a100.mean);
    EXPECT_EQ(fsdp.within, a100.within);
    EXPECT_EQ(fsdp.worst, a100.worst);
    EXPECT_NE(fsdp.runs, a100.runs);
}

/// A preset that is added comes into a row of its class, or into these lists with its reason.
TEST(TimeError, EveryPresetHasAKindOrIsNamedHere)
{
    // No runs of the GPU are published. The stack is a bound and no software.
    const std::set<std::string> unpublished = {"mi300x", "mi325x", "gh200", "a100-40g", "h800"};
    std::set<std::string> gpus = unpublished;
    std::set<std::string> stacks = {"fused"};
    for (const auto& gpu : Presets<GpuSpec>())
    {
        for (const auto& stack : Presets<SoftwareStack>())
        {
            for (const char* model : {"llama3-8b", "mixtral-8x7b"})
            {
                for (const char* precision : {"bf16", "fp8-current", "nvfp4"})
                {
                    if (KindOf(gpu.name, model, precision, stack.name).empty())
                    {
                        continue;
                    }
                    EXPECT_TRUE(unpublished.count(gpu.name) == 0 && stack.name != "fused");
                    gpus.insert(gpu.name);
                    stacks.insert(stack.name);
                }
            }
        }
    }
    EXPECT_EQ(gpus.size(), Presets<GpuSpec>().size());
    EXPECT_EQ(stacks.size(), Presets<SoftwareStack>().size());
}

TEST(TimeError, OfGpusOfSeveralKindsIsNotKnown)
{
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.Job().model = ModelPreset("llama3-8b");
    scenario.Job().workload.stack = PresetNamed<SoftwareStack>("megatron-core");
    for (const char* gpu : {"h100", "h200"})
    {
        scenario.cluster.buildings.emplace_back().gpu = GpuPreset(gpu);
        EXPECT_TRUE(FindTimeError(scenario, Duration::Seconds(5)));
    }
    scenario.cluster.buildings.emplace_back().gpu = GpuPreset("b200");
    EXPECT_FALSE(FindTimeError(scenario, Duration::Seconds(5)));
}

} // namespace

} // namespace scaleacross
