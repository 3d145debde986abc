// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LEAST_PAIRS_H
#define SCALEACROSS_LEAST_PAIRS_H

#include "core/engine/closed-form.h"
#include "core/engine/network-facts.h"
#include "core/program/rank-group.h"
#include "core/spec/network-plan.h"
#include "core/spec/scenario.h"
#include "core/work/partition/layer-split.h"

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace scaleacross
{

/**
 * What a forward and a backward that overlap on a rank take at least, with the collectives inside
 * their layers, over the networks that a search has.
 *
 * It is that of the body that the program has for both (BodyBuilder::Overlapped) by itself
 * (LoneClass): each computes while a collective of the other is under way, and collectives of a
 * kind follow each other on their stream. So it is no less than either pass with its collectives,
 * than what both compute, nor than the collectives of a stream; and the order in which the two take
 * turns can make it more than all of these. Gathers and reductions that the body posts or awaits
 * only add to it. Where parameters are gathered for every use, one pass follows the other: what
 * both take one after the other counts where that is less.
 *
 * Found once for each of the degrees, recomputation, stages that lie alike and layers of the two.
 * Threads may share one.
 */
class LeastPairs
{
  public:
    using Key = std::vector<uint64_t>;

    LeastPairs(const std::vector<NetworkPlan>& networks, BoundOf engine);

    /// @param representative of the stage
    /// @param key tells apart plans and stages whose layers of a kind differ in what they take
    /// @param forward, back the positions that the passes are of
    Duration Of(const Scenario& scenario,
                Rank representative,
                Key key,
                const StageLayers& forward,
                const StageLayers& back) const;

  private:
    Duration Find(const Scenario& scenario,
                  Rank representative,
                  const StageLayers& forward,
                  const StageLayers& back) const;

    std::vector<NetworkPlan> m_networks;
    BoundOf m_engine;
    std::shared_ptr<NetworkFactsCache> m_facts;
    mutable std::shared_mutex m_mutex;
    mutable std::map<Key, Duration> m_pairs;
};

} // namespace scaleacross

#endif // SCALEACROSS_LEAST_PAIRS_H
