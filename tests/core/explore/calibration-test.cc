// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/calibration.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

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

TEST(Calibration, TwoSeedsThatAgreeAreNotTakenForCertain)
{
    // Of two alike operations that which two seeds agree of is still unsure, but less than the one
    // whose two seeds do not.
    Calibration design({{1, 1}, {1, 1}}, 3);
    for (int i = 0; i < 4; i++)
    {
        NextOf(design);
    }
    design.Record(0, 1.1, 1);
    design.Record(0, 1.1, 1);
    design.Record(1, 1.0, 1);
    design.Record(1, 1.2, 1);
    EXPECT_LT(design.Of(0)->low, 1.05);
    EXPECT_EQ(NextOf(design), 1U);
    EXPECT_EQ(NextOf(design), 0U);
}

TEST(Calibration, MeasuresNoMoreThanIsAskedFor)
{
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
    // Of one seed nothing is known but that others deviate by 0.03; t of 2 degrees of freedom at
    // 95 % is 2.919986 (any table), so that the half width is 2.919986 x 0.03 = 0.0875996.
    design.Record(0, 1.2, 1);
    EXPECT_NEAR(std::log(design.Of(0)->high / 1.2), 0.0875996, 1e-6);
    EXPECT_NEAR(std::log(design.Of(0)->low / 1.2), -0.0875996, 1e-6);
    // Logarithms -0.1, 0 and 0.1: mean 0, squares 0.02. Of all operations s0^2 = (2 x 0.03^2 +
    // 0.02) / (2 + 2) = 0.00545, and of this one s^2 = (2 x 0.00545 + 0.02) / (2 + 2) = 0.007725; t
    // of 4 degrees of freedom is 2.131847, and 2.131847 x 0.0878920 / sqrt 3 = 0.108179.
    Calibration three({{1, 1}}, 3);
    for (const double log : {-0.1, 0.0, 0.1})
    {
        three.Record(0, std::exp(log), 1);
    }
    EXPECT_NEAR(three.Of(0)->value, 1.0, 1e-12);
    EXPECT_NEAR(std::log(three.Of(0)->high), 0.108179, 1e-6);
    EXPECT_NEAR(std::log(three.Of(0)->low), -0.108179, 1e-6);
}

TEST(Calibration, WindowsGoOnAsTheirSecondHalf)
{
    // 1 ms before the first byte and 8 ms for all of them, exactly.
    std::vector<double> asked;
    const auto line = [&asked](double part) {
        asked.push_back(part);
        return 1e-3 + 8e-3 * part;
    };
    EXPECT_NEAR(WholeTime(0.25, line), 9e-3, 1e-15);
    EXPECT_EQ(asked, (std::vector<double>{0.25, 0.125}));
    // The whole is asked for once.
    asked.clear();
    EXPECT_NEAR(WholeTime(1, line), 9e-3, 1e-15);
    EXPECT_EQ(asked, std::vector<double>{1});
    // What goes faster than a line after a while is missed: 8 sqrt(p) ms. T(1/4) = 4, T(1/8) =
    // 2.828427, and 4 + 3/4 x 1.171573 x 8 = 11.029437 instead of 8. Packets that take 1.3 times as
    // long throughout have a factor of 1.3 all the same, by the same windows of both.
    const auto root = [](double part) { return 8 * std::sqrt(part); };
    const auto longer = [&root](double part) { return 1.3 * root(part); };
    EXPECT_NEAR(WholeTime(0.25, root), 11.029437, 1e-6);
    EXPECT_NEAR(WholeTime(0.25, longer) / WholeTime(0.25, root), 1.3, 1e-12);
}

} // namespace
} // namespace scaleacross
