// SPDX-License-Identifier: GPL-2.0-only

// Path selection in fabrics: which wires carry, what arrives in order, and when.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/fabric-multipath.h"
#include "ns3/flowlet-selector.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/standard-work.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <cmath>
#include <numeric>
#include <set>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

void
UseSelector(FabricHelper& fabric, const std::string& selector)
{
    fabric.SetSwitchAttribute("PathSelector", TypeIdValue(TypeId::LookupByName(selector)));
}

/// Receivers place packets in whatever order they come; what overtakes by less than 2^20 packets
/// is no sign of loss.
void
TolerateReordering(FabricHelper& fabric)
{
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(1 << 20));
}

uint64_t
OutOfOrder(const FabricHelper& fabric)
{
    uint64_t sum = 0;
    for (const auto& nic : fabric.Nics())
    {
        for (uint32_t i = 0; i < nic->GetNQueuePairs(); ++i)
        {
            sum += nic->GetQueuePair(i)->GetCounters().outOfOrder;
        }
    }
    return sum;
}

/**
 * Three tiers: a leaf, 4 aggregation switches, each with 4 cores of its own, and the same again on
 * the other side. 1,024 flows from the leaf's host to the other.
 *
 * The leaf sends a flow of hash h, as a fraction of 2^32, up to aggregation floor(4 h). With equal
 * seeds aggregation i has the same h for the flow, which is in [i/4, (i+1)/4): floor(4 h) is i for
 * all of them, and it uses one of its 4 uplinks: 4 of 16 wires to the cores carry everything.
 *
 * With seeds of their own, each of 16 gets 1,024 / 16 = 64 flows, standard deviation
 * sqrt(1024 * 1/16 * 15/16) = 7.7: more than 64 - 4.5 * 7.7 = 29 and less than 99.
 */
class PolarisationTest : public TestCase
{
  public:
    PolarisationTest()
        : TestCase("Equal seeds polarise, seeds of their own do not")
    {
    }

  private:
    /// Packets that each wire from an aggregation switch to a core has carried.
    static std::vector<uint64_t> Loads(bool perSwitch)
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("HashSeed", UintegerValue(1));
        fabric.SetSwitchAttribute("HashPerSwitch", BooleanValue(perSwitch));
        const DataRate rate("100Gbps");
        const Time delay = MicroSeconds(1);
        std::vector<Ptr<FabricSwitch>> aggregations[2];
        for (auto& side : aggregations)
        {
            Ptr<FabricSwitch> leaf = fabric.AddSwitch();
            fabric.Connect(fabric.AddNic(fabric.AddHost()), leaf, rate, delay);
            for (uint32_t i = 0; i < 4; ++i)
            {
                side.push_back(fabric.AddSwitch());
                fabric.Connect(leaf, side[i], rate, delay);
            }
        }
        for (uint32_t i = 0; i < 16; ++i)
        {
            Ptr<FabricSwitch> core = fabric.AddSwitch();
            fabric.Connect(aggregations[0][i / 4], core, rate, delay);
            fabric.Connect(aggregations[1][i / 4], core, rate, delay);
        }
        fabric.InstallRoutes();
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(1024));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(0));
        fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1])->Send(Bytes(1024 * 4096), 0);
        Simulator::Run();
        std::vector<uint64_t> loads;
        for (uint32_t i = 0; i < 16; ++i)
        {
            // Port 0 leads to the leaf, 1 to 4 to the cores.
            loads.push_back(aggregations[0][i / 4]->GetPort(1 + i % 4)->GetSentPackets());
        }
        CheckConservation(fabric);
        Simulator::Destroy();
        return loads;
    }

    void DoRun() override
    {
        const std::vector<uint64_t> equal = Loads(false);
        NS_TEST_ASSERT_MSG_EQ(std::count(equal.begin(), equal.end(), 0U), 12, "4 of 16 carry");
        for (uint32_t i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_GT(equal[4 * i + i], 0, "wire i of aggregation switch i");
        }
        const std::vector<uint64_t> own = Loads(true);
        NS_TEST_ASSERT_MSG_EQ(std::accumulate(own.begin(), own.end(), uint64_t{0}), 1024, "all");
        for (const uint64_t load : own)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(load, 64, 35, "a 16th");
        }

        // Runs of another number collide elsewhere. That 16 loads of 64 +- 7.7 come out the same
        // by chance is less likely than 1 in 10^15.
        const uint64_t run = RngSeedManager::GetRun();
        NS_TEST_ASSERT_MSG_EQ((Loads(true) == own), true, "the same run");
        RngSeedManager::SetRun(run + 1);
        NS_TEST_ASSERT_MSG_EQ((Loads(true) == own), false, "another run");
        RngSeedManager::SetRun(run);
    }
};

