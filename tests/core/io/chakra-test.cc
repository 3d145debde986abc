// SPDX-License-Identifier: GPL-2.0-only

// Traces as Chakra's public tools write them (chakra-wire.h), and what is wrong with others.

#include "../../temporary-folder.h"
#include "../schedule-scenario.h"
#include "chakra-wire.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/chakra/chakra-files.h"
#include "core/io/chakra/chakra-writer.h"
#include "core/io/chakra/read-traces.h"
#include "core/work/graph/trace-graph.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

constexpr uint64_t kMiB = 1 << 20;

/// Writes traces and reads them.
class Chakra : public testing::Test
{
  protected:
    TraceSpec Read(const std::vector<std::string>& texts, const std::string& groups = "")
    {
        for (uint32_t rank = 0; rank < texts.size(); rank++)
        {
            m_folder.Write(ChakraFile("t", rank), texts[rank]);
        }
        if (!groups.empty())
        {
            m_folder.Write(ChakraGroupsFile("t"), groups);
        }
        TraceSpec trace;
        trace.files = m_folder.Of("t");
        ReadTraces(trace);
        return trace;
    }

    /// What is said of traces that are refused.
    std::string Refusal(const std::vector<std::string>& texts, const std::string& groups = "")
    {
        try
        {
            Read(texts, groups);
        }
        catch (const ConfigError& error)
        {
            EXPECT_NE(error.Allowed(), "") << error.what();
            EXPECT_NE(error.Remedy(), "") << error.what();
            return error.what();
        }
        return "nothing is refused";
    }

    static Scenario ScenarioOf(const TraceSpec& trace, const ClusterSpec& cluster)
    {
        Scenario scenario;
        scenario.cluster = cluster;
        scenario.jobs.emplace_back();
        scenario.Job().plan = trace.work->plan;
        scenario.Job().trace = trace;
        scenario.Validate();
        return scenario;
    }

    static RunReport Run(const Engine& engine, const TraceSpec& trace, const ClusterSpec& cluster)
    {
        const RunResult result = engine.Run(ScenarioOf(trace, cluster), {});
        if (const auto* no = std::get_if<Infeasible>(&result))
        {
            ADD_FAILURE() << no->reason << ": " << no->detail;
            return {};
        }
        return std::get<RunReport>(result);
    }

    TemporaryFolder m_folder;
};

/// As Chakra's generator and ASTRA-sim's tests write a collective.
WireNode
Collective(uint64_t id, uint64_t type, uint64_t size, const std::string& group = "")
{
    WireNode node(id, kCollNode, "collective");
    node.Has("is_cpu_op", kBool, 0U).Has("comm_type", kInt64, type).Has("comm_size", kInt64, size);
    return group.empty() ? node : node.Has("pg_name", group);
}

WireNode
Compute(uint64_t id, uint64_t micros)
{
    return WireNode(id, kCompNode, "COMP_NODE").Has("is_cpu_op", kBool, 0U).Takes(micros);
}

WireNode
Message(uint64_t id, bool sends, uint64_t peer, uint64_t size, uint64_t tag = 0)
{
    return WireNode(id, sends ? kSendNode : kRecvNode, sends ? "send" : "receive")
        .Has("is_cpu_op", kBool, 0U)
        .Has(sends ? "comm_dst" : "comm_src", kInt32, peer)
        .Has("comm_tag", kInt32, tag)
        .Has("comm_size", kInt64, size);
}

/// What PyTorch's observer says of process groups.
WireNode
GroupsOfRank(const std::string& list)
{
    WireNode metadata(0, kMetadataNode, "## process_group:init ##");
    metadata.text += Bytestring(8, Bytestring(1, list));
    return metadata;
}

std::vector<std::string>
Everywhere(uint32_t ranks, const std::string& text)
{
    return std::vector<std::string>(ranks, text);
}

Bytes
AllBytes(const RunReport& report)
{
    Bytes sum;
    for (const ClassReport& comm : report.classes)
    {
        sum += comm.bytes;
    }
    return sum;
}

