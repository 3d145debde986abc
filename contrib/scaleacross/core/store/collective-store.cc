// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/collective-store.h"

#include "core/base/version.h"
#include "core/store/key.h"

#include <optional>
#include <utility>

namespace scaleacross
{

namespace
{

const char* const g_put = R"sql(
INSERT INTO collective_run (network_id, operation, engine, options, seed, fingerprint, op, group_of,
    "groups", members, bytes, algorithm, protocol, channels, time_s, algbw, busbw,
    cross_building_bytes, program_version, git_commit)
VALUES (:network_id, :operation, :engine, :options, :seed, :fingerprint, :op, :group_of, :groups,
    :members, :bytes, :algorithm, :protocol, :channels, :time_s, :algbw, :busbw,
    :cross_building_bytes, :program_version, :git_commit)
ON CONFLICT (network_id, operation, engine, options, fingerprint, IFNULL(seed, -1))
DO UPDATE SET evaluations = evaluations + 1, members = excluded.members,
    algorithm = excluded.algorithm, protocol = excluded.protocol, channels = excluded.channels,
    time_s = excluded.time_s, algbw = excluded.algbw, busbw = excluded.busbw,
    cross_building_bytes = excluded.cross_building_bytes,
    program_version = excluded.program_version, git_commit = excluded.git_commit,
    created_at = CURRENT_TIMESTAMP
RETURNING id
)sql";

/// "op=all_reduce group=all groups=1 bytes=1MiB": what was done, equal where it is the same.
std::string
OperationText(const CollectiveSpec& spec)
{
    std::string text;
    for (const auto& field : CollectiveSpec::Fields())
    {
        if (field.IsSaid(spec))
        {
            text += (text.empty() ? "" : " ") + field.key + "=" + field.get(spec);
        }
    }
    return text;
}

int64_t
Signed(uint64_t value)
{
    return static_cast<int64_t>(value);
}

} // namespace

CollectiveStore::CollectiveStore(Database& database,
                                 const Scenario& scenario,
                                 std::string study,
                                 const Engine& engine,
                                 const RunOptions& options)
    : m_database(database),
      m_scenario(scenario),
      m_study(std::move(study)),
      m_engine(engine),
      m_options(options)
{
}

int64_t
CollectiveStore::NetworkId()
{
    const std::string text = NetworkText(m_scenario);
    const std::string hash = HashOf(text);
    const SpanFigures spans = SpanFiguresOf(m_scenario.cluster);
    auto& insert = m_database.Prepare(
        "INSERT INTO network (hash, text, study, gpus, distance_km, capacity_bps, loss, "
        "oversubscription) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING");
    insert.bind(1, hash);
    insert.bind(2, text);
    insert.bind(3, m_study);
    insert.bind(4, Signed(m_scenario.cluster.Gpus()));
    int position = 5;
    for (const auto& figure :
         {spans.distanceKm, spans.capacityBps, spans.loss, spans.oversubscription})
    {
        if (figure)
        {
            insert.bind(position, *figure);
        }
        position++;
    }
    Database::Run(insert);
    auto& find = m_database.Prepare("SELECT id FROM network WHERE hash = ?");
    find.bind(1, hash);
    find.executeStep();
    const int64_t id = find.getColumn(0).getInt64();
    find.reset();
    return id;
}

int64_t
CollectiveStore::Put(const TimedCollective& timed)
{
    const int64_t network = NetworkId();
    auto& put = m_database.Prepare(g_put);
    put.bind(":network_id", network);
    put.bind(":operation", OperationText(timed.spec));
    put.bind(":engine", m_engine.Name());
    put.bind(":options", OptionsText(m_options));
    if (m_engine.UsesSeed())
    {
        put.bind(":seed", Signed(m_options.seed));
    }
    put.bind(":fingerprint", m_engine.Fingerprint());
    put.bind(":op", ToString(timed.spec.op));
    put.bind(":group_of", ToString(timed.spec.group));
    put.bind(":groups", Signed(timed.spec.groups));
    put.bind(":members", Signed(timed.members));
    put.bind(":bytes", Signed(timed.spec.bytes.Count()));
    put.bind(":algorithm", timed.algorithm);
    if (!timed.protocol.empty())
    {
        put.bind(":protocol", timed.protocol);
    }
    if (timed.channels > 0)
    {
        put.bind(":channels", Signed(timed.channels));
    }
    put.bind(":time_s", timed.report.iterationTime.S());
    put.bind(":algbw", timed.algbw);
    put.bind(":busbw", timed.busbw);
    put.bind(":cross_building_bytes", Signed(timed.report.crossBuildingBytes.Count()));
    put.bind(":program_version", std::string(Version()));
    put.bind(":git_commit", std::string(GitCommit()));
    put.executeStep();
    const int64_t row = put.getColumn(0).getInt64();
    put.reset();
    return row;
}

} // namespace scaleacross
