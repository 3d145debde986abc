// SPDX-License-Identifier: GPL-2.0-only

#include "cli/chosen-search.h"
#include "cli/command.h"
#include "cli/explore-study.h"
#include "cli/kept-plan.h"
#include "cli/show/differences.h"
#include "cli/show/ranking-columns.h"
#include "cli/show/report-json.h"
#include "cli/show/report-text.h"
#include "cli/show/show-topology.h"
#include "cli/show/sureness.h"
#include "cli/show/table.h"
#include "core/base/errors.h"
#include "core/explore/baselines/baseline.h"
#include "core/explore/explanation.h"
#include "core/spec/study-json.h"
#include "core/store/search-reader.h"
#include "core/store/sweep-store.h"

#include <fmt/core.h>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

struct ShowOptions
{
    CommonOptions common;
    int64_t search{0};
    size_t top{10};
    bool topology{false};
    std::string output;
};

Json
RunJson(const std::string& label, const StoredRun& run)
{
    const auto fits = FitsInMemory(run.evaluation);
    Json json = ToJson(run.evaluation);
    json["engine"] = run.engine;
    json["plan"] = {{"label", label}, {"text", run.planText}};
    json["fits"] = fits ? Json(*fits) : Json(nullptr);
    json["warnings"] = MemoryWarningsOf(run.evaluation);
    return json;
}

/// Adds where the stages of a run are, and as `study` what `run` takes to find its very time again;
/// nothing of a plan that this release cannot read.
void
AddStudy(Json& json, const std::string& setting, const std::string& name, const StoredRun& run)
{
    const auto plan = PlanOfText(run.planText);
    if (!plan)
    {
        return;
    }
    try
    {
        const Study study = StudyOfPlan(setting, *plan, "stored");
        json["stages"] = StagesJson(study.scenario);
        Json file = {{"study", name}};
        file.update(Json::parse(StudyJson(study.scenario, {true, study.seed})));
        file["engines"] = {run.engine};
        json["study"] = file;
    }
    catch (const ConfigError&)
    {
        // of another release, with other fields
    }
}

/// Where there is no search: the fastest runs of what was last run.
Json
RunsJson(Database& database, size_t top)
{
    Json json = Json::array();
    for (const RunOfSetting& one : LastRuns(database, top))
    {
        json.push_back(RunJson(one.run.label, one.run));
        json.back()["run"] = one.id;
        AddStudy(json.back(), one.setting, "run", one.run);
    }
    return json;
}

/// The best plans of placements, by crossing.
Json
PlacementsJson(const std::vector<KeptRun>& runs)
{
    Json json = Json::object();
    for (const KeptRun& kept : runs)
    {
        json[ToString(kept.run.crossing)] = RunJson(kept.label, kept.run);
    }
    return json;
}

/// The plans of the front, by rank, with their values by its objectives.
Json
FrontJson(const std::vector<KeptRun>& runs, const Goals& goals)
{
    Json front = Json::array();
    for (const KeptRun& kept : runs)
    {
        Json values = Json::object();
        Json texts = Json::object();
        for (const Objective& objective : goals.front.objectives)
        {
            const double value =
                objective->value(std::get<RunReport>(kept.run.evaluation), goals.rates);
            values[objective.Name()] = value;
            texts[objective.Name()] = ValueText(objective, value);
        }
        front.push_back({{"label", kept.label},
                         {"rank", kept.rank},
                         {"crossing", ToString(kept.run.crossing)},
                         {"values", values},
                         {"texts", texts}});
    }
    return front;
}

/// The buildings as their study calls them.
Json
BuildingsJson(const SearchSummary& search)
{
    Json json = Json::array();
    try
    {
        const Study study = ParseStudy(search.setting, "stored", {}, StudyScope::Network);
        for (const BuildingSpec& building : study.scenario.cluster.buildings)
        {
            json.push_back({{"name", building.name}, {"gpus", building.gpus}});
        }
    }
    catch (const ConfigError&)
    {
        // of another release, with other fields
    }
    return json;
}

/// What a column holds; a file in which that is no JSON was edited.
Json
ParseColumn(const Database& database, const std::string& column, const std::string& text)
{
    try
    {
        return Json::parse(text);
    }
    catch (const Json::exception& error)
    {
        database.Damaged(column + " is no JSON: " + error.what());
    }
}

/// Sweeps with their axes, and the search of every point in their order.
Json
SweepsJson(Database& database)
{
    Json json = Json::array();
    for (const StoredSweep& sweep : ListSweeps(database))
    {
        json.push_back({{"sweep", sweep.id},
                        {"study", sweep.study},
                        {"axes", ParseColumn(database, "axes of a sweep", sweep.axes)},
                        {"searches", sweep.searches}});
    }
    return json;
}

