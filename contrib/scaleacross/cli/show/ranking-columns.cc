// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/ranking-columns.h"

#include "cli/show/sureness.h"
#include "core/work/memory/memory.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <variant>

namespace scaleacross
{

namespace
{

std::string
FitsText(const Evaluation& evaluation)
{
    const auto fits = FitsInMemory(evaluation);
    return !fits ? "-" : *fits ? "yes" : "no";
}

/// What people compare: of as many tokens.
constexpr double kTokens = 1e12;

/// An objective of which amounts are told.
struct Amount
{
    Objective objective;
    const char* title;
};

std::vector<Amount>
AmountsOf(const Rates& rates)
{
    std::vector<Amount> amounts = {{"gpu-hours", "GPU-hours"}};
    if (rates.costPerHour)
    {
        amounts.push_back({"cost", "cost"});
    }
    return amounts;
}

std::string
AmountText(double amount)
{
    return amount < 1000 ? fmt::format("{:.4g}", amount) : fmt::format("{:.0f}", amount);
}

/// Between what the time lies by the intervals of factors, and how many operations have one.
std::vector<std::string>
CoverageCells(const RunReport* report)
{
    if (report == nullptr || !report->correction)
    {
        return {"-", "-"};
    }
    const CorrectionReport& correction = *report->correction;
    return {ToString(correction.low) + " to " + ToString(correction.high),
            fmt::format("{}/{}", correction.covered, correction.operations)};
}

} // namespace

RankingColumns::RankingColumns(bool sure, bool unlimited, const Rates& rates, bool corrected)
    : m_sure(sure),
      m_unlimited(unlimited),
      m_rates(rates),
      m_corrected(corrected)
{
}

std::vector<std::string>
RankingColumns::Titles() const
{
    std::vector<std::string> amounts;
    for (const Amount& amount : AmountsOf(m_rates))
    {
        amounts.emplace_back(amount.title);
        amounts.emplace_back("for 1e12");
    }
    return Cells(amounts, kFastest, "fits", {"by the intervals", "covered"});
}

std::string
RankingColumns::Note() const
{
    return m_sure ? std::string(kFastest) +
                        ": how likely it is, by the errors of the model, that none of the plans "
                        "that are kept is faster; \"as 3\": the same work as plan 3\n"
                  : "";
}

std::vector<std::string>
RankingColumns::Of(const Evaluation& evaluation, const std::string& sureness) const
{
    const auto* report = std::get_if<RunReport>(&evaluation);
    std::vector<std::string> amounts;
    for (const Amount& amount : AmountsOf(m_rates))
    {
        const double value = report == nullptr ? 0 : amount.objective->value(*report, m_rates);
        amounts.push_back(report == nullptr ? "-" : AmountText(value));
        amounts.push_back(report == nullptr ? "-" : AmountText(value * kTokens / m_rates.tokens));
    }
    return Cells(amounts, sureness, FitsText(evaluation), CoverageCells(report));
}

std::vector<std::string>
RankingColumns::Cells(const std::vector<std::string>& amounts,
                      const std::string& sureness,
                      const std::string& fits,
                      const std::vector<std::string>& corrected) const
{
    std::vector<std::string> cells = amounts;
    if (m_sure)
    {
        cells.push_back(sureness);
    }
    if (m_unlimited)
    {
        cells.push_back(fits);
    }
    if (m_corrected)
    {
        cells.insert(cells.end(), corrected.begin(), corrected.end());
    }
    return cells;
}

Json
CoverageJson(const RunReport& report)
{
    if (!report.correction)
    {
        return nullptr;
    }
    Json json = Json::object();
    for (const auto& figure : CorrectionReport::Figures())
    {
        std::visit([&](const auto& value) { json[figure.key] = value; },
                   figure.get(*report.correction));
    }
    return json;
}

Json
AmountsJson(const RunReport& report, const Rates& rates)
{
    Json json = Json::object();
    for (const Amount& amount : AmountsOf(rates))
    {
        const double value = amount.objective->value(report, rates);
        json[amount.objective->key] = value;
        json[amount.objective->key + "_per_1e12_tokens"] = value * kTokens / rates.tokens;
    }
    return json;
}

std::vector<std::string>
CostTexts(const RunReport& report, const Rates& rates)
{
    if (!rates.costPerHour)
    {
        return {"-", "-"};
    }
    const double cost = Objective("cost")->value(report, rates);
    return {AmountText(cost), AmountText(cost * kTokens / rates.tokens)};
}

Json
ValuesJson(const RunReport& report, const Rates& rates)
{
    const Json figures = ToJson(report);
    Json json = Json::object();
    for (const Objective& objective : ObjectivesWith(rates))
    {
        // A figure of the report is what it is there: bytes are whole.
        json[objective->key] = objective->key == objective->figure
                                   ? figures.at(objective->figure)
                                   : Json(objective->value(report, rates));
    }
    json.update(AmountsJson(report, rates));
    return json;
}

std::optional<bool>
FitsInMemory(const Evaluation& evaluation)
{
    const auto* report = std::get_if<RunReport>(&evaluation);
    const bool known = report != nullptr && !report->memory.empty() &&
                       std::all_of(report->memory.begin(),
                                   report->memory.end(),
                                   [](const MemoryUse& use) { return use.usable > Bytes(); });
    return known ? std::optional<bool>(MemoryWarnings(report->memory).empty()) : std::nullopt;
}

std::vector<std::string>
MemoryWarningsOf(const Evaluation& evaluation)
{
    const auto* report = std::get_if<RunReport>(&evaluation);
    return report != nullptr ? MemoryWarnings(report->memory) : std::vector<std::string>();
}

} // namespace scaleacross
