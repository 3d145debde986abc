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

bool
operator==(const ParallelPlan& a, const ParallelPlan& b)
{
    return EqualFields(PlanFields(), Plan{a, {}}, Plan{b, {}});
}

} // namespace scaleacross
