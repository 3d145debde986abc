// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CANONICAL_JSON_H
#define SCALEACROSS_CANONICAL_JSON_H

#include "core/spec/scenario.h"

#include <string>

namespace scaleacross
{

/**
 * A scenario as one line of JSON that is equal for equal scenarios and differs when anything
 * differs that can change a result: what a database hashes as the key of a run.
 *
 * All fields in a fixed order, whole base units (ps, B) or doubles in the shortest form that reads
 * back exactly; no spaces. Left out is what cannot change a result: the names of job, model,
 * buildings and accelerators. Spans are listed by building index, the lower one first, so their
 * order in a study does not matter.
 */
std::string CanonicalJson(const Scenario& scenario);

/**
 * As CanonicalJson(), without the plan and network fields that PlanFields() knows: the setting that
 * all plans of one search share. Together with CanonicalText(plan) it says as much as
 * CanonicalJson().
 */
std::string CanonicalSetting(const Scenario& scenario);

/// Of it, cluster and events.
std::string CanonicalNetwork(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_CANONICAL_JSON_H
