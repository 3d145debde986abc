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
PeakHeld(const std::vector<PipelineAction>& order, const std::vector<uint64_t>& heldByChunk)
{
    uint64_t held = 0;
    uint64_t peak = 0;
    for (const auto& action : order)
    {
        if (const auto pass = ForwardOf(action))
        {
            held += heldByChunk[pass->chunk];
            peak = std::max(peak, held);
        }
        if (const auto pass = WeightGradientOf(action))
        {
            held -= heldByChunk[pass->chunk];
        }
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