/// Those of the kept runs of which the plan can be read, which of an older release it may not be.
std::vector<RankedRun>
RankedRunsOf(const std::vector<KeptRun>& kept)
{
    std::vector<RankedRun> runs;
    for (const KeptRun& one : kept)
    {
        const auto* report = std::get_if<RunReport>(&one.run.evaluation);
        const auto plan = PlanOfText(one.run.planText);
        if (report != nullptr && plan)
        {
            runs.push_back({one.rank, *plan, *report});
        }
    }
    // Nothing can be said beside a best one that is missing.
    return !runs.empty() && runs.front().rank == 1 ? runs : std::vector<RankedRun>();
}

bool
IsConcluded(const SearchSummary& search)
{
    return search.finished && !search.conclusion.explanation.empty();
}

/// How far a search is that is not finished; "" of others.
std::string
ProgressText(const SearchSummary& search)
{
    if (search.finished)
    {
        return "";
    }
    return search.soFar ? SoFarText(*search.soFar, search.plans)
                        : fmt::format("not finished; of {1} combinations the database has {0} "
                                      "decided, and what bounds ruled out besides is found again: "
                                      "{2}",
                                      search.counts.DecidedPositions(),
                                      search.plans,
                                      SpaceText(search.counts));
}

/// What was stored of the best plan with the conclusion. Before there is any, what its run says.
std::vector<std::string>
WarningsOf(const SearchSummary& search, const std::vector<KeptRun>& best)
{
    return search.warningsKnown ? search.conclusion.warnings
           : best.empty()       ? std::vector<std::string>()
                                : MemoryWarningsOf(best.front().run.evaluation);
}

/// As `explore` has it: of what is concluded from what is known of all plans.
std::optional<double>
BoundSlackOf(const SearchSummary& search, const std::vector<KeptRun>& best)
{
    const bool concluded =
        search.soFar ? search.soFar->end == SoFar::End::Time : IsConcluded(search);
    const auto* report =
        best.empty() ? nullptr : std::get_if<RunReport>(&best.front().run.evaluation);
    return concluded && report != nullptr && search.objective->followsTime
               ? BoundSlack(report->iterationTime, search.counts.bound)
               : std::nullopt;
}

Json
SummaryJson(const SearchSummary& search)
{
    Json json = SpaceJson(search.counts, search.plans);
    json["search"] = search.id;
    json["study"] = search.study;
    json["settings"] = Json::object();
    for (const auto& [key, value] : search.settings)
    {
        json["settings"][key] = value;
    }
    json["shard"] = search.shard.IsWhole()
                        ? Json(nullptr)
                        : Json{{"index", search.shard.index + 1}, {"count", search.shard.count}};
    json["engine"] = search.engine;
    json["finished"] = search.finished;
    json["concluded"] = IsConcluded(search);
    json["seconds"] = search.seconds;
    json["objective"] = search.objective.Name();
    json["objective_figure"] = search.objective->figure;
    json["follows_time"] = search.objective->followsTime;
    json["keep"] = search.keep;
    json["method"] = search.method;
    json["gap_asked"] = search.gapAsked;
    json["rest_gap_asked"] = search.restGapAsked;
    json["proven_after"] =
        search.counts.provenAfter ? Json(*search.counts.provenAfter) : Json(nullptr);
    json["held_text"] = search.held;
    json["interrupted"] = search.soFar && search.soFar->end == SoFar::End::Signal;
    json["out_of_time"] = search.soFar && search.soFar->end == SoFar::End::Time;
    json["progress_text"] = ProgressText(search);
    json["checked"] = search.checked;
    json["pareto_of"] = search.paretoOf;
    json.update(ToJson(search.conclusion));
    return json;
}

Json
BaselineJson(const KeptBaseline& baseline)
{
    if (!baseline.run)
    {
        return {{"infeasible",
                 {{"reason", baseline.reason.reason}, {"detail", baseline.reason.detail}}}};
    }
    Json json = RunJson(baseline.label, *baseline.run);
    json["probability_slower"] = JsonOf(baseline.probabilitySlower);
    return json;
}

/// As `explore` has it.
Json
OverheadJson(const KeptRun& best, const KeptBaseline& site)
{
    const auto* report = std::get_if<RunReport>(&best.run.evaluation);
    const auto* there = site.run ? std::get_if<RunReport>(&site.run->evaluation) : nullptr;
    return report != nullptr && there != nullptr
               ? Json(RelativeExcess(there->iterationTime, report->iterationTime))
               : Json(nullptr);
}

