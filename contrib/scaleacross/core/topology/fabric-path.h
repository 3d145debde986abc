// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TOPOLOGY_FABRIC_PATH_H
#define SCALEACROSS_TOPOLOGY_FABRIC_PATH_H

#include "core/base/units.h"
#include "core/spec/tier.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What a packet meets between two NICs, lossless and empty.
struct FabricPath
{
    Tier tier{Tier::Node};
    Duration propagation; //!< one way, sum of the link delays (Node: the scale-up latency)
    Duration least;       //!< the same of the shortest of several ways
    /// Rates of the links in order, each of which stores and forwards a packet; empty for Node.
    std::vector<BitRate> rates;
    double loss{0};    //!< probability that a packet is lost on the way
    uint64_t paths{1}; //!< equal-cost paths of one port, at most UINT64_MAX

    /// Domain: between servers.
    BitRate Slowest() const
    {
        return *std::min_element(rates.begin(), rates.end());
    }
};

/// Rates and delays of the links from a NIC up to the top switch that spans begin at.
struct Climb
{
    Duration propagation;
    std::vector<BitRate> rates;
    uint64_t up{1};   //!< ways to any top switch
    uint64_t down{1}; //!< ways from a given top switch
};

} // namespace scaleacross

#endif // SCALEACROSS_TOPOLOGY_FABRIC_PATH_H
