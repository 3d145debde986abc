// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARALLEL_PLAN_H
#define SCALEACROSS_PARALLEL_PLAN_H

#include "core/base/errors.h"
#include "core/base/units.h"
#include "core/pipeline/schedule.h"
#include "core/spec/crossing.h"
#include "core/spec/layer-layout.h"
#include "core/spec/plan-words.h"
#include "core/spec/recompute.h"

#include <cstdint>
#include <optional>

namespace scaleacross
{

/**
 * How one job is laid over its GPUs. tp x cp x pp x dp = GPUs. The order of ranks, inner to outer,
 * is that of the crossing.
 *
 * Without etp, ep divides dp, and experts are also split by tp. With it the tp x cp x dp ranks of a
 * stage are counted anew for routed experts, as etp x ep x edp (Megatron-Core's
 * expert_tensor_parallel_size): an expert is split by etp alone, and ep goes over the ranks of tp
 * and cp as well.
 *
 * Worked case: tp = 2, dp = 4, etp = 1, ep = 4: ranks 0 to 3 and 4 to 7 have the experts between
 * them, whole ones, and edp = 2. Without etp ranks 0, 2, 4 and 6 have a half each of all experts,
 * ranks 1, 3, 5 and 7 the other halves.
 */
struct ParallelPlan
{
    uint32_t tp{1};
    uint32_t cp{1};
    uint32_t ep{1};
    uint32_t etp{0}; //!< tensor parallelism of routed experts, divides tp; 0 means tp
    uint32_t pp{1};
    uint32_t dp{1};
    Crossing crossing{Crossing::Data};
    Sharding sharding;
    /// HSDP: members of a data-parallel group that share, neighbours in it; 0: those of a building.
    uint32_t shardRanks{0};
    /// FSDP, HSDP: free the gathered parameters after forward and gather them again for backward.
    /// Without it they are gathered once per iteration.
    bool reshard{false};
    /// None: what ReductionOf() says.
    std::optional<Reduction> reduce;
    /// Units whose parameters are gathered before they are needed, where reshard frees them.
    uint32_t prefetch{2};
    /// Layers are joined until they have as many bytes of gradients, which are then gathered and
    /// reduced as one unit; 0: every layer is its own.
    Bytes bucket;
    Schedule schedule;
    uint32_t microbatch{1}; //!< b, sequences per microbatch
    uint32_t chunks{1};     //!< v, model chunks (virtual stages) per rank
    /// N of schedules in rounds: contiguous microbatches per chunk and round, pp <= N <= m,
    /// dividing m; 0 means pp, or m / floor(m / pp) where pp does not divide m.
    uint32_t round{0};
    /// Of schedules with a memory limit: most microbatches, all chunks of a rank together, whose
    /// activations a rank holds; 0 means pp.
    uint32_t inFlight{0};
    Recompute recompute;
    /// Where whole layers are recomputed: the first so many of every chunk; 0: all of them.
    uint32_t recomputeLayers{0};
    /// Layers, the first of the model, whose kept activations lie in host memory from forward to
    /// backward; 0: none. Fewer than all; only without a pipeline and without recomputation.
    uint32_t offloadLayers{0};
    Apportion apportion;
    /// Layers of every position of the pipeline (chunk of a stage); not given: as apportioned.
    LayerLayout layers;
    /// Layers are dealt out as if the embedding were one more, before the first: its position gets
    /// one less, and may have none. (Megatron: account_for_embedding_in_pipeline_split)
    bool embeddingAsLayer{false};
    /// The same of the head with the loss, behind the last layer.
    bool lossAsLayer{false};
    /// Asynchronous tensor parallelism: gathers before and scatters after a GEMM are done in tp
    /// steps, each beside the part of the GEMM that does not need it.
    bool asyncTensor{false};

    uint64_t Ranks() const
    {
        return uint64_t{tp} * cp * pp * dp;
    }

    /// Ranks that an expert is split over.
    uint32_t ExpertTensor() const
    {
        return etp != 0 ? etp : tp;
    }

    /// edp: ranks of a stage that hold the same part of the same experts. Domain: etp x ep divides
    /// tp x cp x dp.
    uint64_t ExpertData() const
    {
        return uint64_t{tp} * cp * dp / (uint64_t{ExpertTensor()} * ep);
    }

    /// Whether routed experts count the ranks of a stage in a way of their own. Not with etp = tp,
    /// unless ep goes over the ranks of cp.
    bool FoldsExperts() const
    {
        return etp != 0 && (etp != tp || (cp > 1 && ep > 1));
    }

    /// Whether tokens leave the dense layout on their way to routed experts: they are dispatched,
    /// or what is gathered for experts is not what is gathered for a dense MLP.
    bool ExpertsApart() const
    {
        return ep > 1 || ExpertTensor() != tp;
    }

    /// Whether weights are given up between uses.
    bool Reshards() const
    {
        return reshard && sharding->parameters;
    }

    /// When gradients are reduced: what `reduce` says; else for every microbatch where only the
    /// shard of weights (reshard) or of gradients (ZeRO-2) is kept, once where they add up whole.
    Reduction ReductionOf() const
    {
        return reduce.value_or(
            Reduction(Reshards() || sharding->GradientsOnly() ? "microbatch" : "accumulated"));
    }

    /// The plan as it is for layer `index` of a chunk: without a recomputation of whole layers
    /// behind those that have it.
    ParallelPlan OfLayer(uint32_t index) const;

    /// Two fields that exclude each other, if any.
    std::optional<ConfigError> FindConflict() const;

  private:
    std::optional<ConfigError> FindConflictOfOffload() const;
};

bool operator==(const ParallelPlan& a, const ParallelPlan& b);

} // namespace scaleacross

#endif // SCALEACROSS_PARALLEL_PLAN_H
