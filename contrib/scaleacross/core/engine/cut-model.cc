// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/cut-model.h"

#include "core/base/errors.h"
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
      m_left(facts.cuts),
      m_shares(facts.cuts.Shares(scenario.network.multipath)),
      m_stages(stages)
{
    for (uint32_t level = 0; level < kCutLevels; level++)
    {
        m_firstCuts[level] = m_spanCuts;
        m_spanCuts += 2 * stages[level].Kinds();
        AddLinks(level);
    }
    m_cuts = m_spanCuts + 2 * static_cast<uint32_t>(scenario.cluster.crossLinks.size());
    m_sides.assign(m_cuts, kNoSide);
    m_switches.assign(m_cuts, 1.0);
    for (uint32_t level = 0; level < kCutLevels; level++)
    {
        for (const bool up : {true, false})
        {
            for (uint32_t kind = 0; kind < stages[level].Kinds(); kind++)
            {
                m_sides[CutOf(level, up, kind)] = 2 * level + (up ? 0 : 1);
                m_switches[CutOf(level, up, kind)] = stages[level].CountOf(kind);
            }
        }
    }
    std::fill(m_sides.begin() + m_spanCuts, m_sides.end(), 2 * kCutLevels);
}

void
CutModel::AddLinks(uint32_t level)
{
    const StageSwitches& switches = m_stages[level];
    std::map<uint32_t, uint32_t> kinds; // by building, whose kinds follow each other
    for (uint32_t kind = 0; kind < switches.Kinds(); kind++)
    {
        kinds[switches.BuildingOf(kind)]++;
    }
    uint32_t first = 0;
    for (const auto& [building, count] : kinds)
    {
        const std::vector<ShapeCut>& cuts = m_paths.Shape(building).Cuts();
        const bool detours = level < cuts.size() && cuts[level].detour > 0;
        for (uint32_t kind = 0; kind < count; kind++)
        {
            m_firstLinks[level].push_back(m_spanCuts);
            m_firstKinds[level].push_back(first);
            m_spanCuts += detours ? count : 0;
        }
        first += count;
    }
}

CutModel::Left
CutModel::LeftOf(const CutShare& all,
                 const CutShare& usable,
                 BitRate link,
                 Duration delay,
                 uint32_t lanes) const
{
    if (!m_scenario.network.transport->credits)
    {
        return {all.capacity, usable.capacity, usable.links};
    }
    // Credits are bytes a round trip, whatever is left of the rate.
    const auto carried = [&](double part) {
        return part * m_messages.CreditShareOf(link * part, delay, lanes);
    };
    return {all.Carried(carried), usable.Carried(carried), usable.links};
}

CutModel::Passing
CutModel::Connections(const CutLoad& whole, const AlikeFlows& flows, double share) const
{
    // Queue pairs in a part that is used.
    return {flows.count * share, flows.spread.pairs / (whole.parts * whole.reached)};
}

CutModel::Passing
CutModel::Ways(const CutLoad& whole, const AlikeFlows& flows, double share) const
{
    const Passing connections = Connections(whole, flows, share);
    const bool byPair = m_scenario.network.multipath->owner == PathOwner::QueuePair;
    return {connections.count * (byPair ? connections.pairs : 1.0), 1.0};
}

CutLoad&
CutModel::AddLoad(CutLoads& loads,
                  const CutLoad& whole,
                  const AlikeFlows& flows,
                  const Left& left,
                  double share,
                  const Passing& passing) const
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
    load->flows += passing.count;
    load->bytes += BytesOf(flows, share);
    load->loading += count * m_messages.WireBytes(flows.messages, flows.message, flows.spread) *
                     left.capacity / left.usable / whole.reached;
    load->pairs = std::min(load->pairs, passing.pairs);
    load->links = static_cast<uint32_t>(std::lround(whole.links * left.links));
    return *load;
}

double
CutModel::BytesOf(const AlikeFlows& flows, double share) const
{
    return flows.count * share * m_messages.DataBytes(flows.messages, flows.message, flows.spread);
}

