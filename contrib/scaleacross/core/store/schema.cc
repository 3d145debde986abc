// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/schema.h"

#include "core/engine/run-report.h"
#include "core/spec/plan-fields.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>

namespace scaleacross
{

namespace
{

const char* const g_version1 = R"sql(
CREATE TABLE scenario (
    id   INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL
);

CREATE TABLE plan (
    id         INTEGER PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,
    text       TEXT NOT NULL,
    label      TEXT NOT NULL,
    tp         INTEGER NOT NULL,
    cp         INTEGER NOT NULL,
    ep         INTEGER NOT NULL,
    pp         INTEGER NOT NULL,
    dp         INTEGER NOT NULL,
    crossing   TEXT NOT NULL,
    sharding   TEXT NOT NULL,
    reshard    TEXT NOT NULL,
    schedule   TEXT NOT NULL,
    microbatch INTEGER NOT NULL,
    chunks     INTEGER NOT NULL,
    round      INTEGER NOT NULL,
    recompute  TEXT NOT NULL,
    collective TEXT NOT NULL,
    multipath  TEXT NOT NULL,
    qps        INTEGER NOT NULL
);

CREATE TABLE run (
    id                   INTEGER PRIMARY KEY,
    scenario_id          INTEGER NOT NULL REFERENCES scenario (id),
    plan_id              INTEGER NOT NULL REFERENCES plan (id),
    engine               TEXT NOT NULL,
    options              TEXT NOT NULL,
    correction           TEXT NOT NULL,
    seed                 INTEGER,
    result_version       INTEGER NOT NULL,
    status               TEXT NOT NULL CHECK (status IN ('ok', 'infeasible', 'failed')),
    reason               TEXT,
    detail               TEXT,
    iteration_time_s     REAL,
    mfu                  REAL,
    compute_s            REAL,
    bubble_s             REAL,
    bubble_fraction      REAL,
    exposed_comm_s       REAL,
    memory_bytes_max     INTEGER,
    cross_building_bytes INTEGER,
    warmup               INTEGER,
    iterations           INTEGER,
    packets_sent         INTEGER,
    packets_delivered    INTEGER,
    packets_dropped      INTEGER,
    packets_in_flight    INTEGER,
    retransmissions      INTEGER,
    pauses               INTEGER,
    collision_factor     REAL,
    requested            INTEGER NOT NULL,
    evaluations          INTEGER NOT NULL DEFAULT 1,
    program_version      TEXT NOT NULL,
    git_commit           TEXT NOT NULL,
    created_at           TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CHECK ((status = 'ok') = (iteration_time_s IS NOT NULL)),
    CHECK ((status = 'ok') = (reason IS NULL))
);
CREATE UNIQUE INDEX run_key ON run
    (scenario_id, engine, options, correction, result_version, IFNULL(seed, -1), plan_id);
CREATE INDEX run_plan ON run (plan_id);

CREATE TABLE run_class (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    class       TEXT NOT NULL,
    busy_s      REAL NOT NULL,
    exposed_s   REAL NOT NULL,
    bytes       INTEGER NOT NULL,
    cross_bytes INTEGER NOT NULL,
    PRIMARY KEY (run_id, class)
) WITHOUT ROWID;

CREATE TABLE run_memory (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    stage       INTEGER NOT NULL,
    parameters  INTEGER NOT NULL,
    gradients   INTEGER NOT NULL,
    optimizer   INTEGER NOT NULL,
    activations INTEGER NOT NULL,
    gathered    INTEGER NOT NULL,
    buffers     INTEGER NOT NULL,
    PRIMARY KEY (run_id, stage)
) WITHOUT ROWID;

CREATE TABLE search (
    id             INTEGER PRIMARY KEY,
    hash           TEXT NOT NULL UNIQUE,
    study          TEXT NOT NULL,
    method         TEXT NOT NULL,
    scenario_id    INTEGER NOT NULL REFERENCES scenario (id),
    engine         TEXT NOT NULL,
    options        TEXT NOT NULL,
    correction     TEXT NOT NULL,
    seed           INTEGER,
    result_version INTEGER NOT NULL,
    space          TEXT NOT NULL,
    plans          INTEGER NOT NULL,
    keep           INTEGER NOT NULL,
    next_plan      INTEGER NOT NULL DEFAULT 0,
    evaluated      INTEGER NOT NULL DEFAULT 0,
    bound_s        REAL,
    engine_runs    INTEGER NOT NULL DEFAULT 0,
    seconds        REAL NOT NULL DEFAULT 0,
    finished       INTEGER NOT NULL DEFAULT 0,
    gap            REAL,
    explanation    TEXT,
    created_at     TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at     TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX search_scenario ON search (scenario_id);

CREATE TABLE search_count (
    search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    outcome   TEXT NOT NULL CHECK (outcome IN ('rejected', 'failed')),
    reason    TEXT NOT NULL,
    count     INTEGER NOT NULL,
    example   TEXT NOT NULL,
    PRIMARY KEY (search_id, outcome, reason)
) WITHOUT ROWID;

CREATE TABLE search_run (
    search_id  INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    plan_index INTEGER NOT NULL,
    run_id     INTEGER NOT NULL REFERENCES run (id),
    label      TEXT NOT NULL,
    rank       INTEGER,
    pareto     INTEGER NOT NULL DEFAULT 0,
    best_of_crossing INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (search_id, plan_index)
) WITHOUT ROWID;
CREATE INDEX search_run_run ON search_run (run_id);

CREATE TABLE baseline (
    search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    run_id    INTEGER REFERENCES run (id),
    reason    TEXT,
    detail    TEXT,
    PRIMARY KEY (search_id, name),
    CHECK ((run_id IS NULL) = (reason IS NOT NULL))
) WITHOUT ROWID;
CREATE INDEX baseline_run ON baseline (run_id);
)sql";

/// Plans are filled from their canonical texts, "tp=8 ... recovery=go-back-n ...". Those written
/// before there was a choice lack the key, and ran what is the default here.
const char* const g_version2 = R"sql(
ALTER TABLE plan ADD COLUMN transport TEXT NOT NULL DEFAULT 'roce';
ALTER TABLE plan ADD COLUMN recovery TEXT NOT NULL DEFAULT 'go-back-n';
ALTER TABLE plan ADD COLUMN control TEXT NOT NULL DEFAULT 'none';
ALTER TABLE plan ADD COLUMN balance TEXT NOT NULL DEFAULT 'round-robin';
UPDATE plan SET transport =
    substr(text, instr(text, ' transport=') + length(' transport='),
           instr(substr(text || ' ', instr(text, ' transport=') + length(' transport=')), ' ') - 1)
WHERE instr(text, ' transport=') > 0;
UPDATE plan SET recovery =
    substr(text, instr(text, ' recovery=') + length(' recovery='),
           instr(substr(text || ' ', instr(text, ' recovery=') + length(' recovery=')), ' ') - 1)
WHERE instr(text, ' recovery=') > 0;
UPDATE plan SET control =
    substr(text, instr(text, ' control=') + length(' control='),
           instr(substr(text || ' ', instr(text, ' control=') + length(' control=')), ' ') - 1)
WHERE instr(text, ' control=') > 0;
UPDATE plan SET balance =
    substr(text, instr(text, ' balance=') + length(' balance='),
           instr(substr(text || ' ', instr(text, ' balance=') + length(' balance=')), ' ') - 1)
WHERE instr(text, ' balance=') > 0;
)sql";

/// The same for what came later.
const char* const g_version3 = R"sql(
ALTER TABLE plan ADD COLUMN all_to_all TEXT NOT NULL DEFAULT 'follow';
ALTER TABLE plan ADD COLUMN copy TEXT NOT NULL DEFAULT 'zero-copy';
UPDATE plan SET all_to_all =
    substr(text, instr(text, ' all_to_all=') + length(' all_to_all='),
           instr(substr(text || ' ', instr(text, ' all_to_all=') + length(' all_to_all=')), ' ') - 1)
WHERE instr(text, ' all_to_all=') > 0;
UPDATE plan SET copy =
    substr(text, instr(text, ' copy=') + length(' copy='),
           instr(substr(text || ' ', instr(text, ' copy=') + length(' copy=')), ' ') - 1)
WHERE instr(text, ' copy=') > 0;
)sql";

