// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/topology/fabric-graph.h"
#include "fabric-test.h"
#include "server-gpu.h"

#include "ns3/cluster-helper.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-switch.h"
#include "ns3/rdma-connection.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace ns3;
using namespace scaleacross;

namespace
{

/// How buildings are made and joined. Sites 0 to 2 are buildings, 3 is a hub.
struct Place
{
    const char* name;
    FabricSpec fabric;
    std::vector<std::pair<uint32_t, uint32_t>> spans;
    uint32_t lanes;
};

std::vector<Place>
Places()
{
    FabricSpec rails;
    rails.nodesPerPod = 1;
    rails.spines = 4;
    FabricSpec zones;
    zones.rails = false;
    zones.nodesPerPod = 1;
    zones.podsPerZone = 2;
    zones.spines = 2;
    zones.aggregations = 2;
    zones.zoneOversubscription = 2.8;
    FabricSpec planes = rails;
    planes.planes = 2;
    FabricSpec dualTor = rails;
    dualTor.dualTor = true;
    FabricSpec everything = zones;
    everything.rails = true;
    everything.planes = 2;
    everything.dualTor = true;
    return {{"rails, mesh", rails, {{0, 1}, {1, 2}, {0, 2}}, 1},
            {"three stages, line", zones, {{0, 1}, {1, 2}}, 2},
            {"planes, list", planes, {{0, 2}, {1, 2}}, 1},
            {"dual ToR, hub", dualTor, {{0, 3}, {1, 3}, {2, 3}}, 3},
            {"planes of three stages with dual ToR, hub", everything, {{0, 3}, {1, 3}, {2, 3}}, 1}};
}

/// Buildings of 4, 8 and 4 servers with 2 GPUs at 100, 200 and 400 Gb/s.
Scenario
ScenarioOf(const Place& place)
{
    Scenario scenario;
    for (const uint32_t servers : {4, 8, 4})
    {
        const size_t number = scenario.cluster.buildings.size();
        BuildingSpec building;
        building.name = "b" + std::to_string(number);
        building.gpus = 2 * servers;
        building.gpusPerNode = 2;
        building.gpu = ServerGpu();
        building.gpu.nicRate = GigabitsPerSecond(100 << number);
        building.fabric = place.fabric;
        scenario.cluster.buildings.push_back(building);
    }
    for (const auto& [a, b] : place.spans)
    {
        if (b == 3 && scenario.cluster.hubs.empty())
        {
            scenario.cluster.hubs.push_back({"hub"});
        }
        CrossLinkSpec span;
        span.a = a;
        span.b = b;
        span.distance = Distance(10);
        span.latency = FibreDelay(span.distance);
        span.capacity = GigabitsPerSecond(1600);
        span.lanes = place.lanes;
        scenario.cluster.crossLinks.push_back(span);
    }
    scenario.network.spineBuffer = Bytes(1ULL << 30);
    scenario.cluster.Validate();
    return scenario;
}

/**
 * The simulator's links are the planner's: one packet in an empty network takes from every server
 * to every other exactly what PathBetween says, propagation and store and forward on every link.
 *
 * Rates are whole bits per second in ns-3, and an uplink's may be a fraction: then a packet of
 * 1,082 B takes 8,656 / rate^2 longer or shorter on it, less than 1 ps above 100 Mb/s; each of at
 * most 9 links also rounds to a picosecond, or up to a tick of a coarser clock.
 */
class LonePacketTest : public TestCase
{
  public:
    explicit LonePacketTest(Place place)
        : TestCase(std::string("a lone packet: ") + place.name),
          m_place(std::move(place))
    {
    }

  private:
    void DoRun() override
    {
        const Scenario scenario = ScenarioOf(m_place);
        ClusterHelper cluster(scenario);
        const uint32_t gpus = scenario.cluster.Gpus();
        const Bytes payload(1000);
        const Bytes wire = payload + scenario.network.Format().DataHeaders();
        uint64_t delivered = 0;
        for (Rank to = 0; to < gpus; to++)
        {
            cluster.GetTransport()->SetDelivery(to, MakeCallback(&LonePacketTest::Arrived, this));
        }
        for (Rank from = 0; from < gpus; from += 3)
        {
            for (Rank to = 0; to < gpus; to++)
            {
                const FabricPath path = PathBetween(scenario.cluster, from, to);
                if (path.tier == Tier::Node)
                {
                    continue;
                }
                scaleacross::Duration expected = path.propagation;
                for (const BitRate rate : path.rates)
                {
                    expected += SerialisationTime(wire, rate);
                }
                m_arrival = -1;
                const int64_t begin = Simulator::Now().GetPicoSeconds();
                cluster.GetTransport()->Send(from, to, payload, delivered++);
                Simulator::Run();
                NS_TEST_EXPECT_MSG_EQ_TOL(m_arrival - begin,
                                          expected.Ps(),
                                          20 + fabrictest::Rounding(path.rates.size()),
                                          m_place.name << ": " << from << " to " << to);
            }
        }
        CheckConservation(cluster.GetFabric());
        Simulator::Destroy();
    }

    void Arrived(const RankMessage&)
    {
        m_arrival = Simulator::Now().GetPicoSeconds();
    }

    Place m_place;
    int64_t m_arrival{-1};
};

/**
 * Connections use the queue pairs of their tier. NCCLX as it is documented: 16 queue pairs,
 * segments of 512 KiB, in order; between buildings 1 MiB, spray mode, 4 queue pairs, 6 outstanding.
 * 3 MiB in 6 segments use 6 of 16, in 3 segments 3 of 4.
 */
class TierTest : public TestCase
{
  public:
    TierTest()
        : TestCase("connections use the queue pairs of their tier")
    {
    }

