// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GRAPH_NAMES_H
#define SCALEACROSS_GRAPH_NAMES_H

#include "core/spec/cluster-spec.h"
#include "core/topology/fabric-graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Names of all vertices, in the order of the graph (VertexName).
std::vector<std::string> VertexNames(const ClusterSpec& cluster, const FabricGraph& graph);

/// Index of the vertex with that name.
std::optional<uint32_t> VertexNamed(const ClusterSpec& cluster,
                                    const FabricGraph& graph,
                                    const std::string& name);

/// "east/leaf3--east/spine0", with "#2" and so on behind it for the second and later ones of
/// parallel links, in the order of the graph.
std::string LinkName(const ClusterSpec& cluster, const FabricGraph& graph, uint32_t link);

/// Index of the link with that name; its ends may be given in either order.
std::optional<uint32_t> LinkNamed(const ClusterSpec& cluster,
                                  const FabricGraph& graph,
                                  const std::string& name);

} // namespace scaleacross

#endif // SCALEACROSS_GRAPH_NAMES_H
