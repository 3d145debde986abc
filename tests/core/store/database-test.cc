// SPDX-License-Identifier: GPL-2.0-only

#include "../../temporary-folder.h"
#include "core/base/errors.h"
#include "core/spec/plan-fields.h"
#include "core/store/database.h"
#include "core/store/key.h"
#include "core/store/run-store.h"
#include "core/store/schema.h"
#include "places.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace scaleacross
{

namespace
{

namespace fs = std::filesystem;
using testing::HasSubstr;

const Duration g_patience = Duration::Microseconds(50'000);

class DatabaseTest : public testing::Test
{
  protected:
    std::string PathOf(const std::string& name) const
    {
        return m_folder.Of(name);
    }

    /// What opening says is wrong, or "nothing".
    static std::string ProblemOf(const std::string& path,
                                 Database::Access access = Database::Access::Write,
                                 const Schema& schema = Schema::Current())
    {
        try
        {
            Database database(path, access, g_patience, schema);
        }
        catch (const ConfigError& error)
        {
            EXPECT_EQ(error.Where(), path);
            return error.Problem();
        }
        return "nothing";
    }

    /// The first value that a statement gives, as text.
    static std::string ValueOf(Database& database, const std::string& sql)
    {
        auto& select = database.Prepare(sql);
        const std::string value = select.executeStep() ? select.getColumn(0).getString() : "none";
        select.reset();
        return value;
    }

    /// A file of this program with scenarios of these hashes.
    void Make(const std::string& name, const std::vector<std::string>& hashes) const
    {
        Database database(PathOf(name), Database::Access::Write);
        for (const std::string& hash : hashes)
        {
            database.Execute("INSERT INTO scenario (hash, text, study) VALUES ('" + hash +
                             "', '', '')");
        }
    }

    TemporaryFolder m_folder;
};

TEST_F(DatabaseTest, NewFileHasTheSchema)
{
    Database database(PathOf("new.db"), Database::Access::Write);
    auto& version = database.Prepare("PRAGMA user_version");
    version.executeStep();
    EXPECT_EQ(version.getColumn(0).getInt64(), Schema::Current().Version());
    auto& mode = database.Prepare("PRAGMA journal_mode");
    mode.executeStep();
    EXPECT_EQ(mode.getColumn(0).getString(), "wal");
    auto& keys = database.Prepare("PRAGMA foreign_keys");
    keys.executeStep();
    EXPECT_EQ(keys.getColumn(0).getInt(), 1);
    EXPECT_TRUE(Database::IsDatabase(PathOf("new.db")));
}

TEST_F(DatabaseTest, NamesTheColumnThatIsMissing)
{
    {
        Database database(PathOf("a.db"), Database::Access::Write);
        database.Execute("DROP VIEW ranking");
        database.Execute("ALTER TABLE run DROP COLUMN mfu");
    }
    for (const auto access : {Database::Access::Write, Database::Access::Read})
    {
        EXPECT_THAT(ProblemOf(PathOf("a.db"), access),
                    HasSubstr("was changed by another program: the table run has no column mfu"));
    }
}

TEST_F(DatabaseTest, WritingToADeletedFileFails)
{
    Database database(PathOf("a.db"), Database::Access::Write);
    const auto write = [&] {
        database.Transact([&] { database.Execute("UPDATE scenario SET text = ''"); });
    };
    fs::remove(PathOf("a.db"));
    EXPECT_THROW(write(), RunError);
    std::ofstream(PathOf("a.db")) << "something else";
    EXPECT_THROW(write(), RunError);
}

TEST_F(DatabaseTest, EveryFieldOfAPlanHasAColumn)
{
    std::set<std::string> columns;
    std::set<std::string> names{"id", "hash", "text", "label"};
    for (const PlanColumn& column : PlanColumns())
    {
        columns.insert(column.key);
        EXPECT_TRUE(names.insert(column.name).second) << column.name;
    }
    for (const PlanField& field : PlanFields())
    {
        // Values of one tier are in the text.
        const bool tier = field.key.rfind("network.tiers.", 0) == 0;
        EXPECT_EQ(columns.count(field.key), tier ? 0U : 1U) << field.key;
    }
    // In the file too.
    Database database(PathOf("a.db"), Database::Access::Write);
    for (const PlanColumn& column : PlanColumns())
    {
        const std::string sql = "SELECT plan.\"" + column.name + "\" FROM plan";
        EXPECT_NO_THROW(database.Prepare(sql)) << column.name;
    }
}

/// A release that knows a figure more gives files a column for it, which others leave alone.
TEST_F(DatabaseTest, ColumnsThatHaveComeSinceAreAddedAndUnknownBefore)
{
    const TableColumn joules("scenario", "joules");
    const Schema later(Schema::Current().Migrations(), {{"run", "mfu"}, joules});
    EXPECT_TRUE(later.Adds(joules));
    EXPECT_FALSE(later.Adds({"run", "mfu"}));
    Make("a.db", {"x"});
    EXPECT_THAT(ProblemOf(PathOf("a.db"), Database::Access::Read, later),
                HasSubstr("is of an older release: the table scenario has no column joules"));
    {
        Database database(PathOf("a.db"), Database::Access::Write, g_patience, later);
        EXPECT_EQ(ValueOf(database, "SELECT joules IS NULL FROM scenario"), "1");
        EXPECT_EQ(database.Pragma("user_version"), Schema::Current().Version());
    }
    EXPECT_EQ(ProblemOf(PathOf("a.db"), Database::Access::Read, later), "nothing");
    EXPECT_EQ(ProblemOf(PathOf("a.db"), Database::Access::Read), "nothing");
    EXPECT_EQ(ProblemOf(PathOf("a.db"), Database::Access::Write), "nothing");
}

/// Of a release with two more migrations, the second of which needs the first, and both a table
/// that the view `ranking` names.
TEST_F(DatabaseTest, AnOlderSchemaIsBroughtUpToDateVersionByVersion)
{
    std::vector<std::string> migrations = Schema::Current().Migrations();
    const int64_t now = Schema::Current().Version();
    migrations.emplace_back("ALTER TABLE scenario ADD COLUMN joules REAL; "
                            "UPDATE scenario SET joules = 2.5");
    migrations.emplace_back("ALTER TABLE scenario RENAME COLUMN joules TO energy");
    const Schema later(migrations, {});
    Make("a.db", {"x"});
    EXPECT_THAT(ProblemOf(PathOf("a.db"), Database::Access::Read, later),
                HasSubstr("has the older schema " + std::to_string(now)));
    {
        Database database(PathOf("a.db"), Database::Access::Write, g_patience, later);
        EXPECT_EQ(database.Pragma("user_version"), now + 2);
        EXPECT_EQ(ValueOf(database, "SELECT energy FROM scenario"), "2.5");
        EXPECT_EQ(ValueOf(database, "SELECT count(*) FROM ranking"), "0");
    }
    for (const auto access : {Database::Access::Write, Database::Access::Read})
    {
        EXPECT_EQ(ProblemOf(PathOf("a.db"), access, later), "nothing");
        EXPECT_THAT(
            ProblemOf(PathOf("a.db"), access),
            HasSubstr("schema " + std::to_string(now + 2) + ", written by a newer release"));
    }
}

/// Its rows are in the way of a migration: two scenarios cannot have one hash.
TEST_F(DatabaseTest, AMigrationThatFailsLeavesTheFileAsItWas)
{
    std::vector<std::string> migrations = Schema::Current().Migrations();
    migrations.emplace_back("ALTER TABLE scenario ADD COLUMN joules REAL; "
                            "UPDATE scenario SET hash = 'same'");
    const Schema later(migrations, {});
    Make("a.db", {"x", "y"});
    EXPECT_THAT(ProblemOf(PathOf("a.db"), Database::Access::Write, later),
                HasSubstr("the database cannot be used"));
    Database database(PathOf("a.db"), Database::Access::Read);
    EXPECT_EQ(database.Pragma("user_version"), Schema::Current().Version());
    EXPECT_EQ(ValueOf(database,
                      "SELECT count(*) FROM pragma_table_info('scenario') WHERE name = 'joules'"),
              "0");
    EXPECT_EQ(ValueOf(database, "SELECT count(*) FROM ranking"), "0");
}

TEST_F(DatabaseTest, OpensAgainAndTogether)
{
    Database first(PathOf("a.db"), Database::Access::Write);
    Database second(PathOf("a.db"), Database::Access::Write);
    Database reader(PathOf("a.db"), Database::Access::Read);
    first.Execute("INSERT INTO scenario (hash, text, study) VALUES ('x', 'y', '')");
    second.Execute("INSERT INTO scenario (hash, text, study) VALUES ('z', 'y', '')");
    auto& count = reader.Prepare("SELECT count(*) FROM scenario");
    count.executeStep();
    EXPECT_EQ(count.getColumn(0).getInt(), 2);
}

TEST_F(DatabaseTest, ManyCreateItAtOnce)
{
    std::vector<std::thread> threads;
    std::atomic<int> opened{0};
    for (int i = 0; i < 8; i++)
    {
        threads.emplace_back([this, i, &opened] {
            Database database(PathOf("shared.db"), Database::Access::Write);
            database.Transact([&] {
                database.Execute("INSERT INTO scenario (hash, text, study) VALUES ('" +
                                 std::to_string(i) + "', '', '')");
            });
            opened++;
        });
    }
    for (auto& thread : threads)
    {
        thread.join();
    }
    EXPECT_EQ(opened, 8);
    Database database(PathOf("shared.db"), Database::Access::Read);
    auto& count = database.Prepare("SELECT count(*) FROM scenario");
    count.executeStep();
    EXPECT_EQ(count.getColumn(0).getInt(), 8);
}

TEST_F(DatabaseTest, WritersWaitForEachOther)
{
    Database first(PathOf("a.db"), Database::Access::Write);
    Database second(PathOf("a.db"), Database::Access::Write);
    first.Execute("BEGIN IMMEDIATE");
    std::thread other([&second] {
        second.Transact([&] {
            second.Execute("INSERT INTO scenario (hash, text, study) VALUES ('x', '', '')");
        });
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first.Execute("COMMIT");
    other.join();
}

TEST_F(DatabaseTest, FailedTransactionLeavesNothing)
{
    Database database(PathOf("a.db"), Database::Access::Write);
    const auto insert = [&] {
        database.Execute("INSERT INTO scenario (hash, text, study) VALUES ('x', '', '')");
        throw std::runtime_error("midway");
    };
    EXPECT_THROW(database.Transact(insert), std::runtime_error);
    const auto twice = [&] {
        database.Execute("INSERT INTO scenario (hash, text, study) VALUES ('x', '', '')");
        database.Execute("INSERT INTO scenario (hash, text, study) VALUES ('x', '', '')");
    };
    // What the constraints refuse, this program never writes.
    EXPECT_THROW(database.Transact(twice), ConfigError);
    auto& count = database.Prepare("SELECT count(*) FROM scenario");
    count.executeStep();
    EXPECT_EQ(count.getColumn(0).getInt(), 0);
}

TEST_F(DatabaseTest, RefusesANewerSchema)
{
    {
        Database database(PathOf("a.db"), Database::Access::Write);
        database.Execute("PRAGMA user_version = 999");
    }
    EXPECT_THAT(ProblemOf(PathOf("a.db")), HasSubstr("schema 999, written by a newer release"));
    EXPECT_THAT(ProblemOf(PathOf("a.db"), Database::Access::Read), HasSubstr("newer"));
}

/// What nobody has written to yet holds no answer.
TEST_F(DatabaseTest, AnEmptyDatabaseIsNotRead)
{
    std::ofstream(PathOf("a.db")).flush();
    EXPECT_EQ(ProblemOf(PathOf("a.db"), Database::Access::Read), "the database is empty");
}

TEST_F(DatabaseTest, RefusesWhatIsNoDatabase)
{
    const std::string text = "study: this is a study, not a database, and it is long enough to be "
                             "read as the header of one, which takes a hundred bytes\n";
    std::ofstream(PathOf("text.db")) << text;
    EXPECT_THAT(ProblemOf(PathOf("text.db")), HasSubstr("not a database"));
    EXPECT_FALSE(Database::IsDatabase(PathOf("text.db")));
    std::ifstream file(PathOf("text.db"));
    const std::string now((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(now, text);
}

TEST_F(DatabaseTest, RefusesTheDatabaseOfAnotherProgram)
{
    {
        SQLite::Database other(PathOf("other.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        other.exec("CREATE TABLE bookmarks (url TEXT)");
    }
    EXPECT_THAT(ProblemOf(PathOf("other.db")), HasSubstr("another program"));
}

TEST_F(DatabaseTest, RefusesFoldersAndMissingFolders)
{
    EXPECT_THAT(ProblemOf(m_folder.Path().string()), HasSubstr("neither be opened nor created"));
    EXPECT_THAT(ProblemOf(PathOf("no/such.db")), HasSubstr("neither be opened nor created"));
    EXPECT_THAT(ProblemOf(PathOf("missing.db"), Database::Access::Read),
                HasSubstr("cannot be opened"));
    EXPECT_FALSE(fs::exists(PathOf("missing.db")));
}

TEST_F(DatabaseTest, ReadOnlyFolder)
{
    // Nobody may create files there, not even the superuser.
    EXPECT_THAT(ProblemOf("/proc/new.db"), HasSubstr("neither be opened nor created"));
    {
        Database database(PathOf("a.db"), Database::Access::Write);
    }
    fs::permissions(m_folder.Path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(ProblemOf(PathOf("a.db"), Database::Access::Read), "nothing");
    const bool superuser = access(m_folder.Path().c_str(), W_OK) == 0;
    EXPECT_THAT(ProblemOf(PathOf("a.db")), HasSubstr(superuser ? "nothing" : "cannot be"));
}

TEST_F(DatabaseTest, SaysThatAnotherProcessHoldsTheLock)
{
    {
        // A fresh file whose schema is still missing, held by somebody.
        SQLite::Database holder(PathOf("a.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        holder.exec("BEGIN EXCLUSIVE");
        EXPECT_THAT(ProblemOf(PathOf("a.db")), HasSubstr("another process keeps"));
        holder.exec("ROLLBACK");
    }
    EXPECT_EQ(ProblemOf(PathOf("a.db")), "nothing");
}

TEST(Key, HashesAreVersion5Uuids)
{
    // RFC 4122 test value: uuid5(NAMESPACE_URL, "http://www.example.com/") by Python's uuid module.
    EXPECT_EQ(HashOf("http://www.example.com/"), "fcde3c85-2270-590f-9e7c-ee003d65e0e2");
    EXPECT_NE(HashOf("a"), HashOf("b"));
}

/// A ring of three spans that differ: the longest, the scarcest and the worst of them.
TEST(Key, SpansAreToldByTheirWorst)
{
    ClusterSpec cluster;
    EXPECT_FALSE(SpanFiguresOf(cluster).distanceKm);
    cluster.buildings.resize(3);
    for (BuildingSpec& building : cluster.buildings)
    {
        building.gpus = 8;
        building.gpu.nicRate = BitRate(400e9);
    }
    cluster.buildings[2].gpus = 16;
    const auto add = [&cluster](uint32_t a, uint32_t b, double km, double bps, double loss) {
        CrossLinkSpec span;
        span.a = a;
        span.b = b;
        span.distance = Distance(km);
        span.capacity = BitRate(bps);
        span.loss = loss;
        cluster.crossLinks.push_back(span);
    };
    add(0, 1, 10, 800e9, 0);
    add(1, 2, 30, 400e9, 1e-6);
    add(0, 2, 20, 1600e9, 1e-5);
    const SpanFigures figures = SpanFiguresOf(cluster);
    EXPECT_EQ(figures.distanceKm, 30);
    EXPECT_EQ(figures.capacityBps, 400e9);
    EXPECT_EQ(figures.loss, 1e-5);
    // 8 x 400 Gbps behind the smaller end over two spans of 400 Gbps.
    EXPECT_EQ(figures.oversubscription, 4);
}

/// Of 0 and 1, which a span of 80 km joins, with a hub 250 and 600 km away: the direct span is the
/// way with the fewest spans (RouteBetweenSites), and those of the hub carry nothing.
TEST(Key, SpansThatLeadNowhereDoNotCount)
{
    ClusterSpec cluster;
    cluster.buildings.resize(2);
    for (BuildingSpec& building : cluster.buildings)
    {
        building.gpus = 8;
        building.gpu.nicRate = BitRate(400e9);
    }
    cluster.hubs.resize(1);
    const auto add = [&cluster](uint32_t a, uint32_t b, double km, double bps) {
        CrossLinkSpec span;
        span.a = a;
        span.b = b;
        span.distance = Distance(km);
        span.capacity = BitRate(bps);
        cluster.crossLinks.push_back(span);
    };
    add(0, 1, 80, 800e9);
    add(0, 2, 250, 100e9);
    add(1, 2, 600, 100e9);
    EXPECT_EQ(SpanFiguresOf(cluster).distanceKm, 80);
    EXPECT_EQ(SpanFiguresOf(cluster).capacityBps, 800e9);
    cluster.crossLinks.erase(cluster.crossLinks.begin()); // now over the hub
    EXPECT_EQ(SpanFiguresOf(cluster).distanceKm, 600);
}

TEST_F(DatabaseTest, ExampleQueriesOfTheDocumentationRun)
{
    std::ifstream file(SourcePath("contrib/scaleacross/doc/database.md"));
    std::stringstream page;
    page << file.rdbuf();
    const std::string text = page.str();
    Database database(PathOf("a.db"), Database::Access::Write);
    int queries = 0;
    const std::string fence = "```sql\n";
    for (auto begin = text.find(fence); begin != std::string::npos;
         begin = text.find(fence, begin + 1))
    {
        const auto start = begin + fence.size();
        EXPECT_NO_THROW(database.Prepare(text.substr(start, text.find("```", start) - start)));
        queries++;
    }
    EXPECT_EQ(queries, 5);
}

} // namespace

} // namespace scaleacross
