// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_HELD_BYTES_H
#define SCALEACROSS_HELD_BYTES_H

#include <cstdint>

namespace scaleacross
{

/// Packets of one ingress of a switch that wait in one of its egress queues.
struct HeldBytes
{
    uint32_t ingress;
    uint8_t lane; //!< priority with which they came in: another one only with a LaneMap
    uint32_t egress;
    uint8_t priority; //!< of the queue
    uint64_t bytes;
    uint64_t blocks; //!< of credits
};

} // namespace scaleacross

#endif // SCALEACROSS_HELD_BYTES_H
