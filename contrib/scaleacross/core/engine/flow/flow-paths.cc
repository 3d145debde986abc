// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-paths.h"

#include "core/base/errors.h"
#include "core/base/path-hash.h"
#include "core/base/text.h"
#include "core/topology/address-order.h"
#include "core/topology/parts-left.h"
#include "core/topology/routing.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>

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

/// What a study gives an attribute of the switches, as the packet engine would take it.
std::optional<std::string>
SwitchAttribute(const NetworkPlan& network, const std::string& name)
{
    const auto found = network.ns3Attributes.find("ns3::FabricSwitch::" + name);
    return found == network.ns3Attributes.end() ? std::nullopt
                                                : std::optional<std::string>(found->second);
}

uint64_t
HashSeedOf(const NetworkPlan& network)
{
    const std::string text = SwitchAttribute(network, "HashSeed").value_or("0");
    uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc() || end != text.data() + text.size())
    {
        throw ConfigError("network.ns3.ns3::FabricSwitch::HashSeed",
                          Quoted(text) + " is not a whole number",
                          "0 to 18446744073709551615",
                          "");
    }
    return seed;
}

} // namespace

FlowPaths::FlowPaths(const Scenario& scenario, uint32_t run)
    : m_multipath(scenario.network.multipath),
      m_hashSeed(HashSeedOf(scenario.network)),
      m_hashPerSwitch(SwitchAttribute(scenario.network, "HashPerSwitch").value_or("true") !=
                      "false"),
      m_run(run),
      m_graph(BuildFabricGraph(scenario.cluster)),
      m_parts(PartsLeft(scenario.cluster, scenario.events, m_graph, "flow"))
{
    m_nics = static_cast<uint32_t>(
        std::count_if(m_graph.vertices.begin(), m_graph.vertices.end(), [](const Vertex& vertex) {
            return vertex.kind == VertexKind::Nic;
        }));
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        m_servers += building.Nodes();
    }
    BuildTables(scenario);
}

void
FlowPaths::BuildTables(const Scenario& scenario)
{
    const auto switches = static_cast<uint32_t>(m_graph.vertices.size()) - m_nics;
    m_ports.resize(switches);
    m_up.resize(m_nics);
    m_addresses.resize(m_nics);
    // Ports have numbers in the order in which the links are in the graph.
    for (uint32_t l = 0; l < m_graph.links.size(); l++)
    {
        const FabricLink& link = m_graph.links[l];
        if (link.kind == LinkKind::Nic)
        {
            m_up[link.a] = 2 * l;
        }
        else
        {
            m_ports[SwitchOf(link.a)].push_back({link.b, 2 * l});
        }
        m_ports[SwitchOf(link.b)].push_back({link.a, 2 * l + 1});
    }
    // Tables know rates, but not what others send.
    std::vector<EventSpec> known = scenario.events;
    known.erase(std::remove_if(known.begin(),
                               known.end(),
                               [](const EventSpec& event) {
                                   return event.kind->change == EventChange::Shares;
                               }),
                known.end());
    const std::vector<double> rates = PartsLeft(scenario.cluster, known, m_graph, "flow");
    SwitchGraph graph;
    graph.links.resize(switches);
    const auto isUp = [this](const PortEnd& end) { return m_parts[end.link / 2] > 0; };
    for (uint32_t at = 0; at < switches; at++)
    {
        for (uint16_t p = 0; p < m_ports[at].size(); p++)
        {
            const PortEnd& end = m_ports[at][p];
            if (end.to >= m_nics)
            {
                const uint32_t l = end.link / 2;
                graph.links[at].push_back(
                    {SwitchOf(end.to), p, m_graph.links[l].rate * rates[l], isUp(end)});
            }
            else
            {
                graph.nics.push_back({0, at, p, isUp(end)});
            }
        }
    }
    uint32_t next = 0;
    for (const uint32_t at : AddressOrder(graph))
    {
        for (const PortEnd& end : m_ports[at])
        {
            if (end.to < m_nics)
            {
                m_addresses[end.to] = next++;
            }
        }
    }
    for (NicPlace& place : graph.nics)
    {
        place.address = m_addresses[m_ports[place.at][place.port].to];
    }
    m_tables = RoutingOf(scenario.cluster)
                   .Compute(graph,
                            m_multipath->weightedRoutes || m_multipath->followsCapacity
                                ? RouteWeights::Capacity
                                : RouteWeights::Equal);
    m_divisors = AddressDivisors(graph);
}

void
FlowPaths::Cross(FlowWay& way, DirectedLink link, double share) const
{
    const FabricLink& crossed = m_graph.links[link / 2];
    way.links.push_back({link, share});
    way.path.propagation += crossed.delay;
    way.path.rates.push_back(RateOf(link));
    way.path.loss = 1.0 - (1.0 - way.path.loss) * (1.0 - crossed.loss);
}

const RouteGroup&
FlowPaths::GroupAt(uint32_t at, bool entry, uint32_t toNic) const
{
    const SwitchRoutes& table = m_tables[at];
    const RouteGroup* group = entry ? Find(table.entry, m_addresses[toNic]) : nullptr;
    group = group == nullptr ? Find(table, m_addresses[toNic]) : group;
    if (group == nullptr)
    {
        throw RunError("unreachable",
                       "no link that is up leads on to NIC " + std::to_string(toNic));
    }
    return *group;
}

