// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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

/// Searches of one study that differ in what was set are told apart.
TEST_F(Commands, ShowSaysWhatWasChanged)
{
    const std::string explore = "explore study.yaml --db a.db ";
    EXPECT_EQ(Run(explore).code, 0);
    EXPECT_THAT(Run("show a.db").out, HasSubstr("small (analytical engine): "));
    EXPECT_EQ(RunJson("show a.db")["searches"][0]["settings"], nlohmann::json::object());
    // Of one key what is said last holds.
    EXPECT_EQ(Run(explore + "--set workload.global_batch=64 --set cluster.cross.distance=1km --set "
                            "workload.global_batch=32 --sweep cluster.cross.oversubscription=2,8")
                  .code,
              0);
    EXPECT_EQ(Sql("a.db", "SELECT DISTINCT IFNULL(changes, '-') FROM ranking ORDER BY search_id"),
              "-\n"
              "cluster.cross.distance=1km, workload.global_batch=32, "
              "cluster.cross.oversubscription=2\n"
              "cluster.cross.distance=1km, workload.global_batch=32, "
              "cluster.cross.oversubscription=8");
    EXPECT_EQ(Sql("a.db", "SELECT count(*) FROM search WHERE settings IS NULL"), "1");
    const auto set = RunJson("show a.db --search 3")["searches"][0]["settings"];
    EXPECT_EQ(set,
              (nlohmann::json{{"cluster.cross.distance", "1km"},
                              {"workload.global_batch", "32"},
                              {"cluster.cross.oversubscription", "8"}}));
    EXPECT_THAT(Run("show a.db").out,
                ContainsRegex("\n +3 +small, cluster.cross.distance=1km, "
                              "workload.global_batch=32, cluster.cross.oversubscription=8 +"));
    EXPECT_THAT(Run("show a.db --search 2").out,
                HasSubstr("small, cluster.cross.distance=1km, workload.global_batch=32, "
                          "cluster.cross.oversubscription=2 (analytical engine): "));
    // And so are parts of one.
    EXPECT_EQ(Run(explore + "--shard 2/3").code, 0);
    EXPECT_THAT(Run("show a.db --search 4").out,
                AllOf(HasSubstr("small, shard 2/3 (analytical engine): "),
                      HasSubstr("\na shard: merge puts it together"),
                      Not(HasSubstr("not concluded"))));
    for (const auto& search : RunJson("show a.db")["searches"])
    {
        EXPECT_EQ(search["shard"],
                  search["search"] == 4 ? nlohmann::json({{"index", 2}, {"count", 3}})
                                        : nlohmann::json());
    }
}

/// And so are those that differ in what was asked for.
TEST_F(Commands, ShowSaysWhatWasAskedFor)
{
    const std::string explore = "explore study.yaml --db a.db ";
    std::vector<std::pair<std::string, std::string>> asked = {
        {"", "small"},
        {"--keep 5", "small, keep 5"},
        {"--objective memory --pareto time,memory", "small, objective memory, pareto time,memory"},
        {"--gap 1%", "small, gap 0.01"},
        {"--rest-gap 1%", "small, rest gap 0.01"},
        {"--exhaustive --set network.qps=8", "small, network.qps=8, exhaustive"}};
    for (size_t i = 0; i < asked.size(); i++)
    {
        EXPECT_EQ(Run(explore + asked[i].first).code, 0);
        EXPECT_THAT(Run("show a.db --search " + std::to_string(i + 1)).out,
                    HasSubstr(asked[i].second + " (analytical engine): "));
    }
    const std::string list = Run("show a.db --search 1").out;
    for (const auto& [options, name] : asked)
    {
        EXPECT_THAT(list, HasSubstr("  " + name + "  "));
    }
    for (const auto& search : RunJson("show a.db")["searches"])
    {
        EXPECT_EQ(search["keep"], search["search"] == 2 ? 5 : 100);
        EXPECT_EQ(search["method"], search["search"] == 5 ? "exhaustive" : "best-first");
    }
}

/// Whoever only reads a database leaves nothing beside it, nor anything changed in it.
TEST_F(Commands, ReadingLeavesNothingBehind)
{
    EXPECT_EQ(Run("explore study.yaml --db a.db").code, 0);
    const std::string before = Read("a.db");
    EXPECT_EQ(Run("show a.db").code, 0);
    EXPECT_EQ(Run("export a.db --csv").code, 0);
    EXPECT_THAT(Files(), ElementsAre("a.db", "study.yaml"));
    EXPECT_EQ(Read("a.db"), before);
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
    // Without checks, of which `show` has rows in the ranking.
    const std::string unlimited = "explore study.yaml --set workload.memory_limit=false --verify 0";
    const std::string explored = Run(unlimited).out;
    EXPECT_THAT(explored, HasSubstr("  fits\n"));
    EXPECT_THAT(explored, HasSubstr("\nWarning: memory: stage "));
    EXPECT_EQ(RankingLines(Run("show small.db --search 1").out), RankingLines(explored));
    const auto json = RunJson(unlimited);
    const auto search = RunJson("show small.db").at("searches")[0];
    ASSERT_EQ(search.at("ranking").size(), json.at("ranking").size());
    for (size_t i = 0; i < json.at("ranking").size(); i++)
    {
        EXPECT_EQ(search.at("ranking")[i].at("warnings"), json.at("ranking")[i].at("warnings"));
        EXPECT_EQ(json.at("ranking")[i].at("warnings").size(), 1U);
    }
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
    // Without checks, so that the only one is that of `compare`.
    const std::string explored = Run("explore study.yaml --verify 0").out;
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
}

TEST_F(Commands, ShowResolvesAStudy)
{
    const auto json = RunJson("show study.yaml --set plan.tp=2");
    ExpectKeys(json, {"study", "scenario", "search", "plans", "baselines", "engines", "seed"});
    EXPECT_EQ(json.at("plans"), 16);
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

/// By one name in all places: those of the study, which its events have too.
TEST_F(Commands, ShowCallsSitesAsTheStudyDoes)
{
    std::string study = g_smallStudy;
    const std::string cluster = "  buildings: {count: 2, gpus: 8, gpus_per_node: 4, gpu: h100, "
                                "fabric: {rails: true, spines: 2}}\n"
                                "  cross: {distance: 10km, oversubscription: 4}\n";
    study.replace(
        study.find(cluster),
        cluster.size(),
        "  buildings:\n    - {name: east, gpus: 8, gpus_per_node: 4, gpu: h100}\n"
        "    - {name: west, gpus: 8, gpus_per_node: 4, gpu: h100}\n  hubs: [fairbanks]\n"
        "  links:\n    - {between: [east, fairbanks], distance: 10km, capacity: 800Gbps}\n"
        "    - {between: [west, fairbanks], distance: 10km, capacity: 800Gbps}\n");
    Write("hub.yaml",
          study + "events: [{kind: switch-failure, target: fairbanks/agg0, at: 1ms}]\n");
    const std::string said = RunJson("show hub.yaml").at("scenario").dump();
    for (const char* name : {"east", "west", "fairbanks", "fairbanks/agg0"})
    {
        EXPECT_THAT(said, HasSubstr(std::string("\"") + name + "\""));
    }
    EXPECT_THAT(said, Not(HasSubstr("building1")));
    EXPECT_THAT(said, Not(HasSubstr("hub1")));
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

} // namespace

} // namespace scaleacross
