// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"

#include "cli/question.h"
#include "cli/show/progress-line.h"
#include "cli/workers/stop-after.h"
#include "cli/workers/time-limit.h"
#include "core/base/parse-at.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"
#include "core/explore/baselines/choose-baseline.h"
#include "core/explore/model-error.h"
#include "core/explore/same-work.h"
#include "core/store/search-store.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unistd.h>

namespace scaleacross
{

namespace
{

/// Finds the baselines of a search: stored ones as they are, others by tuning.
class BaselineRuns
{
  public:
    BaselineRuns(const Study& study,
                 const SearchSpace& space,
                 const Engine& engine,
                 const SearchOptions& search,
                 Duration limit)
        : m_study(study),
          m_space(space),
          m_engine(engine),
          m_search(search),
          m_limit(limit)
    {
    }

    /// The plan of a school.
    BaselineAnswer School(const std::string& name, SearchStore& store)
    {
        const auto stored = Stored(name, store);
        if (stored && stored->plan)
        {
            m_chosen.emplace(name, *stored->plan);
        }
        return stored ? *stored : Tuned(name, m_space, store, store.Runs());
    }

    /// The best plan of a reference on its own cluster, of whose runs the last argument is given
    /// the store. With one building that is the study's, and `best` its best plan, if it is known.
    BaselineAnswer Reference(const std::string& name,
                             const std::vector<Ranked>& best,
                             SearchStore& store,
                             const std::function<RunStore(const Scenario&)>& runsOf)
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
        return Tuned(name, SearchSpace(there), store, runs);
    }

  private:
    /// What this search has found before, if that still answers.
    std::optional<BaselineAnswer> Stored(const std::string& name, SearchStore& store) const
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

    static BaselineAnswer None(const std::string& name, const Infeasible& why, SearchStore& store)
    {
        store.PutBaseline(name, why);
        return {name, std::nullopt, "", why};
    }

    /// Its run from the database if it is there. `space` and `runs` are of the cluster on which it
    /// runs.
    BaselineAnswer Tuned(const std::string& name,
                         const SearchSpace& space,
                         SearchStore& store,
                         RunStore& runs)
    {
        // A school tunes with the analytical engine whatever the search runs with: limits are for
        // runs, and a school that was cut short would have another plan.
        SearchOptions tuning = m_search;
        tuning.run.limits = {};
        SetBounds(tuning, BoundOf::Analytical);
        ProgressLine line(name);
        tuning.progress = [&line](const Progress& progress) { line.Show(progress); };
        const StopAfter timer(m_limit, *m_search.stop);
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
            const Infeasible late{"time", name + " is not found in " + ToString(m_limit)};
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
        answer.evaluation = stored ? stored->evaluation
                                   : Evaluate(m_engine, space.With(*answer.plan), m_search.run);
        store.PutBaseline(name, runs, *answer.plan, answer.label, answer.evaluation);
        return answer;
    }