/// What went over links; runs of before have none.
const char* const g_version4 = R"sql(
CREATE TABLE run_resource (
    run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    name         TEXT NOT NULL,
    bytes        INTEGER NOT NULL,
    capacity_bps REAL NOT NULL,
    shared       INTEGER NOT NULL,
    busy         REAL NOT NULL,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
)sql";

/// Results of older releases were told apart by a number that was raised by hand. They stay, under
/// a name that no fingerprint has.
const char* const g_version5 = R"sql(
ALTER TABLE run ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
UPDATE run SET fingerprint = 'version ' || result_version;
DROP INDEX run_key;
ALTER TABLE run DROP COLUMN result_version;
CREATE UNIQUE INDEX run_key ON run
    (scenario_id, engine, options, correction, fingerprint, IFNULL(seed, -1), plan_id);
ALTER TABLE search ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
UPDATE search SET fingerprint = 'version ' || result_version;
ALTER TABLE search DROP COLUMN result_version;
)sql";

/// What a failed run was allowed. Failures of before answer for nobody: nobody has less than 0.
const char* const g_version6 = R"sql(
ALTER TABLE run ADD COLUMN time_limit_s REAL;
ALTER TABLE run ADD COLUMN memory_limit INTEGER;
UPDATE run SET time_limit_s = 0, memory_limit = 0 WHERE status = 'failed';
)sql";

