// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"
#include "places.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Require : public Commands
{
  protected:
    Require()
    {
        Write("thin.yaml", g_thinSpanStudy);
    }

    double TimeOf(const std::string& arguments) const
    {
        return RunJson("run thin.yaml --no-store " + arguments)
            .at("iteration_time_s")
            .get<double>();
    }

    double OneSite() const
    {
        return TimeOf("--set 'cluster={buildings: {count: 1, gpus: 16, gpus_per_node: 4, gpu: "
                      "h100, fabric: {rails: true, spines: 1}}}'");
    }

    /// The answer for one quantity.
    nlohmann::json Ask(const std::string& arguments) const
    {
        const auto json = RunJson("require " + arguments);
        EXPECT_EQ(json.at("answers").size(), 1U);
        return json.at("answers")[0];
    }
};

TEST_F(Require, GreatestDistanceIsWhereWaitingMakesUpTheLoss)
{
    // Two crossings of 5 us a km: T(d) = T(10 km) + (d - 10) x 10 us. Half of the throughput is
    // lost where T is twice that of one site.
    const std::string capacity = "--set cluster.cross.capacity=800Gbps";
    const double expected = 10 + (2 * OneSite() - TimeOf(capacity)) / 10e-6;
    const auto answer = Ask("thin.yaml --loss 50% --of distance " + capacity);
    ASSERT_EQ(answer.at("finding"), "found") << answer;
    const double found = answer.at("answer").at("value");
    const double beyond = answer.at("beyond").at("value");
    EXPECT_LE(found, expected);
    EXPECT_GE(beyond, expected);
    EXPECT_LE(beyond, found * 1.01);
    EXPECT_LE(answer.at("answer").at("loss"), 0.5);
    EXPECT_GT(answer.at("beyond").at("loss"), 0.5);
    EXPECT_EQ(answer.at("study").at("value"), 10);
    EXPECT_EQ(answer.at("unit"), "km");
}

TEST_F(Require, LeastCapacityIsWhereTheBytesMakeUpTheLoss)
{
    // T(c) = T(20 Gb/s) + bits x (1 / c - 1 / 20 Gb/s), the span being the slowest.
    const double wanted = 2 * OneSite();
    const double expected = 1 / (1 / 20e9 + (wanted - TimeOf("")) / g_thinSpanBits);
    const auto answer = Ask("thin.yaml --loss 0.5 --of span-capacity");
    ASSERT_EQ(answer.at("finding"), "found") << answer;
    EXPECT_GE(answer.at("answer").at("value"), expected);
    EXPECT_LE(answer.at("beyond").at("value"), expected);
    EXPECT_LE(answer.at("answer").at("value").get<double>(), expected * 1.01);
    EXPECT_EQ(answer.at("unit"), "bps");
    EXPECT_TRUE(answer.at("monotone"));
}

TEST_F(Require, LeastBufferIsThatOfTheHeadroom)
{
    // The spine of a building has the span, 800 Gb/s and 50 us: 2 x 50 us x 100 GB/s = 10 MB; and 4
    // leaves (rails), each with its 2 NICs' 800 Gb/s and 4.5 us: 4 x 2 x 4.5 us x 100 GB/s = 3.6
    // MB. Each of the 5 keeps two packets of 4,178 bytes, and what comes while one of them and a
    // pause of 84 bytes leave, another 4,262; a packet more has to fit: 66,768 bytes.
    const double expected = 10e6 + 3.6e6 + 66768;
    const auto answer =
        Ask("thin.yaml --loss 99% --of buffer --set cluster.cross.capacity=800Gbps");
    ASSERT_EQ(answer.at("finding"), "found") << answer;
    EXPECT_NEAR(answer.at("answer").at("value").get<double>(), expected, 0.01 * expected);
    EXPECT_GE(answer.at("answer").at("value").get<double>(), expected - 100);
    EXPECT_LE(answer.at("beyond").at("value").get<double>(), expected + 100);
    EXPECT_TRUE(answer.at("beyond").at("loss").is_null());
    EXPECT_THAT(answer.at("beyond").at("reason").get<std::string>(), HasSubstr("headroom"));
}

TEST_F(Require, EndsOfTheRangeAreNamedWhereTheTargetIsMetEverywhereOrNowhere)
{
    const auto everywhere = Ask("thin.yaml --loss 99.99% --of span-capacity");
    EXPECT_EQ(everywhere.at("finding"), "everywhere");
    EXPECT_TRUE(everywhere.at("answer").is_null());
    // 8 NICs of 400 Gb/s are 3.2 Tb/s; the other end is a thousandth.
    EXPECT_NEAR(everywhere.at("better_end").at("value"), 3.2e12, 1e3);
    EXPECT_NEAR(everywhere.at("other_end").at("value"), 3.2e9, 1);
    EXPECT_THAT(Run("require thin.yaml --loss 99.99% --of span-capacity").out,
                HasSubstr("span-capacity: the target is met at all of the 10 values looked at, "
                          "from 3.2 Tbps (1:1), where "));

    const auto nowhere = Ask("thin.yaml --loss 0 --of distance");
    EXPECT_EQ(nowhere.at("finding"), "nowhere");
    EXPECT_EQ(nowhere.at("better_end").at("value"), 0.1);
    EXPECT_EQ(nowhere.at("other_end").at("value"), 20000);
    EXPECT_GT(nowhere.at("better_end").at("loss"), 0);
    EXPECT_THAT(Run("require thin.yaml --loss 0 --of distance").out,
                HasSubstr("distance: the target is met at none of the 10 values looked at, from "
                          "100 m, where "));
}

