// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"
#include "core/io/read-study.h"
#include "core/spec/canonical-json.h"
#include "places.h"
#include "temporary-folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

using ::testing::HasSubstr;

const std::string g_two = R"(
model: llama3-8b
workload: {sequence: 8192, global_batch: 512}
cluster:
  buildings: {count: 2, gpus: 64, gpu: h100}
  cross: {distance: 30km, oversubscription: 2.8}
)";

const std::string g_workload = "workload: {sequence: 8192, global_batch: 512}\n";

const std::string g_cluster = "cluster: {buildings: {count: 1, gpus: 64, gpu: h100}}\n";

Study
Read(const std::string& text, const Overrides& overrides = {})
{
    return ParseStudy(text, "studies/two/study.yaml", overrides);
}

TEST(ReadStudy, DefaultsOfAShortStudy)
{
    const Study study = Read(g_two);
    EXPECT_EQ(study.name, "two"); // of the folder
    EXPECT_EQ(study.path, "studies/two/study.yaml");
    EXPECT_EQ(study.seed, 1U);
    EXPECT_EQ(study.engines, std::vector<std::string>{"analytical"});
    EXPECT_FALSE(study.enginesGiven);
    EXPECT_TRUE(study.baselines.empty());
    EXPECT_FALSE(study.search.empty()); // what the plan leaves open
    EXPECT_FALSE(study.dpGiven);
    const Scenario& scenario = study.scenario;
    EXPECT_EQ(scenario.Job().model.layers, 32U);
    EXPECT_EQ(scenario.Job().workload.gradientBytes, 4U);
    EXPECT_TRUE(scenario.Job().workload.causalAttention);
    ParallelPlan plan;
    plan.dp = 128;
    EXPECT_TRUE(scenario.Job().plan == plan);
    ASSERT_EQ(scenario.cluster.buildings.size(), 2U);
    EXPECT_EQ(scenario.cluster.buildings[1].name, "building2");
    EXPECT_EQ(scenario.cluster.buildings[1].gpusPerNode, 8U);
    EXPECT_TRUE(scenario.cluster.buildings[1].fabric.rails);
    EXPECT_EQ(scenario.cluster.buildings[1].fabric.nicDelay, Duration::Nanoseconds(750));
    ASSERT_EQ(scenario.cluster.crossLinks.size(), 1U);
    EXPECT_EQ(scenario.cluster.crossLinks[0].latency, Duration::Microseconds(150));
    // 64 x 400 Gb/s / 2.8, one peer.
    EXPECT_DOUBLE_EQ(scenario.cluster.crossLinks[0].capacity.Value(), 64 * 400e9 / 2.8);
}

