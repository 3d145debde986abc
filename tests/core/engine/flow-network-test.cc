// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-network.h"
#include "core/topology/ecmp-collision.h"

#include <gtest/gtest.h>
#include <vector>

namespace scaleacross
{
namespace
{

const BitRate kNone{1e18};

/// Finish times of flows after a Share().
Duration
FinishOf(FlowNetwork& network, FlowNetwork::Id id, Duration now)
{
    network.Share(now);
    return network.FinishTime(id);
}

TEST(FlowNetwork, TheWorkedCase)
{
    // 1 Gbit over 1 Gb/s, another one from 0.5 s on: half of the first is left then, and takes 1 s
    // at half of the rate. The second has 0.5 Gbit left at 1.5 s, and 0.5 s to go.
    FlowNetwork network({GigabitsPerSecond(1)});
    const auto half = Duration::Microseconds(500000);
    const auto first = network.Start(1e9, 100, 1, kNone, {{0, 1, 0, 0}}, Duration());
    EXPECT_EQ(FinishOf(network, first, Duration()), half * 2);
    const auto second = network.Start(1e9, 100, 1, kNone, {{0, 1, 0, 0}}, half);
    EXPECT_EQ(FinishOf(network, first, half), half * 3);
    // Bytes are counted as they go: three quarters of the first and half of the second at 1.25 s...
    network.Finish(first, half * 3);
    EXPECT_NEAR(network.Carried(half * 3)[0], 100 + 50, 1e-9);
    EXPECT_EQ(FinishOf(network, second, half * 3), half * 4);
    network.Finish(second, half * 4);
    EXPECT_NEAR(network.Carried(half * 4)[0], 200, 1e-9);
}

TEST(FlowNetwork, WeightsLimitsAndShares)
{
    // Of 4 Gb/s a flow of weight 3 gets 3; one that is limited to 0.5 leaves 3.5 to the other. Only
    // a quarter of the third one's bits go over the second resource of 1 Gb/s: 4 Gb/s.
    FlowNetwork network({GigabitsPerSecond(4), GigabitsPerSecond(1)});
    const auto heavy = network.Start(3e9, 0, 3, kNone, {{0, 1, 0, 0}}, Duration());
    const auto light = network.Start(1e9, 0, 1, kNone, {{0, 1, 0, 0}}, Duration());
    EXPECT_EQ(FinishOf(network, heavy, Duration()), Duration::Microseconds(1000000));
    EXPECT_EQ(network.FinishTime(light), Duration::Microseconds(1000000));
    network.Finish(light, Duration::Microseconds(1000000));
    network.Finish(heavy, Duration::Microseconds(1000000));
    const Duration later = Duration::Microseconds(1000000);
    const auto limited = network.Start(1e9, 0, 1, GigabitsPerSecond(0.5), {{0, 1, 0, 0}}, later);
    const auto other = network.Start(3.5e9, 0, 1, kNone, {{0, 1, 0, 0}}, later);
    const auto apart = network.Start(4e9, 0, 1, kNone, {{1, 0.25, 0, 0}}, later);
    EXPECT_EQ(FinishOf(network, limited, later), later * 3);
    EXPECT_EQ(network.FinishTime(other), later * 2);
    EXPECT_EQ(network.FinishTime(apart), later * 2);
}

TEST(FlowNetwork, BundlesGiveWhatTheFullestLinkDoes)
{
    // Sixteen links of 1 Gb/s. One flow of one queue pair has one of them: 1 Gb/s. Sixteen are
    // slowed down by PathSlowdown(16 on 16) = 3.08, and with spraying not at all.
    for (const char* const word : {"e-ecmp", "spray-rr"})
    {
        const Multipath multipath(word);
        FlowNetwork network(std::vector<BitRate>{});
        const uint32_t bundle = network.AddBundle(GigabitsPerSecond(16), 16, multipath);
        std::vector<FlowNetwork::Id> flows;
        for (uint32_t i = 0; i < 16; i++)
        {
            flows.push_back(network.Start(1e9, 0, 1, kNone, {{bundle, 1, 1, 1}}, Duration()));
        }
        network.Share(Duration());
        const double slowdown = PathSlowdown(multipath, 16, 1, 16);
        EXPECT_NEAR(slowdown, multipath->IsSprayed() ? 1.0 : 3.08, 0.005);
        EXPECT_NEAR(network.FinishTime(flows[0]).S(), slowdown, 1e-9) << word;
        const Duration end = network.FinishTime(flows[0]);
        for (const auto flow : flows)
        {
            network.Finish(flow, end);
        }
        const auto last = network.Start(1e9, 0, 1, kNone, {{bundle, 1, 1, 1}}, end);
        const double alone = multipath->IsSprayed() ? 1.0 / 16 : 1.0;
        EXPECT_NEAR((FinishOf(network, last, end) - end).S(), alone, 1e-9) << word;
    }
}

/// Two senders of 2 Gb/s to a link of 1 Gb/s, in front of which there is so much room.
class Waits
{
  public:
    explicit Waits(Bytes room)
        : m_network({GigabitsPerSecond(2), GigabitsPerSecond(2), GigabitsPerSecond(1)})
    {
        m_network.LetWait(kLink, room, kPacket);
    }

    /// A Gbit from a sender on.
    FlowNetwork::Id Send(uint32_t sender, Duration now)
    {
        const auto id = m_network.Start(1e9, 125e6, 1, kNone, {{sender}, {kLink}}, now);
        m_network.Share(now);
        return id;
    }

