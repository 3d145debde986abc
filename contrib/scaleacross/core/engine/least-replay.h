// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LEAST_REPLAY_H
#define SCALEACROSS_LEAST_REPLAY_H

#include "core/program/program.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace scaleacross
{

/// The least that what a class does can take, in seconds.
class LeastTimes
{
  public:
    virtual ~LeastTimes() = default;

    /// A body beside which no gather and no reduction is under way.
    virtual double OfBody(uint32_t classId, uint32_t body) = 0;
    virtual double OfCollective(uint32_t classId, uint32_t collective) = 0;

    /// A message from the class to the rank that is `peer` further on.
    struct Message
    {
        double volume{0};  //!< for which the next one to the same rank waits
        double latency{0}; //!< after it
    };

    virtual Message OfMessage(uint32_t classId, int32_t peer, Bytes bytes) = 0;

    /// What a collective takes from computing while it is under way, as a fraction.
    virtual double TakenBy(uint32_t /* classId */, uint32_t /* collective */)
    {
        return 0;
    }
};

/**
 * The longest chain of what must follow each other from the beginning of an iteration of a class to
 * its end: no steady state has a shorter period.
 *
 * Programs are replayed once, in their order, as a max-plus recurrence: the class begins at 0, all
 * others, its streams and all that was under way at minus infinity, so that nothing counts but what
 * follows from the class's own beginning. What a class does begins when it has done what is before
 * it; a message leaves when it is posted and those before it to the same rank have left; a
 * collective begins when it is posted and the one before it on its stream is done, and a wait ends
 * no sooner than it. Computing beside collectives goes on with what these leave of it.
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
 * reductions, which others post or await, and where such are under way beside it. 0 where the class
 * never ends, for want of a message.
 */
double LeastReplay(const TaskGraph& graph, uint32_t classId, LeastTimes& times);

/// A moment in the program of a class.
struct ProgramPoint
{
    size_t op{0}; //!< of the program, which has not begun
    /// Of the body that the operation runs: this one is done; none: not even the body has begun.
    std::optional<size_t> inBody;
};

bool operator<(const ProgramPoint& a, const ProgramPoint& b);

/**
 * From when a class is at a point of an iteration to when, in the same one, the first collective of
 * all that `isLate` is true of is posted, in seconds: at least this, by the recurrence of
 * LeastReplay. Less than 0 where one may be posted that does not wait for that point, or none ever
 * is.
 *
 * Of classes that no message joins with it, directly or through others, nothing is asked.
 */
double LeastUntilPosted(const TaskGraph& graph,
                        uint32_t classId,
                        const ProgramPoint& from,
                        const std::function<bool(uint32_t classId, const Op&)>& isLate,
                        LeastTimes& times);

/// The class and those that messages join with it, directly or through others, ascending.
std::vector<uint32_t> ReachedFrom(const TaskGraph& graph, uint32_t classId);

/// Whether a body has to do with gathers or reductions, which others post or await.
bool IsOpen(const std::vector<Op>& body);

} // namespace scaleacross

#endif // SCALEACROSS_LEAST_REPLAY_H
