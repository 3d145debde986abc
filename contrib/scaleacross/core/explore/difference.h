// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DIFFERENCE_H
#define SCALEACROSS_DIFFERENCE_H

#include "core/engine/run-report.h"
#include "core/spec/parallel-plan.h"

#include <string>

namespace scaleacross
{

/// Engines differ noticeably in a communication class beyond this. How far two engines may lie
/// apart says nothing of how far both are from what is measured (model-error.h).
constexpr double kEngineTolerance = 0.05;

/// time / reference - 1; 0 if both are zero, 1 if only the reference is.
double RelativeError(Duration time, Duration reference);

/// Whether a class's busy times differ by more than kEngineTolerance.
bool Differs(const ClassReport& part, const ClassReport& reference);

/// Whether two reports of one plan differ by more than kEngineTolerance in a class or in total.
bool DiffersSomewhere(const RunReport& report, const RunReport& reference);

/**
 * Why an engine's communication differs from the packet engine's: "loss", "pause" and "collision"
 * as the packet report counts them, those that apply joined by "+". Where it counts none:
 * "contention" if several kinds of transfers use the network, so that they can meet on a NIC or
 * link: more than one class, or gathers and reductions of a sharded plan; else "unexplained".
 */
std::string ReasonOfDifference(const ParallelPlan& plan, const RunReport& packet);

} // namespace scaleacross

#endif // SCALEACROSS_DIFFERENCE_H
