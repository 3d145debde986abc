// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/cut-share.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/event-target.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/graph-names.h"
#include "core/topology/packet-remedy.h"
#include "core/topology/parts-left.h"
#include "core/topology/site-route.h"
#include "core/topology/uneven-cuts.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <tuple>

namespace scaleacross
{

/// What messages say of events that are more than this engine computes with.
struct EventWords
{
    std::string place;  //!< of all of them; empty: there are none
    std::string remedy; //!< RemedyByPackets()
};

namespace
{

/// No event may hit a NIC's link.
void
CheckNoNics(const ClusterSpec& cluster,
            const std::vector<EventSpec>& events,
            const FabricGraph& graph)
{
    for (size_t i = 0; i < events.size(); i++)
    {
        const std::string where = PlaceOf(events, i);
        for (const uint32_t l : TargetOf(cluster, graph, events[i], where).links)
        {
            if (events[i].IsConstant() && graph.links[l].kind == LinkKind::Nic)
            {
                throw ConfigError(where,
                                  Quoted(events[i].target) + " has links of NICs (" +
                                      LinkName(cluster, graph, l) +
                                      "), and the analytical engine takes all NICs of a building "
                                      "to be equal",
                                  "links between switches",
                                  RemedyByPackets(cluster, graph, events));
            }
        }
    }
}

/// Between two switches of a building.
bool
IsOfFabric(const FabricLink& link)
{
    return link.kind != LinkKind::Nic && link.kind != LinkKind::Cross;
}

/// The links of one switch in a cut, which are equal without events.
struct Fan
{
    uint32_t left{0};
    double slowest{1};
};

class Cut
{
  public:
    void Add(uint32_t fan, double part)
    {
        m_all++;
        if (part > 0)
        {
            m_left++;
            Fan& links = m_fans[fan];
            links.left++;
            links.slowest = std::min(links.slowest, part);
        }
    }

    /// `name`: what would be cut off, by `events`.
    CutShare Share(const std::string& name, const EventWords& events) const
    {
        if (m_fans.empty())
        {
            throw ConfigError(events.place,
                              "they leave " + name + " without a link",
                              "at least one link of every cut",
                              events.remedy);
        }
        double least = std::numeric_limits<double>::infinity();
        CutShare share;
        const auto fans = static_cast<double>(m_fans.size());
        for (const auto& [key, fan] : m_fans)
        {
            least = std::min(least, fan.left * fan.slowest);
            share.AddLimit({{fan.slowest, fans * fan.left / m_all}});
        }
        share.capacity = fans * least / m_all;
        share.links = static_cast<double>(m_left) / m_all;
        return share;
    }

  private:
    uint32_t m_all{0};
    uint32_t m_left{0};
    std::map<uint32_t, Fan> m_fans; //!< with a link left
};

/// What the links of one building leave of its cuts.
class BuildingCuts
{
  public:
    BuildingCuts(const ClusterSpec& cluster,
                 const FabricGraph& graph,
                 uint32_t building,
                 const EventWords& events)
        : m_cluster(cluster),
          m_graph(graph),
          m_events(events),
          m_shape(ShapeOf(cluster.buildings[building])),
          m_site(cluster.SiteName(building))
    {
    }

    void Add(uint32_t l, double part)
    {
        const Vertex& a = m_graph.vertices[m_graph.links[l].a];
        const Vertex& b = m_graph.vertices[m_graph.links[l].b];
        for (const auto& [from, to] : {std::make_pair(a, b), std::make_pair(b, a)})
        {
            for (const CutSide& side : m_shape->SidesOf(from, to))
            {
                // Of one building nothing takes what only leads to others.
                if (m_cluster.buildings.size() == 1 &&
                    m_shape->Cuts()[side.level].nearest == Tier::Cross)
                {
                    continue;
                }
                Kept& kept = m_cuts[side.level][{!side.up, side.part, side.which}];
                kept.side = side;
                kept.cut.Add(side.fan, part);
                if (m_shape->Cuts()[side.level].detour > 0)
                {
                    CheckDetours(l, side.level, part);
                }
            }
        }
    }

