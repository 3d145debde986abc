// SPDX-License-Identifier: GPL-2.0-only

// What may be under way at a time, on a path that holds more: all engines.

#include "collective-cases.h"
#include "core/topology/cluster-paths.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

/// Overrides of a study, and bytes to send to a GPU 100 km away.
struct Limit
{
    const char* name;
    Overrides overrides;
    std::vector<uint64_t> sizes;
};

class Windows : public testing::TestWithParam<Limit>
{
};

/**
 * 400 Gb/s over 503 us hold 25 MB, more than any limit here lets under way: a message takes a round
 * trip for each window but the last. Sizes end with a full window, within one, and just behind one.
 * The rest, packets of switches and ACKs, is less than 3 us of 500 and more.
 */
TEST_P(Windows, LimitTheModelAsTheyDoPackets)
{
    Overrides overrides = GetParam().overrides;
    overrides.emplace_back("network.qps", "2");
    overrides.emplace_back("network.segment", "64KiB");
    const Scenario plain =
        PlainCluster(2, "cross: {distance: 100km, oversubscription: 1}", overrides);
    for (const uint64_t bytes : GetParam().sizes)
    {
        const Scenario scenario =
            With(plain, CollectiveOp::SendReceive, CollectiveGroup::Across, bytes);
        const double packet = SecondsOn(PacketEngine(), scenario);
        EXPECT_NEAR(SecondsOn(AnalyticalEngine(), scenario), packet, 0.005 * packet)
            << bytes << " bytes";
    }
}

// A NIC of 400 Gb/s is busy over 300 km (1.5 ms each way, some 10 us of switches besides) where its
// 16 queue pairs together may have 400 Gb/s x 3.02 ms = 151 MB under way: 9.44 MB each. A tenth
// more holds nothing back. With half of it 64 MiB of a queue pair are 14 windows of 1,152 packets
// and a rest of 1,030,000 bytes: 14 round trips, the rest by all of them, and the way.
TEST(Windows, NeedARoundTripOfTheNicByAllQueuePairs)
{
    constexpr uint64_t gib = uint64_t{1} << 30;
    constexpr double way = 1.51e-3;
    constexpr double rest = 16 * ((uint64_t{64} << 20) - 14.0 * 1152 * 4096);
    const auto seconds = [](const Engine& engine, const std::string& window) {
        const Scenario scenario = With(
            PlainCluster(
                2,
                "cross: {distance: 300km, oversubscription: 1}",
                {{"network.qps", "16"}, {"network.balance", "split"}, {"network.window", window}}),
            CollectiveOp::SendReceive,
            CollectiveGroup::Across,
            gib);
        return SecondsOn(engine, scenario);
    };
    for (const char* name : {"analytical", "flow", "packet"})
    {
        const auto engine = EngineOf(name);
        const double free = seconds(*engine, "0B");
        EXPECT_NEAR(free, gib * SecondsPerByte(400e9) + way, 0.01 * free) << name;
        EXPECT_NEAR(seconds(*engine, "10.4MB"), free, 0.01 * free) << name;
        const double half = 14 * 2 * way + rest * SecondsPerByte(400e9) + way;
        EXPECT_NEAR(seconds(*engine, "4.72MB"), half, 0.01 * half) << name;
    }
}

/// A training whose messages follow each other on a connection within a round trip.
struct Followers
{
    const char* name;
    std::string study; //!< model, sizes and all
    double ways;       //!< between the buildings that it takes at least, one after the other
    double error;      //!< of the analytical engine, at most
};

/// Two GPUs 200 km apart that exchange 18.9 MB each way in two rings, of gradients and of weights.
std::string
Exchange(const std::string& network)
{
    return "study: exchange\n"
           "model: {layers: 2, hidden: 512, heads: 8, vocabulary: 1024, dense_ffn: 1024}\n"
           "workload: {sequence: 256, global_batch: 8}\n"
           "cluster:\n"
           "  buildings: {count: 2, gpus: 1, gpus_per_node: 1, gpu: h100, nic_rate: 100Gbps}\n"
           "  cross: {distance: 200km, oversubscription: 1}\n"
           "plan: {sharding: zero1}\n"
           "network: " +
           network + "\n";
}

