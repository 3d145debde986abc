// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(Commands, ExplorePrintsItsKeys)
{
    const auto json = RunJson("explore study.yaml --db results.db --jobs 2");
    ExpectKeys(json,
               {"best",
                "baselines",
                "space",
                "evaluated",
                "ran",
                "pruned",
                "bound_s",
                "rejected",
                "seconds",
                "db",
                "gap",
                "one_site",
                "explanation"});
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
    EXPECT_EQ(json.at("ran").get<uint64_t>() + json.at("pruned").get<uint64_t>() + rejected,
              json.at("space").get<uint64_t>());
    // All were decided.
    EXPECT_EQ(json.at("evaluated"), json.at("space"));
    EXPECT_LE(json.at("bound_s").get<double>(),
              json.at("best").at("iteration_time_s").get<double>());
    EXPECT_FALSE(json.at("rejected").contains("duplicate"));
    EXPECT_EQ(json.at("optimal"), true);
    EXPECT_EQ(json.at("gap"), 0.0);
    EXPECT_GT(json.at("bound_slack").get<double>(), 0.0);
    EXPECT_GE(json.at("gap").get<double>(), 0);
    EXPECT_THAT(Files(), ElementsAre("results.db", "study.yaml"));
}

TEST_F(Commands, WhatPlansAreTakenWithoutIsTold)
{
    const std::string warning = "network.segment changes nothing: no message that has it goes by "
                                "segments";
    const std::string call = "explore study.yaml --db results.db --set network.segment=1MiB";
    EXPECT_THAT(Run(call).out, HasSubstr("Warning: " + warning));
    EXPECT_THAT(RunJson(call).at("warnings").dump(), HasSubstr(warning));
    EXPECT_THAT(Run(call + " --set network.balance=round-robin").out, Not(HasSubstr(warning)));
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
    const std::string set = " --set search.network.collective=[hierarchical,nccl]";
    auto first = RunJson("explore study.yaml" + set);
    auto second = RunJson("explore study.yaml --jobs 1" + set);
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

TEST_F(Commands, RunningEverythingGivesTheSameAnswer)
{
    // 32 plans begin before any time is known.
    const std::string explore = "explore study.yaml --db both.db --top 100 --keep 3 --set "
                                "search.network.qps=[1,2,4,8,16]";
    const auto usual = RunJson(explore);
    EXPECT_GT(usual.at("pruned"), 0);
    const auto all = RunJson(explore + " --exhaustive");
    EXPECT_EQ(all.at("pruned"), 0);
    EXPECT_EQ(all.at("ran").get<int>(), usual.at("ran").get<int>() + usual.at("pruned").get<int>());
    for (const char* key : {"best", "ranking", "pareto", "placements", "baselines", "optimal"})
    {
        EXPECT_EQ(all.at(key), usual.at(key)) << key;
    }
    EXPECT_EQ(Sql("both.db", "SELECT method FROM search ORDER BY id"), "best-first\nexhaustive");
    EXPECT_THAT(Run(explore + " --exhaustive").out,
                HasSubstr("all plans that can run were run, " +
                          std::to_string(all.at("ran").get<int>()) + ";"));
}

/// 16 GPUs at 2.5 an hour and 800 Gb/s over 10 km at 0.1: NICs of 400 Gb/s, a quarter of 8 of them.
TEST_F(Commands, RankedPlansHaveTheirGpuHoursAndCost)
{
    const auto bare = RunJson("explore study.yaml --db bare.db");
    EXPECT_FALSE(bare.at("best").contains("cost"));
    const std::string explore = "explore study.yaml --db priced.db --set prices.gpu_hour=2.5 --set "
                                "prices.span_tbps_km_hour=0.1";
    const auto json = RunJson(explore);
    const double tokens = 16 * 512; // global batch x sequence
    const auto check = [&](const nlohmann::json& plan) {
        const double hours = plan.at("iteration_time_s").get<double>() / 3600;
        const double perToken = 1e12 / tokens;
        EXPECT_DOUBLE_EQ(plan.at("gpu_hours"), 16 * hours);
        EXPECT_DOUBLE_EQ(plan.at("gpu_hours_per_1e12_tokens"), 16 * hours * perToken);
        EXPECT_DOUBLE_EQ(plan.at("cost"), (16 * 2.5 + 0.8 * 10 * 0.1) * hours);
        EXPECT_DOUBLE_EQ(plan.at("cost_per_1e12_tokens"),
                         (16 * 2.5 + 0.8 * 10 * 0.1) * hours * perToken);
    };
    check(json.at("best"));
    check(json.at("placements").at("pp"));
    check(json.at("baselines").at("production"));
    for (const auto& plan : json.at("ranking"))
    {
        check(plan);
    }
    // The value of every objective, of the best as its report has it.
    for (const char* key :
         {"iteration_time_s", "gpu_hours", "cost", "memory_bytes_max", "cross_building_bytes"})
    {
        EXPECT_EQ(json.at("ranking")[0].at(key), json.at("best").at(key)) << key;
    }
    EXPECT_TRUE(json.at("ranking")[0].at("memory_bytes_max").is_number_integer());
    EXPECT_FALSE(bare.at("ranking")[0].contains("cost"));
    const auto shown = RunJson("show priced.db").at("searches")[0].at("ranking");
    ASSERT_EQ(shown.size(), json.at("ranking").size());
    for (const auto& plan : shown)
    {
        check(plan);
    }
    EXPECT_THAT(Run(explore).out,
                HasSubstr("GPU-hours  for 1e12       cost  for 1e12    fastest\n"));
    EXPECT_THAT(Run("show bare.db").out, HasSubstr("GPU-hours  for 1e12    fastest\n"));
}

TEST_F(Commands, PlansAreRankedByTheObjective)
{
    const std::string explore = "explore study.yaml --db ranks.db --top 100 --set "
                                "baselines=[production,one-site] --set prices.gpu_hour=2 "
                                "--objective ";
    const auto time = RunJson(explore + "time");
    for (const char* word : {"cost", "gpu-hours"})
    {
        const auto json = RunJson(explore + word); // both follow the time
        EXPECT_EQ(json.at("ranking"), time.at("ranking"));
        EXPECT_EQ(json.at("objective"), word);
        EXPECT_EQ(json.at("bound_slack"), time.at("bound_slack"));
    }
    for (const auto& [word, figure] :
         {std::pair("memory", "memory_bytes_max"), {"bytes", "cross_building_bytes"}})
    {
        const auto json = RunJson(explore + word);
        EXPECT_EQ(json.at("optimal"), true);
        EXPECT_TRUE(json.at("best").at("probability_best").is_null());
        EXPECT_TRUE(json.at("bound_slack").is_null());
        EXPECT_TRUE(json.at("one_site").at("spread_overhead").is_null());
        const auto plans = RunJson("show ranks.db --top 100").at("searches")[0].at("ranking");
        ASSERT_EQ(plans.size(), time.at("ranking").size());
        for (size_t i = 1; i < plans.size(); i++)
        {
            EXPECT_LE(plans[i - 1].at(figure), plans[i].at(figure));
        }
        EXPECT_EQ(plans[0].at("plan").at("label"), json.at("best").at("plan").at("label"));
        EXPECT_THAT(Run(explore + word).out, HasSubstr(std::string("Best by ") + word + ": "));
        EXPECT_THAT(Run(explore + word).out, Not(HasSubstr(" fastest\n")));
    }
    const Call call = Run("explore study.yaml --objective cost");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("--objective cost: study small has no prices"));
    EXPECT_THAT(call.err, HasSubstr("write prices: {gpu_hour: 2.5} into it"));
    EXPECT_EQ(Run("explore study.yaml --pareto time,cost").code, 2);
    EXPECT_THAT(Run("explore study.yaml --objective speed").err,
                HasSubstr("time, gpu-hours, cost"));
    EXPECT_EQ(Run(explore + "memory --sweep cluster.cross.distance=1km,5km").code, 2);
    const Call nothing = Run("explore study.yaml --set prices.gpu_hour=0");
    EXPECT_EQ(nothing.code, 2);
    EXPECT_THAT(nothing.err, HasSubstr("nothing has a price"));
}

