// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/word-registry.h"
#include "core/pipeline/pipeline-schedule.h"

namespace scaleacross
{

/// The schedules there are, each in the file of its name.
const PipelineSchedule& GPipeSchedule();
const PipelineSchedule& OneFOneBSchedule();
const PipelineSchedule& OneFOneBOverlappedSchedule();
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

template <>
const std::vector<const PipelineSchedule*>&
Schedule::Rows()
{
    static const std::vector<const PipelineSchedule*> schedules = {
        &GPipeSchedule(),
        &OneFOneBSchedule(),
        &OneFOneBOverlappedSchedule(),
        &InterleavedSchedule(),
        &DoraPpSchedule(),
        &BreadthFirstSchedule(),
        &ZbH1Schedule(),
        &ZbH2Schedule(),
        &Zb1pSchedule(),
        &ZbvSchedule(),
        &ZbvInterleavedSchedule(),
        &DualPipeVSchedule(),
        &LatencyAwareSchedule(),
    };
    return schedules;
}

template class Word<PipelineSchedule>;

} // namespace scaleacross
