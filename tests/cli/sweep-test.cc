// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

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

/// A warning that all points share is printed once, and kept in each row.
TEST_F(Commands, SweepsTellWhatTheirPointsWarnOf)
{
    const std::string lossy = "explore study.yaml --set cluster.cross.loss=1e-4 --set "
                              "network.multipath=spray-rr --set network.recovery=selective-repeat "
                              "--sweep cluster.cross.distance=1km,3km";
    const std::string warned = "Warning: network.multipath spray-rr";
    for (const std::string second : {"", " --sweep cluster.cross.oversubscription=2,4"})
    {
        const Call call = Run(lossy + second + " --csv rows.csv");
        const size_t first = call.out.find(warned);
        ASSERT_NE(first, std::string::npos) << call.out;
        EXPECT_EQ(call.out.find(warned, first + 1), std::string::npos);
        const std::string rows = Read("rows.csv");
        EXPECT_THAT(rows.substr(0, rows.find('\n')), HasSubstr("warnings"));
        EXPECT_THAT(rows.substr(rows.find('\n')), HasSubstr("network.multipath spray-rr"));
    }
}

TEST_F(Commands, SweepChecksEveryValueFirst)
{
    const Call call = Run("explore study.yaml --sweep cluster.cross.distance=10km,fast");
    EXPECT_EQ(call.code, 2);
    EXPECT_THAT(call.err, HasSubstr("fast"));
    EXPECT_EQ(Run("explore study.yaml --sweep nonsense").code, 2);
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

/// Standard input can be read once, and what it says is a study at every point, and without them.
TEST_F(Commands, SweepsAStudyThatIsPiped)
{
    const std::string sweep = " --sweep cluster.cross.distance=1km,10km";
    const auto named = RunJson("explore study.yaml --db named.db" + sweep);
    const auto piped = RunJson("explore - --db piped.db" + sweep + " <study.yaml");
    EXPECT_EQ(piped.at("as_written"), (nlohmann::json{{"cluster.cross.distance", "10km"}}));
    for (const char* key : {"as_written", "flips", "fastest"})
    {
        EXPECT_EQ(piped.at(key), named.at(key)) << key;
    }
    EXPECT_EQ(RunJson("explore - --db set.db --set cluster.cross.distance=10000m <study.yaml")
                  .at("settings"),
              nlohmann::json::object());
}

TEST_F(Commands, SweepsOfTwoSettingsAreAGrid)
{
    const std::string sweeps = "explore study.yaml --sweep cluster.cross.distance=1km,300km "
                               "--sweep cluster.cross.oversubscription=1,64,1000";
    const auto json = RunJson(sweeps);
    ExpectKeys(json, {"sweeps", "points", "flips"});
    EXPECT_EQ(json.at("sweeps")[1].at("key"), "cluster.cross.oversubscription");
    EXPECT_THAT(json.at("sweeps")[1].at("values"), ElementsAre("1", "64", "1000"));
    ASSERT_EQ(json.at("points").size(), 6U);
    for (const auto& point : json.at("points"))
    {
        ExpectKeys(point, {"at", "winner", "margin", "probability", "best", "placements"});
    }
    // The last runs fastest, and a row is what one sweep along it gives.
    EXPECT_EQ(json.at("points")[4].at("at"),
              (nlohmann::json{{"cluster.cross.distance", "300km"},
                              {"cluster.cross.oversubscription", "64"}}));
    const auto row = RunJson("explore study.yaml --set cluster.cross.distance=300km "
                             "--sweep cluster.cross.oversubscription=1,64,1000");
    for (size_t i = 0; i < 3; i++)
    {
        for (const char* key : {"winner", "margin", "probability", "placements"})
        {
            EXPECT_EQ(json.at("points")[3 + i].at(key), row.at("values")[i].at(key));
        }
    }
    size_t flips = 0;
    for (const auto& flip : json.at("flips"))
    {
        EXPECT_EQ(flip.at("along"), "cluster.cross.oversubscription");
        flips += flip.at("at").at("cluster.cross.distance") == "300km" ? 1 : 0;
    }
    EXPECT_EQ(flips, row.at("flips").size());
    const Call call = Run(sweeps);
    EXPECT_THAT(call.out, HasSubstr("cluster.cross.distance"));
    EXPECT_THAT(call.out, HasSubstr("to the right: cluster.cross.oversubscription"));
}

TEST_F(Commands, SweepsOfThreeSettingsAreSeveralGrids)
{
    const std::string sweeps = "explore study.yaml --sweep network.qps=4,16 "
                               "--sweep cluster.cross.distance=1km,30km "
                               "--sweep cluster.cross.oversubscription=1,64";
    EXPECT_EQ(RunJson(sweeps).at("points").size(), 8U);
    const Call call = Run(sweeps);
    EXPECT_THAT(call.out, HasSubstr("network.qps=4\n"));
    EXPECT_THAT(call.out, HasSubstr("network.qps=16\n"));
}

/// Of the best plan, as a search by itself has it.
TEST_F(Commands, SweepsHaveWhatTheBestCosts)
{
    const std::string prices = "--set prices.gpu_hour=2.5 ";
    const Call call =
        Run("explore study.yaml " + prices + "--sweep cluster.cross.distance=10km,20km");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("cost  for 1e12  best plan\n"));
    const auto best = RunJson("explore study.yaml " + prices + "--db own.db").at("best");
    char cost[64];
    std::snprintf(cost,
                  sizeof(cost),
                  "  %.4g  %8.0f  ",
                  best.at("cost").get<double>(),
                  best.at("cost_per_1e12_tokens").get<double>());
    EXPECT_THAT(call.out, HasSubstr(cost));
    EXPECT_THAT(Run("explore study.yaml --sweep cluster.cross.distance=10km,20km").out,
                testing::Not(HasSubstr("cost")));
    // Where prices themselves are swept, a point without any has none.
    EXPECT_THAT(Run("explore study.yaml --sweep prices.gpu_hour=1,2").out, HasSubstr("cost"));
}

