// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARAMETER_SPANS_H
#define SCALEACROSS_PARAMETER_SPANS_H

#include "core/engine/least-units.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/partition/layer-split.h"

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <vector>

namespace scaleacross
{

/// What a span has to carry of gathers and reductions of all stages in an iteration.
struct ParameterSpan
{
    double seconds{0}; //!< at its capacity
    bool gathers{false};
};

/**
 * How long each span needs for the gathers and reductions of all stages, at least, by its number.
 *
 * With G and R what a span needs to gather, and to reduce, a unit once, and S for its scatter
 * alone:
 *  - gathered once, a unit has G; else, in each of m microbatches, what its uses forward and
 *    backward gather. A pass uses units one after the other, and finds those there that the last
 *    uses, as many as are gathered ahead (one at least), have left: none but its own first ones;
 *  - reduced once it has R; for every microbatch (m - 1) S + R where replicas of a shard are summed
 *    up at the end, else m R.
 *
 * Worked case: four units of 1 s to gather and 2 s to reduce, two gathered ahead, each microbatch:
 * of a microbatch 2 + 2 s forward and backward at least, and 8 s to reduce.
 *
 * Plans by the hundred have theirs in common: found once. Threads may share one.
 */
class ParameterSpans
{
  public:
    /// @param units are referred to
    explicit ParameterSpans(const LeastUnits& units);

    /// @param split LayersOf() of the plan
    /// @param microbatches of the replica that has fewest
    /// Domain: every stage has as many ranks in each building as the others.
    std::vector<ParameterSpan> Of(const Scenario& scenario,
                                  const RankLayout& layout,
                                  const std::vector<StageLayers>& split,
                                  uint32_t microbatches) const;

  private:
    using Key = std::vector<uint64_t>;

    /// By span, in seconds.
    struct Sums
    {
        std::vector<double> once;     //!< gathers and reductions of one microbatch or of all
        std::vector<double> again;    //!< of each other microbatch
        std::vector<double> gathered; //!< of these, gathers
    };

    const Sums& Known(const Scenario& scenario,
                      const RankLayout& layout,
                      const std::vector<StageLayers>& split) const;
    Sums Find(const Scenario& scenario,
              const RankLayout& layout,
              const std::vector<StageLayers>& split) const;

    const LeastUnits& m_units;
    mutable std::shared_mutex m_mutex;
    mutable std::map<Key, Sums> m_known;
};

} // namespace scaleacross

#endif // SCALEACROSS_PARAMETER_SPANS_H
