// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_WORDS_H
#define SCALEACROSS_PLAN_WORDS_H

#include "core/base/word.h"

#include <vector>

/// What a plan can say in a word of parameters, gradients and shares.
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
