// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/store/run-store.h"

namespace scaleacross
{

namespace
{

const char* const g_selectRun = R"sql(
SELECT plan.text AS plan_text, plan.label AS plan_label, plan.crossing AS plan_crossing, run.*
FROM run JOIN plan ON plan.id = run.plan_id WHERE run.id = ?
)sql";

Duration
Time(SQLite::Statement& row, const char* column)
{
    return Duration::Seconds(row.getColumn(column).getDouble());
}

uint64_t
Whole(SQLite::Statement& row, const char* column)
{
    return static_cast<uint64_t>(row.getColumn(column).getInt64());
}

Bytes
Amount(SQLite::Statement& row, const char* column)
{
    return Bytes(Whole(row, column));
}

RunReport
ReportOf(SQLite::Statement& row)
{
    RunReport report;
    report.engine = row.getColumn("engine").getString();
    report.version = row.getColumn("program_version").getString();
    report.seed = Whole(row, "seed");
    report.iterations = row.getColumn("iterations").getUInt();
    report.warmup = row.getColumn("warmup").getUInt();
    report.iterationTime = Time(row, "iteration_time_s");
    report.mfu = row.getColumn("mfu").getDouble();
    report.computeTime = Time(row, "compute_s");
    report.bubble = Time(row, "bubble_s");
    report.bubbleFraction = row.getColumn("bubble_fraction").getDouble();
    report.exposedComm = Time(row, "exposed_comm_s");
    report.memoryMax = Amount(row, "memory_bytes_max");
    report.crossBuildingBytes = Amount(row, "cross_building_bytes");
    report.network.packetsSent = Whole(row, "packets_sent");
    report.network.packetsDelivered = Whole(row, "packets_delivered");
    report.network.packetsDropped = Whole(row, "packets_dropped");
    report.network.packetsInFlight = Whole(row, "packets_in_flight");
    report.network.retransmissions = Whole(row, "retransmissions");
    report.network.pauses = Whole(row, "pauses");
    report.network.collisionFactor = row.getColumn("collision_factor").getDouble();
    return report;
}

void
LoadParts(Database& database, int64_t run, RunReport& report)
{
    auto& classes = database.Prepare("SELECT * FROM run_class WHERE run_id = ?");
    classes.bind(1, run);
    while (classes.executeStep())
    {
        const std::string name = classes.getColumn("class").getString();
        for (uint32_t c = 0; c < kCommClasses; c++)
        {
            if (ToString(static_cast<CommClass>(c)) == name)
            {
                report.classes[c] = {Time(classes, "busy_s"),
                                     Time(classes, "exposed_s"),
                                     Amount(classes, "bytes"),
                                     Amount(classes, "cross_bytes")};
            }
        }
    }
    classes.reset();
    auto& memory = database.Prepare("SELECT * FROM run_memory WHERE run_id = ? ORDER BY stage");
    memory.bind(1, run);
    while (memory.executeStep())
    {
        report.memory.push_back({Amount(memory, "parameters"),
                                 Amount(memory, "gradients"),
                                 Amount(memory, "optimizer"),
                                 Amount(memory, "activations"),
                                 Amount(memory, "gathered"),
                                 Amount(memory, "buffers")});
    }
    memory.reset();
    auto& resources =
        database.Prepare("SELECT * FROM run_resource WHERE run_id = ? ORDER BY position");
    resources.bind(1, run);
    while (resources.executeStep())
    {
        report.resources.push_back({resources.getColumn("name").getString(),
                                    Amount(resources, "bytes"),
                                    BitRate(resources.getColumn("capacity_bps").getDouble()),
                                    resources.getColumn("shared").getInt() != 0,
                                    resources.getColumn("busy").getDouble()});
    }
    resources.reset();
}

} // namespace

StoredRun
LoadRun(Database& database, int64_t run)
{
    auto& row = database.Prepare(g_selectRun);
    row.bind(1, run);
    SCALEACROSS_INVARIANT(row.executeStep(), "no run " + std::to_string(run));
    StoredRun stored;
    stored.engine = row.getColumn("engine").getString();
    stored.planText = row.getColumn("plan_text").getString();
    stored.label = row.getColumn("plan_label").getString();
    stored.crossing = Crossing::Parse(row.getColumn("plan_crossing").getString());
    const std::string status = row.getColumn("status").getString();
    if (status == "ok")
    {
        RunReport report = ReportOf(row);
        row.reset();
        LoadParts(database, run, report);
        stored.evaluation = report;
        return stored;
    }
    const std::string reason = row.getColumn("reason").getString();
    const std::string detail = row.getColumn("detail").getString();
    row.reset();
    if (status == "infeasible")
    {
        stored.evaluation = Infeasible{reason, detail};
    }
    else
    {
        stored.evaluation = Failure{reason, detail};
    }
    return stored;
}

} // namespace scaleacross
