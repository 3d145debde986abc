// SPDX-License-Identifier: GPL-2.0-only

// NCCL's algorithms and protocols on both engines, drawn from its words: the bytes of the
// generators on every engine, times within a few percent where nothing is shared, and never faster
// than links.

#include "collective-cases.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/engine.h"
#include "core/program/step-pattern.h"
#include "helper/engine/packet-engine.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

struct Case
{
    CollectiveOp op;
    uint32_t servers;
    uint32_t perServer;
    uint64_t bytes;
    const NcclAlgorithmFacts* algorithm;
    const NcclProtocolFacts* protocol;

    std::string Text() const
    {
        return ToString(op) + " of " + std::to_string(bytes) + " B, " + std::to_string(servers) +
               " x " + std::to_string(perServer) + ", " + algorithm->word + ", " + protocol->word;
    }
};

/// Servers of H100 on one leaf: nothing is shared but a server's links and each GPU's NIC.
Scenario
ScenarioOf(const Case& drawn)
{
    const std::string gpus = std::to_string(drawn.servers * drawn.perServer);
    const NcclAlgorithmFacts& algorithm = *drawn.algorithm;
    const bool collnet =
        !algorithm.chooses && (IsCollnet(algorithm.kind) || algorithm.kind == NcclKind::Nvls);
    const std::string text =
        "study: nccl\ncluster:\n  buildings: {count: 1, gpus: " + gpus +
        ", gpus_per_node: " + std::to_string(drawn.perServer) +
        ", gpu: h100, fabric: {spines: 1, nic_delay: 500ns, leaf_delay: 1us}}\n"
        "network: {collective: nccl, nccl_collnet: " +
        (collnet ? "true" : "false") + ", nccl_algorithm: " + algorithm.word +
        ", nccl_protocol: " + drawn.protocol->word + "}\n";
    Scenario scenario = ParseStudy(text, "nccl.yaml", {}, StudyScope::Network).scenario;
    return With(scenario, drawn.op, CollectiveGroup::All, drawn.bytes, "nccl");
}

PreparedRun
Prepared(const Scenario& scenario)
{
    return std::get<PreparedRun>(PrepareRun(scenario));
}

/// All words on some servers and sizes, each choice that they make once.
std::vector<Case>
Cases()
{
    std::vector<Case> cases;
    std::set<std::string> chosen;
    for (const CollectiveOp op : {CollectiveOp::AllReduce,
                                  CollectiveOp::AllGather,
                                  CollectiveOp::ReduceScatter,
                                  CollectiveOp::AllToAll,
                                  CollectiveOp::SendReceive})
    {
        for (const auto& [servers, perServer] :
             {std::pair{1U, 8U}, {1U, 4U}, {2U, 8U}, {3U, 4U}, {4U, 2U}, {4U, 1U}, {2U, 1U}})
        {
            for (const uint64_t bytes : {uint64_t{4} << 10, uint64_t{1} << 20, uint64_t{48} << 20})
            {
                for (const NcclAlgorithmFacts* algorithm : NcclAlgorithm::Rows())
                {
                    for (const NcclProtocolFacts* protocol : NcclProtocol::Rows())
                    {
                        const Case drawn{op, servers, perServer, bytes, algorithm, protocol};
                        const PreparedRun run = Prepared(ScenarioOf(drawn));
                        const Collective& made = run.graph.collectives.front();
                        const std::string where = std::to_string(servers) + " x " +
                                                  std::to_string(perServer) + " " +
                                                  std::to_string(bytes) + " " + ToString(op);
                        if (chosen.insert(where + made.algorithm + made.protocol).second)
                        {
                            cases.push_back(drawn);
                        }
                    }
                }
            }
        }
    }
    return cases;
}

} // namespace

