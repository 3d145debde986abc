// SPDX-License-Identifier: GPL-2.0-only

// Packets with what is steady skipped beside all packets, over networks of which everything is
// drawn, for plans (short messages) and collectives (long ones).

#include "../../draws.h"
#include "drawn-networks.h"
#include "helper/engine/packet-engine.h"

#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
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

/// A collective of long messages in place of the plan, of every kind that has one message for many
/// packets.
void
MakeCollective(std::mt19937& random, Scenario& scenario)
{
    CollectiveSpec collective;
    const CollectiveOp ops[] = {CollectiveOp::AllReduce,
                                CollectiveOp::AllGather,
                                CollectiveOp::ReduceScatter,
                                CollectiveOp::AllToAll,
                                CollectiveOp::SendReceive};
    const CollectiveGroup groups[] = {CollectiveGroup::All,
                                      CollectiveGroup::Across,
                                      CollectiveGroup::Rail};
    collective.op = ops[random() % 5];
    collective.group = groups[random() % 3];
    collective.bytes = Bytes((4ULL << 20) << (random() % 4));
    scenario.Job().collective = collective;
}

} // namespace

TEST(FastForward, SkipsOnlyWhatDoesNotChange)
{
    std::mt19937 random(20261127);
    const size_t most = Draws(10);
    double skipped = 0;
    for (size_t count = 0; count < most;)
    {
        std::optional<Scenario> scenario = volumes::DrawNetwork(random);
        if (!scenario)
        {
            continue;
        }
        if (random() % 2 == 0)
        {
            scenario->network.control = volumes::AnyWord<CongestionControl>(random);
        }
        if (random() % 4 != 0)
        {
            MakeCollective(random, *scenario);
        }
        if (scenario->FindConflict() || !std::holds_alternative<PreparedRun>(PrepareRun(*scenario)))
        {
            continue;
        }
        count++;
        std::string text = volumes::NetworkText(*scenario) + " " + scenario->network.control->word;
        if (scenario->Job().collective)
        {
            text += " collective " +
                    std::to_string(static_cast<int>(scenario->Job().collective->op)) + " " +
                    std::to_string(static_cast<int>(scenario->Job().collective->group)) + " " +
                    ToString(scenario->Job().collective->bytes);
        }
        try
        {
            const auto whole = std::get<RunReport>(PacketEngine().Run(*scenario, Once()));
            const auto fast = std::get<RunReport>(
                PacketEngine(PacketEngine::FastForwards::Steady).Run(*scenario, Once()));
            const double error = fast.iterationTime.S() / whole.iterationTime.S() - 1;
            std::cout << error * 100 << " % skipped "
                      << fast.fastForward->skipped.S() / whole.iterationTime.S() << " in "
                      << fast.fastForward->skips << " own " << fast.fastForward->error * 100
                      << " of " << fast.fastForward->checks << " packets "
                      << static_cast<double>(whole.network.packetsSent) / fast.network.packetsSent
                      << " | " << text << std::endl;
            skipped += fast.fastForward->skipped.S();
        }
        catch (const RunError& error)
        {
            std::cout << "ERR " << error.what() << " | " << text << std::endl;
        }
    }
    EXPECT_GT(skipped, 0);
}

} // namespace scaleacross
