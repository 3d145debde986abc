// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/study-input.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

template <class Input>
std::vector<std::string>
KeysOf(const std::vector<Input>& inputs)
{
    std::vector<std::string> keys;
    for (const Input& input : inputs)
    {
        keys.push_back(input.key);
    }
    return keys;
}

const StudyInput&
Find(const StudyInputs& inputs, const std::string& key)
{
    for (const StudyInput& input : inputs.varied)
    {
        if (input.key == key)
        {
            return input;
        }
    }
    InvariantBroken("found", __FILE__, __LINE__, key);
}

/// Scales one input of a study by a factor, and gives what became of it.
std::string
Scaled(const Study& study, const std::string& key, double factor, Scenario& scenario)
{
    scenario = study.scenario;
    return Find(InputsOf(study, std::fabs(factor - 1)), key).scale(scenario, factor);
}

TEST(StudyInputs, AreTheFiguresOfAllTables)
{
    const StudyInputs inputs = InputsOf(TwoBuildings(""), 0.2);
    const auto varied = KeysOf(inputs.varied);
    for (const char* key : {"cluster.cross.distance",
                            "cluster.cross.capacity",
                            "cluster.buildings.gpu.bf16_peak",
                            "cluster.buildings.gpu.gemm_efficiency",
                            "cluster.buildings.gpu.hbm_bandwidth",
                            "cluster.buildings.gpu.scale_up_bandwidth",
                            "cluster.buildings.gpu.nic_rate",
                            "cluster.buildings.fabric.leaf_delay",
                            "workload.sequence",
                            "workload.global_batch",
                            "workload.stack.optimizer_bytes",
                            "network.spine_buffer"})
    {
        EXPECT_THAT(varied, Contains(key));
    }
    EXPECT_THAT(KeysOf(inputs.fixed),
                AllOf(Contains("cluster.cross.loss"), Contains("cluster.cross.lanes")));
    // Words, lists, the model, and what is to be decided.
    EXPECT_THAT(varied,
                AllOf(Not(Contains("cluster.buildings.gpu.architecture")),
                      Not(Contains("cluster.buildings.gpu.tiles")),
                      Not(Contains("network.transport")),
                      Each(Not(StartsWith("plan."))),
                      Each(Not(StartsWith("model.")))));
}

TEST(StudyInputs, EveryOneChangesByItself)
{
    const Study study = TwoBuildings("");
    for (const StudyInput& input : InputsOf(study, 0.2).varied)
    {
        SCOPED_TRACE(input.key);
        Scenario scenario = study.scenario;
        std::string text;
        try
        {
            text = input.scale(scenario, 0.8);
        }
        catch (const ConfigError&)
        {
            continue; // 1 is the least of an imbalance
        }
        EXPECT_NE(text, input.value);
        // Inputs of the changed study differ in this one alone.
        Study changed = study;
        changed.scenario = scenario;
        const auto after = InputsOf(changed, 0.2).varied;
        for (const StudyInput& other : InputsOf(study, 0.2).varied)
        {
            const auto same = std::find_if(after.begin(), after.end(), [&](const auto& one) {
                return one.key == other.key;
            });
            if (same != after.end())
            {
                EXPECT_EQ(same->value != other.value, other.key == input.key) << other.key;
            }
        }
    }
}

TEST(StudyInputs, WhatTheSearchDecidesIsNone)
{
    const std::string key = "network.qps";
    EXPECT_THAT(KeysOf(InputsOf(TwoBuildings("network: {qps: 16}\n"), 0.2).varied), Contains(key));
    EXPECT_THAT(KeysOf(InputsOf(TwoBuildings("search: {network: {qps: [4, 16]}}\n"), 0.2).varied),
                Not(Contains(key)));
}

TEST(StudyInputs, WholeNumbersKeepWhatTheyAreDividedBy)
{
    const Study study = TwoBuildings("");
    Scenario scenario;
    // 64 x 0.2 = 12.8, so that 8 is the step: 51.2 is nearest to 48, 76.8 to 80.
    EXPECT_EQ(Scaled(study, "workload.global_batch", 0.8, scenario), "48");
    EXPECT_EQ(scenario.Job().workload.globalBatch, 48U);
    EXPECT_EQ(Scaled(study, "workload.global_batch", 1.2, scenario), "80");
    // 2048 x 0.1 = 204.8: 128. 1843.2 / 128 = 14.4, 14 x 128 = 1792.
    EXPECT_EQ(Scaled(study, "workload.sequence", 0.9, scenario), "1792");
    // Of an odd number the step is 1: 7 x 1.2 = 8.4.
    Study odd = study;
    odd.scenario.network.retries = 7;
    EXPECT_EQ(Scaled(odd, "network.retries", 1.2, scenario), "8");
}

TEST(StudyInputs, UnitsStay)
{
    Scenario scenario;
    const Study study = TwoBuildings("");
    EXPECT_EQ(Scaled(study, "cluster.cross.distance", 1.2, scenario), "36km");
    EXPECT_EQ(scenario.cluster.crossLinks[0].latency, Duration::Microseconds(180));
    EXPECT_EQ(Scaled(study, "cluster.buildings.gpu.nic_rate", 0.8, scenario), "320Gbps");
    // In all buildings; the capacity of the span is an input of its own.
    EXPECT_EQ(scenario.cluster.buildings[1].gpu.nicRate, GigabitsPerSecond(320));
    EXPECT_EQ(scenario.cluster.crossLinks[0].capacity, GigabitsPerSecond(3200));
}

TEST(StudyInputs, ALatencyOfItsOwnIsAnInput)
{
    const std::string key = "cluster.cross.latency";
    Study study = TwoBuildings("");
    EXPECT_THAT(KeysOf(InputsOf(study, 0.2).varied), Not(Contains(key)));
    study.scenario.cluster.crossLinks[0].latency = Duration::Microseconds(200);
    Scenario scenario;
    EXPECT_EQ(Scaled(study, key, 1.5, scenario), "300us");
    EXPECT_EQ(scenario.cluster.crossLinks[0].distance, Distance(30));
    Scaled(study, "cluster.cross.distance", 2, scenario);
    EXPECT_EQ(scenario.cluster.crossLinks[0].latency, Duration::Microseconds(200));
}

TEST(StudyInputs, AValueOutOfRangeIsRefused)
{
    Study study = TwoBuildings("");
    study.scenario.cluster.buildings[0].gpu.hbmEfficiency = 0.9;
    Scenario scenario = study.scenario;
    try
    {
        Scaled(study, "cluster.buildings.gpu.hbm_efficiency", 1.2, scenario);
        ADD_FAILURE();
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.Problem(), HasSubstr("1.08"));
    }
}

} // namespace

} // namespace scaleacross
