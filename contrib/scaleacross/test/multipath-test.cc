// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/ecmp-selector.h"
#include "ns3/flow-hash.h"
#include "ns3/random-spray-selector.h"
#include "ns3/route-table.h"
#include "ns3/string.h"

#include <functional>
#include <numeric>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::HashOf;
using scaleacross::PortGroup;
using scaleacross::RouteTable;
using scaleacross::ScaleHash;

namespace
{

/// Two leaves with 4 hosts each, joined by 4 spines whose wires differ in length.
struct LeafSpine
{
    explicit LeafSpine(uint64_t seed)
    {
        fabric.SetSwitchAttribute("HashSeed", UintegerValue(seed));
        leaves = {fabric.AddSwitch(), fabric.AddSwitch()};
        for (uint32_t i = 0; i < 8; ++i)
        {
            Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, leaves[i / 4], DataRate("100Gbps"), MicroSeconds(1));
        }
        for (uint32_t i = 0; i < 4; ++i)
        {
            Ptr<FabricSwitch> spine = fabric.AddSwitch();
            for (const auto& leaf : leaves)
            {
                fabric.Connect(leaf, spine, DataRate("100Gbps"), MicroSeconds(1 + 5 * i));
            }
        }
        fabric.InstallRoutes();
    }

    FabricHelper fabric;
    std::vector<Ptr<FabricSwitch>> leaves;
};

/**
 * 4 hosts send to 4 hosts on the other leaf over 64 queue pairs each, 256 flows over 4 spines. Each
 * path gets 64 +- 7 (binomial: sqrt(256 * 1/4 * 3/4) = 6.9); less than 32 or more than 96 would be
 * more than four standard deviations. Every flow stays on its path: although paths differ by up to
 * 30 us in length, nothing arrives out of order.
 */
class EcmpTest : public TestCase
{
  public:
    EcmpTest()
        : TestCase("ECMP spreads flows and keeps each on its path")
    {
    }

  private:
    struct Result
    {
        std::vector<uint64_t> packets; //!< per uplink of leaf 0
        std::vector<Event> completed;
        uint64_t outOfOrder{0};
    };

    /// With the seed set before the routes are installed, or after that.
    Result RunOnce(uint64_t seed, bool late = false)
    {
        LeafSpine network(late ? seed + 100 : seed);
        FabricHelper& fabric = network.fabric;
        for (const auto& fabricSwitch : fabric.Switches())
        {
            if (late)
            {
                fabricSwitch->SetAttribute("HashSeed", UintegerValue(seed));
            }
        }
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(64));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(0));
        Log log;
        for (uint32_t i = 0; i < 4; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[4 + i]);
            log.Watch(connection);
            connection->Send(Bytes(64 * 40'960), i); // 10 packets per queue pair
        }
        Simulator::Run();
        Result result;
        for (uint32_t port = 4; port < 8; ++port)
        {
            result.packets.push_back(network.leaves[0]->GetPort(port)->GetSentPackets());
        }
        result.completed = log.completed;
        for (const auto& nic : fabric.Nics())
        {
            for (uint32_t i = 0; i < nic->GetNQueuePairs(); ++i)
            {
                result.outOfOrder += nic->GetQueuePair(i)->GetCounters().outOfOrder;
            }
        }
        CheckConservation(fabric);
        Simulator::Destroy();
        return result;
    }

    void DoRun() override
    {
        Result first = RunOnce(1);
        NS_TEST_ASSERT_MSG_EQ(first.completed.size(), 4, "all done");
        NS_TEST_ASSERT_MSG_EQ(first.outOfOrder, 0, "in order");
        for (uint64_t packets : first.packets)
        {
            NS_TEST_ASSERT_MSG_GT_OR_EQ(packets, 320, "each path has its share");
            NS_TEST_ASSERT_MSG_LT_OR_EQ(packets, 960, "and not much more");
        }
        uint64_t sum = std::accumulate(first.packets.begin(), first.packets.end(), uint64_t{0});
        NS_TEST_ASSERT_MSG_EQ(sum, 2560, "256 flows of 10 packets, none sent twice");
        Result again = RunOnce(1);
        NS_TEST_ASSERT_MSG_EQ((first.packets == again.packets), true, "same paths");
        NS_TEST_ASSERT_MSG_EQ((first.completed == again.completed), true, "same times");
        Result late = RunOnce(1, true);
        NS_TEST_ASSERT_MSG_EQ((first.packets == late.packets),
                              true,
                              "the seed counts, if set late");
        Result other = RunOnce(2);
        NS_TEST_ASSERT_MSG_EQ((first.packets == other.packets), false, "another seed, other paths");
    }
};

