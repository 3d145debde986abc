// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DIFFERENCES_H
#define SCALEACROSS_DIFFERENCES_H

#include "cli/show/report-json.h"
#include "core/explore/outcome.h"

#include <string>
#include <vector>

/// What makes the plans of a ranking slower than its best, as `explore` and as `show` tell it.
namespace scaleacross
{

/// A plan of a ranking.
struct RankedRun
{
    uint64_t rank{0};
    Plan plan;
    RunReport report;
};

/// A line for each but the first: the fields in which it differs from that, and the parts of the
/// difference in time.
std::string DifferencesText(const std::vector<RankedRun>& runs);

/// {"differs": {"tp": [its value, that of the best]}, "because": {"compute": s, ...}}: the latter
/// adds up to the difference of the iteration times.
Json DifferencesJson(const RankedRun& run, const RankedRun& best);

} // namespace scaleacross

#endif // SCALEACROSS_DIFFERENCES_H
