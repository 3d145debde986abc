// SPDX-License-Identifier: GPL-2.0-only

// Packets with what is steady skipped beside all packets, over networks of which everything is
// drawn, for plans (short messages) and collectives (long ones).

#include "../../draws.h"
#include "drawn-networks.h"
#include "helper/engine/fast-forward.h"
#include "helper/engine/packet-engine.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <variant>

namespace scaleacross
{

namespace
{

RunOptions
Once(uint64_t seed = RunOptions().seed)
{
    RunOptions options;
    options.warmup = 0;
    options.seed = seed;
    return options;
}

/// What is drawn, for a message.
std::string
TextOf(const Scenario& scenario)
{
    const CollectiveSpec& collective = *scenario.Job().collective;
    return volumes::NetworkText(scenario) + " " + scenario.network.control->word + " " +
           ToString(collective.op) + " " + ToString(collective.group) + " " +
           ToString(collective.bytes);
}

/// A network as drawn, most of what keeps messages short or moving taken back, and on it a
/// collective of long messages.
std::optional<Scenario>
DrawLong(std::mt19937& random)
{
    std::optional<Scenario> scenario = volumes::DrawNetwork(random);
    if (!scenario || scenario->cluster.Gpus() > 16)
    {
        return std::nullopt;
    }
    NetworkPlan& network = scenario->network;
    const NetworkPlan usual;
    const auto mostly = [&random](auto& value, const auto& as) {
        if (random() % 4 != 0)
        {
            value = as;
        }
    };
    mostly(network.transport, usual.transport);
    mostly(network.recovery, usual.recovery);
    mostly(network.balance, usual.balance);
    mostly(network.copy, usual.copy);
    mostly(network.qps, 2U);
    mostly(network.outstanding, 0U);
    mostly(network.window, Bytes());
    mostly(network.admission, Bytes());
    mostly(network.channels, 1U);
    mostly(network.mtu, Bytes(4096));
    if (random() % 4 == 0)
    {
        network.control = volumes::AnyWord<CongestionControl>(random);
    }
    for (CrossLinkSpec& span : scenario->cluster.crossLinks)
    {
        mostly(span.latency, Duration::Microseconds(5));
        mostly(span.capacity, GigabitsPerSecond(1600));
    }
    CollectiveSpec collective;
    collective.op = random() % 2 == 0 ? CollectiveOp::AllReduce : CollectiveOp::SendReceive;
    collective.group = random() % 2 == 0 ? CollectiveGroup::Across : CollectiveGroup::Rail;
    collective.bytes = Bytes((16ULL << 20) << (random() % 3));
    scenario->Job().collective = collective;
    if (scenario->FindConflict() || !std::holds_alternative<PreparedRun>(PrepareRun(*scenario)))
    {
        return std::nullopt;
    }
    return scenario;
}

/// A few long messages over spans that lose packets, and switches that may trim them: some packets
/// are missed and sent again while others of the same message are still to be sent.
std::optional<Scenario>
DrawLossy(std::mt19937& random)
{
    std::optional<Scenario> scenario = DrawLong(random);
    if (!scenario)
    {
        return std::nullopt;
    }
    const auto pick = [&random](std::initializer_list<double> values) {
        return *(values.begin() + random() % values.size());
    };
    NetworkPlan& network = scenario->network;
    const NetworkPlan usual;
    // Whatever holds packets back keeps fast-forward from skipping any.
    network.control = usual.control;
    network.outstanding = usual.outstanding;
    network.window = usual.window;
    network.admission = usual.admission;
    network.copy = usual.copy;
    network.pfc = usual.pfc;
    network.transport = Transport("roce");
    network.recovery = Recovery(random() % 2 == 0 ? "selective-repeat" : "go-back-n");
    network.qps = static_cast<uint32_t>(pick({1, 2, 4, 16}));
    network.mtu = usual.mtu;
    if (random() % 3 == 0)
    {
        network.transport = Transport("trimming");
        network.recovery = Recovery("selective-repeat");
        network.pfc = false;
    }
    const double loss = pick({1e-6, 3e-6, 1e-5, 3e-5, 1e-4});
    const double latency = pick({5, 50, 150, 500, 1500}); // 1 to 300 km
    for (CrossLinkSpec& span : scenario->cluster.crossLinks)
    {
        span.loss = loss;
        span.latency = Duration::Microseconds(static_cast<int64_t>(latency));
        span.capacity = GigabitsPerSecond(1600);
    }
    CollectiveSpec& collective = *scenario->Job().collective;
    collective.groups = 1;
    // Twice what is under way from end to end, or more, so that some of it is steady.
    collective.bytes = Bytes((latency < 500 ? 64ULL << 20 : 256ULL << 20) << (random() % 2));
    if (scenario->FindConflict() || !std::holds_alternative<PreparedRun>(PrepareRun(*scenario)))
    {
        return std::nullopt;
    }
    return scenario;
}

/// Mean and its standard error.
struct Mean
{
    void Add(double value)
    {
        count++;
        sum += value;
        squares += value * value;
    }