/// What decides on paths is checked: it can be set until time zero, and is used then.
class ConfigurationTest : public TestCase
{
  public:
    ConfigurationTest()
        : TestCase("What decides on paths can be set until time zero")
    {
    }

  private:
    static std::string RefusalOf(const std::function<void()>& act)
    {
        try
        {
            act();
        }
        catch (const scaleacross::ConfigError& error)
        {
            return error.Where() + ": " + error.Problem();
        }
        return "";
    }

    void ExpectRefusal(const std::function<void()>& act, const std::string& part)
    {
        const std::string refusal = RefusalOf(act);
        NS_TEST_EXPECT_MSG_NE(refusal.find(part), std::string::npos, part << ": " << refusal);
    }

    /// The first 100 choices of a switch that sprays at random, with the stream assigned before or
    /// after the selector is set.
    static std::vector<uint16_t> Sprayed(bool streamFirst)
    {
        FabricHelper fabric;
        auto centre = BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
        if (streamFirst)
        {
            centre->AssignStreams(5);
        }
        centre->SetPathSelectorType(RandomSpraySelector::GetTypeId());
        if (!streamFirst)
        {
            centre->AssignStreams(5);
        }
        const PortGroup group{{0, 1, 2, 3}, {}};
        std::vector<uint16_t> choices;
        for (uint32_t i = 0; i < 100; ++i)
        {
            choices.push_back(centre->GetPathSelector()->Select(group, {}, 0));
        }
        Simulator::Destroy();
        return choices;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ((Sprayed(true) == Sprayed(false)), true, "streams");

        LeafSpine network(1);
        FabricHelper& fabric = network.fabric;
        const Ptr<FabricSwitch> leaf = network.leaves[0];
        scaleacross::FabricPacket packet{};
        packet.destination = fabric.Nics()[7]->GetFabricAddress();
        for (const auto& [name, value] : std::vector<std::pair<std::string, Ptr<AttributeValue>>>{
                 {"HashSeed", UintegerValue(3).Copy()},
                 {"HashPerSwitch", BooleanValue(false).Copy()},
                 {"HashFields", StringValue("source").Copy()},
                 {"PathSelector", TypeIdValue(EcmpSelector::GetTypeId()).Copy()}})
        {
            leaf->PredictPort(packet); // after InstallRoutes
            leaf->SetAttribute(name, *value);
            ExpectRefusal([&]() { leaf->PredictPort(packet); }, "since CheckConfig");
            leaf->CheckConfig();
            Simulator::Schedule(MicroSeconds(1), [this, leaf, name = name, value = value]() {
                ExpectRefusal([&]() { leaf->SetAttribute(name, *value); },
                              name + ": cannot be set any more: the run has begun");
            });
        }
        ExpectRefusal([&]() { leaf->SetPathSelector(nullptr); }, "no object");
        leaf->Routes().Add(1000, 1000, {{8}, {}});
        ExpectRefusal([&]() { leaf->CheckConfig(); }, "port 8 of a route is not there");
        leaf->Routes().Clear();
        leaf->CheckConfig();
        Simulator::Schedule(MicroSeconds(1), [&]() {
            ExpectRefusal(
                [&]() {
                    leaf->ChangeRoutes([](RouteTable& routes) {
                        routes.Add(1000, 1000, {{7, 9}, {}});
                    });
                },
                "port 9 of a route is not there");
        });
        Simulator::Run();
        Simulator::Destroy();

        FabricHelper large;
        auto full = large.AddSwitch();
        for (uint32_t i = 0; i < FabricSwitch::kMostPorts; ++i)
        {
            full->AddPort();
        }
        ExpectRefusal([&]() { full->AddPort(); }, "has 65535 ports already");
        Simulator::Destroy();
    }
};

/**
 * Two switches joined by two wires of 100 Gb/s, one NIC of 200 Gb/s on each side, 32 queue pairs.
 * Both wires have to carry: with one alone 64 MB take 64e6 * 8 / 100 Gb/s = 5,120 us. With both,
 * the one with more queue pairs decides: 16 of 32 flows at best, and with 22 of them (more than two
 * standard deviations of 2.8 away) still less than 70 % of that time.
 */
