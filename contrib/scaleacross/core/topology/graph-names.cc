// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/graph-names.h"

#include "core/base/text.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Both links join the same two vertices.
bool
AreParallel(const FabricLink& x, const FabricLink& y)
{
    return (x.a == y.a && x.b == y.b) || (x.a == y.b && x.b == y.a);
}

/// A whole number without sign or leading zeros; nothing if it is none.
std::optional<uint32_t>
NumberOf(const std::string& text)
{
    if (!IsDigits(text) || text.size() >= 10 || (text.size() > 1 && text.front() == '0'))
    {
        return std::nullopt;
    }
    return static_cast<uint32_t>(std::stoul(text));
}

} // namespace

std::vector<std::string>
VertexNames(const ClusterSpec& cluster, const FabricGraph& graph)
{
    std::vector<std::string> names;
    names.reserve(graph.vertices.size());
    for (const Vertex& vertex : graph.vertices)
    {
        names.push_back(VertexName(cluster, vertex));
    }
    return names;
}

std::optional<uint32_t>
VertexNamed(const ClusterSpec& cluster, const FabricGraph& graph, const std::string& name)
{
    const auto found =
        std::find_if(graph.vertices.begin(), graph.vertices.end(), [&](const Vertex& vertex) {
            return VertexName(cluster, vertex) == name;
        });
    if (found == graph.vertices.end())
    {
        return std::nullopt;
    }
    return static_cast<uint32_t>(found - graph.vertices.begin());
}

std::string
LinkName(const ClusterSpec& cluster, const FabricGraph& graph, uint32_t link)
{
    const FabricLink& own = graph.links.at(link);
    const auto number =
        std::count_if(graph.links.begin(),
                      graph.links.begin() + link,
                      [&](const FabricLink& other) { return AreParallel(own, other); });
    return VertexName(cluster, graph.vertices[own.a]) + "--" +
           VertexName(cluster, graph.vertices[own.b]) +
           (number == 0 ? "" : "#" + std::to_string(number + 1));
}

std::optional<uint32_t>
LinkNamed(const ClusterSpec& cluster, const FabricGraph& graph, const std::string& name)
{
    const size_t hash = name.find('#');
    const std::optional<uint32_t> number =
        hash == std::string::npos ? 1 : NumberOf(name.substr(hash + 1));
    const std::string ends = name.substr(0, hash);
    // Names of buildings may contain "--" themselves.
    for (size_t dashes = ends.find("--"); number && dashes != std::string::npos;
         dashes = ends.find("--", dashes + 1))
    {
        const auto a = VertexNamed(cluster, graph, ends.substr(0, dashes));
        const auto b = VertexNamed(cluster, graph, ends.substr(dashes + 2));
        if (!a || !b)
        {
            continue;
        }
        FabricLink wanted;
        wanted.a = *a;
        wanted.b = *b;
        uint32_t seen = 0;
        for (uint32_t i = 0; i < graph.links.size(); i++)
        {
            if (AreParallel(graph.links[i], wanted) && ++seen == *number)
            {
                return i;
            }
        }
    }
    return std::nullopt;
}

} // namespace scaleacross