// ASTRA-sim's test of 8 ranks. All of them together send 2 (n-1)/n S n = 14 S.
TEST_F(Chakra, AnAllReduceOfAllRanks)
{
    const TraceSpec trace = Read(Everywhere(8, Trace({Collective(1, 0, kMiB)})));
    ASSERT_EQ(trace.work->graph.ranks, 8U);
    ASSERT_EQ(trace.work->collectives.size(), 1U);
    EXPECT_EQ(trace.work->collectives[0]->op, CollectiveOp::AllReduce);
    EXPECT_EQ(trace.work->collectives[0]->bytes, Bytes(kMiB));
    EXPECT_EQ(trace.work->collectives[0]->group, RankGroup({{1, 8}}));
    for (const auto& report : {Run(AnalyticalEngine(), trace, BuildingsOf({8})),
                               Run(FlowEngine(Collisions::Expected), trace, BuildingsOf({8}))})
    {
        EXPECT_EQ(AllBytes(report), Bytes(14 * kMiB));
        EXPECT_EQ(report.crossBuildingBytes, Bytes(0));
    }
}

// Of an all-gather comm_size is what a member puts in, of all others the whole buffer: with n = 4
// and 1 MiB all together send (n-1) 4 MiB = 12 MiB; reduce-scatter (n-1) 1 MiB = 3; all-to-all
// n (n-1)/n 1 MiB = 3; to one member or from it (n-1) 1 MiB = 3, whoever it is; a barrier is an
// all-reduce of a byte for each, 2 (n-1)/n 4 n = 24 bytes.
TEST_F(Chakra, SizesAreCountedAsAstraSimDoes)
{
    const auto bytes = [&](uint64_t type) {
        return AllBytes(Run(AnalyticalEngine(),
                            Read(Everywhere(4, Trace({Collective(0, type, kMiB)}))),
                            BuildingsOf({4}, 4)));
    };
    EXPECT_EQ(bytes(2), Bytes(12 * kMiB));
    EXPECT_EQ(bytes(7), Bytes(3 * kMiB));
    EXPECT_EQ(bytes(8), Bytes(3 * kMiB));
    EXPECT_EQ(bytes(6), Bytes(3 * kMiB));
    EXPECT_EQ(bytes(1), Bytes(3 * kMiB));
    EXPECT_EQ(bytes(5), Bytes(3 * kMiB));
    EXPECT_EQ(bytes(9), Bytes(24));
}

// Chakra's generator: two computations of 5 us one after the other, and two that are independent,
// for which a GPU takes as long.
TEST_F(Chakra, ComputationsFollowEachOther)
{
    for (const bool waits : {true, false})
    {
        WireNode second = Compute(1, 5);
        if (waits)
        {
            second.After({0});
        }
        const RunReport report =
            Run(AnalyticalEngine(), Read({Trace({Compute(0, 5), second})}), BuildingsOf({1}, 1));
        EXPECT_EQ(report.iterationTime, Duration::Microseconds(10));
        EXPECT_EQ(report.computeTime, Duration::Microseconds(10));
    }
}

// Without a time work lasts as long as at the GPU's peak.
TEST_F(Chakra, OperationsTakeAsLongAsTheGpuNeeds)
{
    const ClusterSpec cluster = BuildingsOf({1}, 1);
    const auto node = WireNode(3, kCompNode, "matmul").Has("num_ops", kInt64, 1'000'000'000'000U);
    const RunReport report = Run(AnalyticalEngine(), Read({Trace({node})}), cluster);
    EXPECT_NEAR(report.iterationTime.S(), 1e12 / cluster.buildings[0].gpu.bf16Peak.Value(), 1e-12);
}

// What the CPU does takes no time, and orders what waits for it.
TEST_F(Chakra, WorkOfTheCpuOrdersAndTakesNoTime)
{
    const auto cpu = WireNode(1, kCompNode, "aten::mm").Has("is_cpu_op", kBool, 1U).Takes(100);
    const RunReport report = Run(AnalyticalEngine(),
                                 Read({Trace({WireNode(cpu).After({2}), Compute(2, 3)})}),
                                 BuildingsOf({1}, 1));
    EXPECT_EQ(report.iterationTime, Duration::Microseconds(3));
}

