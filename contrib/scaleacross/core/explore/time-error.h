// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIME_ERROR_H
#define SCALEACROSS_TIME_ERROR_H

#include "core/spec/scenario.h"

#include <cstdint>
#include <optional>
#include <string>

namespace scaleacross
{

/// How far modelled iteration times of one kind of job are from published ones: of modelled /
/// measured - 1, each run predicted by fits without its model family, without its release of the
/// software, and without its GPU at its precision, by the way that errs most in the mean.
struct TimeError
{
    std::string kind; //!< a class of doc/compute.md, "Tables of published runs"
    double mean{0};   //!< of its size
    double within{0}; //!< what eight in ten runs do not exceed, in size
    double worst{0};  //!< with its sign
    uint32_t runs{0};
    uint32_t families{0}; //!< of models that the runs are of

    /// As many as say something of a family that is none of them: of two each stands for the other.
    static constexpr uint32_t kEnough{3};

    bool IsValidated() const
    {
        return families >= kEnough;
    }
};

/// Of jobs like this one, whose step takes `time`: by GPU, software stack, precision, and whether
/// there are experts; all steps under a second are a kind. Of a kind that is not validated mean,
/// within and worst are those of the kind with the largest mean. Nothing where no runs of the kind
/// are published, and where GPUs of several kinds take part.
std::optional<TimeError> FindTimeError(const Scenario& scenario, Duration time);

} // namespace scaleacross

#endif // SCALEACROSS_TIME_ERROR_H
