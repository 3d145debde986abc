// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/ranking-columns.h"

#include "cli/show/sureness.h"
#include "core/work/memory/memory.h"

#include <algorithm>
#include <variant>

namespace scaleacross
{

namespace
{

/// "-" of what did not run, and of runs of releases that did not store what they may fill.
std::string
FitsText(const Evaluation& evaluation)
{
    const auto* report = std::get_if<RunReport>(&evaluation);
    const bool known =
        report != nullptr && std::all_of(report->memory.begin(),
                                         report->memory.end(),
                                         [](const MemoryUse& use) { return use.usable > Bytes(); });
    return !known ? "-" : MemoryWarnings(report->memory).empty() ? "yes" : "no";
}

} // namespace

RankingColumns::RankingColumns(bool sure, bool unlimited)
    : m_sure(sure),
      m_unlimited(unlimited)
{
}

std::vector<std::string>
RankingColumns::Titles() const
{
    return Cells(kFastest, "fits");
}

std::vector<std::string>
RankingColumns::Of(const Evaluation& evaluation, const std::string& sureness) const
{
    return Cells(sureness, FitsText(evaluation));
}

std::vector<std::string>
RankingColumns::Cells(const std::string& sureness, const std::string& fits) const
{
    std::vector<std::string> cells;
    if (m_sure)
    {
        cells.push_back(sureness);
    }
    if (m_unlimited)
    {
        cells.push_back(fits);
    }
    return cells;
}

std::vector<std::string>
MemoryWarningsOf(const Evaluation& evaluation)
{
    const auto* report = std::get_if<RunReport>(&evaluation);
    return report != nullptr ? MemoryWarnings(report->memory) : std::vector<std::string>();
}

} // namespace scaleacross
