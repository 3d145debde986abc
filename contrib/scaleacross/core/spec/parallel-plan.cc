// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/parallel-plan.h"

#include "core/spec/plan-fields.h"

#include <string>
#include <utility>

namespace scaleacross
{

std::optional<ConfigError>
ParallelPlan::FindConflict() const
{
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
