// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/engine/model-figures.h"
#include "core/store/run-store.h"
#include "core/store/schema.h"

#include <algorithm>
#include <cstdint>
#include <variant>

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

    double Number(const char* column, double most) const
    {
        const SQLite::Column cell = m_statement.getColumn(column);
        const double value = cell.getDouble();
        const bool number = cell.isFloat() || cell.isInteger();
        if (!number || !(value >= 0 && value <= most))
        {
            Refuse(column);
        }
        return value;
    }

    uint64_t Whole(const char* column, double most) const
    {
        const SQLite::Column cell = m_statement.getColumn(column);
        const int64_t value = cell.getInt64();
        if (!cell.isInteger() || value < 0 || static_cast<double>(value) > most)
        {
            Refuse(column);
        }
        return static_cast<uint64_t>(value);
    }

    /// The figures of a report, or a part of one. Those that the row does not know, because the
    /// release that wrote it had none or nothing was trained, stay as they are.
    template <class Owner>
    void Figures(const char* table, Owner& owner) const
    {
        for (const auto& figure : Owner::Figures())
        {
            const char* column = figure.key.c_str();
            const bool mayBeUnknown =
                Schema::Current().Adds({table, figure.key}) ||
                std::find(kModelFigures.begin(), kModelFigures.end(), figure.key) !=
                    kModelFigures.end();
            if (m_statement.getColumn(column).isNull() && mayBeUnknown)
            {
                continue;
            }
            if (std::holds_alternative<double>(figure.zero))
            {
                figure.set(owner, Number(column, figure.most));
            }
            else if (std::holds_alternative<bool>(figure.zero))
            {
                figure.set(owner, Whole(column, figure.most) != 0);
            }
            else
            {
                figure.set(owner, Whole(column, figure.most));
            }
        }
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
    row.Figures("run", report);
    row.Figures("run", report.network);
    return report;
}

void
LoadCorrection(Database& database, int64_t run, RunReport& report)
{
    auto& select = database.Prepare("SELECT * FROM run_correction WHERE run_id = ?");
    select.bind(1, run);
    if (!select.executeStep())
    {
        select.reset();
        return;
    }
    const Row row(database, select);
    CorrectionReport& correction = report.correction.emplace();
    correction.set = row.Text("set_name");
    row.Figures("run_correction", correction);
    select.reset();
    auto& notes =
        database.Prepare("SELECT * FROM run_correction_note WHERE run_id = ? ORDER BY position");
    notes.bind(1, run);
    const Row note(database, notes);
    while (notes.executeStep())
    {
        auto& list = note.Text("kind") == "missing" ? correction.missing : correction.unreached;
        list.push_back(note.Text("operation"));
    }
    notes.reset();
}

void
LoadFastForward(Database& database, int64_t run, RunReport& report)
{
    auto& select = database.Prepare("SELECT * FROM run_fast_forward WHERE run_id = ?");
    select.bind(1, run);
    if (select.executeStep())
    {
        Row(database, select).Figures("run_fast_forward", report.fastForward.emplace());
    }
    select.reset();
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
                part.Figures("run_class", report.classes[c]);
            }
        }
    }
    classes.reset();
    auto& memory = database.Prepare("SELECT * FROM run_memory WHERE run_id = ? ORDER BY stage");
    memory.bind(1, run);
    const Row use(database, memory);
    while (memory.executeStep())
    {
        use.Figures("run_memory", report.memory.emplace_back());
    }
    memory.reset();
    auto& resources =
        database.Prepare("SELECT * FROM run_resource WHERE run_id = ? ORDER BY position");
    resources.bind(1, run);
    const Row resource(database, resources);
    while (resources.executeStep())
    {
        ResourceReport& part = report.resources.emplace_back();
        part.name = resource.Text("name");
        resource.Figures("run_resource", part);
    }
    resources.reset();
    LoadCorrection(database, run, report);
    LoadFastForward(database, run, report);
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
