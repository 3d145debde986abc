// SPDX-License-Identifier: GPL-2.0-only

#include "program.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <regex>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

/**
 * Five buildings 200 km (1 ms) apart, every pair joined by one wire of 100 Gb/s: the spine of each
 * may get 4 times 100 Gb/s over 1 ms, for which PFC needs 4 x 2 x 1 ms x 12.5 GB/s = 100 MB of
 * headroom. 128 MiB hold that, 32 MiB do not.
 */
class PacketBuffer : public ProgramTest
{
  protected:
    PacketBuffer()
    {
        Write("study.yaml", R"yaml(study: far
model: {name: tiny, layers: 2, hidden: 256, heads: 4, head_dim: 64, dense_ffn: 1024, vocabulary: 1024}
workload: {sequence: 256, global_batch: 10}
cluster:
  buildings: {count: 5, gpus: 2, gpus_per_node: 2, gpu: h100, fabric: {rails: true, spines: 1}}
  cross: {distance: 200km, capacity: 100Gbps}
plan: {tp: 2, pp: 1, crossing: dp, sharding: ddp, schedule: 1f1b}
)yaml");
    }
};

TEST_F(PacketBuffer, ThatHoldsTheHeadroomRuns)
{
    const auto json =
        RunJson("run study.yaml --engine packet --no-store --set network.spine_buffer=128MiB");
    EXPECT_EQ(json.at("engine"), "packet");
    EXPECT_GT(json.at("iteration_time_s").get<double>(), 2e-3); // across and back at least once
}

TEST_F(PacketBuffer, ThatCannotHoldTheHeadroomIsBadInput)
{
    const Call call =
        Run("run study.yaml --engine packet --no-store --set network.spine_buffer=32MiB");
    EXPECT_EQ(call.code, 2);
    EXPECT_EQ(call.out, "");
    EXPECT_THAT(call.err, HasSubstr("network.spine_buffer"));
    EXPECT_THAT(call.err, HasSubstr("33554432 bytes cannot hold the PFC headroom of 100"));
    // What helps comes first, and what costs says so.
    EXPECT_THAT(call.err,
                HasSubstr("raise network.spine_buffer, shorten or slow the links; network.pfc: "
                          "false runs, too, but what finds a buffer full is dropped"));
}

/// Buffers of InfiniBand's lanes: where packets are refused, engines without buffers name the same
/// number of bytes, and where that many are there nothing is said.
TEST_F(PacketBuffer, ThatCannotHoldCreditsIsWarnedOfWherePacketsAreRefused)
{
    const std::string study = "study.yaml --no-store --set network.transport=infiniband --set "
                              "cluster.cross.distance=1km --set network.";
    for (const std::string key : {"leaf_buffer", "spine_buffer"})
    {
        const Call refused = Run("run " + study + key + "=64KiB --engine packet");
        EXPECT_EQ(refused.code, 2);
        std::smatch bytes;
        const std::regex least("allowed: at least ([0-9]+) bytes");
        ASSERT_TRUE(std::regex_search(refused.err, bytes, least)) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr("network." + key));
        // The other warning is of InfiniBand, whatever its buffers hold.
        const auto warnings = RunJson("run " + study + key + "=64KiB").at("warnings");
        ASSERT_EQ(warnings.size(), 2U) << warnings;
        EXPECT_THAT(
            warnings[1].get<std::string>(),
            HasSubstr("Raise network." + key + " to at least " + bytes[1].str() + " bytes"));
        const std::string enough = key + "=" + bytes[1].str() + "B";
        EXPECT_THAT(RunJson("run " + study + enough).at("warnings").dump(), Not(HasSubstr(key)));
        EXPECT_EQ(RunJson("run " + study + enough + " --engine packet").at("warnings").size(), 0U);
    }
}

/// What an engine refuses is not stored, and leaves no database where there was none.
TEST_F(PacketBuffer, WhatIsRefusedLeavesNoDatabase)
{
    const std::string refused = "run study.yaml --engine packet --set network.spine_buffer=32MiB";
    EXPECT_EQ(Run(refused).code, 2);
    EXPECT_FALSE(std::filesystem::exists(folder / "far.db"));
    EXPECT_EQ(Run("run study.yaml --db no/such/folder.db").code, 2);
    EXPECT_EQ(Run("run study.yaml").code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "far.db"));
    EXPECT_EQ(Run(refused).code, 2);
}

/// Attributes of ns-3 are read by the packet engine only, but wrong ones are refused by all.
TEST_F(PacketBuffer, WrongAttributesAreRefusedByEveryEngine)
{
    for (const std::string engine : {"analytical", "packet"})
    {
        for (const std::string attribute :
             {R"("ns3::RdmaNic::Nonsense": "1")", R"("ns3::FabricSwitch::HashSeed": "x")"})
        {
            const Call call = Run("run study.yaml --no-store --engine " + engine +
                                  " --set 'network.ns3={" + attribute + "}'");
            EXPECT_EQ(call.code, 2) << engine << attribute;
            EXPECT_THAT(call.err, HasSubstr("ns-3 has no attribute of that name")) << call.err;
        }
    }
}

