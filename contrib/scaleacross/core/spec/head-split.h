// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_HEAD_SPLIT_H
#define SCALEACROSS_HEAD_SPLIT_H

#include "core/base/errors.h"
#include "core/spec/model-spec.h"
#include "core/spec/software-stack.h"

#include <cstdint>
#include <optional>
#include <vector>

/// Which tensor-parallel degrees deal out the heads of a model, and why others do not.
namespace scaleacross
{

/**
 * Returns why `tp` ranks cannot deal out the heads, under the reason "heads", or nothing.
 *
 * tp has to divide the query heads a. It has to divide the KV heads g, too, or, where the software
 * repeats KV heads (SoftwareStack::repeatsKvHeads), be a multiple of them. Then a rank has a / tp
 * query heads and one KV head, which tp / g ranks have; its part of the joint projection of
 * queries, keys and values is (a + 2g) d / tp columns wide, which has to be a whole number.
 *
 * Worked case, 32 query heads and 4 KV heads of width 128: tp 1, 2 and 4 deal out both. tp 8, 16
 * and 32 repeat KV heads: with tp 8 a rank projects to 5,120 / 8 = 640 columns, and attends with 4
 * query heads to one KV head, which another rank has, too.
 */
std::optional<Infeasible> CheckHeads(const ModelSpec& model,
                                     const SoftwareStack& stack,
                                     uint32_t tp);

/// All degrees that CheckHeads() has nothing against, ascending.
std::vector<uint32_t> HeadSplits(const ModelSpec& model, const SoftwareStack& stack);

} // namespace scaleacross

#endif // SCALEACROSS_HEAD_SPLIT_H
