// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_HEADROOM_H
#define SCALEACROSS_HEADROOM_H

#include "core/base/packet-format.h"

#include <cstdint>

namespace scaleacross
{

/// What decides how much a lossless ingress may still get after it has asked for a pause.
struct HeadroomInput
{
    int64_t delay{0};                //!< ps, one way
    uint64_t inRate{0};              //!< bit/s, of the neighbour's port
    uint64_t outRate{0};             //!< bit/s, at which the pause frame is sent
    uint32_t maxPacket{0};           //!< bytes on the wire
    uint32_t pauseFrames{1};         //!< that can be due at once: one per lossless priority
    uint32_t pauseSize{kPauseFrame}; //!< bytes on the wire
    int64_t responseTime{0};         //!< ps from the arrival of a pause to its effect
};

/**
 * Bytes that can still arrive after the packet that crossed the threshold, that packet included:
 *
 *   max + in * (wait + 2 delay + response) + max,
 *   wait = (max + frames * pause) / out
 *
 * The crossing packet; all that fits on the wire while the pause frame waits for the packet being
 * sent and for its own bits, travels, takes effect, and while the last bits sent before that travel
 * back; and the packet the neighbour is in the middle of. 64-bit arithmetic: 400 Gb/s over 100 km
 * (500 us) need 2 * 500 us * 50 GB/s = 50 MB.
 */
uint64_t HeadroomBytes(const HeadroomInput& input);

/**
 * Bytes that a lane's receive buffer of InfiniBand needs to keep the wire full: the headroom, with
 * credit packets in place of pause frames, and `update` bytes that are freed before the neighbour
 * is told of them; each packet takes whole blocks of 64 bytes, and so 63 more at most.
 */
uint64_t CreditBufferBytes(const HeadroomInput& input, uint64_t update);

} // namespace scaleacross

#endif // SCALEACROSS_HEADROOM_H