// Chakra's converter drops calls that no data depend on, and leaves their numbers in ctrl_deps.
TEST_F(Chakra, CallsMayBeMissing)
{
    const RunReport report =
        Run(AnalyticalEngine(),
            Read({Trace({Compute(2, 3).After({1}, 4), Compute(1, 4).After({77}, 4)})}),
            BuildingsOf({1}, 1));
    EXPECT_EQ(report.iterationTime, Duration::Microseconds(7));
}

// 5 us, then 100 MB to another server at 400 Gb/s at most, 2 ms, then 7 us there.
TEST_F(Chakra, AMessageIsWaitedForByWhatDependsOnIt)
{
    const uint64_t size = 100'000'000;
    const TraceSpec trace =
        Read({Trace({Compute(0, 5), Message(1, true, 1, size).After({0})}),
              Trace({Message(7, false, 0, size), Compute(9, 7).After({7}, 4)})});
    for (const auto& report : {Run(AnalyticalEngine(), trace, BuildingsOf({2}, 1)),
                               Run(FlowEngine(Collisions::Expected), trace, BuildingsOf({2}, 1))})
    {
        EXPECT_GT(report.iterationTime, Duration::Microseconds(2012));
        EXPECT_LT(report.iterationTime, Duration::Microseconds(2312));
        EXPECT_EQ(report.classes[static_cast<size_t>(CommClass::Pipeline)].bytes, Bytes(size));
    }
}

// STAGE, which writes traces for ASTRA-sim, numbers messages behind all that the rank computes.
TEST_F(Chakra, AMessageLeavesWhenItIsComputedWhateverItsNumber)
{
    const TraceSpec trace = Read({Trace({Compute(0, 100),
                                         Compute(1, 5000),
                                         Message(8, true, 1, 1000).After({0}),
                                         Message(9, true, 1, 1000, 1).After({8})}),
                                  Trace({Message(0, false, 0, 1000),
                                         Message(1, false, 0, 1000, 1),
                                         Compute(2, 4000).After({0, 1})})});
    for (const auto& report : {Run(AnalyticalEngine(), trace, BuildingsOf({2}, 2)),
                               Run(FlowEngine(Collisions::Expected), trace, BuildingsOf({2}, 2))})
    {
        EXPECT_EQ(report.iterationTime, Duration::Microseconds(5100));
        EXPECT_EQ(AllBytes(report), Bytes(2000));
    }
}

// Two microbatches over two stages, numbered one after the other: the first stage goes on with the
// second while it waits for the gradients of the first. 1 ms forward and 2 ms backward each.
TEST_F(Chakra, ARankGoesOnWithWhatItCanWhileItWaits)
{
    const TraceSpec trace = Read({Trace({Compute(0, 1000),
                                         Compute(1, 2000).After({20}),
                                         Compute(10, 1000),
                                         Compute(11, 2000).After({21}),
                                         Message(20, false, 1, 1000),
                                         Message(21, false, 1, 1000, 1),
                                         Message(22, true, 1, 1000).After({0}),
                                         Message(23, true, 1, 1000, 1).After({10})}),
                                  Trace({Compute(0, 1000).After({20}),
                                         Compute(1, 2000).After({0}),
                                         Compute(10, 1000).After({21}),
                                         Compute(11, 2000).After({10}),
                                         Message(20, false, 0, 1000),
                                         Message(21, false, 0, 1000, 1),
                                         Message(22, true, 0, 1000).After({1}),
                                         Message(23, true, 0, 1000, 1).After({11})})});
    for (const auto& report : {Run(AnalyticalEngine(), trace, BuildingsOf({2}, 2)),
                               Run(FlowEngine(Collisions::Expected), trace, BuildingsOf({2}, 2))})
    {
        EXPECT_GT(report.iterationTime, Duration::Microseconds(9000));
        EXPECT_LT(report.iterationTime, Duration::Microseconds(9100));
    }
}

