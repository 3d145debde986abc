// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/plan-words.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

template <>
const std::vector<const ShardingFacts*>&
Sharding::Rows()
{
    static const auto rows = PointersTo<ShardingFacts>(
        {{{"ddp", "everything replicated, gradients all-reduced"}, "DDP"},
         {{"zero1", "optimizer state sharded; weights and accumulated gradients whole"},
          "ZeRO-1",
          true},
         {{"zero2", "gradients too: reduce-scattered for every microbatch, only the shard is kept"},
          "ZeRO-2",
          true,
          true},
         {{"fsdp", "parameters, gradients and optimizer state sharded over the whole group"},
          "FSDP",
          true,
          true,
          true},
         {{"hsdp", "as fsdp, but sharded inside a building and replicated across", true},
          "HSDP",
          true,
          true,
          true,
          true}});
    return rows;
}

template class Word<ShardingFacts>;

template <>
const std::vector<const ReductionFacts*>&
Reduction::Rows()
{
    static const auto rows = PointersTo<ReductionFacts>(
        {{{"microbatch", "after every microbatch: nothing but the rank's shard is kept"}, true},
         {{"accumulated", "once per iteration, whole gradients adding up in FP32 until then"},
          false}});
    return rows;
}

template class Word<ReductionFacts>;

template <>
const std::vector<const RecomputeFacts*>&
Recompute::Rows()
{
    static const auto rows = PointersTo<RecomputeFacts>(
        {{{"none", "nothing: all is kept", true}},
         {{"selective", "the outputs of norms and of activation functions"}, true},
         {{"full", "whole layers: only each layer's input is kept"}, false, false, true},
         {{"full-but-qkv", "whole layers: kept are each layer's input, queries, keys and values"},
          false,
          false,
          true,
          true},
         {{"mla-up-proj", "queries, keys and values from the latent vectors of MLA"},
          false,
          false,
          false,
          false,
          true},
         {{"mlp", "the MLPs of dense layers"}, false, false, false, false, false, true},
         {{"mla-up-proj-mlp", "both: MLA's projections, and the MLPs of dense layers"},
          false,
          false,
          false,
          false,
          true,
          true},
         {{"alternate", "every second linear layer and all that is element-wise"}, true, true}});
    return rows;
}

template class Word<RecomputeFacts>;

template <>
const std::vector<const ApportionFacts*>&
Apportion::Rows()
{
    static const auto rows = PointersTo<ApportionFacts>(
        {{{"even", "in equal numbers", true}, false},
         {{"time", "so that the slowest computes for the least time, where it is"}, true}});
    return rows;
}

template class Word<ApportionFacts>;

} // namespace scaleacross
