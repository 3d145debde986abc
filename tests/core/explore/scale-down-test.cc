// SPDX-License-Identifier: GPL-2.0-only

#include "../../draws.h"
#include "../schedule-scenario.h"
#include "core/explore/fit-check.h"
#include "core/explore/scale-down.h"
#include "core/explore/span-quantity.h"
#include "core/topology/fabric-graph.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

/// Two buildings of 128 servers with 8 GPUs, 32 to a pod, under 16 spines, and dp 64 over both: the
/// worked case of ScaleDown().
Scenario
WorkedCase()
{
    ClusterSpec cluster = BuildingsOf({1024, 1024});
    for (BuildingSpec& building : cluster.buildings)
    {
        building.fabric.nodesPerPod = 32;
        building.fabric.spines = 16;
    }
    cluster.crossLinks[0].capacity = GigabitsPerSecond(12800);
    ParallelPlan plan;
    plan.tp = 8;
    plan.pp = 4;
    plan.dp = 64;
    return ScenarioOf(cluster, SmallModel(), plan, 4);
}

Scenario
PartOf(const Scenario& scenario, uint32_t factor)
{
    const auto made = ScaleDown(scenario, factor);
    if (const auto* no = std::get_if<Infeasible>(&made))
    {
        ADD_FAILURE() << no->reason << ": " << no->detail;
        return scenario;
    }
    return std::get<Scenario>(made);
}

std::string
WhyNot(const Scenario& scenario, uint32_t factor)
{
    const auto made = ScaleDown(scenario, factor);
    const auto* no = std::get_if<Infeasible>(&made);
    EXPECT_TRUE(no == nullptr || no->reason == "scale");
    return no == nullptr ? "" : no->detail;
}

std::string
RefusalOfFactors(const Scenario& scenario, uint32_t most)
{
    try
    {
        ScaleFactors(scenario, most);
    }
    catch (const ConfigError& error)
    {
        return error.what();
    }
    return "";
}

/// What a cluster is built of, read from its graph.
struct Built
{
    std::map<std::string, double> slowest; //!< link by the kinds of its ends, site by site
    std::map<std::string, double> below;   //!< of each switch "0/1/5", capacity to what is below
    std::map<std::string, double> above;   //!< and above it, in its building
    std::vector<double> spans;
};

Built
BuiltOf(const ClusterSpec& cluster)
{
    const FabricGraph graph = BuildFabricGraph(cluster);
    Built built;
    built.spans.resize(cluster.crossLinks.size(), 0);
    for (const FabricLink& link : graph.links)
    {
        const Vertex* lower = &graph.vertices[link.a];
        const Vertex* upper = &graph.vertices[link.b];
        if (lower->kind > upper->kind)
        {
            std::swap(lower, upper);
        }
        const double rate = link.rate.Value();
        std::string kind = std::to_string(static_cast<int>(lower->kind)) + "-" +
                           std::to_string(static_cast<int>(upper->kind)) + " of " +
                           std::to_string(lower->site) + "-" + std::to_string(upper->site);
        const auto known = built.slowest.emplace(kind, rate).first;
        known->second = std::min(known->second, rate);
        if (link.kind == LinkKind::Cross)
        {
            built.spans[link.span] += rate;
            continue;
        }
        const auto name = [](const Vertex& vertex) {
            return std::to_string(vertex.site) + "/" +
                   std::to_string(static_cast<int>(vertex.kind)) + "/" +
                   std::to_string(vertex.index);
        };
        built.above[name(*lower)] += rate;
        built.below[name(*upper)] += rate;
    }
    return built;
}

/// Oversubscription of the first switch of a kind in a building; 0: there is nothing above it.
double
RatioAt(const Built& built, const std::string& vertex)
{
    const auto above = built.above.find(vertex);
    return above == built.above.end() ? 0 : built.below.at(vertex) / above->second;
}

TEST(ScaleDown, WorkedCaseHasAQuarterOfEverything)
{
    const Scenario whole = WorkedCase();
    // 2,048 GPUs to 512: a quarter does. By f, with a t-th of the spines, a link of the span has
    // 800 Gb/s x t / f, which is a port's 400 from t = f / 2 on; and of 16 spines two stay, t <= 8.
    EXPECT_THAT(ScaleFactors(whole, 512), ElementsAre(4, 8, 16));
    const Scenario part = PartOf(whole, 4);
    EXPECT_EQ(part.Job().plan.dp, 16U);
    EXPECT_EQ(part.Job().workload.globalBatch, 64U); // 64 x 4 / 4
    const BuildingSpec& building = part.cluster.buildings[0];
    EXPECT_EQ(building.gpus, 256U);
    EXPECT_EQ(building.fabric.nodesPerPod, 16U);
    EXPECT_EQ(building.fabric.spines, 8U);
    EXPECT_DOUBLE_EQ(part.cluster.crossLinks[0].capacity.Value(), 3200e9);
}

