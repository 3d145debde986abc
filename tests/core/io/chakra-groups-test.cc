// SPDX-License-Identifier: GPL-2.0-only

// Process groups of traces, in all forms in which tools write them.

#include "../schedule-scenario.h"
#include "chakra-traces.h"
#include "chakra-wire.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

// Two groups of a file, and the same from what PyTorch observes: S 2 (n-1) of each of both.
TEST_F(Chakra, ProcessGroupsAreFoundInAFileOrInMetadata)
{
    const auto text = [](const std::vector<WireNode>& more, const std::string& group) {
        std::vector<WireNode> nodes = more;
        nodes.push_back(CollectiveNode(5, 0, 1000, group));
        return Trace(nodes);
    };
    const ClusterSpec cluster = BuildingsOf({4}, 4);
    const TraceSpec file = Read({text({}, "1"), text({}, "2"), text({}, "1"), text({}, "2")},
                                R"({"1": [0, 2], "2": [3, 1]})");
    EXPECT_EQ(file.work->collectives.size(), 1U);
    EXPECT_EQ(file.work->collectives[0]->group, RankGroup({{2, 2}}));
    EXPECT_EQ(AllBytes(Run(AnalyticalEngine(), file, cluster)), Bytes(2 * 2 * 1000));
    const WireNode metadata =
        GroupsOfRank(R"(['[{"pg_name": "0", "ranks": []}, {"pg_name": "4", "ranks": [0, 1]}, )"
                     R"({"pg_name": "5", "ranks": [2, 3]}]'])");
    // And a launch on the CPU, and all ranks by the name that PyTorch gives them.
    const auto launch = WireNode(2, kCollNode, "c10d::allreduce_").Has("is_cpu_op", kBool, 1U);
    const WireNode world = CollectiveNode(3, 0, 500, "0");
    const TraceSpec torch = Read({text({metadata, launch, world}, "4"),
                                  text({metadata, launch, world}, "4"),
                                  text({metadata, launch, world}, "5"),
                                  text({metadata, launch, world}, "5")},
                                 "{}");
    EXPECT_EQ(AllBytes(Run(AnalyticalEngine(), torch, cluster)), Bytes(2 * 2 * 1000 + 2 * 3 * 500));
}

// The first and the last stage of a pipeline, which no groups of their form cover 12 ranks with.
TEST_F(Chakra, GroupsNeedNotCoverAllRanks)
{
    const std::string inside = Trace({CollectiveNode(1, 0, 1000, "1")});
    std::vector<std::string> texts = Everywhere(12, Trace({ComputeNode(1, 5)}));
    texts[2] = texts[10] = inside;
    const TraceSpec trace = Read(texts, R"({"1": [2, 10]})");
    const ClusterSpec cluster = BuildingsOf({8, 4}, 4);
    for (const auto& report : {Run(AnalyticalEngine(), trace, cluster),
                               Run(FlowEngine(Collisions::Expected), trace, cluster)})
    {
        EXPECT_EQ(AllBytes(report), Bytes(2 * 1000));
        EXPECT_EQ(report.crossBuildingBytes, Bytes(2 * 1000));
    }
}

/// Every group of ranks at equal steps that can be one of a family, whether it tiles the ranks or
/// not, moves 2 (m-1) S by an all-reduce, whatever the algorithm, and the others wait for nothing.
TEST_F(Chakra, GroupsOfAnyFormMoveTheirBytes)
{
    constexpr uint64_t kSize = 4 * 27720; // which every number of members divides
    uint32_t tried = 0;
    for (const uint32_t ranks : {4U, 8U, 12U})
    {
        const ClusterSpec cluster = BuildingsOf({ranks / 4 * 2, ranks - ranks / 4 * 2}, 2);
        for (uint32_t first = 0; first < ranks; first++)
        {
            for (uint32_t stride = 1; first + stride < ranks; stride++)
            {
                std::vector<Rank> members{first};
                while (members.back() + stride < ranks)
                {
                    members.push_back(members.back() + stride);
                    if (first / stride % members.size() != 0)
                    {
                        continue; // it begins at no multiple of what it spans
                    }
                    std::vector<std::string> texts = Everywhere(ranks, Trace({ComputeNode(1, 5)}));
                    for (const Rank member : members)
                    {
                        texts[member] = Trace({CollectiveNode(1, 0, kSize, "1")});
                    }
                    const TraceSpec trace = Read(texts, nlohmann::json({{"1", members}}).dump());
                    for (const char* algorithm : {"ring", "hierarchical", "auto"})
                    {
                        Scenario scenario = ScenarioOf(trace, cluster);
                        scenario.network.collective = CollectiveAlgorithm(algorithm);
                        const auto analytical = AnalyticalEngine().Run(scenario, {});
                        const auto flow = FlowEngine(Collisions::Expected).Run(scenario, {});
                        for (const RunResult* result : {&analytical, &flow})
                        {
                            ASSERT_TRUE(std::holds_alternative<RunReport>(*result));
                            EXPECT_EQ(AllBytes(std::get<RunReport>(*result)),
                                      Bytes(2 * kSize * (members.size() - 1)));
                        }
                    }
                    tried++;
                }
            }
        }
    }
    EXPECT_GT(tried, 100U);
}

