// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/cost/compute-cost.h"

#include "core/work/cost/kept-activations.h"
#include "core/work/cost/kernel-cost.h"
#include "core/work/cost/linear-layers.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace scaleacross
{

namespace
{

using Split = LinearLayer::Split;

/// Seconds of one part of a layer on one GPU for one microbatch.
struct PassTime
{
    double forward{0};
    double inputGradient{0};
    double weightGradient{0};
    double again{0}; //!< see ComputeCost
};

ComputeCost
CostOf(const PassTime& time)
{
    return {Duration::Seconds(time.forward),
            Duration::Seconds(time.inputGradient),
            Duration::Seconds(time.weightGradient),
            Duration::Seconds(time.again)};
}

/**
 * The kernels of one part of the model, added up pass by pass.
 *
 * Element-wise kernels are given in bytes of HBM traffic; BF16 is 2 bytes an element.
 */
class PartCost
{
  public:
    PartCost(const WorkloadSpec& workload, const ParallelPlan& plan, const GpuSpec& gpu)
        : m_kernels(gpu, workload.stack),
          m_workload(workload),
          m_stack(workload.stack),
          m_tokens(static_cast<double>(workload.sequence) * plan.microbatch / plan.cp),
          m_tp(plan.tp),
          m_cp(plan.cp),
          m_parts(plan.asyncTensor ? plan.tp : 1),
          m_sequences(plan.microbatch)
    {
    }

    /// Tokens of a microbatch that a tensor-parallel group works on: s b / cp.
    double Tokens() const
    {
        return m_tokens;
    }

    /// Of these, what a rank works on outside of attention and MLP.
    double OwnTokens() const
    {
        return m_stack.sequenceParallel ? m_tokens / m_tp : m_tokens;
    }

    double Tp() const
    {
        return m_tp;
    }

    /**
     * `count` linear layers of k inputs and n outputs for m tokens each, in the workload's
     * precision: one GEMM forward and one for each gradient.
     *
     * In a narrow precision what a GEMM reads is cast before: tokens forward, and weights with them
     * where the software does not keep them narrow; backward the gradient of the output.
     *
     * With asynchronous tensor parallelism GEMMs that stand beside the steps of a gather or a
     * scatter are done in tp parts of the tokens: forward those that are split, and the input
     * gradient of rows. That of columns stands before its scatter, which is beside the weight
     * gradient.
     */
    void AddLinear(double m, double n, double k, Split split, double count = 1)
    {
        AddMatrices(m, n, k, count, m_workload.precision, split);
        m_time.forward += CastOperands(count, m, n, k);
        m_time.inputGradient += Cast(count * m * n, 1);
    }

    /**
     * Linear layers of the same input of k elements with so many outputs each: one GEMM if the
     * software joins them. Otherwise one each, and backward a kernel that adds up the gradients of
     * the input: one read of each, 2 k bytes a token, and one write.
     */
    void AddProjections(double m,
                        const std::vector<double>& outputs,
                        double k,
                        Split split,
                        double count = 1)
    {
        if (m_stack.joinedProjections)
        {
            AddLinear(m, std::accumulate(outputs.begin(), outputs.end(), 0.0), k, split, count);
            return;
        }
        for (const double n : outputs)
        {
            AddLinear(m, n, k, split, count);
        }
        const auto terms = static_cast<double>(outputs.size());
        AddElementwise(0, 0, terms > 1 ? count * m * 2 * k * (terms + 1) : 0, 1);
    }

    /// A linear layer from a latent vector of MLA.
    void AddUpProjection(double m, double n, double k)
    {
        const double before = m_time.forward;
        AddLinear(m, n, k, Split::Columns);
        m_upProjections += m_time.forward - before;
    }

    /// All projections from latent vectors again backward.
    void RepeatUpProjections()
    {
        m_time.inputGradient += m_upProjections;
    }

    /// What forward has added since `before` is done again backward, with its communication.
    void DoAgainSince(const PassTime& before)
    {
        m_time.again += m_time.forward - before.forward;
    }

    /// The same without its communication, and without waits for what the host has learnt.
    void RepeatSince(const PassTime& before)
    {
        m_time.inputGradient += m_time.forward - before.forward - m_stalls;
    }

    /// The same in BF16 whatever the precision is, beside no steps: router and output head.
    void AddLinearBf16(double m, double n, double k)
    {
        AddMatrices(m, n, k, 1, Bf16(), Split::Tokens);
    }

    void AddElementwise(double forward,
                        double forwardKernels,
                        double backward,
                        double backwardKernels)
    {
        m_time.forward += m_kernels.Elementwise(forward, forwardKernels);
        m_time.inputGradient += m_kernels.Elementwise(backward, backwardKernels);
    }

    /// Kernels that copy: no software moves more for them.
    void AddCopies(double forward, double forwardKernels, double backward, double backwardKernels)
    {
        m_time.forward += m_kernels.Given(forward, forwardKernels);
        m_time.inputGradient += m_kernels.Given(backward, backwardKernels);
    }

    /// Kernels of routing and permutation, the same in either direction.
    void AddPermutation(double bytes, double kernels)
    {
        m_time.forward += m_kernels.Permutation(bytes, kernels);
        m_time.inputGradient += m_kernels.Permutation(bytes, kernels);
    }

    /// The host issues kernels for each of so many experts, in either direction. Where forward has
    /// waited for the host to learn how many tokens they have, it is ahead of the GPU no more, and
    /// forward takes as much longer. That is as if no kernel ran while the next is issued, which
    /// the value that is fitted makes good.
    void AddHostOfExperts(double experts, bool biases)
    {
        if (m_stack.cudaGraphs->experts)
        {
            return;
        }
        const double each = m_stack.hostPerExpert.S() * (biases && !m_stack.fusesExperts ? 2 : 1);
        m_hostOfExperts += experts * each;
        if (m_workload.capacityFactor == 0)
        {
            const double stall = m_stack.routingStall.S();
            m_stalls += stall > 0 ? stall + experts * each : 0;
            m_time.forward += stall > 0 ? stall + experts * each : 0;
        }
    }

    /**
     * What experts have beside GEMMs and activation functions where no GEMM does it, for so many
     * copies of tokens, in bytes as Megatron Core's TEGroupedMLP and fused_bias_geglu.py move them
     * (core_v0.16.0), which are counted as they stand.
     *
     * Clamps, per element of the width f: gate and up are clamped, 2 x (2 + 2), and put side by
     * side again, 4 + 4, forward. Backward is no kernel of its own in PyTorch (clamp_backward): the
     * gate, which has a maximum only, is compared (2 + 1) and its gradient chosen (1 + 2 + 2); up
     * is compared twice, both are joined (1 + 1 + 1), and its gradient is chosen, 14; and the two
     * gradients are put together, 4 + 4.
     *
     * The bias of the second layer, weighted by the router in FP32, per element of h: the product
     * is written (4), the sum reads both and is FP32 (2 + 4 + 4), the experts' parts are put
     * together (4 + 4) and cast (4 + 2), 28 in all. Backward casts to FP32 (2 + 4), casts for the
     * experts' output (4 + 2) and puts its parts together (2 + 2), multiplies by the weight and
     * sums up for the bias (4 + 4 + 4), and multiplies by the bias and sums up for the weight (4 +
     * 4 + 4), 40 in all. The first layer's bias is added by its GEMM, and its gradient summed up by
     * that of the weights or by the cast of the output's gradient.
     *
     * A kernel for each expert counts once: what its launch takes is the host's.
     */
    void AddUnfusedExperts(const ModelSpec& model, double copies, double f)
    {
        if (m_stack.fusesExperts)
        {
            return;
        }
        const double h = model.hidden;
        if (model.clampedMlp)
        {
            AddCopies(copies * 16 * f, 3, copies * 30 * f, 7);
        }
        if (model.mlpBias)
        {
            AddCopies(copies * 28 * h, 4, copies * 40 * h, 7);
        }
    }

    void AddLoss(double logits)
    {
        const double bytes = m_stack.lossBytes * logits;
        m_time.forward += m_kernels.Given(bytes / 3, 1);
        m_time.inputGradient += m_kernels.Given(2 * bytes / 3, 1);
    }

    void AddToWeightGradient(double bytes)
    {
        m_time.weightGradient += m_kernels.Elementwise(bytes, 1);
    }

    /// RMSNorm reads x and writes y, 4 h per token; backward it reads x and dy and writes dx, 6 h.
    void AddNorm(double width)
    {
        AddElementwise(OwnTokens() * 4 * width, 1, OwnTokens() * 6 * width, 1);
    }

    /// Forward the residual's sum, backward the sum of two gradients: two reads, one write, 6 h.
    void AddResidual(double width)
    {
        AddElementwise(OwnTokens() * 6 * width, 1, OwnTokens() * 6 * width, 1);
    }

    /// Clamps that no GEMM does are done again backward with the activation function.
    void RepeatClamps(const ModelSpec& model, double copies, double f)
    {
        if (model.clampedMlp && !m_stack.fusesExperts)
        {
            AddCopies(0, 0, copies * 16 * f, 3);
        }
    }

    /// What an element-wise kernel does forward is done again backward.
    void Repeat(double bytes, double kernels)
    {
        m_time.inputGradient += m_kernels.Elementwise(bytes, kernels);
    }

    /// A linear layer's forward done again backward.
    void Repeat(const LinearLayer& linear)
    {
        const double m = linear.split == Split::Tokens ? m_tokens / m_tp : m_tokens;
        const double n = linear.split == Split::Columns ? linear.out / m_tp : linear.out;
        const double k = linear.split == Split::Rows ? linear.in / m_tp : linear.in;
        m_time.inputGradient += m_kernels.Gemm(1, m, n, k, m_workload.precision);
        m_time.inputGradient += CastOperands(1, m, n, k);
    }

    /**
     * Core attention of `heads` heads on this rank.
     *
     * Flash: Q K^T and scores x V forward; backward scores again and two GEMMs for each of the two,
     * 2.5 times as much. It has no weights, so all of it is input gradient. Otherwise batched GEMMs
     * over the whole square, twice as much backward, with the scores between them in HBM.
     */
    void AddCore(const ModelSpec& model, uint32_t layer, double heads)
    {
        const double d = model.headDim;
        const double v = model.ValueDim();
        if (m_stack.flashAttention)
        {
            const double pairs = model.AttentionPairs(m_workload.sequence, layer) *
                                 (m_workload.causalAttention ? 1 : 2);
            const double flops = m_sequences * pairs / m_cp * heads * 2 * (d + v);
            m_time.forward += m_kernels.FlashAttention(flops);
            m_time.inputGradient += m_kernels.FlashAttention(2.5 * flops);
            return;
        }
        const double s = m_workload.sequence;
        const double count = m_sequences * heads;
        const auto gemm = [&](double m, double n, double k) {
            return m_kernels.Gemm(count, m, n, k, Bf16());
        };
        m_time.forward += gemm(s / m_cp, s, d) + gemm(s / m_cp, v, s);
        m_time.inputGradient += gemm(s / m_cp, d, s) + gemm(s, d, s / m_cp) + gemm(s / m_cp, s, v) +
                                gemm(s, v, s / m_cp);
        const double passes = 2 * m_stack.scorePasses * count * s * s / m_cp;
        AddElementwise(passes, 2, passes, 2);
    }

    /// Half of a layer: never faster than the host issues it, nor is what of it is done again as a
    /// whole. @param mlp whether that is its MLP; in a full recomputation it is all of the half.
    PassTime HalfLayer(const RecomputedParts& recompute, bool mlp) const
    {
        PassTime time = m_time;
        const double host = HostOfHalf(m_stack.hostPerLayer);
        time.forward = std::max(time.forward, host);
        // Both gradients alike: where weight gradients are a pass of their own it is issued by
        // itself.
        const double gradients = time.inputGradient + time.weightGradient;
        const double backward = HostOfHalf(m_stack.hostPerLayerBackward);
        if (gradients > 0 && backward > gradients)
        {
            time.inputGradient *= backward / gradients;
            time.weightGradient *= backward / gradients;
        }
        if (mlp)
        {
            time.again = std::max(time.again, host);
        }
        return WithAgain(time, recompute);
    }

    /// Some of a half, as long as its kernels take: what the host takes longer is of the rest.
    PassTime PartOfHalf(const RecomputedParts& recompute) const
    {
        return WithAgain(m_time, recompute);
    }

    /// What has been added since `before` is not done again where projections are kept.
    void DoNotRepeat(const PassTime& before)
    {
        m_notRepeated += m_time.forward - before.forward;
    }

    const PassTime& Time() const
    {
        return m_time;
    }

  private:
    /// The time with what of it is done again, in a full recomputation its forward.
    PassTime WithAgain(PassTime time, const RecomputedParts& recompute) const
    {
        if (recompute.layers)
        {
            time.again = time.forward - (recompute.keepsProjections ? m_notRepeated : 0);
        }
        time.inputGradient += time.again;
        return time;
    }

    /// Seconds in which the host issues half a layer, of a whole layer's and the experts' in it.
    double HostOfHalf(Duration ofLayer) const
    {
        return (m_stack.cudaGraphs->sameShapes ? 0 : ofLayer.S() / 2) + m_hostOfExperts;
    }

    double Cast(double elements, double kernels) const
    {
        const double bytes = m_workload.precision->castBytes * elements;
        return m_kernels.Given(m_stack.castShare * bytes, kernels);
    }

    /// Seconds of casting what a forward GEMM reads.
    double CastOperands(double count, double m, double n, double k) const
    {
        return m_stack.castsWeights ? Cast(count * (m * k + n * k), 2) : Cast(count * m * k, 1);
    }

    void AddMatrices(double m, double n, double k, double count, Precision precision, Split split)
    {
        const double forward = split == Split::Tokens ? 1 : m_parts;
        const double backward = split == Split::Rows ? m_parts : 1;
        m_time.forward += forward * m_kernels.Gemm(count, m / forward, n, k, precision);
        m_time.inputGradient += backward * m_kernels.Gemm(count, m / backward, k, n, precision);
        m_time.weightGradient += m_kernels.Gemm(count, n, k, m, precision);
        m_time.weightGradient += m_kernels.Elementwise(m_stack.accumulation * count * n * k, 1);
    }

    KernelCost m_kernels;
    const WorkloadSpec& m_workload;
    const SoftwareStack& m_stack;
    double m_tokens;
    double m_tp;
    double m_cp;
    double m_hostOfExperts{0}; //!< seconds, in either direction
    double m_parts;            //!< of a GEMM beside the steps of a gather or scatter
    double m_sequences;
    double m_stalls{0};        //!< of forward
    double m_notRepeated{0};   //!< of forward
    double m_upProjections{0}; //!< of forward
    PassTime m_time;
};

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
