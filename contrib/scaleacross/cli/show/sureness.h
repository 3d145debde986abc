// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SURENESS_H
#define SCALEACROSS_SURENESS_H

#include "cli/show/report-json.h"
#include "core/explore/conclusion.h"

#include <optional>
#include <string>

/// How sure an answer is, as `explore` finds and as `show` reads it.
namespace scaleacross
{

/// The title of the column that SurenessText() fills.
constexpr const char* kFastest = "fastest";

/// How likely a plan is to be the fastest, or which plan's work it does; "-" if neither is known.
std::string SurenessText(const PlanSureness& sureness);

/// A number, or null.
Json JsonOf(const std::optional<double>& value);

/// {"probability_best", "probability_slower", "same_as"}, each null where nothing is known.
Json ToJson(const PlanSureness& sureness);

/// {"gap", "optimal", "sure", "time_error", "placement_probability", "warnings", "explanation",
/// "topics"}: what is said of a search as a whole; of each line of the explanation its
/// Statement::topic.
Json ToJson(const Conclusion& conclusion);

} // namespace scaleacross

#endif // SCALEACROSS_SURENESS_H
