// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_REPORT_TEXT_H
#define SCALEACROSS_REPORT_TEXT_H

#include "cli/show/table.h"
#include "core/explore/outcome.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// A table of runs: name or rank, plan, main figures, and `more` columns.
Table RunTable(const std::vector<std::string>& more = {});

/// Adds a run, or the reason why there is none.
void AddRow(Table& table,
            const std::string& name,
            const std::string& label,
            const Evaluation& evaluation,
            const std::vector<std::string>& more = {});

/// One run for people: the plan, its main figures and a table of its communication classes.
std::string RunText(const std::string& label, const Evaluation& evaluation);

/// "fast-forward: 250 ms skipped in 900 pieces; 12 ms simulated to compare (20 pieces): off by 0.05
/// %, at worst 0.4 %".
std::string FastForwardText(const FastForwardReport& fastForward);

/// "3 of 4 operations, the others 12 % of the time of all".
std::string CoverageText(const CorrectionReport& correction);

/// One line for each, "" if there are none.
std::string WarningText(const std::vector<std::string>& warnings);

} // namespace scaleacross

#endif // SCALEACROSS_REPORT_TEXT_H
