// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/time-error.h"
#include "core/io/fitted-presets.h"
#include "core/io/presets.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

using testing::HasSubstr;
using testing::Not;

namespace
{

Scenario
ScenarioOf(const std::string& gpu,
           const std::string& model,
           const std::string& precision,
           const std::string& stack = "megatron-core")
{
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.cluster.buildings.emplace_back().gpu = GpuPreset(gpu);
    JobSpec& job = scenario.Job();
    job.model = ModelPreset(model);
    job.workload.precision = precision;
    job.workload.stack = PresetNamed<SoftwareStack>(stack);
    return scenario;
}

std::optional<TimeError>
Find(const Scenario& scenario, Duration time = Duration::Seconds(5))
{
    static const FittedPresets presets = BuiltInPresets();
    return FindTimeError(scenario, time, presets);
}

std::string
KindOf(const std::string& gpu,
       const std::string& model,
       const std::string& precision,
       const std::string& stack = "megatron-core")
{
    const auto error = Find(ScenarioOf(gpu, model, precision, stack));
    return error ? error->kind : "";
}

/// Each figure at least as large.
void
ExpectAsWide(const TimeError& error, const TimeError& other)
{
    EXPECT_GE(error.mean, other.mean);
    EXPECT_GE(error.within, other.within);
    EXPECT_GE(std::abs(error.worst), std::abs(other.worst));
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
    // No such runs: another stack, another variant of a GPU, another width.
    EXPECT_EQ(KindOf("h100", "llama3-8b", "bf16", "fused"), "");
    EXPECT_EQ(KindOf("h100-96g", "llama3-8b", "bf16"), "");
    EXPECT_EQ(KindOf("mi355x", "llama3-8b", "bf16"), "");
    EXPECT_EQ(KindOf("mi300x", "llama3-8b", "bf16"), "");
    EXPECT_EQ(KindOf("a100-80g", "mixtral-8x7b", "bf16"), "");
}

TEST(TimeError, AKindOfFewFamiliesHasTheWidestErrors)
{
    const auto of = [&](const char* gpu, const char* stack, const char* precision) {
        return Find(ScenarioOf(gpu, "llama3-8b", precision, stack)).value();
    };
    const TimeError validated = of("h100", "megatron-core", "bf16");
    EXPECT_TRUE(validated.IsValidated());
    EXPECT_GE(validated.families, 3U);
    EXPECT_LE(validated.mean, validated.within);
    EXPECT_LE(validated.within, std::abs(validated.worst));
    EXPECT_EQ(validated.figuresOf, std::vector<std::string>{"dense on H100 and H200, BF16"});
    // All runs on A100 are of GPT, all of PyTorch's FSDP of two families: both have the figures of
    // one kind, which no other kind exceeds.
    const TimeError a100 = of("a100-80g", "megatron-2022", "fp16");
    EXPECT_EQ(a100.unvalidated, "its runs are of 1 model family, and 3 are asked for");
    EXPECT_EQ(a100.families, 1U);
    EXPECT_EQ(a100.kind, "A100");
    ExpectAsWide(a100, validated);
    const TimeError fsdp = of("h100", "torch-fsdp", "bf16");
    EXPECT_EQ(fsdp.unvalidated, "its runs are of 2 model families, and 3 are asked for");
    EXPECT_EQ(fsdp.figuresOf, a100.figuresOf);
    EXPECT_EQ(fsdp.mean, a100.mean);
    EXPECT_EQ(fsdp.within, a100.within);
    EXPECT_EQ(fsdp.worst, a100.worst);
    EXPECT_NE(fsdp.runs, a100.runs);
    const TimeError experts = Find(ScenarioOf("gb200", "deepseek-v3", "bf16")).value();
    EXPECT_TRUE(experts.IsValidated());
    EXPECT_EQ(a100.figuresOf, std::vector<std::string>{experts.kind});
    EXPECT_EQ(a100.worst, experts.worst);
}

/// Short steps are no excuse: all that were published are dense, and few are of Blackwell.
TEST(TimeError, OfAShortStepIsTheLargerOfItsKindAndOfShortSteps)
{
    const Duration below = Duration::Seconds(0.95);
    TimeError least{"", 1, 1, 1};
    for (const char* model : {"llama3-8b", "deepseek-v3"})
    {
        const Scenario scenario = ScenarioOf("h100", model, "bf16");
        const TimeError own = Find(scenario, Duration::Seconds(1)).value();
        const TimeError shorter = Find(scenario, below).value();
        EXPECT_TRUE(shorter.IsValidated());
        EXPECT_EQ(shorter.kind, own.kind);
        EXPECT_EQ(shorter.runs, own.runs);
        EXPECT_EQ(shorter.figuresOf, (std::vector<std::string>{own.kind, "steps under a second"}));
        ExpectAsWide(shorter, own);
        least = shorter.mean < least.mean ? shorter : least;
    }
    // The dense one has what short steps themselves have, which is more than its kind's.
    EXPECT_GT(least.mean, Find(ScenarioOf("h100", "llama3-8b", "bf16"))->mean);
    ExpectAsWide(Find(ScenarioOf("h100", "deepseek-v3", "bf16"), below).value(), least);
    // Being short validates no kind.
    for (const Scenario& scenario : {ScenarioOf("a100-80g", "llama3-8b", "fp16", "megatron-2022"),
                                     ScenarioOf("h100", "llama3-8b", "bf16", "torch-fsdp")})
    {
        const TimeError own = Find(scenario).value();
        const TimeError shorter = Find(scenario, below).value();
        EXPECT_EQ(shorter.unvalidated, own.unvalidated);
        EXPECT_FALSE(shorter.IsValidated());
        EXPECT_EQ(shorter.mean, own.mean);
        ExpectAsWide(shorter, least);
    }
}

/// By values, and not by what they are called.
TEST(TimeError, ANameIsNoKind)
{
    const Scenario preset = ScenarioOf("h100", "llama3-8b", "bf16");
    const TimeError told = Find(preset).value();
    Scenario renamed = preset;
    renamed.Job().workload.stack.name = "foo";
    renamed.cluster.buildings[0].gpu.name = "bar";
    const auto found = Find(renamed);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kind, told.kind);
    EXPECT_EQ(found->mean, told.mean);
    EXPECT_TRUE(found->IsValidated());
}

