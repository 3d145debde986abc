// SPDX-License-Identifier: GPL-2.0-only

// Traffic classes in packets and in flows, by what NICs and switches that serve them so have to do:
// messages of several classes from one NIC to another, over a span that is the bottleneck.

#include "../../core/engine/flow-deliveries.h"
#include "../../draws.h"
#include "../volumes/volume-plans.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/read-study.h"
#include "helper/engine/cluster-helper.h"
#include "helper/engine/packet-engine.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

constexpr uint64_t kMessage = 4 << 20;
/// On the span of 25 Gb/s: 1,024 packets of 4,096 + 82 B, and an ACK of 86 B per 4.
constexpr double kOnSpan = (1024 * 4178 + 256 * 86) * 8 / 25e9;
constexpr double kWay = 20e-6;

struct Post
{
    CommClass comm;
    Rank from;
    Rank to;
};

/// Two buildings of three servers of a GPU each, whose NICs of 400 Gb/s are on one leaf.
Scenario
Buildings(const std::string& network)
{
    return ParseStudy("study: classes\n"
                      "cluster: {buildings: {count: 2, gpus: 3, gpus_per_node: 1, gpu: h100, "
                      "nic_rate: 400Gbps, fabric: {spines: 1, nic_delay: 0us, leaf_delay: 0us}}, "
                      "cross: {distance: 4km, latency: 20us, capacity: 25Gbps}}\n"
                      "network: {qps: 1, " +
                          network + "}\n",
                      "classes.yaml",
                      {},
                      StudyScope::Network)
        .scenario;
}

/// When messages that are posted together are delivered, s.
std::vector<double>
InFlows(const Scenario& scenario, const std::vector<Post>& posts)
{
    return FlowDeliveries(scenario, posts.size(), [&](FlowTransport& transport, FlowClock&) {
        for (size_t i = 0; i < posts.size(); i++)
        {
            MessageCare care;
            care.comm = posts[i].comm;
            transport.Send(posts[i].from, posts[i].to, Bytes(kMessage), i, care);
        }
    });
}

std::vector<double>
InPackets(const Scenario& scenario, const std::vector<Post>& posts)
{
    std::vector<double> delivered(posts.size());
    if (ns3::Time::GetResolution() != ns3::Time::PS)
    {
        ns3::Time::SetResolution(ns3::Time::PS);
    }
    {
        ns3::ClusterHelper cluster(scenario);
        const auto transport = cluster.GetTransport();
        for (Rank rank = 0; rank < scenario.cluster.Gpus(); rank++)
        {
            transport->SetDelivery(
                rank,
                ns3::RankTransport::DeliveryCallback([&delivered](const RankMessage& message) {
                    delivered[message.tag] = ns3::Simulator::Now().GetSeconds();
                }));
        }
        ns3::Simulator::ScheduleNow([&] {
            for (size_t i = 0; i < posts.size(); i++)
            {
                MessageCare care;
                care.comm = posts[i].comm;
                transport->Send(posts[i].from, posts[i].to, Bytes(kMessage), i, care);
            }
        });
        ns3::Simulator::Run();
    }
    ns3::Simulator::Destroy();
    return delivered;
}

struct Case
{
    const char* classes;
    std::vector<Post> posts;
    std::vector<double> expected; //!< time on the span, of that of a message
};

/// Both are delivered after so many times a message's time on the span, and the way; but for a few
/// packets that wait at the beginning or are in a switch at the end.
void
Expect(const Case& one, const std::string& transport)
{
    const Scenario scenario = Buildings("recovery: selective-repeat, " + transport + one.classes);
    const std::vector<double> flows = InFlows(scenario, one.posts);
    const std::vector<double> packets = InPackets(scenario, one.posts);
    for (size_t i = 0; i < one.posts.size(); i++)
    {
        const double expected = one.expected[i] * kOnSpan + kWay;
        EXPECT_NEAR(flows[i] / expected, 1, 0.005) << one.classes << ' ' << i;
        EXPECT_NEAR(packets[i] / expected, 1, 0.02) << transport << one.classes << ' ' << i;
    }
}

const Post kData{CommClass::Data, 0, 3};
const Post kPipeline{CommClass::Pipeline, 0, 3};
const Post kOtherPipeline{CommClass::Pipeline, 1, 4};
const Post kOtherData{CommClass::Data, 2, 5};

