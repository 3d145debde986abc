// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_PATHS_H
#define SCALEACROSS_FLOW_PATHS_H

#include "core/spec/scenario.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/fabric-path.h"
#include "core/topology/fabric-tables.h"
#include "core/topology/parts-left.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace scaleacross
{

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
        return m_graph.links[link / 2].rate * m_parts[link / 2].Free();
    }

    /**
     * Of the packets of the `number`-th queue pair from one port of a NIC to another, where
     * switches choose by hashes or by the destination. Throws RunError if no way leads there.
     */
    FlowWay OfQueuePair(uint32_t fromNic, uint32_t toNic, uint32_t number) const;

    /// Of what is spread over all equal ways: equally over the ports that a switch has a choice of,
    /// or by their weights where routes have some. Throws RunError if no way leads there.
    FlowWay OfAll(uint32_t fromNic, uint32_t toNic) const;

  private:
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
    std::vector<LinkParts> m_parts; //!< by link
    FabricTables m_tables;
    uint32_t m_servers{0}; //!< nodes before the first switch
    /// Between leaves, by both: OfAll() without the NICs' links.
    mutable std::map<std::pair<uint32_t, uint32_t>, FlowWay> m_between;
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_PATHS_H