  private:
    void DoRun() override
    {
        Scenario scenario = ScenarioOf(Places().front());
        scenario.network.balance = Balance("dqplb");
        auto& cross = scenario.network.tiers[static_cast<size_t>(Tier::Cross) - 1];
        cross = {4, Bytes(1 << 20), Balance("spray"), 6, std::nullopt};
        ClusterHelper cluster(scenario);
        // 2 is on the next server of building 0, 8 in building 1.
        for (const auto& [to, pairs, used] : {std::tuple{2U, 16U, 6U}, std::tuple{8U, 4U, 3U}})
        {
            cluster.GetTransport()->SetDelivery(to, MakeCallback(&TierTest::Arrived, this));
            cluster.GetTransport()->Send(0, to, Bytes(3 << 20), 0);
            Simulator::Run();
            const auto& connection = *cluster.GetFabric().Connections().back();
            NS_TEST_ASSERT_MSG_EQ(connection.GetNQueuePairs(), pairs, "to " << to);
            uint32_t busy = 0;
            uint64_t notified = 0;
            uint64_t messages = 0;
            for (uint32_t i = 0; i < pairs; i++)
            {
                const auto& there = connection.GetRemoteQueuePair(i)->GetCounters();
                busy += there.deliveredBytes > 0 ? 1 : 0;
                notified += there.notified;
                messages += there.deliveredMessages;
            }
            NS_TEST_EXPECT_MSG_EQ(busy, used, "queue pairs that carried, to " << to);
            // In order every segment notifies; in spray mode the write after them alone.
            NS_TEST_EXPECT_MSG_EQ(notified, (to == 2 ? 6 : 1), "to " << to);
            NS_TEST_EXPECT_MSG_EQ(messages, (to == 2 ? 6 : 4), "to " << to);
        }
        NS_TEST_EXPECT_MSG_EQ(m_arrived, 2, "both are delivered");
        Simulator::Destroy();
    }

    void Arrived(const RankMessage&)
    {
        m_arrived++;
    }

    uint32_t m_arrived{0};
};

/**
 * Two buildings send into a third over spans of 1,000 km, 5 ms. Headroom for that is
 * 1.6 Tb/s / 4 planes x 10 ms = 500 MB for each of a spine's ports: with 64 MiB the cluster is
 * refused. Without PFC on the spans the same buffer is enough, and what finds no room in it is
 * dropped and sent again; inside the buildings nothing is.
 */
class SpanWithoutPfcTest : public TestCase
{
  public:
    SpanWithoutPfcTest()
        : TestCase("a span without PFC between buildings with PFC")
    {
    }

  private:
    static Scenario Incast(bool pfc)
    {
        Place place = Places().front();
        Scenario scenario = ScenarioOf(place);
        scenario.network.spineBuffer = Bytes(64ULL << 20);
        for (CrossLinkSpec& span : scenario.cluster.crossLinks)
        {
            span.distance = Distance(1000);
            span.latency = FibreDelay(span.distance);
            span.pfc = pfc;
        }
        return scenario;
    }

    void DoRun() override
    {
        try
        {
            ClusterHelper refused(Incast(true));
            NS_TEST_ASSERT_MSG_EQ(true, false, "64 MiB were accepted");
        }
        catch (const ConfigError& error)
        {
            NS_TEST_EXPECT_MSG_EQ(error.Where(), "network.spine_buffer", error.what());
        }
        Simulator::Destroy();

        const Scenario scenario = Incast(false);
        ClusterHelper cluster(scenario);
        uint32_t arrived = 0;
        m_arrived = &arrived;
        uint32_t sent = 0;
        // 8 x 100 and 8 x 400 Gb/s into 200 Gb/s: 256 MiB, of which the buffer holds 64.
        for (Rank from = 0; from < scenario.cluster.Gpus(); from++)
        {
            if (scenario.cluster.BuildingOf(from) != 1)
            {
                cluster.GetTransport()->Send(from, 9, Bytes(16 << 20), sent++);
            }
        }
        cluster.GetTransport()->SetDelivery(9, MakeCallback(&SpanWithoutPfcTest::Arrived, this));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrived, sent, "messages");
        uint64_t full = 0;
        uint64_t other = 0;
        for (const auto& fabricSwitch : cluster.GetFabric().Switches())
        {
            full += fabricSwitch->GetDrops(DropReason::SharedBufferFull);
            other +=
                fabricSwitch->GetDrops() - fabricSwitch->GetDrops(DropReason::SharedBufferFull);
            NS_TEST_EXPECT_MSG_LT_OR_EQ(fabricSwitch->GetPeakOccupancy(), 64U << 20, "occupancy");
        }
        NS_TEST_EXPECT_MSG_GT(full, 0, "drops");
        NS_TEST_EXPECT_MSG_EQ(other, 0, "drops of another kind");
        CheckConservation(cluster.GetFabric());
        Simulator::Destroy();
    }

    void Arrived(const RankMessage&)
    {
        ++*m_arrived;
    }

    uint32_t* m_arrived{nullptr};
};

class PlacesSuite : public TestSuite
{
  public:
    PlacesSuite()
        : TestSuite("scaleacross-places")
    {
        for (Place& place : Places())
        {
            AddTestCase(new LonePacketTest(std::move(place)));
        }
        AddTestCase(new TierTest);
        AddTestCase(new SpanWithoutPfcTest);
    }
};

PlacesSuite g_placesSuite;

} // namespace
