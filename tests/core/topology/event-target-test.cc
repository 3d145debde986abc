// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/read-study.h"
#include "core/topology/cut-share.h"
#include "core/topology/event-target.h"
#include "core/topology/graph-names.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{
namespace
{

/// Two buildings of 16 GPUs (8 to a server, rails: 8 leaves) and 4 spines, two lanes per plane.
Scenario
Read(const std::string& events)
{
    const std::string study = R"(
model: llama3-8b
workload: {sequence: 1024, global_batch: 32}
cluster:
  buildings:
    - {name: a--b, gpus: 16, gpu: h100, fabric: {spines: 4}}
    - {name: c, gpus: 16, gpu: h100, fabric: {spines: 4}}
  links: [{between: [a--b, c], distance: 10km, capacity: 800Gbps, lanes: 2}]
events: )" + events + "\n";
    return ParseStudy(study, "s.yaml").scenario;
}

TEST(GraphNames, EveryLinkHasANameOfItsOwn)
{
    const Scenario scenario = Read("[]");
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    std::set<std::string> names;
    for (uint32_t i = 0; i < graph.links.size(); i++)
    {
        const std::string name = LinkName(scenario.cluster, graph, i);
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_EQ(LinkNamed(scenario.cluster, graph, name), i) << name;
    }
    // 2 x (16 NICs + 8 x 4 uplinks) + 4 planes x 2 lanes.
    EXPECT_EQ(names.size(), 2 * (16 + 32) + 8U);
    EXPECT_EQ(names.count("a--b/spine3--c/spine3"), 1U);
    EXPECT_EQ(names.count("a--b/spine3--c/spine3#2"), 1U);
    EXPECT_EQ(LinkNamed(scenario.cluster, graph, "c/spine3--a--b/spine3#2"),
              LinkNamed(scenario.cluster, graph, "a--b/spine3--c/spine3#2"));
    for (const auto* none : {"a--b/spine3--c/spine3#3",
                             "a--b/spine3--c/spine3#0",
                             "a--b/spine3--c/spine3#02",
                             "a--b/spine3--c/spine2",
                             "a--b/spine3",
                             "--",
                             ""})
    {
        EXPECT_FALSE(LinkNamed(scenario.cluster, graph, none)) << none;
    }
}

TEST(EventTarget, WhatBelongsToIt)
{
    const Scenario scenario = Read("[]");
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    const auto target = [&](EventKind kind, const std::string& name) {
        EventSpec event;
        event.kind = kind;
        event.target = name;
        return TargetOf(scenario.cluster, graph, event, "events.0");
    };
    const EventTarget link = target(EventKind("link-failure"), "c/nic3--c/leaf3");
    EXPECT_EQ(link.links.size(), 1U);
    EXPECT_TRUE(link.switches.empty());
    // A leaf: 2 NICs, 4 spines.
    const EventTarget leaf = target(EventKind("switch-failure"), "c/leaf3");
    EXPECT_EQ(leaf.links.size(), 6U);
    EXPECT_EQ(leaf.switches.size(), 1U);
    // Spine 2 on both sides: 8 leaves each, and two lanes that both have.
    const EventTarget plane = target(EventKind("plane-failure"), "plane 2");
    EXPECT_EQ(plane.links.size(), 18U);
    EXPECT_EQ(plane.switches.size(), 2U);
    // Others pass a span as a whole: 4 planes of two lanes.
    EXPECT_EQ(target(EventKind("foreign-traffic"), "c--a--b").links.size(), 8U);
    // Only links flap.
    EXPECT_EQ(target(EventKind("flap"), "plane 2").links, plane.links);
    EXPECT_TRUE(target(EventKind("flap"), "plane 2").switches.empty());
    EXPECT_EQ(target(EventKind("degradation"), "c/leaf3").links, leaf.links);
    for (const auto& [kind, name] : {std::pair(EventKind("link-failure"), "plane 2"),
                                     {EventKind("switch-failure"), "c/nic3"},
                                     {EventKind("switch-failure"), "d/leaf3"},
                                     {EventKind("plane-failure"), "c/spine2"},
                                     {EventKind("plane-failure"), "plane 4"},
                                     {EventKind("flap"), "c/nic3"},
                                     {EventKind("foreign-traffic"), "plane 2"},
                                     {EventKind("foreign-traffic"), "c/spine2"},
                                     {EventKind("foreign-traffic"), "c/nic3--c/leaf3"},
                                     {EventKind("foreign-traffic"), "a--b/spine0--c/spine0"},
                                     {EventKind("foreign-traffic"), "c--d"}})
    {
        EXPECT_THROW(target(kind, name), ConfigError) << name;
    }
}