class Following : public testing::TestWithParam<Followers>
{
};

/// Held back one by one, as if each found its connection empty, they took 0.64, 0.25, 0.73 and 0.08
/// of these times by the model, and the last 0.08 by flows.
TEST_P(Following, ShareWhatMayBeUnderWay)
{
    const Scenario scenario = ParseStudy(GetParam().study, "following.yaml").scenario;
    const Rank there = scenario.cluster.buildings[0].gpus;
    const double way = ClusterPaths(scenario.cluster).Between(0, there).propagation.S();
    const double packets = SecondsOn(PacketEngine(), scenario);
    EXPECT_GT(packets, GetParam().ways * way);
    EXPECT_NEAR(SecondsOn(FlowEngine(), scenario), packets, 0.015 * packets);
    EXPECT_NEAR(SecondsOn(AnalyticalEngine(), scenario), packets, GetParam().error * packets);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Following,
    testing::Values(
        // Two messages of 1 MiB, all of which is granted at once, go forward and two back: request,
        // grant and data are three ways, and the second's grant leaves when the first has come: two
        // more.
        Followers{"admission",
                  R"(
study: admission
model: {layers: 2, hidden: 512, heads: 8, vocabulary: 4096, dense_ffn: 1024}
workload: {sequence: 1024, global_batch: 2}
cluster:
  buildings: {count: 2, gpus: 1, gpus_per_node: 1, gpu: h100, nic_rate: 100Gbps, fabric: {spines: 1}}
  cross: {distance: 199km, oversubscription: 1}
plan: {pp: 2, crossing: pp, schedule: gpipe}
network: {admission: 1MiB}
)",
                  10,
                  0.02},
        // Halves of chunks of 64 KiB: 576 messages, of which one at a time is under way.
        Followers{"outstanding",
                  Exchange("{qps: 1, outstanding: 1, collective: ring, collective_chunk: 64KiB, "
                           "channels: 2}"),
                  2 * 576,
                  0.01},
        // Rings of eight, of whose seven messages each takes a slot of eight: rings that follow
        // each other wait for slots. Of two layers two gathers forward, one back and a reduction
        // follow each other, each of which crosses once at least.
        Followers{"staged",
                  R"(
study: staged
model: {layers: 2, hidden: 256, heads: 8, vocabulary: 4096, dense_ffn: 1024}
workload: {sequence: 256, global_batch: 8}
cluster:
  buildings: {count: 2, gpus: 4, gpus_per_node: 1, gpu: h100, nic_rate: 100Gbps, fabric: {spines: 2}}
  cross: {distance: 300km, oversubscription: 1, lanes: 4}
plan: {sharding: fsdp, reshard: true}
network: {copy: staged, multipath: spray-random, recovery: selective-repeat, collective: ring}
)",
                  4,
                  0.04},
        // The write that tells of a message goes behind two segments of its queue pair at most, and
        // not behind all that wait for their turn, which took flows 2.2 times as long. Each of four
        // GPUs sends a fourth of 96 MiB across, of which two queue pairs have two segments of 64
        // KiB each under way: 96 round trips.
        Followers{"last_writes",
                  R"(
study: last-writes
model: {layers: 4, hidden: 512, heads: 8, head_dim: 64, vocabulary: 8192, dense_ffn: 2048}
workload: {sequence: 1024, global_batch: 8}
cluster:
  buildings: {count: 2, gpus: 4, gpus_per_node: 2, gpu: h100, fabric: {spines: 2}}
  cross: {distance: 10km, oversubscription: 2, lanes: 2}
plan: {tp: 2}
network: {qps: 2, outstanding: 2, segment: 64KiB, balance: spray}
)",
                  2 * 96,
                  0.02},
        // Whole, of which grants of 128 KiB are written one at a time: 144 at least.
        Followers{"grants",
                  Exchange("{qps: 2, outstanding: 1, collective: ring, admission: 8MiB}"),
                  2 * 144,
                  0.01}),
    [](const auto& info) { return std::string(info.param.name); });