    /// The least of a level that was added; `to` says where the traffic goes.
    CutShare Least(uint32_t level, const std::string& to = "") const
    {
        CutShare least;
        for (const auto& [key, kept] : m_cuts[level])
        {
            const std::string name = m_shape->NameOf(kept.side, m_site);
            least.TakeLeast(kept.cut.Share(name + to, m_events));
        }
        return least;
    }

  private:
    struct Kept
    {
        CutSide side;
        Cut cut;
    };

    /// Throws ConfigError if links over which traffic takes detours are no longer alike: between
    /// two switches it takes those then that are left, and other links than before have it.
    void CheckDetours(uint32_t l, uint32_t level, double part)
    {
        const auto [first, isNew] = m_withDetours.try_emplace(level, part);
        if (!isNew && first->second != part)
        {
            throw ConfigError(m_events.place,
                              "they take or slow some links between leaves of " + m_site +
                                  " and not others, such as " + LinkName(m_cluster, m_graph, l) +
                                  ", and traffic takes other detours then, which the analytical "
                                  "engine does not follow",
                              "links to spines, spans, or all links between leaves alike",
                              m_events.remedy);
        }
    }

    const ClusterSpec& m_cluster;
    const FabricGraph& m_graph;
    EventWords m_events;
    std::shared_ptr<const FabricShape> m_shape;
    std::string m_site;
    std::map<uint32_t, double> m_withDetours; //!< by level: what is left of its links
    /// By level, then direction, port or plane, and switch.
    std::array<std::map<std::tuple<bool, uint32_t, uint32_t>, Kept>, kCutLevels> m_cuts;
};

/// What is left of spans.
class SpanCuts
{
  public:
    SpanCuts(const ClusterSpec& cluster, const FabricGraph& graph)
        : m_cluster(cluster),
          m_graph(graph),
          m_planes(cluster.buildings.front().fabric.planes),
          m_topsPerPlane(cluster.TopSwitches() / m_planes)
    {
    }

    void Add(uint32_t l, double part)
    {
        const FabricLink& link = m_graph.links[l];
        const uint32_t plane = m_graph.vertices[link.a].index / m_topsPerPlane;
        m_spans[{link.span, plane}].Add(link.a, part);
    }

    void SetShares(CutShares& shares, const EventWords& events) const
    {
        std::map<uint32_t, CutShare> least;
        for (const auto& [key, cut] : m_spans)
        {
            const CrossLinkSpec& link = m_cluster.crossLinks[key.first];
            std::string name = m_cluster.SiteName(link.a) + " and " + m_cluster.SiteName(link.b);
            name += m_planes == 1 ? "" : " in fabric plane " + std::to_string(key.second);
            least[key.first].TakeLeast(cut.Share(name, events));
        }
        for (const auto& [span, share] : least)
        {
            shares.SetSpan(span, share);
        }
    }

  private:
    const ClusterSpec& m_cluster;
    const FabricGraph& m_graph;
    uint32_t m_planes;
    uint32_t m_topsPerPlane;
    std::map<std::pair<uint32_t, uint32_t>, Cut> m_spans; //!< by span and plane
};

/// Lanes that are lost, by span and top switch.
class LanesLost
{
  public:
    LanesLost(const ClusterSpec& cluster,
              const FabricGraph& graph,
              const std::vector<LinkParts>& parts,
              const EventWords& events)
        : m_cluster(cluster),
          m_events(events),
          m_lost(cluster.crossLinks.size(), std::vector<uint32_t>(cluster.TopSwitches(), 0))
    {
        for (size_t l = 0; l < parts.size(); l++)
        {
            const FabricLink& link = graph.links[l];
            if (link.kind == LinkKind::Cross && !parts[l].IsUp())
            {
                m_lost[link.span][graph.vertices[link.a].index]++;
                m_any = true;
            }
        }
    }

    bool Any() const
    {
        return m_any;
    }

