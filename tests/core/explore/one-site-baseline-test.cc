// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/baselines/choose-baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

std::variant<Study, Infeasible>
SiteOf(const Study& study)
{
    const auto sites = Baseline("one-site")->sites(study);
    if (const auto* none = std::get_if<Infeasible>(&sites))
    {
        return *none;
    }
    const auto& all = std::get<std::vector<OneSite>>(sites);
    EXPECT_EQ(all.size(), 1U);
    return all.front().study;
}

/// Two buildings with what `first` and `second` say of them beside their name.
Study
Buildings(const std::string& first, const std::string& second, const std::string& rest = "")
{
    return ParseStudy("study: pair\n"
                      "model: llama3-8b\n"
                      "workload: {sequence: 2048, global_batch: 96}\n"
                      "cluster:\n"
                      "  buildings:\n"
                      "    - {name: north, " +
                          first +
                          "}\n"
                          "    - {name: south, " +
                          second +
                          "}\n"
                          "  cross: {distance: 30km, oversubscription: 4}\n"
                          "plan: {tp: 8}\n" +
                          rest,
                      "pair/study.yaml");
}

TEST(OneSiteBaseline, IsWhatOneWouldWriteForOneBuilding)
{
    const std::string rest =
        "plan: {tp: 8}\n"
        "search: {plan: {tp: [4, 8], pp: [1, 2], crossing: [dp, pp], sharding: [fsdp, hsdp]}}\n";
    const Study spread = TwoBuildings(rest); // 2 x 32
    const Study written = OneBuilding(rest); // 64
    const auto site = SiteOf(spread);
    ASSERT_TRUE(std::holds_alternative<Study>(site));
    Study found = std::get<Study>(site);
    // Buildings of a count are numbered in their names.
    found.scenario.cluster.buildings[0].name = written.scenario.cluster.buildings[0].name;
    EXPECT_EQ(found.scenario.cluster, written.scenario.cluster);
    EXPECT_EQ(SearchSpace(found).Text(), SearchSpace(written).Text());
    const auto chosen = ChooseOnSite("one-site", std::get<Study>(site), AnalyticalEngine(), {});
    // The oracle: all plans of the study that was written for one building.
    const SearchSpace space(written);
    Duration least = Duration::Max();
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        const auto at = space.At(i);
        if (const Plan* plan = std::get_if<Plan>(&at))
        {
            const auto result = AnalyticalEngine().Run(space.With(*plan), {});
            if (const auto* report = std::get_if<RunReport>(&result))
            {
                least = std::min(least, report->iterationTime);
            }
        }
    }
    const auto best = AnalyticalEngine().Run(space.With(std::get<Plan>(chosen)), {});
    EXPECT_EQ(std::get<RunReport>(best).iterationTime, least);
}

TEST(OneSiteBaseline, HasTheFirstBuildingsFabricAndNics)
{
    const Study study =
        Buildings("gpus: 32, gpu: h100, nic_rate: 200Gbps, fabric: {spines: 4, nodes_per_pod: 2}",
                  "gpus: 64, gpu: h100, fabric: {spines: 4, rails: false}");
    const auto site = SiteOf(study);
    ASSERT_TRUE(std::holds_alternative<Study>(site));
    const ClusterSpec& cluster = std::get<Study>(site).scenario.cluster;
    ASSERT_EQ(cluster.buildings.size(), 1U);
    BuildingSpec expected = study.scenario.cluster.buildings[0];
    expected.gpus = 96;
    EXPECT_EQ(cluster.buildings[0], expected);
    // Pods of 2 servers of 8, a leaf for each of 8 NICs: 6 pods.
    EXPECT_EQ(cluster.buildings[0].Leaves(), 48U);
    EXPECT_TRUE(cluster.crossLinks.empty());
}

/// 32 GPUs in servers of 8 and 32 in servers of 4 are two kinds, and so are two models of GPU.
TEST(OneSiteBaseline, HasASiteForEachKindOfServer)
{
    const std::string h100 = "gpus: 32, gpu: h100, fabric: {spines: 4}";
    for (const std::string other : {"gpus: 32, gpu: a100-80g, fabric: {spines: 4}",
                                    "gpus: 32, gpu: h100, gpus_per_node: 4, fabric: {spines: 4}"})
    {
        const auto sites = Baseline("one-site")->sites(Buildings(h100, other));
        ASSERT_TRUE(std::holds_alternative<std::vector<OneSite>>(sites)) << other;
        for (const OneSite& site : std::get<std::vector<OneSite>>(sites))
        {
            EXPECT_EQ(site.study.scenario.cluster.Gpus(), 64U);
        }
        EXPECT_EQ(std::get<std::vector<OneSite>>(sites).size(), 2U);
    }
}

/// 4 pods to a zone: 4 + 2 pods in one building are no whole number of zones.
TEST(OneSiteBaseline, IsRefusedWhereTheFabricDoesNotGrow)
{
    const std::string fabric = "fabric: {nodes_per_pod: 1, pods_per_zone: 4, spines: 4, "
                               "aggregations: 4}";
    const Study study =
        Buildings("gpus: 32, gpu: h100, " + fabric, "gpus: 16, gpu: h100, fabric: {spines: 4}");
    const auto site = SiteOf(study);
    ASSERT_TRUE(std::holds_alternative<Infeasible>(site));
    EXPECT_THAT(std::get<Infeasible>(site).detail,
                testing::HasSubstr("the fabric of north does not grow to 48 GPUs"));
}

TEST(OneSiteBaseline, LeavesOutWhatIsOfSpans)
{
    const std::string building = "gpus: 48, gpu: h100, fabric: {spines: 4}";
    const Study study = Buildings(
        building,
        building,
        "search: {plan: {crossing: [dp, pp]}, network: {qps: [4, 16], tiers: {cross: {qps: [8, "
        "32]}, "
        "building: {qps: [8, 32]}}}}\n"
        "events:\n"
        "  - {kind: link-failure, target: north/leaf0--north/spine1, at: 5us, until: 1ms}\n"
        "  - {kind: link-failure, target: south/leaf0--south/spine1, at: 5us, until: 1ms}\n"
        "  - {kind: link-failure, target: north/spine0--south/spine0, at: 5us, until: 1ms}\n");
    ASSERT_EQ(study.scenario.events.size(), 3U);
    const auto site = SiteOf(study);
    ASSERT_TRUE(std::holds_alternative<Study>(site));
    const Study& one = std::get<Study>(site);
    ASSERT_EQ(one.scenario.events.size(), 1U);
    EXPECT_EQ(one.scenario.events[0].target, "north/leaf0--north/spine1");
    std::vector<std::string> keys;
    for (const auto& axis : one.search)
    {
        keys.push_back(axis.key);
    }
    EXPECT_THAT(keys,
                testing::UnorderedElementsAre("plan.crossing",
                                              "network.qps",
                                              "network.tiers.building.qps"));
}

TEST(OneSiteBaseline, IsAReferenceAndNoSchool)
{
    EXPECT_TRUE(IsReference("one-site"));
    EXPECT_FALSE(IsReference("production"));
    EXPECT_FALSE(IsReference("one"));
}

} // namespace

} // namespace scaleacross
