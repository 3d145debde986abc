// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ARRIVALS_H
#define SCALEACROSS_ARRIVALS_H

#include "core/base/units.h"
#include "core/engine/evaluator-state.h"

namespace scaleacross::evaluation
{

/**
 * Time of the measured iterations during which messages were on the way to a class: of each that
 * arrives in them, from when it was posted or the one before arrived. Domain: the class has
 * finished.
 */
Duration BusyBetween(const ClassState& state);

/// Messages to a class in a period of its steady part.
struct PeriodArrivals
{
    bool any{false};
    Duration busy; //!< as of BusyBetween(), of the messages that arrive in one such period
};

/**
 * Those of the period [from, until). Domain: from `from` on arrivals repeat themselves with the
 * period until - from, and nothing of the first one has been skipped.
 */
PeriodArrivals ArrivalsBetween(const ClassState& state, Duration from, Duration until);

} // namespace scaleacross::evaluation

#endif // SCALEACROSS_ARRIVALS_H
