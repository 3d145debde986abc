// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARTITION_H
#define SCALEACROSS_PARTITION_H

#include <cstdint>
#include <functional>
#include <vector>

namespace scaleacross
{

/// Cost of items first .. end-1 as part `part`; at least 0, and not less for more items.
using PartCost = std::function<double(uint32_t part, uint32_t first, uint32_t end)>;

/**
 * Divides a sequence into consecutive parts, none of them empty, so that the greatest cost of a
 * part is least, and among those so that the sum of their squares is. Exact, by dynamic
 * programming: costs are asked for twice of every beginning and of every length that no even
 * division exceeds, parts x items^2 / 2 at most.
 *
 * Gives the end of every part. Domain: 1 <= parts <= items.
 *
 * Worked case: 6 items of cost 1, 1, 1, 1, 1, 3 in three parts: {2, 5, 6}, costs 2, 3, 3; or {3, 5,
 * 6}, costs 3, 2, 3: equal in both, so the first part is kept short.
 */
std::vector<uint32_t> Partition(uint32_t items, uint32_t parts, const PartCost& cost);

/**
 * Numbers n_i >= least, multiples of `least`, with sum of weight_i x n_i = total, so that the
 * greatest cost(i, n_i) is least; empty if there are none. Cost grows with the number.
 *
 * Of equal choices the later ones are kept small. Time about 60 x count of weights x u log(u) / 64
 * with u = total / (least x greatest common divisor of the weights).
 */
std::vector<uint32_t> DealOut(uint32_t total,
                              const std::vector<uint32_t>& weights,
                              uint32_t least,
                              const std::function<double(uint32_t i, uint32_t n)>& cost);

} // namespace scaleacross

#endif // SCALEACROSS_PARTITION_H
