// SPDX-License-Identifier: GPL-2.0-only

#include "graph-fabric.h"

#include "core/base/errors.h"
#include "core/base/input-files.h"

#include "ns3/boolean.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-nic.h"

#include <cmath>
#include <fstream>
#include <sstream>

namespace ns3
{

using namespace scaleacross;

namespace
{

/// A wire that joins two ports as a link says.
Ptr<FabricWire>
Join(FabricHelper& fabric, const FabricLink& link, Ptr<FabricPort> a, Ptr<FabricPort> b)
{
    const DataRate rate(static_cast<uint64_t>(std::llround(link.rate.Value())));
    if (!link.pfc)
    {
        a->SetAttribute("Pfc", BooleanValue(false));
        b->SetAttribute("Pfc", BooleanValue(false));
    }
    return fabric.ConnectPorts(a, b, rate, PicoSeconds(link.delay.Ps()), link.loss);
}

} // namespace

GraphFabric
BuildGraph(FabricHelper& fabric,
           const FabricGraph& graph,
           const std::vector<Ptr<Node>>& hosts,
           const std::vector<std::string>& names,
           const std::function<void(const Vertex&)>& prepare)
{
    GraphFabric built;
    for (size_t v = 0; v < graph.vertices.size(); v++)
    {
        const Vertex& vertex = graph.vertices[v];
        if (vertex.kind == VertexKind::Nic)
        {
            SCALEACROSS_INVARIANT(built.switches.empty() && v < hosts.size(),
                                  "NICs are the first vertices, and each has a host");
            built.nics.push_back(fabric.AddNic(hosts[v]));
            if (!names.empty())
            {
                fabric.SetName(built.nics.back(), names[v]);
            }
            continue;
        }
        if (prepare)
        {
            prepare(vertex);
        }
        built.switches.push_back(fabric.AddSwitch());
        if (!names.empty())
        {
            fabric.SetName(built.switches.back(), names[v]);
        }
    }
    for (const FabricLink& link : graph.links)
    {
        const auto port = [&](uint32_t vertex) -> Ptr<FabricPort> {
            if (vertex < built.nics.size())
            {
                return built.nics[vertex];
            }
            return built.switches[vertex - built.nics.size()]->AddPort();
        };
        const Ptr<FabricPort> a = port(link.a);
        built.wires.push_back(Join(fabric, link, a, port(link.b)));
    }
    return built;
}

GraphFabric
BuildGraph(FabricHelper& fabric, const AdjacencyFabric& adjacency)
{
    std::vector<Ptr<Node>> hosts;
    for (size_t v = 0; v < adjacency.graph.vertices.size(); v++)
    {
        if (adjacency.graph.vertices[v].kind == VertexKind::Nic)
        {
            const bool same = v > 0 && adjacency.nodes[v - 1] == adjacency.nodes[v];
            hosts.push_back(same ? hosts.back() : fabric.AddHost());
        }
    }
    return BuildGraph(fabric, adjacency.graph, hosts, NamesOf(adjacency));
}

AdjacencyFabric
ReadAdjacencyFile(const std::string& path)
{
    std::ifstream file(path);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf()))
    {
        throw ConfigError(path, "cannot be read, or is empty", "an adjacency file", "");
    }
    NoteInputFile(path);
    return ParseAdjacency(text.str(), path);
}

} // namespace ns3
