// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NORMAL_PLAN_H
#define SCALEACROSS_NORMAL_PLAN_H

#include "core/spec/plan-fields.h"

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The same plan with every field that has no effect on it at its default: round of a schedule
 * without rounds, in_flight of one without a limit, reshard of what keeps its weights, segments of
 * messages that are split evenly. Chunks are as many as a schedule takes that leaves no choice.
 * Every engine says the same of both.
 *
 * A schedule has an effect on a single stage, too: its order decides which weights are gathered
 * again, and when gradients are reduced.
 */
Plan Normalised(Plan plan);

/// A field that says something else than usual, and changes nothing.
struct IdleField
{
    std::string key;
    std::string why; //!< "plan.tp is 1"
};

/// Those that Normalised() puts back, in canonical order.
std::vector<IdleField> IdleFields(const Plan& plan);

} // namespace scaleacross

#endif // SCALEACROSS_NORMAL_PLAN_H
