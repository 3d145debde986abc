// SPDX-License-Identifier: GPL-2.0-only

// Path selectors by themselves: which port of a group they give which packet.

#include "core/base/errors.h"
#include "core/topology/ecmp-collision.h"

#include "ns3/adaptive-spray-selector.h"
#include "ns3/ecmp-selector.h"
#include "ns3/fabric-packet.h"
#include "ns3/flowlet-selector.h"
#include "ns3/random-spray-selector.h"
#include "ns3/round-robin-spray-selector.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"
#include "ns3/weighted-selector.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

using namespace ns3;
using scaleacross::EcmpSlowdown;
using scaleacross::FabricPacket;
using scaleacross::FlowHash;
using scaleacross::PortGroup;

namespace
{

/// Queues whose lengths a test sets.
class FixedQueues : public scaleacross::EgressQueues
{
  public:
    int64_t WaitAt(uint16_t port, uint8_t, int64_t) override
    {
        return waits[port];
    }

    std::map<uint16_t, int64_t> waits;
};

FixedQueues g_queues;

/// Source, destination, UDP source port and destination QP as a NIC pair's n-th queue pair has
/// them.
FabricPacket
PacketOf(uint32_t source, uint32_t destination, uint32_t queuePair)
{
    FabricPacket packet{};
    packet.source = source;
    packet.destination = destination;
    packet.queuePair = queuePair & 0xFFFFFFU;
    const uint32_t hash = scaleacross::HashOf(source, destination, 0, queuePair);
    packet.entropy = static_cast<uint16_t>(0xC000U | (hash & 0x3FFFU));
    packet.payload = 1000;
    return packet;
}

PortGroup
Ports(uint16_t n)
{
    PortGroup group;
    for (uint16_t i = 0; i < n; ++i)
    {
        group.ports.push_back(static_cast<uint16_t>(10 + i));
    }
    return group;
}

template <class T>
Ptr<T>
Make(const std::string& fields, uint64_t seed)
{
    Ptr<T> selector = CreateObject<T>();
    selector->Attach(FlowHash(scaleacross::ParseHashFields(fields), seed), g_queues);
    selector->AssignStreams(static_cast<int64_t>(seed));
    return selector;
}

const std::string kAllFields = "source,destination,udp-source-port,destination-qp";

/// A field that is hashed tells flows apart, one that is not does not. 64 packets that differ in
/// one field only, on 16 ports: they take one port, or more than eight (16 are missed by a packet
/// with 15/16, so that 8 or more of 16 are free with less than C(16, 8) / 2^64).
class HashFieldsTest : public TestCase
{
  public:
    HashFieldsTest()
        : TestCase("Flows are told apart by the fields that are hashed")
    {
    }

  private:
    static size_t Spread(const std::string& fields, void (*change)(FabricPacket&, uint32_t))
    {
        auto selector = Make<EcmpSelector>(fields, 1);
        const PortGroup group = Ports(16);
        std::set<uint16_t> taken;
        for (uint32_t i = 0; i < 64; ++i)
        {
            FabricPacket packet = PacketOf(1, 2, 3);
            change(packet, i);
            taken.insert(selector->Select(group, packet, 0));
        }
        return taken.size();
    }

