// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/pass-ends.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

PassTimes
Layer(double forward, double input, double weight)
{
    return {Duration::Seconds(forward), Duration::Seconds(input), Duration::Seconds(weight)};
}

TEST(PassEnds, WhatIsNotHidden)
{
    // Gathers of 3 against forwards of 2: at 3 and 6, so that passes are done at 5 and 8, not 4.
    // Reductions of 5 against backwards of 4: from 4 to 9 and from 9 to 14, not 8.
    const std::vector<PassTimes> pieces(2, Layer(2, 3, 1));
    const std::vector<ParameterUnit> units(2, ParameterUnit{1, 0, 1});
    const std::vector<UnitTimes> times(2, UnitTimes{3, 0, 5, 0});
    const PassEnds ends = EndsOf(pieces, units, times);
    EXPECT_DOUBLE_EQ(ends.first, 4);
    EXPECT_DOUBLE_EQ(ends.last, 6);
}

TEST(PassEnds, OfShortCollectivesAreTheFirstAndTheLast)
{
    // Gathers of 1 before forwards of 2: all but the first are hidden. Reductions of 1 likewise.
    const std::vector<PassTimes> pieces(5, Layer(2, 2, 2));
    const std::vector<ParameterUnit> units(5, ParameterUnit{1, 0, 1});
    const std::vector<UnitTimes> times(5, UnitTimes{1, 0, 1, 0});
    const PassEnds ends = EndsOf(pieces, units, times);
    EXPECT_DOUBLE_EQ(ends.first, 1);
    EXPECT_DOUBLE_EQ(ends.last, 1);
}

TEST(PassEnds, ExpertsComeLaterAndGoEarlier)
{
    // One layer, forward 2, backward 4. Dense parameters are there at 1, experts at 1 + 6: 5 more
    // than 2. Experts are reduced in the last backward from its beginning at best, until 6, dense
    // ones then until 7: 3 more than 4.
    const std::vector<PassTimes> pieces = {Layer(2, 3, 1)};
    const std::vector<ParameterUnit> units = {{1, 1, 1}};
    const std::vector<UnitTimes> times = {{1, 6, 1, 6}};
    const PassEnds ends = EndsOf(pieces, units, times);
    EXPECT_DOUBLE_EQ(ends.first, 5);
    EXPECT_DOUBLE_EQ(ends.last, 3);
}

TEST(PassEnds, UnitsOfSeveralLayersAreReducedAtTheirFirst)
{
    // Units of the first and of two more layers, backward 4 each. The second unit is done at 8 and
    // reduced until 13, the first, done at 12, until 18: 6 more than 12. Its gather of 3 is all
    // that holds the first layer up; the second's is there at 6, a second after it could be used.
    const std::vector<PassTimes> pieces(3, Layer(2, 3, 1));
    const std::vector<ParameterUnit> units = {{1, 0, 1}, {1, 0, 2}};
    const std::vector<UnitTimes> times(2, UnitTimes{3, 0, 5, 0});
    const PassEnds ends = EndsOf(pieces, units, times);
    EXPECT_DOUBLE_EQ(ends.first, 4);
    EXPECT_DOUBLE_EQ(ends.last, 6);
}

TEST(PassEnds, OfAWindowAreTheLastUnits)
{
    // A layer and a head. The head's parameters are awaited before its forward of 2, and its
    // gradients reduced after its backward of 1 + 3.
    const std::vector<PassTimes> pieces = {Layer(4, 5, 6), Layer(2, 1, 3)};
    WindowEnds ends = WindowEndsOf(pieces, {{1, 1, 1}, {1, 0, 1}});
    EXPECT_EQ(ends.left, Duration::Seconds(2));
    EXPECT_EQ(ends.weights, Duration::Seconds(3));
    EXPECT_EQ(ends.backwards, Duration::Seconds(4));
    // In one unit with it, without experts, all of both.
    ends = WindowEndsOf(pieces, {{1, 0, 2}});
    EXPECT_EQ(ends.left, Duration::Seconds(6));
    EXPECT_EQ(ends.weights, Duration::Seconds(9));
    EXPECT_EQ(ends.backwards, Duration::Seconds(15));
    // With experts, which the layer awaits and reduces somewhere: the head's, and only backward.
    ends = WindowEndsOf(pieces, {{1, 1, 2}});
    EXPECT_EQ(ends.left, Duration());
    EXPECT_EQ(ends.weights, Duration::Seconds(3));
    EXPECT_EQ(ends.backwards, Duration::Seconds(4));
}

} // namespace

} // namespace scaleacross
