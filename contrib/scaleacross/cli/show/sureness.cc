// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/sureness.h"

#include "core/explore/model-error.h"

#include <nlohmann/json.hpp>

namespace scaleacross
{

std::string
SurenessText(const PlanSureness& sureness)
{
    return !sureness.best        ? "-"
           : sureness.sameAs > 0 ? "as " + std::to_string(sureness.sameAs)
                                 : ProbabilityText(*sureness.best);
}

Json
JsonOf(const std::optional<double>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json
ToJson(const PlanSureness& sureness)
{
    return {{"probability_best", JsonOf(sureness.best)},
            {"probability_slower", JsonOf(sureness.slower)},
            {"same_as", sureness.sameAs > 0 ? Json(sureness.sameAs) : Json(nullptr)}};
}

Json
ToJson(const Conclusion& conclusion)
{
    const auto& error = conclusion.timeError;
    Json lines = Json::array();
    Json topics = Json::array();
    for (const Statement& statement : conclusion.explanation)
    {
        lines.push_back(statement.text);
        topics.push_back(statement.topic);
    }
    return {{"gap", JsonOf(conclusion.gap)},
            {"sure", JsonOf(conclusion.sure)},
            {"time_error",
             error ? Json({{"kind", error->kind},
                           {"mean", error->mean},
                           {"within", error->within},
                           {"worst", error->worst},
                           {"runs", error->runs},
                           {"families", error->families},
                           {"figures_of", error->figuresOf},
                           {"validated", error->IsValidated()},
                           {"unvalidated",
                            error->IsValidated() ? Json(nullptr) : Json(error->unvalidated)}})
                   : Json(nullptr)},
            {"placement_probability", JsonOf(conclusion.placement)},
            {"optimal", conclusion.gap && *conclusion.gap == 0},
            {"warnings", conclusion.warnings},
            {"explanation", lines},
            {"topics", topics}};
}

} // namespace scaleacross
