// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANKING_COLUMNS_H
#define SCALEACROSS_RANKING_COLUMNS_H

#include "core/explore/outcome.h"

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
     */
    RankingColumns(bool sure, bool unlimited);

    std::vector<std::string> Titles() const;

    /// @param sureness of its place; "-" where it has none
    std::vector<std::string> Of(const Evaluation& evaluation, const std::string& sureness) const;

  private:
    std::vector<std::string> Cells(const std::string& sureness, const std::string& fits) const;

    bool m_sure;
    bool m_unlimited;
};

/// What a run lacks of memory: at most one line; nothing of what did not run.
std::vector<std::string> MemoryWarningsOf(const Evaluation& evaluation);

} // namespace scaleacross

#endif // SCALEACROSS_RANKING_COLUMNS_H