// What all members send by their messages is what the report has, on both engines.
TEST(Nccl, BytesAreThoseOfTheGenerators)
{
    for (const Case& drawn : Cases())
    {
        if (drawn.bytes > (1 << 20))
        {
            continue;
        }
        const Scenario scenario = ScenarioOf(drawn);
        const PreparedRun run = Prepared(scenario);
        uint64_t sent = 0;
        for (const Collective& collective : run.graph.collectives)
        {
            for (const Phase& phase : collective.phases)
            {
                const uint32_t groups = run.graph.ranks / phase.group.Size();
                for (uint32_t c = 0; c < collective.chunks; c++)
                {
                    const Phase chunk = ChunkOf(phase, c, collective.chunks);
                    for (uint32_t i = 0; i < phase.group.Size(); i++)
                    {
                        sent += groups * SentBy(chunk, i).Count();
                    }
                }
            }
        }
        const auto report = std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions()));
        const auto data = static_cast<size_t>(CommClass::Data);
        EXPECT_EQ(report.classes[data].bytes.Count(), sent) << drawn.Text();
    }
}

// A ring's member sends R (n-1) / n S, with flags: never faster than its NIC, or the links.
TEST(Nccl, IsNeverFasterThanItsLinks)
{
    for (const Case& drawn : Cases())
    {
        const Scenario scenario = ScenarioOf(drawn);
        const GpuSpec& gpu = scenario.cluster.buildings.front().gpu;
        const double seconds = SecondsOn(AnalyticalEngine(), scenario);
        const double links = gpu.scaleUpBandwidth.Value() / 8 * gpu.scaleUpEfficiency;
        const double nics = gpu.nicRate.Value() / 8 * drawn.perServer;
        const double size = drawn.bytes;
        const double servers = drawn.servers;
        // Each server has to get, or give, (N-1)/N of what all need; an all-reduce's NICs at least
        // as much, once by way of a tree over two servers.
        if (drawn.servers > 1 && drawn.op == CollectiveOp::AllReduce)
        {
            EXPECT_GE(seconds, size / nics * (servers == 2 ? 1 : 2 * (servers - 1) / servers) / 2)
                << drawn.Text();
        }
        if (drawn.servers > 1 &&
            (drawn.op == CollectiveOp::AllGather || drawn.op == CollectiveOp::ReduceScatter))
        {
            EXPECT_GE(seconds, size / nics * (servers - 1) / servers) << drawn.Text();
        }
        if (drawn.servers == 1 && drawn.op == CollectiveOp::AllReduce)
        {
            EXPECT_GE(seconds, size / links) << drawn.Text(); // by the switch
        }
    }
}

// Both engines, one collective alone. Five in six are within 3 %. The worst are trees: split over
// queue pairs those of medium size, up to 24.9 % slower by the model, which has no message pass a
// link before the one ahead is through all levels; by turns one over three servers, 21.5 % faster,
// as the model does not see that its first chunks share links with those behind them. Of the others
// all-reduces by lanes are slower by the model, whose members go on to gather while others still
// reduce.
TEST(Nccl, EnginesAgree)
{
    for (const auto& [balance, within] : {std::pair{"split", 0.25}, {"round-robin", 0.22}})
    {
        std::vector<double> errors;
        std::string worst;
        double most = 0;
        for (const Case& drawn : Cases())
        {
            if (drawn.op == CollectiveOp::SendReceive && drawn.perServer > 1)
            {
                // Whoever only receives over links goes on, and its messages over NICs pile up.
                continue;
            }
            Scenario scenario = ScenarioOf(drawn);
            scenario.network.balance = Balance(balance);
            const double model = SecondsOn(AnalyticalEngine(), scenario);
            const double packets = SecondsOn(PacketEngine(), scenario);
            const double error = model / packets - 1;
            errors.push_back(std::abs(error));
            if (std::abs(error) > std::abs(most))
            {
                most = error;
                worst = drawn.Text();
            }
            if (std::getenv("SCALEACROSS_PRINT") != nullptr)
            {
                std::cout << balance << ", " << drawn.Text() << ": " << 1e6 * model
                          << " us, packets " << 1e6 * packets << " us, " << 100 * error << " %\n";
            }
        }
        std::sort(errors.begin(), errors.end());
        std::cout << balance << ", " << errors.size() << " cases: half within "
                  << 100 * errors[errors.size() / 2] << " %, most " << 100 * most << " %: " << worst
                  << '\n';
        EXPECT_LE(errors[errors.size() * 5 / 6], 0.03) << balance;
        EXPECT_LE(std::abs(most), within) << balance << ", " << worst;
    }
}

