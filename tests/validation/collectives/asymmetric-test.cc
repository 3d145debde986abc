// SPDX-License-Identifier: GPL-2.0-only

// Buildings of different size and NIC speed.

#include "collective-cases.h"

#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

namespace scaleacross
{
namespace
{

/// Three buildings of 4, 2 and 1 parts with NICs of 400, 200 and 100 Gb/s, four GPUs per server,
/// joined in a mesh whose spans are wider than all NICs.
Scenario
Unequal(uint32_t gpusOfTheSmallest, const std::string& distance, const std::string& capacity)
{
    const auto gpus = [&](uint32_t parts) { return std::to_string(parts * gpusOfTheSmallest); };
    const std::string text = "study: unequal\n"
                             "cluster:\n"
                             "  buildings:\n"
                             "    - {gpus: " +
                             gpus(4) +
                             ", gpus_per_node: 4, gpu: h100, nic_rate: 400Gbps}\n"
                             "    - {gpus: " +
                             gpus(2) +
                             ", gpus_per_node: 4, gpu: h100, nic_rate: 200Gbps}\n"
                             "    - {gpus: " +
                             gpus(1) +
                             ", gpus_per_node: 4, gpu: h100, nic_rate: 100Gbps}\n"
                             "  cross: {distance: " +
                             distance + ", capacity: " + capacity +
                             "}\n"
                             "network: {spine_buffer: 16GiB}\n";
    return ParseStudy(text, "unequal.yaml", {}, StudyScope::Network).scenario;
}

using Case = std::tuple<CollectiveOp, CollectiveGroup, CollectiveAlgorithm>;

/// 28 GPUs, packet by packet. Within 5 %, the tolerance of the engines for a class of communication
/// that shares no link (tests/validation/engines): where volume counts, and where latency does. In
/// between, rings of unequal NICs are up to their latency shorter than the sum of both: while the
/// slowest edge sends one part after the other, the parts before travel on.
class Asymmetric : public testing::TestWithParam<Case>
{
  protected:
    static void ExpectAgreement(const std::string& distance, uint64_t bytes)
    {
        const auto& [op, group, algorithm] = GetParam();
        const Scenario scenario = With(Unequal(4, distance, "20Tbps"), op, group, bytes, algorithm);
        const double packet = SecondsOn(PacketEngine(), scenario);
        EXPECT_NEAR(SecondsOn(AnalyticalEngine(), scenario), packet, 0.05 * packet);
    }
};

TEST_P(Asymmetric, EnginesAgreeOnVolume)
{
    ExpectAgreement("1km", 64 << 20);
}

TEST_P(Asymmetric, EnginesAgreeOnLatency)
{
    ExpectAgreement("10km", 4 << 10);
}

INSTANTIATE_TEST_SUITE_P(
    Collectives,
    Asymmetric,
    testing::Combine(testing::Values(CollectiveOp::AllReduce,
                                     CollectiveOp::AllGather,
                                     CollectiveOp::ReduceScatter,
                                     CollectiveOp::AllToAll,
                                     CollectiveOp::SendReceive),
                     testing::Values(CollectiveGroup::All, CollectiveGroup::Across),
                     testing::Values(CollectiveAlgorithm("ring"),
                                     CollectiveAlgorithm("hierarchical"))),
    [](const auto& info) {
        return ToString(std::get<0>(info.param)) + "_" + ToString(std::get<1>(info.param)) +
               (std::get<2>(info.param) == CollectiveAlgorithm("ring") ? "_ring" : "_hierarchical");
    });

// 8,192 + 4,096 + 2,048 GPUs, analytically, by hand. The slowest NICs, of 100 Gb/s, set the pace.
// Within 1 %: a step's messages are counted in whole packets on both sides, which leaves the
// serialisation of a packet on links faster than 50 Tb/s.

constexpr double kLarge = 1 << 30;
constexpr double kSlowNic = 100e9;

/// Seconds of a message of so many bytes on the slowest NIC: 82 B and a quarter of an ACK of 86 B
/// with each packet.
double
MessageSeconds(double bytes)
{
    return (bytes + std::ceil(bytes / 4096) * (82 + 86.0 / 4)) * 8 / kSlowNic;
}

/// Latency between two servers on one leaf: two links of 750 ns, and a packet once more.
double
LeafLatency(double nicRate)
{
    return 1.5e-6 + PacketSeconds(nicRate);
}

/// Between buildings: 2 x (0.75 + 4.5) us and 50 us, and the packet on the faster of two NICs.
double
CrossLatency(double fasterNic)
{
    return 60.5e-6 + PacketSeconds(fasterNic);
}

double
LargeSeconds(CollectiveOp op, CollectiveGroup group, CollectiveAlgorithm algorithm)
{
    const Scenario scenario =
        With(Unequal(2048, "10km", "4Pbps"), op, group, static_cast<uint64_t>(kLarge), algorithm);
    return SecondsOn(AnalyticalEngine(), scenario);
}

TEST(AsymmetricLarge, RingAllGather)
{
    // One ring of 3,584 servers on S/4, then four GPUs over NVLink on S. Edges: 2,047 inside the
    // first building, 1,023, 511, and three between them. A ring spares its shortest edge.
    const double ring = 3583 * MessageSeconds(kLarge / 4 / 3584);
    const double latency = 2046 * LeafLatency(400e9) + 1023 * LeafLatency(200e9) +
                           511 * LeafLatency(100e9) + 2 * CrossLatency(400e9) + CrossLatency(200e9);
    const double nvlink = 3 * (1.9e-6 + kLarge / 4 / (450e9 * 0.82));
    const double expected = ring + latency + nvlink;
    EXPECT_NEAR(
        LargeSeconds(CollectiveOp::AllGather, CollectiveGroup::All, CollectiveAlgorithm("ring")),
        expected,
        0.01 * expected);
}

TEST(AsymmetricLarge, HierarchicalAllReduce)
{
    // Four GPUs on S, 512 servers on S/4, seven blocks of 2,048 GPUs on S/2048, and back.
    const double nvlink = 3 * (1.9e-6 + kLarge / 4 / (450e9 * 0.82));
    const double inside = 511 * (MessageSeconds(kLarge / 4 / 512) + LeafLatency(100e9));
    // Three edges between blocks of the first building, one of the second, three across.
    const double across = 6 * MessageSeconds(kLarge / 2048 / 7) + 2 * LeafLatency(400e9) +
                          LeafLatency(200e9) + 2 * CrossLatency(400e9) + CrossLatency(200e9);
    const double expected = 2 * (nvlink + inside + across);
    EXPECT_NEAR(LargeSeconds(CollectiveOp::AllReduce,
                             CollectiveGroup::All,
                             CollectiveAlgorithm("hierarchical")),
                expected,
                0.01 * expected);
}

TEST(AsymmetricLarge, DirectAllToAll)
{
    // All but the four parts of its own server go through a rank's NIC.
    const double expected = 14332 * MessageSeconds(kLarge / 14336) + CrossLatency(400e9);
    EXPECT_NEAR(
        LargeSeconds(CollectiveOp::AllToAll, CollectiveGroup::All, CollectiveAlgorithm("ring")),
        expected,
        0.01 * expected);
}

TEST(AsymmetricLarge, SendReceiveAcross)
{
    // Every GPU to the same position of the next block, of which three are in another building.
    const double expected = MessageSeconds(kLarge) + CrossLatency(400e9);
    EXPECT_NEAR(LargeSeconds(CollectiveOp::SendReceive,
                             CollectiveGroup::Across,
                             CollectiveAlgorithm("ring")),
                expected,
                0.01 * expected);
}

} // namespace
} // namespace scaleacross