/// What other words say of a value is the same question.
TEST_F(Commands, SweepsTakeEveryValueOnce)
{
    const auto refuse = [this](const std::string& sweeps, const std::string& says) {
        const Call call = Run("explore study.yaml " + sweeps);
        EXPECT_EQ(call.code, 2) << sweeps;
        EXPECT_THAT(call.err, HasSubstr(says)) << sweeps;
    };
    refuse("--sweep cluster.cross.distance=1km,2km,1000m",
           "'1km' and '1000m' make the same study\n  allowed: every value once");
    refuse("--sweep network.qps=4,8 --sweep cluster.cross.oversubscription=2,2.0",
           "--sweep cluster.cross.oversubscription=2,2.0: '2' and '2.0' make the same study");
    refuse("--sweep cluster.cross.distance=1km,1000m --sweep network.qps=4,8", "'1km' and '1000m'");
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
    // Blanks around commas say nothing.
    const auto json = RunJson("explore study.yaml --sweep 'network.qps=4, 8'");
    EXPECT_EQ(json.at("values")[1].at("value"), "8");
    EXPECT_EQ(json.at("interrupted"), false);
}

TEST_F(Commands, SweepsThatMakeNoGridAreRefused)
{
    const auto refuse = [this](const std::string& sweeps, const std::string& says) {
        const Call call = Run("explore study.yaml " + sweeps);
        EXPECT_EQ(call.code, 2) << sweeps;
        EXPECT_THAT(call.err, HasSubstr(says)) << sweeps;
    };
    const std::string first = "--sweep cluster.cross.distance=1km,30km ";
    refuse(first + "--sweep cluster.cross.distance=2km", "another sweep of cluster.cross.distance");
    refuse(first + "--sweep cluster.cross.oversubscription=1,fast", "fast");
    refuse(first + "--sweep plan.tp=2,4", "search.plan.tp sets this for every plan");
    refuse(first + "--sweep network.qps", "this is not KEY=VALUE");
    refuse("--sweep foo.bar=1,2", "error: --sweep foo.bar=1 'foo': the key is not known");
    refuse("--set foo.bar=1 --sweep network.qps=4,8", "error: --set foo.bar=1 'foo': the key");
    refuse("--sweep cluster.cross.distance=0.5x,2x",
           "a factor is for keys with *, such as cluster.links.*.distance=0.5x");
    refuse(first + "--sweep network.qps=4,4", "'4' is given twice");
    std::string many;
    for (int i = 1; i <= 101; i++)
    {
        many += (i == 1 ? "" : ",") + std::to_string(i);
    }
    refuse("--sweep network.retries=" + many + " --sweep network.qps=" + many,
           "allowed: up to 10000");
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

/// Both buildings are alike, so that either stands for the other.
TEST_F(Commands, SweepsThePartsOfACluster)
{
    const std::string command = "explore study.yaml --sweep cluster.use=";
    const auto json = RunJson(command + "auto");
    ASSERT_EQ(json.at("values").size(), 2U);
    EXPECT_EQ(json.at("values")[0].at("value"), "building1+building2");
    EXPECT_EQ(json.at("values")[1].at("value"), "building1");
    EXPECT_TRUE(json.at("flips").empty());
    // In one building nothing crosses, and no placement wins.
    EXPECT_FALSE(json.at("values")[0].at("winner").is_null());
    for (const std::string key : {"winner", "margin", "probability", "placement_probability"})
    {
        EXPECT_TRUE(json.at("values")[1].at(key).is_null()) << key;
    }
    EXPECT_THAT(Run(command + "auto").out, HasSubstr("nothing crosses"));
    // As if that were the study.
    EXPECT_EQ(json.at("values")[0].at("best").at("iteration_time_s"),
              RunJson("explore study.yaml").at("best").at("iteration_time_s"));
    EXPECT_EQ(json.at("values")[1].at("best").at("iteration_time_s"),
              RunJson("explore study.yaml --set cluster.buildings.count=1")
                  .at("best")
                  .at("iteration_time_s"));
    const std::string text = Run(command + "auto").out;
    EXPECT_THAT(text, HasSubstr("Fastest at cluster.use=building1"));
    EXPECT_THAT(text, Not(HasSubstr("flip")));
    // What another sweep sets may tell them apart.
    const auto grid =
        RunJson(command + "auto --sweep cluster.buildings.gpus_per_node=4,8").at("points");
    EXPECT_EQ(grid.size(), 2U * 4U);
    const auto wrong = Run(command + "building1,building3");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("there is no building 'building3'"));
    EXPECT_EQ(json.at("fastest"),
              text.substr(text.find("Fastest at cluster.use=") + 23)
                  .substr(0, json.at("fastest").get<std::string>().size()));
}

