// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/time-error.h"
#include "core/io/presets.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

std::string
KindOf(const std::string& gpu, const std::string& model, const std::string& precision)
{
    BuildingSpec building;
    building.gpu = GpuPreset(gpu);
    Scenario scenario;
    scenario.jobs.emplace_back();
    scenario.cluster.buildings = {building};
    JobSpec& job = scenario.Job();
    job.model = ModelPreset(model);
    job.workload.precision = precision;
    const TimeError* error = FindTimeError(scenario);
    return error == nullptr ? "" : error->kind;
}

TEST(TimeError, IsOfTheKindOfJob)
{
    EXPECT_EQ(KindOf("a100-80g", "llama3-8b", "bf16"), "A100");
    EXPECT_EQ(KindOf("h200", "llama3-8b", "bf16"), "dense on H100 and H200, BF16");
    EXPECT_EQ(KindOf("h100", "llama3-8b", "fp8-current"), "dense on H100 and H200, FP8");
    EXPECT_EQ(KindOf("h100", "deepseek-v3", "bf16"), "MoE on H100 and H200");
    EXPECT_EQ(KindOf("gb200", "llama3-8b", "mxfp8"), "dense on Blackwell, FP8");
    EXPECT_EQ(KindOf("b300", "llama3-8b", "nvfp4"), "dense on Blackwell, NVFP4");
    EXPECT_EQ(KindOf("gb300", "qwen3-30b-a3b", "mxfp8"), "MoE on Blackwell");
    EXPECT_EQ(KindOf("mi300x", "llama3-8b", "bf16"), "");
    EXPECT_EQ(KindOf("a100-80g", "mixtral-8x7b", "bf16"), "");
}

} // namespace

} // namespace scaleacross
