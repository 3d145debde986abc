// SPDX-License-Identifier: GPL-2.0-only

#include "../csv-rows.h"
#include "commands.h"
#include "places.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;
using testing::Not;

TEST_F(Commands, CompareListsEveryPlanAndEngine)
{
    const auto json = RunJson("compare study.yaml --engines analytical").at("rows");
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
    EXPECT_EQ(RunJson("compare study.yaml --engines analytical --top 1").at("rows").size(), 1);
}

TEST_F(Commands, ComparesWithThePacketEngine)
{
    const auto whole = RunJson("compare study.yaml --top 1 --db both.db");
    const auto& json = whole.at("rows");
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
    EXPECT_EQ(RunJson("compare study.yaml --top 1 --db both.db"), whole);
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
    const auto timeout = nlohmann::json::parse(slow.out).at("rows")[0];
    EXPECT_TRUE(timeout.at("iteration_time_s").is_null());
    EXPECT_EQ(timeout.at("failed").at("reason"), "timeout");
    // Stored: not tried again with no more time, nor by a single run with less; but with more.
    const auto count = [this] { return Sql("slow.db", "SELECT max(evaluations) FROM run"); };
    EXPECT_EQ(
        nlohmann::json::parse(Run(compare + " --time-limit 1us --db slow.db").out).at("rows")[0],
        timeout);
    EXPECT_EQ(count(), "1");
    Run(compare + " --time-limit 1us --db slow.db --retry-failed");
    EXPECT_EQ(count(), "2");
    const Call again = Run(compare + " --db slow.db");
    EXPECT_GT(nlohmann::json::parse(again.out).at("rows")[0].at("iteration_time_s"), 0);

    // No room for the process, for the libraries, for the run.
    for (const char* limit : {"1B", "10MiB", "35MiB"})
    {
        const Call small = Run(compare + " --memory-limit " + limit + " --db " + limit + ".db");
        EXPECT_EQ(small.code, 0) << small.err;
        const auto end = nlohmann::json::parse(small.out).at("rows")[0];
        ASSERT_TRUE(end.contains("failed")) << limit << ' ' << end;
        EXPECT_EQ(end.at("failed").at("reason"), "memory") << limit << ' ' << end;
    }
}

/// Times of an engine that a test makes up: its answer follows from the distance of the study.
class CompareErrors : public Commands
{
  protected:
    CompareErrors()
    {
        // 100, 200 and 400 ms by the one, and by the other 110, 180 and 400 ms.
        Write("known.py",
              "import json, sys\n"
              "study = json.load(sys.stdin)['scenario']\n"
              "km = study['cluster']['links'][0]['distance']\n"
              "times = dict(zip(['10km', '20km', '40km'], sys.argv[1:]))\n"
              "print(json.dumps({'iteration_time_s': float(times[km])}))\n");
    }

    const std::string grid =
        "compare study.yaml --set search={} --sweep cluster.cross.distance=10km,20km,40km "
        "--engines 'guess=command:python3 known.py 0.11 0.18 0.4,"
        "truth=command:python3 known.py 0.1 0.2 0.4' ";
};

TEST_F(CompareErrors, AreThoseOfTheCases)
{
    const auto json = RunJson(grid + "--csv a.csv");
    EXPECT_EQ(json.at("reference"), "truth");
    EXPECT_EQ(json.at("cases"), 3);
    ASSERT_EQ(json.at("rows").size(), 6);
    EXPECT_EQ(json.at("rows")[2].at("point").at("cluster.cross.distance"), "20km");
    ASSERT_EQ(json.at("errors").size(), 1);
    const auto& errors = json.at("errors")[0];
    // Errors are +10 %, -10 % and 0: half are within 10 %, in the mean 0. There is one plan at
    // each point, so that there is nothing to put in order.
    EXPECT_EQ(errors.at("engine"), "guess");
    EXPECT_EQ(errors.at("of"), "iteration");
    EXPECT_EQ(errors.at("cases"), 3);
    EXPECT_NEAR(errors.at("median").get<double>(), 0.1, 1e-9);
    EXPECT_NEAR(errors.at("p95").get<double>(), 0.1, 1e-9);
    EXPECT_NEAR(errors.at("bias").get<double>(), 0, 1e-9);
    EXPECT_NEAR(std::abs(errors.at("worst").get<double>()), 0.1, 1e-9);
    EXPECT_TRUE(errors.at("rank_correlation").is_null());
    EXPECT_FALSE(errors.contains("choice"));
    const auto rows = CsvTable(Read("a.csv"));
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_EQ(rows[2].at("point.cluster.cross.distance"), "20km");
    EXPECT_EQ(rows[2].at("engine"), "guess");
    EXPECT_EQ(rows[2].at("seed"), "1");
    EXPECT_EQ(CsvNumber(rows[2], "iteration_time_s"), 0.18);
    EXPECT_NEAR(CsvNumber(rows[2], "relative_error"), -0.1, 1e-9);
    const Call text = Run(grid);
    EXPECT_THAT(text.out, HasSubstr("Errors of 3 cases against truth"));
    EXPECT_THAT(text.out, HasSubstr("cluster.cross.distance=40km:\n"));
}