TEST(ScaleDown, NoLinkThatAPortFillsBecomesSlowerThanAPort)
{
    // With 6.4 Tb/s links of the span have 400 Gb/s, and may have no less: a quarter of the spines,
    // so that uplinks of leaves have 16 x 400 / 4.
    Scenario whole = WorkedCase();
    whole.cluster.crossLinks[0].capacity = GigabitsPerSecond(6400);
    const Scenario part = PartOf(whole, 4);
    EXPECT_EQ(part.cluster.buildings[0].fabric.spines, 4U);
    EXPECT_THAT(ToString(ScaledSettings(whole, part)),
                HasSubstr("rate of leaf uplinks 800 Gbps to 1.6 Tbps"));
    // So they may with 100 Gb/s, which are less than a port.
    whole.cluster.crossLinks[0].capacity = GigabitsPerSecond(1600);
    EXPECT_EQ(PartOf(whole, 4).cluster.buildings[0].fabric.spines, 4U);
    // Of four lanes of 400 Gb/s two stay, and half of the spines are enough: 6.4 Tb/s / 8 / 2.
    whole.cluster.crossLinks[0].lanes = 4;
    whole.cluster.crossLinks[0].capacity = GigabitsPerSecond(25600);
    const Scenario lanes = PartOf(whole, 4);
    EXPECT_EQ(lanes.cluster.buildings[0].fabric.spines, 8U);
    EXPECT_EQ(lanes.cluster.crossLinks[0].lanes, 2U);
    EXPECT_DOUBLE_EQ(LaneRate(lanes.cluster, lanes.cluster.crossLinks[0]).Value(), 400e9);
}

TEST(ScaleDown, WhatIsDifferentIsTold)
{
    const Scenario whole = WorkedCase();
    EXPECT_EQ(ToString(ScaledSettings(whole, PartOf(whole, 4))),
              "workload.global_batch 256 to 64, workload.memory_limit true to false, "
              "cluster.buildings.gpus 1024 to 256, cluster.buildings.fabric.nodes_per_pod 32 to "
              "16, cluster.buildings.fabric.spines 16 to 8, cluster.cross.capacity 12.8Tbps "
              "to 3.2Tbps, rate of span links 800 Gbps to 400 Gbps, plan.dp 64 to 16");
    // Buildings of different size are told by their names.
    Scenario unequal = whole;
    unequal.cluster = BuildingsOf({1024, 2048});
    unequal.cluster.crossLinks[0].capacity = GigabitsPerSecond(12800);
    unequal.Job().plan.dp = 96;
    unequal.Job().workload.globalBatch = 96;
    EXPECT_THAT(ToString(ScaledSettings(unequal, PartOf(unequal, 4))),
                HasSubstr("cluster.buildings.b0.gpus 1024 to 256, rate of leaf uplinks of b0 51.2 "
                          "Tbps to 12.8 Tbps, cluster.buildings.b1.gpus 2048 to 512, "));
}

TEST(ScaleDown, ZonesGoBeforePodsAndTwoOfEachStay)
{
    // 64 servers in pods of 2, 8 pods to a zone: 4 zones. Half: 2 zones of 8 pods. A quarter: 2 of
    // 4. 1/16: 2 zones, 2 pods, and 1 server in each, 4 servers.
    Scenario whole = WorkedCase();
    whole.cluster = BuildingsOf({512, 512});
    whole.cluster.crossLinks[0].capacity = GigabitsPerSecond(12800);
    for (BuildingSpec& building : whole.cluster.buildings)
    {
        building.fabric.nodesPerPod = 2;
        building.fabric.podsPerZone = 8;
        building.fabric.spines = 4;
        building.fabric.aggregations = 8;
    }
    whole.Job().plan.dp = 32;
    whole.Job().plan.pp = 4;
    whole.Job().workload.globalBatch = 128;
    whole.Validate();
    const auto fabric = [&](uint32_t factor) {
        return PartOf(whole, factor).cluster.buildings[0].fabric;
    };
    EXPECT_EQ(fabric(2).podsPerZone, 8U);
    EXPECT_EQ(fabric(2).nodesPerPod, 2U);
    EXPECT_EQ(fabric(4).podsPerZone, 4U);
    EXPECT_EQ(fabric(4).nodesPerPod, 2U);
    // Half: leaves and zones are as they were, and so are 4 spines and their uplinks. Of 8
    // aggregation switches all stay: links of the span have half of 1.6 Tb/s, an octave less; with
    // 4 they would have all of it, but uplinks of two buildings would move by an octave each.
    EXPECT_EQ(fabric(2).spines, 4U);
    EXPECT_EQ(fabric(2).aggregations, 8U);
}

