// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PIPELINE_ORDER_H
#define SCALEACROSS_PIPELINE_ORDER_H

#include "core/pipeline/pipeline-schedule.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// Why a shape has no schedule ("schedule": chunks with a one-chunk schedule, m not divisible by
/// the rounds, ...), or nothing.
std::optional<Infeasible> CheckPipeline(const PipelineShape& shape);

/// The actions of rank r, in order. Domain: CheckPipeline(shape) has nothing to say, r <
/// shape.ranks.
std::vector<PipelineAction> PipelineOrder(const PipelineShape& shape, uint32_t r);

/// Bytes (or any other weight) that a rank holds at most while it runs `order`, of which a
/// microbatch keeps heldByChunk[c] for chunk c: a forward adds, the backward, or the W of a split
/// backward, frees. An overlapped pair does both in `parts` equal parts by turns, a part of the
/// forward first. Domain: parts >= 1.
uint64_t PeakHeld(const std::vector<PipelineAction>& order,
                  const std::vector<uint64_t>& heldByChunk,
                  uint32_t parts = 1);

/// The greatest number of microbatch-chunks whose activations rank r holds at once.
uint32_t PeakInFlight(const PipelineShape& shape, uint32_t r);

} // namespace scaleacross

#endif // SCALEACROSS_PIPELINE_ORDER_H
