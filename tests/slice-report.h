// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_SLICE_REPORT_H
#define SCALEACROSS_TESTS_SLICE_REPORT_H

#include "core/engine/engine.h"

#include <string>
#include <variant>

namespace scaleacross
{

/// Of a slice that `run --slice` would be given. Domain: the plan can run.
inline RunReport
ReportOf(const Engine& engine, const Scenario& scenario, const std::string& slice)
{
    RunOptions options;
    options.slice = ParseSlice(slice);
    return std::get<RunReport>(engine.Run(scenario, options));
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_SLICE_REPORT_H
