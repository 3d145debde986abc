// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * A search in shards and what is put together from them. The oracle is the same search as a whole.
 */

#include "program.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

namespace fs = std::filesystem;
using testing::HasSubstr;

/// 192 combinations with duplicates, plans that cannot run, and more plans than are kept.
const std::string g_study = "study: parts\n" + g_smallPair + R"yaml(search:
  plan:
    tp: [1, 2, 4]
    pp: [2, 4]
    crossing: [dp, pp]
    sharding: [fsdp, hsdp]
    schedule: [1f1b, interleaved]
    chunks: [1, 2]
    microbatch: [1, 2]
baselines: [production, one-site]
)yaml";

class Merge : public ProgramTest
{
  protected:
    Merge()
    {
        Write("study.yaml", g_study);
    }

    static std::string Name(int shard)
    {
        return "parts.shard-" + std::to_string(shard) + "-of-4.db";
    }

    void Shards(const std::vector<int>& shards = {1, 2, 3, 4}) const
    {
        for (const int shard : shards)
        {
            const Call call = Run("explore study.yaml --keep 5 --rest-gap 0 --shard " +
                                  std::to_string(shard) + "/4");
            EXPECT_EQ(call.code, 0) << call.err;
        }
    }

    void Put(const std::string& out, const std::vector<int>& shards) const
    {
        std::string command = "merge " + out;
        for (const int shard : shards)
        {
            command += " " + Name(shard);
        }
        const Call call = Run(command);
        EXPECT_EQ(call.code, 0) << call.err;
    }

    /// All rows of all tables, with their numbers.
    std::string Dump(const std::string& db) const
    {
        return Sql(db, ".dump");
    }

    /// What a database says, whatever numbers its rows have, and when and how fast that was found.
    std::string Content(const std::string& db) const
    {
        const std::string runs =
            "(SELECT run.id AS id, s.hash || ' ' || p.hash || ' ' || run.engine AS name FROM run "
            "JOIN scenario AS s ON s.id = scenario_id JOIN plan AS p ON p.id = plan_id)";
        std::string content;
        for (const std::string& sql : {
                 std::string("SELECT hash, text FROM scenario ORDER BY hash"),
                 std::string("SELECT hash, text, label, tp, crossing FROM plan ORDER BY hash"),
                 "SELECT name, status, reason, iteration_time_s, mfu, memory_bytes_max, requested, "
                 "evaluations FROM run JOIN " +
                     runs + " AS n USING (id) ORDER BY name",
                 "SELECT name, class, busy_s, bytes FROM run_class JOIN " + runs +
                     " AS n ON n.id = run_id ORDER BY name, class",
                 "SELECT name, stage, parameters FROM run_memory JOIN " + runs +
                     " AS n ON n.id = run_id ORDER BY name, stage",
                 "SELECT n.name, position, run_resource.name, bytes FROM run_resource JOIN " +
                     runs + " AS n ON n.id = run_id ORDER BY n.name, position",
                 std::string("SELECT hash, study, method, plans, keep, next_plan, bound_s, "
                             "finished, gap, whole, shard, settings FROM search ORDER BY hash"),
                 // Of which plans it is known that they cannot run before they are ruled out
                 // depends on what else is known then; how many there are does not.
                 std::string("SELECT s.hash, evaluated + sum(CASE WHEN reason <> 'duplicate' THEN "
                             "count ELSE 0 END), sum(CASE reason WHEN 'duplicate' THEN count END) "
                             "FROM search_count JOIN search AS s ON s.id = search_id GROUP BY 1"),
                 "SELECT s.hash, plan_index, name, label, rank, pareto, best_of_crossing FROM "
                 "search_run JOIN search AS s ON s.id = search_id JOIN " +
                     runs + " AS n ON n.id = run_id ORDER BY 1, 2",
                 "SELECT s.hash, b.name, n.name, label FROM baseline AS b JOIN search AS s ON "
                 "s.id = search_id LEFT JOIN " +
                     runs + " AS n ON n.id = run_id ORDER BY 1, 2",
             })
        {
            content += Sql(db, sql) + "\n--\n";
        }
        return content;
    }

