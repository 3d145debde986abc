// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/run-store.h"

#include "core/base/version.h"

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
InsertPlanSql()
{
    std::string columns = "hash, text, label";
    std::string values = "?, ?, ?";
    for (const auto& column : PlanColumns())
    {
        columns += ", " + column.name;
        values += ", ?";
    }
    return "INSERT INTO plan (" + columns + ") VALUES (" + values + ")";
}

const char* const g_putRun = R"sql(
INSERT INTO run (scenario_id, engine, options, correction, seed, fingerprint, plan_id,
                 status, reason, detail,
                 iteration_time_s, mfu, compute_s, bubble_s, bubble_fraction, exposed_comm_s,
                 memory_bytes_max, cross_building_bytes, warmup, iterations,
                 packets_sent, packets_delivered, packets_dropped, packets_in_flight,
                 retransmissions, pauses, collision_factor,
                 requested, program_version, git_commit, time_limit_s, memory_limit)
VALUES (:scenario, :engine, :options, :correction, :seed, :fingerprint, :plan,
        :status, :reason, :detail,
        :time, :mfu, :compute, :bubble, :bubbleFraction, :exposed,
        :memory, :cross, :warmup, :iterations,
        :sent, :delivered, :dropped, :inFlight, :retransmissions, :pauses, :collision,
        :requested, :program, :commit, :wall, :space)
ON CONFLICT (scenario_id, engine, options, correction, fingerprint, IFNULL(seed, -1), plan_id)
DO UPDATE SET
    status = excluded.status, reason = excluded.reason, detail = excluded.detail,
    iteration_time_s = excluded.iteration_time_s, mfu = excluded.mfu,
    compute_s = excluded.compute_s, bubble_s = excluded.bubble_s,
    bubble_fraction = excluded.bubble_fraction, exposed_comm_s = excluded.exposed_comm_s,
    memory_bytes_max = excluded.memory_bytes_max,
    cross_building_bytes = excluded.cross_building_bytes,
    warmup = excluded.warmup, iterations = excluded.iterations,
    packets_sent = excluded.packets_sent, packets_delivered = excluded.packets_delivered,
    packets_dropped = excluded.packets_dropped, packets_in_flight = excluded.packets_in_flight,
    retransmissions = excluded.retransmissions, pauses = excluded.pauses,
    collision_factor = excluded.collision_factor,
    requested = MAX(requested, excluded.requested), evaluations = evaluations + 1,
    program_version = excluded.program_version, git_commit = excluded.git_commit,
    time_limit_s = excluded.time_limit_s, memory_limit = excluded.memory_limit
RETURNING id
)sql";

/// Of stored runs those of the setting.
const std::string g_ofSetting =
    "scenario_id = :scenario AND engine = :engine AND options = :options AND "
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
BindReport(SQLite::Statement& put, const RunReport& report)
{
    put.bind(":time", report.iterationTime.S());
    put.bind(":mfu", report.mfu);
    put.bind(":compute", report.computeTime.S());
    put.bind(":bubble", report.bubble.S());
    put.bind(":bubbleFraction", report.bubbleFraction);
    put.bind(":exposed", report.exposedComm.S());
    put.bind(":memory", Count(report.memoryMax));
    put.bind(":cross", Count(report.crossBuildingBytes));
    put.bind(":warmup", report.warmup);
    put.bind(":iterations", report.iterations);
    put.bind(":sent", Signed(report.network.packetsSent));
    put.bind(":delivered", Signed(report.network.packetsDelivered));
    put.bind(":dropped", Signed(report.network.packetsDropped));
    put.bind(":inFlight", Signed(report.network.packetsInFlight));
    put.bind(":retransmissions", Signed(report.network.retransmissions));
    put.bind(":pauses", Signed(report.network.pauses));
    put.bind(":collision", report.network.collisionFactor);
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
        put.bind(":wall", limits.wallTime.S());
    }
    if (limits.memory != Bytes())
    {
        put.bind(":space", Count(limits.memory));
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

const std::vector<PlanColumn>&
PlanColumns()
{
    static const std::vector<PlanColumn> columns = {
        {"tp", "plan.tp"},
        {"cp", "plan.cp"},
        {"ep", "plan.ep"},
        {"pp", "plan.pp"},
        {"dp", "plan.dp"},
        {"crossing", "plan.crossing"},
        {"sharding", "plan.sharding"},
        {"reshard", "plan.reshard"},
        {"schedule", "plan.schedule"},
        {"microbatch", "plan.microbatch"},
        {"chunks", "plan.chunks"},
        {"round", "plan.round"},
        {"recompute", "plan.recompute"},
        {"collective", "network.collective"},
        {"multipath", "network.multipath"},
        {"qps", "network.qps"},
        {"transport", "network.transport"},
        {"recovery", "network.recovery"},
        {"control", "network.control"},
        {"balance", "network.balance"},
        {"all_to_all", "network.all_to_all"},
        {"copy", "network.copy"},
    };
    return columns;
}

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
            "INSERT INTO scenario (hash, text) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING");
        insert.bind(1, hash);
        insert.bind(2, m_setting.setting);
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
    statement.bind(":scenario", ScenarioId());
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
    auto& put = m_database.Prepare(g_putRun);
    BindKey(put);
    put.bind(":plan", planId);
    put.bind(":requested", requested ? 1 : 0);
    put.bind(":program", std::string(Version()));
    put.bind(":commit", std::string(GitCommit()));
    const auto* report = std::get_if<RunReport>(&evaluation);
    if (report != nullptr)
    {
        put.bind(":status", "ok");
        BindReport(put, *report);
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
    for (const char* table : {"run_class", "run_memory", "run_resource"})
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
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        const ClassReport& part = report.classes[c];
        auto& insert = m_database.Prepare("INSERT INTO run_class VALUES (?, ?, ?, ?, ?, ?)");
        insert.bind(1, run);
        insert.bind(2, ToString(static_cast<CommClass>(c)));
        insert.bind(3, part.busy.S());
        insert.bind(4, part.exposed.S());
        insert.bind(5, Count(part.bytes));
        insert.bind(6, Count(part.crossBytes));
        Database::Run(insert);
    }
    for (size_t stage = 0; stage < report.memory.size(); stage++)
    {
        const MemoryUse& use = report.memory[stage];
        auto& insert = m_database.Prepare("INSERT INTO run_memory VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        insert.bind(1, run);
        insert.bind(2, Signed(stage));
        insert.bind(3, Count(use.parameters));
        insert.bind(4, Count(use.gradients));
        insert.bind(5, Count(use.optimizer));
        insert.bind(6, Count(use.activations));
        insert.bind(7, Count(use.gathered));
        insert.bind(8, Count(use.buffers));
        Database::Run(insert);
    }
    for (size_t i = 0; i < report.resources.size(); i++)
    {
        const ResourceReport& resource = report.resources[i];
        auto& insert = m_database.Prepare("INSERT INTO run_resource VALUES (?, ?, ?, ?, ?, ?, ?)");
        insert.bind(1, run);
        insert.bind(2, Signed(i));
        insert.bind(3, resource.name);
        insert.bind(4, Count(resource.bytes));
        insert.bind(5, resource.capacity.Value());
        insert.bind(6, resource.shared ? 1 : 0);
        insert.bind(7, resource.busy);
        Database::Run(insert);
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
