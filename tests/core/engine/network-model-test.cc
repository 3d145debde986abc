// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/network-model.h"
#include "core/io/presets.h"
#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

/// `buildings` buildings of 2 servers with 2 GPUs and rails, 100 Gb/s NICs, 1 us links, one plane.
Scenario
SmallScenario(uint32_t buildings)
{
    Scenario scenario;
    for (uint32_t b = 0; b < buildings; b++)
    {
        BuildingSpec building;
        building.name = std::string(1, static_cast<char>('a' + b));
        building.gpus = 4;
        building.gpusPerNode = 2;
        building.gpu = GpuPreset("h100");
        building.gpu.nicRate = GigabitsPerSecond(100);
        building.gpu.scaleUpBandwidth = BytesPerSecond(400e9);
        building.gpu.scaleUpEfficiency = 0.5;
        building.gpu.scaleUpLatency = Duration::Microseconds(1);
        building.fabric.nicDelay = Duration::Microseconds(1);
        building.fabric.leafDelay = Duration::Microseconds(1);
        scenario.cluster.buildings.push_back(building);
    }
    if (buildings == 2)
    {
        CrossLinkSpec link;
        link.b = 1;
        link.latency = Duration::Microseconds(100);
        link.capacity = GigabitsPerSecond(100);
        scenario.cluster.crossLinks.push_back(link);
    }
    scenario.network.segment = Bytes(64 << 10); // 1 MiB messages use all 16 queue pairs
    scenario.jobs.emplace_back();
    scenario.Job().plan.dp = 4 * buildings;
    return scenario;
}

RankLayout
LayoutOf(const Scenario& scenario)
{
    return std::get<RankLayout>(LayOut(scenario.Job().plan, scenario.cluster));
}

TEST(TransferCost, AMessageThroughOneSwitch)
{
    // 1 MiB is 256 packets of 4,096 B, each 82 B longer on the wire, with a quarter of an 86 B ACK:
    // 256 x (4178 + 21.5) x 8 / 100e9 = 86.006 us. Latency: two 1 us links and one packet
    // serialised once more, 4178 x 8 / 100e9 = 0.33424 us.
    const Scenario scenario = SmallScenario(1);
    const RankLayout layout = LayoutOf(scenario);
    const NetworkModel network(scenario, layout);
    const TransferCost cost = network.MessageCost(Bytes(1 << 20), 0, 2);
    EXPECT_GT(cost.On(Port::NicOut), 0);
    EXPECT_NEAR(cost.PortSeconds(), 256 * 4199.5 * 8 / 100e9, 1e-15);
    EXPECT_EQ(cost.latency.Ps(), 2'334'240);
    EXPECT_TRUE(cost.cuts.empty());
}

TEST(TransferCost, EveryWriteOfASegmentEndsWithAPacket)
{
    // 1 MiB in segments of 256 B: 4,096 packets. Of 5,000 B: 209 of two packets, and one for the
    // 3,576 B that are left. In three parts of whole packets: 86, 86 and 84.
    struct Case
    {
        uint64_t segment;
        const char* balance;
        double packets;
    };

    for (const Case& c : {Case{256, "round-robin", 4096},
                          Case{5000, "round-robin", 419},
                          Case{8192, "round-robin", 256},
                          Case{8192, "split", 256}})
    {
        Scenario scenario = SmallScenario(1);
        scenario.network.segment = Bytes(c.segment);
        scenario.network.balance = Balance(c.balance);
        scenario.network.qps = 3;
        const RankLayout layout = LayoutOf(scenario);
        const TransferCost cost = NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), 0, 2);
        const double bytes = (1 << 20) + c.packets * 82;
        EXPECT_EQ(cost.portBytes[static_cast<size_t>(Port::NicOut)], bytes) << c.segment;
        EXPECT_NEAR(cost.PortSeconds(), (bytes + c.packets * 21.5) * 8 / 100e9, 1e-15) << c.segment;
    }
}

