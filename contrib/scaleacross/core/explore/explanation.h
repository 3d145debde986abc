// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EXPLANATION_H
#define SCALEACROSS_EXPLANATION_H

#include "core/explore/outcome.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Relative difference of two iteration times below which the model does not tell two plans apart; a
 * difference below it is not a finding.
 *
 * Source: vTrain's measured iterations (arXiv:2312.12391; tests/validation/iteration-time). Of the
 * pairs of plans of one of its models the engine orders 73 % as they were measured where it says
 * that they differ by less than 5 %, 71 % from 5 to 10 %, 89 % from 10 to 15 % and 96 % from 15 to
 * 20 %: it passes nine in ten between 10 and 15 %.
 */
constexpr double kModelError = 0.15;

/// A plan as the explanation needs it.
struct Contender
{
    std::string label;
    Crossing crossing{Crossing::Data};
    RunReport report;
};

/// A baseline's result: a report, or the reason why there is none.
struct BaselineResult
{
    std::string name;
    std::optional<Contender> contender;
    Infeasible reason; //!< where there is no contender
};

/// Everything that an explanation is drawn from.
struct ExplanationInput
{
    Contender winner;
    std::optional<Contender> runnerUp;
    /// The best plan of a crossing that the winner does not have.
    std::optional<Contender> otherCrossing;
    std::vector<Crossing> otherCrossings; //!< those of the space beside the winner's
    /// Plans that ran and take at most kModelError longer than the winner, itself not counted;
    /// where only some are kept, at least so many.
    uint64_t closePlans{0};
    bool closePlansAtLeast{false};
    std::vector<BaselineResult> baselines;
    Duration bound{Duration::Max()}; //!< no plan of the space is faster; Max() if not known
    Bytes usableMemory;              //!< of the smallest GPU
    uint32_t buildings{1};
};

/// How much longer `other` takes than `base`: other / base - 1; negative if it is faster.
double RelativeExcess(Duration base, Duration other);

/// best / bound - 1, the most by which the answer can be wrong about the optimum of its space.
double Gap(Duration best, Duration bound);

/**
 * Why the winner wins and by how much: what crosses buildings, what is hidden and what exposed, the
 * bubble, memory; the best plan of another crossing and where the difference arises; the
 * baselines; the gap. One sentence group per line. Every statement follows from the numbers handed
 * in; differences below kModelError are called so.
 *
 * Where a difference arises: iteration time = compute + bubble + exposed communication by class
 * (means over the ranks) + a remainder, for the slowest rank is not the mean one; the difference of
 * two plans is the sum of the differences of these parts, of which those with at least a tenth of
 * the largest are told, largest first.
 */
std::vector<std::string> Explain(const ExplanationInput& input);

} // namespace scaleacross

#endif // SCALEACROSS_EXPLANATION_H
