// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/switch-routes.h"

#include "core/base/errors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr uint32_t kFar = UINT32_MAX;
constexpr uint32_t kMostWeight = 65535;

/// Consecutive addresses.
struct Run
{
    uint32_t first;
    uint32_t last;
};

/// Switches with NICs that have the same neighbours.
struct TargetClass
{
    std::vector<uint32_t> members;
    std::vector<Run> runs; //!< addresses of all members, ascending
};

/// Appends addresses to ascending runs.
void
Append(std::vector<Run>& runs, Run run)
{
    if (!runs.empty() && runs.back().last + 1 == run.first)
    {
        runs.back().last = run.last;
    }
    else
    {
        runs.push_back(run);
    }
}

class RouteComputer
{
  public:
    RouteComputer(const SwitchGraph& graph, RouteWeights weights)
        : m_graph(graph),
          m_weighted(weights != RouteWeights::Equal),
          m_byCapacity(weights == RouteWeights::Capacity),
          m_own(graph.links.size()),
          m_tables(graph.links.size()),
          m_known(graph.links.size())
    {
    }

    std::vector<SwitchRoutes> Compute()
    {
        AddNics();
        for (const TargetClass& target : Classes())
        {
            AddClass(target);
        }
        for (SwitchRoutes& table : m_tables)
        {
            Merge(table.ranges);
        }
        return std::move(m_tables);
    }

  private:
    /// Every NIC at its own switch.
    void AddNics()
    {
        m_nics = m_graph.nics;
        std::sort(m_nics.begin(), m_nics.end(), [](const NicPlace& a, const NicPlace& b) {
            return a.address < b.address;
        });
        for (size_t i = 0; i < m_nics.size(); i++)
        {
            const NicPlace& nic = m_nics[i];
            SCALEACROSS_INVARIANT(i == 0 || m_nics[i - 1].address != nic.address,
                                  "two NICs have the address " + std::to_string(nic.address));
            Append(m_own[nic.at], {nic.address, nic.address});
            if (nic.up)
            {
                const uint32_t group = Known(nic.at, {{nic.port}, {}});
                m_tables[nic.at].ranges.push_back({nic.address, nic.address, group});
            }
        }
    }

    /// Neighbours by ascending number, with the rate of all wires to each if it matters.
    std::vector<std::pair<uint32_t, double>> Neighbours(uint32_t at) const
    {
        std::vector<std::pair<uint32_t, double>> all;
        for (const SwitchLink& link : m_graph.links[at])
        {
            if (link.up)
            {
                all.emplace_back(link.to, m_weighted ? link.rate.Value() : 0.0);
            }
        }
        std::sort(all.begin(), all.end());
        std::vector<std::pair<uint32_t, double>> merged;
        for (const auto& [to, rate] : all)
        {
            if (!merged.empty() && merged.back().first == to)
            {
                merged.back().second += rate;
            }
            else
            {
                merged.emplace_back(to, rate);
            }
        }
        return merged;
    }

    std::vector<TargetClass> Classes() const
    {
        std::vector<TargetClass> classes;
        std::map<std::vector<std::pair<uint32_t, double>>, size_t> known;
        std::vector<size_t> classOf(m_graph.links.size(), SIZE_MAX);
        for (uint32_t at = 0; at < m_graph.links.size(); at++)
        {
            if (!m_own[at].empty())
            {
                const auto place = known.try_emplace(Neighbours(at), classes.size());
                if (place.second)
                {
                    classes.emplace_back();
                }
                classOf[at] = place.first->second;
                classes[classOf[at]].members.push_back(at);
            }
        }
        for (const NicPlace& nic : m_nics)
        {
            Append(classes[classOf[nic.at]].runs, {nic.address, nic.address});
        }
        return classes;
    }

    /// Wires to `target` from every switch, and the switches in the order of their distance.
    void Search(uint32_t target)
    {
        m_distance.assign(m_graph.links.size(), kFar);
        m_order.assign(1, target);
        m_distance[target] = 0;
        for (size_t head = 0; head < m_order.size(); head++)
        {
            const uint32_t at = m_order[head];
            for (const SwitchLink& link : m_graph.links[at])
            {
                if (link.up && m_distance[link.to] == kFar)
                {
                    m_distance[link.to] = m_distance[at] + 1;
                    m_order.push_back(link.to);
                }
            }
        }
    }

    /// The capacity of every switch towards the switch that was searched for.
    void SumCapacities()
    {
        m_capacity.assign(m_graph.links.size(), 0.0);
        m_capacity[m_order.front()] = HUGE_VAL;
        for (size_t i = 1; i < m_order.size(); i++)
        {
            const uint32_t at = m_order[i];
            for (const auto& [to, rate] : Neighbours(at))
            {
                if (m_distance[to] + 1 == m_distance[at])
                {
                    m_capacity[at] += std::min(rate, m_capacity[to]);
                }
            }
        }
    }

    /// The wires of a switch to the neighbours that `chosen` names, in the order of their ports.
    template <class Chosen>
    RouteGroup WiresTo(uint32_t at, Chosen chosen) const
    {
        std::vector<const SwitchLink*> wires;
        std::map<uint32_t, double> rates; // of all wires to a neighbour
        for (const SwitchLink& link : m_graph.links[at])
        {
            if (link.up && chosen(link.to))
            {
                wires.push_back(&link);
                if (m_byCapacity)
                {
                    rates[link.to] += link.rate.Value();
                }
            }
        }
        std::sort(wires.begin(), wires.end(), [](const SwitchLink* a, const SwitchLink* b) {
            return a->port < b->port;
        });
        RouteGroup group;
        std::vector<double> shares;
        for (const SwitchLink* wire : wires)
        {
            group.ports.push_back(wire->port);
            if (m_weighted)
            {
                const double behind = m_byCapacity ? m_capacity[wire->to] / rates[wire->to] : 1.0;
                shares.push_back(wire->rate.Value() * std::min(1.0, behind));
            }
        }
        if (m_weighted)
        {
            group.weights = WeightsOf(shares);
        }
        return group;
    }