/**
 * C of the span, messages of B, times in B / C.
 *
 * One class: both end at 2 from two NICs, and one after the other on one connection. Weights 1:3:
 * the second has 3/4, and ends at 4/3; the first has sent 1/3 by then, and the rest alone until 2.
 * Strict: 1 and 2, from one NIC or from two.
 */
std::vector<Case>
TwoClasses()
{
    return {
        {"", {kOtherData, kPipeline}, {2, 2}},
        {"", {kData, kPipeline}, {1, 2}},
        {"classes: {pp: 1}, class_weights: '1:3'", {kData, kPipeline}, {2, 4.0 / 3}},
        {"classes: {pp: 1}, class_weights: '1:3'", {kOtherData, kPipeline}, {2, 4.0 / 3}},
        {"classes: {dp: 3, pp: 2}, class_weights: '0:0:3:1'", {kData, kPipeline}, {2, 4.0 / 3}},
        {"classes: {pp: 1}", {kData, kPipeline}, {2, 1}},
        {"classes: {pp: 1}", {kOtherData, kPipeline}, {2, 1}},
        {"classes: {pp: 0, dp: 2}", {kData, kPipeline}, {1, 2}},
    };
}

} // namespace

TEST(TrafficClasses, ShareASpanByWeightOrTurn)
{
    for (const Case& one : TwoClasses())
    {
        Expect(one, "");
    }
}

TEST(TrafficClasses, ShareItWhateverConnectionsTheyHave)
{
    // Weights 1:1: of three connections two are of one class: 1/4 each, and 1/2 for the third. That
    // ends at 2, when the others have sent half; they share the span until 3. Without classes each
    // has a third until 3.
    Expect({"", {kPipeline, kOtherPipeline, kOtherData}, {3, 3, 3}}, "");
    Expect({"classes: {pp: 1}, class_weights: '1:1'",
            {kPipeline, kOtherPipeline, kOtherData},
            {3, 3, 2}},
           "");
}

TEST(TrafficClasses, AreToldApartByEveryTransport)
{
    // The same with lossy switches, which drop nothing that their buffers hold, and by credits.
    Expect(TwoClasses()[2], "pfc: false, ");
    Expect(TwoClasses()[5], "pfc: false, ");
    Expect(TwoClasses()[2],
           "transport: infiniband, lane_credits: 1MiB, headers: 82B, ack_size: 86B, ");
    Expect(TwoClasses()[5],
           "transport: infiniband, lane_credits: 1MiB, headers: 82B, ack_size: 86B, ");
}

namespace
{

/// Gradients of each microbatch leave by the NICs that what stages send leaves by, over slow links.
Scenario
Training(const std::string& network, const std::string& loss = "0")
{
    return ParseStudy(R"(
study: classes
model: {name: m, layers: 2, hidden: 1024, heads: 8, dense_ffn: 4096, vocabulary: 4096}
workload: {sequence: 512, global_batch: 16}
cluster:
  buildings: {count: 2, gpus: 4, gpus_per_node: 1, gpu: h100, nic_rate: 100Gbps,
              fabric: {spines: 1, rails: false}}
  cross: {distance: 1km, oversubscription: 1, loss: )" +
                          loss +
                          R"(}
plan: {pp: 2, crossing: dp, sharding: zero2, reduce: microbatch}
network: {qps: 1, recovery: selective-repeat, )" +
                          network + "}\n",
                      "classes.yaml")
        .scenario;
}

RunReport
ReportOf(const Engine& engine, const Scenario& scenario)
{
    return std::get<RunReport>(engine.Run(scenario, RunOptions()));
}

} // namespace

TEST(TrafficClasses, ThatChangeNothingChangeNothing)
{
    // All in another class, or weights of classes that nothing is in: the same to the picosecond,
    // with losses as well.
    for (const char* loss : {"0", "1e-4"})
    {
        const Scenario usual = Training("", loss);
        for (const char* network :
             {"classes: {tp: 2, cp: 2, ep: 2, pp: 2, dp: 2}", "class_weights: 2:1"})
        {
            const Scenario same = Training(network, loss);
            EXPECT_EQ(ReportOf(AnalyticalEngine(), same).iterationTime,
                      ReportOf(AnalyticalEngine(), usual).iterationTime);
            EXPECT_EQ(ReportOf(FlowEngine(Collisions::Expected), same).iterationTime,
                      ReportOf(FlowEngine(Collisions::Expected), usual).iterationTime);
            EXPECT_EQ(ReportOf(PacketEngine(), same).iterationTime,
                      ReportOf(PacketEngine(), usual).iterationTime);
        }
    }
}

