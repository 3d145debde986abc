// SPDX-License-Identifier: GPL-2.0-only

// A fabric as the text that ParseAdjacency reads.

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/adjacency.h"

#include <cmath>
#include <map>
#include <sstream>

namespace scaleacross
{

namespace
{

/// east/nic3 of east/nic3.1.
std::string
NodeNameOf(const Vertex& vertex, const std::string& name)
{
    return vertex.kind == VertexKind::Nic ? name.substr(0, name.find('.', name.rfind('/'))) : name;
}

} // namespace

std::vector<std::string>
NamesOf(const AdjacencyFabric& adjacency)
{
    std::map<uint32_t, uint32_t> ports; // of a node: NICs named so far
    std::map<uint32_t, uint32_t> all;
    for (size_t v = 0; v < adjacency.nodes.size(); v++)
    {
        all[adjacency.nodes[v]]++;
    }
    std::vector<uint32_t> hosts(adjacency.sites.size(), 0); // of a site, named so far
    std::vector<std::string> names;
    for (size_t v = 0; v < adjacency.nodes.size(); v++)
    {
        const Vertex& vertex = adjacency.graph.vertices[v];
        const uint32_t node = adjacency.nodes[v];
        const std::string& site = adjacency.sites[vertex.site];
        std::string name = site.empty() ? "fabric/" : site + "/";
        if (vertex.kind != VertexKind::Nic)
        {
            const char* const kinds[] = {"nic", "leaf", "spine", "agg"};
            name += kinds[static_cast<size_t>(vertex.kind)] + std::to_string(vertex.index);
        }
        else
        {
            const uint32_t port = ports[node]++;
            hosts[vertex.site] += port == 0 ? 1 : 0;
            name += "nic" + std::to_string(hosts[vertex.site] - 1);
            name += all[node] > 1 ? "." + std::to_string(port) : "";
        }
        names.push_back(name);
    }
    return names;
}

std::string
AdjacencyText(const FabricGraph& graph, const std::vector<std::string>& names)
{
    SCALEACROSS_INVARIANT(names.size() == graph.vertices.size(), "one name for each vertex");
    std::vector<std::string> nodes; // names, by node
    std::vector<uint32_t> nodeOf;   // by vertex
    std::vector<uint32_t> switches;
    for (size_t v = 0; v < names.size(); v++)
    {
        const std::string node = NodeNameOf(graph.vertices[v], names[v]);
        if (nodes.empty() || nodes.back() != node)
        {
            nodes.push_back(node);
        }
        nodeOf.push_back(static_cast<uint32_t>(nodes.size() - 1));
        if (graph.vertices[v].kind != VertexKind::Nic)
        {
            switches.push_back(nodeOf.back());
        }
    }
    std::ostringstream text;
    text << nodes.size() << " " << switches.size() << " " << graph.links.size() << "\n";
    for (size_t i = 0; i < switches.size(); i++)
    {
        text << (i == 0 ? "" : " ") << switches[i];
    }
    text << "\n";
    for (const FabricLink& link : graph.links)
    {
        const auto rate = static_cast<uint64_t>(std::llround(link.rate.Value()));
        text << nodeOf[link.a] << " " << nodeOf[link.b] << " "
             << (rate % 1'000'000'000 == 0 ? std::to_string(rate / 1'000'000'000) + "Gbps"
                                           : std::to_string(rate) + "bps")
             << " " << ExactText(link.delay) << " " << NumberText(link.loss) << "\n";
    }
    for (size_t node = 0; node < nodes.size(); node++)
    {
        text << "name " << node << " " << nodes[node] << "\n";
    }
    return text.str();
}

} // namespace scaleacross
