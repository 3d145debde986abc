// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/address-order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr uint32_t kFar = UINT32_MAX;

/// Wires from every switch to the nearest one with NICs; kFar if there is none.
std::vector<uint32_t>
Heights(const SwitchGraph& graph)
{
    std::vector<uint32_t> heights(graph.links.size(), kFar);
    std::vector<uint32_t> queue;
    for (const NicPlace& nic : graph.nics)
    {
        if (heights[nic.at] == kFar)
        {
            heights[nic.at] = 0;
            queue.push_back(nic.at);
        }
    }
    for (size_t head = 0; head < queue.size(); head++)
    {
        for (const SwitchLink& link : graph.links[queue[head]])
        {
            if (heights[link.to] == kFar)
            {
                heights[link.to] = heights[queue[head]] + 1;
                queue.push_back(link.to);
            }
        }
    }
    return heights;
}

/// The neighbours of some switches that are of the given height, ascending.
std::vector<uint32_t>
NeighboursAt(const SwitchGraph& graph,
             const std::vector<uint32_t>& heights,
             const std::vector<uint32_t>& some,
             uint32_t height)
{
    std::vector<uint32_t> found;
    for (const uint32_t at : some)
    {
        for (const SwitchLink& link : graph.links[at])
        {
            if (heights[link.to] == height)
            {
                found.push_back(link.to);
            }
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

} // namespace

std::vector<uint32_t>
AddressOrder(const SwitchGraph& graph)
{
    const std::vector<uint32_t> heights = Heights(graph);
    std::vector<uint32_t> order;             // switches with NICs
    std::vector<std::vector<uint32_t>> keys; // by place in `order`, lowest tier first
    for (uint32_t at = 0; at < heights.size(); at++)
    {
        if (heights[at] == 0)
        {
            order.push_back(at);
        }
    }
    // Sets of switches, numbered in the order in which they are met, tier by tier; there is one
    // for each leaf to begin with.
    std::vector<std::vector<uint32_t>> sets;
    std::vector<uint32_t> setOf; // by place in `order`
    for (const uint32_t at : order)
    {
        setOf.push_back(static_cast<uint32_t>(sets.size()));
        sets.push_back({at});
    }
    keys.resize(order.size());
    bool higher = true;
    for (uint32_t height = 1; higher; height++)
    {
        std::map<std::vector<uint32_t>, uint32_t> numbers;
        std::vector<std::vector<uint32_t>> next;
        std::vector<uint32_t> nextOf;
        for (const auto& set : sets)
        {
            std::vector<uint32_t> upper = NeighboursAt(graph, heights, set, height);
            const auto [place, fresh] =
                numbers.try_emplace(upper, static_cast<uint32_t>(next.size()));
            if (fresh)
            {
                next.push_back(std::move(upper));
            }
            nextOf.push_back(place->second);
        }
        higher = next.size() > 1 || (next.size() == 1 && !next.front().empty());
        for (size_t i = 0; i < order.size(); i++)
        {
            setOf[i] = nextOf[setOf[i]];
            keys[i].push_back(setOf[i]);
        }
        sets = std::move(next);
    }
    std::vector<uint32_t> places(order.size());
    std::iota(places.begin(), places.end(), 0U);
    std::stable_sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) {
        return std::lexicographical_compare(keys[a].rbegin(),
                                            keys[a].rend(),
                                            keys[b].rbegin(),
                                            keys[b].rend());
    });
    std::vector<uint32_t> sorted;
    for (const uint32_t place : places)
    {
        sorted.push_back(order[place]);
    }
    return sorted;
}

std::vector<uint32_t>
AddressDivisors(const SwitchGraph& graph)
{
    const std::vector<uint32_t> heights = Heights(graph);
    std::vector<uint32_t> ups; // by height: most links up
    for (size_t at = 0; at < heights.size(); at++)
    {
        if (heights[at] == kFar)
        {
            continue;
        }
        const auto up = static_cast<uint32_t>(std::count_if(
            graph.links[at].begin(),
            graph.links[at].end(),
            [&](const SwitchLink& link) { return heights[link.to] == heights[at] + 1; }));
        ups.resize(std::max<size_t>(ups.size(), heights[at] + 1), 0);
        ups[heights[at]] = std::max(ups[heights[at]], up);
    }
    std::vector<uint32_t> divisors;
    for (const uint32_t height : heights)
    {
        uint64_t product = 1;
        for (uint32_t below = 0; height != kFar && below < height; below++)
        {
            // Beyond all addresses nothing is left to tell apart.
            product = std::min<uint64_t>(product * std::max(1U, ups[below]), UINT32_MAX);
        }
        divisors.push_back(static_cast<uint32_t>(product));
    }
    return divisors;
}

} // namespace scaleacross
