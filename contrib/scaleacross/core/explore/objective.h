// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_OBJECTIVE_H
#define SCALEACROSS_OBJECTIVE_H

#include "core/base/word.h"
#include "core/engine/closed-form.h"
#include "core/engine/run-report.h"

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Something that plans are compared by, and of which less is better.
 *
 * Of a plan that has not run, `least` bounds it from below by what is known so far: what it sends
 * across counts as nothing until somebody has counted it.
 */
struct ObjectiveFacts : WordFacts
{
    std::string unit; //!< of its values: "s", "B"
    double (*value)(const RunReport& report){nullptr};
    double (*least)(const ClosedForm& form){nullptr};
};

/// An objective that a user names.
using Objective = Word<ObjectiveFacts>;

template <>
const std::vector<const ObjectiveFacts*>& Objective::Rows();
extern template class Word<ObjectiveFacts>;

/// The objectives of the Pareto front where nobody says otherwise: those that a first look at a
/// plan bounds, so that it can rule the plan out by itself.
std::vector<Objective> UsualFront();

/// "time,memory", as ParseFront() reads it; "none" of no front.
std::string FrontText(const std::vector<Objective>& front);

/// Two or three different objectives, or none at all. Throws ValueError.
std::vector<Objective> ParseFront(const std::string& text);

} // namespace scaleacross

#endif // SCALEACROSS_OBJECTIVE_H
