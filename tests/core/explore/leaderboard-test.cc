// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/leaderboard.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

Ranked
Make(uint64_t index,
     int64_t time,
     uint64_t memory,
     uint64_t cross,
     Crossing crossing = Crossing::Data)
{
    Ranked ranked;
    ranked.index = index;
    ranked.text = "plan " + std::to_string(index);
    ranked.plan.parallel.crossing = crossing;
    ranked.report.iterationTime = Duration::Nanoseconds(time);
    ranked.report.memoryMax = Bytes(memory);
    ranked.report.crossBuildingBytes = Bytes(cross);
    return ranked;
}

std::vector<uint64_t>
Indices(const std::vector<Ranked>& ranked)
{
    std::vector<uint64_t> indices;
    for (const auto& one : ranked)
    {
        indices.push_back(one.index);
    }
    return indices;
}

TEST(Leaderboard, KeepsTheBestWithTiesByText)
{
    Leaderboard board(3);
    board.Offer(Make(4, 20, 1, 1));
    board.Offer(Make(2, 10, 1, 1));
    board.Offer(Make(1, 10, 1, 1));
    board.Offer(Make(3, 30, 1, 1));
    EXPECT_EQ(Indices(board.Best()), (std::vector<uint64_t>{1, 2, 4}));
}

TEST(Leaderboard, FrontHoldsWhatNothingBeats)
{
    Leaderboard board(1);
    board.Offer(Make(1, 10, 9, 9));
    board.Offer(Make(2, 20, 5, 9)); // less memory
    board.Offer(Make(3, 30, 9, 1)); // fewer bytes
    board.Offer(Make(4, 30, 6, 9)); // beaten by 2 in time and memory
    board.Offer(Make(5, 10, 9, 9)); // equal to 1
    EXPECT_EQ(Indices(board.ParetoFront()), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(Leaderboard, DoesNotDependOnTheOrderOfOffers)
{
    std::vector<Ranked> plans;
    for (uint64_t i = 0; i < 7; i++)
    {
        plans.push_back(Make(i, static_cast<int64_t>(i * 5 % 4), i * 3 % 5, i % 2));
    }
    std::vector<size_t> order = {0, 1, 2, 3, 4, 5, 6};
    std::vector<uint64_t> best;
    std::vector<uint64_t> front;
    do
    {
        Leaderboard board(3);
        for (const size_t i : order)
        {
            board.Offer(plans[i]);
        }
        if (best.empty())
        {
            best = Indices(board.Best());
            front = Indices(board.ParetoFront());
        }
        ASSERT_EQ(Indices(board.Best()), best);
        ASSERT_EQ(Indices(board.ParetoFront()), front);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Leaderboard, KeepsTheBestOfEachCrossing)
{
    Leaderboard board(1);
    EXPECT_EQ(board.BestOf(Crossing::Pipeline), nullptr);
    board.Offer(Make(1, 10, 1, 1));
    board.Offer(Make(2, 90, 2, 2, Crossing::Pipeline));
    board.Offer(Make(3, 80, 2, 2, Crossing::Pipeline));
    ASSERT_NE(board.BestOf(Crossing::Pipeline), nullptr);
    EXPECT_EQ(board.BestOf(Crossing::Pipeline)->index, 3);
}

} // namespace

} // namespace scaleacross
