// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CREDIT_RATE_H
#define SCALEACROSS_CREDIT_RATE_H

#include "core/base/units.h"

namespace scaleacross
{

/**
 * Share of a wire's rate that packets of one lane can have with InfiniBand's credits, 1 at most.
 *
 * Model: packets of P bytes on the wire take b = ceil(P / 64) blocks. W bytes of credits are n =
 * floor(W / (64 b)) packets. What has left the far end is granted anew in lots of l = ceil(U / b)
 * packets, U = 132 blocks being FabricSwitch::CreditUpdate. A packet that completes a lot lets
 * packets up to the n-th after it go, in whole lots: so m = l floor(n / l) packets leave in the
 * time in which one of them gets there and a credit comes back,
 *
 *   rate <= m P / (2 delay + l packets + a credit packet of 8 bytes),
 *
 * or n packets if they are less than a lot. Nothing else holds up packets at the far end.
 *
 * Worked case: 128 KiB over 5 ms at 400 Gb/s, packets of 4,124 bytes: b = 65, n = 31, l = 3, m =
 * 30, and 123,720 bytes in 10.0003 ms are 98.97 Mb/s, 1 / 4,042 of the rate.
 */
double CreditShare(Bytes credits, Bytes packet, BitRate rate, Duration delay);

} // namespace scaleacross

#endif // SCALEACROSS_CREDIT_RATE_H
