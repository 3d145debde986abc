// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/database.h"
#include "places.h"
#include "program.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

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

    /// Starts `explore` in the test's folder; what it prints goes to `out`, by default nowhere.
    pid_t Start(const std::string& db,
                const std::vector<std::string>& options = {},
                const std::string& out = "/dev/null") const
    {
        std::vector<std::string> arguments = {"scaleacross", "explore", "study.yaml", "--db", db};
        const std::vector<std::string> all = {"--keep", "1000000"};
        const auto& more = options.empty() ? all : options;
        arguments.insert(arguments.end(), more.begin(), more.end());
        std::vector<char*> pointers;
        for (std::string& argument : arguments)
        {
            pointers.push_back(argument.data());
        }
        pointers.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0)
        {
            if (chdir(folder.c_str()) == 0 && freopen(out.c_str(), "w", stdout) != nullptr &&
                freopen("/dev/null", "w", stderr) != nullptr)
            {
                execv(ProgramPath().c_str(), pointers.data());
            }
            _exit(127);
        }
        return child;
    }

    /// Sends SIGINT once the number that a statement gives is at least `least`.
    int InterruptAt(pid_t child, const std::string& db, const std::string& sql, int64_t least) const
    {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (Number(db, sql) < least && std::chrono::steady_clock::now() < deadline)
        {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        kill(child, SIGINT);
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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

    /// All that a database holds, whatever numbers its rows have, and when it was found.
    std::string Tables(const std::string& db) const
    {
        const std::string names = "(SELECT run.id AS run_id, plan.hash AS name FROM run JOIN plan "
                                  "ON plan.id = plan_id) AS n";
        std::string all;
        for (const std::string& sql : {
                 std::string("SELECT hash, text FROM scenario ORDER BY hash"),
                 std::string("SELECT hash, text, label FROM plan ORDER BY hash"),
                 "SELECT name, status, reason, detail, iteration_time_s, mfu, compute_s, bubble_s, "
                 "exposed_comm_s, memory_bytes_max, cross_building_bytes, requested, fingerprint "
                 "FROM run JOIN " +
                     names + " ON n.run_id = run.id ORDER BY name",
                 "SELECT n.name, c.* FROM run_class AS c JOIN " + names +
                     " USING (run_id) ORDER BY n.name, class",
                 "SELECT n.name, m.* FROM run_memory AS m JOIN " + names +
                     " USING (run_id) ORDER BY n.name, stage",
                 "SELECT n.name, r.* FROM run_resource AS r JOIN " + names +
                     " USING (run_id) ORDER BY n.name, position",
                 std::string("SELECT hash, study, space, plans, keep, next_plan, evaluated, "
                             "bound_s, finished, gap, explanation FROM search"),
                 std::string("SELECT outcome, reason, count, example FROM search_count"),
                 "SELECT plan_index, name, label, rank, pareto, best_of_crossing, "
                 "probability_best, probability_slower, same_as FROM search_run JOIN " +
                     names + " USING (run_id) ORDER BY plan_index",
                 "SELECT b.name, n.name, label, probability_slower FROM baseline AS b JOIN " +
                     names + " USING (run_id)",
             })
        {
            Database database((folder / db).string(), Database::Access::Read);
            auto& select = database.Prepare(sql);
            while (select.executeStep())
            {
                for (int i = 0; i < select.getColumnCount(); i++)
                {
                    const std::string name = select.getColumnName(i);
                    all += name == "run_id" ? "" : select.getColumn(i).getString() + "|";
                }
                all += "\n";
            }
            all += "--\n";
        }
        return all;
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

/// 12,960 distinct plans, of which 8,640 can run: ten seconds or more of two cores.
const std::string g_largeStudy = "study: many\n" + g_smallPair + R"yaml(search:
  plan:
    tp: [1, 2, 4]
    pp: [1, 2, 4]
    cp: [1, 2]
    crossing: [dp, pp]
    sharding: [zero1, fsdp, hsdp]
    reshard: [true, false]
    schedule: [1f1b, interleaved, zb-h1]
    chunks: [1, 2]
    microbatch: [1, 2, 4]
    recompute: [none, selective, full]
  network:
    collective: [ring, hierarchical]
    multipath: [ecmp, e-ecmp]
baselines: [production]
)yaml";

/// Kills at any moment, one after the other, until there were enough; SCALEACROSS_KILLS says how
/// many there are, and has them fall on a larger study. All tables are those of an undisturbed
/// search, but for when and how fast they were filled.
TEST_F(Kill, AnyMomentLeavesTheTableThatAnUndisturbedSearchHas)
{
    const char* asked = std::getenv("SCALEACROSS_KILLS");
    const int kills = asked != nullptr ? std::stoi(asked) : 3;
    const char* drawn = std::getenv("SCALEACROSS_SEED");
    const auto seed = static_cast<uint32_t>(drawn != nullptr ? std::stoul(drawn) : 1);
    if (asked != nullptr)
    {
        Write("study.yaml", g_largeStudy);
    }
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto expected = Answer("whole.db");
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const std::string tables = Tables("whole.db");
    EXPECT_GT(Number("whole.db", "SELECT count(*) FROM run"), asked != nullptr ? 8000 : 300);

    std::mt19937 random(seed);
    int done = 0;
    int searches = 0;
    while (done < kills)
    {
        const std::string db = "killed-" + std::to_string(searches++) + ".db";
        int ofThis = 0;
        while (done < kills)
        {
            const pid_t child = Start(db);
            // On the average a search is killed as often as there are kills before it is done.
            std::this_thread::sleep_for(std::chrono::duration<double>(
                2 * seconds / kills * static_cast<double>(random()) / std::mt19937::max()));
            kill(child, SIGKILL);
            int status = 0;
            waitpid(child, &status, 0);
            if (!WIFSIGNALED(status))
            {
                break; // it was faster
            }
            done++;
            ofThis++;
        }
        EXPECT_EQ(Answer(db), expected) << "seed " << seed;
        EXPECT_TRUE(Tables(db) == tables) << "seed " << seed; // too long to print
        EXPECT_EQ(Text(db, "PRAGMA integrity_check"), "ok");
        // No row has been written a second time.
        EXPECT_EQ(Number(db, "SELECT max(evaluations) FROM run"), 1);
        std::cout << "seed " << seed << ": " << db << " was killed " << ofThis << " times, "
                  << Number(db, "SELECT count(*) FROM run") << " runs" << std::endl;
    }
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

/// Two values by twenty: the first row is there, and what is said of flips is said of it.
TEST_F(Kill, AnInterruptedGridHasWhatIsDone)
{
    std::string many = "cluster.cross.oversubscription=1";
    for (int i = 2; i <= 20; i++)
    {
        many += "," + std::to_string(i);
    }
    const pid_t child =
        Start("grid.db",
              {"--json", "--keep", "1", "--sweep", "network.qps=4,8", "--sweep", many},
              "grid.json");
    EXPECT_EQ(
        InterruptAt(child, "grid.db", "SELECT count(*) FROM search WHERE explanation <> ''", 3),
        130);
    const auto json = nlohmann::json::parse(Read("grid.json"));
    EXPECT_EQ(json.at("interrupted"), true);
    const auto& points = json.at("points");
    EXPECT_GE(points.size(), 3U);
    EXPECT_LT(points.size(), 40U);
    EXPECT_EQ(points[2].at("at").at("cluster.cross.oversubscription"), "3");
    const pid_t again = Start("grid.db",
                              {"--keep", "1", "--sweep", "network.qps=4,8", "--sweep", many},
                              "grid.txt");
    EXPECT_EQ(InterruptAt(again,
                          "grid.db",
                          "SELECT count(*) FROM search WHERE explanation <> ''",
                          static_cast<int64_t>(points.size()) + 1),
              130);
    const std::string text = Read("grid.txt");
    EXPECT_NE(text.find("  not done"), std::string::npos) << text;
    EXPECT_NE(text.find("So far: "), std::string::npos) << text;
}

/// Of no point there is nothing to say, and of some only that it holds of them. How many queue
/// pairs there are changes no placement here.
TEST_F(Kill, AnInterruptedSweepSaysNothingOfWhatIsNotDone)
{
    const std::string done = "SELECT count(*) FROM search WHERE explanation <> ''";
    const pid_t none = Start("none.db",
                             {"--exhaustive", "--keep", "1000000", "--sweep", "network.qps=4,8"},
                             "none.txt");
    EXPECT_EQ(InterruptAt(none, "none.db", "SELECT count(*) FROM run", 20), 130);
    EXPECT_NE(Read("none.txt").find("So far: 0 of 2 points."), std::string::npos);
    EXPECT_EQ(Read("none.txt").find("does not flip"), std::string::npos) << Read("none.txt");

    const pid_t grid = Start("grid.db",
                             {"--exhaustive",
                              "--keep",
                              "1000000",
                              "--sweep",
                              "cluster.cross.distance=1km,2km",
                              "--sweep",
                              "network.qps=4,8"},
                             "grid.txt");
    EXPECT_EQ(InterruptAt(grid, "grid.db", "SELECT count(*) FROM run", 20), 130);
    EXPECT_NE(Read("grid.txt").find("So far: 0 of 4 points."), std::string::npos);
    EXPECT_EQ(Read("grid.txt").find("does not flip"), std::string::npos) << Read("grid.txt");

    std::string many = "network.qps=1";
    for (int i = 2; i <= 40; i++)
    {
        many += "," + std::to_string(i);
    }
    const pid_t some = Start("some.db", {"--keep", "1", "--sweep", many}, "some.txt");
    EXPECT_EQ(InterruptAt(some, "some.db", done, 3), 130);
    EXPECT_NE(Read("some.txt").find("The placement does not flip within the values so far.\n"),
              std::string::npos)
        << Read("some.txt");
}

/// What is decided is less than what there is, and adds up.
TEST_F(Kill, AnInterruptedSearchSaysWhatIsDecided)
{
    const pid_t child =
        Start("some.db", {"--exhaustive", "--json", "--keep", "1000000"}, "some.json");
    EXPECT_EQ(InterruptAt(child, "some.db", "SELECT count(*) FROM run", 20), 130);
    const auto json = nlohmann::json::parse(Read("some.json"));
    EXPECT_EQ(json.at("interrupted"), true);
    EXPECT_LT(json.at("looked_at"), json.at("combinations"));
    EXPECT_GE(json.at("ran"), 20);
    EXPECT_EQ(json.at("space"), json.at("evaluated"));
    const auto whole = RunJson("explore study.yaml --db some.db --exhaustive --keep 1000000");
    EXPECT_EQ(whole.at("looked_at"), whole.at("combinations"));
    EXPECT_LT(json.at("space"), whole.at("space"));
}

} // namespace

} // namespace scaleacross
