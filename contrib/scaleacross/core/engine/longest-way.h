// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LONGEST_WAY_H
#define SCALEACROSS_LONGEST_WAY_H

#include "core/engine/message-model.h"
#include "core/engine/transfer-cost.h"
#include "core/program/collective.h"
#include "core/topology/cluster-paths.h"

namespace scaleacross
{

/// Of a ring both ways with messages of so many bytes: the latencies of the way that takes longest,
/// as many edges in a row as there are steps.
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
