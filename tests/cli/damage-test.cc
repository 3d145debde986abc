// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * What goes wrong around the program: databases that were damaged or edited, full disks, files that
 * vanish, time that runs out. Each ends with a message that says so, and never with success.
 */

#include "places.h"
#include "program.h"

namespace scaleacross
{

namespace
{

class Damage : public ProgramTest
{
  protected:
    void Explored() const
    {
        Write("study.yaml", g_smallStudy);
        ASSERT_EQ(Run("explore study.yaml --db a.db").code, 0);
        std::filesystem::copy(folder / "a.db", folder / "good.db");
    }

    /// Runs lines of the shell in which "$PROGRAM" is the program.
    Call Shell(const std::string& script) const
    {
        Write(".script", "PROGRAM='" + ProgramPath() + "'\n" + script + "\n");
        Call call = Run("--version >.version && sh .script");
        std::filesystem::remove(folder / ".script");
        std::filesystem::remove(folder / ".version");
        return call;
    }

    /// Refused as damaged, not as a fault of the program, and without being ended by a signal.
    void ExpectRefused(const std::string& arguments, const std::string& words) const
    {
        const Call call = Run(arguments);
        EXPECT_EQ(call.code, 2) << arguments << "\n" << call.out << call.err;
        EXPECT_NE(call.err.find(words), std::string::npos) << arguments << "\n" << call.err;
        EXPECT_EQ(call.err.find("fault in scaleacross"), std::string::npos) << call.err;
        EXPECT_EQ(call.err.find("terminate"), std::string::npos) << call.err;
    }
};

TEST_F(Damage, EditedDatabasesAreRefusedInWords)
{
    Explored();
    const std::vector<std::pair<std::string, std::string>> edits = {
        {"UPDATE run SET iteration_time_s = -1 WHERE status = 'ok'",
         "iteration_time_s of a run is '-1"},
        {"UPDATE run SET iteration_time_s = 1e300 WHERE status = 'ok'",
         "iteration_time_s of a run is"},
        {"UPDATE run SET iteration_time_s = 'soon' WHERE status = 'ok'",
         "iteration_time_s of a run is 'soon'"},
        {"UPDATE run SET bubble_s = NULL WHERE status = 'ok'", "bubble_s of a run is"},
        {"UPDATE run SET memory_bytes_max = -5 WHERE status = 'ok'",
         "memory_bytes_max of a run is '-5'"},
        {"UPDATE run SET iterations = 5000000000 WHERE status = 'ok'", "iterations of a run is"},
        {"UPDATE run_memory SET optimizer = 'x'", "optimizer of a run is 'x'"},
        {"UPDATE run_resource SET capacity_bps = -1.0", "capacity_bps of a run is"},
        {"UPDATE plan SET crossing = 'sideways'", "plan_crossing of a run is 'sideways'"},
        {"UPDATE search SET next_plan = 1000000", "has evaluated"},
        {"UPDATE search SET evaluated = -3", "has evaluated -3"},
        {"UPDATE search SET proven_after = -1", "is proven after -1"},
        {"UPDATE search SET proven_after = 1000000", "is proven after 1000000"},
        {"UPDATE search SET bound_s = 1e300", "has evaluated"},
        {"UPDATE search_count SET count = -1", "counts -1 plans"},
        {"ALTER TABLE run RENAME COLUMN bubble_s TO bubbles",
         "the table run has no column bubble_s"},
        {"DROP TABLE run_memory", "the table run_memory has no column"},
        {"DELETE FROM run", "there is no run"},
    };
    for (const auto& [sql, words] : edits)
    {
        std::filesystem::copy(folder / "good.db",
                              folder / "a.db",
                              std::filesystem::copy_options::overwrite_existing);
        Sql("a.db", "PRAGMA foreign_keys = OFF; " + sql);
        ExpectRefused("show a.db", "a.db: ");
        ExpectRefused("show a.db", words);
        ExpectRefused("explore study.yaml --db a.db", words);
    }
}

/// What only the search itself can know: numbers of plans in its space.
TEST_F(Damage, RowsOfNoPlanAreRefused)
{
    Explored();
    for (const char* sql : {"UPDATE search_run SET plan_index = plan_index + 1000000",
                            "UPDATE search_run SET plan_index = -1 - plan_index"})
    {
        std::filesystem::copy(folder / "good.db",
                              folder / "a.db",
                              std::filesystem::copy_options::overwrite_existing);
        Sql("a.db", sql);
        const Call call = Run("explore study.yaml --db a.db");
        EXPECT_EQ(call.code, 2) << sql << call.out;
        EXPECT_NE(call.err.find("which is no plan of this search"), std::string::npos) << call.err;
    }
}

/// Whatever is in the way of SQLite itself, a command ends with words of ours and the file's name.
TEST_F(Damage, WhatSqliteRefusesIsExplained)
{
    Explored();
    // A table whose rows cannot be put in: the columns are there, the constraint is not ours.
    Sql("a.db", "CREATE TRIGGER no BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'no more'); END");
    ExpectRefused("run study.yaml --db a.db", "a.db: the database is damaged");
    ExpectRefused("run study.yaml --db a.db", "no more");
    // The result itself is not lost.
    EXPECT_NE(Run("run study.yaml --db a.db").out.find("per iteration"), std::string::npos);
}

TEST_F(Damage, TruncatedDatabasesAreRefused)
{
    Explored();
    const std::string good = Read("good.db");
    for (const size_t size : {size_t{40}, size_t{100}, size_t{4096}, good.size() / 2})
    {
        Write("a.db", good.substr(0, size));
        ExpectRefused("show a.db", "a.db: ");
        ExpectRefused("explore study.yaml --db a.db", "a.db: ");
        ExpectRefused("run study.yaml --db a.db", "a.db: ");
        std::filesystem::remove(folder / "a.db-wal");
        std::filesystem::remove(folder / "a.db-shm");
    }
    Write("a.db", "This is no database, whatever its name says, and it is long enough to be one.");
    ExpectRefused("show a.db", "is not a database");
    ExpectRefused("run study.yaml --db a.db", "is not a database");
    EXPECT_EQ(Read("a.db").substr(0, 7), "This is");
}

TEST_F(Damage, ADatabaseDeletedInMidRunIsNoSuccess)
{
    Write("study.yaml", g_smallStudy);
    Write("long.yaml", g_longStudy);
    for (const std::string command :
         {"run study.yaml --engine packet --iterations 40", "explore long.yaml"})
    {
        // As soon as the file is open (its WAL's index is there) it goes away; what follows would
        // be written into nothing. One run is stored before: a run creates no file before it has
        // something to put into it.
        if (command.rfind("run", 0) == 0)
        {
            ASSERT_EQ(Run("run study.yaml --db a.db").code, 0);
        }
        const Call call = Shell(
            "(for i in $(seq 1000); do [ -e a.db-shm ] && break; sleep 0.005; done; sleep 0.05; "
            "rm a.db) &\n$PROGRAM " +
            command + " --db a.db\ncode=$?\nwait\nexit $code\n");
        EXPECT_EQ(call.code, 1) << command << call.out << call.err;
        EXPECT_NE(call.err.find("a.db: the database was deleted"), std::string::npos) << call.err;
        for (const char* name : {"a.db", "a.db-wal", "a.db-shm"})
        {
            std::filesystem::remove(folder / name);
        }
    }
}

TEST_F(Damage, AFullDiskIsNoSuccess)
{
    Explored();
    Write("long.yaml", g_longStudy);
    // Files of 256 KiB at most (the unit is 512 bytes), of which the log takes more.
    const Call call = Shell("trap '' XFSZ; ulimit -f 512; $PROGRAM explore long.yaml --db a.db");
    EXPECT_EQ(call.code, 1) << call.out << call.err;
    EXPECT_NE(call.err.find("a.db: "), std::string::npos) << call.err;
    EXPECT_NE(call.err.find("what was committed before is kept"), std::string::npos) << call.err;
    // It is.
    EXPECT_EQ(Run("explore study.yaml --db a.db").code, 0);
    // No room for the schema either.
    const Call none = Shell("trap '' XFSZ; ulimit -f 8; $PROGRAM explore study.yaml --db b.db");
    EXPECT_EQ(none.code, 2) << none.out << none.err;
    EXPECT_NE(none.err.find("b.db: the database cannot be written"), std::string::npos) << none.err;
}

TEST_F(Damage, FlippedBytesNeverAbort)
{
    Explored();
    const std::string good = Read("good.db");
    ASSERT_GT(good.size(), 8192U);
    uint64_t refused = 0;
    for (size_t i = 0; i < 60; i++)
    {
        std::string bad = good;
        // A stretch in every part of the file, the header's first page included.
        const size_t at = 100 + i * (bad.size() - 400) / 60;
        for (size_t k = 0; k < 200; k++)
        {
            bad[at + k] = static_cast<char>(i * 37 + k * 11);
        }
        Write("a.db", bad);
        for (const char* arguments : {"show a.db", "explore study.yaml --db a.db"})
        {
            const Call call = Run(arguments);
            EXPECT_TRUE(call.code >= 0 && call.code <= 2) << at << " " << call.code << call.err;
            EXPECT_EQ(call.err.find("fault in scaleacross"), std::string::npos) << at << call.err;
            refused += call.code != 0 ? 1 : 0;
        }
        std::filesystem::remove(folder / "a.db-wal");
        std::filesystem::remove(folder / "a.db-shm");
    }
    EXPECT_GT(refused, 10U);
}

TEST_F(Damage, OutputThatDoesNotArriveIsAFailure)
{
    Write("study.yaml", g_smallStudy);
    for (const char* arguments : {"run study.yaml --no-store",
                                  "run study.yaml --no-store --json",
                                  "list models",
                                  "show study.yaml",
                                  "explore study.yaml --db a.db"})
    {
        const Call call = Shell("$PROGRAM " + std::string(arguments) + " 2>errors >/dev/full");
        EXPECT_EQ(call.code, 1) << arguments;
        EXPECT_NE(Read("errors").find("the output could not be written"), std::string::npos)
            << arguments << Read("errors");
    }
}

TEST_F(Damage, AFailedDrawingLeavesNothing)
{
    const std::string draw = "schedule --name 1f1b --stages 8 --microbatches 32 --forward 1ms "
                             "--input-grad 1ms --weight-grad 1ms -o ";
    EXPECT_EQ(Run(draw + "no/such/folder.svg").code, 2);
    EXPECT_TRUE(Files().empty());
    ASSERT_EQ(Run(draw + "good.svg").code, 0);
    ASSERT_GT(Read("good.svg").size(), 4096U);
    // Files of a few blocks at most, as on a disk that is full.
    const Call call = Shell("trap '' XFSZ; ulimit -f 4; $PROGRAM " + draw + "part.svg");
    EXPECT_EQ(call.code, 1) << call.err;
    EXPECT_NE(call.err.find("part.svg"), std::string::npos) << call.err;
    EXPECT_EQ(Files(), std::vector<std::string>{"good.svg"});
    // What stood there before stays as it was.
    const std::string before = Read("good.svg");
    EXPECT_EQ(Shell("trap '' XFSZ; ulimit -f 4; $PROGRAM " + draw + "good.svg").code, 1);
    EXPECT_EQ(Read("good.svg"), before);
}

TEST_F(Damage, AnUnknownCommandGetsTheNearest)
{
    const Call call = Run("exlpore study.yaml");
    EXPECT_EQ(call.code, 2);
    EXPECT_NE(call.err.find("there is no command 'exlpore'; did you mean explore?"),
              std::string::npos)
        << call.err;
}

} // namespace

} // namespace scaleacross
