// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GRAPH_FABRIC_H
#define SCALEACROSS_GRAPH_FABRIC_H

#include "core/topology/adjacency.h"
#include "core/topology/fabric-graph.h"
#include "fabric-helper.h"

#include <functional>
#include <string>
#include <vector>

namespace ns3
{

/// What BuildGraph has made of a graph.
struct GraphFabric
{
    std::vector<Ptr<RdmaNic>> nics;          //!< by vertex; a graph's NICs come first
    std::vector<Ptr<FabricSwitch>> switches; //!< by vertex, less the number of NICs
    std::vector<Ptr<FabricWire>> wires;      //!< by link; device 0 is the end `a`
};

/**
 * Builds every vertex and link of a graph with the attributes that `fabric` has been given: a NIC
 * or switch per vertex and a wire per link, in their order. Routes are not installed yet.
 *
 * `hosts`: the node of every NIC. `prepare` is called with every switch's vertex before it is made,
 * to set attributes by tier or site. `names`: one per vertex, as scaleacross::VertexName writes
 * them, for FabricHelper::NameOf; or none. Rates are rounded to whole bits per second.
 */
GraphFabric BuildGraph(FabricHelper& fabric,
                       const scaleacross::FabricGraph& graph,
                       const std::vector<Ptr<Node>>& hosts,
                       const std::vector<std::string>& names,
                       const std::function<void(const scaleacross::Vertex&)>& prepare = nullptr);

/// Builds a fabric read by ParseAdjacency: a node for every host with its NICs, and all else as
/// above.
GraphFabric BuildGraph(FabricHelper& fabric, const scaleacross::AdjacencyFabric& adjacency);

/// Parses the adjacency file of that path. Throws ConfigError if it cannot be read.
scaleacross::AdjacencyFabric ReadAdjacencyFile(const std::string& path);

} // namespace ns3

#endif // SCALEACROSS_GRAPH_FABRIC_H
