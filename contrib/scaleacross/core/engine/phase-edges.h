// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PHASE_EDGES_H
#define SCALEACROSS_PHASE_EDGES_H

#include "core/program/collective.h"
#include "core/topology/cluster-paths.h"
#include "core/topology/rank-layout.h"

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>

namespace scaleacross
{

/// Edges of a phase's group that look alike: same tier, same buildings.
struct EdgeKind
{
    Tier tier{Tier::Node};
    uint32_t from{0}; //!< building
    uint32_t to{0};

    bool operator<(const EdgeKind& o) const
    {
        return std::tie(tier, from, to) < std::tie(o.tier, o.from, o.to);
    }

    bool operator==(const EdgeKind& o) const
    {
        return std::tie(tier, from, to) == std::tie(o.tier, o.from, o.to);
    }
};

/// Edges of one kind.
struct EdgeSet
{
    uint32_t count{0};
    Rank from{0}; //!< an example
    Rank to{0};
};

/// Members of a group in one building.
struct MembersThere
{
    uint32_t count{0};
    Rank first{0};
    Rank last{0};
    uint32_t lowest{0}; //!< TierOffset()
    uint32_t highest{0};
};

/**
 * What kinds of edge a rank's group has in a phase. All-to-all: from each building's first member
 * to everyone, which stands for the members of that building. Else: from each member to those it
 * sends to; where chunks take turns, to those of all turns.
 */
struct PhaseEdges
{
    std::map<EdgeKind, EdgeSet> kinds;
    uint32_t count{0};
    std::map<uint32_t, MembersThere> membersIn; //!< by building
};

/**
 * The edges of the phases of a job, each counted once: they depend on pattern and group, not on the
 * bytes, of which collectives have many. Groups that lie in their buildings like one that has been
 * counted, some nodes further on (those of other stages mostly), are not counted again.
 * Addresses stay valid. Not to be shared between threads.
 */
class PhaseEdgeTable
{
  public:
    /// Both have to outlive the table.
    PhaseEdgeTable(const ClusterPaths& paths, const RankLayout& layout);

    /// Of the group of `representative`, which has at least two members.
    const PhaseEdges& Of(const Phase& phase, Rank representative);

  private:
    /// The phases that differ in bytes only.
    struct Entry
    {
        Phase phase;
        std::map<Rank, PhaseEdges> edges; //!< by first member
    };

    Entry& EntryOf(const Phase& phase);
    PhaseEdges Count(const Phase& phase, Rank first) const;
    PhaseEdges Moved(PhaseEdges edges, int64_t by) const;
    bool MayMove(const PhaseEdges& edges, int64_t by) const;

    const ClusterPaths& m_paths;
    const RankLayout& m_layout;
    std::deque<Entry> m_entries;
};

} // namespace scaleacross

#endif // SCALEACROSS_PHASE_EDGES_H
