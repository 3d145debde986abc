// SPDX-License-Identifier: GPL-2.0-only

// Every lowered collective is carried out on sets of buffer parts, following only MessageOf(), and
// must leave every member with what the operation promises. Phase sizes are checked on the way.

#include "../schedule-scenario.h"
#include "core/work/collectives/lowering.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

using Set = std::set<uint32_t>;

/// 64 ranks in nodes of 4 and two buildings, tp = 2, cp = 2, ep = 2, pp = 2, dp = 8.
RankLayout
Layout()
{
    ParallelPlan plan;
    plan.tp = plan.cp = plan.ep = plan.pp = 2;
    plan.dp = 8;
    return std::get<RankLayout>(LayOut(plan, BuildingsOf({32, 32}, 4)));
}

/// 60 ranks in nodes of 3 and two buildings, dp = 60: levels of 3, 10 and 2.
RankLayout
OddLayout()
{
    ParallelPlan plan;
    plan.dp = 60;
    return std::get<RankLayout>(LayOut(plan, BuildingsOf({30, 30}, 3)));
}

std::vector<RankGroup>
Groups(const RankLayout& layout)
{
    return {layout.tensor,
            layout.context,
            layout.expert,
            layout.dense,
            layout.experts,
            RankGroup({{1, layout.ranks}})};
}

const CollectiveAlgorithm kAlgorithms[] = {CollectiveAlgorithm("ring"),
                                           CollectiveAlgorithm("hierarchical"),
                                           CollectiveAlgorithm("halving-doubling")};
// Two-way rings and trees carry halves of parts: collective-test.cc carries them out.
constexpr uint64_t kUnit = 12; // bytes per elementary part, of which a buffer has one per member

/// A member's buffer during reductions: a range of elementary parts, and who is summed in each.
struct Reduced
{
    uint32_t begin{0};
    uint32_t end{0};
    std::vector<Set> summed; //!< of all parts; only those in range count
};

/// True of the last phase in which a level is reduced, or the first in which it is gathered.
bool
IsNextToPart(const Phase& phase)
{
    return phase.shift == 1;
}

/// The parts that member i sends in step k: (first, count), of n.
std::pair<uint32_t, uint32_t>
PartsSent(const Phase& phase, uint32_t i, uint32_t k)
{
    const uint32_t n = phase.group.Size();
    switch (phase.pattern)
    {
    case Pattern::RingReduceScatter:
        return {(i + 2 * n - k - 1) % n, 1};
    case Pattern::RingAllGather:
        return {(i + n - k) % n, 1};
    case Pattern::JumpReduceScatter:
        return {(i + phase.shift) % n, phase.parts};
    case Pattern::JumpAllGather:
        return {i, phase.parts};
    default:
        ADD_FAILURE() << "not a pattern of reductions and gathers";
        return {0, 0};
    }
}

/// Runs a phase of reduce-scatter within each group; with the last one of a level every member goes
/// on with its part of the range.
void
ReduceScatter(const Phase& phase, std::vector<Reduced>& ranks)
{
    const uint32_t n = phase.group.Size();
    const auto partOf = [n](const Reduced& rank, uint32_t part) {
        const uint32_t size = (rank.end - rank.begin) / n;
        return std::make_pair(rank.begin + part * size, rank.begin + (part + 1) * size);
    };
    for (uint32_t k = 0; k < StepCount(phase); k++)
    {
        const auto before = ranks;
        for (Rank r = 0; r < ranks.size(); r++)
        {
            EXPECT_EQ(phase.bytes.Count(), (ranks[r].end - ranks[r].begin) * kUnit);
            const uint32_t i = phase.group.IndexOf(r);
            const PhaseMessage message = MessageOf(phase, i, 0, k);
            const Rank to = phase.group.Member(r, message.to);
            const auto [first, count] = PartsSent(phase, i, k);
            Bytes sent;
            for (uint32_t p = first; p < first + count; p++)
            {
                const auto [begin, end] = partOf(before[r], p % n);
                sent += Bytes((end - begin) * kUnit);
                for (uint32_t part = begin; part < end; part++)
                {
                    ranks[to].summed[part].insert(before[r].summed[part].begin(),
                                                  before[r].summed[part].end());
                }
            }
            EXPECT_EQ(message.bytes, sent);
        }
    }
    if (!IsNextToPart(phase))
    {
        return;
    }
    for (Rank r = 0; r < ranks.size(); r++)
    {
        std::tie(ranks[r].begin, ranks[r].end) = partOf(ranks[r], phase.group.IndexOf(r));
    }
}

