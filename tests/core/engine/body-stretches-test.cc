// SPDX-License-Identifier: GPL-2.0-only

// What a class repeats in a body, of stretches whose times and loads are given by hand.

#include "core/engine/body-stretches.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace scaleacross::evaluation
{
namespace
{

constexpr Duration
Ps(int64_t count)
{
    return Duration::Picoseconds(count);
}

/// Up to an operation, all of it computing.
BodyStretch
Until(uint32_t end, int64_t ps, std::vector<CutLoad> loads = {})
{
    BodyStretch stretch;
    stretch.end = end;
    stretch.time = Ps(ps);
    stretch.totals.compute = Ps(ps);
    stretch.loads = std::move(loads);
    return stretch;
}

TEST(BodyStretches, FollowEachOtherAsFarAsTheyAreKnown)
{
    BodyStretches known;
    EXPECT_FALSE(known.IsKnown(0));
    known.Learn(0, Until(3, 10));
    EXPECT_EQ(known.From(0).end, 3U);
    known.Learn(3, Until(5, 7));
    EXPECT_EQ(known.From(0).end, 5U);
    EXPECT_EQ(known.From(0).time, Ps(17));
    EXPECT_EQ(known.From(0).totals.compute, Ps(17));
    EXPECT_EQ(known.From(3).time, Ps(7));
    EXPECT_FALSE(known.IsKnown(4)); // inside of one
    EXPECT_FALSE(known.IsKnown(5));
}

/// What depends on others is executed each time, and ends a row.
TEST(BodyStretches, EndBeforeWhatDependsOnOthers)
{
    BodyStretches known;
    known.Learn(0, Until(3, 10));
    BodyStretch shared = Until(5, 7);
    shared.local = false;
    known.Learn(3, shared);
    known.Learn(5, Until(6, 2));
    EXPECT_TRUE(known.IsKnown(3));
    EXPECT_FALSE(known.IsLocal(3));
    EXPECT_EQ(known.From(0).end, 3U);
    EXPECT_EQ(known.From(0).time, Ps(10));
}

/// One that loads cuts has these while it lasts and no longer, so that it is a row of its own.
TEST(BodyStretches, AreAloneWhereTheyLoadCuts)
{
    BodyStretches known;
    known.Learn(0, Until(3, 10));
    known.Learn(3, Until(5, 7, {{2, 0.5, 11}}));
    known.Learn(5, Until(6, 2));
    EXPECT_EQ(known.From(0).end, 3U);
    EXPECT_TRUE(known.From(0).loads.empty());
    EXPECT_EQ(known.From(3).end, 5U);
    ASSERT_EQ(known.From(3).loads.size(), 1U);
    EXPECT_EQ(known.From(3).loads.front().units, 11U);
    EXPECT_EQ(known.From(5).end, 6U);
}

/// At 17 ps the second one ends, which whoever is disturbed then still executes.
TEST(BodyStretches, AreDoneIfTheyEndedBefore)
{
    BodyStretches known;
    known.Learn(0, Until(3, 10));
    known.Learn(3, Until(5, 7));
    EXPECT_EQ(known.Before(0, Ps(10)).end, 0U);
    EXPECT_EQ(known.Before(0, Ps(10)).time, Ps(0));
    EXPECT_EQ(known.Before(0, Ps(11)).end, 3U);
    EXPECT_EQ(known.Before(0, Ps(17)).end, 3U);
    EXPECT_EQ(known.Before(0, Ps(17)).totals.compute, Ps(10));
}

} // namespace
} // namespace scaleacross::evaluation