/// How sure the answers of searches are; those concluded before are silent of it.
const char* const g_version7 = R"sql(
ALTER TABLE search ADD COLUMN sure REAL;
ALTER TABLE search ADD COLUMN time_error_kind TEXT;
ALTER TABLE search ADD COLUMN time_error_mean REAL;
ALTER TABLE search ADD COLUMN time_error_worst REAL;
ALTER TABLE search ADD COLUMN time_error_runs INTEGER;
ALTER TABLE search_run ADD COLUMN probability_best REAL;
ALTER TABLE search_run ADD COLUMN probability_slower REAL;
ALTER TABLE search_run ADD COLUMN same_as INTEGER;
ALTER TABLE baseline ADD COLUMN probability_slower REAL;
)sql";

/// What searches call the plans of their baselines; those of before have the plans' own labels.
const char* const g_version8 = R"sql(
ALTER TABLE baseline ADD COLUMN label TEXT;
)sql";

/// Parts of searches; those of before are whole. And what a search is beside its study, and asks
/// for.
const char* const g_version9 = R"sql(
ALTER TABLE search ADD COLUMN whole TEXT;
ALTER TABLE search ADD COLUMN shard INTEGER;
ALTER TABLE search ADD COLUMN shards INTEGER;
ALTER TABLE search ADD COLUMN changes TEXT;
ALTER TABLE search ADD COLUMN objective TEXT;
ALTER TABLE search ADD COLUMN pareto_of TEXT;
ALTER TABLE search ADD COLUMN gap_asked REAL;
ALTER TABLE search ADD COLUMN ruled_out_least REAL;
ALTER TABLE search ADD COLUMN gpus INTEGER;
ALTER TABLE search ADD COLUMN tokens REAL;
ALTER TABLE search ADD COLUMN cost_per_hour REAL;
)sql";

/// What the spans of a scenario are; of those stored before it is not known until they are asked
/// for again.
const char* const g_version10 = R"sql(
ALTER TABLE scenario ADD COLUMN distance_km REAL;
ALTER TABLE scenario ADD COLUMN capacity_bps REAL;
ALTER TABLE scenario ADD COLUMN loss REAL;
ALTER TABLE scenario ADD COLUMN oversubscription REAL;
)sql";

/// Timed collectives, and the networks that they were timed on.
const char* const g_version11 = R"sql(
CREATE TABLE network (
    id               INTEGER PRIMARY KEY,
    hash             TEXT NOT NULL UNIQUE,
    text             TEXT NOT NULL,
    study            TEXT NOT NULL,
    gpus             INTEGER NOT NULL,
    distance_km      REAL,
    capacity_bps     REAL,
    loss             REAL,
    oversubscription REAL
);

CREATE TABLE collective_run (
    id                   INTEGER PRIMARY KEY,
    network_id           INTEGER NOT NULL REFERENCES network (id),
    operation            TEXT NOT NULL,
    engine               TEXT NOT NULL,
    options              TEXT NOT NULL,
    seed                 INTEGER,
    fingerprint          TEXT NOT NULL,
    op                   TEXT NOT NULL,
    group_of             TEXT NOT NULL,
    "groups"             INTEGER NOT NULL,
    members              INTEGER NOT NULL,
    bytes                INTEGER NOT NULL,
    algorithm            TEXT NOT NULL,
    protocol             TEXT,
    channels             INTEGER,
    time_s               REAL NOT NULL,
    algbw                REAL NOT NULL,
    busbw                REAL NOT NULL,
    cross_building_bytes INTEGER NOT NULL,
    evaluations          INTEGER NOT NULL DEFAULT 1,
    program_version      TEXT NOT NULL,
    git_commit           TEXT NOT NULL,
    created_at           TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX collective_run_key ON collective_run
    (network_id, operation, engine, options, fingerprint, IFNULL(seed, -1));
)sql";

