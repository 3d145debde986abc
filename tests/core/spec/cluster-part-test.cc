// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/analytical-engine.h"
#include "core/io/read-study.h"
#include "core/spec/cluster-part.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Buildings of so many GPUs each, with what joins them and more of `cluster`.
std::string
Cluster(const std::vector<uint32_t>& gpus, const std::string& rest)
{
    std::string text = "cluster:\n  buildings:\n";
    for (size_t i = 0; i < gpus.size(); i++)
    {
        text += "    - {name: " + std::string(1, static_cast<char>('a' + i)) +
                ", gpus: " + std::to_string(gpus[i]) +
                ", gpus_per_node: 4, gpu: h100, fabric: {spines: 2}}\n";
    }
    return text + rest;
}

Study
Read(const std::string& cluster, const std::string& more = "")
{
    return ParseStudy("study: part\n"
                      "model: {name: m, layers: 8, hidden: 512, heads: 8, head_dim: 64, dense_ffn: "
                      "2048, vocabulary: 4096}\n"
                      "workload: {sequence: 512, global_batch: 60}\n" +
                          cluster + "plan: {tp: 4, pp: 2, crossing: dp, sharding: fsdp}\n" + more +
                          (more.find("search:") == std::string::npos ? "search: {}\n" : ""),
                      "part/study.yaml");
}

const std::string g_line = "  cross: {shape: line, distance: 30km, oversubscription: 2}\n";
const std::string g_hub = "  cross: {shape: hub, distance: 30km, oversubscription: 2}\n";
const std::string g_mesh = "  cross: {distance: 30km, oversubscription: 2}\n";

TEST(ClusterPart, LeavesWhatForwardsAsAHub)
{
    const ClusterSpec whole = Read(Cluster({8, 16, 8}, g_line)).scenario.cluster;
    const ClusterSpec part = OnlyBuildings(whole, {2, 0});
    ASSERT_EQ(part.buildings.size(), 2U);
    EXPECT_EQ(part.buildings[0].name, "c");
    EXPECT_EQ(part.buildings[1].name, "a");
    ASSERT_EQ(part.hubs.size(), 1U);
    EXPECT_EQ(part.hubs[0].name, "b");
    // a - b and b - c, as they were: c is 0, a is 1, b is 2.
    ASSERT_EQ(part.crossLinks.size(), 2U);
    EXPECT_EQ(part.crossLinks[0].a, 1U);
    EXPECT_EQ(part.crossLinks[0].b, 2U);
    EXPECT_EQ(part.crossLinks[1].a, 0U);
    EXPECT_EQ(part.crossLinks[1].b, 2U);
    for (size_t i = 0; i < 2; i++)
    {
        EXPECT_EQ(part.crossLinks[i].capacity, whole.crossLinks[i].capacity);
    }
    // Beyond b there is nothing that c forwards, and alone nothing is joined.
    EXPECT_THAT(OnlyBuildings(whole, {0, 1}).hubs, IsEmpty());
    EXPECT_EQ(OnlyBuildings(whole, {0, 1}).crossLinks.size(), 1U);
    EXPECT_THAT(OnlyBuildings(whole, {1}).crossLinks, IsEmpty());
    const ClusterSpec star = Read(Cluster({8, 8, 8}, g_hub)).scenario.cluster;
    EXPECT_EQ(OnlyBuildings(star, {1, 2}).hubs.size(), 1U);
    EXPECT_EQ(OnlyBuildings(star, {1, 2}).crossLinks.size(), 2U);
    EXPECT_THAT(OnlyBuildings(star, {2}).hubs, IsEmpty());
    EXPECT_EQ(OnlyBuildings(star, {0, 1, 2}), star);
}