const std::vector<SwitchShare>&
CutModel::SharesOf(const AlikeFlows& flows, uint32_t level, bool up) const
{
    if (flows.over != nullptr)
    {
        return up ? flows.over->up[level] : flows.over->down[level];
    }
    const Rank rank = up ? flows.from : flows.to;
    return m_stages[level].Of(m_layout.BuildingOf(rank), m_layout.StageOf(rank));
}

void
CutModel::LoadBuilding(CutLoads& loads,
                       const FabricPath& path,
                       const AlikeFlows& flows,
                       bool up) const
{
    const uint32_t building = m_layout.BuildingOf(up ? flows.from : flows.to);
    const uint32_t towards = m_layout.BuildingOf(up ? flows.to : flows.from);
    const FabricShape& shape = m_paths.Shape(building);
    for (uint32_t level = 0; level < shape.Cuts().size(); level++)
    {
        const ShapeCut& cut = shape.Cuts()[level];
        if (!cut.Carries(path.tier))
        {
            continue;
        }
        CutLoad whole;
        whole.parts = shape.PartsOf(cut);
        whole.reached = cut.byPlane ? flows.spread.planes : flows.spread.ports;
        whole.links = cut.links;
        // First hops have a lane, and so have second ones.
        const uint32_t lanes = cut.detour > 0 ? 2 : 1;
        whole.capacity = cut.Capacity();
        const Left left = LeftOf(m_shares.Of(building, level),
                                 m_shares.Towards(building, towards, level),
                                 cut.rate,
                                 cut.delay,
                                 lanes);
        for (const SwitchShare& one : SharesOf(flows, level, up))
        {
            whole.cut = CutOf(level, up, one.kind);
            AddLoad(loads,
                    whole,
                    flows,
                    left,
                    one.share,
                    cut.detour > 0 ? Ways(whole, flows, one.share)
                                   : Connections(whole, flows, one.share));
        }
        if (up && cut.detour > 0)
        {
            LoadDetours(loads, whole, flows, left, building, level);
            LoadLinks(loads, whole, flows, left, building, level);
        }
    }
}

void
CutModel::LoadDetours(CutLoads& loads,
                      CutLoad whole,
                      const AlikeFlows& flows,
                      const Left& left,
                      uint32_t building,
                      uint32_t level) const
{
    const StageSwitches& switches = m_stages[level];
    std::vector<double> elsewhere(switches.Kinds(), 1.0); // share of the flows that end on no such
    for (const bool up : {true, false})
    {
        for (const SwitchShare& one : SharesOf(flows, level, up))
        {
            elsewhere[one.kind] -= one.share;
        }
    }
    for (uint32_t kind = 0; kind < switches.Kinds(); kind++)
    {
        const double share = m_paths.Shape(building).Cuts()[level].detour * elsewhere[kind];
        if (switches.BuildingOf(kind) != building || share <= 0)
        {
            continue;
        }
        // Of sprayed packets all connections have some here.
        const Passing passing = m_scenario.network.multipath->IsSprayed()
                                    ? Passing{flows.count, 1.0}
                                    : Ways(whole, flows, share);
        for (const bool up : {true, false})
        {
            whole.cut = CutOf(level, up, kind);
            AddLoad(loads, whole, flows, left, share, passing).detours += BytesOf(flows, share);
        }
    }
}

