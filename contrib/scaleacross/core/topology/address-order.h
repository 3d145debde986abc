// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ADDRESS_ORDER_H
#define SCALEACROSS_ADDRESS_ORDER_H

#include "core/topology/switch-routes.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * The switches with NICs in the order in which NICs are best given addresses: whoever can be
 * reached over the same switches stands together, at every tier.
 *
 * The height of a switch is its distance from the nearest one with NICs. Above a leaf are the
 * neighbours of height 1, above those their neighbours of height 2, and so on. Leaves are sorted by
 * what is above them, the highest tier first (so by building, then zone), where equal sets stand
 * together in the order of their first leaf; leaves under the same switches keep their order.
 * Whether wires are up does not matter. Any other order gives correct, longer tables.
 */
std::vector<uint32_t> AddressOrder(const SwitchGraph& graph);

/**
 * By what each switch divides addresses before it takes one modulo the number of its ports
 * (destination modulo k): 1 for leaves, and for a switch of height h the
 * product of the numbers of links up that switches of heights 0 to h - 1 have, the largest of each
 * height. So two destinations that differ at a stage take different ports there only if the stages
 * below have not told them apart already.
 *
 * Worked case: leaves with 2 links up, and switches above them with 3: 1, 2, and 6 at the top.
 */
std::vector<uint32_t> AddressDivisors(const SwitchGraph& graph);

} // namespace scaleacross

#endif // SCALEACROSS_ADDRESS_ORDER_H
