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

/**
 * The tables and columns of a database.
 *
 * A new field of plans or figure of reports is a column that a file gets when it is next written
 * to, with NULL in the rows that are there, and needs no new version. Any other change is a
 * migration. doc/database.md describes the outcome.
 */
class Schema
{
  public:
    /// @param migrations element n takes a database of version n to n + 1
    /// @param known columns that this program reads and writes, those of the migrations among them
    Schema(std::vector<std::string> migrations, const std::vector<TableColumn>& known);

    /// That of this program, from version 1 of release 0.1.0 on. Never change a migration that has
    /// been released: add another.
    static const Schema& Current();

    /// The version that the migrations lead to (PRAGMA user_version).
    int64_t Version() const
    {
        return static_cast<int64_t>(m_migrations.size());
    }

    const std::vector<std::string>& Migrations() const
    {
        return m_migrations;
    }

    /// The columns that a database of this version has at least, in every release.
    const std::set<TableColumn>& Columns() const
    {
        return m_columns;
    }

    /// Further columns, of fields and figures that have come since.
    const std::vector<TableColumn>& Added() const
    {
        return m_added;
    }

    bool Adds(const TableColumn& column) const;

  private:
    std::vector<std::string> m_migrations;
    std::set<TableColumn> m_columns;
    std::vector<TableColumn> m_added;
};

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

} // namespace scaleacross

#endif // SCALEACROSS_SCHEMA_H
