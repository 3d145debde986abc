// SPDX-License-Identifier: GPL-2.0-only

// Dispatch and combine by the kernels that send tokens: copies by the definition of the routing,
// bytes and times by closed forms on both engines.

#include "collective-cases.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/engine.h"
#include "helper/engine/packet-engine.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
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
    const char* kernel;
    uint32_t servers;
    uint32_t perServer;

    std::string Text() const
    {
        return ToString(op) + " by " + kernel + ", " + std::to_string(servers) + " x " +
               std::to_string(perServer);
    }
};

std::vector<Case>
Cases()
{
    std::vector<Case> cases;
    for (const CollectiveOp op : {CollectiveOp::Dispatch, CollectiveOp::Combine})
    {
        for (const char* kernel : {"deepep", "deepep-low-latency"})
        {
            for (const auto& [servers, perServer] :
                 {std::pair{1U, 8U}, {2U, 8U}, {4U, 4U}, {8U, 2U}, {4U, 1U}})
            {
                cases.push_back({op, kernel, servers, perServer});
            }
        }
    }
    return cases;
}

/// Servers of H100 on one leaf: nothing is shared but a server's links and each GPU's NIC. 768
/// tokens of a rank are four chunks.
Scenario
ScenarioOf(const Case& drawn, const Overrides& overrides = {})
{
    const std::string gpus = std::to_string(drawn.servers * drawn.perServer);
    const std::string text =
        "study: tokens\ncluster:\n  buildings: {count: 1, gpus: " + gpus +
        ", gpus_per_node: " + std::to_string(drawn.perServer) +
        ", gpu: h100, nic_rate: 400Gbps, fabric: {spines: 1, nic_delay: 500ns, leaf_delay: 1us}}\n"
        "network: {all_to_all: " +
        drawn.kernel + "}\n";
    Scenario scenario = ParseStudy(text, "tokens.yaml", overrides, StudyScope::Network).scenario;
    scenario = With(scenario, drawn.op, CollectiveGroup::All, 1);
    scenario.Job().collective->tokens.tokens = 768;
    return scenario;
}

/// FP8 of 7,168 elements with 56 scales, and a header of 16 for low latency; BF16.
double
TokenBytes(const Case& drawn)
{
    if (drawn.op == CollectiveOp::Combine)
    {
        return 2 * 7168;
    }
    return 7168 + 56 * 4 + (std::string(drawn.kernel) == "deepep" ? 0 : 16);
}

/// C(256 - 256 / n, 8) / C(256, 8), that none of eight experts is on one of n parts.
double
MissesPart(double n)
{
    double misses = 1;
    for (int j = 0; j < 8; j++)
    {
        misses *= (256 - 256 / n - j) / (256 - j);
    }
    return misses;
}

/// What a member sends over its NIC and over links.
struct Volumes
{
    double nic;
    double links;
};

/// Without a limit to four servers or fewer: a copy to each of N servers and of n members that is
/// reached, and for low latency to each expert; 1/N and 1/n of it stay.
Volumes
VolumesOf(const Case& drawn)
{
    const double tokens = 768 * TokenBytes(drawn);
    const double servers = drawn.servers;
    const double g = drawn.perServer;
    const double n = servers * g;
    if (std::string(drawn.kernel) == "deepep")
    {
        return {tokens * servers * (1 - MissesPart(servers)) * (servers - 1) / servers,
                tokens * n * (1 - MissesPart(n)) * (g - 1) / g};
    }
    return {tokens * 8 * (n - g) / n, tokens * 8 * (g - 1) / n};
}

/// Servers and members that a token reaches, with scores of experts in this order, best first.
std::pair<size_t, size_t>
Reached(const std::vector<uint32_t>& order,
        uint32_t servers,
        uint32_t members,
        uint32_t topK,
        uint32_t most)
{
    const auto experts = static_cast<uint32_t>(order.size());
    // A server's score is that of its best expert, so the best servers come first in the order.
    std::vector<uint32_t> allowed;
    for (const uint32_t expert : order)
    {
        const uint32_t server = expert / (experts / servers);
        if (allowed.size() < most &&
            std::find(allowed.begin(), allowed.end(), server) == allowed.end())
        {
            allowed.push_back(server);
        }
    }
    std::set<uint32_t> reachedServers;
    std::set<uint32_t> reachedMembers;
    uint32_t taken = 0;
    for (const uint32_t expert : order)
    {
        const uint32_t server = expert / (experts / servers);
        if (taken < topK && std::find(allowed.begin(), allowed.end(), server) != allowed.end())
        {
            reachedServers.insert(server);
            reachedMembers.insert(expert / (experts / members));
            taken++;
        }
    }
    return {reachedServers.size(), reachedMembers.size()};
}

} // namespace

