// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEARCH_READER_H
#define SCALEACROSS_SEARCH_READER_H

#include "core/explore/conclusion.h"
#include "core/explore/result-sink.h"
#include "core/explore/shard.h"
#include "core/store/run-store.h"
#include "core/store/so-far.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// One line of the list of searches in a database.
struct SearchSummary
{
    int64_t id{0};
    std::string study;
    /// What --set and --sweep set of the study, by key.
    std::vector<std::pair<std::string, std::string>> settings;
    std::string setting;               //!< RunSetting::study
    std::vector<std::string> searched; //!< keys of the plan fields that it varies
    Shard shard;                       //!< what part of the whole it is
    std::string engine;
    uint64_t plans{0};
    bool memoryLimit{true}; //!< WorkloadSpec::memoryLimit
    bool finished{false};
    double seconds{0};
    std::string updated;
    Objective objective; //!< that of the ranking
    Rates rates;
    double gapAsked{0};        //!< Goals::gap
    double restGapAsked{0};    //!< Goals::restGap
    std::string paretoOf;      //!< FrontText()
    std::string method;        //!< Search::Name()
    uint64_t keep{kUsualKeep}; //!< SearchOptions::keep
    std::string held;          //!< HeldText()
    /// Of an unfinished one that was concluded when a call ended, and of which nothing has run
    /// since.
    std::optional<SoFar> soFar;
    /// Of an unfinished one SoFar::counts, else with what has run beyond where it has come.
    Frontier counts;
    /// Without what is said of single plans and baselines, which stands in these.
    Conclusion conclusion;
    bool warningsKnown{false};        //!< it is concluded: Conclusion::warnings are all there are
    std::vector<std::string> checked; //!< StoreChecked()
    std::string robust;               //!< JSON, as `explore --json` has it; empty: not asked for
};

/// A run that a search kept.
struct KeptRun
{
    uint64_t rank{0};
    bool pareto{false};
    bool bestOfCrossing{false};
    std::string label;
    PlanSureness sureness;
    StoredRun run;
};

/// A baseline of a search.
struct KeptBaseline
{
    std::string name;
    std::string label; //!< what the search calls its plan
    std::optional<StoredRun> run;
    Infeasible reason;                       //!< where there is no run
    std::string assumed;                     //!< of a reference's run: what its cluster is
    std::optional<double> probabilitySlower; //!< that the best plan is faster
};

/// What was asked of a search other than is usual: "objective memory, keep 5"; "" if nothing was.
std::string AskedText(const SearchSummary& search);

/// All searches, the one last worked on first.
std::vector<SearchSummary> ListSearches(Database& database);

/// The `top` best, by rank; of an unfinished search the best so far, with ranks to match.
std::vector<KeptRun> BestRuns(Database& database, const SearchSummary& search, uint64_t top);

/// Those of the Pareto front; the best of each crossing. By rank; none of an unfinished search that
/// is not concluded.
std::vector<KeptRun> FrontRuns(Database& database, const SearchSummary& search);
std::vector<KeptRun> PlacementRuns(Database& database, const SearchSummary& search);

std::vector<KeptBaseline> BaselinesOf(Database& database, int64_t search);

/// What a search was asked for.
Goals GoalsOf(Database& database, int64_t search);

/// The counts of a search, up to where it has come.
Frontier CountsOf(Database& database, int64_t search);

/// SearchSummary::counts of a search.
Frontier KnownCounts(Database& database, int64_t search);

/// A run that was asked for, and of what.
struct RunOfSetting
{
    int64_t id{0};
    std::string setting; //!< as SearchSummary::setting
    StoredRun run;
};

/// Of the scenario of the newest run: the `top` fastest runs.
std::vector<RunOfSetting> LastRuns(Database& database, uint64_t top);

/// Runs of all other engines on the scenario of a search. Plans that it keeps or compares with have
/// the labels that it gives them.
std::vector<StoredRun> OtherRuns(Database& database, int64_t search);

} // namespace scaleacross

#endif // SCALEACROSS_SEARCH_READER_H