    /// When the last bit of a flow is through the link, whose sender it leaves next of all.
    Duration Through(FlowNetwork::Id id)
    {
        while (m_network.NextChange() < m_network.FinishTime(id))
        {
            m_network.Share(m_network.NextChange());
        }
        const Duration leaves = m_network.FinishTime(id);
        const Duration through = leaves + m_network.Finish(id, leaves);
        m_network.Share(leaves);
        return through;
    }

    double CarriedAt(Duration now)
    {
        while (m_network.NextChange() < now)
        {
            m_network.Share(m_network.NextChange());
        }
        return m_network.Carried(now)[kLink];
    }

    static constexpr uint32_t kLink = 2;
    static constexpr Bytes kPacket{1250}; //!< 10 us of the link

    FlowNetwork m_network;
};

constexpr Bytes kMuch{1ULL << 40U};

TEST(FlowNetwork, WhoComesEarlierIsThroughEarlier)
{
    // The header's worked case: without room both would be held back, and end at 1.75 s and 2 s.
    const auto quarter = Duration::Seconds(0.25);
    Waits waits(kMuch);
    const auto first = waits.Send(0, Duration());
    const auto second = waits.Send(1, quarter);
    EXPECT_EQ(waits.m_network.FinishTime(first), quarter * 2);
    EXPECT_EQ(waits.Through(first), quarter * 6);
    EXPECT_EQ(waits.m_network.FinishTime(second), quarter * 3);
    EXPECT_EQ(waits.Through(second), quarter * 8);
    EXPECT_FALSE(waits.m_network.OrderDecides());
    // The link is never idle: after 0.75 s it has carried three eighths of what has come, and all
    // at the end.
    EXPECT_NEAR(waits.CarriedAt(quarter * 3), 250e6 * 3 / 8, 1);
    EXPECT_NEAR(waits.CarriedAt(quarter * 8), 250e6, 1);
    Waits without{Bytes()};
    const auto alone = without.Send(0, Duration());
    const auto later = without.Send(1, quarter);
    EXPECT_EQ(without.Through(alone), quarter * 7);
    EXPECT_EQ(without.Through(later), quarter * 8);
}

TEST(FlowNetwork, SimultaneousOnesAreAPacketApart)
{
    // Both have left their senders at 0.5 s. Their packets come in turn, so that the last of the
    // one that is told first is the last but one of all.
    Waits waits(kMuch);
    const auto first = waits.Send(0, Duration());
    const auto second = waits.Send(1, Duration());
    EXPECT_EQ(waits.Through(first), Duration::Seconds(2) - Duration::Microseconds(10));
    EXPECT_EQ(waits.Through(second), Duration::Seconds(2));
    EXPECT_TRUE(waits.m_network.OrderDecides());
}

TEST(FlowNetwork, WhereThereIsNoRoomLeftSendersAreHeldBack)
{
    // 0.75 Gbit of room are full after 0.25 s, since 4 Gb/s come and 1 goes. From then on each
    // sender has half of the link: what is left, half a Gbit each, is gone at 1.25 s, and waits for
    // 0.75 s.
    Waits waits(Bytes(93'750'000));
    const auto first = waits.Send(0, Duration());
    const auto second = waits.Send(1, Duration());
    EXPECT_EQ(waits.m_network.NextChange(), Duration::Seconds(0.25));
    waits.m_network.Share(Duration::Seconds(0.25));
    EXPECT_EQ(waits.m_network.FinishTime(first), Duration::Seconds(1.25));
    EXPECT_EQ(waits.m_network.FinishTime(second), Duration::Seconds(1.25));
    EXPECT_NEAR(waits.CarriedAt(Duration::Seconds(1)), 125e6, 1);
    EXPECT_EQ(waits.Through(first), Duration::Seconds(2) - Duration::Microseconds(10));
    EXPECT_EQ(waits.Through(second), Duration::Seconds(2));
    // With a third from half a second on there is no room either, and two Gbit are left for three.
    Waits again(Bytes(93'750'000));
    const auto one = again.Send(0, Duration());
    again.Send(1, Duration());
    again.m_network.Share(Duration::Seconds(0.25));
    EXPECT_EQ(again.m_network.FinishTime(one), Duration::Seconds(1.25));
    again.Send(0, Duration::Seconds(0.5));
    EXPECT_EQ(again.m_network.FinishTime(one), Duration::Seconds(0.5 + 0.375 * 3));
}

TEST(FlowNetwork, ClassesShareByWeightOrTurn)
{
    // A second of the link each. Weights 3 and 1: the one is through after 4/3 s, the other, of
    // which 2/3 are left, after 2 s. Strictly: one after the other.
    for (const bool strict : {false, true})
    {
        FlowNetwork network({GigabitsPerSecond(1)});
        network.TellApart(strict ? ClassWeights{} : ClassWeights{1, 3});
        const auto low = network.Start(1e9, 0, 1, kNone, {{0, 1, 0, 0}}, Duration(), 0);
        EXPECT_EQ(FinishOf(network, low, Duration()), Duration::Seconds(1));
        const auto high = network.Start(1e9, 0, 1, kNone, {{0, 1, 0, 0}}, Duration(), 1);
        const Duration end = FinishOf(network, high, Duration());
        EXPECT_NEAR(end.S(), strict ? 1 : 4.0 / 3, 1e-11);
        EXPECT_EQ(network.FinishTime(low) == Duration::Max(), strict);
        network.Finish(high, end);
        EXPECT_NEAR(FinishOf(network, low, end).S(), 2, 1e-11);
    }
}

} // namespace
} // namespace scaleacross
