// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/symmetry.h"

#include "core/program/step-pattern.h"
#include "core/topology/cluster-paths.h"
#include "core/topology/shapes/fabric-shape.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr size_t kMostWays = size_t{1} << 25;

/// Numbers as one that tells them apart, but once in 2^64.
uint64_t
Mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15ULL + b;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

uint64_t
Bits(double value)
{
    uint64_t bits = 0;
    static_assert(sizeof bits == sizeof value);
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// By element: how many are the same.
std::vector<uint32_t>
Counts(const std::vector<uint32_t>& elements)
{
    std::vector<uint32_t> counts(elements.size());
    for (const uint32_t element : elements)
    {
        counts[element]++;
    }
    for (size_t i = 0; i < elements.size(); i++)
    {
        counts[i] = elements[i] == i ? counts[i] : counts[elements[i]];
    }
    return counts;
}

/// One of the ways on which a rank sends.
struct Way
{
    Rank to{0};
    uint32_t name{0}; //!< of one that all ranks of a class have
};

/// The ways of a class, before they are those of a rank.
struct ClassWays
{
    std::set<int32_t> peers;   //!< of the pipeline: rank of the peer minus own rank
    std::set<uint32_t> phases; //!< of collectives
};

/// The switches, or groups of switches, of a building that have a cut of one level.
struct Level
{
    std::vector<uint32_t> switchOf; //!< by GPU of the building
    std::vector<uint64_t> own;      //!< by switch: what its links are like
    std::vector<uint64_t> colours;  //!< by switch
};

/// One direction of the links of a cut: building, level, part, whether it is up.
using Side = std::tuple<uint32_t, uint32_t, uint32_t, bool>;

/// Refines colours of ranks and switches until they tell apart all that is not alike.
class Refinement
{
  public:
    Refinement(const Scenario& scenario, const TaskGraph& graph, const FlowPaths& paths)
        : m_cluster(scenario.cluster),
          m_graph(graph),
          m_paths(paths),
          m_clusterPaths(scenario.cluster),
          m_ports(scenario.cluster.PortsPerNic())
    {
    }

    /// False if there are too many pairs of ranks to look at.
    bool Run();

    /// Domain: Run() was true.
    Symmetry Result() const;

  private:
    /// Phase, output and lane, number of the message, input.
    using Name = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;

    uint32_t PhaseNumber(const Phase& phase);
    std::vector<ClassWays> WaysOfClasses();
    bool FindWays();
    bool AddWaysOf(Rank rank, uint32_t phase);
    void AddWay(Rank to, const Name& name);
    void FindSides();
    uint64_t LooksOf(DirectedLink link) const;
    void FindLevels();
    void Begin();
    void ColourSwitches();
    void Number(const std::vector<uint64_t>& seen);

    const ClusterSpec& m_cluster;
    const TaskGraph& m_graph;
    const FlowPaths& m_paths;
    ClusterPaths m_clusterPaths;
    uint32_t m_ports;
    std::vector<Phase> m_phases; //!< that differ in who sends to whom
    std::map<Name, uint32_t> m_names;
    std::vector<size_t> m_firstWay; //!< by rank, and one more: where its ways begin
    std::vector<Way> m_ways;
    /// By switch, in the order of the graph.
    std::map<Side, std::map<uint32_t, std::vector<DirectedLink>>> m_sides;
    std::vector<std::vector<Level>> m_levels; //!< by building and level
    std::vector<uint32_t> m_colours;          //!< by rank
    uint32_t m_kinds{0};
};

uint32_t
Refinement::PhaseNumber(const Phase& phase)
{
    const auto found = std::find_if(m_phases.begin(), m_phases.end(), [&phase](const Phase& other) {
        return HaveSamePeers(phase, other);
    });
    if (found == m_phases.end())
    {
        m_phases.push_back(phase);
        return static_cast<uint32_t>(m_phases.size() - 1);
    }
    return static_cast<uint32_t>(found - m_phases.begin());
}

std::vector<ClassWays>
Refinement::WaysOfClasses()
{
    std::vector<ClassWays> classes(m_graph.classes.size());
    for (size_t c = 0; c < classes.size(); c++)
    {
        ClassWays& ways = classes[c];
        std::set<uint32_t> bodies;
        std::set<uint32_t> collectives;
        const auto look = [&](const std::vector<Op>& ops) {
            for (const Op& op : ops)
            {
                if (op.kind == OpKind::Send || op.kind == OpKind::PostReceive)
                {
                    ways.peers.insert(op.peer);
                }
                else if (op.kind == OpKind::Collective)
                {
                    collectives.insert(op.index);
                }
                else if (op.kind == OpKind::Run)
                {
                    bodies.insert(op.index);
                }
            }
        };
        look(m_graph.classes[c].program.ops);
        for (const uint32_t body : bodies)
        {
            look(m_graph.bodies[body].ops);
        }
        for (const uint32_t collective : collectives)
        {
            for (const Phase& phase : m_graph.collectives[collective].phases)
            {
                if (phase.group.Size() > 1)
                {
                    ways.phases.insert(PhaseNumber(phase));
                }
            }
        }
    }
    return classes;
}

void
Refinement::AddWay(Rank to, const Name& name)
{
    const auto number = static_cast<uint32_t>(m_names.size());
    m_ways.push_back({to, m_names.try_emplace(name, number).first->second});
}

/// False if that would be too many.
bool
Refinement::AddWaysOf(Rank rank, uint32_t number)
{
    Phase phase = m_phases[number];
    const uint32_t index = phase.group.IndexOf(rank);
    const bool isDirect = StepsOf(phase).IsDirect() || StepsOf(phase).IsCopied();
    // Chunks take turns on the lanes.
    for (phase.lane = 0; phase.lane < phase.perServer; phase.lane++)
    {
        const MemberFlows flows = FlowsOf(phase, index);
        for (uint32_t o = 0; o < kMostFlows; o++)
        {
            const uint32_t messages =
                isDirect ? flows.outputs[o].messages : std::min(flows.outputs[o].messages, 1U);
            if (m_ways.size() + messages > kMostWays)
            {
                return false;
            }
            for (uint32_t m = 0; m < messages; m++)
            {
                const PhaseMessage message = MessageOf(phase, index, o, m);
                AddWay(phase.group.Member(rank, message.to),
                       {number, o * phase.perServer + phase.lane, m, message.input});
            }
        }
    }
    return true;
}

bool
Refinement::FindWays()
{
    const std::vector<ClassWays> classes = WaysOfClasses();
    for (Rank rank = 0; rank < m_graph.ranks; rank++)
    {
        m_firstWay.push_back(m_ways.size());
        const ClassWays& ways = classes[m_graph.ClassOf(rank)];
        for (const int32_t peer : ways.peers)
        {
            AddWay(rank + peer, {UINT32_MAX, static_cast<uint32_t>(peer), 0, 0});
        }
        for (const uint32_t phase : ways.phases)
        {
            if (!AddWaysOf(rank, phase))
            {
                return false;
            }
        }
    }
    m_firstWay.push_back(m_ways.size());
    return true;
}

void
Refinement::FindSides()
{
    const FabricGraph& graph = m_paths.Graph();
    for (DirectedLink directed = 0; directed < 2 * graph.links.size(); directed++)
    {
        const FabricLink& link = graph.links[directed / 2];
        if (link.kind != LinkKind::Inside)
        {
            continue;
        }
        const bool back = directed % 2 == 1;
        const Vertex& from = graph.vertices[back ? link.b : link.a];
        const Vertex& to = graph.vertices[back ? link.a : link.b];
        if (from.site >= m_cluster.buildings.size())
        {
            continue; // in a hub
        }
        const FabricShape& shape = m_clusterPaths.Shape(from.site);
        for (const CutSide& side : shape.SidesOf(from, to))
        {
            m_sides[{from.site, side.level, side.part, side.up}][side.which].push_back(directed);
        }
    }
}

/// What a link is like.
uint64_t
Refinement::LooksOf(DirectedLink link) const
{
    const FabricLink& built = m_paths.Graph().links[link / 2];
    return Mix(Mix(Bits(m_paths.RateOf(link).Value()), Bits(built.loss)),
               static_cast<uint64_t>(built.delay.Ps()));
}

void
Refinement::FindLevels()
{
    for (uint32_t b = 0; b < m_cluster.buildings.size(); b++)
    {
        const FabricShape& shape = m_clusterPaths.Shape(b);
        std::vector<Level>& levels = m_levels.emplace_back();
        for (uint32_t l = 0; l < shape.Cuts().size(); l++)
        {
            Level& level = levels.emplace_back();
            for (uint32_t gpu = 0; gpu < m_cluster.buildings[b].gpus; gpu++)
            {
                level.switchOf.push_back(shape.SwitchOf(l, gpu));
            }
            const uint32_t last = *std::max_element(level.switchOf.begin(), level.switchOf.end());
            level.own.resize(last + 1);
            for (uint32_t which = 0; shape.HasDetours() && which <= last; which++)
            {
                level.own[which] = which; // others pass a switch by its number
            }
        }
    }
    for (const auto& [side, switches] : m_sides)
    {
        std::vector<uint64_t>& own = m_levels[std::get<0>(side)][std::get<1>(side)].own;
        for (const auto& [which, links] : switches)
        {
            own.resize(std::max<size_t>(own.size(), which + 1));
            for (const DirectedLink link : links)
            {
                own[which] = Mix(own[which], LooksOf(link));
            }
        }
    }
}

/// Numbers colours anew by what they were, and what their ranks see.
void
Refinement::Number(const std::vector<uint64_t>& seen)
{
    std::vector<Rank> order(m_graph.ranks);
    std::iota(order.begin(), order.end(), 0);
    const auto isBefore = [&](Rank a, Rank b) {
        return std::tie(m_colours[a], seen[a]) < std::tie(m_colours[b], seen[b]);
    };
    std::sort(order.begin(), order.end(), isBefore);
    std::vector<uint32_t> colours(m_graph.ranks);
    m_kinds = 0;
    for (size_t i = 0; i < order.size(); i++)
    {
        m_kinds += i == 0 || isBefore(order[i - 1], order[i]) ? 1 : 0;
        colours[order[i]] = m_kinds - 1;
    }
    m_colours = std::move(colours);
}

/// What can be told of a rank without others.
void
Refinement::Begin()
{
    m_colours.assign(m_graph.ranks, 0);
    std::vector<uint64_t> seen(m_graph.ranks);
    for (const FabricLink& link : m_paths.Graph().links)
    {
        if (link.kind == LinkKind::Nic)
        {
            const auto number = static_cast<DirectedLink>(&link - m_paths.Graph().links.data());
            uint64_t& of = seen[link.a / m_ports];
            of = Mix(of, Mix(LooksOf(2 * number), LooksOf(2 * number + 1)));
        }
    }
    std::vector<std::pair<Rank, size_t>> peers; // of a rank's ways, and which way it is
    for (Rank rank = 0; rank < m_graph.ranks; rank++)
    {
        seen[rank] = Mix(seen[rank], m_graph.ClassOf(rank));
        seen[rank] = Mix(seen[rank], m_cluster.BuildingOf(rank));
        peers.clear();
        for (size_t w = m_firstWay[rank]; w < m_firstWay[rank + 1]; w++)
        {
            peers.emplace_back(m_ways[w].to, w);
        }
        std::sort(peers.begin(), peers.end());
        for (size_t i = 0, first = 0; i < peers.size(); i++)
        {
            // Ways to one peer have one connection.
            first = peers[first].first == peers[i].first ? first : i;
            const Way& way = m_ways[peers[i].second];
            const Way& other = m_ways[peers[first].second];
            const auto tier = static_cast<uint64_t>(m_clusterPaths.TierBetween(rank, way.to));
            seen[rank] += Mix(Mix(way.name, tier), other.name);
        }
    }
    Number(seen);
}

void
Refinement::ColourSwitches()
{
    Rank first = 0;
    for (uint32_t b = 0; b < m_cluster.buildings.size(); b++)
    {
        for (Level& level : m_levels[b])
        {
            level.colours = level.own;
            for (uint32_t gpu = 0; gpu < m_cluster.buildings[b].gpus; gpu++)
            {
                level.colours[level.switchOf[gpu]] += Mix(m_colours[first + gpu], 2);
            }
        }
        first += m_cluster.buildings[b].gpus;
    }
}

bool
Refinement::Run()
{
    if (!FindWays())
    {
        return false;
    }
    FindSides();
    FindLevels();
    Begin();
    for (uint32_t before = 0; before != m_kinds;)
    {
        before = m_kinds;
        ColourSwitches();
        std::vector<uint64_t> seen(m_graph.ranks);
        Rank rank = 0;
        for (uint32_t b = 0; b < m_cluster.buildings.size(); b++)
        {
            for (uint32_t gpu = 0; gpu < m_cluster.buildings[b].gpus; gpu++, rank++)
            {
                for (const Level& level : m_levels[b])
                {
                    seen[rank] += Mix(level.colours[level.switchOf[gpu]], 3);
                }
                for (size_t w = m_firstWay[rank]; w < m_firstWay[rank + 1]; w++)
                {
                    const Way& way = m_ways[w];
                    const uint64_t name = uint64_t{way.name} << 32U;
                    seen[rank] += Mix(name + m_colours[way.to], 4);
                    seen[way.to] += Mix(name + m_colours[rank], 5);
                }
            }
        }
        Number(seen);
    }
    return true;
}

Symmetry
Refinement::Result() const
{
    const FabricGraph& graph = m_paths.Graph();
    Symmetry symmetry = NoSymmetry(m_graph.ranks, m_paths);
    std::vector<Rank> lowest(m_kinds, UINT32_MAX);
    for (Rank rank = 0; rank < m_graph.ranks; rank++)
    {
        lowest[m_colours[rank]] = std::min(lowest[m_colours[rank]], rank);
        symmetry.rank[rank] = lowest[m_colours[rank]];
    }
    std::map<std::pair<Rank, uint32_t>, DirectedLink> ofNics; // by rank and port
    for (DirectedLink directed = 0; directed < symmetry.link.size(); directed += 2)
    {
        const FabricLink& link = graph.links[directed / 2];
        if (link.kind == LinkKind::Nic)
        {
            const auto alike =
                ofNics.try_emplace({symmetry.rank[link.a / m_ports], link.a % m_ports}, directed)
                    .first->second;
            symmetry.link[directed] = alike;
            symmetry.link[directed + 1] = alike + 1;
        }
    }
    for (const auto& [side, switches] : m_sides)
    {
        const Level& level = m_levels[std::get<0>(side)][std::get<1>(side)];
        std::map<uint64_t, const std::vector<DirectedLink>*> firsts; // by colour
        for (const auto& [which, links] : switches)
        {
            const std::vector<DirectedLink>& first =
                *firsts.try_emplace(level.colours[which], &links).first->second;
            for (size_t i = 0; i < links.size(); i++)
            {
                symmetry.link[links[i]] = first[i];
            }
        }
    }
    symmetry.ranks = Counts(symmetry.rank);
    symmetry.links = Counts(symmetry.link);
    return symmetry;
}

} // namespace

uint32_t
Symmetry::Kinds() const
{
    uint32_t kinds = 0;
    for (Rank r = 0; r < rank.size(); r++)
    {
        kinds += rank[r] == r ? 1 : 0;
    }
    return kinds;
}

Symmetry
NoSymmetry(uint32_t ranks, const FlowPaths& paths)
{
    Symmetry symmetry;
    symmetry.rank.resize(ranks);
    std::iota(symmetry.rank.begin(), symmetry.rank.end(), 0);
    symmetry.link.resize(2 * paths.Graph().links.size());
    std::iota(symmetry.link.begin(), symmetry.link.end(), 0);
    symmetry.ranks = Counts(symmetry.rank);
    symmetry.links = Counts(symmetry.link);
    return symmetry;
}

Symmetry
FindSymmetry(const Scenario& scenario, const TaskGraph& graph, const FlowPaths& paths)
{
    Refinement refinement(scenario, graph, paths);
    return refinement.Run() ? refinement.Result() : NoSymmetry(graph.ranks, paths);
}

} // namespace scaleacross
