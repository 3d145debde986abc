// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WARNINGS_H
#define SCALEACROSS_WARNINGS_H

#include "core/engine/run-report.h"
#include "core/spec/study.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// What to know of a scenario that runs, a line each: keys of a model's file that were not read,
/// memory that it lacks, what of the study has no effect whatever its search chooses, links that
/// are faster than any port, where the engine is known to be far from packets, and, unless one with
/// buffers ran it, buffers that are too small. Of losses nothing is said where the run, if it is
/// given, sends nothing over the spans that have them.
std::vector<std::string> WarningsOf(const Scenario& scenario,
                                    const std::string& engine,
                                    const std::vector<SearchAxis>& search,
                                    const RunReport* report = nullptr);

/// Of these, what is said of the network whatever uses it, but for losses that the run does not
/// meet.
std::vector<std::string> NetworkWarnings(const Scenario& scenario,
                                         const std::string& engine,
                                         const RunReport* report = nullptr);

} // namespace scaleacross

#endif // SCALEACROSS_WARNINGS_H
