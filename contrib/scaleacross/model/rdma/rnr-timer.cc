// SPDX-License-Identifier: GPL-2.0-only

#include "rnr-timer.h"

namespace scaleacross
{

int64_t
RnrTimerPicoseconds(uint32_t code)
{
    // In units of 10 us.
    static constexpr int64_t kUnits[kRnrTimerCodes] = {
        65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
        48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
        2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return kUnits[code] * 10'000'000;
}

} // namespace scaleacross
