// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/uneven-cuts.h"

#include "core/base/errors.h"
#include "core/topology/fabric-tables.h"
#include "core/topology/graph-names.h"
#include "core/topology/packet-remedy.h"
#include "core/topology/site-route.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// Leaves that are in the same place, by links that have the same left.
struct LeafClass
{
    std::vector<uint32_t> members;      //!< vertices
    std::map<uint32_t, uint32_t> ports; //!< how many NICs it has, by the number of the port
    uint32_t site{0};
};

/// What the links of a cut have of the traffic, in any unit.
struct LoadedCut
{
    double all{0}; //!< links, those that are down as well
    /// By the link, or the place that it has among those of its leaf: load and part that is free.
    std::map<uint32_t, std::pair<double, double>> links;

    double Load() const
    {
        double sum = 0;
        for (const auto& [key, link] : links)
        {
            sum += link.first;
        }
        return sum;
    }

    /// `passes`: what is taken to pass it, of its load.
    CutShare Share(double passes) const
    {
        CutShare share;
        share.capacity = std::numeric_limits<double>::infinity();
        const double load = Load() * passes;
        for (const auto& [key, link] : links)
        {
            const double weight = load / link.first / all;
            share.capacity = std::min(share.capacity, link.second * weight);
            share.AddLimit({{link.second, weight}});
        }
        share.links = static_cast<double>(links.size()) / all;
        return share;
    }
};

/// A cut of a building as far as traffic between two has it.
struct CutKey
{
    uint32_t building{0};
    uint32_t other{0}; //!< the other end of the traffic; the same building: inside it
    uint32_t level{0};
    bool up{true};
    uint32_t part{0};
    uint32_t which{0}; //!< class of leaves, or zone

    bool operator<(const CutKey& b) const
    {
        return std::tie(building, other, level, up, part, which) <
               std::tie(b.building, b.other, b.level, b.up, b.part, b.which);
    }
};

class TableLoads
{
  public:
    TableLoads(const ClusterSpec& cluster,
               const FabricGraph& graph,
               const std::vector<LinkParts>& parts,
               Multipath multipath,
               const std::string& events)
        : m_cluster(cluster),
          m_graph(graph),
          m_parts(parts),
          m_tables(cluster, graph, parts, multipath),
          m_events(events),
          m_topsPerPlane(cluster.TopSwitches() / cluster.buildings.front().fabric.planes),
          m_linksOf(graph.vertices.size())
    {
        for (const BuildingSpec& building : cluster.buildings)
        {
            m_shapes.push_back(ShapeOf(building));
        }
        for (uint32_t l = 0; l < graph.links.size(); l++)
        {
            m_linksOf[graph.links[l].a].push_back(l);
            m_linksOf[graph.links[l].b].push_back(l);
        }
        CountLinks();
        FindClasses();
        for (uint32_t a = 0; a < m_classes.size(); a++)
        {
            for (uint32_t b = 0; b < m_classes.size(); b++)
            {
                AddTraffic(a, b);
            }
        }
    }

    const std::map<CutKey, LoadedCut>& Cuts() const
    {
        return m_cuts;
    }

    /// By span, direction and plane.
    const std::map<std::tuple<uint32_t, bool, uint32_t>, LoadedCut>& Spans() const
    {
        return m_spans;
    }

    /// What would pass a span in a direction without events.
    double Usual(uint32_t span, bool forward) const
    {
        const auto found = m_usual.find({span, forward});
        return found == m_usual.end() ? 0.0 : found->second;
    }

  private:
    using SideKey = std::tuple<uint32_t, uint32_t, bool, uint32_t, uint32_t>;

    bool IsInBuilding(const FabricLink& link) const
    {
        return link.kind == LinkKind::Inside &&
               m_graph.vertices[link.a].site < m_cluster.buildings.size();
    }

    static SideKey KeyOf(uint32_t site, const CutSide& side)
    {
        return {site, side.level, side.up, side.part, side.which};
    }

    uint32_t PlaneOf(const FabricLink& link) const
    {
        return m_graph.vertices[link.a].index / m_topsPerPlane;
    }

    void CountLinks()
    {
        for (const FabricLink& link : m_graph.links)
        {
            if (link.kind == LinkKind::Cross)
            {
                m_lanes[{link.span, PlaneOf(link)}]++;
            }
            if (!IsInBuilding(link))
            {
                continue;
            }
            const Vertex& a = m_graph.vertices[link.a];
            const Vertex& b = m_graph.vertices[link.b];
            for (const auto& [from, to] : {std::make_pair(a, b), std::make_pair(b, a)})
            {
                for (const CutSide& side : m_shapes[a.site]->SidesOf(from, to))
                {
                    m_counts[KeyOf(a.site, side)]++;
                }
            }
        }
    }

