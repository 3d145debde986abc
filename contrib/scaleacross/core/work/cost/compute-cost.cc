// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/cost/compute-cost.h"

#include "core/work/cost/kept-activations.h"
#include "core/work/cost/kernel-cost.h"
#include "core/work/cost/linear-layers.h"
#include "core/work/cost/part-cost.h"

#include <algorithm>
#include <vector>

namespace scaleacross
{

namespace
{

using Split = LinearLayer::Split;

/// What a gather of the joint projections costs beside its messages, where KV heads are repeated:
/// it brings the columns rank by rank, and a kernel puts each token's together, 4 bytes an element.
/// Backward the gradient of all columns is filled with that of the rank's own, 2, and parted by
/// ranks, 4.
void
AddGatheredColumns(const ModelSpec& model, PartCost& part)
{
    const double elements =
        part.Tokens() * (model.heads + 2.0 * model.kvHeads) * static_cast<double>(model.headDim);
    part.AddCopies(4 * elements, 1, 6 * elements, 2);
}

/// Queries, keys and values, and the output.
void
AddProjections(const ModelSpec& model, PartCost& part)
{
    const PassTime before = part.Time();
    const double h = model.hidden;
    const double t = part.Tp();
    const double m = part.Tokens();
    const double ad = static_cast<double>(model.heads) * model.headDim / t;
    const double av = static_cast<double>(model.heads) * model.ValueDim() / t;
    if (model.IsLatent())
    {
        // The projections down to the latent vectors are not split by tp; each rank does its
        // tokens.
        const double q = model.queryRank;
        const double c = model.kvRank;
        const double nope = model.headDim - model.ropeDim;
        if (q > 0)
        {
            part.AddLinear(m / t, q, h, Split::Tokens);
            part.AddNorm(q);
            part.AddUpProjection(m, ad, q);
        }
        else
        {
            part.AddLinear(m, ad, h, Split::Columns);
        }
        part.AddLinear(m / t, c + model.ropeDim, h, Split::Tokens);
        part.AddNorm(c);
        part.AddUpProjection(m, model.heads * (nope + model.ValueDim()) / t, c);
    }
    else
    {
        const double keys = static_cast<double>(model.kvHeads) * model.headDim / t;
        part.AddProjections(m, {ad, keys, keys}, h, Split::Columns);
    }
    if (model.RepeatsKvHeads(static_cast<uint32_t>(t)))
    {
        AddGatheredColumns(model, part);
    }
    part.DoNotRepeat(before);
    part.AddLinear(m, h, av, Split::Rows);
}

/// Rows of a table of embeddings.
void
AddLookup(const ModelSpec& model, PartCost& part)
{
    // Gather rows: read and write, 4 h per token.
    part.AddElementwise(part.OwnTokens() * 4 * model.hidden, 1, 0, 0);
    // Scatter-add into the FP32 gradient: read dy, read and write the row, 2 h + 8 h per token.
    part.AddToWeightGradient(part.OwnTokens() * 10 * model.hidden);
}

/// What a module of multi-token prediction does before its layer: embedding, two norms, projection,
/// which is not split by tp; each rank does its tokens.
void
AddModuleInput(const ModelSpec& model, PartCost& part)
{
    AddLookup(model, part);
    part.AddNorm(model.hidden);
    part.AddNorm(model.hidden);
    part.AddLinear(part.Tokens() / part.Tp(), model.hidden, 2.0 * model.hidden, Split::Tokens);
}

PassTime
TimeOfAttention(const ModelSpec& model,
                const WorkloadSpec& workload,
                const ParallelPlan& plan,
                const GpuSpec& gpu,
                uint32_t layer)
{
    PartCost part(workload, plan, gpu);
    if (model.IsModule(layer))
    {
        AddModuleInput(model, part);
    }
    part.AddNorm(model.hidden);
    AddProjections(model, part);
    // Rotary embedding reads and writes Q and K in either direction: 4 (a + g) d per token, each KV
    // head as often as ranks have it, or 4 (a + 1) r where the heads share the key's rotary part.
    // Norms of heads: as other norms.
    const double rotary =
        model.IsLatent()
            ? (model.heads + 1.0) * model.ropeDim
            : static_cast<double>(model.heads + model.KvHeadsOver(plan.tp)) * model.headDim;
    const double own = part.Tokens() / part.Tp();
    part.AddElementwise(own * 4 * rotary, 1, own * 4 * rotary, 1);
    if (model.queryKeyNorm)
    {
        part.AddElementwise(own * 4 * rotary, 1, own * 6 * rotary, 1);
    }
    part.AddCore(model, layer, model.heads / part.Tp());
    part.AddResidual(model.hidden);
    if (plan.recompute->norms)
    {
        part.Repeat(part.OwnTokens() * 4 * (model.hidden + model.queryRank + model.kvRank), 1);
    }
    if (plan.recompute->upProjections)
    {
        part.RepeatUpProjections();
    }
    if (plan.recompute->linears)
    {
        part.Repeat(own * 4 * rotary, 1);
        part.Repeat(model.queryKeyNorm ? own * 4 * rotary : 0, 1);
        part.Repeat(part.OwnTokens() * 6 * model.hidden, 1); // the residual's sum
        for (const auto& linear : AlternateLinears(model, layer).attention)
        {
            part.Repeat(linear);
        }
    }
    return part.HalfLayer(*plan.recompute, false);
}

/// Bytes of the activation function per token and element of width: SwiGLU reads gate and up and
/// writes their product, 6; backward it reads these two and the gradient and writes two, 10. GELU:
/// 4 and 6.
double
ActivationForward(const ModelSpec& model)
{
    return model.gatedMlp ? 6 : 4;
}

/// @param width of one rank's part.
/// @param routed whether they are experts that the tokens are routed to: what these make is read by
/// the router's gradient, too, and no steps of a gather or scatter stand beside them.
void
AddMlp(const ModelSpec& model,
       double tokens,
       double width,
       double count,
       bool routed,
       PartCost& part)
{
    if (width == 0)
    {
        return;
    }
    const double h = model.hidden;
    part.AddProjections(tokens,
                        std::vector<double>(model.gatedMlp ? 2 : 1, width),
                        h,
                        routed ? Split::Tokens : Split::Columns,
                        count);
    const PassTime before = part.Time();
    part.AddLinear(tokens, h, width, routed ? Split::Tokens : Split::Rows, count);
    if (!routed)
    {
        part.DoNotRepeat(before); // the next layer's input, which is kept
    }
    const double elements = count * tokens * width;
    part.AddElementwise(elements * ActivationForward(model),
                        1,
                        elements * (model.gatedMlp ? 10 : 6),
                        1);
}

/// Router, permutation and the experts of this rank.
void
AddExperts(const ModelSpec& model,
           const WorkloadSpec& workload,
           const ParallelPlan& plan,
           PartCost& part)
{
    const double own = part.Tokens() / part.Tp();
    const double load = workload.ExpertLoad(plan.ep);
    const double k = model.topK * load;
    part.AddLinearBf16(own, model.experts, model.hidden);
    // Routing probabilities over E experts in FP32, read and written: 8 E.
    part.AddPermutation(own * 8 * model.experts, 1);
    // The permutation into expert order reads and writes k copies of a token, 4 k h; the weighted
    // sum of what comes back reads k and writes one, 2 k h + 2 h; backward moves the same.
    const double permuted = own * model.hidden * (6 * k + 2);
    part.AddPermutation(permuted, 2);
    // Each of the E / ep experts here works on an equal part of the copies that came to the etp
    // ranks that it is split over.
    const double experts = static_cast<double>(model.experts) / plan.ep;
    part.AddHostOfExperts(experts, model.mlpBias);
    const double split = plan.ExpertTensor();
    const double tokens = split == part.Tp() ? part.Tokens() : own * split;
    const double width = static_cast<double>(model.expertFfn) / split;
    AddMlp(model, tokens * k / experts, width, experts, true, part);
    part.AddUnfusedExperts(model, tokens * k, width);
}

PassTime
TimeOfMlp(const ModelSpec& model,
          const WorkloadSpec& workload,
          const ParallelPlan& plan,
          const GpuSpec& gpu,
          uint32_t layer)
{
    PartCost part(workload, plan, gpu);
    part.AddNorm(model.hidden);
    const RecomputedParts& again = *plan.recompute;
    const bool moe = model.IsMoeLayer(layer);
    const bool whole = again.WholeMlp(moe);
    const PassTime before = part.Time();
    if (moe)
    {
        AddExperts(model, workload, plan, part);
        if (again.linears)
        {
            part.RepeatSince(before);
        }
    }
    const PassTime beforeDense = part.Time();
    const auto dense = static_cast<double>(moe ? model.sharedFfn : model.denseFfn);
    AddMlp(model, part.Tokens(), dense / part.Tp(), 1, false, part);
    if (whole || (moe && again.sharedExperts))
    {
        part.DoAgainSince(whole ? before : beforeDense);
    }
    part.AddResidual(model.hidden);
    if (again.norms)
    {
        part.Repeat(part.OwnTokens() * 4 * model.hidden, 1);
    }
    if (again.activations && !whole)
    {
        // Neither permutation nor routing; with linear layers routed experts are there already.
        const double routed = moe && !again.linears ? model.topK * workload.ExpertLoad(plan.ep) *
                                                          static_cast<double>(model.expertFfn)
                                                    : 0;
        part.RepeatClamps(model, part.Tokens() / part.Tp(), routed);
        const double width = routed + (moe && again.sharedExperts ? 0 : dense);
        part.Repeat(part.Tokens() / part.Tp() * width * ActivationForward(model), 1);
    }
    if (again.linears)
    {
        for (const auto& linear : AlternateLinears(model, layer).mlp)
        {
            part.Repeat(linear);
        }
    }
    return part.HalfLayer(again, whole);
}

/// Of TimeOfMlp(), the shared experts of a MoE layer.
PassTime
TimeOfShared(const ModelSpec& model,
             const WorkloadSpec& workload,
             const ParallelPlan& plan,
             const GpuSpec& gpu,
             uint32_t layer)
{
    if (!model.IsMoeLayer(layer))
    {
        return {};
    }
    PartCost part(workload, plan, gpu);
    const RecomputedParts& again = *plan.recompute;
    const auto width = static_cast<double>(model.sharedFfn);
    AddMlp(model, part.Tokens(), width / part.Tp(), 1, false, part);
    if (again.experts || again.sharedExperts)
    {
        part.DoAgainSince(PassTime());
    }
    else if (again.activations)
    {
        // Their share of the kernel that does those of the routed experts, too; with linear layers
        // these are done by their own.
        part.Repeat(part.Tokens() / part.Tp() * width * ActivationForward(model),
                    again.linears ? 1 : 0);
    }
    if (again.linears)
    {
        for (const auto& linear : AlternateLinears(model, layer).mlp)
        {
            part.Repeat(linear);
        }
    }
    return part.PartOfHalf(again);
}

/// Forward FLOPs of a layer per sequence, for MFU. GEMMs by their matrices' elements.
double
FlopsOfLayer(const ModelSpec& model, const WorkloadSpec& workload, uint32_t layer)
{
    const double s = workload.sequence;
    const double h = model.hidden;
    const double a = model.heads;
    double matrices = 0;
    if (model.IsLatent())
    {
        const double q = model.queryRank;
        const double c = model.kvRank;
        const double ad = a * model.headDim;
        matrices += q > 0 ? h * q + q * ad : h * ad;
        matrices += h * (c + model.ropeDim);
        matrices += c * a * (model.headDim - model.ropeDim + model.ValueDim());
        matrices += a * model.ValueDim() * h;
    }
    else
    {
        matrices += 2 * h * (a + model.kvHeads) * model.headDim;
    }
    // A token visits k of the routed experts and all shared ones.
    matrices += (model.gatedMlp ? 3 : 2) * h * static_cast<double>(model.MlpWidthOf(layer));
    matrices += model.IsMoeLayer(layer) ? h * model.experts : 0;
    matrices += model.IsModule(layer) ? 2 * h * h : 0;
    // Q K^T and scores x V: 2 d and 2 d_v for each pair of tokens and head; uncounted causality
    // doubles the pairs.
    const double core = model.AttentionPairs(workload.sequence, layer) * 2 * a *
                        (model.headDim + model.ValueDim()) * (workload.causalAttention ? 1 : 2);
    return 2 * s * matrices + core;
}

/// What a layer has of the copies of activations to host memory, or back: those of the offloaded
/// layers are spread evenly over all that compute.
Duration
CopyOfLayer(const ModelSpec& model,
            const WorkloadSpec& workload,
            const ParallelPlan& plan,
            const GpuSpec& gpu)
{
    JobSpec job;
    job.model = model;
    job.workload = workload;
    job.plan = plan;
    const double bytes = TokensPerRank(job) * OffloadedPerToken(job) / model.LayersInTraining();
    return Duration::Seconds(8 * bytes / gpu.hostBandwidth.Value());
}

Duration
BackwardOf(const ComputeCost& cost)
{
    return cost.inputGradient + cost.weightGradient;
}

} // namespace

LayerCost
CostOfLayer(const ModelSpec& model,
            const WorkloadSpec& workload,
            const ParallelPlan& plan,
            const GpuSpec& gpu,
            uint32_t layer)
{
    LayerCost cost{CostOf(TimeOfAttention(model, workload, plan, gpu, layer)),
                   CostOf(TimeOfMlp(model, workload, plan, gpu, layer)),
                   CostOf(TimeOfShared(model, workload, plan, gpu, layer))};
    if (plan.offloadLayers > 0)
    {
        const Duration copy = CopyOfLayer(model, workload, plan, gpu);
        const Duration forward = cost.attention.forward + cost.mlp.forward;
        const Duration backward = BackwardOf(cost.attention) + BackwardOf(cost.mlp);
        cost.mlp.forward += std::max(copy - forward, Duration());
        cost.mlp.inputGradient += std::max(copy - backward, Duration());
    }
    return cost;
}

ComputeCost
CostOfEmbedding(const ModelSpec& model,
                const WorkloadSpec& workload,
                const ParallelPlan& plan,
                const GpuSpec& gpu)
{
    PartCost part(workload, plan, gpu);
    AddLookup(model, part);
    return CostOf(part.Time());
}

ComputeCost
CostOfHead(const ModelSpec& model,
           const WorkloadSpec& workload,
           const ParallelPlan& plan,
           const GpuSpec& gpu)
{
    PartCost part(workload, plan, gpu);
    const double words = static_cast<double>(model.vocabulary) / part.Tp();
    part.AddNorm(model.hidden);
    part.AddLinearBf16(part.Tokens(), words, model.hidden);
    part.AddLoss(part.Tokens() * words);
    return CostOf(part.Time());
}

Duration
CostOfOptimizer(uint64_t parameters, const WorkloadSpec& workload, const GpuSpec& gpu)
{
    const double bytes = workload.stack.optimizerBytes * static_cast<double>(parameters);
    return Duration::Seconds(KernelCost(gpu, workload.stack).Stream(bytes));
}

Flops
ModelFlops(const ModelSpec& model, const WorkloadSpec& workload)
{
    double forward = 2.0 * workload.sequence * model.hidden *
                     static_cast<double>(model.vocabulary) * (1 + model.mtpLayers);
    for (uint32_t layer = 0; layer < model.LayersInTraining(); layer++)
    {
        forward += FlopsOfLayer(model, workload, layer);
    }
    return Flops(3.0 * workload.globalBatch * forward);
}

} // namespace scaleacross
