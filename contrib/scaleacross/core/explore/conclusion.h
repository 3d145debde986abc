// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CONCLUSION_H
#define SCALEACROSS_CONCLUSION_H

#include "core/explore/time-error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// How sure a plan's place in the ranking is, 0 to 1 each. None where nothing is known of the
/// engine's error (kMeasuredEngine), or there is nothing to compare with.
struct PlanSureness
{
    /// That it is the fastest of all that are kept; of plans that do the same work, that one of
    /// them is.
    std::optional<double> best;
    std::optional<double> slower; //!< that the best plan is faster than it; none of the best itself
    uint64_t sameAs{0}; //!< rank of the first plan that does the same work, from 1; 0: it does own
};

/// One or more sentences of an explanation, and what they are about, one of kTopics.
struct Statement
{
    std::string topic;
    std::string text;
};

/// What statements are about: the best plan's figures; what its time is made of; which stages
/// buildings hold; how busy links are; what crosses the buildings; how sure the answer is; the
/// baselines, that in one building among them; how much better another plan can be.
constexpr const char* kTopics[] =
    {"best", "time", "stages", "links", "placement", "sure", "baselines", "proof"};

/// What follows from a search.
struct Conclusion
{
    std::optional<double> gap;          //!< Gap()
    std::vector<Statement> explanation; //!< Explain()
    /// That the best plan is faster than the best of another crossing; none as in PlanSureness.
    std::optional<double> placement;
    /// kSure when it was concluded; none as in PlanSureness.
    std::optional<double> sure;
    std::optional<TimeError> timeError;      //!< FindTimeError()
    std::vector<PlanSureness> plans;         //!< by rank
    std::map<std::string, double> baselines; //!< by name: that the best plan is faster
    std::vector<std::string> warnings;       //!< what to know of the best plan, a line each
};

} // namespace scaleacross

#endif // SCALEACROSS_CONCLUSION_H
