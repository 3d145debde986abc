// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FITTED_PRESETS_H
#define SCALEACROSS_FITTED_PRESETS_H

#include "core/explore/collective-error.h"
#include "core/explore/time-error.h"

namespace scaleacross
{

/// Returns all GPUs and stacks that are built in, and h100-flash2: an H100 with the curve of that
/// name, which published runs by torch-fsdp took.
FittedPresets BuiltInPresets();

/// Returns all GPUs and the networks of all machines that are built in.
MeasuredPresets BuiltInMachines();

} // namespace scaleacross

#endif // SCALEACROSS_FITTED_PRESETS_H
