// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/io/read-study.h"
#include "core/spec/without-effect.h"
#include "core/topology/fast-links.h"
#include "places.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace scaleacross
{
namespace
{

std::string
StudyOf(const std::string& example)
{
    return SourcePath("examples/") + example + "/study.yaml";
}

TEST(Examples, EveryStudyIsReadAndNamedAfterItsFolder)
{
    int studies = 0;
    for (const auto& entry : std::filesystem::directory_iterator(SourcePath("examples")))
    {
        const std::string name = entry.path().filename().string();
        if (!std::filesystem::exists(StudyOf(name)))
        {
            continue;
        }
        const Study study = ReadStudy(StudyOf(name));
        EXPECT_EQ(study.name, name);
        EXPECT_FALSE(study.search.empty()) << name;
        EXPECT_EQ(study.scenario.Job().plan.Ranks() % study.scenario.cluster.Gpus(), 0U) << name;
        EXPECT_TRUE(std::filesystem::exists(entry.path() / "README.md")) << name;
        for (const std::string& warning : FastLinkWarnings(study.scenario.cluster))
        {
            ADD_FAILURE() << name << ": " << warning;
        }
        studies++;
    }
    EXPECT_GE(studies, 3);
}

TEST(Examples, NoStudySaysWhatChangesNothing)
{
    int studies = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SourcePath("examples")))
    {
        if (entry.path().extension() == ".yaml")
        {
            const Study study = ReadStudy(entry.path().string());
            for (const auto& warning : WarningsOfNoEffect(study.scenario, study.search))
            {
                ADD_FAILURE() << entry.path() << ": " << warning;
            }
            studies++;
        }
    }
    EXPECT_GE(studies, 10);
}

/// Whatever the number of buildings that they are explored with, 1,280 GPUs; and fields that are in
/// no dimension's search have a single value, so that no school has more than the search.
TEST(Examples, StudiesOfDesignPointsAreOneSpaceForAllSchools)
{
    const std::filesystem::path folder = SourcePath("examples/design-points");
    EXPECT_TRUE(std::filesystem::exists(folder / "README.md"));
    int studies = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        if (entry.path().extension() != ".yaml")
        {
            continue;
        }
        const Study study = ReadStudy(entry.path().string());
        EXPECT_EQ(study.name, "design-points-" + entry.path().stem().string());
        EXPECT_EQ(study.scenario.cluster.Gpus(), 1280U);
        EXPECT_EQ(study.scenario.Job().plan.Ranks(), 1280U);
        std::set<std::string> varied;
        for (const auto& axis : study.search)
        {
            varied.insert(axis.key);
        }
        for (const std::string name :
             {"placement-only", "schedule-only", "parallelism-only", "network-only"})
        {
            const auto spaces = Baseline(name)->spaces(study);
            for (const auto& axis : spaces[0].search)
            {
                EXPECT_EQ(varied.count(axis.key), 1U) << study.name << " " << axis.key;
            }
        }
        studies++;
    }
    EXPECT_EQ(studies, 3);
}

/// Qwen3.5 397B-A17B is known by 397 and 17 billion parameters. By hand, per layer: queries and
/// output 2*4096*32*256 = 67,108,864, keys and values 2*4096*16*256 = 33,554,432, their norms 512,
/// norms 8,192, router 512*4096, 513 experts of 3*4096*1024 = 12,582,912; 60 layers; 2*248320*4096
/// and the last norm.
TEST(Examples, TheMixtureOf512ExpertsIsAsLargeAsTheModelThatItStandsFor)
{
    const Study study = ReadStudy(SourcePath("examples/design-points/moe-512.yaml"));
    const ModelSpec& model = study.scenario.Job().model;
    EXPECT_EQ(model.TotalParameters(),
              60 * (67'108'864ULL + 33'554'432 + 512 + 8'192 + 2'097'152 + 513 * 12'582'912ULL) +
                  2 * 1'017'118'720ULL + 4'096);
    EXPECT_NEAR(static_cast<double>(model.TotalParameters()) / 397e9, 1, 0.005);
    EXPECT_NEAR(static_cast<double>(model.ActiveParameters()) / 17e9, 1, 0.05);
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