    const Study& m_study;
    const SearchSpace& m_space;
    const Engine& m_engine;
    const SearchOptions& m_search;
    Duration m_limit; //!< for each to be found in
    ChosenBaselines m_chosen;
};

Contender
ContenderOf(const SearchSpace& space, const Plan& plan, const RunReport& report)
{
    return {space.LabelOf(plan), plan, report};
}

BaselineResult
ResultOf(const BaselineAnswer& answer)
{
    BaselineResult result;
    result.name = answer.name;
    result.tunes = Baseline(answer.name)->tunes;
    result.untouched = Baseline(answer.name)->untouched;
    if (const auto* report = std::get_if<RunReport>(&answer.evaluation))
    {
        result.contender = Contender{answer.label, *answer.plan, *report};
    }
    else if (const auto* infeasible = std::get_if<Infeasible>(&answer.evaluation))
    {
        result.reason = *infeasible;
    }
    else
    {
        const auto& failure = std::get<Failure>(answer.evaluation);
        result.reason = {failure.reason, failure.detail};
    }
    return result;
}

TimedPlan
Timed(const Ranked& ranked)
{
    return {ranked.plan, ranked.report.iterationTime};
}

/// Each plan's probability to be the fastest; plans that do the same work count once.
std::vector<double>
ProbabilitiesOf(const std::vector<Ranked>& plans, const std::vector<size_t>& firsts)
{
    std::vector<TimedPlan> timed;
    std::map<size_t, size_t> places; // of a first plan among these
    for (size_t i = 0; i < plans.size(); i++)
    {
        if (firsts[i] == i)
        {
            places[i] = timed.size();
            timed.push_back(Timed(plans[i]));
        }
    }
    const auto ofFirsts = ProbabilitiesBest(timed);
    std::vector<double> probabilities;
    for (const size_t first : firsts)
    {
        probabilities.push_back(ofFirsts[places.at(first)]);
    }
    return probabilities;
}

/// How sure every plan's place is. One plan that is kept says nothing of others that ran.
std::vector<PlanSureness>
SurenessOf(const SearchSpace& space, const Answer& answer, bool measured)
{
    const auto best = answer.search.board.Best();
    const Frontier& ran = answer.search.counts;
    const bool compared =
        best.size() > 1 || (ran.evaluated + ran.RuledOut() == 1 && !answer.outOfTime);
    const auto firsts =
        FirstsOfSameWork(best, [&space](const Plan& plan) { return space.With(plan); });
    const auto probabilities =
        measured && compared ? ProbabilitiesOf(best, firsts) : std::vector<double>();
    std::vector<PlanSureness> plans(best.size());
    for (size_t i = 0; i < best.size(); i++)
    {
        plans[i].sameAs = firsts[i] != i ? firsts[i] + 1 : 0;
        if (!probabilities.empty())
        {
            plans[i].best = probabilities[i];
        }
        if (measured && i > 0)
        {
            plans[i].slower = ProbabilityFaster(Timed(best.front()), Timed(best[i]));
        }
    }
    return plans;
}

/// Of the baselines that ran, but for one whose plan is the best.
std::map<std::string, double>
BaselinesSlower(const Answer& answer)
{
    const Ranked winner = answer.search.board.Best().front();
    std::map<std::string, double> slower;
    for (const auto& baseline : answer.baselines)
    {
        const auto* report = std::get_if<RunReport>(&baseline.evaluation);
        if (report != nullptr && CanonicalText(*baseline.plan) != winner.text)
        {
            slower[baseline.name] =
                ProbabilityFaster(Timed(winner), {*baseline.plan, report->iterationTime});
        }
    }
    return slower;
}

/// The next best plan of other work, and how many cannot be told from the winner.
void
CompareWithWinner(const SearchSpace& space, const Answer& answer, ExplanationInput& input)
{
    const auto best = answer.search.board.Best();
    const Ranked& winner = best.front();
    for (size_t i = 1; i < best.size(); i++)
    {
        if (answer.conclusion.plans[i].sameAs == 1)
        {
            input.samePlans.push_back(space.LabelOf(best[i].plan));
            continue;
        }
        if (!input.runnerUp)
        {
            input.runnerUp = ContenderOf(space, best[i].plan, best[i].report);
        }
        input.closePlans += AreToldApart(Timed(winner), Timed(best[i])) ? 0 : 1;
    }
    const Frontier& counts = answer.search.counts;
    // What was not kept is slower than the last that was, and may differ less.
    input.closePlansAtLeast =
        (best.size() < counts.evaluated + counts.RuledOut() || answer.outOfTime) &&
        best.back().report.iterationTime.S() < SureRatio() * winner.report.iterationTime.S();
}

ExplanationInput
InputOf(const Study& study, const SearchSpace& space, const Answer& answer)
{
    const auto best = answer.search.board.Best();
    const Ranked& winner = best.front();
    ExplanationInput input;
    input.winner = ContenderOf(space, winner.plan, winner.report);
    input.stages = FindStagePlaces(space.With(winner.plan));
    CompareWithWinner(space, answer, input);
    const auto ofEach = answer.search.board.BestOfEach(); // the winner's is the first
    if (ofEach.size() > 1)
    {
        input.otherCrossing = ContenderOf(space, ofEach[1].plan, ofEach[1].report);
    }
    for (const auto& value : space.ValuesOf("plan.crossing"))
    {
        const Crossing other = Crossing::Parse(value);
        if (other != winner.plan.parallel.crossing)
        {
            input.otherCrossings.push_back(other);
        }
    }
    // A plan that is kept alone is compared with none.
    input.probabilityBest = answer.conclusion.sure
                                ? answer.conclusion.plans.front().best.value_or(1)
                                : std::optional<double>();
    input.timeError = answer.conclusion.timeError;
    input.goals = answer.goals;
    for (const auto& baseline : answer.baselines)
    {
        input.baselines.push_back(ResultOf(baseline));
    }
    if (answer.oneSite)
    {
        input.oneSite = ResultOf(*answer.oneSite);
    }
    input.counts = answer.search.counts;
    input.undecided = answer.outOfTime ? answer.Undecided() : 0;
    input.engine = study.engines.front();
    input.buildings = static_cast<uint32_t>(study.scenario.cluster.buildings.size());
    return input;
}

/// Domain: there is a winner.
std::optional<double>
GapOf(const Answer& answer)
{
    const Ranked winner = answer.search.board.Best().front();
    return Gap(winner.report, answer.goals, answer.search.counts);
}

/// Domain: the search has ended, if by its limit, and has a winner.
void
Conclude(const Study& study, const SearchSpace& space, Answer& answer)
{
    const bool measured = AreTimesMeasured(study, answer.goals);
    const Duration best = answer.search.board.Best().front().report.iterationTime;
    Conclusion& conclusion = answer.conclusion;
    conclusion.plans = SurenessOf(space, answer, measured);
    if (measured)
    {
        conclusion.sure = kSure;
        conclusion.baselines = BaselinesSlower(answer);
        if (const TimeError* error = FindTimeError(study.scenario, best))
        {
            conclusion.timeError = *error;
        }
    }
    const ExplanationInput input = InputOf(study, space, answer);
    conclusion.gap = GapOf(answer);
    conclusion.explanation = Explain(input);
    if (answer.goals.objective->followsTime)
    {
        answer.boundSlack = BoundSlack(best, input.counts.bound);
    }
}

SearchOptions
SearchOptionsOf(const Study& study, const ExploreOptions& options)
{
    SearchOptions search;
    search.jobs = JobsOf(options.common);
    search.keep = options.keep;
    search.goals = GoalsOf(options, study);
    search.shard = options.shard.value_or(Shard{});
    search.run.seed = study.seed;
    search.run.limits = LimitsOf(options.worker);
    search.process = static_cast<uint32_t>(getpid());
    SetBounds(search,
              study.engines.front() == AnalyticalEngine().Name() ? BoundOf::Analytical
                                                                 : BoundOf::EveryEngine);
    return search;
}

std::unique_ptr<Search>
MethodOf(const ExploreOptions& options)
{
    return options.exhaustive ? std::unique_ptr<Search>(std::make_unique<ExhaustiveSearch>())
                              : std::make_unique<BestFirstSearch>();
}

void
ExpectPrices(const std::string& option, Objective objective, const Study& study)
{
    if (objective->needsPrices && !study.prices)
    {
        throw ConfigError(option + " " + objective.Name(),
                          "study " + study.name + " has no prices",
                          "a study with prices",
                          "write prices: {gpu_hour: 2.5} into it, or give --set "
                          "prices.gpu_hour=2.5; in any one currency");
    }
}

} // namespace

