// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEARCH_STORE_H
#define SCALEACROSS_SEARCH_STORE_H

#include "core/explore/result-sink.h"
#include "core/explore/search-space.h"
#include "core/explore/shard.h"
#include "core/store/run-store.h"
#include "core/store/search-reader.h"
#include "core/store/so-far.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

namespace scaleacross
{

/// Which search this is, beside the setting of its runs.
struct SearchIdentity
{
    std::string study;  //!< name, for people; no part of the key
    std::string method; //!< Search::Name()
    size_t keep{kUsualKeep};
    Goals goals{};
    Shard shard{};          //!< which part of the space it searches
    std::string settings{}; //!< JSON: what its user has set of the study, by key; "": nothing. No
                            //!< part of the key
    std::string held{};     //!< HeldText(); no part of the key
};

/// The name of a search in every database: of all that decides its answer.
std::string SearchHash(const RunSetting& setting,
                       const SearchSpace& space,
                       const SearchIdentity& identity);

/**
 * A search in a database.
 *
 * Evaluations are rows from their first commit on. While a search runs nothing is removed, so a
 * process that was killed costs at most what was in flight; Finish() then keeps the rows that the
 * leaderboard names, failures and whatever was asked for by name, and the rest remains as counts.
 * A finished search is found finished: its kept rows and counts are the same answer again.
 *
 * Several processes may be at work on one search, or on searches that share results. Each takes
 * over, at its commits, what others have committed, so that it is not computed again. Where runs
 * have failed that do not answer here (RunStore), it goes through its plans again. The frontier
 * in the file is that of the process that is farthest, with its counts, and never goes back.
 */
class SearchStore : public ResultSink
{
  public:
    SearchStore(Database& database,
                RunSetting setting,
                const SearchSpace& space,
                SearchIdentity identity,
                Failures failures = Failures::Keep);

    Frontier Resume() override;
    void Restore(uint64_t below,
                 const std::function<bool(uint64_t, const RunReport&)>& visit) override;
    bool Knows(const Plan& plan) const override;
    std::optional<Evaluation> Recall(const Plan& plan) override;
    void Add(const Plan& plan, const Evaluation& evaluation) override;
    void CountIn(uint64_t index, const Plan& plan, const Evaluation& evaluation) override;
    void Commit(const Frontier& frontier) override;
    void Finish(const Frontier& frontier, const Leaderboard& board) override;

    /// The run of a baseline, or the reason why it has no plan. A stored run is used as it is.
    void PutBaseline(const std::string& name, const Plan& plan, const Evaluation& evaluation);
    void PutBaseline(const std::string& name, const Infeasible& reason);
    /// The same of a run in another setting, with those of that setting and what was assumed of it.
    void PutBaseline(const std::string& name,
                     RunStore& runs,
                     const Plan& plan,
                     const std::string& label,
                     const Evaluation& evaluation,
                     const std::string& assumed = "");

    /// What earlier calls of this search have come to know: nothing of one that is new.
    Frontier KnownBefore();

    /// The baseline of this name as this search has found it before, if its run answers.
    std::optional<KeptBaseline> FindBaseline(const std::string& name);

    /// Whether it is concluded with baselines that are not among these.
    bool SaysMoreThan(const std::vector<std::string>& baselines);

    /// What was concluded, for `show`. Domain: the search is finished.
    void Conclude(const Conclusion& conclusion);

    /**
     * The same of a search that is not done, with what was decided when it ended and what it would
     * keep by then. It stays until this or another process has another run of the search, another
     * baseline, or another answer; one that another process has finished is left as it is, and so
     * is one whose time was up by one that a signal has stopped before it ran more.
     *
     * @param board of plans that were counted in (CountIn())
     */
    void ConcludeSoFar(const Conclusion& conclusion, const SoFar& soFar, const Leaderboard& board);

    int64_t Id() const
    {
        return m_id;
    }

    /// Seconds that this search has taken, over all its resumptions, so far.
    double Seconds() const;

    RunStore& Runs()
    {
        return m_runs;
    }

  private:
    struct Row
    {
        uint64_t index;
        Plan plan;
        Evaluation evaluation;
    };

    /// A run, and what the search calls its plan.
    struct RunOfPlan
    {
        int64_t run;
        std::string label;
    };

    /// What the row of this search says.
    struct State
    {
        uint64_t next{0};
        bool finished{false};
    };

    [[noreturn]] void RefuseIndex(int64_t index) const;
    void Find();
    uint64_t Positions() const;
    uint64_t InWhole(uint64_t position) const;
    Frontier Load();
    void ForgetAnswer();
    void ForgetSoFar();
    bool IsConcludedSoFar();
    void Reopen();
    State Now();
    void TakeOver();
    void PutRows();
    bool PutRow(const Row& row);
    bool Link(uint64_t index, int64_t run, const Plan& plan);
    void PutFrontier(const Frontier& frontier);
    void PutConclusion(const Conclusion& conclusion);
    void PutSureness(const Conclusion& conclusion);
    void PutBaselineRow(const std::string& name,
                        const std::optional<RunOfPlan>& run,
                        const Infeasible& reason,
                        const std::string& assumed = "");

    Database& m_database;
    RunStore m_runs;
    const SearchSpace& m_space;
    SearchIdentity m_identity;
    int64_t m_id{0};
    double m_secondsBefore{0};
    std::chrono::steady_clock::time_point m_start;
    uint64_t m_resumed{0};                   //!< Resume().next
    mutable std::mutex m_mutex;              //!< of m_known, which workers ask
    std::unordered_set<std::string> m_known; //!< HashOf(CanonicalText(plan))
    int64_t m_lastRun{0};                    //!< the highest row that is in it
    int64_t m_dataVersion{-1};               //!< PRAGMA data_version when it was up to date
    std::vector<std::pair<Plan, Evaluation>> m_added;
    std::vector<Row> m_counted;
};

/// Stores what better engines make of a concluded ranking, a sentence each. It stays until the
/// search is concluded anew.
void StoreChecked(Database& database, int64_t search, const std::vector<std::string>& sentences);

/// Stores what holds where the spans of a finished search are uncertain: JSON, as `explore --json`
/// has it. It stays until the search is opened again or asked anew.
void StoreRobust(Database& database, int64_t search, const std::string& answer);

} // namespace scaleacross

#endif // SCALEACROSS_SEARCH_STORE_H
