// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>
#include <string>

namespace scaleacross
{

namespace
{

TEST_F(Commands, CompareListsEveryPlanAndEngine)
{
    const auto json = RunJson("compare study.yaml --engines analytical");
    ASSERT_TRUE(json.is_array());
    ASSERT_GT(json.size(), 2);
    for (const auto& entry : json)
    {
        ExpectKeys(entry, {"plan", "engine", "iteration_time_s", "relative_error", "classes"});
        EXPECT_EQ(entry.at("relative_error"), 0);
        for (const auto& part : entry.at("classes"))
        {
            ExpectKeys(part, {"busy_s", "exposed_s"});
        }
    }
    EXPECT_EQ(RunJson("compare study.yaml --engines analytical --top 1").size(), 1);
}

TEST_F(Commands, ComparesWithThePacketEngine)
{
    const auto json = RunJson("compare study.yaml --top 1 --db both.db");
    ASSERT_EQ(json.size(), 3);
    EXPECT_EQ(json[0].at("engine"), "analytical");
    EXPECT_EQ(json[1].at("engine"), "flow");
    EXPECT_EQ(json[2].at("engine"), "packet");
    EXPECT_EQ(json[2].at("relative_error"), 0);
    for (const auto& entry : json)
    {
        EXPECT_EQ(entry.at("plan"), json[2].at("plan"));
        EXPECT_TRUE(entry.contains("reason"));
        for (const auto& [name, part] : entry.at("classes").items())
        {
            EXPECT_EQ(part.at("bytes"), json[2].at("classes").at(name).at("bytes")) << name;
        }
    }
    // What is stored is not run again, and it is the same.
    EXPECT_EQ(RunJson("compare study.yaml --top 1 --db both.db"), json);
    const auto shown = RunJson("show both.db");
    EXPECT_EQ(shown.at("searches")[0].at("checks")[0].at("engine"), "flow");
    EXPECT_EQ(shown.at("searches")[0].at("checks")[1].at("engine"), "packet");
}

TEST_F(Commands, WorkersThatRunOverTheirLimitsAreResults)
{
    // One plan, so that no search chooses it, whose runs have the limit, too.
    const std::string compare = "compare study.yaml --engines packet --json --set search={}";
    const Call slow = Run(compare + " --time-limit 1us --db slow.db");
    EXPECT_EQ(slow.code, 0) << slow.err;
    const auto timeout = nlohmann::json::parse(slow.out)[0];
    EXPECT_TRUE(timeout.at("iteration_time_s").is_null());
    EXPECT_EQ(timeout.at("failed").at("reason"), "timeout");
    // Stored: not tried again with no more time, nor by a single run with less; but with more.
    const auto count = [this] { return Sql("slow.db", "SELECT max(evaluations) FROM run"); };
    EXPECT_EQ(nlohmann::json::parse(Run(compare + " --time-limit 1us --db slow.db").out)[0],
              timeout);
    EXPECT_EQ(count(), "1");
    Run(compare + " --time-limit 1us --db slow.db --retry-failed");
    EXPECT_EQ(count(), "2");
    const Call again = Run(compare + " --db slow.db");
    EXPECT_GT(nlohmann::json::parse(again.out)[0].at("iteration_time_s"), 0);

    // No room for the process, for the libraries, for the run.
    for (const char* limit : {"1B", "10MiB", "35MiB"})
    {
        const Call small = Run(compare + " --memory-limit " + limit + " --db " + limit + ".db");
        EXPECT_EQ(small.code, 0) << small.err;
        const auto end = nlohmann::json::parse(small.out)[0];
        ASSERT_TRUE(end.contains("failed")) << limit << ' ' << end;
        EXPECT_EQ(end.at("failed").at("reason"), "memory") << limit << ' ' << end;
    }
}

} // namespace

} // namespace scaleacross
