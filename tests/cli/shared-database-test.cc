// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * Several processes on one database, each a real one: what they write must not get into each
 * other's way, and their answers are those of a process that is alone.
 */

#include "core/store/database.h"
#include "places.h"
#include "program.h"

#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

namespace scaleacross
{

namespace
{

/// 384 plans of a small model, of which half are duplicates or cannot run: long enough, at some
/// tenths of a second, for two processes to meet.
const std::string g_study = "study: shared\n" + g_smallPair + R"yaml(search:
  plan:
    tp: [1, 2, 4]
    pp: [2, 4]
    crossing: [dp, pp]
    sharding: [fsdp, hsdp]
    schedule: [1f1b, interleaved]
    chunks: [1, 2]
    microbatch: [1, 2]
    recompute: [none, full]
baselines: [production]
)yaml";

class SharedDatabase : public ProgramTest
{
  protected:
    SharedDatabase()
    {
        Write("study.yaml", g_study);
    }

    /// Starts the program in the test's folder; what it prints goes to `out`.
    pid_t Start(const std::string& arguments, const std::string& out) const
    {
        const pid_t child = fork();
        if (child == 0)
        {
            const std::string command =
                "exec '" + ProgramPath() + "' " + arguments + " >" + out + " 2>&1 </dev/null";
            if (chdir(folder.c_str()) == 0)
            {
                execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            }
            _exit(127);
        }
        return child;
    }

    static int Wait(pid_t child)
    {
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

    /// Waits until a number in the database has come to this.
    void WaitFor(const std::string& db, const std::string& sql, int64_t number) const
    {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (Number(db, sql) < number && std::chrono::steady_clock::now() < deadline)
        {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }

    /// Waits for committed rows, or for the end if that comes first.
    void WaitForRows(const std::string& db, int64_t rows) const
    {
        WaitFor(db,
                "SELECT (SELECT count(*) FROM run WHERE requested = 0) + 1000 * max(finished) FROM "
                "search",
                rows);
    }

    /// Stops a process where it holds no lock on the database.
    void Freeze(pid_t child, const std::string& db) const
    {
        while (true)
        {
            kill(child, SIGSTOP);
            try
            {
                Database database((folder / db).string(),
                                  Database::Access::Write,
                                  Duration::Microseconds(50'000));
                database.Transact([] {});
                return;
            }
            catch (const std::exception&)
            {
                kill(child, SIGCONT);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
    }

    int64_t Number(const std::string& db, const std::string& sql) const
    {
        try
        {
            Database database((folder / db).string(), Database::Access::Read);
            auto& select = database.Prepare(sql);
            return select.executeStep() ? select.getColumn(0).getInt64() : -1;
        }
        catch (const std::exception&)
        {
            return -1;
        }
    }

    /// What the program finds out about the study, from a finished search or anew.
    nlohmann::json Answer(const std::string& db, const std::string& keep) const
    {
        auto json = RunJson("explore study.yaml --keep " + keep + " --db " + db);
        json.erase("seconds");
        json.erase("engine_runs");
        json.erase("db");
        return json;
    }

    /// All rows belong together, and every plan up to the frontier was counted once.
    void ExpectConsistent(const std::string& db) const
    {
        EXPECT_EQ(Sql(db, "PRAGMA integrity_check"), "ok");
        EXPECT_EQ(Sql(db, "PRAGMA foreign_key_check"), "");
        EXPECT_EQ(Sql(db,
                      "SELECT study, next_plan, evaluated, counted FROM search JOIN (SELECT "
                      "search_id, sum(count) AS counted FROM search_count GROUP BY search_id) ON "
                      "search_id = search.id WHERE evaluated + counted <> next_plan"),
                  "");
        EXPECT_EQ(Sql(db, "SELECT count(*) FROM search WHERE NOT finished"), "0");
        EXPECT_EQ(
            Sql(db,
                "SELECT count(*) FROM search_run WHERE rank IS NULL AND pareto = 0 AND "
                "best_of_crossing = 0 AND run_id IN (SELECT id FROM run WHERE status = 'ok')"),
            "0")
            << "what is not kept is removed";
    }
};

TEST_F(SharedDatabase, SearchesOfOneScenarioThatKeepDifferentPlans)
{
    const auto few = Answer("alone.db", "3");
    const auto many = Answer("alone.db", "60");
    for (int round = 0; round < 5; round++)
    {
        const std::string db = "shared-" + std::to_string(round) + ".db";
        const std::string keepFew = "explore study.yaml --jobs 1 --keep 3 --db " + db;
        // One is killed midway, and leaves all that it has run.
        const pid_t killed = Start(keepFew, "one.txt");
        WaitForRows(db, 30);
        kill(killed, SIGKILL);
        Wait(killed);
        // The other finds that, and before it has taken it, the first is finished and removes it.
        const pid_t other = Start("explore study.yaml --jobs 1 --keep 60 --db " + db, "two.txt");
        WaitFor(db, "SELECT count(*) FROM search", 2);
        Freeze(other, db);
        EXPECT_EQ(Wait(Start(keepFew, "one.txt")), 0) << round << Read("one.txt");
        kill(other, SIGCONT);
        EXPECT_EQ(Wait(other), 0) << round << Read("two.txt");
        ExpectConsistent(db);
        EXPECT_EQ(Answer(db, "3"), few) << round;
        EXPECT_EQ(Answer(db, "60"), many) << round;
    }
}

TEST_F(SharedDatabase, OneSearchTwiceAtOnce)
{
    const auto alone = Answer("alone.db", "60");
    for (int round = 0; round < 4; round++)
    {
        const std::string db = "shared-" + std::to_string(round) + ".db";
        const std::string command = "explore study.yaml --jobs 1 --keep 60 --db " + db;
        const pid_t one = Start(command, "one.txt");
        WaitForRows(db, 30 * round);
        const pid_t two = Start(command, "two.txt");
        EXPECT_EQ(Wait(one), 0) << round << Read("one.txt");
        EXPECT_EQ(Wait(two), 0) << round << Read("two.txt");
        ExpectConsistent(db);
        EXPECT_EQ(Answer(db, "60"), alone) << round;
    }
}

/// One goes on while the other is killed and started again.
TEST_F(SharedDatabase, OneOfTwoIsKilledAndStartedAgain)
{
    const auto alone = Answer("alone.db", "60");
    for (int round = 0; round < 4; round++)
    {
        const std::string db = "shared-" + std::to_string(round) + ".db";
        const std::string command = "explore study.yaml --jobs 1 --keep 60 --db " + db;
        const pid_t one = Start(command, "one.txt");
        const pid_t two = Start(command, "two.txt");
        WaitForRows(db, 30 * (round + 1));
        kill(two, SIGKILL);
        Wait(two);
        const pid_t again = Start(command, "two.txt");
        EXPECT_EQ(Wait(one), 0) << round << Read("one.txt");
        EXPECT_EQ(Wait(again), 0) << round << Read("two.txt");
        ExpectConsistent(db);
        EXPECT_EQ(Answer(db, "60"), alone) << round;
    }
}

} // namespace

} // namespace scaleacross
