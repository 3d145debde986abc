// SPDX-License-Identifier: GPL-2.0-only

// Work and its times, of traces as Chakra's public tools write them.

#include "../schedule-scenario.h"
#include "chakra-traces.h"
#include "chakra-wire.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/chakra/chakra-writer.h"
#include "core/work/graph/trace-graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

// ASTRA-sim's test of 8 ranks. All of them together send 2 (n-1)/n S n = 14 S.
TEST_F(Chakra, AnAllReduceOfAllRanks)
{
    const TraceSpec trace = Read(Everywhere(8, Trace({CollectiveNode(1, 0, kMiB)})));
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
                            Read(Everywhere(4, Trace({CollectiveNode(0, type, kMiB)}))),
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
        WireNode second = ComputeNode(1, 5);
        if (waits)
        {
            second.After({0});
        }
        const RunReport report = Run(AnalyticalEngine(),
                                     Read({Trace({ComputeNode(0, 5), second})}),
                                     BuildingsOf({1}, 1));
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
                                 Read({Trace({WireNode(cpu).After({2}), ComputeNode(2, 3)})}),
                                 BuildingsOf({1}, 1));
    EXPECT_EQ(report.iterationTime, Duration::Microseconds(3));
}

// Chakra's converter drops calls that no data depend on, and leaves their numbers in ctrl_deps.
TEST_F(Chakra, CallsMayBeMissing)
{
    const RunReport report =
        Run(AnalyticalEngine(),
            Read({Trace({ComputeNode(2, 3).After({1}, 4), ComputeNode(1, 4).After({77}, 4)})}),
            BuildingsOf({1}, 1));
    EXPECT_EQ(report.iterationTime, Duration::Microseconds(7));
}

// 5 us, then 100 MB to another server at 400 Gb/s at most, 2 ms, then 7 us there.
TEST_F(Chakra, AMessageIsWaitedForByWhatDependsOnIt)
{
    const uint64_t size = 100'000'000;
    const TraceSpec trace =
        Read({Trace({ComputeNode(0, 5), MessageNode(1, true, 1, size).After({0})}),
              Trace({MessageNode(7, false, 0, size), ComputeNode(9, 7).After({7}, 4)})});
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
    const TraceSpec trace = Read({Trace({ComputeNode(0, 100),
                                         ComputeNode(1, 5000),
                                         MessageNode(8, true, 1, 1000).After({0}),
                                         MessageNode(9, true, 1, 1000, 1).After({8})}),
                                  Trace({MessageNode(0, false, 0, 1000),
                                         MessageNode(1, false, 0, 1000, 1),
                                         ComputeNode(2, 4000).After({0, 1})})});
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
    const TraceSpec trace = Read({Trace({ComputeNode(0, 1000),
                                         ComputeNode(1, 2000).After({20}),
                                         ComputeNode(10, 1000),
                                         ComputeNode(11, 2000).After({21}),
                                         MessageNode(20, false, 1, 1000),
                                         MessageNode(21, false, 1, 1000, 1),
                                         MessageNode(22, true, 1, 1000).After({0}),
                                         MessageNode(23, true, 1, 1000, 1).After({10})}),
                                  Trace({ComputeNode(0, 1000).After({20}),
                                         ComputeNode(1, 2000).After({0}),
                                         ComputeNode(10, 1000).After({21}),
                                         ComputeNode(11, 2000).After({10}),
                                         MessageNode(20, false, 0, 1000),
                                         MessageNode(21, false, 0, 1000, 1),
                                         MessageNode(22, true, 0, 1000).After({1}),
                                         MessageNode(23, true, 0, 1000, 1).After({11})})});
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
            nodes.push_back(ComputeNode(at, 1000).After(isFirst ? std::vector<uint64_t>()
                                                                : std::vector<uint64_t>{receive}));
            nodes.push_back(CollectiveNode(at + 1, 0, 1000, group).After({at}));
            nodes.push_back(ComputeNode(at + 2, 2000).After({isFirst ? receive : at + 1}));
            nodes.push_back(CollectiveNode(at + 3, 0, 1000, group).After({at + 2}));
            nodes.push_back(MessageNode(receive, false, peer, 1000, tag));
            nodes.push_back(
                MessageNode(2000 + tag, true, peer, 1000, tag).After({isFirst ? at + 1 : at + 3}));
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
        return Trace({MessageNode(0, false, peer, 1000),
                      ComputeNode(1, 4).After({0}),
                      MessageNode(2, true, peer, 1000)});
    };
    const RunReport report = Run(AnalyticalEngine(), Read({text(1), text(0)}), BuildingsOf({2}, 2));
    EXPECT_GT(report.iterationTime, Duration::Microseconds(4));
    EXPECT_EQ(AllBytes(report), Bytes(2000));
}

// What is on a stream of the GPU follows what is before it there, as chakra_converter says by
// nothing else; other streams go beside it.
TEST_F(Chakra, StreamsOfTheGpuAreInOrder)
{
    const auto time = [this](uint64_t stream) {
        const std::string text =
            Trace({CollectiveNode(1, 0, 100'000'000).Has("stream", kInt64, 20U),
                   ComputeNode(2, 3000).Has("stream", kInt64, stream)});
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
            all.push_back(Trace({CollectiveNode(1, type, size)}));
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
                        Trace({ComputeNode(1, 3),
                               CollectiveNode(2, 0, 12345).After({1}),
                               CollectiveNode(3, 2, 777),
                               WireNode(4, kCompNode, "x").Has("num_ops", kInt64, 1U << 30U),
                               ComputeNode(5, 2).After({2, 3})})));
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

} // namespace
} // namespace scaleacross
