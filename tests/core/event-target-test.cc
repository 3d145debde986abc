// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/read-study.h"
#include "core/topology/cut-share.h"
#include "core/topology/event-target.h"
#include "core/topology/graph-names.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

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
    const EventTarget link = target(EventKind::LinkFailure, "c/nic3--c/leaf3");
    EXPECT_EQ(link.links.size(), 1U);
    EXPECT_TRUE(link.switches.empty());
    // A leaf: 2 NICs, 4 spines.
    const EventTarget leaf = target(EventKind::SwitchFailure, "c/leaf3");
    EXPECT_EQ(leaf.links.size(), 6U);
    EXPECT_EQ(leaf.switches.size(), 1U);
    // Spine 2 on both sides: 8 leaves each, and two lanes that both have.
    const EventTarget plane = target(EventKind::PlaneFailure, "plane 2");
    EXPECT_EQ(plane.links.size(), 18U);
    EXPECT_EQ(plane.switches.size(), 2U);
    // Only links flap.
    EXPECT_EQ(target(EventKind::Flap, "plane 2").links, plane.links);
    EXPECT_TRUE(target(EventKind::Flap, "plane 2").switches.empty());
    EXPECT_EQ(target(EventKind::Degradation, "c/leaf3").links, leaf.links);
    for (const auto& [kind, name] : {std::pair(EventKind::LinkFailure, "plane 2"),
                                     {EventKind::SwitchFailure, "c/nic3"},
                                     {EventKind::SwitchFailure, "d/leaf3"},
                                     {EventKind::PlaneFailure, "c/spine2"},
                                     {EventKind::PlaneFailure, "plane 4"},
                                     {EventKind::Flap, "c/nic3"}})
    {
        EXPECT_THROW(target(kind, name), ConfigError) << name;
    }
}

TEST(CutShares, WhatEventsLeave)
{
    const auto expect = [](const std::string& events, double leafC, double links, double capacity) {
        const CutShares shares(Read(events));
        EXPECT_DOUBLE_EQ(shares.Leaf(0).capacity, 1.0) << events;
        EXPECT_DOUBLE_EQ(shares.Leaf(1).capacity, leafC) << events;
        EXPECT_DOUBLE_EQ(shares.Span(0).links, links) << events;
        EXPECT_DOUBLE_EQ(shares.Span(0).capacity, capacity) << events;
    };
    expect("[]", 1, 1, 1);
    // One of 8 links between the buildings.
    expect("[{kind: link-failure, target: a--b/spine3--c/spine3#2, at: 0s}]", 1, 0.875, 0.875);
    // One of 4 spines, and with it one of 4 uplinks of every leaf there.
    expect("[{kind: switch-failure, target: c/spine1, at: 0s}]", 0.75, 0.75, 0.75);
    // One leaf has 3 of 4 uplinks: the slowest counts.
    expect("[{kind: link-failure, target: c/leaf1--c/spine1, at: 0s}]", 0.75, 1, 1);
    // Flows are spread over all 8, and those over the slow one take twice as long.
    expect("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5}]", 1, 1, 0.5);
    // Both: 7 links, as slow as the slowest.
    expect("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5},"
           " {kind: link-failure, target: a--b/spine1--c/spine1, at: 0s}]",
           1,
           0.875,
           0.4375);
}

TEST(CutShares, SomeSpreadInProportion)
{
    // One of 8 links has half its rate: 7.5 / 8.
    Scenario scenario =
        Read("[{kind: degradation, target: a--b/spine0--c/spine0, at: 0s, factor: 0.5}]");
    for (const Multipath multipath : {Multipath::Ucmp, Multipath::SprayAdaptive})
    {
        scenario.network.multipath = multipath;
        EXPECT_DOUBLE_EQ(CutShares(scenario).Span(0).capacity, 7.5 / 8);
    }
    scenario.network.multipath = Multipath::SprayRoundRobin;
    EXPECT_DOUBLE_EQ(CutShares(scenario).Span(0).capacity, 0.5);
}

TEST(CutShares, RefusesWhatItCannotCompute)
{
    const auto refusal = [](const std::string& events) {
        try
        {
            CutShares shares(Read(events));
        }
        catch (const ConfigError& error)
        {
            return error.Where() + ": " + error.Problem() + " -> " + error.Remedy();
        }
        return std::string();
    };
    const std::string later = refusal("[{kind: plane-failure, target: plane 0, at: 1ms}]");
    EXPECT_EQ(later,
              "events.0: a plane-failure in the middle of a run is more than the analytical engine "
              "computes with -> use --engine packet");
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