TEST(ReadStudy, EveryKeyOfTheSchema)
{
    const Study study = Read(R"(
study: all
model: llama3-70b
workload: {sequence: 4096, global_batch: 64, gradients: bf16, causal_attention: false}
cluster:
  buildings:
    - name: north
      gpus: 32
      gpus_per_node: 4
      gpu: {preset: h100, hbm_reserve: 8GiB, gemm_efficiency: 0.6, scale_up_latency: 2us}
      nic_rate: 800Gbps
      fabric: {rails: false, nodes_per_pod: 4, spines: 2, oversubscription: 2,
               nic_delay: 1us, leaf_delay: 2us}
    - {name: south, gpus: 96, gpu: a100-80g, fabric: {spines: 2}}
  links:
    - {between: [south, north], distance: 10km, latency: 60us, capacity: 1Tbps, loss: 1e-6}
network: {transport: roce, multipath: ecmp, qps: 4, collective: ring, mtu: 1024B, headers: 90B,
          ack_size: 64B, ack_every: 2, pfc: false, leaf_buffer: 32MiB, spine_buffer: 1GiB,
          balance: dqplb, outstanding: 8,
          tiers: {leaf: {qps: 1}, cross: {segment: 1MiB, balance: spray, outstanding: 128}},
          timeout_exponent: 12, retries: 3, detection: 20us, convergence: 3ms,
          keep_at_down_port: true, ns3: {"ns3::TcpSocket::SegmentSize": 1448}}
plan: {tp: 4, cp: 2, ep: 1, pp: 2, dp: 8, crossing: pp, sharding: fsdp, reshard: true,
       schedule: dorapp, microbatch: 2, chunks: 4, round: 4, recompute: selective}
search: {plan: {microbatch: [1, 2]},
         network: {tiers: {cross: {qps: [same, 8]}}, segment: [1MiB]}}
events:
  - {kind: degradation, target: plane 1, at: 0s, factor: 0.25}
  - {kind: link-failure, target: north/leaf0--north/spine1, at: 5us, until: 1ms}
  - {kind: flap, target: south/spine0, at: 10us, down: 1us, period: 3us, count: 4}
baselines: [megatron]
engines: [packet, analytical]
seed: 42
)");
    EXPECT_EQ(study.name, "all");
    EXPECT_TRUE(study.dpGiven);
    EXPECT_EQ(study.seed, 42U);
    EXPECT_EQ(study.baselines, std::vector<std::string>{"megatron"});
    EXPECT_EQ(study.engines, (std::vector<std::string>{"packet", "analytical"}));
    EXPECT_TRUE(study.enginesGiven);
    const Scenario& s = study.scenario;
    EXPECT_EQ(s.Job().workload.gradientBytes, 2U);
    EXPECT_FALSE(s.Job().workload.causalAttention);
    const BuildingSpec& north = s.cluster.buildings[0];
    EXPECT_EQ(north.Nodes(), 8U);
    EXPECT_EQ(north.gpu.hbmReserve, Bytes(8ULL << 30));
    EXPECT_EQ(north.gpu.gemmEfficiency, 0.6);
    EXPECT_EQ(north.gpu.scaleUpLatency, Duration::Microseconds(2));
    EXPECT_EQ(north.gpu.nicRate, GigabitsPerSecond(800));
    EXPECT_FALSE(north.fabric.rails);
    EXPECT_EQ(north.fabric.nodesPerPod, 4U);
    EXPECT_EQ(north.fabric.oversubscription, 2.0);
    EXPECT_EQ(north.fabric.leafDelay, Duration::Microseconds(2));
    const CrossLinkSpec& span = s.cluster.crossLinks.at(0);
    EXPECT_EQ(span.a, 0U); // in the order of the buildings
    EXPECT_EQ(span.b, 1U);
    EXPECT_EQ(span.latency, Duration::Microseconds(60));
    EXPECT_EQ(span.capacity, BitRate(1e12));
    EXPECT_EQ(span.loss, 1e-6);
    EXPECT_EQ(s.network.collective, CollectiveAlgorithm("ring"));
    EXPECT_EQ(s.network.mtu, Bytes(1024));
    EXPECT_FALSE(s.network.UsesPfc());
    EXPECT_EQ(s.network.retries, 3U);
    EXPECT_EQ(s.network.balance, Balance("dqplb"));
    EXPECT_EQ(s.network.QueuePairsAt(Tier::Leaf).qps, 1U);
    EXPECT_EQ(s.network.QueuePairsAt(Tier::Leaf).outstanding, 8U);
    EXPECT_EQ(s.network.QueuePairsAt(Tier::Cross).qps, 4U);
    EXPECT_EQ(s.network.QueuePairsAt(Tier::Cross).segment, Bytes(1 << 20));
    EXPECT_EQ(s.network.QueuePairsAt(Tier::Cross).balance, Balance("spray"));
    EXPECT_EQ(s.network.QueuePairsAt(Tier::Cross).outstanding, 128U);
    ASSERT_EQ(study.search.size(), 3U);
    EXPECT_EQ(study.search[1].key, "network.segment");
    EXPECT_EQ(study.search[2].key, "network.tiers.cross.qps");
    EXPECT_EQ(study.search[2].values, (std::vector<std::string>{"same", "8"}));
    EXPECT_EQ(s.network.detection, Duration::Microseconds(20));
    EXPECT_EQ(s.network.convergence, Duration::Microseconds(3000));
    EXPECT_TRUE(s.network.keepAtDownPort);
    ASSERT_EQ(s.events.size(), 3U);
    EXPECT_EQ(s.events[0].kind, EventKind("degradation"));
    EXPECT_EQ(s.events[0].factor, 0.25);
    EXPECT_TRUE(s.events[0].IsConstant());
    EXPECT_EQ(s.events[1].target, "north/leaf0--north/spine1");
    EXPECT_EQ(s.events[1].until, Duration::Microseconds(1000));
    EXPECT_FALSE(s.events[1].IsConstant());
    EXPECT_EQ(s.events[2].kind, EventKind("flap"));
    EXPECT_EQ(s.events[2].down, Duration::Microseconds(1));
    EXPECT_EQ(s.events[2].period, Duration::Microseconds(3));
    EXPECT_EQ(s.events[2].count, 4U);
    EXPECT_EQ(s.network.ns3Attributes.at("ns3::TcpSocket::SegmentSize"), "1448");
    EXPECT_EQ(s.Job().plan.crossing, Crossing::Pipeline);
    EXPECT_EQ(s.Job().plan.schedule, Schedule("dorapp"));
    EXPECT_EQ(s.Job().plan.round, 4U);
    EXPECT_TRUE(s.Job().plan.reshard);
}