TEST(TrafficClasses, LookAheadChangesNothing)
{
    for (const char* weights : {"strict", "1:3"})
    {
        const std::string classes = std::string("classes: {pp: 1}, class_weights: '") + weights +
                                    "', ns3: {\"ns3::FabricSwitch::LookAhead\": \"";
        const auto time = [&classes](const std::string& ahead) {
            return ReportOf(PacketEngine(),
                            Training(classes + ahead + "\", \"ns3::RdmaNic::LookAhead\": \"" +
                                     ahead + "\"}"))
                .iterationTime;
        };
        EXPECT_EQ(time("true"), time("false")) << weights;
    }
}

TEST(TrafficClasses, StrictMessagesTakeWhatTheyTakeAlone)
{
    // A rank receives 4 messages of 512 x 1,024 x 2 B over two links of 100 Gb/s and 750 ns: 256
    // packets of 4,178 B with an ACK of 86 B per 4, and a packet stored and forwarded. With weights
    // 1:3 they take up to 4/3 of the volume; in packets one of another class may be in the way at
    // each port.
    const double volume = (256 * 4178 + 64 * 86) * 8 / 100e9;
    const double latency = 2 * 750e-9 + 4178 * 8 / 100e9;
    const auto busy = [](const Engine& engine, const std::string& network) {
        return ReportOf(engine, Training(network)).Of(CommClass::Pipeline).busy.S();
    };
    const AnalyticalEngine analytical;
    const FlowEngine flow(Collisions::Expected);
    const PacketEngine packet;
    for (const Engine* engine : std::vector<const Engine*>{&analytical, &flow, &packet})
    {
        const double strict = busy(*engine, "classes: {pp: 1}");
        EXPECT_NEAR(strict / (4 * (volume + latency)), 1, 0.005) << engine->Name();
        const double weighted = busy(*engine, "classes: {pp: 1}, class_weights: '1:3'");
        EXPECT_GT(weighted, 1.05 * strict) << engine->Name();
        EXPECT_LE(weighted, 1.005 * 4 * (volume * 4 / 3 + latency)) << engine->Name();
        EXPECT_GT(busy(*engine, ""), weighted) << engine->Name();
    }
}

TEST(TrafficClasses, FlowsOfDrawnPlansAreAsNearToPacketsAsWithoutClasses)
{
    std::mt19937 random(20261127);
    std::vector<double> errors;
    for (Scenario& scenario : volumes::Plans(Draws(6), 32, volumes::DrawAny))
    {
        scenario.network.qps = 1;
        scenario.network.leafBuffer = scenario.network.spineBuffer = Bytes(4ULL << 30);
        for (uint32_t& number : scenario.network.classes.of)
        {
            number = static_cast<uint32_t>(random() % kTrafficClasses);
        }
        scenario.network.classes.weights =
            random() % 2 == 0 ? ClassWeights{} : ClassWeights{1, 3, 2, 0};
        if (scenario.FindConflict())
        {
            continue;
        }
        const RunReport packet = ReportOf(PacketEngine(), scenario);
        const RunReport flow = ReportOf(FlowEngine(Collisions::Expected), scenario);
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            EXPECT_EQ(flow.classes[k].bytes, packet.classes[k].bytes) << volumes::TextOf(scenario);
        }
        EXPECT_EQ(packet.network.packetsDropped, 0U);
        errors.push_back(std::abs(flow.iterationTime.S() / packet.iterationTime.S() - 1));
        const double fluid = ReportOf(AnalyticalEngine(), scenario).iterationTime.S();
        std::cout << errors.back() << ' ' << std::abs(fluid / packet.iterationTime.S() - 1) << ' '
                  << volumes::TextOf(scenario) << '\n';
    }
    std::sort(errors.begin(), errors.end());
    EXPECT_LE(errors[errors.size() / 2], 0.05);
    EXPECT_LE(errors[errors.size() * 9 / 10], 0.15);
}

} // namespace scaleacross