EventSpec
LinkFailure(const std::string& target, uint32_t lanes)
{
    EventSpec event;
    event.kind = EventKind("link-failure");
    event.target = target;
    event.lanes = lanes;
    return event;
}

/// "events.0.lanes", where a call finds it wrong; "" where it does not.
template <class Call>
std::string
WhereWrong(const Call& call)
{
    try
    {
        call();
        return "";
    }
    catch (const ConfigError& error)
    {
        return error.Where();
    }
}

/// A span of four planes and two lanes has 8 links, and a link has no lanes. What is not there is
/// left out with its lanes, of which there is nothing to say.
TEST(EventTarget, WrongLanesAreNoMissingTarget)
{
    for (const EventSpec& wrong :
         {LinkFailure("a--b--c", 9), LinkFailure("a--b/spine0--c/spine0", 1)})
    {
        Scenario scenario = Read("[]");
        scenario.events = {LinkFailure("c--d", 2), wrong};
        EXPECT_EQ(WhereWrong([&] { EraseEventsWithoutTarget(scenario); }), "events.1.lanes");
        EXPECT_EQ(scenario.events.size(), 2U) << "nothing is done by half";
    }
    Scenario scenario = Read("[]");
    scenario.events = {LinkFailure("c--d", 2), LinkFailure("a--b--c", 8)};
    EraseEventsWithoutTarget(scenario);
    ASSERT_EQ(scenario.events.size(), 1U);
    EXPECT_EQ(scenario.events[0], LinkFailure("a--b--c", 8));
}

/// Three buildings in a line, each span of 4 planes and 2 lanes, of which a job uses two.
TEST(EventTarget, APartOfTheBuildingsRefusesWhatTheWholeDoes)
{
    const auto read = [](const std::string& use) {
        return ParseStudy("model: llama3-8b\n"
                          "workload: {sequence: 1024, global_batch: 32}\n"
                          "cluster:\n"
                          "  buildings: {count: 3, gpus: 16, gpu: h100, fabric: {spines: 4}}\n"
                          "  cross: {shape: line, distance: 10km, capacity: 800Gbps, lanes: 2}\n" +
                              use,
                          "s.yaml")
            .scenario;
    };
    const ClusterSpec whole = read("").cluster;
    const Scenario part = read("  use: building1+building2\n");
    const auto wrong = [&](const EventSpec& event) {
        Scenario scenario = part;
        const EventSpec elsewhere = LinkFailure("building2--building3", 8); // and left out
        scenario.events = {elsewhere, event};
        return WhereWrong([&] { KeepEventsOfPart(whole, scenario); });
    };
    EXPECT_EQ(wrong(LinkFailure("building1--building2", 9)), "events.1.lanes");
    EXPECT_EQ(wrong(LinkFailure("building2--building3", 9)), "events.1.lanes");
    EXPECT_EQ(wrong(LinkFailure("building2/spine0--building3/spine0", 1)), "events.1.lanes");
    EXPECT_EQ(wrong(LinkFailure("building1--building3", 0)), "events.1.target");
    Scenario scenario = part;
    scenario.events = {LinkFailure("building2--building3", 8),
                       LinkFailure("building1--building2", 8)};
    KeepEventsOfPart(whole, scenario);
    ASSERT_EQ(scenario.events.size(), 1U);
    EXPECT_EQ(scenario.events[0], LinkFailure("building1--building2", 8));
}

