// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/software-stack.h"

#include "core/base/field-rows.h"

namespace scaleacross
{

bool
operator==(const SoftwareStack& a, const SoftwareStack& b)
{
    return EqualFields(SoftwareStack::Fields(), a, b);
}

const FieldTable<SoftwareStack>&
SoftwareStack::Fields()
{
    using Row = FieldRows<SoftwareStack>;
    using S = SoftwareStack;
    static const FieldTable<SoftwareStack> fields = {
        Row::Text("name", "for people", &S::name).Label(),
        Row::Number("elementwise",
                    1,
                    1000,
                    "HBM traffic of element-wise kernels over that of fused ones",
                    &S::elementwise),
        Row::Number("permutation",
                    1,
                    1000,
                    "the same of routing and of tokens brought into the order of experts",
                    &S::permutation),
        Row::Bool("flash_attention",
                  "core attention in one kernel that keeps its scores on the chip",
                  &S::flashAttention),
        Row::Number("score_passes",
                    0,
                    1000,
                    "without it: how often kernels read or write the scores on their way",
                    &S::scorePasses),
        Row::Bool("sequence_parallel",
                  "norms, residuals and dropout on a share of the sequence",
                  &S::sequenceParallel),
        Row::Bool("joined_projections",
                  "query, key and value are one GEMM, and so are gate and up",
                  &S::joinedProjections),
        Row::Bool("repeats_kv_heads",
                  "tensor parallelism may have more ranks than there are KV heads",
                  &S::repeatsKvHeads),
        Row::Bool("even_halves",
                  "tp divides each of the two pieces that a rank of cp has of a sequence",
                  &S::evenHalves),
        Row::Bool(
            "gathers_for_weights",
            "a rank keeps its part of a gathered input and gathers again for weight gradients",
            &S::gathersForWeights),
        Row::Bool("overlaps_tensor_reduction",
                  "weight gradients beside the reduction of input gradients",
                  &S::overlapsTensorReduction),
        Row::Number("cast_share",
                    0,
                    1,
                    "of a narrow precision's casts, the part that is not fused with other kernels",
                    &S::castShare),
        Row::Bool("casts_weights",
                  "a narrow precision casts weights for every microbatch, too",
                  &S::castsWeights),
        Row::Bool("shards_masters",
                  "of sharded parameters only master weights are kept, cast when gathered",
                  &S::shardsMasters),
        Row::Number("loss_bytes",
                    0,
                    1000,
                    "bytes per logit that loss and gradient read and write",
                    &S::lossBytes),
        Row::Number("loss_buffer",
                    0,
                    100,
                    "bytes of memory per logit that loss and gradient take beside the logits",
                    &S::lossBuffer),
        Row::Number("dispatch_copies",
                    0,
                    100,
                    "times that a token's copies for experts are live beside what backward needs",
                    &S::dispatchCopies),
        Row::Bool("fuses_experts",
                  "biases of experts and clamps of their gates are done by their GEMMs",
                  &S::fusesExperts),
        Row::Bool("gradient_stand_ins",
                  "a 16-bit stand-in for the gradient of each shape of weights stays allocated",
                  &S::gradientStandIns),
        Row::Number("accumulation",
                    0,
                    1000,
                    "bytes per parameter and microbatch of kernels that add up weight gradients",
                    &S::accumulation),
        Row::Number("optimizer_bytes",
                    0,
                    10000,
                    "bytes per parameter that an optimizer step touches",
                    &S::optimizerBytes),
        Row::Bool("clips_gradients",
                  "an optimizer step waits for the norm of the gradients of all ranks",
                  &S::clipsGradients),
        // A second is a slip of the unit.
        Row::Amount("host_per_layer",
                    Duration(),
                    Duration::Seconds(1),
                    "time that the host needs to issue a layer's forward",
                    &S::hostPerLayer),
        Row::Amount("host_per_layer_backward",
                    Duration(),
                    Duration::Seconds(1),
                    "the same of a layer's backward, weight gradients included",
                    &S::hostPerLayerBackward),
        Row::Amount("host_per_expert",
                    Duration(),
                    Duration::Seconds(1),
                    "what each expert on a rank adds to either in a MoE layer, again for biases "
                    "that are kernels of their own",
                    &S::hostPerExpert),
        Row::Amount("routing_stall",
                    Duration(),
                    Duration::Seconds(1),
                    "that a MoE layer's forward waits for the host to learn how many tokens come; "
                    "not with workload.capacity_factor",
                    &S::routingStall),
        Row::Word("cuda_graphs",
                  "what is replayed from recorded graphs and not issued by the host",
                  &S::cudaGraphs),
        Row::Word("receives", "when receives of pipeline messages are posted", &S::receives),
    };
    return fields;
}

} // namespace scaleacross