    void DoRun() override
    {
        struct Field
        {
            std::string name;
            void (*change)(FabricPacket&, uint32_t);
        };

        const Field fields[] = {
            {"source", [](FabricPacket& packet, uint32_t i) { packet.source = i; }},
            {"destination", [](FabricPacket& packet, uint32_t i) { packet.destination = i; }},
            {"udp-source-port",
             [](FabricPacket& packet, uint32_t i) {
                 packet.entropy = static_cast<uint16_t>(0xC000 + i);
             }},
            {"destination-qp",
             [](FabricPacket& packet, uint32_t i) { packet.queuePair = i & 0xFFFFFFU; }}};
        for (const Field& changed : fields)
        {
            NS_TEST_ASSERT_MSG_GT(Spread(kAllFields, changed.change), 8, changed.name);
            for (const Field& hashed : fields)
            {
                const size_t spread = Spread(hashed.name, changed.change);
                const bool same = hashed.name == changed.name;
                NS_TEST_ASSERT_MSG_EQ((spread > 8), same, hashed.name << " on " << changed.name);
                NS_TEST_ASSERT_MSG_EQ((spread == 1), !same, hashed.name << " on " << changed.name);
            }
        }
        NS_TEST_ASSERT_MSG_EQ(
            scaleacross::NamesOfHashFields(scaleacross::ParseHashFields("destination-qp,source")),
            "source,destination-qp",
            "read and written");
        for (const std::string wrong : {"", "source,port", "source;destination"})
        {
            bool refused = false;
            try
            {
                scaleacross::ParseHashFields(wrong);
            }
            catch (const scaleacross::ConfigError& error)
            {
                refused = error.Where() == "FabricSwitch::HashFields";
            }
            NS_TEST_ASSERT_MSG_EQ(refused, true, "\"" << wrong << "\"");
        }
    }
};

/**
 * n flows on m equal paths, 1,000 seeds: the mean over the seeds of the fullest path's flows,
 * divided by n / m, is EcmpSlowdown(n, m) within 3 %. The standard deviation of the fullest of m
 * paths is less than 0.8 of that of one path, sqrt(n / m), and the mean of 1,000 has a 32nd of it:
 * at n = m = 8, 0.025 of 2.6 flows, 1 %. Hence 3 % are three standard deviations there and more
 * elsewhere. Also against that mean itself, E[max] of n balls in m boxes, from
 * P(max <= k) = n! / m^n times the coefficient of x^n in (sum over j <= k of x^j / j!)^m.
 *
 * The flows are queue pairs of different NICs, as a synchronous collective has them.
 */
class CollisionTest : public TestCase
{
  public:
    CollisionTest()
        : TestCase("The slowest of hashed flows, 1,000 seeds")
    {
    }

