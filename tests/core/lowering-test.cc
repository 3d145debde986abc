// SPDX-License-Identifier: GPL-2.0-only

// Every lowered collective is carried out on sets of buffer parts, following only StepOf(), and
// must leave every member with what the operation promises. Phase sizes are checked on the way.

#include "core/schedule/lowering.h"
#include "schedule-scenario.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>

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

constexpr CollectiveAlgorithm kAlgorithms[] = {CollectiveAlgorithm::Ring,
                                               CollectiveAlgorithm::Hierarchical};
constexpr uint64_t kUnit = 12; // bytes per elementary part, of which a buffer has one per member

/// A member's buffer during reductions: a range of elementary parts, and who is summed in each.
struct Reduced
{
    uint32_t begin{0};
    uint32_t end{0};
    std::vector<Set> summed; //!< of all parts; only those in range count
};

/// Runs ring reduce-scatter within each group; every member goes on with its part of the range.
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
            const Rank to = phase.group.Member(r, StepOf(phase, i, k).sendTo);
            const auto [begin, end] = partOf(before[r], (i + 2 * n - k - 1) % n);
            for (uint32_t part = begin; part < end; part++)
            {
                ranks[to].summed[part].insert(before[r].summed[part].begin(),
                                              before[r].summed[part].end());
            }
        }
    }
    for (Rank r = 0; r < ranks.size(); r++)
    {
        std::tie(ranks[r].begin, ranks[r].end) = partOf(ranks[r], phase.group.IndexOf(r));
    }
}

/// Runs ring all-gather within each group on whatever each member starts from.
template <class Value>
void
AllGather(const Phase& phase, std::vector<std::set<Value>>& ranks)
{
    const uint32_t n = phase.group.Size();
    const auto start = ranks;
    for (uint32_t k = 0; k < StepCount(phase); k++)
    {
        for (Rank r = 0; r < ranks.size(); r++)
        {
            const uint32_t i = phase.group.IndexOf(r);
            const Rank to = phase.group.Member(r, StepOf(phase, i, k).sendTo);
            const auto& sent = start[phase.group.Member(r, (i + n - k) % n)];
            EXPECT_EQ(phase.bytes.Count(), sent.size() * n * kUnit);
            EXPECT_TRUE(std::includes(ranks[r].begin(), ranks[r].end(), sent.begin(), sent.end()))
                << "sends what it has not got yet";
            ranks[to].insert(sent.begin(), sent.end());
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
    const auto layout = Layout();
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
                ASSERT_EQ(phase.pattern, Pattern::RingReduceScatter);
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

TEST(Lowering, AllReduceLeavesEverythingReducedEverywhere)
{
    const auto layout = Layout();
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
            for (; lowered.phases[next].pattern == Pattern::RingReduceScatter; next++)
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
            for (; next < lowered.phases.size(); next++)
            {
                ASSERT_EQ(lowered.phases[next].pattern, Pattern::RingAllGather);
                AllGather(lowered.phases[next], parts);
            }
            for (Rank r = 0; r < layout.ranks; r++)
            {
                EXPECT_EQ(parts[r].size(), group.Size());
            }
        }
    }
}

TEST(Lowering, AllGatherBringsEveryPartToEverybody)
{
    const auto layout = Layout();
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
            for (const auto& phase : lowered.phases)
            {
                ASSERT_EQ(phase.pattern, Pattern::RingAllGather);
                AllGather(phase, ranks);
            }
            for (Rank r = 0; r < layout.ranks; r++)
            {
                EXPECT_EQ(ranks[r], MembersOf(group, r));
            }
        }
    }
}

TEST(Lowering, AllToAllDeliversEachPairItsPart)
{
    const auto layout = Layout();
    using Item = std::pair<Rank, Rank>; // from, to
    for (const auto algorithm : kAlgorithms)
    {
        for (const auto& group : Groups(layout))
        {
            const auto lowered = Lower(CollectiveOp::AllToAll,
                                       CommClass::Expert,
                                       Bytes(group.Size() * kUnit),
                                       group,
                                       layout,
                                       algorithm);
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
                        const auto step = StepOf(phase, phase.group.IndexOf(r), k);
                        EXPECT_EQ(step.send.Count(), sent[step.sendTo] * kUnit);
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
                                    CollectiveAlgorithm::Hierarchical);
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
                            CollectiveAlgorithm::Ring);
    ASSERT_EQ(ring.phases.size(), 4U);
    EXPECT_EQ(ring.phases[1].group.Size(), 8U);
    EXPECT_EQ(ring.name, "all_reduce");
}

TEST(Lowering, RingsGoThroughOneBuildingAfterTheOther)
{
    const auto layout = Layout();
    const auto ring = Lower(CollectiveOp::AllGather,
                            CommClass::Data,
                            Bytes(1600),
                            layout.dense,
                            layout,
                            CollectiveAlgorithm::Ring);
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
                          CollectiveAlgorithm::Hierarchical)
                        .phases.empty());
    }
}

} // namespace scaleacross