/// What corrections have made of a run's time; runs of before had none that are still asked for.
const char* const g_version12 = R"sql(
CREATE TABLE run_correction (
    run_id          INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    set_name        TEXT NOT NULL,
    operations      INTEGER NOT NULL,
    covered         INTEGER NOT NULL,
    uncovered_share REAL NOT NULL,
    low_s           REAL NOT NULL,
    high_s          REAL NOT NULL
);

CREATE TABLE run_correction_note (
    run_id    INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('missing', 'unreached')),
    operation TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
)sql";

/// What a run has skipped; there was no engine before that does.
const char* const g_version13 = R"sql(
CREATE TABLE run_fast_forward (
    run_id     INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    skipped_s  REAL NOT NULL,
    skips      INTEGER NOT NULL,
    verified_s REAL NOT NULL,
    checks     INTEGER NOT NULL,
    error      REAL NOT NULL,
    worst      REAL NOT NULL
);
)sql";

/// Scenarios of before have plain names only.
const char* const g_version14 = "ALTER TABLE scenario ADD COLUMN study TEXT";

/// What lines of explanations are about, how sure a placement is, what holds where spans are
/// uncertain, and which searches are a sweep; searches of before are silent of it.
const char* const g_version15 = R"sql(
ALTER TABLE search ADD COLUMN topics TEXT;
ALTER TABLE search ADD COLUMN placement_probability REAL;
ALTER TABLE search ADD COLUMN robust TEXT;

CREATE TABLE sweep (
    id         INTEGER PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,
    study      TEXT NOT NULL,
    axes       TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE sweep_point (
    sweep_id  INTEGER NOT NULL REFERENCES sweep (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    PRIMARY KEY (sweep_id, position)
) WITHOUT ROWID;
CREATE INDEX sweep_point_search ON sweep_point (search_id);
)sql";

/// What --set changed of a study, by key. A text of before is parted where ", KEY=" begins another
/// setting: values have commas as well.
const char* const g_version16 = R"sql(
ALTER TABLE search ADD COLUMN settings TEXT;

WITH RECURSIVE
split (id, n, piece, rest) AS (
    SELECT id, 0, '', changes || ', ' FROM search WHERE changes IS NOT NULL
    UNION ALL
    SELECT id, n + 1, substr(rest, 1, instr(rest, ', ') - 1), substr(rest, instr(rest, ', ') + 2)
    FROM split WHERE rest <> ''),
piece (id, n, piece, begins) AS (
    SELECT id, n, piece, instr(piece, '=') > 1 AND
        substr(piece, 1, instr(piece, '=') - 1) NOT GLOB '*[^a-zA-Z0-9_.:-]*'
    FROM split WHERE n > 0),
numbered (id, n, piece, number) AS (
    SELECT id, n, piece, sum(begins) OVER (PARTITION BY id ORDER BY n) FROM piece),
setting (id, number, text) AS (
    SELECT id, number, group_concat(piece, ', ') FROM (SELECT * FROM numbered ORDER BY id, n)
    WHERE number > 0 GROUP BY id, number)
UPDATE search SET settings = (
    SELECT json_group_object(substr(text, 1, instr(text, '=') - 1),
                             substr(text, instr(text, '=') + 1))
    FROM (SELECT * FROM setting WHERE setting.id = search.id ORDER BY number))
WHERE changes IS NOT NULL;

ALTER TABLE search DROP COLUMN changes;
)sql";

/// What a search leaves as its study has it, which of a search of before is not known.
const char* const g_version17 = R"sql(
ALTER TABLE search ADD COLUMN held TEXT;
)sql";

/// How exactly a search was asked to know what is behind its best, and when that was proven. Of one
/// of before: to the last digit, and not known.
const char* const g_version18 = R"sql(
ALTER TABLE search ADD COLUMN rest_gap_asked REAL;
ALTER TABLE search ADD COLUMN proven_after INTEGER;
)sql";

/// What is known of a search that is not done, what to know of its best plan, and what better
/// engines make of it; and how far off times are for most runs, and how many model families that is
/// known of. Searches of before are silent of it.
const char* const g_version19 = R"sql(
ALTER TABLE search ADD COLUMN so_far TEXT;
ALTER TABLE search ADD COLUMN warnings TEXT;
ALTER TABLE search ADD COLUMN checked TEXT;
ALTER TABLE search ADD COLUMN time_error_within REAL;
ALTER TABLE search ADD COLUMN time_error_families INTEGER;
)sql";

/// Whose the errors of times are, and why they are not those of the search's own kind. Searches of
/// before are silent of it.
const char* const g_version20 = R"sql(
ALTER TABLE search ADD COLUMN time_error_figures_of TEXT;
ALTER TABLE search ADD COLUMN time_error_unvalidated TEXT;
)sql";

} // namespace