TEST_F(CompareErrors, PlansArePutInOrderAtEachPoint)
{
    // Two plans at 10 and 20 km. By the truth tp 2 takes 0.2 s, tp 4 0.25 s, and ten times that at
    // 20 km; the guess has the distances right and the plans the other way round.
    Write("plans.py",
          "import json, sys\n"
          "task = json.load(sys.stdin)\n"
          "far = task['scenario']['cluster']['links'][0]['distance'] == '20km'\n"
          "times = dict(zip([2, 4], map(float, sys.argv[1:])))\n"
          "time = times[task['plan']['tp']] * (10 if far else 1)\n"
          "print(json.dumps({'iteration_time_s': time}))\n");
    const std::string command =
        "compare study.yaml --set 'search={plan: {tp: [2, 4]}}' --sweep "
        "cluster.cross.distance=10km,20km --engines 'guess=command:python3 plans.py 0.25 0.2,"
        "truth=command:python3 plans.py 0.2 0.25' ";
    const auto json = RunJson(command);
    ASSERT_EQ(json.at("cases"), 4);
    const auto& errors = json.at("errors")[0];
    EXPECT_EQ(errors.at("rank_correlation"), -1);
    EXPECT_EQ(errors.at("choice").at("rank_of_best"), 2);
    EXPECT_NEAR(errors.at("choice").at("regret").get<double>(), 0.25, 1e-9);
    EXPECT_THAT(Run(command).out,
                HasSubstr("the best by truth is ranked 2 by it; its own best takes 25.0 % longer"));
}

TEST_F(CompareErrors, WhatFailsIsCountedAndKept)
{
    Write("half.sh", "grep -q 20km && exit 1; echo '{\"iteration_time_s\": 0.1}'");
    const auto json =
        RunJson("compare study.yaml --set search={} --sweep cluster.cross.distance=10km,20km "
                "--csv a.csv --engines 'command:sh half.sh'");
    EXPECT_EQ(json.at("cases_without_reference"), 1);
    EXPECT_EQ(json.at("rows")[1].at("failed").at("reason"), "exit");
    const auto rows = CsvTable(Read("a.csv"));
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].at("failed.reason"), "");
    EXPECT_EQ(rows[1].at("failed.reason"), "exit");
    EXPECT_EQ(rows[1].at("iteration_time_s"), "");
}

TEST_F(CompareErrors, OneEngineIsTheReferenceOfAllCases)
{
    // The truth has nothing to say of 20 km; so nobody has an error there, by whatever engine.
    Write("truth.sh", "grep -q 20km && exit 1; echo '{\"iteration_time_s\": 0.1}'");
    const auto json = RunJson("compare study.yaml --set search={} --sweep "
                              "cluster.cross.distance=10km,20km --engines "
                              "'guess=command:python3 known.py 0.11 0.18 0.4,"
                              "truth=command:sh truth.sh'");
    EXPECT_EQ(json.at("reference"), "truth");
    EXPECT_NEAR(json.at("rows")[0].at("relative_error").get<double>(), 0.1, 1e-9);
    EXPECT_TRUE(json.at("rows")[2].at("relative_error").is_null());
    EXPECT_EQ(json.at("errors")[0].at("cases"), 1);
}

/// Of a link of the small study, in the middle of a run: more than all engines but packets take.
const std::string g_midRun =
    "'events=[{kind: degradation, target: building1/spine0, at: 1us, factor: 0.5}]' ";

