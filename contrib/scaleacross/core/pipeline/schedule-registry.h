// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEDULE_REGISTRY_H
#define SCALEACROSS_SCHEDULE_REGISTRY_H

#include "core/pipeline/pipeline-schedule.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// All schedules that a study can name, in the order in which they are listed.
const std::vector<const PipelineSchedule*>& PipelineSchedules();

/// Their names.
const std::vector<std::string>& ScheduleNames();

} // namespace scaleacross

#endif // SCALEACROSS_SCHEDULE_REGISTRY_H