    /// What explore says of the whole, without how many plans were run, refused and ruled out, and
    /// when: that depends on what is known when they come up.
    nlohmann::json Answer(const std::string& db) const
    {
        auto json = RunJson("explore study.yaml --keep 5 --rest-gap 0 --db " + db);
        for (const char* key : {"seconds", "db", "ran", "pruned", "rejected", "proven_after"})
        {
            json.erase(key);
        }
        for (auto& line : json["explanation"])
        {
            const auto text = line.get<std::string>();
            if (text.find("Optimal for the analytical engine") != std::string::npos)
            {
                line = text.substr(text.find("; "));
            }
        }
        return json;
    }

    std::string Refused(const std::string& arguments) const
    {
        const auto before = Files();
        const Call call = Run("merge " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_EQ(call.out, "");
        EXPECT_EQ(Files(), before) << arguments;
        return call.err;
    }
};

TEST_F(Merge, FourShardsAreTheWhole)
{
    Shards();
    Put("merged.db", {1, 2, 3, 4});
    // Before anybody asks for an answer, and after.
    EXPECT_EQ(Run("explore study.yaml --keep 5 --rest-gap 0 --shard 1/1 --db whole.db").code, 0);
    EXPECT_EQ(Content("merged.db"), Content("whole.db"));
    EXPECT_EQ(Answer("merged.db"), Answer("whole.db"));
    EXPECT_EQ(Content("merged.db"), Content("whole.db"));
    EXPECT_EQ(Answer("merged.db"), Answer("alone.db"));
    EXPECT_EQ(Sql("merged.db", "PRAGMA integrity_check"), "ok");
    EXPECT_EQ(Sql("merged.db", "PRAGMA foreign_key_check"), "");
    EXPECT_EQ(Sql("merged.db", "SELECT id, shard, shards FROM search"), "1||4");
    // Every position was counted once.
    EXPECT_EQ(Sql("merged.db",
                  "SELECT evaluated + (SELECT sum(count) FROM search_count) = next_plan AND "
                  "next_plan = plans FROM search"),
              "1");
}

TEST_F(Merge, NeitherOrderNorRepetitionMatters)
{
    Shards();
    Put("a.db", {1, 2, 3, 4});
    const std::string dump = Dump("a.db");
    Put("b.db", {4, 2, 1, 3});
    EXPECT_EQ(Dump("b.db"), dump);
    Put("c.db", {3, 4, 3, 1, 2, 2});
    EXPECT_EQ(Dump("c.db"), dump);
    Put("a.db", {1, 2, 3, 4});
    EXPECT_EQ(Dump("a.db"), dump) << "twice";
    Put("a.db", {3});
    EXPECT_EQ(Dump("a.db"), dump) << "one of them once more";
    // In steps, and by way of other files.
    Put("d.db", {2});
    Put("d.db", {4, 1});
    Put("d.db", {3});
    EXPECT_EQ(Content("d.db"), Content("a.db"));
    Put("e.db", {3, 1});
    Put("f.db", {4, 2});
    EXPECT_EQ(Run("merge g.db e.db f.db").code, 0);
    EXPECT_EQ(Content("g.db"), Content("a.db"));
    // What is concluded stays.
    const auto answer = Answer("a.db");
    const std::string concluded = Content("a.db");
    Put("a.db", {2, 1});
    EXPECT_EQ(Content("a.db"), concluded);
    EXPECT_EQ(Answer("a.db"), answer);
    EXPECT_EQ(Run("merge h.db g.db a.db").code, 0);
    EXPECT_EQ(Content("h.db"), concluded);
}

TEST_F(Merge, SomeShardsWaitForTheOthers)
{
    Shards({1, 3});
    Sql(Name(3), "UPDATE search SET finished = 0");
    const Call some = Run("merge out.db " + Name(1) + " " + Name(3));
    EXPECT_EQ(some.code, 0) << some.err;
    EXPECT_THAT(
        some.out,
        HasSubstr(
            "parts, 4 shards: not whole yet; missing shards 2 and 4; not finished shard 3\n"));
    EXPECT_EQ(Sql("out.db", "SELECT shard, shards, finished FROM search ORDER BY shard"),
              "1|4|1\n3|4|0");
    // The shard that another machine has finished takes the place of the unfinished one.
    fs::remove(folder / Name(3));
    Shards({2, 3, 4});
    Put("out.db", {2, 3, 4});
    Put("all.db", {1, 2, 3, 4});
    EXPECT_EQ(Content("out.db"), Content("all.db"));
    const auto json = RunJson("merge out.db " + Name(1));
    EXPECT_EQ(json["sharded"],
              nlohmann::json::parse(R"([{"study": "parts", "shards": 4, "missing": [2, 3, 4],
                                         "unfinished": [], "differs": {}, "search": )" +
                                    Sql("out.db", "SELECT id FROM search") + "}]"));
}

