// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"
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

TEST(Scenario, NcclAndRcclDoNotTalkToEachOther)
{
    const auto with = [](const char* collective, const char* gpu) {
        return RefusedKey([&](auto& s) {
            s.network.collective = collective;
            s.cluster.buildings.push_back(s.cluster.buildings[0]);
            s.cluster.buildings[1].name = "c";
            s.cluster.buildings[1].gpu = GpuPreset(gpu);
            CrossLinkSpec span;
            span.b = 1;
            span.latency = Duration::Microseconds(1);
            span.capacity = GigabitsPerSecond(400);
            s.cluster.crossLinks = {span};
            s.Job().plan.dp = 16;
        });
    };
    EXPECT_EQ(with("nccl", "mi300x"), "network.collective");
    EXPECT_NE(with("ring", "mi300x"), "network.collective");
    EXPECT_NE(with("nccl", "a100-80g"), "network.collective");
}

TEST(Scenario, OnlySwitchesInTreesReduce)
{
    const auto with = [](const char* shape, bool collnet) {
        return RefusedKey([&](auto& s) {
            s.network.collective = "nccl";
            s.network.ncclCollnet = collnet;
            s.network.pfc = false;
            s.network.recovery = "selective-repeat";
            s.cluster.buildings[0].gpu = GpuPreset("h100");
            s.cluster.buildings[0].fabric.shape = shape;
        });
    };
    EXPECT_EQ(with("full-mesh", true), "network.nccl_collnet");
    EXPECT_NE(with("full-mesh", false), "network.nccl_collnet");
    EXPECT_NE(with("clos", true), "network.nccl_collnet");
}

TEST(Scenario, RefusesWhatNoEngineRunsYetByName)
{
    EXPECT_EQ(RefusedKey([](auto& s) { s.jobs.push_back(s.Job()); }), "jobs");
    EXPECT_EQ(RefusedKey([](auto& s) { s.jobs.clear(); }), "jobs");
}

TEST(Scenario, ValidatesEvents)
{
    // What breaks a valid event, and the key that is named.
    const auto refused = [](EventKind kind, auto change) {
        return RefusedKey([&](auto& s) {
            EventSpec event;
            event.kind = kind;
            event.target = "plane 0";
            event.at = Duration::Microseconds(10);
            event.down = Duration::Microseconds(1);
            event.period = Duration::Microseconds(2);
            change(event);
            s.events = {EventSpec(), event};
        });
    };
    const auto nothing = [](EventSpec&) {};
    for (const EventKind kind :
         {EventKind("link-failure"), EventKind("degradation"), EventKind("flap")})
    {
        EXPECT_EQ(refused(kind, nothing), "");
        EXPECT_EQ(refused(kind, [](auto& e) { e.at = Duration::Microseconds(-1); }), "events.1.at");
    }
    const auto until = [](auto& e) { e.until = e.at; };
    EXPECT_EQ(refused(EventKind("plane-failure"), until), "events.1.until");
    EXPECT_EQ(refused(EventKind("flap"), until), "events.1.until");
    EXPECT_EQ(refused(EventKind("flap"), [](auto& e) { e.at = Duration(); }), "events.1.at");
    EXPECT_EQ(refused(EventKind("flap"), [](auto& e) { e.down = Duration(); }), "events.1.down");
    EXPECT_EQ(refused(EventKind("flap"), [](auto& e) { e.period = e.down; }), "events.1.period");
    EXPECT_EQ(refused(EventKind("flap"), [](auto& e) { e.count = 0; }), "events.1.count");
    for (const double factor : {0.0, 1.0, -0.5})
    {
        EXPECT_EQ(refused(EventKind("degradation"), [=](auto& e) { e.factor = factor; }),
                  "events.1.factor");
    }
}

TEST(Scenario, WhetherThePlanFitsIsAResult)
{
    EXPECT_EQ(RefusedKey([](auto& s) { s.Job().plan.dp = 12345; }), "");
}

} // namespace
} // namespace scaleacross
