// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/model-error.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

namespace scaleacross
{

namespace
{

TimedPlan
Make(double milliseconds, uint32_t tp = 1, uint32_t microbatch = 1)
{
    TimedPlan timed;
    timed.plan.parallel.tp = tp;
    timed.plan.parallel.microbatch = microbatch;
    timed.time = Duration::Seconds(milliseconds / 1000);
    return timed;
}

/// F(sqrt 2) = 1/2 + sqrt 2 / (2 sqrt 4) = 0.853553, of plans whose times differ by sqrt 2 scales.
TEST(ModelError, ByHand)
{
    const double ratio = std::exp(std::sqrt(2.0) * kTensorScale);
    EXPECT_NEAR(ProbabilityFaster(Make(100), Make(100 * ratio, 2)), 0.853553, 1e-6);
    EXPECT_NEAR(ProbabilityFaster(Make(100 * ratio, 2), Make(100)), 1 - 0.853553, 1e-6);
    EXPECT_EQ(ProbabilityFaster(Make(100), Make(100, 2)), 0.5);
    // 0.9 = F(x) where x^2 / (2 + x^2) = 0.8^2: x = sqrt(32 / 9).
    const double sure = std::exp(std::sqrt(32.0 / 9) * kTensorScale);
    EXPECT_TRUE(AreToldApart(Make(100), Make(100 * sure * 1.001, 2)));
    EXPECT_TRUE(AreToldApart(Make(100 * sure * 1.001, 2), Make(100)));
    EXPECT_FALSE(AreToldApart(Make(100), Make(100 * sure * 0.999, 2)));
}

TEST(ModelError, KindsAddUpBySquares)
{
    const double both = std::hypot(kTensorScale, kMicrobatchScale);
    const double ratio = std::exp(std::sqrt(2.0) * both);
    EXPECT_NEAR(ProbabilityFaster(Make(100), Make(100 * ratio, 2, 4)), 0.853553, 1e-6);
    // Two fields of one kind are one difference, and dp is none, since it follows.
    TimedPlan other = Make(100 * std::exp(std::sqrt(2.0) * kPipelineScale));
    other.plan.parallel.pp = 4;
    other.plan.parallel.chunks = 2;
    other.plan.parallel.schedule = "interleaved";
    other.plan.parallel.dp = 8;
    EXPECT_NEAR(ProbabilityFaster(Make(100), other), 0.853553, 1e-6);
    // What crosses buildings and the network are kinds of their own, and what times communication
    // is one with the microbatch.
    TimedPlan apart = Make(100 * std::exp(2 * kOtherScale)); // sqrt 2 x sqrt(1 + 1) scales
    apart.plan.parallel.crossing = Crossing::Pipeline;
    apart.plan.network.qps += 1;
    EXPECT_NEAR(ProbabilityFaster(Make(100), apart), 0.853553, 1e-6);
}

TEST(ModelError, WhateverPlansDifferIn)
{
    TimedPlan other = Make(100 * SureRatio() * 1.0001, 2, 2);
    other.plan.parallel.pp = 2;
    other.plan.parallel.cp = 2;
    other.plan.parallel.crossing = Crossing::Pipeline;
    other.plan.network.qps += 1;
    EXPECT_TRUE(AreToldApart(Make(100), other));
    other.time = Duration::Seconds(0.1 * SureRatio() * 0.9999);
    EXPECT_FALSE(AreToldApart(Make(100), other));
    TimedPlan ahead = Make(100 * std::exp(std::sqrt(2.0) * kMicrobatchScale));
    ahead.plan.parallel.prefetch += 1;
    EXPECT_NEAR(ProbabilityFaster(Make(100), ahead), 0.853553, 1e-6);
}

/// Of more than 1,000 plans those behind count nothing.
TEST(ModelError, OfManyTheFirst)
{
    std::vector<TimedPlan> plans;
    for (uint32_t i = 0; i < 1100; i++)
    {
        plans.push_back(Make(100 + i, 1, 1 + i));
    }
    const auto found = ProbabilitiesBest(plans);
    ASSERT_EQ(found.size(), plans.size());
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-9);
    EXPECT_EQ(found.back(), 0);
}

TEST(ModelError, PlansThatAreTheSameAreOrderedForCertain)
{
    EXPECT_EQ(ProbabilityFaster(Make(100), Make(101)), 1);
    EXPECT_EQ(ProbabilityFaster(Make(101), Make(100)), 0);
    EXPECT_EQ(ProbabilityFaster(Make(100), Make(100)), 0.5);
}

/// Of two plans the pair's probability, to three standard errors of 10,000 draws: 0.3 to 1.5
/// points.
TEST(ModelError, BestOfTwoIsTheFasterOne)
{
    for (const double milliseconds : {101, 105, 120, 150, 300})
    {
        const std::vector<TimedPlan> plans = {Make(100), Make(milliseconds, 4, 2)};
        const double pair = ProbabilityFaster(plans[0], plans[1]);
        EXPECT_NEAR(ProbabilitiesBest(plans)[0], pair, 3 * std::sqrt(pair * (1 - pair) / 10000));
    }
}

TEST(ModelError, ProbabilitiesAddUpAndRepeat)
{
    std::vector<TimedPlan> plans;
    for (uint32_t i = 0; i < 20; i++)
    {
        plans.push_back(Make(100 + i, 1U << (i % 4), 1 + i / 4));
    }
    const auto found = ProbabilitiesBest(plans);
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-9);
    EXPECT_EQ(found, ProbabilitiesBest(plans));
    EXPECT_GT(found.front(), found.back());
    EXPECT_TRUE(ProbabilitiesBest({}).empty());
    EXPECT_EQ(ProbabilitiesBest({Make(100)}), std::vector<double>{1});
    // Three that differ in one kind alike and take equally long: a third each.
    const auto thirds = ProbabilitiesBest({Make(100, 1), Make(100, 2), Make(100, 4)});
    for (const double third : thirds)
    {
        EXPECT_NEAR(third, 1.0 / 3, 3 * std::sqrt(2.0 / 9 / 10000));
    }
}

TEST(ModelError, Text)
{
    EXPECT_EQ(ProbabilityText(0.814), "81 %");
    EXPECT_EQ(ProbabilityText(0.999), "over 99 %");
    EXPECT_EQ(ProbabilityText(0.0004), "under 1 %");
}

} // namespace

} // namespace scaleacross
