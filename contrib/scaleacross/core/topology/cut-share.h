// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CUT_SHARE_H
#define SCALEACROSS_CUT_SHARE_H

#include "core/spec/scenario.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What is left of a cut, as a share of what the cluster says.
struct CutShare
{
    double capacity{1};
    double links{1};
};

/**
 * What is left of the shared cuts of a cluster while the events of a scenario hold: the uplinks of
 * a leaf, those of a zone, and the links of a span.
 *
 * Only events that hold for the whole run count (EventSpec::IsConstant). Flows are spread equally
 * over the links that are left, so that a cut with a slow link carries links x the slowest rate;
 * with UCMP and adaptive spraying in proportion, so that it carries the sum of the rates. Of
 * a building's leaves and zones, the one with the least counts, as all finish when the last does.
 * Without events every share is 1.
 *
 * Worked case: a span of 76 planes, "plane 5" fails: 75 / 76 of its links and capacity, 1.3 % less.
 */
class CutShares
{
  public:
    /// Throws ConfigError (where = "events.<i>") for an event that begins or ends during the run,
    /// or that hits a NIC's link, and if events leave a cut without a link.
    explicit CutShares(const Scenario& scenario);

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

  private:
    void Apply(const Scenario& scenario);

    std::vector<CutShare> m_leaf;
    std::vector<CutShare> m_zone;
    std::vector<CutShare> m_span;
};

} // namespace scaleacross

#endif // SCALEACROSS_CUT_SHARE_H