size_t
CountOf(const std::string& part, const std::string& text)
{
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    {
        count++;
    }
    return count;
}

TEST_F(CompareErrors, AnEngineThatRefusesACaseEndsNoOther)
{
    const std::string compare = "compare study.yaml --set search={} --seeds 2 --set " + g_midRun;
    const auto json = RunJson(compare + "--csv a.csv");
    EXPECT_EQ(json.at("reference"), "packet");
    EXPECT_EQ(json.at("cases_without_reference"), 0);
    ASSERT_EQ(json.at("rows").size(), 6); // three engines with two seeds
    for (const size_t refused : {0, 1, 3, 4})
    {
        const auto& row = json.at("rows")[refused];
        EXPECT_EQ(row.at("infeasible").at("reason"), "unsupported");
        EXPECT_TRUE(row.at("iteration_time_s").is_null());
    }
    EXPECT_GT(json.at("rows")[2].at("iteration_time_s"), 0);
    const auto rows = CsvTable(Read("a.csv"));
    ASSERT_EQ(rows.size(), 6U);
    for (size_t i = 0; i < rows.size(); i++)
    {
        const bool refused = rows[i].at("engine") != "packet";
        EXPECT_EQ(rows[i].at("seed"), i < 3 ? "1" : "2");
        EXPECT_EQ(rows[i].at("infeasible.reason"), refused ? "unsupported" : "");
        EXPECT_EQ(rows[i].at("iteration_time_s").empty(), refused);
    }
    const Call text = Run(compare);
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_EQ(CountOf("Refused by analytical, 2 of 2: --set events=[{kind: degradation, target: "
                      "building1/spine0, at: 1us, factor: 0.5}] events.0: a degradation",
                      text.out),
              1);
    EXPECT_EQ(CountOf("than the analytical engine computes with", text.out), 1);
    EXPECT_EQ(CountOf("than the flow engine computes with", text.out), 1);
    // It is not to be told to those who compare with packets that they may.
    EXPECT_THAT(text.out, Not(HasSubstr("--engine packet")));
}

TEST_F(CompareErrors, OneCaseIsRefusedAndTheOthersAreCompared)
{
    // A file of corrections of the study as it is has none of another distance.
    ASSERT_EQ(Run("calibrate study.yaml --set search={} --budget 20s --output c.json").code, 0);
    const auto json =
        RunJson("compare study.yaml --set search={} --sweep cluster.cross.distance=10km,20km "
                "--engines analytical,flow --engine mine=corrected:c.json --csv a.csv");
    ASSERT_EQ(json.at("rows").size(), 6);
    EXPECT_TRUE(json.at("rows")[0].at("relative_error").is_number());
    EXPECT_EQ(json.at("rows")[3].at("infeasible").at("reason"), "unsupported");
    EXPECT_TRUE(json.at("rows")[4].at("relative_error").is_number());
    const auto rows = CsvTable(Read("a.csv"));
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_EQ(rows[3].at("engine"), "mine");
    EXPECT_EQ(rows[3].at("infeasible.reason"), "unsupported");
    for (const auto& errors : json.at("errors"))
    {
        EXPECT_EQ(errors.at("cases"), errors.at("engine") == "mine" ? 1 : 2);
    }
}

TEST_F(CompareErrors, WhatAllEnginesRefuseIsBadInput)
{
    const Call call =
        Run("compare study.yaml --set search={} --engines analytical,flow --csv a.csv "
            "--set " +
            g_midRun);
    EXPECT_EQ(call.code, 2);
    EXPECT_EQ(call.out, "");
    EXPECT_THAT(call.err, HasSubstr("all engines refuse all cases"));
    EXPECT_THAT(call.err, HasSubstr("than the analytical engine computes with"));
    EXPECT_THAT(call.err, HasSubstr("than the flow engine computes with"));
    EXPECT_FALSE(std::filesystem::exists(folder / "a.csv"));
}

