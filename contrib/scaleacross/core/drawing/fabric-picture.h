// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_PICTURE_H
#define SCALEACROSS_FABRIC_PICTURE_H

#include "core/topology/fabric-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// What a graph does not know of itself, and a picture says.
struct PictureNames
{
    std::string title;
    std::vector<std::string> sites;
    std::vector<Distance> spans; //!< by FabricLink::span; empty: unknown
};

/// Vertices that are drawn as one.
struct PictureBox
{
    uint32_t site{0};
    VertexKind kind{VertexKind::Nic};
    uint32_t count{0};
    std::vector<std::string> lines; //!< "leaf 0-191 (192)", and links among them if there are any
};

/// Links between two boxes of one site that are drawn as one.
struct PictureEdge
{
    uint32_t low{0}; //!< box
    uint32_t high{0};
    std::vector<std::string> lines;
};

/// All links between two sites.
struct PictureSpan
{
    uint32_t a{0}; //!< site
    uint32_t b{0};
    std::vector<std::string> lines;
    std::string distance;          //!< of the lines; the delay where no distance is known
    std::vector<std::string> rest; //!< what else they say
};

/**
 * A fabric as few enough boxes and lines to be read, however large it is.
 *
 * Vertices of one site and kind are one box if they cannot be told apart by what they are joined
 * to: the coarsest equitable partition, found by colour refinement over the number, rate, delay and
 * loss of the links to every other box. So 192 equal leaves are one box, and a leaf with fewer NICs
 * than the others is one of its own. Where a kind falls into more than kMostBoxes boxes in a site
 * all of it is one box, whose figures are then ranges.
 *
 * An edge says how many links it stands for, their rate, delay and loss, how many each vertex has
 * at either end, how many parallel ones join the same two, and into how many groups (zones, planes)
 * that have no link to each other it falls. A span says distance, delay, capacity in one direction,
 * lanes, loss, and if PFC is off.
 */
struct FabricPicture
{
    PictureNames names;
    std::string summary; //!< "2 sites, 16,384 NICs, 192 switches, 20,000 links"
    std::vector<PictureBox> boxes;
    std::vector<PictureEdge> edges;
    std::vector<PictureSpan> spans;
};

/// More boxes of one kind than this in one site become one.
constexpr uint32_t kMostBoxes = 6;

FabricPicture MakePicture(const FabricGraph& graph, const PictureNames& names);

/// For Graphviz: sites as clusters, tiers as ranks.
std::string DotText(const FabricPicture& picture);

/// More spans, or more sites, than these are no lines that an eye could follow.
constexpr size_t kMostDrawnSpans = 28; // a mesh of 8
constexpr size_t kMostDrawnSites = 8;

/// A drawing in SVG 1.1, complete in itself: sites side by side, tiers as rows, spans above. Where
/// there are too many of these, sites that are alike are drawn once, and the spans are a table of
/// distances, a row and a column per site.
std::string SvgText(const FabricPicture& picture);

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_PICTURE_H