TEST(ReadStudy, JsonIsAccepted)
{
    const Study study = Read(R"({"model": "llama3-8b",
        "workload": {"sequence": 8192, "global_batch": 512},
        "cluster": {"buildings": {"count": 2, "gpus": 64, "gpu": "h100"},
                    "cross": {"distance": "30km", "oversubscription": 2.8}}})");
    EXPECT_EQ(CanonicalJson(study.scenario), CanonicalJson(Read(g_two).scenario));
}

TEST(ReadStudy, SearchAxesInTheOrderOfTheTable)
{
    const Study study = Read(g_two + R"(
search:
  network: {mtu: [1KiB, 4096B], qps: 16}
  plan:
    schedule: [1f1b, dorapp]
    pp: {from: 1, to: 16, factor: 2}
    microbatch: {from: 1, to: 7, step: 3}
    reshard: [false, true]
    tp: [1, 2]
)");
    std::vector<std::string> text;
    for (const auto& axis : study.search)
    {
        text.push_back(axis.key + ":");
        for (const auto& value : axis.values)
        {
            text.back() += " " + value;
        }
    }
    EXPECT_EQ(text,
              (std::vector<std::string>{"plan.tp: 1 2",
                                        "plan.pp: 1 2 4 8 16",
                                        "plan.reshard: false true",
                                        "plan.schedule: 1f1b dorapp",
                                        "plan.microbatch: 1 4 7",
                                        "network.qps: 16",
                                        "network.mtu: 1KiB 4KiB"}));
}

TEST(ReadStudy, DpFollowsUnlessGiven)
{
    // 128 GPUs / (2 x 4 x 2).
    EXPECT_EQ(Read(g_two + "plan: {tp: 2, pp: 4, cp: 2}").scenario.Job().plan.dp, 8U);
    const Study given = Read(g_two + "plan: {tp: 2, dp: 64}");
    EXPECT_TRUE(given.dpGiven);
    EXPECT_EQ(given.scenario.Job().plan.dp, 64U);
    // Where a degree is searched, what is fixed need not fit by itself.
    EXPECT_EQ(Read(g_two + "plan: {tp: 3}\nsearch: {plan: {tp: [1, 2]}}").scenario.Job().plan.dp,
              1U);
    EXPECT_EQ(Read(g_two + "plan: {tp: 2}\nsearch: {plan: {tp: [1, 2]}}").scenario.Job().plan.dp,
              64U);
}