TEST_F(CompareErrors, TheReferenceIsWhatWasAskedForThoughItDoesNotRun)
{
    // The truth never answers: nobody has an error, and least of all against the guess.
    const auto json = RunJson("compare study.yaml --set search={} --sweep "
                              "cluster.cross.distance=10km,20km --engines "
                              "'other=command:python3 known.py 0.12 0.19 0.4,"
                              "guess=command:python3 known.py 0.11 0.18 0.4,"
                              "truth=command:exit 1' --csv a.csv");
    EXPECT_EQ(json.at("reference"), "truth");
    EXPECT_EQ(json.at("cases"), 2);
    EXPECT_EQ(json.at("cases_without_reference"), 2);
    EXPECT_TRUE(json.at("errors").empty());
    for (const auto& row : json.at("rows"))
    {
        EXPECT_TRUE(row.at("relative_error").is_null());
    }
    const auto rows = CsvTable(Read("a.csv"));
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_EQ(rows[4].at("engine"), "guess");
    EXPECT_EQ(CsvNumber(rows[4], "iteration_time_s"), 0.18);
    EXPECT_EQ(rows[4].at("relative_error"), "");
    const Call text = Run("compare study.yaml --set search={} --seeds 2 --time-limit 1us");
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("Without an error, for packet did not run them, are 2 of 2 "));
    EXPECT_THAT(text.out, HasSubstr("2 x timeout, such as "));
    EXPECT_THAT(text.out, Not(HasSubstr("Errors of")));
    EXPECT_EQ(RunJson("compare study.yaml --set search={} --seeds 2 --time-limit 1us")
                  .at("cases_without_reference"),
              2);
}

TEST_F(CompareErrors, PlansThatCannotRunAreSaidToBeLeftOut)
{
    const std::string memory = "--sweep cluster.buildings.gpu.hbm_capacity=2GiB,80GB ";
    const auto json = RunJson("compare study.yaml --set search={} --engines analytical --csv a.csv "
                              "--set cluster.buildings.gpu.hbm_reserve=2047MiB " +
                              memory);
    EXPECT_EQ(json.at("cases"), 1);
    ASSERT_EQ(json.at("left_out").size(), 1);
    EXPECT_EQ(json.at("left_out")[0].at("reason"), "memory");
    EXPECT_EQ(json.at("left_out")[0].at("point").at("cluster.buildings.gpu.hbm_capacity"), "2GiB");
    const auto rows = CsvTable(Read("a.csv"));
    ASSERT_EQ(rows.size(), 2U); // what has run, then what is left out
    EXPECT_EQ(rows[1].at("infeasible.reason"), "memory");
    EXPECT_EQ(rows[1].at("infeasible.detail"), json.at("left_out")[0].at("detail"));
    EXPECT_EQ(rows[1].at("plan.label"), json.at("left_out")[0].at("label"));
    EXPECT_EQ(rows[1].at("point.cluster.buildings.gpu.hbm_capacity"), "2GiB");
    EXPECT_EQ(rows[1].at("engine"), "");
    const Call text = Run("compare study.yaml --set search={} --engines analytical --set "
                          "cluster.buildings.gpu.hbm_reserve=2047MiB --set "
                          "cluster.buildings.gpu.hbm_capacity=2GiB");
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.out, HasSubstr("Left out, for it cannot run: 1 x memory, such as"));
}

TEST_F(CompareErrors, SeedsAreRowsOfEnginesThatDraw)
{
    const auto json = RunJson("compare study.yaml --set search={} --engines analytical,packet "
                              "--seeds 2 --seed 5");
    ASSERT_EQ(json.at("rows").size(), 4);
    EXPECT_EQ(json.at("rows")[1].at("seed"), 5);
    EXPECT_EQ(json.at("rows")[3].at("seed"), 6);
    EXPECT_EQ(json.at("errors")[0].at("cases"), 2);
    EXPECT_TRUE(json.at("worst")[0].at("seen").at("packets_dropped").is_number());
    // Both engines send the same payload over spans; what they count of headers and ACKs is less
    // than the 82 bytes of a header for every packet of 4,096.
    size_t spans = 0;
    for (const auto& link : json.at("worst")[0].at("links"))
    {
        if (link.at("name") == "building1 to building2" ||
            link.at("name") == "building2 to building1")
        {
            spans++;
            EXPECT_GT(link.at("reference_bytes"), 0);
            EXPECT_NEAR(link.at("bytes").get<double>(),
                        link.at("reference_bytes").get<double>(),
                        82 / 4096. * link.at("reference_bytes").get<double>());
        }
    }
    EXPECT_EQ(spans, 2U);
    // Of a class, its busy time as a part of the iteration, in the rows as in the table.
    const auto& rows = json.at("rows");
    for (const auto& errors : json.at("errors"))
    {
        if (errors.at("of") == "dp")
        {
            const auto busy = [&](int row) {
                return rows[row].at("classes").at("dp").at("busy_s").get<double>();
            };
            const double first = (busy(0) - busy(1)) / rows[1].at("iteration_time_s").get<double>();
            const double second =
                (busy(2) - busy(3)) / rows[3].at("iteration_time_s").get<double>();
            EXPECT_NEAR(errors.at("bias").get<double>(), (first + second) / 2, 1e-9);
            const auto& dp = rows[0].at("classes").at("dp");
            EXPECT_NEAR(dp.at("relative_error").get<double>(), first, 1e-9);
            EXPECT_GT(std::abs(first), 1e-6); // so that it could be told from another's
        }
    }
}

