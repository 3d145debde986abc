// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEDULES_H
#define SCALEACROSS_SCHEDULES_H

#include "core/pipeline/pipeline-schedule.h"

/// The schedules there are, each in the file of its name. Others find them in schedule-registry.h.
namespace scaleacross
{

const PipelineSchedule& GPipeSchedule();
const PipelineSchedule& OneFOneBSchedule();
const PipelineSchedule& InterleavedSchedule();
const PipelineSchedule& DoraPpSchedule();
const PipelineSchedule& BreadthFirstSchedule();
const PipelineSchedule& ZbH1Schedule();
const PipelineSchedule& ZbH2Schedule();
const PipelineSchedule& Zb1pSchedule();
const PipelineSchedule& ZbvSchedule();
const PipelineSchedule& ZbvInterleavedSchedule();
const PipelineSchedule& DualPipeVSchedule();
const PipelineSchedule& LatencyAwareSchedule();

} // namespace scaleacross

#endif // SCALEACROSS_SCHEDULES_H
