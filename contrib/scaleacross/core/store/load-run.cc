// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/store/run-store.h"

#include <cstdint>
#include <limits>

namespace scaleacross
{

namespace
{

const char* const g_selectRun = R"sql(
SELECT plan.text AS plan_text, plan.label AS plan_label, plan.crossing AS plan_crossing, run.*
FROM run JOIN plan ON plan.id = run.plan_id WHERE run.id = ?
)sql";

/// A row, whose values are checked as they are read: a file can have been damaged, or edited.
class Row
{
  public:
    Row(Database& database, SQLite::Statement& statement)
        : m_database(database),
          m_statement(statement)
    {
    }

    /// Domain: zero to below `limit`.
    double Number(const char* column, double limit = std::numeric_limits<double>::infinity()) const
    {
        const SQLite::Column cell = m_statement.getColumn(column);
        const double value = cell.getDouble();
        const bool number = cell.isFloat() || cell.isInteger();
        if (!number || !(value >= 0 && value < limit))
        {
            Refuse(column);
        }
        return value;
    }

    Duration Time(const char* column) const
    {
        return Duration::Seconds(Number(column, Duration::Max().S()));
    }

    uint64_t Whole(const char* column) const
    {
        const SQLite::Column cell = m_statement.getColumn(column);
        const int64_t value = cell.getInt64();
        // An eighth, because the categories of memory are added up.
        if (!cell.isInteger() || value < 0 || value > INT64_MAX / 8)
        {
            Refuse(column);
        }
        return static_cast<uint64_t>(value);
    }

    uint32_t Small(const char* column) const
    {
        const uint64_t value = Whole(column);
        if (value > UINT32_MAX)
        {
            Refuse(column);
        }
        return static_cast<uint32_t>(value);
    }

    Bytes Amount(const char* column) const
    {
        return Bytes(Whole(column));
    }

    std::string Text(const char* column) const
    {
        return m_statement.getColumn(column).getString();
    }

    /// Any seed is one; none where the engine draws nothing.
    uint64_t Seed() const
    {
        return static_cast<uint64_t>(m_statement.getColumn("seed").getInt64());
    }

    [[noreturn]] void Refuse(const char* column) const
    {
        const std::string value = Text(column);
        m_statement.reset();
        m_database.Damaged(std::string(column) + " of a run is " + Quoted(value));
    }

  private:
    Database& m_database;
    SQLite::Statement& m_statement;
};

RunReport
ReportOf(const Row& row)
{
    RunReport report;
    report.engine = row.Text("engine");
    report.version = row.Text("program_version");
    report.seed = row.Seed();
    report.iterations = row.Small("iterations");
    report.warmup = row.Small("warmup");
    report.iterationTime = row.Time("iteration_time_s");
    report.mfu = row.Number("mfu");
    report.computeTime = row.Time("compute_s");
    report.bubble = row.Time("bubble_s");
    report.bubbleFraction = row.Number("bubble_fraction");
    report.exposedComm = row.Time("exposed_comm_s");
    report.memoryMax = row.Amount("memory_bytes_max");
    report.crossBuildingBytes = row.Amount("cross_building_bytes");
    report.network.packetsSent = row.Whole("packets_sent");
    report.network.packetsDelivered = row.Whole("packets_delivered");
    report.network.packetsDropped = row.Whole("packets_dropped");
    report.network.packetsInFlight = row.Whole("packets_in_flight");
    report.network.retransmissions = row.Whole("retransmissions");
    report.network.pauses = row.Whole("pauses");
    report.network.collisionFactor = row.Number("collision_factor");
    return report;
}

void
LoadParts(Database& database, int64_t run, RunReport& report)
{
    auto& classes = database.Prepare("SELECT * FROM run_class WHERE run_id = ?");
    classes.bind(1, run);
    const Row part(database, classes);
    while (classes.executeStep())
    {
        const std::string name = part.Text("class");
        for (uint32_t c = 0; c < kCommClasses; c++)
        {
            if (ToString(static_cast<CommClass>(c)) == name)
            {
                report.classes[c] = {part.Time("busy_s"),
                                     part.Time("exposed_s"),
                                     part.Amount("bytes"),
                                     part.Amount("cross_bytes")};
            }
        }
    }
    classes.reset();
    auto& memory = database.Prepare("SELECT * FROM run_memory WHERE run_id = ? ORDER BY stage");
    memory.bind(1, run);
    const Row use(database, memory);
    while (memory.executeStep())
    {
        report.memory.push_back({use.Amount("parameters"),
                                 use.Amount("gradients"),
                                 use.Amount("optimizer"),
                                 use.Amount("activations"),
                                 use.Amount("gathered"),
                                 use.Amount("buffers")});
    }
    memory.reset();
    auto& resources =
        database.Prepare("SELECT * FROM run_resource WHERE run_id = ? ORDER BY position");
    resources.bind(1, run);
    const Row resource(database, resources);
    while (resources.executeStep())
    {
        report.resources.push_back({resource.Text("name"),
                                    resource.Amount("bytes"),
                                    BitRate(resource.Number("capacity_bps")),
                                    resource.Whole("shared") != 0,
                                    resource.Number("busy")});
    }
    resources.reset();
}

} // namespace

StoredRun
LoadRun(Database& database, int64_t run)
{
    auto& statement = database.Prepare(g_selectRun);
    statement.bind(1, run);
    if (!statement.executeStep())
    {
        database.Damaged("there is no run " + std::to_string(run));
    }
    const Row row(database, statement);
    StoredRun stored;
    stored.engine = row.Text("engine");
    stored.planText = row.Text("plan_text");
    stored.label = row.Text("plan_label");
    try
    {
        stored.crossing = Crossing::Parse(row.Text("plan_crossing"));
    }
    catch (const ValueError&)
    {
        row.Refuse("plan_crossing");
    }
    const std::string status = row.Text("status");
    if (status == "ok")
    {
        RunReport report = ReportOf(row);
        statement.reset();
        LoadParts(database, run, report);
        stored.evaluation = report;
        return stored;
    }
    if (status != "infeasible" && status != "failed")
    {
        row.Refuse("status");
    }
    const std::string reason = row.Text("reason");
    const std::string detail = row.Text("detail");
    statement.reset();
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
