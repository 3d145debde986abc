// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/fluid-network.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

TransferCost
OnPort(double seconds)
{
    TransferCost cost;
    cost.On(Port::NicOut) = seconds;
    return cost;
}

TransferCost
OnCut(double portSeconds, uint32_t cut, double cutSeconds, double flows)
{
    TransferCost cost = OnPort(portSeconds);
    CutUse use;
    use.cut = cut;
    use.seconds = use.demand = cutSeconds;
    use.flows = flows;
    cost.cuts = {use};
    return cost;
}

/// More parties than flows: every rank goes on without the others.
constexpr double kAlone = 1e6;

TransferPlace
Of(uint32_t classId, uint32_t round = 0)
{
    return {classId, classId, round, kAlone};
}

TEST(FluidNetwork, ATransferAloneTakesItsPortTime)
{
    const TransferCost cost = OnPort(2.0);
    FluidNetwork network(1, 0);
    const auto id = network.Start(cost, Of(0), Duration::Seconds(1));
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(3));
}

TEST(FluidNetwork, TransfersOnOnePortShareItEvenly)
{
    // B starts when A has half of its volume left: both then run at half rate. A has 0.5 s of port
    // time left, which takes 1 s, to 1.5 s. B has 0.5 s left then, alone: to 2.0 s.
    const TransferCost cost = OnPort(1.0);
    FluidNetwork network(1, 0);
    const auto a = network.Start(cost, Of(0), Duration());
    const auto b = network.Start(cost, Of(0), Duration::Seconds(0.5));
    EXPECT_EQ(network.FinishTime(a), Duration::Seconds(1.5));
    network.Finish(a, Duration::Seconds(1.5));
    EXPECT_EQ(network.FinishTime(b), Duration::Seconds(2.0));
}

TEST(FluidNetwork, WhatACutHoldsBackIsLeftToTheOthers)
{
    // The cut alone would let A take 10 s for its 1 s of port time: it uses a tenth of the port. B
    // gets nine tenths: 1 / 0.9 s.
    const TransferCost held = OnCut(1.0, 0, 10.0, 4);
    const TransferCost free = OnPort(1.0);
    FluidNetwork network(1, 1);
    const auto a = network.Start(held, Of(0), Duration());
    const auto b = network.Start(free, Of(0), Duration());
    EXPECT_EQ(network.FinishTime(a), Duration::Seconds(10));
    EXPECT_NEAR(network.FinishTime(b).S(), 1.0 / 0.9, 1e-9);
}

TEST(FluidNetwork, WhatALimitHoldsBackIsLeftToTheOthers)
{
    // A window lets A take 4 s for its 1 s of port time, of which it leaves three quarters.
    TransferCost held = OnPort(1.0);
    held.least = 4.0;
    const TransferCost free = OnPort(1.0);
    FluidNetwork network(1, 0);
    const auto a = network.Start(held, Of(0), Duration());
    const auto b = network.Start(free, Of(0), Duration());
    EXPECT_EQ(network.FinishTime(a), Duration::Seconds(4));
    EXPECT_NEAR(network.FinishTime(b).S(), 4.0 / 3.0, 1e-9);
}

TEST(FluidNetwork, EveryCutOnTheWayIsLoaded)
{
    // A's own cut lets it take 2 s, the one that it shares with B needs 1.5 s for each. Both want
    // half of the shared one: 3 s each, more than A's own cut asks for.
    TransferCost a = OnCut(1.0, 0, 2.0, 4);
    a.cuts.push_back(OnCut(1.0, 1, 1.5, 4).cuts.front());
    const TransferCost b = OnCut(1.0, 1, 1.5, 4);
    FluidNetwork network(2, 2);
    const auto first = network.Start(a, Of(0), Duration());
    EXPECT_EQ(network.FinishTime(first), Duration::Seconds(2));
    const auto second = network.Start(b, Of(1), Duration());
    EXPECT_EQ(network.FinishTime(first), Duration::Seconds(3));
    EXPECT_EQ(network.FinishTime(second), Duration::Seconds(3));
}

