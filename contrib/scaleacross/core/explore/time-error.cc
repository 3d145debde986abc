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
    const char* gpus; //!< names begin with one of these, separated by blanks
    bool experts;
    Width width;
    TimeError error;
};

/// From analysis/fit_published.py, which a test holds them to.
constexpr std::array<Row, 9> kRows = {{
    {"a100", false, Width::Any, {"A100", 0.048, 0.155, 48}},
    {"h100 h200", false, Width::Bf16, {"dense on H100 and H200, BF16", 0.037, 0.074, 34}},
    {"h100 h200", false, Width::Fp8, {"dense on H100 and H200, FP8", 0.059, 0.177, 51}},
    {"h100 h200", true, Width::Any, {"MoE on H100 and H200", 0.140, 0.588, 26}},
    {"b200 gb200 b300 gb300", false, Width::Bf16, {"dense on Blackwell, BF16", 0.219, -0.223, 3}},
    {"b200 gb200 b300 gb300", false, Width::Fp8, {"dense on Blackwell, FP8", 0.071, 0.297, 10}},
    {"b200 gb200 b300 gb300", false, Width::Fp4, {"dense on Blackwell, NVFP4", 0.099, -0.182, 3}},
    {"b200 gb200 b300 gb300", true, Width::Any, {"MoE on Blackwell", 0.133, 0.241, 19}},
    {"mi350 mi355", false, Width::Fp8, {"dense on AMD, FP8", 0.092, 0.170, 2}},
}};

bool
BeginsWithOneOf(const std::string& name, std::string_view words)
{
    while (!words.empty())
    {
        const size_t end = std::min(words.find(' '), words.size());
        if (name.compare(0, end, words.substr(0, end)) == 0)
        {
            return true;
        }
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

} // namespace

const TimeError*
FindTimeError(const Scenario& scenario)
{
    const auto slowest = std::min_element(
        scenario.cluster.buildings.begin(),
        scenario.cluster.buildings.end(),
        [](const auto& a, const auto& b) { return a.gpu.bf16Peak < b.gpu.bf16Peak; });
    const JobSpec& job = scenario.Job();
    const double bytes = job.workload.precision->operandBytes;
    const Width width = bytes >= 2 ? Width::Bf16 : bytes >= 1 ? Width::Fp8 : Width::Fp4;
    const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& known) {
        return BeginsWithOneOf(slowest->gpu.name, known.gpus) &&
               known.experts == job.model.IsMoe() &&
               (known.width == Width::Any || known.width == width);
    });
    return row == kRows.end() ? nullptr : &row->error;
}

} // namespace scaleacross
