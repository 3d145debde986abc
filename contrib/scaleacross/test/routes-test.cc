// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/adjacency.h"
#include "fabric-test.h"

#include "ns3/graph-fabric.h"
#include "ns3/route-table.h"

#include <set>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ParseAdjacency;
using scaleacross::PortGroup;
using scaleacross::RouteWeights;

namespace
{

/**
 * Hosts 0 and 1 on switch 4, 2 and 3 (which has two NICs) on switch 5; 6 and 7 are spines. Leaf 4
 * has two parallel wires to spine 6.
 */
const char* const g_text = "8 4 10\n"
                           "4 5 6 7\n"
                           "0 4 100Gbps 1us 0\n"
                           "1 4 100Gbps 1us 0\n"
                           "2 5 100Gbps 1us 0\n"
                           "3 5 100Gbps 1us 0\n"
                           "3 5 100Gbps 1us 0\n"
                           "4 6 100Gbps 2us 0\n"
                           "4 6 100Gbps 2us 0\n"
                           "4 7 100Gbps 3us 0\n"
                           "5 6 100Gbps 2us 0\n"
                           "5 7 50Gbps 3us 0\n";

/// What a text says is what is built, and every NIC can reach every other.
class GraphFabricTest : public TestCase
{
  public:
    GraphFabricTest()
        : TestCase("A fabric is built as an adjacency text says")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        const GraphFabric built = BuildGraph(fabric, ParseAdjacency(g_text, "text"));
        NS_TEST_ASSERT_MSG_EQ(built.nics.size(), 5, "a NIC for each link of a host");
        NS_TEST_ASSERT_MSG_EQ(built.switches.size(), 4, "switches");
        NS_TEST_ASSERT_MSG_EQ(fabric.Wires().size(), 10, "parallel links are wires of their own");
        NS_TEST_ASSERT_MSG_EQ(built.nics[3]->GetNode(), built.nics[4]->GetNode(), "one host");
        NS_TEST_ASSERT_MSG_EQ((built.nics[2]->GetNode() == built.nics[3]->GetNode()),
                              false,
                              "two hosts");
        NS_TEST_ASSERT_MSG_EQ(built.switches[0]->GetNPorts(), 5, "2 NICs, 2 + 1 wires");
        const auto slow = DynamicCast<FabricPort>(built.wires[9]->GetDevice(0));
        NS_TEST_ASSERT_MSG_EQ(slow->GetDataRate(), DataRate("50Gbps"), "rate");
        TimeValue delay;
        built.wires[9]->GetAttribute("Delay", delay);
        NS_TEST_ASSERT_MSG_EQ(delay.Get(), MicroSeconds(3), "delay");
        fabric.InstallRoutes();
        uint64_t arrived = 0;
        for (const auto& from : built.nics)
        {
            for (const auto& to : built.nics)
            {
                if (from != to)
                {
                    const auto connection = fabric.CreateConnection(from, to);
                    connection->SetDeliveryCallback(
                        RdmaMessageCallback([&arrived](Bytes, uint64_t) { ++arrived; }));
                    connection->Send(Bytes(1000), 0);
                }
            }
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(arrived, 20, "every pair");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * Routes follow what is up. Leaf 4 (ports 0, 1: hosts; 2, 3: spine 6; 4: spine 7) has all three
 * wires to the NICs of leaf 5; without the wire between 5 and 6, only the one to spine 7; and when
 * it is back, all three.
 *
 * Weights: spine 6 has 100 Gb/s to leaf 5 and spine 7 has 50. Leaf 4's two wires to spine 6 share
 * min(200, 100), the one to spine 7 has min(100, 50): all 50 each, which is equal. Towards leaf 4,
 * leaf 5 has min(100, 200) over spine 6 and min(50, 100) over spine 7: 2 to 1.
 */
class UpdateRoutesTest : public TestCase
{
  public:
    UpdateRoutesTest()
        : TestCase("Routes are updated to what is up, and weighted")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetRouteWeights(RouteWeights::Capacity);
        const GraphFabric built = BuildGraph(fabric, ParseAdjacency(g_text, "text"));
        fabric.InstallRoutes();
        const uint32_t here = built.nics[0]->GetFabricAddress();
        const uint32_t there = built.nics[2]->GetFabricAddress();
        auto& leaf = built.switches[0]->Routes();
        auto& other = built.switches[1]->Routes();
        const auto is = [](const PortGroup* group,
                           const std::vector<uint16_t>& ports,
                           const std::vector<uint32_t>& weights) {
            return group != nullptr && group->ports == ports && group->weights == weights;
        };
        NS_TEST_ASSERT_MSG_EQ(is(leaf.Lookup(there), {2, 3, 4}, {}), true, "50 Gb/s each");
        NS_TEST_ASSERT_MSG_EQ(is(other.Lookup(here), {3, 4}, {2, 1}), true, "100 and 50 Gb/s");

        // The wire between leaf 5 (its port 3) and spine 6 (its port 2) fails.
        other.SetPortUp(3, false);
        built.switches[2]->Routes().SetPortUp(2, false);
        NS_TEST_ASSERT_MSG_EQ(is(leaf.Lookup(there), {2, 3, 4}, {}), true, "nobody knows yet");
        fabric.UpdateRoutes();
        NS_TEST_ASSERT_MSG_EQ(is(leaf.Lookup(there), {4}, {}), true, "over spine 7");
        NS_TEST_ASSERT_MSG_EQ(is(other.Lookup(here), {4}, {}), true, "and back");
        NS_TEST_ASSERT_MSG_EQ(built.nics[2]->GetFabricAddress(), there, "addresses stay");

        other.SetPortUp(3, true);
        built.switches[2]->Routes().SetPortUp(2, true);
        fabric.UpdateRoutes();
        NS_TEST_ASSERT_MSG_EQ(is(leaf.Lookup(there), {2, 3, 4}, {}), true, "as before");
        NS_TEST_ASSERT_MSG_EQ(is(other.Lookup(here), {3, 4}, {2, 1}), true, "as before");
        Simulator::Destroy();
    }
};

class RoutesSuite : public TestSuite
{
  public:
    RoutesSuite()
        : TestSuite("scaleacross-routes")
    {
        AddTestCase(new GraphFabricTest);
        AddTestCase(new UpdateRoutesTest);
    }
};

RoutesSuite g_routesSuite;

} // namespace
