// SPDX-License-Identifier: GPL-2.0-only

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

class Calibrate : public Commands
{
  protected:
    /// A file of corrections for the small study.
    nlohmann::json Made(const std::string& options = "") const
    {
        const Call call =
            Run("calibrate study.yaml --budget 2min --seeds 2 --output a.json " + options);
        EXPECT_EQ(call.code, 0) << call.err;
        return nlohmann::json::parse(Read("a.json"));
    }

    /// The text of a file with one row, of which one value is another.
    static std::string With(const std::string& key, const nlohmann::json& value)
    {
        nlohmann::json row = {{"class", "dp"},
                              {"operation", "all_gather"},
                              {"algorithm", "ring"},
                              {"protocol", ""},
                              {"reach", "cross"},
                              {"way", "3 km 1 Tbps"},
                              {"split", "2"},
                              {"levels", {4}},
                              {"bytes", 4096},
                              {"factor", 1},
                              {"low", 1},
                              {"high", 1},
                              {"seeds", 1},
                              {"part", 1},
                              {"share", 1},
                              {"model_s", 1}};
        row[key] = value;
        nlohmann::json set = {{"network", ""},
                              {"study", ""},
                              {"models", ""},
                              {"distance_km", 3},
                              {"loss", 0},
                              {"transport", "roce"},
                              {"multipath", "ecmp"},
                              {"control", "none"},
                              {"operations", {row}}};
        if (set.contains(key))
        {
            set[key] = value;
        }
        return nlohmann::json({{"corrections", 2}, {"sets", {set}}}).dump();
    }

    void WriteFactors(nlohmann::json file, double factor) const
    {
        for (nlohmann::json& operation : file.at("sets").at(0).at("operations"))
        {
            operation["factor"] = operation["low"] = operation["high"] = factor;
        }
        Write("a.json", file.dump());
    }
};

TEST_F(Calibrate, ListsWhatAPlanDoesBetweenServers)
{
    const auto list = RunJson("calibrate study.yaml --list");
    ASSERT_FALSE(list.empty());
    for (size_t i = 0; i < list.size(); i++)
    {
        ExpectKeys(list[i],
                   {"class",
                    "operation",
                    "reach",
                    "way",
                    "levels",
                    "stages",
                    "times",
                    "slice",
                    "part",
                    "share"});
        EXPECT_EQ(list[i].at("number"), i);
        EXPECT_NE(list[i].at("reach"), "node");
        // A slice of it is run by every engine, and sends the same.
        const std::string run = "run study.yaml --slice " + std::to_string(i) + " --engine ";
        const auto model = RunJson(run + "analytical");
        const auto packets = RunJson(run + "packet");
        EXPECT_EQ(model.at("classes").at(std::string(list[i].at("class"))).at("bytes"),
                  packets.at("classes").at(std::string(list[i].at("class"))).at("bytes"));
        EXPECT_GT(packets.at("network").at("packets_sent"), 0);
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "small.db")) << "a slice is no plan's result";
}

TEST_F(Calibrate, AMeasuredOperationTakesWhatPacketsTook)
{
    // Two seeds of each: the factor is the geometric mean of what packets took for the slice over
    // what the model did, both without the launch; of all stages that is done for one by itself,
    // too, and the mean of both taken. Corrected, an operation of one stage takes what
    // packets took, where ports do not ask for more; stages that share links do so as before.
    const auto file = Made();
    const auto& set = file.at("sets").at(0);
    ExpectKeys(set, {"network", "study", "models", "transport", "multipath", "control"});
    const auto list = RunJson("calibrate study.yaml --list");
    ASSERT_EQ(set.at("operations").size(), list.size());
    size_t together = 0;
    for (size_t i = 0; i < list.size(); i++)
    {
        const auto& row = set.at("operations").at(i);
        const auto timeOf = [this](const std::string& slice, const std::string& engine) -> double {
            return RunJson("run study.yaml --slice " + slice + " --engine " + engine)
                .at("iteration_time_s");
        };
        const std::string slice = row.at("slice");
        const double one = timeOf(slice, "packet");
        const double two = timeOf(slice, "packet --seed 2");
        const double messages = list[i].at("operation") == "message" ? 2 : 1; // there and back
        const double launch = timeOf(std::to_string(i), "analytical") -
                              messages * list[i].at("model_s").get<double>();
        const auto ratioOf = [&](const std::string& measured) {
            return std::sqrt((timeOf(measured, "packet") - launch) *
                             (timeOf(measured, "packet --seed 2") - launch)) /
                   (timeOf(measured, "analytical") - launch);
        };
        const double all = ratioOf(slice);
        const double alone = ratioOf(std::to_string(i));
        EXPECT_NEAR(row.at("factor").get<double>() / std::sqrt(all * alone), 1, 1e-4) << row.dump();
        EXPECT_LT(row.at("low").get<double>(), std::min(all, alone));
        EXPECT_GT(row.at("high").get<double>(), std::max(all, alone));
        together += row.at("stages") > 1 ? 1 : 0;
        const auto corrected =
            RunJson("run study.yaml --slice " + slice + " --engine corrected:a.json");
        EXPECT_EQ(corrected.at("correction").at("covered"), 1);
        if (row.at("stages") == 1 && corrected.at("correction").at("unreached").empty())
        {
            const double time = corrected.at("iteration_time_s");
            EXPECT_NEAR(time / std::sqrt(one * two), 1, 1e-4) << list[i].dump();
        }
    }
    EXPECT_GT(together, 0U);
    for (const auto& operation : set.at("operations"))
    {
        EXPECT_LT(operation.at("low"), operation.at("factor"));
        EXPECT_GT(operation.at("high"), operation.at("factor"));
        EXPECT_GT(operation.at("part"), 0.0);
    }
}

