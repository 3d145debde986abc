// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROBUST_PLAN_H
#define SCALEACROSS_ROBUST_PLAN_H

#include "cli/explore-study.h"
#include "core/explore/robust.h"

#include <atomic>
#include <string>
#include <vector>

namespace scaleacross
{

/// What is found of a study's plans in all cases of what it leaves uncertain.
struct RobustFinding
{
    std::vector<UncertainCase> cases;
    RobustAnswer answer;
    std::string nominal; //!< canonical text of the plan that is best with the study's own values
    /// With the study's own values, by place in answer.plans: of those that are told.
    CaseTimes nominalTimes;
};

/**
 * Compares the plans that `answer` keeps, and all others that may be better, by the quantile of
 * their times in all cases; everything is stored. Throws Interrupted once stopped.
 *
 * Domain: the study has uncertain figures and the answer a winner.
 */
RobustFinding FindRobustPlan(const Study& study,
                             const SearchSpace& space,
                             const ExploreOptions& options,
                             const Answer& answer,
                             Database& database,
                             const std::atomic<bool>& stop);

/// The finding as tables and sentences; as JSON.
std::string RobustText(const Study& study,
                       const SearchSpace& space,
                       const RobustFinding& finding,
                       size_t top);
Json RobustJson(const Study& study,
                const SearchSpace& space,
                const RobustFinding& finding,
                size_t top);

} // namespace scaleacross

#endif // SCALEACROSS_ROBUST_PLAN_H