/// What the members of a level start its all-gather from.
template <class Value>
using Starts = std::vector<std::set<Value>>;

/// Runs a phase of all-gather within each group on whatever each member starts from.
template <class Value>
void
AllGather(const Phase& phase, Starts<Value>& start, Starts<Value>& ranks)
{
    const uint32_t n = phase.group.Size();
    if (IsNextToPart(phase))
    {
        start = ranks;
    }
    for (uint32_t k = 0; k < StepCount(phase); k++)
    {
        const auto before = ranks;
        for (Rank r = 0; r < ranks.size(); r++)
        {
            const uint32_t i = phase.group.IndexOf(r);
            const PhaseMessage message = MessageOf(phase, i, 0, k);
            const Rank to = phase.group.Member(r, message.to);
            const auto [first, count] = PartsSent(phase, i, k);
            for (uint32_t p = first; p < first + count; p++)
            {
                const auto& sent = start[phase.group.Member(r, p % n)];
                EXPECT_EQ(phase.bytes.Count(), sent.size() * n * kUnit);
                EXPECT_EQ(message.bytes.Count(), sent.size() * count * kUnit);
                EXPECT_TRUE(
                    std::includes(before[r].begin(), before[r].end(), sent.begin(), sent.end()))
                    << "sends what it has not got yet";
                ranks[to].insert(sent.begin(), sent.end());
            }
        }
    }
}

Set
MembersOf(const RankGroup& group, Rank rank)
{
    Set members;
    for (uint32_t i = 0; i < group.Size(); i++)
    {
        members.insert(group.Member(rank, i));
    }
    return members;
}

std::vector<Reduced>
Unreduced(const RankLayout& layout, const RankGroup& group)
{
    std::vector<Reduced> ranks(layout.ranks);
    for (Rank r = 0; r < layout.ranks; r++)
    {
        ranks[r] = {0, group.Size(), std::vector<Set>(group.Size(), Set{r})};
    }
    return ranks;
}

} // namespace

TEST(Lowering, ReduceScatterLeavesEachPartReducedOnce)
{
    for (const auto& layout : {Layout(), OddLayout()})
    {
        for (const auto algorithm : kAlgorithms)
        {
            for (const auto& group : Groups(layout))
            {
                const auto lowered = Lower(CollectiveOp::ReduceScatter,
                                           CommClass::Data,
                                           Bytes(group.Size() * kUnit),
                                           group,
                                           layout,
                                           algorithm);
                auto ranks = Unreduced(layout, group);
                for (const auto& phase : lowered.phases)
                {
                    ReduceScatter(phase, ranks);
                }
                for (Rank r = 0; r < layout.ranks; r++)
                {
                    EXPECT_EQ(ranks[r].end, ranks[r].begin + 1);
                    EXPECT_EQ(ranks[r].summed[ranks[r].begin], MembersOf(group, r));
                    Set parts;
                    for (const Rank member : MembersOf(group, r))
                    {
                        parts.insert(ranks[member].begin);
                    }
                    EXPECT_EQ(parts.size(), group.Size());
                }
            }
        }
    }
}