  private:
    static double Simulated(uint32_t flows, uint16_t paths)
    {
        const PortGroup group = Ports(paths);
        std::vector<FabricPacket> packets;
        for (uint32_t i = 0; i < flows; ++i)
        {
            packets.push_back(PacketOf(i, 100'000 + i, i % 16));
        }
        double sum = 0;
        for (uint64_t seed = 1; seed <= 1000; ++seed)
        {
            auto selector =
                Make<EcmpSelector>("source,destination,udp-source-port", seed * 0x9e3779b97f4a7c15);
            std::vector<uint32_t> load(paths);
            for (const FabricPacket& packet : packets)
            {
                ++load[selector->Select(group, packet, 0) - size_t{10}];
            }
            sum += *std::max_element(load.begin(), load.end());
        }
        return sum / 1000 * paths / flows;
    }

    void DoRun() override
    {
        struct Row
        {
            uint32_t flows;
            uint16_t paths;
            double exact;
        };

        for (const Row& row : {Row{8, 8, 2.5972},
                               Row{64, 8, 1.5294},
                               Row{16, 16, 3.0782},
                               Row{32, 16, 2.4152},
                               Row{64, 16, 1.9701},
                               Row{128, 16, 1.6696},
                               Row{256, 16, 1.4648},
                               Row{1024, 16, 1.2268},
                               Row{64, 64, 3.9577},
                               Row{256, 64, 2.3426},
                               Row{1024, 64, 1.6313},
                               Row{4096, 64, 1.3047}})
        {
            const double slowdown = Simulated(row.flows, row.paths);
            const double expected = EcmpSlowdown(row.flows, row.paths);
            NS_TEST_ASSERT_MSG_EQ_TOL(slowdown,
                                      expected,
                                      0.03 * expected,
                                      row.flows << " flows on " << row.paths << " paths");
            NS_TEST_ASSERT_MSG_EQ_TOL(slowdown,
                                      row.exact,
                                      0.03 * row.exact,
                                      row.flows << " flows on " << row.paths << " paths, exact");
        }
    }
};

/**
 * Weights 4, 3, 2, 1 and 10,000 flows: 4,000, 3,000, 2,000 and 1,000, each within 4.5 standard
 * deviations sqrt(N p (1 - p)): 49, 46, 40, 30. Without weights 2,500 +- 43 each. A flow keeps its
 * port. Weights as large as 2^20 sum up without overflow.
 */
class WeightsTest : public TestCase
{
  public:
    WeightsTest()
        : TestCase("UCMP's shares follow the weights")
    {
    }

  private:
    static std::vector<uint32_t> Shares(const PortGroup& group)
    {
        auto selector = Make<WeightedSelector>("source,destination,udp-source-port", 3);
        std::vector<uint32_t> count(group.ports.size());
        for (uint32_t i = 0; i < 10'000; ++i)
        {
            const FabricPacket packet = PacketOf(i / 16, 5000, i % 16);
            const uint16_t port = selector->Select(group, packet, 0);
            count[port - size_t{10}] += selector->Select(group, packet, 1) == port ? 1 : 0;
        }
        return count;
    }

    void DoRun() override
    {
        PortGroup group = Ports(4);
        for (const uint32_t scale : {1U, 1U << 18})
        {
            group.weights = {4 * scale, 3 * scale, 2 * scale, scale};
            const auto shares = Shares(group);
            NS_TEST_ASSERT_MSG_EQ_TOL(shares[0], 4000, 4.5 * 49, "4 of 10");
            NS_TEST_ASSERT_MSG_EQ_TOL(shares[1], 3000, 4.5 * 46, "3 of 10");
            NS_TEST_ASSERT_MSG_EQ_TOL(shares[2], 2000, 4.5 * 40, "2 of 10");
            NS_TEST_ASSERT_MSG_EQ_TOL(shares[3], 1000, 4.5 * 30, "1 of 10");
        }
        group.weights.clear();
        for (const uint32_t share : Shares(group))
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(share, 2500, 4.5 * 43, "a quarter");
        }
    }
};

/// Packets of a flow that follow each other within the gap stay together; the port of a flowlet is
/// drawn: of 4,000 flowlets each of 4 ports gets 1,000 +- 27. While its port is not in the group a
/// flow goes by its hash.
class FlowletTest : public TestCase
{
  public:
    FlowletTest()
        : TestCase("Flowlets stay together within the gap")
    {
    }

  private:
    void DoRun() override
    {
        auto selector = Make<FlowletSelector>(kAllFields, 7);
        selector->SetGap(MicroSeconds(50));
        NS_TEST_EXPECT_MSG_EQ(selector->GoesByTime(), true, "");
        NS_TEST_EXPECT_MSG_EQ(Make<EcmpSelector>(kAllFields, 7)->GoesByTime(), false, "");
        const int64_t gap = 50'000'000;
        const PortGroup group = Ports(4);
        const FabricPacket packet = PacketOf(1, 2, 3);
        std::vector<uint32_t> count(4);
        int64_t now = 0;
        for (uint32_t i = 0; i < 4000; ++i)
        {
            const uint16_t port = selector->Select(group, packet, now);
            ++count[port - size_t{10}];
            for (uint32_t j = 0; j < 3; ++j)
            {
                now += gap; // exactly the gap is not longer than it
                NS_TEST_ASSERT_MSG_EQ(selector->Select(group, packet, now), port, "within the gap");
            }
            now += gap + 1;
        }
        NS_TEST_ASSERT_MSG_EQ(selector->GetFlowlets(), 4000, "flowlets");
        for (const uint32_t n : count)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(n, 1000, 4.5 * 27.4, "a quarter each");
        }
        const uint16_t last = selector->Select(group, packet, now);
        PortGroup rest = group;
        rest.ports.erase(std::find(rest.ports.begin(), rest.ports.end(), last));
        auto hashed = Make<EcmpSelector>(kAllFields, 7);
        for (uint32_t i = 0; i < 3; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(selector->Select(rest, packet, now),
                                  hashed->Select(rest, packet, now),
                                  "its port is down: the one it is hashed to");
        }
        NS_TEST_ASSERT_MSG_EQ(selector->Select(group, packet, now), last, "back on its own");
        NS_TEST_ASSERT_MSG_EQ(selector->GetFlowlets(), 4001, "one more has been drawn");
    }
};

/// Flows that share an entry but not a group: packets of equal hash whose groups are ports 10 to 13
/// and 20 to 23, in turn within the gap. Each keeps its port, whichever of them the entry is of.
class FlowletGuestTest : public TestCase
{
  public:
    FlowletGuestTest()
        : TestCase("Flows of different groups that share an entry keep their ports")
    {
    }

