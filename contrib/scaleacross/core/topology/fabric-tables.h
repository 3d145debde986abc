// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_TABLES_H
#define SCALEACROSS_FABRIC_TABLES_H

#include "core/spec/cluster-spec.h"
#include "core/spec/multipath.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/parts-left.h"
#include "core/topology/switch-routes.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// One direction of a link: twice its number in the graph, plus one from its end b to its end a.
using DirectedLink = uint32_t;

/**
 * The tables of a cluster's switches while events hold, as the packet engine's switches have them:
 * addresses, ports and weights are made as there.
 *
 * Weights know the rates of links and nothing of what others send. Switches that use their links
 * for what these carry (MultipathFacts::followsCapacity) have weights here that stand for it: the
 * rates of their own links, since a packet's wait there is what is ahead of it at that rate. Where
 * a switch further on is the limit they are not told, unless it pushes back.
 *
 * Switches have the numbers of their vertices, less the NICs' ports, which come first.
 */
class FabricTables
{
  public:
    FabricTables(const ClusterSpec& cluster,
                 const FabricGraph& graph,
                 const std::vector<LinkParts>& parts,
                 Multipath multipath);

    /// Where a port of a switch leads.
    struct PortEnd
    {
        uint32_t to{0}; //!< vertex
        DirectedLink link{0};
    };

    /// A way on from a switch, and the part of what is spread that takes it.
    struct Next
    {
        PortEnd end;
        double share{0};
    };

    uint32_t Nics() const
    {
        return m_nics;
    }

    uint32_t SwitchOf(uint32_t vertex) const
    {
        return vertex - m_nics;
    }

    /// From a port of a NIC to its leaf.
    DirectedLink UpFrom(uint32_t nic) const
    {
        return m_up[nic];
    }

    /// The switch that a port of a NIC is on.
    uint32_t LeafOf(uint32_t nic) const
    {
        return m_leaves[nic];
    }

    uint32_t AddressOf(uint32_t nic) const
    {
        return m_addresses[nic];
    }

    /// Of destinations modulo k, at a switch.
    uint32_t DivisorAt(uint32_t at) const
    {
        return m_divisors[at];
    }

    const PortEnd& EndOf(uint32_t at, uint16_t port) const
    {
        return m_ports[at][port];
    }

    /// The ports of a switch to a NIC's; `entry`: for packets of its own NICs. Null: none leads
    /// there.
    const RouteGroup* GroupAt(uint32_t at, bool entry, uint32_t toNic) const;

    /// Where what is spread goes on, by the weights of the group; nothing if no port leads there.
    std::vector<Next> SpreadAt(uint32_t at, bool entry, uint32_t toNic) const;

  private:
    uint32_t m_nics{0};
    std::vector<uint32_t> m_addresses;         //!< by port of a NIC
    std::vector<DirectedLink> m_up;            //!< by port of a NIC
    std::vector<uint32_t> m_leaves;            //!< by port of a NIC
    std::vector<std::vector<PortEnd>> m_ports; //!< by switch
    std::vector<SwitchRoutes> m_tables;        //!< by switch
    std::vector<uint32_t> m_divisors;          //!< by switch
};

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_TABLES_H
