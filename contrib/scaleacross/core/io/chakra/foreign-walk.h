// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_WALK_H
#define SCALEACROSS_FOREIGN_WALK_H

#include "core/io/chakra/foreign-partners.h"
#include "core/io/chakra/foreign-trace.h"
#include "core/program/program.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * By rank, the places of its nodes in the order that its program has: whenever a rank has nothing
 * to do, it begins the first node in the order of OrderNodes() that waits for nothing, if what
 * ranks compute takes its time (without one that of 1e15 FLOP/s or 3e12 B/s) and communication
 * next to none. Sends, and collectives that wait for
 * computations, come before anything else is computed. All members have the collectives of a group
 * in the same order: in that of their numbers where groups share a stream (by operation), else as
 * the members come to them.
 *
 * Throws ConfigError (where = path) if no rank can go on, with who waits for what.
 */
std::vector<std::vector<uint32_t>> InOrder(const std::vector<ForeignRank>& ranks,
                                           const ForeignPartners& partners,
                                           const std::vector<Stream>& streams);

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_WALK_H