  private:
    void DoRun() override
    {
        auto selector = Make<FlowletSelector>(kAllFields, 7);
        selector->SetGap(MicroSeconds(50));
        const PortGroup near = Ports(4);
        PortGroup far;
        far.ports = {20, 21, 22, 23};
        const FabricPacket packet = PacketOf(1, 2, 3);
        const uint16_t first = selector->Select(near, packet, 0);
        const uint16_t second = selector->Select(far, packet, 1);
        for (int64_t now = 2; now < 200; now += 2)
        {
            NS_TEST_ASSERT_MSG_EQ(selector->Select(near, packet, now), first, "its entry");
            NS_TEST_ASSERT_MSG_EQ(selector->Select(far, packet, now + 1), second, "a guest");
        }
        NS_TEST_ASSERT_MSG_EQ(selector->GetFlowlets(), 1, "the first one's");
    }
};

/**
 * Random: 16,000 packets of one flow on 16 ports: 1,000 +- 31 each, and pairs of packets in a row
 * are independent: one port twice in a row 1,000 +- 31 times. Round robin: any 16 packets in a row
 * of one kind on 16 ports, whatever goes between; switches with different seeds begin elsewhere.
 */
class SprayTest : public TestCase
{
  public:
    SprayTest()
        : TestCase("Random and round-robin spraying")
    {
    }

  private:
    void DoRun() override
    {
        const PortGroup group = Ports(16);
        const FabricPacket data = PacketOf(1, 2, 3);
        FabricPacket ack = data;
        ack.payload = 0;
        auto random = Make<RandomSpraySelector>(kAllFields, 5);
        std::vector<uint32_t> count(16);
        uint32_t twice = 0;
        uint16_t before = 0;
        for (uint32_t i = 0; i < 16'000; ++i)
        {
            const uint16_t port = random->Select(group, data, 0);
            ++count[port - size_t{10}];
            twice += port == before ? 1 : 0;
            before = port;
        }
        for (const uint32_t n : count)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(n, 1000, 4.5 * 31, "a 16th each");
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(twice, 1000, 4.5 * 31, "the same twice in a row");

        std::set<uint16_t> beginnings;
        for (uint64_t seed = 1; seed <= 20; ++seed)
        {
            auto turns = Make<RoundRobinSpraySelector>(kAllFields, seed << 32);
            std::vector<uint16_t> taken;
            std::mt19937 others(1);
            for (uint32_t i = 0; i < 64; ++i)
            {
                taken.push_back(turns->Select(group, data, 0));
                for (uint32_t j = others() % 3; j > 0; --j)
                {
                    turns->Select(group, ack, 0);
                }
            }
            beginnings.insert(taken[0]);
            for (uint32_t i = 0; i + 16 <= 64; ++i)
            {
                const auto first = taken.begin() + i;
                const std::set<uint16_t> round(first, first + 16);
                NS_TEST_ASSERT_MSG_EQ(round.size(), 16, "each port once in 16 packets");
            }
        }
        // 20 seeds on 16 places: 16 (1 - (15/16)^20) = 11.6 of them.
        NS_TEST_ASSERT_MSG_GT(beginnings.size(), 6, "different beginnings");
    }
};

/**
 * Adaptive: the least wait of all, equal ones equally often, a paused one only if all are. With d
 * choices of n ports, the one with the r-th least wait (r from 0) is taken if it is drawn and none
 * of the r better ones is: with probability C(n - 1 - r, d - 1) / C(n, d).
 */
class AdaptiveTest : public TestCase
{
  public:
    AdaptiveTest()
        : TestCase("Adaptive spraying")
    {
    }

