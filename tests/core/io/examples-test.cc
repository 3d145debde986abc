// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/read-study.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

std::string
StudyOf(const std::string& example)
{
    return SCALEACROSS_SOURCE_DIR "/examples/" + example + "/study.yaml";
}

TEST(Examples, EveryStudyIsReadAndNamedAfterItsFolder)
{
    int studies = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(SCALEACROSS_SOURCE_DIR "/examples"))
    {
        if (!entry.is_directory())
        {
            continue;
        }
        const std::string name = entry.path().filename().string();
        const Study study = ReadStudy(StudyOf(name));
        EXPECT_EQ(study.name, name);
        EXPECT_FALSE(study.search.empty()) << name;
        EXPECT_EQ(study.scenario.Job().plan.Ranks() % study.scenario.cluster.Gpus(), 0U) << name;
        EXPECT_TRUE(std::filesystem::exists(entry.path() / "README.md")) << name;
        studies++;
    }
    EXPECT_GE(studies, 3);
}

TEST(Examples, MaverickIsTheStudyOfTheDesign)
{
    const Study study = ReadStudy(StudyOf("llama4-maverick-two-buildings"));
    EXPECT_EQ(study.scenario.cluster.Gpus(), 16384U);
    ASSERT_EQ(study.scenario.cluster.crossLinks.size(), 1U);
    const CrossLinkSpec& span = study.scenario.cluster.crossLinks[0];
    // 100 km x 5 us/km; 8,192 x 400 Gb/s / 16.
    EXPECT_EQ(span.latency, Duration::Microseconds(500));
    EXPECT_EQ(span.capacity, GigabitsPerSecond(204800));
    // 16,384 / (tp 4 x pp 4).
    EXPECT_EQ(study.scenario.Job().plan.dp, 1024U);
    EXPECT_EQ(study.baselines, (std::vector<std::string>{"production", "megatron"}));
}

TEST(Examples, Llama3405BRunsThePublishedPlan)
{
    const Study study = ReadStudy(StudyOf("llama3-405b-two-buildings"));
    const ParallelPlan& plan = study.scenario.Job().plan;
    EXPECT_EQ(plan.tp, 8U);
    EXPECT_EQ(plan.pp, 16U);
    // 16,384 / (tp 8 x pp 16).
    EXPECT_EQ(plan.dp, 128U);
    EXPECT_EQ(plan.crossing, Crossing::Data);
    // Its memory is checked in memory-test.cc.
    EXPECT_EQ(plan.recompute, Recompute("selective"));
    const WorkloadSpec& workload = study.scenario.Job().workload;
    EXPECT_EQ(uint64_t{workload.sequence} * workload.globalBatch, 16'777'216U);
}

} // namespace
} // namespace scaleacross
