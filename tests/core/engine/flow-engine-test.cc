// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/read-study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

/// Two buildings of servers of one GPU, 100 us apart, with 400 Gb/s between them.
Scenario
Base(const std::string& network, const std::string& more = "")
{
    return ParseStudy(
               "study: flows\n"
               "cluster: {buildings: {count: 2, gpus: 8, gpus_per_node: 1, gpu: h100, nic_rate: "
               "400Gbps, fabric: {spines: 4, nic_delay: 1us, leaf_delay: 2us, nodes_per_pod: 8}}, "
               "cross: {distance: 20km, latency: 100us, capacity: 400Gbps}}\nnetwork: {" +
                   network + "}\n" + more,
               "flows.yaml",
               {},
               StudyScope::Network)
        .scenario;
}

/// In which each GPU sends to the one in the other building.
Scenario
SendReceive(uint64_t bytes, const std::string& network, const std::string& more = "")
{
    Scenario scenario = Base(network, more);
    CollectiveSpec& spec = scenario.Job().collective.emplace();
    spec.op = CollectiveOp::SendReceive;
    spec.group = CollectiveGroup::Across;
    spec.bytes = Bytes(bytes);
    return scenario;
}

RunReport
ReportOf(const Scenario& scenario, Collisions collisions = Collisions::Expected, uint64_t seed = 1)
{
    RunOptions options;
    options.seed = seed;
    options.warmup = 0;
    return std::get<RunReport>(FlowEngine(collisions).Run(scenario, options));
}

TEST(FlowEngine, MessagesShareASpanEvenly)
{
    // Eight pairs send 4 MiB each both ways over 400 Gb/s: 1,024 packets of 4,178 B and an ACK of
    // 86 B per 4 each, 8 x 1,024 x 4,199.5 x 8 / 400e9 = 688.05 us. Sprayed, nothing collides. Then
    // the way: NIC, leaf, spine, span, spine, leaf, NIC are 1 + 2 + 100 + 2 + 1 us, and a first
    // packet on all links but the slowest: two of NICs at 400 Gb/s (0.084 us each), two of leaves
    // at 800 (0.042), and the span's at 100 Gb/s is the slowest.
    const RunReport report =
        ReportOf(SendReceive(4 << 20, "multipath: spray-rr, recovery: selective-repeat"));
    const double volume = 8 * 1024 * 4199.5 * 8 / 400e9;
    const double way = 106e-6 + 4178 * 8 * (2 / 400e9 + 2 / 800e9);
    EXPECT_NEAR(report.iterationTime.S(), volume + way, 1e-9);
}

TEST(FlowEngine, OneQueuePairHasOneLink)
{
    // With one pair alone, of one queue pair, only a quarter of the span: the same time as four
    // pairs on four links that do not collide. By the sampled hash it is the same, wherever it
    // goes.
    Scenario scenario = SendReceive(4 << 20, "multipath: e-ecmp, qps: 1");
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.gpus = 1;
    }
    const double volume = 1024 * 4199.5 * 8 / 100e9;
    for (const Collisions collisions : {Collisions::Expected, Collisions::Sampled})
    {
        EXPECT_NEAR(ReportOf(scenario, collisions).iterationTime.S(), volume + 106e-6, 1e-6);
    }
}

TEST(FlowEngine, SampledCollisionsDependOnTheSeedAndExpectedOnesDoNot)
{
    const Scenario scenario = SendReceive(4 << 20, "multipath: e-ecmp, qps: 1");
    const auto time = [&](Collisions collisions, uint64_t seed) {
        return ReportOf(scenario, collisions, seed).iterationTime;
    };
    EXPECT_EQ(time(Collisions::Expected, 1), time(Collisions::Expected, 2));
    EXPECT_EQ(time(Collisions::Sampled, 1), time(Collisions::Sampled, 1));
    // 8 flows on 4 links: the fullest has 2 to 8, so that the slowest takes 2 to 8 times a
    // message's time on a link; and not the same in all of ten runs.
    const double one = 1024 * 4199.5 * 8 / 100e9;
    std::set<Duration> times;
    for (uint64_t seed = 1; seed <= 10; seed++)
    {
        times.insert(time(Collisions::Sampled, seed));
        EXPECT_GE(times.begin()->S(), 2 * one);
        EXPECT_LE(times.rbegin()->S(), 8 * one + 110e-6);
    }
    EXPECT_GT(times.size(), 1U);
}