// The same of stages of two ranks that reduce after each pass: members have these collectives in
// the order in which they come to them, which is not that of their numbers.
TEST_F(Chakra, CollectivesAreInTheOrderThatTheirRanksComeToThem)
{
    const auto stage = [](bool isFirst, uint64_t peer) {
        const std::string group = isFirst ? "1" : "2";
        std::vector<WireNode> nodes;
        for (const uint64_t tag : {0, 1})
        {
            const uint64_t at = 100 * tag;
            const uint64_t receive = 1000 + tag;
            nodes.push_back(Compute(at, 1000).After(isFirst ? std::vector<uint64_t>()
                                                            : std::vector<uint64_t>{receive}));
            nodes.push_back(Collective(at + 1, 0, 1000, group).After({at}));
            nodes.push_back(Compute(at + 2, 2000).After({isFirst ? receive : at + 1}));
            nodes.push_back(Collective(at + 3, 0, 1000, group).After({at + 2}));
            nodes.push_back(Message(receive, false, peer, 1000, tag));
            nodes.push_back(
                Message(2000 + tag, true, peer, 1000, tag).After({isFirst ? at + 1 : at + 3}));
        }
        return Trace(nodes);
    };
    const TraceSpec trace = Read({stage(true, 2), stage(true, 3), stage(false, 0), stage(false, 1)},
                                 R"({"1": [0, 1], "2": [2, 3]})");
    const RunReport report = Run(AnalyticalEngine(), trace, BuildingsOf({4}, 4));
    EXPECT_GT(report.iterationTime, Duration::Microseconds(9000));
    EXPECT_LT(report.iterationTime, Duration::Microseconds(9200));
    EXPECT_EQ(AllBytes(report), Bytes(2 * 4 * 2 * 1000 + 8 * 1000));
}

// By the order of their numbers each rank would wait for what the other sends behind that.
TEST_F(Chakra, RanksDoNotWaitForEachOtherWhereAnotherOrderHelps)
{
    const auto text = [](uint64_t peer) {
        return Trace({Message(0, false, peer, 1000),
                      Compute(1, 4).After({0}),
                      Message(2, true, peer, 1000)});
    };
    const RunReport report = Run(AnalyticalEngine(), Read({text(1), text(0)}), BuildingsOf({2}, 2));
    EXPECT_GT(report.iterationTime, Duration::Microseconds(4));
    EXPECT_EQ(AllBytes(report), Bytes(2000));
}

// Two groups of a file, and the same from what PyTorch observes: S 2 (n-1) of each of both.
TEST_F(Chakra, ProcessGroupsAreFoundInAFileOrInMetadata)
{
    const auto text = [](const std::vector<WireNode>& more, const std::string& group) {
        std::vector<WireNode> nodes = more;
        nodes.push_back(Collective(5, 0, 1000, group));
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
    const WireNode world = Collective(3, 0, 500, "0");
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
    const std::string inside = Trace({Collective(1, 0, 1000, "1")});
    std::vector<std::string> texts = Everywhere(12, Trace({Compute(1, 5)}));
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
                    std::vector<std::string> texts = Everywhere(ranks, Trace({Compute(1, 5)}));
                    for (const Rank member : members)
                    {
                        texts[member] = Trace({Collective(1, 0, kSize, "1")});
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
                      Collective(1, 0, 1000, "mesh")});
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
                   Collective(1, 0, 8, "1")});
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
        WireNode next = Collective(2, 0, 8, second);
        return Trace({Collective(1, 0, 8, first), waits ? next.After({1}) : next});
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

// What is on a stream of the GPU follows what is before it there, as chakra_converter says by
// nothing else; other streams go beside it.
TEST_F(Chakra, StreamsOfTheGpuAreInOrder)
{
    const auto time = [this](uint64_t stream) {
        const std::string text = Trace({Collective(1, 0, 100'000'000).Has("stream", kInt64, 20U),
                                        Compute(2, 3000).Has("stream", kInt64, stream)});
        const TraceSpec trace = Read({text, text});
        EXPECT_EQ(trace.work->warnings.size(), stream == 20 ? 0U : 1U);
        return Run(AnalyticalEngine(), trace, BuildingsOf({2}, 1)).iterationTime;
    };
    // 100 MB at 400 Gb/s at most are 2 ms.
    EXPECT_GT(time(20), Duration::Microseconds(5000));
    EXPECT_LT(time(7), Duration::Microseconds(3500));
}

