// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/read-study.h"
#include "core/spec/canonical-json.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

const std::string g_study = R"(
model: {name: m, layers: 4, hidden: 512, heads: 8, kv_heads: 4, head_dim: 64, dense_ffn: 2048,
        experts: 8, top_k: 2, expert_ffn: 256, shared_ffn: 128, moe_every: 2, vocabulary: 4096}
workload: {sequence: 2048, global_batch: 64}
cluster:
  buildings:
    - {name: a, gpus: 32, gpu: h100, fabric: {spines: 2}}
    - {name: b, gpus: 32, gpu: h100, fabric: {spines: 2}}
  cross: {distance: 30km, capacity: 400Gbps, loss: 0.00001}
network: {leaf_buffer: 64MiB, ns3: {"ns3::A::B": 1}}
)";

Scenario
Read(const Overrides& overrides = {})
{
    return ParseStudy(g_study, "s.yaml", overrides).scenario;
}

TEST(CanonicalJson, IsJsonOnOneLine)
{
    const std::string text = CanonicalJson(Read());
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["model"]["hidden"], 512);
    EXPECT_EQ(json["plan"]["dp"], 64);
    EXPECT_EQ(json["cluster"]["links"][0]["capacity"], "400Gbps");
    EXPECT_EQ(json["network"]["ns3"]["ns3::A::B"], "1");
    EXPECT_TRUE(nlohmann::json::accept(CanonicalSetting(Read())));
}

TEST(CanonicalJson, EqualValuesInDifferentSpellingAreEqual)
{
    const std::string text = CanonicalJson(Read());
    for (const Overrides& same : std::vector<Overrides>{
             {{"cluster.cross.capacity", "0.4Tbps"}},
             {{"cluster.cross.capacity", "50GB/s"}},
             {{"cluster.cross.distance", "30000m"}},
             {{"cluster.cross.latency", "150us"}},
             {{"cluster.cross.latency", "0.15ms"}},
             {{"cluster.cross.loss", "1e-5"}},
             {{"network.leaf_buffer", "65536KiB"}},
             {{"network.mtu", "4KiB"}},
             {{"network.qps", "16"}},
             {{"plan.dp", "64"}},
             {{"plan", "{}"}},
             {{"cluster.buildings.0.fabric.nodes_per_pod", "4"}},
             {{"cluster.buildings.0.gpu.nic_rate", "400Gbps"}},
             {{"seed", "99"}},
             {{"engines", "[packet]"}},
             {{"search", "{plan: {tp: [1, 2]}}"}},
             // 32 x 400 Gb/s / 32.
             {{"cluster.cross", "{oversubscription: 32, loss: 0.00001, distance: 30km}"}},
             {{"cluster.links", "[{between: [b, a], distance: 30km}]"}}})
    {
        EXPECT_EQ(CanonicalJson(Read(same)), text) << same[0].first << "=" << same[0].second;
    }
}

TEST(CanonicalJson, NamesDoNotCount)
{
    const std::string text = CanonicalJson(Read());
    EXPECT_EQ(CanonicalJson(Read({{"model.name", "other"}})), text);
    EXPECT_EQ(CanonicalJson(Read({{"cluster.buildings.0.name", "north"}})), text);
    EXPECT_EQ(CanonicalJson(Read({{"cluster.buildings.0.gpu.name", "H100"}})), text);
    EXPECT_EQ(CanonicalJson(Read({{"study", "other"}})), text);
}

TEST(CanonicalJson, NamesInTargetsDoNotCount)
{
    const auto with = [](const std::string& target, const std::string& name) {
        return CanonicalJson(
            Read({{"events", "[{kind: link-failure, at: 1us, target: " + target + "}]"},
                  {"cluster.buildings.0.name", name}}));
    };
    const std::string text = with("a/leaf1--a/spine0", "a");
    EXPECT_EQ(with("a/spine0--a/leaf1", "a"), text);
    EXPECT_EQ(with("a--x/leaf1--a--x/spine0", "a--x"), text);
    EXPECT_NE(with("b/leaf1--b/spine0", "a"), text);
    const std::string span = with("a--b", "a");
    EXPECT_EQ(with("b--a", "a"), span);
    EXPECT_EQ(with("a--x--b", "a--x"), span);
    EXPECT_NE(with("a/spine0--b/spine0", "a"), span);
}

/// "a=1;b=2" as overrides.
Overrides
Settings(const std::string& text)
{
    Overrides overrides;
    std::stringstream settings(text);
    for (std::string one; std::getline(settings, one, ';');)
    {
        const size_t equals = one.find('=');
        overrides.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    }
    return overrides;
}