  private:
    void DoRun() override
    {
        const PortGroup group = Ports(8);
        const FabricPacket packet = PacketOf(1, 2, 3);
        auto all = Make<AdaptiveSpraySelector>(kAllFields, 5);
        for (const uint16_t port : group.ports)
        {
            g_queues.waits[port] = 1000 * (1 + (port * 5) % 8); // 10 -> 3, 11 -> 8, 12 -> 5, ...
        }
        const auto least =
            std::min_element(group.ports.begin(), group.ports.end(), [](uint16_t a, uint16_t b) {
                return g_queues.waits[a] < g_queues.waits[b];
            });
        NS_TEST_ASSERT_MSG_EQ(all->Select(group, packet, 0), *least, "the shortest queue");
        g_queues.waits[*least] += scaleacross::kPausedWait;
        NS_TEST_ASSERT_MSG_NE(all->Select(group, packet, 0), *least, "not one that is paused");
        for (const uint16_t port : group.ports)
        {
            g_queues.waits[port] += port == *least ? 0 : scaleacross::kPausedWait;
        }
        NS_TEST_ASSERT_MSG_EQ(all->Select(group, packet, 0), *least, "all are paused");

        std::vector<uint32_t> count(8);
        for (const uint16_t port : group.ports)
        {
            g_queues.waits[port] = port % 2 == 0 ? 70'000 : 80'000;
        }
        for (uint32_t i = 0; i < 4000; ++i)
        {
            ++count[all->Select(group, packet, 0) - size_t{10}];
        }
        for (uint32_t i = 0; i < 8; ++i)
        {
            // A quarter each of the four with the least wait: sqrt(4000 * 1/4 * 3/4) = 27.
            const uint32_t expected = i % 2 == 0 ? 1000 : 0;
            NS_TEST_ASSERT_MSG_EQ_TOL(count[i], expected, 0.123 * expected, "port " << i);
        }

        // In multiples of 50 ns, 70 and 80 ns are equal: an eighth each, sqrt(4000 / 8 * 7/8) = 21.
        all->SetGranularity(NanoSeconds(50));
        std::fill(count.begin(), count.end(), 0);
        for (uint32_t i = 0; i < 4000; ++i)
        {
            ++count[all->Select(group, packet, 0) - size_t{10}];
        }
        for (const uint32_t n : count)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(n, 500, 4.5 * 21, "an eighth");
        }

        for (const uint16_t port : group.ports)
        {
            g_queues.waits[port] = port;
        }
        for (const uint32_t d : {1U, 2U, 3U, 8U, 9U})
        {
            auto some = Make<AdaptiveSpraySelector>(kAllFields, d);
            some->SetAttribute("Choices", UintegerValue(d));
            std::vector<uint32_t> taken(8);
            for (uint32_t i = 0; i < 28'000; ++i)
            {
                ++taken[some->Select(group, packet, 0) - size_t{10}];
            }
            const uint32_t drawn = std::min(d, 8U);
            for (uint32_t rank = 0; rank < 8; ++rank)
            {
                const double p = Choose(7 - rank, drawn - 1) / Choose(8, drawn);
                NS_TEST_ASSERT_MSG_EQ_TOL(taken[rank],
                                          28'000 * p,
                                          4.5 * std::sqrt(28'000 * p * (1 - p)) + 1e-9,
                                          d << " choices, rank " << rank);
            }
        }
    }

    static double Choose(uint32_t n, uint32_t k)
    {
        double ways = n < k ? 0 : 1;
        for (uint32_t i = 0; i < k && n >= k; ++i)
        {
            ways *= static_cast<double>(n - i) / (k - i);
        }
        return ways;
    }
};

class PathSelectorSuite : public TestSuite
{
  public:
    PathSelectorSuite()
        : TestSuite("scaleacross-path-selectors")
    {
        AddTestCase(new HashFieldsTest);
        AddTestCase(new CollisionTest);
        AddTestCase(new WeightsTest);
        AddTestCase(new FlowletTest);
        AddTestCase(new FlowletGuestTest);
        AddTestCase(new SprayTest);
        AddTestCase(new AdaptiveTest);
    }
};

PathSelectorSuite g_pathSelectorSuite;

} // namespace