Json
DatabaseJson(Database& database, const std::vector<SearchSummary>& searches, size_t top, int64_t id)
{
    Json all = Json::array();
    for (const auto& search : searches)
    {
        if (id != 0 && search.id != id)
        {
            continue;
        }
        Json json = SummaryJson(search);
        json["buildings"] = BuildingsJson(search);
        json["placements"] = PlacementsJson(PlacementRuns(database, search));
        json["pareto"] = FrontJson(FrontRuns(database, search), GoalsOf(database, search.id));
        json["robust"] =
            search.robust.empty() ? Json(nullptr) : ParseColumn(database, "robust", search.robust);
        json["ranking"] = Json::array();
        const auto best = BestRuns(database, search, top);
        json["warnings"] = WarningsOf(search, best);
        json["bound_slack"] = JsonOf(BoundSlackOf(search, best));
        const auto runs = RankedRunsOf(best);
        auto known = runs.begin();
        for (const auto& kept : best)
        {
            Json run = RunJson(kept.label, kept.run);
            run["rank"] = kept.rank;
            run["pareto"] = kept.pareto;
            AddStudy(run, search.setting, search.study, kept.run);
            run.update(ToJson(kept.sureness));
            const auto* report = std::get_if<RunReport>(&kept.run.evaluation);
            if (report != nullptr)
            {
                run.update(AmountsJson(*report, search.rates));
                run["objective_text"] =
                    ValueText(search.objective, search.objective->value(*report, search.rates));
            }
            if (known != runs.end() && known->rank == kept.rank)
            {
                run.update(DifferencesJson(*known++, runs.front()));
            }
            json["ranking"].push_back(run);
        }
        json["baselines"] = Json::object();
        json["one_site"] = Json(nullptr);
        for (const auto& baseline : BaselinesOf(database, search.id))
        {
            Json& place =
                IsReference(baseline.name) ? json["one_site"] : json["baselines"][baseline.name];
            place = BaselineJson(baseline);
            if (IsReference(baseline.name))
            {
                place.erase("probability_slower");
                place["assumed"] =
                    baseline.assumed.empty() ? Json(nullptr) : Json(baseline.assumed);
                place["spread_overhead"] =
                    best.empty() ? Json(nullptr) : OverheadJson(best.front(), baseline);
            }
        }
        json["checks"] = Json::array();
        for (const auto& run : OtherRuns(database, search.id))
        {
            json["checks"].push_back(RunJson(run.label, run));
        }
        all.push_back(json);
    }
    return {{"db", database.Path()},
            {"searches", all},
            {"sweeps", SweepsJson(database)},
            {"runs", searches.empty() ? RunsJson(database, top) : Json::array()}};
}

bool
AreCorrected(const std::vector<KeptRun>& runs)
{
    return std::any_of(runs.begin(), runs.end(), [](const KeptRun& kept) {
        const auto* report = std::get_if<RunReport>(&kept.run.evaluation);
        return report != nullptr && report->correction;
    });
}

std::string
SearchText(Database& database, const SearchSummary& search, size_t top)
{
    std::string text = fmt::format("{} ({} engine): ", NameOf(search), search.engine);
    text += (search.finished ? SpaceText(search.counts) : ProgressText(search)) + "\n";
    text += search.held.empty() ? "" : search.held + "\n";
    // As `explore` prints it: how sure is not known of other engines, nor before there is a
    // conclusion.
    const auto best = BestRuns(database, search, top);
    const RankingColumns columns(search.conclusion.sure.has_value(),
                                 !search.memoryLimit,
                                 search.rates,
                                 AreCorrected(best));
    Table table = RunTable(columns.Titles());
    for (const auto& kept : best)
    {
        AddRow(table,
               std::to_string(kept.rank),
               kept.label,
               kept.run.evaluation,
               columns.Of(kept.run.evaluation, SurenessText(kept.sureness)));
    }
    for (const auto& baseline : BaselinesOf(database, search.id))
    {
        if (baseline.run && !IsReference(baseline.name))
        {
            AddRow(table,
                   baseline.name,
                   baseline.label,
                   baseline.run->evaluation,
                   columns.Of(baseline.run->evaluation, "-"));
        }
    }
    for (const auto& run : OtherRuns(database, search.id))
    {
        AddRow(table, run.engine, run.label, run.evaluation, columns.Of(run.evaluation, "-"));
    }
    text += "\n" + table.Text() + columns.Note();
    const std::string differences = DifferencesText(RankedRunsOf(best));
    text += differences.empty() ? "" : "\n" + differences;
    if (search.finished && !search.shard.IsWhole())
    {
        text += "\na shard: merge puts it together with the others, and explore answers\n";
    }
    else if (search.finished && !IsConcluded(search))
    {
        text +=
            "\nnot concluded: baselines, gap and explanation are missing; the same explore goes on "
            "from here\n";
    }
    for (const auto& line : search.conclusion.explanation)
    {
        text += (&line == &search.conclusion.explanation.front() ? "\n" : "") + line.text + "\n";
    }
    if (!search.robust.empty())
    {
        const Json robust = ParseColumn(database, "robust", search.robust);
        text += "\nUncertain spans:\n";
        for (const Json& line : robust.value("explanation", Json::array()))
        {
            text += line.get<std::string>() + "\n";
        }
    }
    text += WarningText(WarningsOf(search, best));
    for (const std::string& line : search.checked)
    {
        text += (&line == &search.checked.front() ? "\n" : "") + line + "\n";
    }
    return text;
}