TEST_F(Commands, EveryPlanSaysWhatMakesItSlower)
{
    const auto json = RunJson("explore study.yaml --top 100");
    const auto& ranking = json.at("ranking");
    const double best = ranking[0].at("iteration_time_s");
    EXPECT_TRUE(ranking[0].at("differs").empty());
    ASSERT_GT(ranking.size(), 2);
    for (const auto& plan : ranking)
    {
        double sum = 0;
        for (const auto& part : plan.at("because"))
        {
            sum += part.get<double>();
        }
        EXPECT_NEAR(sum, plan.at("iteration_time_s").get<double>() - best, 1e-15);
        for (const auto& [field, values] : plan.at("differs").items())
        {
            EXPECT_EQ(values[1], json.at("best").at("plan").at(field)) << field;
            EXPECT_NE(values[0], values[1]) << field;
        }
    }
    EXPECT_FALSE(ranking[1].at("differs").empty());
    // PP-out, four layers over two stages.
    EXPECT_EQ(json.at("best").at("stages").at("layers"), (std::vector<int>{2, 2}));
    EXPECT_EQ(json.at("best").at("stages").at("of_buildings").at("building2"),
              (std::vector<int>{1}));
    const auto shown = RunJson("show small.db --top 100").at("searches")[0].at("ranking");
    const std::string text = Run("explore study.yaml").out;
    for (size_t i = 0; i < ranking.size(); i++)
    {
        EXPECT_EQ(shown[i].at("differs"), ranking[i].at("differs"));
        EXPECT_EQ(shown[i].at("because"), ranking[i].at("because"));
    }
    const std::string line = "\n  2: crossing dp (pp): ";
    EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(Run("show small.db").out,
                HasSubstr(text.substr(text.find(line), text.find("\n\nBest") - text.find(line))));
    EXPECT_THAT(Run("explore study.yaml --top 1").out, Not(HasSubstr("What differs")));
}

