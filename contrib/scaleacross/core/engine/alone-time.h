// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ALONE_TIME_H
#define SCALEACROSS_ALONE_TIME_H

#include "core/engine/transfer-cost.h"
#include "core/program/collective.h"

#include <cstdint>
#include <functional>

namespace scaleacross
{

/**
 * Time of a collective of one class that has ports and cuts to itself, as the evaluator has it:
 * its convoys (Convoys) are volumes of a FluidNetwork that share ports and cuts where they are in
 * different phases, each followed by its latency. Of a collective that is not cut into chunks the
 * sum of TransferCost::Alone() over its phases.
 *
 * It is not CollectiveSeconds(), an estimate without contention of the phases among each other.
 *
 * Worked case: two phases, each 3 s of the same port, no latency, two chunks, one channel: the
 * first chunk leaves phase 0 after 3 s; then both share the port for 6 s; then the second has it
 * for 3 s: 12 s, the port is never idle.
 *
 * @param costOf the cost of a phase of one chunk; addresses must stay valid during the call.
 * @param delay added to the latency of the last convoy's last phase.
 * @param cuts one more than the highest cut in any of the costs.
 */
Duration AloneTime(const Collective& collective,
                   const std::function<const TransferCost&(uint32_t phase)>& costOf,
                   Duration delay,
                   uint32_t cuts);

} // namespace scaleacross

#endif // SCALEACROSS_ALONE_TIME_H
