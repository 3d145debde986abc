// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRACE_EVENTS_H
#define SCALEACROSS_TRACE_EVENTS_H

#include "core/engine/run-report.h"
#include "core/spec/study.h"

#include <string>

namespace scaleacross
{

/**
 * The timeline of a run in the trace event format, as Perfetto (ui.perfetto.dev) and
 * chrome://tracing open it: a process for each recorded rank, with a row for its passes, one for
 * what its time goes to, one for each stream of collectives, and pipeline messages as asynchronous
 * events with arrows from pass to pass. Times are in microseconds with all picoseconds, from the
 * beginning of the measured iterations. `otherData` has the report's figures, and how many ranks
 * each process stands for.
 *
 * Domain: report.timeline is there.
 *
 * Source: "Trace Event Format", the Chromium project's public document.
 */
std::string TraceEvents(const Study& study, const RunReport& report);

} // namespace scaleacross

#endif // SCALEACROSS_TRACE_EVENTS_H
