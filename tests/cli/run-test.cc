// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(Commands, RunPrintsItsKeysAndStores)
{
    const auto json = RunJson("run study.yaml");
    ExpectKeys(json,
               {"iteration_time_s",
                "mfu",
                "bubble_fraction",
                "exposed_comm_s",
                "memory_bytes_max",
                "cross_building_bytes",
                "engine",
                "seed",
                "version",
                "plan",
                "classes"});
    EXPECT_GT(json.at("iteration_time_s").get<double>(), 0);
    EXPECT_EQ(json.at("engine"), "analytical");
    EXPECT_TRUE(json.at("seed").is_null());
    EXPECT_EQ(json.at("plan").at("tp"), 4);
    EXPECT_EQ(json.at("plan").at("dp"), 2);
    EXPECT_EQ(json.at("plan").at("network").at("qps"), 16);
    ExpectKeys(json.at("classes"), {"tp", "cp", "ep", "pp", "dp"});
    EXPECT_THAT(Files(), ElementsAre("small.db", "study.yaml"));
}

TEST_F(Commands, RunSetsValuesOfTheStudy)
{
    const auto json = RunJson("run study.yaml --no-store --set plan.tp=2 --set plan.pp=4");
    EXPECT_EQ(json.at("plan").at("tp"), 2);
    EXPECT_EQ(json.at("plan").at("pp"), 4);
    EXPECT_EQ(json.at("plan").at("dp"), 2);
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

TEST_F(Commands, RunOfAPlanThatCannotRunFailsWithItsReason)
{
    const Call call = Run("run study.yaml --json --set plan.crossing=pp --set plan.pp=1");
    EXPECT_EQ(call.code, 1);
    EXPECT_EQ(nlohmann::json::parse(call.out).at("infeasible").at("reason"), "crossing");
}

/// Engines know keys, and the file has their places.
TEST_F(Commands, WhatAnEngineRefusesHasItsPlaceInTheFile)
{
    const std::string text = Read("study.yaml");
    const auto refuse = [&](const std::string& network, const std::string& says) {
        Write("own.yaml", text + network);
        for (const char* command :
             {"run own.yaml --no-store --engine packet", "collective own.yaml --engine packet"})
        {
            const Call call = Run(command);
            EXPECT_EQ(call.code, 2) << call.err;
            const auto line = std::count(text.begin(), text.end(), '\n') + 1;
            EXPECT_THAT(call.err,
                        HasSubstr("error: own.yaml:" + std::to_string(line) + ":" + says));
        }
    };
    refuse("network: {ns3: {\"ns3::FabricSwitch::Nope\": 1}}\n",
           "44 network.ns3.ns3::FabricSwitch::Nope: ns-3 has no attribute");
    refuse("network: {qps: 2, leaf_buffer: 64KiB}\n", "32 network.leaf_buffer: 65536 bytes");
    refuse("network: {mtu: 4096B, ns3: {\"ns3::RdmaNic::PathMtu\": 1024}}\n",
           "54 network.ns3.ns3::RdmaNic::PathMtu: is set by network.mtu");
    for (const char* command : {"run - --no-store", "collective -"})
    {
        const Call piped = Run(command + std::string(" --engine packet <own.yaml"));
        EXPECT_EQ(piped.code, 2);
        EXPECT_THAT(piped.err, HasSubstr("error: standard input:")) << command;
        EXPECT_THAT(piped.err, HasSubstr("network.ns3.ns3::RdmaNic::PathMtu")) << command;
    }
    const Call option =
        Run("run study.yaml --no-store --engine packet --set network.leaf_buffer=64KiB");
    EXPECT_EQ(option.code, 2);
    EXPECT_THAT(option.err,
                HasSubstr("error: --set network.leaf_buffer=64KiB network.leaf_buffer: 65536"));
}

/// What a study says in vain is told beside the result, by either engine.
TEST_F(Commands, RunsWarnOfWhatChangesNothing)
{
    const std::string warning = "plan.recompute: moe changes nothing: the model has no experts";
    for (const std::string engine : {"analytical", "packet"})
    {
        const std::string run =
            "run study.yaml --no-store --set plan.recompute=norm+moe --engine " + engine;
        EXPECT_THAT(Run(run).out, HasSubstr("\nWarning: " + warning + ".\n")) << engine;
        EXPECT_THAT(RunJson(run).at("warnings"), ElementsAre(warning)) << engine;
    }
    EXPECT_TRUE(
        RunJson("run study.yaml --no-store --set plan.recompute=norm").at("warnings").empty());
}

/// But not of what counts once its search has chosen.
TEST_F(Commands, RunsDoNotWarnOfWhatTheSearchIsFor)
{
    const std::string tolerance = "network.reorder_tolerance changes nothing";
    const std::string search = " --set 'search.network.recovery=[go-back-n, selective-repeat]' "
                               "--set 'search.network.multipath=[ecmp, spray-rr]'";
    for (const std::string command : {"run study.yaml --no-store",
                                      "collective study.yaml -b 1M -e 1M",
                                      "explore study.yaml --verify 0 --db a.db"})
    {
        const std::string call = command + " --set network.reorder_tolerance=16";
        EXPECT_THAT(Run(call).out, HasSubstr(tolerance)) << command;
        const Call searched = Run(call + search);
        EXPECT_EQ(searched.code, 0) << searched.err;
        EXPECT_THAT(searched.out, Not(HasSubstr(tolerance))) << command;
    }
}

TEST_F(Commands, PacketRunsDependOnTheSeedOnly)
{
    const std::string run = "run study.yaml --engine packet --no-store";
    const auto one = RunJson(run + " --seed 7");
    EXPECT_EQ(one.at("seed"), 7);
    EXPECT_EQ(one.at("engine"), "packet");
    EXPECT_EQ(RunJson(run + " --seed 7"), one);
}

TEST_F(Commands, AStudyMayComeFromStandardInput)
{
    // There is no file that a worker could read either: it gets the scenario itself.
    const std::string compare = " --engines packet --set search={} --db ";
    EXPECT_EQ(RunJson("run - --no-store <study.yaml"), RunJson("run study.yaml --no-store"));
    const auto piped = RunJson("compare -" + compare + "a.db <study.yaml").at("rows");
    const auto named = RunJson("compare study.yaml" + compare + "b.db").at("rows");
    EXPECT_EQ(piped[0].at("plan"), named[0].at("plan"));
    EXPECT_EQ(piped[0].at("iteration_time_s"), named[0].at("iteration_time_s"));
    EXPECT_EQ(Run("run - --no-store").code, 2);
    EXPECT_NE(Run("run -").err.find("standard input: the file is empty"), std::string::npos);
}

TEST_F(Commands, AStoredScenarioCanBeRun)
{
    RunJson("run study.yaml --db a.db");
    Write("stored.json", Sql("a.db", "SELECT text FROM scenario"));
    const auto again = RunJson("run - --no-store --set plan.tp=4 --set plan.pp=2"
                               " --set plan.crossing=dp --set plan.sharding=hsdp"
                               " --set plan.schedule=1f1b <stored.json");
    const auto first = RunJson("run study.yaml --no-store");
    EXPECT_GT(first["iteration_time_s"], 0);
    EXPECT_EQ(again["iteration_time_s"], first["iteration_time_s"]);
    EXPECT_EQ(again["memory_bytes_max"], first["memory_bytes_max"]);
}

/// Stages follow each other over the first two of three spans: losses of the third harm nobody.
TEST_F(Commands, RunWarnsOfLossesThatItMeets)
{
    Write("three.yaml", R"yaml(study: three
model: llama3-8b
workload: {sequence: 2048, global_batch: 96}
cluster:
  buildings: [{name: a, gpus: 16, gpu: h100}, {name: b, gpus: 16, gpu: h100}, {name: c, gpus: 16, gpu: h100}]
  links:
    - {between: [a, b], distance: 10km, capacity: 400Gbps}
    - {between: [b, c], distance: 10km, capacity: 400Gbps}
    - {between: [a, c], distance: 10km, capacity: 400Gbps}
plan: {tp: 8, pp: 3, crossing: pp, sharding: zero1, apportion: time}
network: {multipath: spray-adaptive, recovery: selective-repeat}
)yaml");
    const auto lossesOf = [this](const std::string& span) {
        const Call call =
            Run("run three.yaml --no-store --set cluster.links." + span + ".loss=1e-4");
        EXPECT_EQ(call.code, 0) << call.err;
        return call.out.find("lost between buildings") != std::string::npos;
    };
    EXPECT_TRUE(lossesOf("0"));
    EXPECT_TRUE(lossesOf("1"));
    EXPECT_FALSE(lossesOf("2"));
}

} // namespace

} // namespace scaleacross
