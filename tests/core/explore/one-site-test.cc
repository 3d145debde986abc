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

/// The only site of a study.
Study
OneSiteOf(const Study& study)
{
    const auto sites = OneSitesOf(study);
    EXPECT_EQ(sites.size(), 1U);
    return sites.front().study;
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

TEST(OneSite, SaysWhoseFabricItHas)
{
    EXPECT_EQ(OneSitesOf(Unequal("gpu: h100", "gpu: h100"))[0].assumed, "fabric and NICs of east");
}

/// 32 GPUs of 1,000 TFLOP/s and 64 of 400: (32 x 1,000 + 64 x 400) / 96 = 600 in the mean, 0.6 of
/// the first and 1.5 of the second. FP8, which the workload does not use, stays.
TEST(OneSite, EachKindOfGpuHasOneOfTheMeanPeak)
{
    const Study study = Unequal("gpu: {preset: h100, bf16_peak: 1000TFLOP/s}",
                                "gpu: {preset: a100-80g, bf16_peak: 400TFLOP/s}");
    const auto sites = OneSitesOf(study);
    ASSERT_EQ(sites.size(), 2U);
    for (size_t i = 0; i < 2; i++)
    {
        const BuildingSpec& own = study.scenario.cluster.buildings[i];
        const ClusterSpec& cluster = sites[i].study.scenario.cluster;
        ASSERT_EQ(cluster.buildings.size(), 1U);
        const GpuSpec& gpu = cluster.buildings[0].gpu;
        EXPECT_EQ(cluster.Gpus(), 96U);
        EXPECT_DOUBLE_EQ(gpu.bf16Peak.Value(), 600e12);
        EXPECT_EQ(gpu.fp8Peak.Value(), own.gpu.fp8Peak.Value());
        EXPECT_EQ(gpu.hbmCapacity, own.gpu.hbmCapacity);
        EXPECT_EQ(gpu.nicRate, own.gpu.nicRate);
        EXPECT_TRUE(cluster.buildings[0].fabric == own.fabric);
        EXPECT_EQ(sites[i].gpu, own.gpu.name);
    }
    EXPECT_THAT(sites[0].assumed,
                testing::AllOf(testing::HasSubstr("96 h100 with the mean peak"),
                               testing::HasSubstr("0.6 of it in bf16"),
                               testing::HasSubstr("memory"),
                               testing::HasSubstr("fabric and NICs of east")));
    EXPECT_THAT(sites[1].assumed,
                testing::AllOf(testing::HasSubstr("1.5 of it in bf16"),
                               testing::HasSubstr("fabric and NICs of west")));
}

/// H100 and H200 are the same chip with other memory; their scale-up network is no other one.
TEST(OneSite, APeakThatAllHaveStaysAsItIs)
{
    const Study study = Unequal("gpu: h100", "gpu: h200");
    const auto sites = OneSitesOf(study);
    ASSERT_EQ(sites.size(), 2U);
    EXPECT_TRUE(sites[0].study.scenario.cluster.buildings[0].gpu ==
                study.scenario.cluster.buildings[0].gpu);
    EXPECT_THAT(sites[1].assumed,
                testing::StartsWith("96 h200, whose peak all GPUs of the study have; with memory, "
                                    "its bandwidth and the scale-up network of their own; "));
}

TEST(OneSite, AKindWhoseFabricDoesNotGrowIsLeftOut)
{
    Study study = Unequal("gpu: h100", "gpu: h200");
    study.scenario.cluster.buildings[0].fabric.nodesPerPod = 8;
    const auto sites = OneSitesOf(study);
    ASSERT_EQ(sites.size(), 1U);
    EXPECT_EQ(sites[0].gpu, "h200");
    EXPECT_THAT(sites[0].assumed, testing::HasSubstr("none with h100: the fabric of east"));
}

TEST(OneSite, ServersOfTwoSizesAreTwoKinds)
{
    const auto sites = OneSitesOf(Unequal("gpu: h100", "gpu: h100, gpus_per_node: 4"));
    ASSERT_EQ(sites.size(), 2U);
    EXPECT_EQ(sites[0].study.scenario.cluster.buildings[0].gpusPerNode, 8U);
    EXPECT_EQ(sites[1].study.scenario.cluster.buildings[0].gpusPerNode, 4U);
    EXPECT_NE(sites[0].gpu, sites[1].gpu);
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