// That every field counts is tested over all tables in study-json-test.cc; here is what a study may
// say besides.
TEST(CanonicalJson, WhatIsNoFieldChangesItAsWell)
{
    std::set<std::string> texts{CanonicalJson(Read())};
    for (const auto* change : {"cluster.buildings.0.gpu=h200",
                               "cluster.buildings.0.nic_rate=2Gbps",
                               "cluster.buildings.0.gpu.curve=a100",
                               "cluster.hubs=[h]",
                               "cluster.cross={oversubscription: 31, distance: 30km}",
                               "cluster.cross.loss=0",
                               "workload.stack=torch-eager",
                               "workload.stack=megatron-2021",
                               "workload.stack=megatron-2022",
                               "model=deepseek-v3",
                               "events=[{kind: plane-failure, target: plane 0, at: 1us}]",
                               "events=[{kind: plane-failure, target: plane 1, at: 1us}]",
                               "network.ns3={\"ns3::A::B\": 2}",
                               "network.ns3={\"ns3::A::C\": 1}",
                               "network.ns3={}"})
    {
        EXPECT_TRUE(texts.insert(CanonicalJson(Read(Settings(change)))).second) << change;
    }
}

TEST(CanonicalJson, ACollectiveTakesThePlaceOfModelAndPlan)
{
    Scenario scenario = Read();
    CollectiveSpec& spec = scenario.Job().collective.emplace();
    std::set<std::string> texts{CanonicalJson(Read()), CanonicalJson(scenario)};
    const auto job = nlohmann::json::parse(CanonicalJson(scenario))["jobs"][0];
    EXPECT_EQ(job.size(), 1U);
    EXPECT_EQ(job["collective"]["op"], "all_reduce");
    spec.op = CollectiveOp::SendReceive;
    texts.insert(CanonicalJson(scenario));
    spec.group = CollectiveGroup::Across;
    texts.insert(CanonicalJson(scenario));
    spec.groups = 2;
    texts.insert(CanonicalJson(scenario));
    spec.bytes = Bytes(2);
    texts.insert(CanonicalJson(scenario));
    EXPECT_EQ(texts.size(), 6U);
    // Tokens count where they are sent, in place of bytes.
    spec.tokens.tokens = 5;
    texts.insert(CanonicalJson(scenario));
    EXPECT_EQ(texts.size(), 6U);
    spec.op = CollectiveOp::Combine;
    texts.insert(CanonicalJson(scenario));
    spec.tokens.maxNodes = 0;
    texts.insert(CanonicalJson(scenario));
    EXPECT_EQ(texts.size(), 8U);
    spec.bytes = Bytes(3);
    texts.insert(CanonicalJson(scenario));
    EXPECT_EQ(texts.size(), 8U);
}

TEST(CanonicalJson, SettingLeavesOutThePlanOnly)
{
    const std::string setting = CanonicalSetting(Read());
    for (const auto& field : PlanFields())
    {
        Scenario scenario = Read();
        Plan plan{scenario.Job().plan, scenario.network};
        for (const auto* text : {"2", "3", "true", "false", "pp", "ddp", "full", "512B"})
        {
            try
            {
                field.set(plan, text);
            }
            catch (const ConfigError&)
            {
            }
        }
        scenario.Job().plan = plan.parallel;
        scenario.network = plan.network;
        EXPECT_EQ(CanonicalSetting(scenario), setting) << field.key;
    }
    EXPECT_NE(CanonicalSetting(Read({{"cluster.cross.loss", "0"}})), setting);
    EXPECT_NE(CanonicalSetting(Read({{"network.ns3", "{}"}})), setting);
    EXPECT_NE(CanonicalSetting(Read({{"workload.sequence", "1024"}})), setting);
}

TEST(CanonicalJson, OrderOfSpansDoesNotCount)
{
    Scenario scenario = Read();
    const std::string text = CanonicalJson(scenario);
    std::swap(scenario.cluster.crossLinks[0].a, scenario.cluster.crossLinks[0].b);
    EXPECT_EQ(CanonicalJson(scenario), text);
}

TEST(CanonicalJson, EscapesTexts)
{
    Scenario scenario = Read();
    scenario.network.ns3Attributes["ns3::A::B"] = "\"quoted\\\"\n";
    const auto json = nlohmann::json::parse(CanonicalJson(scenario));
    EXPECT_EQ(json["network"]["ns3"]["ns3::A::B"], "\"quoted\\\"\n");
}

} // namespace
} // namespace scaleacross
