// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANKING_COLUMNS_H
#define SCALEACROSS_RANKING_COLUMNS_H

#include "cli/show/report-json.h"
#include "core/explore/objective.h"
#include "core/explore/outcome.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What a ranking says of its rows beside their main figures: the same by `explore`, as it finds
/// it, and by `show`, as a database has it.
class RankingColumns
{
  public:
    /**
     * @param sure whether it is known how sure the answer is
     * @param unlimited whether plans run that lack memory (not WorkloadSpec::memoryLimit)
     * @param corrected whether corrections have changed the times
     */
    RankingColumns(bool sure, bool unlimited, const Rates& rates, bool corrected);

    std::vector<std::string> Titles() const;

    /// What is said below the table of columns that do not say it themselves, a line each.
    std::string Note() const;

    /// @param sureness of its place; "-" where it has none
    std::vector<std::string> Of(const Evaluation& evaluation, const std::string& sureness) const;

  private:
    std::vector<std::string> Cells(const std::vector<std::string>& amounts,
                                   const std::string& sureness,
                                   const std::string& fits,
                                   const std::vector<std::string>& corrected) const;

    bool m_sure;
    bool m_unlimited;
    Rates m_rates;
    bool m_corrected;
};

/// {operations, covered, uncovered_share, low_s, high_s} of a corrected time; null of others.
Json CoverageJson(const RunReport& report);

/// "gpu_hours" and, with prices, "cost" of an iteration, each also for 1e12 tokens.
Json AmountsJson(const RunReport& report, const Rates& rates);

/// What an iteration costs, and 1e12 tokens, as the table has it; "-" without prices.
std::vector<std::string> CostTexts(const RunReport& report, const Rates& rates);

/// The value of every objective that has one with these rates, by ObjectiveFacts::key, and
/// AmountsJson().
Json ValuesJson(const RunReport& report, const Rates& rates);

/// Whether all stages of a run have the memory they need; none of what did not run, and of runs
/// that do not say what their stages may fill.
std::optional<bool> FitsInMemory(const Evaluation& evaluation);

/// What a run lacks of memory: at most one line; nothing of what did not run.
std::vector<std::string> MemoryWarningsOf(const Evaluation& evaluation);

} // namespace scaleacross

#endif // SCALEACROSS_RANKING_COLUMNS_H
