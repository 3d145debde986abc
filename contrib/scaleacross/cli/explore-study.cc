// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"

#include "cli/baseline-runs.h"
#include "cli/conclude.h"
#include "cli/engines.h"
#include "cli/question.h"
#include "cli/show/progress-line.h"
#include "cli/study-settings.h"
#include "cli/workers/stop-after.h"
#include "cli/workers/time-budget.h"
#include "cli/workers/time-limit.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"
#include "core/explore/descent.h"
#include "core/explore/held-keys.h"
#include "core/explore/model-error.h"
#include "core/store/search-store.h"

#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

namespace scaleacross
{

namespace
{

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
    if (FindEngine(study.engines.front(), "engines").row->ranks)
    {
        SetNoBounds(search);
        return search;
    }
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

SearchIdentity
IdentityOf(const Study& study, const ExploreOptions& options, const SearchOptions& search)
{
    return {study.name,
            MethodOf(options)->Name(),
            options.keep,
            search.goals,
            search.shard,
            study.settings.empty() ? "" : SettingsJson(study.settings).dump(),
            HeldText(study)};
}

/// What parts of --stop-after schools have together, of what they leave the search with its descent
/// if there is a reference to be found behind it, and of that the descent.
constexpr double kSchoolsPart = 1.0 / 3;
constexpr double kSearchPart = 0.75;
constexpr double kDescentPart = 2.0 / 3;

/// Finds the plans of a study's schools in this time: each has its part of what those before it
/// have left. Those before one that is interrupted are there.
void
FindSchools(std::vector<BaselineAnswer>& found,
            const Study& study,
            BaselineRuns& runs,
            SearchStore& store,
            Duration limit)
{
    const TimeBudget budget(limit);
    std::vector<std::string> names;
    std::copy_if(study.baselines.begin(),
                 study.baselines.end(),
                 std::back_inserter(names),
                 [](const std::string& name) { return !IsReference(name); });
    for (size_t i = 0; i < names.size(); i++)
    {
        const double part = 1.0 / static_cast<double>(names.size() - i);
        found.push_back(runs.School(names[i], store, budget.Part(part)));
    }
}

/// Gives schools that were not found in their part of the time what a search has left of it that
/// was done earlier.
void
FindLateSchools(Answer& answer, BaselineRuns& runs, SearchStore& store, const TimeBudget& budget)
{
    for (BaselineAnswer& school : answer.baselines)
    {
        const auto* none = std::get_if<Infeasible>(&school.evaluation);
        if (none != nullptr && none->reason == BaselineRuns::kLate && budget.IsLeft())
        {
            school = runs.School(school.name, store, budget.Part(1));
        }
    }
}

/// The plans of baselines that have run.
std::vector<Ranked>
RankedOf(const std::vector<BaselineAnswer>& baselines)
{
    std::vector<Ranked> ranked;
    for (const BaselineAnswer& baseline : baselines)
    {
        if (const auto* report = std::get_if<RunReport>(&baseline.evaluation))
        {
            ranked.push_back({0, *baseline.plan, CanonicalText(*baseline.plan), *report});
        }
    }
    return ranked;
}

/// Where a descent begins: at the plans of baselines, and at what others had found by their time.
std::vector<Plan>
StartsOf(const std::vector<BaselineAnswer>& baselines, const BaselineRuns& runs)
{
    std::vector<Plan> starts = runs.SoFar();
    for (const BaselineAnswer& baseline : baselines)
    {
        if (baseline.plan)
        {
            starts.push_back(*baseline.plan);
        }
    }
    return starts;
}

/// Why a search has no answer.
std::string
NoPlanText(const Answer& answer)
{
    const auto& failed = answer.search.counts.failed;
    if (answer.outOfTime)
    {
        return "No plan has run in this time.";
    }
    if (failed.empty())
    {
        return "No plan of this space can run.";
    }
    uint64_t sum = 0;
    for (const auto& entry : failed)
    {
        sum += entry.second.count;
    }
    const bool limited = failed.count("timeout") + failed.count("memory") > 0;
    return fmt::format("No plan has a result: {} of those that could run {} failed ({}).{}",
                       sum,
                       sum == 1 ? "has" : "have",
                       CountsText(failed),
                       limited ? " Higher limits (--time-limit, --memory-limit) may do." : "");
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
    if (!options.restGap.empty())
    {
        goals.restGap = ParseAt("--rest-gap", [&] { return ParseFraction(options.restGap, 0, 1); });
    }
    else if (!options.exhaustive)
    {
        goals.restGap = kUsualRestGap;
    }
    return goals;
}

void
ExpectOwnRanking(const Study& study)
{
    const std::string& first = study.engines.front();
    if (IsForeign(first) && !FindEngine(first, "engines").row->ranks)
    {
        throw ConfigError(study.enginesAt.front(),
                          "a search ranks by its first engine, and " + Quoted(first) +
                              " keeps to none of its bounds",
                          AnyOf(OwnEngines()) + " as the first engine, or corrected:FILE.json",
                          "write it behind another one: engines: [analytical, ...]");
    }
}

void
ExpectExplorable(const ExploreOptions& options, const Study& study)
{
    ExpectOwnRanking(study);
    GoalsOf(options, study);
    LimitsOf(options.worker);
    TimeLimitOf(options.stopAfter, "--stop-after");
    TimeLimitOf(options.progress, "--progress");
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

std::string
SearchNameOf(const Study& study, const SearchSpace& space, const ExploreOptions& options)
{
    const std::atomic<bool> stop{false};
    const SearchOptions search = SearchOptionsOf(study, options);
    const auto engine = MakeSweepEngine(study.engines.front(), "engines", stop);
    return SearchHash(MakeRunSetting(study.scenario, *engine, search.run),
                      space,
                      IdentityOf(study, options, search));
}

Answer
ExploreStudy(const Study& study,
             const SearchSpace& space,
             const ExploreOptions& options,
             Database& database,
             const std::atomic<bool>& stop)
{
    const TimeBudget budget(TimeLimitOf(options.stopAfter, "--stop-after"));
    const auto engineFor = [&study](const std::atomic<bool>& until) {
        return MakeSweepEngine(study.engines.front(), "engines", until);
    };
    const auto engine = engineFor(stop);
    SearchOptions search = SearchOptionsOf(study, options);
    search.stop = &stop;
    const auto method = MethodOf(options);
    SearchStore store(database,
                      MakeRunSetting(study.scenario, *engine, search.run),
                      space,
                      IdentityOf(study, options, search),
                      options.worker.failures);
    const auto runsOf = [&](const Scenario& scenario) {
        return RunStore(database,
                        MakeRunSetting(scenario, *engine, search.run),
                        options.worker.failures);
    };
    Answer answer;
    answer.database = database.Path();
    answer.plans = space.Size();
    answer.goals = search.goals;
    const auto finish = [&answer, &store, &budget] {
        answer.seconds = budget.Spent().S();
        answer.id = store.Id();
        return answer;
    };
    bool searched = false;
    BaselineRuns runs(study, space, *engine, search);
    std::vector<Ranked> ahead; // of the search, which then takes it over
    uint64_t aheadRuns = 0;
    const Frontier before = store.KnownBefore();
    const auto showIn = [&before](ProgressLine& line) {
        line.GoOnFrom(before.DecidedPositions(), before.evaluated);
        return [&line](const Progress& progress) { line.Show(progress); };
    };
    const std::string name = "explore" + (options.turn.empty() ? "" : " " + options.turn);
    const auto runAhead = [&](Duration limit, const auto& run) {
        const StopAfter timer(limit, stop);
        SearchOptions own = search;
        own.stop = &timer.Flag();
        ProgressLine line(name, limit);
        own.progress = showIn(line);
        const DescentResult result = run(*engineFor(timer.Flag()), own);
        ahead.insert(ahead.end(), result.ran.begin(), result.ran.end());
        aheadRuns += result.engineRuns;
    };
    const auto findFirst = [&](const Engine& by, const SearchOptions& own) {
        return FindFirst(space, by, own, store);
    };
    const auto descend = [&](const Engine& by, const SearchOptions& own) {
        return Descend(space, by, own, StartsOf(answer.baselines, runs), store);
    };
    const auto searchFor = [&](Duration limit) {
        const StopAfter timer(limit, stop);
        SearchOptions own = search;
        own.stop = &timer.Flag();
        own.offered = RankedOf(answer.baselines);
        own.offered.insert(own.offered.end(), ahead.begin(), ahead.end());
        ProgressLine line(name, limit);
        own.progress = showIn(line);
        answer.search = method->Run(space, *engineFor(timer.Flag()), own, store);
        answer.search.engineRuns += aheadRuns;
        searched = true;
        answer.outOfTime = answer.search.interrupted && !stop;
        answer.search.interrupted = answer.search.interrupted && stop;
    };
    const auto conclude = [&] {
        // An answer that says less of the same search, as a point of a sweep does, replaces none.
        if (store.SaysMoreThan(study.baselines))
        {
            return;
        }
        if (const auto soFar = answer.EndedSoFar())
        {
            store.ConcludeSoFar(answer.conclusion, *soFar, answer.search.board);
        }
        else
        {
            store.Conclude(answer.conclusion);
        }
    };
    if (options.shard)
    {
        searchFor(Duration::Max());
        if (answer.search.interrupted)
        {
            conclude();
        }
        return finish();
    }
    const auto reference =
        std::find_if(study.baselines.begin(), study.baselines.end(), IsReference);
    try
    {
        if (budget.IsLimited())
        {
            runAhead(budget.Part(1), findFirst);
            FindSchools(answer.baselines, study, runs, store, budget.Part(kSchoolsPart));
            const Duration rest = budget.Part(reference == study.baselines.end() ? 1 : kSearchPart);
            const TimeBudget both(rest);
            runAhead(both.Part(kDescentPart), descend);
            searchFor(both.Part(1));
            if (!answer.search.interrupted && !answer.outOfTime)
            {
                FindLateSchools(answer, runs, store, budget);
            }
        }
        else
        {
            searchFor(Duration::Max());
            if (!answer.search.interrupted)
            {
                FindSchools(answer.baselines, study, runs, store, Duration::Max());
            }
        }
        if (reference != study.baselines.end() && !answer.search.interrupted)
        {
            const auto best = answer.outOfTime ? std::vector<Ranked>() : answer.search.board.Best();
            answer.oneSite = runs.Reference(*reference, best, store, runsOf, budget.Part(1));
        }
    }
    catch (const Interrupted&)
    {
        if (!searched)
        {
            searchFor(Duration::Max()); // ends at once, with what has run before
        }
        answer.search.interrupted = true;
    }
    if (answer.search.interrupted && answer.HasWinner())
    {
        ConcludeGap(study, space, answer);
    }
    else if (answer.HasWinner())
    {
        Conclude(study, space, answer);
    }
    else if (!answer.search.interrupted)
    {
        answer.conclusion.explanation = {{"best", NoPlanText(answer)}};
    }
    conclude();
    return finish();
}

} // namespace scaleacross