namespace
{

/// Two sites so far apart, of servers of H100 with a span for every NIC; packets take any path, and
/// no tolerance takes those of a tree's members that meet at one for lost.
Scenario
OverDistance(const Case& drawn, double km)
{
    const std::string gpus = std::to_string(drawn.servers / 2 * drawn.perServer);
    const std::string text =
        "study: nccl\ncluster:\n  buildings: {count: 2, gpus: " + gpus +
        ", gpus_per_node: " + std::to_string(drawn.perServer) +
        ", gpu: h100, fabric: {spines: 4}}\n  cross: {distance: " + std::to_string(km) +
        "km, oversubscription: 1, pfc: false}\n"
        "network: {collective: nccl, multipath: spray-adaptive, recovery: selective-repeat,"
        " reorder_tolerance: 4096, timeout_exponent: 13, nccl_channels: 16, nccl_algorithm: " +
        drawn.algorithm->word + ", nccl_protocol: " + drawn.protocol->word + "}\n";
    Scenario scenario = ParseStudy(text, "nccl.yaml", {}, StudyScope::Network).scenario;
    return With(scenario,
                drawn.op,
                drawn.op == CollectiveOp::SendReceive ? CollectiveGroup::Across
                                                      : CollectiveGroup::All,
                drawn.bytes,
                "nccl");
}

const NcclAlgorithm g_ring = "ring";
const NcclProtocol g_simple = "simple";

/// 300 km of glass at 5 us each, there and back.
constexpr double g_roundTrip = 2 * 300 * 5e-6;

} // namespace

// NCCL sends to a peer over as many channels as 50 GB/s of a NIC take by 14 each, a power of two:
// 4, of 8 slots of 128 KiB. 64 MiB are 512 slots, 32 at a time: 15 round trips, then the last 4 MiB
// (84 us at 50 GB/s) and the way. A message takes 30 ps a byte besides, 2.01 ms. Sixteen slots on
// queue pairs of their own take turns, so that the first is full after 42 us of each round. What
// switches and the start take is less than 1 %.
TEST(Nccl, AMessageGoesFarThroughSlots)
{
    const Case drawn{CollectiveOp::SendReceive, 2, 1, uint64_t{64} << 20, &*g_ring, &*g_simple};
    const double turns = 15 * 16 * 131072 / 50e9;
    const double expected = 15.5 * g_roundTrip + 84e-6 + 30e-12 * (64 << 20) + turns;
    for (const double seconds : {SecondsOn(AnalyticalEngine(), OverDistance(drawn, 300)),
                                 SecondsOn(PacketEngine(), OverDistance(drawn, 300))})
    {
        EXPECT_GT(seconds, expected - turns);
        EXPECT_NEAR(seconds, expected, 0.01 * expected);
    }
}

// A ring's chunk takes two slices of the four that a channel's 4 MiB have. Sixteen channels of four
// GPUs a server are four to a pair. Of 1 MiB eight members have parts of 32 KiB in each position: 7
// messages pass an edge in either phase, two at a time and however short: 14 of them take 6 round
// trips, and the last one its way.
TEST(Nccl, ShortChunksOfARingGoFarByTwos)
{
    const Case drawn{CollectiveOp::AllReduce, 2, 4, uint64_t{1} << 20, &*g_ring, &*g_simple};
    const double expected = 6.5 * g_roundTrip;
    for (const double seconds : {SecondsOn(AnalyticalEngine(), OverDistance(drawn, 300)),
                                 SecondsOn(PacketEngine(), OverDistance(drawn, 300))})
    {
        EXPECT_GT(seconds, expected);
        EXPECT_LT(seconds, 1.03 * expected);
    }
}