    void AddClass(const TargetClass& target)
    {
        Search(target.members.front());
        if (m_byCapacity)
        {
            SumCapacities();
            for (const uint32_t member : target.members)
            {
                m_capacity[member] = HUGE_VAL;
            }
        }
        for (size_t i = 1; i < m_order.size(); i++)
        {
            const uint32_t at = m_order[i];
            if (m_distance[at] == 1)
            {
                AddNeighbour(at, target);
            }
            else if (!IsMember(target, at))
            {
                AddRuns(at, target.runs, m_distance[at] - 1);
            }
        }
        if (m_order.size() > 1)
        {
            for (const uint32_t member : target.members)
            {
                AddRuns(member, Without(target.runs, m_own[member]), 1);
            }
        }
    }

    static bool IsMember(const TargetClass& target, uint32_t at)
    {
        return std::binary_search(target.members.begin(), target.members.end(), at);
    }

    /// Sends runs of addresses to all neighbours at a distance.
    void AddRuns(uint32_t at, const std::vector<Run>& runs, uint32_t distance)
    {
        if (!runs.empty())
        {
            const uint32_t group =
                Known(at, WiresTo(at, [&](uint32_t to) { return m_distance[to] == distance; }));
            for (const Run& run : runs)
            {
                m_tables[at].ranges.push_back({run.first, run.last, group});
            }
        }
    }

    /// A neighbour of the class tells its members apart.
    void AddNeighbour(uint32_t at, const TargetClass& target)
    {
        for (const uint32_t member : target.members)
        {
            const uint32_t group =
                Known(at, WiresTo(at, [&](uint32_t to) { return to == member; }));
            for (const Run& run : m_own[member])
            {
                m_tables[at].ranges.push_back({run.first, run.last, group});
            }
        }
    }

    /// Ascending runs less other ascending runs, each of which lies within one of them.
    static std::vector<Run> Without(const std::vector<Run>& runs, const std::vector<Run>& less)
    {
        std::vector<Run> left;
        auto gap = less.begin();
        for (const Run& run : runs)
        {
            uint32_t next = run.first;
            for (; gap != less.end() && gap->last <= run.last; ++gap)
            {
                if (next < gap->first)
                {
                    left.push_back({next, gap->first - 1});
                }
                next = gap->last + 1;
            }
            if (next <= run.last && next >= run.first)
            {
                left.push_back({next, run.last});
            }
        }
        return left;
    }

    /// The number of a group in the table of a switch.
    uint32_t Known(uint32_t at, RouteGroup group)
    {
        auto& groups = m_tables[at].groups;
        const auto number = static_cast<uint32_t>(groups.size());
        const auto [place, fresh] =
            m_known[at].try_emplace(std::make_pair(group.ports, group.weights), number);
        if (fresh)
        {
            groups.push_back(std::move(group));
        }
        return place->second;
    }

    static void Merge(std::vector<RouteRange>& ranges)
    {
        std::sort(ranges.begin(), ranges.end(), [](const RouteRange& a, const RouteRange& b) {
            return a.first < b.first;
        });
        std::vector<RouteRange> merged;
        for (const RouteRange& range : ranges)
        {
            if (!merged.empty() && merged.back().group == range.group &&
                merged.back().last + 1 == range.first)
            {
                merged.back().last = range.last;
            }
            else
            {
                merged.push_back(range);
            }
        }
        ranges = std::move(merged);
    }

    const SwitchGraph& m_graph;
    bool m_weighted;
    bool m_byCapacity;
    std::vector<NicPlace> m_nics;        //!< by address
    std::vector<std::vector<Run>> m_own; //!< by switch: the addresses on it, ascending
    std::vector<SwitchRoutes> m_tables;  //!< by switch
    std::vector<uint32_t> m_distance;    //!< by switch, to the class at hand
    std::vector<uint32_t> m_order;       //!< switches that reach it, nearest first
    std::vector<double> m_capacity;      //!< by switch, towards it, bit/s
    /// By switch: the numbers of its groups.
    std::vector<std::map<std::pair<std::vector<uint16_t>, std::vector<uint32_t>>, uint32_t>>
        m_known;
};

} // namespace

std::vector<uint32_t>
WeightsOf(const std::vector<double>& shares)
{
    const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
    if (*most - *least <= 1e-9 * *most)
    {
        return {};
    }
    std::vector<uint64_t> whole;
    uint64_t divisor = 0;
    for (const double share : shares)
    {
        whole.push_back(std::max<uint64_t>(1, std::llround(share / 1e3))); // kb/s
        divisor = std::gcd(divisor, whole.back());
    }
    const uint64_t largest = *std::max_element(whole.begin(), whole.end()) / divisor;
    std::vector<uint32_t> weights;
    for (const uint64_t value : whole)
    {
        const double weight =
            static_cast<double>(value / divisor) *
            std::min(1.0, static_cast<double>(kMostWeight) / static_cast<double>(largest));
        weights.push_back(static_cast<uint32_t>(std::max<int64_t>(1, std::llround(weight))));
    }
    return weights;
}

std::vector<SwitchRoutes>
ComputeRoutes(const SwitchGraph& graph, RouteWeights weights)
{
    return RouteComputer(graph, weights).Compute();
}

} // namespace scaleacross
