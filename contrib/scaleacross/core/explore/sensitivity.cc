// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/sensitivity.h"

#include "core/base/errors.h"
#include "core/topology/event-target.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace scaleacross
{

namespace
{

/// A scenario with a plan of which only what the search decides is taken: other words of its
/// network are the study's, and may be what has been changed.
Scenario
WithChoicesOf(const Study& study, const Plan& plan)
{
    Scenario scenario = study.scenario;
    Plan chosen{plan.parallel, scenario.network};
    for (const SearchAxis& axis : study.search)
    {
        const PlanField* field = FindPlanField(axis.key);
        field->set(chosen, field->get(plan));
    }
    scenario.Job().plan = chosen.parallel;
    scenario.network = chosen.network;
    return scenario;
}

/// None where it cannot run, or the engine does not take it.
std::optional<Duration>
TimeOf(const Engine& engine, const Scenario& scenario, const RunOptions& options)
{
    try
    {
        const Evaluation evaluation = Evaluate(engine, scenario, options);
        const auto* report = std::get_if<RunReport>(&evaluation);
        return report != nullptr ? std::optional<Duration>(report->iterationTime) : std::nullopt;
    }
    catch (const ConfigError&)
    {
        return std::nullopt;
    }
}

} // namespace

std::optional<double>
SensitivityEnd::Change(Duration base) const
{
    return best ? std::optional<double>(best->S() / base.S() - 1) : std::nullopt;
}

std::optional<double>
Sensitivity::Effect(Duration base) const
{
    std::optional<double> effect;
    for (const SensitivityEnd* end : {&low, &high})
    {
        if (const auto change = end->Change(base))
        {
            effect = std::max(effect.value_or(0), std::fabs(*change));
        }
    }
    return effect;
}

SensitivityProbe::SensitivityProbe(const Study& study,
                                   const Ranked& base,
                                   const Engine& engine,
                                   const SearchOptions& options)
    : m_study(study),
      m_base(base),
      m_engine(engine),
      m_options(options)
{
}

SensitivityEnd
SensitivityProbe::At(const StudyInput& input, double factor) const
{
    SensitivityEnd end;
    Study study = m_study;
    try
    {
        end.value = input.scale(study.scenario, factor);
        study.scenario.Validate();
        CheckEventTargets(study.scenario);
    }
    catch (const ConfigError& error)
    {
        end.refused = true;
        end.reason = error.Problem();
        return end;
    }
    end.kept = TimeOf(m_engine, WithChoicesOf(study, m_base.plan), m_options.run);
    const BestPlan best = FindBestPlan(study, m_engine, m_options);
    if (!best.plan)
    {
        end.reason = "no plan can run: " + best.reason;
        return end;
    }
    end.best = best.plan->report.iterationTime;
    end.label = best.label;
    end.changes = !end.kept || *end.best < *end.kept;
    end.scenario = SearchSpace(study).With(best.plan->plan);
    return end;
}

Sensitivity
SensitivityProbe::Of(const StudyInput& input, double by) const
{
    return {input.key, input.value, At(input, 1 - by), At(input, 1 + by)};
}

void
SortByEffect(std::vector<Sensitivity>& all, Duration base)
{
    const auto rank = [base](const Sensitivity& one) {
        const auto stops = [](const SensitivityEnd& end) { return !end.refused && !end.best; };
        return stops(one.low) || stops(one.high) ? std::numeric_limits<double>::infinity()
                                                 : one.Effect(base).value_or(-1);
    };
    std::stable_sort(all.begin(), all.end(), [&rank](const Sensitivity& a, const Sensitivity& b) {
        return rank(a) > rank(b);
    });
}

} // namespace scaleacross