/// Whenever the time is up, what is said of the rest holds, and the same command goes on.
TEST_F(Commands, ASearchEndsWhenItsTimeIsUp)
{
    Write("long.yaml", g_longStudy);
    const std::string explore = "explore long.yaml --keep 1 --db ";
    const auto whole = RunJson(explore + "whole.db");
    EXPECT_EQ(whole.at("out_of_time"), false);
    const double best = whole.at("best").at("iteration_time_s");
    uint64_t ended = 0;
    for (const char* time : {"1us", "20ms", "100ms", "500ms", "3600s"})
    {
        const Call call =
            Run(explore + "parts.db --json --stop-after " + time); // each goes on from the last
        const auto json = nlohmann::json::parse(call.out);
        EXPECT_EQ(json.at("interrupted"), false);
        EXPECT_EQ(call.code, json.at("best").is_null() ? 1 : 0) << call.err;
        if (json.at("out_of_time"))
        {
            ended++;
            EXPECT_LT(json.at("looked_at"), json.at("combinations"));
        }
        if (!json.at("best").is_null() && !json.at("gap").is_null())
        {
            const double found = json.at("best").at("iteration_time_s");
            EXPECT_LE(found / best - 1, json.at("gap").get<double>() + 1e-12) << time;
        }
    }
    EXPECT_GE(ended, 1);
    // What has run is still known where the next call gets no further.
    const auto before = // nothing on a machine that is busy with something else
        nlohmann::json::parse(Run(explore + "again.db --stop-after 300ms --json").out).at("best");
    if (!before.is_null())
    {
        const auto again = RunJson(explore + "again.db --stop-after 1us");
        EXPECT_EQ(again.at("best").at("iteration_time_s"), before.at("iteration_time_s"));
    }
    const auto parts = RunJson(explore + "parts.db");
    EXPECT_EQ(parts.at("best"), whole.at("best"));
    EXPECT_EQ(parts.at("gap"), whole.at("gap"));
    const auto refuse = [this, &explore](const std::string& options, const std::string& text) {
        const Call call = Run(explore + "refused.db " + options);
        EXPECT_EQ(call.code, 2) << options;
        EXPECT_THAT(call.err, HasSubstr(text)) << options;
    };
    refuse("--stop-after 0s", "--stop-after: nothing is done in no time");
    refuse("--stop-after 20",
           "--stop-after: '20' has no unit\n  allowed: a time above 0, a number with a unit such "
           "as 20s "
           "(units: ps, ns, us, ms, s, min or h)\n  remedy: add the unit, as in 20s\n");
    refuse("--keep 0", "--keep: '0' is not in range\n  allowed: a whole number 1 to 1000000\n");
    refuse("--jobs 0", "--jobs: '0' is not in range\n  allowed: a whole number 1 to 4096\n");
    refuse("--stop-after 5s --shard 1/2", "--stop-after");
    refuse("--stop-after 5s --robust", "--stop-after");
    refuse("--stop-after 5s --sweep cluster.cross.distance=10km,20km", "--stop-after");
    EXPECT_THAT(Files(), Not(Contains("refused.db")));
}

