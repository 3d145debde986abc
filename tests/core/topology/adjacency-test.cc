// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"
#include "core/topology/adjacency.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>

namespace scaleacross
{
namespace
{

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ConfigError
Refusal(const std::string& text)
{
    try
    {
        ParseAdjacency(text, "f");
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted:\n" << text;
    return ConfigError("", "", "", "");
}

/// Hosts 0, 1 and 4 under the switches 2 and 3, which a third one, 5, joins. Host 4 has two links,
/// switches 2 and 5 are joined by two.
const char* const g_small = "6 3 7\n"
                            "2 3 5\n"
                            "0 2 100Gbps 1us 0\n"
                            "3 1 100Gb/s 1000ns 0.000000\n"
                            "4 2 25Gbps 0.001ms 0\n"
                            "\n"
                            "4 3 25Gbps 0.001ms 0   # the second port\n"
                            "5 2 400Gbps 4.5us 1e-5\n"
                            "2 5 400Gbps 4.5us 1e-5\n"
                            "3 5 400Gbps 4.5us 0\n";

TEST(Adjacency, ReadsNodesLinksAndUnits)
{
    const AdjacencyFabric fabric = ParseAdjacency(g_small, "f");
    EXPECT_THAT(fabric.nodes, ElementsAre(0, 1, 4, 4, 2, 3, 5));
    const FabricGraph& graph = fabric.graph;
    std::vector<VertexKind> kinds;
    for (const Vertex& vertex : graph.vertices)
    {
        kinds.push_back(vertex.kind);
        EXPECT_EQ(vertex.site, 0U);
    }
    EXPECT_THAT(kinds,
                ElementsAre(VertexKind::Nic,
                            VertexKind::Nic,
                            VertexKind::Nic,
                            VertexKind::Nic,
                            VertexKind::Leaf,
                            VertexKind::Leaf,
                            VertexKind::Spine));
    ASSERT_EQ(graph.links.size(), 7U) << "parallel links are kept";
    const FabricLink& second = graph.links[1];
    EXPECT_EQ(second.a, 1U) << "the NIC first";
    EXPECT_EQ(second.b, 5U);
    EXPECT_EQ(second.kind, LinkKind::Nic);
    EXPECT_EQ(second.rate, GigabitsPerSecond(100));
    EXPECT_EQ(second.delay, Duration::Microseconds(1));
    EXPECT_EQ(graph.links[2].a, 2U);
    EXPECT_EQ(graph.links[3].a, 3U) << "a NIC for each link of a host";
    EXPECT_EQ(graph.links[3].delay, Duration::Microseconds(1));
    for (const size_t i : {4, 5})
    {
        EXPECT_EQ(graph.links[i].a, 4U) << "the lower tier first";
        EXPECT_EQ(graph.links[i].b, 6U);
        EXPECT_EQ(graph.links[i].kind, LinkKind::Inside);
        EXPECT_EQ(graph.links[i].loss, 1e-5);
        EXPECT_EQ(graph.links[i].delay, Duration::Nanoseconds(4500));
    }
}

/// As the file that HPCC comes with: 65 hosts on switch 0, and notes after the links.
TEST(Adjacency, ReadsNotesAfterTheLinks)
{
    std::string text = "66 1 65\n0\n";
    for (int i = 1; i <= 65; i++)
    {
        text += "0 " + std::to_string(i) + " 100Gbps 0.001ms 0\n";
    }
    text += "\n\nFirst line: total node #, switch node #, link #\n"
            "Second line: switch node IDs...\nsrc0 dst0 rate delay error_rate\n...\n";
    const AdjacencyFabric fabric = ParseAdjacency(text, "topology.txt");
    EXPECT_EQ(fabric.graph.vertices.size(), 66U);
    EXPECT_EQ(fabric.graph.vertices.back().kind, VertexKind::Leaf);
    EXPECT_EQ(fabric.nodes.back(), 0U);
    EXPECT_EQ(fabric.graph.links[64].b, 65U);
}

TEST(Adjacency, ErrorsNameLineAndValue)
{
    struct Case
    {
        std::string text;
        std::string where;
        std::string problem;
    };

    const std::string head = "3 1 2\n2\n";
    const std::string first = head + "0 2 100Gbps 1us 0\n";
    const std::vector<Case> cases = {
        {"", "f:1", "empty"},
        {"3 1\n", "f:1", "2 words"},
        {"3 x 2\n", "f:1", "switches: 'x'"},
        {"0 0 0\n", "f:1", "nodes: '0' is out of range"},
        {"3 4 2\n", "f:1", "switches: "},
        {"3 1 2\n3\n", "f:2", "switch: "},
        {"3 2 2\n1 1\n", "f:2", "named twice"},
        {"3 1 2\n1 2\n", "f:2", "more than the 1 switches"},
        {"3 1 2\n", "f:1", "ends here, before the number of every switch"},
        {first, "f:3", "before link 2 of 2"},
        {head + "0 2 100Gbps 1us\n", "f:3", "4 words"},
        {head + "0 3 100Gbps 1us 0\n", "f:3", "destination: "},
        {head + "0 2 100 1us 0\n", "f:3", "rate: "},
        {head + "0 2 0Gbps 1us 0\n", "f:3", "too slow"},
        {head + "0 2 1Gbps 1000 0\n", "f:3", "delay: "},
        {head + "0 2 1Gbps -1us 0\n", "f:3", "delay: "},
        {head + "0 2 1Gbps 1us 1.5\n", "f:3", "loss: "},
        {head + "0 2 1Gbps 1us 1\n", "f:3", "loss: '1' is out of range"},
        {head + "0 0 1Gbps 1us 0\n", "f:3", "linked to itself"},
        {head + "0 1 1Gbps 1us 0\n", "f:3", "both hosts"},
        {first + "0 2 100Gbps 1us 0\n", "f:1", "node 1 is a host, and no link leads to it"},
        {first + "1 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n", "f:5", "another link after the 2"},
        {first + "1 2 100Gbps 1us 0\nname 2 a/leaf0\n", "f:5", "node 0 has no name"},
        {first + "1 2 100Gbps 1us 0\nname 2 a/nic0\n", "f:5", "node 2 is a switch"},
        {first + "1 2 100Gbps 1us 0\nname 2 leaf0\n", "f:5", "does not say where"},
        {first + "1 2 100Gbps 1us 0\nname 2 a/leaf0\nname 2 a/leaf1\n", "f:6", "a name already"},
        {first + "1 2 100Gbps 1us 0\nname 0 a/nic0\nname 1 a/nic0\n", "f:6", "given twice"}};
    for (const Case& c : cases)
    {
        const ConfigError error = Refusal(c.text);
        EXPECT_EQ(error.Where(), c.where) << c.text << error.what();
        EXPECT_THAT(error.Problem(), HasSubstr(c.problem)) << c.text;
        EXPECT_FALSE(error.Allowed().empty()) << c.text;
    }
}

/// Three stages in one building, two leaves for each NIC, a hub and two lanes per plane: all that a
/// cluster has comes back as it was, with every part at its place.
TEST(Adjacency, WritesWhatItReads)
{
    ClusterSpec cluster;
    for (const char* name : {"north side", "south"})
    {
        BuildingSpec building;
        building.name = name;
        building.gpus = 16;
        building.gpusPerNode = 2;
        building.gpu = GpuPreset("h100");
        building.fabric.nodesPerPod = 2;
        building.fabric.podsPerZone = 2;
        building.fabric.spines = 2;
        building.fabric.aggregations = 3;
        building.fabric.zoneOversubscription = 2.8;
        building.fabric.dualTor = true;
        cluster.buildings.push_back(building);
    }
    cluster.hubs.push_back({"hub"});
    for (const uint32_t b : {0U, 1U})
    {
        CrossLinkSpec span;
        span.a = b;
        span.b = 2;
        span.latency = Duration::Microseconds(150 + b);
        span.capacity = GigabitsPerSecond(1000);
        span.loss = 1e-6;
        span.lanes = 2;
        cluster.crossLinks.push_back(span);
    }
    const FabricGraph graph = BuildFabricGraph(cluster);
    std::vector<std::string> names;
    for (const Vertex& vertex : graph.vertices)
    {
        names.push_back(VertexName(cluster, vertex));
    }
    const std::string text = AdjacencyText(graph, names);
    EXPECT_TRUE(LooksLikeAdjacency(text));
    const AdjacencyFabric back = ParseAdjacency(text, "f");
    EXPECT_THAT(back.sites, ElementsAre("north side", "south", "hub"));
    ASSERT_EQ(back.graph.vertices.size(), graph.vertices.size());
    for (size_t v = 0; v < graph.vertices.size(); v++)
    {
        EXPECT_EQ(back.graph.vertices[v].kind, graph.vertices[v].kind) << names[v];
        EXPECT_EQ(back.graph.vertices[v].site, graph.vertices[v].site) << names[v];
        EXPECT_EQ(back.graph.vertices[v].index, graph.vertices[v].index) << names[v];
    }
    ASSERT_EQ(back.graph.links.size(), graph.links.size());
    for (size_t i = 0; i < graph.links.size(); i++)
    {
        const FabricLink& link = back.graph.links[i];
        EXPECT_EQ(link.a, graph.links[i].a);
        EXPECT_EQ(link.b, graph.links[i].b);
        EXPECT_EQ(link.kind, graph.links[i].kind);
        EXPECT_EQ(link.span, graph.links[i].span);
        EXPECT_EQ(link.delay, graph.links[i].delay);
        EXPECT_EQ(link.loss, graph.links[i].loss);
        EXPECT_NEAR(link.rate.Value(), graph.links[i].rate.Value(), 0.5) << "whole bits";
    }
    EXPECT_EQ(NamesOf(back), names);
    EXPECT_EQ(AdjacencyText(back.graph, NamesOf(back)), text);
}

TEST(Adjacency, NamesWhatHasNoName)
{
    const AdjacencyFabric fabric = ParseAdjacency(g_small, "f");
    EXPECT_THAT(NamesOf(fabric),
                ElementsAre("fabric/nic0",
                            "fabric/nic1",
                            "fabric/nic2.0",
                            "fabric/nic2.1",
                            "fabric/leaf0",
                            "fabric/leaf1",
                            "fabric/spine0"));
}

TEST(Adjacency, IsToldFromAStudy)
{
    EXPECT_TRUE(LooksLikeAdjacency("# mine\n\n66 1 65\n"));
    EXPECT_FALSE(LooksLikeAdjacency("study: small\n"));
    EXPECT_FALSE(LooksLikeAdjacency("{\"study\": 1}"));
    EXPECT_FALSE(LooksLikeAdjacency(""));
}

TEST(Adjacency, TakesMemoryForTheLinksThatThereAre)
{
    // 10^9 links in the first line would be 32 GB at once; the file ends before.
    struct rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    struct rlimit less = before;
    less.rlim_cur = std::min<rlim_t>(before.rlim_max, rlim_t{8} << 30);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);
    EXPECT_THAT(Refusal("3 1 1000000000\n2\n0 2 100Gbps 1us 0\n").what(),
                HasSubstr("the file ends here, before link 2 of 1000000000"));
    EXPECT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

} // namespace
} // namespace scaleacross
