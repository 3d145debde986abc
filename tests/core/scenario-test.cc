// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/spec/presets.h"
#include "core/spec/scenario.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

Scenario
OneBuilding()
{
    Scenario scenario;
    scenario.jobs.resize(1);
    scenario.Job().model = ModelPreset("llama3-8b");
    scenario.Job().workload.sequence = 8192;
    scenario.Job().workload.globalBatch = 128;
    scenario.Job().plan.dp = 8;
    BuildingSpec building;
    building.name = "b";
    building.gpus = 8;
    building.gpu = GpuPreset("h100");
    scenario.cluster.buildings.push_back(building);
    return scenario;
}

template <class Change>
std::string
RefusedKey(Change change)
{
    Scenario scenario = OneBuilding();
    change(scenario);
    try
    {
        scenario.Validate();
    }
    catch (const ConfigError& error)
    {
        return error.Where();
    }
    return "";
}

TEST(Scenario, ValidatesEveryPart)
{
    EXPECT_EQ(RefusedKey([](auto&) {}), "");
    EXPECT_EQ(RefusedKey([](auto& s) { s.Job().model.layers = 0; }), "model.layers");
    EXPECT_EQ(RefusedKey([](auto& s) { s.Job().workload.sequence = 0; }), "workload.sequence");
    EXPECT_EQ(RefusedKey([](auto& s) { s.Job().workload.globalBatch = 0; }),
              "workload.global_batch");
    EXPECT_EQ(RefusedKey([](auto& s) { s.Job().workload.gradientBytes = 3; }),
              "workload.gradients");
    EXPECT_EQ(RefusedKey([](auto& s) { s.Job().plan.tp = 0; }), "plan.tp");
    EXPECT_EQ(RefusedKey([](auto& s) { s.cluster.buildings[0].gpus = 7; }),
              "cluster.buildings.0.gpus");
    EXPECT_EQ(RefusedKey([](auto& s) { s.network.retries = 1000; }), "network.retries");
}

TEST(Scenario, RefusesWhatNoEngineRunsYetByName)
{
    EXPECT_EQ(RefusedKey([](auto& s) { s.jobs.push_back(s.Job()); }), "jobs");
    EXPECT_EQ(RefusedKey([](auto& s) { s.jobs.clear(); }), "jobs");
    EXPECT_EQ(RefusedKey([](auto& s) { s.events.push_back({"straggler", {}, "b"}); }), "events");
}

TEST(Scenario, WhetherThePlanFitsIsAResult)
{
    EXPECT_EQ(RefusedKey([](auto& s) { s.Job().plan.dp = 12345; }), "");
}

} // namespace
} // namespace scaleacross