    double Value() const
    {
        return sum / count;
    }

    /// Domain: two or more.
    double Error() const
    {
        return std::sqrt(std::max(0.0, squares - sum * sum / count) / (count - 1) / count);
    }

    double count{0};
    double sum{0};
    double squares{0};
};

} // namespace

/// What came of it, or why it did not end.
std::variant<RunReport, std::string>
Outcome(const Engine& engine, const Scenario& scenario, const RunOptions& options = Once())
{
    try
    {
        return std::get<RunReport>(engine.Run(scenario, options));
    }
    catch (const RunError& error)
    {
        return std::string(error.what());
    }
}

TEST(FastForward, SkipsOnlyWhatDoesNotChange)
{
    const PacketEngine packet;
    const PacketEngine fastForward(PacketEngine::FastForwards::Steady);
    std::mt19937 random(20261127);
    const size_t most = Draws(12);
    size_t skipping = 0;
    for (size_t count = 0; count < most;)
    {
        const std::optional<Scenario> scenario = DrawLong(random);
        if (!scenario)
        {
            continue;
        }
        count++;
        const std::string text = TextOf(*scenario);
        const auto whole = Outcome(packet, *scenario);
        const auto fast = Outcome(fastForward, *scenario);
        ASSERT_EQ(whole.index(), fast.index()) << text;
        if (whole.index() == 1)
        {
            EXPECT_EQ(std::get<1>(whole), std::get<1>(fast))
                << text; // the same queue pair gives up for the same reason
            continue;
        }
        const auto& all = std::get<RunReport>(whole);
        const auto& some = std::get<RunReport>(fast);
        ASSERT_TRUE(some.fastForward) << text;
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            EXPECT_EQ(some.classes[k].bytes, all.classes[k].bytes) << text;
        }
        if (scenario->network.multipath->word == std::string("flowlet"))
        {
            // How long a flow has rested decides about its path.
            EXPECT_EQ(some.fastForward->skips, 0U) << text;
        }
        if (some.fastForward->skips == 0)
        {
            // Nobody has noticed that it looked.
            EXPECT_EQ(some.iterationTime, all.iterationTime) << text;
            EXPECT_EQ(some.network.packetsSent, all.network.packetsSent) << text;
            continue;
        }
        skipping++;
        // What the engine promises of itself.
        EXPECT_LE(std::abs(some.iterationTime.S() / all.iterationTime.S() - 1), 0.01) << text;
        if (some.fastForward->checks >= ns3::FastForward::kLeastChecks)
        {
            EXPECT_LE(some.fastForward->error, ns3::FastForward::kMostError) << text;
        }
        // All of it is carried, simulated or not, to what is under way when the first rank ends.
        ASSERT_EQ(some.resources.size(), all.resources.size()) << text;
        for (size_t i = 0; i < all.resources.size(); i++)
        {
            EXPECT_LE(some.resources[i].busy, 1.0 + 1e-9) << text << some.resources[i].name;
            const auto bytes = static_cast<double>(all.resources[i].bytes.Count());
            EXPECT_NEAR(static_cast<double>(some.resources[i].bytes.Count()), bytes, 0.01 * bytes)
                << text << some.resources[i].name;
        }
    }
    EXPECT_GT(skipping, 0U);
}

