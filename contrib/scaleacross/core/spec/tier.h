// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIER_H
#define SCALEACROSS_TIER_H

#include <cstdint>

namespace scaleacross
{

/// How far apart two GPUs are.
enum class Tier : uint8_t
{
    Node,     //!< same server: scale-up network, no packets
    Leaf,     //!< one switch between
    Zone,     //!< leaf, spine, leaf, in a building that has aggregation switches above
    Building, //!< leaf, spine, leaf; or leaf, spine, aggregation, spine, leaf
    Cross     //!< over other sites' top switches
};

} // namespace scaleacross

#endif // SCALEACROSS_TIER_H