/// However soon it ends, an answer is no slower than the baselines that were found whose plans its
/// space holds, nor than what an earlier call has found.
TEST_F(Commands, ALimitedSearchIsNoSlowerThanItsBaselines)
{
    Write("auto.yaml",
          "study: auto\n"
          "model: llama3-8b\n"
          "workload: {sequence: 2048, global_batch: 64}\n"
          "cluster:\n"
          "  buildings: {count: 2, gpus: 16, gpu: h100, fabric: {spines: 4}}\n"
          "  cross: {distance: 30km, oversubscription: 4}\n"
          "baselines: [megatron]\n");
    double before = std::numeric_limits<double>::infinity();
    for (const char* time : {"200ms", "1s", "2s"})
    {
        const auto json = nlohmann::json::parse(
            Run("explore auto.yaml --db parts.db --json --stop-after " + std::string(time)).out);
        if (json.at("best").is_null())
        {
            continue; // a machine that is busy with something else
        }
        const double found = json.at("best").at("iteration_time_s");
        EXPECT_LE(found, before) << time;
        before = found;
        const auto& megatron = json.at("baselines").at("megatron");
        if (megatron.contains("iteration_time_s"))
        {
            EXPECT_TRUE(megatron.at("outside").empty()) << megatron.at("outside");
            EXPECT_LE(found, megatron.at("iteration_time_s")) << time;
        }
    }
}

/// What a search has run ahead of its turn changes nothing of its answer.
TEST_F(Commands, ALimitDoesNotChangeTheWholeAnswer)
{
    Write("long.yaml", g_longStudy + std::string("baselines: [production, megatron]\n"));
    const std::string explore = "explore long.yaml --db ";
    for (const char* time : {"300ms", "1s"})
    {
        Run(explore + "parts.db --stop-after " + time);
    }
    const auto parts = RunJson(explore + "parts.db");
    const auto whole = RunJson(explore + "whole.db");
    for (const char* same : {"best", "ranking", "baselines", "space", "gap", "ran", "pruned"})
    {
        EXPECT_EQ(parts.at(same), whole.at(same)) << same;
    }
}

/// What a search has found when its time is up is not taken for the answer of one building.
TEST_F(Commands, ABaselineIsOfASearchThatHasEnded)
{
    const std::string explore =
        "explore study.yaml --db one.db --set 'cluster.buildings={count: 1, gpus: 16, "
        "gpus_per_node: 4, gpu: h100, fabric: {rails: true, spines: 1}}' --set "
        "'baselines=[one-site, production]' ";
    for (const char* time : {"1us", "2ms", "5ms"})
    {
        Run(explore + "--stop-after " + time);
    }
    const auto whole = RunJson(explore);
    EXPECT_EQ(whole.at("one_site").at("iteration_time_s"), whole.at("best").at("iteration_time_s"));
    EXPECT_TRUE(whole.at("baselines").at("production").contains("iteration_time_s"));
}

/// A front holds no plan that another of it beats, and every search has its own.
TEST_F(Commands, TheFrontIsOfWhatIsAskedFor)
{
    const std::string explore = "explore study.yaml --db fronts.db";
    const auto usual = RunJson(explore);
    EXPECT_EQ(usual.at("pareto_of"), "none");
    for (const std::string front :
         {"time,memory", "time+0.5,memory", "time,memory,bytes", "memory,bytes"})
    {
        const auto json = RunJson(explore + " --pareto " + front);
        EXPECT_EQ(json.at("pareto_of"), front);
        EXPECT_EQ(json.at("best"), usual.at("best"));
        EXPECT_EQ(json.at("ranking"), usual.at("ranking"));
        const auto& plans = json.at("pareto");
        ASSERT_FALSE(plans.empty());
        for (const auto& a : plans)
        {
            for (const auto& b : plans)
            {
                bool better = a.at("label") == b.at("label");
                for (const auto& [objective, value] : a.at("values").items())
                {
                    better = better || value < b.at("values").at(objective);
                }
                EXPECT_TRUE(better) << a << " beside " << b;
            }
        }
    }
    EXPECT_TRUE(RunJson(explore + " --pareto none").at("pareto").empty());
    std::set<std::string> shown;
    const auto searches = RunJson("show fronts.db").at("searches");
    for (const auto& search : searches)
    {
        shown.insert(search.at("pareto_of").get<std::string>());
    }
    EXPECT_EQ(shown,
              (std::set<std::string>{"memory,bytes",
                                     "none",
                                     "time+0.5,memory",
                                     "time,memory",
                                     "time,memory,bytes"}));
    const Call call = Run(explore + " --pareto time,speed");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("--pareto: 'speed'"));
    EXPECT_THAT(call.err, HasSubstr("time, gpu-hours, cost, memory or bytes"));
}

