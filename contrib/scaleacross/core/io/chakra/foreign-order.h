// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_ORDER_H
#define SCALEACROSS_FOREIGN_ORDER_H

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

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_ORDER_H