/// And right ones are told of, by the engines that leave them out.
TEST_F(PacketBuffer, AttributesOfPacketsAreToldByOthers)
{
    const std::string run = "run study.yaml --no-store --set 'network.ns3={"
                            "\"ns3::RdmaQueuePair::RateLimit\": \"1Gbps\"}' --engine ";
    for (const std::string engine : {"analytical", "flow"})
    {
        EXPECT_THAT(RunJson(run + engine).at("warnings").dump(),
                    HasSubstr("network.ns3: ns3::RdmaQueuePair::RateLimit changes packets only, "
                              "and " +
                              engine + " leaves it out"));
    }
    EXPECT_THAT(RunJson(run + "packet").at("warnings").dump(), Not(HasSubstr("network.ns3")));
}

/**
 * A queue pair that gives up says why, and what helps helps: wires that lose one packet in a
 * hundred lose the last one of a message, or its answer, sooner or later, which ends a queue pair
 * that may not try again. A timeout of 4.096 us x 2^8 = 1.049 ms is less than the 2 ms that light
 * takes over 200 km and back, and eight of them are more; so it is 2^2, eight of 16.4 us, that ends
 * one, and 2^10 = 4.2 ms is the first that is twice as long.
 */
TEST_F(PacketBuffer, AQueuePairThatGivesUpSaysWhy)
{
    const std::string run = "run study.yaml --engine packet --no-store --set "
                            "network.spine_buffer=1GiB --set ";
    const auto lossy = [&run](const std::string& retries) {
        return run + "cluster.cross.loss=0.01 --set network.retries=" + retries;
    };
    const Call lost = Run(lossy("0"));
    EXPECT_NE(lost.code, 0);
    EXPECT_THAT(lost.out + lost.err, HasSubstr("raise network.retries (7 is usual)"));
    EXPECT_THAT(lost.out + lost.err, Not(HasSubstr("buffer")));
    EXPECT_EQ(Run(lossy("7")).code, 0);
    const Call early = Run(run + "network.timeout_exponent=2");
    EXPECT_NE(early.code, 0);
    EXPECT_THAT(early.out + early.err, HasSubstr("set network.timeout_exponent: 10 or more"));
    EXPECT_THAT(early.out + early.err, Not(HasSubstr("buffer")));
    EXPECT_EQ(Run(run + "network.timeout_exponent=10").code, 0);
}

/// A grant is a packet at least: less is refused by every engine, and a packet runs.
TEST_F(PacketBuffer, AdmissionIsAPacketAtLeast)
{
    const std::string run = "run study.yaml --no-store --set network.spine_buffer=1GiB --set "
                            "network.admission=";
    for (const std::string engine : {"analytical", "flow", "packet"})
    {
        const Call call = Run(run + "4095B --engine " + engine);
        EXPECT_EQ(call.code, 2) << engine;
        EXPECT_EQ(call.out, "") << engine;
        EXPECT_THAT(call.err,
                    HasSubstr("network.admission: 4095B is less than a packet, 4KiB by "
                              "network.mtu"));
        EXPECT_THAT(call.err, HasSubstr("say network.admission: 128KiB"));
    }
    EXPECT_EQ(Run(run + "4KiB").code, 0);
    EXPECT_EQ(Run(run + "128KiB --engine packet").code, 0);
    EXPECT_EQ(Run(run + "1024B --set network.mtu=1024B").code, 0);
}

/**
 * An engine without buffers says it, in the packet engine's figures. The spans of a spine alone
 * need 4 x (2 x 4,178 + 4,262 + 25,000,000) = 100,050,472 bytes.
 */
TEST_F(PacketBuffer, ThatCannotHoldTheHeadroomIsToldByTheAnalyticalEngine)
{
    const std::string small = " study.yaml --set network.spine_buffer=32MiB";
    const std::string refusal = Run("run" + small + " --engine packet --no-store").err;
    const auto begin = refusal.find("33554432 bytes cannot hold");
    ASSERT_NE(begin, std::string::npos) << refusal;
    const std::string problem = refusal.substr(begin, refusal.find(")", begin) + 1 - begin);
    const auto least = refusal.find("at least ");
    const std::string allowed = refusal.substr(least, refusal.find(" bytes", least) - least);
    EXPECT_GT(std::stoull(problem.substr(problem.find("headroom of ") + 12)), 100'050'472U);

    for (const std::string command : {"run --no-store", "explore --db a.db"})
    {
        const auto json = RunJson(command + small);
        ASSERT_EQ(json.at("warnings").size(), 1U) << command;
        const auto warning = json.at("warnings")[0].get<std::string>();
        EXPECT_THAT(warning, HasSubstr("network.spine_buffer: " + problem)) << command;
        EXPECT_THAT(warning, HasSubstr(allowed)) << command;
        EXPECT_THAT(Run(command + small).out, HasSubstr("Warning: " + warning)) << command;
        for (const std::string enough :
             {"network.spine_buffer=128MiB", "network.pfc=false", "cluster.cross.pfc=false"})
        {
            // Without pauses what finds no room is dropped, which is told in place of it.
            const auto warnings = RunJson(command + small + " --set " + enough).at("warnings");
            const bool drops = enough.find("pfc=false") != std::string::npos;
            ASSERT_EQ(warnings.size(), drops ? 1U : 0U) << command << " " << enough;
            EXPECT_EQ(warnings.dump().find("is dropped and sent again") != std::string::npos, drops)
                << command << " " << enough;
        }
    }
}

} // namespace

} // namespace scaleacross