    /// The links of a leaf to other switches: what is at their other ends, and what they have left.
    /// Other leaves are as good as each other.
    std::vector<std::tuple<uint32_t, double, double, uint32_t>> LinksOf(uint32_t leaf) const
    {
        std::vector<std::tuple<uint32_t, double, double, uint32_t>> links;
        for (const uint32_t l : m_linksOf[leaf])
        {
            const FabricLink& link = m_graph.links[l];
            if (link.kind == LinkKind::Nic)
            {
                continue;
            }
            const uint32_t far = link.a == leaf ? link.b : link.a;
            const bool isLeaf = m_graph.vertices[far].kind == VertexKind::Leaf;
            links.emplace_back(isLeaf ? UINT32_MAX : far, m_parts[l].left, m_parts[l].others, l);
        }
        std::sort(links.begin(), links.end());
        return links;
    }

    void FindClasses()
    {
        std::map<uint32_t, std::map<uint32_t, uint32_t>> ports; // by leaf
        for (uint32_t nic = 0; nic < m_tables.Nics(); nic++)
        {
            const uint32_t leaf = m_graph.links[m_tables.UpFrom(nic) / 2].b;
            ports[leaf][nic % m_cluster.PortsPerNic()]++;
            m_nicAt.try_emplace({leaf, nic % m_cluster.PortsPerNic()}, nic);
        }
        using Place = std::vector<std::tuple<uint32_t, double, double>>;
        std::map<std::tuple<uint32_t, std::map<uint32_t, uint32_t>, Place>, uint32_t> known;
        for (const auto& [leaf, has] : ports)
        {
            Place place;
            const auto links = LinksOf(leaf);
            for (uint32_t i = 0; i < links.size(); i++)
            {
                const auto& [far, left, others, l] = links[i];
                place.emplace_back(far, left, others);
                m_ordinals[{leaf, l}] = i;
            }
            const uint32_t site = m_graph.vertices[leaf].site;
            const auto number = static_cast<uint32_t>(m_classes.size());
            const auto [found, isNew] = known.try_emplace({site, has, place}, number);
            if (isNew)
            {
                m_classes.push_back({{}, has, site});
            }
            m_classes[found->second].members.push_back(leaf);
        }
    }

    /// What all leaves of one class send to all of the other.
    void AddTraffic(uint32_t a, uint32_t b)
    {
        const LeafClass& from = m_classes[a];
        const LeafClass& to = m_classes[b];
        if (a == b && from.members.size() < 2)
        {
            return; // what stays on a leaf passes no cut
        }
        if (from.site != to.site && !RouteBetween(from.site, to.site))
        {
            return; // of two buildings that are not joined, no plan can have traffic
        }
        const uint32_t sender = from.members.front();
        const uint32_t receiver = a == b ? to.members[1] : to.members.front();
        for (const auto& [port, count] : from.ports)
        {
            const auto there = to.ports.find(port);
            if (there == to.ports.end())
            {
                continue;
            }
            const double pairs = static_cast<double>(count) * there->second;
            const auto senders = static_cast<double>(from.members.size() - (a == b ? 1 : 0));
            const auto receivers = static_cast<double>(to.members.size() - (a == b ? 1 : 0));
            m_up = pairs * receivers;
            m_down = pairs * senders;
            m_between = m_up * static_cast<double>(from.members.size());
            Spread(a, b, sender, receiver, m_nicAt.at({receiver, port}));
            AddUsual(from.site, to.site);
        }
    }

    const std::optional<SiteRoute>& RouteBetween(uint32_t from, uint32_t to)
    {
        const auto [route, isNew] = m_routes.try_emplace({from, to});
        if (isNew)
        {
            route->second = FindSiteRoute(m_cluster, from, to);
        }
        return route->second;
    }

    void AddUsual(uint32_t from, uint32_t to)
    {
        if (from == to)
        {
            return;
        }
        for (const SiteRoute::Use& use : RouteBetween(from, to)->uses)
        {
            m_usual[{use.link, use.forward}] += m_between * use.share;
        }
    }

    void Spread(uint32_t a, uint32_t b, uint32_t sender, uint32_t receiver, uint32_t nic)
    {
        std::map<uint32_t, double> here{{m_tables.SwitchOf(sender), 1.0}};
        const uint32_t last = m_tables.SwitchOf(receiver);
        for (bool entry = true; !here.empty(); entry = false)
        {
            std::map<uint32_t, double> next;
            for (const auto& [at, part] : here)
            {
                if (at == last)
                {
                    continue;
                }
                const auto spread = m_tables.SpreadAt(at, entry, nic);
                if (spread.empty())
                {
                    throw ConfigError(m_events,
                                      "they leave no way from " +
                                          VertexName(m_cluster, m_graph.vertices[sender]) + " to " +
                                          VertexName(m_cluster, m_graph.vertices[receiver]),
                                      "a way between any two leaves",
                                      RemedyOfCutOff());
                }
                for (const FabricTables::Next& on : spread)
                {
                    const double share = part * on.share;
                    AddLoad(a, b, on.end.link, share);
                    next[m_tables.SwitchOf(on.end.to)] += share;
                }
            }
            here = std::move(next);
        }
    }

