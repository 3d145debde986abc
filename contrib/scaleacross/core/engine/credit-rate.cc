// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/credit-rate.h"

#include "core/base/packet-format.h"

#include <algorithm>

namespace scaleacross
{

namespace
{
constexpr uint64_t kUpdateBlocks = CreditBlocks(kCreditUpdate);
} // namespace

double
CreditShare(Bytes credits, Bytes packet, BitRate rate, Duration delay)
{
    const uint64_t blocks = CreditBlocks(packet.Count());
    const uint64_t packets = credits.Count() / (blocks * kCreditBlock);
    const uint64_t lot = (kUpdateBlocks + blocks - 1) / blocks;
    const uint64_t turn = packets < lot ? packets : packets / lot * lot;
    const Duration roundTrip = delay * 2 +
                               SerialisationTime(packet, rate) * static_cast<int64_t>(lot) +
                               SerialisationTime(Bytes(kCreditPacket), rate);
    const double bits = static_cast<double>(turn * packet.Count()) * 8.0;
    return std::min(1.0, bits / (roundTrip.S() * rate.Value()));
}

} // namespace scaleacross