TEST_F(Calibrate, AShortBudgetMeasuresWhatFits)
{
    // A measurement takes about 0.1 s and 4 us for each packet. In 0.9 of a second all operations
    // of this small study fit that take up to 0.8 s of packets: 200,000, more than any has.
    const auto list = RunJson("calibrate study.yaml --budget 1s --list");
    ASSERT_FALSE(list.empty());
    for (const auto& operation : list)
    {
        EXPECT_TRUE(operation.at("refused").is_null()) << operation.dump();
    }
    const Call call = Run("calibrate study.yaml --budget 1s --output a.json");
    // A busy machine may not start a process in that time; then it says what it needs.
    EXPECT_TRUE(call.code == 0 || call.err.find("nothing was measured") != std::string::npos);
    // In a tenth of a second nothing fits. The shortest takes a little more than that, which is
    // nine tenths of what it needs: 0.2 s to a tenth.
    const Call none = Run("calibrate study.yaml --budget 100ms --output b.json");
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err,
                HasSubstr("no operation fits into --budget; the shortest needs about 0.2s"));
    EXPECT_FALSE(std::filesystem::exists(folder / "b.json"));
}

TEST_F(Calibrate, TellsHowMuchOfWhatCrossesBuildingsIsCovered)
{
    // All of the small study's operations fit into a tenth of the time as a whole, on all stages.
    const Call call = Run("calibrate study.yaml --budget 2min --seeds 1 --output a.json");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("bytes between buildings were sent as packets"));
    const auto json = RunJson("calibrate study.yaml --budget 2min --seeds 1 --output b.json");
    ASSERT_FALSE(json.at("coverage").empty());
    for (const auto& coverage : json.at("coverage"))
    {
        double share = 0;
        for (const auto& operation : json.at("operations"))
        {
            share += operation.at("class") == coverage.at("class")
                         ? operation.at("share").get<double>()
                         : 0.0;
        }
        EXPECT_NEAR(coverage.at("share"), share, 1e-12);
        EXPECT_GE(share, 0.05);
        EXPECT_TRUE(coverage.at("budget_for_goal_s").is_null());
        EXPECT_EQ(coverage.at("measured"), coverage.at("operations"));
    }
    // What stands for an operation can be run, and is as much of its class.
    for (const auto& operation : json.at("operations"))
    {
        const auto slice = RunJson("run study.yaml --slice " + std::string(operation.at("slice")));
        const auto whole = RunJson("run study.yaml --no-store");
        const std::string comm = operation.at("class");
        const double cross = whole.at("classes").at(comm).at("cross_bytes");
        const double sent = slice.at("classes").at(comm).at("cross_bytes");
        EXPECT_EQ(operation.at("part"), 1);
        EXPECT_NEAR(operation.at("share"), cross > 0 ? sent / cross : 0.0, 1e-12);
    }
}

