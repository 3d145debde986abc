// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEDULE_ANSWER_H
#define SCALEACROSS_SCHEDULE_ANSWER_H

#include "cli/plan-schedule.h"
#include "cli/schedule-run.h"
#include "cli/show/report-json.h"

#include <string>

namespace scaleacross
{

/// A schedule by itself: the drawing, over so many columns, and its figures.
std::string ScheduleAnswerText(const ScheduleSetting& setting,
                               const ScheduleRun& run,
                               uint32_t columns);
Json ScheduleJson(const ScheduleSetting& setting, const ScheduleRun& run);

/// That of a plan, with what its stages hold and spend their time on.
std::string ScheduleAnswerText(const Study& study, const PlanSchedule& schedule, uint32_t columns);
Json ScheduleJson(const Study& study, const PlanSchedule& schedule);

} // namespace scaleacross

#endif // SCALEACROSS_SCHEDULE_ANSWER_H
