// SPDX-License-Identifier: GPL-2.0-only

// Leaves joined each to each, with detours, in both engines.

#include "core/engine/analytical-engine.h"
#include "core/engine/closed-form.h"
#include "core/io/read-study.h"
#include "core/io/text-file.h"
#include "helper/engine/packet-engine.h"
#include "places.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

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

/// As MeshOf, of leaves with one server.
Scenario
Leaves(uint32_t leaves, const char* multipath, Overrides overrides = {})
{
    overrides.insert(overrides.end(),
                     {{"cluster.buildings.gpus", std::to_string(leaves)},
                      {"cluster.buildings.fabric.nodes_per_pod", "1"},
                      {"network.transport", "infiniband"}, // nothing is sent twice
                      {"network.multipath", multipath}});
    return MeshOf("count: 1, ", "", overrides);
}

/**
 * Each of L leaves sends S to the next. Of what comes out of a leaf, each of its links has
 * 1 / (L - 1), and of what goes into one, each of the links to it. So a link between leaves that
 * are no neighbours in that order carries 2 S / (L - 1), at C / (L - 1): it is busy for twice the
 * time that S takes at the C = 400 Gb/s of a leaf's links together, whatever L.
 */
TEST(FullMesh, TheFullestLinkDecides)
{
    constexpr uint64_t kBytes = 64 << 20;
    for (const uint32_t leaves : {3U, 4U, 8U})
    {
        const Scenario scenario =
            With(Leaves(leaves, "spray-rr"), CollectiveOp::SendReceive, kBytes);
        const double headers = static_cast<double>(scenario.network.Format().DataHeaders().Count());
        const double bytes = kBytes * (1 + headers / 4096);
        const RunReport analytical = RunOn(AnalyticalEngine(), scenario);
        const RunReport packet = RunOn(PacketEngine(), scenario);
        const double link = 2 * bytes / (leaves - 1);
        EXPECT_NEAR(BytesOf(analytical, "building1 mesh link"), link, 1e-6 * link) << leaves;
        EXPECT_NEAR(BytesOf(packet, "building1 mesh link"), link, 0.01 * link) << leaves;
        const double least = 2 * bytes * 8 / 400e9;
        for (const RunReport& report : {analytical, packet})
        {
            EXPECT_GE(report.iterationTime.S(), 0.9999 * least) << leaves;
            EXPECT_LE(report.iterationTime.S(), 1.02 * least) << leaves; // ACKs, and the first one
        }
        // Nothing collides that had a choice.
        EXPECT_DOUBLE_EQ(packet.network.collisionFactor, 1.0) << leaves;
    }
}

/**
 * Three servers of four GPUs, each GPU on a leaf of its own: 12 leaves. Each GPU sends S to the
 * next, three of them to another server, and those three are the fourth of each. Their leaf's links
 * carry 400 / 8 = 50 Gb/s, and so S takes at least S x 8 / 50e9; in the mesh the link from one of
 * the three to the server after next carries 2 / 11 S at 50 / 11 Gb/s, twice as long.
 */
TEST(FullMesh, LeavesThatSendAreNotTheMeanOfAll)
{
    constexpr uint64_t kBytes = 16 << 20;
    for (const char* shape : {"clos", "full-mesh"})
    {
        const Overrides rails = {{"cluster.buildings.gpus", "12"},
                                 {"cluster.buildings.gpus_per_node", "4"},
                                 {"cluster.buildings.fabric.nodes_per_pod", "1"},
                                 {"cluster.buildings.fabric.rails", "true"},
                                 {"cluster.buildings.fabric.oversubscription", "8"},
                                 {"cluster.buildings.fabric.shape", shape},
                                 {"network.transport", "infiniband"},
                                 {"network.multipath", "spray-rr"}};
        const Scenario scenario =
            With(MeshOf("count: 1, ", "", rails), CollectiveOp::SendReceive, kBytes);
        const double headers = static_cast<double>(scenario.network.Format().DataHeaders().Count());
        const bool detours = scenario.cluster.buildings[0].fabric.shape->detours;
        const double least = (detours ? 2 : 1) * kBytes * (1 + headers / 4096) * 8 / 50e9;
        for (const RunReport& report :
             {RunOn(AnalyticalEngine(), scenario), RunOn(PacketEngine(), scenario)})
        {
            EXPECT_GE(report.iterationTime.S(), 0.9999 * least) << shape;
            EXPECT_LE(report.iterationTime.S(), 1.02 * least) << shape;
        }
    }
}

/// Milliseconds as the page has them.
std::string
Milliseconds(const RunReport& report)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", report.iterationTime.S() * 1e3);
    return text.data();
}

