// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ALONE_REPLAY_H
#define SCALEACROSS_ALONE_REPLAY_H

#include "core/engine/class-costs.h"
#include "core/program/program.h"

#include <cstdint>

namespace scaleacross
{

/**
 * What an iteration takes at least where nothing that classes send gets into another's way (rung
 * 1.5): LeastReplay from a class, which tells most of stage 0, and in which
 *  - a body takes what it does alone (ClassCosts::OfBody);
 *  - a gather or a reduction takes what it does with ports and cuts to itself, with its latencies
 *    and chunks (ClassCosts::AloneTime);
 *  - a message takes its time on the ports, for which the next one waits, and its latency; of the
 *    cuts on its way it may find its turns done already (FluidNetwork::Start), so that they do not
 *    count;
 *  - computing beside gathers and reductions goes on with what these leave.
 *
 * It is below the analytical engine's time, which knows of no resource more than these and adds
 * what they share, but not below another engine's. In seconds; not rounded.
 */
double AloneReplay(const TaskGraph& graph, uint32_t classId, ClassCosts& costs);

} // namespace scaleacross

#endif // SCALEACROSS_ALONE_REPLAY_H
