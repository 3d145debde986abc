// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/compute-cost.h"

namespace scaleacross
{

namespace
{

/// FLOPs and HBM bytes of one pass of a part of a layer, per sequence before any split.
struct Work
{
    double flops{0};
    double bytes{0};

    Work operator+(const Work& o) const
    {
        return {flops + o.flops, bytes + o.bytes};
    }

    Work operator*(double k) const
    {
        return {flops * k, bytes * k};
    }
};

struct PassWork
{
    Work forward;
    Work inputGradient;
    Work weightGradient;
};

/// One microbatch on one GPU: b sequences split by tp and by cp (zig-zag, hence evenly).
Duration
TimeOf(const Work& work, const ParallelPlan& plan, const GpuSpec& gpu)
{
    const double share = static_cast<double>(plan.microbatch) / plan.tp / plan.cp;
    const double matrix = work.flops * share / (gpu.bf16Peak.Value() * gpu.gemmEfficiency);
    const double memory = work.bytes * share * 8.0 / (gpu.hbmBandwidth.Value() * gpu.hbmEfficiency);
    return Duration::Seconds(matrix + memory);
}

ComputeCost
CostOf(const PassWork& work, const ParallelPlan& plan, const GpuSpec& gpu)
{
    return {TimeOf(work.forward, plan, gpu),
            TimeOf(work.inputGradient, plan, gpu),
            TimeOf(work.weightGradient, plan, gpu)};
}

/// Projections and core attention, forward, per sequence of s tokens.
struct AttentionFlops
{
    double projections;
    double core;
};

AttentionFlops
FlopsOfAttention(const ModelSpec& model, const WorkloadSpec& workload, uint32_t layer)
{
    const double s = workload.sequence;
    const double h = model.hidden;
    const double a = model.heads;
    const double ad = a * model.headDim;
    const double gd = static_cast<double>(model.kvHeads) * model.headDim;
    AttentionFlops flops;
    if (model.IsLatent())
    {
        const double q = model.queryRank;
        const double c = model.kvRank;
        const double nope = model.headDim - model.ropeDim;
        const double query = q > 0 ? h * q + q * ad : h * ad;
        const double keyValue = h * (c + model.ropeDim) + c * a * (nope + model.ValueDim());
        flops.projections = s * 2 * (query + keyValue + a * model.ValueDim() * h);
    }
    else
    {
        // Per token: Q 2 h (ad), K and V 4 h (gd), output 2 (ad) h.
        flops.projections = s * (2 * h * ad + 4 * h * gd + 2 * ad * h);
    }
    // Q K^T and scores x V: 2 d and 2 d_v for each pair of tokens and head, without causal kernels
    // for the pairs above the diagonal as well.
    flops.core = model.AttentionPairs(workload.sequence, layer) * 2 * a *
                 (model.headDim + model.ValueDim()) * (workload.causalAttention ? 1 : 2);
    return flops;
}

/// MLP or MoE, forward, per sequence. A token visits k of the routed experts and all shared ones.
double
FlopsOfMlp(const ModelSpec& model, const WorkloadSpec& workload, uint32_t layer)
{
    const double s = workload.sequence;
    const double h = model.hidden;
    const double matrices = model.gatedMlp ? 6 : 4; // 2 h f for each of three or two matrices
    if (!model.IsMoeLayer(layer))
    {
        return s * matrices * h * static_cast<double>(model.denseFfn);
    }
    const double width = static_cast<double>(model.topK) * static_cast<double>(model.expertFfn) +
                         static_cast<double>(model.sharedFfn);
    return s * (matrices * h * width + 2 * h * model.experts); // the last term is the router
}

double
FlopsOfHead(const ModelSpec& model, const WorkloadSpec& workload)
{
    return 2.0 * workload.sequence * model.hidden * static_cast<double>(model.vocabulary);
}

/*
 * Element-wise kernels, in bytes of HBM traffic per sequence; BF16 is 2 bytes an element. Flash
 * attention keeps its softmax on the chip. Biases and dropout are left out: current models have
 * neither. The weight gradient is a GEMM that accumulates in its epilogue and adds no pass.
 */

/// RMSNorm, forward: reads x and writes y, 4 h per token.
Work
NormForward(const ModelSpec& model, const WorkloadSpec& workload)
{
    return {0, 4.0 * workload.sequence * model.hidden};
}

/// RMSNorm, backward, reads x and dy and writes dx: 6 h. Residual sum, forward, and sum of the two
/// gradients, backward: two reads and a write, 6 h.
PassWork
NormAndResidual(const ModelSpec& model, const WorkloadSpec& workload)
{
    const double elements = static_cast<double>(workload.sequence) * model.hidden;
    return {NormForward(model, workload) + Work{0, 6 * elements}, {0, (6 + 6) * elements}, {}};
}

/*
 * Recomputation is counted in the input gradient. Selective: the norms' outputs and the activation
 * function's again; that flash attention makes its scores again is part of its gradient anyway. (A
 * split backward needs both for its weight gradient only; the sum of the two passes is the same.)
 */

PassWork
WorkOfAttention(const ModelSpec& model,
                const WorkloadSpec& workload,
                Recompute recompute,
                uint32_t layer)
{
    const AttentionFlops flops = FlopsOfAttention(model, workload, layer);
    // Rotary embedding reads and writes Q and K in either direction: 4 (a + g) d per token.
    const double rope = 4.0 * workload.sequence * (model.heads + model.kvHeads) * model.headDim;
    const PassWork common = NormAndResidual(model, workload);
    PassWork work;
    work.forward = common.forward + Work{flops.projections + flops.core, rope};
    // A GEMM's two gradients cost one forward each. Core attention has no weights, so both of its
    // gradients (of two GEMMs, two each) are input gradients.
    work.inputGradient = common.inputGradient + Work{flops.projections + 2 * flops.core, rope};
    work.weightGradient = Work{flops.projections, 0};
    if (recompute == Recompute::Selective)
    {
        work.inputGradient = work.inputGradient + NormForward(model, workload);
    }
    else if (recompute == Recompute::Full)
    {
        work.inputGradient = work.inputGradient + work.forward;
    }
    return work;
}

PassWork
WorkOfMlp(const ModelSpec& model, const WorkloadSpec& workload, Recompute recompute, uint32_t layer)
{
    const double s = workload.sequence;
    const double flops = FlopsOfMlp(model, workload, layer);
    const bool moe = model.IsMoeLayer(layer);
    const double k = moe ? model.topK : 0;
    const double width =
        moe ? k * static_cast<double>(model.expertFfn) + static_cast<double>(model.sharedFfn)
            : static_cast<double>(model.denseFfn);
    // SwiGLU forward reads gate and up and writes their product: 6 f per token; backward reads
    // these two and the gradient and writes two: 10 f. GELU: 4 f and 6 f.
    const double activation = s * width * (model.gatedMlp ? 6 : 4);
    const double activationGradient = s * width * (model.gatedMlp ? 10 : 6);
    // MoE: the permutation into expert order reads and writes k copies of a token, 4 k h; the
    // weighted sum of what comes back reads k and writes one, 2 k h + 2 h; backward moves the same.
    const double permutation = moe ? s * model.hidden * (6 * k + 2) : 0;
    // Routing probabilities over E experts in FP32, read and written: 8 E.
    const double routing = moe ? s * 8 * model.experts : 0;

    const PassWork common = NormAndResidual(model, workload);
    PassWork work;
    work.forward = common.forward + Work{flops, activation + permutation + routing};
    work.inputGradient =
        common.inputGradient + Work{flops, activationGradient + permutation + routing};
    work.weightGradient = Work{flops, 0};
    if (recompute == Recompute::Selective)
    {
        work.inputGradient =
            work.inputGradient + NormForward(model, workload) + Work{0, activation};
    }
    else if (recompute == Recompute::Full)
    {
        work.inputGradient = work.inputGradient + work.forward;
    }
    return work;
}

} // namespace

LayerCost
CostOfLayer(const ModelSpec& model,
            const WorkloadSpec& workload,
            const ParallelPlan& plan,
            const GpuSpec& gpu,
            uint32_t layer)
{
    return {CostOf(WorkOfAttention(model, workload, plan.recompute, layer), plan, gpu),
            CostOf(WorkOfMlp(model, workload, plan.recompute, layer), plan, gpu)};
}

ComputeCost
CostOfEmbedding(const ModelSpec& model,
                const WorkloadSpec& workload,
                const ParallelPlan& plan,
                const GpuSpec& gpu)
{
    const double elements = static_cast<double>(workload.sequence) * model.hidden;
    PassWork work;
    // Gather rows: read and write, 4 h per token.
    work.forward = Work{0, 4 * elements};
    // Scatter-add into the FP32 gradient: read dy, read and write the row, 2 h + 8 h per token.
    work.weightGradient = Work{0, 10 * elements};
    return CostOf(work, plan, gpu);
}

ComputeCost
CostOfHead(const ModelSpec& model,
           const WorkloadSpec& workload,
           const ParallelPlan& plan,
           const GpuSpec& gpu)
{
    const double s = workload.sequence;
    const double flops = FlopsOfHead(model, workload);
    const double h = s * model.hidden;
    const double logits = s * static_cast<double>(model.vocabulary);
    PassWork work;
    // Final norm 4 h; the loss reads the logits, 2 V per token.
    work.forward = Work{flops, 4 * h + 2 * logits};
    // The loss's gradient reads and overwrites the logits, 4 V; the norm's moves 6 h.
    work.inputGradient = Work{flops, 6 * h + 4 * logits};
    work.weightGradient = Work{flops, 0};
    return CostOf(work, plan, gpu);
}

Duration
CostOfOptimizer(uint64_t parameters, const GpuSpec& gpu)
{
    // Adam, per parameter: read the FP32 gradient (4), read and write master weight and two moments
    // (12 + 12), write the BF16 weight (2).
    const double bytes = 30.0 * static_cast<double>(parameters);
    return Duration::Seconds(bytes * 8.0 / (gpu.hbmBandwidth.Value() * gpu.hbmEfficiency));
}

Flops
ModelFlops(const ModelSpec& model, const WorkloadSpec& workload)
{
    double forward = FlopsOfHead(model, workload);
    for (uint32_t layer = 0; layer < model.layers; layer++)
    {
        const AttentionFlops attention = FlopsOfAttention(model, workload, layer);
        forward += attention.projections + attention.core + FlopsOfMlp(model, workload, layer);
    }
    return Flops(3.0 * workload.globalBatch * forward);
}

} // namespace scaleacross