TEST(ReadStudy, SpansOfSeveralBuildings)
{
    const std::string head = "model: llama3-8b\n" + g_workload + R"(
cluster:
  buildings:
    - {name: a, gpus: 64, gpu: h100}
    - {name: b, gpus: 32, gpu: h100}
    - {name: c, gpus: 64, gpu: h100}
  cross: {distance: 30km, oversubscription: 4, loss: 1e-6}
)";
    const auto cluster = Read(head).scenario.cluster;
    ASSERT_EQ(cluster.crossLinks.size(), 3U);
    // The smaller building's 32 x 400 Gb/s / (4 x 2 peers); between a and c twice that.
    EXPECT_EQ(cluster.Between(0, 1)->capacity, GigabitsPerSecond(1600));
    EXPECT_EQ(cluster.Between(0, 2)->capacity, GigabitsPerSecond(3200));

    const auto own = Read(head + R"(
  links:
    - {between: [c, a], distance: 100km, capacity: 800Gbps}
    - {between: [a, b], latency: 1ms, loss: 0}
)")
                         .scenario.cluster;
    ASSERT_EQ(own.crossLinks.size(), 3U);
    // A distance of its own brings its own latency; the capacity replaces the oversubscription.
    EXPECT_EQ(own.Between(0, 2)->latency, Duration::Microseconds(500));
    EXPECT_EQ(own.Between(0, 2)->capacity, GigabitsPerSecond(800));
    EXPECT_EQ(own.Between(0, 2)->loss, 1e-6);
    EXPECT_EQ(own.Between(0, 1)->distance, Distance(30));
    EXPECT_EQ(own.Between(0, 1)->latency, Duration::Microseconds(1000));
    EXPECT_EQ(own.Between(0, 1)->loss, 0.0);
    EXPECT_EQ(own.Between(0, 1)->capacity, GigabitsPerSecond(1600));
    EXPECT_EQ(own.Between(1, 2)->latency, Duration::Microseconds(150));
}

TEST(ReadStudy, ShapesOfSpans)
{
    const auto spans = [](const std::string& rest) {
        const ClusterSpec cluster =
            Read("model: llama3-8b\n" + g_workload +
                 "cluster:\n  buildings: {count: 4, gpus: 16, gpu: h100}\n" + rest)
                .scenario.cluster;
        std::string pairs;
        for (const CrossLinkSpec& link : cluster.crossLinks)
        {
            pairs += cluster.SiteName(link.a) + "-" + cluster.SiteName(link.b) + " ";
        }
        return std::pair(pairs, cluster);
    };
    const std::string cross = "distance: 30km, oversubscription: 4";
    const auto line = spans("  cross: {shape: line, " + cross + "}\n");
    EXPECT_EQ(line.first, "building1-building2 building2-building3 building3-building4 ");
    // 16 NICs of 400 Gb/s over 4 x the two spans of the sites in the middle.
    EXPECT_EQ(line.second.crossLinks[0].capacity, GigabitsPerSecond(800));
    const auto ring = spans("  cross: {shape: ring, lanes: 3, pfc: false, " + cross + "}\n");
    EXPECT_EQ(ring.first,
              "building1-building2 building1-building4 building2-building3 building3-building4 ");
    EXPECT_EQ(ring.second.crossLinks[1].lanes, 3U);
    EXPECT_FALSE(ring.second.crossLinks[1].pfc);
    const auto hub = spans("  cross: {shape: hub, " + cross + "}\n");
    EXPECT_EQ(hub.first, "building1-hub building2-hub building3-hub building4-hub ");
    // A building's only span: 6.4 Tb/s / 4.
    EXPECT_EQ(hub.second.crossLinks[0].capacity, GigabitsPerSecond(1600));
    const auto two = spans("  hubs: [east, west]\n  cross: {" + cross +
                           "}\n  links: [{between: [east, west], capacity: 1Tbps}]\n");
    EXPECT_EQ(two.second.crossLinks.size(), 9U);
    EXPECT_EQ(two.second.crossLinks[0].capacity, GigabitsPerSecond(800)); // two spans of a building
    const auto list = spans("  links:\n    - {between: [building1, building2], " + cross +
                            "}\n    - {between: [building2, building3], " + cross +
                            "}\n    - {between: [building2, building4], " + cross + "}\n");
    EXPECT_EQ(list.second.crossLinks.size(), 3U);
    EXPECT_EQ(list.second.crossLinks[0].lanes, 1U);
    EXPECT_TRUE(list.second.crossLinks[0].pfc);
}