// n = 4: an all-to-all of the mean of 0, 100, 200 and 100 bytes sends 3/4 of it for each member; an
// all-gather of 10, 20, 30 and 40 bytes (n-1) times all of them.
TEST_F(Chakra, MembersMayPutInDifferentSizes)
{
    const auto texts = [](uint64_t type, const std::vector<uint64_t>& sizes) {
        std::vector<std::string> all;
        for (const uint64_t size : sizes)
        {
            all.push_back(Trace({Collective(1, type, size)}));
        }
        return all;
    };
    const ClusterSpec cluster = BuildingsOf({4}, 4);
    const TraceSpec tokens = Read(texts(6, {0, 100, 200, 100}));
    EXPECT_EQ(AllBytes(Run(AnalyticalEngine(), tokens, cluster)), Bytes(300));
    ASSERT_EQ(tokens.work->warnings.size(), 1U);
    EXPECT_THAT(tokens.work->warnings[0], HasSubstr("up to 2 times the mean"));
    const TraceSpec gather = Read(texts(2, {10, 20, 30, 40}));
    EXPECT_EQ(AllBytes(Run(AnalyticalEngine(), gather, cluster)), Bytes(300));
    ASSERT_EQ(gather.work->warnings.size(), 1U);
    EXPECT_THAT(gather.work->warnings[0], HasSubstr("up to 1.6 times the mean"));
    EXPECT_THAT(Refusal(texts(0, {8, 8, 8, 16})), HasSubstr("the same of all members"));
    std::vector<std::string> pipeline = texts(6, {8, 8, 8});
    pipeline.push_back(Trace({}));
    EXPECT_THAT(Refusal(pipeline), testing::Not(HasSubstr("COMM_SEND_NODE")));
    WireNode grouped(1, kCollNode, "ncclDevKernel_SendRecv");
    grouped.Has("comm_type", kInt64, 6U).Has("comm_size", kInt64, 8U);
    EXPECT_THAT(Refusal({Trace({grouped}), Trace({})}), HasSubstr("as COMM_SEND_NODE"));
}

