// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PIPELINE_ORDER_H
#define SCALEACROSS_PIPELINE_ORDER_H

#include "core/base/errors.h"
#include "core/program/program.h"
#include "core/spec/parallel-plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// Dimensions of a pipeline schedule.
struct PipelineShape
{
    Schedule schedule{Schedule::OneFOneB};
    uint32_t ranks{1};        //!< p
    uint32_t microbatches{1}; //!< m
    uint32_t chunks{1};       //!< v per rank
    /// N of DoraPP, p <= N <= m, dividing m. 0: m / max(1, m / p), which is p where p divides m.
    uint32_t round{0};
};

/// One step of a rank's pipeline: what to do to which model chunk for which microbatch.
struct PipelineAction
{
    Action action{Action::Forward};
    uint16_t chunk{0};
    uint16_t microbatch{0};
};

/// Why a shape has no schedule ("schedule": chunks with a one-chunk schedule, m not divisible by
/// the rounds, ...), or nothing.
std::optional<Infeasible> CheckPipeline(const PipelineShape& shape);

/// The actions of rank r, in order. Domain: CheckPipeline(shape) has nothing to say, r <
/// shape.ranks.
std::vector<PipelineAction> PipelineOrder(const PipelineShape& shape, uint32_t r);

/// The greatest number of microbatch-chunks whose activations rank r holds at once, computed by
/// walking its order (a forward adds one; the backward, or the W of a split backward, frees one).
uint32_t PeakInFlight(const PipelineShape& shape, uint32_t r);

/// The same, with a weight (such as bytes) for what each chunk of the rank holds per microbatch.
uint64_t PeakHeld(const PipelineShape& shape, uint32_t r, const std::vector<uint64_t>& heldByChunk);

/// Global position of chunk c of rank r along the model: c p + r.
constexpr uint32_t
VirtualStage(const PipelineShape& shape, uint32_t r, uint32_t chunk)
{
    return chunk * shape.ranks + r;
}

} // namespace scaleacross

#endif // SCALEACROSS_PIPELINE_ORDER_H
