// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/prediction-rows.h"

#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/io/csv-table.h"
#include "core/spec/collective-spec.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

const char* const g_ofCollectives[] = {"operation", "bytes", "ranks"};

bool
IsOfCollectives(const std::string& column)
{
    return std::find(std::begin(g_ofCollectives), std::end(g_ofCollectives), column) !=
           std::end(g_ofCollectives);
}

const PlanField*
FieldOf(const std::string& column)
{
    for (const std::string front : {"", "plan.", "network."})
    {
        if (const PlanField* field = FindPlanField(front + column))
        {
            return field;
        }
    }
    return nullptr;
}

Bytes
ParseAmount(const std::string& text)
{
    return IsDigits(text) ? Bytes(ParseWhole(text, 1, INT64_MAX)) : ParseBytes(text);
}

/// A field's value as the field itself writes it: 1MiB and 1024KiB are one.
std::string
ValueOf(const PlanField& field, const std::string& text, const std::string& where)
{
    Plan plan;
    try
    {
        field.set(plan, text);
    }
    catch (const ConfigError& error)
    {
        throw error.At(where);
    }
    return field.get(plan);
}

} // namespace

PredictionRows::PredictionRows(const std::string& path)
    : m_path(path)
{
    const CsvTable table = ReadCsvTable(path);
    m_columns = table.columns;
    FindColumns(table.where);
    for (const CsvLine& line : table.rows)
    {
        Row row;
        row.where = line.where;
        for (size_t i = 0; i < m_columns.size(); i++)
        {
            ReadCell(m_columns[i], line.cells[i], row);
        }
        m_rows.push_back(std::move(row));
    }
}

void
PredictionRows::FindColumns(const std::string& where)
{
    const std::string allowed = "time_s with operation, bytes and ranks, or with label and fields "
                                "of plans such as tp or network.qps";
    bool collectives = false;
    bool time = false;
    for (const std::string& column : m_columns)
    {
        const bool ofPlan = column == "label" || FieldOf(column) != nullptr;
        collectives = collectives || IsOfCollectives(column);
        m_ofPlans = m_ofPlans || ofPlan;
        time = time || column == "time_s";
        if (!ofPlan && !IsOfCollectives(column) && column != "time_s")
        {
            throw ConfigError(where, "there is no column " + Quoted(column), allowed, "");
        }
    }
    const auto has = [this](const std::string& column) {
        return std::find(m_columns.begin(), m_columns.end(), column) != m_columns.end();
    };
    if (!time || collectives == m_ofPlans || (collectives && !(has("operation") && has("bytes"))))
    {
        throw ConfigError(where,
                          !time                      ? "there is no column time_s"
                          : collectives && m_ofPlans ? "some columns name collectives, others plans"
                          : collectives ? "a collective is named by operation and bytes"
                                        : "no column names what a row is the time of",
                          allowed,
                          "");
    }
}

void
PredictionRows::ReadCell(const std::string& column, const std::string& cell, Row& row) const
{
    const std::string at = row.where + " " + column;
    if (column == "time_s")
    {
        row.time = Duration::Seconds(ParseAt(at, [&] { return ParseNumber(cell, 1e-12, 9e6); }));
    }
    else if (cell.empty())
    {
        return;
    }
    else if (column == "operation")
    {
        const auto& words = CollectiveOpWords();
        if (std::find(words.begin(), words.end(), cell) == words.end())
        {
            throw ConfigError(at, Quoted(cell) + " is not known", AnyOf(words), "");
        }
        row.operation = cell;
    }
    else if (column == "bytes")
    {
        row.bytes = ParseAt(at, [&] { return ParseAmount(cell); });
    }
    else if (column == "ranks")
    {
        row.ranks = ParseAt(at, [&] { return ParseWhole(cell, 1, UINT32_MAX); });
    }
    else if (column == "label")
    {
        row.label = cell;
    }
    else
    {
        const PlanField* field = FieldOf(column);
        row.fields.emplace_back(field, ValueOf(*field, cell, at));
    }
}

template <class Is>
Duration
PredictionRows::Only(const std::string& needed, Is is) const
{
    const auto first = std::find_if(m_rows.begin(), m_rows.end(), is);
    if (first == m_rows.end())
    {
        throw RunError("prediction",
                       m_path + " has no prediction for this case; needed is a row with " + needed);
    }
    const auto second = std::find_if(first + 1, m_rows.end(), is);
    if (second != m_rows.end())
    {
        throw RunError("prediction",
                       first->where + " and " + second->where +
                           " are both predictions for this case; needed is one row with " + needed);
    }
    return first->time;
}

Duration
PredictionRows::OfCollective(const std::string& operation, Bytes bytes, uint32_t ranks) const
{
    const std::string needed =
        "operation=" + operation + ", bytes=" + std::to_string(bytes.Count()) +
        ", ranks=" + std::to_string(ranks) + " (or without ranks) and time_s";
    return Only(needed, [&](const Row& row) {
        return !m_ofPlans && (row.operation.empty() || row.operation == operation) &&
               (!row.bytes || *row.bytes == bytes) && (!row.ranks || *row.ranks == ranks);
    });
}

Duration
PredictionRows::OfPlan(const Plan& plan) const
{
    const std::string label = Label(plan);
    std::string needed = m_ofPlans ? "" : "label=" + label + ", ";
    for (const std::string& column : m_columns)
    {
        const PlanField* field = FieldOf(column);
        needed += m_ofPlans && column == "label" ? "label=" + label + ", " : "";
        needed += field != nullptr ? column + "=" + field->get(plan) + ", " : "";
    }
    return Only(needed + "and time_s", [&](const Row& row) {
        return m_ofPlans && (row.label.empty() || row.label == label) &&
               std::all_of(row.fields.begin(), row.fields.end(), [&plan](const auto& cell) {
                   return cell.first->get(plan) == cell.second;
               });
    });
}

} // namespace scaleacross