/// Four planes of two lanes each: lanes are spread over the planes.
TEST(EventTarget, SpansAndLanesOfThem)
{
    const Scenario scenario = Read("[]");
    const FabricGraph graph = BuildFabricGraph(scenario.cluster);
    const auto target = [&](EventKind kind, const std::string& name, uint32_t lanes) {
        EventSpec event;
        event.kind = kind;
        event.target = name;
        event.lanes = lanes;
        std::set<std::string> names;
        for (const uint32_t link : TargetOf(scenario.cluster, graph, event, "events.0").links)
        {
            names.insert(LinkName(scenario.cluster, graph, link));
        }
        return names;
    };
    std::set<std::string> all;
    std::set<std::string> first;
    for (const auto* plane : {"0", "1", "2", "3"})
    {
        const std::string link = std::string("a--b/spine") + plane + "--c/spine" + plane;
        first.insert(link);
        all.insert(link);
        all.insert(link + "#2");
    }
    for (const auto* kind : {"link-failure", "degradation", "flap"})
    {
        EXPECT_EQ(target(EventKind(kind), "a--b--c", 0), all) << kind;
        EXPECT_EQ(target(EventKind(kind), "c--a--b", 8), all) << kind;
        EXPECT_EQ(target(EventKind(kind), "a--b--c", 4), first) << kind;
        EXPECT_EQ(target(EventKind(kind), "a--b--c", 2),
                  (std::set<std::string>{"a--b/spine0--c/spine0", "a--b/spine1--c/spine1"}))
            << kind;
        EXPECT_THROW(target(EventKind(kind), "a--b--c", 9), ConfigError) << kind;
        EXPECT_THROW(target(EventKind(kind), "a--b/spine0--c/spine0", 1), ConfigError) << kind;
        EXPECT_THROW(target(EventKind(kind), "a--c", 0), ConfigError) << kind;
    }
    EXPECT_THROW(target(EventKind("switch-failure"), "a--b--c", 0), ConfigError);
    EXPECT_THROW(target(EventKind("plane-failure"), "a--b--c", 0), ConfigError);
}

CutShares
SharesOf(const Scenario& scenario, Multipath multipath = Multipath("spray-rr"))
{
    return CutsLeft(scenario.cluster, scenario.events).Shares(multipath);
}

/// "[{kind: link-failure, target: T, at: 0s}, ...]".
std::string
LinksDown(const std::vector<std::string>& targets)
{
    std::string events;
    for (const std::string& target : targets)
    {
        events += (events.empty() ? "" : ", ") + std::string("{kind: link-failure, at: 0s, ") +
                  "target: " + target + "}";
    }
    return "[" + events + "]";
}

TEST(CutShares, WhatEventsLeave)
{
    const auto expect = [](const std::string& events, double leafC, double links, double capacity) {
        const CutShares shares = SharesOf(Read(events));
        EXPECT_DOUBLE_EQ(shares.Of(0, 0).capacity, 1.0) << events;
        EXPECT_DOUBLE_EQ(shares.Of(1, 0).capacity, leafC) << events;
        EXPECT_DOUBLE_EQ(shares.Span(0).links, links) << events;
        EXPECT_DOUBLE_EQ(shares.Span(0).capacity, capacity) << events;
    };
    expect("[]", 1, 1, 1);
    // One of 8 links between the buildings: spine 3 still has a quarter of the traffic, on one lane
    // where a lane had an eighth.
    expect(LinksDown({"a--b/spine3--c/spine3#2"}), 1, 0.875, 0.5);
    // The same of every plane: half of the links, evenly.
    expect("[{kind: link-failure, target: a--b--c, lanes: 4, at: 0s}]", 1, 0.5, 0.5);
    expect("[{kind: degradation, target: c--a--b, at: 0s, factor: 0.25}]", 1, 1, 0.25);
    // One of 4 spines, and with it one of 4 uplinks of every leaf there.
    expect("[{kind: switch-failure, target: c/spine1, at: 0s}]", 0.75, 0.75, 0.75);
    // One leaf has 3 of 4 uplinks: the slowest counts.
    expect(LinksDown({"c/leaf1--c/spine1"}), 0.75, 1, 1);
    // Flows are spread over all 8, and those over the slow one take twice as long.
    expect("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5}]", 1, 1, 0.5);
    // Spine 0 has two lanes as slow as the slower, spine 1 one: a quarter of the traffic takes
    // twice as long at either.
    expect("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5},"
           " {kind: link-failure, target: a--b/spine1--c/spine1, at: 0s}]",
           1,
           0.875,
           0.5);
    // Without both lanes of spine 1, three spines have a third of the traffic each, and the slow
    // lane of spine 0 a sixth at half its rate: an eighth took 1, a sixth takes 8 / 6 x 2.
    expect("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5},"
           " {kind: link-failure, target: a--b/spine1--c/spine1, at: 0s},"
           " {kind: link-failure, target: a--b/spine1--c/spine1#2, at: 0s}]",
           1,
           0.75,
           6.0 / 16);
}

