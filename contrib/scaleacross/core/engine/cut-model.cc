// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/cut-model.h"

#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

CutModel::CutModel(const Scenario& scenario,
                   const RankLayout& layout,
                   const NetworkFacts& facts,
                   const StageFabric& stages)
    : m_scenario(scenario),
      m_layout(layout),
      m_paths(facts.paths),
      m_messages(scenario, facts.paths),
      m_shares(facts.cuts.Shares(scenario.network.multipath)),
      m_stages(stages),
      m_zoneCuts(2 * stages.leaves.Kinds()),
      m_spanCuts(m_zoneCuts + 2 * stages.zones.Kinds()),
      m_cuts(m_spanCuts + 2 * static_cast<uint32_t>(scenario.cluster.crossLinks.size()))
{
}

void
CutModel::AddLoad(CutLoads& loads,
                  const CutLoad& whole,
                  const AlikeFlows& flows,
                  const CutShare& left,
                  const CutShare& usable,
                  double share) const
{
    auto load =
        std::lower_bound(loads.begin(), loads.end(), whole.cut, [](const CutLoad& a, uint32_t cut) {
            return a.cut < cut;
        });
    if (load == loads.end() || load->cut != whole.cut)
    {
        load = loads.insert(load, whole);
        load->capacity = whole.capacity * left.capacity;
    }
    const double count = flows.count * share;
    load->flows += count;
    load->bytes += count * m_messages.DataBytes(flows.messages, flows.message, flows.spread);
    load->loading += count * m_messages.WireBytes(flows.messages, flows.message, flows.spread) *
                     left.capacity / usable.capacity / whole.reached;
    // In a part that is used.
    load->pairs = std::min(load->pairs, flows.spread.pairs / (whole.parts * whole.reached));
    load->links = static_cast<uint32_t>(std::lround(whole.links * usable.links));
}

void
CutModel::LoadBuilding(CutLoads& loads,
                       const FabricPath& path,
                       const AlikeFlows& flows,
                       bool up) const
{
    const Rank rank = up ? flows.from : flows.to;
    const uint32_t building = m_layout.BuildingOf(rank);
    const uint32_t towards = m_layout.BuildingOf(up ? flows.to : flows.from);
    const uint32_t stage = m_layout.StageOf(rank);
    const FabricShape& shape = m_paths.Shape(building);
    const FabricSpec& fabric = m_scenario.cluster.buildings[building].fabric;
    CutLoad whole;
    whole.parts = shape.ports;
    whole.reached = flows.spread.ports;
    whole.links = shape.spines * shape.ports;
    whole.capacity = shape.uplinkRate * whole.links *
                     m_messages.CreditShareOf(shape.uplinkRate, fabric.leafDelay);
    const SwitchEdges* const over = flows.over;
    for (const SwitchShare& leaf : over == nullptr ? m_stages.leaves.Of(building, stage)
                                   : up            ? over->leavesUp
                                                   : over->leavesDown)
    {
        whole.cut = (up ? 0 : m_stages.leaves.Kinds()) + leaf.kind;
        AddLoad(loads,
                whole,
                flows,
                m_shares.Leaf(building),
                m_shares.LeafTowards(building, towards),
                leaf.share);
    }
    if (path.tier == Tier::Zone || shape.aggregations == 0)
    {
        return;
    }
    whole.parts = shape.planes;
    whole.reached = flows.spread.planes;
    whole.links = shape.planes * shape.spines * shape.aggregations;
    whole.capacity = shape.zoneUplinkRate * whole.links *
                     m_messages.CreditShareOf(shape.zoneUplinkRate, fabric.aggregationDelay);
    for (const SwitchShare& zone : over == nullptr ? m_stages.zones.Of(building, stage)
                                   : up            ? over->zonesUp
                                                   : over->zonesDown)
    {
        whole.cut = m_zoneCuts + (up ? 0 : m_stages.zones.Kinds()) + zone.kind;
        AddLoad(loads,
                whole,
                flows,
                m_shares.Zone(building),
                m_shares.ZoneTowards(building, towards),
                zone.share);
    }
}

