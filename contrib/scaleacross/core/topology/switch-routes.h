// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWITCH_ROUTES_H
#define SCALEACROSS_SWITCH_ROUTES_H

#include "core/base/units.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// A wire from a switch to another one, as the switch sees it; the other sees the same wire.
struct SwitchLink
{
    uint32_t to{0};   //!< switch
    uint16_t port{0}; //!< of the switch whose link this is
    BitRate rate;
    bool up{true}; //!< equal at both ends
};

/// Where a NIC is.
struct NicPlace
{
    uint32_t address{0}; //!< fabric address; all are different
    uint32_t at{0};      //!< switch
    uint16_t port{0};    //!< of that switch
    bool up{true};
    bool detours{true}; //!< detours may go over its switch, for its sake (ValiantRouting)
};

/// Switches, the wires between them and the NICs on them: all that routes follow from.
struct SwitchGraph
{
    std::vector<std::vector<SwitchLink>> links; //!< by switch
    std::vector<NicPlace> nics;
};

/// Ports that are equal choices for a switch.
struct RouteGroup
{
    std::vector<uint16_t> ports;   //!< ascending
    std::vector<uint32_t> weights; //!< shares of the ports; empty: equal
};

/// Destinations `first` to `last`, both included, and the group they are sent to.
struct RouteRange
{
    uint32_t first{0};
    uint32_t last{0};
    uint32_t group{0};
};

/// Ranges apart and ascending; neighbouring ones have different groups.
struct RouteRanges
{
    std::vector<RouteGroup> groups;
    std::vector<RouteRange> ranges;
};

/// One switch's table.
struct SwitchRoutes : RouteRanges
{
    RouteRanges entry; //!< for packets of its own NICs; what is in no range of it goes as all else
};

/// What ports of a group are given.
enum class RouteWeights : uint8_t
{
    Equal,
    Links,   //!< rates of the wires themselves
    Capacity //!< shares that follow from the capacity behind them
};

/// Whole numbers in the proportion of the shares, up to 65,535 and never 0; empty if all are equal.
/// Domain: at least one share.
std::vector<uint32_t> WeightsOf(const std::vector<double>& shares);

/**
 * All shortest paths, counted in wires that are up, from every switch to every NIC: one table per
 * switch. What is unreachable is in no range.
 *
 * Cost and memory follow the structure and not the pairs. Switches with NICs that have the same
 * neighbours are one class (the leaves of a zone, say): seen from any other switch that is not a
 * neighbour, they are in the same place, so there is one breadth-first search for each class, and
 * one range at each switch for every run of addresses of a class; runs with the same group merge.
 * With addresses in the order of AddressOrder a switch has about as many ranges as it has NICs and
 * leaves on it, plus one for each zone it tells from others.
 *
 * RouteWeights::Links: each wire has the weight of its rate, whatever is behind it.
 *
 * RouteWeights::Capacity (weighted ECMP): the capacity of a switch v towards a destination is the
 * sum over its next hops w of min(R, C(w)), R the rate of all its wires to w and C(w) the capacity
 * of w, unlimited at the destination's switch. Each of these wires has the weight rate x
 * min(R, C(w)) / R. What other switches also send over w is not taken into account, nor is the
 * NIC's own wire. Weights are whole, without a common divisor; beyond 65,535 they are scaled and
 * rounded, but never to 0.
 *
 * Worked case: leaf a has a 400 Gb/s wire to each of two spines. Spine 0 has two wires of 400 Gb/s
 * to leaf b and spine 1 one of 100 Gb/s: C = 800 and 100, so a's weights are min(400, 800) and
 * min(400, 100), that is 4 : 1.
 */
std::vector<SwitchRoutes> ComputeRoutes(const SwitchGraph& graph,
                                        RouteWeights weights = RouteWeights::Equal);

} // namespace scaleacross

#endif // SCALEACROSS_SWITCH_ROUTES_H