TEST(CutShares, TrafficAvoidsTopSwitchesWithoutAWayOn)
{
    // No lane at spine 1: what crosses enters the fabric by 3 of 4 uplinks on both sides, and the
    // rest uses all of them.
    const CutShares link =
        SharesOf(Read(LinksDown({"a--b/spine1--c/spine1", "a--b/spine1--c/spine1#2"})));
    EXPECT_DOUBLE_EQ(link.Of(0, 0).capacity, 1);
    EXPECT_DOUBLE_EQ(link.Towards(0, 1, 0).capacity, 0.75);
    EXPECT_DOUBLE_EQ(link.Towards(0, 1, 0).links, 0.75);
    EXPECT_DOUBLE_EQ(link.Towards(1, 0, 0).capacity, 0.75);
    EXPECT_DOUBLE_EQ(link.Towards(0, 0, 0).capacity, 1);
    // As long as it has one, it is used.
    const CutShares lane = SharesOf(Read(LinksDown({"a--b/spine1--c/spine1"})));
    EXPECT_DOUBLE_EQ(lane.Towards(0, 1, 0).capacity, 1);
    // The switch itself: on the far side too.
    const CutShares spine = SharesOf(Read("[{kind: switch-failure, target: c/spine1, at: 0s}]"));
    EXPECT_DOUBLE_EQ(spine.Of(0, 0).capacity, 1);
    EXPECT_DOUBLE_EQ(spine.Towards(0, 1, 0).capacity, 0.75);
    EXPECT_DOUBLE_EQ(spine.Towards(1, 0, 0).capacity, 0.75);
    // A leaf that misses one uplink here and another one by what fails there: 2 of 4; by the same
    // one: 3 of 4.
    const std::vector<std::string> lanes{"a--b/spine1--c/spine1", "a--b/spine1--c/spine1#2"};
    for (const auto& [spineHere, left] : {std::pair("0", 0.5), {"1", 0.75}})
    {
        std::vector<std::string> targets = lanes;
        targets.push_back(std::string("a--b/leaf2--a--b/spine") + spineHere);
        const CutShares both = SharesOf(Read(LinksDown(targets)));
        EXPECT_DOUBLE_EQ(both.Of(0, 0).capacity, 0.75);
        EXPECT_DOUBLE_EQ(both.Towards(0, 1, 0).capacity, left);
    }
}

