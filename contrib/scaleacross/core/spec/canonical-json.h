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
 * It is a study (StudyJson) and can be run as one. What is as it usually is, is left out, so that
 * a field that is added later changes no text of before; so is what cannot change a result: the
 * names of job, model, stack and accelerators. Buildings and hubs are called by number, and spans
 * are in their order.
 */
std::string CanonicalJson(const Scenario& scenario);

/**
 * As CanonicalJson(), without the plan and network fields that PlanFields() knows: the setting that
 * all plans of one search share. Together with CanonicalText(plan) it says as much as
 * CanonicalJson().
 */
std::string CanonicalSetting(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_CANONICAL_JSON_H
