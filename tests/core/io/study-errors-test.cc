// SPDX-License-Identifier: GPL-2.0-only

#include "../../temporary-folder.h"
#include "core/base/errors.h"
#include "core/io/read-study.h"
#include "core/io/text-file.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>

// What is wrong in a study gives one ConfigError that says where, what, what is allowed and what to
// do; nothing crashes, hangs or takes memory without bound.

namespace scaleacross
{
namespace
{

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A valid study; each line can be replaced by tests.
const std::vector<std::string> g_lines = {
    "model: llama3-8b",                                 // 1
    "workload: {sequence: 8192, global_batch: 512}",    // 2
    "cluster:",                                         // 3
    "  buildings: {count: 2, gpus: 64, gpu: h100}",     // 4
    "  cross: {distance: 30km, oversubscription: 2.8}", // 5
    "network: {qps: 16}",                               // 6
    "plan: {tp: 8}",                                    // 7
    "search: {plan: {microbatch: [1, 2]}}",             // 8
};

/// The study with the given line (from 1) replaced.
std::string
With(size_t line, const std::string& text)
{
    std::string study;
    for (size_t i = 0; i < g_lines.size(); i++)
    {
        study += (i + 1 == line ? text : g_lines[i]) + "\n";
    }
    return study;
}

ConfigError
Refusal(const std::string& text)
{
    try
    {
        ParseStudy(text, "s.yaml");
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted: " << text.substr(0, 500);
    return ConfigError("", "", "", "");
}

/// Expects exactly this place, and these words in the parts of the message.
void
Expect(size_t line,
       const std::string& text,
       const std::string& where,
       const std::string& problem,
       const std::string& allowed = "",
       const std::string& remedy = "")
{
    const ConfigError error = Refusal(With(line, text));
    EXPECT_EQ(error.Where(), where) << text;
    EXPECT_THAT(error.Problem(), HasSubstr(problem)) << text;
    EXPECT_THAT(error.Allowed(), HasSubstr(allowed)) << text;
    EXPECT_THAT(error.Remedy(), HasSubstr(remedy)) << text;
    // Whoever prints what() shows all of it.
    EXPECT_THAT(error.what(), AllOf(StartsWith(where), HasSubstr(problem), HasSubstr(remedy)));
}

ConfigError
FileRefusal(const std::string& path)
{
    try
    {
        ReadStudy(path);
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted: " << path;
    return ConfigError("", "", "", "");
}

TEST(StudyErrors, TheStudyItselfIsValid)
{
    EXPECT_NO_THROW(ParseStudy(With(0, ""), "s.yaml"));
}

TEST(StudyErrors, UnknownKey)
{
    Expect(1, "modelx: llama3-8b", "s.yaml:1:1 'modelx'", "not known", "workload", "model?");
    Expect(5,
           "  cross: {distence: 30km, oversubscription: 2.8}",
           "s.yaml:5:11 cluster.cross.'distence'",
           "not known",
           "shape, distance, latency, capacity, loss, lanes, pfc or oversubscription",
           "did you mean distance?");
    Expect(6, "network: {qp: 4}", "s.yaml:6:11 network.'qp'", "not known", "qps", "mean qps?");
    Expect(7, "plan: {banana: 4}", "s.yaml:7:8 plan.'banana'", "not known", "tp, cp, ep");
    Expect(8,
           "search: {plan.tp: [1, 2]}",
           "s.yaml:8:10 search.'plan.tp'",
           "not known",
           "plan, network or rest",
           "nest it: plan: {tp: ...}");
    Expect(8, "<<: {seed: 3}", "s.yaml:8:1 '<<'", "not known");
}

/// What people have of a model stands in a study, and is none itself.
TEST(StudyErrors, ConfigurationOfAModel)
{
    for (const char* text : {R"({"model_type": "llama", "hidden_size": 4096})",
                             R"({"_name_or_path": "x", "architectures": ["LlamaForCausalLM"]})"})
    {
        const ConfigError error = Refusal(text);
        EXPECT_EQ(error.Where(), "s.yaml");
        EXPECT_EQ(error.Problem(), "this is the config.json of a model, and no study");
        EXPECT_THAT(error.Remedy(), HasSubstr("model: s.yaml"));
    }
}

TEST(StudyErrors, MissingKey)
{
    Expect(1, "", "s.yaml:2:1 model", "missing", "", "model: llama3-8b");
    Expect(4, "", "s.yaml:5:3 cluster.buildings", "missing", "", "count: 2");
    Expect(5, "  cross: {distance: 30km}", "s.yaml:5:10 cluster.cross.oversubscription", "neither");
    Expect(5, "  cross: {capacity: 1Tbps}", "s.yaml:5:10 cluster.cross.distance", "missing");
    Expect(5, "", "s.yaml:4:3 cluster.links", "no spans lead from building1 to building2");
    Expect(4,
           "  buildings: {count: 2, gpus: 64, gpu: {nic_rate: 1Gbps}}",
           "s.yaml:4:40 cluster.buildings.gpu.bf16_peak",
           "missing",
           "",
           "preset: h100");
}

TEST(StudyErrors, MissingUnit)
{
    Expect(5,
           "  cross: {distance: 30, oversubscription: 2.8}",
           "s.yaml:5:21 cluster.cross.distance",
           "'30' has no unit",
           "m or km",
           "30km");
    Expect(6, "network: {mtu: 4096}", "s.yaml:6:16 network.mtu", "no unit", "KiB", "add the unit");
    Expect(6, "network: {mtu: 4096b}", "s.yaml:6:16 network.mtu", "'b'", "KiB", "mean B?");
}

TEST(StudyErrors, NegativeAndOutOfRange)
{
    Expect(5,
           "  cross: {distance: -30km, oversubscription: 2.8}",
           "s.yaml:5:21 cluster.cross.distance",
           "'-30km' is negative");
    Expect(2,
           "workload: {sequence: -1, global_batch: 512}",
           "s.yaml:2:22 workload.sequence",
           "'-1' is negative",
           "a whole number 1 to");
    Expect(7, "plan: {tp: 4294967296}", "s.yaml:7:12 plan.tp", "'4294967296' is out of range");
    Expect(7, "plan: {tp: 1e99}", "s.yaml:7:12 plan.tp", "'1e99' is not a whole number");
    Expect(5,
           "  cross: {distance: 1e99km, oversubscription: 2}",
           "s.yaml:5:21 cluster.cross.distance",
           "out of range",
           "40000km");
    Expect(5,
           "  cross: {distance: 1e999km, oversubscription: 2}",
           "s.yaml:5:21 cluster.cross.distance",
           "too large");
    Expect(5,
           "  cross: {distance: 3km, oversubscription: 2, loss: 1.5}",
           "s.yaml:5:53 cluster.cross.loss",
           "'1.5' is out of range",
           "0 to 0.5");
    Expect(4,
           "  buildings: {count: 1000000, gpus: 64, gpu: h100}",
           "s.yaml:4:22 cluster.buildings.count",
           "out of range",
           "1 to 64");
}

TEST(StudyErrors, NotANumber)
{
    for (const auto* value : {".nan", "nan", ".inf", "-.inf", "inf", "NaN"})
    {
        Expect(5,
               std::string("  cross: {distance: 3km, oversubscription: ") + value + "}",
               "s.yaml:5:44 cluster.cross.oversubscription",
               "is not a number");
        Expect(7, std::string("plan: {tp: ") + value + "}", "s.yaml:7:12 plan.tp", "whole number");
    }
}

TEST(StudyErrors, ValuesOfTiers)
{
    Expect(6,
           "network: {tiers: {cross: {qps: 0}}}",
           "s.yaml:6:32 network.tiers.cross.qps",
           "0",
           "same, or ");
    Expect(6,
           "network: {tiers: {rack: {qps: 4}}}",
           "s.yaml:6:19 network.tiers.'rack'",
           "not known",
           "leaf, zone, building or cross");
    Expect(6,
           "network: {tiers: {leaf: {mtu: 4KiB}}}",
           "s.yaml:6:26 network.tiers.leaf.'mtu'",
           "not known",
           "qps, segment, balance, outstanding or window");
    Expect(6,
           "network: {tiers: 4}",
           "s.yaml:6:18 network.tiers",
           "this is",
           "a map with the keys leaf, zone, building or cross");
}

TEST(StudyErrors, CongestionControls)
{
    Expect(6,
           "network: {control: bbr}",
           "s.yaml:6:20 network.control",
           "'bbr' is not known",
           "none, dcqcn, dctcp, swift, timely, hpcc, nscc, receiver-credit or infiniband-cc");
    Expect(6,
           "network: {multipath: spray-rr, recovery: selective-repeat, control: hpcc}",
           "s.yaml:6:69 network.control",
           "multipath spray-rr sends packets by different ones",
           "hpcc with one path per queue pair");
    Expect(6,
           "network: {control: receiver-credit}",
           "s.yaml:6:20 network.control",
           "receiver-credit counts packets one by one",
           "receiver-credit with selective-repeat");
    Expect(6,
           "network: {control: swift, ns3: {'ns3::RdmaQueuePair::CongestionOps': 'ns3::Dcqcn'}}",
           "s.yaml:6:20 network.control",
           "swift, and network.ns3 sets ns3::RdmaQueuePair::CongestionOps",
           "one of the two",
           "leave network.control out");
}

TEST(StudyErrors, SprayingWithGoBackN)
{
    Expect(6,
           "network: {multipath: reps, recovery: go-back-n}",
           "s.yaml:6:38 network.recovery",
           "multipath reps lets them overtake",
           "selective-repeat with reps");
    Expect(6,
           "network: {multipath: spray-rr, recovery: go-back-n}",
           "s.yaml:6:42 network.recovery",
           "multipath spray-rr lets them overtake",
           "selective-repeat with spray-rr",
           "set network.recovery: selective-repeat");
    Expect(6,
           "network: {multipath: sprays}",
           "s.yaml:6:22 network.multipath",
           "'sprays' is not known",
           "ecmp, e-ecmp, ucmp, flowlet, spray-random, spray-rr, spray-adaptive, entropy-random, "
           "reps or d-mod-k");
    Expect(6,
           "network: {reorder_tolerance: 0}",
           "s.yaml:6:30 network.reorder_tolerance",
           "0",
           "1 to 4194304");
}

TEST(StudyErrors, QueuePairSchedulers)
{
    Expect(6,
           "network: {qp_scheduler: fifo}",
           "s.yaml:6:25 network.qp_scheduler",
           "fifo",
           "packet, burst or message");
    Expect(6,
           "network: {qp_scheduler: burst, qp_burst: 1B}",
           "s.yaml:6:42 network.qp_burst",
           "1B",
           "64B to 1GiB");
}

TEST(StudyErrors, TrafficClasses)
{
    Expect(6,
           "network: {classes: {qp: 1}}",
           "s.yaml:6:21 network.classes.'qp'",
           "the key is not known",
           "tp, cp, ep, pp or dp");
    Expect(6, "network: {classes: {pp: 4}}", "s.yaml:6:25 network.classes.pp", "4", "0 to 3");
    Expect(6, "network: {classes: 1}", "s.yaml:6:20 network.classes", "a single value", "a map");
    Expect(6,
           "network: {class_weights: 1:65}",
           "s.yaml:6:26 network.class_weights",
           "the weight of class 1: '65' is out of range",
           "strict, or up to 4 whole numbers 0 to 64, of class 0 first, joined by colons",
           "for instance 1:3");
    Expect(6,
           "network: {class_weights: 1:1:1:1:1}",
           "s.yaml:6:26 network.class_weights",
           "has 5 weights",
           "up to 4",
           "behind the last class, which is 3");
    Expect(6,
           "network: {classes: {pp: 1}, ns3: {'ns3::RdmaQueuePair::Priority': 4}}",
           "s.yaml:6:20 network.classes",
           "network.ns3 sets ns3::RdmaQueuePair::Priority",
           "one of the two",
           "leave the attribute out");
    Expect(6,
           "network: {classes: {pp: 1}, transport: trimming, recovery: selective-repeat}",
           "s.yaml:6:10 network.class_weights",
           "class 0 has no weight",
           "a weight for every class in use with trimming");
}

TEST(StudyErrors, OctalAndYesNo)
{
    Expect(7, "plan: {tp: 010}", "s.yaml:7:12 plan.tp", "octal", "", "without leading zeros");
    Expect(7, "plan: {tp: 0x8}", "s.yaml:7:12 plan.tp", "not a whole number");
    Expect(7, "plan: {tp: 8.0}", "s.yaml:7:12 plan.tp", "not a whole number");
    Expect(6, "network: {pfc: yes}", "s.yaml:6:16 network.pfc", "'yes'", "true", "write true");
    Expect(6, "network: {pfc: Off}", "s.yaml:6:16 network.pfc", "'Off'", "true", "write false");
}

TEST(StudyErrors, WrongType)
{
    Expect(1, "model: [llama3-8b]", "s.yaml:1:8 model", "this is a list", "a single value");
    Expect(2, "workload: 8192", "s.yaml:2:11 workload", "a single value", "a map with the keys");
    Expect(4, "  buildings: h100", "s.yaml:4:14 cluster.buildings", "single value", "a list of");
    Expect(7, "plan: {tp: [8]}", "s.yaml:7:12 plan.tp", "this is a list", "a single value");
    Expect(7, "plan: {tp: }", "s.yaml:7:12 plan.tp", "there is no value");
    Expect(7, "plan: {tp: eight}", "s.yaml:7:12 plan.tp", "'eight' is not a whole number");
    Expect(7, "plan: [8]", "s.yaml:7:7 plan", "this is a list", "a map with the keys tp");
    Expect(8, "engines: {a: b}", "s.yaml:8:10 engines", "this is a map", "a list");
    Expect(8, "jobs: 3", "s.yaml:1:8 model", "jobs as well", "either jobs");
    EXPECT_EQ(Refusal("just text").Where(), "s.yaml:1:1");
    EXPECT_EQ(Refusal("[1, 2]").Where(), "s.yaml:1:1");
}

TEST(StudyErrors, UnknownWords)
{
    Expect(1, "model: llama4-mavrick", "s.yaml:1:8 model", "'llama4-mavrick'", "path", "maverick?");
    Expect(4,
           "  buildings: {count: 2, gpus: 64, gpu: H-100}",
           "s.yaml:4:40 cluster.buildings.gpu",
           "there is no preset 'H-100'",
           "a100-80g, b200",
           "h100?");
    Expect(7, "plan: {schedule: 1f1}", "s.yaml:7:18 plan.schedule", "'1f1'", "gpipe", "1f1b?");
    Expect(8, "engines: [a, b, a]", "s.yaml:8:17 engines.2", "'a' is given twice", "once");
    Expect(8, "engines: []", "s.yaml:8:10 engines", "the list is empty", "one engine or more");
    Expect(8, "baselines: [megatron, x]", "s.yaml:8:23 baselines.1", "'x'", "production, megatron");
    Expect(8, "seed: 0", "s.yaml:8:7 seed", "out of range", "1 to 4294967295");
}

TEST(StudyErrors, DegreesThatDoNotMultiplyToTheGpus)
{
    Expect(7,
           "plan: {tp: 8, dp: 8}",
           "s.yaml:7:19 plan.dp",
           "tp 8 x cp 1 x pp 1 x dp 8 is not the 128 GPUs of the cluster",
           "tp x cp x pp x dp = 128",
           "set dp to 16");
    Expect(7, "plan: {tp: 3}", "s.yaml:7:7 plan", "does not divide", "= 128");
    // A product beyond 64 bits.
    Expect(7, "plan: {tp: 4194304, cp: 4194304, pp: 4194304}", "s.yaml:7:7 plan", "not divide");
}

TEST(StudyErrors, Search)
{
    Expect(8, "search: {plan: {tp: [1, x]}}", "s.yaml:8:25 search.plan.tp.1", "'x'");
    Expect(8, "search: {plan: {tp: [1, 1]}}", "s.yaml:8:25 search.plan.tp.1", "twice");
    Expect(8, "search: {plan: {tp: []}}", "s.yaml:8:21 search.plan.tp", "0 values", "1 to 256");
    Expect(8,
           "search: {plan: {tp: {from: 1, to: 8}}}",
           "s.yaml:8:21 search.plan.tp",
           "neither factor nor step");
    Expect(8,
           "search: {plan: {tp: {from: 0, to: 8, factor: 2}}}",
           "s.yaml:8:21 search.plan.tp",
           "never grows");
    Expect(8,
           "search: {plan: {tp: {from: 9, to: 8, step: 2}}}",
           "s.yaml:8:21 search.plan.tp",
           "is empty");
    Expect(8,
           "search: {plan: {tp: {from: 1, to: 4000000000, step: 1}}}",
           "s.yaml:8:21 search.plan.tp",
           "too many values");
    Expect(8,
           "search: {plan: {tp: {from: 1, to: 8, factor: 1}}}",
           "s.yaml:8:46 search.plan.tp.factor",
           "out of range");
    Expect(8, "search: {network: {mtu: [100B]}}", "s.yaml:8:26 search.network.mtu.0", "range");
    Expect(8, "search: {network: {ns3: [1]}}", "s.yaml:8:20 search.network.'ns3'", "not known");
}

TEST(StudyErrors, Cluster)
{
    Expect(4,
           "  buildings: {count: 2, gpus: 63, gpu: h100}",
           "s.yaml:4:31 cluster.buildings.0.gpus",
           "63 is not a multiple of gpus_per_node 8");
    Expect(4,
           "  buildings: {count: 2, gpus: 64, gpu: {preset: h100, hbm_reserve: 90GiB}}",
           "s.yaml:4:68 cluster.buildings.0.gpu.hbm_reserve",
           "leaves nothing");
    Expect(
        4,
        "  buildings: {count: 2, gpus: 64, gpu: {preset: h100, nic_rate: 1Gbps}, nic_rate: 2Gbps}",
        "s.yaml:4:83 cluster.buildings.nic_rate",
        "twice");
    Expect(4,
           "  buildings: [{gpus: 64, gpu: h100, name: x}, {gpus: 64, gpu: h100, name: x}]",
           "s.yaml:4:75 cluster.buildings.1.name",
           "the name 'x' is another site's, too");
    Expect(4,
           R"(  buildings: [{gpus: 64, gpu: h100, name: "x\ny"}, {gpus: 64, gpu: h100}])",
           "s.yaml:4:43 cluster.buildings.0.name",
           "the name 'x\\x0ay' has a control character");
    // One reason each, and the true one: hubs are named in the same way.
    Expect(4,
           "  hubs: [a/b]\n  buildings: {count: 2, gpus: 64, gpu: h100}",
           "s.yaml:4:10 cluster.hubs.0",
           "the name 'a/b' has a slash");
    Expect(4,
           "  hubs: [building1]\n  buildings: {count: 2, gpus: 64, gpu: h100}",
           "s.yaml:4:10 cluster.hubs.0",
           "the name 'building1' is another site's, too");
    Expect(4,
           R"(  buildings: [{gpus: 64, gpu: h100, name: ""}, {gpus: 64, gpu: h100}])",
           "s.yaml:4:43 cluster.buildings.0.name",
           "the name is empty");
    Expect(4,
           "  buildings: [{gpus: 64, gpu: h100, name: " + std::string(300, 'x') +
               "}, {gpus: 64, gpu: h100}]",
           "s.yaml:4:43 cluster.buildings.0.name",
           "has 300 bytes");
    Expect(5,
           "  cross: {distance: 3km, oversubscription: 2, capacity: 1Tbps}",
           "s.yaml:5:44 cluster.cross.oversubscription",
           "capacity is given as well",
           "exactly one");
    Expect(5,
           "  links: [{between: [building1, bulding2], distance: 3km, capacity: 1Tbps}]",
           "s.yaml:5:33 cluster.links.0.between.1",
           "there is no building or hub 'bulding2'",
           "building1 or building2",
           "building2?");
    Expect(5,
           "  links: [{between: [building1], distance: 3km, capacity: 1Tbps}]",
           "s.yaml:5:21 cluster.links.0.between",
           "1 names");
    Expect(5,
           "  links: [{between: [building1, building1], distance: 3km, capacity: 1Tbps}]",
           "s.yaml:5:21 cluster.links.0.between",
           "same site");
}

TEST(StudyErrors, Model)
{
    Expect(1,
           "model: {preset: llama3-8b, kv_heads: 7}",
           "s.yaml:1:38 model.kv_heads",
           "7 does not divide the 32 query heads");
    Expect(1, "model: {layers: 2}", "s.yaml:1:8 model.hidden", "missing");
    Expect(1,
           "model: no/such/config.json",
           "s.yaml:1:8 model: no/such/config.json",
           "there is no such file");
}

TEST(StudyErrors, WhatNoEngineRunsYetIsRefusedByName)
{
    const std::string job = "{model: llama3-8b, workload: {sequence: 1, global_batch: 1}}";
    EXPECT_THAT(Refusal("jobs: [" + job + ", " + job +
                        "]\ncluster: {buildings: {count: 1, gpus: 8, gpu: h100}}\n")
                    .what(),
                HasSubstr("s.yaml:1:7 jobs: 2 jobs"));
    Expect(6,
           "network: {ns3: {TcpSocket: 1}}",
           "s.yaml:6:16 network.ns3",
           "'TcpSocket' does not name an ns-3 attribute");
}

/// What each refusal has to name: the place, and a way out that is accepted.
TEST(StudyErrors, FabricsThatDoNotFit)
{
    const auto refusal = [](const std::string& building, const std::string& rest) {
        return std::string(Refusal("model: llama3-8b\nworkload: {sequence: 1, global_batch: 1}\n"
                                   "plan: {tp: 8, dp: 2}\ncluster: {buildings: {count: 1, " +
                                   building + "}}\n" + rest)
                               .what());
    };
    const std::string h100 = "gpus: 16, gpu: h100, fabric: ";
    const std::string zones = refusal(h100 + "{preset: meta-llama3-roce, shape: full-mesh}", "");
    EXPECT_THAT(zones, HasSubstr("fabric.aggregations"));
    EXPECT_THAT(zones, HasSubstr("aggregations: 0, pods_per_zone: 0 and zone_oversubscription: 1"));
    EXPECT_THAT(refusal(h100 + "{shape: full-mesh, pods_per_zone: 2}", ""),
                HasSubstr("fabric.pods_per_zone"));
    EXPECT_THAT(refusal(h100 + "{preset: dgx-superpod}", ""), HasSubstr("nodes_per_pod: 0"));
    EXPECT_THAT(refusal("gpus: 128, gpu: gb200, gpus_per_node: 128, fabric: {}", ""),
                HasSubstr("up to 72"));
    const std::string mesh = h100 + "{shape: full-mesh, nodes_per_pod: 1}";
    const std::string lanes = "network: {pfc: false, recovery: selective-repeat, multipath: ";
    EXPECT_THAT(refusal(mesh, lanes + "d-mod-k}\n"), HasSubstr("network.multipath"));
}

TEST(StudyErrors, Events)
{
    Expect(8,
           "events: [{kind: flap, target: plane 0, at: 0s, down: 1ms, period: 2ms}]",
           "s.yaml:8:44 events.0.at",
           "a flap begins after the run does");
    Expect(8,
           "events: [{kind: straggler, at: 1s, target: plane 0}]",
           "s.yaml:8:17 events.0.kind",
           "'straggler' is not known");
    Expect(8, "events: [{kind: link-failure, at: 1s}]", "s.yaml:8:10 events.0.target", "missing");
    Expect(8,
           "events: [{kind: flap, target: plane 0, at: 1ms, down: 1ms, period: 1ms}]",
           "s.yaml:8:68 events.0.period",
           "1 ms is not longer than the time down, 1 ms");
    Expect(8,
           "events: [{kind: link-failure, target: plane 0, at: 1ms, count: 2}]",
           "s.yaml:8:64 events.0.count",
           "a link-failure has no 'count'");
    Expect(8,
           "events: [{kind: degradation, target: plane 0, at: 1ms, factor: 1}]",
           "s.yaml:8:64 events.0.factor",
           "'1' is out of range",
           "a number above 0 and below 1");
    // The tenth failure would come after the end of time in ps, 9.2e6 s.
    Expect(8,
           "events: [{kind: flap, target: plane 0, at: 1s, down: 1s, period: 1000000s, count: 10}]",
           "s.yaml:8:66 events.0.period",
           "the last of 10 failures, 1000000 s apart, ends later than 1000000 s");
    Expect(8,
           "events: [{kind: link-failure, target: plane 0, at: 1000001s}]",
           "s.yaml:8:52 events.0.at",
           "'1000001s' is out of range",
           "0s or, of a flap, more, up to 1000000s");
    Expect(8,
           "events: [{kind: degradation, target: plane 0, at: 0s, until: 9000000s, factor: 0.5}]",
           "s.yaml:8:62 events.0.until",
           "'9000000s' is out of range",
           "later than at, up to 1000000s");
    Expect(8,
           "events: [{kind: degradation, target: plane 0, at: 0s, until: 0s, factor: 0.5}]",
           "s.yaml:8:62 events.0.until",
           "an event that ends at 0s never happens");
    // Every kind of target that is not there, and what there is instead.
    Expect(8,
           "events: [{kind: plane-failure, target: plane 9, at: 1ms}]",
           "s.yaml:8:40 events.0.target",
           "'plane 9' is no target of a plane-failure",
           "a plane: plane 0");
    Expect(8,
           "events: [{kind: switch-failure, target: plane 0, at: 1ms}]",
           "s.yaml:8:41 events.0.target",
           "'plane 0' is no target of a switch-failure",
           "a switch: building1/leaf0 to building1/leaf7, building1/spine0");
    Expect(8,
           "events: [{kind: link-failure, target: building1/leaf3--building1/nic4, at: 1ms}]",
           "s.yaml:8:39 events.0.target",
           "is no target of a link-failure",
           "a link: building1/nic3--building1/leaf3, building1/nic11--building1/leaf3, ");
}

TEST(StudyErrors, DuplicateKeys)
{
    // A pair under `links`, without a `cross` that they stand on.
    Expect(5,
           "  links: [{between: [building1, building2], distance: 1km, capacity: 1Gbps},"
           " {between: [building2, building1], distance: 1km, capacity: 1Gbps}]",
           "s.yaml:5:88 cluster.links.1.between",
           "this pair is given twice");
    Expect(8, "plan: {tp: 4}", "s.yaml:8:1", "the key 'plan' is given twice");
    Expect(7, "plan: {tp: 4, tp: 8}", "s.yaml:7:15", "the key 'tp' is given twice");
}

TEST(StudyErrors, UnreadableFiles)
{
    const TemporaryFolder folder;
    EXPECT_THAT(FileRefusal(folder.Write("empty.yaml", "")).Problem(), HasSubstr("empty"));
    EXPECT_THAT(FileRefusal(folder.Write("blank.yaml", "\n\n")).Problem(), HasSubstr("empty"));
    EXPECT_THAT(FileRefusal(folder.Write("comment.yaml", "# nothing\n")).Problem(),
                HasSubstr("missing"));
    EXPECT_THAT(FileRefusal("no/such/study.yaml").Problem(), HasSubstr("no such file"));
    const ConfigError directory = FileRefusal(std::filesystem::temp_directory_path().string());
    EXPECT_THAT(directory.Problem(), HasSubstr("is a directory"));
    EXPECT_THAT(directory.Remedy(), HasSubstr("study.yaml"));
    const std::string secret = folder.Write("secret.yaml", "model: x\n");
    std::filesystem::permissions(secret, std::filesystem::perms::none);
    if (geteuid() != 0) // root reads everything
    {
        EXPECT_THAT(FileRefusal(secret).Problem(), HasSubstr("cannot be read"));
    }
}

TEST(StudyErrors, NoYaml)
{
    Expect(7, "plan: {tp: 8", "s.yaml:8:7", "not YAML");
    Expect(7, "plan: \"tp", "s.yaml:7:7", "quote is not closed");
    Expect(8, "study: 'it''s", "s.yaml:8:8", "quote is not closed");
    Expect(8, "study: \"a\\\"", "s.yaml:8:8", "quote is not closed");
    Expect(8, "study: &a 'x", "s.yaml:8:8", "quote is not closed");
    Expect(7, "  plan: {tp: 8}", "s.yaml:7:3", "not YAML");
    Expect(8, "seed: *nobody", "s.yaml:8:7", "not YAML");
}

TEST(StudyErrors, BinaryAndLargeFiles)
{
    const TemporaryFolder folder;
    EXPECT_EQ(Refusal(With(7, std::string("plan: {tp: \0}", 13))).Where(), "s.yaml:7:12");
    EXPECT_THAT(Refusal(With(7, "plan: {\xff: 1}")).Problem(), HasSubstr("0xff is not UTF-8"));
    // 10 MB of noise and of text, from a file.
    std::string noise;
    std::minstd_rand random(1);
    while (noise.size() < 10'000'000)
    {
        noise += static_cast<char>(random() >> 8);
    }
    const ConfigError large = FileRefusal(folder.Write("noise.yaml", noise));
    EXPECT_THAT(large.Problem(), HasSubstr("too large"));
    EXPECT_THAT(large.Allowed(), HasSubstr("1048576 bytes"));
    EXPECT_THAT(FileRefusal(folder.Write("a.yaml", std::string(10'000'000, 'a'))).Problem(),
                HasSubstr("too large"));
    noise.resize(500'000);
    EXPECT_THAT(FileRefusal(folder.Write("noise.yaml", noise)).what(), HasSubstr("text"));
}

TEST(StudyErrors, CyclesAndBombs)
{
    Expect(7, "plan: &p {tp: *p}", "s.yaml:7:15", "inside the value that it refers to");
    Expect(7, "plan: &p [*p]", "s.yaml:7:11", "inside the value that it refers to");
    std::string bomb = "a: &a [1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (char c = 'b'; c <= 'z'; c++)
    {
        const std::string above = std::string("*") + static_cast<char>(c - 1);
        bomb += std::string(1, c) + ": &" + c + " [" + above + ", " + above + ", " + above + "]\n";
    }
    EXPECT_THAT(Refusal(bomb).Problem(), HasSubstr("too many values"));
    EXPECT_THAT(Refusal("a: " + std::string(20000, '[') + std::string(20000, ']')).Problem(),
                HasSubstr("nested too deeply"));
}

/// Printable noise made of YAML's own characters, as large as a file may be.
TEST(StudyErrors, NoiseOfYamlCharactersEndsSoon)
{
    const std::string characters = "[]{}:,-?&*!|>'\"%@`# \n\tab1";
    for (unsigned seed = 1; seed <= 200; seed++)
    {
        std::minstd_rand random(seed);
        std::string noise;
        for (int i = 0; i < 2000; i++)
        {
            noise += characters[(random() >> 4) % characters.size()];
        }
        EXPECT_THROW(ParseStudy(noise, "s.yaml"), ConfigError) << seed;
    }
    for (const auto* unit : {"[",
                             "{",
                             "- ",
                             "? ",
                             "a: ",
                             "{a: ",
                             "[a, ",
                             "!",
                             "&a ",
                             "\"",
                             "- - ",
                             "a:\n",
                             "? a\n",
                             "|\n",
                             "%a\n",
                             "---\n",
                             "...\n",
                             "#\n",
                             "[],"})
    {
        std::string text;
        while (text.size() < kMostTextBytes - 100)
        {
            text += unit;
        }
        EXPECT_THROW(ParseStudy(text, "s.yaml"), ConfigError) << unit;
    }
}

} // namespace
} // namespace scaleacross
