// SPDX-License-Identifier: GPL-2.0-only

#include "cli/conclude.h"

#include "cli/warnings.h"
#include "core/explore/baselines/baseline.h"
#include "core/explore/held-keys.h"
#include "core/explore/model-error.h"
#include "core/explore/same-work.h"
#include "core/io/fitted-presets.h"
#include "core/spec/without-effect.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

Contender
ContenderOf(const SearchSpace& space, const Plan& plan, const RunReport& report)
{
    return {space.LabelOf(plan), plan, report};
}

BaselineResult
ResultOf(const Study& study, const SearchSpace& space, const BaselineAnswer& answer)
{
    BaselineResult result;
    result.name = answer.name;
    result.tunes = Baseline(answer.name)->tunes;
    result.untouched = Baseline(answer.name)->untouched;
    if (answer.plan && !IsReference(answer.name))
    {
        result.outside = FieldsOutside(study, space, *answer.plan);
    }
    if (const auto* report = std::get_if<RunReport>(&answer.evaluation))
    {
        result.contender = Contender{answer.label, *answer.plan, *report};
        result.assumed = answer.assumed;
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

/// Of each plan how likely it is that the best is faster. Names of the same work are one plan: of
/// all pairs of theirs and the best's the least sure counts.
std::vector<double>
SlownessOf(const std::vector<Ranked>& plans, const std::vector<size_t>& firsts)
{
    std::vector<double> slower(plans.size(), 1.0); // by the first of the same work
    for (size_t best = 0; best < plans.size(); best++)
    {
        for (size_t i = 0; i < plans.size() && firsts[best] == 0; i++)
        {
            double& least = slower[firsts[i]];
            least = std::min(least, ProbabilityFaster(Timed(plans[best]), Timed(plans[i])));
        }
    }
    for (size_t i = 0; i < plans.size(); i++)
    {
        slower[i] = slower[firsts[i]];
    }
    return slower;
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
    const auto slower = measured ? SlownessOf(best, firsts) : std::vector<double>();
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
            plans[i].slower = slower[i];
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
        input.closePlans += answer.conclusion.plans[i].slower.value_or(0) < kSure ? 1 : 0;
    }
    const Frontier& counts = answer.search.counts;
    // What was not kept is as slow as the last that was, or nearly, and may differ less.
    const double winning = winner.report.iterationTime.S();
    input.closePlansAtLeast =
        (best.size() < counts.evaluated + counts.RuledOut() || answer.outOfTime) &&
        LeastLeftOut(answer.goals, best.back().report.iterationTime.S(), winning) <
            SureRatio() * winning;
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
        if (answer.search.board.BestOf(other) == nullptr)
        {
            input.withoutPlan.push_back(other);
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
        input.baselines.push_back(ResultOf(study, space, baseline));
    }
    if (answer.oneSite)
    {
        input.oneSite = ResultOf(study, space, *answer.oneSite);
    }
    input.counts = answer.search.counts;
    input.undecided = answer.outOfTime ? answer.Undecided() : 0;
    input.engine = study.engines.front();
    input.buildings = static_cast<uint32_t>(study.scenario.cluster.buildings.size());
    return input;
}

/// Gap() of its best plan.
std::optional<double>
GapOf(const Answer& answer)
{
    const Ranked winner = answer.search.board.Best().front();
    return Gap(winner.report, answer.goals, answer.search.counts);
}

/// Of the best plan, and of what the study says of the network that plans are taken without.
std::vector<std::string>
WarningsOf(const Study& study, const SearchSpace& space, const Answer& answer)
{
    const Ranked winner = answer.search.board.Best().front();
    const Plan& plan = winner.plan;
    std::vector<std::string> warnings =
        WarningsOf(space.With(plan), study.engines.front(), study.search, &winner.report);
    for (const std::string& warning :
         WarningsOfDroppedWords({plan.parallel, study.scenario.network}, plan, study.search))
    {
        warnings.push_back(warning);
    }
    return warnings;
}

} // namespace

void
ConcludeGap(const Study& study, const SearchSpace& space, Answer& answer)
{
    Conclusion& conclusion = answer.conclusion;
    conclusion.warnings = WarningsOf(study, space, answer);
    conclusion.gap = GapOf(answer);
    if (conclusion.gap)
    {
        conclusion.explanation = {
            {"proof",
             "No plan can be better than the best so far" +
                 (*conclusion.gap > 0 ? " by more than " + GapText(*conclusion.gap) : "") + "."}};
    }
}

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
    }
    if (study.engines.front() == kMeasuredEngine) // whatever plans are ranked by
    {
        conclusion.timeError = FindTimeError(study.scenario, best, BuiltInPresets());
    }
    // Where nothing crosses there is no placement to be sure of, nor where better plans of either
    // may not be found yet.
    if (const auto ofEach = answer.search.board.BestOfEach();
        measured && !(answer.outOfTime && answer.Undecided() > 0) && ofEach.size() > 1 &&
        ofEach.front().report.crossBuildingBytes > Bytes())
    {
        conclusion.placement = ProbabilityFaster(Timed(ofEach[0]), Timed(ofEach[1]));
    }
    const ExplanationInput input = InputOf(study, space, answer);
    conclusion.gap = GapOf(answer);
    conclusion.explanation = Explain(input);
    conclusion.warnings = WarningsOf(study, space, answer);
    if (answer.goals.objective->followsTime)
    {
        answer.boundSlack = BoundSlack(best, input.counts.bound);
    }
}

} // namespace scaleacross
