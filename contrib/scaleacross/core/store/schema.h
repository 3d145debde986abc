// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEMA_H
#define SCALEACROSS_SCHEMA_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace SQLite
{
class Database;
}

namespace scaleacross
{

/// Element n takes a database of schema version n to n + 1. Never change one that has been
/// released: add another. doc/database.md describes the outcome.
const std::vector<std::string>& Migrations();

/// The schema that this program writes (PRAGMA user_version).
inline int64_t
SchemaVersion()
{
    return static_cast<int64_t>(Migrations().size());
}

/// A column of the table `plan` that is a field of a plan, and the field's key.
struct PlanColumn
{
    std::string name;
    std::string key;
};

/// All fields of plan and network but those of a tier, in the order of their table.
const std::vector<PlanColumn>& PlanColumns();

/// Table and name of a column.
using TableColumn = std::pair<std::string, std::string>;

/// The columns that a database of this schema version has at least, in every release.
const std::set<TableColumn>& ColumnsOfSchema();

/// The settings of the row of `search`, as people write them: "plan.tp=8, plan.pp=2"; an
/// expression, null where nothing is set.
const std::string& SettingsText();

/// The statement of the view `ranking`: a row per run that a search keeps, with what its plan and
/// its spans are.
const std::string& RankingSelect();

/// Views by name, as the statements that make them. They are no part of a schema version: a file is
/// given those of the release that writes to it, with the columns that this one has.
const std::map<std::string, std::string>& Views();

std::set<TableColumn> ColumnsOf(SQLite::Database& database);

/// Further columns, of fields, figures and questions that have come since: a database that lacks
/// them gets them when it is next written to, and has NULL in the rows of before.
const std::vector<TableColumn>& AddedColumns();

bool IsAddedColumn(const std::string& table, const std::string& column);

} // namespace scaleacross

#endif // SCALEACROSS_SCHEMA_H
