// SPDX-License-Identifier: GPL-2.0-only

#include "../../temporary-folder.h"
#include "core/base/errors.h"
#include "core/io/text-file.h"
#include "core/store/database.h"
#include "core/store/schema.h"
#include "core/store/search-reader.h"
#include "places.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <variant>

namespace scaleacross
{

namespace
{

/// Tables and indices by name, as the statements that make them. Views belong to no version.
std::map<std::string, std::string>
StatementsOf(SQLite::Database& database)
{
    SQLite::Statement select(database,
                             "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') "
                             "AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%'");
    std::map<std::string, std::string> statements;
    while (select.executeStep())
    {
        statements.emplace(select.getColumn(0).getString(), select.getColumn(1).getString());
    }
    return statements;
}

/// The database of schema version 1 that is checked in.
class SchemaOne : public testing::Test
{
  protected:
    SchemaOne()
        : m_path(m_folder.Of("one.db"))
    {
        SQLite::Database file(m_path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        file.exec(ReadTextFile(SourcePath("tests/core/store/schema-1.sql")));
    }

    TemporaryFolder m_folder;
    std::string m_path;
};

/// Whoever changes what version 1 is has files in the world that are not so: what changes is
/// another element of Schema::Migrations().
TEST_F(SchemaOne, IsWhatTheFirstMigrationMakes)
{
    SQLite::Database made(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    made.exec(Schema::Current().Migrations().front());
    SQLite::Database file(m_path, SQLite::OPEN_READONLY);
    EXPECT_EQ(StatementsOf(file), StatementsOf(made));
}

/// A file of it gets what a new one has, if its next writer is of this program.
TEST_F(SchemaOne, IsBroughtUpToDate)
{
    const std::string fresh = m_folder.Of("new.db");
    for (const std::string& path : {m_path, fresh})
    {
        const Database database(path, Database::Access::Write);
    }
    SQLite::Database file(m_path, SQLite::OPEN_READONLY);
    SQLite::Database made(fresh, SQLite::OPEN_READONLY);
    EXPECT_EQ(ColumnsOf(file), ColumnsOf(made));
    for (const char* pragma : {"PRAGMA user_version", "PRAGMA application_id"})
    {
        EXPECT_EQ(file.execAndGet(pragma).getInt64(), made.execAndGet(pragma).getInt64()) << pragma;
    }
    EXPECT_EQ(file.execAndGet("PRAGMA integrity_check").getString(), "ok");
}

/// What is expected stands in the file.
TEST_F(SchemaOne, ItsAnswerIsRead)
{
    {
        Database database(m_path, Database::Access::Write);
        database.Transact(
            [&] { database.Execute("UPDATE run SET evaluations = evaluations + 1 WHERE id = 1"); });
    }
    Database database(m_path, Database::Access::Read);
    const auto searches = ListSearches(database);
    ASSERT_EQ(searches.size(), 1U);
    const SearchSummary& search = searches.front();
    EXPECT_EQ(search.study, "two-buildings");
    EXPECT_TRUE(search.finished);
    EXPECT_EQ(AskedText(search), "keep 2, pareto time,memory");
    ASSERT_EQ(search.settings.size(), 1U);
    EXPECT_EQ(search.settings.front().first, "cluster.cross.distance");
    EXPECT_EQ(search.settings.front().second, "20km");
    EXPECT_EQ(search.rates.gpus, 8U);
    EXPECT_EQ(search.counts.evaluated, 4U);
    EXPECT_EQ(search.counts.rejected.at("crossing").count, 2U);
    EXPECT_EQ(search.conclusion.gap, 0);
    ASSERT_FALSE(search.conclusion.explanation.empty());
    EXPECT_EQ(search.conclusion.explanation.front().topic, "best");

    const auto best = BestRuns(database, search, 2);
    ASSERT_EQ(best.size(), 2U);
    EXPECT_EQ(best[0].label, "TP1 PP2 DP4 PP-out HSDP 1f1b b1");
    EXPECT_EQ(best[1].label, "TP1 PP2 DP4 DP-out HSDP 1f1b b1");
    const auto& report = std::get<RunReport>(best[0].run.evaluation);
    EXPECT_EQ(report.iterationTime, Duration::Seconds(0.001425390773));
    EXPECT_EQ(report.memoryMax, Bytes(45'655'040));
    ASSERT_EQ(report.memory.size(), 2U);
    EXPECT_EQ(report.memory[1].usable, Bytes(79'078'359'040));
    EXPECT_EQ(FrontRuns(database, search).size(), 3U);
    const auto baselines = BaselinesOf(database, search.id);
    ASSERT_EQ(baselines.size(), 1U);
    EXPECT_EQ(baselines.front().name, "production");
    EXPECT_EQ(baselines.front().label, "TP2 PP2x2 DP2 DP-out HSDP dorapp b4");
}

} // namespace

} // namespace scaleacross
