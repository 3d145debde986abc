// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/choose-baseline.h"

#include "core/explore/fit-check.h"
#include "core/explore/no-sink.h"
#include "core/explore/search-space.h"

#include <optional>

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

/// Plans that are none of the school are no part of what it chooses among, as those that mean the
/// same as another are not: they are counted with these, and are no reason why there is none.
const Infeasible&
OfNoSchool()
{
    static const Infeasible other{kDuplicate, "it is no plan of the school"};
    return other;
}

/// Leaves out the plans that are none of the school, families of them at a look.
SearchOptions
OnlyOf(const BaselineFacts& school, SearchOptions options)
{
    if (school.isOf == nullptr)
    {
        return options;
    }
    const auto isOf = school.isOf;
    options.filter = [isOf, filter = options.filter](
                         const Scenario& scenario,
                         const IsWorthMore& isWorthMore) -> std::variant<ClosedForm, Infeasible> {
        return isOf(scenario.Job().plan) ? filter(scenario, isWorthMore) : OfNoSchool();
    };
    if (options.glance)
    {
        options.glance = [isOf, glance = options.glance](const SearchSpace& space) -> Glance {
            return [isOf, look = glance(space)](
                       const Scenario& scenario,
                       PlanDepth depth,
                       const IsWorthMore& isWorthMore) -> std::variant<ClosedForm, Infeasible> {
                // Families of degrees alone have plans of every order.
                if (depth != PlanDepth::Degrees && !isOf(scenario.Job().plan))
                {
                    return OfNoSchool();
                }
                return look(scenario, depth, isWorthMore);
            };
        };
    }
    return options;
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
    if (std::holds_alternative<Infeasible>(options.filter(scenario, Always)))
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

/// The options of a search for the fastest plan alone: baselines plan for time.
SearchOptions
ForTheFastest(SearchOptions options)
{
    options.keep = 1;
    options.goals = {};
    options.keeps = Leaderboard::Keeps::Best;
    return options;
}

/// The fastest plan of one space, or why it has none.
std::variant<Ranked, Infeasible>
FastestIn(Baseline baseline,
          const Study& within,
          const Engine& engine,
          const SearchOptions& options)
{
    NoSink sink;
    const auto result = BestFirstSearch().Run(SearchSpace(within), engine, options, sink);
    const auto best = result.board.Best();
    if (result.interrupted)
    {
        throw ChoiceInterrupted(best.empty() ? std::nullopt
                                             : std::optional<Plan>(best.front().plan));
    }
    if (best.empty())
    {
        return WhyNone(baseline.Name(), result.counts);
    }
    return best.front();
}

/// The fastest plan of the spaces of a school for a study that is where the school begins.
std::variant<Plan, Infeasible>
Fastest(Baseline school, const Study& study, const Engine& engine, const SearchOptions& options)
{
    SearchOptions own = ForTheFastest(options);
    own.filter = school->recomputesLeast ? LeastRecomputation(options.filter) : own.filter;
    own = OnlyOf(*school, std::move(own));
    std::optional<Infeasible> why;
    for (Study& within : school->spaces(study))
    {
        within.scenario.Job().workload.memoryLimit = true; // schools plan with what fits
        const auto found = FastestIn(school, within, engine, own);
        if (const auto* best = std::get_if<Ranked>(&found))
        {
            return school->prefersFirst ? WithFirstValues(within, *best, engine, own) : best->plan;
        }
        if (!why)
        {
            why = std::get<Infeasible>(found);
        }
    }
    return why.value_or(Infeasible());
}

} // namespace

std::variant<Plan, Infeasible>
ChooseOnSite(Baseline reference,
             const Study& site,
             const Engine& engine,
             const SearchOptions& options)
{
    const auto found = FastestIn(reference, site, engine, ForTheFastest(options));
    if (const auto* none = std::get_if<Infeasible>(&found))
    {
        return *none;
    }
    return std::get<Ranked>(found).plan;
}

Study
BeginningAt(const Plan& plan, const Study& study)
{
    Study at = study;
    at.scenario.Job().plan = plan.parallel;
    at.scenario.network = plan.network;
    at.dpGiven = false;
    return at;
}

const std::variant<Plan, Infeasible>&
ChooseBaseline(Baseline baseline,
               const Study& study,
               const Engine& engine,
               const SearchOptions& options,
               ChosenBaselines& chosen)
{
    const auto known = chosen.find(baseline.Name());
    if (known != chosen.end())
    {
        return known->second;
    }
    std::variant<Plan, Infeasible> found;
    if (!baseline->beginsAtAnother)
    {
        found = Fastest(baseline, study, engine, options);
    }
    else
    {
        const auto first =
            Baseline::First([](const BaselineFacts& row) { return row.othersBegin; });
        const auto& begin = ChooseBaseline(first, study, engine, options, chosen);
        if (const auto* none = std::get_if<Infeasible>(&begin))
        {
            found = Infeasible{none->reason,
                               baseline.Name() + " begins at the plan of " + first.Name() +
                                   ", but " + none->detail};
        }
        else
        {
            found = Fastest(baseline, BeginningAt(std::get<Plan>(begin), study), engine, options);
        }
    }
    return chosen.emplace(baseline.Name(), std::move(found)).first->second;
}

std::variant<Plan, Infeasible>
ChooseBaseline(Baseline baseline,
               const Study& study,
               const Engine& engine,
               const SearchOptions& options)
{
    ChosenBaselines chosen;
    return ChooseBaseline(baseline, study, engine, options, chosen);
}

} // namespace scaleacross
