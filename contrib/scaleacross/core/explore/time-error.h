// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIME_ERROR_H
#define SCALEACROSS_TIME_ERROR_H

#include "core/spec/scenario.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// How far modelled iteration times of one kind of job are from published ones.
struct TimeError
{
    std::string kind; //!< a class of doc/compute.md, "Tables of published runs"
    double mean{0};   //!< of |modelled / measured - 1|, each model predicted without its own runs
    double worst{0};  //!< with its sign
    uint32_t runs{0};
};

/// Of jobs like this one, whose step takes `time`: by GPU, software stack, precision, and whether
/// there are experts; all steps under a second are a kind. Null where no runs of the kind are
/// published, and where GPUs of several kinds take part.
const TimeError* FindTimeError(const Scenario& scenario, Duration time);

} // namespace scaleacross

#endif // SCALEACROSS_TIME_ERROR_H
