// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/database.h"
#include "program.h"

#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

namespace scaleacross
{

namespace
{

class Kill : public ProgramTest
{
  protected:
    Kill()
    {
        Write("study.yaml", g_longStudy);
    }

    /// Starts `explore` in the test's folder with what it prints thrown away.
    pid_t Start(const std::string& db) const
    {
        const pid_t child = fork();
        if (child == 0)
        {
            if (chdir(folder.c_str()) == 0 && freopen("/dev/null", "w", stdout) != nullptr &&
                freopen("/dev/null", "w", stderr) != nullptr)
            {
                execl(SCALEACROSS_PROGRAM,
                      "scaleacross",
                      "explore",
                      "study.yaml",
                      "--keep",
                      "1000000",
                      "--db",
                      db.c_str(),
                      nullptr);
            }
            _exit(127);
        }
        return child;
    }

    /// A number from the database; -1 while there is none.
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

    std::string Text(const std::string& db, const std::string& sql) const
    {
        Database database((folder / db).string(), Database::Access::Read);
        auto& select = database.Prepare(sql);
        EXPECT_TRUE(select.executeStep());
        return select.getColumn(0).getString();
    }

    /// Waits for at least 20 committed rows, then sends the signal.
    int StopMidway(const std::string& db, int signal) const
    {
        const pid_t child = Start(db);
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (Number(db, "SELECT count(*) FROM run WHERE requested = 0") < 20 &&
               std::chrono::steady_clock::now() < deadline)
        {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        kill(child, signal);
        int status = 0;
        waitpid(child, &status, 0);
        return status;
    }

    /// The final answer without what two calls may differ in.
    nlohmann::json Answer(const std::string& db) const
    {
        auto json = RunJson("explore study.yaml --top 1000000 --keep 1000000 --db " + db);
        json.erase("seconds");
        json.erase("db");
        return json;
    }
};

TEST_F(Kill, AfterKillTheSameCommandEndsTheSame)
{
    const int status = StopMidway("killed.db", SIGKILL);
    ASSERT_TRUE(WIFSIGNALED(status)) << "explore was done before it could be killed";
    const int64_t committed = Number("killed.db", "SELECT count(*) FROM run WHERE requested = 0");
    ASSERT_GE(committed, 20);
    ASSERT_EQ(Number("killed.db", "SELECT finished FROM search"), 0);
    EXPECT_EQ(Text("killed.db", "PRAGMA integrity_check"), "ok");

    const auto resumed = Answer("killed.db");
    EXPECT_EQ(Text("killed.db", "PRAGMA integrity_check"), "ok");
    EXPECT_EQ(Number("killed.db", "SELECT finished FROM search"), 1);
    // Nothing committed was evaluated twice: no row has been written a second time, and the search
    // has asked the engine once for every plan.
    EXPECT_EQ(Number("killed.db", "SELECT max(evaluations) FROM run"), 1);
    EXPECT_EQ(Number("killed.db", "SELECT engine_runs FROM search"),
              Number("killed.db",
                     "SELECT count(*) FROM search_run JOIN run ON run.id = run_id "
                     "WHERE requested = 0"));
    EXPECT_GT(Number("killed.db", "SELECT evaluated FROM search"), committed);

    EXPECT_EQ(resumed, Answer("whole.db"));
}

TEST_F(Kill, InterruptStoresAndTellsSo)
{
    const int status = StopMidway("stopped.db", SIGINT);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_GE(Number("stopped.db", "SELECT count(*) FROM run WHERE requested = 0"), 20);
    // In order: all that the engine ran is there.
    EXPECT_EQ(Number("stopped.db", "SELECT engine_runs FROM search"),
              Number("stopped.db", "SELECT count(*) FROM run WHERE requested = 0"));
    EXPECT_EQ(Number("stopped.db", "SELECT finished FROM search"), 0);
}

} // namespace

} // namespace scaleacross