TEST_F(Calibrate, KeepsWhatIsBetterThanWhatItHasMeasured)
{
    const auto file = Made();
    auto better = file;
    auto& rows = better["sets"][0]["operations"];
    const size_t count = rows.size();
    for (auto& row : rows)
    {
        row["seeds"] = 10;
        row["factor"] = row["low"] = row["high"] = 1.75;
    }
    // What another class of communication does is another row, though all else is the same.
    rows.push_back(rows[0]);
    rows.back()["class"] = rows[0].at("class") == "cp" ? "dp" : "cp";
    rows.back()["factor"] = rows.back()["low"] = rows.back()["high"] = 1.5;
    rows.back()["seeds"] = 1;
    Write("a.json", better.dump());
    const auto again = Made("--seed 7");
    ASSERT_EQ(again.at("sets").size(), 1U);
    const auto& now = again.at("sets").at(0).at("operations");
    ASSERT_EQ(now.size(), count + 1);
    for (const auto& row : now)
    {
        EXPECT_EQ(row.at("factor"), row.at("seeds") == 10 ? 1.75 : 1.5);
    }
    EXPECT_THAT(Run("calibrate study.yaml --budget 2min --seeds 2 --output a.json").out,
                HasSubstr("as it was in the file, for that is better"));
    // With fewer seeds there than are measured now it is replaced.
    for (auto& row : better["sets"][0]["operations"])
    {
        row["seeds"] = 1;
    }
    Write("a.json", better.dump());
    const auto newer = Made();
    size_t replaced = 0;
    for (const auto& row : newer.at("sets").at(0).at("operations"))
    {
        replaced += row.at("seeds") == 2 ? 1 : 0;
        EXPECT_NE(row.at("factor"), 1.75);
    }
    EXPECT_EQ(replaced, count);
    const auto more = Made("--set cluster.cross.distance=20km");
    EXPECT_EQ(more.at("sets").size(), 2U);
}

TEST_F(Calibrate, ACorrectedRunSaysByWhat)
{
    const auto file = Made();
    const auto plain = RunJson("run study.yaml --no-store");
    WriteFactors(file, 1.0);
    const std::string run = "run study.yaml --no-store --engine corrected:a.json";
    const auto same = RunJson(run);
    EXPECT_EQ(same.at("iteration_time_s"), plain.at("iteration_time_s"));
    EXPECT_EQ(same.at("engine"), "corrected:a.json");
    EXPECT_EQ(same.at("correction").at("set"), "a.json");
    EXPECT_EQ(same.at("correction").at("covered"), same.at("correction").at("operations"));
    WriteFactors(file, 3.0);
    const auto longer = RunJson(run);
    EXPECT_GT(longer.at("iteration_time_s"), plain.at("iteration_time_s"));
    EXPECT_THAT(Run(run).out, HasSubstr("corrected by a.json"));
    // A name of its own.
    EXPECT_EQ(RunJson("run study.yaml --no-store --engine mine=corrected:a.json").at("engine"),
              "mine");
}

TEST_F(Calibrate, CorrectionsAreForTheirNetworkAndModels)
{
    auto file = Made();
    const std::string run = "run study.yaml --engine corrected:a.json ";
    const Call other = Run(run + "--set cluster.cross.distance=33km");
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("no corrections for this cluster and network"));
    EXPECT_THAT(other.err, HasSubstr("calibrate STUDY --output a.json"));
    file["sets"][0]["models"] = "others";
    Write("a.json", file.dump());
    const Call old = Run(run);
    EXPECT_EQ(old.code, 2);
    EXPECT_THAT(old.err, HasSubstr("run scaleacross calibrate again"));
    EXPECT_FALSE(std::filesystem::exists(folder / "small.db"));
}

