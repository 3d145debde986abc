// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIME_ERROR_H
#define SCALEACROSS_TIME_ERROR_H

#include "core/spec/scenario.h"

#include <cstdint>

namespace scaleacross
{

/// How far modelled iteration times of one kind of job are from published ones.
struct TimeError
{
    const char* kind; //!< a class of doc/compute.md, "Tables of published runs"
    double mean;      //!< of |modelled / measured - 1|, each model predicted without its own runs
    double worst;     //!< with its sign
    uint32_t runs;
};

/// Of jobs like this one: its slowest kind of GPU, precision, and whether there are experts.
/// Null where no runs of the kind are published.
const TimeError* FindTimeError(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_TIME_ERROR_H
