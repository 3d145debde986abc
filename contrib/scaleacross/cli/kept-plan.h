// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KEPT_PLAN_H
#define SCALEACROSS_KEPT_PLAN_H

#include "core/io/read-study.h"
#include "core/store/database.h"
#include "core/store/search-reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// A plan that a search keeps, as options name it.
struct KeptPlanName
{
    std::string db;    //!< empty: none is named
    int64_t search{0}; //!< as ChosenSearch() takes it
    uint64_t rank{1};
};

/**
 * The study that fixes a plan: a setting as a database has it (SearchSummary), and the plan.
 * Changes come on top; plan.dp follows from the other degrees.
 *
 * Throws ConfigError, at `where`, for what does not go together.
 */
Study StudyOfPlan(const std::string& setting,
                  const Plan& plan,
                  const std::string& where,
                  const Overrides& changes = {});

/// "small.db, plan 2 of search 4 (cluster.cross.distance=3000km)", with what was set of the study.
/// Throws ConfigError where the database has no such search.
std::string TextOf(const KeptPlanName& name);

/**
 * The study that fixes a kept plan: StudyOfPlan() of the plan of that rank, with the name of what
 * was searched.
 *
 * Throws ConfigError where the database has no such plan, or what is changed does not go with it.
 */
Study StudyOfKept(const KeptPlanName& name, const Overrides& changes);

} // namespace scaleacross

#endif // SCALEACROSS_KEPT_PLAN_H
