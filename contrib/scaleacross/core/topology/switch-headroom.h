// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWITCH_HEADROOM_H
#define SCALEACROSS_SWITCH_HEADROOM_H

#include "core/spec/cluster-spec.h"
#include "core/spec/network-plan.h"

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * What is to be said of switches whose buffers cannot hold the headroom that PFC has to reserve, or
 * the receive buffers that InfiniBand's credits are of: one text for the leaves and one for the
 * switches above them, with key, values, arithmetic and remedy; none without either.
 *
 * A switch reserves HeadroomBytes() for each of its ports whose link has PFC, in each lossless
 * priority, which are as many as traffic classes in use, and needs room for a packet besides:
 *
 *   classes x sum over the ports + max <= buffer,   max = mtu + headers, or an ACK if that is
 * longer.
 *
 * With credits it holds, for each port and each of eight virtual lanes, CreditBufferBytes() in
 * blocks of 64, but no more than NetworkPlan::laneCredits.
 *
 * The packet engine refuses the others; engines without buffers take them for lossless, which this
 * is to tell. Left out: telemetry in packets (some bytes per switch on the way), and what
 * network.ns3 changes of switches and ports.
 *
 * Worked case: a spine with four spans of 100 Gb/s and 1 ms, packets of 4,178 bytes: each needs
 * 2 x 4,178 + 12.5 GB/s x (4,262 B / 12.5 GB/s + 2 x 1 ms) = 25,012,618 bytes, and one of rounding:
 * 100 MB, which 64 MiB do not hold.
 */
std::vector<std::string> HeadroomWarnings(const ClusterSpec& cluster, const NetworkPlan& network);

} // namespace scaleacross

#endif // SCALEACROSS_SWITCH_HEADROOM_H