TEST_F(CompareErrors, FilesAreWrittenToWhereTheyLead)
{
    // Behind what is printed, which the test has redirected to a file.
    const std::string compare = "compare study.yaml --set search={} --engines analytical --csv ";
    const Call call = Run(compare + "/dev/stdout");
    EXPECT_EQ(call.code, 0) << call.err;
    const Call other = Run(compare + "a.csv");
    EXPECT_EQ(call.out, other.out + Read("a.csv"));
    EXPECT_EQ(CsvTable(Read("a.csv")).at(0).at("engine"), "analytical");
    // A link stays one, to another folder, too.
    std::filesystem::create_directory(folder / "there");
    Write("there/b.csv", "old");
    std::filesystem::create_symlink("there/b.csv", folder / "link.csv");
    EXPECT_EQ(Run(compare + "link.csv").code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.csv"));
    EXPECT_EQ(Read("there/b.csv"), Read("a.csv"));
}

/// Two buildings of 64 servers and one plan, dp 64 over both. A quarter has 16 servers in each, in
/// one pod with a quarter of the ports per leaf, and so a quarter of the 8 spines.
class CompareScaled : public Commands
{
  protected:
    CompareScaled()
    {
        Write("large.yaml",
              "study: large\n"
              "model: {name: tiny, layers: 4, hidden: 512, heads: 8, head_dim: 64,\n"
              "        dense_ffn: 2048, vocabulary: 4096}\n"
              "workload: {sequence: 512, global_batch: 128}\n"
              "cluster:\n"
              "  buildings: {count: 2, gpus: 256, gpus_per_node: 4, gpu: h100,\n"
              "              fabric: {rails: true, spines: 8}}\n"
              "  cross: {distance: 10km, oversubscription: 4}\n"
              "plan: {tp: 4, pp: 2, crossing: dp, sharding: hsdp, schedule: 1f1b}\n"
              "search: {}\n");
    }
};

TEST_F(CompareScaled, AllEnginesRunThePart)
{
    const std::string compare = "compare large.yaml --scale-down --scale-to 128 --sweep "
                                "cluster.cross.distance=10km,20km --csv a.csv ";
    const auto json = RunJson(compare);
    EXPECT_EQ(json.at("cases_without_reference"), 0);
    ASSERT_EQ(json.at("rows").size(), 6);
    for (const auto& row : json.at("rows"))
    {
        // 512 GPUs / (tp 4 x pp 2) = 64 replicas; 128 GPUs have 16, and of 128 sequences 32.
        EXPECT_EQ(row.at("plan").at("dp"), 16);
        const auto& scaled = row.at("scaled");
        EXPECT_EQ(scaled.at("part"), "1/4");
        EXPECT_EQ(scaled.at("factor"), 4);
        const std::string changed = scaled.at("changed").dump();
        EXPECT_THAT(changed, HasSubstr(R"({"from":"64","key":"plan.dp","to":"16"})"));
        EXPECT_THAT(changed,
                    HasSubstr(R"({"from":"8","key":"cluster.buildings.fabric.spines","to":"2"})"));
    }
    EXPECT_EQ(json.at("worst")[0].at("scaled").at("part"), "1/4");
    const auto rows = CsvTable(Read("a.csv"));
    ASSERT_EQ(rows.size(), 6U);
    for (const CsvRow& row : rows)
    {
        EXPECT_EQ(row.at("scaled.part"), "1/4");
        EXPECT_NE(row.at("iteration_time_s"), "");
    }
    const Call text = Run(compare);
    EXPECT_THAT(text.out,
                HasSubstr("cluster.cross.distance=20km:\nscaled: 1/4 (workload.global_batch 128 to "
                          "32, "));
    EXPECT_THAT(text.out, HasSubstr(", seed 1, scaled: 1/4\n"));
    // The errors are those of a study that is as large as the part.
    const auto small = RunJson("compare large.yaml --db b.db --set cluster.buildings.gpus=64 --set "
                               "cluster.buildings.fabric.spines=2 --set workload.global_batch=32");
    for (size_t i = 0; i < 3; i++)
    {
        EXPECT_NEAR(small.at("rows")[i].at("iteration_time_s").get<double>(),
                    json.at("rows")[i].at("iteration_time_s").get<double>(),
                    1e-12);
        EXPECT_FALSE(small.at("rows")[i].contains("scaled"));
    }
    // What is small enough runs as it is.
    EXPECT_FALSE(RunJson("compare large.yaml --engines analytical --scale-down --scale-to 512")
                     .at("rows")[0]
                     .contains("scaled"));
}

TEST_F(CompareScaled, WhatIsRefusedForItsSizeIsToldOfTheOption)
{
    const Call call = Run("compare large.yaml --set cluster.buildings.gpus=4096 --set "
                          "workload.global_batch=2048 --engines analytical,packet");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("8192 are too many"));
    EXPECT_THAT(call.out, HasSubstr("compare --scale-down"));
}

