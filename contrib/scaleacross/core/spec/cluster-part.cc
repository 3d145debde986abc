// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/cluster-part.h"

#include "core/base/errors.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr uint32_t g_gone = std::numeric_limits<uint32_t>::max();

/// A cluster without one of its hubs and the spans to it.
ClusterSpec
WithoutHub(const ClusterSpec& cluster, uint32_t site)
{
    ClusterSpec without = cluster;
    without.hubs.erase(without.hubs.begin() +
                       static_cast<std::ptrdiff_t>(site - cluster.buildings.size()));
    auto& spans = without.crossLinks;
    spans.erase(std::remove_if(
                    spans.begin(),
                    spans.end(),
                    [site](const CrossLinkSpec& span) { return span.a == site || span.b == site; }),
                spans.end());
    for (CrossLinkSpec& span : spans)
    {
        span.a -= span.a > site ? 1 : 0;
        span.b -= span.b > site ? 1 : 0;
    }
    return without;
}

/// Without hubs that join nothing.
ClusterSpec
WithoutLooseHubs(ClusterSpec cluster)
{
    const uint32_t least = cluster.buildings.size() > 1 ? 2 : g_gone; // spans of a hub that stays
    for (auto site = static_cast<uint32_t>(cluster.buildings.size()); site < cluster.Sites();)
    {
        const auto spans = std::count_if(
            cluster.crossLinks.begin(),
            cluster.crossLinks.end(),
            [site](const CrossLinkSpec& span) { return span.a == site || span.b == site; });
        if (spans >= least)
        {
            site++;
            continue;
        }
        cluster = WithoutHub(cluster, site);
        site = static_cast<uint32_t>(cluster.buildings.size()); // its neighbours may have one now
    }
    return cluster;
}

/// Whether two buildings change nothing but names if they change places.
bool
AreAlike(const ClusterSpec& cluster, uint32_t a, uint32_t b)
{
    BuildingSpec renamed = cluster.buildings[b];
    renamed.name = cluster.buildings[a].name;
    if (!(renamed == cluster.buildings[a]))
    {
        return false;
    }
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        if (site == a || site == b)
        {
            continue;
        }
        const CrossLinkSpec* one = cluster.Between(std::min(a, site), std::max(a, site));
        const CrossLinkSpec* other = cluster.Between(std::min(b, site), std::max(b, site));
        if ((one == nullptr) != (other == nullptr))
        {
            return false;
        }
        if (one != nullptr)
        {
            CrossLinkSpec moved = *other;
            moved.a = one->a;
            moved.b = one->b;
            if (!(moved == *one))
            {
                return false;
            }
        }
    }
    return true;
}

/// The same with places for names, and spans in the order of their ends.
ClusterSpec
WithoutNames(ClusterSpec cluster)
{
    uint32_t site = 0;
    for (BuildingSpec& building : cluster.buildings)
    {
        building.name = std::to_string(site++);
    }
    for (HubSpec& hub : cluster.hubs)
    {
        hub.name = std::to_string(site++);
    }
    std::sort(cluster.crossLinks.begin(),
              cluster.crossLinks.end(),
              [](const CrossLinkSpec& x, const CrossLinkSpec& y) {
                  return x.a != y.a ? x.a < y.a : x.b < y.b;
              });
    return cluster;
}

} // namespace

ClusterSpec
OnlyBuildings(const ClusterSpec& cluster, const std::vector<uint32_t>& used)
{
    SCALEACROSS_INVARIANT(!used.empty(), "a job has a building");
    ClusterSpec part;
    std::vector<uint32_t> places(cluster.Sites(), g_gone);
    for (const uint32_t building : used)
    {
        places[building] = static_cast<uint32_t>(part.buildings.size());
        part.buildings.push_back(cluster.buildings[building]);
    }
    const auto buildings = static_cast<uint32_t>(cluster.buildings.size());
    for (uint32_t i = 0; i < cluster.Sites(); i++)
    {
        const uint32_t site = (buildings + i) % cluster.Sites(); // hubs first
        if (places[site] == g_gone)
        {
            places[site] = part.Sites();
            part.hubs.push_back({cluster.SiteName(site)});
        }
    }
    for (CrossLinkSpec span : cluster.crossLinks)
    {
        const uint32_t a = places[span.a];
        const uint32_t b = places[span.b];
        span.a = std::min(a, b);
        span.b = std::max(a, b);
        part.crossLinks.push_back(span);
    }
    return WithoutLooseHubs(std::move(part));
}

std::vector<std::string>
PartsOf(const ClusterSpec& cluster, bool told, size_t most)
{
    const auto count = static_cast<uint32_t>(cluster.buildings.size());
    std::vector<uint32_t> first(count); // of those that are alike
    for (uint32_t b = 0; b < count; b++)
    {
        first[b] = b;
        for (uint32_t a = 0; a < b && first[b] == b && !told; a++)
        {
            first[b] = AreAlike(cluster, a, b) ? first[a] : b;
        }
    }
    std::vector<std::string> parts;
    std::vector<ClusterSpec> known; // of as many buildings
    std::vector<uint32_t> used;
    std::vector<bool> taken(count, false);
    const std::function<void(uint32_t)> extend = [&](uint32_t size) {
        if (used.size() == size)
        {
            ClusterSpec part = WithoutNames(OnlyBuildings(cluster, used));
            if (told || std::find(known.begin(), known.end(), part) == known.end())
            {
                parts.push_back(PartText(cluster, used));
                known.push_back(std::move(part));
            }
            return;
        }
        std::vector<bool> tried(count, false); // by the first that is alike
        for (uint32_t b = 0; b < count && parts.size() < most; b++)
        {
            if (!taken[b] && !tried[first[b]])
            {
                tried[first[b]] = taken[b] = true;
                used.push_back(b);
                extend(size);
                used.pop_back();
                taken[b] = false;
            }
        }
    };
    for (uint32_t size = count; size > 0 && parts.size() < most; size--)
    {
        known.clear();
        extend(size);
    }
    return parts;
}

std::string
PartText(const ClusterSpec& cluster, const std::vector<uint32_t>& used)
{
    std::string text;
    for (const uint32_t building : used)
    {
        text += (text.empty() ? "" : "+") + cluster.buildings[building].name;
    }
    return text;
}

} // namespace scaleacross
