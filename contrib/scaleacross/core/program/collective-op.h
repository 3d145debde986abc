// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_OP_H
#define SCALEACROSS_COLLECTIVE_OP_H

#include <cstdint>

namespace scaleacross
{

/// What the members of a group do together.
enum class CollectiveOp : uint8_t
{
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    SendReceive, //!< every member sends its buffer to the next one
    Dispatch,    //!< tokens to their experts, which are spread over the members
    Combine      //!< what the experts made of them back, added up
};

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_OP_H
