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
    double scatterDense{0}; //!< a reduction to the shards of one replica
    double scatterExpert{0};
};

/// How long each span needs for what all ranks of a stage send over it to gather or reduce a unit
/// once, in seconds, by the spans' number from 0.
struct UnitSpans
{
    std::vector<double> gather;
    std::vector<double> scatter; //!< a reduction to the shards of one replica
    std::vector<double> reduce;  //!< the whole of it, over the replicas of a shard, too
};

/**
 * What gathers and reductions of parameter units take at least (LoneClass), and what spans need for
 * them, over the networks that a search has.
 *
 * Plans by the thousand have theirs in common: found once for each of the degrees, sharding and
 * sizes of a unit. Threads may share one.
 */
class LeastUnits
{
  public:
    LeastUnits(const std::vector<NetworkPlan>& networks, BoundOf engine);

    /// Of a unit on a rank, the first of its stage. Domain: CheckJob() refuses nothing.
    const UnitTimes& Of(const Scenario& scenario,
                        const RankLayout& layout,
                        Rank rank,
                        const ParameterUnit& unit) const
    {
        return Known(scenario, layout, rank, unit).times;
    }

    /// The same of its stage.
    const UnitSpans& SpansOf(const Scenario& scenario,
                             const RankLayout& layout,
                             Rank rank,
                             const ParameterUnit& unit) const
    {
        return Known(scenario, layout, rank, unit).spans;
    }

  private:
    using Key = std::vector<uint64_t>;

    struct Unit
    {
        UnitTimes times;
        UnitSpans spans;
    };

    const Unit& Known(const Scenario& scenario,
                      const RankLayout& layout,
                      Rank rank,
                      const ParameterUnit& unit) const;
    Unit Find(const Scenario& scenario, Rank rank, const ParameterUnit& unit) const;

    std::vector<NetworkPlan> m_networks;
    BoundOf m_engine;
    std::shared_ptr<NetworkFactsCache> m_facts;
    mutable std::shared_mutex m_mutex;
    mutable std::map<Key, Unit> m_known;
};

} // namespace scaleacross

#endif // SCALEACROSS_LEAST_UNITS_H