class ParallelWiresTest : public TestCase
{
  public:
    ParallelWiresTest()
        : TestCase("Two wires between the same switches both carry")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        Ptr<FabricSwitch> left = fabric.AddSwitch();
        Ptr<FabricSwitch> right = fabric.AddSwitch();
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        fabric.Connect(a, left, DataRate("200Gbps"), MicroSeconds(1));
        fabric.Connect(b, right, DataRate("200Gbps"), MicroSeconds(1));
        fabric.Connect(left, right, DataRate("100Gbps"), MicroSeconds(1));
        fabric.Connect(left, right, DataRate("100Gbps"), MicroSeconds(1));
        fabric.InstallRoutes();
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(32));
        fabric.SetConnectionAttribute("SegmentSize", UintegerValue(0));
        auto connection = fabric.CreateConnection(a, b);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(64'000'000), 0);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_GT(left->GetPort(1)->GetSentBytes(), 16'000'000, "first wire");
        NS_TEST_ASSERT_MSG_GT(left->GetPort(2)->GetSentBytes(), 16'000'000, "second wire");
        NS_TEST_ASSERT_MSG_LT(log.LastDelivery(), 3'584'000'000, "faster than one wire");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/// Routes are ranges: a leaf of the two-leaf fabric needs one for each of its NICs and one for all
/// others, a spine one for each leaf.
class StructuralRoutesTest : public TestCase
{
  public:
    StructuralRoutesTest()
        : TestCase("Routes are grouped by ranges of addresses")
    {
    }

  private:
    void DoRun() override
    {
        LeafSpine network(0);
        const RouteTable& routes = network.leaves[0]->Routes();
        const auto& leaf = routes.Ranges();
        NS_TEST_ASSERT_MSG_EQ(leaf.size(), 5, "leaf 0");
        NS_TEST_ASSERT_MSG_EQ(leaf[4].first, 4, "first NIC of the other leaf");
        NS_TEST_ASSERT_MSG_EQ(leaf[4].last, 7, "last NIC of the other leaf");
        NS_TEST_ASSERT_MSG_EQ(routes.GroupOf(leaf[4]).ports.size(), 4, "over every spine");
        const auto& spine = network.fabric.Switches()[2]->Routes().Ranges();
        NS_TEST_ASSERT_MSG_EQ(spine.size(), 2, "spine");
        NS_TEST_ASSERT_MSG_EQ(spine[1].first, 4, "second leaf");
        Simulator::Destroy();

        // Rails: NIC i of every host on leaf i. Addresses follow the leaves, so a spine needs one
        // range per rail, although neighbouring NICs are on different leaves.
        FabricHelper rails;
        std::vector<Ptr<FabricSwitch>> leaves = {rails.AddSwitch(), rails.AddSwitch()};
        Ptr<FabricSwitch> top = rails.AddSwitch();
        for (uint32_t i = 0; i < 4; ++i)
        {
            Ptr<Node> host = rails.AddHost();
            for (const auto& leafOfRail : leaves)
            {
                Ptr<RdmaNic> nic = rails.AddNic(host);
                rails.Connect(nic, leafOfRail, DataRate("100Gbps"), MicroSeconds(1));
            }
        }
        rails.Connect(leaves[0], top, DataRate("100Gbps"), MicroSeconds(1));
        rails.Connect(leaves[1], top, DataRate("100Gbps"), MicroSeconds(1));
        rails.InstallRoutes();
        NS_TEST_ASSERT_MSG_EQ(top->Routes().Ranges().size(), 2, "one range per rail");
        NS_TEST_ASSERT_MSG_EQ(rails.Nics()[3]->GetFabricAddress(), 5, "second NIC of rail 1");
        Simulator::Destroy();
    }
};

/// Ports that are down leave their groups and come back; a range without ports leads nowhere.
class PortsDownTest : public TestCase
{
  public:
    PortsDownTest()
        : TestCase("Ports that are down are left out")
    {
    }

  private:
    void DoRun() override
    {
        RouteTable table;
        table.Add(0, 9, {{1, 2, 3}, {10, 20, 30}});
        table.Add(10, 19, {{3}, {}});
        table.Add(20, 29, {{1, 2, 3}, {10, 20, 30}});
        NS_TEST_ASSERT_MSG_EQ(table.Lookup(0), table.Lookup(20), "equal groups are kept once");
        table.SetPortUp(3, false);
        NS_TEST_ASSERT_MSG_EQ((*table.Lookup(5) == PortGroup{{1, 2}, {10, 20}}), true, "1, 2 left");
        NS_TEST_ASSERT_MSG_EQ(table.Lookup(15), nullptr, "no port left");
        NS_TEST_ASSERT_MSG_EQ(table.IsPortUp(3), false, "port 3");
        NS_TEST_ASSERT_MSG_EQ(table.IsPortUp(2), true, "port 2");
        NS_TEST_ASSERT_MSG_EQ(table.IsPortUp(100), true, "a port of no group");
        table.SetPortUp(1, false);
        NS_TEST_ASSERT_MSG_EQ((*table.Lookup(25) == PortGroup{{2}, {20}}), true, "2 left");
        table.Add(30, 39, {{1, 2}, {}});
        NS_TEST_ASSERT_MSG_EQ((*table.Lookup(30) == PortGroup{{2}, {}}), true, "added while down");
        const auto& whole = table.GroupOf(table.Ranges()[0]);
        NS_TEST_ASSERT_MSG_EQ(whole.ports.size(), 3, "as it was added");
        table.SetPortUp(3, true);
        table.SetPortUp(1, true);
        NS_TEST_ASSERT_MSG_EQ((*table.Lookup(5) == whole), true, "in the same order as before");
        NS_TEST_ASSERT_MSG_EQ((*table.Lookup(15) == PortGroup{{3}, {}}), true, "back again");
    }
};

/// The table by itself: ranges, what is outside of them, and the spread of the hash.
class RouteTableTest : public TestCase
{
  public:
    RouteTableTest()
        : TestCase("Lookup and hash")
    {
    }

  private:
    void DoRun() override
    {
        RouteTable table;
        NS_TEST_ASSERT_MSG_EQ(table.Lookup(0), nullptr, "empty table");
        table.Add(100, 199, {{1}, {}});
        table.Add(10, 19, {{2, 3}, {}});
        table.Add(200, 299, {{1}, {}});
        NS_TEST_ASSERT_MSG_EQ(table.Ranges().size(), 2, "neighbours with equal ports are one");
        const std::pair<uint32_t, int> expected[] =
            {{9, 0}, {10, 2}, {19, 2}, {20, 0}, {99, 0}, {100, 1}, {299, 1}, {300, 0}};
        for (const auto& [address, ports] : expected)
        {
            const auto* found = table.Lookup(address);
            NS_TEST_ASSERT_MSG_EQ((found == nullptr ? 0 : int(found->ports.size())),
                                  ports,
                                  address);
        }
        RouteTable between; // the next, then both neighbours
        between.Add(20, 29, {{1}, {}});
        between.Add(10, 19, {{1}, {}});
        NS_TEST_ASSERT_MSG_EQ(between.Ranges().size(), 1, "with the next");
        between.Add(40, 49, {{1}, {}});
        between.Add(30, 39, {{1}, {}});
        NS_TEST_ASSERT_MSG_EQ(between.Ranges().size(), 1, "with both");
        NS_TEST_ASSERT_MSG_EQ(between.Ranges()[0].first, 10, "first");
        NS_TEST_ASSERT_MSG_EQ(between.Ranges()[0].last, 49, "last");
        NS_TEST_ASSERT_MSG_EQ(between.Lookup(9), nullptr, "before");
        NS_TEST_ASSERT_MSG_NE(between.Lookup(10), nullptr, "begin");
        NS_TEST_ASSERT_MSG_NE(between.Lookup(49), nullptr, "end");
        NS_TEST_ASSERT_MSG_EQ(between.Lookup(50), nullptr, "after");
        NS_TEST_ASSERT_MSG_EQ(Refuses(table, 150, 160, {{4}, {}}), true, "inside another range");
        NS_TEST_ASSERT_MSG_EQ(Refuses(table, 0, 10, {{4}, {}}), true, "overlaps the next");
        NS_TEST_ASSERT_MSG_EQ(Refuses(table, 300, 310, {}), true, "no ports");
        NS_TEST_ASSERT_MSG_EQ(Refuses(table, 300, 310, {{1, 2}, {1}}), true, "a weight too few");
        NS_TEST_ASSERT_MSG_EQ(Refuses(table, 300, 310, {{1, 2}, {1, 0}}), true, "weight of 0");
        // 4,096 UDP source ports over 16 ways: 256 each, standard deviation 15.5.
        std::vector<int> count(16);
        for (uint32_t entropy = 0; entropy < 4096; ++entropy)
        {
            ++count[ScaleHash(HashOf(1, 2, static_cast<uint16_t>(entropy), 5), 16)];
        }
        for (int n : count)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(n, 256, 70, "more than 4.5 standard deviations away");
        }
    }

    static bool Refuses(RouteTable& table, uint32_t first, uint32_t last, PortGroup group)
    {
        try
        {
            table.Add(first, last, std::move(group));
        }
        catch (const std::runtime_error&)
        {
            return true;
        }
        return false;
    }
};

class MultipathSuite : public TestSuite
{
  public:
    MultipathSuite()
        : TestSuite("scaleacross-multipath")
    {
        AddTestCase(new RouteTableTest);
        AddTestCase(new PortsDownTest);
        AddTestCase(new StructuralRoutesTest);
        AddTestCase(new EcmpTest);
        AddTestCase(new ConfigurationTest);
        AddTestCase(new ParallelWiresTest);
    }
};

MultipathSuite g_multipathSuite;

} // namespace