// Without a time, what reads more memory than its work takes time lasts as long as HBM needs.
TEST_F(Chakra, MemoryTakesTimeWhereWorkDoesNot)
{
    const ClusterSpec cluster = BuildingsOf({1}, 1);
    const auto node = WireNode(3, kCompNode, "norm")
                          .Has("num_ops", kInt64, 1000U)
                          .Has("tensor_size", kUint64, 1'000'000'000U);
    const RunReport report = Run(AnalyticalEngine(), Read({Trace({node})}), cluster);
    EXPECT_NEAR(report.iterationTime.S(),
                8e9 / cluster.buildings[0].gpu.hbmBandwidth.Value(),
                1e-12);
}

// What others have written is written as ours, and then gives the same result and the same bytes.
TEST_F(Chakra, TracesOfOthersAreWrittenAsOurs)
{
    const ClusterSpec cluster = BuildingsOf({4, 4}, 4);
    const TraceSpec others =
        Read(Everywhere(8,
                        Trace({Compute(1, 3),
                               Collective(2, 0, 12345).After({1}),
                               Collective(3, 2, 777),
                               WireNode(4, kCompNode, "x").Has("num_ops", kInt64, 1U << 30U),
                               Compute(5, 2).After({2, 3})})));
    const auto textsOf = [](const Scenario& scenario) {
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        const ChakraWriter writer(run);
        std::vector<std::string> texts;
        for (Rank rank = 0; rank < run.graph.ranks; rank++)
        {
            texts.push_back(writer.Trace(rank));
        }
        return texts;
    };
    const auto texts = textsOf(ScenarioOf(others, cluster));
    const RunReport before = Run(FlowEngine(Collisions::Expected), others, cluster);
    const TraceSpec ours = Read(texts);
    EXPECT_EQ(textsOf(ScenarioOf(ours, cluster)), texts);
    const RunReport after = Run(FlowEngine(Collisions::Expected), ours, cluster);
    EXPECT_EQ(after.iterationTime, before.iterationTime);
    EXPECT_EQ(AllBytes(after), AllBytes(before));
}

TEST_F(Chakra, WhatCannotBeDoneIsRefusedByName)
{
    const auto send = WireNode(4, kSendNode, "COMM_SEND_NODE").Has("tensor_size", kUint64, 1024U);
    const std::string idle = Trace({});

    struct Case
    {
        std::vector<std::string> texts;
        std::vector<std::string> says;
    };

    const std::vector<Case> cases = {
        {Everywhere(2, Trace({Collective(6, 4, 9)})),
         {"t.0.et", "node 6 'collective'", "comm_type is 4, SCATTER", "ALL_REDUCE (0)"}},
        {Everywhere(2, Trace({Collective(6, 77, 9)})), {"comm_type is 77"}},
        {Everywhere(2, Trace({WireNode(2, kCollNode, "x").Has("comm_size", kInt64, 9U)})),
         {"node 2 'x'", "it has no comm_type"}},
        {Everywhere(2, Trace({Collective(6, 0, 0)})), {"comm_size is 0"}},
        {Everywhere(2, Trace({Collective(6, 0, 9, "3")})), {"process group", "'3'", "'0'"}},
        {{Trace({send}), idle}, {"node 4 'COMM_SEND_NODE'", "it has no comm_dst"}},
        {{Trace({Message(1, true, 1, 8)}), idle}, {"it has no partner", "rank 1 has 0 receives"}},
        {{Trace({Message(1, false, 1, 8)}), idle}, {"it has no partner", "rank 1 has 0 sends"}},
        {{Trace({Message(1, true, 1, 8)}), Trace({Message(1, false, 0, 9)})},
         {"t.1.et", "it receives 9 bytes", "sends 8"}},
        {{Trace({Message(1, true, 0, 8)}), idle}, {"comm_dst is 0", "another rank"}},
        {{Trace({Message(1, true, 2, 8)}), idle}, {"comm_dst is 2", "0 to 1"}},
        {{Trace({WireNode(0, kMemLoadNode, "MEM_LOAD_NODE").Has("tensor_size", kUint64, 1U)})},
         {"of memory", "COMP_NODE"}},
        {{Trace({WireNode(1, 0, "INVALID_NODE")})}, {"its type is 0"}},
        {{Trace({WireNode(1, 99, "new")})}, {"its type is 99"}},
        {{Trace({Compute(1, 1), Compute(1, 2)})}, {"node 1", "given twice"}},
        {{Trace({Compute(1, 1).After({8})})}, {"node 1", "waits for node 8, which is not there"}},
        {{Trace({Compute(1, 1).After({2}), Compute(2, 1).After({1})})},
         {"wait for each other", "1 'COMP_NODE' waits for 2 'COMP_NODE'"}},
        {{Trace({Collective(1, 0, 8)}), idle}, {"rank 1 has 0 collectives"}},
        {{Trace({Collective(1, 0, 8)}), Trace({Collective(1, 2, 8)})},
         {"ALL_GATHER of 8 bytes", "ALL_REDUCE of 8 bytes"}},
        {{Trace({Message(1, false, 1, 8), Message(2, true, 1, 8).After({1})}),
          Trace({Message(1, false, 0, 8), Message(2, true, 0, 8).After({1})})},
         {"ranks wait for each other", "node 2 'send'", "node 1 'receive'"}},
        {Everywhere(2, Trace({Collective(1, 0, 8).Has("comm_size", kInt64, 9U)})),
         {"the attribute comm_size more than once"}},
        {{idle}, {"no rank computes or communicates anything"}},
        {{Trace({WireNode(1, kCompNode, "x").Has("is_cpu_op", std::string("no"))})},
         {"is_cpu_op is of type string", "0 or 1"}},
        {Everywhere(2,
                    Trace({WireNode(1, kCollNode, "x")
                               .Has("is_cpu_op", kBool, 1U)
                               .Has("comm_size", kInt64, 8U)})),
         {"is_cpu_op is true"}},
    };
    for (const Case& one : cases)
    {
        const std::string refusal = Refusal(one.texts);
        for (const std::string& part : one.says)
        {
            EXPECT_THAT(refusal, HasSubstr(part));
        }
        for (uint32_t rank = 0; rank < one.texts.size(); rank++)
        {
            std::filesystem::remove(m_folder.Of(ChakraFile("t", rank)));
        }
    }
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
                Everywhere(8, Trace({Collective(1, 0, kMiB).Has(name, type, 1U)}));
            std::fill(texts.begin() + 4,
                      texts.end(),
                      Trace({Collective(1, 0, kMiB).Has(name, type, 2U)}));
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
    const auto both = Collective(1, 0, kMiB, "1").Has("comm_group", kInt32, 2U);
    EXPECT_THAT(Refusal(Everywhere(2, Trace({both}))),
                HasSubstr("its pg_name is '1' and its comm_group '2'"));
}

TEST_F(Chakra, UnknownAttributesAreNamedOnce)
{
    const auto with = [](const std::string& name, uint64_t value) {
        return Everywhere(2, Trace({Collective(7, 0, kMiB).Has(name, kInt32, value)}));
    };
    const auto warnings = Read(with("comm_sizes", 1)).work->warnings;
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0], HasSubstr("nothing here reads the attribute 'comm_sizes'"));
    EXPECT_THAT(warnings[0], HasSubstr("t.0.et, node 7 'collective'"));
    EXPECT_THAT(warnings[0], HasSubstr("was comm_size meant?"));
    EXPECT_THAT(Read(with("comm_priority", 0)).work->warnings, testing::IsEmpty());
    EXPECT_THAT(Read(with("comm_priority", 3)).work->warnings,
                testing::ElementsAre(HasSubstr("comm_priority has no effect")));
}