/**
 * Leaf 0 has 200 Gb/s to each of two spines; the first has two wires of 100 Gb/s to leaf 1 and the
 * second one: weights 2 and 1. Back, leaf 1 has two wires of 100 Gb/s to the first spine, which has
 * 200 Gb/s from there on, and one to the second: equal.
 */
class CapacityTest : public TestCase
{
  public:
    CapacityTest()
        : TestCase("Weights follow the capacity of the way, not of the next wire alone")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        const Time delay = MicroSeconds(1);
        std::vector<Ptr<FabricSwitch>> leaves = {fabric.AddSwitch(), fabric.AddSwitch()};
        for (const auto& leaf : leaves)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()), leaf, DataRate("400Gbps"), delay);
            fabric.Connect(fabric.AddNic(fabric.AddHost()), leaf, DataRate("400Gbps"), delay);
        }
        std::vector<Ptr<FabricSwitch>> spines = {fabric.AddSwitch(), fabric.AddSwitch()};
        for (const auto& spine : spines)
        {
            fabric.Connect(leaves[0], spine, DataRate("200Gbps"), delay);
            fabric.Connect(spine, leaves[1], DataRate("100Gbps"), delay);
        }
        fabric.Connect(spines[0], leaves[1], DataRate("100Gbps"), delay);
        fabric.SetRouteWeights(scaleacross::RouteWeights::Capacity);
        fabric.InstallRoutes();
        const auto& there = *leaves[0]->Routes().Lookup(2);
        NS_TEST_ASSERT_MSG_EQ((there.ports == std::vector<uint16_t>{2, 3}), true, "both spines");
        NS_TEST_ASSERT_MSG_EQ((there.weights == std::vector<uint32_t>{2, 1}), true, "200 and 100");
        NS_TEST_ASSERT_MSG_EQ(leaves[0]->Routes().Lookup(3), &there, "one route for the leaf");
        const auto& back = *leaves[1]->Routes().Lookup(0);
        NS_TEST_ASSERT_MSG_EQ(back.ports.size(), 3, "three wires");
        const std::set<uint32_t> weights(back.weights.begin(), back.weights.end());
        NS_TEST_ASSERT_MSG_LT_OR_EQ(weights.size(), 1, "of equal weight");
        NS_TEST_ASSERT_MSG_EQ(leaves[1]->Routes().Lookup(2)->ports.size(), 1, "to its own NIC");
        NS_TEST_ASSERT_MSG_NE(leaves[1]->Routes().Lookup(2), leaves[1]->Routes().Lookup(3), "");
        Simulator::Destroy();
    }
};

/**
 * Two switches joined by two wires, NICs fast enough for both, 32 queue pairs, 16 MB: both wires
 * carry whatever the selector.
 *
 * Wires of 100 Gb/s: with 4,096 + 82 B packets the work takes 16e6 (4178 / 4096) * 8 / 200 Gb/s =
 * 653 us on both at once. Spraying needs that and 5 % at most (random: 3,907 packets +- 62 / 2 on
 * the fuller wire, 4.5 of which are 7 %: it may take that). Hashing gives 16 +- 2.8 flows, 4.5
 * standard deviations are 28.7: at most 1.8 times.
 *
 * Wires of 300 and 100 Gb/s with UCMP: weights 3 and 1; of 256 flows the small one gets 64 +- 6.9.
 */
class ParallelWiresTest : public TestCase
{
  public:
    ParallelWiresTest()
        : TestCase("Two wires between the same switches both carry under every selector")
    {
    }

