// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/calibration.h"

#include <cmath>
#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

size_t
NextOf(Calibration& design, double left = 1e9)
{
    const auto trial = design.Next(left);
    return trial ? trial->subject : SIZE_MAX;
}

TEST(Calibration, MeasuresWhatIsWorthMostFirst)
{
    // The worked case of the class: gains are 0.28 and 0.07, then 4 x 0.03 x (1 - 1 / sqrt 2) =
    // 0.035 against 0.07, then that.
    Calibration design({{4, 1}, {1, 1}}, 3);
    EXPECT_EQ(NextOf(design), 0U);
    design.Record(0, 1.1, 1);
    EXPECT_EQ(NextOf(design), 1U);
    design.Record(1, 1.0, 1);
    EXPECT_EQ(NextOf(design), 0U);
}

TEST(Calibration, DoesNotRepeatWhatNoSeedChangesNorMoreThanIsAskedFor)
{
    Calibration design({{1, 1}}, 3);
    EXPECT_EQ(NextOf(design), 0U);
    design.Record(0, 1.1, 1);
    EXPECT_EQ(NextOf(design), 0U);
    design.Record(0, 1.1, 1);
    EXPECT_EQ(NextOf(design), SIZE_MAX); // no spread, nothing to gain
    Calibration spread({{1, 1}}, 3);
    for (const double factor : {1.0, 1.2, 1.1})
    {
        EXPECT_EQ(NextOf(spread), 0U);
        spread.Record(0, factor, 1);
    }
    EXPECT_EQ(NextOf(spread), SIZE_MAX); // three are all
}

TEST(Calibration, LeavesOutWhatDoesNotFitAndWhatHasFailed)
{
    Calibration design({{4, 10}, {1, 1}}, 3);
    EXPECT_EQ(NextOf(design, 5), 1U);
    // It took four times what was expected, and so would the other: 40 s.
    design.Record(1, 1.0, 4);
    EXPECT_EQ(NextOf(design, 30), 1U);
    EXPECT_EQ(NextOf(design, 41), 0U);
    design.GiveUp(0);
    design.GiveUp(1);
    EXPECT_EQ(NextOf(design), SIZE_MAX);
}

TEST(Calibration, IntervalsAreStudents)
{
    Calibration design({{1, 1}}, 3);
    EXPECT_FALSE(design.Of(0));
    design.Record(0, 1.2, 1);
    EXPECT_EQ(design.Of(0)->low, design.Of(0)->high);
    // Logarithms -0.1, 0 and 0.1: mean 0, deviation 0.1; t of 2 degrees of freedom at 95 % is
    // 2.919986 (any table), so that the half width is 2.919986 x 0.1 / sqrt 3 = 0.168585.
    Calibration three({{1, 1}}, 3);
    for (const double log : {-0.1, 0.0, 0.1})
    {
        three.Record(0, std::exp(log), 1);
    }
    EXPECT_NEAR(three.Of(0)->value, 1.0, 1e-12);
    EXPECT_NEAR(std::log(three.Of(0)->high), 0.168585, 1e-6);
    EXPECT_NEAR(std::log(three.Of(0)->low), -0.168585, 1e-6);
}

} // namespace
} // namespace scaleacross