TEST_F(CompareScaled, WhatHasNoPartIsRefused)
{
    const std::string cases[][2] = {
        {"--engines analytical --scale-down", "--scale-down: none of the engines refuses"},
        {"--scale-to 128", "--scale-to"},
        {"--scale-down --scale-to 0", "--scale-to"},
        {"--scale-down --scale-to 7", "no part of its 512 GPUs has 7 or fewer"},
        {"--scale-down --scale-to 128 --set network.pfc=false --set "
         "cluster.buildings.fabric.shape=full-mesh",
         "cluster.buildings.0.fabric.shape"},
        {"--scale-down --scale-to 128 --set " + g_midRun, "events"},
    };
    for (const auto& one : cases)
    {
        const Call call = Run("compare large.yaml " + one[0]);
        EXPECT_EQ(call.code, 2) << one[0];
        EXPECT_THAT(call.err, HasSubstr(one[1])) << one[0];
        EXPECT_FALSE(std::filesystem::exists(folder / "large.db")) << one[0];
    }
    // dp 2 in two buildings cannot be fewer.
    const Call call = Run("compare large.yaml --scale-down --scale-to 128 --set plan.cp=32 --set "
                          "workload.sequence=16384");
    EXPECT_EQ(call.code, 2);
    EXPECT_EQ(call.out, "");
    EXPECT_THAT(call.err, HasSubstr("no plan has a part that is small enough, such as "));
}

/// On a terminal, which script(1) makes one of, it says how far the whole grid has come: runs of
/// two points, two engines and two seeds, where one engine has been run before.
TEST_F(CompareErrors, ProgressIsOfTheWholeGrid)
{
    ASSERT_EQ(std::system("command -v script >/dev/null"), 0) << "Debian's bsdutils has it";
    const std::string compare = "compare study.yaml --set search={} --jobs 1 --sweep "
                                "cluster.cross.distance=10km,20km --seeds 2 --engines ";
    EXPECT_EQ(Run(compare + "analytical").code, 0);
    Write("go.sh", "'" + ProgramPath() + "' " + compare + "analytical,packet\n");
    const Call call = Run("--version >/dev/null && script -qec 'sh go.sh' /dev/null");
    EXPECT_EQ(call.code, 0) << call.out << call.err;
    // The analytical engine draws nothing: one run of it stands for both seeds, at each point. So
    // four of 2 x 2 x 2 are stored, and those of packets are left.
    for (const char* shown : {" 5/8 ", " 6/8 ", " 7/8 ", " 8/8 "})
    {
        EXPECT_THAT(call.out, HasSubstr(shown));
    }
}

