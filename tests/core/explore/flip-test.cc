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

/// In one building the crossing is the order of ranks: DP-out before, no placement, PP-out after.
TEST(Flip, NothingWinsWhereNothingCrosses)
{
    SweepPoint alone = At("2", 100, 110);
    alone.crosses = false;
    EXPECT_FALSE(WinnerAt(alone));
    EXPECT_FALSE(MarginAt(alone));
    EXPECT_TRUE(FlipsOf({At("1", 100, 110), alone}).empty());
    // PP-out less DP-out is +10 at 1 and -30 at 5: zero at 1 + 4 x 10 / 40 = 2.
    const auto flips = FlipsOf({At("1", 100, 110), alone, At("5", 100, 70)});
    ASSERT_EQ(flips.size(), 1U);
    EXPECT_EQ(flips[0].before, "1");
    EXPECT_EQ(flips[0].after, "5");
    EXPECT_NEAR(flips[0].about.value(), 2, 1e-9);
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

/// PP-out less DP-out is +30 at 3 km and -30 at 30 km: zero half way, at 16.5 km.
TEST(Flip, ValuesWithUnitsAreMetInTheirUnit)
{
    const auto flips = FlipsOf({At("3km", 100, 130), At("30 km", 130, 100)});
    ASSERT_EQ(flips.size(), 1);
    ASSERT_TRUE(flips[0].about);
    EXPECT_NEAR(*flips[0].about, 16.5, 1e-9);
    EXPECT_EQ(flips[0].scale.TextOf(*flips[0].about), "16.5 km");
    // +10 at 800 Gbps, -30 at 1.6 Tbps: a quarter of the way, at 1 Tbps.
    const auto rates = FlipsOf({At("800Gbps", 100, 110), At("1.6Tbps", 130, 100)});
    ASSERT_EQ(rates.size(), 1);
    EXPECT_EQ(rates[0].scale.TextOf(rates[0].about.value()), "1 Tbps");
}

/// Between names there is nothing, so that none is a neighbour of another.
TEST(Flip, CategoriesHaveNone)
{
    EXPECT_TRUE(FlipsOf({At("h100", 100, 130), At("b200", 130, 100)}).empty());
    EXPECT_TRUE(FlipsOf({At("1", 100, 130), At("auto", 130, 100)}).empty());
    EXPECT_TRUE(FlipsOf({At("1km", 100, 130), At("1ms", 130, 100)}).empty());
    EXPECT_TRUE(FlipsOf({At("true", 100, 130), At("false", 130, 100)}).empty());
}

/// 1, 2 and 7 whatever their order: the one flip is between 2 and 7.
TEST(Flip, OrderOfValuesDoesNotMatter)
{
    const auto flips = FlipsOf({At("7", 100, 70), At("1", 100, 130), At("2", 100, 120)});
    ASSERT_EQ(flips.size(), 1);
    EXPECT_EQ(flips[0].before, "2");
    EXPECT_EQ(flips[0].after, "7");
    EXPECT_NEAR(flips[0].about.value(), 4, 1e-9);
}

TEST(SweepScale, OneUnitForAllValues)
{
    EXPECT_EQ(ScaleOf({"300m", "1km"})->numbers, (std::vector<double>{0.3, 1}));
    EXPECT_EQ(ScaleOf({"100 Gbps", "1Tbps"})->unit, "bps");
    EXPECT_EQ(ScaleOf({"0", "1e-5", "2%"})->numbers, (std::vector<double>{0, 1e-5, 0.02}));
    EXPECT_EQ(ScaleOf({"1ms", "2s"})->numbers, (std::vector<double>{1e-3, 2}));
    EXPECT_EQ(ScaleOf({"1KiB"})->numbers, (std::vector<double>{1024}));
    EXPECT_FALSE(ScaleOf({"1", "1km"}));
}

TEST(Flip, MarginIsOfTheSlower)
{
    EXPECT_NEAR(*MarginAt(At("1", 100, 125)), 0.25, 1e-12);
    EXPECT_NEAR(*MarginAt(At("1", 125, 100)), 0.25, 1e-12);
}

} // namespace

} // namespace scaleacross