// DeviceMesh splits all ranks into groups that have one name; each rank knows its own.
TEST_F(Chakra, AGroupsNameIsItsRanksOwn)
{
    const auto text = [](const std::string& ranks) {
        return Trace({GroupsOfRank(R"([[{"pg_name": "mesh", "ranks": )" + ranks +
                                   R"(, "pg_desc": "mesh_tp"}]])"),
                      CollectiveNode(1, 0, 1000, "mesh")});
    };
    const TraceSpec trace = Read({text("[0, 1]"), text("[0, 1]"), text("[2, 3]"), text("[2, 3]")});
    const RunReport report = Run(AnalyticalEngine(), trace, BuildingsOf({4}, 4));
    EXPECT_EQ(report.classes[static_cast<size_t>(CommClass::Tensor)].bytes, Bytes(2 * 2 * 1000));
    EXPECT_THAT(Refusal({Trace({GroupsOfRank(R"(['[{"pg_name": "a", "ranks": [0]}, {"pg_name": )"
                                             R"("a", "ranks": [0, 1]}]'])")}),
                         Trace({})}),
                HasSubstr("has other ranks than before"));
    EXPECT_THAT(Refusal({Trace({GroupsOfRank("process groups")})}), HasSubstr("cannot be read"));
    for (const std::string name : {"1.5", "null", "true", "[1]"})
    {
        EXPECT_THAT(
            Refusal({Trace({GroupsOfRank(R"([[{"pg_name": )" + name + R"(, "ranks": [0]}]])")})}),
            HasSubstr("the pg_name of a process group is " + name));
    }
    EXPECT_THAT(
        Refusal({Trace({GroupsOfRank(
            R"([[{"pg_name": 1, "ranks": [0], "pg_desc": 2}, {"pg_name": 3, "ranks": []}]])")})}),
        HasSubstr("the pg_desc of process group '1' is 2"));
}

// By the descriptions that Megatron-LM's parallel_state.py and PyTorch's device meshes give.
TEST_F(Chakra, DescriptionsOfGroupsNameTheParallelism)
{
    const auto classOf = [this](const std::string& description) {
        const std::string text =
            Trace({GroupsOfRank(R"(['[{"pg_name": "1", "ranks": [], "pg_desc": ")" + description +
                                R"("}]'])"),
                   CollectiveNode(1, 0, 8, "1")});
        return ToString(Read({text, text}).work->collectives.at(0)->comm);
    };
    EXPECT_EQ(classOf("TENSOR_MODEL_PARALLEL_GROUP"), "tp");
    EXPECT_EQ(classOf("mesh_tp"), "tp");
    EXPECT_EQ(classOf("CONTEXT_PARALLEL_GROUP"), "cp");
    EXPECT_EQ(classOf("EXPERT_MODEL_PARALLEL_GROUP"), "ep");
    EXPECT_EQ(classOf("PIPELINE_MODEL_PARALLEL_GROUP"), "pp");
    EXPECT_EQ(classOf("DATA_PARALLEL_GROUP_WITH_CP"), "dp");
    EXPECT_EQ(classOf("EXPERT_DATA_PARALLEL_GROUP"), "dp");
    EXPECT_EQ(classOf("mesh_dp_shard"), "dp");
    EXPECT_EQ(classOf("default_pg"), "dp");
}

