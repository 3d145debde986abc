// SPDX-License-Identifier: GPL-2.0-only

// What a plan is called in tables.

#include "core/base/text.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/plan-fields.h"

namespace scaleacross
{

namespace
{

/// "HSDP", "FSDP+reshard", "DDP+microbatch", with what differs from the defaults.
std::string
ShardingLabel(const ParallelPlan& plan)
{
    ParallelPlan usual;
    usual.sharding = plan.sharding;
    usual.reshard = plan.reshard;
    std::string text = plan.sharding->label;
    text += plan.shardRanks > 0 ? std::to_string(plan.shardRanks) : "";
    text += plan.reshard ? "+reshard" : "";
    text += plan.ReductionOf() == usual.ReductionOf() ? "" : "+" + ToString(plan.ReductionOf());
    text += plan.prefetch == usual.prefetch ? "" : " prefetch=" + std::to_string(plan.prefetch);
    text += plan.bucket == Bytes(0) ? "" : " bucket=" + ExactText(plan.bucket);
    return text;
}

} // namespace

std::string
Label(const Plan& plan)
{
    const ParallelPlan& p = plan.parallel;
    std::string text = "TP" + std::to_string(p.tp);
    text += p.cp > 1 ? " CP" + std::to_string(p.cp) : "";
    text += p.ep > 1 ? " EP" + std::to_string(p.ep) : "";
    text += p.etp > 0 ? " ETP" + std::to_string(p.etp) : "";
    text += " PP" + std::to_string(p.pp);
    text += p.chunks > 1 ? "x" + std::to_string(p.chunks) : "";
    text += " DP" + std::to_string(p.dp);
    text += " " + NameOf(p.crossing) + " ";
    text += ShardingLabel(p);
    text += p.pp > 1 || p.schedule != Schedule() ? " " + ToString(p.schedule) : "";
    text += p.schedule->Facts().inRounds && p.round > 0 ? "/" + std::to_string(p.round) : "";
    text +=
        p.schedule->Facts().limitsHeld && p.inFlight > 0 ? "/" + std::to_string(p.inFlight) : "";
    text += " b" + std::to_string(p.microbatch);
    text += p.recompute == Recompute() ? "" : " recompute=" + ToString(p.recompute);
    text += p.recomputeLayers > 0 ? "/" + std::to_string(p.recomputeLayers) : "";
    text += p.offloadLayers > 0 ? " offload=" + std::to_string(p.offloadLayers) : "";
    text += p.apportion == Apportion() ? "" : " apportion=" + ToString(p.apportion);
    text += p.layers.IsGiven() ? " layers=" + ToString(p.layers) : "";
    text += p.embeddingAsLayer ? " embedding-as-layer" : "";
    text += p.lossAsLayer ? " loss-as-layer" : "";
    text += p.asyncTensor ? " async-tp" : "";
    return text;
}

} // namespace scaleacross
