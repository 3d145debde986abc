// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/address-order.h"
#include "core/topology/switch-routes.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>

namespace scaleacross
{
namespace
{

/// A graph under construction: ports are numbered as wires and NICs are added.
struct Fabric
{
    explicit Fabric(size_t switches)
        : ports(switches)
    {
        graph.links.resize(switches);
    }

    void Wire(uint32_t a, uint32_t b, double gbps = 100, bool up = true)
    {
        graph.links[a].push_back({b, ports[a]++, GigabitsPerSecond(gbps), up});
        graph.links[b].push_back({a, ports[b]++, GigabitsPerSecond(gbps), up});
    }

    void Nic(uint32_t at, uint32_t address, bool up = true)
    {
        graph.nics.push_back({address, at, ports[at]++, up});
    }

    /// Addresses as AddressOrder asks for, in the order of creation on each switch.
    void GiveAddresses()
    {
        uint32_t next = 0;
        for (const uint32_t at : AddressOrder(graph))
        {
            for (NicPlace& nic : graph.nics)
            {
                if (nic.at == at)
                {
                    nic.address = next++;
                }
            }
        }
    }

    SwitchGraph graph;
    std::vector<uint16_t> ports;
};

/// The group of a destination, null if it is in no range.
const RouteGroup*
Find(const SwitchRoutes& table, uint32_t address)
{
    for (const RouteRange& range : table.ranges)
    {
        if (range.first <= address && address <= range.last)
        {
            return &table.groups.at(range.group);
        }
    }
    return nullptr;
}

/// Distances of all pairs over wires that are up (Floyd and Warshall).
std::vector<std::vector<uint32_t>>
Distances(const SwitchGraph& graph)
{
    const size_t n = graph.links.size();
    constexpr uint32_t far = 1'000'000;
    std::vector<std::vector<uint32_t>> distance(n, std::vector<uint32_t>(n, far));
    for (size_t i = 0; i < n; i++)
    {
        distance[i][i] = 0;
        for (const SwitchLink& link : graph.links[i])
        {
            if (link.up)
            {
                distance[i][link.to] = 1;
            }
        }
    }
    for (size_t k = 0; k < n; k++)
    {
        for (size_t i = 0; i < n; i++)
        {
            for (size_t j = 0; j < n; j++)
            {
                distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
            }
        }
    }
    return distance;
}

/// C(at) towards `target` as the header defines it, and each port's share of it.
double
Capacity(const SwitchGraph& graph,
         const std::vector<std::vector<uint32_t>>& distance,
         uint32_t at,
         uint32_t target,
         std::map<uint16_t, double>* shares)
{
    if (at == target)
    {
        return HUGE_VAL;
    }
    std::map<uint32_t, std::vector<const SwitchLink*>> hops;
    for (const SwitchLink& link : graph.links[at])
    {
        if (link.up && distance[link.to][target] + 1 == distance[at][target])
        {
            hops[link.to].push_back(&link);
        }
    }
    double sum = 0;
    for (const auto& [to, wires] : hops)
    {
        double rate = 0;
        for (const SwitchLink* wire : wires)
        {
            rate += wire->rate.Value();
        }
        const double share = std::min(rate, Capacity(graph, distance, to, target, nullptr));
        sum += share;
        for (const SwitchLink* wire : wires)
        {
            if (shares != nullptr)
            {
                (*shares)[wire->port] = wire->rate.Value() * share / rate;
            }
        }
    }
    return sum;
}

/// Leaves under shared spines among random wires: some switches are alike, some are not; some
/// wires and NICs are down, and some switches cannot be reached.
Fabric
RandomFabric(std::mt19937& random)
{
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    const double rates[] = {50, 100, 400};
    const uint32_t leaves = 2 + below(6);
    const uint32_t spines = 1 + below(4);
    const uint32_t others = below(6);
    Fabric fabric(leaves + spines + others);
    for (uint32_t leaf = 0; leaf < leaves; leaf++)
    {
        for (uint32_t spine = 0; spine < spines; spine++)
        {
            fabric.Wire(leaf, leaves + spine, rates[below(3)], below(10) > 0);
            if (below(4) == 0)
            {
                fabric.Wire(leaf, leaves + spine, rates[below(3)]); // a parallel wire
            }
        }
    }
    for (uint32_t i = 0; others > 0 && i < 2 * others; i++)
    {
        const uint32_t a = leaves + spines + below(others);
        const uint32_t b = below(leaves + spines + others);
        if (a != b)
        {
            fabric.Wire(a, b, rates[below(3)], below(10) > 0);
        }
    }
    std::vector<uint32_t> addresses(24);
    std::iota(addresses.begin(), addresses.end(), 3U);
    if (below(2) == 0)
    {
        std::shuffle(addresses.begin(), addresses.end(), random);
    }
    for (size_t i = 0; i < addresses.size(); i++)
    {
        const auto at = i < 20 ? static_cast<uint32_t>(i) % leaves
                               : below(static_cast<uint32_t>(fabric.ports.size()));
        fabric.Nic(at, addresses[i], below(20) > 0);
    }
    return fabric;
}

/// Every table of every switch against the definition: a port belongs to a group if and only if it
/// leads one wire nearer. Ranges are ascending, apart and as few as can be.
TEST(SwitchRoutes, AreAllShortestPaths)
{
    std::mt19937 random(7);
    size_t classesShared = 0;
    for (int trial = 0; trial < 400; trial++)
    {
        const Fabric fabric = RandomFabric(random);
        const auto distance = Distances(fabric.graph);
        const auto tables = ComputeRoutes(fabric.graph);
        ASSERT_EQ(tables.size(), fabric.graph.links.size());
        for (uint32_t at = 0; at < tables.size(); at++)
        {
            for (const NicPlace& nic : fabric.graph.nics)
            {
                std::vector<uint16_t> expected;
                if (nic.at == at)
                {
                    expected = nic.up ? std::vector<uint16_t>{nic.port} : expected;
                }
                for (const SwitchLink& link : fabric.graph.links[at])
                {
                    if (nic.at != at && link.up &&
                        distance[link.to][nic.at] + 1 == distance[at][nic.at])
                    {
                        expected.push_back(link.port);
                    }
                }
                const RouteGroup* group = Find(tables[at], nic.address);
                ASSERT_EQ(group == nullptr, expected.empty())
                    << "trial " << trial << " switch " << at << " address " << nic.address;
                if (group != nullptr)
                {
                    ASSERT_EQ(group->ports, expected)
                        << "trial " << trial << " switch " << at << " address " << nic.address;
                    ASSERT_TRUE(group->weights.empty());
                }
            }
            for (size_t i = 1; i < tables[at].ranges.size(); i++)
            {
                const RouteRange& before = tables[at].ranges[i - 1];
                const RouteRange& range = tables[at].ranges[i];
                ASSERT_LT(before.last, range.first);
                ASSERT_TRUE(before.last + 1 < range.first || before.group != range.group);
                classesShared += range.last - range.first > 3 ? 1 : 0;
            }
        }
    }
    EXPECT_GT(classesShared, 100U); // the fabrics do have structure
}

/// Weights against the recursion of the definition. Rates are whole multiples of 50 Gb/s, and
/// shares are exact to the rounding of a double and of the weight: 1/2 in at least max/65,535.
TEST(SwitchRoutes, WeighsByTheCapacityBehind)
{
    std::mt19937 random(8);
    int weighted = 0;
    for (int trial = 0; trial < 200; trial++)
    {
        const Fabric fabric = RandomFabric(random);
        const auto distance = Distances(fabric.graph);
        const auto tables = ComputeRoutes(fabric.graph, RouteWeights::Capacity);
        for (uint32_t at = 0; at < tables.size(); at++)
        {
            for (const NicPlace& nic : fabric.graph.nics)
            {
                const RouteGroup* group = Find(tables[at], nic.address);
                if (nic.at == at || group == nullptr)
                {
                    continue;
                }
                std::map<uint16_t, double> shares;
                const double sum = Capacity(fabric.graph, distance, at, nic.at, &shares);
                ASSERT_EQ(group->ports.size(), shares.size());
                std::vector<uint32_t> weights = group->weights;
                weighted += weights.empty() ? 0 : 1;
                weights.resize(group->ports.size(), weights.empty() ? 1 : 0);
                const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
                for (size_t i = 0; i < weights.size(); i++)
                {
                    ASSERT_NEAR(weights[i] / all, shares[group->ports[i]] / sum, 1e-4)
                        << "trial " << trial << " switch " << at << " address " << nic.address;
                }
            }
        }
    }
    EXPECT_GT(weighted, 100);
}

/// The case of the header: 0 and 3 are leaves, 1 and 2 spines. min(400, 2 x 400) : min(400, 100).
TEST(SwitchRoutes, WorkedCaseOfWeights)
{
    Fabric fabric(4);
    fabric.Wire(0, 1, 400);
    fabric.Wire(0, 2, 400);
    fabric.Wire(1, 3, 400);
    fabric.Wire(1, 3, 400);
    fabric.Wire(2, 3, 100);
    fabric.Nic(3, 0);
    const auto tables = ComputeRoutes(fabric.graph, RouteWeights::Capacity);
    EXPECT_EQ(tables[0].groups.at(0).weights, (std::vector<uint32_t>{4, 1}));
    EXPECT_TRUE(tables[1].groups.at(0).weights.empty()) << "two equal wires";
}

/// By the wires' own rates: 0 sees two of 400 Gb/s, whatever is behind them, and 1 two wires to 3.
TEST(SwitchRoutes, WeighsByItsOwnWires)
{
    Fabric fabric(4);
    fabric.Wire(0, 1, 400);
    fabric.Wire(0, 2, 400);
    fabric.Wire(1, 3, 400);
    fabric.Wire(1, 3, 200);
    fabric.Wire(2, 3, 100);
    fabric.Nic(3, 0);
    const auto tables = ComputeRoutes(fabric.graph, RouteWeights::Links);
    EXPECT_TRUE(tables[0].groups.at(0).weights.empty());
    EXPECT_EQ(tables[1].groups.at(0).weights, (std::vector<uint32_t>{2, 1}));
}

/// A zone's leaves in the shuffled order in which somebody may have created them.
struct Clos
{
    static constexpr uint32_t kBuildings = 3;
    static constexpr uint32_t kZones = 4;
    static constexpr uint32_t kLeaves = 8;   // per zone
    static constexpr uint32_t kNics = 4;     // per leaf
    static constexpr uint32_t kClusters = 2; // cluster switches of a zone
    static constexpr uint32_t kPlanes = 4;   // aggregation switches of a building