Exit
ShowSearches(const ShowOptions& options, Database& database)
{
    const auto searches = ListSearches(database);
    if (options.search != 0)
    {
        ChosenSearch(database.Path(), searches, options.search); // is there
    }
    if (options.common.json)
    {
        std::cout << DatabaseJson(database, searches, options.top, options.search).dump(2) << "\n";
        return Exit::Done;
    }
    if (searches.empty())
    {
        std::cout << "no search is stored here\n";
        return Exit::Done;
    }
    const SearchSummary& chosen = ChosenSearch(database.Path(), searches, options.search);
    if (searches.size() > 1)
    {
        Table table({{"search"},
                     {"study", Table::Align::Left},
                     {"engine", Table::Align::Left},
                     {"combinations"},
                     {"finished", Table::Align::Left},
                     {"last", Table::Align::Left}});
        for (const auto& search : searches)
        {
            table.Add({std::to_string(search.id),
                       NameOf(search),
                       search.engine,
                       std::to_string(search.plans),
                       search.finished ? "yes" : "no",
                       search.updated});
        }
        std::cout << table.Text() << "\nsearch " << chosen.id << " (--search chooses another):\n";
    }
    std::cout << SearchText(database, chosen, options.top);
    return Exit::Done;
}

Exit
ShowDatabase(const ShowOptions& options)
{
    Database database(options.common.study, Database::Access::Read);
    Exit end = Exit::Failed;
    database.Snapshot([&] { end = ShowSearches(options, database); });
    return end;
}

Exit
ShowStudy(const ShowOptions& options)
{
    const Study study = StudyOf(options.common);
    WarnOfModel(study);
    Json json = {{"study", study.name},
                 {"scenario", Json::parse(StudyJson(study.scenario))},
                 {"search", Json::object()},
                 {"plans", SearchSpace(study).Size()},
                 {"baselines", study.baselines},
                 {"engines", study.engines},
                 {"seed", study.seed}};
    for (const auto& axis : study.search)
    {
        json["search"][axis.key] = axis.values;
    }
    std::cout << json.dump(2) << "\n";
    return Exit::Done;
}

} // namespace

void
AddShow(CommandLine& program)
{
    auto options = std::make_shared<ShowOptions>();
    Command command =
        program.Add("show", "print what a database holds or a study says, or draw its fabric");
    command.Add("DB|STUDY", options->common.study, "a database, or a study file").Required();
    command
        .Add("--search",
             options->search,
             "number of the search to print; default: the only one, or that of the study as its "
             "file says "
             "it")
        .Between(1, std::numeric_limits<int64_t>::max());
    command.Add("--top", options->top, "rows of the ranking to print")
        .Between(1, 1000000)
        .ShowDefault();
    command.Flag("--json", options->common.json, "print JSON instead of tables");
    command.Add("--set", options->common.set, "set a value of the study; repeatable")
        .Named("KEY=VALUE")
        .Repeatable();
    command.Flag("--topology",
                 options->topology,
                 "draw the fabric of a study, or of an adjacency file");
    command.Add("-o,--output", options->output, "FILE.svg, FILE.dot or FILE.txt")
        .Needs("--topology");
    command.Does([options, command] {
        const auto refuse = [command](const std::vector<std::string>& names,
                                      const std::string& problem,
                                      const std::string& allowed) {
            for (const std::string& name : names)
            {
                if (command.IsGiven(name))
                {
                    throw ConfigError(name, problem, allowed, "");
                }
            }
        };
        if (options->topology)
        {
            refuse({"--search", "--top", "--json"}, "a drawing has none", "without --topology");
            return ShowTopology(options->common, options->output);
        }
        const std::string& path = options->common.study;
        const bool named = path.size() > 3 && path.compare(path.size() - 3, 3, ".db") == 0;
        if (named || Database::IsDatabase(path))
        {
            refuse({"--set"}, "a database is as it is", "a study");
            return ShowDatabase(*options);
        }
        refuse({"--search", "--top"}, "a study has no results", "a database");
        return ShowStudy(*options);
    });
}

} // namespace scaleacross
