// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-links.h"

#include "core/topology/shapes/fabric-shape.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace scaleacross
{

namespace
{

constexpr double kSame = 1e-9; //!< of shares that are sums of others

} // namespace

FlowLinks::FlowLinks(const Scenario& scenario,
                     const FlowPaths& paths,
                     const Symmetry& symmetry,
                     const ClusterPaths& clusterPaths,
                     const MessageModel& model)
    : m_scenario(scenario),
      m_paths(paths),
      m_symmetry(symmetry),
      m_clusterPaths(clusterPaths),
      m_model(model),
      m_network(ResourceRates())
{
    if (!scenario.network.classes.AreOne())
    {
        m_network.TellApart(scenario.network.classes.weights);
    }
    for (DirectedLink link = 0; link < 2 * paths.Graph().links.size(); link++)
    {
        LetWait(link, {link});
    }
}

Bytes
FlowLinks::RoomAt(DirectedLink link) const
{
    const NetworkPlan& network = m_scenario.network;
    const FabricLink& of = m_paths.Graph().links[link / 2];
    const Vertex& from = m_paths.Graph().vertices[link % 2 == 1 ? of.b : of.a];
    const bool isShort = network.control->controls || network.transport->credits;
    if (from.kind == VertexKind::Nic || isShort || !network.classes.AreOne())
    {
        return Bytes();
    }
    const Bytes buffer = from.kind == VertexKind::Leaf ? network.leafBuffer : network.spineBuffer;
    return Bytes(buffer.Count() / 2);
}

/// In front of a resource that is these links waits what may do so in front of one of them.
void
FlowLinks::LetWait(uint32_t resource, const std::vector<DirectedLink>& links)
{
    const NetworkPlan& network = m_scenario.network;
    m_network.LetWait(resource,
                      RoomAt(links.front()),
                      network.mtu + network.Format().DataHeaders());
}

/// Of both directions of all links, then of the GPUs' egress, then of their ingress.
std::vector<BitRate>
FlowLinks::ResourceRates() const
{
    std::vector<BitRate> rates;
    const std::vector<FabricLink>& links = m_paths.Graph().links;
    for (DirectedLink link = 0; link < 2 * links.size(); link++)
    {
        const BitRate rate = m_paths.RateOf(link);
        // Nothing goes over a link that is down.
        rates.push_back(rate.Value() > 0 ? rate * m_model.CreditShareOf(rate, links[link / 2].delay)
                                         : links[link / 2].rate);
    }
    for (const BuildingSpec& building : m_scenario.cluster.buildings)
    {
        rates.insert(rates.end(),
                     building.gpus,
                     building.gpu.scaleUpBandwidth * building.gpu.scaleUpEfficiency);
    }
    rates.insert(rates.end(), m_scenario.cluster.Gpus(), FlowNetwork::kNoLimit);
    return rates;
}

uint32_t
FlowLinks::EgressOf(Rank rank) const
{
    return static_cast<uint32_t>(2 * m_paths.Graph().links.size()) + rank;
}

uint32_t
FlowLinks::IngressOf(Rank rank) const
{
    return EgressOf(m_scenario.cluster.Gpus() + rank);
}

/// What all ranks that are alike to the sender put on links, on each of those that are alike.
std::vector<WayLink>
FlowLinks::FoldedLinksOf(const FlowWay& way, Rank from) const
{
    std::map<DirectedLink, double> shares;
    for (const WayLink& part : way.links)
    {
        shares[m_symmetry.link[part.link]] +=
            part.share * m_symmetry.ranks[from] / m_symmetry.links[part.link];
    }
    std::vector<WayLink> links;
    for (const auto& [link, share] : shares)
    {
        links.push_back({link, share});
    }
    return links;
}

std::vector<FlowUse>
FlowLinks::UsesOf(const FlowWay& way, Rank from, bool bundled)
{
    std::vector<FlowUse> uses;
    std::map<std::tuple<uint32_t, uint32_t, bool, uint32_t>, std::vector<WayLink>> cuts;
    const FabricGraph& graph = m_paths.Graph();
    for (const WayLink& part : FoldedLinksOf(way, from))
    {
        const FabricLink& link = graph.links[part.link / 2];
        const bool back = part.link % 2 == 1;
        if (!bundled || link.kind == LinkKind::Nic)
        {
            uses.push_back({part.link, part.share});
            continue;
        }
        if (link.kind == LinkKind::Cross)
        {
            cuts[{UINT32_MAX, link.span, back, 0}].push_back(part);
            continue;
        }
        const Vertex& from = graph.vertices[back ? link.b : link.a];
        const Vertex& to = graph.vertices[back ? link.a : link.b];
        const auto sides = m_clusterPaths.Shape(from.site).SidesOf(from, to);
        if (sides.empty())
        {
            uses.push_back({part.link, part.share});
            continue;
        }
        const CutSide& side = sides.front();
        cuts[{side.level, from.site, side.up, side.which}].push_back(part);
    }
    for (const auto& cut : cuts)
    {
        const std::vector<WayLink>& parts = cut.second;
        const bool even = std::all_of(parts.begin(), parts.end(), [&](const WayLink& part) {
            return std::abs(part.share - parts.front().share) < kSame &&
                   m_paths.RateOf(part.link) == m_paths.RateOf(parts.front().link);
        });
        // Where links are not alike, events have taken some, or other traffic passes single ones of
        // them on detours, each counts by itself besides.
        const FabricLink& first = graph.links[parts.front().link / 2];
        const bool beside = parts.size() == 1 || !even || !m_scenario.events.empty() ||
                            (first.kind == LinkKind::Inside &&
                             m_clusterPaths.Shape(graph.vertices[first.a].site).HasDetours());
        double share = 0;
        std::vector<DirectedLink> links;
        for (const WayLink& part : parts)
        {
            share += part.share;
            links.push_back(part.link);
            if (beside)
            {
                uses.push_back({part.link, part.share});
            }
        }
        if (parts.size() > 1)
        {
            // Each queue pair chooses among them, of so many as come here.
            uses.push_back({BundleOf(links, beside), share, share, share});
        }
    }
    return uses;
}

uint32_t
FlowLinks::BundleOf(const std::vector<DirectedLink>& links, bool beside)
{
    const auto [found, isNew] = m_bundles.try_emplace({links, beside}, 0);
    if (isNew)
    {
        double rate = 0;
        for (const DirectedLink link : links)
        {
            const BitRate one = m_paths.RateOf(link);
            rate += one.Value() * m_model.CreditShareOf(one, m_paths.Graph().links[link / 2].delay);
        }
        found->second = m_network.AddBundle(BitRate(rate),
                                            static_cast<uint32_t>(links.size()),
                                            m_scenario.network.multipath);
        LetWait(found->second, links);
    }
    return found->second;
}

CarriedBytes
FlowLinks::Carried(Duration now, const ScaleUpBytes& besides) const
{
    std::vector<double> carried = m_network.Carried(now);
    for (Rank rank = 0; rank < m_scenario.cluster.Gpus(); rank++)
    {
        carried[EgressOf(rank)] += besides.out[rank];
        carried[IngressOf(rank)] += besides.in[rank];
    }
    const size_t links = 2 * m_paths.Graph().links.size();
    std::vector<double> bytes(carried.begin(), carried.begin() + static_cast<ptrdiff_t>(links));
    for (const auto& [key, resource] : m_bundles)
    {
        const auto& [members, beside] = key;
        for (const DirectedLink link : members)
        {
            bytes[link] += beside ? 0.0 : carried[resource] / static_cast<double>(members.size());
        }
    }
    CarriedBytes result;
    for (const DirectedLink alike : m_symmetry.link)
    {
        result.links.push_back(static_cast<uint64_t>(std::llround(bytes[alike])));
    }
    for (const Rank alike : m_symmetry.rank)
    {
        for (const uint32_t resource : {EgressOf(alike), IngressOf(alike)})
        {
            result.scaleUp.push_back(static_cast<uint64_t>(std::llround(carried[resource])));
        }
    }
    return result;
}

} // namespace scaleacross
