// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LAYER_PATTERN_H
#define SCALEACROSS_LAYER_PATTERN_H

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// Which layers of a model are MoE layers, as ModelSpec::IsMoeLayer() has it.
struct MoePattern
{
    uint32_t leadingDense; //!< the first layers, which are dense whatever `every` says
    uint32_t every;        //!< behind them the layers n-1, 2n-1, ... from 0 are MoE
};

/**
 * Returns the pattern of a list that says for each layer whether it is a MoE layer, with the least
 * `every` and then the fewest leading layers; nothing if none fits or no layer is one.
 *
 * Worked cases: {0, 1, 1, 1} is {1, 1}, {0, 1, 0, 1} is {0, 2}, {0, 0, 0, 1, 0, 1} is {2, 2}; of
 * {1, 0, 1, 0} there is none.
 */
std::optional<MoePattern> MoePatternOf(const std::vector<bool>& isMoe);

/**
 * Returns n such that just the layers n-1, 2n-1, ... from 0 are not windowed, as
 * ModelSpec::fullAttentionEvery has it, and 0 if all are windowed; nothing if no n fits. At least
 * one layer is windowed.
 *
 * Worked cases: {1, 1, 1, 0} is 4, {1, 0, 1, 0} is 2, {1, 1} is 0; of {0, 0, 1, 1} there is none.
 */
std::optional<uint32_t> FullAttentionEvery(const std::vector<bool>& isWindowed);

} // namespace scaleacross

#endif // SCALEACROSS_LAYER_PATTERN_H
