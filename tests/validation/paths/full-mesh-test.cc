// SPDX-License-Identifier: GPL-2.0-only

// Leaves joined each to each, with detours, in both engines.

#include "core/engine/analytical-engine.h"
#include "core/io/read-study.h"
#include "helper/engine/packet-engine.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

/// Buildings of 16 servers with one GPU each, two to a leaf: 8 leaves, 400 Gb/s.
Scenario
MeshOf(const std::string& buildings, const std::string& spans, const Overrides& overrides)
{
    const std::string text =
        "study: mesh\ncluster:\n  buildings: {" + buildings +
        "gpus: 16, gpus_per_node: 1, gpu: h100, nic_rate: 400Gbps, fabric: {shape: full-mesh, "
        "rails: false, nodes_per_pod: 2, spines: 4, nic_delay: 500ns, leaf_delay: 1us}}\n" +
        spans + "network: {recovery: selective-repeat, reorder_tolerance: 256, pfc: false}\n";
    return ParseStudy(text, "mesh.yaml", overrides, StudyScope::Network).scenario;
}

Scenario
With(Scenario scenario, CollectiveOp op, uint64_t bytes)
{
    CollectiveSpec& spec = scenario.Job().collective.emplace();
    spec.op = op;
    spec.group = CollectiveGroup::All;
    spec.bytes = Bytes(bytes);
    return scenario;
}

RunReport
RunOn(const Engine& engine, const Scenario& scenario)
{
    RunOptions options;
    options.warmup = 0;
    return std::get<RunReport>(engine.Run(scenario, options));
}

double
BytesOf(const RunReport& report, const std::string& resource)
{
    for (const ResourceReport& other : report.resources)
    {
        if (other.name == resource)
        {
            return static_cast<double>(other.bytes.Count());
        }
    }
    return 0;
}

/**
 * All-to-all of 16 ranks: each sends S / 16 to every other. A leaf sends 2 x 14 of them to other
 * leaves, and as much comes in. Of the 8 x 28 that are under way, each of the 6 leaves that are
 * neither source nor destination of one carries 1/7 in and out: a leaf 8 x 28 x (6/8) / 7 = 24.
 * So 28 + 24 = 52 messages of S / 16 and their headers go out of a leaf and come in; of sprayed
 * packets, within the 2 % by which random ways and packets that are sent again differ.
 */
TEST(FullMesh, DetoursLoadEveryLeafByHalfAsMuchAgainAndMore)
{
    for (const char* multipath : {"spray-rr", "spray-random"})
    {
        const Scenario scenario = With(MeshOf("count: 1, ", "", {{"network.multipath", multipath}}),
                                       CollectiveOp::AllToAll,
                                       32 << 20);
        const double message = (32 << 20) / 16.0;
        const double packets = message / 4096;
        const double headers = static_cast<double>(scenario.network.Format().DataHeaders().Count());
        const double expected = 52 * (message + packets * headers);
        const RunReport analytical = RunOn(AnalyticalEngine(), scenario);
        const RunReport packet = RunOn(PacketEngine(), scenario);
        for (const char* resource : {"building1 mesh up", "building1 mesh down"})
        {
            EXPECT_NEAR(BytesOf(analytical, resource), expected, 1e-6 * expected) << multipath;
            EXPECT_NEAR(BytesOf(packet, resource), expected, 0.02 * expected) << multipath;
        }
        EXPECT_EQ(BytesOf(packet, "building1 leaf up"), 0) << "spines are for other buildings";
        EXPECT_EQ(packet.network.packetsDropped, 0U);
        EXPECT_NEAR(analytical.iterationTime.S(),
                    packet.iterationTime.S(),
                    0.1 * packet.iterationTime.S())
            << multipath;
    }
}

/// A leaf's links to the others are what limits, in both engines: 52 messages over a quarter of its
/// NICs' 800 Gb/s.
TEST(FullMesh, ALeafsLinksAreItsLimit)
{
    const Overrides quarter = {{"network.transport", "infiniband"}, // nothing is dropped
                               {"network.multipath", "spray-rr"},
                               {"cluster.buildings.fabric.oversubscription", "4"}};
    const Scenario scenario =
        With(MeshOf("count: 1, ", "", quarter), CollectiveOp::AllToAll, 64 << 20);
    const double bytes = 52.0 * (64 << 20) / 16.0;
    const double seconds = bytes * 8 / 200e9;
    for (const RunReport& report :
         {RunOn(AnalyticalEngine(), scenario), RunOn(PacketEngine(), scenario)})
    {
        EXPECT_GE(report.iterationTime.S(), seconds);
        EXPECT_LE(report.iterationTime.S(), 1.25 * seconds) << "headers, ACKs, and the first one";
    }
}

/// Between buildings traffic takes a leaf's links to the spines and no detour.
TEST(FullMesh, CrossesBySpines)
{
    const std::string spans = "  cross: {distance: 1km, oversubscription: 1}\n";
    const Scenario scenario = With(MeshOf("count: 2, ", spans, {{"network.multipath", "spray-rr"}}),
                                   CollectiveOp::AllReduce,
                                   16 << 20);
    const RunReport analytical = RunOn(AnalyticalEngine(), scenario);
    const RunReport packet = RunOn(PacketEngine(), scenario);
    EXPECT_GT(BytesOf(packet, "building1 mesh up"), 0);
    EXPECT_GT(BytesOf(packet, "building1 leaf up"), 0);
    EXPECT_NEAR(BytesOf(analytical, "building1 leaf up"),
                BytesOf(packet, "building1 leaf up"),
                0.001 * BytesOf(packet, "building1 leaf up"));
    EXPECT_NEAR(analytical.iterationTime.S(),
                packet.iterationTime.S(),
                0.15 * packet.iterationTime.S());
}

/// Detours may lock up where nothing is dropped: pauses are refused, and InfiniBand's lanes let
/// everything through.
TEST(FullMesh, NeedsLanesWhereNothingMayBeLost)
{
    // 52 messages of S / 16 go out of a leaf, see above: none is lost, none faster than 800 Gb/s.
    const double least = 52.0 * (32 << 20) / 16.0 * 8 / 800e9;
    for (const char* multipath : {"spray-rr", "spray-random", "e-ecmp"})
    {
        const Overrides lossless = {{"network.transport", "infiniband"},
                                    {"network.multipath", multipath}};
        const RunReport packet =
            RunOn(PacketEngine(),
                  With(MeshOf("count: 1, ", "", lossless), CollectiveOp::AllToAll, 32 << 20));
        EXPECT_EQ(packet.network.packetsDropped, 0U) << multipath;
        EXPECT_GE(packet.iterationTime.S(), least) << multipath;
    }
    try
    {
        MeshOf("count: 1, ", "", {{"network.pfc", "true"}});
        FAIL() << "pauses and detours";
    }
    catch (const ConfigError& error)
    {
        EXPECT_NE(std::string(error.what()).find("network.pfc"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("infiniband"), std::string::npos);
    }
}

} // namespace
} // namespace scaleacross
