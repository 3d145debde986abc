// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FIT_CHECK_H
#define SCALEACROSS_FIT_CHECK_H

#include "core/base/errors.h"
#include "core/spec/scenario.h"

#include <functional>
#include <optional>

namespace scaleacross
{

/// Why a scenario cannot run, or nothing: layout, schedule and memory together.
using FitCheck = std::function<std::optional<Infeasible>(const Scenario&)>;

/// The checks of PrepareRun() without building the programs: LayOut, CheckJob, CheckMemory.
std::optional<Infeasible> CheckFit(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_FIT_CHECK_H
