// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/time-error.h"

#include <algorithm>
#include <string>
#include <vector>

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

using Names = std::vector<std::string>;

/// What one class of published runs was run on.
struct Row
{
    Names gpus;
    Names stacks;
    bool experts;
    Width width;
    TimeError error;
};

/// From analysis/fit_published.py, which a test holds them to: every GPU and stack of its table is
/// in a row of the class that the script has for it. Another test names the presets in no row.
const std::vector<Row>&
Rows()
{
    static const Names hopper = {"h100", "h200"};
    static const Names blackwell = {"b200", "gb200", "b300", "gb300"};
    static const Names megatron = {"megatron-core", "megatron-core-nccl", "megatron-core-padded"};
    const auto with = [](Names names, const Names& more) {
        names.insert(names.end(), more.begin(), more.end());
        return names;
    };
    static const std::vector<Row> rows = {
        {{"a100-80g"},
         {"megatron-2021", "megatron-2022"},
         false,
         Width::Any,
         {"A100", 0.048, 0.155, 48}},
        {with(hopper, {"a100-80g", "h100-96g"}),
         {"torch-fsdp", "torch-eager", "torch-compile", "torch-te"},
         false,
         Width::Any,
         {"FSDP of PyTorch", 0.070, -0.260, 65}},
        {hopper,
         with(megatron, {"maxtext"}),
         false,
         Width::Bf16,
         {"dense on H100 and H200, BF16", 0.033, 0.073, 34}},
        {hopper,
         with(megatron, {"maxtext", "paxml"}),
         false,
         Width::Fp8,
         {"dense on H100 and H200, FP8", 0.049, 0.149, 51}},
        {hopper,
         with(megatron, {"torch-te"}),
         true,
         Width::Any,
         {"MoE on H100 and H200", 0.123, 0.596, 26}},
        {blackwell, megatron, false, Width::Bf16, {"dense on Blackwell, BF16", 0.174, -0.178, 3}},
        {blackwell, megatron, false, Width::Fp8, {"dense on Blackwell, FP8", 0.067, 0.249, 13}},
        {blackwell, megatron, false, Width::Fp4, {"dense on Blackwell, NVFP4", 0.093, -0.179, 3}},
        {blackwell, megatron, true, Width::Any, {"MoE on Blackwell", 0.102, 0.207, 19}},
        {{"mi350x", "mi355x"}, megatron, false, Width::Fp8, {"dense on AMD, FP8", 0.089, 0.166, 2}},
    };
    return rows;
}

bool
Holds(const Names& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

const TimeError*
FindTimeError(const Scenario& scenario, Duration time)
{
    const JobSpec& job = scenario.Job();
    const double bytes = job.workload.precision->operandBytes;
    const Width width = bytes >= 2 ? Width::Bf16 : bytes >= 1 ? Width::Fp8 : Width::Fp4;
    const auto& rows = Rows();
    const Row* found = nullptr;
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& known) {
            return Holds(known.gpus, building.gpu.name) &&
                   Holds(known.stacks, job.workload.stack.name) &&
                   known.experts == job.model.IsMoe() &&
                   (known.width == Width::Any || known.width == width);
        });
        if (row == rows.end() || (found != nullptr && found != &*row))
        {
            return nullptr;
        }
        found = &*row;
    }
    // Waits that the model leaves out count most there.
    static const TimeError shortSteps{"steps under a second", 0.116, -0.306, 37};
    return found != nullptr && time < Duration::Seconds(1) ? &shortSteps : &found->error;
}

} // namespace scaleacross