TEST_F(Chakra, GroupsThatAreNoLatticeAreRefused)
{
    const auto all = Everywhere(4, Trace({Collective(1, 0, 8, "7")}));
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

TEST_F(Chakra, OtherFormatsAndDamageAreNamed)
{
    const std::string good = Trace({Compute(1, 1)});
    EXPECT_THAT(Refusal({""}), HasSubstr("the file is empty"));
    EXPECT_THAT(Refusal({"\x1f\x8b\b more"}), HasSubstr("gzip"));
    EXPECT_THAT(Refusal({"{\n \"schema\": \"1.0.2\"}"}), HasSubstr("JSON"));
    EXPECT_THAT(Refusal({Delimited(Compute(1, 1).text)}), HasSubstr("no GlobalMetadata"));
    EXPECT_THAT(Refusal({good + "\x80"}), HasSubstr("ends within the length"));
    EXPECT_THAT(Refusal({good + std::string(6, '\x80')}), HasSubstr("more than 5 bytes"));
    EXPECT_THAT(Refusal({good + "\x09x"}), HasSubstr("9 bytes long, and 1 are left"));
    EXPECT_THAT(Refusal({good + Delimited("\x0a")}), HasSubstr("is no node"));
    WireNode unknown = Compute(1, 1);
    unknown.text += Number(11, 5);
    EXPECT_THAT(Refusal({Trace({unknown})}), HasSubstr("node 1 has a field 11"));
    EXPECT_THAT(Refusal({good + Delimited(Bytestring(1, "0.0.4"))}), HasSubstr("has a field 1"));
}

TEST_F(Chakra, FilesAreOfAllRanksFromZero)
{
    TraceSpec trace;
    trace.files = m_folder.Of("t");
    EXPECT_THROW(ReadTraces(trace), ConfigError);
    m_folder.Write("t.1.et", Trace({Compute(1, 1)}));
    try
    {
        ReadTraces(trace);
        ADD_FAILURE() << "rank 0 is missing";
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("t.0.et"));
    }
    // A cluster of another size is no error of the file: nothing can run.
    const TraceSpec two = Read(Everywhere(2, Trace({Compute(1, 1)})));
    const RunResult result = AnalyticalEngine().Run(ScenarioOf(two, BuildingsOf({8})), {});
    ASSERT_TRUE(std::holds_alternative<Infeasible>(result));
    EXPECT_EQ(std::get<Infeasible>(result).reason, "ranks");
    EXPECT_THAT(std::get<Infeasible>(result).detail, HasSubstr("2 ranks"));
}