TEST(FlowEngine, PathsAreDrawnOfSoManyRanksAndExpectedOfMore)
{
    const auto times = [](const std::string& network, uint32_t gpus) {
        Scenario scenario = SendReceive(64 << 10, network);
        for (BuildingSpec& building : scenario.cluster.buildings)
        {
            building.gpus = gpus;
        }
        RunOptions options;
        options.warmup = 0;
        std::vector<Duration> found;
        for (const FlowEngine& engine :
             {FlowEngine(), FlowEngine(Collisions::Sampled), FlowEngine(Collisions::Expected)})
        {
            found.push_back(std::get<RunReport>(engine.Run(scenario, options)).iterationTime);
        }
        return found;
    };
    const auto few = times("multipath: e-ecmp, qps: 2", FlowEngine::kMaxApart / 2);
    EXPECT_EQ(few[0], few[1]);
    EXPECT_NE(few[0], few[2]);
    const auto many = times("multipath: e-ecmp, qps: 2", FlowEngine::kMaxApart / 2 + 8);
    EXPECT_EQ(many[0], many[2]);
    EXPECT_NE(many[0], many[1]);
    // Nothing is drawn of packets that take all paths.
    const auto sprayed = times("multipath: spray-rr, recovery: selective-repeat", 8);
    EXPECT_EQ(sprayed[0], sprayed[1]);
    EXPECT_EQ(sprayed[0], sprayed[2]);
    EXPECT_EQ(FlowEngine().Name(), "flow");
    EXPECT_EQ(FlowEngine(Collisions::Sampled).Name(), "flow:sampled");
    EXPECT_EQ(FlowEngine(Collisions::Expected).Name(), "flow:expected");
}

TEST(FlowEngine, LossesDelayAndRepeat)
{
    // A tenth of a per cent of 8 x 1,024 packets is lost each way. Whatever is drawn, what is
    // repeated takes time, and so does the part of a round trip of 200 us by which a packet comes
    // later than those after it: another one with another seed.
    const std::string network = "multipath: e-ecmp, qps: 1, recovery: selective-repeat";
    Scenario lossy = SendReceive(4 << 20, network);
    lossy.cluster.crossLinks[0].loss = 1e-3;
    const RunReport clean = ReportOf(SendReceive(4 << 20, network));
    const RunReport one = ReportOf(lossy, Collisions::Expected, 1);
    EXPECT_GT(one.iterationTime, clean.iterationTime);
    EXPECT_EQ(ReportOf(lossy, Collisions::Expected, 1).iterationTime, one.iterationTime);
    std::set<Duration> times;
    for (uint64_t seed = 1; seed <= 10; seed++)
    {
        times.insert(ReportOf(lossy, Collisions::Expected, seed).iterationTime);
    }
    EXPECT_GT(times.size(), 1U);
    EXPECT_EQ(one.Of(CommClass::Data).bytes, clean.Of(CommClass::Data).bytes);
}

TEST(FlowEngine, FailedAndSlowLinksCount)
{
    // One of four spines down: three quarters of the span; NIC links of their own may be slow, too.
    const std::string network = "multipath: spray-rr, recovery: selective-repeat";
    const double volume = 8 * 1024 * 4199.5 * 8 / 400e9;
    const RunReport three = ReportOf(
        SendReceive(4 << 20,
                    network,
                    "events: [{kind: switch-failure, target: building1/spine0, at: 0s}]\n"));
    EXPECT_NEAR(three.iterationTime.S(), volume * 4 / 3 + 106e-6, 1e-6);
    const RunReport slow = ReportOf(
        SendReceive(4 << 20,
                    network,
                    "events: [{kind: degradation, target: building1/nic3--building1/leaf0, "
                    "factor: 0.05, at: 0s}]\n"));
    // Seven pairs send their next message when the last has come, as long as the slow one is not
    // through: a round of theirs takes the span's time for their messages, and for what the slow
    // one sends while they leave their NICs, and the way. What has come of the third when the slow
    // one sends its last waits before that, less what has gone on.
    const double message = 1024 * 4199.5 * 8;
    const double leaves = message / 20e9;
    const double round = (7 * message + 20e9 * message / 400e9) / 400e9 + 106e-6;
    const double ahead = 7 * message - (400e9 - 20e9) * (leaves - 2 * round);
    EXPECT_NEAR(slow.iterationTime.S(), leaves + ahead / 400e9 + 106e-6, 5e-6);
}

TEST(FlowEngine, RefusesByName)
{
    const auto message = [](const Scenario& scenario) -> std::string {
        try
        {
            ReportOf(scenario);
        }
        catch (const std::exception& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message(SendReceive(4096,
                                    "qps: 1",
                                    "events: [{kind: switch-failure, target: building1/spine0, at: "
                                    "1ms}]\n")),
                HasSubstr("in the middle of a run is more than the flow engine computes with"));
    EXPECT_THAT(message(SendReceive(4096,
                                    "qps: 1",
                                    "events: [{kind: switch-failure, target: building1/leaf0, at: "
                                    "0s}]\n")),
                HasSubstr("no link that is up"));
    Scenario large = SendReceive(4096, "qps: 1");
    for (BuildingSpec& building : large.cluster.buildings)
    {
        building.gpus = FlowEngine::kMaxRanks;
    }
    EXPECT_EQ(message(large), ""); // nearly all of which are alike
    large.cluster.crossLinks.front().loss = 1e-5;
    EXPECT_THAT(message(large),
                HasSubstr("32768 are too many; they differ by the packets that they lose"));
}

} // namespace
} // namespace scaleacross
