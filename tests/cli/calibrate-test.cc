// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

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
        ExpectKeys(list[i], {"class", "operation", "reach", "members", "times", "part", "share"});
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

TEST_F(Calibrate, FactorsArePacketsOverModel)
{
    const auto file = Made();
    const auto& set = file.at("sets").at(0);
    ExpectKeys(set, {"network", "study", "models", "transport", "multipath", "control"});
    for (const auto& operation : set.at("operations"))
    {
        const double factor = operation.at("factor");
        EXPECT_LE(operation.at("low"), factor);
        EXPECT_GE(operation.at("high"), factor);
        EXPECT_GE(operation.at("part"), 0.0);
        const double ratio = double(operation.at("packet_s")) / double(operation.at("model_s"));
        // The mean of the times, against the geometric mean of their ratios.
        EXPECT_NEAR(ratio / factor, 1, 0.01);
    }
    // What is known already stays, and the file has one set for a network.
    const auto again = Made("--seed 7");
    EXPECT_EQ(again.at("sets").size(), 1U);
    EXPECT_EQ(again.at("sets").at(0).at("operations").size(), set.at("operations").size());
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
        {"{\"corrections\": 2, \"sets\": []}", "this is no file of corrections"},
        {"{\"corrections\": 1, \"sets\": []}", "it is empty"},
        {"{\"corrections\": 1, \"sets\": [{}]}", "a.json sets.0: it lacks a value"},
        {"{\"corrections\": 1, \"sets\": 3}", "this is no file of corrections"},
    };

    for (const auto& file : files)
    {
        Write("a.json", file.text);
        const Call call = Run("run study.yaml --engine corrected:a.json --no-store");
        EXPECT_EQ(call.code, 2) << file.text;
        EXPECT_THAT(call.err, HasSubstr(file.said)) << file.text;
    }
    const std::string bad = "{\"corrections\": 2}";
    Write("a.json", bad);
    const Call kept = Run("calibrate study.yaml --output a.json");
    EXPECT_EQ(kept.code, 2);
    EXPECT_EQ(Read("a.json"), bad) << "what is no file of ours is not written over";
    EXPECT_THAT(Run("calibrate study.yaml --budget 5parsec").err, HasSubstr("min or h"));
    const Call none = Run("calibrate study.yaml --budget 1ms --output b.json");
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("no operation fits into --budget"));
    EXPECT_FALSE(std::filesystem::exists(folder / "b.json"));
    const Call slice = Run("run study.yaml --slice 0 --engine 'command:echo'");
    EXPECT_EQ(slice.code, 2);
    EXPECT_THAT(slice.err, HasSubstr("--slice"));
}

TEST_F(Calibrate, AnInterruptedOneSaysSo)
{
    // A hundred seeds of every operation take longer than that.
    const std::string command =
        "cd '" + folder.string() +
        "' && timeout --foreground -s INT --preserve-status 3 '" SCALEACROSS_PROGRAM
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
