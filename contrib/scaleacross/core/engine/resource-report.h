// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RESOURCE_REPORT_H
#define SCALEACROSS_RESOURCE_REPORT_H

#include "core/engine/network-model.h"
#include "core/engine/resource-use.h"
#include "core/engine/run-report.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Seconds that the fullest cut needs for one iteration's bytes at its capacity, one direction: no
/// engine that sends them can be faster. Of the leaves or zones of one kind the mean counts, below
/// which the fullest cannot be.
double CutBound(const ResourceUse& use, const NetworkModel& network, const TaskGraph& graph);

/// What went over ports and cuts, busy shares not filled in. Of the leaves of a building, and of
/// its zones, the fullest stands for all.
std::vector<ResourceReport> ResourcesOf(const ResourceUse& use,
                                        const NetworkModel& network,
                                        const TaskGraph& graph);

/// Names the loads of a series that has one for each resource, in their order; those of one name
/// are added up, and those that carry nothing left out.
void NameSeries(NetworkSeries& series, const NetworkModel& network, const TaskGraph& graph);

/// Fills in the busy shares. If something that is limited carries more in an iteration than its
/// capacity times the iteration time: what did most of all, its bytes, capacity, the time that
/// these take and the iteration's, in words.
std::optional<std::string> FillBusy(RunReport& report);

} // namespace scaleacross

#endif // SCALEACROSS_RESOURCE_REPORT_H
