// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_PATHS_H
#define SCALEACROSS_FLOW_PATHS_H

#include "core/spec/scenario.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/fabric-path.h"
#include "core/topology/switch-routes.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace scaleacross
{

/// One direction of a link: twice its number in the graph, plus one from its end b to its end a.
using DirectedLink = uint32_t;

/// The part of what is sent that goes over a link.
struct WayLink
{
    DirectedLink link{0};
    double share{1}; //!< in (0, 1]
};

/// From one port of a NIC to another: over which links, and what they add up to.
struct FlowWay
{
    std::vector<WayLink> links; //!< each once
    /// Propagation and rates of the longest of several ways, their mean loss; tier not filled in.
    FabricPath path;
};

/**
 * The ways of packets through a cluster, by the tables that its switches have: those of the packet
 * engine, link by link, since addresses, ports, tables, hashes and their seeds are made as there.
 *
 * Events that hold for the whole run have taken links out of the tables, or some of their rate.
 */
class FlowPaths
{
  public:
    /// `run`: which of the runs that differ in the switches' seeds, from 0 (RunOptions::seed - 1).
    /// Throws ConfigError for events in the middle of a run.
    FlowPaths(const Scenario& scenario, uint32_t run);

    const FabricGraph& Graph() const
    {
        return m_graph;
    }

    /// What is left of a link's rate.
    BitRate RateOf(DirectedLink link) const
    {
        return m_graph.links[link / 2].rate * m_parts[link / 2];
    }

    /**
     * Of the packets of the `number`-th queue pair of a NIC's port, where switches choose by hashes
     * or by the destination. Throws RunError if no way leads there.
     */
    FlowWay OfQueuePair(uint32_t fromNic, uint32_t toNic, uint32_t number) const;

    /// Of what is spread over all equal ways: equally over the ports that a switch has a choice of,
    /// or by their weights where routes have some. Throws RunError if no way leads there.
    FlowWay OfAll(uint32_t fromNic, uint32_t toNic) const;

  private:
    struct PortEnd
    {
        uint32_t to{0}; //!< vertex
        DirectedLink link{0};
    };

    uint32_t SwitchOf(uint32_t vertex) const
    {
        return vertex - m_nics;
    }

    void BuildTables(const Scenario& scenario);
    /// Throws RunError where the link of a NIC's port is down.
    void ExpectUp(uint32_t nic) const;
    void Cross(FlowWay& way, DirectedLink link, double share) const;
    const RouteGroup& GroupAt(uint32_t at, bool entry, uint32_t toNic) const;
    size_t ChoiceAt(uint32_t at,
                    const RouteGroup& group,
                    uint32_t fromNic,
                    uint32_t toNic,
                    uint16_t entropy) const;
    void SpreadOver(FlowWay& way, uint32_t from, uint32_t toNic) const;

    Multipath m_multipath;
    uint64_t m_hashSeed;
    bool m_hashPerSwitch; //!< else all switches hash alike
    uint32_t m_run;
    FabricGraph m_graph;
    std::vector<double> m_parts;               //!< of the rate that is left, by link
    uint32_t m_nics{0};                        //!< ports of NICs: the first vertices
    uint32_t m_servers{0};                     //!< nodes before the first switch
    std::vector<uint32_t> m_addresses;         //!< by port of a NIC
    std::vector<DirectedLink> m_up;            //!< from a port of a NIC to its leaf
    std::vector<std::vector<PortEnd>> m_ports; //!< by switch
    std::vector<SwitchRoutes> m_tables;        //!< by switch
    std::vector<uint32_t> m_divisors;          //!< by switch; of destinations modulo k
    /// Between leaves, by both: OfAll() without the NICs' links.
    mutable std::map<std::pair<uint32_t, uint32_t>, FlowWay> m_between;
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_PATHS_H