// The mean over all orders of the experts' scores, of which each is as probable as any other.
TEST(Tokens, CopiesAreTheMeanOverAllOrdersOfScores)
{
    struct Routing
    {
        uint32_t experts;
        uint32_t servers;
        uint32_t members;
        uint32_t topK;
        uint32_t most; //!< 0: no limit
    };

    for (const Routing& r : {Routing{8, 4, 4, 3, 2},
                             Routing{8, 4, 8, 3, 2},
                             Routing{8, 4, 8, 4, 3},
                             Routing{8, 2, 4, 3, 1},
                             Routing{8, 4, 4, 2, 1},
                             Routing{8, 4, 8, 3, 0},
                             Routing{6, 3, 6, 4, 2},
                             // Groups of which several are in a part.
                             Routing{8, 4, 2, 3, 2},
                             Routing{8, 4, 2, 4, 3},
                             Routing{8, 8, 4, 3, 3},
                             Routing{8, 8, 2, 2, 2},
                             Routing{6, 6, 3, 3, 3},
                             // Groups that parts cut, and parts that groups cut.
                             Routing{6, 3, 2, 2, 1},
                             Routing{6, 3, 2, 4, 2},
                             Routing{6, 2, 3, 2, 1},
                             Routing{6, 2, 3, 3, 1},
                             Routing{10, 5, 2, 4, 3}})
    {
        std::vector<uint32_t> order(r.experts);
        std::iota(order.begin(), order.end(), 0U);
        double servers = 0;
        double members = 0;
        double orders = 0;
        do
        {
            const uint32_t most = r.most == 0 ? r.servers : r.most;
            const auto reached = Reached(order, r.servers, r.members, r.topK, most);
            servers += static_cast<double>(reached.first);
            members += static_cast<double>(reached.second);
            orders++;
        } while (std::next_permutation(order.begin(), order.end()));
        RoutedTokens tokens;
        tokens.experts = r.experts;
        tokens.topK = r.topK;
        tokens.groups = r.servers;
        tokens.maxGroups = r.most == 0 ? r.servers : r.most;
        EXPECT_NEAR(PartsReached(tokens, r.servers), servers / orders, 1e-9)
            << r.experts << " " << r.most;
        EXPECT_NEAR(PartsReached(tokens, r.members), members / orders, 1e-9)
            << r.experts << " " << r.most;
    }
}

// What crosses NICs and links is that of the closed form, to a byte a message, on both engines,
// which take as long.
TEST(Tokens, EnginesSendTheBytesOfTheClosedFormInTheSameTime)
{
    RunOptions options;
    options.warmup = 0;
    for (const Case& drawn : Cases())
    {
        Scenario scenario = ScenarioOf(drawn);
        scenario.Job().collective->tokens.maxNodes = 0;
        const Volumes volumes = VolumesOf(drawn);
        const double ranks = drawn.servers * drawn.perServer;
        std::vector<double> seconds;
        for (const std::string engine : {"analytical", "flow", "packet"})
        {
            const auto report = std::get<RunReport>(EngineOf(engine)->Run(scenario, options));
            const auto expert = static_cast<size_t>(CommClass::Expert);
            EXPECT_NEAR(static_cast<double>(report.classes[expert].bytes.Count()),
                        ranks * (volumes.nic + volumes.links),
                        ranks * 4 * 16)
                << drawn.Text() << " " << engine;
            seconds.push_back(report.iterationTime.S());
        }
        EXPECT_NEAR(seconds[0] / seconds[1], 1, 0.03) << drawn.Text();
    }
}

// Low latency: 35 us, and whichever takes longer of NIC and links; from NIC to NIC 1 us and a
// packet, and the links' latency of 1.9 us. Throughput: 60 us, and the slower of both with a chunk
// of the other, each chunk with the latencies of its messages; no chunks where there is but one.
TEST(Tokens, TakeTheTimeOfTheClosedForm)
{
    for (const Case& drawn : Cases())
    {
        Scenario scenario = ScenarioOf(drawn);
        scenario.Job().collective->tokens.maxNodes = 0;
        const Volumes volumes = VolumesOf(drawn);
        const GpuSpec& gpu = scenario.cluster.buildings.front().gpu;
        const double rate = gpu.scaleUpBandwidth.Value() / 8 * gpu.scaleUpEfficiency;
        const double nic = volumes.nic * SecondsPerByte(400e9);
        const bool chunks = std::string(drawn.kernel) == "deepep";
        const double links = volumes.links / rate / (chunks ? 0.82 : 1);
        const double nicLatency = drawn.servers > 1 ? 1e-6 + PacketSeconds(400e9) : 0;
        const double linkLatency = drawn.perServer > 1 ? 1.9e-6 : 0;
        double expected = 35e-6 + std::max(nic + nicLatency, links + linkLatency);
        if (chunks)
        {
            const double most = drawn.servers > 1 && drawn.perServer > 1 ? 4 : 1;
            const double first = nic / most + nicLatency;
            const double second = links / most + linkLatency;
            expected = 60e-6 + first + second + (most - 1) * std::max(first, second);
        }
        EXPECT_NEAR(SecondsOn(AnalyticalEngine(), scenario) / expected, 1, 0.01) << drawn.Text();
    }
}

