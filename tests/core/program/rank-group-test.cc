// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/rank-group.h"

#include <gtest/gtest.h>
#include <set>

namespace scaleacross
{

namespace
{

/// Every rank that shares all digits with `rank` but those of the axes, straight from the
/// definition.
std::set<Rank>
MembersByDefinition(const std::vector<RankGroup::Axis>& axes, Rank rank, uint32_t ranks)
{
    const auto others = [&axes](Rank r) {
        for (const auto& axis : axes)
        {
            r -= (r / axis.stride) % axis.count * axis.stride;
        }
        return r;
    };
    std::set<Rank> members;
    for (Rank r = 0; r < ranks; r++)
    {
        if (others(r) == others(rank))
        {
            members.insert(r);
        }
    }
    return members;
}

const std::vector<std::vector<RankGroup::Axis>> kFamilies =
    {{}, {{1, 4}}, {{2, 3}}, {{1, 2}, {4, 3}}, {{2, 2}, {4, 2}, {24, 3}}, {{1, 1}, {8, 9}}};
constexpr uint32_t kRanks = 72;

} // namespace

TEST(RankGroup, WorkedCase)
{
    // tp = 2, dp = 3, rank = tp + 2 dp.
    const RankGroup data({{2, 3}});
    EXPECT_EQ(data.Size(), 3U);
    EXPECT_EQ(data.IndexOf(3), 1U);
    EXPECT_EQ(data.Member(3, 0), 1U);
    EXPECT_EQ(data.Member(3, 1), 3U);
    EXPECT_EQ(data.Member(3, 2), 5U);
}

TEST(RankGroup, MembersAreThoseThatDifferInTheAxesOnly)
{
    for (const auto& axes : kFamilies)
    {
        const RankGroup group(axes);
        for (Rank rank = 0; rank < kRanks; rank++)
        {
            std::set<Rank> members;
            for (uint32_t i = 0; i < group.Size(); i++)
            {
                const Rank member = group.Member(rank, i);
                members.insert(member);
                EXPECT_EQ(group.IndexOf(member), i);
            }
            EXPECT_EQ(members, MembersByDefinition(axes, rank, kRanks));
            EXPECT_EQ(group.Member(rank, group.IndexOf(rank)), rank);
        }
    }
}

TEST(RankGroup, AxesThatContinueEachOtherAreOne)
{
    EXPECT_EQ(RankGroup({{2, 2}, {4, 3}}), RankGroup({{2, 6}}));
    EXPECT_EQ(RankGroup({{1, 1}, {8, 1}}), RankGroup());
}

TEST(RankGroup, SplitsAtABlock)
{
    const auto halves = RankGroup({{8, 16}}).SplitAt(64);
    EXPECT_EQ(halves.inner, RankGroup({{8, 8}}));
    EXPECT_EQ(halves.outer, RankGroup({{64, 2}}));
    // Three members below a block of 8 would need 3 to divide into 8.
    EXPECT_FALSE(RankGroup({{1, 12}}).CanSplitAt(8));
    EXPECT_TRUE(RankGroup({{1, 16}}).CanSplitAt(8));
}

TEST(RankGroup, HalvesReachEveryMemberOnce)
{
    for (const auto& axes : kFamilies)
    {
        const RankGroup group(axes);
        for (const uint32_t span : {1U, 4U, 8U, 24U, 72U})
        {
            if (!group.CanSplitAt(span))
            {
                continue;
            }
            const auto halves = group.SplitAt(span);
            EXPECT_EQ(halves.inner.Size() * halves.outer.Size(), group.Size());
            for (Rank rank = 0; rank < kRanks; rank++)
            {
                std::set<Rank> members;
                for (uint32_t o = 0; o < halves.outer.Size(); o++)
                {
                    for (uint32_t i = 0; i < halves.inner.Size(); i++)
                    {
                        members.insert(halves.inner.Member(halves.outer.Member(rank, o), i));
                    }
                }
                EXPECT_EQ(members, MembersByDefinition(axes, rank, kRanks));
            }
        }
    }
}

TEST(RankGroup, OverlappingAxesAreABrokenInvariant)
{
    EXPECT_DEATH(RankGroup({{1, 4}, {2, 2}}), "overlaps");
}

} // namespace scaleacross
