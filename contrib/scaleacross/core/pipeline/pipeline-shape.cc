// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/pipeline-shape.h"

#include "core/pipeline/pipeline-schedule.h"

namespace scaleacross
{

namespace
{

/// Whether a chunk runs from the last rank to the first.
bool
RunsBack(const PipelineShape& shape, uint32_t chunk)
{
    return shape.schedule->Facts().placement == Placement::Vee && chunk % 2 == 1;
}

} // namespace

uint32_t
Positions(const PipelineShape& shape)
{
    return shape.ranks * shape.chunks;
}

uint32_t
VirtualStage(const PipelineShape& shape, uint32_t r, uint32_t chunk)
{
    return chunk * shape.ranks + (RunsBack(shape, chunk) ? shape.ranks - 1 - r : r);
}

uint32_t
RankOf(const PipelineShape& shape, uint32_t position)
{
    const uint32_t along = position % shape.ranks;
    return RunsBack(shape, position / shape.ranks) ? shape.ranks - 1 - along : along;
}

} // namespace scaleacross