/// Two buildings of 32 GPUs (8 to a server) with a given fabric, and one lane at every top switch.
Scenario
ReadFabrics(const std::string& fabric, const std::string& events)
{
    const std::string study = R"(
model: llama3-8b
workload: {sequence: 1024, global_batch: 64}
cluster:
  buildings:
    - {name: a, gpus: 32, gpu: h100, fabric: {)" +
                              fabric + R"(}}
    - {name: b, gpus: 32, gpu: h100, fabric: {)" +
                              fabric + R"(}}
  cross: {distance: 10km, capacity: 800Gbps}
events: )" + events + "\n";
    return ParseStudy(study, "s.yaml").scenario;
}

TEST(CutShares, PlanesAreCutsOfTheirOwn)
{
    // Half of the traffic is in plane 0, which has one of its two top switches left: a half, and
    // not 3 / 4.
    const Scenario half =
        ReadFabrics("planes: 2, spines: 2", "[{kind: plane-failure, target: plane 0, at: 0s}]");
    EXPECT_DOUBLE_EQ(SharesOf(half).Span(0).capacity, 0.5);
    EXPECT_DOUBLE_EQ(SharesOf(half).Span(0).links, 0.5);
    EXPECT_DOUBLE_EQ(SharesOf(half).Of(0, 0).capacity, 0.5);
    EXPECT_DOUBLE_EQ(SharesOf(half, Multipath("ucmp")).Span(0).capacity, 0.5);
    // One spine in each plane: port 0 of every NIC has no way.
    try
    {
        SharesOf(ReadFabrics("planes: 2, spines: 1", LinksDown({"a/spine0--b/spine0"})));
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.Problem(), "they leave a and b in fabric plane 0 without a link");
        EXPECT_NE(error.Remedy().find("second way"), std::string::npos) << error.Remedy();
    }
    // Three stages, two planes of two zones, two spines and two aggregation switches each: spines
    // 4 to 7 and aggregation switches 2 and 3 are those of plane 1. Of the four uplinks of plane
    // 1's second zone one is down: its spine still has half of what leaves the zone, on one link.
    const std::string stages =
        "planes: 2, spines: 2, aggregations: 2, nodes_per_pod: 1, pods_per_zone: 2";
    const Scenario zone = ReadFabrics(stages, LinksDown({"a/spine6--a/agg3"}));
    EXPECT_DOUBLE_EQ(SharesOf(zone).Of(0, 1).capacity, 0.5);
    EXPECT_DOUBLE_EQ(SharesOf(zone).Of(1, 1).capacity, 1);
    // Weights look at one leaf's links alone. To a leaf's one link to the spine, what the spine has
    // left, one link of those that carry the traffic of all leaves, is no less than two of them.
    EXPECT_DOUBLE_EQ(SharesOf(zone, Multipath("ucmp")).Of(0, 1).capacity, 0.5);
    // All four: named as what it is.
    try
    {
        SharesOf(ReadFabrics(
            stages,
            LinksDown(
                {"a/spine6--a/agg2", "a/spine6--a/agg3", "a/spine7--a/agg2", "a/spine7--a/agg3"})));
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.Problem(), "they leave zone 1 of a in fabric plane 1 without a link");
    }
}

/// A queue pair that has no way sends again until it gives up, so packets serve only where one is
/// left or comes back.
TEST(CutShares, PacketsAreNoRemedyWhereNicsAreCutOffForGood)
{
    const auto remedy = [](const std::string& cluster, const std::string& events) {
        const Scenario scenario = ParseStudy("model: llama3-8b\n"
                                             "workload: {sequence: 1024, global_batch: 64}\n"
                                             "cluster:\n" +
                                                 cluster + "events: " + events + "\n",
                                             "s.yaml")
                                      .scenario;
        try
        {
            SharesOf(scenario);
        }
        catch (const ConfigError& error)
        {
            return error.Remedy();
        }
        return std::string();
    };
    const std::string gpus = "gpus: 32, gpu: h100";
    const std::string two = "  buildings: [{name: a, " + gpus + "}, {name: b, " + gpus + "}]\n" +
                            "  cross: {distance: 10km, capacity: 800Gbps}\n";
    const std::string down = "[{kind: link-failure, target: a--b, at: ";
    const std::string packets = "the packet engine computes with it";
    const std::string other = "leave a link, or give the cluster a second way";
    // The only span, for good: at once or later. Until a time it comes back, and what is sent again
    // arrives.
    EXPECT_EQ(remedy(two, down + "0s}]").find(other), 0U);
    EXPECT_EQ(remedy(two, down + "1ms}]").find(other), 0U);
    EXPECT_EQ(remedy(two, down + "0s, until: 2ms}]"), packets);
    EXPECT_EQ(remedy(two, "[{kind: degradation, target: a--b, at: 1ms, factor: 0.5}]"), packets);
    // A NIC's own link has no other way either.
    const std::string nic = "[{kind: link-failure, target: a/nic0--a/leaf0, at: 0s";
    EXPECT_EQ(remedy(two, nic + "}]").find(other), 0U);
    EXPECT_EQ(remedy(two, nic + ", until: 1ms}]"), packets);
    // A third building is a second way, as long as both of its spans are there.
    const std::string three = "  buildings: [{name: a, " + gpus + "}, {name: b, " + gpus +
                              "}, {name: c, " + gpus + "}]\n" +
                              "  cross: {distance: 10km, capacity: 800Gbps}\n";
    EXPECT_EQ(remedy(three, down + "0s}]"), packets);
    EXPECT_EQ(remedy(three, down + "0s}, {kind: link-failure, target: b--c, at: 1s}]").find(other),
              0U);
}