  private:
    struct Result
    {
        double share;       //!< of data bytes that the first wire has carried
        int64_t completion; //!< ps
    };

    static Result RunOnce(const std::string& selector, const std::string& first, uint32_t pairs)
    {
        FabricHelper fabric;
        UseSelector(fabric, selector);
        TolerateReordering(fabric);
        Ptr<FabricSwitch> left = fabric.AddSwitch();
        Ptr<FabricSwitch> right = fabric.AddSwitch();
        const Time delay = MicroSeconds(1);
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        fabric.Connect(a, left, DataRate("400Gbps"), delay);
        fabric.Connect(b, right, DataRate("400Gbps"), delay);
        fabric.Connect(left, right, DataRate(first), delay);
        fabric.Connect(left, right, DataRate("100Gbps"), delay);
        fabric.SetRouteWeights(scaleacross::RouteWeights::Capacity);
        fabric.InstallRoutes();
        fabric.AssignStreams(1);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(pairs));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(0));
        auto connection = fabric.CreateConnection(a, b);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(16'000'000), 0);
        Simulator::Run();
        CheckConservation(fabric);
        const auto one = static_cast<double>(left->GetPort(1)->GetSentBytes());
        const auto two = static_cast<double>(left->GetPort(2)->GetSentBytes());
        const int64_t last = log.LastCompletion();
        Simulator::Destroy();
        return {one / (one + two), last};
    }

    void DoRun() override
    {
        struct Row
        {
            std::string selector;
            double most; //!< times 653 us
        };

        for (const Row& row : {Row{"ns3::EcmpSelector", 1.8},
                               Row{"ns3::WeightedSelector", 1.8},
                               Row{"ns3::FlowletSelector", 1.8},
                               Row{"ns3::RandomSpraySelector", 1.08},
                               Row{"ns3::RoundRobinSpraySelector", 1.05},
                               Row{"ns3::AdaptiveSpraySelector", 1.05}})
        {
            const Result result = RunOnce(row.selector, "100Gbps", 32);
            const auto micros = static_cast<double>(result.completion) / 1e6;
            NS_TEST_ASSERT_MSG_GT(micros, 653, row.selector);
            NS_TEST_ASSERT_MSG_LT(micros, 653 * row.most, row.selector);
            NS_TEST_ASSERT_MSG_EQ_TOL(result.share, 0.5, 0.5 * (row.most - 1), row.selector);
        }
        const Result weighted = RunOnce("ns3::WeightedSelector", "300Gbps", 256);
        NS_TEST_ASSERT_MSG_EQ_TOL(weighted.share, 0.75, 4.5 * 6.9 / 256, "300 of 400 Gb/s");
    }
};

/**
 * Two leaves joined by four spines whose wires take 1, 6, 11 and 16 us each: paths of 2, 12, 22 and
 * 32 us. A queue pair posts 40 messages of 10 packets at intervals.
 *
 * With intervals of 60 us, of which 0.8 are sending, the gap is 59.2 us. Where Gap is 40 us, more
 * than the 30 us by which paths differ, every message is a flowlet of its own and none overtakes
 * another. Of 40 flowlets all take one spine with 4^-39.
 *
 * With intervals of 5 us and a Gap of 2 us each message is one again, but one on a path that is
 * shorter by 10 us overtakes two others.
 */
class FlowletOrderTest : public TestCase
{
  public:
    FlowletOrderTest()
        : TestCase("Flowlets keep their order if the gap exceeds the difference of the paths")
    {
    }

  private:
    struct Result
    {
        uint64_t outOfOrder;
        uint64_t flowlets;
        uint32_t spines; //!< that have carried
    };