// Two communicators of the same ranks, in the other order on the other rank: each waits for ever if
// one is over before the next begins, and else they go side by side. A single one has one order.
TEST_F(Chakra, CommunicatorsOfTheSameRanksAreSeveral)
{
    const auto text = [](const std::string& first, const std::string& second, bool waits) {
        WireNode next = CollectiveNode(2, 0, 8, second);
        return Trace({CollectiveNode(1, 0, 8, first), waits ? next.After({1}) : next});
    };
    const std::string groups = R"({"1": [0, 1], "2": [0, 1]})";
    EXPECT_THAT(Refusal({text("1", "2", true), text("2", "1", true)}, groups),
                HasSubstr("ranks wait for each other"));
    const ClusterSpec cluster = BuildingsOf({2}, 1);
    const auto time = [&](const std::string& first, const std::string& second) {
        const TraceSpec trace =
            Read({text(first, second, false), text(second, first, false)}, groups);
        return Run(AnalyticalEngine(), trace, cluster).iterationTime.S();
    };
    // All of it is latency.
    EXPECT_NEAR(time("1", "2"), time("1", "1") / 2, 0.01 * time("1", "1"));
}

// In two groups of four, each of eight ranks sends 2 (n-1)/n S = 1.5 S: 12 MiB. Among all eight it
// would be 14.
TEST_F(Chakra, GroupsMayBeNumbers)
{
    // STAGE writes an int32 comm_group with its option STAGE_LEGACY_ATTR (August 2025).
    for (const std::string name : {"pg_name", "comm_group"})
    {
        for (const uint32_t type : {kInt32, kInt64, kUint64})
        {
            std::vector<std::string> texts =
                Everywhere(8, Trace({CollectiveNode(1, 0, kMiB).Has(name, type, 1U)}));
            std::fill(texts.begin() + 4,
                      texts.end(),
                      Trace({CollectiveNode(1, 0, kMiB).Has(name, type, 2U)}));
            const TraceSpec trace = Read(texts, R"({"1": [0, 1, 2, 3], "2": [4, 5, 6, 7]})");
            EXPECT_EQ(AllBytes(Run(AnalyticalEngine(), trace, BuildingsOf({8}))), Bytes(12 * kMiB))
                << name << " " << type;
        }
    }
    std::filesystem::remove(m_folder.Of(ChakraGroupsFile("t")));
    for (uint32_t rank = 2; rank < 8; rank++)
    {
        std::filesystem::remove(m_folder.Of(ChakraFile("t", rank)));
    }
    const auto both = CollectiveNode(1, 0, kMiB, "1").Has("comm_group", kInt32, 2U);
    EXPECT_THAT(Refusal(Everywhere(2, Trace({both}))),
                HasSubstr("its pg_name is '1' and its comm_group '2'"));
}

TEST_F(Chakra, GroupsThatAreNoLatticeAreRefused)
{
    const auto all = Everywhere(4, Trace({CollectiveNode(1, 0, 8, "7")}));
    EXPECT_THAT(Refusal(all, R"({"7": [1, 2]})"), HasSubstr("rank 0 is not in"));
    EXPECT_THAT(Refusal(all, R"({"7": [0, 1, 3]})"), HasSubstr("is no lattice"));
    EXPECT_THAT(Refusal(all, R"({"7": [0, 0]})"), HasSubstr("rank 0 twice"));
    EXPECT_THAT(Refusal(all, R"({"7": [0, 4]})"), HasSubstr("has 4 for a rank"));
    EXPECT_THAT(Refusal(all, R"({"7": [0, -1]})"), HasSubstr("has -1 for a rank"));
    EXPECT_THAT(Refusal(all, R"({"7": [0, 1.5]})"), HasSubstr("has 1.5 for a rank"));
    EXPECT_THAT(Refusal(all, R"({"7": []})"), HasSubstr("has no ranks"));
    EXPECT_THAT(Refusal(all, R"({"7": "all"})"), HasSubstr("no list of ranks"));
    EXPECT_THAT(Refusal(all, R"([[0, 1]])"), HasSubstr("it is array and no object"));
    EXPECT_THAT(Refusal(all, R"({"7": )"), HasSubstr("it is no JSON"));
    EXPECT_THAT(Refusal(all, R"({"7": [0, 1], "7": [0, 1]})"), HasSubstr("'7' is there twice"));
}

} // namespace
} // namespace scaleacross
