// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BASELINE_H
#define SCALEACROSS_BASELINE_H

#include "core/base/errors.h"
#include "core/base/word.h"
#include "core/explore/one-site.h"
#include "core/spec/study.h"

#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/**
 * A school of training large models: what it always does (`help`), what it tunes, and what it does
 * not touch.
 *
 * A baseline's plan is the fastest of the school: all combinations of what it tunes, over complete
 * sets of values, by the analytical engine. The gain of a search over it is the worth of what the
 * school was not allowed to touch.
 *
 * A reference is no school: it is the study's own search on another cluster, the best of several
 * where it has more than one, and says what a property of the study's cluster costs.
 *
 * To add one, write its facts in a file of its own, and name it in registry.cc.
 */
struct BaselineFacts : WordFacts
{
    std::string tunes;     //!< what it chooses by the iteration time
    std::string untouched; //!< what it leaves alone
    std::string source;    //!< who plans so

    /// Whether `spaces` gets the study with the plan and network of the school that others begin
    /// at, in place of its own.
    bool beginsAtAnother{false};
    /// Whether that is this one: one row.
    bool othersBegin{false};

    /// The spaces of the school for a study, the preferred one first: the next one counts only
    /// where no plan of those before can run. Null of a reference.
    std::vector<Study> (*spaces)(const Study& study){nullptr};

    /// Which plans of the spaces are of the school; null: all of them. Depends on degrees,
    /// microbatch, schedule and what it runs alone.
    bool (*isOf)(const ParallelPlan& plan){nullptr};

    /// Refuses plans that recompute more than they need to fit.
    bool recomputesLeast{true};

    /// Of plans that take equally long, those with the first values of the axes: a setting that
    /// buys nothing is left as it is.
    bool prefersFirst{true};

    /// Of a reference the same study on each of its clusters, at least one, or why there is none.
    /// Null of a school.
    std::variant<std::vector<OneSite>, Infeasible> (*sites)(const Study& study){nullptr};
};

/// A school, or a reference, that a study names to be compared with.
using Baseline = Word<BaselineFacts>;

template <>
const std::vector<const BaselineFacts*>& Baseline::Rows();
extern template class Word<BaselineFacts>;

/// Whether a name is that of a reference, of those known.
bool IsReference(const std::string& name);

} // namespace scaleacross

#endif // SCALEACROSS_BASELINE_H
