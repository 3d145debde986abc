// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LEAST_UNITS_H
#define SCALEACROSS_LEAST_UNITS_H

#include "core/engine/closed-form.h"
#include "core/engine/network-facts.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/parameter-units.h"

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace scaleacross
{

/// What the collectives of a parameter unit take, in seconds; 0 of what there is none.
struct UnitTimes
{
    double gatherDense{0};
    double gatherExpert{0};
    double reduceDense{0}; //!< over the replicas of a shard, too
    double reduceExpert{0};
};

/**
 * What gathers and reductions of parameter units take at least (LoneClass), over the networks that
 * a search has.
 *
 * Plans by the thousand have theirs in common: found once for each of the degrees, sharding and
 * sizes of a unit. Threads may share one.
 */
class LeastUnits
{
  public:
    LeastUnits(const std::vector<NetworkPlan>& networks, BoundOf engine);

    /// Of a unit on a rank, the first of its stage. Domain: CheckJob() refuses nothing.
    UnitTimes Of(const Scenario& scenario,
                 const RankLayout& layout,
                 Rank rank,
                 const ParameterUnit& unit) const;

  private:
    using Key = std::vector<uint64_t>;

    UnitTimes Find(const Scenario& scenario, Rank rank, const ParameterUnit& unit) const;

    std::vector<NetworkPlan> m_networks;
    BoundOf m_engine;
    std::shared_ptr<NetworkFactsCache> m_facts;
    mutable std::shared_mutex m_mutex;
    mutable std::map<Key, UnitTimes> m_times;
};

} // namespace scaleacross

#endif // SCALEACROSS_LEAST_UNITS_H