TEST(TransferCost, TiersUseTheirQueuePairs)
{
    // Between buildings: one queue pair has one flow on the span, sixteen spread.
    Scenario scenario = SmallScenario(2);
    scenario.cluster.crossLinks[0].lanes = 4;
    scenario.network.balance = Balance("round-robin");
    const RankLayout layout = LayoutOf(scenario);
    const auto cost = [&](Rank to) {
        return NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), 0, to);
    };
    const TransferCost near = cost(2);
    const TransferCost far = cost(4);
    scenario.network.tiers[static_cast<size_t>(Tier::Cross) - 1].qps = 1;
    EXPECT_EQ(cost(2).PortSeconds(), near.PortSeconds());
    EXPECT_GT(cost(4).CutSeconds(), far.CutSeconds());
    const double one = cost(4).CutSeconds();
    scenario.network.tiers[static_cast<size_t>(Tier::Cross) - 1].qps.reset();
    scenario.network.qps = 1;
    EXPECT_EQ(cost(4).CutSeconds(), one);
    // Split uses all queue pairs, whatever the segment.
    scenario.network.qps = 16;
    scenario.network.segment = Bytes(1 << 30);
    EXPECT_EQ(cost(4).CutSeconds(), one);
    scenario.network.balance = Balance("split");
    EXPECT_EQ(cost(4).CutSeconds(), far.CutSeconds());
}

TEST(TransferCost, OutstandingSegmentsLimitALongPath)
{
    // Span of 100 us and four links of 1 us: a round trip of 208 us, and a segment of 64 KiB takes
    // 16 packets of 4,199.5 bytes with their share of ACKs. 2 queue pairs with 1 segment each may
    // have 128 KiB under way: the last of the 8 windows of 1 MiB leaves after 7 round trips and
    // segments. Eight times as many segments are all of the message: no limit.
    Scenario scenario = SmallScenario(2);
    scenario.network.balance = Balance("round-robin");
    const RankLayout layout = LayoutOf(scenario);
    const auto cost = [&](Rank to) {
        return NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), 0, to);
    };
    scenario.network.qps = 2;
    const TransferCost free = cost(4);
    scenario.network.outstanding = 8;
    EXPECT_EQ(cost(4).PortSeconds(), free.PortSeconds());
    scenario.network.outstanding = 1;
    const double segment = 16 * 4199.5 * 8 / 100e9;
    EXPECT_NEAR(cost(4).PortSeconds(), 7 * (208e-6 + segment) + 2 * segment, 1e-12);
    // NCCLX's spray mode: the last ACK comes back, then the write that tells goes there.
    scenario.network.balance = Balance("spray");
    EXPECT_EQ(cost(4).latency.Ps(), free.latency.Ps() + 208'000'000);
}

TEST(TransferCost, AMessageInsideTheServerTakesNvlink)
{
    // 20 MB at half of 400 GB/s: 100 us.
    const Scenario scenario = SmallScenario(1);
    const RankLayout layout = LayoutOf(scenario);
    const TransferCost cost = NetworkModel(scenario, layout).MessageCost(Bytes(20'000'000), 0, 1);
    EXPECT_EQ(cost.On(Port::NicOut), 0);
    EXPECT_NEAR(cost.PortSeconds(), 100e-6, 1e-12);
    EXPECT_EQ(cost.latency, Duration::Microseconds(1));
}

TEST(TransferCost, AllRanksThatCrossShareTheCut)
{
    // The span carries 100 Gb/s: four senders need four times what one needs on its NIC.
    const Scenario scenario = SmallScenario(2);
    const RankLayout layout = LayoutOf(scenario);
    const NetworkModel network(scenario, layout);
    const TransferCost cost = network.MessageCost(Bytes(1 << 20), 0, 4);
    EXPECT_NEAR(cost.CutSeconds(), 4 * cost.PortSeconds(), 1e-15);
    EXPECT_EQ(cost.Tightest()->flows, 4);
    // Links: NIC 1, leaf 1, span 100, leaf 1, NIC 1 us. The rates are 100 Gb/s (NIC), 200 (a leaf
    // of 2 NICs on one spine), 100, 200, 100: all but one of the slowest add a packet.
    EXPECT_EQ(cost.latency.Ps(), 104'000'000 + 2 * 334'240 + 2 * 167'120);
}

