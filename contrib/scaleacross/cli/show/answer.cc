// SPDX-License-Identifier: GPL-2.0-only

#include "cli/engines.h"
#include "cli/explore-study.h"
#include "cli/show/differences.h"
#include "cli/show/ranking-columns.h"
#include "cli/show/report-text.h"
#include "cli/show/sureness.h"
#include "cli/study-settings.h"
#include "cli/warnings.h"
#include "core/explore/baselines/baseline.h"
#include "core/explore/held-keys.h"
#include "core/explore/model-error.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

Json
CountsJson(const std::map<std::string, Count>& counts)
{
    Json json = Json::object();
    for (const auto& [reason, count] : counts)
    {
        json[reason] = count.count;
    }
    return json;
}

uint64_t
Sum(const std::map<std::string, Count>& counts)
{
    uint64_t sum = 0;
    for (const auto& entry : counts)
    {
        sum += entry.second.count;
    }
    return sum;
}

/// What is said against plans.
std::map<std::string, Count>
Refusals(const Frontier& counts)
{
    auto refusals = counts.rejected;
    refusals.erase(kDuplicate);
    refusals.erase(kRuledOut);
    return refusals;
}

Json
RankedJson(const SearchSpace& space, const Answer& answer, const Ranked& ranked)
{
    Json json = ToJson(ranked.report);
    json.update(AmountsJson(ranked.report, answer.goals.rates));
    json["plan"] = ToJson(ranked.plan);
    json["plan"]["label"] = space.LabelOf(ranked.plan);
    return json;
}

/// Of a plan that has run.
std::vector<std::string>
WarningsOf(const Study& study, const SearchSpace& space, const Ranked& ranked)
{
    return WarningsOf(space.With(ranked.plan), study.engines.front(), study.search, &ranked.report);
}

/// Of an answer that is not concluded nothing is known.
PlanSureness
SurenessAt(const Answer& answer, size_t i)
{
    return i < answer.conclusion.plans.size() ? answer.conclusion.plans[i] : PlanSureness();
}

/// The best `top` of the ranking.
std::vector<RankedRun>
TopOf(const Answer& answer, size_t top)
{
    std::vector<RankedRun> runs;
    for (const Ranked& ranked : answer.search.board.Best())
    {
        if (runs.size() < top)
        {
            runs.push_back({runs.size() + 1, ranked.plan, ranked.report});
        }
    }
    return runs;
}

std::string
RankingText(const Study& study, const SearchSpace& space, const Answer& answer, size_t top)
{
    const RankingColumns columns(AreTimesMeasured(study, answer.goals),
                                 !study.scenario.Job().workload.memoryLimit,
                                 answer.goals.rates,
                                 FindEngine(study.engines.front(), "engines").row->ranks);
    Table table = RunTable(columns.Titles());
    const auto best = answer.search.board.Best();
    for (size_t i = 0; i < std::min(top, best.size()); i++)
    {
        AddRow(table,
               std::to_string(i + 1),
               space.LabelOf(best[i].plan),
               best[i].report,
               columns.Of(best[i].report, SurenessText(SurenessAt(answer, i))));
    }
    for (const auto& baseline : answer.baselines)
    {
        if (baseline.plan)
        {
            AddRow(table,
                   baseline.name,
                   baseline.label,
                   baseline.evaluation,
                   columns.Of(baseline.evaluation, "-"));
        }
    }
    return table.Text() + columns.Note();
}

/// The plans of the Pareto front, by rank, with their values by its objectives.
std::string
ParetoText(const SearchSpace& space, const Answer& answer)
{
    std::vector<Table::Column> columns = {{"Pareto front", Table::Align::Left}};
    for (const Objective& objective : answer.goals.front.objectives)
    {
        columns.push_back({objective.Name()});
    }
    Table table(columns);
    for (const Ranked& ranked : answer.search.board.ParetoFront())
    {
        std::vector<std::string> cells = {space.LabelOf(ranked.plan)};
        for (const Objective& objective : answer.goals.front.objectives)
        {
            cells.push_back(
                ValueText(objective, objective->value(ranked.report, answer.goals.rates)));
        }
        table.Add(cells);
    }
    return table.Text();
}

