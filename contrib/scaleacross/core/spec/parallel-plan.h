// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARALLEL_PLAN_H
#define SCALEACROSS_PARALLEL_PLAN_H

#include "core/pipeline/schedule.h"
#include "core/spec/crossing.h"

#include <cstdint>

namespace scaleacross
{

enum class Sharding : uint8_t
{
    Ddp,  //!< everything replicated, gradients all-reduced
    Fsdp, //!< parameters, gradients, optimizer state sharded over the whole data-parallel group
    Hsdp  //!< as FSDP, but sharded inside a building and replicated across
};

/// What backward computes again instead of keeping it from forward.
enum class Recompute : uint8_t
{
    None,
    /// What cheap kernels make: the outputs of a layer's norms and of its activation function.
    /// Megatron's modules core_attn, layernorm and moe_act, the last in dense layers too; the first
    /// changes nothing here, where attention is flash attention and never keeps its scores.
    Selective,
    Full //!< keep only each layer's input
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
    /// Free the gathered parameters after forward and gather them again for backward, and
    /// reduce-scatter gradients every microbatch. Without it both happen once per iteration.
    bool reshard{false};
    Schedule schedule;
    uint32_t microbatch{1}; //!< b, sequences per microbatch
    uint32_t chunks{1};     //!< v, model chunks (virtual stages) per rank
    /// N of schedules in rounds: contiguous microbatches per chunk and round, pp <= N <= m,
    /// dividing m; 0 means pp, or m / floor(m / pp) where pp does not divide m.
    uint32_t round{0};
    Recompute recompute{Recompute::None};
    Apportion apportion{Apportion::Even};

    uint64_t Ranks() const
    {
        return uint64_t{tp} * cp * pp * dp;
    }
};

bool operator==(const ParallelPlan& a, const ParallelPlan& b);

} // namespace scaleacross

#endif // SCALEACROSS_PARALLEL_PLAN_H