// A tree of 1 GiB over two servers of 8 on 8 channels: a GPU has one, and sends 128 MiB in slots of
// 512 KiB, of which 8 are under way. So the last 8 wait for 31 round trips, however many chunks
// there are, and the way up and down comes on top.
TEST(Nccl, ChunksOfATreeShareSlots)
{
    const NcclAlgorithm tree = "tree";
    Scenario scenario =
        OverDistance({CollectiveOp::AllReduce, 2, 8, uint64_t{1} << 30, &*tree, &*g_simple}, 300);
    scenario.network.ncclChannels = 8;
    for (const double seconds :
         {SecondsOn(AnalyticalEngine(), scenario), SecondsOn(PacketEngine(), scenario)})
    {
        EXPECT_GT(seconds, 31 * g_roundTrip);
        EXPECT_LT(seconds, 33 * g_roundTrip);
    }
}

// Rings, rounds and messages where nothing is shared, from 10 km on, where slots begin to decide.
TEST(Nccl, EnginesAgreeOverDistance)
{
    const NcclAlgorithm pat = "pat";
    for (const double km : {10.0, 100.0, 1000.0})
    {
        for (const Case& drawn :
             {Case{CollectiveOp::AllReduce, 2, 4, 1 << 20, &*g_ring, &*g_simple},
              {CollectiveOp::AllReduce, 4, 4, 64 << 20, &*g_ring, &*g_simple},
              {CollectiveOp::AllReduce, 4, 1, 64 << 20, &*g_ring, &*g_simple},
              {CollectiveOp::AllGather, 4, 4, 16 << 20, &*g_ring, &*g_simple},
              {CollectiveOp::AllGather, 8, 1, 1 << 20, &*pat, &*g_simple},
              {CollectiveOp::ReduceScatter, 16, 1, 1 << 20, &*pat, &*g_simple},
              {CollectiveOp::SendReceive, 2, 1, 16 << 20, &*g_ring, &*g_simple},
              {CollectiveOp::SendReceive, 2, 1, 1 << 20, &*g_ring, &*g_simple}})
        {
            const Scenario scenario = OverDistance(drawn, km);
            const double packets = SecondsOn(PacketEngine(), scenario);
            EXPECT_NEAR(SecondsOn(AnalyticalEngine(), scenario), packets, 0.03 * packets)
                << km << " km: " << drawn.Text();
        }
    }
}

// Trees: within 6 % where the way is longer than a window of slots takes to send. At 30 km it is
// not, and the model is up to 20 % off, as the page says; where messages take turns on queue pairs,
// of which it knows the mean, within 4 and 16 %.
TEST(Nccl, EnginesAgreeOnTreesOverDistance)
{
    const NcclAlgorithm tree = "tree";
    const NcclProtocol ll = "ll";
    const auto expect = [&](const Balance& balance,
                            double km,
                            uint32_t servers,
                            uint32_t perServer,
                            double within) {
        for (const uint64_t mebibytes : {16, 64})
        {
            for (const NcclProtocol& protocol : {ll, g_simple})
            {
                const Case drawn{CollectiveOp::AllReduce,
                                 servers,
                                 perServer,
                                 mebibytes << 20,
                                 &*tree,
                                 &*protocol};
                Scenario scenario = OverDistance(drawn, km);
                scenario.network.balance = balance;
                const double packets = SecondsOn(PacketEngine(), scenario);
                EXPECT_NEAR(SecondsOn(AnalyticalEngine(), scenario), packets, within * packets)
                    << balance.Name() << ", " << km << " km: " << drawn.Text();
            }
        }
    };
    for (const uint32_t servers : {2, 4})
    {
        for (const uint32_t perServer : {1, 8})
        {
            expect(Balance("split"), 300, servers, perServer, 0.06);
            expect(Balance("round-robin"), 300, servers, perServer, 0.04);
        }
        expect(Balance("split"), 30, servers, 8, 0.2);
        expect(Balance("round-robin"), 30, servers, 8, 0.16);
    }
}

} // namespace scaleacross