TEST(TransferCost, APartOfARingInEachBuildingLoadsItsOwnCutsOnly)
{
    // Rings 0, 2 and 1, 3 on rails: with two planes and leaves of one NIC, one leaf uplink per
    // rank. The ring of each building sees its own two members, however many buildings do the same.
    const auto cutSeconds = [](uint32_t buildings) {
        Scenario scenario = SmallScenario(buildings);
        for (BuildingSpec& building : scenario.cluster.buildings)
        {
            building.fabric.nodesPerPod = 1;
            building.fabric.oversubscription = 2;
        }
        const RankLayout layout = LayoutOf(scenario);
        const Phase phase{Pattern::RingAllGather, RankGroup({{2, 2}}), Bytes(2 << 20)};
        return NetworkModel(scenario, layout).PhaseCost(phase, 0);
    };
    // A leaf's NIC of 100 Gb/s has 50 Gb/s upwards.
    EXPECT_DOUBLE_EQ(cutSeconds(1).CutSeconds(), 2 * cutSeconds(1).PortSeconds());
    EXPECT_DOUBLE_EQ(cutSeconds(2).CutSeconds(), cutSeconds(1).CutSeconds());
    EXPECT_EQ(cutSeconds(2).Tightest()->flows, 1);
}

TEST(TransferCost, GroupsThatPairOtherBuildingsLoadTheirSpansToo)
{
    // Four buildings of four ranks in a ring of spans. Rank r exchanges 1 MiB with r + 8: buildings
    // 0 and 2, and in other groups 1 and 3. Each pair has two ways of two spans with half of its
    // traffic, so that every span carries in each direction half of two exchanges: that of four
    // ranks, 4 x 256 packets of 4,096 + 82 bytes.
    Scenario scenario = SmallScenario(4);
    scenario.cluster.crossLinks.clear();
    for (uint32_t i = 0; i < 4; i++)
    {
        CrossLinkSpec link;
        link.a = std::min(i, (i + 1) % 4);
        link.b = std::max(i, (i + 1) % 4);
        link.latency = Duration::Microseconds(100);
        link.capacity = GigabitsPerSecond(100);
        scenario.cluster.crossLinks.push_back(link);
    }
    const RankLayout layout = LayoutOf(scenario);
    const Phase phase{Pattern::DirectAllToAll, RankGroup({{8, 2}}), Bytes(2 << 20)};
    const NetworkModel network(scenario, layout);
    uint32_t spans = 0;
    const TransferCost cost = network.PhaseCost(phase, 0);
    for (const CutUse& use : cost.cuts)
    {
        if (network.Cuts().Named(use.cut).name.find(" to ") != std::string::npos)
        {
            spans++;
            EXPECT_DOUBLE_EQ(use.bytes, 4 * 256 * 4178) << network.Cuts().Named(use.cut).name;
        }
    }
    EXPECT_EQ(spans, 8U);
    // Alone, the class of building 0 knows of its own pair only.
    double own = 0;
    for (const CutUse& use : network.PhaseCost(phase, 0, {{0, 4}, {8, 4}}).cuts)
    {
        own += network.Cuts().Named(use.cut).name.find(" to ") != std::string::npos ? use.bytes : 0;
    }
    EXPECT_DOUBLE_EQ(own, 2 * 2 * 4 * 256 * 4178);
}

TEST(TransferCost, LatenciesOfRingsHideBehindTheTurnsOfOthers)
{
    // All-gather of 4 MiB in four buildings of a ring with equal spans of Z' = 104 us (see above)
    // and 100 Gb/s: rounds of 1 MiB, R = 3; four rings, one from each rank of a building, share
    // every span. One turn of all is c = 4 x 86.0 = 344 us, longer than Z: only one Z is left, and
    // the store and forward of one edge.
    Scenario scenario = SmallScenario(4);
    for (uint32_t i = 0; i < 4; i++)
    {
        CrossLinkSpec link;
        link.a = i;
        link.b = (i + 1) % 4;
        link.latency = Duration::Microseconds(100);
        link.capacity = GigabitsPerSecond(100);
        scenario.cluster.crossLinks.push_back(link);
    }
    const RankLayout layout = LayoutOf(scenario);
    const Phase phase{Pattern::RingAllGather, RankGroup({{4, 4}}), Bytes(4 << 20)};
    TransferCost cost = NetworkModel(scenario, layout).PhaseCost(phase, 0);
    EXPECT_NEAR(cost.CutSeconds(), 3 * 4 * 256 * 4199.5 * 8 / 100e9, 1e-12);
    EXPECT_EQ(cost.latency.Ps(), 104'000'000 + 2 * 334'240 + 2 * 167'120);
    // At 1 ms a round takes Z + s: R Z + c + (R - 1) s in all, and s is what the NIC needs, 86 us.
    for (CrossLinkSpec& link : scenario.cluster.crossLinks)
    {
        link.latency = Duration::Microseconds(1000);
    }
    cost = NetworkModel(scenario, layout).PhaseCost(phase, 0);
    const double s = 256 * 4199.5 * 8 / 100e9;
    const double z = 1004e-6 + 2 * 334.24e-9 + 2 * 167.12e-9;
    EXPECT_NEAR(cost.Alone().S(), 3 * z + 4 * s + 2 * s, 1e-9);
}

