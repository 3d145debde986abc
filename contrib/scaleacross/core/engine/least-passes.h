// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LEAST_PASSES_H
#define SCALEACROSS_LEAST_PASSES_H

#include "core/engine/known-replays.h"
#include "core/engine/least-pairs.h"
#include "core/engine/least-units.h"
#include "core/engine/network-facts.h"
#include "core/engine/parameter-spans.h"
#include "core/engine/pass-ends.h"
#include "core/engine/pass-replay.h"
#include "core/pipeline/pipeline-times.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace scaleacross
{

/**
 * What the passes of a plan take at least, with the collectives inside their layers, tensor,
 * context and expert parallel (LoneClass), beside what of the computing they stand beside; and what
 * gathers, reductions and the optimizer add at both ends of an iteration. Messages, and what others
 * are in the way of, only add to it.
 *
 * Layers of a kind take the same in all stages that lie alike over the buildings, and plans by the
 * thousand have their layers in common: found once for each of the degrees, recomputation and such
 * stages, and the least over the networks that the search has.
 *
 * Threads may share one.
 */
class LeastPasses
{
  public:
    /// @param networks those that plans may have; none: nothing is said of collectives
    /// @param engine whose times all is below
    explicit LeastPasses(std::vector<NetworkPlan> networks, BoundOf engine = BoundOf::EveryEngine);

    /// By position, as PassTimesOf(): each pass by itself.
    std::vector<PassTimes> Of(const Scenario& scenario, const RankLayout& layout) const;

    /// Of the first position; nothing but gathers and reductions where its last backward overlaps
    /// a forward.
    /// @param microbatches of the replica that the first ranks of all stages are
    PassEnds EndsOf(const Scenario& scenario,
                    const RankLayout& layout,
                    uint32_t microbatches) const;

    /**
     * What its order makes of these passes, with what messages take at least, and of those that
     * overlap with what both together do (LeastPairs). Nothing where the pipeline has more than
     * 2^18 passes.
     *
     * @param microbatches as above
     */
    ReplayedPasses Replayed(const Scenario& scenario,
                            const RankLayout& layout,
                            uint32_t microbatches,
                            const std::vector<PassTimes>& passes) const;

    /// How long the fullest span needs for what the collectives inside layers send over it in so
    /// many microbatches, and gathers and reductions if they count, in seconds; 0 where stages do
    /// not lie alike over the buildings.
    double SpanSeconds(const Scenario& scenario,
                       const RankLayout& layout,
                       uint32_t microbatches,
                       bool parameters) const;

    /**
     * What an iteration takes at least since spans have to carry all gathers and reductions in a
     * part of it, in seconds: ParameterWindowBound() without any program, which holds of the
     * analytical engine alone. 0: nothing is said.
     *
     * Where parameters are gathered once and gradients reduced at the end, it is the longest that
     * one span needs for both (ParameterSpans) and the least that is between the last gather of all
     * and the first reduction, where the span is not used: from the last position's first forward
     * (ReplayWindow). The last class of all may be in any building, whose passes and microbatches
     * then count; so stages have to lie alike over the buildings, a replica inside one, and a data
     * parallel group in all of them or in one. Where a span has reductions only, the rest begins
     * with the first forward of the last stage, which comes after the optimizer of all stages.
     *
     * @param microbatches of a replica, by building
     */
    double WindowSeconds(const Scenario& scenario,
                         const RankLayout& layout,
                         const std::vector<uint32_t>& microbatches) const;

  private:
    /// Of a backward in one piece, its weight gradients count with the input's.
    struct Layer
    {
        PassTimes whole;
        PassTimes split;
        std::vector<double> spans; //!< LoneClass::SpansOf() of a microbatch forward and backward
    };

    /// By ModelSpec::KindOf(), and of those behind ParallelPlan::recomputeLayers.
    struct Layers
    {
        std::vector<Layer> kinds;
        std::vector<Layer> behind;
        PassTimes embedding;
        PassTimes head;
    };

    using Key = std::vector<uint64_t>;

    static Key KeyOf(const ParallelPlan& plan, Rank representative);
    /// Of the stage of a rank, in its building.
    const Layers& Known(const Scenario& scenario,
                        const RankLayout& layout,
                        Rank representative) const;
    Layers Find(const Scenario& scenario, const RankLayout& layout, Rank representative) const;
    /// Of a replica that has `first` among its ranks.
    std::vector<Duration> HopsOf(const Scenario& scenario,
                                 const RankLayout& layout,
                                 Rank first) const;
    std::vector<Duration> PairsOf(const Scenario& scenario,
                                  const RankLayout& layout,
                                  const PipelineShape& shape,
                                  Rank first) const;
    bool EndsInPair(const PipelineShape& shape) const;
    double RestOf(const Scenario& scenario,
                  const RankLayout& layout,
                  const PipelineShape& shape,
                  Rank first,
                  bool gathers) const;
    double GathersOf(const Scenario& scenario,
                     const RankLayout& layout,
                     const PipelineShape& shape) const;
    double ReductionsOf(const Scenario& scenario,
                        const RankLayout& layout,
                        uint32_t microbatches) const;
    /// Embedding, layers and head of a position in order of forward.
    static std::vector<PassTimes> PiecesOf(const JobSpec& job,
                                           const StageLayers& stage,
                                           const Layers& layers);

    std::vector<NetworkPlan> m_networks;
    BoundOf m_engine;
    LeastUnits m_units;
    ParameterSpans m_parameters;
    LeastPairs m_pairs;
    KnownReplays m_replays;
    std::shared_ptr<NetworkFactsCache> m_facts;
    mutable std::shared_mutex m_mutex;
    mutable std::map<Key, Layers> m_layers;
};

} // namespace scaleacross

#endif // SCALEACROSS_LEAST_PASSES_H
