// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"

#include "cli/progress-line.h"
#include "core/explore/baselines.h"
#include "core/store/search-store.h"

#include <algorithm>
#include <chrono>

namespace scaleacross
{

namespace
{

/// The rule's plan, from the database if it has been run before.
BaselineAnswer
RunBaseline(const std::string& name,
            const Study& study,
            const SearchSpace& space,
            const Engine& engine,
            const RunOptions& run,
            SearchStore& store)
{
    BaselineAnswer answer;
    answer.name = name;
    const auto chosen = FindBaseline(name).choose(study, CheckFit);
    if (const auto* none = std::get_if<Infeasible>(&chosen))
    {
        answer.evaluation = *none;
        store.PutBaseline(name, *none);
        return answer;
    }
    answer.plan = std::get<Plan>(chosen);
    const auto stored = store.Runs().Load(*answer.plan);
    answer.evaluation =
        stored ? stored->evaluation : Evaluate(engine, space.With(*answer.plan), run);
    store.PutBaseline(name, *answer.plan, answer.evaluation);
    return answer;
}

Contender
ContenderOf(const SearchSpace& space, const Plan& plan, const RunReport& report)
{
    return {space.LabelOf(plan), plan.parallel.crossing, report};
}

BaselineResult
ResultOf(const SearchSpace& space, const BaselineAnswer& answer)
{
    BaselineResult result;
    result.name = answer.name;
    if (const auto* report = std::get_if<RunReport>(&answer.evaluation))
    {
        result.contender = ContenderOf(space, *answer.plan, *report);
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

ExplanationInput
InputOf(const Study& study, const SearchSpace& space, const Answer& answer)
{
    const auto best = answer.search.board.Best();
    const Ranked& winner = best.front();
    ExplanationInput input;
    input.winner = ContenderOf(space, winner.plan, winner.report);
    if (best.size() > 1)
    {
        input.runnerUp = ContenderOf(space, best[1].plan, best[1].report);
    }
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
    const auto close = [&winner](const Ranked& ranked) {
        return RelativeExcess(winner.report.iterationTime, ranked.report.iterationTime) <=
               kModelError;
    };
    input.closePlans = static_cast<uint64_t>(std::count_if(best.begin() + 1, best.end(), close));
    input.closePlansAtLeast = close(best.back()) && best.size() < answer.search.counts.evaluated;
    for (const auto& baseline : answer.baselines)
    {
        input.baselines.push_back(ResultOf(space, baseline));
    }
    input.bound = answer.search.counts.bound;
    const auto& buildings = study.scenario.cluster.buildings;
    input.buildings = static_cast<uint32_t>(buildings.size());
    input.usableMemory = buildings.front().gpu.UsableHbm();
    for (const auto& building : buildings)
    {
        input.usableMemory = std::min(input.usableMemory, building.gpu.UsableHbm());
    }
    return input;
}

} // namespace

Answer
ExploreStudy(const Study& study,
             const SearchSpace& space,
             const ExploreOptions& options,
             Database& database,
             const std::atomic<bool>& stop)
{
    const auto start = std::chrono::steady_clock::now();
    const auto engine = MakeSweepEngine(study.engines.front(),
                                        "engines",
                                        options.common,
                                        LimitsOf(options.worker),
                                        stop);
    SearchOptions search;
    search.jobs = JobsOf(options.common);
    search.keep = options.keep;
    search.run.seed = study.seed;
    search.stop = &stop;
    ProgressLine line("explore");
    search.progress = [&line](const Progress& progress) { line.Show(progress); };

    const ExhaustiveSearch method;
    SearchStore store(database,
                      MakeRunSetting(study.scenario, *engine, search.run),
                      space,
                      {study.name, method.Name(), options.keep});
    Answer answer;
    answer.database = database.Path();
    answer.plans = space.Size();
    for (const auto& name : study.baselines)
    {
        answer.baselines.push_back(RunBaseline(name, study, space, *engine, search.run, store));
    }
    answer.search = method.Run(space, *engine, search, store);
    if (!answer.search.interrupted && answer.HasWinner())
    {
        const ExplanationInput input = InputOf(study, space, answer);
        answer.gap = Gap(input.winner.report.iterationTime, input.bound);
        answer.explanation = Explain(input);
        store.Conclude(*answer.gap, answer.explanation);
    }
    const auto elapsed = std::chrono::steady_clock::now() - start;
    answer.seconds = std::chrono::duration<double>(elapsed).count();
    return answer;
}

} // namespace scaleacross
