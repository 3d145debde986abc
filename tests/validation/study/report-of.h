// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_REPORT_OF_H
#define SCALEACROSS_TESTS_REPORT_OF_H

#include "core/engine/engine.h"

#include <stdexcept>

namespace scaleacross
{

/// The report of a scenario that an engine has to be able to run.
inline RunReport
ReportOf(const Engine& engine, const Scenario& scenario)
{
    const auto result = engine.Run(scenario, RunOptions());
    if (const auto* bad = std::get_if<Infeasible>(&result))
    {
        throw std::runtime_error(bad->reason + ": " + bad->detail);
    }
    return std::get<RunReport>(result);
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_REPORT_OF_H
