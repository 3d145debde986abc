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

/// What is known of a plan before it has run.
ClosedForm
Known(int64_t bound, uint64_t memory, uint64_t cross)
{
    return {Duration::Nanoseconds(bound), Bytes(memory), Bytes(cross)};
}

Goals
WithFront(const std::string& text)
{
    Goals goals;
    goals.front = ParseFront(text);
    return goals;
}

TEST(Leaderboard, RanksByItsObjective)
{
    const auto board = [](const char* objective) {
        Goals goals;
        goals.objective = objective;
        Leaderboard filled(2, goals);
        filled.Offer(Make(1, 10, 9, 5));
        filled.Offer(Make(2, 30, 7, 5));
        filled.Offer(Make(3, 20, 7, 9)); // as much memory as 2, and faster
        filled.Offer(Make(4, 10, 9, 6)); // as fast as 1, and named later
        return filled;
    };
    EXPECT_EQ(Indices(board("time").Best()), (std::vector<uint64_t>{1, 4}));
    EXPECT_EQ(Indices(board("memory").Best()), (std::vector<uint64_t>{3, 2}));
    EXPECT_EQ(Indices(board("bytes").Best()), (std::vector<uint64_t>{1, 2}));
    const Leaderboard memory = board("memory");
    EXPECT_EQ(memory.BestOf(Crossing::Data)->index, 3);
    EXPECT_TRUE(memory.CanMatter(Crossing::Data, Known(99, 6, 0)));
    EXPECT_TRUE(memory.CanMatter(Crossing::Data, Known(30, 7, 0))); // as 2
    EXPECT_FALSE(memory.CanMatter(Crossing::Data, Known(31, 7, 0)));
    EXPECT_TRUE(board("bytes").CanMatter(Crossing::Data, Known(99, 99, 0)));
}

