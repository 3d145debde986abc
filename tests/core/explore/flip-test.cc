// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/flip.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

SweepPoint
At(const std::string& value, int64_t data, int64_t pipeline)
{
    SweepPoint point{value, {}};
    if (data > 0)
    {
        point.times.emplace_back(Crossing::Data, Duration::Microseconds(data));
    }
    if (pipeline > 0)
    {
        point.times.emplace(pipeline < data || data == 0 ? point.times.begin() : point.times.end(),
                            Crossing::Pipeline,
                            Duration::Microseconds(pipeline));
    }
    return point;
}

TEST(Flip, FoundBetweenNeighboursInEitherDirection)
{
    // PP-out less DP-out is +20 at 2 and -30 at 7: zero at 2 + 5 x 20 / 50 = 4.
    const auto there = FlipsOf({At("1", 100, 130), At("2", 100, 120), At("7", 100, 70)});
    ASSERT_EQ(there.size(), 1);
    EXPECT_EQ(there[0].before, "2");
    EXPECT_EQ(there[0].after, "7");
    EXPECT_EQ(there[0].from, Crossing::Data);
    EXPECT_EQ(there[0].to, Crossing::Pipeline);
    ASSERT_TRUE(there[0].about);
    EXPECT_NEAR(*there[0].about, 4, 1e-9);
    EXPECT_TRUE(there[0].toldApart.value());

    const auto back = FlipsOf({At("2", 120, 100), At("7", 70, 100)});
    ASSERT_EQ(back.size(), 1);
    EXPECT_EQ(back[0].to, Crossing::Data);
}

/// One side that is sure (0.9) makes a flip a finding.
TEST(Flip, WithoutASureSideIsNoFinding)
{
    SweepPoint before = At("1", 100, 101);
    SweepPoint after = At("2", 103, 100);
    before.probability = after.probability = 0.6;
    EXPECT_FALSE(FlipsOf({before, after})[0].toldApart.value());
    after.probability = 0.95;
    EXPECT_TRUE(FlipsOf({before, after})[0].toldApart.value());
    EXPECT_TRUE(FlipsOf({after, At("3", 100, 104)})[0].toldApart.value());
    // Of an engine whose error is not known nothing is said.
    before.probability = after.probability = std::nullopt;
    EXPECT_FALSE(FlipsOf({before, after})[0].toldApart.has_value());
}

TEST(Flip, NoneWhereOneAlwaysWins)
{
    EXPECT_TRUE(FlipsOf({At("1", 100, 130), At("2", 100, 101)}).empty());
    EXPECT_TRUE(FlipsOf({}).empty());
}

TEST(Flip, PlacementsThatCannotRun)
{
    EXPECT_FALSE(WinnerAt(At("1", 0, 0)));
    EXPECT_EQ(WinnerAt(At("1", 0, 5)), Crossing::Pipeline);
    EXPECT_EQ(WinnerAt(At("1", 5, 0)), Crossing::Data);
    EXPECT_FALSE(MarginAt(At("1", 0, 5)));
    // A value where nothing runs is passed over; times of one side only give no meeting point.
    const auto flips = FlipsOf({At("1", 5, 0), At("2", 0, 0), At("3", 0, 5)});
    ASSERT_EQ(flips.size(), 1);
    EXPECT_EQ(flips[0].before, "1");
    EXPECT_EQ(flips[0].after, "3");
    EXPECT_FALSE(flips[0].about);
}

TEST(Flip, ValuesWithUnitsAreNotInterpolated)
{
    EXPECT_FALSE(FlipsOf({At("3km", 100, 130), At("30km", 130, 100)})[0].about);
}

TEST(Flip, MarginIsOfTheSlower)
{
    EXPECT_NEAR(*MarginAt(At("1", 100, 125)), 0.25, 1e-12);
    EXPECT_NEAR(*MarginAt(At("1", 125, 100)), 0.25, 1e-12);
}

} // namespace

} // namespace scaleacross