TEST_F(Require, AnAnswerIsWhatExploreFinds)
{
    const auto json = RunJson("require study.yaml --loss 30% --of distance");
    ExpectKeys(json, {"study", "engine", "loss", "tolerance", "one_site", "answers"});
    EXPECT_EQ(json.at("tolerance"), 0.01);
    const auto answer = json.at("answers")[0];
    ExpectKeys(answer,
               {"quantity",
                "key",
                "unit",
                "sense",
                "finding",
                "monotone",
                "study",
                "answer",
                "beyond",
                "better_end",
                "other_end",
                "samples"});
    ASSERT_EQ(answer.at("finding"), "found");
    const double site = json.at("one_site").at("iteration_time_s");
    for (const char* side : {"study", "answer", "beyond"})
    {
        const auto& point = answer.at(side);
        ExpectKeys(point,
                   {"value", "text", "loss", "iteration_time_s", "plan", "reason", "warnings"});
        const auto explored = RunJson(
            "explore study.yaml --set cluster.cross.distance=" + point.at("value").dump() + "km");
        // The latency is the distance's to the picosecond, give or take one on each crossing.
        EXPECT_NEAR(explored.at("best").at("iteration_time_s").get<double>(),
                    point.at("iteration_time_s").get<double>(),
                    1e-10);
        EXPECT_EQ(explored.at("best").at("plan").at("label"), point.at("plan").at("label"));
        EXPECT_NEAR(point.at("loss").get<double>(),
                    1 - site / point.at("iteration_time_s").get<double>(),
                    1e-12);
    }
    std::vector<double> values;
    for (const auto& sample : answer.at("samples"))
    {
        ExpectKeys(sample, {"value", "loss", "label"});
        values.push_back(sample.at("value"));
    }
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    EXPECT_GT(values.size(), 10U);
}

TEST_F(Require, AsksForThreeQuantitiesAsText)
{
    const Call call = Run("require study.yaml --loss 30%");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_EQ(call.err, "");
    for (const char* text : {"least span-capacity",
                             "greatest distance",
                             "least buffer",
                             "One site with all of them takes ",
                             "at most 30 % less than its throughput",
                             "just above"})
    {
        EXPECT_THAT(call.out, HasSubstr(text));
    }
    EXPECT_THAT(call.out, Not(HasSubstr("packet-loss")));
    EXPECT_EQ(Run("require study.yaml --loss 30% --jobs 1").out, call.out);
    EXPECT_THAT(Files(), ElementsAre("study.yaml", "thin.yaml")); // and no database
}

TEST_F(Require, ThePageHasWhatIsPrinted)
{
    const std::string top = SourcePath("");
    const std::string out =
        Run("require '" + top + "/examples/small-two-buildings/study.yaml' --loss 20%").out;
    ASSERT_FALSE(out.empty());
    EXPECT_THAT(PrintedOn("explorer.md"), HasSubstr(out));
}

TEST_F(Require, WrongUseIsRefused)
{
    const auto refuse = [this](const std::string& arguments, const std::string& says) {
        const Call call = Run("require " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_THAT(call.err, HasSubstr(says)) << arguments;
        EXPECT_EQ(call.out, "");
    };
    refuse("study.yaml", "--loss");
    refuse("study.yaml --loss -1%", "--loss: '-1%' is out of range");
    refuse("study.yaml --loss 100%", "allowed: from 0% to below 100%");
    refuse("study.yaml --loss 2", "did you mean 2%?");
    refuse("study.yaml --loss little", "remedy: write it as 2% or 0.02");
    refuse("study.yaml --loss 2%%", "is neither a fraction nor");
    refuse("study.yaml --loss ''", "--loss");
    refuse("study.yaml --loss 2% --of distanc", "did you mean distance?");
    refuse("study.yaml --loss 2% --of distance,distance", "given twice");
    refuse("study.yaml --loss 2% --of lane-credits", "no plan of the study has a transport");
    refuse("study.yaml --loss 2% --set engines=[packet]",
           "study.yaml engines: the study ranks with the engine 'packet'");
    refuse("study.yaml --loss 2% --set 'cluster={buildings: {count: 1, gpus: 16, gpus_per_node: 4, "
           "gpu: h100}}'",
           "study.yaml cluster.buildings: the study has one building");
    refuse("study.yaml --loss 2% --set search.network.spine_buffer=[1GiB] --of buffer",
           "search.network.spine_buffer: the search sets this for every plan");
    refuse("none.yaml --loss 2%", "none.yaml");
}

TEST_F(Require, WithoutAPlanForOneSiteItFails)
{
    const Call call = Run("require study.yaml --loss 2% --set search.plan.tp=[3]");
    EXPECT_EQ(call.code, 1);
    EXPECT_THAT(call.err, HasSubstr("has no plan to compare with"));
}

} // namespace

} // namespace scaleacross