/// The keys that the study holds, with their values.
Json
HeldJson(const Study& study)
{
    Json held = Json::array();
    for (const HeldKey& one : HeldKeys(study))
    {
        held.push_back({{"key", one.key}, {"value", one.value}});
    }
    return held;
}

/// Where a plan lies outside the space.
Json
OutsideJson(const Study& study, const SearchSpace& space, const Plan& plan)
{
    Json outside = Json::array();
    for (const FieldOutside& field : FieldsOutside(study, space, plan))
    {
        outside.push_back({{"key", field.key},
                           {"value", field.value},
                           {"space", field.values},
                           {"held", field.why == FieldOutside::Why::Held}});
    }
    return outside;
}

/// The baselines, by name.
Json
BaselinesJson(const Study& study, const SearchSpace& space, const Answer& answer)
{
    const auto best = answer.search.board.Best();
    Json baselines = Json::object();
    for (const auto& baseline : answer.baselines)
    {
        Json entry = ToJson(baseline.evaluation);
        const auto* report = std::get_if<RunReport>(&baseline.evaluation);
        if (report != nullptr)
        {
            entry.update(AmountsJson(*report, answer.goals.rates));
        }
        if (report != nullptr && !best.empty())
        {
            const auto slower = answer.conclusion.baselines.find(baseline.name);
            entry["gain"] =
                RelativeExcess(best.front().report.iterationTime, report->iterationTime);
            entry["probability_slower"] =
                slower != answer.conclusion.baselines.end() ? Json(slower->second) : Json(nullptr);
        }
        const Baseline school = baseline.name;
        entry["rule"] = school->help;
        entry["tunes"] = school->tunes;
        entry["untouched"] = school->untouched;
        entry["plan"] = baseline.plan ? ToJson(*baseline.plan) : Json(nullptr);
        entry["outside"] =
            baseline.plan ? OutsideJson(study, space, *baseline.plan) : Json::array();
        if (baseline.plan)
        {
            entry["warnings"] =
                WarningsOf(space.With(*baseline.plan), study.engines.front(), study.search, report);
        }
        baselines[baseline.name] = entry;
    }
    return baselines;
}

/// The reference in one building; null where the study names none.
Json
OneSiteJson(const Answer& answer)
{
    if (!answer.oneSite)
    {
        return nullptr;
    }
    const BaselineAnswer& site = *answer.oneSite;
    Json json = ToJson(site.evaluation);
    json["spread_overhead"] = JsonOf(answer.SpreadOverhead());
    json["rule"] = Baseline(site.name)->help;
    json["assumed"] = site.assumed.empty() ? Json(nullptr) : Json(site.assumed);
    json["plan"] = site.plan ? ToJson(*site.plan) : Json(nullptr);
    if (site.plan)
    {
        json["plan"]["label"] = site.label;
    }
    json["warnings"] = MemoryWarningsOf(site.evaluation);
    return json;
}

/// The best plan of each placement, by crossing.
Json
PlacementsJson(const Study& study, const SearchSpace& space, const Answer& answer)
{
    const auto best = answer.search.board.Best();
    Json placements = Json::object();
    for (const Crossing& crossing : {Crossing::Data, Crossing::Pipeline})
    {
        placements[ToString(crossing)] = Json(nullptr);
    }
    for (const auto& ranked : answer.search.board.BestOfEach())
    {
        Json& placement = placements[ToString(ranked.plan.parallel.crossing)];
        placement = RankedJson(space, answer, ranked);
        placement["warnings"] = WarningsOf(study, space, ranked);
        const bool compared = answer.conclusion.sure && ranked.text != best.front().text;
        placement["probability_slower"] =
            compared
                ? Json(ProbabilityFaster({best.front().plan, best.front().report.iterationTime},
                                         {ranked.plan, ranked.report.iterationTime}))
                : Json(nullptr);
    }
    return placements;
}