TEST_F(Calibrate, WrongFilesAndOptionsAreSaidWithTheirPlace)
{
    const struct
    {
        std::string text;
        std::string said;
    } files[] = {
        {"", "the file is empty"},
        {"[1]", "this is no file of corrections"},
        {"{\"corrections\": \"x\", \"sets\": []}", "this is no file of corrections"},
        {"{\"corrections\": 1, \"sets\": []}", "this is no file of corrections"},
        {"{\"corrections\": 2, \"sets\": []}", "it is empty"},
        {"{\"corrections\": 2, \"sets\": [{}]}", "a.json sets.0: it lacks a value"},
        {"{\"corrections\": 2, \"sets\": 3}", "this is no file of corrections"},
        {With("levels", {1000000000000}), "one of the levels is 1000000000000"},
        {With("levels", nlohmann::json::array()), "levels has none"},
        {With("levels", 8), "levels is 8"},
        {With("operations", nullptr), "operations is no list"},
        {With("bytes", -1), "bytes is -1"},
        {With("bytes", 0.5), "bytes is 0.5"},
        {With("part", 1.5), "part is 1.5"},
        {With("seeds", 0), "seeds is 0"},
        {With("factor", 9), "outside of low to high"},
        {With("share", -1), "share is -1"},
        {With("slice", "0@all"), "it lacks a value"},
        {With("loss", 2), "loss is 2"},
        {With("distance_km", -1), "distance_km is -1"},
        {With("multipath", "zigzag"), "'zigzag' is not known"},
        {With("class", "xp"), "'xp' is not known"},
    };

    for (const auto& file : files)
    {
        Write("a.json", file.text);
        const Call call = Run("run study.yaml --engine corrected:a.json --no-store");
        EXPECT_EQ(call.code, 2) << file.text;
        EXPECT_THAT(call.err, HasSubstr(file.said)) << file.text;
    }
    const std::string bad = "{\"corrections\": 3}";
    Write("a.json", bad);
    const Call kept = Run("calibrate study.yaml --output a.json");
    EXPECT_EQ(kept.code, 2);
    EXPECT_EQ(Read("a.json"), bad) << "what is no file of ours is not written over";
    EXPECT_THAT(Run("calibrate study.yaml --budget 5parsec").err, HasSubstr("min or h"));
    const Call none = Run("calibrate study.yaml --budget 1ms --output b.json");
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("nothing was measured"));
    EXPECT_FALSE(std::filesystem::exists(folder / "b.json"));
    const Call slice = Run("run study.yaml --slice 0 --engine 'command:echo'");
    EXPECT_EQ(slice.code, 2);
    EXPECT_THAT(slice.err, HasSubstr("--slice"));

    const struct
    {
        std::string slice;
        std::string said;
    } slices[] = {
        {"99", "there is no operation 99"},
        {"0+0", "is there twice"},
        {"0@all+0", "is there twice"},
        {"0@99", "stage 99 does not"},
        {"1000000x0", "is asked for 1000000 times"},
        {"0:1.5", "1.5"},
        {"0:0", "0"},
        {"0@most", "most"},
        {"0+", "--slice"},
    };

    for (const auto& wrong : slices)
    {
        const Call call = Run("run study.yaml --slice " + wrong.slice);
        EXPECT_EQ(call.code, 2) << wrong.slice;
        EXPECT_THAT(call.err, HasSubstr("--slice")) << wrong.slice;
        EXPECT_THAT(call.err, HasSubstr(wrong.said)) << wrong.slice;
    }
    for (const char* more : {"--warmup 3", "--iterations 2"})
    {
        const Call often = Run(std::string("run study.yaml --slice 0 ") + more);
        EXPECT_EQ(often.code, 2);
        EXPECT_THAT(often.err, HasSubstr("a slice is run once, from an idle network"));
    }
}

TEST_F(Calibrate, ComparisonsSayHowMuchIsCovered)
{
    auto file = Made();
    auto& rows = file["sets"][0]["operations"];
    ASSERT_GT(rows.size(), 1U);
    rows.erase(0);
    for (auto& row : rows)
    {
        row["factor"] = row["low"] = row["high"] = 0.05; // which no port allows
    }
    Write("a.json", file.dump());
    const std::string compare = "compare study.yaml --engines analytical,corrected:a.json ";
    for (int time = 0; time < 2; time++) // the second one finds all runs in the database
    {
        const Call call = Run(compare + "--csv out.csv");
        EXPECT_EQ(call.code, 0) << call.err;
        EXPECT_THAT(call.out, HasSubstr("Corrected:"));
        EXPECT_THAT(call.out, HasSubstr(" operations, the others "));
        EXPECT_THAT(call.out, HasSubstr("not reached: "));
        EXPECT_THAT(Read("out.csv"),
                    HasSubstr("correction.operations,correction.covered,"
                              "correction.uncovered_share"));
        const auto json = RunJson(compare);
        for (const auto& row : json.at("rows"))
        {
            ASSERT_EQ(row.contains("correction"), row.at("engine") == "corrected:a.json");
            if (row.contains("correction"))
            {
                EXPECT_LT(row.at("correction").at("covered"),
                          row.at("correction").at("operations"));
                EXPECT_GT(row.at("correction").at("uncovered_share"), 0);
            }
        }
    }
}

