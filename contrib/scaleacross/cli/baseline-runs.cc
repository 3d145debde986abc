// SPDX-License-Identifier: GPL-2.0-only

#include "cli/baseline-runs.h"

#include "cli/show/progress-line.h"
#include "cli/workers/stop-after.h"
#include "cli/workers/time-budget.h"
#include "core/base/errors.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

BaselineAnswer
None(const std::string& name, const Infeasible& why)
{
    return {name, std::nullopt, "", why, ""};
}

/// Whether a baseline was not found in its time: the next call may give it more.
bool
IsLate(const BaselineAnswer& answer)
{
    const auto* why = std::get_if<Infeasible>(&answer.evaluation);
    return why != nullptr && why->reason == BaselineRuns::kLate;
}

void
Put(const BaselineAnswer& answer, SearchStore& store, RunStore& runs)
{
    if (answer.plan)
    {
        store.PutBaseline(answer.name,
                          runs,
                          *answer.plan,
                          answer.label,
                          answer.evaluation,
                          answer.assumed);
    }
    else if (!IsLate(answer))
    {
        store.PutBaseline(answer.name, std::get<Infeasible>(answer.evaluation));
    }
}

/// The time of a run; Max() of what has none.
Duration
TimeOf(const BaselineAnswer& answer)
{
    const auto* report = std::get_if<RunReport>(&answer.evaluation);
    return report != nullptr ? report->iterationTime : Duration::Max();
}

/// "with h100 5.738 s", or why there is no time.
std::string
OtherText(const std::string& gpu, const BaselineAnswer& answer)
{
    if (const auto* report = std::get_if<RunReport>(&answer.evaluation))
    {
        return "with " + gpu + " " + ToString(report->iterationTime);
    }
    const auto* none = std::get_if<Infeasible>(&answer.evaluation);
    return "none with " + gpu + ": " +
           (none != nullptr ? none->detail : std::get<Failure>(answer.evaluation).detail);
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
    if (stored)
    {
        return *stored;
    }
    const auto choose = [&](const SearchOptions& tuning) {
        try
        {
            return ChooseBaseline(name, m_study, AnalyticalEngine(), tuning, m_chosen);
        }
        catch (const ChoiceInterrupted& late)
        {
            if (late.Best())
            {
                m_soFar.push_back(*late.Best());
            }
            throw;
        }
    };
    BaselineAnswer answer = Tuned(name, choose, m_space, store.Runs(), limit);
    Put(answer, store, store.Runs());
    return answer;
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
        return {name, first.plan, m_space.LabelOf(first.plan), first.report, ""};
    }
    const auto sites = Baseline(name)->sites(m_study);
    if (const auto* none = std::get_if<Infeasible>(&sites))
    {
        store.PutBaseline(name, *none);
        return None(name, *none);
    }
    const auto& all = std::get<std::vector<OneSite>>(sites);
    const TimeBudget budget(limit);
    std::vector<BaselineAnswer> answers;
    for (const OneSite& site : all)
    {
        const Study& there = site.study;
        const double part = 1.0 / static_cast<double>(all.size() - answers.size());
        const auto choose = [&](const SearchOptions& tuning) {
            return ChooseOnSite(name, there, AnalyticalEngine(), tuning);
        };
        RunStore runs = runsOf(there.scenario);
        answers.push_back(Tuned(name, choose, SearchSpace(there), runs, budget.Part(part)));
        answers.back().assumed = site.assumed;
    }
    const auto first =
        std::min_element(answers.begin(), answers.end(), [](const auto& a, const auto& b) {
            return TimeOf(a) < TimeOf(b);
        });
    BaselineAnswer fastest = *first;
    auto* none = std::get_if<Infeasible>(&fastest.evaluation);
    for (size_t i = 0; i < all.size(); i++)
    {
        if (answers.begin() + static_cast<std::ptrdiff_t>(i) != first)
        {
            (none != nullptr ? none->detail : fastest.assumed) +=
                "; " + OtherText(all[i].gpu, answers[i]);
        }
    }
    // Where one was late the next call may find a better one.
    if (std::none_of(answers.begin(), answers.end(), IsLate))
    {
        RunStore runs = runsOf(all[first - answers.begin()].study.scenario);
        Put(fastest, store, runs);
    }
    return fastest;
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
        answer.assumed = stored->assumed;
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
BaselineRuns::Tuned(
    const std::string& name,
    const std::function<std::variant<Plan, Infeasible>(const SearchOptions&)>& choose,
    const SearchSpace& space,
    RunStore& runs,
    Duration limit) const
{
    // A school tunes with the analytical engine whatever the search runs with: limits are for
    // runs, and a school that was cut short would have another plan.
    SearchOptions tuning = m_search;
    tuning.run.limits = {};
    SetBounds(tuning, BoundOf::Analytical);
    ProgressLine line(name, limit);
    tuning.progress = [&line](const Progress& progress) { line.Show(progress); };
    const StopAfter timer(limit, *m_search.stop);
    tuning.stop = &timer.Flag();
    std::variant<Plan, Infeasible> chosen;
    try
    {
        chosen = choose(tuning);
    }
    catch (const Interrupted&)
    {
        if (*m_search.stop)
        {
            throw;
        }
        return None(name, {kLate, name + " is not found in " + ToString(limit)});
    }
    if (const auto* none = std::get_if<Infeasible>(&chosen))
    {
        return None(name, *none);
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
        return None(name, RefusalOf(error));
    }
    return answer;
}

} // namespace scaleacross
