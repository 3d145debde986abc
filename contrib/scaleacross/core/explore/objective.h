// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_OBJECTIVE_H
#define SCALEACROSS_OBJECTIVE_H

#include "core/base/word.h"
#include "core/engine/closed-form.h"
#include "core/engine/run-report.h"
#include "core/spec/study.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What a study's cluster is and costs, which makes amounts of times.
struct Rates
{
    uint64_t gpus{0};
    double tokens{0}; //!< of an iteration: sequences of the global batch, and their length
    std::optional<double> costPerHour; //!< PriceSpec::PerHour(); none without prices
};

Rates RatesOf(const Study& study);

/**
 * Something that plans are compared by, and of which less is better: a figure of a report, or a
 * multiple of one.
 *
 * Of a plan that has not run, `least` bounds it from below by what is known so far: what it sends
 * across counts as nothing until somebody has counted it.
 */
struct ObjectiveFacts : WordFacts
{
    std::string unit;        //!< of its values: "s", "B"
    std::string key;         //!< what JSON calls its value
    std::string figure;      //!< what it is a multiple of: a key of RunReport::Figures()
    bool followsTime{false}; //!< orders the plans of a study as their times do
    bool needsPrices{false}; //!< has values only where the study has prices
    /// Domain where it needs prices: rates that have them.
    double (*value)(const RunReport& report, const Rates& rates){nullptr};
    double (*least)(const ClosedForm& form, const Rates& rates){nullptr};
};

/// An objective that a user names.
using Objective = Word<ObjectiveFacts>;

template <>
const std::vector<const ObjectiveFacts*>& Objective::Rows();
extern template class Word<ObjectiveFacts>;

/// Those that have values with these rates, in their order.
std::vector<Objective> ObjectivesWith(const Rates& rates);

/// A value with its unit, for people.
std::string ValueText(Objective objective, double value);

} // namespace scaleacross

#endif // SCALEACROSS_OBJECTIVE_H
