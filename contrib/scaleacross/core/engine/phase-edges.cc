// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/phase-edges.h"

#include "core/program/step-pattern.h"

#include <algorithm>

namespace scaleacross
{

PhaseEdgeTable::PhaseEdgeTable(const ClusterPaths& paths, const RankLayout& layout)
    : m_paths(paths),
      m_layout(layout)
{
}

PhaseEdgeTable::Entry&
PhaseEdgeTable::EntryOf(const Phase& phase)
{
    for (Entry& entry : m_entries)
    {
        if (HaveSamePeers(entry.phase, phase))
        {
            return entry;
        }
    }
    m_entries.push_back({phase, {}});
    return m_entries.back();
}

const PhaseEdges&
PhaseEdgeTable::Of(const Phase& phase, Rank representative)
{
    Entry& entry = EntryOf(phase);
    const Rank first = phase.group.Member(representative, 0);
    const auto known = entry.edges.find(first);
    if (known != entry.edges.end())
    {
        return known->second;
    }
    for (const auto& [other, edges] : entry.edges)
    {
        const int64_t by = int64_t{first} - other;
        if (MayMove(edges, by))
        {
            return entry.edges.emplace(first, Moved(edges, by)).first->second;
        }
    }
    return entry.edges.emplace(first, Count(phase, first)).first->second;
}

/// The edges of a group whose ranks are all so much higher. Domain: MayMove().
PhaseEdges
PhaseEdgeTable::Moved(PhaseEdges edges, int64_t by) const
{
    const auto move = [by](Rank& rank) { rank = static_cast<Rank>(rank + by); };
    for (auto& [kind, set] : edges.kinds)
    {
        move(set.from);
        move(set.to);
    }
    for (auto& [building, members] : edges.membersIn)
    {
        move(members.first);
        move(members.last);
        for (uint32_t* offset : {&members.lowest, &members.highest})
        {
            const int64_t period = m_paths.Shape(building).TierPeriod();
            *offset = static_cast<uint32_t>(((*offset + by) % period + period) % period);
        }
    }
    return edges;
}

/// Whether a group whose ranks are all so much higher has the same edges in the same buildings.
bool
PhaseEdgeTable::MayMove(const PhaseEdges& edges, int64_t by) const
{
    return std::all_of(edges.membersIn.begin(), edges.membersIn.end(), [&](const auto& there) {
        const auto& [building, members] = there;
        return m_paths.KeepsTiers(building, members.lowest, members.highest, by) &&
               members.first + by >= 0 &&
               static_cast<uint64_t>(members.last + by) < m_layout.plan.Ranks() &&
               m_layout.BuildingOf(static_cast<Rank>(members.first + by)) == building &&
               m_layout.BuildingOf(static_cast<Rank>(members.last + by)) == building;
    });
}

PhaseEdges
PhaseEdgeTable::Count(const Phase& phase, Rank first) const
{
    PhaseEdges edges;
    EdgeKind last;
    EdgeSet* set = nullptr; // of the kind before: most edges in a row are of one kind
    const auto count = [&](Rank from, Rank to, uint32_t building) {
        const EdgeKind kind{m_paths.TierBetween(from, to), building, m_layout.BuildingOf(to)};
        if (set == nullptr || !(kind == last))
        {
            set = &edges.kinds[kind];
            last = kind;
        }
        set->count++;
        set->from = from;
        set->to = to;
        edges.count++;
    };
    const uint32_t n = phase.group.Size();
    for (uint32_t i = 0; i < n; i++)
    {
        const Rank member = phase.group.Member(first, i);
        const uint32_t building = m_layout.BuildingOf(member);
        MembersThere& there = edges.membersIn[building];
        const bool firstThere = there.count++ == 0;
        there.first = firstThere ? member : std::min(there.first, member);
        there.last = std::max(there.last, member);
        const uint32_t offset = m_paths.TierOffset(member);
        there.lowest = firstThere ? offset : std::min(there.lowest, offset);
        there.highest = std::max(there.highest, offset);
        if (!StepsOf(phase).IsDirect() || firstThere)
        {
            ForEachPeer(phase, i, [&](uint32_t peer) {
                count(member, phase.group.Member(first, peer), building);
            });
        }
    }
    return edges;
}

} // namespace scaleacross
