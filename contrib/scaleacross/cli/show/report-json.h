// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_REPORT_JSON_H
#define SCALEACROSS_REPORT_JSON_H

#include "core/engine/run-report.h"
#include "core/explore/outcome.h"
#include "core/spec/plan-fields.h"

#include <nlohmann/json_fwd.hpp>

namespace scaleacross
{

using Json = nlohmann::ordered_json;

/// All plan fields, {"label": ..., "tp": 8, ..., "network": {"qps": 16, ...}}.
Json ToJson(const Plan& plan);

/// A field's text as the JSON value that it stands for.
Json FieldJson(const std::string& text);

/// A report without its plan and timeline: iteration_time_s, mfu, bubble_fraction, ... Times are in
/// seconds, amounts in bytes. `seed` is null where the engine draws nothing, and so are the parts
/// of the time that a model of somebody else's has not said.
Json ToJson(const RunReport& report);

/// Bytes by category, and `usable`.
Json ToJson(const MemoryUse& use);

/// The inverse of ToJson(report), to the picosecond, where nothing is null but the seed. Throws
/// nlohmann::json::exception.
RunReport ReportFromJson(const Json& json);

/// A report, or {"infeasible" or "failed": {"reason", "detail"}}.
Json ToJson(const Evaluation& evaluation);

} // namespace scaleacross

#endif // SCALEACROSS_REPORT_JSON_H