/// A collective whose messages share what may be under way, and how far the model may be off.
struct SharedWindow
{
    const char* name;
    uint32_t gpusPerNode;
    CollectiveOp op;
    CollectiveGroup group;
    uint64_t bytes;
    Overrides overrides;
    double error;
};

class SharedWindows : public testing::TestWithParam<SharedWindow>
{
};

/// Two buildings of four GPUs, 100 km apart. Packets are the reference, and flows are within 2 % of
/// them.
TEST_P(SharedWindows, HoldBackWhatFollows)
{
    const std::string study = "study: shared\n"
                              "cluster:\n"
                              "  buildings: {count: 2, gpus: 4, gpus_per_node: " +
                              std::to_string(GetParam().gpusPerNode) +
                              ", gpu: h100, nic_rate: 400Gbps, fabric: {spines: 1}}\n"
                              "  cross: {distance: 100km, oversubscription: 1}\n";
    const Scenario plain =
        ParseStudy(study, "shared.yaml", GetParam().overrides, StudyScope::Network).scenario;
    const Scenario scenario =
        With(plain, GetParam().op, GetParam().group, GetParam().bytes, plain.network.collective);
    const double packets = SecondsOn(PacketEngine(), scenario);
    EXPECT_NEAR(SecondsOn(FlowEngine(), scenario), packets, 0.02 * packets);
    EXPECT_NEAR(SecondsOn(AnalyticalEngine(), scenario), packets, GetParam().error * packets);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    SharedWindows,
    testing::Values(
        // Of the rings of NCCL's channels each crosses at another GPU: a fourth of the chunks is on
        // a connection.
        SharedWindow{"lanes",
                     4,
                     CollectiveOp::AllReduce,
                     CollectiveGroup::All,
                     64 << 20,
                     {{"network.collective", "nccl"}, {"network.window", "256KiB"}},
                     0.01},
        // Pieces in NCCL's slots are writes of their own.
        SharedWindow{"slots",
                     4,
                     CollectiveOp::AllToAll,
                     CollectiveGroup::Across,
                     16 << 20,
                     {{"network.collective", "nccl"}, {"network.outstanding", "1"}},
                     0.01},
        // Grants of 128 KiB are writes, of which a window of 16 KiB lets a part go at a time.
        SharedWindow{"window_in_grants",
                     1,
                     CollectiveOp::AllGather,
                     CollectiveGroup::Across,
                     8 << 20,
                     {{"network.collective", "ring"},
                      {"network.qps", "1"},
                      {"network.outstanding", "1"},
                      {"network.admission", "8MiB"},
                      {"network.window", "16KiB"}},
                     0.01},
        // Eight chunks go round a ring of eight together. The first parts wait for the way round
        // while windows come back.
        SharedWindow{"chunks",
                     1,
                     CollectiveOp::AllGather,
                     CollectiveGroup::All,
                     8 << 20,
                     {{"network.collective", "ring"},
                      {"network.collective_chunk", "1MiB"},
                      {"network.channels", "8"},
                      {"network.admission", "1MiB"}},
                     0.08}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    All,
    Windows,
    testing::Values(
        Limit{"outstanding",
              {{"network.outstanding", "1"}},
              {98304, 131072, 196608, 262144, 1048576, 4194304}},
        Limit{"window_64KiB",
              {{"network.window", "64KiB"}},
              {65536, 131072, 135168, 262144, 1048576, 4194304}},
        Limit{"window_1MiB", {{"network.window", "1MiB"}}, {262144, 2097152, 4194304}},
        Limit{"admission_256KiB",
              {{"network.admission", "256KiB"}},
              {65536, 262144, 1048576, 4194304}},
        Limit{"admission_1MiB", {{"network.admission", "1MiB"}}, {65536, 1048576, 4194304}}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace scaleacross
