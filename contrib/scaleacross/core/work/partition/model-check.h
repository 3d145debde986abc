// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_CHECK_H
#define SCALEACROSS_MODEL_CHECK_H

#include "core/base/errors.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <optional>

namespace scaleacross
{

/**
 * What a sequence has to be a multiple of.
 *
 * With sequence parallelism, and in front of experts, each rank of tp has an equal share of the
 * tokens: t = tp, otherwise t = 1. With context parallelism a rank has two pieces of equal length
 * of every sequence, 2 cp in all, so that causal attention is as much work on each rank. Then it is
 *
 *     cp lcm(2, t), or 2 cp t where the software deals out each piece (SoftwareStack::evenHalves),
 *
 * and without context parallelism t. Megatron Core 0.16 checks 2 cp in arguments.py, and t in every
 * reduce-scatter of sequence parallelism (tensor_parallel/mappings.py), of the s / cp tokens that a
 * rank of cp has; TorchTitan checks 2 cp tp in trainer.py.
 *
 * Worked case, tp = 4 and cp = 2: 8 with Megatron Core, whose ranks have two pieces of 2 tokens and
 * share these 4; 16 with TorchTitan; 4 without sequence parallelism.
 */
uint64_t SequenceDivisor(const JobSpec& job);

/**
 * Whether the degrees of a plan divide what they deal out of its model and sequence. Infeasible:
 *
 * - "heads": what CheckHeads() says;
 * - "recompute": alternate linear layers are done again (RecomputedParts::linears) where KV heads
 *   are repeated. No software has both, so it is not defined what would be gathered again;
 * - "sequence": it is no multiple of SequenceDivisor();
 * - "ffn": tp does not divide the width of dense MLPs or shared experts, or the ranks that an
 *   expert is split over do not divide its width;
 * - "layers": no layer is left that is not offloaded;
 * - "experts": ep does not divide the experts, or it or etp is given for a model without any.
 *
 * Embedding and head may have any vocabulary: software pads it to a multiple of tp.
 */
std::optional<Infeasible> CheckModel(const JobSpec& job);

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_CHECK_H
