// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/time-error.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace scaleacross
{

namespace
{

enum class Width
{
    Any,
    Bf16,
    Fp8,
    Fp4
};

struct Row
{
    const char* gpus;   //!< names, separated by blanks
    const char* stacks; //!< likewise
    bool experts;
    Width width;
    TimeError error;
};

#define BLACKWELL "b200 gb200 b300 gb300"
#define MEGATRON "megatron-core megatron-core-nccl megatron-core-padded"

/// From analysis/fit_published.py, which a test holds them to.
constexpr std::array<Row, 10> kRows = {{
    {"a100-80g", "megatron-2021 megatron-2022", false, Width::Any, {"A100", 0.048, 0.155, 48}},
    {"a100-80g h100 h100-96g h200",
     "torch-fsdp torch-eager torch-compile torch-te",
     false,
     Width::Any,
     {"FSDP of PyTorch", 0.071, -0.260, 65}},
    {"h100 h200",
     MEGATRON " maxtext",
     false,
     Width::Bf16,
     {"dense on H100 and H200, BF16", 0.037, 0.077, 34}},
    {"h100 h200",
     MEGATRON " maxtext paxml",
     false,
     Width::Fp8,
     {"dense on H100 and H200, FP8", 0.059, 0.180, 51}},
    {"h100 h200",
     MEGATRON " torch-te",
     true,
     Width::Any,
     {"MoE on H100 and H200", 0.142, 0.591, 26}},
    {BLACKWELL, MEGATRON, false, Width::Bf16, {"dense on Blackwell, BF16", 0.187, -0.192, 3}},
    {BLACKWELL, MEGATRON, false, Width::Fp8, {"dense on Blackwell, FP8", 0.071, 0.296, 13}},
    {BLACKWELL, MEGATRON, false, Width::Fp4, {"dense on Blackwell, NVFP4", 0.100, -0.183, 3}},
    {BLACKWELL, MEGATRON, true, Width::Any, {"MoE on Blackwell", 0.132, 0.318, 19}},
    {"mi350x mi355x", MEGATRON, false, Width::Fp8, {"dense on AMD, FP8", 0.096, 0.174, 2}},
}};

/// Waits that the model leaves out count most there.
constexpr TimeError kShortSteps{"steps under a second", 0.117, -0.301, 37};

#undef BLACKWELL
#undef MEGATRON

bool
IsOneOf(const std::string& name, std::string_view words)
{
    while (!words.empty())
    {
        const size_t end = std::min(words.find(' '), words.size());
        if (name == words.substr(0, end))
        {
            return true;
        }
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

} // namespace

const TimeError*
FindTimeError(const Scenario& scenario, Duration time)
{
    const JobSpec& job = scenario.Job();
    const double bytes = job.workload.precision->operandBytes;
    const Width width = bytes >= 2 ? Width::Bf16 : bytes >= 1 ? Width::Fp8 : Width::Fp4;
    const Row* found = nullptr;
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& known) {
            return IsOneOf(building.gpu.name, known.gpus) &&
                   IsOneOf(job.workload.stack.name, known.stacks) &&
                   known.experts == job.model.IsMoe() &&
                   (known.width == Width::Any || known.width == width);
        });
        if (row == kRows.end() || (found != nullptr && found != &*row))
        {
            return nullptr;
        }
        found = &*row;
    }
    return found != nullptr && time < Duration::Seconds(1) ? &kShortSteps : &found->error;
}

} // namespace scaleacross
