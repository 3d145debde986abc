// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOSS_WARNINGS_H
#define SCALEACROSS_LOSS_WARNINGS_H

#include "core/spec/scenario.h"

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Returns what to know of a scenario whose losses are taken as an expected value (loss-delay.h):
 * where packets may overtake, a receiver tells of a loss only when more than
 * NetworkPlan::reorderTolerance later packets of the queue pair have come. Messages that too few
 * others follow wait for the timeout instead, which the expected value does not have.
 */
std::vector<std::string> WarningsOfMeanLosses(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_LOSS_WARNINGS_H
