// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANK_DIGITS_H
#define SCALEACROSS_RANK_DIGITS_H

#include "core/base/errors.h"
#include "core/program/rank-group.h"
#include "core/spec/parallel-plan.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// One digit of a rank's number.
struct RankDigit
{
    Dimension dimension{Dimension::Tensor};
    RankGroup::Axis axis{1, 1};
    std::string name; //!< "tp" to "dp"; of experts "etp", "ep", "edp"
};

using RankDigits = std::vector<RankDigit>;

/**
 * Degree that a dimension has in the number of a rank: tp, cp, pp, and of ep and dp what dp is
 * divided into, X and dp / X.
 *
 * X = ep where experts follow the dense layout. With a layout of their own it is as much of dp as
 * groups of experts fill: tp cp X is the least common multiple of tp cp and etp ep; or gcd(ep, dp)
 * where ep comes after dp in the order, so that whole parts of ep lie in each of the X.
 *
 * Domain: no degree is 0.
 */
uint32_t DegreeOf(const ParallelPlan& plan, Dimension dimension);

/// The digits of a rank's number, inner to outer, in the order of the plan's crossing.
std::variant<RankDigits, Infeasible> DigitsOf(const ParallelPlan& plan);

/**
 * The digits that experts with a layout of their own give the same ranks: the tp cp dp ranks of a
 * stage, numbered as `digits` number them, are counted as etp x ep x edp in the order of the
 * crossing (etp stands where tp does, edp where dp does; cp has no digit).
 *
 * A digit of what is left may be cut by pp into several, so Dimension::Tensor, Expert and Data may
 * each stand in several places.
 *
 * Worked case: tp = 2, dp = 4, pp = 2, etp = 1, ep = 4, in the order tp-cp-ep-pp-dp: X = 2, so that
 * 2 x 2 ranks of a stage are neighbours, and 8 further comes the rest of it. ep is the axis
 * {stride 1, count 4} and edp {8, 2}.
 *
 * Domain: ParallelPlan::FoldsExperts(), and CheckExperts() finds nothing.
 */
std::variant<RankDigits, Infeasible> ExpertDigitsOf(const ParallelPlan& plan,
                                                    const RankDigits& digits);

/// Whether ep and etp fit the other degrees; "degrees" if not. Domain: no degree is 0.
std::optional<Infeasible> CheckExperts(const ParallelPlan& plan);

/// The groups of ranks that differ in these dimensions only.
RankGroup GroupOf(const RankDigits& digits, std::initializer_list<Dimension> dimensions);

} // namespace scaleacross

#endif // SCALEACROSS_RANK_DIGITS_H