TEST(FluidNetwork, AReceiverIsSharedByThoseThatSendToIt)
{
    // Two classes send to a third, whose NIC takes 1 s for each: 2 s.
    TransferCost cost = OnPort(1.0);
    cost.On(Port::NicIn) = 1.0;
    FluidNetwork network(3, 0);
    const auto a = network.Start(cost, {0, 2, 0, kAlone}, Duration());
    const auto b = network.Start(cost, {1, 2, 0, kAlone}, Duration());
    EXPECT_EQ(network.FinishTime(a), Duration::Seconds(2));
    EXPECT_EQ(network.FinishTime(b), Duration::Seconds(2));
}

TEST(FluidNetwork, ClassesShareACutByWhatTheirNicsOffer)
{
    // On the cut alone each needs 3 s. B's volume is half as long on its port, so that at equal
    // shares of the ports its rate is twice A's: 1/9 and 2/9 per second. B is done at 4.5 s, when A
    // has half left, alone from then on: 1.5 s more.
    const TransferCost one = OnCut(0.2, 0, 3.0, 1);
    const TransferCost two = OnCut(0.1, 0, 3.0, 2);
    FluidNetwork network(2, 1);
    const auto a = network.Start(one, Of(0), Duration());
    const auto b = network.Start(two, Of(1), Duration());
    EXPECT_EQ(network.FinishTime(b), Duration::Seconds(4.5));
    network.Finish(b, Duration::Seconds(4.5));
    EXPECT_NEAR(network.FinishTime(a).S(), 6.0, 1e-9);
}

TEST(FluidNetwork, RanksThatACutSetApartUseItInTurn)
{
    // Four flows, 1 s of the cut each, 0.5 s of their port: the first transfer of a round takes 4
    // s. It has set the first and the last flow 3.5 s apart. After a gap of 2 s the first flows
    // have had the cut for those 2 s already: 2 s are left for the last one. After a gap of 10 s
    // only its own turn is, 4 - 3 = 1 s. In the next round all meet again: 4 s.
    const TransferCost cost = OnCut(0.5, 0, 4.0, 4);
    FluidNetwork network(1, 1);
    auto id = network.Start(cost, Of(0, 1), Duration());
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(4));
    network.Finish(id, Duration::Seconds(4));
    id = network.Start(cost, Of(0, 1), Duration::Seconds(6));
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(8));
    network.Finish(id, Duration::Seconds(8));
    id = network.Start(cost, Of(0, 1), Duration::Seconds(18));
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(19));
    network.Finish(id, Duration::Seconds(19));
    id = network.Start(cost, Of(0, 2), Duration::Seconds(30));
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(34));
}

TEST(FluidNetwork, RanksOfAPartyUseACutTogether)
{
    // The four flows again. Of two parties the first has the cut for 2 s and the last waits for so
    // long; after a gap of 10 s its own two turns are left, 2 s. All of one party meet: 4 s, as at
    // first.
    const TransferCost cost = OnCut(0.5, 0, 4.0, 4);
    for (const auto& [parties, again] : {std::pair(2.0, 2), {1.0, 4}})
    {
        FluidNetwork network(1, 1);
        const TransferPlace place{0, 0, 0, parties};
        auto id = network.Start(cost, place, Duration());
        EXPECT_EQ(network.FinishTime(id), Duration::Seconds(4));
        network.Finish(id, Duration::Seconds(4));
        id = network.Start(cost, place, Duration::Seconds(14));
        EXPECT_EQ(network.FinishTime(id), Duration::Seconds(14 + again)) << parties;
    }
}