/// The plans of the Pareto front, by rank, with their values by its objectives.
Json
FrontJson(const SearchSpace& space, const Answer& answer)
{
    Json front = Json::array();
    for (const Ranked& ranked : answer.search.board.ParetoFront())
    {
        Json values = Json::object();
        for (const Objective& objective : answer.goals.front.objectives)
        {
            values[objective.Name()] = objective->value(ranked.report, answer.goals.rates);
        }
        front.push_back({{"label", space.LabelOf(ranked.plan)}, {"values", values}});
    }
    return front;
}

Json
RankingJson(const Study& study, const SearchSpace& space, const Answer& answer, size_t top)
{
    const auto best = answer.search.board.Best();
    const auto runs = TopOf(answer, top);
    Json ranking = Json::array();
    for (size_t i = 0; i < std::min(top, best.size()); i++)
    {
        Json entry = ValuesJson(best[i].report, answer.goals.rates);
        entry["label"] = space.LabelOf(best[i].plan);
        if (best[i].report.correction)
        {
            entry["correction"] = CoverageJson(best[i].report);
        }
        entry.update(ToJson(SurenessAt(answer, i)));
        entry.update(DifferencesJson(runs[i], runs.front()));
        entry["warnings"] = WarningsOf(study, space, best[i]);
        ranking.push_back(entry);
    }
    return ranking;
}

/// What the other plans that are kept, of other placements at least, cost beside the best, where
/// this call has seen that.
std::string
ProvenText(const Answer& answer)
{
    const auto after = answer.search.counts.provenAfter;
    const uint64_t ran = answer.search.counts.evaluated;
    if (!after || ran <= *after || answer.search.counts.RuledOut() == 0)
    {
        return "";
    }
    const bool isAlone = answer.search.board.Best().size() == 1;
    return fmt::format("the best was proven to be that after {} of these runs; {} more {} for {}\n",
                       *after,
                       ran - *after,
                       ran - *after == 1 ? "was" : "were",
                       !isAlone ? "the other plans that are kept"
                       : answer.goals.front.objectives.empty()
                           ? "the best plans of other placements"
                           : "the Pareto front and the best plans of other placements");
}

} // namespace

Json
StagesJson(const Scenario& scenario)
{
    const auto places = FindStagePlaces(scenario);
    if (!places)
    {
        return nullptr;
    }
    Json buildings = Json::object();
    Json memory = Json::object();
    for (const StagesOfBuilding& held : places->buildings)
    {
        buildings[held.building] = held.stages;
        Json& own = memory[held.building] = Json::array();
        for (const MemoryUse& use : held.memory)
        {
            own.push_back(ToJson(use));
        }
    }
    return {{"layers", places->layers},
            {"of_buildings", buildings},
            {"memory_of_buildings", memory}};
}

