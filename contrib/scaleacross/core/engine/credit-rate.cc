// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/credit-rate.h"

#include <algorithm>

namespace scaleacross
{

namespace
{
constexpr uint64_t kBlock = 64;
constexpr uint64_t kUpdateBlocks = 132;
constexpr Bytes kCreditPacket(8);
} // namespace

double
CreditShare(Bytes credits, Bytes packet, BitRate rate, Duration delay)
{
    const uint64_t blocks = (packet.Count() + kBlock - 1) / kBlock;
    const uint64_t packets = credits.Count() / (blocks * kBlock);
    const uint64_t lot = (kUpdateBlocks + blocks - 1) / blocks;
    const uint64_t turn = packets < lot ? packets : packets / lot * lot;
    const Duration roundTrip = delay * 2 +
                               SerialisationTime(packet, rate) * static_cast<int64_t>(lot) +
                               SerialisationTime(kCreditPacket, rate);
    const double bits = static_cast<double>(turn * packet.Count()) * 8.0;
    return std::min(1.0, bits / (roundTrip.S() * rate.Value()));
}

} // namespace scaleacross
