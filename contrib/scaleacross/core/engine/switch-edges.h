// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWITCH_EDGES_H
#define SCALEACROSS_SWITCH_EDGES_H

#include "core/engine/network-facts.h"
#include "core/engine/phase-edges.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace scaleacross
{

/// Links from the switches of one kind to those of another, of the same building, between which
/// packets take detours.
struct LinkShare
{
    uint32_t from{0}; //!< kinds
    uint32_t to{0};
    /// Of all edges those that may pass one such link, the fullest: all out of its first switch and
    /// all into its second, each once.
    double share{0};
};

/// Edges of one kind, of all groups that do a phase at once.
struct SwitchEdges
{
    EdgeKind kind;
    Rank from{0}; //!< an example
    Rank to{0};
    double count{0};
    /// Where they go out of switches and where they come in, by level of cuts: of each kind of
    /// switch the share of the edges on one.
    std::array<std::vector<SwitchShare>, kCutLevels> up;
    std::array<std::vector<SwitchShare>, kCutLevels> down;
    std::array<std::vector<LinkShare>, kCutLevels> links; //!< where there are detours
};

/// What has been counted.
struct CountedEdges
{
    std::vector<SwitchEdges> kinds;
    std::vector<double> ranksIn; //!< by building: whose groups were counted
};

/**
 * Edges over the uplinks of leaves and zones, counted one by one, where ranks do not tell them: a
 * ring leaves each leaf once, however many of its members are there.
 *
 * Ranks tell them where a group has equally many members on each switch that it reaches, and begins
 * nowhere inside one: where all boundaries of switches fall on or between parts of dimensions
 * (FitsSwitches). On rails a leaf has one position of each server, so that leaves are alike where a
 * group has one member on a server (FitsRails), or every member sends to every other.
 *
 * Worked case: leaves of 16 NICs, two stages of 24 ranks, rings of three servers. Eight rings of
 * stage 0 have two servers on leaf 0 and one on leaf 1: eight edges leave either. By ranks 16 x 2/3
 * would leave leaf 0 and 16 x 1/3 leaf 1, to which stage 1 adds as much again.
 *
 * Not to be shared between threads. Cost: linear in the ranks of a stage (all-to-all: times the
 * size of its groups), once for a pattern and group; nothing where ranks tell. Which links detours
 * load depends on who sends to whom, so that ranks never tell there.
 */
class SwitchEdgeTable
{
  public:
    /// All have to outlive the table.
    SwitchEdgeTable(const ClusterSpec& cluster,
                    const ClusterPaths& paths,
                    const RankLayout& layout,
                    const StageFabric& stages);

    /// Whether ranks do not tell. `group`: none for a message, which all ranks of a stage send.
    /// `direct`: every member sends to every other one.
    bool NeedsCount(const RankGroup& group, bool direct) const;

    /// Of all groups of the stage of `representative`, or, unless `whole`, of those that reach into
    /// the same buildings as its own.
    const CountedEdges& OfPhase(const Phase& phase, Rank representative, bool whole);

    /// Of a message from every rank of the stage and building of `from`.
    const CountedEdges& OfMessage(Rank from, Rank to);

  private:
    class Counter;

    struct Entry
    {
        Phase phase;
        Rank first{0}; //!< of the group of whom it was asked
        bool whole{false};
        CountedEdges edges;
    };

    const std::vector<Rank>& RanksOf(uint32_t stage);
    std::vector<uint32_t> BuildingsOf(const RankGroup& group, Rank rank) const;

    const ClusterSpec& m_cluster;
    const ClusterPaths& m_paths;
    const RankLayout& m_layout;
    const StageFabric& m_stages;
    std::vector<std::vector<Rank>>
        m_ranks; //!< by stage, those that take part; empty: not yet known
    std::deque<Entry> m_phases;
    std::map<std::tuple<uint32_t, uint32_t, int64_t>, CountedEdges> m_messages;
};

/// Whether no boundary of a fabric cuts a dimension of a group, or of the pipeline, unevenly.
bool FitsSwitches(const ClusterSpec& cluster,
                  const ClusterPaths& paths,
                  const RankLayout& layout,
                  const RankGroup& group);

/// Whether a group has one member on each server that it reaches, or is on one, where NICs of a
/// server are on leaves of their own.
bool FitsRails(const ClusterSpec& cluster, const RankGroup& group);

/// Ranks after which switches of a building are alike for all groups of a layout, besides what
/// stages have on them; 1: they are, wherever they begin. On rails that some group does not fit, a
/// multiple of a server's ranks.
uint32_t SwitchPeriod(const ClusterSpec& cluster,
                      const ClusterPaths& paths,
                      const RankLayout& layout);

} // namespace scaleacross

#endif // SCALEACROSS_SWITCH_EDGES_H
