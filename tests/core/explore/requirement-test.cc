// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/requirement.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::Contains;
using testing::Not;

std::vector<double>
ValuesOf(const Requirement& answer)
{
    std::vector<double> values;
    for (const Sample& sample : answer.samples)
    {
        values.push_back(sample.value);
    }
    return values;
}

/// Found, within the tolerance of where the loss passes the target, on the side that meets it.
void
ExpectAt(const Requirement& answer, Sense sense, double exact)
{
    ASSERT_EQ(answer.finding, Finding::Found);
    ASSERT_TRUE(answer.value && answer.beyond);
    const double good = sense == Sense::Least ? *answer.value : *answer.beyond;
    const double bad = sense == Sense::Least ? *answer.beyond : *answer.value;
    EXPECT_GE(good, exact);
    EXPECT_LE(bad, exact);
    EXPECT_LE(good, bad * (1 + kRequirementTolerance));
}

TEST(Requirement, LeastCapacityOfATimeThatIsLinearInItsInverse)
{
    // One site takes 10; over a span of capacity c it takes 10 + 20 / c. Lost is
    // 1 - 10 / (10 + 20 / c) = 2 / (c + 2), which is 0.02 at c = 98.
    const auto loss = [](double c) { return 1 - 10 / (10 + 20 / c); };
    const auto answer = FindRequirement({1, 1000}, Sense::Least, 0.02, {}, loss);
    ExpectAt(answer, Sense::Least, 98);
    EXPECT_TRUE(answer.monotone);
    EXPECT_LE(loss(*answer.value), 0.02);
    EXPECT_GT(loss(*answer.beyond), 0.02);
}

TEST(Requirement, GreatestDistanceOfATimeThatIsLinearInIt)
{
    // 10 + d / 50: 1 - 10 / (10 + d / 50) is 0.1 where d / 50 = 10 / 0.9 - 10, d = 55.56.
    const auto loss = [](double d) { return 1 - 10 / (10 + d / 50); };
    const auto answer = FindRequirement({0.1, 20000}, Sense::Greatest, 0.1, {30}, loss);
    ExpectAt(answer, Sense::Greatest, 500 / 0.9 - 500);
    EXPECT_THAT(ValuesOf(answer), Contains(30));
}

TEST(Requirement, ASampleThatMeetsTheTargetExactlyIsTheAnswer)
{
    // The samples of 1 to 256 are the powers of two; 4 loses 0.25 and is as good as allowed.
    const auto answer = FindRequirement({1, 256}, Sense::Least, 0.25, {}, [](double x) {
        return std::optional<double>(1 / x);
    });
    ExpectAt(answer, Sense::Least, 4);
    EXPECT_NEAR(*answer.value, 4, 1e-12);
}

TEST(Requirement, EverywhereAndNowhereLookAtBothEnds)
{
    const auto loss = [](double x) { return std::optional<double>(1 / x); };
    const auto everywhere = FindRequirement({10, 1000}, Sense::Least, 0.1, {}, loss);
    EXPECT_EQ(everywhere.finding, Finding::Everywhere);
    EXPECT_FALSE(everywhere.value);
    EXPECT_EQ(everywhere.samples.front().value, 10);
    EXPECT_EQ(everywhere.samples.back().value, 1000);
    EXPECT_EQ(everywhere.samples.size(), size_t{kRangeSamples});

    const auto nowhere = FindRequirement({10, 1000}, Sense::Least, 0.0009, {}, loss);
    EXPECT_EQ(nowhere.finding, Finding::Nowhere);
    EXPECT_FALSE(nowhere.value);
    EXPECT_TRUE(nowhere.monotone);
    EXPECT_NEAR(*nowhere.samples.back().loss, 0.001, 1e-15);
}

TEST(Requirement, WhereNoPlanRunsTheTargetIsNotMet)
{
    const auto answer =
        FindRequirement({1, 4096}, Sense::Least, 0.5, {}, [](double x) -> std::optional<double> {
            return x < 100 ? std::nullopt : std::optional<double>(0.3);
        });
    ExpectAt(answer, Sense::Least, 100);
}

TEST(Requirement, ALossThatFallsAgainIsToldAndTheSafeSideTaken)
{
    // The target is met from 64 on, and once more at 4, where another plan might happen to fit.
    const auto answer = FindRequirement({1, 256}, Sense::Least, 0.1, {}, [](double x) {
        return std::optional<double>(x >= 64 * 0.999 || std::fabs(x - 4) < 1 ? 0.05 : 0.2);
    });
    ExpectAt(answer, Sense::Least, 64 * 0.999);
    EXPECT_FALSE(answer.monotone);
}

TEST(Requirement, WhatIsMetOnlyAwayFromTheBetterEndHasNoAnswer)
{
    const auto answer = FindRequirement({1, 256}, Sense::Least, 0.1, {}, [](double x) {
        return std::optional<double>(x > 3 && x < 20 ? 0.05 : 0.2);
    });
    EXPECT_EQ(answer.finding, Finding::InPart);
    EXPECT_FALSE(answer.monotone);
    EXPECT_FALSE(answer.value);
}

TEST(Requirement, ValuesOutsideOfTheRangeAreNotLookedAt)
{
    const auto answer = FindRequirement({1, 256}, Sense::Least, 0.1, {0, 0.5, 300}, [](double) {
        return std::optional<double>(0);
    });
    EXPECT_THAT(ValuesOf(answer), Not(Contains(300)));
    EXPECT_EQ(answer.samples.size(), size_t{kRangeSamples});
}

} // namespace

} // namespace scaleacross