TEST_F(Commands, ExploreWithoutAPlanThatRunsFails)
{
    const Call call = Run("explore study.yaml --json --set search.plan.crossing=[pp] "
                          "--set search.plan.pp=[1]");
    EXPECT_EQ(call.code, 1);
    EXPECT_TRUE(nlohmann::json::parse(call.out).at("best").is_null());
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

/// The oracle is the study that one would write for one building of 16 GPUs.
TEST_F(Commands, OneSiteTellsWhatBeingSpreadOutCosts)
{
    EXPECT_TRUE(RunJson("explore study.yaml").at("one_site").is_null());
    const std::string set = " --set baselines=[one-site,production]";
    const auto json = RunJson("explore study.yaml --db sites.db" + set);
    std::string text = g_smallStudy;
    const std::string two = "{count: 2, gpus: 8,";
    const std::string cross = "  cross: {distance: 10km, oversubscription: 4}\n";
    text.replace(text.find(two), two.size(), "{count: 1, gpus: 16,");
    text.erase(text.find(cross), cross.size());
    Write("one.yaml", text);
    const auto one = RunJson("explore one.yaml --db one.db" + set);
    const auto& site = json.at("one_site");
    EXPECT_EQ(site.at("iteration_time_s"), one.at("best").at("iteration_time_s"));
    EXPECT_EQ(site.at("plan").at("label"), one.at("best").at("plan").at("label"));
    EXPECT_EQ(site.at("cross_building_bytes"), 0);
    const double spread = json.at("best").at("iteration_time_s");
    EXPECT_NEAR(site.at("spread_overhead").get<double>(),
                spread / one.at("best").at("iteration_time_s").get<double>() - 1,
                1e-12);
    EXPECT_GT(site.at("spread_overhead").get<double>(),
              0.0); // the span has a quarter of the NICs' capacity
    EXPECT_FALSE(json.at("baselines").contains("one-site"));
    EXPECT_TRUE(json.at("baselines").contains("production"));
    // Of one building the reference is the best plan itself.
    EXPECT_EQ(one.at("one_site").at("spread_overhead"), 0.0);
    EXPECT_EQ(one.at("one_site").at("iteration_time_s"), one.at("best").at("iteration_time_s"));
    EXPECT_THAT(Run("explore study.yaml --db sites.db" + set).out,
                HasSubstr("All GPUs in one building (fabric and NICs of building1): "));
    EXPECT_THAT(Run("explore one.yaml --db one.db" + set).out,
                HasSubstr("Being spread out costs nothing"));
}

/// Its run is kept apart from the runs of the study's cluster, where the same plan takes longer.
TEST_F(Commands, OneSiteIsStoredAndShown)
{
    const std::string explore =
        "explore study.yaml --db sites.db --top 100 --set baselines=[one-site]";
    const auto first = RunJson(explore);
    const auto again = RunJson(explore);
    EXPECT_EQ(again.at("one_site"), first.at("one_site"));
    EXPECT_EQ(again.at("ranking"), first.at("ranking"));
    const auto shown = RunJson("show sites.db").at("searches")[0];
    EXPECT_EQ(shown.at("one_site").at("iteration_time_s"),
              first.at("one_site").at("iteration_time_s"));
    EXPECT_EQ(shown.at("one_site").at("spread_overhead"),
              first.at("one_site").at("spread_overhead"));
    EXPECT_TRUE(shown.at("baselines").empty());
    EXPECT_THAT(Run("show sites.db").out, HasSubstr("being spread out costs "));
    // What the database says is what counts.
    Sql("sites.db", "UPDATE baseline SET run_id = NULL, reason = 'building', detail = 'as stored'");
    const auto stored = RunJson(explore).at("one_site");
    EXPECT_EQ(stored.at("infeasible").at("detail"), "as stored");
    EXPECT_TRUE(stored.at("spread_overhead").is_null());
    EXPECT_TRUE(stored.at("plan").is_null());
}

/// The oracles are the studies that one would write for one building of 16 H100, and of 16 H200:
/// these have the same peak and differ in memory.
TEST_F(Commands, OneSiteOfDifferentGpusIsTheBestOfTheirKinds)
{
    const std::string two = "{count: 2, gpus: 8, gpus_per_node: 4, gpu: h100, "
                            "fabric: {rails: true, spines: 2}}";
    const std::string cross = "  cross: {distance: 10km, oversubscription: 4}\n";
    const std::string rest = "gpus_per_node: 4, fabric: {rails: true, spines: 2}";
    double best = std::numeric_limits<double>::infinity();
    for (const std::string gpu : {"h100", "h200"})
    {
        std::string one = g_smallStudy;
        one.replace(one.find(two),
                    two.size(),
                    "[{name: x, gpus: 16, gpu: " + gpu + ", " + rest + "}]");
        one.erase(one.find(cross), cross.size());
        Write(gpu + ".yaml", one);
        best = std::min(
            best,
            RunJson("explore " + gpu + ".yaml").at("best").at("iteration_time_s").get<double>());
    }
    std::string text = g_smallStudy;
    ASSERT_NE(text.find(two), std::string::npos);
    text.replace(text.find(two),
                 two.size(),
                 "[{name: north, gpus: 8, gpu: h100, " + rest +
                     "}, {name: south, gpus: 8, gpu: h200, " + rest + "}]");
    Write("study.yaml", text);
    const std::string explore = "explore study.yaml --db kinds.db --set baselines=[one-site]";
    const auto json = RunJson(explore);
    const auto& site = json.at("one_site");
    EXPECT_EQ(site.at("iteration_time_s"), best);
    EXPECT_NEAR(site.at("spread_overhead").get<double>(),
                json.at("best").at("iteration_time_s").get<double>() / best - 1,
                1e-12);
    EXPECT_THAT(site.at("assumed").get<std::string>(),
                testing::AllOf(HasSubstr("16 h"),
                               HasSubstr("whose peak all GPUs of the study have"),
                               HasSubstr("memory"),
                               HasSubstr("; with h")));
    EXPECT_THAT(Run(explore).out, HasSubstr("All GPUs in one building (16 h"));
    // The database has it.
    EXPECT_EQ(RunJson(explore).at("one_site"), site);
    const auto shown = RunJson("show kinds.db").at("searches")[0].at("one_site");
    EXPECT_EQ(shown.at("assumed"), site.at("assumed"));
    EXPECT_EQ(shown.at("spread_overhead"), site.at("spread_overhead"));
    // `require` compares with the same site.
    const auto required = RunJson("require study.yaml --loss 50% --of distance").at("one_site");
    EXPECT_EQ(required.at("iteration_time_s"), best);
    EXPECT_THAT(required.at("assumed").get<std::string>(), HasSubstr("16 h"));
}

/// What the errors of the first engine tell apart needs no other; of the same work one is enough.
TEST_F(Commands, ExploreChecksOnFurtherEnginesWhatTheFirstDoesNotTellApart)
{
    Write("study.yaml", std::string(g_smallStudy) + "engines: [analytical, packet]\n");
    const std::string close =
        "explore study.yaml --set 'search.plan.schedule=[1f1b, zb-h1, zb1p]' ";
    const auto json = RunJson(close + "--verify 20");
    std::vector<std::string> expected;
    size_t left = 0;
    for (const auto& plan : json.at("ranking"))
    {
        const auto& slower = plan.at("probability_slower");
        const bool apart = slower.is_number() && slower.get<double>() >= json.at("sure");
        const bool same = !plan.at("same_as").is_null();
        left += apart || same ? 1 : 0;
        if (!apart && !same)
        {
            expected.insert(expected.end(), 2, plan.at("label")); // on each engine
        }
    }
    std::vector<std::string> checked;
    for (const auto& check : json.at("checks"))
    {
        checked.push_back(check.at("plan").at("label"));
    }
    EXPECT_EQ(checked, expected);
    EXPECT_GE(checked.size(), 4U);
    EXPECT_GE(left, 1U);
    EXPECT_EQ(RunJson(close + "--verify 1").at("checks").size(), 2U);
    EXPECT_TRUE(RunJson(close + "--verify 0").at("checks").empty());
    // Which is the fastest by packets can be read off their times.
    std::string fastest;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& check : json.at("checks"))
    {
        const double time = check.at("iteration_time_s");
        if (check.at("engine") == "packet" && time < least)
        {
            least = time;
            fastest = check.at("plan").at("label");
        }
    }
    const std::string verdict =
        fastest == expected.front() ? "the best plan is the fastest" : fastest + " is the fastest";
    EXPECT_THAT(Run(close + "--verify 20").out,
                HasSubstr("\nBy the packet engine " + verdict + " of these " +
                          std::to_string(expected.size() / 2)));
    // One alone is not compared.
    EXPECT_THAT(Run(close + "--verify 1").out, Not(HasSubstr("By the packet engine")));
}

