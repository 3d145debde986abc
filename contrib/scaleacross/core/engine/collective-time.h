// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_TIME_H
#define SCALEACROSS_COLLECTIVE_TIME_H

#include "core/engine/network-model.h"
#include "core/program/collective.h"
#include "core/work/collectives/lowering.h"

#include <cstdint>
#include <functional>

namespace scaleacross
{

/**
 * Time of a collective that has ports and cuts to itself, in seconds.
 *
 * Whole: the sum of its phases. In q chunks: the first goes through all phases, and the others
 * follow at the pace of what is slowest, sum t_i + (q-1) max(port, cut, t_i / c_i), with t_i the
 * time of a chunk in phase i, c_i the chunks that may be in it at once, and port and cut the times
 * for which a chunk occupies the fullest of each in all of its phases. Where every phase has a
 * resource of its own and no latency this is T_max + sum of the other T_i / q, with T_i = q t_i.
 *
 * In chunks that stream: of those behind the first each waits for the one that has to leave phase i
 * before it, (q-1) / c_i of them (rounded down) one behind the other, and those between follow at
 * the pace of ports and cuts; or all wait for the slots that they share (SlotUse). Where messages
 * of the first and the last phase are posted at once, as all-to-alls are, their chunks do not wait
 * for each other: q port or more in all, and else the pace of the fullest in one phase.
 *
 * Either way the launch comes before.
 *
 * Worked case: three phases of 3, 5 and 3 ms on NVLink, NIC and NVLink, four channels and chunks:
 * 11 / 4 + 3 max(5 / 4, 6 / 4) = 7.25 ms instead of 11.
 *
 * @param costOf the cost of a phase of one chunk, given its number among the phases.
 */
double CollectiveSeconds(const Collective& collective,
                         const std::function<const TransferCost&(uint32_t phase)>& costOf);

/**
 * What `collective: auto` goes by: CollectiveSeconds() by the scenario's NetworkModel, for
 * the groups of the first stage; of those that reach into different buildings the slowest, phase by
 * phase. Empty with another algorithm. Not to be shared between threads.
 *
 * Scenario and layout must outlive it. Throws ConfigError as NetworkFacts does.
 */
CollectiveTimer TimerOf(const Scenario& scenario, const RankLayout& layout);

/// A phase of the largest of a collective's chunks, with how many follow each other through it.
Phase LargestChunkOf(const Collective& collective, uint32_t phase);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_TIME_H
