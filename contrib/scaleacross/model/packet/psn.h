// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PSN_H
#define SCALEACROSS_PSN_H

#include <cstdint>

namespace scaleacross
{

/**
 * Packet sequence numbers: 24 bits in the BTH and AETH, 64 bits in the state of both ends.
 *
 * Model: an end knows which PSN it stands at, and takes a number off the wire for the one nearest
 * to that whose low 24 bits it has. That is right as long as the two are at most 2^23 - 1 apart,
 * hence the limit on unacknowledged packets. A FabricPacket carries all 64 bits so that traces need
 * not guess; the ends look at 24 of them.
 *
 * Worked case: an end stands at 0x1000005 and receives 0xFFFFFE. The difference is -7 mod 2^24, so
 * 0xFFFFFE is meant, from before the wrap, and not 0x1FFFFFE.
 */
constexpr uint64_t kPsnSpace = uint64_t{1} << 24;

/// Half of the space: beyond it a receiver cannot tell new packets from old ones.
constexpr uint64_t kMostUnacked = kPsnSpace / 2 - 1;

/// What is in the header.
constexpr uint32_t
WirePsn(uint64_t psn)
{
    return static_cast<uint32_t>(psn & (kPsnSpace - 1));
}

/// The PSN nearest to `local` of which `wire` shows the low 24 bits; the other bits of `wire` have
/// no effect.
constexpr uint64_t
PsnNear(uint64_t wire, uint64_t local)
{
    const uint64_t ahead = (wire - local + kPsnSpace / 2) & (kPsnSpace - 1);
    return local + ahead - kPsnSpace / 2;
}

} // namespace scaleacross

#endif // SCALEACROSS_PSN_H
