// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/symmetry.h"
#include "core/io/read-study.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

/// So many servers of 8 GPUs, 4 on a leaf.
Scenario
Servers(uint32_t servers, const std::string& rest = "")
{
    return ParseStudy("study: alike\n"
                      "cluster: {buildings: {count: 1, gpus: " +
                          std::to_string(8 * servers) +
                          ", gpus_per_node: 8, gpu: h100, fabric: {spines: 2, nodes_per_pod: "
                          "4, rails: false}}}\n" +
                          rest,
                      "alike.yaml",
                      {},
                      StudyScope::Network)
        .scenario;
}

/// All ranks do one collective of one phase, each with those of its position in other servers.
TaskGraph
JobOf(uint32_t servers, Pattern pattern, uint32_t shift = 1)
{
    TaskGraph graph;
    graph.ranks = graph.blockRanks = 8 * servers;
    graph.classOf = {0};
    graph.handles = 1;
    Phase phase(pattern, RankGroup({{8, servers}}), Bytes(1 << 20));
    phase.shift = shift;
    Collective collective;
    collective.phases = {phase};
    graph.collectives = {collective};
    Op op;
    op.kind = OpKind::Collective;
    RankClass all;
    all.ranks = graph.ranks;
    all.program.ops = {op};
    graph.classes = {all};
    return graph;
}

Symmetry
SymmetryOf(const Scenario& scenario, const TaskGraph& graph)
{
    return FindSymmetry(scenario, graph, FlowPaths(scenario, 0));
}

} // namespace

TEST(Symmetry, MembersOfARingDifferByTheirPlaceOnTheLeaf)
{
    // Servers 0 to 3 on one leaf, 4 to 7 on the other: only servers 3 and 7 send to another leaf,
    // only 0 and 4 hear from one, and 1 and 2 differ by whom they send to. All 8 GPUs of a server
    // are alike, and so are both leaves.
    const Symmetry found = SymmetryOf(Servers(8), JobOf(8, Pattern::RingAllGather));
    EXPECT_EQ(found.Kinds(), 4U);
    for (Rank rank = 0; rank < 64; rank++)
    {
        EXPECT_EQ(found.rank[rank], rank / 8 % 4 * 8) << rank;
        EXPECT_EQ(found.ranks[rank], 16U) << rank;
    }
}

TEST(Symmetry, LinksOfLeavesThatAreAlikeAreAlikeByTheirPosition)
{
    const Scenario scenario = Servers(8);
    const FlowPaths paths(scenario, 0);
    const Symmetry found = FindSymmetry(scenario, JobOf(8, Pattern::RingAllGather), paths);
    const std::vector<FabricLink>& links = paths.Graph().links;
    std::vector<DirectedLink> up; // of leaves, in the order of the graph: leaf by leaf
    for (DirectedLink link = 0; link < 2 * links.size(); link++)
    {
        if (links[link / 2].kind == LinkKind::Nic)
        {
            EXPECT_EQ(found.links[link], 16U) << link;
            continue;
        }
        EXPECT_EQ(found.links[link], 2U) << link;
        if (link % 2 == 0)
        {
            up.push_back(link);
        }
    }
    ASSERT_EQ(up.size(), 4U);
    EXPECT_EQ(found.link[up[2]], up[0]);
    EXPECT_EQ(found.link[up[3]], up[1]);
    EXPECT_EQ(found.link[up[2] + 1], up[0] + 1); // down
}

TEST(Symmetry, MembersThatAllSendToTheOtherLeafAreAlike)
{
    // Each to the fourth further on, which is on the other leaf for all.
    EXPECT_EQ(SymmetryOf(Servers(8), JobOf(8, Pattern::JumpAllGather, 4)).Kinds(), 1U);
}

TEST(Symmetry, InAnAllToAllItCountsWhichMessageStaysOnTheLeaf)
{
    // The first messages of the first server of a leaf stay there, of the last one they leave.
    EXPECT_EQ(SymmetryOf(Servers(8), JobOf(8, Pattern::DirectAllToAll)).Kinds(), 4U);
}

TEST(Symmetry, ALeafWithASlowLinkDiffers)
{
    const Scenario slow = Servers(8,
                                  "events: [{kind: degradation, target: building1/leaf0--"
                                  "building1/spine1, at: 0s, factor: 0.5}]\n");
    EXPECT_EQ(SymmetryOf(slow, JobOf(8, Pattern::RingAllGather)).Kinds(), 8U);
}

TEST(Symmetry, RanksOfOneClassOnlyAreAlike)
{
    // A ring of the first GPUs of all servers; what the others do is nothing, wherever they are.
    TaskGraph graph = JobOf(8, Pattern::RingAllGather);
    RankClass idle;
    idle.ranks = 56;
    graph.blockRanks = 1;
    graph.classOf.clear();
    for (Rank rank = 0; rank < 64; rank++)
    {
        graph.classOf.push_back(rank % 8 == 0 ? 0 : 1);
    }
    graph.classes.push_back(idle);
    const Symmetry found = SymmetryOf(Servers(8), graph);
    EXPECT_EQ(found.ranks[0], 2U);
    EXPECT_EQ(found.Kinds(), 4U + 1U);
    EXPECT_EQ(found.rank[63], 1U);
    EXPECT_EQ(found.ranks[63], 56U);
}

} // namespace scaleacross
