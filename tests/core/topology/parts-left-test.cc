// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/read-study.h"
#include "core/topology/parts-left.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// What is left of the links of a span of two lanes, in order.
std::vector<LinkParts>
Parts(const std::string& events)
{
    const Scenario scenario =
        ParseStudy("cluster:\n  buildings: {count: 2, name: b, gpus: 8, gpu: h100}\n"
                   "  cross: {distance: 1km, capacity: 800Gbps, lanes: 2}\nevents: " +
                       events + "\n",
                   "s.yaml",
                   {},
                   StudyScope::Network)
            .scenario;
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    const std::vector<LinkParts> all = PartsLeft(scenario.cluster, scenario.events, graph, "flow");
    std::vector<LinkParts> parts;
    for (size_t l = 0; l < graph.links.size(); l++)
    {
        if (graph.links[l].kind == LinkKind::Cross)
        {
            parts.push_back(all[l]);
        }
        else
        {
            EXPECT_EQ(all[l].left, 1);
            EXPECT_EQ(all[l].others, 0);
        }
    }
    return parts;
}

testing::Matcher<LinkParts>
Are(double left, double others)
{
    return testing::AllOf(testing::Field("left", &LinkParts::left, left),
                          testing::Field("others", &LinkParts::others, others),
                          testing::Property("Free", &LinkParts::Free, left - others));
}

std::string
Traffic(const std::string& load)
{
    return "{kind: foreign-traffic, target: b1--b2, at: 0s, load: " + load + "}";
}

} // namespace

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PartsLeft, FactorsMultiplyAndLoadsAddUp)
{
    const std::string slow = "{kind: degradation, target: b1--b2, at: 0s, factor: 0.5}";
    EXPECT_THAT(Parts("[]"), Each(Are(1, 0)));
    EXPECT_THAT(Parts("[" + slow + ", " + slow + "]"), Each(Are(0.25, 0)));
    EXPECT_THAT(Parts("[" + Traffic("0.25") + ", " + slow + ", " + Traffic("0.125") + "]"),
                Each(Are(0.5, 0.375)));
    EXPECT_THAT(Parts("[" + Traffic("0.75") + "]"), Each(Are(1, 0.75)));
    // What is down has nothing that others could take.
    EXPECT_THAT(
        Parts("[" + Traffic("0.75") + ", {kind: link-failure, target: b1--b2, lanes: 1, at: 0s}]"),
        ElementsAre(Are(0, 0), Are(1, 0.75)));
}

/**
 * A link that flaps from 1 s, down for 1 s of every 4 s, twice, is up for 6 s of [0, 8). Half of
 * its rate from 2 s to 4 s leaves 5 of 8, and others' quarter from 6 s on 4.5 of 8: of [0, 1), 1;
 * [2, 4), a half each; [4, 5), 1; [6, 8), three quarters each.
 */
TEST(RatesLeft, AreMeansOverTime)
{
    const Scenario scenario =
        ParseStudy("cluster:\n  buildings: {count: 2, name: b, gpus: 8, gpu: h100}\n"
                   "  cross: {distance: 1km, capacity: 800Gbps, lanes: 2}\nevents:\n"
                   "- {kind: flap, target: 'b1/spine0--b2/spine0', at: 1s, down: 1s, period: 4s, "
                   "count: 2}\n"
                   "- {kind: degradation, target: b1--b2, at: 2s, until: 4s, factor: 0.5}\n"
                   "- {kind: foreign-traffic, target: b1--b2, at: 6s, load: 0.25}\n",
                   "s.yaml",
                   {},
                   StudyScope::Network)
            .scenario;
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    const RatesLeft left(scenario.cluster, scenario.events, graph);
    const Duration second = Duration::Seconds(1);
    const auto mean = [&](uint32_t link, double from, double until) {
        return left.Mean(link, Duration::Seconds(from), Duration::Seconds(until));
    };
    EXPECT_FALSE(left.AreWhole());
    std::vector<uint32_t> lanes;
    for (uint32_t l = 0; l < graph.links.size(); l++)
    {
        EXPECT_EQ(left.Changes(l), graph.links[l].kind == LinkKind::Cross);
        if (left.Changes(l))
        {
            lanes.push_back(l);
        }
        else
        {
            EXPECT_EQ(left.Mean(l, Duration(), second), 1);
        }
    }
    ASSERT_GT(lanes.size(), 1);
    EXPECT_DOUBLE_EQ(mean(lanes[0], 0, 8), 4.5 / 8);
    EXPECT_DOUBLE_EQ(mean(lanes[1], 0, 8), (2 + 1 + 2 + 1.5) / 8);
    EXPECT_DOUBLE_EQ(mean(lanes[0], 0.5, 1.5), 0.5);
    EXPECT_DOUBLE_EQ(mean(lanes[0], 1, 1), 0);
    EXPECT_DOUBLE_EQ(mean(lanes[0], 2, 2), 0.5);
    EXPECT_DOUBLE_EQ(mean(lanes[0], 100, 200), 0.75);
    EXPECT_TRUE(RatesLeft(scenario.cluster, {}, graph).AreWhole());
}

TEST(PartsLeft, OthersMayNotTakeAll)
{
    const std::string half = "{kind: degradation, target: b1--b2, at: 0s, factor: 0.5}";
    for (const std::string& events : {"[" + Traffic("0.5") + ", " + half + "]",
                                      "[" + Traffic("0.5") + ", " + Traffic("0.75") + "]"})
    {
        try
        {
            Parts(events);
            ADD_FAILURE() << events;
        }
        catch (const ConfigError& error)
        {
            // The last one by which others load it, with its place.
            EXPECT_EQ(error.Where(),
                      events.find("0.75") == std::string::npos ? "s.yaml:4:64 events.0.load"
                                                               : "s.yaml:4:124 events.1.load");
            EXPECT_THAT(error.Problem(), HasSubstr("leaves nothing of the link b1/"));
        }
    }
}

TEST(PartsLeft, LoadsAreParts)
{
    for (const auto* load : {"0", "1", "1.5", "-0.1", "nan"})
    {
        EXPECT_THROW(Parts("[" + Traffic(load) + "]"), ConfigError) << load;
    }
    EXPECT_THROW(Parts("[{kind: foreign-traffic, target: b1--b2, at: 0s}]"), ConfigError);
    EXPECT_THROW(Parts("[{kind: foreign-traffic, target: b1--b2, at: 0s, load: 0.5, lanes: 1}]"),
                 ConfigError);
}

} // namespace scaleacross