TEST(ReadStudy, ThreeStagesAndPlanes)
{
    const FabricSpec fabric =
        Read("model: llama3-8b\n" + g_workload +
             "cluster: {buildings: {count: 1, gpus: 64, gpu: h100, fabric: {rails: false, "
             "nodes_per_pod: 1, pods_per_zone: 4, spines: 8, aggregations: 4, "
             "zone_oversubscription: 2.8, planes: 2, dual_tor: true, aggregation_delay: 5us}}}\n")
            .scenario.cluster.buildings[0]
            .fabric;
    EXPECT_EQ(fabric.podsPerZone, 4U);
    EXPECT_EQ(fabric.aggregations, 4U);
    EXPECT_EQ(fabric.zoneOversubscription, 2.8);
    EXPECT_EQ(fabric.aggregationDelay, Duration::Microseconds(5));
    EXPECT_EQ(fabric.PortsPerNic(), 4U);
    EXPECT_EQ(fabric.TopSwitches(), 8U);
}

TEST(ReadStudy, ModelAsMapOrFile)
{
    const ModelSpec tiny = Read("model: {layers: 4, hidden: 512, heads: 8, dense_ffn: 2048, "
                                "vocabulary: 4096}\n" +
                                g_workload + g_cluster)
                               .scenario.Job()
                               .model;
    EXPECT_EQ(tiny.name, "custom");
    EXPECT_EQ(tiny.kvHeads, 8U);
    EXPECT_EQ(tiny.headDim, 64U);
    const ModelSpec moe = Read("model: {layers: 4, hidden: 512, heads: 8, experts: 4, top_k: 2, "
                               "expert_ffn: 256, vocabulary: 4096}\n" +
                               g_workload + g_cluster)
                              .scenario.Job()
                              .model;
    EXPECT_EQ(moe.MoeLayers(), 4U);
    const ModelSpec shorter =
        Read("model: {preset: llama3-405b, layers: 124}\n" + g_workload + g_cluster)
            .scenario.Job()
            .model;
    EXPECT_EQ(shorter.layers, 124U);
    EXPECT_EQ(shorter.headDim, 128U);
    // 1792 / 24 is no width of a head, of a map as little as of a file, or of a changed preset.
    for (const char* map :
         {"{layers: 4, hidden: 1792, heads: 24, dense_ffn: 2048, vocabulary: 4096}",
          "{preset: llama3-8b, hidden: 1792, heads: 24, kv_heads: 8}"})
    {
        const std::string text = std::string("model: ") + map + "\n" + g_workload + g_cluster;
        try
        {
            Read(text);
            ADD_FAILURE() << map;
        }
        catch (const ConfigError& error)
        {
            EXPECT_THAT(error.Where(), HasSubstr("model.heads"));
            EXPECT_THAT(error.Problem(), HasSubstr("1792 is no multiple of 24"));
            EXPECT_THAT(error.Remedy(), HasSubstr("head_dim"));
        }
    }
    EXPECT_EQ(
        Read("model: {preset: llama3-8b, hidden: 1792, heads: 24, kv_heads: 8, head_dim: 128}\n" +
             g_workload + g_cluster)
            .scenario.Job()
            .model.headDim,
        128U);
    // Relative to the study's folder.
    const Study file = ParseStudy("model: data/llama3-8b-config.json\n" + g_workload + g_cluster,
                                  SourcePath("tests/core/study.yaml"));
    EXPECT_EQ(file.scenario.Job().model.hidden, 4096U);
    EXPECT_EQ(file.scenario.Job().model.name, "data/llama3-8b-config.json");
}