/// Shards of different searches never become a whole: what they differ in is said.
TEST_F(Merge, ShardsOfDifferentSearchesAreToldApart)
{
    EXPECT_EQ(Run("explore study.yaml --keep 5 --rest-gap 0 --shard 1/2 --db a.db").code, 0);
    EXPECT_EQ(
        Run("explore study.yaml --keep 7 --rest-gap 0 --shard 2/2 --db b.db --objective memory")
            .code,
        0);
    const Call call = Run("merge out.db a.db b.db");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("parts, 2 shards: not whole yet; missing "));
    EXPECT_THAT(call.out,
                testing::ContainsRegex(
                    "another search than the first of this study, by objective (memory, not time; "
                    "keep 7, not 5|time, not memory; keep 5, not 7): shards become whole only"));
    const auto json = RunJson("merge out.db a.db");
    ASSERT_EQ(json["sharded"].size(), 2U);
    EXPECT_TRUE(json["sharded"][0]["differs"].empty());
    EXPECT_EQ(json["sharded"][1]["differs"].size(), 2U);
    EXPECT_TRUE(json["sharded"][1]["differs"].contains("keep"));
    // Another study's, and what is whole, is no reason to say so.
    EXPECT_EQ(Run("explore study.yaml --keep 5 --rest-gap 0 --shard 2/2 --db c.db").code, 0);
    const Call whole = Run("merge out.db c.db");
    EXPECT_THAT(whole.out, HasSubstr("parts, 2 shards: whole, search "));
    EXPECT_THAT(whole.out, testing::Not(HasSubstr("another search")));
}

/// More shards than there are combinations: some are empty, and the whole is the same.
TEST_F(Merge, EmptyShards)
{
    Write("small.yaml", g_smallStudy); // 16 combinations
    std::string files;
    for (int shard = 1; shard <= 18; shard++)
    {
        const std::string file = "s" + std::to_string(shard) + ".db";
        const Call call =
            Run("explore small.yaml --shard " + std::to_string(shard) + "/18 --db " + file);
        EXPECT_EQ(call.code, 0) << call.err;
        files += " " + file;
    }
    EXPECT_EQ(Run("merge merged.db" + files).code, 0);
    EXPECT_EQ(Run("explore small.yaml --shard 1/1 --db whole.db").code, 0);
    EXPECT_EQ(Content("merged.db"), Content("whole.db"));
}

/// Several shards may stand in one file; studies side by side keep their results.
TEST_F(Merge, WhatElseTheFilesHold)
{
    for (const char* shard : {"1/2", "2/2"})
    {
        EXPECT_EQ(Run("explore study.yaml --keep 5 --rest-gap 0 --db both.db --shard " +
                      std::string(shard))
                      .code,
                  0);
    }
    Write("small.yaml", g_smallStudy);
    EXPECT_EQ(Run("explore small.yaml --set cluster.cross.distance=20km").code, 0);
    EXPECT_EQ(Run("run small.yaml --db small.db").code, 0);
    EXPECT_EQ(Run("merge out.db both.db small.db").code, 0);
    EXPECT_EQ(Run("merge again.db small.db both.db").code, 0);
    EXPECT_EQ(Dump("out.db"), Dump("again.db"));
    EXPECT_EQ(Sql("out.db", "SELECT count(*) FROM search WHERE finished"), "2");
    EXPECT_EQ(Sql("out.db", "SELECT settings FROM search WHERE study = 'small'"),
              R"({"cluster.cross.distance":"20km"})");
    // 20 km with the search, 10 km of the run that was asked for.
    EXPECT_EQ(Sql("out.db",
                  "SELECT count(*) FROM run JOIN scenario AS s ON s.id = scenario_id WHERE "
                  "requested AND s.id NOT IN (SELECT scenario_id FROM search)"),
              Sql("small.db",
                  "SELECT count(*) FROM run JOIN scenario AS s ON s.id = scenario_id WHERE "
                  "requested AND s.id NOT IN (SELECT scenario_id FROM search)"));
    EXPECT_EQ(Run("merge small2.db small.db").code, 0);
    EXPECT_EQ(Content("small2.db"), Content("small.db"));
}

