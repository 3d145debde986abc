// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/search-reader.h"

#include "core/base/text.h"
#include "core/explore/search.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <map>
#include <sstream>
#include <utility>

namespace scaleacross
{

namespace
{

std::vector<std::string>
LinesOf(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
    {
        lines.push_back(line);
    }
    return lines;
}

/// A column that may be NULL.
std::optional<double>
NumberOf(const SQLite::Column& column)
{
    return column.isNull() ? std::nullopt : std::optional<double>(column.getDouble());
}

/// A probability of a row.
std::optional<double>
ProbabilityOf(Database& database, SQLite::Statement& row, const char* name)
{
    const auto value = NumberOf(row.getColumn(name));
    if (value && !(*value >= 0 && *value <= 1))
    {
        row.reset();
        database.Damaged(std::string(name) + " is " + NumberText(*value));
    }
    return value;
}

std::optional<TimeError>
TimeErrorOf(const SQLite::Statement& row)
{
    const SQLite::Column kind = row.getColumn("time_error_kind");
    if (kind.isNull())
    {
        return std::nullopt;
    }
    return TimeError{kind.getString(),
                     row.getColumn("time_error_mean").getDouble(),
                     row.getColumn("time_error_within").getDouble(),
                     row.getColumn("time_error_worst").getDouble(),
                     row.getColumn("time_error_runs").getUInt(),
                     row.getColumn("time_error_families").getUInt(),
                     LinesOf(row.getColumn("time_error_figures_of").getString()),
                     row.getColumn("time_error_unvalidated").getString()};
}

Objective
ObjectiveOf(Database& database, SQLite::Statement& row)
{
    try
    {
        return Objective(row.getColumn("objective").getString());
    }
    catch (const ValueError& error)
    {
        row.reset();
        database.Damaged("objective: " + error.Problem());
    }
}

Rates
RatesOf(Database& database, SQLite::Statement& row)
{
    const int64_t gpus = row.getColumn("gpus").getInt64();
    const Rates rates{static_cast<uint64_t>(gpus),
                      row.getColumn("tokens").getDouble(),
                      NumberOf(row.getColumn("cost_per_hour"))};
    if (gpus < 1 || !(rates.tokens > 0) || !(rates.costPerHour.value_or(0) >= 0))
    {
        row.reset();
        database.Damaged("a search has " + std::to_string(gpus) + " GPUs, " +
                         NumberText(rates.tokens) + " tokens and costs " +
                         NumberText(rates.costPerHour.value_or(0)));
    }
    return rates;
}

/// The keys of a SearchSpace::Text(): what is fixed, and whether dp is given, come before them.
std::vector<std::string>
KeysOfSpace(const std::string& space)
{
    const std::string separator = "; ";
    std::vector<std::string> keys;
    size_t begin = space.find(separator);
    for (begin = space.find(separator, begin + 1); begin != std::string::npos;
         begin = space.find(separator, begin))
    {
        begin += separator.size();
        keys.push_back(space.substr(begin, space.find(' ', begin) - begin));
    }
    return keys;
}

/// A result that a search has found and that is not there any more.
void
RefuseMissingRuns(Database& database, int64_t search)
{
    auto& select = database.Prepare("SELECT run_id FROM search_run WHERE search_id = ? AND run_id "
                                    "NOT IN (SELECT id FROM run) LIMIT 1");
    select.bind(1, search);
    if (select.executeStep())
    {
        const int64_t missing = select.getColumn(0).getInt64();
        select.reset();
        database.Damaged("there is no run " + std::to_string(missing));
    }
    select.reset();
}

} // namespace

Frontier
CountsOf(Database& database, int64_t search)
{
    Frontier frontier;
    auto& row = database.Prepare(
        "SELECT next_plan, evaluated, bound_s, ruled_out_least, plans, proven_after FROM search "
        "WHERE id = ?");
    row.bind(1, search);
    if (!row.executeStep())
    {
        database.Damaged("there is no search " + std::to_string(search));
    }
    const int64_t next = row.getColumn(0).getInt64();
    const int64_t evaluated = row.getColumn(1).getInt64();
    const double bound = row.isColumnNull(2) ? 0 : row.getColumn(2).getDouble();
    const double left = NumberOf(row.getColumn(3)).value_or(frontier.left);
    const int64_t plans = row.getColumn(4).getInt64();
    const bool bounded = !row.isColumnNull(2);
    const bool isProven = !row.isColumnNull(5);
    const int64_t proven = isProven ? row.getColumn(5).getInt64() : 0;
    row.reset();
    if (proven < 0 || proven > evaluated || next < 0 || next > plans || evaluated < 0 ||
        evaluated > next || !(bound >= 0 && bound < Duration::Max().S()) || !(left >= 0))
    {
        database.Damaged("search " + std::to_string(search) + " has evaluated " +
                         std::to_string(evaluated) + " of " + std::to_string(next) + " of " +
                         std::to_string(plans) + " plans, is proven after " +
                         std::to_string(proven) + ", bound " + std::to_string(bound) +
                         " s, of what was ruled out " + std::to_string(left) + " s");
    }
    frontier.left = left;
    if (isProven)
    {
        frontier.provenAfter = static_cast<uint64_t>(proven);
    }
    frontier.next = static_cast<uint64_t>(next);
    frontier.evaluated = static_cast<uint64_t>(evaluated);
    if (bounded)
    {
        frontier.bound = Duration::Seconds(bound);
    }
    auto& counts = database.Prepare(
        "SELECT outcome, reason, count, example FROM search_count WHERE search_id = ?");
    counts.bind(1, search);
    while (counts.executeStep())
    {
        const bool failed = counts.getColumn(0).getString() == "failed";
        const int64_t count = counts.getColumn(2).getInt64();
        if (count < 0 || count > next)
        {
            const std::string reason = counts.getColumn(1).getString();
            counts.reset();
            database.Damaged("search " + std::to_string(search) + " counts " +
                             std::to_string(count) + " plans of " + std::to_string(next) + " as " +
                             Quoted(reason));
        }
        auto& map = failed ? frontier.failed : frontier.rejected;
        map[counts.getColumn(1).getString()] = {static_cast<uint64_t>(count),
                                                counts.getColumn(3).getString()};
    }
    counts.reset();
    return frontier;
}

Goals
GoalsOf(Database& database, int64_t search)
{
    auto& select =
        database.Prepare("SELECT objective, pareto_of, gap_asked, rest_gap_asked, gpus, tokens, "
                         "cost_per_hour FROM search WHERE id = ?");
    select.bind(1, search);
    if (!select.executeStep())
    {
        select.reset();
        database.Damaged("search " + std::to_string(search) + " is not there");
    }
    Goals goals;
    goals.objective = ObjectiveOf(database, select);
    goals.rates = RatesOf(database, select);
    goals.gap = select.getColumn("gap_asked").getDouble();
    goals.restGap = select.getColumn("rest_gap_asked").getDouble();
    const std::string front = select.getColumn("pareto_of").getString();
    select.reset();
    try
    {
        goals.front = ParseFront(front);
    }
    catch (const ValueError& error)
    {
        database.Damaged("pareto_of: " + error.Problem());
    }
    return goals;
}

std::string
AskedText(const SearchSummary& search)
{
    const SearchOptions usual;
    std::string text;
    const auto add = [&text](const std::string& what) {
        text += (text.empty() ? "" : ", ") + what;
    };
    if (search.method == ExhaustiveSearch().Name())
    {
        add(search.method);
    }
    if (search.objective != usual.goals.objective)
    {
        add("objective " + search.objective.Name());
    }
    if (search.keep != usual.keep)
    {
        add("keep " + std::to_string(search.keep));
    }
    if (search.paretoOf != FrontText(usual.goals.front))
    {
        add("pareto " + search.paretoOf);
    }
    if (search.gapAsked != usual.goals.gap)
    {
        add("gap " + NumberText(search.gapAsked));
    }
    if (search.restGapAsked != kUsualRestGap && search.method != ExhaustiveSearch().Name())
    {
        add("rest gap " + NumberText(search.restGapAsked));
    }
    return text;
}

namespace
{

std::vector<std::pair<std::string, std::string>>
SettingsIn(Database& database, const std::string& json)
{
    std::vector<std::pair<std::string, std::string>> settings;
    auto& select = database.Prepare("SELECT key, value FROM json_each(?)");
    select.bind(1, json);
    while (select.executeStep())
    {
        settings.emplace_back(select.getColumn(0).getString(), select.getColumn(1).getString());
    }
    select.reset();
    return settings;
}

/// Adds the runs of an unfinished search that lie beyond where it has come, which are ranked.
void
CountBeyond(Database& database, int64_t search, bool isWhole, Frontier& counts)
{
    // Positions of a shard are those of the whole, in which it does not begin at 0.
    const uint64_t next = counts.next;
    if (next > 0 && !isWhole)
    {
        return;
    }
    auto& select = database.Prepare(
        "SELECT status, IFNULL(reason, '') AS reason, count(*) AS count, IFNULL(min(detail), '') "
        "AS detail FROM search_run JOIN run ON run.id = run_id WHERE search_id = ? AND "
        "plan_index >= ? GROUP BY status, reason");
    select.bind(1, search);
    select.bind(2, static_cast<int64_t>(next));
    while (select.executeStep())
    {
        const auto count = static_cast<uint64_t>(select.getColumn("count").getInt64());
        if (select.getColumn("status").getString() == "ok")
        {
            counts.evaluated += count;
            continue;
        }
        Count& failed = counts.failed[select.getColumn("reason").getString()];
        failed.count += count;
        failed.example =
            failed.example.empty() ? select.getColumn("detail").getString() : failed.example;
    }
    select.reset();
}

} // namespace

Frontier
KnownCounts(Database& database, int64_t search)
{
    auto& select = database.Prepare("SELECT finished, shard IS NULL, plans, IFNULL(so_far, '') "
                                    "FROM search WHERE id = ?");
    select.bind(1, search);
    const bool isThere = select.executeStep();
    const bool isFinished = isThere && select.getColumn(0).getInt() != 0;
    const bool isWhole = isThere && select.getColumn(1).getInt() != 0;
    const uint64_t plans = isThere ? static_cast<uint64_t>(select.getColumn(2).getInt64()) : 0;
    const std::string soFar = isThere ? select.getColumn(3).getString() : "";
    select.reset();
    if (!soFar.empty())
    {
        return SoFarOf(database, soFar, plans).counts;
    }
    Frontier counts = CountsOf(database, search);
    if (!isFinished)
    {
        CountBeyond(database, search, isWhole, counts);
    }
    return counts;
}

std::vector<SearchSummary>
ListSearches(Database& database)
{
    std::vector<SearchSummary> searches;
    std::map<size_t, std::string> texts; // of SoFar, which are read when no statement is open
    auto& select = database.Prepare(
        "SELECT search.id, search.study AS study, IFNULL(settings, '') AS settings, shard, shards, "
        "engine, plans, "
        "finished, seconds, updated_at, objective, gpus, tokens, cost_per_hour, pareto_of, "
        "gap_asked, rest_gap_asked, method, keep, gap, sure, "
        "time_error_kind, time_error_mean, time_error_within, time_error_worst, "
        "time_error_runs, time_error_families, time_error_figures_of, time_error_unvalidated, "
        "IFNULL(explanation, '') AS explanation, IFNULL(topics, '') AS topics, "
        "placement_probability, IFNULL(robust, '') AS robust, held, "
        "so_far, warnings, IFNULL(checked, '') AS checked, scenario.study AS setting, space, "
        "CASE WHEN json_valid(scenario.text) THEN "
        "json_extract(scenario.text, '$.workload.memory_limit') END AS memory_limit "
        "FROM search JOIN scenario ON scenario.id = scenario_id "
        "ORDER BY updated_at DESC, search.id DESC");
    while (select.executeStep())
    {
        SearchSummary summary;
        summary.id = select.getColumn("id").getInt64();
        summary.study = select.getColumn("study").getString();
        if (const std::string settings = select.getColumn("settings").getString();
            !settings.empty())
        {
            summary.settings = SettingsIn(database, settings);
        }
        summary.setting = select.getColumn("setting").getString();
        summary.searched = KeysOfSpace(select.getColumn("space").getString());
        if (const SQLite::Column shard = select.getColumn("shard"); !shard.isNull())
        {
            const int64_t number = shard.getInt64();
            const int64_t count = select.getColumn("shards").getInt64();
            if (number < 1 || number > count)
            {
                select.reset();
                database.Damaged("a search is shard " + std::to_string(number) + " of " +
                                 std::to_string(count));
            }
            summary.shard = {static_cast<uint64_t>(number - 1), static_cast<uint64_t>(count)};
        }
        summary.engine = select.getColumn("engine").getString();
        summary.plans = static_cast<uint64_t>(select.getColumn("plans").getInt64());
        // Texts of scenarios leave out what is as usual.
        const SQLite::Column limit = select.getColumn("memory_limit");
        summary.memoryLimit = limit.isNull() || limit.getInt() != 0;
        summary.finished = select.getColumn("finished").getInt() != 0;
        summary.seconds = select.getColumn("seconds").getDouble();
        summary.updated = select.getColumn("updated_at").getString();
        summary.objective = ObjectiveOf(database, select);
        summary.rates = RatesOf(database, select);
        summary.gapAsked = select.getColumn("gap_asked").getDouble();
        summary.restGapAsked = select.getColumn("rest_gap_asked").getDouble();
        summary.paretoOf = select.getColumn("pareto_of").getString();
        summary.method = select.getColumn("method").getString();
        summary.keep = static_cast<uint64_t>(select.getColumn("keep").getInt64());
        summary.conclusion.gap = NumberOf(select.getColumn("gap"));
        summary.conclusion.sure = ProbabilityOf(database, select, "sure");
        summary.conclusion.timeError = TimeErrorOf(select);
        summary.conclusion.placement = ProbabilityOf(database, select, "placement_probability");
        // Details of failures may have lines of their own: then nobody knows which are about what.
        const auto lines = LinesOf(select.getColumn("explanation").getString());
        const auto topics = LinesOf(select.getColumn("topics").getString());
        for (size_t i = 0; i < lines.size(); i++)
        {
            summary.conclusion.explanation.push_back(
                {topics.size() == lines.size() ? topics[i] : "", lines[i]});
        }
        if (const SQLite::Column soFar = select.getColumn("so_far"); !soFar.isNull())
        {
            texts.emplace(searches.size(), soFar.getString());
        }
        if (const SQLite::Column warnings = select.getColumn("warnings"); !warnings.isNull())
        {
            summary.conclusion.warnings = LinesOf(warnings.getString());
            summary.warningsKnown = true;
        }
        summary.checked = LinesOf(select.getColumn("checked").getString());
        summary.held = select.getColumn("held").getString();
        summary.robust = select.getColumn("robust").getString();
        searches.push_back(std::move(summary));
    }
    select.reset();
    for (size_t i = 0; i < searches.size(); i++)
    {
        SearchSummary& summary = searches[i];
        summary.counts = CountsOf(database, summary.id);
        if (const auto text = texts.find(i); text != texts.end())
        {
            summary.soFar = SoFarOf(database, text->second, summary.plans);
            summary.counts = summary.soFar->counts;
        }
        else if (!summary.finished)
        {
            CountBeyond(database, summary.id, summary.shard.IsWhole(), summary.counts);
        }
    }
    return searches;
}

namespace
{

/// The runs of a search that have a result, best first: at most `top` of those of which a condition
/// holds.
std::vector<KeptRun>
RunsWhere(Database& database,
          const SearchSummary& search,
          const std::string& condition,
          int64_t top)
{
    RefuseMissingRuns(database, search.id);
    // As RankOrder has it: a finished search has its ranks from it too.
    auto& select = database.Prepare(
        "SELECT * FROM (SELECT run_id, ROW_NUMBER() OVER (ORDER BY " + search.objective->figure +
        ", iteration_time_s, plan.text) AS place, pareto, "
        "best_of_crossing, search_run.label AS label, probability_best, probability_slower, "
        "IFNULL(same_as, 0) AS same_as "
        "FROM search_run JOIN run ON run.id = run_id JOIN plan ON plan.id = plan_id "
        "WHERE search_id = ? AND status = 'ok') WHERE " +
        condition + " ORDER BY place LIMIT ?");
    select.bind(1, search.id);
    select.bind(2, top);
    std::vector<KeptRun> runs;
    std::vector<int64_t> ids;
    while (select.executeStep())
    {
        KeptRun kept;
        ids.push_back(select.getColumn("run_id").getInt64());
        kept.rank = static_cast<uint64_t>(select.getColumn("place").getInt64());
        kept.pareto = select.getColumn("pareto").getInt() != 0;
        kept.bestOfCrossing = select.getColumn("best_of_crossing").getInt() != 0;
        kept.label = select.getColumn("label").getString();
        kept.sureness = {ProbabilityOf(database, select, "probability_best"),
                         ProbabilityOf(database, select, "probability_slower"),
                         static_cast<uint64_t>(select.getColumn("same_as").getInt64())};
        runs.push_back(std::move(kept));
    }
    select.reset();
    for (size_t i = 0; i < runs.size(); i++)
    {
        runs[i].run = LoadRun(database, ids[i]);
    }
    return runs;
}

} // namespace

std::vector<KeptRun>
BestRuns(Database& database, const SearchSummary& search, uint64_t top)
{
    return RunsWhere(database, search, "1", static_cast<int64_t>(top));
}

std::vector<KeptRun>
FrontRuns(Database& database, const SearchSummary& search)
{
    return RunsWhere(database, search, "pareto", -1);
}

std::vector<KeptRun>
PlacementRuns(Database& database, const SearchSummary& search)
{
    return RunsWhere(database, search, "best_of_crossing", -1);
}

std::vector<KeptBaseline>
BaselinesOf(Database& database, int64_t search)
{
    auto& select = database.Prepare("SELECT name, run_id, IFNULL(label, '') AS label, "
                                    "probability_slower, IFNULL(reason, '') AS reason, "
                                    "IFNULL(detail, '') AS detail "
                                    "FROM baseline WHERE search_id = ? ORDER BY name");
    select.bind(1, search);
    std::vector<KeptBaseline> baselines;
    std::vector<int64_t> ids;
    while (select.executeStep())
    {
        KeptBaseline baseline;
        baseline.name = select.getColumn("name").getString();
        baseline.label = select.getColumn("label").getString();
        baseline.reason = {select.getColumn("reason").getString(),
                           select.getColumn("detail").getString()};
        baseline.probabilitySlower = ProbabilityOf(database, select, "probability_slower");
        ids.push_back(select.isColumnNull("run_id") ? 0 : select.getColumn("run_id").getInt64());
        baselines.push_back(std::move(baseline));
    }
    select.reset();
    for (size_t i = 0; i < baselines.size(); i++)
    {
        if (ids[i] != 0)
        {
            baselines[i].run = LoadRun(database, ids[i]);
            baselines[i].assumed = std::exchange(baselines[i].reason.detail, "");
        }
    }
    return baselines;
}

std::vector<StoredRun>
OtherRuns(Database& database, int64_t search)
{
    auto& select = database.Prepare(
        "WITH named AS (SELECT search_id, run_id, label FROM search_run UNION ALL "
        "SELECT search_id, run_id, label FROM baseline) "
        "SELECT run.id AS id, IFNULL((SELECT named.label FROM named JOIN run AS own "
        "ON own.id = named.run_id WHERE named.search_id = search.id AND "
        "own.plan_id = run.plan_id LIMIT 1), '') AS label "
        "FROM run JOIN search ON search.scenario_id = run.scenario_id "
        "WHERE search.id = ? AND run.engine <> search.engine ORDER BY run.engine, run.id");
    select.bind(1, search);
    std::vector<std::pair<int64_t, std::string>> found;
    while (select.executeStep())
    {
        found.emplace_back(select.getColumn("id").getInt64(),
                           select.getColumn("label").getString());
    }
    select.reset();
    std::vector<StoredRun> runs;
    for (const auto& [id, label] : found)
    {
        runs.push_back(LoadRun(database, id));
        runs.back().label = label.empty() ? runs.back().label : label;
    }
    return runs;
}

std::vector<RunOfSetting>
LastRuns(Database& database, uint64_t top)
{
    auto& select = database.Prepare(
        "SELECT run.id, study FROM run JOIN scenario ON scenario.id = scenario_id "
        "WHERE status = 'ok' AND scenario_id = (SELECT scenario_id FROM run ORDER BY created_at "
        "DESC, id DESC LIMIT 1) ORDER BY iteration_time_s, run.id LIMIT ?");
    select.bind(1, static_cast<int64_t>(top));
    std::vector<RunOfSetting> runs;
    while (select.executeStep())
    {
        runs.push_back({select.getColumn(0).getInt64(), select.getColumn(1).getString(), {}});
    }
    select.reset();
    for (RunOfSetting& one : runs)
    {
        one.run = LoadRun(database, one.id);
    }
    return runs;
}

} // namespace scaleacross
