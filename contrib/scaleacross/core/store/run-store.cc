// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/run-store.h"

#include "core/base/version.h"
#include "core/engine/model-figures.h"
#include "core/store/schema.h"

#include <limits>
#include <utility>

namespace scaleacross
{

namespace
{

int64_t
Signed(uint64_t value)
{
    return static_cast<int64_t>(value);
}

int64_t
Count(Bytes value)
{
    return Signed(value.Count());
}

std::string
Quote(const std::string& column)
{
    return "\"" + column + "\"";
}

std::string
InsertPlanSql()
{
    std::string columns = "hash, text, label";
    std::string values = "?, ?, ?";
    for (const auto& column : PlanColumns())
    {
        columns += ", " + Quote(column.name);
        values += ", ?";
    }
    return "INSERT INTO plan (" + columns + ") VALUES (" + values + ")";
}

/// The columns of figures, as in "busy_s, exposed_s".
template <class Owner>
void
AddKeys(std::vector<std::string>& columns)
{
    for (const auto& figure : Owner::Figures())
    {
        columns.push_back(figure.key);
    }
}

template <class Owner>
void
BindFigures(SQLite::Statement& put, const Owner& owner)
{
    for (const auto& figure : Owner::Figures())
    {
        const FigureValue value = figure.get(owner);
        const std::string name = ":" + figure.key;
        if (const auto* number = std::get_if<double>(&value))
        {
            put.bind(name, *number);
        }
        else if (const auto* count = std::get_if<uint64_t>(&value))
        {
            put.bind(name, Signed(*count));
        }
        else
        {
            put.bind(name, std::get<bool>(value) ? 1 : 0);
        }
    }
}

/// "INSERT INTO table (a, b) VALUES (:a, :b)"
std::string
InsertSql(const std::string& table, const std::vector<std::string>& columns)
{
    std::string names;
    std::string values;
    for (const auto& column : columns)
    {
        names += (names.empty() ? "" : ", ") + Quote(column);
        values += (values.empty() ? ":" : ", :") + column;
    }
    return "INSERT INTO " + table + " (" + names + ") VALUES (" + values + ")";
}

/// The same of a part of a report, after the columns that tell parts apart.
template <class Owner>
std::string
InsertPartSql(const std::string& table, std::vector<std::string> columns)
{
    AddKeys<Owner>(columns);
    return InsertSql(table, columns);
}

/// Stores a run, or what it is now in its place.
std::string
PutRunSql()
{
    std::vector<std::string> columns = {"scenario_id",
                                        "engine",
                                        "options",
                                        "correction",
                                        "seed",
                                        "fingerprint",
                                        "plan_id",
                                        "requested"};
    const size_t own = columns.size();
    columns.insert(columns.end(),
                   {"status",
                    "reason",
                    "detail",
                    "program_version",
                    "git_commit",
                    "time_limit_s",
                    "memory_limit"});
    AddKeys<RunReport>(columns);
    AddKeys<NetworkReport>(columns);
    std::string sql =
        InsertSql("run", columns) +
        " ON CONFLICT (scenario_id, engine, options, correction, fingerprint, IFNULL(seed, -1), "
        "plan_id) DO UPDATE SET requested = MAX(requested, excluded.requested), "
        "evaluations = evaluations + 1";
    for (size_t i = own; i < columns.size(); i++)
    {
        sql += ", " + Quote(columns[i]) + " = excluded." + Quote(columns[i]);
    }
    return sql + " RETURNING id";
}

/// Of stored runs those of the setting.
const std::string g_ofSetting =
    "scenario_id = :scenario_id AND engine = :engine AND options = :options AND "
    "correction = :correction AND fingerprint = :fingerprint AND seed IS :seed";

/// Of them those that answer.
const std::string g_answers =
    "(status <> 'failed' OR (:failures AND IFNULL(time_limit_s, 9e999) >= :wall AND "
    "IFNULL(memory_limit, 9e999) >= :space))";

/// The limits of a setting as numbers, infinite where there is none.
double
WallSeconds(const RunLimits& limits)
{
    return limits.wallTime == Duration::Max() ? std::numeric_limits<double>::infinity()
                                              : limits.wallTime.S();
}

double
SpaceBytes(const RunLimits& limits)
{
    return limits.memory == Bytes() ? std::numeric_limits<double>::infinity()
                                    : static_cast<double>(limits.memory.Count());
}

void
BindReason(SQLite::Statement& put,
           const char* status,
           const std::string& reason,
           const std::string& detail)
{
    put.bind(":status", status);
    put.bind(":reason", reason);
    put.bind(":detail", detail);
}

/// NULL: no limit.
void
BindLimits(SQLite::Statement& put, const RunLimits& limits)
{
    if (limits.wallTime != Duration::Max())
    {
        put.bind(":time_limit_s", limits.wallTime.S());
    }
    if (limits.memory != Bytes())
    {
        put.bind(":memory_limit", Count(limits.memory));
    }
}

/// A row number, if the statement finds one.
std::optional<int64_t>
FirstOf(SQLite::Statement& select)
{
    std::optional<int64_t> found;
    if (select.executeStep())
    {
        found = select.getColumn(0).getInt64();
    }
    select.reset();
    return found;
}

} // namespace

RunStore::RunStore(Database& database, RunSetting setting, Failures failures)
    : m_database(database),
      m_setting(std::move(setting)),
      m_failures(failures)
{
}

int64_t
RunStore::ScenarioId()
{
    if (m_scenario == 0)
    {
        const std::string hash = HashOf(m_setting.setting);
        auto& insert = m_database.Prepare(
            "INSERT INTO scenario (hash, text, study, distance_km, capacity_bps, loss, "
            "oversubscription) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET "
            "study = excluded.study, "
            "distance_km = excluded.distance_km, capacity_bps = excluded.capacity_bps, "
            "loss = excluded.loss, oversubscription = excluded.oversubscription "
            "WHERE study IS NOT excluded.study");
        insert.bind(1, hash);
        insert.bind(2, m_setting.setting);
        insert.bind(3, m_setting.study);
        int position = 4;
        for (const auto& figure : {m_setting.spans.distanceKm,
                                   m_setting.spans.capacityBps,
                                   m_setting.spans.loss,
                                   m_setting.spans.oversubscription})
        {
            if (figure)
            {
                insert.bind(position, *figure);
            }
            position++;
        }
        Database::Run(insert);
        auto& find = m_database.Prepare("SELECT id FROM scenario WHERE hash = ?");
        find.bind(1, hash);
        find.executeStep();
        m_scenario = find.getColumn(0).getInt64();
        find.reset();
    }
    return m_scenario;
}

void
RunStore::BindKey(SQLite::Statement& statement)
{
    statement.bind(":scenario_id", ScenarioId());
    statement.bind(":engine", m_setting.engine);
    statement.bind(":options", m_setting.options);
    statement.bind(":correction", m_setting.correction);
    statement.bind(":fingerprint", m_setting.fingerprint);
    if (m_setting.seed)
    {
        statement.bind(":seed", Signed(*m_setting.seed));
    }
}

void
RunStore::BindAnswer(SQLite::Statement& statement)
{
    statement.bind(":failures", m_failures == Failures::Keep ? 1 : 0);
    statement.bind(":wall", WallSeconds(m_setting.limits));
    statement.bind(":space", SpaceBytes(m_setting.limits));
}

std::unordered_map<std::string, int64_t>
RunStore::Since(int64_t row)
{
    // The plus keeps SQLite from going through all runs of the scenario for a few new ones.
    auto& select =
        m_database.Prepare("SELECT plan.hash, run.id FROM run JOIN plan ON plan.id = run.plan_id "
                           "WHERE run.id > :row AND +" +
                           g_ofSetting + " AND " + g_answers);
    BindKey(select);
    BindAnswer(select);
    select.bind(":row", row);
    std::unordered_map<std::string, int64_t> runs;
    while (select.executeStep())
    {
        runs.emplace(select.getColumn(0).getString(), select.getColumn(1).getInt64());
    }
    select.reset();
    return runs;
}

std::optional<int64_t>
RunStore::Find(const Plan& plan)
{
    return FindText(CanonicalText(plan));
}

std::optional<int64_t>
RunStore::FindText(const std::string& planText)
{
    auto& select = m_database.Prepare("SELECT run.id FROM run JOIN plan ON plan.id = run.plan_id "
                                      "WHERE plan.hash = :hash AND " +
                                      g_ofSetting + " AND " + g_answers);
    BindKey(select);
    BindAnswer(select);
    select.bind(":hash", HashOf(planText));
    return FirstOf(select);
}

/// A run that a failure of this setting does not replace.
std::optional<int64_t>
RunStore::FindBetter(const std::string& planText)
{
    auto& select = m_database.Prepare(
        "SELECT run.id FROM run JOIN plan ON plan.id = run.plan_id "
        "WHERE plan.hash = :hash AND " +
        g_ofSetting +
        " AND (status <> 'failed' OR (IFNULL(time_limit_s, 9e999) >= :wall AND "
        "IFNULL(memory_limit, 9e999) >= :space AND "
        "NOT (IFNULL(time_limit_s, 9e999) = :wall AND IFNULL(memory_limit, 9e999) = :space)))");
    BindKey(select);
    select.bind(":wall", WallSeconds(m_setting.limits));
    select.bind(":space", SpaceBytes(m_setting.limits));
    select.bind(":hash", HashOf(planText));
    return FirstOf(select);
}

bool
RunStore::Answers(const StoredRun& run)
{
    return !std::holds_alternative<Failure>(run.evaluation) || FindText(run.planText).has_value();
}

bool
RunStore::HasOpenFailures(int64_t search)
{
    // Of the failures that it has counted some are not there any more, or do not answer: they have
    // been run again, here or by others, or may be.
    auto& select =
        m_database.Prepare("SELECT 1 WHERE (SELECT IFNULL(SUM(count), 0) FROM search_count "
                           "WHERE search_id = :search AND outcome = 'failed') > "
                           "(SELECT COUNT(*) FROM search_run JOIN run ON run.id = run_id "
                           "WHERE search_id = :search AND status = 'failed' AND " +
                           g_answers + ")");
    BindAnswer(select);
    select.bind(":search", search);
    return FirstOf(select).has_value();
}

std::optional<StoredRun>
RunStore::Load(const Plan& plan)
{
    std::optional<StoredRun> stored;
    ScenarioId(); // which may write
    m_database.Snapshot([&] {
        if (const auto run = Find(plan))
        {
            stored = LoadRun(m_database, *run);
        }
    });
    return stored;
}

int64_t
RunStore::PlanId(const Plan& plan)
{
    const std::string text = CanonicalText(plan);
    const std::string hash = HashOf(text);
    auto& find = m_database.Prepare("SELECT id FROM plan WHERE hash = ?");
    find.bind(1, hash);
    const bool known = find.executeStep();
    const int64_t id = known ? find.getColumn(0).getInt64() : 0;
    find.reset();
    if (known)
    {
        return id;
    }
    static const std::string sql = InsertPlanSql();
    auto& insert = m_database.Prepare(sql);
    int column = 1;
    insert.bind(column++, hash);
    insert.bind(column++, text);
    insert.bind(column++, Label(plan));
    for (const auto& [name, key] : PlanColumns())
    {
        insert.bind(column++, FindPlanField(key)->get(plan));
    }
    Database::Run(insert);
    return m_database.LastInsertId();
}

int64_t
RunStore::Put(const Plan& plan, const Evaluation& evaluation, bool requested)
{
    if (std::holds_alternative<Failure>(evaluation))
    {
        if (const auto better = FindBetter(CanonicalText(plan)))
        {
            return *better;
        }
    }
    const int64_t planId = PlanId(plan);
    static const std::string sql = PutRunSql();
    auto& put = m_database.Prepare(sql);
    BindKey(put);
    put.bind(":plan_id", planId);
    put.bind(":requested", requested ? 1 : 0);
    put.bind(":program_version", std::string(Version()));
    put.bind(":git_commit", std::string(GitCommit()));
    const auto* report = std::get_if<RunReport>(&evaluation);
    if (report != nullptr)
    {
        put.bind(":status", "ok");
        BindFigures(put, *report);
        for (const char* key : kModelFigures)
        {
            if (!HasModel(*report))
            {
                put.bind(std::string(":") + key); // null
            }
        }
        BindFigures(put, report->network);
    }
    else if (const auto* infeasible = std::get_if<Infeasible>(&evaluation))
    {
        BindReason(put, "infeasible", infeasible->reason, infeasible->detail);
    }
    else
    {
        const auto& failure = std::get<Failure>(evaluation);
        BindReason(put, "failed", failure.reason, failure.detail);
        BindLimits(put, m_setting.limits);
    }
    put.executeStep();
    const int64_t run = put.getColumn(0).getInt64();
    put.reset();
    for (const char* table : {"run_class",
                              "run_memory",
                              "run_resource",
                              "run_correction",
                              "run_correction_note",
                              "run_fast_forward"})
    {
        auto& clear = m_database.Prepare(std::string("DELETE FROM ") + table + " WHERE run_id = ?");
        clear.bind(1, run);
        Database::Run(clear);
    }
    if (report != nullptr)
    {
        PutParts(run, *report);
    }
    return run;
}

void
RunStore::PutParts(int64_t run, const RunReport& report)
{
    static const std::string classSql =
        InsertPartSql<ClassReport>("run_class", {"run_id", "class"});
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        auto& insert = m_database.Prepare(classSql);
        insert.bind(":run_id", run);
        insert.bind(":class", ToString(static_cast<CommClass>(c)));
        BindFigures(insert, report.classes[c]);
        Database::Run(insert);
    }
    static const std::string memorySql =
        InsertPartSql<MemoryUse>("run_memory", {"run_id", "stage"});
    for (size_t stage = 0; stage < report.memory.size(); stage++)
    {
        auto& insert = m_database.Prepare(memorySql);
        insert.bind(":run_id", run);
        insert.bind(":stage", Signed(stage));
        BindFigures(insert, report.memory[stage]);
        Database::Run(insert);
    }
    static const std::string resourceSql =
        InsertPartSql<ResourceReport>("run_resource", {"run_id", "position", "name"});
    for (size_t i = 0; i < report.resources.size(); i++)
    {
        auto& insert = m_database.Prepare(resourceSql);
        insert.bind(":run_id", run);
        insert.bind(":position", Signed(i));
        insert.bind(":name", report.resources[i].name);
        BindFigures(insert, report.resources[i]);
        Database::Run(insert);
    }
    if (report.correction)
    {
        PutCorrection(run, *report.correction);
    }
    if (report.fastForward)
    {
        static const std::string sql =
            InsertPartSql<FastForwardReport>("run_fast_forward", {"run_id"});
        auto& insert = m_database.Prepare(sql);
        insert.bind(":run_id", run);
        BindFigures(insert, *report.fastForward);
        Database::Run(insert);
    }
}

void
RunStore::PutCorrection(int64_t run, const CorrectionReport& correction)
{
    static const std::string sql =
        InsertPartSql<CorrectionReport>("run_correction", {"run_id", "set_name"});
    auto& insert = m_database.Prepare(sql);
    insert.bind(":run_id", run);
    insert.bind(":set_name", correction.set);
    BindFigures(insert, correction);
    Database::Run(insert);
    int64_t position = 0;
    for (const auto& [kind, operations] :
         {std::pair("missing", &correction.missing), std::pair("unreached", &correction.unreached)})
    {
        for (const std::string& operation : *operations)
        {
            auto& note = m_database.Prepare(
                "INSERT INTO run_correction_note (run_id, position, kind, operation) "
                "VALUES (?, ?, ?, ?)");
            note.bind(1, run);
            note.bind(2, position++);
            note.bind(3, kind);
            note.bind(4, operation);
            Database::Run(note);
        }
    }
}

void
RunStore::Request(int64_t run)
{
    auto& update = m_database.Prepare("UPDATE run SET requested = 1 WHERE id = ?");
    update.bind(1, run);
    Database::Run(update);
}

} // namespace scaleacross
