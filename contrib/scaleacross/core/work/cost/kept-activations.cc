// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/cost/kept-activations.h"

#include "core/work/cost/linear-layers.h"

namespace scaleacross
{

namespace
{

/// Copies of a token that reach experts of the fullest rank, per token: k, with the imbalance.
double
DispatchedCopies(const JobSpec& job, uint32_t layer)
{
    return job.model.IsMoeLayer(layer) ? job.model.topK * job.workload.ExpertLoad(job.plan.ep) : 0;
}

/// Of the width of an MLP what routed experts have, k f_e on the fullest rank.
double
RoutedWidth(const JobSpec& job, uint32_t layer)
{
    return DispatchedCopies(job, layer) * static_cast<double>(job.model.expertFfn);
}

/// Width of the MLP that a token passes through on the fullest rank: f, or k f_e + f_s.
double
MlpWidth(const JobSpec& job, uint32_t layer)
{
    const ModelSpec& model = job.model;
    return model.IsMoeLayer(layer) ? RoutedWidth(job, layer) + static_cast<double>(model.sharedFfn)
                                   : static_cast<double>(model.denseFfn);
}

/// Ranks of a tensor-parallel group that keep the same norm inputs and outputs, each for all
/// tokens: what they keep counts as often per token of a rank.
double
Repeated(const JobSpec& job)
{
    return job.workload.stack.sequenceParallel ? 1 : job.plan.tp;
}

/// Parts of a norm's output that a rank keeps for the linear layers that read it: its own, or all
/// of the group where the software does not gather it once more.
double
KeptParts(const JobSpec& job)
{
    const SoftwareStack& stack = job.workload.stack;
    return stack.sequenceParallel && !stack.gathersForWeights ? job.plan.tp : 1;
}

/// Whether dispatched copies are gathered among etp ranks, and what experts make of them scattered.
bool
AreGathered(const JobSpec& job)
{
    return job.plan.ExpertsApart() && job.plan.ExpertTensor() > 1;
}

/// Parts of the dispatched copies that a rank keeps for the weight gradients of its experts, which
/// read those of all etp ranks: gathered behind the dispatch and not once more.
double
KeptCopies(const JobSpec& job)
{
    return job.plan.ExpertsApart() ? job.plan.ExpertTensor() : 1;
}

/// Bytes of an element that only GEMMs read which run in the workload's precision.
double
OperandBytes(const JobSpec& job)
{
    return job.workload.precision->operandBytes;
}

/// Bytes that an MLP of this width saves: gate, up and product (GELU: input and output).
double
WidthBytes(const JobSpec& job, double width)
{
    return ((job.model.gatedMlp ? 4 : 2) + OperandBytes(job)) * width;
}

/// Bytes that experts' clamps save where no GEMM does them: what they make, which the activation
/// function's backward reads, beside what they read.
double
ClampedPerToken(const JobSpec& job, uint32_t layer)
{
    return job.model.clampedMlp && !job.workload.stack.fusesExperts ? 4 * RoutedWidth(job, layer)
                                                                    : 0;
}

/// Bytes of the dispatched copies that experts read.
double
CopiesPerToken(const JobSpec& job, uint32_t layer)
{
    return OperandBytes(job) * DispatchedCopies(job, layer) * KeptCopies(job) * job.model.hidden;
}

/// Bytes of an element of the second norm's output: the router, which MoE layers have, reads it in
/// BF16.
double
MlpInputBytes(const JobSpec& job, uint32_t layer)
{
    return job.model.IsMoeLayer(layer) ? 2 : OperandBytes(job);
}

/// Elements of the latent vectors of MLA, q + c, which all heads and so all tp ranks need.
double
LatentWidth(const JobSpec& job)
{
    return (job.model.queryRank + job.model.kvRank) * Repeated(job);
}

/**
 * Bytes that a layer's attention saves per token of a rank, BF16, flash attention: input of the
 * norm 2h, its output 2h, Q K V 2(a d + g d + g d_v), attention output 2 a d_v, log-sum-exp 4a
 * (FP32), or the scores where attention is not flash. KV heads that several ranks have count for
 * each of them, g = tp. MLA also saves the latent vectors before and
 * after their norms, 2 x 2(q + c), and the keys' rotary part, 2r. Without sequence parallelism that
 * and what belongs to norms is kept tp times.
 *
 * With FP8 the norms' outputs, which only GEMMs read, take 1 byte an element: h and q + c less. The
 * attention output stays: its own backward reads it, too, in BF16.
 */
double
SavedByAttention(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const SoftwareStack& stack = job.workload.stack;
    const double h = model.hidden * Repeated(job);
    const double a = model.heads;
    const double g = model.KvHeadsOver(job.plan.tp);
    const double d = model.headDim;
    const double v = model.ValueDim();
    const double norms =
        2 * (h + LatentWidth(job)) + OperandBytes(job) * (h * KeptParts(job) + LatentWidth(job));
    // Scores and softmax at 2 bytes and dropout's mask at 1, 5 a s in 2205.05198.
    const double scores = stack.flashAttention ? 4 * a : 5 * a * job.workload.sequence;
    return norms + 2 * (a * d + g * d + g * v) + 2 * a * v + scores +
           2 * model.ropeDim * Repeated(job);
}

/// Bytes of these in the norms' outputs, which come again from their inputs.
double
NormsPerToken(const JobSpec& job, uint32_t layer)
{
    const double h = job.model.hidden * Repeated(job) * KeptParts(job);
    return OperandBytes(job) * (h + LatentWidth(job)) + MlpInputBytes(job, layer) * h;
}

/// Bytes that doing all of a layer's MLP again drops: gate, up and product, and the copies that
/// have been dispatched. Of the norm's output, its input, a rank keeps its own part, which the norm
/// may drop, too.
double
WholeMlpPerToken(const JobSpec& job, uint32_t layer)
{
    const double parts = job.plan.recompute->norms ? 0 : KeptParts(job) - 1;
    return WidthBytes(job, MlpWidth(job, layer)) + ClampedPerToken(job, layer) +
           CopiesPerToken(job, layer) +
           MlpInputBytes(job, layer) * parts * job.model.hidden * Repeated(job);
}

/// Bytes that recomputing parts of an MLP drops: all of the shared experts, and, where they are
/// not among these, the products of gate and up, 2f of the 6f, which come again from those two
/// (GELU: its output, 2f of the 4f, from its input), and what clamps have made of these.
double
PartsOfMlpPerToken(const JobSpec& job, uint32_t layer)
{
    const RecomputedParts& again = *job.plan.recompute;
    const bool moe = job.model.IsMoeLayer(layer);
    const double shared = moe && again.sharedExperts ? static_cast<double>(job.model.sharedFfn) : 0;
    return WidthBytes(job, shared) +
           (again.activations
                ? OperandBytes(job) * (MlpWidth(job, layer) - shared) + ClampedPerToken(job, layer)
                : 0);
}

/// Bytes of these that recomputing linear layers drops: the outputs of those it does again, 2 bytes
/// an element. That of attention's output is kept as the sum with the residual, 2h, which the
/// second norm reads. Of routed experts gate and up go (GELU: the input) beside the product, which
/// goes as that of an activation function, and the copies that they read, unless a gather among
/// etp ranks has brought these.
double
LinearsPerToken(const JobSpec& job, uint32_t layer)
{
    const RepeatedLinears again = AlternateLinears(job.model, layer);
    double bytes = (job.model.gatedMlp ? 4 : 2) * RoutedWidth(job, layer) +
                   (AreGathered(job) ? 0 : CopiesPerToken(job, layer));
    for (const auto* half : {&again.attention, &again.mlp})
    {
        for (const auto& linear : *half)
        {
            const bool split = linear.split == LinearLayer::Split::Columns;
            bytes += 2 * linear.out * (split ? 1 : Repeated(job));
        }
    }
    return bytes;
}

/// Bytes that recomputing linear layers keeps beside these, since communication has brought them:
/// between ranks of an expert-parallel group the copies as they come in from dispatch and, BF16,
/// back from experts; among etp ranks the sums that a scatter leaves with each.
double
BroughtPerToken(const JobSpec& job, uint32_t layer)
{
    if (!job.plan.recompute->linears || !job.model.IsMoeLayer(layer))
    {
        return 0;
    }
    const double copies = DispatchedCopies(job, layer);
    const double element = job.workload.precision->narrowDispatch ? 1 : 2;
    const double exchanged = job.plan.ep > 1 ? element * copies + 2 * job.model.topK : 0;
    return (exchanged + (AreGathered(job) ? 2 * copies : 0)) * job.model.hidden;
}

/// Bytes of these that projections from latent vectors make again: queries, if they come from one,
/// keys and values.
double
UpProjectionsPerToken(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const double queries = model.queryRank > 0 ? model.headDim : 0;
    return model.IsLatent() ? 2 * model.heads * (queries + model.headDim + model.ValueDim()) : 0;
}

/// Bytes that a recomputation of whole layers keeps, per token of a rank: the layer's input, of a
/// module both of its inputs, and queries, keys and values with it.
double
KeptOfWholeLayer(const JobSpec& job, uint32_t layer)
{
    const ModelSpec& model = job.model;
    const double projections =
        static_cast<double>(model.heads) * model.headDim +
        static_cast<double>(model.KvHeadsOver(job.plan.tp)) * (model.headDim + model.ValueDim());
    return (model.IsModule(layer) ? 4.0 : 2.0) * model.hidden * Repeated(job) +
           (job.plan.recompute->keepsProjections ? 2 * projections : 0);
}

} // namespace

double
TokensPerRank(const JobSpec& job)
{
    return static_cast<double>(job.workload.sequence) * job.plan.microbatch /
           (static_cast<double>(job.plan.cp) * job.plan.tp);
}

double
SavedPerToken(const JobSpec& job, uint32_t layer)
{
    const ModelSpec& model = job.model;
    const double h = model.hidden * Repeated(job);
    const double operand = OperandBytes(job);
    // Two inputs of norms, and the norms' outputs, which the projection reads.
    const double module = model.IsModule(layer) ? (4 + 2 * operand) * h : 0;
    return module + SavedByAttention(job) + (2 + MlpInputBytes(job, layer) * KeptParts(job)) * h +
           WidthBytes(job, MlpWidth(job, layer)) + ClampedPerToken(job, layer) +
           CopiesPerToken(job, layer);
}

double
DroppedPerToken(const JobSpec& job, uint32_t layer)
{
    const RecomputedParts& again = *job.plan.recompute;
    return (again.norms ? NormsPerToken(job, layer) : 0) +
           (again.upProjections ? UpProjectionsPerToken(job) : 0) +
           (again.linears ? LinearsPerToken(job, layer) : 0) +
           (again.WholeMlp(job.model.IsMoeLayer(layer)) ? WholeMlpPerToken(job, layer)
                                                        : PartsOfMlpPerToken(job, layer));
}

double
KeptOfLayer(const JobSpec& job, uint32_t layer, uint32_t index)
{
    return job.plan.OfLayer(index).recompute->layers
               ? KeptOfWholeLayer(job, layer)
               : SavedPerToken(job, layer) - DroppedPerToken(job, layer) +
                     BroughtPerToken(job, layer);
}

double
OffloadedPerToken(const JobSpec& job)
{
    double offloaded = 0;
    for (uint32_t layer = 0; layer < job.plan.offloadLayers; layer++)
    {
        offloaded += KeptOfLayer(job, layer, layer);
    }
    return offloaded;
}

double
HeadPerToken(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    return (4.0 * model.hidden * Repeated(job) + 2.0 * static_cast<double>(model.vocabulary)) *
           (1 + model.mtpLayers);
}

} // namespace scaleacross
