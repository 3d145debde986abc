// SPDX-License-Identifier: GPL-2.0-only

#include "core/drawing/fabric-picture.h"

#include <map>

namespace scaleacross
{

namespace
{

/// A label of Graphviz: quotes and backslashes escaped, lines joined.
std::string
DotLabel(const std::vector<std::string>& lines)
{
    std::string label;
    for (const std::string& line : lines)
    {
        label += label.empty() ? "" : "\\n";
        for (const char c : line)
        {
            label += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        }
    }
    return "\"" + label + "\"";
}

} // namespace

std::string
DotText(const FabricPicture& picture)
{
    std::string text = "graph fabric {\n"
                       "  graph [rankdir=BT, newrank=true, ranksep=1.2, nodesep=0.6, labelloc=t, "
                       "fontsize=18, label=" +
                       DotLabel({picture.names.title, picture.summary}) +
                       "];\n"
                       "  node [shape=box, style=\"rounded,filled\", fillcolor=white];\n"
                       "  edge [fontsize=10];\n";
    std::map<VertexKind, std::string> ranks;
    for (uint32_t site = 0; site < picture.names.sites.size(); site++)
    {
        text +=
            "  subgraph cluster_" + std::to_string(site) +
            " {\n    style=filled; color=gray90; label=" + DotLabel({picture.names.sites[site]}) +
            ";\n";
        for (size_t i = 0; i < picture.boxes.size(); i++)
        {
            const PictureBox& box = picture.boxes[i];
            if (box.site == site)
            {
                text += "    b" + std::to_string(i) + " [label=" + DotLabel(box.lines) + "];\n";
                ranks[box.kind] += " b" + std::to_string(i) + ";";
            }
        }
        text += "  }\n";
    }
    for (const auto& [kind, boxes] : ranks)
    {
        text += "  { rank=same;" + boxes + " }\n";
    }
    for (const PictureEdge& edge : picture.edges)
    {
        text += "  b" + std::to_string(edge.low) + " -- b" + std::to_string(edge.high) +
                " [label=" + DotLabel(edge.lines) + "];\n";
    }
    // A span ends at the highest tier of each site.
    std::vector<size_t> top(picture.names.sites.size(), SIZE_MAX);
    for (size_t i = 0; i < picture.boxes.size(); i++)
    {
        size_t& best = top[picture.boxes[i].site];
        if (best == SIZE_MAX || picture.boxes[best].kind < picture.boxes[i].kind)
        {
            best = i;
        }
    }
    // What a span says is a node of its own, above both: Graphviz cannot place many labels of edges
    // within a rank.
    for (size_t i = 0; i < picture.spans.size(); i++)
    {
        const PictureSpan& span = picture.spans[i];
        const std::string name = "s" + std::to_string(i);
        text += "  " + name +
                " [shape=plaintext, style=\"\", fontsize=10, label=" + DotLabel(span.lines) +
                "];\n";
        for (const uint32_t site : {span.a, span.b})
        {
            text += "  b" + std::to_string(top[site]) + " -- " + name +
                    " [penwidth=2, color=\"#c92a2a\"];\n";
        }
    }
    return text + "}\n";
}

} // namespace scaleacross