TEST(CutShares, EverySwitchHasItsOwnUplinks)
{
    // 16 spines with 16 uplinks each; one uplink is down: its spine has a sixteenth of the traffic
    // on 15 links.
    const std::string stages = "spines: 16, aggregations: 16, nodes_per_pod: 1, pods_per_zone: 2";
    const Scenario one = ReadFabrics(stages, LinksDown({"a/spine3--a/agg5"}));
    EXPECT_DOUBLE_EQ(SharesOf(one).Of(0, 1).capacity, 15.0 / 16);
    EXPECT_DOUBLE_EQ(SharesOf(one).Of(0, 1).links, 255.0 / 256);
    // Two zones of two spines: aggregation switch 0 can come down to zone 0 only by spine 1, with
    // half of what comes; the way up from spine 0 is as narrow. With both spines' links to it gone,
    // everything goes by aggregation switch 1: a half.
    const std::string small = "spines: 2, aggregations: 2, nodes_per_pod: 1, pods_per_zone: 2";
    EXPECT_DOUBLE_EQ(
        SharesOf(ReadFabrics(small, LinksDown({"a/spine0--a/agg0"}))).Of(0, 1).capacity,
        0.5);
    EXPECT_DOUBLE_EQ(
        SharesOf(ReadFabrics(small, LinksDown({"a/spine0--a/agg0", "a/spine1--a/agg0"})))
            .Of(0, 1)
            .capacity,
        0.5);
    // Four spines, two aggregation switches, agg0 with one link to the zone: spine 0 carries a
    // quarter of what leaves on two links, the others on one: 4 x 1 / 8; what enters comes by agg0
    // for one half, on one link of four: 2 x 1 / 8.
    const std::string wide = "spines: 4, aggregations: 2, nodes_per_pod: 1, pods_per_zone: 2";
    EXPECT_DOUBLE_EQ(
        SharesOf(
            ReadFabrics(wide,
                        LinksDown({"a/spine1--a/agg0", "a/spine2--a/agg0", "a/spine3--a/agg0"})))
            .Of(0, 1)
            .capacity,
        0.25);
    // No lane at aggregation switch 0: what crosses leaves every spine by one of its two uplinks.
    const CutShares towards = SharesOf(ReadFabrics(small, LinksDown({"a/agg0--b/agg0"})));
    EXPECT_DOUBLE_EQ(towards.Of(0, 1).capacity, 1);
    EXPECT_DOUBLE_EQ(towards.Towards(0, 1, 1).capacity, 0.5);
    EXPECT_DOUBLE_EQ(towards.Towards(0, 1, 0).capacity, 1);
}

TEST(CutShares, WhatLimitsLinksBesidesComesAfterTheEvents)
{
    const auto upTo = [](double most) {
        return [most](double part) { return std::min(part, most); };
    };
    // Four switches with two lanes each: one lane has half its rate, so that its switch has 1, at
    // the slower of both, and 4 x 1 / 8 is the share. Whatever lets no lane have more than a tenth
    // has no lane lost: 4 x 2 x 0.1 / 8, and in between it is the slow lane's.
    const Scenario slow =
        Read("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5}]");
    const CutShare equal = SharesOf(slow).Span(0);
    EXPECT_DOUBLE_EQ(equal.Carried(upTo(1)), 0.5);
    EXPECT_DOUBLE_EQ(equal.Carried(upTo(0.75)), 0.5);
    EXPECT_DOUBLE_EQ(equal.Carried(upTo(0.1)), 0.1);
    // By weights: seven lanes and a half. The weights are those of the rates, so that where no lane
    // has more than 0.75 the slow one still has half of what another one has.
    const CutShare sum = SharesOf(slow, Multipath("ucmp")).Span(0);
    EXPECT_DOUBLE_EQ(sum.Carried(upTo(1)), 7.5 / 8);
    EXPECT_DOUBLE_EQ(sum.Carried(upTo(0.75)), 7.5 * 0.75 / 8);
    // A lane that is gone is gone: its switch has one, of a tenth.
    const CutShare down = SharesOf(Read(LinksDown({"a--b/spine3--c/spine3#2"}))).Span(0);
    EXPECT_DOUBLE_EQ(down.Carried(upTo(0.1)), 0.5 * 0.1);
    // One lane gone, and both of another switch at a quarter: that has 2 x 0.25, the least, until
    // something lets no lane have more than a tenth.
    const CutShare both = SharesOf(Read("[{kind: link-failure, at: 0s, target: "
                                        "a--b/spine3--c/spine3#2}, {kind: degradation, at: 0s, "
                                        "target: a--b/spine0--c/spine0, factor: 0.25}, {kind: "
                                        "degradation, at: 0s, target: a--b/spine0--c/spine0#2, "
                                        "factor: 0.25}]"))
                              .Span(0);
    EXPECT_DOUBLE_EQ(both.Carried(upTo(1)), 4 * 2 * 0.25 / 8);
    EXPECT_DOUBLE_EQ(both.Carried(upTo(0.1)), 4 * 1 * 0.1 / 8);
    // Without events there is nothing but that.
    EXPECT_DOUBLE_EQ(SharesOf(Read("[]")).Span(0).Carried(upTo(0.1)), 0.1);
}

