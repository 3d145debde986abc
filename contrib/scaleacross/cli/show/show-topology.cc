// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/show-topology.h"

#include "cli/output-file.h"
#include "core/base/errors.h"
#include "core/drawing/fabric-picture.h"
#include "core/topology/adjacency.h"
#include "core/topology/graph-names.h"
#include "helper/graph-fabric.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>

namespace scaleacross
{

namespace
{

/// A fabric and what its parts are called.
struct NamedGraph
{
    FabricGraph graph;
    PictureNames names;
    std::vector<std::string> vertices;
};

bool
IsAdjacencyFile(const std::string& path)
{
    std::ifstream file(path);
    std::string start(4096, '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<size_t>(file.gcount()));
    return LooksLikeAdjacency(start.substr(0, start.rfind('\n')));
}

NamedGraph
GraphOf(const CommonOptions& options)
{
    NamedGraph named;
    if (IsAdjacencyFile(options.study))
    {
        if (!options.set.empty())
        {
            throw ConfigError("--set",
                              options.study + " is an adjacency file, which has no keys to set",
                              "--set with a study",
                              "");
        }
        AdjacencyFabric adjacency = ns3::ReadAdjacencyFile(options.study);
        named.vertices = NamesOf(adjacency);
        named.graph = std::move(adjacency.graph);
        named.names.title = std::filesystem::path(options.study).stem().string();
        named.names.sites = adjacency.sites;
        return named;
    }
    const Study study = StudyOf(options);
    const ClusterSpec& cluster = study.scenario.cluster;
    named.graph = BuildFabricGraph(cluster);
    named.names.title = study.name;
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        named.names.sites.push_back(cluster.SiteName(site));
    }
    for (const CrossLinkSpec& link : cluster.crossLinks)
    {
        named.names.spans.push_back(link.distance);
    }
    named.vertices = VertexNames(cluster, named.graph);
    return named;
}

using Writer = std::function<std::string(const NamedGraph&)>;

const std::map<std::string, Writer>&
Writers()
{
    static const std::map<std::string, Writer> writers = [] {
        const Writer dot = [](const NamedGraph& named) {
            return DotText(MakePicture(named.graph, named.names));
        };
        return std::map<std::string, Writer>{
            {".svg",
             [](const NamedGraph& named) {
                 return SvgText(MakePicture(named.graph, named.names));
             }},
            {".dot", dot},
            {".gv", dot},
            {".txt",
             [](const NamedGraph& named) { return AdjacencyText(named.graph, named.vertices); }}};
    }();
    return writers;
}

} // namespace

Exit
ShowTopology(const CommonOptions& options, const std::string& output)
{
    const auto writer = Writers().find(std::filesystem::path(output).extension().string());
    if (writer == Writers().end())
    {
        throw ConfigError("--output",
                          output.empty() ? "--topology needs to know where to write"
                                         : "'" + output + "' does not say what to write",
                          "a file that ends in .svg (drawing), .dot (Graphviz) or .txt (adjacency)",
                          "for instance -o fabric.svg");
    }
    const std::string text = writer->second(GraphOf(options));
    WriteOutput(output, text);
    std::cout << "wrote " << output << "\n";
    return Exit::Done;
}

} // namespace scaleacross