TEST(TransferCost, LosingOneOf76PlanesCosts)
{
    // 76 planes between the buildings, four senders with 1,024 queue pairs each. Without plane 5
    // the cut has 75 / 76 of its capacity, so that it takes 76 / 75 = 1.01333 times as long, but
    // for what hashing costs, which is a little less on 75 links than on 76.
    Scenario scenario = SmallScenario(2);
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.fabric.spines = 76;
    }
    scenario.network.qps = 1024; // 64 KiB of 64 MiB each
    const RankLayout layout = LayoutOf(scenario);
    const auto seconds = [&] {
        return NetworkModel(scenario, layout).MessageCost(Bytes(64 << 20), 0, 4).CutSeconds();
    };
    const double all = seconds();
    EventSpec event;
    event.kind = EventKind("plane-failure");
    event.target = "plane 5";
    scenario.events = {event};
    const double hashing = EcmpSlowdown(4 * 1024, 75) / EcmpSlowdown(4 * 1024, 76);
    EXPECT_NEAR(seconds() / all, 76.0 / 75.0 * hashing, 1e-12);
    EXPECT_NEAR(hashing, 1, 0.005);
}

TEST(TransferCost, ARingCostsStepsTimesAlphaPlusItsVolume)
{
    // Ranks 0, 2 are on one rail: a ring of two. One step of S / 2.
    const Scenario scenario = SmallScenario(1);
    const RankLayout layout = LayoutOf(scenario);
    const NetworkModel network(scenario, layout);
    const Phase phase{Pattern::RingAllGather, RankGroup({{2, 2}}), Bytes(2 << 20)};
    const TransferCost ring = network.PhaseCost(phase, 0);
    const TransferCost message = network.MessageCost(Bytes(1 << 20), 0, 2);
    EXPECT_DOUBLE_EQ(ring.PortSeconds(), message.PortSeconds());
    EXPECT_EQ(ring.latency, message.latency);
}

TEST(TransferCost, LossCostsGoBackN)
{
    // q = 1e-4, 16 QPs with m = 16 packets. Four ranks need 344.02 us on the span; a round trip of
    // 2 x 104 us and a packet of 334 ns is N = 16 x 208.33 / 344.02 = 9.6893 packets per QP. Sent
    // in vain after a loss: N - N^2 / 2m = 6.7554, so 1 + (5.7554 q) / (1 - q) of the volume and q
    // / (1
    // - q) for the packet itself.
    Scenario scenario = SmallScenario(2);
    const RankLayout layout = LayoutOf(scenario);
    const auto cost = [&] {
        return NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), 0, 4);
    };
    const TransferCost clean = cost();
    EXPECT_TRUE(clean.losses.rounds.empty());
    scenario.cluster.crossLinks[0].loss = 1e-4;
    const TransferCost lossy = cost();
    EXPECT_NEAR(lossy.PortSeconds() / clean.PortSeconds(),
                (1 - 1e-4 + 6.7554e-4) / (1 - 1e-4),
                1e-8);
    EXPECT_EQ(lossy.latency, clean.latency);
    // What it may delay: four senders that do not wait for each other, one message each.
    EXPECT_EQ(lossy.losses.chains, 4);
    ASSERT_EQ(lossy.losses.rounds.size(), 1U);
    const LossyMessages& messages = lossy.losses.rounds[0].messages.at(0);
    EXPECT_EQ(messages.count, 1);
    EXPECT_EQ(messages.pairs, 16);
    EXPECT_EQ(messages.packets, 16);
    EXPECT_NEAR(messages.inFlight, 9.6893, 1e-4);
    EXPECT_EQ(messages.silent, 1);
}

