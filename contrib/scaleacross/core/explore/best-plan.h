// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BEST_PLAN_H
#define SCALEACROSS_BEST_PLAN_H

#include "core/explore/search.h"
#include "core/spec/study.h"

#include <optional>
#include <string>

namespace scaleacross
{

/// The best plan of a study, or why it has none.
struct BestPlan
{
    std::optional<Ranked> plan;
    std::string label;  //!< SearchSpace::LabelOf(), "" without a plan
    std::string reason; //!< without a plan: what most were refused for, with an example
};

/// Searches for it alone and keeps nothing. Throws Interrupted once stopped. The plan does not
/// depend on the number of threads.
BestPlan FindBestPlan(const Study& study, const Engine& engine, const SearchOptions& options);

} // namespace scaleacross

#endif // SCALEACROSS_BEST_PLAN_H