TEST(ReadStudy, GpuAsMapWithoutPreset)
{
    const std::string gpu =
        "{name: x, bf16_peak: 1PFLOP/s, hbm_capacity: 96GiB, hbm_reserve: 4GiB, "
        "hbm_bandwidth: 4TB/s, scale_up_bandwidth: 450GB/s, scale_up_latency: 1us, "
        "nic_rate: 400Gbps, gemm_efficiency: 0.7, hbm_efficiency: 0.8, "
        "scale_up_efficiency: 0.6}";
    const Study study = Read("model: llama3-8b\n" + g_workload +
                             "cluster: {buildings: {count: 1, gpus: 8, gpu: " + gpu + "}}\n");
    EXPECT_EQ(study.scenario.cluster.buildings[0].gpu.bf16Peak, FlopRate(1e15));
    EXPECT_EQ(study.scenario.cluster.buildings[0].gpu.fp8Peak, FlopRate(0));
    // Without a curve all GEMMs are as efficient as large ones, and so are FP8 and attention.
    EXPECT_TRUE(study.scenario.cluster.buildings[0].gpu.gemm == GemmCurve());
    EXPECT_EQ(study.scenario.cluster.buildings[0].gpu.AttentionEfficiency(), 0.7);
}

TEST(ReadStudy, CurvesAndStacks)
{
    const auto gpu = [](const std::string& text) {
        return Read("model: llama3-8b\n" + g_workload +
                    "cluster: {buildings: {count: 1, gpus: 8, gpu: " + text + "}}\n")
            .scenario.cluster.buildings[0]
            .gpu;
    };
    // A curve in place of the preset's, and a key in place of the curve's.
    const GpuSpec changed = gpu("{preset: h100, curve: a100, hbm_efficiency: 0.5}");
    EXPECT_TRUE(changed.gemm == PresetNamed<GpuCurve>("a100").gemm);
    EXPECT_EQ(changed.gemmEfficiency, PresetNamed<GpuCurve>("a100").gemmEfficiency);
    EXPECT_EQ(changed.hbmEfficiency, 0.5);
    // With a curve a description of one's own needs no efficiencies.
    const GpuSpec own = gpu("{bf16_peak: 1PFLOP/s, hbm_capacity: 96GiB, hbm_reserve: 4GiB, "
                            "hbm_bandwidth: 4TB/s, scale_up_bandwidth: 450GB/s, "
                            "scale_up_latency: 1us, nic_rate: 400Gbps, curve: h100}");
    EXPECT_EQ(own.gemmEfficiency, PresetNamed<GpuCurve>("h100").gemmEfficiency);
    // A file of one's own, by its path.
    const std::string file = SourcePath("contrib/scaleacross/data/curves/a100.yaml");
    EXPECT_TRUE(gpu("{preset: h100, curve: " + file + "}").gemm ==
                PresetNamed<GpuCurve>("a100").gemm);
    EXPECT_THROW(gpu("{preset: h100, curve: h1oo}"), ConfigError);
    EXPECT_THROW(gpu("{preset: h100, curve: ./nowhere.yaml}"), ConfigError);

    const auto workload = [](const std::string& text) {
        return Read("model: llama3-8b\nworkload: {sequence: 8192, global_batch: 64, " + text +
                    "}\ncluster: {buildings: {count: 1, gpus: 8, gpu: h100}}\n")
            .scenario.Job()
            .workload;
    };
    EXPECT_EQ(workload("stack: torch-eager").stack.name, "torch-eager");
    EXPECT_EQ(workload("precision: fp8").precision, Precision("fp8"));
    EXPECT_EQ(workload("expert_imbalance: 1.25").expertImbalance, 1.25);
    EXPECT_THROW(workload("stack: torch"), ConfigError);
    // A map on a stack that is built in, or on the perfect one.
    const SoftwareStack slow = workload("stack: {preset: torch-eager, host_per_layer: 1ms}").stack;
    EXPECT_EQ(slow.elementwise, PresetNamed<SoftwareStack>("torch-eager").elementwise);
    EXPECT_EQ(slow.hostPerLayer, Duration::Microseconds(1000));
    const SoftwareStack mine =
        workload("stack: {name: mine, elementwise: 2, flash_attention: false, score_passes: 5, "
                 "sequence_parallel: false, overlaps_tensor_reduction: false, joined_projections: "
                 "false, gathers_for_weights: false, accumulation: 6, "
                 "optimizer_bytes: 60}")
            .stack;
    EXPECT_EQ(mine.name, "mine");
    EXPECT_EQ(mine.elementwise, 2);
    EXPECT_FALSE(mine.flashAttention);
    EXPECT_EQ(mine.scorePasses, 5);
    EXPECT_FALSE(mine.sequenceParallel);
    EXPECT_FALSE(mine.overlapsTensorReduction);
    EXPECT_FALSE(mine.joinedProjections);
    EXPECT_FALSE(mine.gathersForWeights);
    EXPECT_EQ(mine.accumulation, 6);
    EXPECT_EQ(mine.optimizerBytes, 60);
    EXPECT_THROW(workload("stack: {elementwise: 0.5}"), ConfigError);
    EXPECT_THROW(workload("stack: {host_per_layer: 2s}"), ConfigError);
    EXPECT_THROW(workload("stack: {slowness: 2}"), ConfigError);
    EXPECT_THROW(workload("expert_imbalance: 0.5"), ConfigError);
}

