// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_WORDS_H
#define SCALEACROSS_PLAN_WORDS_H

#include "core/base/word.h"

#include <vector>

/// What a plan can say in a word of parameters, gradients, activations and shares.
namespace scaleacross
{

/// What the ranks of a data-parallel group share, and what each has whole.
struct ShardingFacts : WordFacts
{
    const char* label;           //!< in tables: "ZeRO-1"
    bool optimizer{false};       //!< states of the optimizer are sharded, else replicated
    bool gradients{false};       //!< so are gradients, of which only the shard is kept
    bool parameters{false};      //!< so are parameters, gathered where they are needed
    bool insideBuildings{false}; //!< over the ranks inside a building, replicated across

    /// Gradients are, and parameters are not: there is nothing but the shard to add gradients to.
    bool GradientsOnly() const
    {
        return gradients && !parameters;
    }
};

/// What the ranks of a data-parallel group share, and what each has whole.
using Sharding = Word<ShardingFacts>;

template <>
const std::vector<const ShardingFacts*>& Sharding::Rows();
extern template class Word<ShardingFacts>;

/// When gradients are reduced.
struct ReductionFacts : WordFacts
{
    /// After every microbatch: nothing but the rank's shard is kept. Else once per iteration, whole
    /// gradients adding up in FP32 until then.
    bool everyMicrobatch;
};

/// When gradients are reduced.
using Reduction = Word<ReductionFacts>;

template <>
const std::vector<const ReductionFacts*>& Reduction::Rows();
extern template class Word<ReductionFacts>;

/// What backward computes again instead of keeping it from forward.
struct RecomputeFacts : WordFacts
{
    /// What cheap kernels make: the outputs of a layer's norms and of its activation function.
    /// Megatron's modules core_attn, layernorm and moe_act, the last in dense layers too; the first
    /// changes nothing here, where attention is flash attention and never keeps its scores.
    bool cheap{false};
    /// Every second linear layer and all that is element-wise: TorchTitan's selective recomputation
    /// by operation. Core attention, and what communication has brought, are kept.
    bool linears{false};
    bool layers{false}; //!< whole layers, of which only the input is kept
    /// and queries, keys and values: MaxText's save_qkv_proj. XLA leaves out the MLP's last GEMM,
    /// which makes nothing but the next layer's input.
    bool keepsProjections{false};

    /// Megatron's modules mla_up_proj and mlp: with latent attention what makes queries, keys and
    /// values from the latent vectors; in dense layers all of the MLP from its norm's output.
    bool upProjections{false};
    bool denseMlp{false};

    /// Some of a layer, not all of it.
    bool Selects() const
    {
        return cheap || linears;
    }
};

/// What backward computes again instead of keeping it from forward.
using Recompute = Word<RecomputeFacts>;

template <>
const std::vector<const RecomputeFacts*>& Recompute::Rows();
extern template class Word<RecomputeFacts>;

/// How layers are dealt out to stages, and microbatches to replicas.
struct ApportionFacts : WordFacts
{
    bool byTime; //!< by the time that they compute, where they are; else by number
};

/// How layers are dealt out to stages, and microbatches to replicas.
using Apportion = Word<ApportionFacts>;

template <>
const std::vector<const ApportionFacts*>& Apportion::Rows();
extern template class Word<ApportionFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_PLAN_WORDS_H
