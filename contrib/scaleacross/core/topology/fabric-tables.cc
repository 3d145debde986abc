// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/fabric-tables.h"

#include "core/topology/address-order.h"
#include "core/topology/routing.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace scaleacross
{

namespace
{

/// The group of a destination; null: it is in no range.
const RouteGroup*
Find(const RouteRanges& table, uint32_t address)
{
    const auto after = std::upper_bound(
        table.ranges.begin(),
        table.ranges.end(),
        address,
        [](uint32_t value, const RouteRange& range) { return value < range.first; });
    if (after == table.ranges.begin() || std::prev(after)->last < address)
    {
        return nullptr;
    }
    return &table.groups[std::prev(after)->group];
}

RouteWeights
WeightsBy(const MultipathFacts& multipath)
{
    return multipath.weightedRoutes    ? RouteWeights::Capacity
           : multipath.followsCapacity ? RouteWeights::Links
                                       : RouteWeights::Equal;
}

} // namespace

FabricTables::FabricTables(const ClusterSpec& cluster,
                           const FabricGraph& graph,
                           const std::vector<LinkParts>& parts,
                           Multipath multipath)
{
    m_nics = static_cast<uint32_t>(
        std::count_if(graph.vertices.begin(), graph.vertices.end(), [](const Vertex& vertex) {
            return vertex.kind == VertexKind::Nic;
        }));
    const auto switches = static_cast<uint32_t>(graph.vertices.size()) - m_nics;
    m_ports.resize(switches);
    m_up.resize(m_nics);
    m_leaves.resize(m_nics);
    m_addresses.resize(m_nics);
    // Ports have numbers in the order in which the links are in the graph.
    for (uint32_t l = 0; l < graph.links.size(); l++)
    {
        const FabricLink& link = graph.links[l];
        if (link.kind == LinkKind::Nic)
        {
            m_up[link.a] = 2 * l;
            m_leaves[link.a] = SwitchOf(link.b);
        }
        else
        {
            m_ports[SwitchOf(link.a)].push_back({link.b, 2 * l});
        }
        m_ports[SwitchOf(link.b)].push_back({link.a, 2 * l + 1});
    }
    SwitchGraph known;
    known.links.resize(switches);
    for (uint32_t at = 0; at < switches; at++)
    {
        for (uint16_t p = 0; p < m_ports[at].size(); p++)
        {
            const PortEnd& end = m_ports[at][p];
            const LinkParts& part = parts[end.link / 2];
            if (end.to >= m_nics)
            {
                known.links[at].push_back(
                    {SwitchOf(end.to), p, graph.links[end.link / 2].rate * part.left, part.IsUp()});
            }
            else
            {
                known.nics.push_back({0, at, p, part.IsUp()});
            }
        }
    }
    uint32_t next = 0;
    for (const uint32_t at : AddressOrder(known))
    {
        for (const PortEnd& end : m_ports[at])
        {
            if (end.to < m_nics)
            {
                m_addresses[end.to] = next++;
            }
        }
    }
    for (NicPlace& place : known.nics)
    {
        place.address = m_addresses[m_ports[place.at][place.port].to];
    }
    m_tables = RoutingOf(cluster).Compute(known, WeightsBy(*multipath));
    m_divisors = AddressDivisors(known);
}

const RouteGroup*
FabricTables::GroupAt(uint32_t at, bool entry, uint32_t toNic) const
{
    const SwitchRoutes& table = m_tables[at];
    const RouteGroup* group = entry ? Find(table.entry, m_addresses[toNic]) : nullptr;
    return group == nullptr ? Find(table, m_addresses[toNic]) : group;
}

std::vector<FabricTables::Next>
FabricTables::SpreadAt(uint32_t at, bool entry, uint32_t toNic) const
{
    std::vector<Next> all;
    const RouteGroup* group = GroupAt(at, entry, toNic);
    if (group == nullptr)
    {
        return all;
    }
    const double sum = group->weights.empty()
                           ? static_cast<double>(group->ports.size())
                           : std::accumulate(group->weights.begin(), group->weights.end(), 0.0);
    for (size_t i = 0; i < group->ports.size(); i++)
    {
        const double weight = group->weights.empty() ? 1.0 : group->weights[i];
        all.push_back({m_ports[at][group->ports[i]], weight / sum});
    }
    return all;
}

} // namespace scaleacross