TEST(CutShares, SomeTellLinksApart)
{
    // One of 8 links has half its rate: 7.5 / 8 by the weights of routes. Who sees its own links
    // only spreads equally over the four switches, one of which has a lane and a half.
    const Scenario slow =
        Read("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5}]");
    EXPECT_DOUBLE_EQ(SharesOf(slow).Span(0).capacity, 0.5);
    EXPECT_DOUBLE_EQ(SharesOf(slow, Multipath("ucmp")).Span(0).capacity, 7.5 / 8);
    EXPECT_DOUBLE_EQ(SharesOf(slow, Multipath("spray-adaptive")).Span(0).capacity, 4 * 1.5 / 8);
    // One of 8 is down.
    const Scenario down = Read(LinksDown({"a--b/spine3--c/spine3#2"}));
    EXPECT_DOUBLE_EQ(SharesOf(down, Multipath("ucmp")).Span(0).capacity, 0.875);
    EXPECT_DOUBLE_EQ(SharesOf(down, Multipath("spray-adaptive")).Span(0).capacity, 4 * 1.0 / 8);
    // Others have a quarter of every lane, and nobody knows: 1/15 of all is on the slow lane's
    // quarter, or a third of that switch's quarter of all.
    const Scenario shared =
        Read("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5}, "
             "{kind: foreign-traffic, target: c--a--b, at: 0s, load: 0.25}]");
    EXPECT_DOUBLE_EQ(SharesOf(shared).Span(0).capacity, 0.25);
    EXPECT_DOUBLE_EQ(SharesOf(shared, Multipath("ucmp")).Span(0).capacity, 0.25 * 15 / 8);
    EXPECT_DOUBLE_EQ(SharesOf(shared, Multipath("spray-adaptive")).Span(0).capacity,
                     0.25 * 3 * 4 / 8);
    // An uplink of a leaf is one of its own on the way up. Whoever comes down does not see it.
    const Scenario uplink = Read("[{kind: degradation, target: c/leaf1--c/spine1, at: 0s, "
                                 "factor: 0.5}]");
    EXPECT_DOUBLE_EQ(SharesOf(uplink, Multipath("spray-adaptive")).Of(1, 0).capacity, 0.5);
    EXPECT_DOUBLE_EQ(SharesOf(uplink, Multipath("ucmp")).Of(1, 0).capacity, 3.5 / 4);
}

/// In a ring of four with one top switch and a lane, b1 sends to b3 over b2 and over b4. A half of
/// the rate from b1 to b2 moves a third of that to b2 and two thirds to b4, of 1/2 each. All send
/// the same to each other: over the span to b2 go what is for b2, 1, and b4 sends to b2, and b1 to
/// b3, a third each in place of a half, as b2 and b4 have two ways of which one is slow.
TEST(CutShares, WeightsMoveTrafficToOtherSpans)
{
    const std::string study = R"(
model: llama3-8b
workload: {sequence: 1024, global_batch: 32}
cluster:
  buildings: {count: 4, name: b, gpus: 8, gpu: h100, fabric: {spines: 1, rails: false}}
  cross: {distance: 10km, capacity: 800Gbps, shape: ring}
events: [{kind: degradation, target: b1--b2, at: 0s, factor: 0.5}]
)";
    const Scenario scenario = ParseStudy(study, "s.yaml").scenario;
    const CutShares shares = SharesOf(scenario, Multipath("ucmp"));
    const double passes = 1 + 1.0 / 3 + 1.0 / 3; // 2 without events
    EXPECT_NEAR(shares.Span(0).capacity, 0.5 * 2 / passes, 1e-3);
    EXPECT_DOUBLE_EQ(SharesOf(scenario).Span(0).capacity, 0.5);
}

