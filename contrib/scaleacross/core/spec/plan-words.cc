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
         {{"zero1",
           "optimizer state sharded; weights and accumulated gradients whole",
           false,
           {{"distributed-optimizer", "zero1"}, {"zero-1", "zero1"}}},
          "ZeRO-1",
          true},
         {{"zero2", "gradients too: reduce-scattered for every microbatch, only the shard is kept"},
          "ZeRO-2",
          true,
          true},
         {{"fsdp",
           "parameters, gradients and optimizer state sharded over the whole group",
           false,
           {{"zero3", "fsdp, with plan.reshard true"},
            {"zero-3", "fsdp, with plan.reshard true"},
            {"fsdp2", "fsdp"},
            {"full_shard", "fsdp, with plan.reshard true"},
            {"shard_grad_op", "fsdp"}}},
          "FSDP",
          true,
          true,
          true},
         {{"hsdp",
           "as fsdp, but sharded inside a building and replicated across",
           true,
           {{"hybrid_shard", "hsdp, with plan.reshard true"}}},
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