    Clos()
        : fabric(kBuildings * (kZones * (kLeaves + kClusters) + kPlanes)),
          numbers(fabric.ports.size())
    {
        std::iota(numbers.begin(), numbers.end(), 0U);
        std::mt19937 random(3);
        std::shuffle(numbers.begin(), numbers.end(), random);
        for (uint32_t b = 0; b < kBuildings; b++)
        {
            for (uint32_t z = 0; z < kZones; z++)
            {
                for (uint32_t c = 0; c < kClusters; c++)
                {
                    for (uint32_t l = 0; l < kLeaves; l++)
                    {
                        fabric.Wire(Leaf(b, z, l), Cluster(b, z, c));
                    }
                    // Cluster switch c to every second aggregation switch, by two wires.
                    for (uint32_t p = c; p < kPlanes; p += kClusters)
                    {
                        fabric.Wire(Cluster(b, z, c), Plane(b, p));
                        fabric.Wire(Cluster(b, z, c), Plane(b, p));
                    }
                }
            }
            for (uint32_t other = 0; other < b; other++)
            {
                for (uint32_t p = 0; p < kPlanes; p++)
                {
                    fabric.Wire(Plane(other, p), Plane(b, p));
                }
            }
        }
        // Neighbouring NICs are on different leaves, as with rails.
        for (uint32_t n = 0; n < kNics; n++)
        {
            for (uint32_t b = 0; b < kBuildings; b++)
            {
                for (uint32_t z = 0; z < kZones; z++)
                {
                    for (uint32_t l = 0; l < kLeaves; l++)
                    {
                        fabric.Nic(Leaf(b, z, l), 0);
                    }
                }
            }
        }
        fabric.GiveAddresses();
    }

