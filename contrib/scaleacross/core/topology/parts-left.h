// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARTS_LEFT_H
#define SCALEACROSS_PARTS_LEFT_H

#include "core/base/units.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/event-spec.h"
#include "core/topology/fabric-graph.h"

#include <map>
#include <string>
#include <vector>

namespace scaleacross
{

/// What is left of a link while all events hold, in parts of the rate that it was built with.
struct LinkParts
{
    double left{1};   //!< 0: it is down
    double others{0}; //!< of foreign traffic, which comes first; nothing where it is down

    bool IsUp() const
    {
        return left > 0;
    }

    /// For the job.
    double Free() const
    {
        return left - others;
    }
};

/**
 * By link of the graph. With degradations to factors f and foreign traffic of loads l its rate is
 * prod f, and sum l of that is others': they send what they do whatever became of the link.
 *
 * Throws ConfigError (where = PlaceOf()) for an event that begins or ends during the run, which is
 * more than `engine` computes with, where others leave nothing of a link, and where TargetOf()
 * does.
 */
std::vector<LinkParts> PartsLeft(const ClusterSpec& cluster,
                                 const std::vector<EventSpec>& events,
                                 const FabricGraph& graph,
                                 const std::string& engine);

/**
 * What events leave to the job of each link, in time.
 *
 * At a time t it is prod f - sum l as in PartsLeft(), of the events that have begun by t and have
 * not ended, nothing of a link that is down, and never less than nothing.
 *
 * Worked case: a link that flaps from 1 s, down for 1 s of every 4 s, twice, is down in [1, 2) and
 * [5, 6): in [0, 8) three quarters of it are left in the mean, in [5.5, 6.5) a half.
 */
class RatesLeft
{
  public:
    /// Throws ConfigError where TargetOf() does.
    RatesLeft(const ClusterSpec& cluster,
              const std::vector<EventSpec>& events,
              const FabricGraph& graph);

    /// Whether events change a link at any time.
    bool Changes(uint32_t link) const
    {
        return m_changes.count(link) > 0;
    }

    /// Whether events change nothing.
    bool AreWhole() const
    {
        return m_changes.empty();
    }

    /// Part of a link's rate that is left in the mean from one time to the next; where they are the
    /// same, at that time.
    double Mean(uint32_t link, Duration from, Duration until) const;

  private:
    struct Change
    {
        Duration at; //!< from then on
        double left{1};
    };

    std::map<uint32_t, std::vector<Change>> m_changes; //!< by link: the first at 0, then rising
};

} // namespace scaleacross

#endif // SCALEACROSS_PARTS_LEFT_H
