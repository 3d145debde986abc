// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/span-quantity.h"
#include "core/io/text-file.h"
#include "places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

const SpanQuantity&
Of(const std::string& word)
{
    const SpanQuantity* quantity = FindSpanQuantity(word);
    SCALEACROSS_INVARIANT(quantity != nullptr, word);
    return *quantity;
}

/// Three buildings of 32 GPUs at 400 Gb/s in a line, with spans of two kinds.
Study
Line()
{
    return ParseStudy(
        "study: line\n"
        "model: llama3-8b\n"
        "workload: {sequence: 2048, global_batch: 96}\n"
        "cluster:\n"
        "  buildings: {count: 3, gpus: 32, gpu: h100, fabric: {spines: 4}}\n"
        "  links:\n"
        "    - {between: [building1, building2], distance: 10km, capacity: 800Gbps}\n"
        "    - {between: [building2, building3], distance: 40km, capacity: 400Gbps, loss: 1e-6}\n"
        "plan: {tp: 4, pp: 1}\n",
        "fake/study.yaml");
}

TEST(SpanQuantity, EveryOneReadsBackWhatItSets)
{
    for (const SpanQuantity& quantity : SpanQuantities())
    {
        SCOPED_TRACE(quantity.word);
        Scenario scenario = Line().scenario;
        const ValueRange range = quantity.range(scenario);
        for (const double value : {range.least, range.most})
        {
            quantity.set(scenario, value);
            EXPECT_NEAR(quantity.get(scenario) / value, 1, 1e-12);
            scenario.Validate();
            EXPECT_FALSE(quantity.text(scenario).empty());
        }
        EXPECT_FALSE(quantity.help.empty());
    }
    EXPECT_EQ(FindSpanQuantity("bandwidth"), nullptr);
}

TEST(SpanQuantity, ThePageHasThemAll)
{
    const std::string page = ReadTextFile(SourcePath("contrib/scaleacross/doc/explorer.md"));
    for (const SpanQuantity& quantity : SpanQuantities())
    {
        EXPECT_THAT(page, HasSubstr("| `" + quantity.word + "` | "));
        EXPECT_THAT(page, HasSubstr("`" + quantity.key + "`"));
    }
}

TEST(SpanQuantity, SpansKeepTheirRatio)
{
    Scenario scenario = Line().scenario;
    const auto& spans = scenario.cluster.crossLinks;
    EXPECT_EQ(Of("span-capacity").get(scenario), 400e9); // the scarcest
    EXPECT_EQ(Of("distance").get(scenario), 40);         // the longest
    Of("span-capacity").set(scenario, 100e9);
    EXPECT_EQ(spans[0].capacity, GigabitsPerSecond(200));
    EXPECT_EQ(spans[1].capacity, GigabitsPerSecond(100));
    Of("distance").set(scenario, 400);
    EXPECT_EQ(spans[0].distance, Distance(100));
    EXPECT_EQ(spans[0].latency, Duration::Microseconds(500)); // 5 us a km
    EXPECT_EQ(spans[1].latency, Duration::Microseconds(2000));
    Of("packet-loss").set(scenario, 1e-4);
    EXPECT_EQ(spans[0].loss, 0); // 0 x 100
    EXPECT_DOUBLE_EQ(spans[1].loss, 1e-4);
}

TEST(SpanQuantity, WhereAllAreZeroTheValueIsThatOfAll)
{
    Scenario scenario = TwoBuildings("").scenario;
    Of("distance").set(scenario, 0);
    EXPECT_EQ(scenario.cluster.crossLinks[0].latency, Duration());
    Of("distance").set(scenario, 8);
    EXPECT_EQ(scenario.cluster.crossLinks[0].latency, Duration::Microseconds(40));
    Of("packet-loss").set(scenario, 1e-3);
    EXPECT_EQ(scenario.cluster.crossLinks[0].loss, 1e-3);
}

TEST(SpanQuantity, LatencyBeyondFibreStays)
{
    Scenario scenario = TwoBuildings("").scenario;
    CrossLinkSpec& span = scenario.cluster.crossLinks[0];
    span.latency = Duration::Microseconds(170); // 150 of fibre and 20 of devices
    Of("distance").set(scenario, 60);
    EXPECT_EQ(span.latency, Duration::Microseconds(320));
}

