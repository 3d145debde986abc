// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEDULE_PICTURE_H
#define SCALEACROSS_SCHEDULE_PICTURE_H

#include "cli/schedule-run.h"

#include <string>

namespace scaleacross
{

/**
 * A line per rank, time from left to right over `columns` characters: F, I, B, W or X (a forward
 * and a backward overlapped) with the microbatch, lower case for the chunks that an odd number of
 * chunks precedes; '.' where the rank is idle.
 */
std::string ScheduleText(const PipelineShape& shape, const ScheduleRun& run, uint32_t columns);

/// The same as a drawing (SVG 1.1), with an axis, a legend and what every box is on hovering.
std::string ScheduleSvg(const PipelineShape& shape, const ScheduleRun& run);

} // namespace scaleacross

#endif // SCALEACROSS_SCHEDULE_PICTURE_H
