// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/routing.h"

#include <algorithm>
#include <map>
#include <utility>

namespace scaleacross
{

namespace
{

class ShortestPathRouting : public Routing
{
  public:
    std::vector<SwitchRoutes> Compute(const SwitchGraph& graph, RouteWeights weights) const override
    {
        return ComputeRoutes(graph, weights);
    }
};

/// Finds detours among the switches with NICs.
class DetourFinder
{
  public:
    DetourFinder(const SwitchGraph& graph, RouteWeights weights)
        : m_weights(weights),
          m_nics(graph.nics),
          m_wires(graph.links.size())
    {
        std::sort(m_nics.begin(), m_nics.end(), [](const NicPlace& a, const NicPlace& b) {
            return a.address < b.address;
        });
        std::vector<bool> hasNics(graph.links.size(), false);
        for (const NicPlace& nic : m_nics)
        {
            hasNics[nic.at] = hasNics[nic.at] || nic.detours;
        }
        for (uint32_t at = 0; at < graph.links.size(); at++)
        {
            for (const SwitchLink& link : graph.links[at])
            {
                if (hasNics[at] && link.up && hasNics[link.to] && link.to != at)
                {
                    m_wires[at][link.to].push_back(&link);
                }
            }
        }
    }

    /// What a switch does with packets of its own NICs.
    RouteRanges Of(uint32_t at)
    {
        RouteRanges entry;
        if (m_wires[at].empty())
        {
            return entry;
        }
        std::map<uint32_t, uint32_t> groupTo; // by destination's switch
        std::map<std::pair<std::vector<uint16_t>, std::vector<uint32_t>>, uint32_t> known;
        for (const NicPlace& nic : m_nics)
        {
            if (nic.at == at)
            {
                continue;
            }
            const auto [place, isNew] = groupTo.try_emplace(nic.at, kNone);
            if (isNew)
            {
                RouteGroup group = GroupTo(at, nic.at);
                if (!group.ports.empty())
                {
                    const auto number = static_cast<uint32_t>(entry.groups.size());
                    place->second =
                        known.try_emplace({group.ports, group.weights}, number).first->second;
                    if (place->second == number)
                    {
                        entry.groups.push_back(std::move(group));
                    }
                }
            }
            Append(entry.ranges, nic.address, place->second);
        }
        return entry;
    }

  private:
    static constexpr uint32_t kNone = UINT32_MAX;

    static void Append(std::vector<RouteRange>& ranges, uint32_t address, uint32_t group)
    {
        if (group == kNone)
        {
            return;
        }
        if (!ranges.empty() && ranges.back().group == group && ranges.back().last + 1 == address)
        {
            ranges.back().last = address;
            return;
        }
        ranges.push_back({address, address, group});
    }

    /// Of all wires from one switch to another; 0 if there is none.
    double RateOf(uint32_t from, uint32_t to) const
    {
        double rate = 0;
        const auto wires = m_wires[from].find(to);
        if (wires != m_wires[from].end())
        {
            for (const SwitchLink* wire : wires->second)
            {
                rate += wire->rate.Value();
            }
        }
        return rate;
    }

    /// No ports if there is no detour.
    RouteGroup GroupTo(uint32_t at, uint32_t to) const
    {
        std::map<uint16_t, double> shares; // by port
        bool detours = false;
        for (const auto& [over, wires] : m_wires[at])
        {
            const double onwards = over == to ? RateOf(at, to) : RateOf(over, to);
            if (onwards == 0)
            {
                continue;
            }
            detours = detours || over != to;
            const double all = RateOf(at, over);
            for (const SwitchLink* wire : wires)
            {
                const double behind = m_weights == RouteWeights::Capacity ? onwards / all : 1.0;
                shares[wire->port] = wire->rate.Value() * std::min(1.0, behind);
            }
        }
        RouteGroup group;
        if (!detours)
        {
            return group;
        }
        std::vector<double> weights;
        for (const auto& [port, share] : shares)
        {
            group.ports.push_back(port);
            weights.push_back(share);
        }
        if (m_weights != RouteWeights::Equal)
        {
            group.weights = WeightsOf(weights);
        }
        return group;
    }

    RouteWeights m_weights;
    std::vector<NicPlace> m_nics; //!< by address
    /// By switch, then by the switch with NICs at the other end.
    std::vector<std::map<uint32_t, std::vector<const SwitchLink*>>> m_wires;
};

class Valiant : public Routing
{
  public:
    bool HasDetours() const override
    {
        return true;
    }

    std::vector<SwitchRoutes> Compute(const SwitchGraph& graph, RouteWeights weights) const override
    {
        std::vector<SwitchRoutes> tables = ComputeRoutes(graph, weights);
        DetourFinder detours(graph, weights);
        for (uint32_t at = 0; at < tables.size(); at++)
        {
            tables[at].entry = detours.Of(at);
        }
        return tables;
    }
};

} // namespace

const Routing&
ShortestPaths()
{
    static const ShortestPathRouting routing;
    return routing;
}

const Routing&
ValiantRouting()
{
    static const Valiant routing;
    return routing;
}

} // namespace scaleacross
