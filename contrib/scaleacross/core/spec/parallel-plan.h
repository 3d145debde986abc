// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARALLEL_PLAN_H
#define SCALEACROSS_PARALLEL_PLAN_H

#include "core/base/units.h"
#include "core/pipeline/schedule.h"
#include "core/spec/crossing.h"

#include <cstdint>
#include <optional>

namespace scaleacross
{

/// What the ranks of a data-parallel group of D share, and what each has whole.
enum class Sharding : uint8_t
{
    Ddp,   //!< everything replicated, gradients all-reduced
    Zero1, //!< optimizer state sharded; weights and accumulated gradients whole
    Zero2, //!< gradients too: reduce-scattered for every microbatch, only the shard is kept
    Fsdp,  //!< parameters, gradients, optimizer state sharded over the whole data-parallel group
    Hsdp   //!< as FSDP, but sharded inside a building and replicated across
};

/// When gradients are reduced.
enum class Reduction : uint8_t
{
    Microbatch, //!< after every microbatch: nothing but the rank's shard is kept
    Accumulated //!< once per iteration, whole gradients adding up in FP32 until then
};

/// What backward computes again instead of keeping it from forward.
enum class Recompute : uint8_t
{
    None,
    /// What cheap kernels make: the outputs of a layer's norms and of its activation function.
    /// Megatron's modules core_attn, layernorm and moe_act, the last in dense layers too; the first
    /// changes nothing here, where attention is flash attention and never keeps its scores.
    Selective,
    Full, //!< keep only each layer's input
    /// Every second linear layer and all that is element-wise: TorchTitan's selective recomputation
    /// by operation. Core attention, and what communication has brought, are kept.
    Alternate
};

/// How layers are dealt out to stages, and microbatches to replicas.
enum class Apportion : uint8_t
{
    Even, //!< by number
    Time  //!< by the time that they compute, where they are
};

/**
 * How one job is laid over its GPUs. tp x cp x pp x dp = GPUs; ep divides dp; experts are also
 * split by tp. The order of ranks, inner to outer, is that of the crossing.
 */
struct ParallelPlan
{
    uint32_t tp{1};
    uint32_t cp{1};
    uint32_t ep{1};
    uint32_t pp{1};
    uint32_t dp{1};
    Crossing crossing{Crossing::Data};
    Sharding sharding{Sharding::Hsdp};
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
    Recompute recompute{Recompute::None};
    Apportion apportion{Apportion::Even};
    /// Asynchronous tensor parallelism: gathers before and scatters after a GEMM are done in tp
    /// steps, each beside the part of the GEMM that does not need it.
    bool asyncTensor{false};

    uint64_t Ranks() const
    {
        return uint64_t{tp} * cp * pp * dp;
    }

    /// Whether weights are given up between uses.
    bool Reshards() const
    {
        return reshard && (sharding == Sharding::Fsdp || sharding == Sharding::Hsdp);
    }

    /// When gradients are reduced: what `reduce` says; else for every microbatch where only the
    /// shard of weights (reshard) or of gradients (ZeRO-2) is kept, once where they add up whole.
    Reduction ReductionOf() const
    {
        const bool shardsOnly = Reshards() || sharding == Sharding::Zero2;
        return reduce.value_or(shardsOnly ? Reduction::Microbatch : Reduction::Accumulated);
    }
};

bool operator==(const ParallelPlan& a, const ParallelPlan& b);

} // namespace scaleacross

#endif // SCALEACROSS_PARALLEL_PLAN_H