const std::vector<std::string>&
Migrations()
{
    static const std::vector<std::string> migrations = {
        g_version1,  g_version2,  g_version3,  g_version4,  g_version5,  g_version6,  g_version7,
        g_version8,  g_version9,  g_version10, g_version11, g_version12, g_version13, g_version14,
        g_version15, g_version16, g_version17, g_version18, g_version19, g_version20};
    return migrations;
}

const std::vector<PlanColumn>&
PlanColumns()
{
    static const std::vector<PlanColumn> columns = [] {
        std::vector<PlanColumn> all;
        for (const auto& field : PlanFields())
        {
            if (field.key.rfind("network.tiers.", 0) != 0)
            {
                all.push_back({field.key.substr(field.key.find('.') + 1), field.key});
            }
        }
        return all;
    }();
    return columns;
}

const std::set<TableColumn>&
ColumnsOfSchema()
{
    static const std::set<TableColumn> columns = [] {
        // What the migrations make of an empty database.
        SQLite::Database empty(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        for (const auto& migration : Migrations())
        {
            empty.exec(migration);
        }
        return ColumnsOf(empty);
    }();
    return columns;
}

namespace
{

template <class Owner>
void
AddFigures(std::vector<TableColumn>& columns, const std::string& table)
{
    for (const auto& figure : Owner::Figures())
    {
        columns.emplace_back(table, figure.key);
    }
}

} // namespace

const std::vector<TableColumn>&
AddedColumns()
{
    static const std::vector<TableColumn> columns = [] {
        std::vector<TableColumn> all;
        for (const PlanColumn& column : PlanColumns())
        {
            all.emplace_back("plan", column.name);
        }
        AddFigures<RunReport>(all, "run");
        AddFigures<NetworkReport>(all, "run");
        AddFigures<ClassReport>(all, "run_class");
        AddFigures<MemoryUse>(all, "run_memory");
        AddFigures<ResourceReport>(all, "run_resource");
        AddFigures<CorrectionReport>(all, "run_correction");
        AddFigures<FastForwardReport>(all, "run_fast_forward");
        all.erase(std::remove_if(all.begin(),
                                 all.end(),
                                 [](const TableColumn& column) {
                                     return ColumnsOfSchema().count(column) > 0;
                                 }),
                  all.end());
        return all;
    }();
    return columns;
}

bool
IsAddedColumn(const std::string& table, const std::string& column)
{
    const auto& added = AddedColumns();
    return std::find(added.begin(), added.end(), TableColumn(table, column)) != added.end();
}

const std::string&
SettingsText()
{
    static const std::string text =
        "(SELECT group_concat(key || '=' || value, ', ') FROM json_each(search.settings))";
    return text;
}

const std::string&
RankingSelect()
{
    static const std::string select = [] {
        std::string text =
            "SELECT search_id, search.study, " + SettingsText() +
            " AS changes, search.engine, rank, search_run.label, "
            "status, run.reason, iteration_time_s, mfu, memory_bytes_max, cross_building_bytes, "
            "distance_km, capacity_bps, scenario.loss, oversubscription, pareto, "
            "best_of_crossing, probability_best, probability_slower, run_correction.operations, "
            "run_correction.covered, run_correction.uncovered_share, run_correction.low_s, "
            "run_correction.high_s, plan_index";
        for (const PlanColumn& column : PlanColumns())
        {
            text += ", plan.\"" + column.name + "\"";
        }
        return text + " FROM search_run JOIN search ON search.id = search_id "
                      "JOIN run ON run.id = search_run.run_id JOIN plan ON plan.id = plan_id "
                      "JOIN scenario ON scenario.id = search.scenario_id "
                      "LEFT JOIN run_correction ON run_correction.run_id = run.id";
    }();
    return select;
}

const std::map<std::string, std::string>&
Views()
{
    static const std::map<std::string, std::string> views = {
        {"ranking", "CREATE VIEW ranking AS " + RankingSelect()}};
    return views;
}

std::set<TableColumn>
ColumnsOf(SQLite::Database& database)
{
    SQLite::Statement select(database,
                             "SELECT t.name, c.name FROM sqlite_master AS t, "
                             "pragma_table_info(t.name) AS c WHERE t.type = 'table'");
    std::set<TableColumn> columns;
    while (select.executeStep())
    {
        columns.emplace(select.getColumn(0).getString(), select.getColumn(1).getString());
    }
    return columns;
}

} // namespace scaleacross
