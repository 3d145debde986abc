// SPDX-License-Identifier: GPL-2.0-only

#include "../graph-interpreter.h"
#include "../schedule-scenario.h"
#include "core/engine/analytical-engine.h"
#include "core/spec/plan-fields.h"
#include "core/work/graph/collective-graph.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

/// A collective on buildings of `gpus` each, 8 per node.
Scenario
CollectiveOn(const std::vector<uint32_t>& gpus, const CollectiveSpec& spec)
{
    Scenario scenario;
    scenario.cluster = BuildingsOf(gpus);
    scenario.jobs.emplace_back();
    scenario.Job().collective = spec;
    return scenario;
}

CollectiveSpec
SpecOf(CollectiveOp op, CollectiveGroup group, uint64_t bytes, uint32_t groups = 0)
{
    CollectiveSpec spec;
    spec.op = op;
    spec.group = group;
    spec.groups = groups;
    spec.bytes = Bytes(bytes);
    return spec;
}

PreparedRun
Prepared(const Scenario& scenario)
{
    auto run = PrepareRun(scenario);
    if (const auto* no = std::get_if<Infeasible>(&run))
    {
        SCALEACROSS_INVARIANT(false, no->reason + ": " + no->detail);
    }
    return std::get<PreparedRun>(std::move(run));
}

std::string
ReasonOf(const Scenario& scenario)
{
    const auto run = PrepareRun(scenario);
    const auto* no = std::get_if<Infeasible>(&run);
    return no == nullptr ? "" : no->reason;
}

TEST(CollectiveGraph, FamiliesAreThoseOfTheHeader)
{
    const RankLayout layout =
        Prepared(CollectiveOn({16, 16}, SpecOf(CollectiveOp::AllReduce, CollectiveGroup::All, 8)))
            .layout;
    const auto of = [&layout](CollectiveGroup group) {
        return std::get<RankGroup>(GroupOf(group, layout));
    };
    EXPECT_EQ(of(CollectiveGroup::All), RankGroup({{1, 32}}));
    EXPECT_EQ(of(CollectiveGroup::Across), RankGroup({{16, 2}}));
    EXPECT_EQ(of(CollectiveGroup::Building), RankGroup({{1, 16}}));
    EXPECT_EQ(of(CollectiveGroup::Rail), RankGroup({{8, 4}}));
    EXPECT_EQ(of(CollectiveGroup::Node), RankGroup({{1, 8}}));
}

TEST(CollectiveGraph, GroupsThatCannotBeAreNamed)
{
    const auto reason = [](const std::vector<uint32_t>& gpus, CollectiveGroup group, uint32_t n) {
        return ReasonOf(CollectiveOn(gpus, SpecOf(CollectiveOp::AllReduce, group, 8, n)));
    };
    EXPECT_EQ(reason({32}, CollectiveGroup::Across, 0), "group");
    EXPECT_EQ(reason({32, 16}, CollectiveGroup::Building, 0), "group");
    EXPECT_EQ(reason({16, 32}, CollectiveGroup::Building, 0), "group");
    EXPECT_EQ(reason({8}, CollectiveGroup::Rail, 0), "group");
    EXPECT_EQ(reason({16, 16}, CollectiveGroup::Across, 17), "groups");
    EXPECT_EQ(reason({16, 16}, CollectiveGroup::Across, 16), "");
    EXPECT_EQ(reason({16, 16}, CollectiveGroup::Building, 2), "");
}

TEST(CollectiveGraph, EveryRankSendsWhatThePhasesSay)
{
    // 32 ranks, 8 per node, two buildings; S = 32 KiB divides evenly, so that every rank sends the
    // same: S (n-1)/n at each level, on S, S/8, S/16.
    constexpr uint64_t s = 32 << 10;
    const uint64_t levels = s * 7 / 8 + s / 8 / 2 + s / 16 / 2;
    const std::vector<std::pair<CollectiveOp, uint64_t>> cases = {
        {CollectiveOp::AllReduce, 2 * levels},
        {CollectiveOp::AllGather, levels},
        {CollectiveOp::ReduceScatter, levels},
        // By two hops: inside the building 15 of 16 parts, across half of the buffer.
        {CollectiveOp::AllToAll, s * 15 / 16 + s / 2},
        {CollectiveOp::SendReceive, s}};
    for (const auto& [op, bytes] : cases)
    {
        const PreparedRun run =
            Prepared(CollectiveOn({16, 16}, SpecOf(op, CollectiveGroup::All, s)));
        GraphInterpreter interpreter(run.graph);
        EXPECT_EQ(interpreter.Run(3), "") << ToString(op);
        for (const RankTally& tally : interpreter.Tallies())
        {
            EXPECT_EQ(tally.sent[static_cast<size_t>(CommClass::Data)], Bytes(3 * bytes))
                << ToString(op);
        }
    }
}

