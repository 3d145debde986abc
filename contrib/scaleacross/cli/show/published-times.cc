// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/published-times.h"

#include "core/explore/collective-error.h"
#include "core/io/fitted-presets.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <variant>

namespace scaleacross
{

namespace
{

/// FindCollectiveError(), which is of the times of one engine.
std::variant<CollectiveError, std::string>
ErrorOf(const Scenario& scenario, const std::string& engine, Bytes size)
{
    if (engine != "analytical")
    {
        return "it is the analytical engine that they were compared with";
    }
    return FindCollectiveError(scenario, size, BuiltInMachines());
}

/// Empty where there are enough.
std::string
TooFew(const CollectiveError& error)
{
    return error.setups < CollectiveError::kEnough ? "too few setups" : "";
}

std::string
Counted(uint32_t count, const char* what)
{
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string
LineOf(const Scenario& scenario, const std::string& engine, Bytes size)
{
    const std::string which = fmt::format("{} {} 16 MiB",
                                          ToString(scenario.Job().collective->op),
                                          size >= kLargeCollective ? "from" : "below");
    const auto error = ErrorOf(scenario, engine, size);
    if (const auto* known = std::get_if<CollectiveError>(&error))
    {
        const std::string few = TooFew(*known);
        return fmt::format(
            "Published times of {}: the model is {:.0f} % off in the median, {:.0f} % or "
            "less for nine in ten ({} of {}, {} of {} on such GPUs{})",
            which,
            100 * known->median,
            100 * known->nineInTen,
            Counted(known->lines, "size"),
            Counted(known->setups, "setup"),
            known->gpuLines,
            Counted(known->gpuSetups, "setup"),
            few.empty() ? "" : ": " + few + " to rely on it");
    }
    return "Published times say nothing of " + which + " here: " + std::get<std::string>(error);
}

} // namespace

std::vector<std::string>
PublishedTimesLines(const Scenario& scenario,
                    const std::string& engine,
                    const std::vector<Bytes>& sizes)
{
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    std::vector<std::string> lines{LineOf(scenario, engine, *least)};
    if (const std::string large = LineOf(scenario, engine, *most); large != lines.front())
    {
        lines.push_back(large);
    }
    return lines;
}

Json
PublishedTimesJson(const Scenario& scenario, const std::string& engine, Bytes size)
{
    const auto error = ErrorOf(scenario, engine, size);
    if (const auto* known = std::get_if<CollectiveError>(&error))
    {
        const std::string few = TooFew(*known);
        return {{"median", known->median},
                {"nine_in_ten", known->nineInTen},
                {"lines", known->lines},
                {"setups", known->setups},
                {"gpu_lines", known->gpuLines},
                {"gpu_setups", known->gpuSetups},
                {"unvalidated", few.empty() ? Json() : Json(few)}};
    }
    return {{"median", nullptr},
            {"nine_in_ten", nullptr},
            {"lines", nullptr},
            {"setups", nullptr},
            {"gpu_lines", nullptr},
            {"gpu_setups", nullptr},
            {"unvalidated", std::get<std::string>(error)}};
}

} // namespace scaleacross
