// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/plan-depth.h"

#include "core/base/errors.h"

#include <map>

namespace scaleacross
{

PlanDepth
DepthOf(const std::string& key)
{
    if (key.rfind("network.", 0) == 0)
    {
        return PlanDepth::Network;
    }
    static const std::map<std::string, PlanDepth> depths = {
        {"plan.tp", PlanDepth::Degrees},
        {"plan.cp", PlanDepth::Degrees},
        {"plan.ep", PlanDepth::Degrees},
        {"plan.etp", PlanDepth::Degrees},
        {"plan.pp", PlanDepth::Degrees},
        {"plan.dp", PlanDepth::Degrees},
        {"plan.crossing", PlanDepth::Degrees},
        {"plan.microbatch", PlanDepth::Degrees},
        // By time, replicas may differ in their number of microbatches.
        {"plan.apportion", PlanDepth::Degrees},
        {"plan.schedule", PlanDepth::Order},
        {"plan.chunks", PlanDepth::Order},
        {"plan.round", PlanDepth::Order},
        {"plan.in_flight", PlanDepth::Order},
        {"plan.layers", PlanDepth::Order},
        {"plan.embedding_as_layer", PlanDepth::Order},
        {"plan.loss_as_layer", PlanDepth::Order},
        {"plan.recompute", PlanDepth::Kernels},
        {"plan.recompute_layers", PlanDepth::Kernels},
        {"plan.offload_layers", PlanDepth::Kernels},
        {"plan.async_tp", PlanDepth::Kernels},
        {"plan.sharding", PlanDepth::Shards},
        {"plan.shard_ranks", PlanDepth::Shards},
        {"plan.reshard", PlanDepth::Shards},
        {"plan.reduce", PlanDepth::Shards},
        {"plan.prefetch", PlanDepth::Shards},
        {"plan.bucket", PlanDepth::Shards},
    };
    const auto known = depths.find(key);
    SCALEACROSS_INVARIANT(known != depths.end(), key);
    return known->second;
}

} // namespace scaleacross
