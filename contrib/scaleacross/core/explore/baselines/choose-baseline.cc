// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/choose-baseline.h"

#include "core/explore/fit-check.h"
#include "core/explore/no-sink.h"
#include "core/explore/search-space.h"

namespace scaleacross
{

namespace
{

/// Refuses plans that recompute more than they need to fit.
Filter
LeastRecomputation(const Filter& filter)
{
    return [filter](const Scenario& scenario,
                    const IsWorthMore& isWorthMore) -> std::variant<ClosedForm, Infeasible> {
        for (const Recompute less : {Recompute("none"), Recompute("selective")})
        {
            if (scenario.Job().plan.recompute == less)
            {
                break;
            }
            Scenario other = scenario;
            other.Job().plan.recompute = less;
            if (!CheckFit(other))
            {
                return Infeasible{"recompute", "it fits with recompute=" + ToString(less)};
            }
        }
        return filter(scenario, isWorthMore);
    };
}

/// Whether a plan of a space can run in this time.
bool
Takes(const SearchSpace& space,
      const Plan& plan,
      Duration time,
      const Engine& engine,
      const SearchOptions& options)
{
    const Scenario scenario = space.With(plan);
    const auto worthMore = [](const ClosedForm& /* form */) { return true; };
    if (std::holds_alternative<Infeasible>(options.filter(scenario, worthMore)))
    {
        return false;
    }
    const Evaluation evaluation = Evaluate(engine, scenario, options.run);
    const auto* report = std::get_if<RunReport>(&evaluation);
    return report != nullptr && report->iterationTime == time;
}

/// The plan with the first value of every axis of the study of which it takes no longer, one after
/// the other.
Plan
WithFirstValues(const Study& within,
                const Ranked& best,
                const Engine& engine,
                const SearchOptions& options)
{
    const SearchSpace space(within);
    Plan plan = best.plan;
    for (const auto& axis : within.search)
    {
        Plan other = plan;
        FindPlanField(axis.key)->set(other, axis.values.front());
        Study one = within; // to derive dp
        one.search.clear();
        one.scenario = space.With(other);
        other = SearchSpace(one).Fixed();
        if (CanonicalText(other) != CanonicalText(plan) &&
            Takes(space, other, best.report.iterationTime, engine, options))
        {
            plan = other;
        }
    }
    return plan;
}

Infeasible
WhyNone(const std::string& name, const Frontier& counts)
{
    const std::string none = name + " finds no plan that can run";
    const auto main = counts.MainRefusal();
    return main ? Infeasible{main->reason,
                             none + "; " + std::to_string(main->count.count) + " of " +
                                 std::to_string(counts.Decided()) +
                                 " are refused so: " + main->count.example}
                : Infeasible{"degrees", none};
}

} // namespace

std::variant<Plan, Infeasible>
ChooseBaseline(Baseline baseline,
               const Study& study,
               const Engine& engine,
               const SearchOptions& options)
{
    SearchOptions own = options;
    own.keep = 1;
    own.goals = {}; // schools plan for time
    own.keeps = Leaderboard::Keeps::Best;
    std::vector<Study> spaces;
    if (baseline->site != nullptr)
    {
        const auto site = baseline->site(study);
        if (const auto* none = std::get_if<Infeasible>(&site))
        {
            return *none;
        }
        spaces = {std::get<Study>(site)};
    }
    else
    {
        spaces = baseline->spaces(study);
        for (Study& within : spaces) // schools plan with what fits
        {
            within.scenario.Job().workload.memoryLimit = true;
        }
        own.filter = baseline->recomputesLeast ? LeastRecomputation(options.filter) : own.filter;
    }
    std::variant<Plan, Infeasible> chosen;
    bool first = true;
    for (const Study& within : spaces)
    {
        NoSink sink;
        const auto result = BestFirstSearch().Run(SearchSpace(within), engine, own, sink);
        if (result.interrupted)
        {
            throw Interrupted();
        }
        const auto best = result.board.Best();
        if (!best.empty())
        {
            return baseline->prefersFirst ? WithFirstValues(within, best.front(), engine, own)
                                          : best.front().plan;
        }
        if (first)
        {
            chosen = WhyNone(baseline.Name(), result.counts);
        }
        first = false;
    }
    return chosen;
}

} // namespace scaleacross
