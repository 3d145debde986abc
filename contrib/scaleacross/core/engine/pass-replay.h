// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PASS_REPLAY_H
#define SCALEACROSS_PASS_REPLAY_H

#include "core/pipeline/pipeline-schedule.h"
#include "core/pipeline/pipeline-shape.h"
#include "core/pipeline/pipeline-times.h"

namespace scaleacross
{

/// How long after the beginning of an iteration of the first position's rank, in seconds.
struct ReplayedPasses
{
    double end{0};     //!< its last pass is done; 0 where that waits for what never comes
    double ofFirst{0}; //!< the last pass of the first position is
};

/**
 * LeastReplay() of a pipeline whose passes take what `times` says, by position, and whose messages
 * take its hops: from the first position's rank, without any program.
 *
 * Whatever stands before the first pass of that rank comes before all of this, for everything
 * follows from it.
 *
 * Domain: `orders` are of the shape, which no pass overlaps another in.
 *
 * Worked case: two stages, one microbatch, forward 1, backward 2, hops of 0.5: 1 + 0.5 + (1 + 2) +
 * 0.5 + 2 = 7.
 */
ReplayedPasses ReplayPasses(const PipelineShape& shape,
                            const PipelineOrders& orders,
                            const PipelineTimes& times);

} // namespace scaleacross

#endif // SCALEACROSS_PASS_REPLAY_H
