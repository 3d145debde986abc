// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LEAST_REPLAY_H
#define SCALEACROSS_LEAST_REPLAY_H

#include "core/program/program.h"

#include <cstdint>
#include <functional>

namespace scaleacross
{

/// The least that what a class does can take, in seconds.
struct LeastTimes
{
    std::function<double(uint32_t classId, uint32_t body)> body;
    std::function<double(uint32_t classId, uint32_t collective)> collective;
    /// Of a message to the class from the rank that is `peer` further on.
    std::function<double(uint32_t classId, int32_t peer, Bytes)> message;
};

/**
 * The longest chain of what must follow each other from the beginning of an iteration of a class to
 * its end: no steady state has a shorter period.
 *
 * Programs are replayed once, in their order, as a max-plus recurrence: the class begins at 0, all
 * others, its streams and all that was under way at minus infinity, so that nothing counts but what
 * follows from the class's own beginning. What a class does begins when it has done what is before
 * it; a receive ends no sooner than the message was posted plus its time; a collective begins when
 * it is posted and the one before it on its stream is done, and a wait ends no sooner than it.
 *
 * Why it is a bound: let x(k) be the times at which classes begin iteration k. In any run x(k+1) >=
 * A (x) x(k), entry (c, c) of A being this chain, because every operation takes at least its least
 * time and begins no sooner than said. So x_c(k+1) - x_c(k) >= A_cc for every k. To begin all
 * classes at 0 would not do: a class may begin an iteration long after another.
 *
 * Worked case: two stages, one microbatch, forward 1, backward 2, hops of 0.5, optimizer 0. From
 * stage 0: 1 + 0.5 + (1 + 2) + 0.5 + 2 = 7. From stage 1: its own 3, which wait for nothing.
 *
 * A body counts by its time, or operation by operation where it has to do with gathers and
 * reductions, which others post or await. 0 where the class never ends, for want of a message.
 */
double LeastReplay(const TaskGraph& graph, uint32_t classId, const LeastTimes& times);

} // namespace scaleacross

#endif // SCALEACROSS_LEAST_REPLAY_H
