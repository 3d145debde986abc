// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMPUTE_COST_H
#define SCALEACROSS_COMPUTE_COST_H

#include "core/base/units.h"
#include "core/spec/gpu-spec.h"
#include "core/spec/model-spec.h"
#include "core/spec/parallel-plan.h"
#include "core/spec/workload-spec.h"

namespace scaleacross
{

/// Time one GPU computes for one microbatch, by pass. B = inputGradient + weightGradient;
/// recomputed forward work is part of inputGradient.
struct ComputeCost
{
    Duration forward;
    Duration inputGradient;
    Duration weightGradient;
    /// Of inputGradient what is forward once more with the communication that belongs to it: of a
    /// whole layer, of an MLP, of shared experts.
    Duration again;
};

/// What is left of a cost without one of its parts.
inline ComputeCost
operator-(const ComputeCost& whole, const ComputeCost& part)
{
    return {whole.forward - part.forward,
            whole.inputGradient - part.inputGradient,
            whole.weightGradient - part.weightGradient,
            whole.again - part.again};
}

/// What is forward again, as a forward.
inline ComputeCost
AgainOf(const ComputeCost& cost)
{
    return {cost.again, {}, cost.weightGradient, {}};
}

/// A layer's two halves, between which the tensor-parallel collectives stand.
struct LayerCost
{
    ComputeCost attention;
    ComputeCost mlp; //!< dense MLP, or router, shared and routed experts
    /// Of mlp, the shared experts: their kernels. What the host or a copy takes longer than the
    /// kernels of the half is of the rest, so that no pass of either is negative.
    ComputeCost shared;
};

/**
 * The sum of a layer's kernels (core/work/cost/kernel-cost.h), which follow each other on one GPU:
 * GEMMs by their size after the split by tp and cp, core attention, element-wise kernels. What the
 * software makes of them is the workload's stack. Recomputation is counted in the input gradient.
 *
 * Modules: the norms' outputs; the activation function's (a split backward needs both for its
 * weight gradient only; the sum of the two passes is the same); the projections from latent
 * vectors; the MLP, dense, MoE or of shared experts, as its forward is but for norm and residual,
 * and never faster than the host issues it. What is done again with its MLP is not done again by
 * itself. That flash attention makes its scores again is part of its gradient anyway. Alternate:
 * norms and activation function, rotary embedding, the residual between the halves and
 * AlternateLinears(). The residual after the MLP is not needed again.
 *
 * With ParallelPlan::offloadLayers k of N layers send the C bytes that each keeps to host memory
 * and fetch them back, over a link of H bytes/s, beside computing and spread over all layers: a
 * layer takes at least k C / (N H), forward and backward. What it lacks of that, it waits for in
 * its MLP. Domain: gpu.hostBandwidth is known.
 *
 * The exact terms stand in the .cc beside each line. Worked case: doc/compute.md.
 */
LayerCost CostOfLayer(const ModelSpec& model,
                      const WorkloadSpec& workload,
                      const ParallelPlan& plan,
                      const GpuSpec& gpu,
                      uint32_t layer);

ComputeCost CostOfEmbedding(const ModelSpec& model,
                            const WorkloadSpec& workload,
                            const ParallelPlan& plan,
                            const GpuSpec& gpu);

/// Output head and loss, once; ModelSpec::mtpLayers modules do it again each.
ComputeCost CostOfHead(const ModelSpec& model,
                       const WorkloadSpec& workload,
                       const ParallelPlan& plan,
                       const GpuSpec& gpu);

/// Adam over `parameters` held (sharded) by this GPU: bytes touched over HBM bandwidth.
Duration CostOfOptimizer(uint64_t parameters, const WorkloadSpec& workload, const GpuSpec& gpu);

/**
 * Model FLOPs of one iteration, forward and backward (3 x forward), without recomputation, causal
 * attention counted as the workload says: the numerator of MFU.
 */
Flops ModelFlops(const ModelSpec& model, const WorkloadSpec& workload);

} // namespace scaleacross

#endif // SCALEACROSS_COMPUTE_COST_H
