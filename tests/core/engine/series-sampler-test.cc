// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/series-sampler.h"

#include <gmock/gmock.h>
#include <numeric>

namespace scaleacross
{

namespace
{

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

constexpr Duration
Us(int64_t time)
{
    return Duration::Microseconds(time);
}

SeriesSampler
MakeSampler()
{
    return SeriesSampler({{"link", SeriesKind::Load, BitRate(8e9), true, {}, {}},
                          {"pauses", SeriesKind::Count, {}, true, {}, {}},
                          {"queues", SeriesKind::Level, {}, true, {}, {}}});
}

TEST(SeriesSampler, HasDifferencesOfTotalsAndTheMostOfLevels)
{
    SeriesSampler sampler = MakeSampler();
    EXPECT_EQ(sampler.Due(), Duration::Max());
    sampler.Begin(Us(2048 * 3), {1000, 7, 5});
    EXPECT_EQ(sampler.Due(), Us(2048 * 3 + 3)); // a 2048th of what has passed
    sampler.Take(Us(2048 * 3 + 3), {1600, 7, 2});
    sampler.Take(Us(2048 * 3 + 3), {1600, 7, 2}); // no time
    sampler.Take(Us(2048 * 3 + 4), {2600, 9, 4});
    const NetworkSeries result = sampler.Result();
    EXPECT_THAT(result.at, ElementsAre(Us(6144), Us(6147), Us(6148)));
    ASSERT_THAT(result.series, SizeIs(3));
    EXPECT_THAT(result.series[0].values, ElementsAre(600, 1000));
    EXPECT_THAT(result.series[1].values, ElementsAre(0, 2));
    EXPECT_THAT(result.series[2].values, ElementsAre(5, 4));
    // 1,000 bytes in 1 us at 8 Gb/s take all of it.
    EXPECT_DOUBLE_EQ(result.ShareOf(result.series[0], 1), 1);
    EXPECT_DOUBLE_EQ(result.ShareOf(result.series[0], 0), 0.2);
}

/// However long it goes on, there are few steps, and nothing is lost.
TEST(SeriesSampler, MakesStepsLongerWhereThereAreMany)
{
    SeriesSampler sampler = MakeSampler();
    sampler.Begin(Duration(), {0, 0, 0});
    double total = 0;
    double count = 0;
    int64_t now = 0;
    for (int64_t i = 1; i <= 10'000; i++)
    {
        now = sampler.Due().Ps();
        total += static_cast<double>(i);
        count += i % 3 == 0 ? 1 : 0;
        sampler.Take(Duration::Picoseconds(now), {total, count, i == 7'000 ? 99.0 : 1.0});
    }
    const NetworkSeries result = sampler.Result();
    EXPECT_LE(result.Steps(), SeriesSampler::kMost);
    EXPECT_GE(result.Steps(), SeriesSampler::kMost / 2);
    const auto sum = [&](size_t i) {
        const std::vector<double>& values = result.series[i].values;
        return std::accumulate(values.begin(), values.end(), 0.0);
    };
    EXPECT_EQ(sum(0), 10'000.0 * 10'001 / 2);
    EXPECT_EQ(sum(1), 3'333);
    EXPECT_THAT(result.series[2].values, Contains(99)); // of one sample, in either step beside it
    EXPECT_THAT(result.series[2].values, Each(AnyOf(1, 99)));
    EXPECT_EQ(result.at.back().Ps(), now);
    for (uint32_t i = 1; i + 1 < result.Steps(); i++)
    {
        EXPECT_EQ(result.at[i + 1] - result.at[i], result.at[1] - result.at[0]);
    }
}

TEST(SeriesSampler, LeavesOutWhatIsIdle)
{
    SeriesSampler sampler = MakeSampler();
    sampler.Begin(Duration(), {5, 5, 0});
    sampler.Take(Us(1), {5, 6, 0});
    const NetworkSeries result = sampler.Result();
    ASSERT_THAT(result.series, SizeIs(1));
    EXPECT_EQ(result.series[0].name, "pauses");
}

/// 8 Gb/s carry 1,000 bytes in 1 us: of a half 250 are a half; what is there of a link that is
/// down, or of more than others leave in the mean, is all that it can be.
TEST(NetworkSeries, SharesAreOfWhatEventsLeave)
{
    NetworkSeries series;
    series.at = {Us(0), Us(1), Us(2), Us(3), Us(4)};
    Series load{"link", SeriesKind::Load, BitRate(8e9), true, {250, 250, 0, 5}, {}};
    EXPECT_DOUBLE_EQ(series.ShareOf(load, 1), 0.25);
    load.left = {1, 0.5, 0, 0};
    EXPECT_DOUBLE_EQ(series.RoomOf(load, 1), 500);
    EXPECT_DOUBLE_EQ(series.ShareOf(load, 0), 0.25);
    EXPECT_DOUBLE_EQ(series.ShareOf(load, 1), 0.5);
    EXPECT_DOUBLE_EQ(series.ShareOf(load, 2), 0);
    EXPECT_DOUBLE_EQ(series.ShareOf(load, 3), 1);
}

/// 60 bytes from 5 to 35 us are 2 a microsecond; what lies outside of the steps is not theirs.
TEST(NetworkSeries, SpreadsEvenly)
{
    NetworkSeries series;
    series.at = {Us(10), Us(20), Us(30), Us(32)};
    Series load{"link", SeriesKind::Load, BitRate(8e9), true, {0, 0, 0}, {}};
    series.Spread(load, 60, Us(5), Us(35));
    EXPECT_THAT(load.values, ElementsAre(20, 20, 4));
    load.values.assign(3, 0.0);
    series.Spread(load, 7, Us(20), Us(20)); // at once
    series.Spread(load, 7, Us(32), Us(40));
    series.Spread(load, 7, Us(3), Us(10));
    EXPECT_THAT(load.values, ElementsAre(0, 7, 0));
    load.values.assign(3, 0.0);
    series.Spread(load, 12, Us(29), Us(32));
    EXPECT_THAT(load.values, ElementsAre(0, 4, 8));
    NetworkSeries none;
    none.Spread(load, 12, Us(1), Us(2));
    EXPECT_THAT(none.at, SizeIs(0));
}

} // namespace

} // namespace scaleacross
