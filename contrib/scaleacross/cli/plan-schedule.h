// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_SCHEDULE_H
#define SCALEACROSS_PLAN_SCHEDULE_H

#include "cli/schedule-run.h"
#include "core/engine/engine.h"
#include "core/explore/stage-places.h"
#include "core/spec/study.h"

#include <vector>

namespace scaleacross
{

/// What the drawn rank of a stage spends an iteration on, a mean over those measured.
struct StageTimes
{
    Duration compute;
    Duration bubble;
    Duration exposed;
};

/// The schedule of a plan as an engine has run it, in the steady state.
struct PlanSchedule
{
    PipelineShape shape;
    ScheduleRun run; //!< of the lowest rank of every stage, one iteration
    StagePlaces places;
    std::vector<StageTimes> times; //!< by stage
    RunReport report;
};

/// Runs the plan that the study fixes. Throws RunError if it cannot run, with the reason.
PlanSchedule RunPlanSchedule(const Study& study, const Engine& engine);

} // namespace scaleacross

#endif // SCALEACROSS_PLAN_SCHEDULE_H
