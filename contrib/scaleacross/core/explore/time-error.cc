// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/time-error.h"

#include "core/base/text.h"
#include "core/explore/preset-origin.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
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
    Names precisions;   //!< of its runs
    Names ranStacks;    //!< of its runs
    Names variedKeys{}; //!< of stacks: its runs differ in them
};

// Waits that the model leaves out count most there.
const TimeError g_shortSteps{"steps under a second", 0.132, 0.228, -0.327, 37, 3};

/// From analysis/fit_published.py, which a test holds them to: every GPU, stack and precision of
/// its table is in a row of the class that the script has for it, and what a row says to have run
/// has. Another test names the presets in no row.
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
         {"A100", 0.050, 0.076, -0.212, 48, 1},
         {"fp16"},
         {"megatron-2021", "megatron-2022"}},
        {with(hopper, {"a100-80g", "h100-96g", "h100-flash2"}),
         {"torch-fsdp", "torch-eager", "torch-compile", "torch-te"},
         false,
         Width::Any,
         {"FSDP of PyTorch", 0.095, 0.174, 0.333, 72, 2},
         {"bf16", "fp8-delayed", "fp8-current", "fp8-rowwise"},
         {"torch-fsdp", "torch-eager", "torch-compile", "torch-te"}},
        {hopper,
         with(megatron, {"maxtext", "paxml"}),
         false,
         Width::Bf16,
         {"dense on H100 and H200, BF16", 0.037, 0.067, 0.086, 34, 4},
         {"bf16"},
         {"megatron-core", "maxtext"}},
        {hopper,
         with(megatron, {"maxtext", "paxml"}),
         false,
         Width::Fp8,
         {"dense on H100 and H200, FP8", 0.051, 0.090, 0.159, 51, 4},
         {"fp8-delayed", "fp8-current"},
         {"megatron-core", "maxtext"}},
        {hopper,
         with(megatron, {"torch-te"}),
         true,
         Width::Any,
         {"MoE on H100 and H200", 0.136, 0.228, 0.575, 34, 5},
         {"bf16", "fp8-delayed", "fp8-current"},
         {"megatron-core", "megatron-core-nccl", "megatron-core-padded", "torch-te"}},
        {blackwell,
         megatron,
         false,
         Width::Bf16,
         {"dense on Blackwell, BF16", 0.142, 0.147, -0.147, 3, 1},
         {"bf16"},
         {"megatron-core"}},
        {blackwell,
         megatron,
         false,
         Width::Fp8,
         {"dense on Blackwell, FP8", 0.074, 0.089, 0.336, 13, 1},
         {"fp8-current", "mxfp8"},
         {"megatron-core"},
         {"cuda_graphs"}},
        {blackwell,
         megatron,
         false,
         Width::Fp4,
         {"dense on Blackwell, NVFP4", 0.117, 0.195, -0.195, 3, 1},
         {"nvfp4"},
         {"megatron-core"}},
        {blackwell,
         megatron,
         true,
         Width::Any,
         {"MoE on Blackwell", 0.196, 0.327, 0.609, 39, 4},
         {"bf16", "fp8-delayed", "fp8-current", "mxfp8"},
         {"megatron-core", "megatron-core-nccl", "megatron-core-padded"},
         {"cuda_graphs", "fuses_experts"}},
        {{"mi350x", "mi355x"},
         megatron,
         false,
         Width::Fp8,
         {"dense on AMD, FP8", 0.077, 0.150, 0.150, 2, 1},
         {"fp8-delayed"},
         {"megatron-core"}},
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

/// A row that a job on GPUs of a building is of.
struct Match
{
    const Row* row;
    PresetOrigin gpu;
    PresetOrigin stack;

    bool IsChanged() const
    {
        return gpu.changed || stack.changed;
    }
};

