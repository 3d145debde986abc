// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/topology/routing.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/buffer-dependency.h"
#include "ns3/fabric-control.h"
#include "ns3/fabric-deadlock.h"
#include "ns3/fabric-detours.h"
#include "ns3/fabric-events.h"
#include "ns3/fabric-multipath.h"
#include "ns3/fabric-path.h"
#include "ns3/fabric-transport.h"

#include <string>
#include <utility>
#include <vector>

using namespace fabrictest;
using namespace ns3;
using scaleacross::Bytes;

namespace
{

/// Leaves joined each to each, all wires of 100 Gb/s and 1 us: leaf i has NICs at its first ports,
/// then wires to the other leaves in order. Packets take Valiant's detours.
struct Mesh
{
    Mesh(FabricHelper& fabric, uint32_t leaves, uint32_t nics)
    {
        const DataRate rate("100Gbps");
        for (uint32_t i = 0; i < leaves; ++i)
        {
            leaf.push_back(fabric.AddSwitch());
            for (uint32_t j = 0; j < nics; ++j)
            {
                fabric.Connect(fabric.AddNic(fabric.AddHost()), leaf[i], rate, MicroSeconds(1));
            }
        }
        for (uint32_t i = 0; i < leaves; ++i)
        {
            for (uint32_t j = i + 1; j < leaves; ++j)
            {
                wires.push_back(fabric.Connect(leaf[i], leaf[j], rate, MicroSeconds(1)));
            }
        }
        fabric.SetRouting(scaleacross::ValiantRouting());
    }

    /// Data packets of 1,000 and 48 bytes that went over a wire, away from the leaf with the lower
    /// number or towards it.
    uint64_t Carried(uint32_t wire, bool away) const
    {
        return wires[wire]->GetLane(away ? 0 : 1).DataCarried() / 1048;
    }

    std::vector<Ptr<FabricSwitch>> leaf;
    std::vector<Ptr<FabricWire>> wires; //!< 0-1, 0-2, ... 1-2, ...
};

class DetourTest : public TestCase
{
  protected:
    using TestCase::TestCase;

    /// Every message has come, and no packet is left on the way.
    void CheckDone(const FabricHelper& fabric, const Log& log, size_t messages)
    {
        const FabricBalance balance = CheckConservation(fabric);
        NS_TEST_ASSERT_MSG_EQ(balance.inFlight, 0, "nothing on the way");
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), messages, "every message");
        NS_TEST_ASSERT_MSG_EQ(log.failures.size(), 0, "no failure");
    }
};

/**
 * 1,200 packets from leaf 0 to leaf 3 of four, sprayed in turn over three wires: 400 on each. Those
 * over leaves 1 and 2 go on by the wire to leaf 3 and by no other. Of 600 more from leaf 1 to leaf
 * 3, 200 pass leaf 0, which sends them by the wire to leaf 3 like its own.
 */
class SpreadTest : public DetourTest
{
  public:
    explicit SpreadTest(bool lookAhead)
        : DetourTest(std::string("Sprayed packets take all detours alike") +
                     (lookAhead ? ", looking ahead" : "")),
          m_lookAhead(lookAhead)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetLookAhead(m_lookAhead);
        fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(1'000'000));
        UseMultipath(fabric, "spray-rr");
        UseRecovery(fabric, "selective-repeat", 10'000);
        const Mesh mesh(fabric, 4, 1);
        fabric.InstallRoutes();
        Log log;
        auto first = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[3]);
        auto second = fabric.CreateConnection(fabric.Nics()[1], fabric.Nics()[3]);
        log.Watch(first);
        log.Watch(second);
        first->Send(Bytes(1'200'000), 0);
        second->Send(Bytes(600'000), 1);
        Simulator::Run();
        CheckDone(fabric, log, 2);
        // Wires 0-1, 0-2, 0-3, 1-2, 1-3, 2-3, there and back.
        const std::vector<uint64_t> there{400, 400, 400 + 200, 200, 200 + 400, 400 + 200};
        const std::vector<uint64_t> back{200, 0, 0, 0, 0, 0};
        for (uint32_t wire = 0; wire < 6; ++wire)
        {
            NS_TEST_ASSERT_MSG_EQ(mesh.Carried(wire, true), there[wire], "wire " << wire);
            NS_TEST_ASSERT_MSG_EQ(mesh.Carried(wire, false), back[wire], "wire " << wire);
        }
        Simulator::Destroy();
    }

    bool m_lookAhead;
};

