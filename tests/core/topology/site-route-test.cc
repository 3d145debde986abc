// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/topology/site-route.h"

#include <gtest/gtest.h>
#include <map>
#include <utility>

namespace scaleacross
{
namespace
{

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

/// Sites 0 to buildings - 1 and hubs after them; the i-th span has a latency of i + 1 us.
ClusterSpec
Sites(uint32_t buildings, uint32_t hubs, const Pairs& pairs)
{
    ClusterSpec cluster;
    for (uint32_t i = 0; i < buildings; i++)
    {
        cluster.buildings.emplace_back();
        cluster.buildings.back().name = "b" + std::to_string(i);
    }
    for (uint32_t i = 0; i < hubs; i++)
    {
        cluster.hubs.push_back({"h" + std::to_string(i)});
    }
    for (const auto& [a, b] : pairs)
    {
        CrossLinkSpec link;
        link.a = a;
        link.b = b;
        link.latency = Duration::Microseconds(static_cast<int64_t>(cluster.crossLinks.size()) + 1);
        cluster.crossLinks.push_back(link);
    }
    return cluster;
}

std::map<uint32_t, double>
Shares(const SiteRoute& route)
{
    std::map<uint32_t, double> shares;
    for (const SiteRoute::Use& use : route.uses)
    {
        shares[use.link] += use.share;
    }
    return shares;
}

TEST(SiteRoute, ADirectSpanIsTheOnlyWay)
{
    const ClusterSpec mesh = Sites(3, 0, {{0, 1}, {0, 2}, {1, 2}});
    const SiteRoute route = RouteBetweenSites(mesh, 2, 0);
    ASSERT_EQ(route.uses.size(), 1U);
    EXPECT_EQ(route.uses[0].link, 1U);
    EXPECT_FALSE(route.uses[0].forward);
    EXPECT_EQ(route.uses[0].share, 1.0);
    EXPECT_EQ(route.ways, 1U);
}

TEST(SiteRoute, OppositeSitesOfARingHaveTwoWays)
{
    // Spans 0-1, 1-2, 2-3, 3-0 of 1, 2, 3 and 4 us: over 1 in 3 us, over 3 in 7 us.
    const ClusterSpec ring = Sites(4, 0, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
    const SiteRoute route = RouteBetweenSites(ring, 0, 2);
    EXPECT_EQ(Shares(route), (std::map<uint32_t, double>{{0, 0.5}, {1, 0.5}, {2, 0.5}, {3, 0.5}}));
    EXPECT_EQ(route.ways, 2U);
    ASSERT_EQ(route.longest.size(), 2U);
    EXPECT_EQ(route.longest[0].link, 3U);
    EXPECT_FALSE(route.longest[0].forward);
    EXPECT_EQ(route.longest[1].link, 2U);
    EXPECT_EQ(route.least, Duration::Microseconds(3));
    // Neighbours have one way of one span, although the way round exists.
    EXPECT_EQ(Shares(RouteBetweenSites(ring, 0, 3)), (std::map<uint32_t, double>{{3, 1.0}}));
}

TEST(SiteRoute, TheLeastTimeIsThatOfAnyWay)
{
    // Spans 0-1, 1-2 and 0-2 of 1, 2 and 10 us: the direct one is taken, but where it fails the way
    // over 1 takes 3 us.
    ClusterSpec mesh = Sites(3, 0, {{0, 1}, {1, 2}, {0, 2}});
    mesh.crossLinks[2].latency = Duration::Microseconds(10);
    const SiteRoute route = RouteBetweenSites(mesh, 0, 2);
    ASSERT_EQ(route.longest.size(), 1U);
    EXPECT_EQ(route.longest[0].link, 2U);
    EXPECT_EQ(route.least, Duration::Microseconds(3));
}

TEST(SiteRoute, ALinePassesThroughEverySite)
{
    const ClusterSpec line = Sites(4, 0, {{0, 1}, {1, 2}, {2, 3}});
    const SiteRoute route = RouteBetweenSites(line, 3, 0);
    EXPECT_EQ(Shares(route), (std::map<uint32_t, double>{{0, 1.0}, {1, 1.0}, {2, 1.0}}));
    EXPECT_EQ(route.longest.size(), 3U);
    EXPECT_EQ(route.ways, 1U);
}

TEST(SiteRoute, LanesDecideTheShares)
{
    // Hubs 3 and 4; three lanes to the first and one to the second: 3/4 and 1/4. Onwards one lane
    // each: 3 x 1 + 1 x 1 ways.
    ClusterSpec hubs = Sites(3, 2, {{0, 3}, {0, 4}, {1, 3}, {1, 4}, {2, 3}, {2, 4}});
    hubs.crossLinks[0].lanes = 3;
    const SiteRoute route = RouteBetweenSites(hubs, 0, 1);
    EXPECT_EQ(Shares(route),
              (std::map<uint32_t, double>{{0, 0.75}, {1, 0.25}, {2, 0.75}, {3, 0.25}}));
    EXPECT_EQ(route.ways, 4U);
}

TEST(SiteRoute, LossIsThatOfTheMeanWay)
{
    // Ring of four: over 1 with losses 0.1 and 0.2, over 3 without: (1 - 0.9 x 0.8) / 2 = 0.14.
    ClusterSpec ring = Sites(4, 0, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
    ring.crossLinks[0].loss = 0.1;
    ring.crossLinks[1].loss = 0.2;
    EXPECT_NEAR(RouteBetweenSites(ring, 0, 2).loss, 0.14, 1e-12);
    EXPECT_NEAR(RouteBetweenSites(ring, 0, 1).loss, 0.1, 1e-12);
}

TEST(SiteRoute, NoWayIsAnErrorThatNamesBoth)
{
    const ClusterSpec apart = Sites(3, 0, {{0, 1}});
    try
    {
        RouteBetweenSites(apart, 0, 2);
        FAIL() << "no error";
    }
    catch (const ConfigError& error)
    {
        EXPECT_NE(error.Problem().find("b0 to b2"), std::string::npos) << error.what();
    }
}

TEST(SiteRoute, CountsOfWaysEndAtTheGreatestNumber)
{
    // A ring of 64 sites with 4 lanes: 4^32 = 2^64 ways along either side, one more than fits.
    Pairs ring;
    for (uint32_t i = 0; i < 64; i++)
    {
        ring.emplace_back(i, (i + 1) % 64);
    }
    ClusterSpec cluster = Sites(64, 0, ring);
    for (CrossLinkSpec& link : cluster.crossLinks)
    {
        link.lanes = 4;
    }
    const SiteRoute opposite = RouteBetweenSites(cluster, 0, 32);
    EXPECT_EQ(opposite.ways, UINT64_MAX);
    // Spans 32 to 63 have the greater latencies: the longest way is back from 63 to 32, although
    // the count of ways at site 0 was a multiple of 2^64 when it was found.
    ASSERT_EQ(opposite.longest.size(), 32U);
    EXPECT_EQ(opposite.longest.front().link, 63U);
    EXPECT_EQ(opposite.longest.back().link, 32U);
    // Two spans less: 4^31 in one direction, and no other as short.
    EXPECT_EQ(RouteBetweenSites(cluster, 0, 31).ways, uint64_t{1} << 62);
}

TEST(SiteRoute, MayBeNone)
{
    EXPECT_FALSE(FindSiteRoute(Sites(3, 0, {{0, 1}}), 0, 2));
    EXPECT_TRUE(FindSiteRoute(Sites(3, 0, {{0, 1}}), 1, 0));
}

} // namespace
} // namespace scaleacross
