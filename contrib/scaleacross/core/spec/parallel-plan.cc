// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/parallel-plan.h"

#include "core/spec/plan-fields.h"

#include <string>
#include <utility>

namespace scaleacross
{

/// Copies are spread over the layers of one chunk that is the whole model. Megatron Core's CPU
/// offloading refuses pipelines, and recomputation of any kind.
std::optional<ConfigError>
ParallelPlan::FindConflictOfOffload() const
{
    if (offloadLayers == 0)
    {
        return std::nullopt;
    }
    const std::string layers = std::to_string(offloadLayers) + " with plan.";
    if (pp > 1 || chunks > 1)
    {
        return ConfigError(
            "plan.offload_layers",
            layers + (pp > 1 ? "pp: " + std::to_string(pp) : "chunks: " + std::to_string(chunks)),
            "0 unless the model is in one piece (pp 1, chunks 1)",
            "leave out one of the two");
    }
    if (recompute != Recompute())
    {
        return ConfigError("plan.offload_layers",
                           layers + "recompute: " + ToString(recompute),
                           "0 with recomputation",
                           "leave out one of the two");
    }
    return std::nullopt;
}

std::optional<ConfigError>
ParallelPlan::FindConflict() const
{
    if (const auto conflict = FindConflictOfOffload())
    {
        return conflict;
    }
    if (recomputeLayers > 0 && (!recompute->layers || apportion->byTime))
    {
        const bool words = !recompute->layers;
        return ConfigError(
            "plan.recompute_layers",
            std::to_string(recomputeLayers) + " with plan." +
                (words ? "recompute: " + ToString(recompute) : "apportion: " + apportion->word),
            words ? "0 unless whole layers are recomputed (full, full-but-qkv)"
                  : "0 unless layers are dealt out in equal numbers",
            "leave out one of the two");
    }
    for (const auto& [said, what] :
         {std::pair<bool, std::string>(apportion->byTime, "apportion: " + apportion->word),
          {embeddingAsLayer, "embedding_as_layer: true"},
          {lossAsLayer, "loss_as_layer: true"}})
    {
        if (layers.IsGiven() && said)
        {
            return ConfigError("plan.layers",
                               ToString(layers) + " says the layers of every position, and plan." +
                                   what + " how to deal them out",
                               "auto with plan." + what,
                               "leave out one of the two");
        }
    }
    return std::nullopt;
}

ParallelPlan
ParallelPlan::OfLayer(uint32_t index) const
{
    ParallelPlan plan = *this;
    if (recomputeLayers > 0 && index >= recomputeLayers)
    {
        plan.recompute = Recompute();
    }
    return plan;
}

bool
operator==(const ParallelPlan& a, const ParallelPlan& b)
{
    return EqualFields(PlanFields(), Plan{a, {}}, Plan{b, {}});
}

} // namespace scaleacross
