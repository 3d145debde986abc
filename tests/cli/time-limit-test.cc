// SPDX-License-Identifier: GPL-2.0-only

#include "places.h"
#include "program.h"

#include <chrono>

namespace scaleacross
{

namespace
{

using TimeLimit = ProgramTest;

TEST_F(TimeLimit, ARunHasATimeLimit)
{
    Write("study.yaml", g_smallStudy);
    const Call none = Run("run study.yaml --time-limit 0.0000001us --db a.db");
    EXPECT_EQ(none.code, 2) << "below a picosecond";
    const Call packet =
        Run("run study.yaml --engine packet --iterations 1000 --time-limit 1us --db a.db");
    EXPECT_EQ(packet.code, 1) << packet.err;
    EXPECT_NE(packet.out.find("timeout"), std::string::npos) << packet.out;
    EXPECT_EQ(Sql("a.db", "SELECT status || ' ' || reason FROM run"), "failed timeout");
    EXPECT_EQ(packet.err, "") << "progress is for terminals";
    EXPECT_EQ(Run("run study.yaml --time-limit 100s --db a.db").code, 0);
    // By the name that was asked for.
    EXPECT_NE(Run("run study.yaml --engine flow:sampled --iterations 1000 --time-limit 100ms "
                  "--no-store")
                  .out.find("the flow:sampled engine gave up"),
              std::string::npos);
    // However short the run is.
    EXPECT_EQ(
        Run("run study.yaml --set plan.pp=1 --set plan.tp=8 --time-limit 1ns --no-store").code,
        1);
}

/// It ends by itself, and not by the signal.
TEST_F(TimeLimit, AnInterruptedRunSaysSo)
{
    Write("study.yaml", g_smallStudy);
    const std::string command = "cd '" + folder.string() +
                                "' && timeout --foreground -s TERM --preserve-status 2 '" +
                                ProgramPath() +
                                "' run study.yaml --engine packet --iterations 1000 --set "
                                "workload.global_batch=1024 --no-store >out 2>err";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 130); // 143 by the signal
    EXPECT_EQ(Read("err"), "scaleacross: interrupted; nothing is kept of what was found so far\n");
}

/// Here it waits for its study, which never comes.
TEST_F(TimeLimit, ASearchThatIsInterruptedBeforeItBeginsSaysSo)
{
    const std::string command = "cd '" + folder.string() +
                                "'; mkfifo study; sleep 60 >study & writer=$!; timeout "
                                "--foreground -s TERM --preserve-status 2 '" +
                                ProgramPath() +
                                "' explore - <study >out 2>err; code=$?; kill $writer; exit $code";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 130);
    EXPECT_EQ(Read("err"), "scaleacross: interrupted before anything has run\n");
}

/// Weights that are gathered for every microbatch in 4,096 chunks each.
TEST_F(TimeLimit, ARunBeyondItsTimeLimitIsGivenUp)
{
    Write("study.yaml",
          "model: llama3-405b\nworkload: {global_batch: 2048, sequence: 8192}\n"
          "cluster:\n"
          "  buildings: {count: 2, gpus: 1024, gpus_per_node: 8, gpu: h100}\n"
          "  cross: {oversubscription: 4, distance: 30km}\n"
          "network: {collective_chunk: 64KiB}\n"
          "plan: {tp: 8, pp: 16, microbatch: 1, recompute: full, sharding: fsdp, reshard: true,\n"
          "       crossing: dp}\n");
    const auto start = std::chrono::steady_clock::now();
    const Call call = Run("run study.yaml --time-limit 1s --no-store");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(call.code, 1) << call.out << call.err;
    EXPECT_NE(call.out.find("timeout"), std::string::npos) << call.out;
    EXPECT_LT(took.count(), 20) << "on a busy machine; without the limit it is minutes";
}

/**
 * The same of a collective. The packet engine looks at the clock every millisecond of simulated
 * time, in which 256 servers at 400 Gb/s and more send millions of packets of 4 kB.
 */
TEST_F(TimeLimit, ACollectiveHasTheSame)
{
    Write("cluster.yaml",
          "cluster:\n"
          "  buildings: {count: 2, gpus: 1024, gpus_per_node: 8, gpu: h100}\n"
          "  cross: {oversubscription: 4, distance: 30km}\n"
          "network: {collective_chunk: 64MiB, pfc: false}\n");
    const auto start = std::chrono::steady_clock::now();
    const Call call = Run("collective cluster.yaml --engine packet -b 1K -e 1G -f 1048576 --json "
                          "--time-limit 2s");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(call.code, 1) << call.out << call.err;
    EXPECT_NE(call.err.find("time limit: not done after 2 s"), std::string::npos) << call.err;
    EXPECT_LT(took.count(), 20)
        << "on a busy machine; the next look is after more than 20 s of computing";
    const auto rows = nlohmann::json::parse(call.out, nullptr, false);
    EXPECT_TRUE(rows.is_array()) << "what was measured before is told: " << call.out;
}