TEST(TimeError, ChangedValuesAreNotValidated)
{
    const Scenario preset = ScenarioOf("h100", "llama3-8b", "bf16");
    const TimeError widest = Find(ScenarioOf("gb200", "deepseek-v3", "bf16")).value();
    Scenario stack = preset;
    stack.Job().workload.stack.elementwise = 100;
    Scenario gpu = preset;
    gpu.cluster.buildings[0].gpu.gemmEfficiency = 0.1;
    for (const auto& [changed, what] :
         {std::pair(stack,
                    "values of the stack megatron-core are changed from those that its runs "
                    "were fitted with"),
          std::pair(gpu,
                    "values of the GPU h100 are changed from those that its runs were fitted "
                    "with")})
    {
        const TimeError error = Find(changed).value();
        EXPECT_EQ(error.unvalidated, what);
        EXPECT_EQ(error.mean, widest.mean);
        EXPECT_EQ(error.worst, widest.worst);
    }
    // Neither the values nor the name are known.
    stack.Job().workload.stack.name = "foo";
    EXPECT_FALSE(Find(stack));
    // What a machine sets is no change, and neither is what runs of the kind vary.
    Scenario machine = preset;
    GpuSpec& its = machine.cluster.buildings[0].gpu;
    its.nicRate = BitRate(200e9);
    its.nicsPerGpu = 0.5;
    its.nicEfficiency = 0.75;
    its.scaleUpDomain = 4;
    its.hbmReserve = Bytes(1ULL << 30);
    EXPECT_TRUE(Find(machine)->IsValidated());
    Scenario recorded = ScenarioOf("gb200", "deepseek-v3", "mxfp8");
    recorded.Job().workload.stack.cudaGraphs = "iteration";
    EXPECT_TRUE(Find(recorded)->IsValidated());
    recorded = preset;
    recorded.Job().workload.stack.cudaGraphs = "iteration";
    EXPECT_FALSE(Find(recorded)->IsValidated());
    // Runs by torch-fsdp took a slower curve, others did not.
    Scenario older = ScenarioOf("h100", "mpt-7b", "bf16", "torch-fsdp");
    GpuSpec& slower = older.cluster.buildings[0].gpu;
    slower.Take(PresetNamed<GpuCurve>("h100-flash2"));
    EXPECT_THAT(Find(older)->unvalidated, Not(HasSubstr("changed")));
    older.Job().workload.stack = PresetNamed<SoftwareStack>("megatron-core");
    EXPECT_THAT(Find(older)->unvalidated, HasSubstr("GPU h100 are changed"));
}