TEST(ReadStudy, OneJobAsList)
{
    const Study study = Read("jobs: [{name: j, model: llama3-8b, workload: {sequence: 8192, "
                             "global_batch: 512}, plan: {tp: 2}}]\n" +
                             g_cluster);
    EXPECT_EQ(study.scenario.Job().name, "j");
    EXPECT_EQ(study.scenario.Job().plan.dp, 32U);
}

TEST(ReadStudy, EmptyMapsCountAsNotGiven)
{
    const Study study = Read(g_two + "plan:\nnetwork:\nsearch:\nevents:\nbaselines:\n");
    EXPECT_EQ(CanonicalJson(study.scenario), CanonicalJson(Read(g_two).scenario));
}

TEST(ReadStudy, OverridesSetAnyKeyInOrder)
{
    const Study study = Read(g_two,
                             {{"cluster.cross.oversubscription", "4"},
                              {"cluster.buildings.gpu.nic_rate", "200Gbps"},
                              {"plan.tp", "4"},
                              {"plan.tp", "8"},
                              {"model.layers", "16"},
                              {"search.plan.pp", "[1, 2]"},
                              {"seed", "7"}});
    EXPECT_EQ(study.scenario.cluster.crossLinks[0].capacity, GigabitsPerSecond(64 * 200 / 4));
    EXPECT_EQ(study.scenario.Job().plan.tp, 8U);
    EXPECT_EQ(study.scenario.Job().model.layers, 16U);
    EXPECT_EQ(study.search.at(0).key, "plan.pp");
    EXPECT_EQ(study.seed, 7U);
}