TEST(SpanQuantity, OversubscriptionIsWhatAStudyWouldSay)
{
    // 32 x 400 Gb/s = 12.8 Tb/s; with 1:4 3.2 Tb/s.
    const ClusterSpec two = TwoBuildings("").scenario.cluster;
    EXPECT_EQ(two.crossLinks[0].capacity, GigabitsPerSecond(3200));
    EXPECT_EQ(OversubscriptionOf(two, two.crossLinks[0]), 4);
    EXPECT_THAT(Of("span-capacity").text(TwoBuildings("").scenario), HasSubstr("(1:4)"));
    // The middle of a line has two spans, each of which may have half of its 12.8 Tb/s.
    const ClusterSpec line = Line().scenario.cluster;
    EXPECT_EQ(OversubscriptionOf(line, line.crossLinks[0]), 6400.0 / 800);
    EXPECT_EQ(OversubscriptionOf(line, line.crossLinks[1]), 6400.0 / 400);
    // The range ends where every span has as much as the NICs behind it.
    const ValueRange range = Of("span-capacity").range(Line().scenario);
    EXPECT_NEAR(range.most, 6400e9, 1);
    EXPECT_NEAR(range.least, 6.4e9, 1);
}

TEST(SpanQuantity, AHubHasNoNics)
{
    const Study study = ParseStudy("study: hub\n"
                                   "model: llama3-8b\n"
                                   "workload: {sequence: 2048, global_batch: 64}\n"
                                   "cluster:\n"
                                   "  buildings: {count: 2, gpus: 32, gpu: h100}\n"
                                   "  cross: {shape: hub, distance: 5km, oversubscription: 2}\n"
                                   "plan: {tp: 4, pp: 1}\n",
                                   "fake/study.yaml");
    const ClusterSpec& cluster = study.scenario.cluster;
    ASSERT_EQ(cluster.crossLinks.size(), 2U);
    EXPECT_EQ(OversubscriptionOf(cluster, cluster.crossLinks[0]), 2);
}

TEST(SpanQuantity, APlanCountsOnlyWhereBuffersHoldTheHeadroom)
{
    // A spine has a span of 3.2 Tb/s / 4 spines = 800 Gb/s and 150 us: 2 x 150 us x 100 GB/s are
    // 30 MB, and its 8 leaves (rails) of 4 x 400 / 4 = 400 Gb/s and 4.5 us 8 x 2 x 4.5 us x 50 GB/s
    // = 3.6 MB; packets make less than 1 MB of difference.
    Study study = TwoBuildings("plan: {tp: 4, pp: 1}\n");
    const Filter filter = Of("buffer").filter(FitsAlways);
    const auto fits = [&](double megabytes, bool pfc) {
        study.scenario.network.pfc = pfc;
        study.scenario.network.leafBuffer = Bytes(1 << 16); // not asked for
        Of("buffer").set(study.scenario, megabytes * 1e6);
        const auto form = filter(study.scenario, [](const auto&...) { return true; });
        return std::holds_alternative<ClosedForm>(form);
    };
    EXPECT_FALSE(fits(33, true));
    EXPECT_TRUE(fits(35, true));
    EXPECT_TRUE(fits(1, false));  // without pauses nothing is kept back
    EXPECT_FALSE(fits(33, true)); // from memory
}

TEST(SpanQuantity, WhatIsSearchedCannotBeAskedFor)
{
    const Study study = TwoBuildings("search: {network: {spine_buffer: [1MiB, 1GiB]}}\n");
    const auto refusal = Of("buffer").refusal(study);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->Where(), "search.network.spine_buffer");
    EXPECT_FALSE(Of("distance").refusal(study));
    EXPECT_TRUE(Of("lane-credits").refusal(study)); // RoCE has none
    EXPECT_FALSE(Of("lane-credits").refusal(TwoBuildings("network: {transport: infiniband}\n")));
}

} // namespace

} // namespace scaleacross
