// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/engine-errors.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace scaleacross
{
namespace
{

TEST(EngineErrors, ByHand)
{
    // Errors +10 %, -20 %, 0, +5 %: sizes 0, 5, 10, 20, of which the second is the nearest rank to
    // a half, and the fourth to 95 of 100; their mean is -1.25 %. Orders are 1 2 3 4 and 3 1 2 4
    // (by times 11, 8, 10, 21 of 10, 10, 10, 20): the references' three equal ones have rank 2
    // each. The first of the best is third by the engine, whose own best is as good.
    const EngineErrors errors = ErrorsOf({11, 8, 10, 21}, {10, 10, 10, 20});
    EXPECT_EQ(errors.cases, 4U);
    EXPECT_NEAR(errors.median, 0.05, 1e-12);
    EXPECT_NEAR(errors.p95, 0.2, 1e-12);
    EXPECT_NEAR(errors.bias, -0.0125, 1e-12);
    EXPECT_EQ(errors.worst, 1U);
    EXPECT_NEAR(errors.atWorst, -0.2, 1e-12);
    // Ranks 3 1 2 4 and 2 2 2 4, less their mean of 2.5: 0.5, -1.5, -0.5, 1.5 and -0.5, -0.5, -0.5,
    // 1.5. Products add up to -0.25 + 0.75 + 0.25 + 2.25 = 3, squares to 5 and 3.
    const Ordering ordering = OrderingOf({11, 8, 10, 21}, {10, 10, 10, 20});
    ASSERT_TRUE(ordering.rankCorrelation);
    EXPECT_NEAR(*ordering.rankCorrelation, 3 / std::sqrt(15.0), 1e-12);
    EXPECT_EQ(ordering.rankOfBest, 3U);
    EXPECT_EQ(ordering.regret, 0);
    // The best, 10, is second by the engine; the engine's best takes 12, a fifth more.
    const Ordering other = OrderingOf({7, 6, 9}, {10, 12, 15});
    EXPECT_EQ(other.rankOfBest, 2U);
    EXPECT_NEAR(other.regret, 0.2, 1e-12);
}

TEST(EngineErrors, OrdersAndSingleCases)
{
    EXPECT_NEAR(*OrderingOf({1, 2, 3}, {10, 20, 30}).rankCorrelation, 1, 1e-12);
    EXPECT_NEAR(*OrderingOf({3, 2, 1}, {10, 20, 30}).rankCorrelation, -1, 1e-12);
    EXPECT_FALSE(OrderingOf({1, 1, 1}, {10, 20, 30}).rankCorrelation);
    const EngineErrors one = ErrorsOf({2}, {1});
    EXPECT_EQ(one.median, 1);
    EXPECT_EQ(one.p95, 1);
}

} // namespace
} // namespace scaleacross
