// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEARCH_H
#define SCALEACROSS_SEARCH_H

#include "core/engine/closed-form.h"
#include "core/engine/engine.h"
#include "core/explore/leaderboard.h"
#include "core/explore/result-sink.h"
#include "core/explore/search-space.h"
#include "core/explore/shard.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// What a search tells of itself while it runs.
struct Progress
{
    uint64_t done{0};           //!< plans dealt with, those before a resumption included
    uint64_t total{0};          //!< plans of the space, those that mean the same included
    uint64_t ran{0};            //!< plans that have a time
    std::optional<Ranked> best; //!< so far
    bool proven{false};         //!< nothing that is left can be better than that
};

/// Says of a plan, without running it, how fast it could be at best or why it cannot run. Need not
/// find out more of a plan that is not worth it.
using Filter =
    std::function<std::variant<ClosedForm, Infeasible>(const Scenario&, const IsWorthMore&)>;

/// The same in microseconds, and so not more than a part of it, of all plans that agree with one
/// down to a depth: how fast any of them could be, or why none can run (FirstLook).
using Glance = std::function<
    std::variant<ClosedForm, Infeasible>(const Scenario&, PlanDepth, const IsWorthMore&)>;

/// FirstLook() at the plans of a space, with the collectives inside their layers.
Glance FirstLooks(const SearchSpace& space, BoundOf engine = BoundOf::EveryEngine);

struct SearchOptions;

/// Has a search ask FirstLooks() and a ClosedFormFilter, whose bounds are below the times of
/// `engine`.
void SetBounds(SearchOptions& options, BoundOf engine);

/// Has a search ask them whether plans can run, but not for bounds: nothing is ruled out by its
/// time, and all that can run is run. For engines of whose times no bound is known.
void SetNoBounds(SearchOptions& options);

/// How to search, as opposed to what.
struct SearchOptions
{
    unsigned jobs{0};        //!< threads; 0: one per core
    size_t keep{kUsualKeep}; //!< the k of the k best; more are more runs
    Goals goals;
    Shard shard; //!< what to search of the space, and to keep as if that were all
    Leaderboard::Keeps keeps{Leaderboard::Keeps::Everything};
    RunOptions run; //!< handed to the engine
    /// Different for processes that search together: each begins with other plans of those that are
    /// to run next, and takes over from the sink what the others have run. Changes no result.
    uint32_t process{0};
    Filter filter{ClosedFormFilter()};
    /// Asked first of every plan, if set: the filter then only of those that what it says leaves.
    std::function<Glance(const SearchSpace&)> glance{};
    /// Plans that have run outside of the search. Its progress tells the best of those of the space
    /// as its own, and where it is interrupted they are among what it has found; else they change
    /// nothing.
    std::vector<Ranked> offered;
    const std::atomic<bool>* stop{nullptr}; //!< set by a signal: finish what runs, commit, return
    std::function<void(const Progress&)> progress; //!< called a few times a second if set
};

/// The answer of a search.
struct SearchResult
{
    Leaderboard board{1};
    /// Of the whole space; of an interrupted search what is decided so far, which a block of plans
    /// that is not done has not committed, and what has run in earlier calls or was offered. Bound
    /// and left are then those of what is not decided, too: 0 as long as nothing is known of some
    /// plans.
    Frontier counts;
    uint64_t engineRuns{0}; //!< evaluations that this call made
    bool interrupted{false};
};

/// Finds the best plans of a space; users may add their own ways.
class Search
{
  public:
    virtual ~Search() = default;

    virtual std::string Name() const = 0;

    /**
     * Searches `space` with `engine`, taking up where the sink has left off.
     *
     * The result does not depend on the number of threads; nor on how often it was interrupted,
     * but for the number of engine runs of this call. A
     * RunError of the engine is a stored Failure, a ConfigError a rejection named "unsupported"
     * (the setting itself has been validated before). Anything else is thrown on, after what is
     * finished has been committed.
     */
    virtual SearchResult Run(const SearchSpace& space,
                             const Engine& engine,
                             const SearchOptions& options,
                             ResultSink& sink) const = 0;
};

/**
 * Finds the k best plans, the Pareto front and the best of each crossing for certain, and runs only
 * the plans that its bounds cannot rule out.
 *
 * Plans that agree down to a level of the space are a family. All families of the first level are
 * glanced at, and those that can run stand in a queue by what the objective is at least, least
 * first. A family that comes up is split into those of the next level, which are glanced at in
 * turn; a single plan is asked more of by the filter and goes back with a higher bound, or runs. (A
 * space with more than 2^20 families of the first level is gone through in blocks of so many.)
 *
 * A family is ruled out, and its distinct plans counted under kRuledOut, where its bound is above
 * the time of the k-th best, above that of the best of its crossing, and some plan of the Pareto
 * front is no worse by any of its objectives than any of them can be, and better by one: whatever
 * their values, nothing that is kept would change. Whether they can run is then not looked at.
 * With a gap (Goals) this holds where the values of what is kept are divided by 1 + gap: what is
 * ruled out is better by no more than that.
 *
 * Worked case, k = 1, memory all alike: bounds 5, 8, 3 and times 6, 8, 9. One
 * at a time, the third runs first (9), then the first (6); 8 > 6, so that the second is ruled out.
 */
class BestFirstSearch : public Search
{
  public:
    std::string Name() const override;
    SearchResult Run(const SearchSpace& space,
                     const Engine& engine,
                     const SearchOptions& options,
                     ResultSink& sink) const override;
};

/// The same with every plan that can run: nothing is ruled out by a bound, so that the answer does
/// not depend on whether bounds hold. What BestFirstSearch can be compared with.
class ExhaustiveSearch : public Search
{
  public:
    std::string Name() const override;
    SearchResult Run(const SearchSpace& space,
                     const Engine& engine,
                     const SearchOptions& options,
                     ResultSink& sink) const override;
};

/// Makes a Failure of a time below the plan's bound: ranked, it would beat plans that were ruled
/// out by theirs.
void HoldToBound(Evaluation& evaluation, const Plan& plan, Duration bound);

/// Runs one plan, with RunError as a Failure. Throws ConfigError where the engine refuses it.
Evaluation Evaluate(const Engine& engine, const Scenario& scenario, const RunOptions& options);

} // namespace scaleacross

#endif // SCALEACROSS_SEARCH_H