TEST(ClusterPart, AlikeBuildingsStandForEachOther)
{
    const auto partsOf = [](const std::vector<uint32_t>& gpus, const std::string& rest) {
        return PartsOf(Read(Cluster(gpus, rest)).scenario.cluster, false, 1000);
    };
    EXPECT_THAT(partsOf({8, 8, 8}, g_mesh), ElementsAre("a+b+c", "a+b", "a"));
    // In a line the one in the middle is no end; of two neighbours, and of one, nothing tells
    // which.
    EXPECT_THAT(partsOf({8, 8, 8}, g_line),
                ElementsAre("a+b+c", "a+c+b", "b+a+c", "a+b", "a+c", "a"));
    // Four in a ring: 4! orders, of which its 4 turns and 4 reflections are the same: 3.
    const std::vector<std::string> ring =
        partsOf({8, 8, 8, 8}, "  cross: {shape: ring, distance: 30km, oversubscription: 2}\n");
    const auto ofLength = [&ring](size_t length) {
        return std::count_if(ring.begin(), ring.end(), [length](const std::string& part) {
            return part.size() == length;
        });
    };
    EXPECT_EQ(ofLength(7), 3);
    EXPECT_EQ(ofLength(1), 1);
    // Words of length 1 to 3 without repetition: 3 + 6 + 6.
    EXPECT_EQ(partsOf({8, 16, 24}, g_hub).size(), 15U);
    // Words of a a a b b by length: 2, 4, 7, 10, 10.
    EXPECT_EQ(partsOf({8, 8, 8, 16, 16}, g_hub).size(), 33U);
    const ClusterSpec mesh = Read(Cluster({8, 8, 8}, g_mesh)).scenario.cluster;
    EXPECT_EQ(PartsOf(mesh, true, 1000).size(), 15U); // something else tells them apart
    EXPECT_EQ(PartsOf(mesh, true, 4).size(), 4U);
}

/// Every part in every order takes the time of one that stands for it.
TEST(ClusterPart, WhatIsLeftOutTakesTheTimesOfWhatStandsForIt)
{
    const auto run = [](const std::string& cluster, const std::string& use) {
        const Study study = Read(cluster + "  use: " + use + "\n");
        Scenario scenario = study.scenario;
        scenario.Job().plan.dp = scenario.cluster.Gpus() / 8;
        const auto result = AnalyticalEngine().Run(scenario, RunOptions());
        EXPECT_TRUE(std::holds_alternative<RunReport>(result)) << use;
        return std::get<RunReport>(result).iterationTime;
    };
    for (const auto& [gpus, shape] :
         std::vector<std::pair<std::vector<uint32_t>, std::string>>{{{8, 8, 16}, g_hub},
                                                                    {{8, 8, 8}, g_line},
                                                                    {{16, 8, 16}, g_mesh},
                                                                    {{8, 16, 24}, g_line}})
    {
        const std::string cluster = Cluster(gpus, shape);
        const ClusterSpec whole = Read(cluster).scenario.cluster;
        std::map<size_t, std::set<Duration>> known; // by length of the text
        for (const std::string& part : PartsOf(whole, false, 1000))
        {
            known[part.size()].insert(run(cluster, part));
        }
        for (const std::string& part : PartsOf(whole, true, 1000))
        {
            EXPECT_EQ(known[part.size()].count(run(cluster, part)), 1U) << part << cluster;
        }
    }
}

// By hand: a span with a tenth of its capacity, told of the whole cluster and of the part.
TEST(ClusterPart, HasTheTimeOfItsEvents)
{
    const auto run = [](const std::string& target) {
        Scenario scenario =
            Read(Cluster({8, 8, 8}, g_line + "  use: a+c\n"),
                 target.empty() ? ""
                                : "events:\n  - {kind: degradation, target: " + target +
                                      ", at: 0s, factor: 0.1}\n")
                .scenario;
        scenario.Job().plan.dp = 2;
        const auto result = AnalyticalEngine().Run(scenario, RunOptions());
        return std::get<RunReport>(result).iterationTime;
    };
    // Both lanes of the span, one after the other; either spine has one.
    EXPECT_GT(run("a/spine0--b/spine0"), run(""));
    EXPECT_EQ(run("a/spine0--b/spine0"), run("a/spine1--b/spine1"));
}