TEST_F(Merge, CorrectionsOfARunGoWithIt)
{
    Write("small.yaml", g_smallStudy);
    EXPECT_EQ(Run("calibrate small.yaml --set search={} --budget 20s --output c.json").code, 0);
    EXPECT_EQ(Run("run small.yaml --engine corrected:c.json --db a.db").code, 0);
    EXPECT_EQ(Run("run small.yaml --db b.db").code, 0);
    EXPECT_EQ(Run("merge out.db b.db a.db").code, 0);
    const std::string rows = "SELECT engine, set_name, operations, covered, low_s FROM run JOIN "
                             "run_correction ON run_id = run.id";
    EXPECT_NE(Sql("a.db", rows), "");
    EXPECT_EQ(Sql("out.db", rows), Sql("a.db", rows));
    EXPECT_EQ(Sql("out.db", "SELECT count(*) FROM run"), "2");
}

TEST_F(Merge, CollectivesOfOneNameAreOneRow)
{
    Write("small.yaml", g_smallStudy);
    const std::string call = "collective small.yaml -b 1M -e 2M --db ";
    EXPECT_EQ(Run(call + "a.db").code, 0);
    EXPECT_EQ(Run(call + "a.db").code, 0);
    EXPECT_EQ(Run("collective small.yaml -b 1M -e 4M --db b.db").code, 0);
    EXPECT_EQ(Run(call + "b.db --set cluster.cross.distance=20km").code, 0);
    EXPECT_EQ(Run("merge out.db a.db b.db").code, 0);
    EXPECT_EQ(Run("merge again.db b.db a.db").code, 0);
    EXPECT_EQ(Run("merge again.db b.db").code, 0);
    const std::string rows = "SELECT distance_km, bytes, evaluations, time_s FROM collective_run "
                             "JOIN network ON network.id = network_id ORDER BY 1, 2";
    // 1 and 2 MiB of both, which a.db has computed twice, 4 MiB of the second; two at 20 km.
    EXPECT_EQ(Sql("out.db", "SELECT count(*), sum(evaluations) FROM collective_run"), "5|7");
    EXPECT_EQ(Sql("out.db", rows), Sql("again.db", rows));
}

/// Of one name a result is kept before a failure, and of failures the one that had most time.
TEST_F(Merge, ConflictsAreDecidedByWhatTheyHold)
{
    Write("small.yaml", g_smallStudy);
    EXPECT_EQ(Run("run small.yaml --db ok.db").code, 0);
    const auto fail = [this](const std::string& name, const std::string& seconds) {
        fs::copy_file(folder / "ok.db", folder / name);
        Sql(name,
            "UPDATE run SET status = 'failed', reason = 'timeout', detail = '" + seconds +
                "', iteration_time_s = NULL, time_limit_s = " + seconds +
                "; DELETE FROM run_class; DELETE FROM run_memory; DELETE FROM run_resource");
    };
    fail("short.db", "1");
    fail("long.db", "60");
    for (const std::string& files : std::vector<std::string>{"short.db long.db ok.db",
                                                             "long.db ok.db short.db",
                                                             "ok.db short.db long.db"})
    {
        fs::remove(folder / "out.db");
        EXPECT_EQ(Run("merge out.db " + files).code, 0);
        EXPECT_EQ(Content("out.db"), Content("ok.db")) << files;
        EXPECT_EQ(Sql("out.db", "SELECT count(*) FROM run"), "1");
    }
    for (const std::string& files :
         std::vector<std::string>{"short.db long.db", "long.db short.db"})
    {
        fs::remove(folder / "out.db");
        EXPECT_EQ(Run("merge out.db " + files).code, 0);
        EXPECT_EQ(Sql("out.db", "SELECT status, time_limit_s FROM run"), "failed|60.0");
        // A result that comes later takes the place of the failure, with all of its parts.
        EXPECT_EQ(Run("merge out.db ok.db").code, 0);
        EXPECT_EQ(Content("out.db"), Content("ok.db")) << files;
    }
}