/// The small study with another search and baselines.
std::string
Small(const std::string& search, const std::string& baselines)
{
    const std::string all = g_smallStudy;
    return all.substr(0, all.find("search:")) + "search: {plan: {" + search + "}}\nbaselines: [" +
           baselines + "]\n";
}

/// What `explore` says of the space, and of production.
std::string
Told(const Call& call)
{
    const auto json = nlohmann::json::parse(call.out, nullptr, false);
    if (json.is_discarded())
    {
        return call.out + call.err;
    }
    const auto& answer = json.is_array() ? json.front() : json;
    return answer.at("failed").dump() + answer.at("baselines").dump() + answer.at("gap").dump();
}

TEST_F(TimeLimit, WhatWasCutShortBeforeIsFoundInTheEnd)
{
    Write("study.yaml", Small("pp: [1, 2]", "production"));
    const std::string fresh = Told(Run("explore study.yaml --json --db fresh.db"));
    EXPECT_EQ(fresh.substr(0, 2), "{}") << "nothing has failed: " << fresh;
    Run("explore study.yaml --time-limit 1ps --db cut.db");
    EXPECT_EQ(Sql("cut.db", "SELECT count FROM search_count WHERE outcome = 'failed'"), "2");
    EXPECT_EQ(Told(Run("explore study.yaml --json --db cut.db")), fresh);
}

/// Runs by name replace what a search has counted as failed: then it is counted anew.
TEST_F(TimeLimit, FailuresThatOthersHaveRunAgainAreNotCounted)
{
    Write("study.yaml", Small("pp: [1, 2]", ""));
    const std::string fresh = Told(Run("explore study.yaml --json --db fresh.db"));
    Run("explore study.yaml --time-limit 1ps --db cut.db");
    for (const std::string pp : {"1", "2"})
    {
        EXPECT_EQ(Run("run study.yaml --set plan.pp=" + pp + " --db cut.db").code, 0);
    }
    EXPECT_EQ(Sql("cut.db", "SELECT COUNT(*) FROM run WHERE status = 'failed'"), "0");
    EXPECT_EQ(Told(Run("explore study.yaml --json --db cut.db")), fresh);
    EXPECT_EQ(Sql("cut.db", "SELECT COUNT(*) FROM search_run WHERE rank IS NOT NULL"), "2");
}

TEST_F(TimeLimit, ASearchWithoutAWinnerIsConcluded)
{
    Write("study.yaml", Small("pp: [64]", ""));
    EXPECT_EQ(Run("explore study.yaml --db a.db").code, 1);
    const Call show = Run("show a.db");
    EXPECT_EQ(show.out.find("not concluded"), std::string::npos) << show.out;
    EXPECT_NE(show.out.find("No plan of this space can run"), std::string::npos) << show.out;
}

/// Only a program that its memory has no room for has not started; one that crashes has crashed.
TEST_F(TimeLimit, ACrashUnderAMemoryLimitIsACrash)
{
    // Some seconds of packets.
    Write("study.yaml", Small("pp: [1]", "") + "engines: [packet]\n");
    const std::string batch = " --set workload.global_batch=8192";
    Run("explore study.yaml --memory-limit 1MiB --db small.db");
    EXPECT_EQ(Sql("small.db", "SELECT reason FROM run"), "memory");
    Write("kill.sh",
          "'" + ProgramPath() + "' explore study.yaml --memory-limit 64GiB --db big.db" + batch +
              " &\n"
              "for i in $(seq 1000); do\n"
              "  worker=$(pgrep -P $! -f -- --no-store) && break\n"
              "  sleep 0.01\n"
              "done\n"
              "sleep 0.5 # in which any program has started\n"
              "kill -SEGV $worker\n"
              "wait\n");
    Run("--version >/dev/null; sh kill.sh");
    EXPECT_EQ(Sql("big.db", "SELECT reason FROM run"), "crash");
}

/// On a terminal, which script(1) makes one of, a packet run says how far it has come.
TEST_F(TimeLimit, PacketRunsTellOfTheirProgress)
{
    ASSERT_EQ(std::system("command -v script >/dev/null"), 0) << "Debian's bsdutils has it";
    Write("study.yaml", g_smallStudy);
    Write("go.sh",
          "'" + ProgramPath() + "' run study.yaml --engine packet --iterations 40 --no-store\n");
    const Call call = Run("--version >/dev/null && script -qec 'sh go.sh' /dev/null");
    EXPECT_EQ(call.code, 0) << call.out << call.err;
    EXPECT_NE(call.out.find("run iteration "), std::string::npos) << call.out;
    EXPECT_NE(call.out.find(" of 41, "), std::string::npos) << call.out;
    EXPECT_NE(call.out.find(" simulated"), std::string::npos) << call.out;
}

} // namespace

} // namespace scaleacross
