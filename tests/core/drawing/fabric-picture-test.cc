// SPDX-License-Identifier: GPL-2.0-only

#include "core/drawing/fabric-picture.h"
#include "core/io/presets.h"
#include "core/topology/adjacency.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <string>

namespace scaleacross
{
namespace
{

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BuildingSpec
Building(const std::string& name, uint32_t gpus)
{
    BuildingSpec building;
    building.name = name;
    building.gpus = gpus;
    building.gpu = GpuPreset("h100");
    building.gpu.nicRate = GigabitsPerSecond(400);
    building.fabric.rails = false;
    building.fabric.nodesPerPod = 2; // 16 GPUs per leaf
    building.fabric.spines = 16;
    return building;
}

FabricPicture
PictureOf(const ClusterSpec& cluster)
{
    PictureNames names;
    names.title = "title";
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        names.sites.push_back(cluster.SiteName(site));
    }
    for (const CrossLinkSpec& link : cluster.crossLinks)
    {
        names.spans.push_back(link.distance);
    }
    return MakePicture(BuildFabricGraph(cluster), names);
}

std::vector<std::string>
BoxLines(const FabricPicture& picture)
{
    std::vector<std::string> lines;
    for (const PictureBox& box : picture.boxes)
    {
        lines.insert(lines.end(), box.lines.begin(), box.lines.end());
    }
    return lines;
}

/// 24,576 GPUs: 1,536 leaves of 16; 24 zones of 64 leaves and 16 spines; 64 aggregation switches
/// with 1/2.8 of 64 x 400 Gb/s from each spine in all: four boxes, and what joins them.
TEST(FabricPicture, ALargeBuildingIsFourBoxes)
{
    ClusterSpec cluster;
    cluster.buildings.push_back(Building("a", 24'576));
    cluster.buildings[0].fabric.podsPerZone = 64;
    cluster.buildings[0].fabric.aggregations = 64;
    cluster.buildings[0].fabric.zoneOversubscription = 2.8;
    const FabricPicture picture = PictureOf(cluster);
    EXPECT_THAT(BoxLines(picture),
                ElementsAre("nic 0-24575 (24,576)",
                            "leaf 0-1535 (1,536)",
                            "spine 0-383 (384)",
                            "agg 0-63 (64)"));
    ASSERT_EQ(picture.edges.size(), 3U);
    EXPECT_THAT(picture.edges[0].lines, ElementsAre("24,576 x 400 Gbps, 750 ns", "leaf: 16 down"));
    EXPECT_THAT(
        picture.edges[1].lines,
        ElementsAre("24,576 x 400 Gbps, 4.5 us", "leaf: 16 up, spine: 64 down", "in 24 groups"));
    EXPECT_THAT(picture.edges[2].lines,
                ElementsAre("24,576 x 142.9 Gbps, 6 us", "spine: 64 up, agg: 384 down"));
    EXPECT_EQ(picture.summary, "24,576 NIC ports, 1,984 switches, 73,728 links");
}

/// 100 servers of 8 GPUs in pods of 16, with rails: the seventh pod has 4 servers, so its 8 leaves
/// and their NICs are apart. Leaf uplinks of a full pod: 16 x 400 / 16 spines.
TEST(FabricPicture, WhatDiffersIsApart)
{
    ClusterSpec cluster;
    cluster.buildings.push_back(Building("a", 800));
    cluster.buildings[0].fabric.rails = true;
    cluster.buildings[0].fabric.nodesPerPod = 16;
    const FabricPicture picture = PictureOf(cluster);
    EXPECT_THAT(BoxLines(picture),
                ElementsAre("nic 0-767 (768)",
                            "nic 768-799 (32)",
                            "leaf 0-47 (48)",
                            "leaf 48-55 (8)",
                            "spine 0-15 (16)"));
}

/// Distance, delay, capacity in one direction, planes and lanes: 6.4 Tb/s over 16 planes of 2.
TEST(FabricPicture, SpansSayWhatTheyAre)
{
    ClusterSpec cluster;
    cluster.buildings = {Building("a", 64), Building("b", 32)};
    CrossLinkSpec span;
    span.b = 1;
    span.distance = Distance(30);
    span.latency = Duration::Microseconds(150);
    span.capacity = GigabitsPerSecond(6400);
    span.loss = 1e-5;
    span.lanes = 2;
    span.pfc = false;
    cluster.crossLinks.push_back(span);
    const FabricPicture picture = PictureOf(cluster);
    ASSERT_EQ(picture.spans.size(), 1U);
    EXPECT_THAT(picture.spans[0].lines,
                ElementsAre("30 km, 150 us, 6.4 Tbps, loss 1e-05",
                            "16 planes x 2 lanes x 200 Gbps, no PFC"));
    EXPECT_EQ(picture.summary, "2 sites, 96 NIC ports, 38 switches, 224 links")
        << "96 + (4 + 2) leaves x 16 spines + 32 lanes; 6 leaves and 32 spines";
}

/// A ring of 40 switches with a host on every second one: halves of the ring can be told apart by
/// nothing, so its leaves are one box and what is between them is another.
TEST(FabricPicture, SymmetryBeatsSize)
{
    std::string text = "60 40 60\n";
    for (int i = 0; i < 40; i++)
    {
        text += std::to_string(i) + " ";
    }
    for (int i = 0; i < 40; i++)
    {
        text += "\n" + std::to_string(i) + " " + std::to_string((i + 1) % 40) + " 100Gbps 1us 0";
    }
    for (int i = 0; i < 20; i++)
    {
        text += "\n" + std::to_string(40 + i) + " " + std::to_string(2 * i) + " 100Gbps 1us 0";
    }
    const AdjacencyFabric ring = ParseAdjacency(text, "ring");
    const FabricPicture picture = MakePicture(ring.graph, {"ring", ring.sites, {}});
    EXPECT_THAT(BoxLines(picture),
                ElementsAre("nic 0-19 (20)", "leaf 0-19 (20)", "spine 0-19 (20)"));
    // Host i more on switch i, for the first seven: all leaves differ, more than kMostBoxes.
    const AdjacencyFabric line = ParseAdjacency("16 8 15\n0 1 2 3 4 5 6 7\n"
                                                "0 1 1Gbps 1us 0\n1 2 2Gbps 1us 0\n"
                                                "2 3 3Gbps 1us 0\n3 4 4Gbps 1us 0\n"
                                                "4 5 5Gbps 1us 0\n5 6 6Gbps 1us 0\n"
                                                "6 7 7Gbps 1us 0\n"
                                                "8 0 1Gbps 1us 0\n9 1 1Gbps 1us 0\n"
                                                "10 2 1Gbps 1us 0\n11 3 1Gbps 1us 0\n"
                                                "12 4 1Gbps 1us 0\n13 5 1Gbps 1us 0\n"
                                                "14 6 1Gbps 1us 0\n15 7 1Gbps 1us 0\n",
                                                "line");
    const FabricPicture bundled = MakePicture(line.graph, {"line", line.sites, {}});
    EXPECT_THAT(BoxLines(bundled),
                ElementsAre("nic 0-7 (8)",
                            "not all alike",
                            "leaf 0-7 (8)",
                            "not all alike",
                            "7 x 1 Gbps to 7 Gbps, 1 us among them"));
}

/// Both texts name every site, box and span, and escape what their formats give a meaning to.
TEST(FabricPicture, Texts)
{
    ClusterSpec cluster;
    cluster.buildings = {Building("<\"a\" & b>", 64), Building("c", 32)};
    CrossLinkSpec span;
    span.b = 1;
    span.distance = Distance(30);
    span.latency = Duration::Microseconds(150);
    span.capacity = GigabitsPerSecond(6400);
    cluster.crossLinks.push_back(span);
    const FabricPicture picture = PictureOf(cluster);
    const std::string svg = SvgText(picture);
    EXPECT_THAT(svg, HasSubstr("&lt;&quot;a&quot; &amp; b&gt;"));
    EXPECT_THAT(svg, HasSubstr("leaf 0-3 (4)"));
    EXPECT_THAT(svg, HasSubstr("30 km, 150 us, 6.4 Tbps"));
    const auto count = [](const std::string& text, const std::string& what) {
        const std::regex pattern(what);
        return std::distance(std::sregex_iterator(text.begin(), text.end(), pattern),
                             std::sregex_iterator());
    };
    EXPECT_EQ(count(svg, "class=\"frame\""), 2);
    EXPECT_EQ(count(svg, "<path"), 1) << "the span";
    EXPECT_EQ(count(svg, "<line"), 4) << "NIC to leaf and leaf to spine, twice";
    const std::string dot = DotText(picture);
    EXPECT_THAT(dot, HasSubstr("label=\"<\\\"a\\\" & b>\""));
    EXPECT_THAT(dot, HasSubstr("30 km, 150 us, 6.4 Tbps"));
    EXPECT_EQ(count(dot, "subgraph cluster_"), 2);
    EXPECT_EQ(count(dot, " -- "), 6) << "four bundles, and two ends of the span";
}

/**
 * A mesh of 32 buildings has 496 spans, which nobody could follow as lines: 31 buildings are alike
 * and drawn once, the other by itself, and the distances are a table of 32 rows and columns.
 */
TEST(FabricPicture, ManySpansAreATable)
{
    ClusterSpec cluster;
    for (uint32_t i = 0; i < 32; i++)
    {
        cluster.buildings.push_back(Building("b" + std::to_string(i), i == 5 ? 64 : 32));
        for (uint32_t j = 0; j < i; j++)
        {
            CrossLinkSpec span;
            span.a = j;
            span.b = i;
            span.distance = Distance(100 * j + i);
            span.latency = Duration::Microseconds(100 + i);
            span.capacity = GigabitsPerSecond(j == 0 ? 800 : 1600);
            cluster.crossLinks.push_back(span);
        }
    }
    const std::string svg = SvgText(PictureOf(cluster));
    const auto count = [&svg](const std::string& what) {
        size_t found = 0;
        for (size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1))
        {
            found++;
        }
        return found;
    };
    EXPECT_EQ(count("class=\"frame\""), 2U);
    EXPECT_EQ(count(">b0 and 30 alike</text>"), 1U);
    EXPECT_EQ(count(">b5</text>"), 1U);
    EXPECT_EQ(count("<path"), 0U);
    EXPECT_EQ(count(">32 b31</text>"), 1U);
    // Of 30 and 31: 100 x 30 + 31 km. Those of the first have half the capacity.
    EXPECT_EQ(count(">3031 km A</text>") + count(">3031 km B</text>"), 2U) << "from either";
    EXPECT_EQ(count(" km A</text>") + count(" km B</text>"), 2 * 496U);
    EXPECT_EQ(std::min(count(" km A</text>"), count(" km B</text>")), 2 * 31U);
    const std::regex page("<svg [^>]*width=\"([0-9.]+)\" height=\"([0-9.]+)\"");
    std::smatch size;
    ASSERT_TRUE(std::regex_search(svg, size, page));
    EXPECT_LT(std::stod(size[1]), 2600);
    EXPECT_LT(std::stod(size[2]), 1300);
}

/**
 * Drawn side by side, no two boxes of a picture overlap, and all are within the page. Pods of 128
 * GPUs: buildings whose last pod is not full have five boxes; the one of 896 GPUs has three.
 */
TEST(FabricPicture, NothingOverlapsInTheDrawing)
{
    ClusterSpec cluster;
    for (uint32_t i = 0; i < 9; i++)
    {
        cluster.buildings.push_back(Building("building " + std::to_string(i), 800 + 16 * i));
        cluster.buildings[i].fabric.rails = true;
        cluster.buildings[i].fabric.nodesPerPod = 16;
        for (uint32_t j = 0; j < i; j++)
        {
            CrossLinkSpec span;
            span.a = j;
            span.b = i;
            span.latency = Duration::Microseconds(100 + i);
            span.capacity = GigabitsPerSecond(1600);
            cluster.crossLinks.push_back(span);
        }
    }
    const std::string svg = SvgText(PictureOf(cluster));
    const std::regex page("<svg [^>]*width=\"([0-9.]+)\" height=\"([0-9.]+)\"");
    std::smatch size;
    ASSERT_TRUE(std::regex_search(svg, size, page));

    struct Rectangle
    {
        double x, y, width, height;
    };

    // The last of the cards of a box is the one with the text; cards are 3 pixels apart.
    std::vector<Rectangle> boxes;
    const std::regex box("<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" "
                         "height=\"([0-9.]+)\" rx=\"5\" class=\"(nic|leaf|spine|agg)\"");
    for (auto i = std::sregex_iterator(svg.begin(), svg.end(), box); i != std::sregex_iterator();
         ++i)
    {
        const Rectangle r{std::stod((*i)[1]),
                          std::stod((*i)[2]),
                          std::stod((*i)[3]),
                          std::stod((*i)[4])};
        EXPECT_LE(r.x + r.width, std::stod(size[1]));
        EXPECT_LE(r.y + r.height, std::stod(size[2]));
        const bool card = !boxes.empty() && std::abs(boxes.back().x - r.x - 3) < 0.2 &&
                          std::abs(r.y - boxes.back().y - 3) < 0.2;
        if (card)
        {
            boxes.back() = r;
            continue;
        }
        boxes.push_back(r);
    }
    EXPECT_EQ(boxes.size(), 8U * 5 + 3);
    for (size_t i = 0; i < boxes.size(); i++)
    {
        for (size_t j = 0; j < i; j++)
        {
            const Rectangle& a = boxes[i];
            const Rectangle& b = boxes[j];
            const bool apart = a.x + a.width <= b.x || b.x + b.width <= a.x ||
                               a.y + a.height <= b.y || b.y + b.height <= a.y;
            EXPECT_TRUE(apart) << i << " and " << j;
        }
    }
}

} // namespace
} // namespace scaleacross