size_t
FlowPaths::ChoiceAt(uint32_t at,
                    const RouteGroup& group,
                    uint32_t fromNic,
                    uint32_t toNic,
                    uint16_t entropy) const
{
    if (m_multipath->owner == PathOwner::Destination)
    {
        return m_addresses[toNic] / m_divisors[at] % group.ports.size();
    }
    const uint32_t hash =
        HashOf(m_addresses[fromNic],
               m_addresses[toNic],
               m_multipath->owner == PathOwner::NicPair ? uint16_t{0} : entropy,
               SwitchHashSeed(m_hashPerSwitch ? m_servers + at : 0, m_run, m_hashSeed));
    if (!m_multipath->weightedRoutes || group.weights.empty())
    {
        return ScaleHash(hash, group.ports.size());
    }
    size_t rest =
        ScaleHash(hash, std::accumulate(group.weights.begin(), group.weights.end(), size_t{0}));
    size_t i = 0;
    while (rest >= group.weights[i])
    {
        rest -= group.weights[i++];
    }
    return i;
}

void
FlowPaths::ExpectUp(uint32_t nic) const
{
    if (m_parts[m_up[nic] / 2] == 0)
    {
        throw RunError("unreachable", "NIC " + std::to_string(nic) + " has no link that is up");
    }
}

FlowWay
FlowPaths::OfQueuePair(uint32_t fromNic, uint32_t toNic, uint32_t number) const
{
    ExpectUp(fromNic);
    ExpectUp(toNic);
    const uint16_t entropy = PathPortOf(m_addresses[fromNic], m_addresses[toNic], number);
    FlowWay way;
    Cross(way, m_up[fromNic], 1.0);
    uint32_t at = SwitchOf(m_graph.links[m_up[fromNic] / 2].b);
    for (bool entry = true;; entry = false)
    {
        const RouteGroup& group = GroupAt(at, entry, toNic);
        const size_t choice =
            group.ports.size() == 1 ? 0 : ChoiceAt(at, group, fromNic, toNic, entropy);
        const PortEnd& end = m_ports[at][group.ports[choice]];
        Cross(way, end.link, 1.0);
        if (end.to == toNic)
        {
            return way;
        }
        at = SwitchOf(end.to);
    }
}

FlowWay
FlowPaths::OfAll(uint32_t fromNic, uint32_t toNic) const
{
    ExpectUp(fromNic);
    ExpectUp(toNic);
    FlowWay way;
    Cross(way, m_up[fromNic], 1.0);
    const uint32_t from = SwitchOf(m_graph.links[m_up[fromNic] / 2].b);
    const uint32_t to = SwitchOf(m_graph.links[m_up[toNic] / 2].b);
    if (from != to)
    {
        const auto [found, isNew] = m_between.try_emplace({from, to});
        if (isNew)
        {
            SpreadOver(found->second, from, toNic);
        }
        const FlowWay& between = found->second;
        way.links.insert(way.links.end(), between.links.begin(), between.links.end());
        way.path.propagation += between.path.propagation;
        way.path.rates.insert(way.path.rates.end(),
                              between.path.rates.begin(),
                              between.path.rates.end());
        way.path.loss = 1.0 - (1.0 - way.path.loss) * (1.0 - between.path.loss);
    }
    Cross(way, m_up[toNic] ^ 1U, 1.0);
    return way;
}

void
FlowPaths::SpreadOver(FlowWay& way, uint32_t from, uint32_t toNic) const
{
    /// What has come to a switch so far, all at the same number of links from the first.
    struct Part
    {
        double share{0};
        double survives{0}; //!< share that is not lost
        FabricPath longest;
    };

    const uint32_t last = SwitchOf(m_graph.links[m_up[toNic] / 2].b);
    std::map<uint32_t, Part> here;
    here[from] = {1.0, 1.0, {}};
    std::map<DirectedLink, double> shares;
    double survives = 0;
    for (bool entry = true; !here.empty(); entry = false)
    {
        std::map<uint32_t, Part> next;
        for (const auto& [at, part] : here)
        {
            if (at == last)
            {
                survives += part.survives;
                if (part.longest.propagation > way.path.propagation || way.path.rates.empty())
                {
                    way.path.propagation = part.longest.propagation;
                    way.path.rates = part.longest.rates;
                }
                continue;
            }
            const RouteGroup& group = GroupAt(at, entry, toNic);
            const double sum =
                group.weights.empty()
                    ? static_cast<double>(group.ports.size())
                    : std::accumulate(group.weights.begin(), group.weights.end(), 0.0);
            for (size_t i = 0; i < group.ports.size(); i++)
            {
                const PortEnd& end = m_ports[at][group.ports[i]];
                const double part1 = (group.weights.empty() ? 1.0 : group.weights[i]) / sum;
                shares[end.link] += part.share * part1;
                const FabricLink& link = m_graph.links[end.link / 2];
                Part& there = next[SwitchOf(end.to)];
                there.share += part.share * part1;
                there.survives += part.survives * part1 * (1.0 - link.loss);
                if (part.longest.propagation + link.delay > there.longest.propagation ||
                    there.longest.rates.empty())
                {
                    there.longest = part.longest;
                    there.longest.propagation += link.delay;
                    there.longest.rates.push_back(RateOf(end.link));
                }
            }
        }
        here = std::move(next);
    }
    way.path.loss = 1.0 - survives;
    for (const auto& [link, share] : shares)
    {
        way.links.push_back({link, share});
    }
}

} // namespace scaleacross