TEST(Lowering, AllReduceLeavesEverythingReducedEverywhere)
{
    for (const auto& layout : {Layout(), OddLayout()})
    {
        for (const auto algorithm : kAlgorithms)
        {
            for (const auto& group : Groups(layout))
            {
                const auto lowered = Lower(CollectiveOp::AllReduce,
                                           CommClass::Data,
                                           Bytes(group.Size() * kUnit),
                                           group,
                                           layout,
                                           algorithm);
                auto ranks = Unreduced(layout, group);
                size_t next = 0;
                for (; next < lowered.phases.size() &&
                       (lowered.phases[next].pattern == Pattern::RingReduceScatter ||
                        lowered.phases[next].pattern == Pattern::JumpReduceScatter);
                     next++)
                {
                    ReduceScatter(lowered.phases[next], ranks);
                }
                std::vector<Set> parts;
                for (Rank r = 0; r < layout.ranks; r++)
                {
                    EXPECT_EQ(ranks[r].end, ranks[r].begin + 1);
                    EXPECT_EQ(ranks[r].summed[ranks[r].begin], MembersOf(group, r));
                    parts.push_back({ranks[r].begin});
                }
                std::vector<Set> start;
                for (; next < lowered.phases.size(); next++)
                {
                    AllGather(lowered.phases[next], start, parts);
                }
                for (Rank r = 0; r < layout.ranks; r++)
                {
                    EXPECT_EQ(parts[r].size(), group.Size());
                }
            }
        }
    }
}

TEST(Lowering, AllGatherBringsEveryPartToEverybody)
{
    for (const auto& layout : {Layout(), OddLayout()})
    {
        for (const auto algorithm : kAlgorithms)
        {
            for (const auto& group : Groups(layout))
            {
                const auto lowered = Lower(CollectiveOp::AllGather,
                                           CommClass::Data,
                                           Bytes(group.Size() * kUnit),
                                           group,
                                           layout,
                                           algorithm);
                std::vector<Set> ranks;
                for (Rank r = 0; r < layout.ranks; r++)
                {
                    ranks.push_back({r});
                }
                std::vector<Set> start;
                for (const auto& phase : lowered.phases)
                {
                    AllGather(phase, start, ranks);
                }
                for (Rank r = 0; r < layout.ranks; r++)
                {
                    EXPECT_EQ(ranks[r], MembersOf(group, r));
                }
            }
        }
    }
}

TEST(Lowering, AllToAllDeliversEachPairItsPart)
{
    using Item = std::pair<Rank, Rank>; // from, to
    for (const auto& layout : {Layout(), OddLayout()})
    {
        for (const auto way : {AllToAllAlgorithm("follow"),
                               AllToAllAlgorithm("direct"),
                               AllToAllAlgorithm("rail"),
                               AllToAllAlgorithm("building"),
                               AllToAllAlgorithm("once")})
        {
            LoweringRules rules(CollectiveAlgorithm("hierarchical"));
            rules.allToAll = way;
            for (const auto& group : Groups(layout))
            {
                const auto lowered = Lower(CollectiveOp::AllToAll,
                                           CommClass::Expert,
                                           Bytes(group.Size() * kUnit),
                                           group,
                                           layout,
                                           rules);
                std::vector<std::set<Item>> ranks(layout.ranks);
                for (Rank r = 0; r < layout.ranks; r++)
                {
                    for (const Rank to : MembersOf(group, r))
                    {
                        ranks[r].insert({r, to});
                    }
                }
                for (const auto& phase : lowered.phases)
                {
                    ASSERT_EQ(phase.pattern, Pattern::DirectAllToAll);
                    const uint32_t n = phase.group.Size();
                    std::vector<std::set<Item>> after(layout.ranks);
                    for (Rank r = 0; r < layout.ranks; r++)
                    {
                        EXPECT_EQ(phase.bytes.Count(), ranks[r].size() * kUnit);
                        std::map<uint32_t, uint32_t> sent; // items by member
                        for (const auto& item : ranks[r])
                        {
                            const uint32_t to = phase.group.IndexOf(item.second);
                            sent[to]++;
                            after[phase.group.Member(r, to)].insert(item);
                        }
                        for (uint32_t k = 0; k < StepCount(phase); k++)
                        {
                            const auto message = MessageOf(phase, phase.group.IndexOf(r), 0, k);
                            EXPECT_EQ(message.bytes.Count(), sent[message.to] * kUnit);
                        }
                        EXPECT_EQ(sent.size(), n);
                    }
                    ranks = after;
                }
                for (Rank r = 0; r < layout.ranks; r++)
                {
                    std::set<Item> expected;
                    for (const Rank from : MembersOf(group, r))
                    {
                        expected.insert({from, r});
                    }
                    EXPECT_EQ(ranks[r], expected);
                }
            }
        }
    }
}

