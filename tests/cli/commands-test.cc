// SPDX-License-Identifier: GPL-2.0-only

#include "program.h"

#include <gmock/gmock.h>
#include <map>
#include <regex>
#include <set>
#include <tuple>

namespace scaleacross
{

namespace
{

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Commands : public ProgramTest
{
  protected:
    Commands()
    {
        Write("study.yaml", g_smallStudy);
    }
};

/// The keys that a JSON object has to have.
void
ExpectKeys(const nlohmann::json& json, const std::vector<std::string>& keys)
{
    for (const auto& key : keys)
    {
        EXPECT_TRUE(json.contains(key)) << key << " is missing in " << json.dump(2);
    }
}

/// The lines of the ranking that `explore` or `show` prints, its title first, and all lines of
/// warnings behind it.
std::multiset<std::string>
RankingLines(const std::string& text)
{
    std::multiset<std::string> lines;
    std::istringstream stream(text);
    bool ranking = false;
    for (std::string line; std::getline(stream, line);)
    {
        ranking = line.empty() ? false : ranking || line.find("#  plan ") != std::string::npos;
        if (ranking || line.rfind("Warning: ", 0) == 0)
        {
            lines.insert(line);
        }
    }
    return lines;
}

TEST_F(Commands, RunPrintsItsKeysAndStores)
{
    const auto json = RunJson("run study.yaml");
    ExpectKeys(json,
               {"iteration_time_s",
                "mfu",
                "bubble_fraction",
                "exposed_comm_s",
                "memory_bytes_max",
                "cross_building_bytes",
                "engine",
                "seed",
                "version",
                "plan",
                "classes"});
    EXPECT_GT(json.at("iteration_time_s").get<double>(), 0);
    EXPECT_EQ(json.at("engine"), "analytical");
    EXPECT_TRUE(json.at("seed").is_null());
    EXPECT_EQ(json.at("plan").at("tp"), 4);
    EXPECT_EQ(json.at("plan").at("dp"), 2);
    EXPECT_EQ(json.at("plan").at("network").at("qps"), 16);
    ExpectKeys(json.at("classes"), {"tp", "cp", "ep", "pp", "dp"});
    EXPECT_THAT(Files(), ElementsAre("small.db", "study.yaml"));
}

TEST_F(Commands, RunSetsValuesOfTheStudy)
{
    const auto json = RunJson("run study.yaml --no-store --set plan.tp=2 --set plan.pp=4");
    EXPECT_EQ(json.at("plan").at("tp"), 2);
    EXPECT_EQ(json.at("plan").at("pp"), 4);
    EXPECT_EQ(json.at("plan").at("dp"), 2);
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

TEST_F(Commands, RunOfAPlanThatCannotRunFailsWithItsReason)
{
    const Call call = Run("run study.yaml --json --set plan.crossing=pp --set plan.pp=1");
    EXPECT_EQ(call.code, 1);
    EXPECT_EQ(nlohmann::json::parse(call.out).at("infeasible").at("reason"), "crossing");
}

TEST_F(Commands, ExplorePrintsItsKeys)
{
    const auto json = RunJson("explore study.yaml --db results.db --jobs 2");
    ExpectKeys(
        json,
        {"best", "baselines", "evaluated", "rejected", "seconds", "db", "gap", "explanation"});
    ExpectKeys(json.at("best"), {"iteration_time_s", "plan"});
    ExpectKeys(json.at("baselines"), {"production", "megatron"});
    EXPECT_EQ(json.at("db"), "results.db");
    uint64_t rejected = 0;
    for (const auto& count : json.at("rejected"))
    {
        rejected += count.get<uint64_t>();
    }
    // 2 x 2 x 2 x 2 combinations; distinct plans are run, ruled out or rejected.
    EXPECT_EQ(json.at("combinations"), 16);
    EXPECT_EQ(json.at("evaluated").get<uint64_t>() + json.at("ruled_out").get<uint64_t>() +
                  rejected,
              json.at("plans").get<uint64_t>());
    EXPECT_FALSE(json.at("rejected").contains("duplicate"));
    EXPECT_EQ(json.at("optimal"), true);
    EXPECT_EQ(json.at("gap"), 0.0);
    EXPECT_GT(json.at("bound_slack").get<double>(), 0.0);
    EXPECT_GE(json.at("gap").get<double>(), 0);
    EXPECT_THAT(Files(), ElementsAre("results.db", "study.yaml"));
}

TEST_F(Commands, BestIsWhatRunFindsAndNothingBeatsIt)
{
    const auto explored = RunJson("explore study.yaml --top 100");
    const auto& best = explored.at("best");
    std::string set;
    for (const char* key : {"tp", "pp", "dp", "crossing", "sharding"})
    {
        const auto& value = best.at("plan").at(key);
        set += std::string(" --set plan.") + key + "=" +
               (value.is_string() ? value.get<std::string>() : value.dump());
    }
    const auto run = RunJson("run study.yaml" + set);
    EXPECT_EQ(run.at("iteration_time_s"), best.at("iteration_time_s"));
    for (const auto& ranked : explored.at("ranking"))
    {
        EXPECT_GE(ranked.at("iteration_time_s"), best.at("iteration_time_s"));
    }
}

TEST_F(Commands, ExploreAgainGivesTheSame)
{
    auto first = RunJson("explore study.yaml");
    auto second = RunJson("explore study.yaml --jobs 1");
    first.erase("seconds");
    second.erase("seconds");
    EXPECT_EQ(first, second);
}

TEST_F(Commands, ExplorePrintsATableAndReasons)
{
    const Call call = Run("explore study.yaml");
    EXPECT_EQ(call.code, 0);
    EXPECT_EQ(call.err, "");
    EXPECT_THAT(call.out, HasSubstr("small: tiny on 16 GPUs in 2 buildings"));
    EXPECT_THAT(call.out, HasSubstr("Best: "));
    EXPECT_THAT(call.out, HasSubstr("Baseline production ("));
    EXPECT_THAT(call.out, HasSubstr("Stored in small.db."));
}

TEST_F(Commands, ExploreWithoutAPlanThatRunsFails)
{
    const Call call = Run("explore study.yaml --json --set search.plan.crossing=[pp] "
                          "--set search.plan.pp=[1]");
    EXPECT_EQ(call.code, 1);
    EXPECT_TRUE(nlohmann::json::parse(call.out).at("best").is_null());
}

TEST_F(Commands, SweepTellsWhoWinsWhere)
{
    const auto json = RunJson("explore study.yaml --sweep cluster.cross.oversubscription=1,64");
    EXPECT_EQ(json.at("sweep"), "cluster.cross.oversubscription");
    ASSERT_EQ(json.at("values").size(), 2);
    EXPECT_EQ(json.at("values")[1].at("value"), "64");
    ExpectKeys(json.at("values")[0], {"winner", "margin", "best", "placements"});
    // A scarcer span never helps.
    EXPECT_LE(json.at("values")[0].at("best").at("iteration_time_s"),
              json.at("values")[1].at("best").at("iteration_time_s"));
    EXPECT_TRUE(json.at("flips").is_array());
    const Call call = Run("explore study.yaml --sweep cluster.cross.oversubscription=1,64");
    EXPECT_THAT(call.out, HasSubstr("flip"));
}

TEST_F(Commands, SweepChecksEveryValueFirst)
{
    const Call call = Run("explore study.yaml --sweep cluster.cross.distance=10km,fast");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("fast"));
    EXPECT_EQ(Run("explore study.yaml --sweep nonsense").code, 2);
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

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
    ASSERT_EQ(json.size(), 2);
    EXPECT_EQ(json[0].at("engine"), "analytical");
    EXPECT_EQ(json[1].at("engine"), "packet");
    EXPECT_EQ(json[0].at("plan"), json[1].at("plan"));
    EXPECT_EQ(json[1].at("relative_error"), 0);
    EXPECT_TRUE(json[0].contains("reason"));
    for (const auto& [name, part] : json[0].at("classes").items())
    {
        EXPECT_EQ(part.at("bytes"), json[1].at("classes").at(name).at("bytes")) << name;
    }
    // What is stored is not run again, and it is the same.
    EXPECT_EQ(RunJson("compare study.yaml --top 1 --db both.db"), json);
    const auto shown = RunJson("show both.db");
    EXPECT_EQ(shown.at("searches")[0].at("checks")[0].at("engine"), "packet");
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

TEST_F(Commands, AFinishedSearchTunesItsBaselinesOnce)
{
    const auto first = RunJson("explore study.yaml --db once.db");
    const auto again = RunJson("explore study.yaml --db once.db");
    EXPECT_EQ(again.at("baselines"), first.at("baselines"));
    // What the database says is what counts.
    Sql("once.db",
        "UPDATE baseline SET run_id = NULL, reason = 'memory', detail = 'as stored' "
        "WHERE name = 'megatron'");
    const auto stored = RunJson("explore study.yaml --db once.db").at("baselines");
    EXPECT_NE(stored.at("megatron").dump().find("as stored"), std::string::npos) << stored;
    EXPECT_EQ(stored.at("production"), first.at("baselines").at("production"));
}

/// As after a kill between the search and its baselines.
TEST_F(Commands, ShowSaysWhatAFinishedSearchStillLacks)
{
    RunJson("explore study.yaml --db a.db");
    EXPECT_EQ(Run("show a.db").out.find("not concluded"), std::string::npos);
    EXPECT_EQ(RunJson("show a.db").at("searches")[0].at("concluded"), true);
    Sql("a.db", "DELETE FROM baseline; UPDATE search SET gap = NULL, explanation = NULL");
    EXPECT_THAT(Run("show a.db").out, HasSubstr("\nnot concluded: baselines, gap"));
    EXPECT_EQ(RunJson("show a.db").at("searches")[0].at("concluded"), false);
    RunJson("explore study.yaml --db a.db");
    EXPECT_EQ(RunJson("show a.db").at("searches")[0].at("concluded"), true);
}

TEST_F(Commands, ExploreChecksTheBestOnFurtherEngines)
{
    Write("study.yaml", std::string(g_smallStudy) + "engines: [analytical, packet]\n");
    const auto json = RunJson("explore study.yaml --verify 2");
    EXPECT_EQ(json.at("checks").size(), 4);
    EXPECT_TRUE(RunJson("explore study.yaml --verify 0").at("checks").empty());
}

/// The errors that are known are those of the analytical engine's times.
TEST_F(Commands, OfThePacketEnginesOrderNothingIsSaidOfHowSureItIs)
{
    const auto known = RunJson("explore study.yaml");
    EXPECT_TRUE(known.at("best").at("probability_best").is_number());
    EXPECT_TRUE(known.at("sure").is_number());
    EXPECT_THAT(Run("explore study.yaml").out, HasSubstr(" fastest\n"));
    Write("study.yaml",
          "study: small\n"
          "model: {name: tiny, layers: 2, hidden: 64, heads: 4, head_dim: 16, dense_ffn: 128, "
          "vocabulary: 256}\n"
          "workload: {sequence: 32, global_batch: 8, stack: megatron-core}\n"
          "cluster:\n"
          "  buildings: {count: 2, gpus: 4, gpus_per_node: 2, gpu: h100}\n"
          "  cross: {distance: 1km, oversubscription: 2}\n"
          "plan: {tp: 2, pp: 2, sharding: fsdp, schedule: 1f1b}\n"
          "search: {plan: {crossing: [dp, pp]}}\n"
          "baselines: [production]\n"
          "engines: [packet]\n");
    const auto json = RunJson("explore study.yaml --db packet.db");
    ASSERT_EQ(json.at("ranking").size(), 2U) << json;
    for (const auto& figure : {json.at("sure"),
                               json.at("time_error"),
                               json.at("best").at("probability_best"),
                               json.at("ranking")[1].at("probability_best"),
                               json.at("ranking")[1].at("probability_slower"),
                               json.at("placements").at("dp").at("probability_slower"),
                               json.at("placements").at("pp").at("probability_slower"),
                               json.at("baselines").at("production").at("probability_slower")})
    {
        EXPECT_TRUE(figure.is_null()) << figure;
    }
    EXPECT_THAT(Run("explore study.yaml --db packet.db").out, Not(HasSubstr(" fastest\n")));
    const std::string sweep =
        "explore study.yaml --db packet.db --sweep cluster.cross.distance=1km,5km";
    const auto swept = RunJson(sweep);
    EXPECT_TRUE(swept.at("values")[0].at("margin").is_number());
    EXPECT_TRUE(swept.at("values")[0].at("probability").is_null());
    EXPECT_THAT(Run(sweep).out, Not(HasSubstr("sure")));
}

/// FSDP has no all-reduce, for which alone trees are: every plan is there twice, and as likely to
/// be the fastest as if it were there once.
TEST_F(Commands, PlansThatDoTheSameWorkCountOnce)
{
    std::string study = g_smallStudy;
    const std::string axis = ", sharding: [fsdp, hsdp]}\n";
    ASSERT_NE(study.find(axis), std::string::npos);
    study.replace(study.find(axis), axis.size(), "}\n  network: {collective: [ring]}\n");
    Write("once.yaml", study);
    const std::string ring = "[ring]";
    study.replace(study.find(ring), ring.size(), "[ring, tree]");
    Write("twice.yaml", study);
    const std::string options = " --set plan.sharding=fsdp --top 100";
    const auto once = RunJson("explore once.yaml --db once.db" + options);
    const auto twice = RunJson("explore twice.yaml --db twice.db" + options);
    const size_t plans = once.at("ranking").size();
    ASSERT_GT(plans, 2U);
    ASSERT_EQ(twice.at("ranking").size(), 2 * plans);
    for (size_t i = 0; i < 2 * plans; i++)
    {
        const auto& plan = twice.at("ranking")[i];
        EXPECT_EQ(plan.at("probability_best"), once.at("ranking")[i / 2].at("probability_best"));
        if (i % 2 == 1)
        {
            EXPECT_EQ(plan.at("same_as"), i); // the rank, from 1, of the one before
        }
        else
        {
            EXPECT_TRUE(plan.at("same_as").is_null());
        }
    }
    EXPECT_THAT(Run("explore twice.yaml --db twice.db" + options).out, HasSubstr(" as 1\n"));
}

/// Without the limit plans run that lack memory. Those that fit are those that run with it.
TEST_F(Commands, EveryRankedPlanSaysWhetherItFits)
{
    std::string study = g_smallStudy;
    const std::string gpu = "gpu: h100";
    study.replace(study.find(gpu),
                  gpu.size(),
                  "gpu: {preset: h100, hbm_capacity: 6240MiB, hbm_reserve: 6144MiB}");
    Write("study.yaml", study);
    std::set<std::string> fit;
    const auto limited = RunJson("explore study.yaml --top 100");
    for (const auto& plan : limited.at("ranking"))
    {
        fit.insert(plan.at("label"));
    }
    EXPECT_FALSE(fit.empty());
    EXPECT_THAT(Run("explore study.yaml").out, Not(HasSubstr("  fits\n")));
    const std::string unlimited = "explore study.yaml --set workload.memory_limit=false --top 100";
    const auto json = RunJson(unlimited);
    size_t lacking = 0;
    for (const auto& plan : json.at("ranking"))
    {
        const bool fits = fit.count(plan.at("label")) > 0;
        EXPECT_EQ(plan.at("warnings").empty(), fits) << plan;
        lacking += fits ? 0 : 1;
    }
    EXPECT_GT(lacking, 0U);
    const std::string text = Run(unlimited).out;
    EXPECT_THAT(text, HasSubstr("  fits\n"));
    size_t marked = 0;
    for (size_t at = text.find("    no\n"); at != std::string::npos;
         at = text.find("    no\n", at + 1))
    {
        marked++;
    }
    size_t baselines = 0;
    for (const auto& baseline : json.at("baselines"))
    {
        baselines += baseline.contains("warnings") && !baseline.at("warnings").empty() ? 1 : 0;
    }
    EXPECT_EQ(marked, lacking + baselines);
}

/// As `explore` says it, also of what the best plan lacks: 2 MiB are less than any plan needs.
TEST_F(Commands, ShowSaysOfMemoryWhatExploreDoes)
{
    std::string study = g_smallStudy;
    const std::string gpu = "gpu: h100";
    study.replace(study.find(gpu),
                  gpu.size(),
                  "gpu: {preset: h100, hbm_capacity: 6146MiB, hbm_reserve: 6144MiB}");
    Write("study.yaml", study);
    const std::string unlimited = "explore study.yaml --set workload.memory_limit=false";
    const std::string explored = Run(unlimited).out;
    EXPECT_THAT(explored, HasSubstr("  fits\n"));
    EXPECT_THAT(explored, HasSubstr("\nWarning: memory: stage "));
    EXPECT_EQ(RankingLines(Run("show small.db").out), RankingLines(explored));
    const auto json = RunJson(unlimited);
    const auto search = RunJson("show small.db").at("searches")[0];
    ASSERT_EQ(search.at("ranking").size(), json.at("ranking").size());
    for (size_t i = 0; i < json.at("ranking").size(); i++)
    {
        EXPECT_EQ(search.at("ranking")[i].at("warnings"), json.at("ranking")[i].at("warnings"));
        EXPECT_EQ(json.at("ranking")[i].at("warnings").size(), 1U);
    }
    // Runs of a release that did not store what a stage may fill: nothing is known.
    Sql("small.db", "UPDATE run_memory SET usable = NULL");
    const std::string old = Run("show small.db").out;
    EXPECT_THAT(old, HasSubstr("  fits\n"));
    EXPECT_THAT(old, HasSubstr("     -\n"));
    EXPECT_THAT(old, Not(HasSubstr("Warning: ")));
}

/// What a study says in vain is told beside the result, by either engine.
TEST_F(Commands, RunsWarnOfWhatChangesNothing)
{
    const std::string warning = "plan.recompute: moe changes nothing: the model has no experts";
    for (const std::string engine : {"analytical", "packet"})
    {
        const std::string run =
            "run study.yaml --no-store --set plan.recompute=norm+moe --engine " + engine;
        EXPECT_THAT(Run(run).out, HasSubstr("\nWarning: " + warning + ".\n")) << engine;
        EXPECT_THAT(RunJson(run).at("warnings"), ElementsAre(warning)) << engine;
    }
    EXPECT_TRUE(
        RunJson("run study.yaml --no-store --set plan.recompute=norm").at("warnings").empty());
}

TEST_F(Commands, PacketRunsDependOnTheSeedOnly)
{
    const std::string run = "run study.yaml --engine packet --no-store";
    const auto one = RunJson(run + " --seed 7");
    EXPECT_EQ(one.at("seed"), 7);
    EXPECT_EQ(one.at("engine"), "packet");
    EXPECT_EQ(RunJson(run + " --seed 7"), one);
}

TEST_F(Commands, ShowPrintsWhatExploreStored)
{
    const auto explored = RunJson("explore study.yaml");
    const auto shown = RunJson("show small.db");
    ASSERT_EQ(shown.at("searches").size(), 1);
    const auto& search = shown.at("searches")[0];
    EXPECT_EQ(search.at("evaluated"), explored.at("evaluated"));
    EXPECT_EQ(search.at("explanation"), explored.at("explanation"));
    EXPECT_EQ(search.at("gap"), explored.at("gap"));
    EXPECT_EQ(search.at("ranking")[0].at("iteration_time_s"),
              explored.at("best").at("iteration_time_s"));
    EXPECT_EQ(search.at("baselines").at("production").at("iteration_time_s"),
              explored.at("baselines").at("production").at("iteration_time_s"));
    // How sure it is, of every plan and on the whole.
    for (const char* key : {"sure", "time_error"})
    {
        EXPECT_EQ(search.at(key), explored.at(key)) << key;
    }
    for (size_t i = 0; i < explored.at("ranking").size(); i++)
    {
        for (const char* key : {"probability_best", "probability_slower", "same_as"})
        {
            EXPECT_EQ(search.at("ranking")[i].at(key), explored.at("ranking")[i].at(key)) << key;
        }
    }
    EXPECT_EQ(search.at("baselines").at("megatron").at("probability_slower"),
              explored.at("baselines").at("megatron").at("probability_slower"));
    const Call call = Run("show small.db");
    EXPECT_THAT(call.out, HasSubstr("Baseline production ("));
    EXPECT_THAT(call.out, HasSubstr(" fastest\n"));
    // As after a release that knew nothing of it.
    Sql("small.db", "UPDATE search SET sure = NULL; UPDATE search_run SET probability_best = NULL");
    EXPECT_THAT(Run("show small.db").out, Not(HasSubstr(" fastest\n")));
    EXPECT_TRUE(RunJson("show small.db").at("searches")[0].at("sure").is_null());
}

/// Settings of the network that are searched are part of what a search calls a plan, also that of
/// a baseline or of another engine's run.
TEST_F(Commands, ShowNamesPlansAsExploreDoes)
{
    std::string study = g_smallStudy;
    study.replace(study.find("baselines:"), 0, "  network: {collective: [ring, hierarchical]}\n");
    Write("study.yaml", study);
    const std::string explored = Run("explore study.yaml").out;
    EXPECT_THAT(explored, ContainsRegex("\nproduction +TP[^\n]* collective="));
    EXPECT_EQ(RankingLines(Run("show small.db").out), RankingLines(explored));
    const auto baselines = RunJson("show small.db").at("searches")[0].at("baselines");
    for (const auto& [name, baseline] : baselines.items())
    {
        EXPECT_THAT(baseline.at("plan").at("label").get<std::string>(), HasSubstr(" collective="))
            << name;
    }
    RunJson("compare study.yaml --top 1 --db small.db");
    const auto search = RunJson("show small.db").at("searches")[0];
    EXPECT_EQ(search.at("checks")[0].at("plan").at("label"),
              search.at("ranking")[0].at("plan").at("label"));
    // A file of before has the baselines' own labels.
    Sql("small.db", "UPDATE baseline SET label = NULL");
    EXPECT_THAT(Run("show small.db").out, Not(ContainsRegex("\nproduction +TP[^\n]* collective=")));
}

TEST_F(Commands, ShowResolvesAStudy)
{
    const auto json = RunJson("show study.yaml --set plan.tp=2");
    ExpectKeys(json, {"study", "scenario", "search", "plans", "baselines", "engines", "seed"});
    EXPECT_EQ(json.at("plans"), 16);
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

/// 16 NICs, 2 x 4 leaves and 2 x 2 spines; 16 + 2 x 4 x 2 + 2 links. The span: 8 x 400 / 4 Gb/s.
TEST_F(Commands, ShowDrawsTheFabricOfAStudy)
{
    for (const char* file : {"fabric.svg", "fabric.dot", "fabric.txt"})
    {
        const Call call = Run(std::string("show --topology study.yaml -o ") + file);
        EXPECT_EQ(call.code, 0) << call.err;
        EXPECT_EQ(call.out, std::string("wrote ") + file + "\n");
    }
    EXPECT_NE(Read("fabric.svg").find("10 km, 50 us, 800 Gbps"), std::string::npos);
    EXPECT_NE(Read("fabric.dot").find("leaf 0-3 (4)"), std::string::npos);
    EXPECT_EQ(Read("fabric.txt").substr(0, 9), "28 12 34\n");
    // What was written can be drawn again, alike but for the title and the span's length.
    EXPECT_EQ(Run("show --topology fabric.txt -o again.txt").code, 0);
    EXPECT_EQ(Read("again.txt"), Read("fabric.txt"));
    EXPECT_EQ(Run("show --topology fabric.txt -o again.svg").code, 0);
    EXPECT_NE(Read("again.svg").find("50 us, 800 Gbps"), std::string::npos);
}

TEST_F(Commands, AStudyMayComeFromStandardInput)
{
    // There is no file that a worker could read either: it gets the scenario itself.
    const std::string compare = " --engines packet --set search={} --db ";
    EXPECT_EQ(RunJson("run - --no-store <study.yaml"), RunJson("run study.yaml --no-store"));
    const auto piped = RunJson("compare -" + compare + "a.db <study.yaml");
    const auto named = RunJson("compare study.yaml" + compare + "b.db");
    EXPECT_EQ(piped[0].at("plan"), named[0].at("plan"));
    EXPECT_EQ(piped[0].at("iteration_time_s"), named[0].at("iteration_time_s"));
    EXPECT_EQ(Run("run - --no-store").code, 2);
    EXPECT_NE(Run("run -").err.find("standard input: the file is empty"), std::string::npos);
}

TEST_F(Commands, AStoredScenarioCanBeRun)
{
    RunJson("run study.yaml --db a.db");
    Write("stored.json", Sql("a.db", "SELECT text FROM scenario"));
    const auto again = RunJson("run - --no-store --set plan.tp=4 --set plan.pp=2"
                               " --set plan.crossing=dp --set plan.sharding=hsdp"
                               " --set plan.schedule=1f1b <stored.json");
    const auto first = RunJson("run study.yaml --no-store");
    EXPECT_GT(first["iteration_time_s"], 0);
    EXPECT_EQ(again["iteration_time_s"], first["iteration_time_s"]);
    EXPECT_EQ(again["memory_bytes_max"], first["memory_bytes_max"]);
}

TEST_F(Commands, ShowRefusesToDrawWhatItCannot)
{
    Write("bad.txt", "2 1 1\n1\n0 1 100 1us 0\n");
    const std::pair<const char*, const char*> cases[] = {
        {"show --topology study.yaml", "needs to know where to write"},
        {"show --topology study.yaml -o fabric.png", "'fabric.png' does not say what to write"},
        {"show --topology missing.yaml -o a.svg", "missing.yaml"},
        {"show --topology bad.txt -o a.svg", "bad.txt:3: rate"},
        {"show --topology bad.txt --set plan.tp=1 -o a.svg", "has no keys to set"},
        {"show --topology study.yaml -o no/such/folder.svg", "cannot write"}};
    for (const auto& [arguments, problem] : cases)
    {
        const Call call = Run(arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_NE(call.err.find(problem), std::string::npos) << call.err;
        EXPECT_FALSE(std::filesystem::exists(folder / "a.svg"));
    }
}

/// The page on models has what `list models` counts: in a row of the model's own, or of its family.
TEST_F(Commands, ListCountsParametersAsThePageDoes)
{
    std::ifstream file(SCALEACROSS_SOURCE_DIR "/contrib/scaleacross/doc/models.md");
    std::map<std::string, std::string> rows; // by family: what stands before the first dash
    for (std::string line; std::getline(file, line);)
    {
        if (line.rfind("| `", 0) == 0)
        {
            rows[line.substr(3, line.find('`', 3) - 3)] = line;
        }
    }
    for (const auto& model : RunJson("list models"))
    {
        const std::string name = model.at("model");
        const auto own = rows.find(name);
        const auto family = rows.find(name.substr(0, name.find('-')) + "-8b");
        ASSERT_TRUE(own != rows.end() || family != rows.end()) << name;
        const std::string& row = own != rows.end() ? own->second : family->second;
        const std::string all = model.at("parameters");
        const std::string active = model.at("active");
        EXPECT_THAT(row, HasSubstr(all)) << name;
        EXPECT_THAT(row, HasSubstr(all == active ? "| all |" : "| " + active + " |")) << name;
    }
}

TEST_F(Commands, ListKnowsWhatAStudyCanName)
{
    for (const char* what : {"models",
                             "gpus",
                             "fabrics",
                             "machines",
                             "schedules",
                             "transports",
                             "baselines",
                             "fields"})
    {
        const auto json = RunJson(std::string("list ") + what);
        EXPECT_GE(json.size(), 2) << what;
    }
    EXPECT_THAT(Run("list models").out, HasSubstr("llama4-maverick"));
    EXPECT_THAT(Run("list schedules").out, HasSubstr("reconstruction"));
    const Call call = Run("list model");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("did you mean models?"));
}

/// What a preset's file says is in its row, and every key of a study that means something of it.
TEST_F(Commands, ListsShowEveryKeyOfAPreset)
{
    const std::string data = SCALEACROSS_SOURCE_DIR "/contrib/scaleacross/data/";
    std::set<std::string> keys;
    for (const auto& field : RunJson("list fields"))
    {
        keys.insert(field.at("field"));
    }
    // What has a unit is listed in another one.
    const std::regex said("([a-z_0-9]+): ([0-9.]+|true|false)");
    for (const auto& [list, name, path] : {std::tuple("stacks", "stack", "workload.stack."),
                                           {"models", "model", "model."},
                                           {"gpus", "gpu", "cluster.buildings.gpu."},
                                           {"fabrics", "fabric", "cluster.buildings.fabric."}})
    {
        for (const auto& row : RunJson(std::string("list ") + list))
        {
            const std::string preset = row.at(name);
            std::ifstream file(data + list + "/" + preset + ".yaml");
            ASSERT_TRUE(file) << preset;
            std::smatch found;
            for (std::string line; std::getline(file, line);)
            {
                // What makes a value of another file, and what is about the preset.
                if (std::regex_match(line, found, said) && keys.count(path + found[1].str()) > 0 &&
                    row.at("values").contains(found[1]))
                {
                    // As numbers, since 3.0 of a file is listed as 3.
                    EXPECT_EQ(
                        nlohmann::json::parse(row.at("values").at(found[1]).get<std::string>()),
                        nlohmann::json::parse(found[2].str()))
                        << preset << ": " << line;
                }
            }
            for (const auto& [key, value] : row.at("values").items())
            {
                EXPECT_EQ(keys.count(path + key), 1U) << preset << ": " << key;
            }
        }
    }
    const std::string stacks = Run("list stacks").out;
    for (const char* key : {"loss_bytes=70", "dispatch_copies=4", "gradient_stand_ins=true"})
    {
        EXPECT_THAT(stacks, HasSubstr(key));
    }
}

TEST_F(Commands, MachinesAreListedWithAllThatTheySay)
{
    std::set<std::string> keys;
    for (const auto& field : RunJson("list fields"))
    {
        keys.insert(field.at("field"));
    }
    for (const auto& row : RunJson("list machines"))
    {
        for (const auto& [key, value] : row.at("values").items())
        {
            const bool part = key.rfind("gpu.", 0) == 0 || key.rfind("fabric.", 0) == 0;
            const std::string path = key.rfind("network.", 0) == 0 ? "" : "machine.";
            EXPECT_EQ(keys.count((part ? "cluster.buildings." : path) + key), 1U) << key;
        }
        if (row.at("machine") == "aws-p4de")
        {
            EXPECT_EQ(row.at("gpu"), "a100-80g");
            const auto& values = row.at("values");
            EXPECT_EQ(values.at("gpus_per_node"), "8");
            EXPECT_EQ(values.at("nics"), "4");
            EXPECT_EQ(values.at("nic_rate"), "100Gbps");
            // Half a NIC for each of 8 GPUs.
            EXPECT_EQ(values.at("gpu.nic_rate"), "50Gbps");
            EXPECT_EQ(values.at("network.recovery"), "selective-repeat");
        }
    }
    EXPECT_THAT(Run("list machines").out, HasSubstr("network.transport=infiniband"));
}

TEST_F(Commands, EveryCommandHasHelp)
{
    EXPECT_EQ(Run("--help").code, 0);
    for (const char* command : {"explore", "run", "compare", "show", "list"})
    {
        const Call call = Run(std::string(command) + " --help");
        EXPECT_EQ(call.code, 0);
        EXPECT_THAT(call.out, HasSubstr("--json"));
    }
    EXPECT_EQ(Run("--version").code, 0);
}

TEST_F(Commands, WrongArgumentsAreBadInput)
{
    for (const char* arguments : {"",
                                  "explode study.yaml",
                                  "run",
                                  "run study.yaml --engine",
                                  "run study.yaml --jobs 0",
                                  "run study.yaml --set plan.tp",
                                  "run study.yaml --set plan.tq=1",
                                  "run study.yaml --seed 0",
                                  "run study.yaml --engine flow",
                                  "run study.yaml --engine packets",
                                  "run study.yaml --set plan.tp=1 plan.pp=2",
                                  "run study.yaml --no-store --db a.db",
                                  "run study.yaml --db=",
                                  "run study.yaml --time-limit 0s",
                                  "compare study.yaml --time-limit soon",
                                  "compare study.yaml --memory-limit 0B",
                                  "compare study.yaml --engines packet,packet",
                                  "bench permutation --hosts 0",
                                  "run study.yaml --iterations 010",
                                  "run study.yaml --iterations 0x10",
                                  "run study.yaml --jobs 2",
                                  "explore study.yaml --sweep=",
                                  "explore study.yaml --sweep plan.tp=1,2",
                                  "explore study.yaml --sweep network.qps=1,,2",
                                  "explore study.yaml --sweep network.qps=1,1",
                                  "explore study.yaml --sweep network.qps=1,2 --top 3",
                                  "fairness --control dcqcn,dcqcn",
                                  "show study.yaml --topology --top 3 -o a.svg",
                                  "show study.yaml --search 0",
                                  "show study.yaml --search 1",
                                  "show study.yaml --search first",
                                  "schedule --name 1f1b --stages 2 --microbatches 2 --forward 1ms "
                                  "--input-grad 1ms --weight-grad 1ms --cross 1ms",
                                  "show missing.db"})
    {
        const Call call = Run(arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_THAT(call.err, testing::StartsWith("scaleacross: error: ")) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
    }
    EXPECT_THAT(Run("run study.yaml --engine flow").err, HasSubstr("reserved"));
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

TEST_F(Commands, AFileThatIsNoDatabaseIsLeftAlone)
{
    Write("notes.db", std::string(200, 'x'));
    const Call call = Run("explore study.yaml --db notes.db");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("not a database"));
    EXPECT_EQ(Read("notes.db"), std::string(200, 'x'));
    EXPECT_EQ(Run("explore study.yaml --db no/such/folder.db").code, 2);
}

} // namespace

} // namespace scaleacross
