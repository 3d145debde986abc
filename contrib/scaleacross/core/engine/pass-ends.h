// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PASS_ENDS_H
#define SCALEACROSS_PASS_ENDS_H

#include "core/engine/least-units.h"
#include "core/pipeline/pipeline-times.h"
#include "core/work/collectives/parameter-units.h"

#include <vector>

namespace scaleacross
{

/// What passes of a position do after its last gather and before its first reduction (PassWindow).
struct WindowEnds
{
    Duration left;      //!< of a forward, after the last gather that it awaits
    Duration weights;   //!< of a pass with nothing but weight gradients, before its reductions
    Duration backwards; //!< of a backward in one piece likewise
};

/**
 * Of a position that has layers, embedding or head: at least this.
 *
 * The last unit forward is the first one backward. Its dense parameters are awaited before its
 * pieces, and its gradients are reduced after the last of these backward; experts are awaited, and
 * reduced, somewhere in a layer, of which nothing is counted then.
 *
 * @param pieces and units as EndsOf() has them
 *
 * Worked case: a layer and a head, units of their own, of which the layer has experts: all of the
 * head's passes. Joined to one unit: nothing forward, backward the head's.
 */
WindowEnds WindowEndsOf(const std::vector<PassTimes>& pieces,
                        const std::vector<ParameterUnit>& units);

/// What of an iteration stands before and behind the passes of its first position, in seconds.
struct PassEnds
{
    double first{0}; //!< by how much the first forward pass is longer, for what it gathers
    double last{0};  //!< what comes after the last backward pass
    /// All gathers of the first position's rank, one after the other on their stream.
    double gathers{0};
    /// All of its reductions likewise, beside the gathers.
    double reductions{0};
};

/**
 * What gathers and reductions add, at least, to the first forward and the last backward pass of a
 * position: `first` and `last`.
 *
 * Gathers follow each other from the beginning of the iteration, a unit's dense parameters before
 * its experts; a unit's forward waits for the former, and is not over before the latter are there.
 * A unit's experts are reduced after some of the backward of its first piece, its dense parameters
 * after all of it, one reduction after the other; the iteration waits for all. Where weight
 * gradients are a pass of their own, they are reduced later.
 *
 * @param pieces embedding, layers and head in order of forward; their sum is that of the units'
 *               `pieces`
 * @param times by unit
 *
 * Worked case: two units of a layer each, forward 2, backward 4, gathers of 3, reductions of 5. The
 * first is gathered at 3 and done at 5, the second gathered at 6 and done at 8: 4 more than 2 + 2.
 * Backward the second is done at 4 and reduced at 9, the first done at 8 and reduced at 14: 6 more
 * than 4 + 4.
 */
PassEnds EndsOf(const std::vector<PassTimes>& pieces,
                const std::vector<ParameterUnit>& units,
                const std::vector<UnitTimes>& times);

} // namespace scaleacross

#endif // SCALEACROSS_PASS_ENDS_H
