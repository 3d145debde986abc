// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KEPT_ACTIVATIONS_H
#define SCALEACROSS_KEPT_ACTIVATIONS_H

#include "core/spec/scenario.h"

#include <cstdint>

/// Bytes of activations that wait for backward, by layer.
namespace scaleacross
{

/// Tokens of one microbatch on one rank; the sequence is split by cp, and by tp outside of and
/// (by heads and widths) inside of attention and MLP.
double TokensPerRank(const JobSpec& job);

/**
 * Bytes that one layer saves per token of a rank for its backward, no dropout: attention's, input
 * of the second norm 2h, its output 2h, and the MLP's gate, up and product 6f (GELU: input and
 * output 4f). A MoE layer has k f_e + f_s for f, and the k dispatched copies 2kh, with expert
 * parallelism those of all etp ranks; the fullest rank has the workload's expert load times the
 * routed part. In a narrow precision the product (GELU: output), the dispatched copies and, without
 * a router, the norm's output take its operand's bytes an element. A module of multi-token
 * prediction has two norms more.
 *
 * After 2205.05198, which counts 34h for GELU with f = 4h, a d = h, g = a: this is 32h + 4a, the
 * two dropout masks (h each) less and the statistics more.
 */
double SavedPerToken(const JobSpec& job, uint32_t layer);

/// Bytes of these that the plan's recomputation of parts of layers drops. Core attention has
/// nothing to add: flash keeps no scores, and the log-sum-exp is what it makes them again from.
double DroppedPerToken(const JobSpec& job, uint32_t layer);

/// Bytes that wait for backward of a layer, the one with this index in its chunk, per token of a
/// rank: what is saved less what the plan computes again, and what that keeps in its place.
double KeptOfLayer(const JobSpec& job, uint32_t layer, uint32_t index);

/// Of these what ParallelPlan::offloadLayers sends to host memory, of all layers together. Domain:
/// no more than the model has.
double OffloadedPerToken(const JobSpec& job);

/// What the head keeps: the final norm's input and output, and the logits in BF16, which become
/// their gradient.
double HeadPerToken(const JobSpec& job);

} // namespace scaleacross

#endif // SCALEACROSS_KEPT_ACTIVATIONS_H
