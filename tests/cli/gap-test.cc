// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;
using testing::Not;

/// What is behind the best is known to a part of that, which the answer says.
TEST_F(Commands, ARestGapIsOfWhatIsBehindTheBest)
{
    const std::string search = "explore study.yaml --db rest.db --keep 4 --set "
                               "'search.network.qps={from: 1, to: 40, step: 1}'";
    const std::string explore = search + " --rest-gap ";
    const auto exact = RunJson(explore + "0");
    const auto half = RunJson(explore + "50%");
    const auto usual = RunJson(search);
    EXPECT_EQ(exact.at("rest_gap_asked"), 0);
    EXPECT_EQ(half.at("rest_gap_asked"), 0.5);
    EXPECT_EQ(usual.at("rest_gap_asked"), 0.05);
    EXPECT_EQ(half.at("best"), exact.at("best"));
    EXPECT_EQ(usual.at("best"), exact.at("best"));
    EXPECT_LE(half.at("ran"), usual.at("ran"));
    EXPECT_LE(usual.at("ran"), exact.at("ran"));
    EXPECT_EQ(exact.at("optimal"), true);
    EXPECT_EQ(half.at("optimal"), true);
    EXPECT_THAT(half.at("explanation").back().get<std::string>(),
                HasSubstr("The rest of what is kept is proven to 50 % of how far it is behind."));
    EXPECT_THAT(exact.at("explanation").back().get<std::string>(), Not(HasSubstr("is behind")));
    // What is found again is as it was, and known as proven.
    const auto again = RunJson(explore + "50%");
    EXPECT_EQ(again.at("ranking"), half.at("ranking"));
    EXPECT_FALSE(half.at("proven_after").is_null());
    EXPECT_EQ(again.at("proven_after"), half.at("proven_after"));
    EXPECT_THAT(Run(explore + "2").err, HasSubstr("--rest-gap: '2' is out of range"));
    EXPECT_EQ(Run(explore + "0.1 --exhaustive").code, 2);
}

/// A gap so wide that 4 plans, which begin before any time is known, are enough. Of each plan
/// there are 40 with other queue pairs, so that of the one with the least bound some do not run.
TEST_F(Commands, AGapIsProvenAndNotCalledOptimal)
{
    const std::string explore = "explore study.yaml --db gap.db --keep 1 --pareto none --set "
                                "'search.network.qps={from: 1, to: 40, step: 1}' --gap ";
    const auto json = RunJson(explore + "90%");
    const double gap = json.at("gap");
    EXPECT_GT(gap, 0);
    EXPECT_LE(gap, 0.9);
    EXPECT_EQ(json.at("gap_asked"), 0.9);
    EXPECT_EQ(json.at("optimal"), false);
    EXPECT_GT(json.at("pruned"), 0);
    EXPECT_THAT(json.at("explanation").back().get<std::string>(), HasSubstr("Within "));
    const auto again = RunJson(explore + "0.9");
    EXPECT_EQ(again.at("gap"), json.at("gap"));
    EXPECT_EQ(again.at("explanation"), json.at("explanation"));
    const auto shown = RunJson("show gap.db").at("searches")[0];
    EXPECT_EQ(shown.at("gap"), json.at("gap"));
    EXPECT_EQ(shown.at("gap_asked"), 0.9);
    const auto exact = RunJson(explore + "0");
    EXPECT_EQ(exact.at("gap"), 0.0);
    EXPECT_EQ(exact.at("optimal"), true);
    const double best = exact.at("best").at("iteration_time_s");
    EXPECT_LE(json.at("best").at("iteration_time_s").get<double>(), (1 + gap) * best);
    EXPECT_THAT(Run(explore + "100%").err, HasSubstr("--gap: '100%' is out of range"));
    EXPECT_EQ(Run(explore + "x").code, 2);
    EXPECT_EQ(Run(explore + "0.1 --exhaustive").code, 2);
    EXPECT_EQ(Run(explore + "0.1 --sweep cluster.cross.distance=1km,5km").code, 2);
}

} // namespace

} // namespace scaleacross
