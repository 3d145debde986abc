// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_ORDER_H
#define SCALEACROSS_FOREIGN_ORDER_H

#include "core/io/chakra/foreign-partners.h"
#include "core/io/chakra/foreign-trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// The nodes of one trace in an order that they can begin in: always the one with the lowest number
/// that waits for none of those behind it. A caller comes first unless it waits for what it calls,
/// as Chakra's converter has it of calls that synchronise. Throws ConfigError (where = path) for a
/// number that is given twice or that nobody has, and for nodes that wait for each other.
ForeignRank OrderNodes(std::vector<ForeignNode> nodes, const std::string& path);

/**
 * By rank, the places of its nodes in the order that its program has: whenever a rank has nothing
 * to do, it begins the first node in the order of OrderNodes() that waits for nothing, if what
 * ranks compute takes its time and communication next to none. Sends, and collectives that wait for
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

#endif // SCALEACROSS_FOREIGN_ORDER_H
