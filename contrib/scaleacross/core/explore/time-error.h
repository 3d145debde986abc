// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIME_ERROR_H
#define SCALEACROSS_TIME_ERROR_H

#include "core/spec/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// How far modelled iteration times of one kind of job are from published ones: of modelled /
/// measured - 1, each run as shipped, and predicted by fits without its model family, without its
/// release of the software, and without its GPU at its precision; of each figure the largest.
struct TimeError
{
    /// A class of doc/compute.md, "Tables of published runs"; several where buildings have GPUs of
    /// several kinds, with "; " between them.
    std::string kind;
    double mean{0};       //!< of its size
    double within{0};     //!< what eight in ten runs do not exceed, in size
    double worst{0};      //!< with its sign
    uint32_t runs{0};     //!< of the kind
    uint32_t families{0}; //!< of models that its runs are of; of several kinds the least

    /// The classes that mean, within and worst are of, each figure the largest of theirs.
    std::vector<std::string> figuresOf{};
    /// Why the kind's runs do not hold for this job, a clause; empty where they do.
    std::string unvalidated{};

    /// As many as say something of a family that is none of them: of two each stands for the other.
    static constexpr uint32_t kEnough{3};

    bool IsValidated() const
    {
        return unvalidated.empty();
    }
};

/// What published runs were predicted with, by its name.
struct FittedPresets
{
    std::vector<GpuSpec> gpus; //!< one that took another curve has the curve's name
    std::vector<SoftwareStack> stacks;
};

/**
 * Returns the error of jobs like this one, whose step takes `time`: by GPU, software stack,
 * precision, and whether there are experts. A GPU or stack is the preset whose values it has,
 * whatever it is called, but for what a machine sets of a GPU and what the kind's runs vary of a
 * stack; failing that, the one whose name it has, with values changed.
 *
 * A kind is validated by runs of kEnough families, if it has runs of the job's stack and precision
 * and no value is changed. Otherwise the figures are those of the kind with the largest mean. A
 * step under a second has the larger figures of its kind and of all short steps; GPUs of several
 * kinds have the largest of theirs, and are validated if each kind is. Nothing where no runs of a
 * building's kind are published.
 */
std::optional<TimeError> FindTimeError(const Scenario& scenario,
                                       Duration time,
                                       const FittedPresets& presets);

} // namespace scaleacross

#endif // SCALEACROSS_TIME_ERROR_H
