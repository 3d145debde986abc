// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PASS_REPLAY_H
#define SCALEACROSS_PASS_REPLAY_H

#include "core/pipeline/pipeline-schedule.h"
#include "core/pipeline/pipeline-shape.h"
#include "core/pipeline/pipeline-times.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What passes and messages of a pipeline take where a rank has nothing else to do.
struct ReplayTimes
{
    std::vector<PassTimes> passes; //!< by position, each by itself
    std::vector<Duration> hops;    //!< by boundary, either way
    /// Of a forward and a backward that overlap (ForwardBackward): by rank, chunk forward and chunk
    /// backward, (r v + c) v + b. Empty: both one after the other.
    std::vector<Duration> pairs{};
};

/// How long after the beginning of an iteration of the first position's rank, in seconds.
struct ReplayedPasses
{
    double end{0};     //!< its last pass is done; 0 where that waits for what never comes
    double ofFirst{0}; //!< the last pass of the first position is
};

/**
 * LeastReplay() of a pipeline whose passes take what `times` says and whose messages take its hops:
 * from the first position's rank, without any program. Passes that overlap begin together, and give
 * on what both made when both are done.
 *
 * Whatever stands before the first pass of that rank comes before all of this, for everything
 * follows from it.
 *
 * Domain: `orders` are of the shape.
 *
 * Worked case: two stages, one microbatch, forward 1, backward 2, hops of 0.5: 1 + 0.5 + (1 + 2) +
 * 0.5 + 2 = 7.
 */
ReplayedPasses ReplayPasses(const PipelineShape& shape,
                            const PipelineOrders& orders,
                            const ReplayTimes& times);

/// Where the part of an iteration begins and ends in which nothing is gathered or reduced: after a
/// moment of the first forward of a position, before a moment of the last pass of a position that
/// makes weight gradients.
struct PassWindow
{
    uint32_t position{0}; //!< in whose first forward it begins
    Duration left;        //!< of that forward, behind the beginning
    /// By position, from the beginning of its last pass with weight gradients to its first
    /// reduction: of a weight gradient that is a pass of its own, and of a backward in one piece.
    std::vector<Duration> weights;
    std::vector<Duration> backwards;
};

/**
 * The least time from the beginning of a window to its end at any position, in seconds, by the
 * recurrence of ReplayPasses(): LeastUntilPosted() without any program. Less than 0 where an end
 * does not wait for the beginning.
 *
 * Domain: `window` has all positions.
 *
 * Worked case: two stages, four microbatches, forward 1 and backward 2, no hops. From the first
 * forward of the last stage, of which all is left, to its first reduction at the end of its last
 * backward: 4 (1 + 2) = 12. The first stage's last backward begins then, and is done at 14.
 */
double ReplayWindow(const PipelineShape& shape,
                    const PipelineOrders& orders,
                    const ReplayTimes& times,
                    const PassWindow& window);

} // namespace scaleacross

#endif // SCALEACROSS_PASS_REPLAY_H