// Whatever is cut off or changed, it is read or refused, and nothing worse.
TEST_F(Chakra, NoDamageDoesWorseThanBeRefused)
{
    const std::string good = Trace({Compute(1, 300),
                                    Collective(2, 0, kMiB, "1").After({1}),
                                    WireNode(3, kMetadataNode, "m").After({2}),
                                    Compute(4, 2).After({3}, 4)});
    Read({good, good}, R"({"1": [0, 1]})");
    TraceSpec trace;
    trace.files = m_folder.Of("t");
    const auto attempt = [&](const std::string& text) {
        m_folder.Write("t.0.et", text);
        try
        {
            TraceSpec read = trace;
            ReadTraces(read);
        }
        catch (const ConfigError&)
        {
        }
    };
    for (size_t length = 0; length < good.size(); length++)
    {
        attempt(good.substr(0, length));
    }
    std::mt19937 random(1);
    for (int i = 0; i < 1000; i++)
    {
        std::string text = good;
        for (int flips = 0; flips < 1 + i % 3; flips++)
        {
            text[random() % text.size()] = static_cast<char>(random());
        }
        attempt(text);
    }
}

/// Our own traces of two ranks.
class OwnTraces : public Chakra
{
  protected:
    OwnTraces()
    {
        ParallelPlan plan;
        plan.pp = 2;
        const Scenario scenario =
            scaleacross::ScenarioOf(BuildingsOf({2}, 2), SmallModel(), plan, 2);
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        const ChakraWriter writer(run);
        m_texts = {writer.Trace(0), writer.Trace(1)};
    }

    std::vector<std::string> m_texts;
};

TEST_F(OwnTraces, ChangesAreNoticed)
{
    EXPECT_EQ(Refusal(m_texts), "nothing is refused");
    for (const size_t at : {m_texts[1].size() - 3, m_texts[1].size() / 2, size_t{40}})
    {
        auto texts = m_texts;
        texts[1][at]++;
        EXPECT_NE(Refusal(texts), "nothing is refused") << at;
    }
    auto texts = m_texts;
    texts[0] += Delimited(Compute(99, 5).text);
    EXPECT_THAT(Refusal(texts), HasSubstr("has been changed since ScaleAcross wrote it"));
    EXPECT_THAT(Refusal({m_texts[0], m_texts[1], m_texts[1]}), HasSubstr("it is one of 2 ranks"));
    std::filesystem::remove(m_folder.Of("t.2.et"));
    EXPECT_THAT(Refusal({m_texts[0], Trace({Compute(1, 1)})}), HasSubstr("t.1.et"));
    EXPECT_THAT(Refusal({m_texts[0], m_texts[0]}), HasSubstr("t.1.et: it is of rank 0"));
}

TEST_F(OwnTraces, TheirDigestIsHeld)
{
    TraceSpec trace = Read(m_texts);
    EXPECT_FALSE(trace.digest.empty());
    ReadTraces(trace);
    m_folder.Write("t.1.et", Trace({Compute(1, 1)}));
    m_folder.Write("t.0.et", Trace({Compute(1, 1)}));
    EXPECT_THROW(ReadTraces(trace), ConfigError);
}

TEST_F(OwnTraces, TheirPhasesAreForTheirPlaces)
{
    const RunResult result =
        AnalyticalEngine().Run(ScenarioOf(Read(m_texts), BuildingsOf({1, 1}, 1)), {});
    ASSERT_TRUE(std::holds_alternative<Infeasible>(result));
    EXPECT_EQ(std::get<Infeasible>(result).reason, "places");
}

} // namespace
} // namespace scaleacross