Goals
GoalsOf(const ExploreOptions& options, const Study& study)
{
    Goals goals;
    goals.rates = RatesOf(study);
    if (!options.objective.empty())
    {
        goals.objective =
            ParseAt("--objective", [&options] { return Objective(options.objective); });
        ExpectPrices("--objective", goals.objective, study);
    }
    if (!options.pareto.empty())
    {
        goals.front = ParseAt("--pareto", [&options] { return ParseFront(options.pareto); });
        for (const Objective& objective : goals.front.objectives)
        {
            ExpectPrices("--pareto", objective, study);
        }
    }
    if (!options.gap.empty())
    {
        goals.gap = ParseAt("--gap", [&] { return ParseFraction(options.gap, 0, 1); });
    }
    return goals;
}

void
ExpectExplorable(const ExploreOptions& options, const Study& study)
{
    GoalsOf(options, study);
    LimitsOf(options.worker);
    TimeLimitOf(options.stopAfter, "--stop-after");
    if (options.robust)
    {
        ExpectAnalytical(study);
    }
    if (options.robust && !study.uncertain)
    {
        throw ConfigError("--robust",
                          "study " + study.name + " leaves nothing uncertain",
                          "a study with uncertain figures of its spans",
                          "write uncertain: {distance: {values: [30km, 60km], shares: [0.9, 0.1]}} "
                          "into it, or give --set 'uncertain.distance.values=[30km,60km]'");
    }
}