/// A file of corrections that has none for this network: the search does not need them.
TEST_F(Commands, AFurtherEngineThatRefusesPlansLeavesTheRanking)
{
    Write("none.json", R"({"corrections": 2, "sets": []})");
    const std::string explore = "explore study.yaml --set ";
    const std::string refusing = "'engines=[analytical, \"mine=corrected:none.json\"]'";
    const auto json = RunJson(explore + refusing);
    EXPECT_EQ(json.at("ranking"), RunJson(explore + "engines=[analytical]").at("ranking"));
    ASSERT_GE(json.at("checks").size(), 2U);
    EXPECT_EQ(json.at("checks")[1].at("engine"), "mine");
    EXPECT_EQ(json.at("checks")[1].at("infeasible").at("reason"), "unsupported");
    const Call alone = Run(explore + refusing);
    EXPECT_EQ(alone.code, 0) << alone.err;
    EXPECT_THAT(alone.out, HasSubstr("Not checked by another engine.\nRefused by mine, "));
    EXPECT_THAT(alone.out, HasSubstr("none.json: it has no corrections for this cluster"));
    // Beside it, one that runs.
    const Call both = Run(explore + "'engines=[analytical, flow, \"mine=corrected:none.json\"]'");
    EXPECT_EQ(both.code, 0) << both.err;
    EXPECT_THAT(both.out, HasSubstr("The best by every engine of the study"));
    EXPECT_THAT(both.out, HasSubstr("Refused by mine, "));
}