TEST(Lowering, NodesComeFirstAndBuildingsLast)
{
    // The dense data group {cp 2} x {ep 2} x {dp/ep 4}: strides 2, 4 and 16. A node of 4 holds the
    // cp pair; a building of 32 holds ep x 2; two buildings.
    const auto layout = Layout();
    const auto group = layout.dense;
    const auto hierarchical = Lower(CollectiveOp::AllReduce,
                                    CommClass::Data,
                                    Bytes(1600),
                                    group,
                                    layout,
                                    CollectiveAlgorithm("hierarchical"));
    ASSERT_EQ(hierarchical.phases.size(), 6U);
    const uint32_t sizes[] = {2, 4, 2, 2, 4, 2};
    const uint64_t bytes[] = {1600, 800, 200, 200, 800, 1600};
    for (size_t i = 0; i < 6; i++)
    {
        EXPECT_EQ(hierarchical.phases[i].group.Size(), sizes[i]);
        EXPECT_EQ(hierarchical.phases[i].bytes, Bytes(bytes[i]));
    }
    EXPECT_EQ(hierarchical.phases[2].group, RankGroup({{32, 2}}));
    const auto ring = Lower(CollectiveOp::AllReduce,
                            CommClass::Data,
                            Bytes(1600),
                            group,
                            layout,
                            CollectiveAlgorithm("ring"));
    ASSERT_EQ(ring.phases.size(), 4U);
    EXPECT_EQ(ring.phases[1].group.Size(), 8U);
    EXPECT_EQ(ring.name, "all_reduce");
}

TEST(Lowering, HalvesNearOnesFirst)
{
    // 60 ranks: 3 on a node by dissemination in two rounds, 10 nodes of a building as 2 x 5, two
    // buildings. S = 6000: 3 members, S; 2, S/3; 5 in three rounds, S/6; 2, S/30.
    const auto layout = OddLayout();
    const auto lowered = Lower(CollectiveOp::ReduceScatter,
                               CommClass::Data,
                               Bytes(6000),
                               RankGroup({{1, 60}}),
                               layout,
                               CollectiveAlgorithm("halving-doubling"));
    const uint32_t strides[] = {1, 1, 3, 6, 6, 6, 30};
    const uint32_t sizes[] = {3, 3, 2, 5, 5, 5, 2};
    const uint32_t shifts[] = {2, 1, 1, 4, 2, 1, 1};
    const uint32_t parts[] = {1, 1, 1, 1, 2, 1, 1};
    const uint64_t bytes[] = {6000, 6000, 2000, 1000, 1000, 1000, 200};
    ASSERT_EQ(lowered.phases.size(), 7U);
    uint64_t sent = 0;
    for (size_t i = 0; i < 7; i++)
    {
        const Phase& phase = lowered.phases[i];
        EXPECT_EQ(phase.group, RankGroup({{strides[i], sizes[i]}}));
        EXPECT_EQ(phase.shift, shifts[i]);
        EXPECT_EQ(phase.parts, parts[i]);
        EXPECT_EQ(phase.bytes, Bytes(bytes[i]));
        sent += SentBy(phase, 0).Count();
    }
    EXPECT_EQ(sent, 6000U * 59 / 60); // as much as a ring
}