/// The figures of doc/fabric-shapes.md: in the mean of eight runs back to back, as `collective` has
/// them.
TEST(FullMesh, IsAsFarFromPacketsAsThePageSays)
{
    const std::string page =
        std::regex_replace(ReadTextFile(SourcePath("contrib/scaleacross/doc/fabric-shapes.md")),
                           std::regex("\\s+"),
                           " ");
    const auto time = [](const Engine& engine, const Scenario& scenario, uint64_t seed) {
        RunOptions options;
        options.warmup = 1;
        options.iterations = 8;
        options.seed = seed;
        return std::get<RunReport>(engine.Run(scenario, options));
    };
    const auto figure = [&time](const Engine& engine, const Scenario& scenario) {
        return Milliseconds(time(engine, scenario, 1));
    };
    const auto next = [](const Scenario& scenario) {
        return With(scenario, CollectiveOp::SendReceive, 64 << 20);
    };
    const Scenario hashed = next(Leaves(8, "e-ecmp"));
    std::vector<std::string> seeds;
    for (const uint64_t seed : {1, 2, 3})
    {
        seeds.push_back(Milliseconds(time(PacketEngine(), hashed, seed)));
    }
    const auto [least, most] = std::minmax_element(seeds.begin(), seeds.end());
    const Scenario clos = next(Leaves(8, "e-ecmp", {{"cluster.buildings.fabric.shape", "clos"}}));
    EXPECT_THAT(page,
                HasSubstr("take " + *least + " to " + *most +
                          " ms by `e-ecmp` in packets (InfiniBand, three seeds), and " +
                          figure(AnalyticalEngine(), hashed) +
                          " ms here. In a Clos of the same size it is " +
                          figure(PacketEngine(), clos) + " and " +
                          figure(AnalyticalEngine(), clos) + " ms."));
    const Scenario adaptive = next(Leaves(8, "spray-adaptive"));
    Scenario trimmed = adaptive;
    trimmed.network.transport = "trimming";
    EXPECT_THAT(page,
                HasSubstr("takes " + figure(PacketEngine(), adaptive) + " ms in packets, " +
                          figure(AnalyticalEngine(), adaptive) + " here;"));
    EXPECT_THAT(page,
                HasSubstr("takes " + figure(PacketEngine(), trimmed) + " ms by trimming, " +
                          figure(AnalyticalEngine(), trimmed) + " here."));
}

/// Packets that look where there is room take fewer detours than Valiant's, and no bound may count
/// on what they need not take.
TEST(FullMesh, BoundsHoldWhateverDetoursAreTaken)
{
    for (const CollectiveOp op : {CollectiveOp::SendReceive, CollectiveOp::AllToAll})
    {
        for (const char* multipath : {"spray-adaptive", "spray-rr", "e-ecmp", "ucmp"})
        {
            const Scenario scenario = With(Leaves(8, multipath), op, 8 << 20);
            const auto prepared = PrepareRun(scenario);
            const ClosedForm form = ClosedFormOf(scenario, std::get<PreparedRun>(prepared));
            EXPECT_LE(form.bound, RunOn(PacketEngine(), scenario).iterationTime) << multipath;
            EXPECT_LE(form.bound, RunOn(AnalyticalEngine(), scenario).iterationTime) << multipath;
        }
    }
}

/// Which links have how much then follows from who sends to whom: by packets only.
TEST(FullMesh, LinksThatFailAreForPackets)
{
    Scenario scenario = With(Leaves(4, "spray-rr"), CollectiveOp::AllToAll, 1 << 20);
    EventSpec event;
    event.kind = "link-failure";
    event.target = "building1/leaf0--building1/leaf1";
    scenario.events = {event};
    try
    {
        RunOn(AnalyticalEngine(), scenario);
        FAIL() << "other detours";
    }
    catch (const ConfigError& error)
    {
        EXPECT_NE(std::string(error.what()).find("building1/leaf0--building1/leaf"),
                  std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("the packet engine computes with it"),
                  std::string::npos);
    }
    EXPECT_EQ(RunOn(PacketEngine(), scenario).network.packetsDropped, 0U);
    // Spines carry nothing here.
    scenario.events[0].target = "building1/leaf0--building1/spine0";
    RunOn(AnalyticalEngine(), scenario);
}

/// Detours lock up where nothing is dropped: pauses are refused, and InfiniBand's lanes let through
/// what ends in a circle without them.
TEST(FullMesh, NeedsLanesWhereNothingMayBeLost)
{
    // 52 messages of S / 16 go out of a leaf, see above: none is lost, none faster than 200 Gb/s.
    const double least = 52.0 * (8 << 20) / 16.0 * 8 / 200e9;
    for (const char* multipath : {"spray-rr", "spray-random", "e-ecmp"})
    {
        Scenario scenario = With(MeshOf("count: 1, ",
                                        "",
                                        {{"network.transport", "infiniband"},
                                         {"network.multipath", multipath},
                                         {"cluster.buildings.fabric.oversubscription", "4"}}),
                                 CollectiveOp::AllToAll,
                                 8 << 20);
        const RunReport packet = RunOn(PacketEngine(), scenario);
        EXPECT_EQ(packet.network.packetsDropped, 0U) << multipath;
        EXPECT_GE(packet.iterationTime.S(), least) << multipath;
        if (!scenario.network.multipath->IsSprayed())
        {
            scenario.network.ns3Attributes["ns3::FabricSwitch::LaneMap"] =
                "in any out any 3:3,6:6,7:7";
            try
            {
                RunOn(PacketEngine(), scenario);
                FAIL() << "one lane for all";
            }
            catch (const RunError& error)
            {
                EXPECT_NE(std::string(error.what()).find("deadlock"), std::string::npos)
                    << error.what();
            }
        }
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
