// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/cluster-reader.h"
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
    EXPECT_EQ(json["jobs"][0]["model"]["hidden"], 512);
    EXPECT_EQ(json["jobs"][0]["plan"]["dp"], "64");
    EXPECT_EQ(json["cluster"]["links"][0]["capacity"], 400000000000);
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

/// What changes a field whose neighbours have to fit: the change is the first setting.
const char* const g_clusterChanges[] = {
    "cluster.buildings.0.gpus=64",
    "cluster.buildings.1.gpus=64",
    "cluster.buildings.0.gpus_per_node=4",
    "cluster.buildings.0.gpu=h200",
    "cluster.buildings.0.nic_rate=2Gbps",
    "cluster.buildings.0.gpu.bf16_peak=1TFLOP/s",
    "cluster.buildings.0.gpu.fp8_peak=1TFLOP/s",
    "cluster.buildings.0.gpu.hbm_capacity=90GiB",
    "cluster.buildings.0.gpu.hbm_reserve=7GiB",
    "cluster.buildings.0.gpu.hbm_bandwidth=1TB/s",
    "cluster.buildings.0.gpu.nvlink_bandwidth=1TB/s",
    "cluster.buildings.0.gpu.nvlink_latency=9us",
    "cluster.buildings.0.gpu.nic_rate=1Gbps",
    "cluster.buildings.0.gpu.curve=a100",
    "cluster.buildings.0.gpu.gemm_efficiency=0.5",
    "cluster.buildings.0.gpu.fp8_efficiency=0.5",
    "cluster.buildings.0.gpu.attention_efficiency=0.4",
    "cluster.buildings.0.gpu.kernel_gap=3us",
    "cluster.buildings.0.gpu.hbm_efficiency=0.5",
    "cluster.buildings.0.gpu.nvlink_efficiency=0.5",
    "cluster.buildings.0.gpu.collective_share=0.1",
    "cluster.buildings.0.fabric.rails=false",
    "cluster.buildings.0.fabric.nodes_per_pod=2",
    "cluster.buildings.0.fabric.oversubscription=2",
    "cluster.buildings.0.fabric.nic_delay=3us",
    "cluster.buildings.0.fabric.leaf_delay=3us",
    // Spans join equal planes, ports and top switches.
    "cluster.buildings.0.fabric.spines=4;cluster.buildings.1.fabric.spines=4",
    "cluster.buildings.0.fabric.planes=2;cluster.buildings.1.fabric.planes=2",
    "cluster.buildings.0.fabric.dual_tor=true;cluster.buildings.1.fabric.dual_tor=true",
    // Of a three-stage fabric: two aggregation switches fit the other's two spines, and so on.
    "cluster.buildings.0.fabric.aggregations=2;cluster.buildings.0.fabric.nodes_per_pod=1",
    "cluster.buildings.0.fabric.pods_per_zone=2;cluster.buildings.0.fabric.aggregations=2;"
    "cluster.buildings.0.fabric.nodes_per_pod=1",
    "cluster.buildings.0.fabric.zone_oversubscription=2;cluster.buildings.0.fabric.aggregations=2;"
    "cluster.buildings.0.fabric.nodes_per_pod=1",
    "cluster.buildings.0.fabric.aggregation_delay=9us;cluster.buildings.0.fabric.aggregations=2;"
    "cluster.buildings.0.fabric.nodes_per_pod=1",
    "cluster.hubs=[h]",
    "cluster.cross.distance=31km",
    "cluster.cross.latency=151us",
    "cluster.cross.capacity=401Gbps",
    "cluster.cross={oversubscription: 31, loss: 0.00001, distance: 30km}",
    "cluster.cross.loss=0",
    "cluster.cross.lanes=2",
    "cluster.cross.pfc=false"};

TEST(CanonicalJson, AnyChangedFieldOfTheClusterChangesIt)
{
    std::set<std::string> texts{CanonicalJson(Read())};
    std::set<std::string> changed;
    for (const std::string change : g_clusterChanges)
    {
        EXPECT_TRUE(texts.insert(CanonicalJson(Read(Settings(change)))).second) << change;
        changed.insert(change.substr(0, change.find('=')));
    }
    // Names do not count, and a preset is a way to give the others.
    const std::set<std::string> left{"name", "preset"};
    const auto expectAll = [&](const std::string& path, const std::vector<std::string>& keys) {
        for (const std::string& key : keys)
        {
            const std::string whole = path + key;
            const bool below = changed.lower_bound(whole) != changed.end() &&
                               changed.lower_bound(whole)->compare(0, whole.size(), whole) == 0;
            EXPECT_TRUE(left.count(key) > 0 || below) << whole << " is not tested";
        }
    };
    expectAll("cluster.buildings.0.", BuildingKeys());
    expectAll("cluster.buildings.0.gpu.", GpuKeys());
    expectAll("cluster.buildings.0.fabric.", FabricKeys());
    std::vector<std::string> span = SpanKeys();
    span.erase(std::find(span.begin(), span.end(), "oversubscription")); // replaces a capacity
    expectAll("cluster.cross.", span);
}