std::string
CountsText(const std::map<std::string, Count>& counts)
{
    std::vector<std::pair<uint64_t, std::string>> sorted;
    for (const auto& [reason, count] : counts)
    {
        sorted.emplace_back(count.count, reason);
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::string text;
    for (const auto& [count, reason] : sorted)
    {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
    }
    return text;
}

std::string
SpaceText(const Frontier& counts)
{
    const auto refusals = Refusals(counts);
    const uint64_t failed = Sum(counts.failed);
    // What is ruled out nobody has asked whether it can run.
    std::string text = fmt::format("{} distinct plans: {} run", counts.Decided(), counts.evaluated);
    if (counts.RuledOut() > 0)
    {
        text += fmt::format(", {} ruled out by their bounds", counts.RuledOut());
    }
    if (failed > 0)
    {
        text += fmt::format(", {} failed ({})", failed, CountsText(counts.failed));
    }
    if (!refusals.empty())
    {
        text += fmt::format(", {} cannot run ({})", Sum(refusals), CountsText(refusals));
    }
    return text;
}

std::string
SoFarText(const SoFar& soFar, uint64_t combinations)
{
    return fmt::format("{}: so far, {} of {} combinations are decided: {}",
                       soFar.end == SoFar::End::Time ? "time is up" : "stopped by a signal",
                       soFar.counts.DecidedPositions(),
                       combinations,
                       SpaceText(soFar.counts));
}

Json
SpaceJson(const Frontier& counts, uint64_t combinations)
{
    return {{"combinations", combinations},
            {"looked_at", counts.DecidedPositions()},
            {"space", counts.Decided()},
            {"evaluated", counts.Decided()},
            {"ran", counts.evaluated},
            {"pruned", counts.RuledOut()},
            {"bound_s", counts.bound == Duration::Max() ? Json(nullptr) : Json(counts.bound.S())},
            {"rejected", CountsJson(Refusals(counts))},
            {"failed", CountsJson(counts.failed)}};
}

std::string
AnswerText(const Study& study, const SearchSpace& space, const Answer& answer, size_t top)
{
    const Frontier& counts = answer.search.counts;
    std::string text = fmt::format("{}: {} on {} GPUs in {} building{}\n",
                                   TitleOf(study),
                                   study.scenario.Job().model.name,
                                   study.scenario.cluster.Gpus(),
                                   study.scenario.cluster.buildings.size(),
                                   study.scenario.cluster.buildings.size() == 1 ? "" : "s");
    const auto soFar = answer.EndedSoFar();
    text += fmt::format("{}; {:.1f} s\n",
                        soFar ? SoFarText(*soFar, answer.plans) : SpaceText(counts),
                        answer.seconds);
    text += ProvenText(answer);
    const std::string held = HeldText(study);
    text += held.empty() ? "" : held + "\n";
    if (!answer.HasWinner())
    {
        const auto refusals = Refusals(counts);
        for (const auto* reasons : {&refusals, &counts.failed})
        {
            for (const auto& [reason, count] : *reasons)
            {
                text += fmt::format("{}: e.g. {}\n", reason, count.example);
            }
        }
    }
    if (!answer.HasWinner())
    {
        for (const auto& line : answer.conclusion.explanation)
        {
            text += answer.outOfTime ? line.text + "\n" : "";
        }
        return text;
    }
    const std::string differences = DifferencesText(TopOf(answer, top));
    text += "\n" + RankingText(study, space, answer, top) + "\n";
    text += differences + (differences.empty() ? "" : "\n");
    text += answer.goals.front.objectives.empty() ? "" : ParetoText(space, answer) + "\n";
    for (const auto& line : answer.conclusion.explanation)
    {
        text += line.text + "\n";
    }
    return text + WarningText(answer.conclusion.warnings);
}

Json
AnswerJson(const Study& study, const SearchSpace& space, const Answer& answer, size_t top)
{
    const Conclusion& conclusion = answer.conclusion;
    Json json = {{"study", study.name},
                 {"settings", SettingsJson(study.settings)},
                 {"engine", study.engines.front()}};
    const auto best = answer.search.board.Best();
    json["best"] = best.empty() ? Json(nullptr) : RankedJson(space, answer, best.front());
    if (!best.empty())
    {
        json["best"]["stages"] = StagesJson(space.With(best.front().plan));
        json["best"]["probability_best"] = JsonOf(SurenessAt(answer, 0).best);
    }
    json["baselines"] = BaselinesJson(study, space, answer);
    json["one_site"] = OneSiteJson(answer);
    json.update(SpaceJson(answer.search.counts, answer.plans));
    json["seconds"] = answer.seconds;
    json["db"] = answer.database;
    json["held"] = HeldJson(study);
    json["held_text"] = HeldText(study);
    json["bound_slack"] = JsonOf(answer.boundSlack);
    json.update(ToJson(conclusion));
    json["interrupted"] = answer.search.interrupted;
    json["out_of_time"] = answer.outOfTime;
    json["placements"] = PlacementsJson(study, space, answer);
    json["objective"] = answer.goals.objective.Name();
    json["gap_asked"] = answer.goals.gap;
    json["rest_gap_asked"] = answer.goals.restGap;
    json["proven_after"] =
        answer.search.counts.provenAfter ? Json(*answer.search.counts.provenAfter) : Json(nullptr);
    json["pareto_of"] = FrontText(answer.goals.front);
    json["pareto"] = FrontJson(space, answer);
    json["ranking"] = RankingJson(study, space, answer, top);
    return json;
}

} // namespace scaleacross
