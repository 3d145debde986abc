// SPDX-License-Identifier: GPL-2.0-only

// Events of a scenario in the engines: what fails for the whole run, in its middle, and for good.

#include "core/base/errors.h"
#include "core/engine/analytical-engine.h"
#include "core/io/read-study.h"
#include "helper/packet-engine.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

/// Two buildings of 8 GPUs, each its own server, one plane per spine; gradients cross.
Scenario
Read(const std::string& events, const std::string& network = "")
{
    const std::string study = R"(
model: {name: m, layers: 2, hidden: 1024, heads: 8, dense_ffn: 4096, vocabulary: 4096}
workload: {sequence: 512, global_batch: 16}
cluster:
  buildings: {count: 2, gpus: 8, gpus_per_node: 1, gpu: h100, fabric: {spines: 4, rails: false}}
  cross: {distance: 1km, oversubscription: 4}
plan: {sharding: ddp}
network: {segment: 16KiB, detection: 5us, convergence: 20us, timeout_exponent: 6, )" +
                              network + "}\nevents: " + events + "\n";
    return ParseStudy(study, "s.yaml").scenario;
}

RunReport
RunOn(const Engine& engine, const Scenario& scenario)
{
    RunOptions options;
    options.warmup = 0;
    return std::get<RunReport>(engine.Run(scenario, options));
}

TEST(Events, APlaneThatIsDownForTheWholeRun)
{
    // All engines agree that it costs; nothing is lost, as it is known from the beginning.
    const Scenario without = Read("[]");
    const Scenario with = Read("[{kind: plane-failure, target: plane 2, at: 0s}]");
    const AnalyticalEngine analytical;
    const PacketEngine packet;
    EXPECT_GT(RunOn(analytical, with).iterationTime, RunOn(analytical, without).iterationTime);
    const RunReport report = RunOn(packet, with);
    EXPECT_GT(report.iterationTime, RunOn(packet, without).iterationTime);
    EXPECT_EQ(report.network.packetsDropped, 0U);
}

TEST(Events, AFlapInTheMiddleIsSurvivedByThePacketEngine)
{
    const Scenario without = Read("[]");
    const RunReport clean = RunOn(PacketEngine(), without);
    // Again and again over the whole iteration, so also while gradients are under way.
    const int64_t count = clean.iterationTime.Ps() / 300'000'000;
    const std::string flap = "[{kind: flap, target: building1/spine1--building2/spine1, at: 100us, "
                             "down: 100us, period: 300us, count: " +
                             std::to_string(count) + "}]";
    const RunReport flapped = RunOn(PacketEngine(), Read(flap));
    EXPECT_GT(flapped.network.packetsDropped, 0U);
    EXPECT_GT(flapped.network.retransmissions, 0U);
    EXPECT_GT(flapped.iterationTime, clean.iterationTime);
    EXPECT_THROW(AnalyticalEngine().Run(Read(flap), RunOptions()), ConfigError);
    // Bytes of the training do not depend on it.
    EXPECT_EQ(flapped.crossBuildingBytes, clean.crossBuildingBytes);
}

TEST(Events, ALeafThatFailsForGoodEndsWithANamedFailure)
{
    const Scenario scenario =
        Read("[{kind: switch-failure, target: building2/leaf0, at: 10us}]", "retries: 2");
    try
    {
        PacketEngine().Run(scenario, RunOptions());
        FAIL() << "the run should have failed";
    }
    catch (const RunError& error)
    {
        EXPECT_NE(std::string(error.what()).find("retry limit"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace scaleacross
