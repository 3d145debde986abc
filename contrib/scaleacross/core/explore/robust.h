// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROBUST_H
#define SCALEACROSS_ROBUST_H

#include "core/base/units.h"
#include "core/spec/plan-fields.h"
#include "core/spec/study.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// One way in which what a study leaves uncertain may turn out.
struct UncertainCase
{
    std::vector<std::pair<std::string, std::string>> values; //!< of the figures, by key
    double share{0};                                         //!< how likely it is
    Scenario scenario;

    /// "distance=60km, loss=0.001".
    std::string Name() const;
};

/// More than anybody reads.
constexpr size_t kMostCases = 100;

/**
 * All combinations of the values of a study's uncertain figures, the last figure running fastest.
 * The share of one is the product of those of its values: figures are independent.
 *
 * Throws ConfigError (where = the key) for values that the study does not take, and for more than
 * kMostCases. Domain: the study has uncertain figures.
 */
std::vector<UncertainCase> CasesOf(const Study& study);

/// A time in every case; none where the plan cannot run there.
using CaseTimes = std::vector<std::optional<Duration>>;

/**
 * The least time that is enough in cases which have together at least this share; none where the
 * plan cannot run in the others.
 *
 * Worked case: shares 0.5, 0.4, 0.1, times 10, 12, 30: the quantile 0.5 is 10, 0.9 is 12, 0.95 is
 * 30.
 */
std::optional<Duration> QuantileOf(const CaseTimes& times,
                                   const std::vector<double>& shares,
                                   double quantile);

/// The mean of the times by their shares; none where the plan cannot run in some case.
std::optional<Duration> MeanOf(const CaseTimes& times, const std::vector<double>& shares);

/**
 * The slowest cases of a plan, slowest first, that have together more than 1 - quantile: as few of
 * them as are enough.
 *
 * Of any such cases it holds for every plan that its quantile is no less than its least time in
 * them: the cases in which a plan keeps its quantile have a share of at least `quantile`, so that
 * one of these is among them.
 */
std::vector<size_t> TailOf(const CaseTimes& times,
                           const std::vector<double>& shares,
                           double quantile);

/// A plan with its times in all cases.
struct RobustPlan
{
    Plan plan;
    std::string text; //!< CanonicalText()
    CaseTimes times;
    std::optional<Duration> quantile;
    std::optional<Duration> mean;
};

/// The best plans of a case.
struct CaseSearch
{
    std::vector<std::pair<Plan, Duration>> best; //!< best first
    /// No other plan takes less in this case; Max() where there is no other.
    Duration beyond{Duration::Max()};
    bool failed{false}; //!< runs of it have failed, so that nothing is known of their plans
};

/// Which plans are compared by their quantiles, and what is proven of the best.
struct RobustAnswer
{
    std::vector<RobustPlan> plans; //!< by quantile, then mean, then text; what cannot keep it last
    std::vector<size_t> tail;      //!< TailOf() the best plan of the study as it is
    /// No plan of the space has a quantile that is less: that of the best where it is proven.
    Duration bound;
    bool proven{false};
    bool failed{false}; //!< runs have failed, so that nothing is proven
};

/// What a comparison asks for.
struct RobustQuestion
{
    std::vector<double> shares;
    double quantile{0.95};
    size_t keep{100};  //!< of the first search of a case
    size_t most{1600}; //!< of the last
    /// The k best plans of a case.
    std::function<CaseSearch(size_t index, size_t keep)> search;
    /// Times of plans in all cases; `failed` is set where one is not known.
    std::function<std::vector<CaseTimes>(const std::vector<Plan>& plans, bool& failed)> run;
};

/**
 * The plan with the least quantile, out of `nominal`, the best plans of the study as it is, best
 * first, and of all others that may have a lesser one.
 *
 * A plan can have a lesser quantile than q only where it takes less than q in one of the cases of
 * the tail (TailOf). So these cases are searched, with more and more of the best plans kept, until
 * what is not kept takes at least q: then the plan is the best of the whole space, whatever the
 * engine does between the cases. Where `most` is reached before, the least time of what is not kept
 * is the bound.
 *
 * Worked case: shares 0.9 and 0.1, quantile 0.95, so that the second case is the tail. Times of A:
 * 10, 30; B: 11, 20; C: 15, 19. Of `nominal` A and B, B is best by 20. The best plan of the second
 * case is C, then B: kept alone, C leaves a beyond of 20, which no other plan goes below. C has
 * 19.
 *
 * Throws whatever `search` and `run` throw. Domain: `nominal` is not empty.
 */
RobustAnswer FindRobust(const std::vector<Plan>& nominal, const RobustQuestion& question);

} // namespace scaleacross

#endif // SCALEACROSS_ROBUST_H
