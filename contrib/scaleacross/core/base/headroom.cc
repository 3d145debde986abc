// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/headroom.h"

#include <cmath>

namespace scaleacross
{

uint64_t
HeadroomBytes(const HeadroomInput& input)
{
    // Products of picoseconds and bits per second pass 2^64 (1 ms at 400 Gb/s is 4e20): seconds
    // first, in long double, and rounded up by a byte.
    long double out = static_cast<long double>(input.outRate) / 8;
    long double in = static_cast<long double>(input.inRate) / 8;
    uint64_t frames = static_cast<uint64_t>(input.pauseFrames) * input.pauseSize;
    long double wait = static_cast<long double>(input.maxPacket + frames) / out;
    long double travel =
        static_cast<long double>(input.delay) * 2e-12L + input.responseTime * 1e-12L;
    return 2 * static_cast<uint64_t>(input.maxPacket) +
           static_cast<uint64_t>(std::ceil(in * (wait + travel))) + 1;
}

uint64_t
CreditBufferBytes(const HeadroomInput& input, uint64_t update)
{
    const uint64_t bytes = HeadroomBytes(input) + update;
    return bytes + bytes * (kCreditBlock - 1) / input.maxPacket;
}

} // namespace scaleacross
