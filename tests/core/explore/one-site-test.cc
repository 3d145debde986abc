// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/one-site.h"
#include "core/explore/search-space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

/// Two buildings as said, with 32 and 64 GPUs.
Study
Unequal(const std::string& first, const std::string& second, const std::string& rest = "")
{
    return ParseStudy("study: unequal\n"
                      "model: llama3-8b\n"
                      "workload: {sequence: 2048, global_batch: 96}\n"
                      "cluster:\n"
                      "  buildings:\n"
                      "    - {name: east, gpus: 32, " +
                          first +
                          "}\n"
                          "    - {name: west, gpus: 64, " +
                          second +
                          "}\n"
                          "  cross: {distance: 30km, oversubscription: 4}\n"
                          "plan: {tp: 4, pp: 1}\n" +
                          rest,
                      "fake/study.yaml");
}

std::string
Problem(const Study& study)
{
    try
    {
        OneSiteOf(study);
    }
    catch (const ConfigError& error)
    {
        return error.Problem();
    }
    return "";
}

TEST(OneSite, HasAllGpusOfTheStudyUnderTheFirstFabric)
{
    const Study study = TwoBuildings("plan: {tp: 4}\n"
                                     "search: {plan: {tp: [2, 4], crossing: [dp, pp]}}\n"
                                     "baselines: [production]\n");
    const Study one = OneSiteOf(study);
    const ClusterSpec& cluster = one.scenario.cluster;
    ASSERT_EQ(cluster.buildings.size(), 1U);
    EXPECT_EQ(cluster.Gpus(), 64U);
    EXPECT_TRUE(cluster.crossLinks.empty());
    EXPECT_TRUE(cluster.buildings[0].fabric == study.scenario.cluster.buildings[0].fabric);
    EXPECT_EQ(SearchSpace(one).Size(), SearchSpace(study).Size());
    EXPECT_TRUE(one.baselines.empty());
    // What it was made of is as it was.
    EXPECT_EQ(study.scenario.cluster.buildings.size(), 2U);
}

TEST(OneSite, OfOneBuildingIsThatBuilding)
{
    const Study study = OneBuilding("plan: {tp: 4}\n");
    EXPECT_TRUE(OneSiteOf(study).scenario.cluster == study.scenario.cluster);
}

TEST(OneSite, BuildingsMayDifferInSizeAndNics)
{
    const Study study =
        Unequal("gpu: h100", "gpu: h100, nic_rate: 200Gbps, fabric: {oversubscription: 2}");
    const BuildingSpec site = OneSiteOf(study).scenario.cluster.buildings[0];
    EXPECT_EQ(site.name, "east");
    EXPECT_EQ(site.gpus, 96U);
    EXPECT_EQ(site.gpu.nicRate, GigabitsPerSecond(400));
    EXPECT_EQ(site.fabric.oversubscription, 1);
}

TEST(OneSite, OtherGpusAndServersHaveNone)
{
    EXPECT_THAT(Problem(Unequal("gpu: h100", "gpu: a100-80g")),
                testing::AllOf(testing::HasSubstr("east"), testing::HasSubstr("west")));
    EXPECT_THAT(Problem(Unequal("gpu: h100", "gpu: h100, gpus_per_node: 4")),
                testing::HasSubstr("servers of 8 GPUs and west of 4"));
}

TEST(OneSite, AFabricThatDoesNotTakeTheSumIsRefused)
{
    // Four servers in pods of four, and twelve in all, which are three pods: fine. In pods of eight
    // there would be one and a half.
    EXPECT_EQ(Problem(Unequal("gpu: h100, fabric: {nodes_per_pod: 4}",
                              "gpu: h100, fabric: {nodes_per_pod: 4}")),
              "");
    Study study = Unequal("gpu: h100", "gpu: h100");
    study.scenario.cluster.buildings[0].fabric.nodesPerPod = 8;
    EXPECT_THAT(Problem(study), testing::HasSubstr("8 does not divide the 12 servers"));
}

TEST(OneSite, EventsElsewhereAreGone)
{
    const Study study =
        Unequal("gpu: h100",
                "gpu: h100",
                "events:\n"
                "  - {kind: degradation, target: east/spine0, at: 0s, factor: 0.5}\n"
                "  - {kind: degradation, target: west/spine0, at: 0s, factor: 0.5}\n"
                "  - {kind: degradation, target: east/spine0--west/spine0, at: 0s, "
                "factor: 0.5}\n");
    const auto events = OneSiteOf(study).scenario.events;
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].target, "east/spine0");
}

} // namespace

} // namespace scaleacross
