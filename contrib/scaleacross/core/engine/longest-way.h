// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LONGEST_WAY_H
#define SCALEACROSS_LONGEST_WAY_H

#include "core/engine/message-model.h"
#include "core/engine/transfer-cost.h"
#include "core/program/collective.h"
#include "core/topology/cluster-paths.h"

namespace scaleacross
{

/**
 * Of a ring with messages of so many bytes: the latencies of the way that takes longest, as many
 * edges in a row as there are steps; of a ring both ways in either direction.
 *
 * Of chunks in turn (Phase::inTurn) the share of one. Of a ring one way, n - 1 of its n edges: a
 * member goes on to the next chunk when the last part of this one has reached it, and so sends on
 * at the edge that this one has spared. All of them together are one way of inTurn (n - 1) edges in
 * a row, each edge of which n - 1 of n chunks pass. Both ways the longest may be there and back
 * again every time.
 *
 * Worked case: a ring of 4 over two buildings has latencies 0, L, 0, L. One chunk takes 2 L, four
 * take 6 L, and one of these 1.5 L.
 */
Duration LongestWayOfRing(const MessageModel& model,
                          const ClusterPaths& paths,
                          const Phase& phase,
                          Rank representative,
                          double message);

/// Of a double tree: the same up and down, and what passes first on every level but the lowest;
/// `inTurn`: one message, whoever else is on the queue pairs.
Duration LongestWayOfTree(const MessageModel& model,
                          const ClusterPaths& paths,
                          const Phase& phase,
                          Rank representative,
                          double message,
                          const TransferCost& volume,
                          bool inTurn);

} // namespace scaleacross

#endif // SCALEACROSS_LONGEST_WAY_H
