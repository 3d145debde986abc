// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DIFFERENCE_H
#define SCALEACROSS_DIFFERENCE_H

#include "core/engine/run-report.h"
#include "core/spec/parallel-plan.h"
#include "core/spec/plan-fields.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// Engines differ noticeably in a communication class beyond this. How far two engines may lie
/// apart says nothing of how far both are from what is measured (model-error.h).
constexpr double kEngineTolerance = 0.05;

/// A field in which a plan differs from another, with both values as a study says them.
struct FieldDifference
{
    std::string key; //!< "plan.tp"
    std::string value;
    std::string other;
};

/// In the order of the table of fields.
std::vector<FieldDifference> FieldsThatDiffer(const Plan& plan, const Plan& other);

/// By how much a part of the iteration time is more in one report than in another.
struct TimeChange
{
    std::string key;  //!< "compute", "bubble", "exposed_dp", "imbalance"
    std::string name; //!< for people
    Duration change;
};

/**
 * What the difference of two iteration times consists of, and adds up to: compute, bubble and
 * exposed communication by class, which are means over the ranks, and what then remains, for the
 * slowest rank is not the mean one.
 *
 * @param from the report that the other is compared with
 */
std::vector<TimeChange> TimeChanges(const RunReport& from, const RunReport& to);

/**
 * Whether a difference of two iteration times, or of parts of them, is what rounding makes. Engines
 * count whole picoseconds, and a time is a sum of some thousands of them: 1 ns, of times beyond a
 * second a billionth.
 */
bool IsRounding(Duration difference, Duration iterationTime);

/// Those of TimeChanges() that are at least a tenth of the largest and no rounding, largest first.
std::vector<TimeChange> MainChanges(const RunReport& from, const RunReport& to);

/// Without its sign.
Duration Magnitude(Duration value);

/// time / reference - 1; 0 if both are zero, 1 if only the reference is.
double RelativeError(Duration time, Duration reference);

/// Whether a class's busy times differ by more than kEngineTolerance.
bool Differs(const ClassReport& part, const ClassReport& reference);

/// Whether two reports of one plan differ by more than kEngineTolerance in total, or in a class if
/// both know of classes.
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