/// What PathOf says a flow does: with entropies, all detours and the direct way are found, and no
/// path passes more than one other leaf.
class PathTest : public TestCase
{
  public:
    PathTest()
        : TestCase("Paths of flows are predicted")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseMultipath(fabric, "e-ecmp");
        const Mesh mesh(fabric, 5, 2);
        fabric.InstallRoutes();
        std::vector<size_t> by(4, 0);
        for (uint16_t entropy = 50'000; entropy < 50'200; ++entropy)
        {
            const auto path = PathOf({fabric.Nics()[0], fabric.Nics()[9], entropy, 1});
            // NIC, leaf 0, (leaf,) leaf 4.
            NS_TEST_ASSERT_MSG_EQ((path.size() == 3 || path.size() == 4), true, path.size());
            const uint32_t port = DynamicCast<SwitchPort>(path[1])->GetPortNumber();
            ++by[port - 2];
            NS_TEST_ASSERT_MSG_EQ((path.size() == 3),
                                  (port == 5),
                                  "directly by the wire to leaf 4");
        }
        for (const size_t flows : by)
        {
            // 200 flows over four ways: 50, with a standard deviation of 6.1; five of them.
            NS_TEST_ASSERT_MSG_EQ((flows > 19 && flows < 81), true, flows);
        }
        Simulator::Destroy();
    }
};

/**
 * Every NIC of four leaves sends to one on each other leaf, with buffers for a few packets only. On
 * one lane first hops wait for second hops of others, in circles: the routes say so. With lanes for
 * detours they do not, and everything arrives.
 */
