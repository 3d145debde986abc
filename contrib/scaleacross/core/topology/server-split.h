// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SERVER_SPLIT_H
#define SCALEACROSS_SERVER_SPLIT_H

#include "core/program/rank-group.h"
#include "core/topology/rank-layout.h"

#include <cstdint>

namespace scaleacross
{

/**
 * How a group lies over servers: equally many members on each.
 *
 * Where the end of a server cuts one of its axes unevenly, each member counts as on a server of its
 * own.
 *
 * Worked case: axis {2, 8} with 8 GPUs per server: inner {2, 4}, outer {8, 2}, 2 servers of 4
 * members.
 */
struct ServerSplit
{
    ServerSplit(const RankGroup& group, const RankLayout& layout);

    RankGroup inner; //!< members of one server
    RankGroup outer; //!< equal positions of all servers

    uint32_t Servers() const
    {
        return outer.Size();
    }
};

} // namespace scaleacross

#endif // SCALEACROSS_SERVER_SPLIT_H
