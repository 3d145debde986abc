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
};

/// A layer's two halves, between which the tensor-parallel collectives stand.
struct LayerCost
{
    ComputeCost attention;
    ComputeCost mlp; //!< dense MLP, or router, shared and routed experts
};

/**
 * T = GEMM and attention FLOPs / (peak x gemmEfficiency) + element-wise bytes / (HBM x
 * hbmEfficiency), all split by tp and cp. Sources and the exact terms stand in the .cc beside each
 * line.
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

/// Output head and loss.
ComputeCost CostOfHead(const ModelSpec& model,
                       const WorkloadSpec& workload,
                       const ParallelPlan& plan,
                       const GpuSpec& gpu);

/// Adam over `parameters` held (sharded) by this GPU: bytes touched over HBM bandwidth.
Duration CostOfOptimizer(uint64_t parameters, const GpuSpec& gpu);

/**
 * Model FLOPs of one iteration, forward and backward (3 x forward), without recomputation, causal
 * attention counted as the workload says: the numerator of MFU.
 */
Flops ModelFlops(const ModelSpec& model, const WorkloadSpec& workload);

} // namespace scaleacross

#endif // SCALEACROSS_COMPUTE_COST_H
