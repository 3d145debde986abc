// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PIPELINE_SHAPE_H
#define SCALEACROSS_PIPELINE_SHAPE_H

#include "core/pipeline/schedule.h"
#include "core/program/program.h"

#include <cstdint>

namespace scaleacross
{

/// Dimensions of a pipeline schedule.
struct PipelineShape
{
    Schedule schedule;
    uint32_t ranks{1};        //!< p
    uint32_t microbatches{1}; //!< m
    uint32_t chunks{1};       //!< v per rank
    /// N of schedules in rounds, p <= N <= m, dividing m. 0: m / max(1, m / p), which is p where p
    /// divides m.
    uint32_t round{0};
};

/// One step of a rank's pipeline: what to do to which model chunk for which microbatch.
struct PipelineAction
{
    Action action{Action::Forward};
    uint16_t chunk{0};
    uint16_t microbatch{0};
};

/// Virtual stages (positions along the model) of all ranks: p v.
uint32_t Positions(const PipelineShape& shape);

/// The position of chunk `chunk` of rank r, by the schedule's placement.
uint32_t VirtualStage(const PipelineShape& shape, uint32_t r, uint32_t chunk);

/// The rank that holds a position.
uint32_t RankOf(const PipelineShape& shape, uint32_t position);

} // namespace scaleacross

#endif // SCALEACROSS_PIPELINE_SHAPE_H