/// Four buildings with two top switches and two lanes each, joined as `cross` says.
std::string
RefusalAmong(const std::string& cross, const std::string& events)
{
    const std::string study = R"(
model: llama3-8b
workload: {sequence: 1024, global_batch: 32}
cluster:
  buildings: {count: 4, name: b, gpus: 8, gpu: h100, fabric: {spines: 2}}
  cross: {distance: 10km, capacity: 800Gbps, lanes: 2, shape: )" +
                              cross + "}\nevents: " + events + "\n";
    const Scenario scenario = ParseStudy(study, "s.yaml").scenario;
    try
    {
        SharesOf(scenario);
    }
    catch (const ConfigError& error)
    {
        return error.Where() + ": " + error.Problem() + " -> " + error.Remedy();
    }
    return std::string();
}

TEST(CutShares, OtherWaysBetweenSitesAreRefused)
{
    const std::string lane = LinksDown({"b1/spine0--b2/spine0"});
    const std::string both = LinksDown({"b1/spine0--b2/spine0", "b1/spine0--b2/spine0#2"});
    // In a ring of four, b1 sends to b3 over b2 and b4: by three lanes in place of four.
    EXPECT_EQ(RefusalAmong("ring", lane),
              "s.yaml:7:10 events: they take links between b1 and b2, and traffic from b1 to b3 "
              "passes several "
              "spans and takes other ways then, which the analytical engine does not follow -> the "
              "packet engine computes with it");
    // In a line there is no other way; but without both lanes top switch 0 of b2 and b3 loses b1's
    // traffic as well.
    EXPECT_EQ(RefusalAmong("line", lane), "");
    EXPECT_NE(RefusalAmong("line", both), "");
    EXPECT_NE(RefusalAmong("line", "[{kind: switch-failure, target: b3/spine1, at: 0s}]"), "");
    // In a mesh all are neighbours.
    EXPECT_EQ(RefusalAmong("mesh", both), "");
    // One hub: a way passes two spans. It is gone everywhere: as a plane.
    EXPECT_NE(RefusalAmong("hub", LinksDown({"b1/spine0--hub/agg0", "b1/spine0--hub/agg0#2"})), "");
    EXPECT_EQ(RefusalAmong("hub", "[{kind: switch-failure, target: hub/agg0, at: 0s}]"), "");
    // Slower links change no routes; planes fail everywhere.
    for (const char* shape : {"ring", "line", "mesh", "hub"})
    {
        EXPECT_EQ(RefusalAmong(shape, "[{kind: plane-failure, target: plane 0, at: 0s}]"), "");
        EXPECT_EQ(
            RefusalAmong(shape, "[{kind: degradation, target: b1/spine0, at: 0s, factor: 0.5}]")
                .find("other ways"),
            std::string::npos);
    }
}

TEST(CutShares, RefusesWhatItCannotCompute)
{
    const auto refusal = [](const std::string& events) {
        try
        {
            SharesOf(Read(events));
        }
        catch (const ConfigError& error)
        {
            return error.Where() + ": " + error.Problem() + " -> " + error.Remedy();
        }
        return std::string();
    };
    const std::string later = refusal("[{kind: plane-failure, target: plane 0, at: 1ms}]");
    EXPECT_EQ(later,
              "s.yaml:9:10 events.0: a plane-failure in the middle of a run is more than the "
              "analytical engine "
              "computes with -> the packet engine computes with it");
    EXPECT_NE(refusal("[{kind: plane-failure, target: plane 0, at: 0s, until: 1s}]"), "");
    EXPECT_NE(refusal("[{kind: switch-failure, target: c/leaf0, at: 0s}]"), "");
    std::string all = "[";
    for (const char plane : {'0', '1', '2', '3'})
    {
        all += std::string("{kind: plane-failure, target: plane ") + plane + ", at: 0s}, ";
    }
    EXPECT_NE(refusal(all + "]").find("without a link"), std::string::npos);
}

} // namespace
} // namespace scaleacross
