// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHOOSE_BASELINE_H
#define SCALEACROSS_CHOOSE_BASELINE_H

#include "core/base/errors.h"
#include "core/explore/baselines/baseline.h"
#include "core/explore/search.h"
#include "core/spec/plan-fields.h"

#include <variant>

namespace scaleacross
{

/**
 * The fastest plan of the school, or why it has none: its first space's most frequent reason. Of a
 * reference the fastest plan on its cluster.
 *
 * `jobs`, `stop` and `progress` of the options count; throws Interrupted where stopped. The plan
 * does not depend on the number of threads.
 */
std::variant<Plan, Infeasible> ChooseBaseline(Baseline baseline,
                                              const Study& study,
                                              const Engine& engine,
                                              const SearchOptions& options);

} // namespace scaleacross

#endif // SCALEACROSS_CHOOSE_BASELINE_H