void
CutModel::LoadLinks(CutLoads& loads,
                    CutLoad whole,
                    const AlikeFlows& flows,
                    const Left& left,
                    uint32_t building,
                    uint32_t level) const
{
    SCALEACROSS_INVARIANT(flows.over != nullptr, "where there are detours, edges are counted");
    const double one = m_paths.Shape(building).Cuts()[level].detour;
    whole.capacity = whole.capacity * one;
    for (const LinkShare& links : flows.over->links[level])
    {
        whole.cut = CutOfLinks(level, links.from, links.to);
        // As many as would be on all links of a switch with such a load, among which one chooses.
        AddLoad(loads, whole, flows, left, links.share * one, Ways(whole, flows, links.share))
            .detours += BytesOf(flows, links.share * one);
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
        whole.parts = m_paths.Shape(0).Planes();
        whole.reached = flows.spread.planes;
        whole.cut = m_spanCuts + 2 * use.link + (use.forward ? 0 : 1);
        whole.links = cluster.TopSwitches() * link.lanes;
        whole.capacity = link.capacity;
        const CutShare& share = m_shares.Span(use.link);
        AddLoad(loads,
                whole,
                flows,
                LeftOf(share, share, link.capacity / whole.links, link.latency),
                use.share,
                Connections(whole, flows, use.share));
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

HashedLinks
CutModel::LinksOf(const CutLoad& load, const CutUse& use) const
{
    const double flows = std::max(1.0, use.flows);
    HashedLinks links;
    links.flows = HashedFlows(m_scenario.network.multipath, flows, use.pairs);
    links.paths = use.links;
    // The fullest switch has at least one flow, and so have as many as there are flows.
    links.switches = m_switches[use.cut] * load.parts * load.reached * use.flows / flows;
    links.wire = use.wire * flows / use.flows;
    return links;
}

void
CutModel::WaitForFullest(TransferCost& cost, size_t first, const std::vector<HashedLinks>& together)
{
    if (together.empty() || (together.size() == 1 && together.front().switches <= 1))
    {
        return; // SharedSeconds() has it
    }
    double tightest = 0;
    for (size_t i = first; i < cost.cuts.size(); i++)
    {
        tightest = std::max(tightest, cost.cuts[i].seconds);
    }
    const double fullest = FullestSeconds(together);
    for (size_t i = first; i < cost.cuts.size(); i++)
    {
        double& seconds = cost.cuts[i].seconds;
        seconds = seconds == tightest ? std::max(fullest, tightest) : seconds;
    }
}

void
CutModel::Use(TransferCost& cost, const CutLoads& loads) const
{
    std::vector<HashedLinks> together; // of a side
    size_t first = cost.cuts.size();   // cut of it
    uint32_t side = kNoSide;
    for (const CutLoad& load : loads)
    {
        CutUse use;
        use.cut = load.cut;
        use.bytes = load.bytes;
        use.detours = load.detours;
        use.flows = load.flows;
        use.pairs = load.pairs;
        use.links = std::max(1U, load.links / load.parts);
        use.wire = load.loading * 8.0 / load.capacity.Value();
        // The fullest switch has at least one flow.
        use.seconds = SharedSeconds(use, use.flows) * std::max(1.0, 1.0 / use.flows);
        use.demand = use.seconds;
        const bool isUsed = use.seconds > 0; // not by ranks that do not send
        if (!isUsed)
        {
            continue;
        }
        if (m_sides[use.cut] != side)
        {
            WaitForFullest(cost, first, together);
            together.clear();
            first = cost.cuts.size();
            side = m_sides[use.cut];
        }
        cost.cuts.push_back(use);
        const HashedLinks links = LinksOf(load, use);
        if (side != kNoSide && links.flows > 0)
        {
            together.push_back(links);
        }
    }
    WaitForFullest(cost, first, together);
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
                link.capacity,
                m_left.OfSpan((cut - m_spanCuts) / 2),
                m_shares.Span((cut - m_spanCuts) / 2).capacity};
    }
    const auto after = std::upper_bound(m_firstCuts.begin(), m_firstCuts.end(), cut);
    const auto level = static_cast<uint32_t>(after - m_firstCuts.begin()) - 1;
    const StageSwitches& switches = m_stages[level];
    const uint32_t index = cut - m_firstCuts[level];
    if (index >= 2 * switches.Kinds())
    {
        const auto from =
            std::upper_bound(m_firstLinks[level].begin(), m_firstLinks[level].end(), cut);
        const auto kind = static_cast<uint32_t>(from - m_firstLinks[level].begin()) - 1;
        const uint32_t building = switches.BuildingOf(kind);
        const ShapeCut& cuts = m_paths.Shape(building).Cuts()[level];
        return {cluster.buildings[building].name + " " + cuts.name + " link",
                cuts.Capacity() * cuts.detour,
                m_shares.Of(building, level).capacity,
                m_shares.Of(building, level).capacity};
    }
    const uint32_t building = switches.BuildingOf(index % switches.Kinds());
    const ShapeCut& named = m_paths.Shape(building).Cuts()[level];
    return {cluster.buildings[building].name + " " + named.name +
                (index < switches.Kinds() ? " up" : " down"),
            named.Capacity(),
            m_shares.Of(building, level).capacity,
            m_shares.Of(building, level).capacity};
}

} // namespace scaleacross
