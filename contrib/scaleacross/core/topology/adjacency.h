// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ADJACENCY_H
#define SCALEACROSS_ADJACENCY_H

#include "core/topology/fabric-graph.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scaleacross
{

/// A fabric as an adjacency text gives it.
struct AdjacencyFabric
{
    FabricGraph graph;
    /// By vertex: its node in the text. A host with several links has a NIC for each of them: they
    /// are vertices of one node.
    std::vector<uint32_t> nodes;
    std::vector<std::string> sites; //!< names; one without a name if the text gives none
};

/**
 * Reads the plain text in which HPCC (alibaba-edu/High-Precision-Congestion-Control) and its
 * descendants describe a topology:
 *
 *   NODES SWITCHES LINKS
 *   the node numbers of the switches, 0 to NODES - 1; all other nodes are hosts
 *   SOURCE DESTINATION RATE DELAY LOSS          (one line for each link)
 *   name NODE SITE/KINDn                        (optional, one line for each node)
 *
 * A link is full duplex; RATE and LOSS hold for each direction. RATE and DELAY carry units (100Gbps
 * or 100Gb/s; 1us, 1000ns, 0.001ms, one way), LOSS is the probability that a packet is lost, 0 to
 * less than 1. A word that begins with # and all after it is a
 * comment.
 *
 * More than HPCC reads: links between the same two nodes are as many wires; comments; names, which
 * stand where HPCC has stopped reading and say where a node is: SITE is a building or hub, KIND one
 * of nic, leaf, spine, agg, as VertexName writes them. Anything else after the last link is a note
 * (HPCC's own files have some), unless it looks like one more link.
 *
 * Vertices: NICs by node and then link, then switches by node. Without names there is one site, and
 * a switch is a leaf if there are hosts on it, a spine next to a leaf, else an aggregation switch.
 * Links are in the order of the text. One between sites is a Cross (sites that have several have
 * one span).
 *
 * Throws ConfigError (where = "NAME:LINE"; `name` is the file's) on anything else: numbers that do
 * not add up, a missing unit, a link from a node to itself or between two hosts, a host without a
 * link.
 */
AdjacencyFabric ParseAdjacency(std::string_view text, const std::string& name);

/// Names of the vertices as AdjacencyText wants them; what the text leaves nameless is in "fabric".
std::vector<std::string> NamesOf(const AdjacencyFabric& adjacency);

/// True if the first line that says anything could be that of an adjacency text: whole numbers.
bool LooksLikeAdjacency(std::string_view text);

/**
 * Writes a graph as ParseAdjacency reads it, NICs first. `names`: one per vertex, as VertexName
 * gives them; ports of one NIC (east/nic3.0, east/nic3.1) are one node. Rates are whole bits per
 * second, as the simulated ones are.
 *
 * Left out, since the format has no place for it: FabricLink::pfc.
 */
std::string AdjacencyText(const FabricGraph& graph, const std::vector<std::string>& names);

} // namespace scaleacross

#endif // SCALEACROSS_ADJACENCY_H