TEST(TransferCost, SelectiveRepeatCostsThePacketsThatAreLost)
{
    // q = 1e-4: every packet is sent 1 / (1 - q) times.
    Scenario scenario = SmallScenario(2);
    const RankLayout layout = LayoutOf(scenario);
    const auto cost = [&] {
        return NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), 0, 4);
    };
    const TransferCost clean = cost();
    scenario.cluster.crossLinks[0].loss = 1e-4;
    scenario.network.recovery = Recovery("selective-repeat");
    TransferCost lossy = cost();
    EXPECT_NEAR(lossy.PortSeconds() / clean.PortSeconds(), 1 / (1 - 1e-4), 1e-12);
    EXPECT_EQ(lossy.losses.rounds.at(0).messages.at(0).silent, 1);
    // Where packets may overtake, one tells of the loss of another only if it is so much later.
    scenario.network.multipath = Multipath("spray-adaptive");
    scenario.network.reorderTolerance = 3;
    lossy = cost();
    EXPECT_EQ(lossy.losses.rounds.at(0).messages.at(0).silent, 4);
}

/// Losses of an all-gather of 3 MiB around three buildings, `loss` by span between them: 0-1, 1-2,
/// 2-0.
LossyChains
LossesOfThree(const std::array<double, 3>& loss)
{
    Scenario scenario = SmallScenario(3);
    for (uint32_t i = 0; i < 3; i++)
    {
        CrossLinkSpec link;
        link.a = i;
        link.b = (i + 1) % 3;
        link.latency = Duration::Microseconds(100);
        link.capacity = GigabitsPerSecond(400);
        link.loss = loss[i];
        scenario.cluster.crossLinks.push_back(link);
    }
    const RankLayout layout = LayoutOf(scenario);
    const Phase phase{Pattern::RingAllGather, RankGroup({{4, 3}}), Bytes(3 << 20)};
    return NetworkModel(scenario, layout).PhaseCost(phase, 0).losses;
}

TEST(TransferCost, EverySpanLosesItsOwn)
{
    // 12 chains (four rings of three members) with two rounds, over three edges: 2/3 of a round on
    // each. Which span loses most makes no difference.
    const LossyChains losses = LossesOfThree({1e-4, 1e-7, 1e-7});
    EXPECT_EQ(losses.chains, 12);
    EXPECT_EQ(losses.steps, 2);
    ASSERT_EQ(losses.rounds.size(), 2U);
    EXPECT_DOUBLE_EQ(losses.rounds[0].rounds + losses.rounds[1].rounds, 2);
    const double expected = LossDelay(losses);
    EXPECT_NEAR(LossDelay(LossesOfThree({1e-7, 1e-4, 1e-7})), expected, 1e-12);
    EXPECT_NEAR(LossDelay(LossesOfThree({1e-7, 1e-7, 1e-4})), expected, 1e-12);
    // It lies between what the bad span does alone and what three of them would do, and as the two
    // others lose next to nothing it is the former but for 1e-3 of it.
    EXPECT_NEAR(LossDelay(LossesOfThree({1e-4, 0, 0})), expected, 3e-3 * expected);
    EXPECT_GT(LossDelay(LossesOfThree({1e-4, 1e-4, 1e-4})), 2 * expected);
}

TEST(TransferCost, PathsCollideByWhatIsHashed)
{
    // Four ranks cross over four planes, with 16 queue pairs each.
    Scenario scenario = SmallScenario(2);
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.fabric.spines = 4;
    }
    const RankLayout layout = LayoutOf(scenario);
    const auto seconds = [&](Multipath multipath) {
        scenario.network.multipath = multipath;
        return NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), 0, 4).CutSeconds();
    };
    const double sprayed = seconds(Multipath("spray-adaptive"));
    EXPECT_NEAR(sprayed, 4 * 256 * 4199.5 * 8 / 100e9, 1e-12);
    EXPECT_DOUBLE_EQ(seconds(Multipath("spray-random")), sprayed);
    EXPECT_DOUBLE_EQ(seconds(Multipath("ecmp")), sprayed * EcmpSlowdown(4, 4));
    EXPECT_DOUBLE_EQ(seconds(Multipath("e-ecmp")), sprayed * EcmpSlowdown(64, 4));
}