TEST(Lowering, RailsHaveTheServersPositions)
{
    const auto layout = Layout();
    LoweringRules rules(CollectiveAlgorithm("hierarchical"));
    rules.allToAll = AllToAllAlgorithm("rail");
    const auto lowered = Lower(CollectiveOp::AllToAll,
                               CommClass::Expert,
                               Bytes(6400),
                               RankGroup({{1, 64}}),
                               layout,
                               rules);
    ASSERT_EQ(lowered.phases.size(), 2U);
    EXPECT_EQ(lowered.phases[0].group, RankGroup({{1, 4}}));
    EXPECT_EQ(lowered.phases[1].group, RankGroup({{4, 16}}));
    // What leaves a server is the same as directly: 60 of 64 parts.
    EXPECT_EQ(SentBy(lowered.phases[1], 0), Bytes(6000));
}

TEST(Lowering, RoutedTokensReachAServerOnce)
{
    // 64 ranks in 16 servers of 4, an expert on each, k = 8. By hand: a token misses a server's
    // four with C(60, 8) / C(64, 8) = (56 x 55 x 54 x 53) / (64 x 63 x 62 x 61) = 0.578067, so it
    // reaches 16 x 0.421933 = 6.750925 of them; and all of its 8 ranks, which are as many as
    // experts.
    const auto layout = Layout();
    LoweringRules rules(CollectiveAlgorithm("hierarchical"));
    rules.allToAll = AllToAllAlgorithm("once");
    const RankGroup group({{1, 64}});
    RoutedTokens tokens{Bytes(8'000'000), 64, 8, false};
    const auto out = LowerRouted(tokens, group, layout, rules);
    ASSERT_EQ(out.phases.size(), 2U);
    EXPECT_EQ(out.phases[0].group, RankGroup({{4, 16}}));
    EXPECT_NEAR(static_cast<double>(out.phases[0].bytes.Count()), 6'750'925, 10);
    EXPECT_EQ(out.phases[1].group, RankGroup({{1, 4}}));
    EXPECT_EQ(out.phases[1].bytes, Bytes(8'000'000));
    // Back the other way round.
    tokens.back = true;
    const auto back = LowerRouted(tokens, group, layout, rules);
    ASSERT_EQ(back.phases.size(), 2U);
    EXPECT_EQ(back.phases[0].group, out.phases[1].group);
    EXPECT_EQ(back.phases[1].bytes, out.phases[0].bytes);
    // With 128 experts two of a token's may be on one rank: C(126, 8) / C(128, 8) =
    // (120 x 119) / (128 x 127) = 0.878445, 64 x 0.121555 = 7.77953 ranks.
    tokens.experts = 128;
    EXPECT_NEAR(
        static_cast<double>(LowerRouted(tokens, group, layout, rules).phases[0].bytes.Count()),
        7'779'530,
        10);
    // One expert for a token: nothing to save. All others send every copy.
    tokens = {Bytes(6400), 64, 1, false};
    EXPECT_EQ(LowerRouted(tokens, group, layout, rules).phases[0].bytes, Bytes(6400));
    rules.allToAll = AllToAllAlgorithm("rail");
    tokens.topK = 8;
    EXPECT_EQ(LowerRouted(tokens, group, layout, rules).phases[1].bytes, Bytes(6400));
}

