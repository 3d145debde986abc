// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STEADY_STATE_H
#define SCALEACROSS_STEADY_STATE_H

#include "core/engine/arrivals.h"
#include "core/engine/evaluator-state.h"
#include "core/engine/state-words.h"
#include "core/engine/steady-groups.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace scaleacross::evaluation
{

/// What a period adds to a class's sums.
struct PeriodGain
{
    Totals from; //!< at its begin
    Totals until;
    PeriodArrivals arrivals;
};

/**
 * A group of classes, and what is known of its steady part in the current iteration.
 *
 * In the middle of an iteration all classes of a group do the same again and again with later
 * microbatches (Repetition). What they do next, and when, follows from their state: where their
 * programs are, what they wait for, what is under way and how far it is, what lies in the mail and
 * in queues, with all times counted from now and all messages from the microbatch that the group
 * has come to. Times are whole picoseconds, and what is kept as a double follows from such
 * differences by the same operations in the same order. So if that state at a time t is what it was
 * at t - T, when all programs were k periods less far, the time from t to t + T is that from t - T
 * to t again, operation by operation: all is T later, messages are those of k periods later, and
 * every sum grows by as much as it has grown since t - T. This holds again at t + T, as long as the
 * programs repeat themselves. So n such periods from t on can be left out, for whole n: clocks and
 * all that has a time advance by n T, programs by n k periods, sums by n times what they have grown
 * by. No result differs from that of executing them, not by a picosecond.
 *
 * A state is looked at whenever the first class of the group begins the forward of a mark
 * (ProgramRepetition::mark). Of the last kRemembered marks only a hash is kept: a state whose hash
 * was there n marks before is kept as a whole, and has repeated itself if the one n marks later is
 * the same, word for word. It repeats once what holds all others up has made them wait for it: in
 * 1F1B usually within some times the depth of the pipeline. A class that gains on another by a
 * little per microbatch has to fill what may be between them first, until when nothing is left out.
 *
 * Groups do not act on each other while the programs of both repeat themselves, whose periods may
 * be unlike: replicas on unlike GPUs. Each then goes on by its own n, and none beyond the time at
 * which the first of them leaves its steady part, so that nothing that happens then meets what has
 * been left out. A period counts only if it began when all groups had come to theirs: until then
 * the rest of another's unsteady part, such as a reduction, may have held it up on a cut. What is
 * between groups from before, such as a reduction that waits for another replica, stays as it is:
 * if it moved, the states of those whose it is would not repeat. A group all classes of which wait
 * for others without anything under way does nothing until another acts on it, and stays as it is,
 * too.
 *
 * Worked case: two groups, T = 4 ms and 3 ms, which have come so far that 100 and 120 periods are
 * left at the same time t. The second ends first, at t + 360 ms: the first goes on by 90 periods,
 * the second by 120.
 */
struct SteadyState
{
    static constexpr size_t kRemembered = 4096;

    /// A group's state at a mark.
    struct Seen
    {
        uint32_t mark{0}; //!< how many there were before in this iteration
        Duration at;
        StateWords words;
        std::vector<Totals> totals; //!< by class
        std::vector<uint64_t> used; //!< FluidNetwork::UsedUnits(), by cut
    };

    SteadyGroup group;
    uint32_t mark{0};            //!< the number of the last one that was passed in this iteration
    std::deque<uint64_t> hashes; //!< of the states at the marks before, without a gap
    std::optional<Seen> whole;   //!< one of them whose hash had been there before
    uint32_t expected{0};        //!< marks after which that may be seen again

    Duration first;                //!< begin of the first period that was found in this iteration
    Duration from;                 //!< begin of the period from which `gains` are
    Duration period;               //!< T; 0: not known
    uint32_t marks{0};             //!< k
    std::vector<PeriodGain> gains; //!< by class
    std::vector<uint64_t> used;    //!< what a period uses of each cut
};

} // namespace scaleacross::evaluation

#endif // SCALEACROSS_STEADY_STATE_H