TEST(ScaleDown, PlansWithoutAPartSayWhy)
{
    Scenario scenario = WorkedCase();
    scenario.Job().plan.dp = 2;
    scenario.Job().plan.pp = 128;
    EXPECT_THAT(WhyNot(scenario, 4), HasSubstr("by 1/4: it divides dp 2 and global_batch"));
    // dp 64 over two buildings, 32 in each; by 1/32 there would be one in each, and nothing to
    // reduce inside.
    scenario = WorkedCase();
    scenario.cluster.crossLinks[0].capacity = GigabitsPerSecond(102400);
    EXPECT_EQ(WhyNot(scenario, 16), "");
    EXPECT_THAT(WhyNot(scenario, 32), HasSubstr("leaves a group without others"));
    // With ep 8 there are eight copies of experts, four in each building; by 1/2 two, by 1/4 one.
    // And dp 4 does not hold ep 8.
    scenario = WorkedCase();
    scenario.Job().model = SmallMoe();
    scenario.Job().plan.ep = 8;
    EXPECT_EQ(WhyNot(scenario, 2), "");
    EXPECT_THAT(WhyNot(scenario, 4), HasSubstr("leaves a group without others"));
    EXPECT_THAT(WhyNot(scenario, 16), HasSubstr("ep 8"));
}

TEST(ScaleDown, ClustersWithoutAPartAreRefusedByName)
{
    Scenario scenario = WorkedCase();
    EXPECT_THAT(RefusalOfFactors(scenario, 15), HasSubstr("no part of its 2048 GPUs has 15"));
    scenario.events.emplace_back();
    EXPECT_THAT(RefusalOfFactors(scenario, 512), HasSubstr("events"));
    scenario = WorkedCase();
    scenario.cluster.buildings[1].fabric.shape = Shape("full-mesh");
    EXPECT_THAT(RefusalOfFactors(scenario, 512), HasSubstr("cluster.buildings.1.fabric.shape"));
    // 128 servers and 129 have no factor in common.
    scenario = WorkedCase();
    scenario.cluster = BuildingsOf({1024, 1032});
    EXPECT_THAT(RefusalOfFactors(scenario, 1024), HasSubstr("no part of its 2056 GPUs"));
}

TEST(ScaleDown, OneFactorIsForThePlansOfAPoint)
{
    const Scenario scenario = WorkedCase();
    const auto plan = [&](uint32_t pp, uint32_t dp) {
        Plan one{scenario.Job().plan, scenario.network};
        one.parallel.pp = pp;
        one.parallel.dp = dp;
        return one;
    };
    // Quarters of both; dp 64 and 16.
    EXPECT_EQ(ScaleFactorFor(scenario, {plan(4, 64), plan(8, 32)}, 512), 4U);
    // Of dp 4 in two buildings no quarter is left; the other still has one.
    EXPECT_EQ(ScaleFactorFor(scenario, {plan(4, 64), plan(64, 4)}, 512), 4U);
}

/// A scenario of which all that the rule looks at is drawn; nothing: it does not fit.
std::optional<Scenario>
DrawScenario(std::mt19937& random)
{
    const auto pick = [&random](std::initializer_list<uint32_t> values) {
        return *(values.begin() + random() % values.size());
    };
    const uint32_t servers = pick({8, 12, 16, 24, 32});
    const uint32_t count = pick({1, 2, 3});
    std::vector<uint32_t> gpus;
    for (uint32_t b = 0; b < count; b++)
    {
        gpus.push_back(4 * servers * pick({1, 1, 2}));
    }
    ClusterSpec cluster = BuildingsOf(gpus, 4);
    const uint32_t spines = pick({1, 2, 4, 6, 8});
    const uint32_t planes = pick({1, 1, 2});
    const bool stages = random() % 3 == 0;
    for (BuildingSpec& building : cluster.buildings)
    {
        FabricSpec& fabric = building.fabric;
        fabric.rails = random() % 2 == 0;
        fabric.nodesPerPod = pick({0, 1, 2, 4});
        fabric.spines = stages ? pick({1, 2, 4}) : spines;
        fabric.oversubscription = pick({1, 2, 3});
        fabric.planes = planes;
        fabric.aggregations = stages ? spines : 0;
        fabric.podsPerZone = stages ? pick({0, 2, 4}) : 0;
        fabric.zoneOversubscription = stages ? pick({1, 2}) : 1;
    }
    for (CrossLinkSpec& span : cluster.crossLinks)
    {
        span.capacity = GigabitsPerSecond(pick({400, 1600, 6400, 12800}));
        span.lanes = pick({1, 2, 6, 8});
    }
    ParallelPlan plan;
    plan.tp = pick({1, 2, 4});
    plan.cp = pick({1, 1, 2});
    plan.pp = pick({1, 2, 4});
    plan.ep = pick({1, 1, 2});
    plan.crossing = random() % 2 == 0 ? Crossing::Data : Crossing::Pipeline;
    plan.sharding = Sharding(random() % 2 == 0 ? "ddp" : "fsdp");
    plan.dp = cluster.Gpus() / (plan.tp * plan.cp * plan.pp);
    Scenario scenario = ScenarioOf(cluster,
                                   plan.ep > 1 ? SmallMoe() : SmallModel(),
                                   plan,
                                   pick({1, 2, 4}) * plan.pp);
    try
    {
        scenario.Validate();
    }
    catch (const ConfigError&)
    {
        return std::nullopt;
    }
    return CheckFit(scenario) ? std::nullopt : std::optional<Scenario>(scenario);
}

