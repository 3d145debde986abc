// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/schema.h"

#include "core/engine/run-report.h"
#include "core/spec/plan-fields.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <iterator>

namespace scaleacross
{

namespace
{

/// The tables of release 0.1.0. tests/core/store/schema-1.sql has them as well.
const char* const g_version1 = R"sql(
CREATE TABLE scenario (
    id               INTEGER PRIMARY KEY,
    hash             TEXT NOT NULL UNIQUE,
    text             TEXT NOT NULL,
    study            TEXT NOT NULL,
    distance_km      REAL,
    capacity_bps     REAL,
    loss             REAL,
    oversubscription REAL
);

CREATE TABLE plan (
    id                 INTEGER PRIMARY KEY,
    hash               TEXT NOT NULL UNIQUE,
    text               TEXT NOT NULL,
    label              TEXT NOT NULL,
    tp                 INTEGER NOT NULL,
    cp                 INTEGER NOT NULL,
    ep                 INTEGER NOT NULL,
    etp                INTEGER NOT NULL,
    pp                 INTEGER NOT NULL,
    dp                 INTEGER NOT NULL,
    crossing           TEXT NOT NULL,
    sharding           TEXT NOT NULL,
    shard_ranks        INTEGER NOT NULL,
    reshard            TEXT NOT NULL,
    reduce             TEXT NOT NULL,
    prefetch           INTEGER NOT NULL,
    bucket             TEXT NOT NULL,
    schedule           TEXT NOT NULL,
    microbatch         INTEGER NOT NULL,
    chunks             INTEGER NOT NULL,
    round              INTEGER NOT NULL,
    in_flight          INTEGER NOT NULL,
    apportion          TEXT NOT NULL,
    layers             TEXT NOT NULL,
    embedding_as_layer TEXT NOT NULL,
    loss_as_layer      TEXT NOT NULL,
    recompute          TEXT NOT NULL,
    recompute_layers   INTEGER NOT NULL,
    offload_layers     INTEGER NOT NULL,
    async_tp           TEXT NOT NULL,
    transport          TEXT NOT NULL,
    multipath          TEXT NOT NULL,
    control            TEXT NOT NULL,
    recovery           TEXT NOT NULL,
    reorder_tolerance  INTEGER NOT NULL,
    qps                INTEGER NOT NULL,
    segment            TEXT NOT NULL,
    balance            TEXT NOT NULL,
    outstanding        INTEGER NOT NULL,
    "window"           TEXT NOT NULL,
    admission          TEXT NOT NULL,
    qp_scheduler       TEXT NOT NULL,
    qp_burst           TEXT NOT NULL,
    collective         TEXT NOT NULL,
    all_to_all         TEXT NOT NULL,
    collective_chunk   TEXT NOT NULL,
    channels           INTEGER NOT NULL,
    nccl_algorithm     TEXT NOT NULL,
    nccl_protocol      TEXT NOT NULL,
    nccl_channels      INTEGER NOT NULL,
    nccl_collnet       TEXT NOT NULL,
    nccl_net_step      TEXT NOT NULL,
    nccl_net_long      TEXT NOT NULL,
    nccl_net_fill      TEXT NOT NULL,
    nccl_net_flags     TEXT NOT NULL,
    nccl_net_message   TEXT NOT NULL,
    nccl_net_inject    TEXT NOT NULL,
    token_start        TEXT NOT NULL,
    token_message      TEXT NOT NULL,
    copy               TEXT NOT NULL,
    mtu                TEXT NOT NULL,
    headers            TEXT NOT NULL,
    ack_size           TEXT NOT NULL,
    ack_every          INTEGER NOT NULL,
    pfc                TEXT NOT NULL,
    lane_credits       TEXT NOT NULL,
    leaf_buffer        TEXT NOT NULL,
    spine_buffer       TEXT NOT NULL,
    timeout_exponent   INTEGER NOT NULL,
    retries            INTEGER NOT NULL,
    detection          TEXT NOT NULL,
    convergence        TEXT NOT NULL,
    keep_at_down_port  TEXT NOT NULL,
    "classes.tp"       INTEGER NOT NULL,
    "classes.cp"       INTEGER NOT NULL,
    "classes.ep"       INTEGER NOT NULL,
    "classes.pp"       INTEGER NOT NULL,
    "classes.dp"       INTEGER NOT NULL,
    class_weights      TEXT NOT NULL
);

CREATE TABLE run (
    id                   INTEGER PRIMARY KEY,
    scenario_id          INTEGER NOT NULL REFERENCES scenario (id),
    plan_id              INTEGER NOT NULL REFERENCES plan (id),
    engine               TEXT NOT NULL,
    options              TEXT NOT NULL,
    correction           TEXT NOT NULL,
    seed                 INTEGER,
    fingerprint          TEXT NOT NULL,
    status               TEXT NOT NULL CHECK (status IN ('ok', 'infeasible', 'failed')),
    reason               TEXT,
    detail               TEXT,
    time_limit_s         REAL,
    memory_limit         INTEGER,
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
    (scenario_id, engine, options, correction, fingerprint, IFNULL(seed, -1), plan_id);
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
    usable      INTEGER NOT NULL,
    PRIMARY KEY (run_id, stage)
) WITHOUT ROWID;

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

CREATE TABLE run_fast_forward (
    run_id     INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    skipped_s  REAL NOT NULL,
    skips      INTEGER NOT NULL,
    verified_s REAL NOT NULL,
    checks     INTEGER NOT NULL,
    error      REAL NOT NULL,
    worst      REAL NOT NULL
);

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

CREATE TABLE search (
    id                     INTEGER PRIMARY KEY,
    hash                   TEXT NOT NULL UNIQUE,
    study                  TEXT NOT NULL,
    settings               TEXT,
    held                   TEXT NOT NULL,
    method                 TEXT NOT NULL,
    scenario_id            INTEGER NOT NULL REFERENCES scenario (id),
    engine                 TEXT NOT NULL,
    options                TEXT NOT NULL,
    correction             TEXT NOT NULL,
    seed                   INTEGER,
    fingerprint            TEXT NOT NULL,
    space                  TEXT NOT NULL,
    plans                  INTEGER NOT NULL,
    keep                   INTEGER NOT NULL,
    objective              TEXT NOT NULL,
    pareto_of              TEXT NOT NULL,
    gap_asked              REAL NOT NULL,
    rest_gap_asked         REAL NOT NULL,
    gpus                   INTEGER NOT NULL,
    tokens                 REAL NOT NULL,
    cost_per_hour          REAL,
    whole                  TEXT,
    shard                  INTEGER,
    shards                 INTEGER,
    next_plan              INTEGER NOT NULL DEFAULT 0,
    evaluated              INTEGER NOT NULL DEFAULT 0,
    bound_s                REAL,
    ruled_out_least        REAL,
    proven_after           INTEGER,
    engine_runs            INTEGER NOT NULL DEFAULT 0,
    seconds                REAL NOT NULL DEFAULT 0,
    finished               INTEGER NOT NULL DEFAULT 0,
    so_far                 TEXT,
    gap                    REAL,
    explanation            TEXT,
    topics                 TEXT,
    warnings               TEXT,
    checked                TEXT,
    robust                 TEXT,
    sure                   REAL,
    placement_probability  REAL,
    time_error_kind        TEXT,
    time_error_mean        REAL,
    time_error_within      REAL,
    time_error_worst       REAL,
    time_error_runs        INTEGER,
    time_error_families    INTEGER,
    time_error_figures_of  TEXT,
    time_error_unvalidated TEXT,
    created_at             TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at             TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
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
    search_id          INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    plan_index         INTEGER NOT NULL,
    run_id             INTEGER NOT NULL REFERENCES run (id),
    label              TEXT NOT NULL,
    rank               INTEGER,
    pareto             INTEGER NOT NULL DEFAULT 0,
    best_of_crossing   INTEGER NOT NULL DEFAULT 0,
    probability_best   REAL,
    probability_slower REAL,
    same_as            INTEGER,
    PRIMARY KEY (search_id, plan_index)
) WITHOUT ROWID;
CREATE INDEX search_run_run ON search_run (run_id);

CREATE TABLE baseline (
    search_id          INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
    name               TEXT NOT NULL,
    run_id             INTEGER REFERENCES run (id),
    label              TEXT,
    reason             TEXT,
    detail             TEXT,
    probability_slower REAL,
    PRIMARY KEY (search_id, name),
    CHECK ((run_id IS NULL) = (reason IS NOT NULL))
) WITHOUT ROWID;
CREATE INDEX baseline_run ON baseline (run_id);

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

template <class Owner>
void
AddFigures(std::vector<TableColumn>& columns, const std::string& table)
{
    for (const auto& figure : Owner::Figures())
    {
        columns.emplace_back(table, figure.key);
    }
}

/// The columns of all fields of plans and figures of reports that this program knows.
std::vector<TableColumn>
ColumnsOfRegistries()
{
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
    return all;
}

} // namespace

Schema::Schema(std::vector<std::string> migrations, const std::vector<TableColumn>& known)
    : m_migrations(std::move(migrations))
{
    // What the migrations make of an empty database.
    SQLite::Database empty(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    for (const auto& migration : m_migrations)
    {
        empty.exec(migration);
    }
    m_columns = ColumnsOf(empty);
    std::copy_if(known.begin(),
                 known.end(),
                 std::back_inserter(m_added),
                 [this](const TableColumn& column) { return m_columns.count(column) == 0; });
}

const Schema&
Schema::Current()
{
    static const Schema current({g_version1}, ColumnsOfRegistries());
    return current;
}

bool
Schema::Adds(const TableColumn& column) const
{
    return std::find(m_added.begin(), m_added.end(), column) != m_added.end();
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
