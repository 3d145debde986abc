// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CUT_SHARE_H
#define SCALEACROSS_CUT_SHARE_H

#include "core/spec/cluster-spec.h"
#include "core/spec/event-spec.h"
#include "core/spec/network-plan.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace scaleacross
{

/// What is left of a cut, as a share of what the cluster says.
struct CutShare
{
    double capacity{1};
    double links{1};
};

/// What is left of every cut of a cluster: the uplinks of a leaf, those of a zone, and the links of
/// a span. Without events every share is 1.
class CutShares
{
  public:
    explicit CutShares(const ClusterSpec& cluster);

    /// Uplinks of one leaf of a building.
    const CutShare& Leaf(uint32_t building) const
    {
        return m_leaf[building];
    }

    /// Uplinks of one zone of a building.
    const CutShare& Zone(uint32_t building) const
    {
        return m_zone[building];
    }

    /// Links of a span: index into ClusterSpec::crossLinks.
    const CutShare& Span(uint32_t link) const
    {
        return m_span[link];
    }

    /// The uplinks of a leaf for traffic between two buildings, which passes only top switches that
    /// have a lane left to the other one.
    const CutShare& LeafTowards(uint32_t building, uint32_t other) const
    {
        return Towards(building, other, m_leafTowards, m_leaf);
    }

    /// The same for the uplinks of a zone.
    const CutShare& ZoneTowards(uint32_t building, uint32_t other) const
    {
        return Towards(building, other, m_zoneTowards, m_zone);
    }

  private:
    friend class CutsLeft;

    using ByPair = std::map<std::pair<uint32_t, uint32_t>, CutShare>;

    static const CutShare& Towards(uint32_t building,
                                   uint32_t other,
                                   const ByPair& towards,
                                   const std::vector<CutShare>& all)
    {
        const auto found = towards.find({building, other});
        return found == towards.end() ? all[building] : found->second;
    }

    std::vector<CutShare> m_leaf;
    std::vector<CutShare> m_zone;
    std::vector<CutShare> m_span;
    ByPair m_leafTowards; //!< where it is not as m_leaf
    ByPair m_zoneTowards;
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
 * With UCMP and adaptive spraying links are used for what they carry: share = sum of s / all.
 *
 * The fans of a span are the lanes of a top switch; those of a zone the uplinks of a spine on the
 * way up, and the links of an aggregation switch to the zone on the way down; each uplink of a leaf
 * is one of its own. Planes are cuts of their own, since traffic does not change planes and each
 * has an equal part of it. Of a building's leaves and zones, and of the planes, the one with the
 * least counts, as all finish when the last does. Traffic between two buildings avoids top switches
 * that have no lane left to the other building, even where it enters the fabric: LeafTowards,
 * ZoneTowards.
 *
 * Worked cases. A span of 76 top switches with a lane each, one fails: T = 75 fans of 1 of 76
 * links, 75 / 76. Four top switches with two lanes, one of the 8 lanes is down: T = 4, the least
 * fan has 1 lane, 4 x 1 / 8 = 0.5: that lane carries a quarter of the traffic in place of an
 * eighth. Two planes of two top switches, one switch down: its plane has T = 1, 1 x 1 / 2 = 0.5.
 *
 * Left out: hashed flows collide on the links that are left as if all of them had the same part of
 * the traffic; UCMP is taken to know the weights of every path, and adaptive spraying to find them.
 */
class CutsLeft
{
  public:
    /// Throws ConfigError (where = "events.<i>") for an event that begins or ends during the run,
    /// or that hits a NIC's link; (where = "events") if events leave a cut without a link, or take
    /// lanes so that traffic goes other ways between sites than before.
    CutsLeft(const ClusterSpec& cluster, const std::vector<EventSpec>& events);

    const CutShares& Shares(Multipath multipath) const
    {
        return multipath->followsCapacity ? m_proportional : m_equal;
    }

  private:
    CutShares m_equal;
    CutShares m_proportional;
};

} // namespace scaleacross

#endif // SCALEACROSS_CUT_SHARE_H