// By hand: the same cluster as another study says it.
TEST(ClusterPart, IsWhatAnotherStudyMaySay)
{
    const Study part = Read(Cluster({8, 16, 8}, g_line + "  use: c+a\n"));
    // 8 NICs of 400 Gbps over 2 x 2 spans of b, which has more of them: 800 Gbps.
    const Study said =
        Read("cluster:\n"
             "  buildings:\n"
             "    - {name: c, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: {spines: "
             "2}}\n"
             "    - {name: a, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: {spines: "
             "2}}\n"
             "  hubs: [b]\n"
             "  links:\n"
             "    - {between: [a, b], distance: 30km, capacity: 800Gbps}\n"
             "    - {between: [b, c], distance: 30km, capacity: 800Gbps}\n");
    EXPECT_EQ(part.scenario.cluster, said.scenario.cluster);
    EXPECT_EQ(Read(Cluster({8, 16, 8}, g_line + "  use: all\n")).scenario.cluster,
              Read(Cluster({8, 16, 8}, g_line)).scenario.cluster);
}

TEST(ClusterPart, HasTheEventsOfItsOwn)
{
    const auto event = [](const std::string& target) {
        return "  - {kind: switch-failure, target: " + target + ", at: 1ms, until: 2ms}\n";
    };
    const auto targets = [&](const std::string& use) {
        std::vector<std::string> names;
        const Study study =
            Read(Cluster({8, 8, 8}, g_line + "  use: " + use + "\n"),
                 "events:\n" + event("a/spine0") + event("b/leaf0") + event("c/spine1"));
        for (const EventSpec& kept : study.scenario.events)
        {
            names.push_back(kept.target);
        }
        return names;
    };
    EXPECT_THAT(targets("all"), ElementsAre("a/spine0", "b/leaf0", "c/spine1"));
    EXPECT_THAT(targets("a+b"), ElementsAre("a/spine0", "b/leaf0"));
    EXPECT_THAT(targets("c"), ElementsAre("c/spine1"));
    // A hub has no leaves.
    EXPECT_THAT(targets("c+a"), ElementsAre("a/spine0", "c/spine1"));
    // What happens to a span, or to what forwards, happens in its place.
    const auto moved = [](const std::string& use, const std::string& target) {
        const Study study =
            Read(Cluster({8, 8, 8}, g_line + "  use: " + use + "\n"),
                 "events:\n  - {kind: degradation, target: " + target + ", at: 0s, factor: 0.1}\n");
        return study.scenario.events.empty() ? "" : study.scenario.events.front().target;
    };
    EXPECT_EQ(moved("c+a", "a/spine0--b/spine0"), "a/spine0--b/agg0");
    EXPECT_EQ(moved("a+c", "b/spine1--c/spine1"), "b/agg1--c/spine1");
    EXPECT_EQ(moved("a+c", "b/spine1"), "b/agg1");
    EXPECT_EQ(moved("a+c", "plane 0"), "plane 0");
    EXPECT_EQ(moved("a+b", "b/spine1--c/spine1"), "");                   // c is not there
    EXPECT_EQ(moved("c+b", "c/spine1--b/spine1"), "b/spine1--c/spine1"); // the same link
    // What is nowhere is a mistake, whatever is used.
    EXPECT_THROW(Read(Cluster({8, 8}, g_mesh + "  use: a\n"), "events:\n" + event("z/spine0")),
                 ConfigError);
}

TEST(ClusterPart, RefusesOtherNames)
{
    const auto message = [](const std::string& use) {
        try
        {
            Read(Cluster({8, 8, 8}, g_mesh + "  use: " + use + "\n"));
        }
        catch (const ConfigError& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(message("a+d"), HasSubstr("there is no building 'd'"));
    EXPECT_THAT(message("a+a"), HasSubstr("'a' is given twice"));
    EXPECT_THAT(message("a+"), HasSubstr("a name is empty"));
    EXPECT_THAT(message("'a + b'"), HasSubstr("there is no building 'a '"));
    EXPECT_THAT(message("[a, b]"), HasSubstr("cluster.use"));
    EXPECT_THAT(message("auto"), HasSubstr("explore --sweep cluster.use=auto"));
    // Names that say several.
    for (const std::string name : {"all", "x+y"})
    {
        std::string cluster = Cluster({8, 8}, g_mesh);
        cluster.replace(cluster.find("name: a"), 7, "name: " + name);
        EXPECT_NO_THROW(Read(cluster + "  use: all\n"));
        EXPECT_THROW(Read(cluster + "  use: b\n"), ConfigError) << name;
    }
}

} // namespace

} // namespace scaleacross
