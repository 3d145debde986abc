// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EXPLORE_STUDY_H
#define SCALEACROSS_EXPLORE_STUDY_H

#include "cli/rows-file.h"
#include "cli/show/report-json.h"
#include "cli/workers/worker-engine.h"
#include "core/explore/conclusion.h"
#include "core/explore/explanation.h"
#include "core/explore/search-space.h"
#include "core/explore/search.h"
#include "core/store/database.h"
#include "core/store/so-far.h"

#include <atomic>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// How a study is explored.
struct ExploreOptions
{
    CommonOptions common;
    WorkerOptions worker;
    size_t keep{kUsualKeep};
    size_t top{10};                  //!< rows of the printed ranking
    size_t verify{3};                //!< best plans that the study's further engines run as well
    bool exhaustive{false};          //!< run every plan that can run
    std::string objective;           //!< of the ranking; empty: the usual one
    std::string gap;                 //!< how near to come; empty: exact
    std::string restGap;             //!< Goals::restGap; empty: usual
    std::string pareto;              //!< objectives of the front; empty: none
    std::string progress;            //!< how often it says how far it is; empty: as usual
    std::string stopAfter;           //!< how long the search may take; empty: until it is done
    bool robust{false};              //!< compare plans by what the study leaves uncertain too
    std::vector<std::string> sweeps; //!< KEY=V1,V2,...
    std::optional<Shard> shard;      //!< only this part of the search, without a conclusion
    std::string turn;                //!< of several searches which, "2 of 7"; empty: the only one
    RowsFile csv;
};

/// Adds STUDY and all options that say what is searched. Whoever has others search for it
/// (`slurm`) passes on all of these.
void AddSearchOptions(Command command, ExploreOptions& options);

/// Adds the options that say what of the whole search is answered, which no shard takes.
void AddAnswerOptions(Command command, ExploreOptions& options);

/// What the options ask of a search of the study. Throws ConfigError.
Goals GoalsOf(const ExploreOptions& options, const Study& study);

/// Throws ConfigError for a study whose first engine is a model of somebody else's: what a search
/// rules out, it does by bounds of which no such model has to know.
void ExpectOwnRanking(const Study& study);

/// Throws ConfigError for what ExpectOwnRanking(), GoalsOf() or LimitsOf() refuses, and for
/// --robust on a study that leaves nothing uncertain or ranks with another engine than the
/// analytical one.
void ExpectExplorable(const ExploreOptions& options, const Study& study);

/// Whether the ranking is one of times whose errors are known (kMeasuredEngine).
bool AreTimesMeasured(const Study& study, const Goals& goals);

/// A baseline's plan and what became of it.
struct BaselineAnswer
{
    std::string name;
    std::optional<Plan> plan;
    std::string label;     //!< of the plan, where there is one
    Evaluation evaluation; //!< Infeasible where the rule found no plan
    std::string assumed;   //!< of a reference: what its cluster is
};

/// The answer to one study.
struct Answer
{
    std::string database;
    int64_t id{0};     //!< of the search in it
    uint64_t plans{0}; //!< combinations of the space
    Goals goals;
    SearchResult search;
    std::vector<BaselineAnswer> baselines; //!< schools
    std::optional<BaselineAnswer> oneSite; //!< where the study names the reference
    bool outOfTime{false};            //!< the search has ended by its limit, before it was done
    std::optional<double> boundSlack; //!< BoundSlack(); none while interrupted
    Conclusion conclusion; //!< nothing but gap, its sentence and warnings while interrupted
    double seconds{0};     //!< of this call

    /// Combinations of the space about which nothing is decided.
    uint64_t Undecided() const
    {
        return plans - search.counts.DecidedPositions();
    }

    /// How the search has ended before it was done; none where it was done.
    std::optional<SoFar> EndedSoFar() const
    {
        return search.interrupted ? std::optional(SoFar{SoFar::End::Signal, search.counts})
               : outOfTime        ? std::optional(SoFar{SoFar::End::Time, search.counts})
                                  : std::nullopt;
    }

    bool HasWinner() const
    {
        return !search.board.BestOfEach().empty();
    }

    /// What being spread out adds to the time: best / oneSite - 1; none where one of them is
    /// missing.
    std::optional<double> SpreadOverhead() const;
};

/// The name that the search of a study has in every database (SearchHash), before it begins.
std::string SearchNameOf(const Study& study,
                         const SearchSpace& space,
                         const ExploreOptions& options);

/// Name of the database of a shard, where none is given: beside those of all others.
std::string ShardDatabaseOf(const Study& study, const Shard& shard);

/**
 * Runs baselines and search of a study with the first of its engines, stores everything, and draws
 * the conclusions. Of an interrupted search that is how much better other plans can be, and a shard
 * has no baselines either. What is concluded from a search that is not done is stored as its answer
 * so far, with which the next call goes on.
 */
Answer ExploreStudy(const Study& study,
                    const SearchSpace& space,
                    const ExploreOptions& options,
                    Database& database,
                    const std::atomic<bool>& stop);

/// The answer as tables and sentences; as JSON.
std::string AnswerText(const Study& study,
                       const SearchSpace& space,
                       const Answer& answer,
                       size_t top);
Json AnswerJson(const Study& study, const SearchSpace& space, const Answer& answer, size_t top);

/// {"layers": of every stage, "of_buildings": {name: stages}, "memory_of_buildings": {name: what a
/// GPU there holds and may fill, by these stages}}; null of a plan that FindStagePlaces() refuses.
Json StagesJson(const Scenario& scenario);

/// What a shard has done, and what comes next.
std::string ShardText(const Study& study,
                      const SearchSpace& space,
                      const Shard& shard,
                      const Answer& answer);
Json ShardJson(const Study& study,
               const SearchSpace& space,
               const Shard& shard,
               const Answer& answer);

/// "720 distinct plans: 250 run, 50 ruled out by their bounds, 420 cannot run (...)".
std::string SpaceText(const Frontier& counts);
/// "time is up: so far, 300 of 720 combinations are decided: ...", with the same.
std::string SoFarText(const SoFar& soFar, uint64_t combinations);
/// The same figures by name; `combinations`: of the axes' values, those that mean the same
/// included.
Json SpaceJson(const Frontier& counts, uint64_t combinations);

/// "3 memory, 2 batch": most frequent first.
std::string CountsText(const std::map<std::string, Count>& counts);

} // namespace scaleacross

#endif // SCALEACROSS_EXPLORE_STUDY_H
