// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BASELINE_RUNS_H
#define SCALEACROSS_BASELINE_RUNS_H

#include "cli/explore-study.h"
#include "core/explore/baselines/choose-baseline.h"
#include "core/store/run-store.h"
#include "core/store/search-store.h"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// Finds the baselines of a search: stored ones as they are, others by tuning.
class BaselineRuns
{
  public:
    /// The reason of a baseline that is not found in its time.
    static constexpr const char* kLate = "time";

    /// All are referred to.
    BaselineRuns(const Study& study,
                 const SearchSpace& space,
                 const Engine& engine,
                 const SearchOptions& search);

    /// The plan of a school, which has so long to be found in.
    BaselineAnswer School(const std::string& name, SearchStore& store, Duration limit);

    /// The best plan of a reference on its own clusters, of whose runs `runsOf` gives the store;
    /// they share the time. With one building that is the study's, and `best` its best plan, if it
    /// is known.
    BaselineAnswer Reference(const std::string& name,
                             const std::vector<Ranked>& best,
                             SearchStore& store,
                             const std::function<RunStore(const Scenario&)>& runsOf,
                             Duration limit);

    /// The fastest plans that schools had found by the end of their time, which was too short.
    const std::vector<Plan>& SoFar() const
    {
        return m_soFar;
    }

  private:
    /// What this search has found before, if that still answers.
    std::optional<BaselineAnswer> Stored(const std::string& name, SearchStore& store) const;
    /// What `choose` finds by the analytical engine in the time, and its run: from the database if
    /// it is there. `space` and `runs` are of the cluster on which it runs.
    BaselineAnswer Tuned(
        const std::string& name,
        const std::function<std::variant<Plan, Infeasible>(const SearchOptions&)>& choose,
        const SearchSpace& space,
        RunStore& runs,
        Duration limit) const;

    const Study& m_study;
    const SearchSpace& m_space;
    const Engine& m_engine;
    const SearchOptions& m_search;
    ChosenBaselines m_chosen;
    std::vector<Plan> m_soFar;
};

} // namespace scaleacross

#endif // SCALEACROSS_BASELINE_RUNS_H