bool
AreTimesMeasured(const Study& study, const Goals& goals)
{
    return study.engines.front() == kMeasuredEngine && goals.objective->followsTime;
}

std::optional<double>
Answer::SpreadOverhead() const
{
    const auto* report = oneSite ? std::get_if<RunReport>(&oneSite->evaluation) : nullptr;
    if (report == nullptr || !HasWinner() || !goals.objective->followsTime)
    {
        return std::nullopt;
    }
    return RelativeExcess(report->iterationTime, search.board.Best().front().report.iterationTime);
}

Answer
ExploreStudy(const Study& study,
             const SearchSpace& space,
             const ExploreOptions& options,
             Database& database,
             const std::atomic<bool>& stop)
{
    const auto start = std::chrono::steady_clock::now();
    const Duration limit = TimeLimitOf(options.stopAfter, "--stop-after");
    const StopAfter timer(limit, stop);
    const auto engineFor = [&study](const std::atomic<bool>& until) {
        return MakeSweepEngine(study.engines.front(), "engines", until);
    };
    const auto engine = engineFor(stop);
    SearchOptions search = SearchOptionsOf(study, options);
    search.stop = &stop;
    SearchOptions own = search;
    own.stop = &timer.Flag();
    ProgressLine line("explore");
    own.progress = [&line](const Progress& progress) { line.Show(progress); };

    const auto method = MethodOf(options);
    SearchStore store(database,
                      MakeRunSetting(study.scenario, *engine, search.run),
                      space,
                      {study.name,
                       method->Name(),
                       options.keep,
                       search.goals,
                       search.shard,
                       ChangesText(options.common)},
                      options.worker.failures);
    BaselineRuns runs(study, space, *engine, search, limit);
    const auto runsOf = [&](const Scenario& scenario) {
        return RunStore(database,
                        MakeRunSetting(scenario, *engine, search.run),
                        options.worker.failures);
    };
    Answer answer;
    answer.database = database.Path();
    answer.plans = space.Size();
    answer.goals = search.goals;
    answer.search = method->Run(space, *engineFor(timer.Flag()), own, store);
    answer.outOfTime = answer.search.interrupted && !stop;
    answer.search.interrupted = answer.search.interrupted && stop;
    const auto finish = [&answer, start] {
        const auto elapsed = std::chrono::steady_clock::now() - start;
        answer.seconds = std::chrono::duration<double>(elapsed).count();
        return answer;
    };
    if (options.shard)
    {
        return finish();
    }
    try
    {
        for (const auto& name : study.baselines)
        {
            if (answer.search.interrupted)
            {
                break;
            }
            if (IsReference(name))
            {
                const auto best =
                    answer.outOfTime ? std::vector<Ranked>() : answer.search.board.Best();
                answer.oneSite = runs.Reference(name, best, store, runsOf);
            }
            else
            {
                answer.baselines.push_back(runs.School(name, store));
            }
        }
    }
    catch (const Interrupted&)
    {
        answer.search.interrupted = true;
    }
    if (answer.search.interrupted)
    {
        answer.conclusion.gap = answer.HasWinner() ? GapOf(answer) : std::nullopt;
        return finish();
    }
    if (answer.HasWinner())
    {
        Conclude(study, space, answer);
    }
    else
    {
        answer.conclusion.explanation = {answer.outOfTime ? "No plan has run in this time."
                                                          : "No plan of this space can run."};
    }
    if (!answer.outOfTime)
    {
        store.Conclude(answer.conclusion);
    }
    return finish();
}

} // namespace scaleacross
