// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/published-times.h"

#include "core/explore/collective-error.h"

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
    return FindCollectiveError(scenario, size);
}

/// Of few setups each stands for all others.
constexpr uint32_t g_enough = 3;

std::string
Figures(const CollectiveError& error)
{
    return fmt::format("{:.0f} % off in the median and {:.0f} % at most for nine in ten {} 16 MiB "
                       "({} sizes of {} {}{})",
                       100 * error.median,
                       100 * error.nineInTen,
                       error.isLarge ? "from" : "below",
                       error.lines,
                       error.setups,
                       error.setups == 1 ? "setup" : "setups",
                       error.setups < g_enough ? ": too few to tell" : "");
}

} // namespace

std::string
PublishedTimesText(const Scenario& scenario,
                   const std::string& engine,
                   const std::vector<Bytes>& sizes)
{
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    std::vector<std::string> told;
    std::string reason;
    for (const Bytes size : {*least, *most})
    {
        const auto error = ErrorOf(scenario, engine, size);
        if (const auto* known = std::get_if<CollectiveError>(&error))
        {
            told.push_back(Figures(*known));
        }
        else
        {
            reason = std::get<std::string>(error);
        }
    }
    told.erase(std::unique(told.begin(), told.end()), told.end());
    if (told.empty())
    {
        return "No published time says how far off these are: " + reason;
    }
    std::string text = "Of published times of " + ToString(scenario.Job().collective->op) +
                       " the model is " + told.front();
    text += told.size() > 1 ? ", " + told.back() : "";
    return text + (reason.empty() ? "" : "; " + reason);
}

Json
PublishedTimesJson(const Scenario& scenario, const std::string& engine, Bytes size)
{
    const auto error = ErrorOf(scenario, engine, size);
    if (const auto* known = std::get_if<CollectiveError>(&error))
    {
        return {{"median", known->median},
                {"nine_in_ten", known->nineInTen},
                {"lines", known->lines},
                {"setups", known->setups},
                {"unvalidated", known->setups < g_enough ? Json("too few setups") : Json()}};
    }
    return {{"median", nullptr},
            {"nine_in_ten", nullptr},
            {"lines", nullptr},
            {"setups", nullptr},
            {"unvalidated", std::get<std::string>(error)}};
}

} // namespace scaleacross
