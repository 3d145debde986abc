// SPDX-License-Identifier: GPL-2.0-only

// What losses cost a collective that is cut into chunks, on both engines.

#include "collective-cases.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace scaleacross
{
namespace
{

constexpr double kLoss = 1e-3;
constexpr uint32_t kChunks = 8;
constexpr uint32_t kPackets = 32;    //!< of a message: half of a chunk
constexpr double kWay = 1e-3 + 3e-6; //!< 200 km, and two NICs and leaves
constexpr double kRoundTrip = 2 * kWay + 84e-9;
constexpr double kTimeout = 4.096e-6 * 1024;

/// Pairs of NICs in two buildings, one queue pair each.
Scenario
Pairs(CollectiveOp op, uint32_t channels, double loss)
{
    const uint64_t size = uint64_t{kChunks} * 2 * kPackets * 4096;
    Scenario scenario = With(PlainCluster(2, "cross: {distance: 200km, oversubscription: 1}"),
                             op,
                             CollectiveGroup::Across,
                             size);
    scenario.network.qps = 1;
    scenario.network.recovery = Recovery("selective-repeat");
    scenario.network.timeoutExponent = 10;
    scenario.network.collectiveChunk = Bytes(size / kChunks);
    scenario.network.channels = channels;
    for (CrossLinkSpec& span : scenario.cluster.crossLinks)
    {
        span.loss = loss;
    }
    return scenario;
}

/// Seconds that the unluckiest of `chains` loses in `rounds` of m packets on average: a round trip
/// in each that loses any, p = 1 - (1-q)^m.
double
LostBy(uint32_t chains, uint32_t rounds, uint32_t packets = kPackets)
{
    const double p = 1 - std::pow(1 - kLoss, packets);
    std::vector<double> mass{1.0}; // of k delayed rounds
    for (uint32_t round = 0; round < rounds; round++)
    {
        mass.push_back(0);
        for (size_t k = mass.size() - 1; k > 0; k--)
        {
            mass[k] = mass[k] * (1 - p) + mass[k - 1] * p;
        }
        mass[0] *= 1 - p;
    }
    double most = 0;
    double upTo = 0;
    for (uint32_t k = 0; k < rounds; k++)
    {
        upTo += mass[k];
        most += 1 - std::pow(upTo, chains);
    }
    return most * kRoundTrip;
}

struct ChunkCase
{
    CollectiveOp op;
    uint32_t channels;
};

class ChunkLosses : public testing::TestWithParam<ChunkCase>
{
};

/**
 * Four pairs, eight members: each sends half of every chunk to the other and begins the next chunk
 * when it has the other's half. So eight chains go there and back through eight rounds of 32
 * packets; with w channels 8 w chains through 8 / w rounds. An all-reduce has two rounds for every
 * chunk.
 *
 * A round that loses a packet costs a round trip, less what the packets after it take (32 of the
 * 24,000 of a round trip). A message's last packet is told of by the next message, a way later; a
 * repetition that is lost as well costs a timeout.
 *
 * The packet engine's all-gather of a chunk may wait at the same time as the reduce-scatter of the
 * next: no chain loses less than on one way through both, of 8 / w + 1 rounds. And messages of one
 * queue pair arrive in order, those of w channels, too, if one of them waits: no more than if w of
 * them were one. Nothing tells of the last packet of all.
 */
TEST_P(ChunkLosses, FollowTheChainsThroughAllChunks)
{
    const CollectiveOp op = GetParam().op;
    const uint32_t channels = GetParam().channels;
    const uint32_t phases = op == CollectiveOp::AllReduce ? 2 : 1;
    const uint32_t rounds = kChunks / channels;
    const double most = LostBy(8 * channels, phases * rounds);
    const double more = 8 * kChunks * phases * (kLoss * kWay + kPackets * kLoss * kLoss * kTimeout);
    const auto seconds = [&](const Engine& engine, double loss, uint64_t seed) {
        RunOptions options;
        options.warmup = 0;
        options.seed = seed;
        const auto result = engine.Run(Pairs(op, channels, loss), options);
        return std::get<RunReport>(result).iterationTime.S();
    };
    const AnalyticalEngine analytical;
    const double expected = seconds(analytical, kLoss, 1) - seconds(analytical, 0, 1);
    EXPECT_GT(expected, 0.999 * most);
    EXPECT_LT(expected, most + more);

    const PacketEngine packet;
    const double lossless = seconds(packet, 0, 1);
    constexpr uint32_t draws = 200;
    double sum = 0;
    double squares = 0;
    for (uint64_t seed = 1; seed <= draws; seed++)
    {
        const double delay = seconds(packet, kLoss, seed) - lossless;
        sum += delay;
        squares += delay * delay;
    }
    const double mean = sum / draws;
    const double error = std::sqrt((squares / draws - mean * mean) / draws);
    EXPECT_GT(mean + 4 * error, 0.999 * LostBy(8 * channels, rounds + phases - 1));
    EXPECT_LT(mean - 4 * error,
              LostBy(8, phases * rounds, channels * kPackets) + more + 8 * kLoss * kTimeout);
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         ChunkLosses,
                         testing::Values(ChunkCase{CollectiveOp::AllGather, 1},
                                         ChunkCase{CollectiveOp::AllGather, 2},
                                         ChunkCase{CollectiveOp::AllGather, 8},
                                         ChunkCase{CollectiveOp::AllReduce, 1},
                                         ChunkCase{CollectiveOp::AllReduce, 8}),
                         [](const auto& info) {
                             return ToString(info.param.op) + "_" +
                                    std::to_string(info.param.channels);
                         });

} // namespace
} // namespace scaleacross
