// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RESOURCE_REPORT_H
#define SCALEACROSS_RESOURCE_REPORT_H

#include "core/engine/network-model.h"
#include "core/engine/resource-use.h"
#include "core/engine/run-report.h"

#include <vector>

namespace scaleacross
{

/// Seconds that the fullest cut needs for one iteration's bytes at its capacity, one direction: no
/// engine that sends them can be faster.
double CutBound(const ResourceUse& use, const NetworkModel& network, const TaskGraph& graph);

/// What went over ports and cuts, busy shares not filled in. Of the leaves of a building, and of
/// its zones, the fullest stands for all.
std::vector<ResourceReport> ResourcesOf(const ResourceUse& use,
                                        const NetworkModel& network,
                                        const TaskGraph& graph);

/**
 * Fills in the busy shares and holds the law that no engine may break: nothing carries more in an
 * iteration than its capacity times the iteration time. Else an invariant is broken, which is
 * told with resource, bytes, capacity and time.
 */
void CheckResources(RunReport& report);

} // namespace scaleacross

#endif // SCALEACROSS_RESOURCE_REPORT_H