/// One word of a map stands for what it says there.
TEST(ReadStudy, OverridesGoIntoASearchOfOneWord)
{
    const std::string text = std::string(g_two) + "search: auto\n";
    const Study study = Read(text, {{"search.plan.pp", "[1, 2]"}});
    ASSERT_EQ(study.search.at(0).key, "plan.pp");
    EXPECT_EQ(study.search.at(0).values, (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(study.search.size(), Read(text).search.size());
}

TEST(ReadStudy, OverridesAreCheckedLikeTheFile)
{
    for (const auto& [path, value, where, remedy] :
         {std::tuple("plan.tq", "8", "--set plan.tq=8 plan.'tq'", "did you mean tp?"),
          std::tuple("clutser.cross.loss", "0", "'clutser'", "did you mean cluster?"),
          std::tuple("cluster.cross.distence", "3km", "'distence'", "did you mean distance?"),
          std::tuple("cluster.cross.distance", "3", "cluster.cross.distance", "add the unit"),
          std::tuple("plan.dp", "3", "--set plan.dp=3 plan.dp", "set dp to 128")})
    {
        try
        {
            Read(g_two, {{path, value}});
            ADD_FAILURE() << path;
        }
        catch (const ConfigError& error)
        {
            EXPECT_THAT(error.Where(), HasSubstr(where));
            EXPECT_THAT(error.Remedy(), HasSubstr(remedy));
        }
    }
}

TEST(ReadStudy, TheNetworkAloneNeedsNoModel)
{
    const std::string text = "study: net\n"
                             "cluster: {buildings: {count: 2, gpus: 8, gpu: h100}, cross: "
                             "{distance: 1km, oversubscription: 1}}\n"
                             "network: {qps: 4}\n"
                             "seed: 7\n";
    EXPECT_THROW(ParseStudy(text, "net.yaml"), ConfigError);
    const Study study = ParseStudy(text, "net.yaml", {}, StudyScope::Network);
    EXPECT_EQ(study.name, "net");
    EXPECT_EQ(study.seed, 7U);
    EXPECT_EQ(study.scenario.network.qps, 4U);
    EXPECT_EQ(study.scenario.cluster.Gpus(), 16U);
    EXPECT_TRUE(study.scenario.Job().collective.has_value());
    // What it does not look at may be wrong, what it reads may not, and no key is unknown to it.
    EXPECT_NO_THROW(ParseStudy(text + "plan: {tp: 7}\n", "net.yaml", {}, StudyScope::Network));
    EXPECT_THROW(ParseStudy(text + "plans: {}\n", "net.yaml", {}, StudyScope::Network),
                 ConfigError);
    EXPECT_THROW(ParseStudy(text, "net.yaml", {{"network.qps", "0"}}, StudyScope::Network),
                 ConfigError);
}

TEST(ReadStudy, Aliases)
{
    const Study study = Read("model: llama3-8b\n" + g_workload + R"(
cluster:
  buildings:
    - {name: a, gpus: 64, gpu: &gpu {preset: h100, hbm_reserve: 10GiB}}
    - {name: b, gpus: 64, gpu: *gpu}
  cross: {distance: 1km, oversubscription: 1}
)");
    EXPECT_EQ(study.scenario.cluster.buildings[1].gpu.hbmReserve, Bytes(10ULL << 30));
}

/// Engines run for long, and a study may be edited or gone when they refuse it.
TEST(ReadStudy, ErrorsAfterwardsHaveThePlacesThatWereRead)
{
    const TemporaryFolder folder;
    const std::string path = folder.Write("study.yaml", g_two + "network:\n  qps: 4\n");
    const Study study = ReadStudy(path);
    const ConfigError error("network.qps", "4 is odd", "another", "say so");
    for (const std::string& now : {std::string("# new\n"), std::string("{")})
    {
        folder.Write("study.yaml", now);
        EXPECT_EQ(PlacedInStudy(error, study).Where(), path + ":8:8 network.qps");
    }
    EXPECT_EQ(PlacedInStudy(ConfigError("--engine", "", "", ""), study).Where(), "--engine");
    EXPECT_EQ(PlacedInStudy(error, ParseStudy(g_two, "study.yaml")).Where(), "network.qps");
}

} // namespace
} // namespace scaleacross