TEST(CanonicalJson, AnyChangedFieldOfAPlanChangesIt)
{
    std::set<std::string> texts{CanonicalJson(Read())};
    std::set<std::string> unchanged;
    for (const PlanField& field : PlanFields())
    {
        // The first of these texts that is another value of the field.
        bool other = false;
        for (const auto* text : {"2",     "3",          "true",       "false",
                                 "pp",    "ddp",        "microbatch", "gpipe",
                                 "full",  "ecmp",       "split",      "ring",
                                 "512B",  "spray",      "17us",       "selective-repeat",
                                 "swift", "infiniband", "256KiB",     "time",
                                 "rail",  "staged"})
        {
            Scenario scenario = Read();
            Plan plan{scenario.Job().plan, scenario.network};
            const std::string before = field.get(plan);
            try
            {
                field.set(plan, text);
            }
            catch (const ConfigError&)
            {
                continue;
            }
            if (field.get(plan) != before)
            {
                scenario.Job().plan = plan.parallel;
                scenario.network = plan.network;
                EXPECT_TRUE(texts.insert(CanonicalJson(scenario)).second) << field.key;
                other = true;
                break;
            }
        }
        if (!other)
        {
            unchanged.insert(field.key);
        }
    }
    EXPECT_EQ(unchanged, std::set<std::string>{});
}

TEST(CanonicalJson, AnyChangedFieldChangesIt)
{
    std::set<std::string> texts{CanonicalJson(Read())};
    const auto expectNew = [&](const Overrides& change) {
        EXPECT_TRUE(texts.insert(CanonicalJson(Read(change))).second)
            << change[0].first << "=" << change[0].second;
    };
    for (const auto* change :
         {"model.layers=6",
          "model.hidden=1024",
          "model.heads=16",
          "model.kv_heads=8",
          "model.head_dim=128",
          "model.dense_ffn=1024",
          "model.experts=16",
          "model.top_k=1",
          "model.expert_ffn=512",
          "model.shared_ffn=0",
          "model.moe_every=4",
          "model.vocabulary=8192",
          "model.tied_embedding=true",
          "model.gated_mlp=false",
          "workload.sequence=1024",
          "workload.global_batch=128",
          "workload.gradients=bf16",
          "workload.causal_attention=false",
          "workload.precision=fp8",
          "workload.expert_imbalance=1.5",
          "workload.stack=torch-eager",
          "workload.stack=megatron-2021",
          "workload.stack=megatron-2022",
          "model.leading_dense=2",
          "model.attention_bias=true",
          "model.mlp_bias=true",
          "model.query_key_norm=true",
          "model.attention_sinks=true",
          "model.window=512",
          "model={preset: gpt-oss-20b, window: 256}",
          "model={preset: gpt-oss-20b, full_attention_every: 3}",
          "model={preset: gpt-oss-20b, chunked_window: true}",
          "model={preset: deepseek-v3, kv_rank: 256}",
          "model={preset: deepseek-v3, query_rank: 256}",
          "model={preset: deepseek-v3, rope_dim: 32}",
          "model={preset: deepseek-v3, value_dim: 64}",
          "events=[{kind: plane-failure, target: plane 0, at: 1us}]",
          "events=[{kind: plane-failure, target: plane 1, at: 1us}]",
          "events=[{kind: plane-failure, target: plane 1, at: 1us, until: 2us}]",
          "events=[{kind: flap, target: plane 1, at: 1us, down: 1us, period: 2us}]",
          "events=[{kind: flap, target: plane 1, at: 1us, down: 1us, period: 3us}]",
          "events=[{kind: flap, target: plane 1, at: 1us, down: 1us, period: 2us, count: 2}]",
          "events=[{kind: degradation, target: plane 1, at: 1us, factor: 0.2}]",
          "network.ns3={\"ns3::A::B\": 2}",
          "network.ns3={\"ns3::A::C\": 1}",
          "network.ns3={}"})
    {
        const std::string text(change);
        const size_t equals = text.find('=');
        expectNew({{text.substr(0, equals), text.substr(equals + 1)}});
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