TEST(CollectiveGraph, WhatCrossesIsTheAlgorithmsLaw)
{
    // Two buildings of 16 ranks, 8 per node, so that 8 groups of 4 servers do what is between
    // servers, each with S/8; S divides evenly.
    // Rings, one way or both: 2 boundaries x S (4-1)/4, all-reduce twice. Where the building is a
    // level: S, all-reduce twice. Tree over 4 servers: 0 - 2 - {1, 3} and 3 - 1 - {2, 0}, of
    // which 0-2, 2-1, 3-1 and 1-2 cross, each with S/2 up and down. All-to-all: half of S from each
    // of 32 ranks.
    constexpr uint64_t s = 1 << 20;

    struct Case
    {
        CollectiveOp op;
        CollectiveAlgorithm algorithm;
        AllToAllAlgorithm way;
        double cross; //!< in S
    };

    for (const Case& c : {Case{CollectiveOp::AllReduce, "ring", "follow", 3},
                          Case{CollectiveOp::AllGather, "ring", "follow", 1.5},
                          Case{CollectiveOp::AllReduce, "bidirectional-ring", "follow", 3},
                          Case{CollectiveOp::ReduceScatter, "bidirectional-ring", "follow", 1.5},
                          Case{CollectiveOp::AllReduce, "hierarchical", "follow", 2},
                          Case{CollectiveOp::AllReduce, "halving-doubling", "follow", 2},
                          Case{CollectiveOp::AllGather, "halving-doubling", "follow", 1},
                          Case{CollectiveOp::AllReduce, "tree", "follow", 4},
                          Case{CollectiveOp::AllGather, "tree", "follow", 1.5},
                          Case{CollectiveOp::AllToAll, "ring", "direct", 16},
                          Case{CollectiveOp::AllToAll, "ring", "rail", 16},
                          Case{CollectiveOp::AllToAll, "ring", "building", 16}})
    {
        for (const uint64_t chunk : {uint64_t{0}, s / 3}) // which does not divide S
        {
            Scenario scenario = CollectiveOn({16, 16}, SpecOf(c.op, CollectiveGroup::All, s));
            scenario.network.collective = c.algorithm;
            scenario.network.allToAll = c.way;
            scenario.network.collectiveChunk = Bytes(chunk);
            EXPECT_EQ(CrossBuildingBytes(Prepared(scenario)),
                      Bytes(static_cast<uint64_t>(c.cross * s)))
                << ToString(c.op) << " " << ToString(c.algorithm) << " " << ToString(c.way);
        }
    }
}

TEST(CollectiveGraph, RanksOfOtherGroupsTakeNoPart)
{
    const PreparedRun run = Prepared(
        CollectiveOn({16, 16}, SpecOf(CollectiveOp::AllReduce, CollectiveGroup::Across, 64, 3)));
    for (Rank rank = 0; rank < 32; rank++)
    {
        const RankClass& own = run.graph.classes[run.graph.ClassOf(rank)];
        EXPECT_EQ(own.program.ops.empty(), rank % 16 >= 3) << rank;
    }
    ASSERT_EQ(run.graph.classes.size(), 2U);
    EXPECT_EQ(run.graph.classes[0].ranks, 6U);
    EXPECT_EQ(run.graph.classes[1].ranks, 26U);
}

TEST(CollectiveGraph, BuildingsThatDifferAreClassesOfTheirOwn)
{
    // Blocks of 8: an all-reduce across has four members, two of them in the first building.
    const PreparedRun run = Prepared(
        CollectiveOn({16, 8, 8}, SpecOf(CollectiveOp::AllReduce, CollectiveGroup::Across, 64)));
    ASSERT_EQ(run.graph.classes.size(), 3U);
    EXPECT_EQ(run.graph.classes[0].ranks, 16U);
    EXPECT_EQ(run.graph.classes[2].representative, 24U);
    EXPECT_EQ(run.graph.collectives[0].phases[0].group.Size(), 4U);
}

TEST(CollectiveGraph, SendReceiveTakesOneMessageOfTheLongestWay)
{
    // Neighbours in the ring of all ranks: most are on one server, the last of a building sends to
    // the other. One building at 400 Gb/s: 1 MiB is 256 x (4,178 + 86 / 4) x 8 / 400e9 = 21.501 us.
    // Latency: links 0.5 + 1 + 50 + 1 + 0.5 us; a packet is serialised once more on the NIC's link
    // at 400 Gb/s (83.56 ns), on two uplinks of a leaf with 2 NICs at 800 Gb/s (41.78 ns each) and
    // on the span at 1 Tb/s (33.42 ns).
    const Scenario scenario =
        CollectiveOn({16, 16}, SpecOf(CollectiveOp::SendReceive, CollectiveGroup::All, 1 << 20));
    const auto result = AnalyticalEngine().Run(scenario, RunOptions());
    const double us = std::get<RunReport>(result).iterationTime.Us();
    EXPECT_NEAR(us, 21.5014 + 53.0 + 0.0836 + 2 * 0.0418 + 0.0334, 0.001);
}

TEST(CollectiveGraph, TheReportHasBytesButNoModel)
{
    const Scenario scenario =
        CollectiveOn({16, 16}, SpecOf(CollectiveOp::SendReceive, CollectiveGroup::Across, 1000));
    const RunReport report = std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions()));
    EXPECT_EQ(report.Of(CommClass::Data).bytes, Bytes(32'000));
    EXPECT_EQ(report.crossBuildingBytes, Bytes(32'000));
    EXPECT_EQ(report.mfu, 0);
    EXPECT_TRUE(report.memory.empty());
    EXPECT_EQ(report.computeTime, Duration());
}

TEST(CollectiveGraph, BusBandwidthIsThatOfNcclTests)
{
    EXPECT_DOUBLE_EQ(BusFactor(CollectiveOp::AllReduce, 8), 1.75);
    EXPECT_DOUBLE_EQ(BusFactor(CollectiveOp::AllGather, 8), 0.875);
    EXPECT_DOUBLE_EQ(BusFactor(CollectiveOp::ReduceScatter, 8), 0.875);
    EXPECT_DOUBLE_EQ(BusFactor(CollectiveOp::AllToAll, 8), 0.875);
    EXPECT_DOUBLE_EQ(BusFactor(CollectiveOp::SendReceive, 8), 1);
}

} // namespace
} // namespace scaleacross