    /// By top switch: it has a lane left on all spans of the route.
    std::vector<bool> Passing(const SiteRoute& route) const
    {
        std::vector<bool> passes(m_cluster.TopSwitches(), true);
        for (uint32_t top = 0; top < passes.size(); top++)
        {
            for (const SiteRoute::Use& use : route.uses)
            {
                passes[top] = passes[top] && !IsGone(use.link, top);
            }
        }
        return passes;
    }

    /**
     * Throws ConfigError if the traffic of a route is spread differently over spans than without
     * events. Between neighbours there is one span and nothing to choose. On a longer way, a top
     * switch with fewer lanes to one site sends more to another one; and one that cannot go on
     * leaves all spans of its way to the others. Only if it is gone everywhere do all spans lose
     * the same.
     */
    void Check(const SiteRoute& route, uint32_t from, uint32_t to) const
    {
        if (route.longest.size() < 2)
        {
            return;
        }
        const bool choice = route.uses.size() > route.longest.size();
        for (uint32_t top = 0; top < m_cluster.TopSwitches(); top++)
        {
            if (IsGoneEverywhere(top))
            {
                continue;
            }
            for (const SiteRoute::Use& use : route.uses)
            {
                if (IsGone(use.link, top) || (choice && m_lost[use.link][top] > 0))
                {
                    const CrossLinkSpec& link = m_cluster.crossLinks[use.link];
                    throw ConfigError(
                        m_events.place,
                        "they take links between " + m_cluster.SiteName(link.a) + " and " +
                            m_cluster.SiteName(link.b) + ", and traffic from " +
                            m_cluster.SiteName(from) + " to " + m_cluster.SiteName(to) +
                            " passes several spans and takes other ways then, which the analytical "
                            "engine does not follow",
                        "lost links between sites whose traffic passes no other span, or a plane",
                        m_events.remedy);
                }
            }
        }
    }

  private:
    bool IsGone(uint32_t span, uint32_t top) const
    {
        return m_lost[span][top] == m_cluster.crossLinks[span].lanes;
    }

    bool IsGoneEverywhere(uint32_t top) const
    {
        for (uint32_t span = 0; span < m_lost.size(); span++)
        {
            if (!IsGone(span, top))
            {
                return false;
            }
        }
        return true;
    }