/// What a part has to have of its whole, read from the graphs of both.
void
ExpectSameRatios(const Scenario& whole, const Scenario& part, uint32_t factor)
{
    const JobSpec& a = whole.Job();
    const JobSpec& b = part.Job();
    EXPECT_EQ(a.plan.dp, factor * b.plan.dp);
    EXPECT_EQ(a.workload.globalBatch / (a.plan.dp * a.plan.microbatch),
              b.workload.globalBatch / (b.plan.dp * b.plan.microbatch));
    ParallelPlan same = b.plan;
    same.dp = a.plan.dp;
    EXPECT_TRUE(same == a.plan);
    ASSERT_EQ(whole.cluster.buildings.size(), part.cluster.buildings.size());
    const Built from = BuiltOf(whole.cluster);
    const Built to = BuiltOf(part.cluster);
    for (size_t site = 0; site < whole.cluster.buildings.size(); site++)
    {
        const BuildingSpec& before = whole.cluster.buildings[site];
        const BuildingSpec& after = part.cluster.buildings[site];
        EXPECT_EQ(before.gpus, factor * after.gpus);
        EXPECT_EQ(before.gpusPerNode, after.gpusPerNode);
        // Of a leaf, and of a spine below aggregation switches.
        for (const char* kind : {"/1/0", "/2/0"})
        {
            const std::string vertex = std::to_string(site) + kind;
            EXPECT_NEAR(RatioAt(from, vertex), RatioAt(to, vertex), 1e-9) << vertex;
        }
    }
    for (size_t s = 0; s < from.spans.size(); s++)
    {
        EXPECT_NEAR(from.spans[s], factor * to.spans[s], 1e-9 * from.spans[s]);
        const CrossLinkSpec& before = whole.cluster.crossLinks[s];
        const CrossLinkSpec& after = part.cluster.crossLinks[s];
        EXPECT_EQ(before.latency, after.latency);
        const auto over = OversubscriptionOf(whole.cluster, before);
        EXPECT_NEAR(*over, OversubscriptionOf(part.cluster, after).value_or(0), 1e-9 * *over);
    }
    for (const auto& [kind, rate] : from.slowest)
    {
        ASSERT_EQ(to.slowest.count(kind), 1U) << kind; // as many tiers and sites
        const double port = 400e9 / whole.cluster.buildings[0].fabric.planes;
        EXPECT_GE(to.slowest.at(kind), std::min(rate, port) * (1 - 1e-9)) << kind;
    }
}

TEST(ScaleDown, DrawnPartsKeepRatiosAndAreValid)
{
    std::mt19937 random(7);
    size_t parts = 0;
    const size_t draws = Draws(400);
    for (size_t i = 0; i < draws; i++)
    {
        const auto whole = DrawScenario(random);
        if (!whole)
        {
            continue;
        }
        for (uint32_t factor = 2; factor <= 8; factor++)
        {
            const auto made = ScaleDown(*whole, factor);
            if (const auto* part = std::get_if<Scenario>(&made))
            {
                SCOPED_TRACE("draw " + std::to_string(i) + " by " + std::to_string(factor) + ": " +
                             ToString(ScaledSettings(*whole, *part)));
                parts++;
                EXPECT_NO_THROW(part->Validate());
                EXPECT_FALSE(CheckFit(*part).has_value());
                ExpectSameRatios(*whole, *part, factor);
            }
        }
    }
    EXPECT_GT(parts, draws / 10); // so that something was looked at
}

} // namespace

} // namespace scaleacross
