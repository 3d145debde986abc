// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ORDER_WALK_H
#define SCALEACROSS_ORDER_WALK_H

#include "core/pipeline/pipeline-schedule.h"

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

/**
 * The earliest times of all actions: each starts once its rank is done with the one before and what
 * it needs has arrived, passes take their time and transfers theirs, with a network that nobody
 * shares. What a schedule uses to judge its orders; engines execute programs. Empty if ranks wait
 * for each other in a circle.
 *
 * Worked case: 1F1B, p = 2, m = 1, F = 1, I + W = 2, hop 1: forwards 0-1 and 2-3, backwards 3-5 and
 * 6-8; makespan 8, spans 8 and 3.
 */
std::optional<RankSpans> WalkOrders(const PipelineShape& shape,
                                    const PipelineOrders& orders,
                                    const PipelineTimes& times);

} // namespace scaleacross

#endif // SCALEACROSS_ORDER_WALK_H