TEST(TransferCost, AllToAllSplitsBetweenNvlinkAndNic)
{
    // Four ranks in two servers: of 4 parts one stays, one goes over NVLink, two over the NIC.
    const Scenario scenario = SmallScenario(1);
    const RankLayout layout = LayoutOf(scenario);
    const NetworkModel network(scenario, layout);
    const Phase phase{Pattern::DirectAllToAll, RankGroup({{1, 4}}), Bytes(4 << 20)};
    const TransferCost cost = network.PhaseCost(phase, 0);
    EXPECT_NEAR(cost.PortSeconds(), 2 * 256 * 4199.5 * 8 / 100e9, 1e-12);
}

TEST(TransferCost, WhatComesDownIsSharedToo)
{
    // One leaf of four NICs in each building. Upwards a has room for all four; b, oversubscribed 8
    // times, has half a NIC's rate downwards, and four arrive: 8 times as long as a NIC takes.
    Scenario scenario = SmallScenario(2);
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.fabric.rails = false;
    }
    scenario.cluster.crossLinks[0].capacity = GigabitsPerSecond(800);
    const RankLayout layout = LayoutOf(scenario);
    const auto cost = [&](Rank from, Rank to) {
        return NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), from, to);
    };
    const double port = cost(0, 4).PortSeconds();
    EXPECT_NEAR(cost(0, 4).CutSeconds(), port, 1e-15);
    scenario.cluster.buildings[1].fabric.oversubscription = 8;
    EXPECT_NEAR(cost(0, 4).CutSeconds(), 8 * port, 1e-15);
    EXPECT_NEAR(cost(4, 0).CutSeconds(), 8 * port, 1e-15);
    // Full duplex: the two directions do not share.
    EXPECT_NE(cost(0, 4).Tightest()->cut, cost(4, 0).Tightest()->cut);
    // A third stage in b, four times as thin as its NICs.
    FabricSpec& fabric = scenario.cluster.buildings[1].fabric;
    fabric.oversubscription = 1;
    fabric.aggregations = 1;
    fabric.podsPerZone = 1;
    fabric.zoneOversubscription = 4;
    EXPECT_NEAR(cost(0, 4).CutSeconds(), 4 * port, 1e-15);
    EXPECT_NEAR(cost(4, 0).CutSeconds(), 4 * port, 1e-15);
}

TEST(TransferCost, AllToAllHashesConnections)
{
    // Two buildings of 8 single-GPU servers, one leaf each, 8 spines with a plane of the span each,
    // all as wide as the 8 NICs. Each of 8 ranks has 8 peers over there: 64 connections on 8 paths,
    // 8 x 8 messages through 8 NICs' worth, either way: of both the fullest path.
    Scenario scenario = SmallScenario(2);
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.gpus = 8;
        building.gpusPerNode = 1;
        building.fabric.rails = false;
        building.fabric.spines = 8;
    }
    scenario.cluster.crossLinks[0].capacity = GigabitsPerSecond(800);
    scenario.network.multipath = Multipath("ecmp");
    scenario.Job().plan.dp = 16;
    const RankLayout layout = LayoutOf(scenario);
    const Phase phase{Pattern::DirectAllToAll, RankGroup({{1, 16}}), Bytes(16 << 20)};
    const TransferCost cost = NetworkModel(scenario, layout).PhaseCost(phase, 0);
    const double message = 256 * 4199.5 * 8 / 100e9;
    EXPECT_NEAR(cost.PortSeconds(), 15 * message, 1e-12);
    EXPECT_NEAR(cost.CutSeconds(), FullestSeconds({{64, 8, 2, 8 * message}}), 1e-12);
}

