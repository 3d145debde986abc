// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/site-route.h"

#include "core/base/capped.h"
#include "core/base/errors.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// A span as it is seen from one of its ends.
struct Exit
{
    uint32_t link;
    uint32_t to;
    bool forward;
};

std::vector<std::vector<Exit>>
ExitsOf(const ClusterSpec& cluster)
{
    std::vector<std::vector<Exit>> exits(cluster.Sites());
    for (uint32_t i = 0; i < cluster.crossLinks.size(); i++)
    {
        const CrossLinkSpec& link = cluster.crossLinks[i];
        exits[link.a].push_back({i, link.b, true});
        exits[link.b].push_back({i, link.a, false});
    }
    return exits;
}

/// Sites in order of their distance to `to` in spans, and the distances (UINT32_MAX: no way).
struct Distances
{
    std::vector<uint32_t> order;
    std::vector<uint32_t> spans;
};

Distances
DistancesTo(const std::vector<std::vector<Exit>>& exits, uint32_t to)
{
    Distances found{{to}, std::vector<uint32_t>(exits.size(), UINT32_MAX)};
    found.spans[to] = 0;
    for (size_t head = 0; head < found.order.size(); head++)
    {
        const uint32_t site = found.order[head];
        for (const Exit& exit : exits[site])
        {
            if (found.spans[exit.to] == UINT32_MAX)
            {
                found.spans[exit.to] = found.spans[site] + 1;
                found.order.push_back(exit.to);
            }
        }
    }
    return found;
}

/// The shortest time from every site to `to`, by relaxation (Bellman and Ford): sites are few.
std::vector<Duration>
LeastTimesTo(const std::vector<std::vector<Exit>>& exits, const ClusterSpec& cluster, uint32_t to)
{
    std::vector<Duration> least(exits.size(), Duration::Max());
    least[to] = Duration();
    for (bool shorter = true; shorter;)
    {
        shorter = false;
        for (uint32_t site = 0; site < exits.size(); site++)
        {
            for (const Exit& exit : exits[site])
            {
                if (least[exit.to] == Duration::Max())
                {
                    continue;
                }
                const Duration over = least[exit.to] + cluster.crossLinks[exit.link].latency;
                shorter = shorter || over < least[site];
                least[site] = std::min(least[site], over);
            }
        }
    }
    return least;
}

} // namespace

std::optional<SiteRoute>
FindSiteRoute(const ClusterSpec& cluster, uint32_t from, uint32_t to)
{
    SCALEACROSS_INVARIANT(from != to, cluster.SiteName(from) + " to itself");
    const std::vector<std::vector<Exit>> exits = ExitsOf(cluster);
    const Distances distances = DistancesTo(exits, to);
    if (distances.spans[from] == UINT32_MAX)
    {
        return std::nullopt;
    }
    const auto leadsOn = [&](uint32_t site, const Exit& exit) {
        return distances.spans[exit.to] + 1 == distances.spans[site];
    };

    // From the far end back: what is still ahead of a packet at each site.
    std::vector<uint64_t> ways(cluster.Sites(), 0);
    std::vector<Duration> latency(cluster.Sites());
    std::vector<double> arrives(cluster.Sites(), 1.0); //!< probability
    std::vector<Exit> slowest(cluster.Sites());
    ways[to] = 1;
    for (const uint32_t site : distances.order)
    {
        if (site == to)
        {
            continue;
        }
        double lanes = 0;
        double sum = 0;
        bool first = true;
        for (const Exit& exit : exits[site])
        {
            if (!leadsOn(site, exit))
            {
                continue;
            }
            const CrossLinkSpec& link = cluster.crossLinks[exit.link];
            if (first || latency[exit.to] + link.latency > latency[site])
            {
                latency[site] = latency[exit.to] + link.latency;
                slowest[site] = exit;
            }
            first = false;
            ways[site] = AddCapped(ways[site], MultiplyCapped(link.lanes, ways[exit.to]));
            lanes += link.lanes;
            sum += link.lanes * (1.0 - link.loss) * arrives[exit.to];
        }
        arrives[site] = sum / lanes;
    }

    // From the near end on: what share of the traffic passes each site.
    SiteRoute route;
    route.ways = ways[from];
    route.loss = 1.0 - arrives[from];
    route.least = LeastTimesTo(exits, cluster, to)[from];
    std::vector<double> passes(cluster.Sites(), 0.0);
    passes[from] = 1.0;
    for (auto site = distances.order.rbegin(); site != distances.order.rend(); ++site)
    {
        if (passes[*site] == 0.0 || *site == to)
        {
            continue;
        }
        double lanes = 0;
        for (const Exit& exit : exits[*site])
        {
            lanes += leadsOn(*site, exit) ? cluster.crossLinks[exit.link].lanes : 0;
        }
        for (const Exit& exit : exits[*site])
        {
            if (leadsOn(*site, exit))
            {
                const double share = passes[*site] * cluster.crossLinks[exit.link].lanes / lanes;
                route.uses.push_back({exit.link, exit.forward, share});
                passes[exit.to] += share;
            }
        }
    }
    for (uint32_t site = from; site != to; site = slowest[site].to)
    {
        route.longest.push_back({slowest[site].link, slowest[site].forward});
    }
    return route;
}

SiteRoute
RouteBetweenSites(const ClusterSpec& cluster, uint32_t from, uint32_t to)
{
    std::optional<SiteRoute> route = FindSiteRoute(cluster, from, to);
    if (!route)
    {
        throw ConfigError("cluster.links",
                          "no spans lead from " + cluster.SiteName(from) + " to " +
                              cluster.SiteName(to) + ", which have traffic for each other",
                          "a way between every two sites",
                          "add a link");
    }
    return *std::move(route);
}

} // namespace scaleacross
