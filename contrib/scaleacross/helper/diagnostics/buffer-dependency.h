// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BUFFER_DEPENDENCY_H
#define SCALEACROSS_BUFFER_DEPENDENCY_H

#include "ns3/switch-port.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

class FabricHelper;

/// Switch ports whose wires depend on each other in a circle.
struct BufferDependencyCycle
{
    std::vector<Ptr<SwitchPort>> ports; //!< sending ends, in order; empty: there is no cycle
    std::vector<uint8_t> priorities; //!< of each: the smallest in which there is a cycle, or with
                                     //!< a LaneMap the lanes by which it goes

    bool Exists() const
    {
        return !ports.empty();
    }

    /// "cyclic buffer dependency: node 0 port 1 -> node 1 port 1 -> node 2 port 1 -> node 0 port 1
    /// in priority 3"; "" if there is none. Each port has its priority where they are not all
    /// alike.
    std::string Text() const;
};

/**
 * Finds out from the routes whether pauses could lock the fabric: whether the channel dependency
 * graph of its lossless priorities has a cycle.
 *
 * Model (Dally and Seitz, IEEE Trans. Computers C-36(5), 1987): the vertices are the wires between
 * switches, one for each direction and lossless priority; there is an edge from wire A to wire B if
 * packets can come in over A, on their way from some NIC to some other, and go on over B. Without a
 * cycle no traffic whatsoever can deadlock. With one, the fabric may, under the wrong load. NICs
 * never pause anyone, so wires to them depend on nothing.
 *
 * To be called when the routes are installed. All pairs of NICs count, whether they talk or not.
 * Cost: for each switch with NICs the wires used on the way to them; destinations that all other
 * switches treat alike are looked at once.
 *
 * Where switches have a LaneMap, packets of all service levels count that have a lane at a NIC,
 * each on the lanes that it takes.
 *
 * Left out: a cycle through the memory that all ingresses of a switch share.
 *
 * Worked case: shortest paths in a leaf-spine go up and then down: no cycle. Three switches in a
 * ring that send everything clockwise: the wires 0-1, 1-2, 2-0 are one.
 */
BufferDependencyCycle FindBufferDependencyCycle(const FabricHelper& fabric);

} // namespace ns3

#endif // SCALEACROSS_BUFFER_DEPENDENCY_H