/// What the plan's degrees do not divide is left out, and that is said.
TEST_F(Commands, SweepsOnlyPartsThatThePlanFits)
{
    Write("study.yaml",
          "study: three\n"
          "model: {name: tiny, layers: 6, hidden: 512, heads: 8, head_dim: 64, dense_ffn: 2048, "
          "vocabulary: 4096}\n"
          "workload: {sequence: 512, global_batch: 24}\n"
          "cluster:\n"
          "  buildings: {count: 3, gpus: 8, gpu: h100}\n"
          "  cross: {distance: 10km, oversubscription: 4}\n"
          "plan: {tp: 8, pp: 3, crossing: pp}\n"
          "search: {}\n"
          "uncertain: {distance: {values: [10km, 30km], shares: [0.9, 0.1]}}\n");
    const auto swept = Run("explore study.yaml --sweep cluster.use=auto --json");
    EXPECT_EQ(swept.code, 0) << swept.err;
    const auto json = nlohmann::json::parse(swept.out);
    ASSERT_EQ(json.at("values").size(), 1U);
    EXPECT_EQ(json.at("fastest"), "building1+building2+building3");
    EXPECT_THAT(swept.err, HasSubstr("building1+building2 is left out: "));
    EXPECT_THAT(swept.err, HasSubstr("building1 is left out: "));
    // One building of a study with uncertain spans has none.
    EXPECT_EQ(Run("explore study.yaml --set plan.pp=1 --set cluster.use=building2").code, 0);
    const auto none = Run("explore study.yaml --set plan.pp=5 --sweep cluster.use=auto");
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("pp 5"));
}

/// Parts have no order along which a placement could flip.
TEST_F(Commands, GridsOfPartsHaveNoFlips)
{
    const std::string command = "explore study.yaml --sweep workload.global_batch=16,32 --sweep "
                                "cluster.use=building1+building2,building1";
    EXPECT_THAT(Run(command).out, Not(HasSubstr("flip")));
    EXPECT_TRUE(RunJson(command).at("flips").empty());
}

} // namespace

} // namespace scaleacross
