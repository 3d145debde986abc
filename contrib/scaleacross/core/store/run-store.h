// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RUN_STORE_H
#define SCALEACROSS_RUN_STORE_H

#include "core/explore/outcome.h"
#include "core/store/database.h"
#include "core/store/key.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace scaleacross
{

/// A stored run of any setting.
struct StoredRun
{
    Evaluation evaluation;
    std::string engine;
    std::string planText;
    std::string label;
    Crossing crossing{Crossing::Data};
};

/// Domain: the row exists; call it in the snapshot or transaction in which it was found.
StoredRun LoadRun(Database& database, int64_t run);

/// What stored failures are to whoever asks for a run.
enum class Failures : uint8_t
{
    Keep,  //!< answers, if they had as much time and memory as the setting gives at least
    Repeat //!< none: such plans run once more
};

/**
 * The runs of one setting (scenario, engine, options, seed...) in a database, by plan.
 *
 * A stored run answers for its plan if it is a result; a failure by what Failures says of it: what
 * failed in ten seconds says nothing of a run that has an hour.
 */
class RunStore
{
  public:
    RunStore(Database& database, RunSetting setting, Failures failures = Failures::Keep);

    /// Rows above `row` of runs that answer, by HashOf(CanonicalText(plan)); 0: all of them.
    std::unordered_map<std::string, int64_t> Since(int64_t row);

    /// Row of the run that answers for this plan, if there is one.
    std::optional<int64_t> Find(const Plan& plan);

    /// The run that answers for this plan, if there is one: the way to it where other processes may
    /// remove runs, whose row numbers are then used again.
    std::optional<StoredRun> Load(const Plan& plan);

    /// Whether a stored run of the setting answers.
    bool Answers(const StoredRun& run);

    /// Whether a search has counted failures of runs that do not answer, or that are not there any
    /// more because they have been run again.
    bool HasOpenFailures(int64_t search);

    /**
     * Stores an evaluation and returns its row. One that is stored already is replaced, and its
     * `evaluations` counted up; but a failure replaces no result, and no failure in spite of higher
     * limits: this one stays. Call inside a transaction.
     *
     * @param requested asked for by name (run, compare, a baseline, a check), hence never pruned
     */
    int64_t Put(const Plan& plan, const Evaluation& evaluation, bool requested);

    /// Marks a stored run as asked for.
    void Request(int64_t run);

    const RunSetting& Setting() const
    {
        return m_setting;
    }

    /// Row of the scenario; inserted if need be.
    int64_t ScenarioId();

  private:
    int64_t PlanId(const Plan& plan);
    std::optional<int64_t> FindText(const std::string& planText);
    std::optional<int64_t> FindBetter(const std::string& planText);
    void BindAnswer(SQLite::Statement& statement);
    void PutParts(int64_t run, const RunReport& report);
    void PutCorrection(int64_t run, const CorrectionReport& correction);
    void BindKey(SQLite::Statement& statement);

    Database& m_database;
    RunSetting m_setting;
    Failures m_failures;
    int64_t m_scenario{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_RUN_STORE_H
