// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_IDEAL_TIME_H
#define SCALEACROSS_IDEAL_TIME_H

#include "ns3/nstime.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class RdmaConnection;

/// A link of a path, as an empty network has it.
struct IdealLink
{
    double rate;  //!< bit/s
    double delay; //!< s, one way

    bool operator<(const IdealLink& other) const
    {
        return rate != other.rate ? rate < other.rate : delay < other.delay;
    }
};

/**
 * When the last bit of the last packet has come in, in seconds after the first bit of the first one
 * left, over links that store and forward and carry nothing else. Packets have `first`, then
 * `middle` times `full`, then `last` bytes on the wire; none of a kind if it is 0.
 *
 *     D(i, k) = max(D(i, k - 1), D(i - 1, k)) + size(k) / rate(i),   time = D(last, last) + delays
 *
 * where D(i, k) is when packet k has left link i. Of equal packets in a row that is a closed form:
 * after m more of size s, D(i) = max over j <= i of D(j) + m s / min(rate j..i) + the sum of
 * s / rate over j + 1 to i.
 *
 * Worked case: three packets of 1,048 bytes over two links of 100 Gb/s and 1 us: 2 us + 4 x 83.84
 * ns.
 */
double StoreAndForwardTime(const std::vector<IdealLink>& path,
                           double first,
                           uint64_t middle,
                           double full,
                           double last);

/**
 * What a message of a connection takes at least, from Send to delivery, if nothing else is in the
 * network: store and forward over the fastest of the shortest paths, as wires and routes are now,
 * with the headers of RDMA writes.
 *
 * Where packets of a message may take several paths (several queue pairs, spraying switches,
 * entropies of the sender), only the first and last link, of the NICs, are taken to hold up packets
 * behind each other, since the links between may work side by side: a lower bound then. Round trips
 * of grants or last writes are not part of it. A connection over n ports of each NIC sends an n-th
 * by each.
 *
 * Throws ConfigError if there is no route.
 */
Time IdealTime(const RdmaConnection& connection, uint64_t bytes);

} // namespace ns3

#endif // SCALEACROSS_IDEAL_TIME_H
