// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RNR_TIMER_H
#define SCALEACROSS_RNR_TIMER_H

#include <cstdint>

namespace scaleacross
{

/// Codes of the receiver-not-ready timer in an AETH: 5 bits.
constexpr uint32_t kRnrTimerCodes = 32;

/// RnrRetryCount of this value has no end, as in the standard.
constexpr uint32_t kEndlessRnrRetries = 7;

/// How long, in ps, a sender waits after a receiver-not-ready NAK with this code (InfiniBand
/// Architecture Specification, volume 1, encoding of the RNR NAK timer field): 0.01 ms for 1 up to
/// 491.52 ms for 31, and 655.36 ms for 0. Domain: code < kRnrTimerCodes.
int64_t RnrTimerPicoseconds(uint32_t code);

} // namespace scaleacross

#endif // SCALEACROSS_RNR_TIMER_H
