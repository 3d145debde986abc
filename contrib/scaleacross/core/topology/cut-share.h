// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CUT_SHARE_H
#define SCALEACROSS_CUT_SHARE_H

#include "core/spec/cluster-spec.h"
#include "core/spec/event-spec.h"
#include "core/spec/network-plan.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/parts-left.h"
#include "core/topology/shapes/fabric-shape.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

struct EventWords;

/// Links of a cut that have the same part of their rate left.
struct LinksLeft
{
    double part{1};   //!< of a link's rate, above 0
    double weight{1}; //!< share of the cut's links that they stand for where they limit it
};

/// What is left of a cut, as a share of what the cluster says.
struct CutShare
{
    double capacity{1};
    double links{1};
    /// What may limit it, each by the sum of what links carry; none: all links at their rate.
    std::vector<std::vector<LinksLeft>> limits{};

    /**
     * The capacity where a link with the part s of its rate left carries `carried(s)` of its whole
     * rate, because something else limits it, too: min over the limits of the sum of weight x
     * carried(part). Domain: carried() rises with s; with carried(s) = s it is `capacity`.
     *
     * Worked case: one of two switches with a link each has half of its rate left, and credits let
     * no link have more than a tenth: min(2 x 1/2 x 0.1, 2 x 1/2 x 0.1) = 0.1, as without events.
     */
    double Carried(const std::function<double(double)>& carried) const;

    /// Adds what may limit it, unless that is known; most switches are alike.
    void AddLimit(const std::vector<LinksLeft>& limit);

    /// Becomes the lesser of both, which of them that is depending on what else limits links.
    void TakeLeast(const CutShare& other);
};

/// What is left of every cut of a cluster: those of its buildings, by level (FabricShape::Cuts),
/// and the links of a span. Without events every share is 1.
class CutShares
{
  public:
    explicit CutShares(const ClusterSpec& cluster);

    /// One switch, or group of switches, of a building.
    const CutShare& Of(uint32_t building, uint32_t level) const
    {
        return m_levels[level].all[building];
    }

    /// The same for traffic between two buildings, which passes only top switches that have a lane
    /// left to the other one.
    const CutShare& Towards(uint32_t building, uint32_t other, uint32_t level) const
    {
        const auto found = m_levels[level].towards.find({building, other});
        return found == m_levels[level].towards.end() ? Of(building, level) : found->second;
    }

    /// Links of a span: index into ClusterSpec::crossLinks.
    const CutShare& Span(uint32_t link) const
    {
        return m_span[link];
    }

    void SetAll(uint32_t building, uint32_t level, CutShare share)
    {
        m_levels[level].all[building] = std::move(share);
    }

    void SetTowards(uint32_t building, uint32_t other, uint32_t level, CutShare share)
    {
        m_levels[level].towards[{building, other}] = std::move(share);
    }

    void SetSpan(uint32_t link, CutShare share)
    {
        m_span[link] = std::move(share);
    }

  private:
    struct Level
    {
        std::vector<CutShare> all; //!< by building
        /// By pair of buildings, where it is not the same.
        std::map<std::pair<uint32_t, uint32_t>, CutShare> towards;
    };

    std::array<Level, kCutLevels> m_levels;
    std::vector<CutShare> m_span;
};

/**
 * What events that hold for the whole run (EventSpec::IsConstant) leave of the cuts.
 *
 * A cut is a set of fans: the links that one switch has in it. Flows are spread equally over the T
 * switches that have a link left, and at each of them equally over its links. So one of the l links
 * of a fan carries 1 / (T l) of the traffic, at a rate of s links at the slowest, and the cut as
 * much as the fan that is full first:
 *
 *     share = T x min over the fans (l x s) / all links
 *
 * Where switches tell links apart, by routes with weights or by what waits at their own links, the
 * part of each link follows from their tables: SharesByTables.
 *
 * The fans of a span are the lanes of a top switch. Those of a building's cuts are CutSide::fan: in
 * a Clos those of a zone are the uplinks of a spine on the way up, and the links of an aggregation
 * switch to the zone on the way down; each link of a leaf is one of its own. Planes are cuts of
 * their own, since traffic does not change planes and each has an equal part of it. Of a building's
 * leaves and zones, and of the planes, the one with the least counts, as all finish when the last
 * does. Traffic between two buildings avoids top switches that have no lane left to the other
 * building, even where it enters the fabric: Towards.
 *
 * Worked cases. A span of 76 top switches with a lane each, one fails: T = 75 fans of 1 of 76
 * links, 75 / 76. Four top switches with two lanes, one of the 8 lanes is down: T = 4, the least
 * fan has 1 lane, 4 x 1 / 8 = 0.5: that lane carries a quarter of the traffic in place of an
 * eighth. Two planes of two top switches, one switch down: its plane has T = 1, 1 x 1 / 2 = 0.5.
 *
 * Others' traffic (LinkParts) takes its part of s. Which links there are to choose from, and the
 * weights of routes, follow without it.
 *
 * Left out: hashed flows collide on the links that are left as if all of them had the same part of
 * the traffic. Adaptive spraying is told nothing of links that other switches have, which it may be
 * where these push back for long.
 */
class CutsLeft
{
  public:
    /// Throws ConfigError (where = PlaceOf() of an event) for one that begins or ends during the
    /// run, or that hits a NIC's link; (where = PlaceOf() of all) if events leave a cut without a
    /// link, take lanes so that traffic goes other ways between sites than before, or take some
    /// links over which there are detours and not others.
    CutsLeft(const ClusterSpec& cluster, const std::vector<EventSpec>& events);

    /// Threads may ask at once. Throws ConfigError as SharesByTables() does.
    const CutShares& Shares(Multipath multipath) const;

    /// What is left to the job of all links of a span together, whichever of them holds it back.
    double OfSpan(uint32_t span) const;

  private:
    /// What is left for traffic that avoids top switches which have lost their lanes.
    void AddTowards(const EventWords& events);

    ClusterSpec m_cluster;
    std::string m_place; //!< of the events; empty: there are none
    FabricGraph m_graph;
    std::vector<LinkParts> m_parts; //!< by link
    CutShares m_equal;
    mutable std::mutex m_mutex;
    /// Found when asked for, by whether routes have weights: of multipaths that tell links apart.
    mutable std::map<bool, CutShares> m_byTables;
};

} // namespace scaleacross

#endif // SCALEACROSS_CUT_SHARE_H
