// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;
using testing::Not;

nlohmann::json
InputOf(const nlohmann::json& json, const std::string& key)
{
    for (const auto& input : json.at("inputs"))
    {
        if (input.at("key") == key)
        {
            return input;
        }
    }
    ADD_FAILURE() << key;
    return {};
}

TEST_F(Commands, SensitivityOfASpanIsItsBytesAndItsLight)
{
    Write("thin.yaml", g_thinSpanStudy);
    const auto json = RunJson("sensitivity thin.yaml --of cluster.cross");
    const double base = json.at("base").at("iteration_time_s");
    const double bits = g_thinSpanBits;
    const auto capacity = InputOf(json, "cluster.cross.capacity");
    EXPECT_EQ(capacity.at("low").at("value"), "16Gbps");
    EXPECT_NEAR(capacity.at("low").at("best_s"), base + bits / 16e9 - bits / 20e9, 1e-9);
    EXPECT_NEAR(capacity.at("high").at("kept_s"), base + bits / 24e9 - bits / 20e9, 1e-9);
    // There and back are 2 km less of 5 us each.
    const auto distance = InputOf(json, "cluster.cross.distance");
    EXPECT_NEAR(distance.at("low").at("best_s"), base - 2 * 2 * 5e-6, 1e-9);
    EXPECT_NEAR(distance.at("high").at("best_s"), base + 2 * 2 * 5e-6, 1e-9);
    // Sorted: the capacity is 215 us of about 1.7 ms, the distance 20 us.
    EXPECT_EQ(json.at("inputs")[0].at("key"), "cluster.cross.capacity");
    EXPECT_NEAR(capacity.at("effect"), (bits / 16e9 - bits / 20e9) / base, 1e-6);
    EXPECT_FALSE(capacity.at("low").at("changes")); // there is one plan only
}

TEST_F(Commands, SensitivityTellsWhereAnotherPlanIsBest)
{
    // By 90 %, the span is so long or so thin that another plan may win: what is said of it is what
    // explore finds there.
    const auto json = RunJson("sensitivity study.yaml --by 90% --of cluster.cross.distance,"
                              "cluster.cross.capacity");
    const auto capacity = InputOf(json, "cluster.cross.capacity");
    const auto explored = RunJson("explore study.yaml --set 'cluster.cross={distance: 10km, "
                                  "capacity: " +
                                  capacity.at("low").at("value").get<std::string>() + "}'");
    const auto& low = capacity.at("low");
    EXPECT_EQ(low.at("best_s"), explored.at("best").at("iteration_time_s"));
    EXPECT_EQ(low.at("label"), explored.at("best").at("plan").at("label"));
    EXPECT_EQ(low.at("changes").get<bool>(),
              low.at("kept_s").is_null() || low.at("best_s") < low.at("kept_s"));
    EXPECT_LE(low.at("best_s"), low.at("kept_s"));
}

TEST_F(Commands, SensitivityHasAllInputsAndKeys)
{
    const auto json = RunJson("sensitivity study.yaml");
    ExpectKeys(json, {"study", "engine", "by", "base", "inputs", "not_varied"});
    EXPECT_EQ(json.at("by"), 0.2);
    EXPECT_GT(json.at("inputs").size(), 40U);
    double before = 1e300;
    for (const auto& input : json.at("inputs"))
    {
        ExpectKeys(input, {"key", "value", "effect", "low", "high"});
        for (const char* side : {"low", "high"})
        {
            const auto& end = input.at(side);
            ExpectKeys(
                end,
                {"value", "kept_s", "best_s", "label", "changes", "refused", "reason", "warnings"});
            // A new search finds what was kept, or better.
            if (!end.at("kept_s").is_null())
            {
                EXPECT_LE(end.at("best_s"), end.at("kept_s")) << input;
            }
            EXPECT_EQ(end.at("reason").is_null(), !end.at("best_s").is_null()) << input;
        }
        const bool stops = !input.at("low").at("refused") && input.at("low").at("best_s").is_null();
        if (!stops && !input.at("effect").is_null())
        {
            EXPECT_LE(input.at("effect"), before);
            before = input.at("effect");
        }
    }
    EXPECT_FALSE(json.at("not_varied").empty());
}

TEST_F(Commands, SensitivityPrintsATable)
{
    const Call call = Run("sensitivity study.yaml --by 0.1");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_EQ(call.err, "");
    for (const char* text : {"lowered and raised by 10 %",
                             "cluster.buildings.gpu.bf16_peak",
                             "Without any effect: ",
                             "Not varied, since they are 0 or have no whole number so near: "})
    {
        EXPECT_THAT(call.out, HasSubstr(text));
    }
    EXPECT_EQ(Run("sensitivity study.yaml --by 10% --jobs 1").out, call.out);
    const Call one = Run("sensitivity study.yaml --of workload.sequence");
    EXPECT_EQ(Run("sensitivity study.yaml --of 'cluster.cross.distance , workload.sequence'").out,
              Run("sensitivity study.yaml --of cluster.cross.distance,workload.sequence").out);
    EXPECT_THAT(one.out, HasSubstr("workload.sequence"));
    EXPECT_THAT(one.out, Not(HasSubstr("bf16_peak")));
}

/// What times do not show is said beside them: of 15 MB of headroom, 16 MiB less a fifth hold 13.4.
TEST_F(Commands, SensitivityWarnsOfBuffersThatAreTooSmall)
{
    Write("thin.yaml", g_thinSpanStudy);
    const Call call =
        Run("sensitivity thin.yaml --of network.spine_buffer --set cluster.cross.capacity=800Gbps "
            "--set network.spine_buffer=16MiB");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("Without any effect: network.spine_buffer."));
    EXPECT_THAT(call.out,
                HasSubstr("Warning: at network.spine_buffer=13421773B: network.spine_buffer"));
}

TEST_F(Commands, SensitivityRefusesWrongUse)
{
    const auto refuse = [this](const std::string& arguments, const std::string& says) {
        const Call call = Run("sensitivity " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_THAT(call.err, HasSubstr(says)) << arguments;
    };
    refuse("study.yaml --by 100%", "--by: '100%' is out of range");
    refuse("study.yaml --by 0", "allowed: from 0.1% to below 100%");
    refuse("study.yaml --by 20", "did you mean 20%?");
    refuse("study.yaml --of cluster.cross.distanc", "did you mean cluster.cross.distance?");
    refuse("study.yaml --of cluster.cross.loss", "is 0, zero, which no factor changes");
    refuse("study.yaml --of plan.tp", "is no input of the study");
    refuse("study.yaml --set engines=[packet]", "add --set engines=[analytical]");
    EXPECT_EQ(Run("sensitivity study.yaml --set search.plan.tp=[3]").code, 1);
}

} // namespace

} // namespace scaleacross