TEST(Leaderboard, FrontHoldsWhatNothingBeats)
{
    Leaderboard board(1, WithFront("time,memory,bytes"));
    board.Offer(Make(1, 10, 9, 9));
    board.Offer(Make(2, 20, 5, 9)); // less memory
    board.Offer(Make(3, 30, 9, 1)); // fewer bytes
    board.Offer(Make(4, 30, 6, 9)); // beaten by 2 in time and memory
    board.Offer(Make(5, 10, 9, 9)); // equal to 1
    EXPECT_EQ(Indices(board.ParetoFront()), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(Leaderboard, FrontIsOfItsObjectives)
{
    const auto front = [](const Goals& goals) {
        Leaderboard board(1, goals);
        board.Offer(Make(1, 10, 9, 9));
        board.Offer(Make(2, 20, 5, 9)); // less memory
        board.Offer(Make(3, 30, 9, 1)); // fewer bytes
        return Indices(board.ParetoFront());
    };
    EXPECT_EQ(front({}), (std::vector<uint64_t>{}));
    EXPECT_EQ(front(WithFront("time,memory")), (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(front(WithFront("time,bytes")), (std::vector<uint64_t>{1, 3}));
    EXPECT_EQ(front(WithFront("memory,bytes")), (std::vector<uint64_t>{2, 3}));
    EXPECT_EQ(front(WithFront("none")), (std::vector<uint64_t>{}));
}

/// A plan cannot matter whose bounds some plan of the front is as good as, and better in one; what
/// is not known counts as nothing.
TEST(Leaderboard, RulesOutByWhatIsKnown)
{
    const auto board = [](const std::string& front) {
        Leaderboard filled(1, WithFront(front));
        filled.Offer(Make(1, 10, 5, 5));
        filled.Offer(Make(2, 20, 4, 5));
        return filled;
    };
    const Crossing data = Crossing::Data;
    const Leaderboard two = board("time,memory");
    EXPECT_TRUE(two.CanMatter(data, Known(10, 9, 9)));  // may be the best, by its text
    EXPECT_FALSE(two.CanMatter(data, Known(11, 5, 0))); // 1 is faster
    EXPECT_TRUE(two.CanMatter(data, Known(11, 4, 0)));
    EXPECT_TRUE(two.CanMatter(data, Known(20, 4, 0)));  // as 2, and may be named before it
    EXPECT_FALSE(two.CanMatter(data, Known(21, 4, 0))); // 2 is faster
    EXPECT_TRUE(two.CanMatter(data, Known(99, 3, 0)));
    EXPECT_TRUE(two.CanMatter(Crossing::Pipeline, Known(99, 9, 9))); // the first of its crossing
    const Leaderboard three = board("time,memory,bytes");
    EXPECT_TRUE(three.CanMatter(data, Known(99, 9, 0)));
    EXPECT_TRUE(three.CanMatter(data, Known(99, 9, 4)));
    EXPECT_FALSE(three.CanMatter(data, Known(99, 9, 5)));
    const Leaderboard one = board("none");
    EXPECT_FALSE(one.CanMatter(data, Known(11, 0, 0)));
    EXPECT_TRUE(one.CanMatter(data, Known(10, 9, 9)));
}

/// A quarter of 100 is allowed: 125 of the best, of the best of a crossing, and of each objective.
TEST(Leaderboard, WithinTheGapNothingMatters)
{
    Goals goals = WithFront("time,memory");
    goals.gap = 0.25;
    Leaderboard board(1, goals);
    board.Offer(Make(1, 125, 50, 0));
    const Crossing data = Crossing::Data;
    EXPECT_FALSE(board.CanMatter(data, Known(100, 40, 0)));
    EXPECT_TRUE(board.CanMatter(data, Known(99, 40, 0)));
    EXPECT_TRUE(board.CanMatter(data, Known(200, 39, 0)));
    EXPECT_TRUE(board.CanMatter(Crossing::Pipeline, Known(100, 40, 0)));
    EXPECT_TRUE(board.CanMatter(data, Known(0, 50, 0))); // of which nothing is known
}

/// The third of the best is 100 behind it, so it may be known to a tenth of that: 10. What is as
/// good as the best is exact.
TEST(Leaderboard, WhatIsBehindTheBestIsKnownToAPartOfThat)
{
    Goals goals;
    goals.restGap = 0.1;
    Leaderboard board(3, goals);
    const Crossing data = Crossing::Data;
    board.Offer(Make(1, 100, 0, 0));
    board.Offer(Make(2, 100, 0, 0));
    board.Offer(Make(3, 200, 0, 0));
    EXPECT_FALSE(board.CanMatter(data, Known(200, 0, 0))); // as the third: it says nothing new
    EXPECT_FALSE(board.CanMatter(data, Known(190, 0, 0)));
    EXPECT_TRUE(board.CanMatter(data, Known(189, 0, 0)));
    // Of a crossing of its own it is known by 30, of the 300 that it is behind.
    board.Offer(Make(4, 400, 0, 0, Crossing::Pipeline));
    EXPECT_FALSE(board.CanMatter(Crossing::Pipeline, Known(370, 0, 0)));
    EXPECT_TRUE(board.CanMatter(Crossing::Pipeline, Known(369, 0, 0)));
    // A better best leaves what was left out left out: 190 is 10 of 150 before 200.
    board.Offer(Make(5, 50, 0, 0));
    board.Offer(Make(6, 99, 0, 0));
    EXPECT_FALSE(board.CanMatter(data, Known(190, 0, 0)));
    EXPECT_TRUE(board.CanMatter(data, Known(94, 0, 0))); // 6 of 50 before the 100
    EXPECT_FALSE(board.CanMatter(data, Known(95, 0, 0)));
}

/// 200 is 100 behind the best, of which 10 % are 10; 160 and a quarter of that are 200, too.
TEST(Leaderboard, WhatWasLeftOutMayBeALittleBetter)
{
    Goals goals;
    EXPECT_EQ(LeastLeftOut(goals, 200, 100), 200);
    goals.restGap = 0.1;
    EXPECT_DOUBLE_EQ(LeastLeftOut(goals, 200, 100), 190);
    goals.gap = 0.25;
    EXPECT_DOUBLE_EQ(LeastLeftOut(goals, 200, 100), 160);
    EXPECT_DOUBLE_EQ(LeastLeftOut(goals, 100, 100), 80);
}

/// With a gap, too, nothing is told of a crossing unless what was left out for it is out of reach.
TEST(Leaderboard, AGapMakesNoPlacementHopeless)
{
    Goals goals;
    goals.restGap = 0.05;
    goals.gap = 0.5;
    Leaderboard board(1, goals);
    board.Offer(Make(1, 100, 0, 0));
    board.Offer(Make(2, 120, 0, 0, Crossing::Pipeline));
    board.Offer(Make(3, 1400, 0, 0, Crossing::Expert));
    EXPECT_FALSE(board.CanMatter(Crossing::Expert, Known(950, 0, 0))); // 1400 is within half of it
    ASSERT_NE(board.BestOf(Crossing::Expert), nullptr);
    EXPECT_EQ(board.BestOf(Crossing::Expert)->index, 3);
}

/// Ten times 100 is 1000.
TEST(Leaderboard, AThirdPlacementWithoutHopeNeedsNoRun)
{
    const auto board = [](double restGap, bool hasTwo) {
        Goals goals;
        goals.restGap = restGap;
        Leaderboard filled(1, goals);
        filled.Offer(Make(1, 100, 0, 0));
        if (hasTwo)
        {
            filled.Offer(Make(2, 120, 0, 0, Crossing::Pipeline));
        }
        return filled;
    };
    EXPECT_TRUE(board(0.05, true).CanMatter(Crossing::Expert, Known(1000, 0, 0)));
    EXPECT_FALSE(board(0.05, true).CanMatter(Crossing::Expert, Known(1001, 0, 0)));
    // The second placement is run, however far behind it is, and each where all is to be exact.
    EXPECT_TRUE(board(0.05, false).CanMatter(Crossing::Expert, Known(1001, 0, 0)));
    EXPECT_TRUE(board(0, true).CanMatter(Crossing::Expert, Known(1001, 0, 0)));
    // What is left out stays left out when a plan of it has run; of that one nothing is told if
    // what was left out instead of it, which may be 5 % of 4900 better, is out of reach as well.
    Leaderboard ran = board(0.05, true);
    ran.Offer(Make(3, 5000, 0, 0, Crossing::Expert));
    EXPECT_FALSE(ran.CanMatter(Crossing::Expert, Known(1001, 0, 0)));
    EXPECT_TRUE(ran.CanMatter(Crossing::Expert, Known(1000, 0, 0)));
    EXPECT_EQ(Indices(ran.BestOfEach()), (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(ran.BestOf(Crossing::Expert), nullptr);
    // 1040 - 5 % of 940 is 993.
    ran.Offer(Make(4, 1040, 0, 0, Crossing::Expert));
    EXPECT_EQ(Indices(ran.BestOfEach()), (std::vector<uint64_t>{1, 2, 4}));
}

/// Half as long again as 10 is 15; above no bytes at all there is nothing within reach.
TEST(Leaderboard, AFrontEndsAtItsReach)
{
    const auto board = [](const std::string& front) {
        Leaderboard filled(1, WithFront(front));
        filled.Offer(Make(3, 16, 3, 9)); // behind, as soon as 1 is there
        filled.Offer(Make(1, 10, 9, 9));
        filled.Offer(Make(2, 15, 5, 0));
        filled.Offer(Make(4, 16, 2, 9));
        return filled;
    };
    const Leaderboard near = board("time+50%,memory");
    EXPECT_EQ(Indices(near.ParetoFront()), (std::vector<uint64_t>{1, 2}));
    EXPECT_TRUE(near.CanMatter(Crossing::Data, Known(15, 4, 0)));
    EXPECT_FALSE(near.CanMatter(Crossing::Data, Known(16, 0, 0)));
    EXPECT_EQ(Indices(board("time,memory").ParetoFront()), (std::vector<uint64_t>{1, 2, 4}));
    EXPECT_EQ(Indices(board("bytes+50%,memory").ParetoFront()), (std::vector<uint64_t>{2}));
    // Within the gap of 2, which may fall behind yet: 14 x 1.5 is 21.
    Goals goals = WithFront("time+50%,memory");
    goals.gap = 0.25;
    Leaderboard gap(1, goals);
    gap.Offer(Make(1, 16, 9, 9));
    gap.Offer(Make(2, 20, 5, 9));
    EXPECT_TRUE(gap.CanMatter(Crossing::Data, Known(17, 5, 0)));
    EXPECT_FALSE(gap.CanMatter(Crossing::Data, Known(21, 5, 0)));
}

TEST(Leaderboard, DoesNotDependOnTheOrderOfOffers)
{
    // None beats all others; the least of time, memory and bytes come with the last.
    const std::vector<Ranked> plans = {Make(0, 9, 2, 7),
                                       Make(1, 5, 5, 8),
                                       Make(2, 4, 6, 3),
                                       Make(3, 4, 6, 2, Crossing::Pipeline),
                                       Make(4, 3, 9, 4),
                                       Make(5, 6, 3, 0),
                                       Make(6, 2, 8, 9)};
    for (const char* objectives :
         {"time,memory,bytes", "memory+100%,time", "time+100%,memory", "bytes+100%,time"})
    {
        std::vector<size_t> order = {0, 1, 2, 3, 4, 5, 6};
        std::vector<uint64_t> best;
        std::vector<uint64_t> front;
        do
        {
            Leaderboard board(3, WithFront(objectives));
            for (const size_t i : order)
            {
                board.Offer(plans[i]);
            }
            if (best.empty())
            {
                best = Indices(board.Best());
                front = Indices(board.ParetoFront());
                EXPECT_LT(front.size(), plans.size());
            }
            ASSERT_EQ(Indices(board.Best()), best);
            ASSERT_EQ(Indices(board.ParetoFront()), front);
        } while (std::next_permutation(order.begin(), order.end()));
    }
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
