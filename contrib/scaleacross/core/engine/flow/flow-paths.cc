// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-paths.h"

#include "core/base/errors.h"
#include "core/base/path-hash.h"
#include "core/base/text.h"

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
      m_parts(PartsLeft(scenario.cluster, scenario.events, m_graph, "flow")),
      m_tables(scenario.cluster, m_graph, m_parts, m_multipath)
{
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        m_servers += building.Nodes();
    }
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
    const RouteGroup* group = m_tables.GroupAt(at, entry, toNic);
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
        return m_tables.AddressOf(toNic) / m_tables.DivisorAt(at) % group.ports.size();
    }
    const uint32_t hash =
        HashOf(m_tables.AddressOf(fromNic),
               m_tables.AddressOf(toNic),
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
    if (!m_parts[m_tables.UpFrom(nic) / 2].IsUp())
    {
        throw RunError("unreachable", "NIC " + std::to_string(nic) + " has no link that is up");
    }
}

FlowWay
FlowPaths::OfQueuePair(uint32_t fromNic, uint32_t toNic, uint32_t number) const
{
    ExpectUp(fromNic);
    ExpectUp(toNic);
    const uint16_t entropy =
        PathPortOf(m_tables.AddressOf(fromNic), m_tables.AddressOf(toNic), number);
    FlowWay way;
    Cross(way, m_tables.UpFrom(fromNic), 1.0);
    uint32_t at = m_tables.LeafOf(fromNic);
    for (bool entry = true;; entry = false)
    {
        const RouteGroup& group = GroupAt(at, entry, toNic);
        const size_t choice =
            group.ports.size() == 1 ? 0 : ChoiceAt(at, group, fromNic, toNic, entropy);
        const FabricTables::PortEnd& end = m_tables.EndOf(at, group.ports[choice]);
        Cross(way, end.link, 1.0);
        if (end.to == toNic)
        {
            return way;
        }
        at = m_tables.SwitchOf(end.to);
    }
}

FlowWay
FlowPaths::OfAll(uint32_t fromNic, uint32_t toNic) const
{
    ExpectUp(fromNic);
    ExpectUp(toNic);
    FlowWay way;
    Cross(way, m_tables.UpFrom(fromNic), 1.0);
    const uint32_t from = m_tables.LeafOf(fromNic);
    const uint32_t to = m_tables.LeafOf(toNic);
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
    Cross(way, m_tables.UpFrom(toNic) ^ 1U, 1.0);
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

    const uint32_t last = m_tables.LeafOf(toNic);
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
            GroupAt(at, entry, toNic); // there is one
            for (const FabricTables::Next& on : m_tables.SpreadAt(at, entry, toNic))
            {
                shares[on.end.link] += part.share * on.share;
                const FabricLink& link = m_graph.links[on.end.link / 2];
                Part& there = next[m_tables.SwitchOf(on.end.to)];
                there.share += part.share * on.share;
                there.survives += part.survives * on.share * (1.0 - link.loss);
                if (part.longest.propagation + link.delay > there.longest.propagation ||
                    there.longest.rates.empty())
                {
                    there.longest = part.longest;
                    there.longest.propagation += link.delay;
                    there.longest.rates.push_back(RateOf(on.end.link));
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
