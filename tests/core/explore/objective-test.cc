// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/base/text.h"
#include "core/explore/objective.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

RunReport
Report()
{
    RunReport report;
    report.iterationTime = Duration::Seconds(3);
    report.memoryMax = Bytes(40);
    report.crossBuildingBytes = Bytes(50);
    return report;
}

const Rates g_rates{1200, 1e6, 5000.0};

TEST(Objective, BoundsWhatItMeasures)
{
    const RunReport report = Report();
    const ClosedForm known{report.iterationTime, report.memoryMax, report.crossBuildingBytes};
    for (const auto* row : Objective::Rows())
    {
        EXPECT_EQ(row->least(known, g_rates), row->value(report, g_rates)) << row->word;
        EXPECT_EQ(row->least(ClosedForm(), g_rates), 0) << row->word;
        EXPECT_NE(row->unit, "") << row->word;
    }
}

/// 3 s are 1/1,200 of an hour: 1 GPU-hour of 1,200 GPUs, and 1/1,200 of what an hour costs.
TEST(Objective, IsWhatItSays)
{
    const auto value = [](const char* word) { return Objective(word)->value(Report(), g_rates); };
    EXPECT_DOUBLE_EQ(value("time"), 3);
    EXPECT_DOUBLE_EQ(value("gpu-hours"), 1);
    EXPECT_DOUBLE_EQ(value("cost"), 5000.0 / 1200);
    EXPECT_EQ(value("memory"), 40);
    EXPECT_EQ(value("bytes"), 50);
    EXPECT_EQ(ValueText("time", 3), "3 s");
    EXPECT_EQ(ValueText("gpu-hours", 1.5), "1.5 GPU-hours");
    EXPECT_EQ(ValueText("memory", 2048), "2 KiB");
}

/// What orders plans as their times do is a multiple of the time; each is one of its figure.
TEST(Objective, IsAMultipleOfItsFigure)
{
    RunReport twice = Report();
    twice.iterationTime = twice.iterationTime * 2;
    for (const auto* row : Objective::Rows())
    {
        const double ratio = row->value(twice, g_rates) / row->value(Report(), g_rates);
        EXPECT_DOUBLE_EQ(ratio, row->followsTime ? 2 : 1) << row->word;
        const auto& figures = RunReport::Figures();
        const auto figure = std::find_if(figures.begin(), figures.end(), [row](const auto& one) {
            return one.key == row->figure;
        });
        ASSERT_NE(figure, figures.end()) << row->figure;
        RunReport without = Report();
        figure->set(without, figure->zero);
        EXPECT_EQ(row->value(without, g_rates), 0) << row->word;
    }
}

/// Two buildings of 32 GPUs and a span of 3 Tb/s over 30 km: 64 x 2.5 + 3 x 30 x 0.1 an hour; and
/// 64 sequences of 2,048 tokens.
TEST(Objective, RatesAreThoseOfTheStudy)
{
    const Study free = TwoBuildings("");
    EXPECT_FALSE(RatesOf(free).costPerHour);
    Study study = TwoBuildings("prices: {gpu_hour: 2.5, span_tbps_km_hour: 0.1}\n");
    study.scenario.cluster.crossLinks.front().capacity = BitRate(3e12);
    const Rates rates = RatesOf(study);
    EXPECT_EQ(rates.gpus, 64);
    EXPECT_DOUBLE_EQ(rates.tokens, 64 * 2048);
    EXPECT_DOUBLE_EQ(rates.costPerHour.value(), 64 * 2.5 + 3 * 30 * 0.1);
    EXPECT_DOUBLE_EQ(RatesOf(TwoBuildings("prices: {gpu_hour: 2.5}\n")).costPerHour.value(), 160);
    EXPECT_EQ(RatesOf(TwoBuildings("prices: {}\n")).costPerHour, std::nullopt);
    study.prices->gpuHour = 0;
    EXPECT_DOUBLE_EQ(RatesOf(study).costPerHour.value(), 9);
}

} // namespace

} // namespace scaleacross
