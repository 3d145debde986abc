// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/slice-sizes.h"

#include <gtest/gtest.h>
#include <limits>

namespace scaleacross
{
namespace
{

constexpr double kEver = std::numeric_limits<double>::infinity();

/// Of so many stages, 1 s for a stage by kSpeed, that sends a hundredth of its class's bytes.
SliceSubject
SecondOf(uint32_t stages, uint32_t mostTimes = 1)
{
    SliceSubject subject;
    subject.comm = CommClass::Data;
    subject.stages = stages;
    subject.mostTimes = mostTimes;
    subject.onePackets = 1e6;
    subject.allPackets = 1e6 * stages;
    subject.oneShare = 0.01;
    subject.allShare = 0.01 * stages;
    return subject;
}

const PacketSpeed kSpeed{0, 1e-6};

TEST(SliceSizes, GrowFromWindowsToAllStagesToSeveralTimes)
{
    const std::vector<SliceSize> sizes = SizesOf(SecondOf(4, 5));
    // 1/4096 to 1 are 13 windows, then three of all stages, then 2, 4 and 5 times.
    ASSERT_EQ(sizes.size(), 19U);
    EXPECT_EQ(sizes[0], (SliceSize{false, 1, 1.0 / 4096}));
    EXPECT_EQ(sizes[12], (SliceSize{false, 1, 1}));
    EXPECT_EQ(sizes[13], (SliceSize{true, 1, 0.25}));
    EXPECT_EQ(sizes[15], (SliceSize{true, 1, 1}));
    EXPECT_EQ(sizes[16], (SliceSize{true, 2, 1}));
    EXPECT_EQ(sizes[17], (SliceSize{true, 4, 1}));
    EXPECT_EQ(sizes[18], (SliceSize{true, 5, 1}));
    EXPECT_EQ(SizesOf(SecondOf(1)).back(), (SliceSize{false, 1, 1}));
}

TEST(SliceSizes, TheBestThatFitsIsTaken)
{
    const SliceSubject subject = SecondOf(4, 2);
    // A window of p and another of half of that are 1.5 p seconds of a stage; all stages, and one
    // by itself, are 5 s, a quarter of it 1.875 s and a half 3.75 s; twice 9 s.
    EXPECT_EQ(BestWithin(subject, kSpeed, 0.75), (SliceSize{false, 1, 0.5}));
    EXPECT_EQ(BestWithin(subject, kSpeed, 1), (SliceSize{false, 1, 1}));
    EXPECT_EQ(BestWithin(subject, kSpeed, 1.875), (SliceSize{true, 1, 0.25}));
    EXPECT_EQ(BestWithin(subject, kSpeed, 4.9), (SliceSize{true, 1, 0.5}));
    EXPECT_EQ(BestWithin(subject, kSpeed, 5), (SliceSize{true, 1, 1}));
    EXPECT_EQ(BestWithin(subject, kSpeed, kEver), (SliceSize{true, 2, 1}));
    EXPECT_DOUBLE_EQ(kSpeed.Seconds(subject, {true, 2, 1}), 9);
    EXPECT_EQ(BestWithin(subject, kSpeed, 0), (SliceSize{false, 1, 1.0 / 4096}));
    EXPECT_DOUBLE_EQ(subject.Share({true, 2, 1}), 0.08);
    EXPECT_DOUBLE_EQ(subject.Share({true, 1, 0.25}), 0.04 * 0.375);
    EXPECT_DOUBLE_EQ((SliceSize{true, 1, 0.25}.Amount(4)), 1);
}

TEST(SliceSizes, AllAreDoneInTime)
{
    // The worked case: 8 s each, 13.5 s count. Halves are 6 + 6 s, both whole 16 s.
    SliceSubject eight = SecondOf(1);
    eight.onePackets = 8e6;
    const double seconds = EvenSeconds({eight, eight}, {}, kSpeed, {15, 1, 1});
    EXPECT_GE(seconds, 6);
    EXPECT_LT(seconds, 8);
    // Two at a time: 16 / 2 + 8 / 2 = 12 s.
    EXPECT_GE(EvenSeconds({eight, eight}, {}, kSpeed, {15, 2, 1}), 8);
    // Three seeds of halves are 36 s, of quarters 18, of eighths (1.5 s each) 9.
    const double seeds = EvenSeconds({eight, eight}, {}, kSpeed, {15, 1, 3});
    EXPECT_GE(seeds, 1.5);
    EXPECT_LT(seeds, 3);
    // Where all of one is known, and a quarter of the other: that as a whole is 8 s.
    const double more = EvenSeconds({eight, eight}, {1, 0.25}, kSpeed, {15, 1, 1});
    EXPECT_GE(more, 8);
    EXPECT_TRUE(IsWorthwhile(0.5, 0.25));
    EXPECT_FALSE(IsWorthwhile(0.4, 0.25));
    EXPECT_TRUE(IsWorthwhile(0.01, 0));
    // The least window of 8 s is 8 x 1.5 / 4096 = 2.9 ms.
    EXPECT_EQ(EvenSeconds({eight}, {}, kSpeed, {0.002, 1, 1}), 0);
}

TEST(SliceSizes, TellInWhatTimeAShareIsCovered)
{
    // One operation of 10 stages: 1 % a stage, 10 % in all. For 5 %: a half of all stages is
    // 1.5 x 5 % = 7.5 % in 7.5 s, a quarter 3.75 %. That has to be nine tenths of what is
    // left, 8.33 s, by the first round: it has a tenth, 0.91 s, and takes half a stage with it,
    // 0.75 s. 9.08 s.
    const std::vector<SliceSubject> one = {SecondOf(10)};
    const auto seconds = SecondsToCover(0.05, one, CommClass::Data, kSpeed, kSpeed, {1, 1, 1});
    ASSERT_TRUE(seconds);
    EXPECT_GE(*seconds, 8.25 / 0.9 + 0.75);
    // Both kinds of steps are tenths.
    EXPECT_LE(*seconds, (8.25 / 0.9 + 1) * 1.1 * 1.1);
    EXPECT_FALSE(SecondsToCover(0.2, one, CommClass::Data, kSpeed, kSpeed, {1, 1, 1}));
    EXPECT_FALSE(SecondsToCover(0.05, one, CommClass::Pipeline, kSpeed, kSpeed, {1, 1, 1}));
    EXPECT_NEAR(CoverageWithin(one, CommClass::Data, kSpeed, kEver), 0.1, 1e-12);
    EXPECT_EQ(SecondsToCover(0.05, one, CommClass::Data, kSpeed, kSpeed, {200, 1, 1}), 200);
}

} // namespace
} // namespace scaleacross