void
CutModel::LoadSpans(CutLoads& loads, const AlikeFlows& flows) const
{
    const ClusterSpec& cluster = m_scenario.cluster;
    const SiteRoute& route =
        m_paths.Route(m_layout.BuildingOf(flows.from), m_layout.BuildingOf(flows.to));
    for (const SiteRoute::Use& use : route.uses)
    {
        const CrossLinkSpec& link = cluster.crossLinks[use.link];
        CutLoad whole;
        whole.parts = m_paths.Shape(0).planes;
        whole.reached = flows.spread.planes;
        whole.cut = m_spanCuts + 2 * use.link + (use.forward ? 0 : 1);
        whole.links = cluster.TopSwitches() * link.lanes;
        whole.capacity =
            link.capacity * m_messages.CreditShareOf(link.capacity / whole.links, link.latency);
        AddLoad(loads, whole, flows, m_shares.Span(use.link), m_shares.Span(use.link), use.share);
    }
}

void
CutModel::Load(CutLoads& loads, const FabricPath& path, const AlikeFlows& flows) const
{
    if (path.tier < Tier::Zone)
    {
        return;
    }
    // Links are full duplex: what climbs in one building and what descends do not share.
    LoadBuilding(loads, path, flows, true);
    LoadBuilding(loads, path, flows, false);
    if (path.tier == Tier::Cross)
    {
        LoadSpans(loads, flows);
    }
}

double
CutModel::Slowdown(double flows, double pairs, uint32_t links) const
{
    const auto [entry, isNew] = m_slowdowns.try_emplace({flows, pairs, links});
    if (isNew)
    {
        entry->second = PathSlowdown(m_scenario.network.multipath, flows, pairs, links);
    }
    return entry->second;
}

double
CutModel::SharedSeconds(const CutUse& use, double flows) const
{
    return use.wire * Slowdown(std::max(1.0, flows), use.pairs, use.links);
}

void
CutModel::Use(TransferCost& cost, const CutLoads& loads) const
{
    for (const CutLoad& load : loads)
    {
        CutUse use;
        use.cut = load.cut;
        use.bytes = load.bytes;
        use.flows = load.flows;
        use.pairs = load.pairs;
        use.links = std::max(1U, load.links / load.parts);
        use.wire = load.loading * 8.0 / load.capacity.Value();
        // The fullest switch has at least one flow.
        use.seconds = SharedSeconds(use, use.flows) * std::max(1.0, 1.0 / use.flows);
        use.demand = use.seconds;
        if (use.seconds > 0)
        {
            cost.cuts.push_back(use);
        }
    }
}

NamedLink
CutModel::Named(uint32_t cut) const
{
    const ClusterSpec& cluster = m_scenario.cluster;
    if (cut >= m_spanCuts)
    {
        const CrossLinkSpec& link = cluster.crossLinks[(cut - m_spanCuts) / 2];
        const bool forward = (cut - m_spanCuts) % 2 == 0;
        const std::string a = cluster.SiteName(link.a);
        const std::string b = cluster.SiteName(link.b);
        return {forward ? a + " to " + b : b + " to " + a,
                link.capacity * m_shares.Span((cut - m_spanCuts) / 2).capacity};
    }
    const bool isZone = cut >= m_zoneCuts;
    const StageSwitches& switches = isZone ? m_stages.zones : m_stages.leaves;
    const uint32_t index = isZone ? cut - m_zoneCuts : cut;
    const uint32_t building = switches.BuildingOf(index % switches.Kinds());
    const FabricShape& shape = m_paths.Shape(building);
    const BitRate capacity =
        isZone ? shape.zoneUplinkRate * (shape.planes * shape.spines * shape.aggregations) *
                     m_shares.Zone(building).capacity
               : shape.uplinkRate * (shape.spines * shape.ports) * m_shares.Leaf(building).capacity;
    return {cluster.buildings[building].name + (isZone ? " zone " : " leaf ") +
                (index < switches.Kinds() ? "up" : "down"),
            capacity};
}

} // namespace scaleacross
