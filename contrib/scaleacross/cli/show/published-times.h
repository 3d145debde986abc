// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PUBLISHED_TIMES_H
#define SCALEACROSS_PUBLISHED_TIMES_H

#include "cli/show/report-json.h"
#include "core/base/units.h"
#include "core/spec/scenario.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// For either class of sizes a sentence without its period: how far times of such collectives, as
/// the engine has them, are from published ones, or why nothing says it. Domain: the scenario's job
/// is a collective, some size.
std::vector<std::string> PublishedTimesLines(const Scenario& scenario,
                                             const std::string& engine,
                                             const std::vector<Bytes>& sizes);

/// The same of one size: {"median", "nine_in_ten", "lines", "setups", "gpu_lines", "gpu_setups",
/// "unvalidated"}; the last is null or a reason, and where nothing is published all others are
/// null.
Json PublishedTimesJson(const Scenario& scenario, const std::string& engine, Bytes size);

} // namespace scaleacross

#endif // SCALEACROSS_PUBLISHED_TIMES_H
