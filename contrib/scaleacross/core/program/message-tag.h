// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MESSAGE_TAG_H
#define SCALEACROSS_MESSAGE_TAG_H

#include <cstdint>

namespace scaleacross
{

// Tags. Pipeline messages: bit 63 and the message number; the credit of their receive: bit 62, too.
// Collectives: stream, whether other classes take part, instance, chunk, phase, input of the
// receiver and number in it, which together name the sender to the receiver. Instances are counted
// modulo 2^15: ranks are never so many collectives apart.
constexpr uint64_t kPipelineBit = 1ULL << 63;
constexpr uint64_t kCreditBit = 1ULL << 62;
constexpr uint32_t kStreamShift = 59;
constexpr uint32_t kInstanceShift = 43;
constexpr uint64_t kInstanceMask = 0x7fff;
constexpr uint32_t kJoinedShift = 58;
constexpr uint32_t kChunkShift = 30;
constexpr uint64_t kChunkMask = 0x1fff;
constexpr uint32_t kPhaseShift = 23;
constexpr uint32_t kInputShift = 20;
constexpr uint64_t kFlowMask = (1ULL << kPhaseShift) - 1;

} // namespace scaleacross

#endif // SCALEACROSS_MESSAGE_TAG_H