TEST_F(Merge, RefusesWhatItCannotTakeOver)
{
    Shards({1});
    EXPECT_THAT(Refused("out.db " + Name(1) + " none.db"),
                HasSubstr("none.db: there is no such file"));
    EXPECT_THAT(Refused("out.db " + Name(1) + " study.yaml"),
                HasSubstr("study.yaml: the file is not a database"));
    EXPECT_THAT(Refused(Name(1) + " ./" + Name(1)), HasSubstr("itself, into which the others go"));
    fs::create_symlink(Name(1), folder / "link.db");
    EXPECT_THAT(Refused(Name(1) + " link.db"), HasSubstr("itself, into which the others go"));
    EXPECT_THAT(Refused("none/out.db " + Name(1)), HasSubstr("none/out.db: "));
    EXPECT_THAT(Refused("study.yaml " + Name(1)),
                HasSubstr("study.yaml: the file is not a database"));
    EXPECT_THAT(Refused("out.db"), HasSubstr("FILE.db is required"));
    fs::copy_file(folder / Name(1), folder / "old.db");
    Sql("old.db", "PRAGMA user_version = 0");
    EXPECT_THAT(Refused("out.db old.db"), HasSubstr("old.db: the database has the older schema 0"));
    fs::copy_file(folder / Name(1), folder / "new.db");
    Sql("new.db", "PRAGMA user_version = 99");
    EXPECT_THAT(Refused("out.db new.db"), HasSubstr("new.db: the database has schema 99"));
    // What shows only once rows are read leaves nothing either.
    fs::copy_file(folder / Name(1), folder / "bad.db");
    Sql("bad.db", "PRAGMA foreign_keys = OFF; DELETE FROM plan");
    EXPECT_THAT(Refused("out.db bad.db"), HasSubstr("bad.db: the database is damaged"));
    EXPECT_EQ(Read("study.yaml"), g_study);
}

TEST_F(Merge, WrongShardsAreRefused)
{
    for (const char* wrong : {"0/4", "5/4", "a/b", "1/0", "1", "1/10001"})
    {
        const Call call = Run("explore study.yaml --shard " + std::string(wrong));
        EXPECT_EQ(call.code, 2) << wrong;
        EXPECT_THAT(call.err, HasSubstr("--shard: '" + std::string(wrong) + "' names no part"));
        EXPECT_THAT(call.err, HasSubstr("allowed: i/n, the i-th of n parts"));
    }
    for (const char* other : {"--sweep plan.tp=1,2", "--verify 1", "--top 1"})
    {
        EXPECT_EQ(Run("explore study.yaml --shard 1/2 " + std::string(other)).code, 2) << other;
    }
    EXPECT_EQ(Files(), std::vector<std::string>{"study.yaml"});
}

TEST_F(Merge, AShardSaysWhatItHasDone)
{
    const Call call = Run("explore study.yaml --shard 2/2");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("parts: shard 2/2, 96 of 192 combinations\n"));
    EXPECT_THAT(call.out, HasSubstr("Stored in parts.shard-2-of-2.db.\n"));
    EXPECT_THAT(call.out,
                HasSubstr("scaleacross merge parts.db parts.shard-1-of-2.db "
                          "parts.shard-2-of-2.db\n"));
    const auto json = RunJson("explore study.yaml --shard 2/2");
    EXPECT_EQ(json["shard"],
              nlohmann::json::parse(R"({"index": 2, "count": 2, "combinations": 96})"));
    EXPECT_EQ(json["looked_at"], 96);
    // Names of a user's own: those of the others follow where they can.
    EXPECT_EQ(RunJson("explore study.yaml --shard 2/2 --db mine.db")["next"],
              "scaleacross merge parts.db mine.db DB-OF-ANOTHER-SHARD");
    EXPECT_EQ(RunJson("explore study.yaml --shard 2/3 --db parts.db")["next"],
              "scaleacross merge parts.whole.db parts.db DB-OF-ANOTHER-SHARD ...");
    EXPECT_EQ(RunJson("explore study.yaml --shard 1/2 --db ./x.shard-1-of-2.db")["next"],
              "scaleacross merge ./x.db ./x.shard-1-of-2.db ./x.shard-2-of-2.db");
    EXPECT_EQ(Sql("parts.shard-2-of-2.db",
                  "SELECT shard, shards, length(whole), finished, explanation IS NULL, "
                  "(SELECT count(*) FROM baseline) FROM search"),
              "2|2|36|1|1|0");
}

} // namespace

} // namespace scaleacross
