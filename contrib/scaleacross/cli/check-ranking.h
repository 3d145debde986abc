// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHECK_RANKING_H
#define SCALEACROSS_CHECK_RANKING_H

#include "cli/compare-engines.h"
#include "cli/explore-study.h"

#include <atomic>
#include <string>
#include <vector>

namespace scaleacross
{

/// Wall clock time of a run that nobody has asked for, at most: what the answer has taken so far,
/// so that none comes much later for it, between these. By flow most plans of 64 and 256 GPUs are
/// done in the first, and half of those of 1,024 in the second; doc/explorer.md has the figures.
/// Nobody waits longer where it is too little, for then only the best plan is tried.
constexpr Duration kUnaskedLeast = Duration::Microseconds(5'000'000);
constexpr Duration kUnaskedLimit = Duration::Microseconds(20'000'000);

/// What better engines say of the best plans of a search.
struct RankingCheck
{
    /// The one that ranks, and those that check. With one, there is no check.
    std::vector<std::string> engines;
    bool asked{false};                   //!< the study names them
    bool cutShort{false};                //!< a run may take less than --time-limit
    std::vector<Comparison> comparisons; //!< of plans that all of them were given
    std::string leftOut; //!< why plans were not given to them; empty: none were left out
};

/**
 * Runs the best plans that the errors of the study's first engine do not tell apart, --verify at
 * most, on its further engines.
 *
 * Where the study names no engine, the flow engine checks them, in processes of its own: of a
 * ranking by time, on as many GPUs as it has drawn paths for, each plan for as long as the answer
 * took (kUnaskedLimit) or
 * --time-limit at most, and all of them in what is left of --stop-after. The best plan comes first,
 * and the others only where it has a time. A run beyond its limit is stored as any other, with that
 * limit: it is repeated once somebody asks for it with a higher one.
 */
RankingCheck CheckRanking(const Study& study,
                          const SearchSpace& space,
                          const ExploreOptions& options,
                          const Answer& answer,
                          Database& database,
                          const std::atomic<bool>& stop);

/// Returns the check for people: a table, which plan is the fastest by the last engine, and what is
/// known of how far such engines are from packets, unless one with packets is among them. In a line
/// or two why there is none; "" where there was nothing to check.
std::string CheckText(const SearchSpace& space, const Answer& answer, const RankingCheck& check);

/// Returns what it says behind its table, a sentence each.
std::vector<std::string> CheckSentences(const SearchSpace& space,
                                        const Answer& answer,
                                        const RankingCheck& check);

/// Returns {"checks": [entries of ComparisonJson() with "warnings"], "not_checked": why plans were
/// left out, or null, "checked": CheckSentences()}.
Json CheckJson(const SearchSpace& space, const Answer& answer, const RankingCheck& check);

} // namespace scaleacross

#endif // SCALEACROSS_CHECK_RANKING_H
