// SPDX-License-Identifier: GPL-2.0-only

// Packets with what is steady skipped beside all packets, over networks of which everything is
// drawn, for plans (short messages) and collectives (long ones).

#include "../../draws.h"
#include "drawn-networks.h"
#include "helper/engine/packet-engine.h"

#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <string>
#include <variant>

namespace scaleacross
{

namespace
{

RunOptions
Once()
{
    RunOptions options;
    options.warmup = 0;
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

} // namespace

/// What came of it, or why it did not end.
std::variant<RunReport, std::string>
Outcome(const Engine& engine, const Scenario& scenario)
{
    try
    {
        return std::get<RunReport>(engine.Run(scenario, Once()));
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
        if (some.fastForward->skips == 0)
        {
            // Nobody has noticed that it looked.
            EXPECT_EQ(some.iterationTime, all.iterationTime) << text;
            EXPECT_EQ(some.network.packetsSent, all.network.packetsSent) << text;
            continue;
        }
        skipping++;
        EXPECT_LT(some.network.packetsSent, all.network.packetsSent) << text;
        // What the engine promises of itself.
        EXPECT_LE(std::abs(some.iterationTime.S() / all.iterationTime.S() - 1), 0.01) << text;
        EXPECT_LE(some.fastForward->error, 0.01) << text;
        // All of it is carried, simulated or not, to what is under way when the first rank ends.
        ASSERT_EQ(some.resources.size(), all.resources.size()) << text;
        for (size_t i = 0; i < all.resources.size(); i++)
        {
            EXPECT_LE(some.resources[i].busy, 1.0 + 1e-9) << text << some.resources[i].name;
        }
    }
    EXPECT_GT(skipping, 0U);
}

} // namespace scaleacross
