// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_QUEUE_PAIR_SPREAD_H
#define SCALEACROSS_QUEUE_PAIR_SPREAD_H

#include "core/spec/network-plan.h"
#include "core/topology/cluster-paths.h"

namespace scaleacross
{

/// What messages of one connection that follow each other without a wait use of it.
struct QueuePairSpread
{
    double pairs{1};  //!< queue pairs
    double ports{1};  //!< share of the rate of the NIC's ports, and of the leaves' uplinks
    double planes{1}; //!< of what is above: both leaves of a dual ToR lead to the same spines
    double beside{1}; //!< messages that all queue pairs take at once, each on its own; 1 if split
    /// Writes of a message that are alike, and bytes of each; what is left of it is one more.
    double writes{1};
    double write{0};
};

/**
 * Of `messages` of so many bytes, whose segments go to the queue pairs in turn, queue pair i by
 * port i mod ports: until the port that has most bytes of them is done. The turn goes on from
 * message to message, so that any queue pair may be the first: the mean over them. Where messages
 * are split, into even parts of whole packets, the first part is always the first queue pair's.
 *
 * Worked cases: 3 queue pairs, 2 ports. Of 9 segments 6 are on the first port: 3/4 of the rate.
 * Of 2 segments one is on each port if the first queue pair or the second begins; if the third
 * does, both are on the first port: 4/3 in the mean, 2 / (2 x 4/3) = 3/4 of the rate. With two
 * queue pairs one and a quarter of a segment are 1 on one port: 1.25 / 2 = 5/8.
 */
QueuePairSpread SpreadOver(const QueuePairUse& use,
                           const FabricShape& shape,
                           double messages,
                           double messageBytes);

} // namespace scaleacross

#endif // SCALEACROSS_QUEUE_PAIR_SPREAD_H