TEST(FluidNetwork, WhatOthersUsedOfTheGapIsNotIdle)
{
    // As above with a gap of 2 s, of which another class uses the cut for 1.5 s: the first flows
    // have had it for 0.5 s, and 3.5 s are left. What is taken is taken once: the other class, set
    // apart by 1 s, finds nothing idle right behind.
    const TransferCost cost = OnCut(0.5, 0, 4.0, 4);
    const TransferCost other = OnCut(0.5, 0, 1.5, 4);
    FluidNetwork network(2, 1);
    auto id = network.Start(cost, Of(0), Duration());
    network.Finish(id, Duration::Seconds(4));
    id = network.Start(other, Of(1), Duration::Seconds(4));
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(5.5));
    network.Finish(id, Duration::Seconds(5.5));
    id = network.Start(cost, Of(0), Duration::Seconds(6));
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(9.5));
    network.Finish(id, Duration::Seconds(9.5));
    id = network.Start(other, Of(1), Duration::Seconds(9.5));
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(11));
}

TEST(FluidNetwork, CollectivesLeaveRanksTogether)
{
    // The second message of a round would have a head start of 2 s; a collective before it, of a
    // port's time only, makes the ranks meet.
    const TransferCost cost = OnCut(0.5, 0, 4.0, 4);
    FluidNetwork network(1, 1);
    auto id = network.Start(cost, Of(0), Duration());
    network.Finish(id, Duration::Seconds(4));
    const TransferCost collective = OnCut(0.5, 0, 0.5, 4);
    id = network.Start(collective, {0, 0, 0, 1}, Duration::Seconds(5));
    network.Finish(id, Duration::Seconds(5.5));
    id = network.Start(cost, Of(0), Duration::Seconds(6));
    EXPECT_EQ(network.FinishTime(id), Duration::Seconds(10));
}

TEST(FluidNetwork, TellsWhoseFinishTimeChanged)
{
    const TransferCost cost = OnPort(1.0);
    FluidNetwork network(2, 0);
    const auto a = network.Start(cost, Of(0), Duration());
    network.Changed().clear();
    network.Start(cost, Of(1), Duration()); // another class: another port
    EXPECT_EQ(network.Changed().size(), 1U);
    network.Changed().clear();
    const auto c = network.Start(cost, Of(0), Duration());
    EXPECT_EQ(network.Changed(), (std::vector<FluidNetwork::Id>{a, c}));
}

TEST(FluidNetwork, ClassesShareNicsAndCutsByWeightOrTurn)
{
    // A second of the port each. Weights 3 and 1: 3/4 until 4/3 s; of the other 2/3 are left then,
    // until 2 s. Strictly: one after the other.
    const TransferCost cost = OnPort(1.0);
    const TransferCost cut = OnCut(0.1, 0, 1.0, 2);
    for (const TransferCost* each : {&cost, &cut})
    {
        for (const bool strict : {false, true})
        {
            FluidNetwork network(2, 1);
            network.TellApart(strict ? ClassWeights{} : ClassWeights{1, 3});
            const uint32_t other = each == &cut ? 1 : 0; // whose ports are its own
            const auto low = network.Start(*each, {0, 0, 0, false, 0}, Duration());
            const auto high = network.Start(*each, {other, other, 0, false, 1}, Duration());
            const Duration end = strict ? Duration::Seconds(1) : Duration::Seconds(4.0 / 3);
            EXPECT_EQ(network.FinishTime(high), end);
            EXPECT_EQ(network.FinishTime(low) == Duration::Max(), strict);
            network.Finish(high, end);
            EXPECT_NEAR(network.FinishTime(low).S(), 2, 1e-11);
        }
    }
}

TEST(FluidNetwork, InsideServersThereAreNoClasses)
{
    TransferCost cost;
    cost.On(Port::ScaleUpOut) = 1.0;
    FluidNetwork network(1, 0);
    network.TellApart({});
    const auto low = network.Start(cost, {0, 0, 0, false, 0}, Duration());
    const auto high = network.Start(cost, {0, 0, 0, false, 1}, Duration());
    EXPECT_EQ(network.FinishTime(low), Duration::Seconds(2));
    EXPECT_EQ(network.FinishTime(high), Duration::Seconds(2));
}

} // namespace
} // namespace scaleacross