class LanesTest : public DetourTest
{
  public:
    explicit LanesTest(bool lanes)
        : DetourTest(lanes ? "Lanes for detours leave no circle" : "On one lane there are circles"),
          m_lanes(lanes)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseTransport(fabric, "infiniband");
        fabric.SetSwitchAttribute("VlBuffer", UintegerValue(16'384));
        UseMultipath(fabric, "e-ecmp");
        const Mesh mesh(fabric, 4, 3);
        if (m_lanes)
        {
            UseDetourLanes(fabric);
        }
        fabric.InstallRoutes();
        const std::string cycle = FindBufferDependencyCycle(fabric).Text();
        NS_TEST_ASSERT_MSG_EQ(cycle.empty(), m_lanes, cycle);
        if (m_lanes)
        {
            // The worked case: data 3, ACKs 6, CNPs 7 go on by 4, 5 and 2; port 3 is the wire to
            // the next leaf, 0 a NIC.
            const Ptr<FabricSwitch> leaf = mesh.leaf[0];
            NS_TEST_ASSERT_MSG_EQ(+leaf->LaneOf(4, 3, 3), 4, "on a detour");
            NS_TEST_ASSERT_MSG_EQ(+leaf->LaneOf(4, 3, 6), 5, "on a detour");
            NS_TEST_ASSERT_MSG_EQ(+leaf->LaneOf(4, 3, 7), 2, "on a detour");
            NS_TEST_ASSERT_MSG_EQ(+leaf->LaneOf(0, 3, 3), 3, "from a NIC");
            NS_TEST_ASSERT_MSG_EQ(+leaf->LaneOf(3, 0, 3), 3, "to a NIC");
        }
        Log log;
        size_t messages = 0;
        for (uint32_t from = 0; m_lanes && from < 12; ++from)
        {
            for (uint32_t to = 0; to < 12; ++to)
            {
                if (from / 3 != to / 3)
                {
                    auto connection =
                        fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
                    log.Watch(connection);
                    connection->Send(Bytes(kMiB / 4), messages++);
                }
            }
        }
        Simulator::Run(); // ends by itself
        CheckDone(fabric, log, messages);
        NS_TEST_ASSERT_MSG_EQ(FindDeadlock(fabric).Text(), "", "no deadlock");
        Simulator::Destroy();
    }

    bool m_lanes;
};

/**
 * The wire from leaf 0 to leaf 3 breaks at 20 us, which is known 10 us later; from then on nothing
 * goes from leaf 0 over it, nor from leaf 1 to leaf 3 over leaf 0, and all arrives.
 */
class FailureTest : public DetourTest
{
  public:
    FailureTest()
        : DetourTest("Detours that do not lead on are not taken")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("Pfc", BooleanValue(false));
        UseMultipath(fabric, "spray-random");
        UseRecovery(fabric, "selective-repeat", 1'000);
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(5)); // 131 us
        const Mesh mesh(fabric, 4, 1);
        fabric.InstallRoutes();
        auto events = CreateObject<FabricEvents>();
        events->SetAttribute("DetectionDelay", TimeValue(MicroSeconds(10)));
        events->SetAttribute("ConvergenceDelay", TimeValue(MicroSeconds(0)));
        events->SetFabric(fabric);
        events->Fail(FabricEvents::LinkTarget(mesh.wires[2]), MicroSeconds(20));
        Log log;
        for (const uint32_t from : {0U, 1U})
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[3]);
            log.Watch(connection);
            connection->Send(Bytes(4 * kMiB), from);
        }
        Simulator::Run();
        CheckDone(fabric, log, 2);
        const std::vector<uint16_t> ports =
            mesh.leaf[0]->Routes().LookupEntry(fabric.Nics()[3]->GetFabricAddress())->ports;
        NS_TEST_ASSERT_MSG_EQ((ports == std::vector<uint16_t>{1, 2}), true, "over leaves 1 and 2");
        const std::vector<uint16_t> others =
            mesh.leaf[1]->Routes().LookupEntry(fabric.Nics()[3]->GetFabricAddress())->ports;
        NS_TEST_ASSERT_MSG_EQ((others == std::vector<uint16_t>{2, 3}), true, "not over leaf 0");
        Simulator::Destroy();
    }
};

/**
 * Requests to send on lane 1, beside data 3, ACKs and pulls 6, CNPs 7: by turns the next larger
 * free lane, 1 to 2 and 3 to 4; then the next smaller, 6 to 5 and 7 to 0. Five priorities would
 * need ten lanes.
 */
class PrioritiesTest : public TestCase
{
  public:
    PrioritiesTest()
        : TestCase("Every priority of the transport has a lane for detours, or is refused")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseTransport(fabric, "infiniband");
        fabric.SetConnectionAttribute("ControlPriority", UintegerValue(1));
        const Mesh mesh(fabric, 4, 1);
        UseDetourLanes(fabric);
        fabric.InstallRoutes();
        const std::vector<std::pair<uint8_t, uint8_t>> lanes{{1, 2}, {3, 4}, {6, 5}, {7, 0}};
        for (const auto& [level, lane] : lanes)
        {
            NS_TEST_ASSERT_MSG_EQ(+mesh.leaf[0]->LaneOf(2, 1, level), +lane, "level " << +level);
        }
        fabric.SetNicAttribute("PullPriority", UintegerValue(0));
        bool refused = false;
        try
        {
            UseDetourLanes(fabric);
        }
        catch (const scaleacross::ConfigError& error)
        {
            refused = std::string(error.what()).find("PullPriority") != std::string::npos;
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "five priorities");
        Simulator::Destroy();
    }
};

class DetoursSuite : public TestSuite
{
  public:
    DetoursSuite()
        : TestSuite("scaleacross-detours")
    {
        AddTestCase(new SpreadTest(false));
        AddTestCase(new SpreadTest(true));
        AddTestCase(new PathTest);
        AddTestCase(new LanesTest(false));
        AddTestCase(new LanesTest(true));
        AddTestCase(new PrioritiesTest);
        AddTestCase(new FailureTest);
    }
};

DetoursSuite g_detoursSuite;

} // namespace