    static Result RunOnce(Time gap, Time interval)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        UseSelector(fabric, "ns3::FlowletSelector");
        TolerateReordering(fabric);
        std::vector<Ptr<FabricSwitch>> leaves = {fabric.AddSwitch(), fabric.AddSwitch()};
        for (const auto& leaf : leaves)
        {
            Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, leaf, DataRate("100Gbps"), MicroSeconds(1));
        }
        for (uint32_t i = 0; i < 4; ++i)
        {
            Ptr<FabricSwitch> spine = fabric.AddSwitch();
            fabric.Connect(leaves[0], spine, DataRate("100Gbps"), MicroSeconds(1 + 5 * i));
            fabric.Connect(leaves[1], spine, DataRate("100Gbps"), MicroSeconds(1 + 5 * i));
        }
        fabric.InstallRoutes();
        fabric.AssignStreams(3);
        auto selector = DynamicCast<FlowletSelector>(leaves[0]->GetPathSelector());
        selector->SetGap(gap);
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        for (uint32_t i = 0; i < 40; ++i)
        {
            Simulator::Schedule(interval * i, [=]() { connection->Send(Bytes(10'000), i); });
        }
        Simulator::Run();
        CheckConservation(fabric);
        Result result{OutOfOrder(fabric), selector->GetFlowlets(), 0};
        for (uint32_t port = 1; port <= 4; ++port)
        {
            result.spines += leaves[0]->GetPort(port)->GetSentPackets() > 0 ? 1 : 0;
        }
        Simulator::Destroy();
        return result;
    }

    void DoRun() override
    {
        const Result ordered = RunOnce(MicroSeconds(40), MicroSeconds(60));
        NS_TEST_ASSERT_MSG_EQ(ordered.outOfOrder, 0, "nothing overtakes");
        NS_TEST_ASSERT_MSG_EQ(ordered.flowlets, 40, "each message is one");
        NS_TEST_ASSERT_MSG_GT(ordered.spines, 1, "on several paths");
        const Result hasty = RunOnce(MicroSeconds(2), MicroSeconds(5));
        NS_TEST_ASSERT_MSG_EQ(hasty.flowlets, 40, "each message is one");
        NS_TEST_ASSERT_MSG_GT(hasty.outOfOrder, 0, "messages overtake each other");
    }
};

/**
 * What collisions cost, packet by packet: 8 hosts on each of two switches, joined by 8 wires of the
 * hosts' rate; host i sends S = 200 packets to host i + 8. If k flows are hashed to the fullest
 * wire, that one is never idle from the first packet to its last and sends k S packets: the last
 * flow is complete after
 *
 *   k S p + 2 p + 3 us + ACK: 3 a + 3 us,   p = 1048 * 8 / 100 Gb/s = 83.84 ns, a = 60 B: 4.8 ns
 *
 * exactly, and each ACK may have to wait for others' ACKs: 7 a at most on a shared wire back.
 * Seeds 1 to 30; the mean slowdown, max k, is that of 8 flows on 8 paths: 2.59, with a standard
 * deviation of one draw of 0.65: 30 draws miss by less than 4 * 0.65 / sqrt(30) = 0.47.
 */
class CollisionTimeTest : public TestCase
{
  public:
    CollisionTimeTest()
        : TestCase("The slowest flow takes as long as its wire has flows")
    {
    }

  private:
    void DoRun() override
    {
        double sum = 0;
        for (uint32_t seed = 1; seed <= 30; ++seed)
        {
            FabricHelper fabric;
            UseHpccSizes(fabric);
            fabric.SetSwitchAttribute("HashSeed", UintegerValue(seed));
            std::vector<Ptr<FabricSwitch>> sides = {fabric.AddSwitch(), fabric.AddSwitch()};
            const DataRate rate("100Gbps");
            for (uint32_t i = 0; i < 16; ++i)
            {
                Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
                fabric.Connect(nic, sides[i / 8], rate, MicroSeconds(1));
            }
            for (uint32_t i = 0; i < 8; ++i)
            {
                fabric.Connect(sides[0], sides[1], rate, MicroSeconds(1));
            }
            fabric.InstallRoutes();
            Log log;
            for (uint32_t i = 0; i < 8; ++i)
            {
                auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[8 + i]);
                log.Watch(connection);
                connection->Send(Bytes(200'000), i);
            }
            Simulator::Run();
            uint64_t most = 0;
            for (uint32_t port = 8; port < 16; ++port)
            {
                most = std::max(most, sides[0]->GetPort(port)->GetSentPackets() / 200);
            }
            const int64_t packet = 83'840;
            const int64_t ack = 4'800;
            const auto work = static_cast<int64_t>(most) * 200 * packet;
            const int64_t expected = work + 2 * packet + 3 * ack + 6'000'000;
            NS_TEST_ASSERT_MSG_GT_OR_EQ(log.LastCompletion(), expected, "seed " << seed);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(log.LastCompletion(),
                                        expected + 7 * ack + Rounding(6),
                                        "seed " << seed);
            sum += static_cast<double>(most);
            CheckConservation(fabric);
            Simulator::Destroy();
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(sum / 30, 2.59, 0.47, "mean of the fullest");
    }
};

/**
 * An all-reduce between two buildings of 16 hosts, as the step across buildings of a hierarchical
 * one: host i and its counterpart reduce each other's half (1 MiB each way), then gather it (1 MiB
 * each way, sent when the first has come). It is over when the last half has arrived. 8 hosts per
 * leaf, 8 spines, and between the buildings two wires per spine, each of the hosts' rate.
 *
 * A half takes 1,049 packets of 1,048 B at 100 Gb/s, 87.9 us, over three wires of 1 us in the
 * buildings and one of 15 us, with 4 us and 15 us of delays on all five wires and 0.3 us of store
 * and forward: 107.2 us if it is alone. ACKs of 64 B for what comes the other way are 5.4 us more
 * on every wire. Four rows, means of five seeds:
 *
 * Hashed: 8 flows of a leaf on 8 uplinks, 16 of a building on 16 wires across, 8 on 8 downlinks.
 * The fullest of all wires has at least the 3.09 flows of 16 on 16, with a standard deviation of
 * 0.65, 0.29 of a mean; seven or more on one of 96 wires have a probability of 1e-3. With one queue
 * pair, E-ECMP is ECMP with another hash: their difference is below 4 sqrt(2) of 0.29.
 *
 * E-ECMP, 16 queue pairs: 256 flows on 16 wires, 1.47, with a standard deviation of one load of 4
 * of 16 flows, half of that of the fullest: 0.125, 0.056 of a mean. That one of 96 loads is beyond
 * 1 + 4.5 * 4 / 16 = 2.1 has a probability of 3e-3, and all five of them less.
 *
 * The slowest cannot be over before the fullest wire has sent what it has. Wires do not idle while
 * they have something to send, so each of both halves takes at most as long as the fullest wire
 * needs for it at each of three stages, one after the other: three times what that wire carries.
 *
 * Queue pair scaling gains more than the 1.4 that Meta measured (SIGCOMM 2024, E-ECMP against one
 * queue pair) for all-reduces whose other steps stay in the rack. Adaptive spraying leaves no wire
 * fuller than the hosts': alone, with ACKs, and 5 %.
 */
class AllReduceTest : public TestCase
{
  public:
    AllReduceTest()
        : TestCase("All-reduce between two buildings: hashed, scaled, sprayed")
    {
    }

  private:
    struct Result
    {
        double us;      //!< when the last half has arrived, 0 if one is missing
        double endUs;   //!< when the last ACK has
        double fullest; //!< us that the fullest wire between switches needs for what it carried
    };

    static Result RunOnce(scaleacross::Multipath multipath, uint32_t pairs, uint64_t seed)
    {
        scaleacross::StandardWork work = scaleacross::MakeStandardWork("long-haul", 32);
        scaleacross::SetSpanDelay(work, scaleacross::Duration::Microseconds(15)); // 3 km
        work.multipath = multipath;
        work.seed = seed;
        FabricHelper fabric;
        fabric.SetLookAhead(true);
        scaleacross::BuildFabric(work, fabric);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(pairs));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(64 << 10));
        std::vector<Ptr<RdmaConnection>> connections;
        for (uint32_t i = 0; i < 32; ++i)
        {
            const auto& nics = fabric.Nics();
            connections.push_back(fabric.CreateConnection(nics[i], nics[(i + 16) % 32]));
        }
        uint32_t gathered = 0;
        int64_t last = 0;
        for (uint32_t i = 0; i < 32; ++i)
        {
            const auto& back = connections[(i + 16) % 32];
            connections[i]->SetDeliveryCallback(
                RdmaMessageCallback([&gathered, &last, back](Bytes bytes, uint64_t step) {
                    if (step == 0)
                    {
                        back->Send(bytes, 1);
                        return;
                    }
                    ++gathered;
                    last = Simulator::Now().GetPicoSeconds();
                }));
            connections[i]->Send(Bytes(kMiB), 0);
        }
        Simulator::Run();
        CheckConservation(fabric);
        Result result{gathered == 32 ? static_cast<double>(last) / 1e6 : 0,
                      static_cast<double>(Simulator::Now().GetPicoSeconds()) / 1e6,
                      0};
        for (const auto& fabricSwitch : fabric.Switches())
        {
            for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
            {
                const auto port = fabricSwitch->GetPort(i);
                const bool between = DynamicCast<SwitchPort>(port->GetPeer()) != nullptr;
                const auto bits = static_cast<double>(8 * port->GetSentBytes());
                const auto rate = static_cast<double>(port->GetDataRate().GetBitRate());
                result.fullest = std::max(result.fullest, between ? bits / rate * 1e6 : 0);
            }
        }
        Simulator::Destroy();
        return result;
    }

    /// Of five seeds.
    struct Mean
    {
        double us{0};
        double load{0}; //!< of the fullest wire, in what one host sends
    };

    Mean MeanOf(scaleacross::Multipath multipath, uint32_t pairs)
    {
        Mean mean;
        for (uint64_t seed = 1; seed <= 5; ++seed)
        {
            const Result result = RunOnce(multipath, pairs, seed);
            NS_TEST_EXPECT_MSG_GT(result.us, 0, "all have their sum");
            NS_TEST_EXPECT_MSG_GT(result.endUs, result.fullest, "a wire carries what it carries");
            NS_TEST_EXPECT_MSG_LT(result.us, 3 * result.fullest + kAlone, "three stages in turn");
            mean.us += result.us / 5;
            mean.load += result.fullest / 5 / (2 * (87.9 + 5.4));
        }
        return mean;
    }

    /// us; see above
    static constexpr double kAlone = 2 * 107.2;

    void DoRun() override
    {
        using scaleacross::Multipath;
        const Mean ecmp = MeanOf(Multipath("ecmp"), 1);
        const Mean oneEach = MeanOf(Multipath("e-ecmp"), 1);
        const Mean scaled = MeanOf(Multipath("e-ecmp"), 16);
        const Mean sprayed = MeanOf(Multipath("spray-adaptive"), 1);
        for (const Mean& hashed : {ecmp, oneEach})
        {
            NS_TEST_EXPECT_MSG_GT(hashed.load, 3.09 - 4 * 0.29, "16 flows on 16 wires, at least");
            NS_TEST_EXPECT_MSG_LT(hashed.load, 6, "none of ten groups has more");
            NS_TEST_EXPECT_MSG_GT(hashed.us / scaled.us, 1.4, "queue pair scaling");
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(oneEach.load, ecmp.load, 4 * 0.29 * std::sqrt(2), "the same law");
        NS_TEST_EXPECT_MSG_GT(scaled.load, 1.47 - 4 * 0.056, "256 flows on 16 wires, at least");
        NS_TEST_EXPECT_MSG_LT(scaled.load, 2.1, "none of ten groups has more");
        NS_TEST_EXPECT_MSG_GT(scaled.us / sprayed.us, 1, "spraying is better still");
        NS_TEST_EXPECT_MSG_GT(sprayed.us, kAlone, "nothing is faster than alone");
        NS_TEST_EXPECT_MSG_LT(sprayed.us, 1.05 * (kAlone + 2 * 5.4), "5 % over its wires");
    }
};

/// Over sprayed paths go-back-N, and selective repeat without tolerance, are refused, and nothing
/// else is.
class ToleranceTest : public TestCase
{
  public:
    ToleranceTest()
        : TestCase("Spraying needs a tolerance for reordering")
    {
    }

  private:
    static std::string Refusal(const std::string& selector,
                               const std::string& mode,
                               uint64_t tolerance,
                               uint64_t limit = 1000)
    {
        FabricHelper fabric;
        UseSelector(fabric, selector);
        fabric.SetQueuePairAttribute("RetransmissionMode", StringValue(mode));
        fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(tolerance));
        fabric.SetQueuePairAttribute("OutOfOrderLimit", UintegerValue(limit));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        std::string where;
        try
        {
            fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        }
        catch (const scaleacross::ConfigError& error)
        {
            where = error.Where();
            NS_ABORT_MSG_UNLESS(fabric.Nics()[0]->GetNQueuePairs() == 0, "refused too late");
        }
        Simulator::Destroy();
        return where;
    }

    /// Whether a connection that is made by hand, and so goes back N, is refused.
    static bool ByHand()
    {
        FabricHelper fabric;
        UseSelector(fabric, "ns3::RandomSpraySelector");
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        bool refused = false;
        try
        {
            CreateObject<RdmaConnection>()->Connect(fabric.Nics()[0], fabric.Nics()[1]);
        }
        catch (const scaleacross::ConfigError& error)
        {
            refused =
                error.Problem().find("with go-back-N that counts as loss") != std::string::npos;
        }
        Simulator::Destroy();
        return refused;
    }

    /// Scripts refuse with go-back-N what studies do: the same words, by the same registry.
    void AsInStudies()
    {
        for (const auto* facts : scaleacross::Multipath::Rows())
        {
            scaleacross::NetworkPlan plan;
            plan.multipath = scaleacross::Multipath(facts->word);
            plan.recovery = scaleacross::Recovery("go-back-n");
            FabricHelper fabric;
            UseMultipath(fabric, plan.multipath);
            UseRecovery(fabric, plan.recovery, 0);
            BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
            bool refused = false;
            try
            {
                fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
            }
            catch (const scaleacross::ConfigError&)
            {
                refused = true;
            }
            NS_TEST_EXPECT_MSG_EQ(refused, plan.FindConflict().has_value(), facts->word);
            Simulator::Destroy();
        }
    }

    void DoRun() override
    {
        const std::string selective = "SelectiveRepeat";
        const std::string spray = "ns3::RandomSpraySelector";
        NS_TEST_ASSERT_MSG_NE(Refusal(spray, selective, 0).find("ReorderTolerance"),
                              std::string::npos,
                              "named");
        NS_TEST_ASSERT_MSG_EQ(Refusal(spray, selective, 1), "", "with tolerance");
        NS_TEST_ASSERT_MSG_EQ(Refusal(spray, selective, 1000), "", "as much as the receiver keeps");
        NS_TEST_ASSERT_MSG_NE(Refusal(spray, selective, 1000, 16), "", "more than it keeps");
        NS_TEST_ASSERT_MSG_EQ(Refusal("ns3::EcmpSelector", selective, 1000, 16), "", "one path");
        for (const uint64_t tolerance : {0, 1000})
        {
            NS_TEST_ASSERT_MSG_NE(Refusal(spray, "GoBackN", tolerance).find("RetransmissionMode"),
                                  std::string::npos,
                                  "each packet that overtakes counts as lost");
        }
        NS_TEST_ASSERT_MSG_EQ(Refusal("ns3::EcmpSelector", "GoBackN", 0), "", "in order");
        NS_TEST_ASSERT_MSG_EQ(Refusal("ns3::FlowletSelector", "GoBackN", 0), "", "after gaps only");
        NS_TEST_ASSERT_MSG_EQ(ByHand(), true, "queue pairs that no FabricHelper has made");
        AsInStudies();
        NS_TEST_ASSERT_MSG_EQ(Refusal("ns3::EcmpSelector", selective, 0), "", "keeps the order");
    }
};

class PathsSuite : public TestSuite
{
  public:
    PathsSuite()
        : TestSuite("scaleacross-paths")
    {
        AddTestCase(new PolarisationTest);
        AddTestCase(new CapacityTest);
        AddTestCase(new ParallelWiresTest);
        AddTestCase(new FlowletOrderTest);
        AddTestCase(new CollisionTimeTest);
        AddTestCase(new AllReduceTest);
        AddTestCase(new ToleranceTest);
    }
};

PathsSuite g_pathsSuite;

} // namespace
