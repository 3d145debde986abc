// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROUNDS_H
#define SCALEACROSS_ROUNDS_H

#include "core/pipeline/pipeline-schedule.h"

#include <cstdint>
#include <optional>
#include <vector>

/// What the schedules in rounds of N microbatches per chunk have in common: rounds in turn, within
/// a round chunk by chunk, forwards from the first chunk and backwards from the last.
namespace scaleacross
{

/// N of a shape: `round`, or without one the rule of PyTorch's interleaved schedules: m / R in R =
/// max(1, m / p) rounds, which is p wherever p divides m. 0 if it does not divide m.
uint32_t RoundOf(const PipelineShape& shape);

/// The k-th pass of a rank.
PipelineAction RoundStep(Action action, uint32_t k, uint32_t round, uint32_t chunks);

/// `warmup` forwards, then one forward and one backward in turn, then the remaining backwards, of
/// `steps` passes each.
std::vector<PipelineAction> OneForwardOneBackward(uint32_t warmup,
                                                  uint32_t steps,
                                                  uint32_t round,
                                                  uint32_t chunks);

/// Rounds that are not between p and m, or do not divide m.
std::optional<Infeasible> CheckRounds(const PipelineShape& shape);

} // namespace scaleacross

#endif // SCALEACROSS_ROUNDS_H