TEST(TransferCost, WindowsOfQueuePairsLimitALongPath)
{
    // As above. Windows of 80 kB are 19 whole packets; 4 queue pairs have 76 x 4,096 bytes under
    // way, of which the first come back with the ACK of every 4th packet of each, 16 packets in
    // all: 256 packets take 3 round trips, and the 256 - 3 x 76 = 28 of the last window.
    Scenario scenario = SmallScenario(2);
    const RankLayout layout = LayoutOf(scenario);
    scenario.network.qps = 4;
    scenario.network.segment = Bytes(64 << 10);
    const auto seconds = [&] {
        return NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), 0, 4).PortSeconds();
    };
    const double free = seconds();
    scenario.network.window = Bytes(80'000);
    const double packet = 4199.5 * 8 / 100e9;
    EXPECT_NEAR(seconds(), 3 * (208e-6 + 16 * packet) + 28 * packet, 1e-12);
    // By the tier; one that holds everything is none.
    scenario.network.tiers[static_cast<size_t>(Tier::Cross) - 1].window = Bytes(1 << 20);
    EXPECT_EQ(seconds(), free);
}

TEST(TransferCost, ReceiversAdmitWhatALongPathHolds)
{
    // As above. 256 KiB are granted, 128 KiB at a time: 1 MiB takes 3 round trips with 32 packets
    // each, and the 64 packets of the last 256 KiB; and a round trip more for request and grant.
    Scenario scenario = SmallScenario(2);
    const RankLayout layout = LayoutOf(scenario);
    const auto cost = [&] {
        return NetworkModel(scenario, layout).MessageCost(Bytes(1 << 20), 0, 4);
    };
    const TransferCost free = cost();
    scenario.network.admission = Bytes(256 << 10);
    const double packet = 4199.5 * 8 / 100e9;
    EXPECT_NEAR(cost().PortSeconds(), 3 * (208e-6 + 32 * packet) + 64 * packet, 1e-12);
    EXPECT_EQ(cost().latency.Ps(), free.latency.Ps() + 208'000'000);
    scenario.network.admission = Bytes(1 << 20);
    EXPECT_EQ(cost().PortSeconds(), free.PortSeconds());
}

TEST(TransferCost, WindowsOfAllPeersAreOpenAtOnce)
{
    // Three peers in three other buildings, 1 MiB each, 16 queue pairs with one segment of 4 KiB
    // outstanding: a window of 64 KiB, of which the last leaves after 15 round trips of 2 x 104 us
    // and the 0.34 us of a segment. They pass at the same time for all peers, in 3.13 ms; the NIC
    // needs 3 x 86 us.
    Scenario scenario = SmallScenario(4);
    for (uint32_t a = 0; a < 4; a++)
    {
        for (uint32_t b = a + 1; b < 4; b++)
        {
            CrossLinkSpec link;
            link.a = a;
            link.b = b;
            link.latency = Duration::Microseconds(100);
            link.capacity = GigabitsPerSecond(400);
            scenario.cluster.crossLinks.push_back(link);
        }
    }
    scenario.network.balance = Balance("round-robin");
    scenario.network.segment = Bytes(4 << 10);
    scenario.network.outstanding = 1;
    const RankLayout layout = LayoutOf(scenario);
    const auto seconds = [&](Pattern pattern) {
        const Phase phase{pattern, RankGroup({{4, 4}}), Bytes(4 << 20)};
        return NetworkModel(scenario, layout).PhaseCost(phase, 0).PortSeconds();
    };
    const double segment = 4199.5 * 8 / 100e9;
    const double window = 15 * (208e-6 + segment) + 16 * segment;
    EXPECT_NEAR(seconds(Pattern::DirectAllToAll), window, 1e-12);
    // The three messages of a ring's edge share its window: of 48 windows all but one come back
    // before the last leaves.
    EXPECT_NEAR(seconds(Pattern::RingAllGather), 47 * (208e-6 + segment), 1e-12);
    // With a window of 1 MiB it is the NIC again, which sends one after the other.
    scenario.network.outstanding = 16;
    EXPECT_NEAR(seconds(Pattern::DirectAllToAll), 3 * 256 * 4199.5 * 8 / 100e9, 1e-12);
}

} // namespace
} // namespace scaleacross