TEST_F(CompareErrors, PointsRunSideBySideAndComeInTheirOrder)
{
    // Each run waits until three others have begun, so that it ends in time only where four run at
    // once: those of four points, each with a plan and an engine. One run after the other all give
    // up, and tell another time.
    Write("together.py",
          "import json, os, sys, time\n"
          "study = json.load(sys.stdin)['scenario']\n"
          "km = study['cluster']['links'][0]['distance']\n"
          "open('begun-' + km, 'w').close()\n"
          "end = time.time() + float(sys.argv[1])\n"
          "begun = lambda: sum(name.startswith('begun-') for name in os.listdir('.'))\n"
          "while begun() < 4 and time.time() < end:\n"
          "    time.sleep(0.01)\n"
          "print(json.dumps({'iteration_time_s': float(km[:-2]) if begun() == 4 else 1000}))\n");
    const std::string compare = "compare study.yaml --set search={} --sweep "
                                "cluster.cross.distance=40km,10km,30km,20km --engines "
                                "'together=command:python3 together.py ";
    const auto timesOf = [](const nlohmann::json& json) {
        std::vector<double> times;
        for (const auto& row : json.at("rows"))
        {
            times.push_back(row.at("iteration_time_s"));
        }
        return times;
    };
    EXPECT_EQ(timesOf(RunJson(compare + "30' --jobs 4 --db 4.db")),
              (std::vector<double>{40, 10, 30, 20}));
    for (const char* km : {"10km", "20km", "30km", "40km"})
    {
        std::filesystem::remove(folder / (std::string("begun-") + km));
    }
    const auto alone = timesOf(RunJson(compare + "0.1' --jobs 1 --db 1.db"));
    EXPECT_EQ(std::count(alone.begin(), alone.end(), 1000), 3); // the last one sees all
}

TEST_F(CompareErrors, HowManyRunAtOnceChangesNothing)
{
    // Three points, two seeds, three engines and two plans.
    const std::string compare =
        "compare study.yaml --set 'search={network: {multipath: [ecmp, e-ecmp]}}' --sweep "
        "cluster.cross.distance=10km,20km,40km --seeds 2 --engines analytical,flow,packet ";
    std::string first;
    for (const char* jobs : {"1", "5"})
    {
        const std::string number = jobs;
        const Call call =
            Run(compare + "--jobs " + jobs + " --db " + number + ".db --csv " + number + ".csv");
        EXPECT_EQ(call.code, 0) << call.err;
        first = first.empty() ? call.out : first;
        EXPECT_EQ(call.out, first) << jobs;
        EXPECT_EQ(Read(number + ".csv"), Read("1.csv")) << jobs;
    }
    // An engine that draws nothing runs once for both seeds.
    for (const char* database : {"1.db", "5.db"})
    {
        EXPECT_EQ(Sql(database, "SELECT max(evaluations) FROM run"), "1") << database;
    }
}

TEST_F(CompareErrors, WrongGridsAreRefusedBeforeAnythingRuns)
{
    const std::string cases[][2] = {
        {"--sweep cluster.cross.distance", "not KEY=VALUE,VALUE"},
        {"--sweep cluster.cross.distance=10km,10000m", "make the same study"},
        {"--sweep cluster.cross.distance=10km,-1km", "cluster.cross.distance"},
        {"--csv no/such.csv", "--csv"},
        {"--csv -", "--csv: '-' is no file"},
        {"--engines analytical,,flow", "--engines: a value in 'analytical,,flow' is empty"},
        {"--sweep study=a,b", "'a' and 'b' make the same study"},
        {"--sweep cluster.cross.distance=1km,2km --set cluster.cross.distance=3km",
         "--set cluster.cross.distance=3km says it, too"},
        {"--csv study.yaml", "--csv: 'study.yaml' is what is read"},
        {"--seeds 0", "--seeds"},
        {"--seeds 3 --seed 4294967295", "--seeds"},
    };
    for (const auto& one : cases)
    {
        const Call call = Run("compare study.yaml --set search={} " + one[0]);
        EXPECT_EQ(call.code, 2) << one[0];
        EXPECT_THAT(call.err, HasSubstr(one[1])) << one[0];
        EXPECT_FALSE(std::filesystem::exists(folder / "small.db")) << one[0];
    }
}

} // namespace

} // namespace scaleacross