TEST(Lowering, GroupsLimitTheServersOfAToken)
{
    // 64 experts in 16 groups, those of a server, of which a token goes to 2. Two groups have 8
    // experts, so that k = 8 takes all of them: 2 servers, and 8 ranks.
    const auto layout = Layout();
    LoweringRules rules(CollectiveAlgorithm("hierarchical"));
    rules.allToAll = AllToAllAlgorithm("once");
    const RankGroup group({{1, 64}});
    RoutedTokens tokens{Bytes(8'000'000), 64, 8, false, Bytes(), 16, 2};
    auto out = LowerRouted(tokens, group, layout, rules);
    ASSERT_EQ(out.phases.size(), 2U);
    EXPECT_EQ(out.phases[0].bytes, Bytes(2'000'000));
    EXPECT_EQ(out.phases[1].bytes, Bytes(8'000'000));
    // 8 groups over 16 servers, of which a token goes to 1: its experts are the 8 of the group, on
    // both of its servers. 32 groups, of which it goes to 4: they are 2 experts each, all of which
    // it takes; any 4 of 32 groups reach 16 (1 - C(30, 4) / C(32, 4)) = 16 (1 - (28 x 27) / (32 x
    // 31)) = 3.806452 servers.
    tokens.groups = 8;
    tokens.maxGroups = 1;
    EXPECT_EQ(LowerRouted(tokens, group, layout, rules).phases[0].bytes, Bytes(2'000'000));
    tokens.groups = 32;
    tokens.maxGroups = 4;
    EXPECT_NEAR(
        static_cast<double>(LowerRouted(tokens, group, layout, rules).phases[0].bytes.Count()),
        3'806'452,
        10);
    // 4 groups of 16 experts, each over 4 servers, of which a token goes to 2: 5.668 of the 8
    // servers by 40,000 draws of orders, with a standard error of 0.005.
    tokens.groups = 4;
    tokens.maxGroups = 2;
    out = LowerRouted(tokens, group, layout, rules);
    EXPECT_NEAR(static_cast<double>(out.phases[0].bytes.Count()), 5'668'000, 20'000);
    // As many groups as there are limit nothing.
    tokens.maxGroups = 4;
    out = LowerRouted(tokens, group, layout, rules);
    EXPECT_NEAR(static_cast<double>(out.phases[0].bytes.Count()), 6'750'925, 10);
    // 24 groups of 8 experts, of which a token goes to 3, over 16 servers of 12, one and a half
    // groups: 3.546 of the 16 by 60,000 draws of orders, with a standard error of 0.003.
    tokens.experts = 192;
    tokens.groups = 24;
    tokens.maxGroups = 3;
    out = LowerRouted(tokens, group, layout, rules);
    EXPECT_NEAR(static_cast<double>(out.phases[0].bytes.Count()), 3'545'567, 12'000);
}

TEST(Lowering, KernelsSendTokensInChunksOrStraightAway)
{
    // As above, of tokens of 100 bytes: 10,000 of them, 52 whole chunks of 192 and 16 in one more.
    const auto layout = Layout();
    LoweringRules rules(CollectiveAlgorithm("hierarchical"));
    rules.allToAll = AllToAllAlgorithm("deepep");
    rules.channels = 16;
    rules.tokenStart = Duration::Microseconds(7);
    rules.tokenMessage = Duration::Nanoseconds(10);
    const RankGroup group({{1, 64}});
    const RoutedTokens tokens{Bytes(8'000'000), 64, 8, true, Bytes(100)};
    const auto back = LowerRouted(tokens, group, layout, rules);
    ASSERT_EQ(back.phases.size(), 2U);
    EXPECT_EQ(back.phases[0].bytes, Bytes(8'000'000));
    EXPECT_GT(back.phases[0].occupied, 1);
    EXPECT_NEAR(static_cast<double>(back.phases[1].bytes.Count()), 6'750'925, 10);
    EXPECT_EQ(back.phases[1].occupied, 1);
    EXPECT_EQ(back.chunks, 53U);
    EXPECT_EQ(back.channels, 8U); // as a channel's buffer has
    EXPECT_TRUE(back.streams);
    EXPECT_EQ(back.launch, Duration::Microseconds(67));
    // In one server there is nothing to wait for, and a copy for each of its four members counts.
    const RankGroup server({{1, 4}});
    EXPECT_EQ(LowerRouted(tokens, server, layout, rules).launch, Duration::Microseconds(60));
    EXPECT_NEAR(static_cast<double>(CountedBytes(tokens, group, layout, rules).Count()),
                6'750'925,
                10);
    // 4 (1 - C(48, 8) / C(64, 8)) = 3.658983, by hand: the product of (48 - j) / (64 - j) is
    // 0.0852542.
    EXPECT_NEAR(static_cast<double>(CountedBytes(tokens, server, layout, rules).Count()),
                3'658'983,
                20);
    // 15/16 of 80,000 messages leave the server.
    rules.allToAll = AllToAllAlgorithm("deepep-low-latency");
    const auto away = LowerRouted(tokens, group, layout, rules);
    ASSERT_EQ(away.phases.size(), 1U);
    EXPECT_EQ(away.phases[0].group, group);
    EXPECT_EQ(away.phases[0].bytes, Bytes(8'000'000));
    EXPECT_EQ(away.phases[0].between.fixed, Duration::Microseconds(757));
    EXPECT_EQ(away.launch, Duration::Microseconds(35));
    EXPECT_EQ(away.chunks, 1U);
    EXPECT_EQ(CountedBytes(tokens, group, layout, rules), Bytes(8'000'000));
}

TEST(Lowering, TreesJoinServers)
{
    const auto layout = Layout();
    const auto lower = [&](CollectiveOp op, const RankGroup& group) {
        return Lower(op, CommClass::Data, Bytes(6400), group, layout, CollectiveAlgorithm("tree"));
    };
    const auto all = lower(CollectiveOp::AllReduce, RankGroup({{1, 64}}));
    ASSERT_EQ(all.phases.size(), 3U);
    EXPECT_EQ(all.phases[0].pattern, Pattern::RingReduceScatter);
    EXPECT_EQ(all.phases[1].pattern, Pattern::DoubleTree);
    EXPECT_EQ(all.phases[1].group, RankGroup({{4, 16}}));
    EXPECT_EQ(all.phases[1].bytes, Bytes(1600));
    EXPECT_EQ(all.phases[1].chunk, Bytes(512 << 10));
    EXPECT_EQ(all.phases[2].pattern, Pattern::RingAllGather);
    // Inside a server there is no tree, and a gather has none anywhere.
    for (const auto& collective : {lower(CollectiveOp::AllReduce, RankGroup({{1, 4}})),
                                   lower(CollectiveOp::AllGather, RankGroup({{1, 64}}))})
    {
        ASSERT_EQ(collective.phases.size(), 2U);
        EXPECT_EQ(collective.phases[1].pattern, Pattern::RingAllGather);
    }
}

TEST(Lowering, TwoMembersExchangeHalves)
{
    const auto layout = Layout();
    const auto pair = Lower(CollectiveOp::AllReduce,
                            CommClass::Data,
                            Bytes(6400),
                            RankGroup({{32, 2}}),
                            layout,
                            CollectiveAlgorithm("bidirectional-ring"));
    ASSERT_EQ(pair.phases.size(), 2U);
    EXPECT_EQ(pair.phases[0].pattern, Pattern::RingReduceScatter);
    const auto four = Lower(CollectiveOp::AllReduce,
                            CommClass::Data,
                            Bytes(6400),
                            RankGroup({{16, 4}}),
                            layout,
                            CollectiveAlgorithm("bidirectional-ring"));
    ASSERT_EQ(four.phases.size(), 2U);
    EXPECT_EQ(four.phases[0].pattern, Pattern::TwoWayReduceScatter);
    EXPECT_EQ(four.phases[1].pattern, Pattern::TwoWayAllGather);
}

TEST(Lowering, ChunksBySizeOrByTheRuleForChannels)
{
    const auto layout = Layout();
    const auto lower = [&](uint64_t bytes, uint64_t chunk, uint32_t channels) {
        LoweringRules rules(CollectiveAlgorithm("ring"));
        rules.chunk = Bytes(chunk);
        rules.channels = channels;
        return Lower(CollectiveOp::AllReduce,
                     CommClass::Data,
                     Bytes(bytes),
                     RankGroup({{1, 64}}),
                     layout,
                     rules);
    };
    const uint64_t mib = 1 << 20;

    struct Case
    {
        uint64_t bytes;
        uint64_t chunk;
        uint32_t channels;
        uint32_t chunks;
        uint32_t together;
    };

    for (const Case& c : {
             Case{10 * mib + 1, 0, 1, 1, 1},
             Case{10 * mib + 1, mib, 1, 11, 1},
             Case{10 * mib, mib, 3, 10, 3},
             Case{10 * mib, 1, 1, 4096, 1}, // never more
             // Parts of 8 MiB in four of 2 MiB; 16 of them would be in flight at most.
             Case{64 * 8 * mib, 0, 4, 4, 4},
             // Parts of 128 MiB: a quarter is more than 16 MiB, of which 32 MiB hold two.
             Case{64 * 128 * mib, 0, 4, 8, 2},
             // Parts of 2 bytes: no chunk is less than one.
             Case{64 * 2, 0, 4, 2, 4},
         })
    {
        const auto lowered = lower(c.bytes, c.chunk, c.channels);
        EXPECT_EQ(lowered.chunks, c.chunks) << c.bytes;
        EXPECT_EQ(lowered.channels, c.together) << c.bytes;
        Bytes sum;
        for (uint32_t i = 0; i < lowered.chunks; i++)
        {
            sum += ChunkOf(lowered.phases[1], i, lowered.chunks).bytes;
        }
        EXPECT_EQ(sum, lowered.phases[1].bytes);
    }
}

TEST(Lowering, AutoTakesTheFastest)
{
    // By the number of phases: of 64 ranks in servers of 4 and buildings of 32 the tree has 3,
    // rings 4, hierarchical 6 and halving-doubling 12. By its reverse it is the last.
    const auto layout = Layout();
    const auto lower = [&](CollectiveOp op, CollectiveTimer seconds) {
        LoweringRules rules(CollectiveAlgorithm("auto"));
        rules.seconds = std::move(seconds);
        return Lower(op, CommClass::Data, Bytes(6400), RankGroup({{1, 64}}), layout, rules);
    };
    const auto few = [](const Collective& c) { return static_cast<double>(c.phases.size()); };
    const auto many = [](const Collective& c) { return -static_cast<double>(c.phases.size()); };
    const auto same = [](const Collective& /* c */) { return 1.0; };
    EXPECT_EQ(lower(CollectiveOp::AllReduce, few).algorithm, "tree");
    EXPECT_EQ(lower(CollectiveOp::AllReduce, many).algorithm, "halving-doubling");
    EXPECT_EQ(lower(CollectiveOp::AllReduce, same).algorithm, "ring");
    EXPECT_EQ(lower(CollectiveOp::AllToAll, few).algorithm, "direct");
    EXPECT_EQ(lower(CollectiveOp::AllToAll, many).algorithm, "rail");
    EXPECT_EQ(lower(CollectiveOp::SendReceive, many).phases.size(), 1U);
}

TEST(Lowering, RingsGoThroughOneBuildingAfterTheOther)
{
    const auto layout = Layout();
    const auto ring = Lower(CollectiveOp::AllGather,
                            CommClass::Data,
                            Bytes(1600),
                            layout.dense,
                            layout,
                            CollectiveAlgorithm("ring"));
    const auto& group = ring.phases.front().group;
    uint32_t crossings = 0;
    for (uint32_t i = 0; i < group.Size(); i++)
    {
        crossings += layout.BuildingOf(group.Member(0, i)) !=
                     layout.BuildingOf(group.Member(0, (i + 1) % group.Size()));
    }
    EXPECT_EQ(crossings, 2U); // there and back
}

TEST(Lowering, OneMemberHasNothingToSend)
{
    const auto layout = Layout();
    for (const auto op : {CollectiveOp::AllReduce,
                          CollectiveOp::AllGather,
                          CollectiveOp::ReduceScatter,
                          CollectiveOp::AllToAll})
    {
        EXPECT_TRUE(Lower(op,
                          CommClass::Data,
                          Bytes(1),
                          RankGroup(),
                          layout,
                          CollectiveAlgorithm("hierarchical"))
                        .phases.empty());
    }
}

} // namespace scaleacross