// Half of 768 x 8 messages go to the other server, one after the other: 3.072 ms at 1 us. Proxies
// delay all of them.
TEST(Tokens, ProxiesAndNicsTakeWhatTheNetworkSays)
{
    for (const auto* engine : {"analytical", "flow", "packet"})
    {
        const auto seconds = [&](const Case& drawn, const Overrides& overrides) {
            return SecondsOn(*EngineOf(engine), ScenarioOf(drawn, overrides));
        };
        const Case low{CollectiveOp::Dispatch, "deepep-low-latency", 2, 8};
        const Case high{CollectiveOp::Dispatch, "deepep", 2, 8};
        const double before = seconds(low, {});
        EXPECT_NEAR(seconds(low, {{"network.token_message", "1us"}}) - before, 3.072e-3, 3e-6);
        EXPECT_NEAR(seconds(low, {{"network.token_start", "500us"}}) - before, 5e-4, 3e-6);
        EXPECT_NEAR(seconds(high, {{"network.token_start", "500us"}}) - seconds(high, {}),
                    5e-4,
                    3e-6);
        const Case one{CollectiveOp::Dispatch, "deepep", 1, 8};
        EXPECT_EQ(seconds(one, {{"network.token_start", "500us"}}), seconds(one, {}));
    }
}

// A limit saves copies over NICs: of eight servers with 32 experts each, a token reaches 5.3 of
// which four are allowed.
TEST(Tokens, ALimitOfServersSavesTime)
{
    Scenario scenario = ScenarioOf({CollectiveOp::Dispatch, "deepep", 8, 2});
    const double limited = SecondsOn(AnalyticalEngine(), scenario);
    scenario.Job().collective->tokens.maxNodes = 0;
    EXPECT_GT(SecondsOn(AnalyticalEngine(), scenario), 1.1 * limited);
}

// Training sends what the operation sends: 4,096 tokens of BF16 to 2 of 8 experts on two servers.
TEST(Tokens, TrainingSendsTheSame)
{
    const std::string cluster = "study: experts\ncluster: {buildings: {count: 1, gpus: 8, "
                                "gpus_per_node: 4, gpu: {preset: h100,"
                                " hbm_capacity: 1TiB}, fabric: {spines: 1}}}\n";
    for (const std::string way : {"once", "deepep"})
    {
        const std::string network = "network: {all_to_all: " + way + ", token_start: 9us}\n";
        const Scenario training =
            ParseStudy(cluster + network +
                           "model: mixtral-8x7b\nworkload: {sequence: 4096, global_batch: 8}\n"
                           "plan: {ep: 8, sharding: fsdp}\n",
                       "training.yaml")
                .scenario;
        const auto trained = std::get<PreparedRun>(PrepareRun(training));
        for (const CollectiveOp op : {CollectiveOp::Dispatch, CollectiveOp::Combine})
        {
            Scenario alone =
                ParseStudy(cluster + network, "alone.yaml", {}, StudyScope::Network).scenario;
            alone = With(alone, op, CollectiveGroup::All, 1);
            TokenSpec& tokens = alone.Job().collective->tokens;
            tokens.tokens = 4096;
            tokens.hidden = 4096;
            tokens.topK = 2;
            tokens.experts = 8;
            tokens.maxNodes = 0;
            tokens.precision = TokenPrecision::Bf16;
            const auto run = std::get<PreparedRun>(PrepareRun(alone));
            const Collective& sent = run.graph.collectives.front();
            EXPECT_EQ(sent.phases.size(), 2U);
            const auto& all = trained.graph.collectives;
            EXPECT_EQ(
                std::count_if(all.begin(),
                              all.end(),
                              [&sent](const Collective& one) { return MoveAlike(one, sent); }),
                1)
                << way << " " << ToString(op);
        }
    }
}

} // namespace scaleacross
