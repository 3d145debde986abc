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
    // each.
    const EngineErrors errors = ErrorsOf({11, 8, 10, 21}, {10, 10, 10, 20});
    EXPECT_EQ(errors.cases, 4U);
    EXPECT_NEAR(errors.median, 0.05, 1e-12);
    EXPECT_NEAR(errors.p95, 0.2, 1e-12);
    EXPECT_NEAR(errors.bias, -0.0125, 1e-12);
    EXPECT_EQ(errors.worst, 1U);
    EXPECT_NEAR(errors.atWorst, -0.2, 1e-12);
    // Ranks 3 1 2 4 and 2 2 2 4, less their mean of 2.5: 0.5, -1.5, -0.5, 1.5 and -0.5, -0.5, -0.5,
    // 1.5. Products add up to -0.25 + 0.75 + 0.25 + 2.25 = 3, squares to 5 and 3.
    ASSERT_TRUE(errors.rankCorrelation);
    EXPECT_NEAR(*errors.rankCorrelation, 3 / std::sqrt(15.0), 1e-12);
}

TEST(EngineErrors, OrdersAndSingleCases)
{
    EXPECT_NEAR(*ErrorsOf({1, 2, 3}, {10, 20, 30}).rankCorrelation, 1, 1e-12);
    EXPECT_NEAR(*ErrorsOf({3, 2, 1}, {10, 20, 30}).rankCorrelation, -1, 1e-12);
    EXPECT_FALSE(ErrorsOf({1, 1, 1}, {10, 20, 30}).rankCorrelation);
    const EngineErrors one = ErrorsOf({2}, {1});
    EXPECT_FALSE(one.rankCorrelation);
    EXPECT_EQ(one.median, 1);
    EXPECT_EQ(one.p95, 1);
}

} // namespace
} // namespace scaleacross