TEST(TimeError, AKindSaysNothingOfWhatNoneOfItsRunsHas)
{
    const auto why = [](const char* gpu,
                        const char* model,
                        const char* precision,
                        const char* stack = "megatron-core",
                        Duration time = Duration::Seconds(19)) {
        return Find(ScenarioOf(gpu, model, precision, stack), time).value().unvalidated;
    };
    const std::string none = "none of its runs of a second and more is ";
    const std::string narrow = "bf16, fp8-delayed, fp8-current and mxfp8";
    EXPECT_EQ(why("gb200", "deepseek-v3", "nvfp4"), none + "in nvfp4, but in " + narrow);
    EXPECT_EQ(why("gb200", "deepseek-v3", "fp16"), none + "in fp16, but in " + narrow);
    EXPECT_EQ(why("gb200", "deepseek-v3", "mxfp8"), "");
    EXPECT_EQ(why("h100", "llama3-8b", "mxfp8"),
              none + "in mxfp8, but in fp8-delayed and fp8-current");
    EXPECT_EQ(why("h100", "llama3-8b", "fp8-current"), "");
    // All runs of PaxML are shorter.
    for (const double seconds : {0.5, 19.0})
    {
        for (const char* precision : {"bf16", "fp8-delayed"})
        {
            EXPECT_EQ(why("h100", "gpt3-5b", precision, "paxml", Duration::Seconds(seconds)),
                      none + "by paxml, but by megatron-core and maxtext");
        }
    }
    EXPECT_EQ(why("h100", "gpt3-5b", "mxfp8", "paxml"),
              none + "in mxfp8, but in fp8-delayed and fp8-current; " + none +
                  "by paxml, but by megatron-core and maxtext");
    EXPECT_EQ(why("h100", "gpt3-5b", "fp8-delayed", "maxtext"), "");
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

/// One GPU or stack is not taken for another.
TEST(TimeError, NoTwoPresetsHaveTheSameValuesOfAKind)
{
    for (const auto& gpu : Presets<GpuSpec>())
    {
        for (const auto& stack : Presets<SoftwareStack>())
        {
            for (const char* model : {"llama3-8b", "mixtral-8x7b"})
            {
                Scenario scenario = ScenarioOf(gpu.name, model, "bf16", stack.name);
                const auto own = Find(scenario);
                scenario.cluster.buildings[0].gpu.name = "foo";
                scenario.Job().workload.stack.name = "bar";
                const auto renamed = Find(scenario);
                ASSERT_EQ(own.has_value(), renamed.has_value()) << gpu.name << " " << stack.name;
                if (own)
                {
                    EXPECT_EQ(own->kind, renamed->kind) << gpu.name << " " << stack.name;
                    EXPECT_EQ(own->unvalidated, renamed->unvalidated)
                        << gpu.name << " " << stack.name;
                }
            }
        }
    }
}

TEST(TimeError, OfGpusOfSeveralKindsIsTheLargest)
{
    // Two GPUs of one kind.
    Scenario scenario = ScenarioOf("h100", "deepseek-v3", "bf16");
    const TimeError hopper = Find(scenario).value();
    scenario.cluster.buildings.emplace_back().gpu = GpuPreset("h200");
    EXPECT_EQ(Find(scenario)->kind, hopper.kind);
    EXPECT_EQ(Find(scenario)->runs, hopper.runs);
    EXPECT_EQ(Find(scenario)->mean, hopper.mean);
    // Of two kinds.
    const TimeError blackwell = Find(ScenarioOf("b200", "deepseek-v3", "bf16")).value();
    scenario.cluster.buildings.emplace_back().gpu = GpuPreset("b200");
    const TimeError both = Find(scenario).value();
    EXPECT_TRUE(both.IsValidated());
    EXPECT_EQ(both.kind, "MoE on H100 and H200; MoE on Blackwell");
    EXPECT_EQ(both.figuresOf, (std::vector<std::string>{hopper.kind, blackwell.kind}));
    EXPECT_EQ(both.runs, hopper.runs + blackwell.runs);
    EXPECT_EQ(both.families, std::min(hopper.families, blackwell.families));
    ExpectAsWide(both, hopper);
    ExpectAsWide(both, blackwell);
    // One that is not validated is as good as all.
    scenario.Job().model = ModelPreset("llama3-8b");
    const TimeError dense = Find(scenario).value();
    EXPECT_EQ(dense.unvalidated,
              "dense on Blackwell, BF16: its runs are of 1 model family, and 3 are asked for");
    EXPECT_EQ(dense.figuresOf, std::vector<std::string>{blackwell.kind});
    EXPECT_EQ(dense.mean, blackwell.mean);
    // One of which nothing is known.
    scenario.cluster.buildings.emplace_back().gpu = GpuPreset("mi300x");
    EXPECT_FALSE(Find(scenario));
}

} // namespace

} // namespace scaleacross
