// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ORDER_WALK_H
#define SCALEACROSS_ORDER_WALK_H

#include "core/pipeline/pipeline-schedule.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// When each rank begins its first and ends its last action.
struct RankSpans
{
    std::vector<Duration> begin;
    std::vector<Duration> end;

    /// From the first action of any rank, at 0, to the last.
    Duration Makespan() const;

    /// Of the rank that takes longest from its own first to its own last action.
    Duration Longest() const;
};

/// When every action of every rank begins and ends.
struct ActionTimes
{
    std::vector<std::vector<Duration>> begin;
    std::vector<std::vector<Duration>> end;
};

/// Before which action of its rank every receive is posted, by MessageRow().
using ReceivePosts = std::vector<uint32_t>;

/// The row of what `position` receives for a microbatch: an activation if `forward`, else a
/// gradient.
size_t MessageRow(const PipelineShape& shape, bool forward, uint32_t position, uint32_t microbatch);

/**
 * The earliest times of all actions: each starts once its rank is done with the one before and what
 * it needs has arrived, passes take their time and transfers theirs. Messages of one rank to
 * another hold the way for what `times` says, and share the network with nobody else. What a
 * schedule uses to judge its orders; engines execute programs. Empty if ranks wait for each other
 * in a circle. `actions`: where to put the times of all actions.
 *
 * Worked case: 1F1B, p = 2, m = 1, F = 1, I + W = 2, hop 1: forwards 0-1 and 2-3, backwards 3-5 and
 * 6-8; makespan 8, spans 8 and 3.
 */
std::optional<RankSpans> WalkOrders(const PipelineShape& shape,
                                    const PipelineOrders& orders,
                                    const PipelineTimes& times,
                                    ActionTimes* actions = nullptr);

/**
 * The receives of a plan: each is posted before the last action that begins, by the walk of the
 * orders with `plan`, no later than its message is sent, and at the latest before the action that
 * needs it. In the plan a pass takes a picosecond at least. Domain: the orders do not wait in a
 * circle.
 *
 * Ranks whose messages wait for such receives, each behind those sent to the same rank before, do
 * not wait in a circle, however long anything takes: a message waits for its own pass, for messages
 * sent before it, and for passes that end in the plan no later than it is sent; and these for
 * messages that are sent earlier in the plan, by a pass at least.
 */
ReceivePosts PlannedReceives(const PipelineShape& shape,
                             const PipelineOrders& orders,
                             const PipelineTimes& plan);

} // namespace scaleacross

#endif // SCALEACROSS_ORDER_WALK_H
