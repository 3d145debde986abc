// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/pipeline-order.h"

#include <algorithm>

namespace scaleacross
{

std::optional<Infeasible>
CheckPipeline(const PipelineShape& shape)
{
    return shape.schedule->Check(shape);
}

std::vector<PipelineAction>
PipelineOrder(const PipelineShape& shape, uint32_t r)
{
    return shape.schedule->Order(shape, r);
}

uint64_t
PeakHeld(const std::vector<PipelineAction>& order,
         const std::vector<uint64_t>& heldByChunk,
         uint32_t parts)
{
    uint64_t held = 0;
    uint64_t peak = 0;
    for (const auto& action : order)
    {
        const auto forward = ForwardOf(action);
        const auto weights = WeightGradientOf(action);
        const uint64_t added = forward ? heldByChunk[forward->chunk] : 0;
        const uint64_t freed = weights ? heldByChunk[weights->chunk] : 0;
        // With part i of the forward, parts before i are freed: most at the first or at the last.
        const uint64_t last = added - std::min(added, freed * (parts - 1) / parts);
        peak = std::max(peak, held + std::max(added / parts, last));
        held += added;
        held -= freed;
    }
    return peak;
}

uint32_t
PeakInFlight(const PipelineShape& shape, uint32_t r)
{
    return static_cast<uint32_t>(
        PeakHeld(PipelineOrder(shape, r), std::vector<uint64_t>(shape.chunks, 1)));
}

} // namespace scaleacross