/// Which packets are lost differs by a few places, and whether that costs a round trip, a timeout
/// or nothing goes by where they are. So no run has to be as long as its like, but all together.
TEST(FastForward, LossesCostWhatTheyCost)
{
    constexpr uint64_t kSeeds = 6;
    const PacketEngine packet;
    const PacketEngine fastForward(PacketEngine::FastForwards::Steady);
    std::mt19937 random(20261128);
    const size_t most = Draws(8);
    Mean together;
    for (size_t count = 0; count < most;)
    {
        const std::optional<Scenario> scenario = DrawLossy(random);
        if (!scenario)
        {
            continue;
        }
        Mean longer;
        for (uint64_t seed = 1; seed <= kSeeds; seed++)
        {
            const auto fast = Outcome(fastForward, *scenario, Once(seed));
            if (fast.index() == 1 || std::get<RunReport>(fast).fastForward->skips == 0)
            {
                if (seed == 1)
                {
                    break; // another one
                }
                if (fast.index() == 1)
                {
                    continue; // a queue pair has given up
                }
            }
            const auto whole = Outcome(packet, *scenario, Once(seed));
            if (whole.index() == 0)
            {
                longer.Add(std::log(std::get<RunReport>(fast).iterationTime.S() /
                                    std::get<RunReport>(whole).iterationTime.S()));
            }
        }
        if (longer.count < kSeeds)
        {
            continue;
        }
        count++;
        // What the engine promises, where chance may not be what it is off by. Of six values there
        // is one mean in 200 that is off by four of its standard errors by chance.
        EXPECT_LE(std::abs(longer.Value()), 0.01 + 4 * longer.Error())
            << TextOf(*scenario) << " groups=1";
        together.Add(longer.Value());
    }
    EXPECT_LE(std::abs(together.Value()), std::max(0.01, 3 * together.Error()));
}

/// Two GPUs send to each other over a span. It carries an ACK for four data packets in either
/// direction, so that of n lost packets 4/5 n are data, k of them, and (k - 4/5 n)^2 / (4/25 n) is
/// 1 on average, with a variance of 2: over each of several lengths of the span, where skips begin
/// at other places of these turns. Over all of them k is 4/5 n +- 2/5 sqrt(n). With one path and
/// selective repeat every data packet that is lost is sent again once.
TEST(FastForward, LossesHitDataAndAcks)
{
    std::mt19937 random(20261129);
    std::optional<Scenario> scenario;
    while (!scenario)
    {
        scenario = DrawLossy(random);
    }
    NetworkPlan& network = scenario->network;
    network.transport = Transport("roce");
    network.recovery = Recovery("selective-repeat");
    network.multipath = Multipath("e-ecmp");
    network.qps = 1;
    network.balance = Balance("split");
    CollectiveSpec& collective = *scenario->Job().collective;
    collective.op = CollectiveOp::SendReceive;
    collective.group = CollectiveGroup::Across;
    collective.bytes = Bytes(256ULL << 20);
    const PacketEngine fastForward(PacketEngine::FastForwards::Steady);
    constexpr int kLengths = 8;
    double squares = 0;
    double allLost = 0;
    double allData = 0;
    for (int length = 0; length < kLengths; length++)
    {
        for (CrossLinkSpec& span : scenario->cluster.crossLinks)
        {
            span.loss = 1e-5;
            span.latency = Duration::Microseconds(5 + length);
        }
        double lost = 0;
        double data = 0;
        for (uint64_t seed = 1; seed <= 16; seed++)
        {
            const auto outcome = Outcome(fastForward, *scenario, Once(seed));
            ASSERT_EQ(outcome.index(), 0U) << std::get<1>(outcome);
            const auto& report = std::get<RunReport>(outcome);
            EXPECT_GT(report.fastForward->skips, 0U);
            lost += static_cast<double>(report.network.packetsDropped);
            data += static_cast<double>(report.network.retransmissions);
        }
        ASSERT_GT(lost, 10);
        allLost += lost;
        allData += data;
        squares += std::pow(data - 0.8 * lost, 2) / (0.16 * lost);
    }
    EXPECT_LE(squares, kLengths + 3 * std::sqrt(2.0 * kLengths));
    EXPECT_NEAR(allData, 0.8 * allLost, 3 * std::sqrt(0.16 * allLost));
}

} // namespace scaleacross