/// However many names a plan has, it is as sure to be slower as by any of them.
TEST_F(Commands, TheSameWorkIsAsSureByEveryName)
{
    const auto ranking =
        RunJson("explore study.yaml --set 'search.network.collective=[ring, tree, auto]' --top 100")
            .at("ranking");
    size_t twins = 0;
    for (const auto& plan : ranking)
    {
        const auto& same = plan.at("same_as");
        if (!same.is_null() && same.get<size_t>() > 1)
        {
            EXPECT_EQ(plan.at("probability_slower"),
                      ranking.at(same.get<size_t>() - 1).at("probability_slower"))
                << plan.at("label");
            twins++;
        }
    }
    EXPECT_GE(twins, 1U);
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
    const std::string options = " --set plan.sharding=fsdp --keep 100 --top 100";
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

TEST_F(Commands, AFileThatIsNoDatabaseIsLeftAlone)
{
    Write("notes.db", std::string(200, 'x'));
    const Call call = Run("explore study.yaml --db notes.db");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("not a database"));
    EXPECT_EQ(Read("notes.db"), std::string(200, 'x'));
    EXPECT_EQ(Run("explore study.yaml --db no/such/folder.db").code, 2);
}

/// 93 plans run of which few are kept: a file with them, without what the others took.
TEST_F(Commands, WhatIsNotKeptTakesNoSpace)
{
    Write("many.yaml", g_longStudy);
    for (const char* keep : {"1000", "5"})
    {
        const std::string db = std::string(keep) + ".db";
        EXPECT_EQ(Run("explore many.yaml --db " + db + " --keep " + keep).code, 0);
        EXPECT_EQ(Sql(db, "PRAGMA auto_vacuum; PRAGMA freelist_count"), "2\n0");
        EXPECT_EQ(
            std::to_string(std::filesystem::file_size(folder / db)),
            Sql(db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"));
    }
    const auto runs = [this](const std::string& db) {
        return std::stod(Sql(db, "SELECT count(*) FROM run"));
    };
    const auto size = [this](const std::string& db) {
        return static_cast<double>(std::filesystem::file_size(folder / db));
    };
    // A fourth of the runs, and tables and indices that both have.
    EXPECT_LT(runs("5.db"), runs("1000.db") / 4);
    EXPECT_LT(size("5.db"), size("1000.db") / 2);
}

} // namespace

} // namespace scaleacross
