// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROUTE_TABLE_H
#define SCALEACROSS_ROUTE_TABLE_H

#include "fabric-packet.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * A switch's forwarding table: ranges of destination addresses, each with its equal-cost ports.
 *
 * Addresses are fabric addresses of NICs, small whole numbers. Ranges do not overlap. Memory grows
 * with the number of ranges, that is, with the structure of the fabric and not with its pairs.
 *
 * Path selection is ECMP per flow: the port is number floor(h * n / 2^32) of the n ports of the
 * range, where h is a 32-bit hash of source, destination, UDP source port and the seed of the
 * switch. Packets of one flow therefore take one path; two queue pairs of the same two NICs are two
 * flows.
 */
class RouteTable
{
  public:
    /// What one range leads to.
    struct Route
    {
        uint32_t first{0}; //!< addresses first to last, both included
        uint32_t last{0};
        std::vector<uint16_t> ports;
    };

    /**
     * Adds a range. Throws ConfigError if it is empty, has no ports or overlaps another one.
     * Neighbouring ranges with the same ports become one.
     */
    void Add(Route route);

    /// Removes all ranges.
    void Clear();

    const std::vector<Route>& Routes() const
    {
        return m_routes;
    }

    /// The equal-cost ports to a destination, null if there are none.
    const std::vector<uint16_t>* Lookup(uint32_t destination) const
    {
        // The last range that begins at or before the destination; the keys alone fill few cache
        // lines.
        const uint32_t* begin = m_firsts.data();
        size_t count = m_firsts.size();
        while (count > 1)
        {
            const size_t half = count / 2;
            begin = begin[half] <= destination ? begin + half : begin;
            count -= half;
        }
        if (count == 0)
        {
            return nullptr;
        }
        const Route& route = m_routes[static_cast<size_t>(begin - m_firsts.data())];
        return route.first <= destination && destination <= route.last ? &route.ports : nullptr;
    }

    /// Hash of a flow; equal inputs give equal results on every machine.
    static uint32_t Hash(uint32_t source, uint32_t destination, uint16_t entropy, uint64_t seed)
    {
        uint64_t x = ((static_cast<uint64_t>(source) << 32) | destination) ^ seed;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x ^= static_cast<uint64_t>(entropy) << 17;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ULL;
        return static_cast<uint32_t>(x >> 32);
    }

    /// The port a packet takes. Domain: ports is not empty.
    static uint16_t Choose(const std::vector<uint16_t>& ports,
                           const FabricPacket& packet,
                           uint64_t seed)
    {
        if (ports.size() == 1)
        {
            return ports.front();
        }
        uint64_t hash = Hash(packet.source, packet.destination, packet.entropy, seed);
        return ports[(hash * ports.size()) >> 32];
    }

  private:
    std::vector<Route> m_routes;    //!< sorted by first
    std::vector<uint32_t> m_firsts; //!< of m_routes
};

} // namespace scaleacross

#endif // SCALEACROSS_ROUTE_TABLE_H
