// SPDX-License-Identifier: GPL-2.0-only

#include "cli/baseline-runs.h"

#include "cli/show/progress-line.h"
#include "cli/workers/stop-after.h"
#include "core/base/errors.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"

#include <variant>

namespace scaleacross
{

namespace
{

BaselineAnswer
None(const std::string& name, const Infeasible& why, SearchStore& store)
{
    store.PutBaseline(name, why);
    return {name, std::nullopt, "", why};
}

} // namespace

BaselineRuns::BaselineRuns(const Study& study,
                           const SearchSpace& space,
                           const Engine& engine,
                           const SearchOptions& search)
    : m_study(study),
      m_space(space),
      m_engine(engine),
      m_search(search)
{
}

BaselineAnswer
BaselineRuns::School(const std::string& name, SearchStore& store, Duration limit)
{
    const auto stored = Stored(name, store);
    if (stored && stored->plan)
    {
        m_chosen.emplace(name, *stored->plan);
    }
    return stored ? *stored : Tuned(name, m_space, store, store.Runs(), limit);
}

BaselineAnswer
BaselineRuns::Reference(const std::string& name,
                        const std::vector<Ranked>& best,
                        SearchStore& store,
                        const std::function<RunStore(const Scenario&)>& runsOf,
                        Duration limit)
{
    // Whether a failure still answers is not known here: the store knows the study's own
    // limits.
    const auto stored = Stored(name, store);
    if (stored && !std::holds_alternative<Failure>(stored->evaluation))
    {
        return *stored;
    }
    if (m_study.scenario.cluster.buildings.size() == 1 && !best.empty())
    {
        const Ranked& first = best.front();
        store.PutBaseline(name, first.plan, first.report);
        return {name, first.plan, m_space.LabelOf(first.plan), first.report};
    }
    const auto site = Baseline(name)->site(m_study);
    if (const auto* none = std::get_if<Infeasible>(&site))
    {
        return None(name, *none, store);
    }
    const auto& there = std::get<Study>(site);
    RunStore runs = runsOf(there.scenario);
    return Tuned(name, SearchSpace(there), store, runs, limit);
}

std::optional<BaselineAnswer>
BaselineRuns::Stored(const std::string& name, SearchStore& store) const
{
    const auto stored = store.FindBaseline(name);
    if (!stored)
    {
        return std::nullopt;
    }
    BaselineAnswer answer;
    answer.name = name;
    answer.label = stored->label;
    answer.evaluation = stored->reason;
    if (stored->run)
    {
        answer.evaluation = stored->run->evaluation;
        answer.plan = PlanOfText(stored->run->planText);
        if (!answer.plan)
        {
            return std::nullopt;
        }
        answer.plan->network.ns3Attributes = m_space.Fixed().network.ns3Attributes;
    }
    return answer;
}

BaselineAnswer
BaselineRuns::Tuned(const std::string& name,
                    const SearchSpace& space,
                    SearchStore& store,
                    RunStore& runs,
                    Duration limit)
{
    // A school tunes with the analytical engine whatever the search runs with: limits are for
    // runs, and a school that was cut short would have another plan.
    SearchOptions tuning = m_search;
    tuning.run.limits = {};
    SetBounds(tuning, BoundOf::Analytical);
    ProgressLine line(name);
    tuning.progress = [&line](const Progress& progress) { line.Show(progress); };
    const StopAfter timer(limit, *m_search.stop);
    tuning.stop = &timer.Flag();
    std::variant<Plan, Infeasible> chosen;
    try
    {
        chosen = ChooseBaseline(name, m_study, AnalyticalEngine(), tuning, m_chosen);
    }
    catch (const Interrupted&)
    {
        if (*m_search.stop)
        {
            throw;
        }
        // The next call may give it more.
        const Infeasible late{kLate, name + " is not found in " + ToString(limit)};
        return {name, std::nullopt, "", late};
    }
    if (const auto* none = std::get_if<Infeasible>(&chosen))
    {
        return None(name, *none, store);
    }
    BaselineAnswer answer;
    answer.name = name;
    answer.plan = std::get<Plan>(chosen);
    answer.label = space.LabelOf(*answer.plan);
    const auto stored = runs.Load(*answer.plan);
    try
    {
        answer.evaluation = stored ? stored->evaluation
                                   : Evaluate(m_engine, space.With(*answer.plan), m_search.run);
    }
    catch (const ConfigError& error)
    {
        // Of its plan or its network, which need not be those of the search.
        return None(name, RefusalOf(error), store);
    }
    store.PutBaseline(name, runs, *answer.plan, answer.label, answer.evaluation);
    return answer;
}

} // namespace scaleacross
