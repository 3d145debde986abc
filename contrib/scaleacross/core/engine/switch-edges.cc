// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/switch-edges.h"

#include "core/program/step-pattern.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace scaleacross
{

/// Adds up edges by kind and by the switches that they pass.
class SwitchEdgeTable::Counter
{
  public:
    explicit Counter(const SwitchEdgeTable& table)
        : m_table(table)
    {
    }

    void Add(Rank from, Rank to)
    {
        const Tier tier = m_table.m_paths.TierBetween(from, to);
        const EdgeKind kind{tier,
                            m_table.m_layout.BuildingOf(from),
                            m_table.m_layout.BuildingOf(to)};
        if (m_last == nullptr || !(m_last->kind == kind))
        {
            m_last = &m_sums[kind];
            m_last->kind = kind;
            m_last->from = from;
            m_last->to = to;
        }
        m_last->count++;
        for (const bool up : {true, false})
        {
            const Rank rank = up ? from : to;
            const uint32_t building = m_table.m_layout.BuildingOf(rank);
            const std::vector<ShapeCut>& cuts = m_table.m_paths.Shape(building).Cuts();
            for (uint32_t level = 0; level < cuts.size(); level++)
            {
                if (!cuts[level].Carries(tier))
                {
                    continue;
                }
                (up ? m_last->up : m_last->down)[level][KindOf(level, building, rank)]++;
                if (up && cuts[level].detour > 0)
                {
                    m_last->between[level][{SwitchOf(level, building, from),
                                            SwitchOf(level, building, to)}]++;
                }
            }
        }
    }

    std::vector<SwitchEdges> Take() const
    {
        std::vector<SwitchEdges> kinds;
        for (const auto& [kind, sum] : m_sums)
        {
            const auto shares = [&sum = sum](const std::map<uint32_t, double>& counts,
                                             const StageSwitches& switches) {
                std::vector<SwitchShare> all;
                for (const auto& [which, count] : counts)
                {
                    all.push_back({which, count / switches.CountOf(which) / sum.count});
                }
                return all;
            };
            SwitchEdges& edges = kinds.emplace_back();
            edges.kind = kind;
            edges.from = sum.from;
            edges.to = sum.to;
            edges.count = sum.count;
            for (uint32_t level = 0; level < kCutLevels; level++)
            {
                edges.up[level] = shares(sum.up[level], m_table.m_stages[level]);
                edges.down[level] = shares(sum.down[level], m_table.m_stages[level]);
                edges.links[level] = LinksOf(sum, level);
            }
        }
        return kinds;
    }

  private:
    struct Sum
    {
        EdgeKind kind;
        Rank from{0};
        Rank to{0};
        double count{0};
        using Counts = std::map<uint32_t, double>; // by kind of switch
        std::array<Counts, kCutLevels> up;
        std::array<Counts, kCutLevels> down;
        /// By two switches of the building, where there are detours.
        std::array<std::map<std::pair<uint32_t, uint32_t>, double>, kCutLevels> between;
    };

    uint32_t SwitchOf(uint32_t level, uint32_t building, Rank rank) const
    {
        const uint32_t gpu = rank - m_table.m_layout.buildingBegin[building];
        return m_table.m_paths.Shape(building).SwitchOf(level, gpu);
    }

    uint32_t KindOf(uint32_t level, uint32_t building, Rank rank) const
    {
        return m_table.m_stages[level].KindOf(building, SwitchOf(level, building, rank));
    }

    std::vector<LinkShare> LinksOf(const Sum& sum, uint32_t level) const
    {
        if (sum.between[level].empty())
        {
            return {};
        }
        const StageSwitches& switches = m_table.m_stages[level];
        const uint32_t building = sum.kind.from;

        /// Edges from a switch of one kind right to one of another.
        struct Direct
        {
            double pairs{0}; //!< of switches that have any
            double fewest{std::numeric_limits<double>::infinity()};
        };

        std::map<std::pair<uint32_t, uint32_t>, Direct> direct;
        for (const auto& [pair, count] : sum.between[level])
        {
            Direct& all = direct[{switches.KindOf(building, pair.first),
                                  switches.KindOf(building, pair.second)}];
            all.pairs++;
            all.fewest = std::min(all.fewest, count);
        }
        const auto onOne = [&switches](const typename Sum::Counts& counts, uint32_t kind) {
            const auto found = counts.find(kind);
            return found == counts.end() ? 0.0 : found->second / switches.CountOf(kind);
        };
        std::vector<LinkShare> links;
        std::vector<uint32_t> here; // kinds
        for (uint32_t kind = 0; kind < switches.Kinds(); kind++)
        {
            if (switches.BuildingOf(kind) == building)
            {
                here.push_back(kind);
            }
        }
        for (const uint32_t from : here)
        {
            for (const uint32_t to : here)
            {
                const double pairs = 1.0 * switches.CountOf(from) * switches.CountOf(to) -
                                     (from == to ? switches.CountOf(from) : 0);
                // What is from one end to the other passes once, and comes out and in.
                const auto found = direct.find({from, to});
                const double twice =
                    found == direct.end() || found->second.pairs < pairs ? 0 : found->second.fewest;
                const double edges =
                    onOne(sum.up[level], from) + onOne(sum.down[level], to) - twice;
                if (pairs > 0 && edges > 0)
                {
                    links.push_back({from, to, edges / sum.count});
                }
            }
        }
        return links;
    }

    const SwitchEdgeTable& m_table;
    std::map<EdgeKind, Sum> m_sums;
    Sum* m_last{nullptr}; // most edges in a row are of one kind
};

SwitchEdgeTable::SwitchEdgeTable(const ClusterSpec& cluster,
                                 const ClusterPaths& paths,
                                 const RankLayout& layout,
                                 const StageFabric& stages)
    : m_cluster(cluster),
      m_paths(paths),
      m_layout(layout),
      m_stages(stages)
{
}

bool
SwitchEdgeTable::NeedsCount(const RankGroup& group, bool direct) const
{
    for (uint32_t b = 0; b < m_layout.Buildings(); b++)
    {
        if (m_paths.Shape(b).HasDetours())
        {
            return true;
        }
    }
    return !FitsSwitches(m_cluster, m_paths, m_layout, group) ||
           !(direct || FitsRails(m_cluster, group));
}

const std::vector<Rank>&
SwitchEdgeTable::RanksOf(uint32_t stage)
{
    if (m_ranks.empty())
    {
        m_ranks.resize(m_layout.pipeline.Size());
        for (Rank rank = 0; rank < m_layout.ranks; rank++)
        {
            if (m_layout.takingPart.empty() || m_layout.takingPart[rank])
            {
                m_ranks[m_layout.StageOf(rank)].push_back(rank);
            }
        }
    }
    return m_ranks[stage];
}

std::vector<uint32_t>
SwitchEdgeTable::BuildingsOf(const RankGroup& group, Rank rank) const
{
    std::vector<uint32_t> buildings;
    for (uint32_t i = 0; i < group.Size(); i++)
    {
        buildings.push_back(m_layout.BuildingOf(group.Member(rank, i)));
    }
    return buildings;
}

const CountedEdges&
SwitchEdgeTable::OfPhase(const Phase& phase, Rank representative, bool whole)
{
    const uint32_t stage = m_layout.StageOf(representative);
    const Rank first = whole ? RanksOf(stage).front() : phase.group.Member(representative, 0);
    for (const Entry& entry : m_phases)
    {
        if (entry.first == first && entry.whole == whole && HaveSamePeers(entry.phase, phase))
        {
            return entry.edges;
        }
    }
    Counter counter(*this);
    CountedEdges counted;
    counted.ranksIn.resize(m_layout.Buildings(), 0.0);
    const std::vector<uint32_t> own =
        whole ? std::vector<uint32_t>() : BuildingsOf(phase.group, representative);
    for (const Rank rank : RanksOf(stage))
    {
        // A group is counted with its first member, if it has all of them: not every family tiles
        // the ranks of a trace.
        if (phase.group.IndexOf(rank) != 0 ||
            phase.group.Member(rank, phase.group.Size() - 1) >= m_layout.ranks ||
            (!whole && BuildingsOf(phase.group, rank) != own))
        {
            continue;
        }
        for (uint32_t i = 0; i < phase.group.Size(); i++)
        {
            const Rank member = phase.group.Member(rank, i);
            counted.ranksIn[m_layout.BuildingOf(member)]++;
            ForEachPeer(phase, i, [&](uint32_t peer) {
                counter.Add(member, phase.group.Member(rank, peer));
            });
        }
    }
    counted.kinds = counter.Take();
    m_phases.push_back({phase, first, whole, std::move(counted)});
    return m_phases.back().edges;
}

const CountedEdges&
SwitchEdgeTable::OfMessage(Rank from, Rank to)
{
    const uint32_t stage = m_layout.StageOf(from);
    const uint32_t here = m_layout.BuildingOf(from);
    const uint32_t there = m_layout.BuildingOf(to);
    const auto [entry, isNew] =
        m_messages.try_emplace({stage, here * m_layout.Buildings() + there, int64_t{to} - from});
    CountedEdges& counted = entry->second;
    if (isNew)
    {
        Counter counter(*this);
        counted.ranksIn.resize(m_layout.Buildings(), 0.0);
        for (const Rank rank : RanksOf(stage))
        {
            const Rank peer = m_layout.pipeline.Member(rank, m_layout.StageOf(to));
            if (m_layout.BuildingOf(rank) == here && m_layout.BuildingOf(peer) == there)
            {
                counted.ranksIn[here]++;
                counter.Add(rank, peer);
            }
        }
        counted.kinds = counter.Take();
    }
    return counted;
}

bool
FitsSwitches(const ClusterSpec& cluster,
             const ClusterPaths& paths,
             const RankLayout& layout,
             const RankGroup& group)
{
    for (uint32_t b = 0; b < cluster.buildings.size(); b++)
    {
        const BuildingSpec& building = cluster.buildings[b];
        for (const uint32_t size : paths.Shape(b).Boundaries())
        {
            if (size < building.gpus &&
                (building.gpus % size != 0 || layout.buildingBegin[b] % size != 0 ||
                 !group.CanSplitAt(size) || !layout.pipeline.CanSplitAt(size)))
            {
                return false;
            }
        }
    }
    return true;
}

bool
FitsRails(const ClusterSpec& cluster, const RankGroup& group)
{
    return std::all_of(cluster.buildings.begin(),
                       cluster.buildings.end(),
                       [&group](const BuildingSpec& building) {
                           if (!building.fabric.rails)
                           {
                               return true;
                           }
                           if (!group.CanSplitAt(building.gpusPerNode))
                           {
                               return false;
                           }
                           const auto split = group.SplitAt(building.gpusPerNode);
                           return split.inner.Size() == 1 || split.outer.Size() == 1;
                       });
}

uint32_t
SwitchPeriod(const ClusterSpec& cluster, const ClusterPaths& paths, const RankLayout& layout)
{
    bool fits = true;
    bool fitsRails = true;
    uint32_t outermost = 1; // what lies inside the outermost dimension repeats
    for (const RankGroup* group : layout.Families())
    {
        fits = fits && FitsSwitches(cluster, paths, layout, *group);
        fitsRails = fitsRails && FitsRails(cluster, *group);
        if (!group->Axes().empty())
        {
            outermost = std::max(outermost, group->Axes().back().stride);
        }
    }
    const uint32_t period = fits ? 1 : outermost;
    return fitsRails ? period : std::lcm(period, cluster.buildings.front().gpusPerNode);
}

} // namespace scaleacross
