// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EVENT_WARNINGS_H
#define SCALEACROSS_EVENT_WARNINGS_H

#include "core/engine/run-report.h"
#include "core/spec/event-spec.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// Returns what to know of events that are over before a run's measured iterations begin, or begin
/// after their end: its times have nothing of them, though its counts of packets may. Empty of a
/// report that does not know when these were.
std::vector<std::string> WarningsOfEvents(const std::vector<EventSpec>& events,
                                          const RunReport& report);

} // namespace scaleacross

#endif // SCALEACROSS_EVENT_WARNINGS_H
