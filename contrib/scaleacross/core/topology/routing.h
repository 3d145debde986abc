// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROUTING_H
#define SCALEACROSS_ROUTING_H

#include "core/topology/switch-routes.h"

#include <vector>

namespace scaleacross
{

/// How the tables of switches follow from what is up: a strategy, apart from the fabrics that use
/// it and from the choice among equal ports, which is a PathSelector's.
class Routing
{
  public:
    virtual ~Routing() = default;

    /// Packets may pass switches with NICs that are neither their source's nor their destination's.
    virtual bool HasDetours() const
    {
        return false;
    }

    /// One table for each switch. What is unreachable is in no range.
    virtual std::vector<SwitchRoutes> Compute(const SwitchGraph& graph,
                                              RouteWeights weights) const = 0;
};

/// ComputeRoutes().
const Routing& ShortestPaths();

/**
 * The same, but what a NIC on switch s sends to one on switch d may first go to any switch with
 * NICs that has a wire from s and one to d, in equal parts with the wires from s to d: Valiant's
 * detours, of one switch. From there it goes by the shortest way, so that no packet goes in
 * circles. Between switches with NICs that no wire joins, as in a Clos, nothing changes. Switches
 * whose NICs are all kept off detours (NicPlace) count as ones without.
 *
 * With RouteWeights::Capacity a detour over k has the weight of the lesser of the rates to k and
 * from k to d, of all wires together, divided over the wires from s to k; with RouteWeights::Links
 * each of these has its own rate.
 *
 * Worked case: leaves a, b, c, d joined each to each, and a NIC on a that sends to one on d: by the
 * wires to b, c and d, a third each. On b and c the packet is one of another switch's NICs and
 * takes the wire to d.
 */
const Routing& ValiantRouting();

} // namespace scaleacross

#endif // SCALEACROSS_ROUTING_H