TEST_F(Calibrate, CorrectedTimesRankPlans)
{
    auto file = Made();
    auto& rows = file["sets"][0]["operations"];
    ASSERT_GT(rows.size(), 1U);
    rows.erase(0);
    for (auto& row : rows)
    {
        // Far below what a bound of other engines would let a plan have, and an interval of both
        // sides.
        row["factor"] = 0.5;
        row["low"] = 0.4;
        row["high"] = 2;
    }
    Write("a.json", file.dump());
    const std::string explore =
        "explore study.yaml --db a.db --set 'engines=[\"corrected:a.json\"]' ";
    const auto json = RunJson(explore);
    EXPECT_EQ(json.at("engine"), "corrected:a.json");
    EXPECT_EQ(json.at("pruned"), 0); // no bound holds
    EXPECT_EQ(json.at("optimal"), true);
    EXPECT_TRUE(json.at("bound_slack").is_null());
    // Every plan that can run has run, and the ranking is by the times that a comparison has.
    std::vector<double> times;
    const auto compared = RunJson("compare study.yaml --db b.db --engines corrected:a.json");
    for (const auto& row : compared.at("rows"))
    {
        times.push_back(row.at("iteration_time_s"));
    }
    std::sort(times.begin(), times.end());
    const auto& ranking = json.at("ranking");
    ASSERT_GT(ranking.size(), 2U);
    ASSERT_EQ(json.at("ran"), times.size());
    size_t wide = 0;
    for (size_t i = 0; i < ranking.size(); i++)
    {
        const double time = ranking[i].at("iteration_time_s");
        EXPECT_DOUBLE_EQ(time, times[i]);
        const auto& correction = ranking[i].at("correction");
        EXPECT_LE(correction.at("low_s"), time);
        EXPECT_GE(correction.at("high_s"), time);
        EXPECT_LE(correction.at("covered"), correction.at("operations"));
        wide += correction.at("low_s") < correction.at("high_s") ? 1 : 0;
        EXPECT_TRUE(correction.at("covered") > 0 || correction.at("low_s") == time);
    }
    EXPECT_GT(wide, 0U); // those of which something is covered
    EXPECT_EQ(json.at("best").at("correction").at("set"), "a.json");
    const Call text = Run(explore);
    EXPECT_THAT(text.out, HasSubstr("by the intervals  covered"));
    // The database knows it, and whoever reads it.
    EXPECT_EQ(Sql("a.db",
                  "SELECT count(*) FROM run JOIN run_correction ON run_id = run.id WHERE "
                  "low_s <= iteration_time_s AND iteration_time_s <= high_s"),
              Sql("a.db", "SELECT count(*) FROM run WHERE status = 'ok'"));
    EXPECT_NEAR(std::stod(Sql("a.db", "SELECT high_s FROM ranking WHERE rank = 1")),
                ranking[0].at("correction").at("high_s").get<double>(),
                1e-12);
    const auto shown = RunJson("show a.db").at("searches")[0].at("ranking")[0];
    EXPECT_EQ(shown.at("correction"), json.at("best").at("correction"));
    EXPECT_THAT(Run("show a.db").out, HasSubstr("by the intervals  covered"));
    EXPECT_THAT(Run("export a.db --csv").out,
                HasSubstr("probability_slower,operations,covered,uncovered_share,low_s,high_s,"));
    // Others say nothing of it.
    EXPECT_THAT(Run("explore study.yaml --db c.db").out, Not(HasSubstr("covered")));
    EXPECT_EQ(Sql("c.db", "SELECT count(*) FROM run_correction"), "0");
}

TEST_F(Calibrate, CorrectionsOfAnotherNetworkRankNothing)
{
    Write("a.json", Made().dump());
    const Call call = Run("explore study.yaml --set 'engines=[\"corrected:a.json\"]' --set "
                          "cluster.cross.distance=77km");
    EXPECT_EQ(call.code, 1);
    EXPECT_THAT(call.out, HasSubstr("unsupported"));
    EXPECT_THAT(call.out, HasSubstr("no corrections for this cluster and network"));
}

TEST_F(Calibrate, AnInterruptedOneSaysSo)
{
    // A hundred seeds of every operation take longer than that.
    const std::string command = "cd '" + folder.string() +
                                "' && timeout --foreground -s INT --preserve-status 3 '" +
                                ProgramPath() +
                                "' calibrate study.yaml --budget 2min --seeds 100 --set "
                                "workload.global_batch=64 >out 2>err";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 130) << Read("err");
    // On a busy machine nothing may be measured by then.
    EXPECT_THAT(Read("err"), HasSubstr("interrupted"));
    if (!Read("out").empty())
    {
        EXPECT_THAT(Read("err"), HasSubstr("interrupted; what was measured is in small."));
    }
}

TEST_F(Calibrate, ACollectiveSaysWhatIsNotCorrected)
{
    Made();
    const Call call = Run("collective study.yaml --engine corrected:a.json --op all_to_all "
                          "--group all -b 1M -e 1M");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("Without a correction"));
}

} // namespace

} // namespace scaleacross