    const ClusterSpec& m_cluster;
    EventWords m_events;
    std::vector<std::vector<uint32_t>> m_lost;
    bool m_any{false};
};

} // namespace

double
CutShare::Carried(const std::function<double(double)>& carried) const
{
    if (limits.empty())
    {
        return carried(1.0);
    }
    double least = std::numeric_limits<double>::infinity();
    for (const std::vector<LinksLeft>& limit : limits)
    {
        double sum = 0;
        for (const LinksLeft& links : limit)
        {
            sum += links.weight * carried(links.part);
        }
        least = std::min(least, sum);
    }
    return least;
}

void
CutShare::AddLimit(const std::vector<LinksLeft>& limit)
{
    const auto isSame = [&limit](const std::vector<LinksLeft>& other) {
        return std::equal(limit.begin(),
                          limit.end(),
                          other.begin(),
                          other.end(),
                          [](const LinksLeft& a, const LinksLeft& b) {
                              return a.part == b.part && a.weight == b.weight;
                          });
    };
    if (std::none_of(limits.begin(), limits.end(), isSame))
    {
        limits.push_back(limit);
    }
}

void
CutShare::TakeLeast(const CutShare& other)
{
    if (other.capacity < capacity)
    {
        capacity = other.capacity;
        links = other.links;
    }
    for (const std::vector<LinksLeft>& limit : other.limits)
    {
        AddLimit(limit);
    }
}

CutShares::CutShares(const ClusterSpec& cluster)
    : m_span(cluster.crossLinks.size())
{
    for (Level& level : m_levels)
    {
        level.all.resize(cluster.buildings.size());
    }
}

CutsLeft::CutsLeft(const ClusterSpec& cluster, const std::vector<EventSpec>& events)
    : m_equal(cluster)
{
    if (events.empty())
    {
        return;
    }
    m_cluster = cluster;
    m_place = PlaceOf(events);
    m_graph = BuildFabricGraph(cluster);
    CheckNoNics(cluster, events, m_graph);
    m_parts = PartsLeft(cluster, events, m_graph, "analytical");
    const EventWords words{m_place, RemedyByPackets(cluster, m_graph, events)};
    const auto buildings = static_cast<uint32_t>(cluster.buildings.size());
    std::vector<BuildingCuts> cuts;
    for (uint32_t b = 0; b < buildings; b++)
    {
        cuts.emplace_back(m_cluster, m_graph, b, words);
    }
    SpanCuts spans(m_cluster, m_graph);
    for (uint32_t l = 0; l < m_graph.links.size(); l++)
    {
        const FabricLink& link = m_graph.links[l];
        if (link.kind == LinkKind::Cross)
        {
            spans.Add(l, m_parts[l].Free());
        }
        if (IsOfFabric(link))
        {
            cuts[m_graph.vertices[link.a].site].Add(l, m_parts[l].Free());
        }
    }
    for (uint32_t b = 0; b < buildings; b++)
    {
        for (uint32_t level = 0; level < kCutLevels; level++)
        {
            m_equal.SetAll(b, level, cuts[b].Least(level));
        }
    }
    spans.SetShares(m_equal, words);
    AddTowards(words);
}

double
CutsLeft::OfSpan(uint32_t span) const
{
    double free = 0;
    double all = 0;
    for (size_t l = 0; l < m_parts.size(); l++)
    {
        const FabricLink& link = m_graph.links[l];
        if (link.kind == LinkKind::Cross && link.span == span)
        {
            free += m_parts[l].Free() * link.rate.Value();
            all += link.rate.Value();
        }
    }
    return all > 0 ? free / all : 1.0;
}

const CutShares&
CutsLeft::Shares(Multipath multipath) const
{
    if (m_place.empty() || !multipath->TellsLinksApart())
    {
        return m_equal;
    }
    const std::lock_guard<std::mutex> lock(m_mutex);
    const auto found = m_byTables.find(multipath->weightedRoutes);
    if (found != m_byTables.end())
    {
        return found->second;
    }
    return m_byTables
        .emplace(multipath->weightedRoutes,
                 SharesByTables(m_cluster, m_graph, m_parts, multipath, m_equal, m_place))
        .first->second;
}

void
CutsLeft::AddTowards(const EventWords& events)
{
    const LanesLost lost(m_cluster, m_graph, m_parts, events);
    const auto buildings = static_cast<uint32_t>(m_cluster.buildings.size());
    for (uint32_t a = 0; lost.Any() && a < buildings; a++)
    {
        for (uint32_t b = 0; b < buildings; b++)
        {
            const auto route = a == b ? std::nullopt : FindSiteRoute(m_cluster, a, b);
            if (!route)
            {
                continue; // of two buildings that are not joined, no plan can have traffic
            }
            lost.Check(*route, a, b);
            const std::vector<bool> passes = lost.Passing(*route);
            if (std::find(passes.begin(), passes.end(), false) == passes.end())
            {
                continue;
            }
            BuildingCuts towards(m_cluster, m_graph, a, events);
            for (uint32_t l = 0; l < m_graph.links.size(); l++)
            {
                const FabricLink& link = m_graph.links[l];
                const Vertex& above = m_graph.vertices[link.b];
                if (IsOfFabric(link) && above.site == a)
                {
                    const bool on = !IsTop(m_cluster, above) || passes[above.index];
                    towards.Add(l, on ? m_parts[l].Free() : 0.0);
                }
            }
            const std::string to = " towards " + m_cluster.SiteName(b);
            for (uint32_t level = 0; level < kCutLevels; level++)
            {
                m_equal.SetTowards(a, b, level, towards.Least(level, to));
            }
        }
    }
}

} // namespace scaleacross
