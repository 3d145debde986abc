// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMPARE_ENGINES_H
#define SCALEACROSS_COMPARE_ENGINES_H

#include "cli/show/progress-line.h"
#include "cli/show/report-json.h"
#include "cli/workers/worker-engine.h"
#include "core/explore/difference.h"
#include "core/explore/search-space.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace scaleacross
{

/// One plan on several engines.
struct Comparison
{
    Plan plan;
    std::vector<std::string> engines;
    std::vector<Evaluation> evaluations; //!< by engine
};

/// What `compare` and the checks of `explore` run with.
struct CompareSetting
{
    CommonOptions common;
    Failures failures{Failures::Keep};
    RunOptions run;
};

/// How far a comparison has come, on a terminal: runs done of all that there are, at all points and
/// with all seeds. May be told by several threads.
class CompareProgress
{
  public:
    /// @param total runs, those that are stored included
    explicit CompareProgress(uint64_t total);

    /// So many more are found stored.
    void Skip(uint64_t runs);

    /// One more is made, which takes the time that the rest is judged by.
    void Add();

  private:
    std::mutex m_mutex;
    ProgressLine m_line{"compare"};
    uint64_t m_total;
    uint64_t m_done{0};
    uint64_t m_made{0};
    std::chrono::steady_clock::time_point m_start{std::chrono::steady_clock::now()};
};

/// Plans that are compared on one study with one seed. All have to outlive the comparison.
struct ComparedSet
{
    const Study& study;
    const SearchSpace& space;
    const std::vector<Plan>& plans;
    CompareSetting setting;
};

/**
 * Runs every plan of every set on every engine, several at a time whatever set they are of, and
 * stores each run when it is done; comparisons by set. Stored runs are not repeated, and what
 * several sets ask for is run once: an engine that draws nothing does the same with all seeds. What
 * an engine refuses in this process is RefusalOf() and not stored: it is found out at once. Returns
 * early, without what is missing, once `stop` is set.
 *
 * @param engines of MakeSweepEngines(), which look at the same `stop`
 * @param jobs at a time
 */
std::vector<std::vector<Comparison>> CompareEngines(
    const std::vector<ComparedSet>& sets,
    const std::vector<std::unique_ptr<Engine>>& engines,
    unsigned jobs,
    Database& database,
    const std::atomic<bool>& stop,
    CompareProgress& progress);

/// The same of one set.
std::vector<Comparison> CompareEngines(const Study& study,
                                       const SearchSpace& space,
                                       const std::vector<Plan>& plans,
                                       const std::vector<std::unique_ptr<Engine>>& engines,
                                       const CompareSetting& setting,
                                       Database& database,
                                       const std::atomic<bool>& stop,
                                       CompareProgress& progress);

/// Why an engine refuses a scenario (kUnsupported); null: it does not.
const Infeasible* RefusalIn(const Evaluation& evaluation);

/// The report of an engine; null: it has none.
const RunReport* ReportBy(const Comparison& comparison, const std::string& engine);

/// Name of the engine that the others are held against, whether or not it runs: of those that are
/// asked for the last one of this program, or else the last one. Domain: one engine or more, as
/// FindEngine() takes them.
std::string ReferenceEngine(const std::vector<std::string>& engines);

/// A line for each engine that refuses some of the plans (kUnsupported): how many of those that it
/// was to run, and why. "" where none does.
std::string RefusalsText(const std::vector<Comparison>& comparisons);

/// Entries {plan, engine, iteration_time_s, relative_error, classes, reason?} of `compare --json`.
/// Where the reference has not run there are no errors.
Json ComparisonJson(const SearchSpace& space,
                    const std::vector<Comparison>& comparisons,
                    const std::string& reference);

/// The same for people: a table, then a line for every difference beyond kEngineTolerance. Why
/// engines refuse plans is left to RefusalsText().
std::string ComparisonText(const SearchSpace& space,
                           const std::vector<Comparison>& comparisons,
                           const std::string& reference);

/// A line that says which of the plans is the fastest by the last engine, and how much longer the
/// first plan takes; nothing where it ran fewer than two. Domain: plans, each on all engines.
std::string FastestText(const SearchSpace& space, const std::vector<Comparison>& comparisons);

} // namespace scaleacross

#endif // SCALEACROSS_COMPARE_ENGINES_H
