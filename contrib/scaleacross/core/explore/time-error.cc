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

// Waits that the model leaves out count most there.
const TimeError g_shortSteps{"steps under a second", 0.132, 0.228, -0.310, 37, 3};

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
         {"A100", 0.050, 0.069, -0.210, 48, 1}},
        {with(hopper, {"a100-80g", "h100-96g"}),
         {"torch-fsdp", "torch-eager", "torch-compile", "torch-te"},
         false,
         Width::Any,
         {"FSDP of PyTorch", 0.095, 0.174, -0.307, 72, 2}},
        {hopper,
         with(megatron, {"maxtext"}),
         false,
         Width::Bf16,
         {"dense on H100 and H200, BF16", 0.037, 0.053, 0.086, 34, 4}},
        {hopper,
         with(megatron, {"maxtext", "paxml"}),
         false,
         Width::Fp8,
         {"dense on H100 and H200, FP8", 0.051, 0.090, 0.135, 51, 4}},
        {hopper,
         with(megatron, {"torch-te"}),
         true,
         Width::Any,
         {"MoE on H100 and H200", 0.136, 0.228, 0.575, 34, 5}},
        {blackwell,
         megatron,
         false,
         Width::Bf16,
         {"dense on Blackwell, BF16", 0.142, 0.147, -0.147, 3, 1}},
        {blackwell,
         megatron,
         false,
         Width::Fp8,
         {"dense on Blackwell, FP8", 0.074, 0.081, 0.336, 13, 1}},
        {blackwell,
         megatron,
         false,
         Width::Fp4,
         {"dense on Blackwell, NVFP4", 0.117, 0.192, -0.192, 3, 1}},
        {blackwell, megatron, true, Width::Any, {"MoE on Blackwell", 0.196, 0.327, 0.609, 39, 4}},
        {{"mi350x", "mi355x"},
         megatron,
         false,
         Width::Fp8,
         {"dense on AMD, FP8", 0.077, 0.137, 0.137, 2, 1}},
    };
    return rows;
}

bool
Holds(const Names& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Of all kinds, the one with the largest mean.
const TimeError&
Widest()
{
    const TimeError* widest = &g_shortSteps;
    for (const Row& row : Rows())
    {
        widest = row.error.mean > widest->mean ? &row.error : widest;
    }
    return *widest;
}

} // namespace

std::optional<TimeError>
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
            return std::nullopt;
        }
        found = &*row;
    }
    if (found == nullptr)
    {
        return std::nullopt;
    }
    TimeError error = time < Duration::Seconds(1) ? g_shortSteps : found->error;
    if (!error.IsValidated())
    {
        const TimeError& widest = Widest();
        error.mean = widest.mean;
        error.within = widest.within;
        error.worst = widest.worst;
    }
    return error;
}

} // namespace scaleacross