    uint32_t Leaf(uint32_t b, uint32_t z, uint32_t l) const
    {
        return numbers[(b * kZones + z) * kLeaves + l];
    }

    uint32_t Cluster(uint32_t b, uint32_t z, uint32_t c) const
    {
        return numbers[kBuildings * kZones * kLeaves + (b * kZones + z) * kClusters + c];
    }

    uint32_t Plane(uint32_t b, uint32_t p) const
    {
        return numbers[kBuildings * kZones * (kLeaves + kClusters) + b * kPlanes + p];
    }

    Fabric fabric;
    std::vector<uint32_t> numbers;
};

/**
 * How long tables are in a three-stage Clos whose switches were created in no order, and whose
 * neighbouring NICs are on different leaves.
 *
 * A leaf: its 4 NICs, and all others over both cluster switches: one range before and one after its
 * own addresses. A cluster switch: its zone's 8 leaves and what is before and after them. An
 * aggregation switch: the 4 zones of its building and the 2 other buildings.
 */
TEST(SwitchRoutes, FollowTheStructure)
{
    const Clos clos;
    const auto tables = ComputeRoutes(clos.fabric.graph);
    for (uint32_t b = 0; b < Clos::kBuildings; b++)
    {
        for (uint32_t z = 0; z < Clos::kZones; z++)
        {
            for (uint32_t l = 0; l < Clos::kLeaves; l++)
            {
                EXPECT_LE(tables[clos.Leaf(b, z, l)].ranges.size(), Clos::kNics + 2);
            }
            for (uint32_t c = 0; c < Clos::kClusters; c++)
            {
                EXPECT_LE(tables[clos.Cluster(b, z, c)].ranges.size(), Clos::kLeaves + 2);
            }
        }
        for (uint32_t p = 0; p < Clos::kPlanes; p++)
        {
            EXPECT_EQ(tables[clos.Plane(b, p)].ranges.size(), Clos::kZones + Clos::kBuildings - 1);
        }
    }
}

/// The same after a failure: one wire from a leaf to a cluster switch. That leaf alone is told
/// apart elsewhere, by at most three ranges where there was one.
TEST(SwitchRoutes, StayShortAfterAFailure)
{
    Clos clos;
    const uint32_t leaf = clos.Leaf(1, 2, 5);
    const uint32_t cluster = clos.Cluster(1, 2, 0);
    const auto before = ComputeRoutes(clos.fabric.graph);
    for (SwitchLink& link : clos.fabric.graph.links[leaf])
    {
        link.up = link.to != cluster;
    }
    for (SwitchLink& link : clos.fabric.graph.links[cluster])
    {
        link.up = link.to != leaf;
    }
    const auto after = ComputeRoutes(clos.fabric.graph);
    for (size_t i = 0; i < after.size(); i++)
    {
        EXPECT_LE(after[i].ranges.size(), before[i].ranges.size() + 2);
    }
    for (const NicPlace& nic : clos.fabric.graph.nics)
    {
        if (nic.at == leaf)
        {
            const RouteGroup* group = Find(after[clos.Leaf(1, 2, 0)], nic.address);
            ASSERT_NE(group, nullptr);
            EXPECT_EQ(group->ports.size(), 1U) << "the other cluster switch alone";
        }
    }
}

TEST(SwitchRoutes, OrderOfAddresses)
{
    // Two pods of two leaves each, created in turn, under spines of their own (4 and 5) and one
    // switch 6 above: pods stay together, in the order of their first leaf.
    Fabric fabric(7);
    for (const uint32_t leaf : {0U, 1U, 2U, 3U})
    {
        fabric.Wire(leaf, 4 + leaf % 2);
        fabric.Nic(leaf, leaf);
    }
    fabric.Wire(4, 6);
    fabric.Wire(5, 6);
    EXPECT_EQ(AddressOrder(fabric.graph), (std::vector<uint32_t>{0, 2, 1, 3}));
    // A ring of switches with NICs has no tiers: the order of creation.
    Fabric ring(4);
    for (const uint32_t at : {0U, 1U, 2U, 3U})
    {
        ring.Wire(at, (at + 1) % 4);
        ring.Nic(at, at);
    }
    EXPECT_EQ(AddressOrder(ring.graph), (std::vector<uint32_t>{0, 1, 2, 3}));
    EXPECT_TRUE(AddressOrder(SwitchGraph()).empty());
}

/// Four leaves (0 to 3) with 2 links up each, over two switches (4, 5) with 3, over three (6 to 8).
TEST(AddressDivisors, AreProductsOfTheLinksUpBelow)
{
    Fabric fabric(9);
    for (const uint32_t leaf : {0U, 1U, 2U, 3U})
    {
        fabric.Wire(leaf, 4);
        fabric.Wire(leaf, 5);
        fabric.Nic(leaf, leaf);
    }
    for (const uint32_t above : {4U, 5U})
    {
        for (const uint32_t top : {6U, 7U, 8U})
        {
            fabric.Wire(above, top);
        }
    }
    EXPECT_EQ(AddressDivisors(fabric.graph), (std::vector<uint32_t>{1, 1, 1, 1, 2, 2, 6, 6, 6}));
    // All in one stage: nothing is told apart below. A switch without NICs anywhere: 1 as well.
    Fabric ring(3);
    ring.Wire(0, 1);
    ring.Nic(0, 0);
    ring.Nic(1, 1);
    EXPECT_EQ(AddressDivisors(ring.graph), (std::vector<uint32_t>{1, 1, 1}));
}

} // namespace
} // namespace scaleacross