    void AddLoad(uint32_t a, uint32_t b, DirectedLink directed, double share)
    {
        const uint32_t l = directed / 2;
        const FabricLink& link = m_graph.links[l];
        const bool back = directed % 2 == 1;
        const double free = m_parts[l].Free();
        if (link.kind == LinkKind::Cross)
        {
            LoadedCut& cut = m_spans[{link.span, !back, PlaneOf(link)}];
            cut.all = m_lanes.at({link.span, PlaneOf(link)});
            auto& load = cut.links[l];
            load = {load.first + m_between * share, free};
            return;
        }
        if (!IsInBuilding(link))
        {
            return;
        }
        const uint32_t from = back ? link.b : link.a;
        const uint32_t to = back ? link.a : link.b;
        const uint32_t site = m_graph.vertices[from].site;
        for (const CutSide& side :
             m_shapes[site]->SidesOf(m_graph.vertices[from], m_graph.vertices[to]))
        {
            if (m_shapes[site]->Cuts()[side.level].detour > 0)
            {
                continue;
            }
            const bool ofLeaf = m_graph.vertices[side.up ? from : to].kind == VertexKind::Leaf;
            const uint32_t other = m_classes[side.up ? b : a].site;
            const uint32_t leaves = side.up ? a : b;
            LoadedCut& cut =
                m_cuts[{site, other, side.level, side.up, side.part, ofLeaf ? leaves : side.which}];
            cut.all = m_counts.at(KeyOf(site, side));
            const double times = !ofLeaf ? m_between : side.up ? m_up : m_down;
            auto& load = cut.links[ofLeaf ? m_ordinals.at({side.up ? from : to, l}) : directed];
            load = {load.first + times * share, free};
        }
    }

    const ClusterSpec& m_cluster;
    const FabricGraph& m_graph;
    const std::vector<LinkParts>& m_parts;
    FabricTables m_tables;
    std::string m_events;
    uint32_t m_topsPerPlane;
    std::vector<std::shared_ptr<const FabricShape>> m_shapes;
    std::vector<std::vector<uint32_t>> m_linksOf;                 //!< by vertex
    std::map<SideKey, double> m_counts;                           //!< links of a cut
    std::map<std::pair<uint32_t, uint32_t>, double> m_lanes;      //!< by span and plane
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_nicAt;    //!< by leaf and port
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_ordinals; //!< by leaf and link
    std::vector<LeafClass> m_classes;
    std::map<std::pair<uint32_t, uint32_t>, std::optional<SiteRoute>> m_routes;
    std::map<std::pair<uint32_t, bool>, double> m_usual;
    std::map<CutKey, LoadedCut> m_cuts;
    std::map<std::tuple<uint32_t, bool, uint32_t>, LoadedCut> m_spans;
    // Of the traffic at hand:
    double m_up{0};      //!< of one sending leaf
    double m_down{0};    //!< of one receiving leaf
    double m_between{0}; //!< of all of them
};

} // namespace

CutShares
SharesByTables(const ClusterSpec& cluster,
               const FabricGraph& graph,
               const std::vector<LinkParts>& parts,
               Multipath multipath,
               const CutShares& otherwise,
               const std::string& events)
{
    const TableLoads loads(cluster, graph, parts, multipath, events);
    CutShares shares = otherwise;
    // By building, other building and level.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, CutShare> least;
    for (const auto& [key, cut] : loads.Cuts())
    {
        const CutShare share = cut.Share(1.0);
        const auto [found, isNew] = least.try_emplace({key.building, key.other, key.level}, share);
        if (!isNew)
        {
            found->second.TakeLeast(share);
        }
    }
    std::map<std::pair<uint32_t, uint32_t>, CutShare> most; // of those that lead out
    for (const auto& [key, share] : least)
    {
        const auto& [building, other, level] = key;
        const auto [found, isNew] = most.try_emplace({building, level}, share);
        if (!isNew && share.capacity > found->second.capacity)
        {
            found->second = share;
        }
        if (building != other)
        {
            shares.SetTowards(building, other, level, share);
        }
    }
    for (const auto& [key, share] : most)
    {
        // What nothing inside the building passes is as much as the best use of it is.
        const auto inside = least.find({key.first, key.first, key.second});
        shares.SetAll(key.first, key.second, inside == least.end() ? share : inside->second);
    }
    std::map<std::pair<uint32_t, bool>, double> passing;
    for (const auto& [key, cut] : loads.Spans())
    {
        passing[{std::get<0>(key), std::get<1>(key)}] += cut.Load();
    }
    std::map<uint32_t, CutShare> spans;
    for (const auto& [key, cut] : loads.Spans())
    {
        const auto& [span, forward, plane] = key;
        const CutShare share = cut.Share(loads.Usual(span, forward) / passing.at({span, forward}));
        const auto [found, isNew] = spans.try_emplace(span, share);
        if (!isNew)
        {
            found->second.TakeLeast(share);
        }
    }
    for (const auto& [span, share] : spans)
    {
        shares.SetSpan(span, share);
    }
    return shares;
}

} // namespace scaleacross
