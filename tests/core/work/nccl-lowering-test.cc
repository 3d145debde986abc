// SPDX-License-Identifier: GPL-2.0-only

#include "../schedule-scenario.h"
#include "core/work/nccl/nccl-lowering.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

namespace scaleacross
{

namespace
{

/// Two servers of eight H100 on a network whose plugin takes 3, and 8 us more for trees, and lets
/// data in at 100 Gb/s, with flags at 20 Gb/s.
NcclRules
Rules()
{
    NcclRules rules;
    rules.architecture = "hopper";
    rules.scaleUpNominal = 450e9;
    rules.scaleUpRate = 365e9;
    rules.nicRate = rules.nicNominal = 50e9;
    rules.netStep = Duration::Microseconds(3);
    rules.netLong = Duration::Microseconds(8);
    rules.netFill = 100e9 / 8;
    rules.netFlags = 20e9 / 8;
    return rules;
}

Collective
Lowered(CollectiveOp op,
        uint64_t bytes,
        const NcclRules& rules,
        const std::vector<uint32_t>& buildings = {16})
{
    ParallelPlan plan;
    plan.dp = 16;
    const auto layout = std::get<RankLayout>(LayOut(plan, BuildingsOf(buildings, 8)));
    return LowerByNccl(op, CommClass::Data, Bytes(bytes), RankGroup({{1, 16}}), layout, rules);
}

/// What a step of the phase between servers takes beyond the way.
double
BetweenUs(const Collective& collective, Pattern pattern)
{
    const auto phase = std::find_if(collective.phases.begin(),
                                    collective.phases.end(),
                                    [&](const Phase& each) { return each.pattern == pattern; });
    return phase == collective.phases.end() ? 0 : phase->between.fixed.Us();
}

// A tree's Simple step has 14 us in NCCL's table, a ring's LL step 2.7: 11.3 beyond the way. Of 8
// MiB each of eight positions sends 1 MiB, of 64 MiB 8 MiB, of which 2 MiB count.
TEST(NcclLowering, TreesPayThePluginOncePerStep)
{
    NcclRules rules = Rules();
    rules.algorithm = "tree";
    rules.protocol = "simple";
    const auto at = [&](uint64_t bytes) {
        return BetweenUs(Lowered(CollectiveOp::AllReduce, bytes, rules), Pattern::DoubleTree);
    };
    EXPECT_NEAR(at(8 << 20), 11.3 + 3 + 8 + (1 << 20) * 8 / 100e9 * 1e6, 1e-3);
    EXPECT_NEAR(at(64 << 20), 11.3 + 3 + 8 + (2 << 20) * 8 / 100e9 * 1e6, 1e-3);
    // Below 4 KiB nothing is longer.
    EXPECT_NEAR(at(2048), 11.3 + 3 + 256 * 8 / 100e9 * 1e6, 1e-3);
}

// LL: the way and nothing more, by a ring of each of eight positions. A step has 1/16 of 1/8, twice
// on the wire: 16 KiB of 1 MiB, and 128 KiB at most.
TEST(NcclLowering, FlagsEnterAtTheirOwnRate)
{
    NcclRules rules = Rules();
    rules.algorithm = "ring";
    rules.protocol = "ll";
    const auto at = [&](uint64_t bytes) {
        return BetweenUs(Lowered(CollectiveOp::AllGather, bytes, rules), Pattern::RingAllGather);
    };
    EXPECT_NEAR(at(1 << 20), 3 + (16 << 10) * 8 / 20e9 * 1e6, 1e-3);
    EXPECT_NEAR(at(64 << 20), 3 + (128 << 10) * 8 / 20e9 * 1e6, 1e-3);
}

// Rings of NCCL load the links of eight GPUs nine times for seven hops; RCCL has no PXN.
TEST(NcclLowering, RingsOfRcclEnterWhereTheNicIs)
{
    NcclRules rules = Rules();
    rules.algorithm = "ring";
    rules.protocol = "simple";
    EXPECT_DOUBLE_EQ(Lowered(CollectiveOp::AllGather, 1 << 30, rules).phases[0].occupied, 9.0 / 7);
    rules.architecture = "cdna3";
    EXPECT_DOUBLE_EQ(Lowered(CollectiveOp::AllGather, 1 << 30, rules).phases[0].occupied, 1);
}

// What a NIC sends to switches that reduce, and receives from them, is its GPU's part of the buffer
// once: of 64 MiB in eight positions 8 MiB, where a tree over two servers has as much and a ring (N
// - 1) / N of it twice. No switch does so between buildings.
TEST(NcclLowering, SwitchesThatReduceHaveEveryPartOnce)
{
    NcclRules rules = Rules();
    rules.collnet = true;
    for (const auto& [word, inside, gathered] :
         {std::tuple{"collnet-chain", Pattern::RingReduceScatter, Pattern::RingAllGather},
          {"collnet-direct", Pattern::DirectAllToAll, Pattern::DirectAllToAll}})
    {
        rules.algorithm = word;
        const Collective made = Lowered(CollectiveOp::AllReduce, 64 << 20, rules);
        EXPECT_EQ(made.algorithm, word);
        ASSERT_EQ(made.phases.size(), 3U);
        EXPECT_EQ(made.phases[0].pattern, inside);
        EXPECT_EQ(made.phases[1].pattern, Pattern::SendToNext);
        EXPECT_EQ(made.phases[2].pattern, gathered);
        EXPECT_EQ(SentBy(made.phases[1], 0), Bytes(8 << 20));
        EXPECT_NE(Lowered(CollectiveOp::AllReduce, 64 << 20, rules, {8, 8}).algorithm, word);
    }
}

} // namespace

} // namespace scaleacross
