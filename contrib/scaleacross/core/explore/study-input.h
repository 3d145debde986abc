// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STUDY_INPUT_H
#define SCALEACROSS_STUDY_INPUT_H

#include "core/spec/study.h"

#include <functional>
#include <string>
#include <vector>

namespace scaleacross
{

/// A figure that a study gives, or that holds because it gives none, and which is not for the
/// search to choose.
struct StudyInput
{
    std::string key;   //!< "cluster.cross.distance", "network.spine_buffer"
    std::string value; //!< as a study would say it; of the first building or span that has it
    /**
     * Multiplies it, in every building or span, and gives its new value. Whole numbers go to the
     * nearest multiple of the greatest power of two that divides them and is no more than the
     * change, so that what is divided among ranks mostly still is: 64 x 0.8 is 48.
     *
     * Throws ConfigError where the field does not take the product.
     */
    std::function<std::string(Scenario&, double factor)> scale;
};

/// A figure that has no neighbours.
struct FixedInput
{
    std::string key;
    std::string value;
    std::string reason;
};

struct StudyInputs
{
    std::vector<StudyInput> varied;
    std::vector<FixedInput> fixed;
};

/**
 * All figures that the tables of fields have of spans, GPUs, fabrics, workload, software stack and
 * network, in this order and that of the tables: a new field is there without a change here.
 *
 * Not among them: the model and the numbers of GPUs, which are the question; the plan and all that
 * the search varies, which are the answer; a span's latency where it follows from the distance.
 * Zeros and whole numbers that `by` changes by less than a half are `fixed`.
 *
 * @param by the change that is meant, 0.2 of 20 %
 */
StudyInputs InputsOf(const Study& study, double by);

} // namespace scaleacross

#endif // SCALEACROSS_STUDY_INPUT_H
