// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LIST_SCHEDULE_H
#define SCALEACROSS_LIST_SCHEDULE_H

#include "core/pipeline/pipeline-schedule.h"

#include <vector>

namespace scaleacross
{

/// What a rank of a list schedule prefers of what it could begin at the same time.
struct ListRule
{
    bool forwardFirst{false}; //!< a forward before an input gradient
    /// Of input gradients, that of the last chunk; else that of the oldest microbatch.
    bool lastChunkFirst{false};
};

/**
 * Orders by greedy list scheduling under a memory limit: in the order of time, every rank that is
 * free begins what it prefers of what has arrived. Of forwards that is always that of the last
 * chunk. Input gradients and forwards come before weight gradients, which free memory when forwards
 * lack it, and fill what would be idle where they are done before anything else arrives. Each chunk
 * takes the microbatches in turn; the backward is split.
 *
 * Memory: no rank holds more than `limit` microbatches of all its chunks. A forward is begun only
 * if afterwards the rank's microbatches could still be finished one after the other within the
 * limit (the banker's rule), so the ranks never wait for each other's memory: the oldest microbatch
 * can always go on.
 *
 * Domain: as CheckPipeline(); limit >= 1; times of all positions and boundaries.
 */
PipelineOrders ListSchedule(const PipelineShape& shape,
                            const PipelineTimes& times,
                            uint32_t limit,
                            const ListRule& rule);

/// The one of `known` orders and of the list schedules by all rules whose slowest rank takes the
/// least time from its first to its last action, of equals that with the least makespan.
PipelineOrders BestOrders(const PipelineShape& shape,
                          const PipelineTimes& times,
                          uint32_t limit,
                          std::vector<PipelineOrders> known = {});

/// All passes of one second and free transfers.
PipelineTimes UnitTimes(const PipelineShape& shape);

} // namespace scaleacross

#endif // SCALEACROSS_LIST_SCHEDULE_H