/// One without changes first.
std::optional<Match>
MatchOf(const JobSpec& job, const GpuSpec& gpu, const FittedPresets& presets)
{
    const double bytes = job.workload.precision->operandBytes;
    const Width width = bytes >= 2 ? Width::Bf16 : bytes >= 1 ? Width::Fp8 : Width::Fp4;
    std::optional<Match> match;
    for (const Row& row : Rows())
    {
        if (row.experts != job.model.IsMoe() || (row.width != Width::Any && row.width != width))
        {
            continue;
        }
        const auto ofGpu = OriginOf(gpu, presets.gpus, row.gpus, MachineKeysOfGpus());
        const auto ofStack =
            OriginOf(job.workload.stack, presets.stacks, row.stacks, row.variedKeys);
        if (!ofGpu || !ofStack)
        {
            continue;
        }
        const Match found{&row, *ofGpu, *ofStack};
        if (!match || (match->IsChanged() && !found.IsChanged()))
        {
            match = found;
        }
    }
    return match;
}

/// Why the runs of its kind do not hold for a job; empty where they do.
std::string
WhyUnvalidated(const Match& match, const std::string& precision)
{
    const Row& row = *match.row;
    const std::string changed = "changed from those that its runs were fitted with";
    std::vector<std::string> reasons;
    if (match.gpu.changed)
    {
        reasons.push_back("values of the GPU " + match.gpu.preset + " are " + changed);
    }
    if (match.stack.changed)
    {
        reasons.push_back("values of the stack " + match.stack.preset + " are " + changed);
    }
    if (!Holds(row.precisions, precision))
    {
        reasons.push_back("none of its runs of a second and more is in " + precision + ", but in " +
                          AllOf(row.precisions));
    }
    if (!Holds(row.ranStacks, match.stack.preset))
    {
        reasons.push_back("none of its runs of a second and more is by " + match.stack.preset +
                          ", but by " + AllOf(row.ranStacks));
    }
    if (row.error.families < TimeError::kEnough)
    {
        reasons.push_back("its runs are of " + std::to_string(row.error.families) +
                          (row.error.families == 1 ? " model family" : " model families") +
                          ", and " + std::to_string(TimeError::kEnough) + " are asked for");
    }
    std::string text;
    for (const std::string& reason : reasons)
    {
        text += (text.empty() ? "" : "; ") + reason;
    }
    return text;
}

/// Takes the larger of each figure.
void
Widen(TimeError& error, const TimeError& other)
{
    error.mean = std::max(error.mean, other.mean);
    error.within = std::max(error.within, other.within);
    error.worst = std::abs(other.worst) > std::abs(error.worst) ? other.worst : error.worst;
    error.figuresOf.push_back(other.kind);
}

/// Has the runs of another kind, too.
void
Join(TimeError& error, const TimeError& other)
{
    error.kind += (error.kind.empty() ? "" : "; ") + other.kind;
    error.families = error.runs == 0 ? other.families : std::min(error.families, other.families);
    error.runs += other.runs;
}

} // namespace

std::optional<TimeError>
FindTimeError(const Scenario& scenario, Duration time, const FittedPresets& presets)
{
    const JobSpec& job = scenario.Job();
    std::set<const Row*> rows;
    std::vector<std::pair<std::string, std::string>> reasons; // by kind
    TimeError error;
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        const auto match = MatchOf(job, building.gpu, presets);
        if (!match)
        {
            return std::nullopt;
        }
        const TimeError& own = match->row->error;
        if (rows.insert(match->row).second)
        {
            Join(error, own);
            Widen(error, own);
        }
        const std::pair reason(own.kind, WhyUnvalidated(*match, job.workload.precision.Name()));
        if (!reason.second.empty() &&
            std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
        {
            reasons.push_back(reason);
        }
    }
    if (rows.empty())
    {
        return std::nullopt;
    }
    for (const auto& [kind, why] : reasons)
    {
        error.unvalidated += (error.unvalidated.empty() ? "" : "; ") +
                             (rows.size() > 1 ? kind + ": " : std::string()) + why;
    }
    if (!error.IsValidated())
    {
        const TimeError& widest = Widest();
        error.mean = widest.mean;
        error.within = widest.within;
        error.worst = widest.worst;
        error.figuresOf = {widest.kind};
    }
    else if (time < Duration::Seconds(1))
    {
        Widen(error, g_shortSteps);
    }
    return error;
}

} // namespace scaleacross
