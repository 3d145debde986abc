// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/rank-layout.h"
#include "schedule-scenario.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

namespace scaleacross
{

namespace
{

ParallelPlan
PlanOf(uint32_t tp, uint32_t cp, uint32_t ep, uint32_t pp, uint32_t dp, Crossing crossing)
{
    ParallelPlan plan;
    plan.tp = tp;
    plan.cp = cp;
    plan.ep = ep;
    plan.pp = pp;
    plan.dp = dp;
    plan.crossing = crossing;
    return plan;
}

/// Coordinates of a rank, counted out by nested loops in the documented order.
struct Coordinates
{
    uint32_t tp, cp, ep, pp, edp;
};

std::vector<Coordinates>
CountOut(const ParallelPlan& plan)
{
    const uint32_t edps = plan.dp / plan.ep;
    const bool data = plan.crossing == Crossing::Data;
    std::vector<Coordinates> ranks;
    // The two outermost loops change places.
    for (uint32_t outer = 0; outer < (data ? edps : plan.pp); outer++)
    {
        for (uint32_t inner = 0; inner < (data ? plan.pp : edps); inner++)
        {
            for (uint32_t ep = 0; ep < plan.ep; ep++)
            {
                for (uint32_t cp = 0; cp < plan.cp; cp++)
                {
                    for (uint32_t tp = 0; tp < plan.tp; tp++)
                    {
                        ranks.push_back({tp, cp, ep, data ? inner : outer, data ? outer : inner});
                    }
                }
            }
        }
    }
    return ranks;
}

/// Groups of ranks with equal keys.
template <class Key>
std::map<Rank, std::set<Rank>>
GroupBy(const std::vector<Coordinates>& ranks, Key key)
{
    std::map<decltype(key(ranks[0])), std::set<Rank>> byKey;
    for (Rank r = 0; r < ranks.size(); r++)
    {
        byKey[key(ranks[r])].insert(r);
    }
    std::map<Rank, std::set<Rank>> byRank;
    for (Rank r = 0; r < ranks.size(); r++)
    {
        byRank[r] = byKey[key(ranks[r])];
    }
    return byRank;
}

void
ExpectGroups(const RankGroup& group, const std::map<Rank, std::set<Rank>>& expected)
{
    for (const auto& [rank, members] : expected)
    {
        std::set<Rank> found;
        for (uint32_t i = 0; i < group.Size(); i++)
        {
            found.insert(group.Member(rank, i));
        }
        EXPECT_EQ(found, members) << "rank " << rank;
    }
}

std::string
ReasonOf(const ParallelPlan& plan, const ClusterSpec& cluster)
{
    const auto layout = LayOut(plan, cluster);
    const auto* bad = std::get_if<Infeasible>(&layout);
    return bad != nullptr ? bad->reason : "feasible";
}

} // namespace

TEST(RankLayout, GroupsAreThoseOfTheNestedLoops)
{
    for (const auto crossing : {Crossing::Data, Crossing::Pipeline})
    {
        for (const auto& plan : {PlanOf(2, 2, 2, 2, 4, crossing),
                                 PlanOf(4, 1, 2, 4, 4, crossing),
                                 PlanOf(1, 2, 4, 2, 16, crossing),
                                 PlanOf(8, 1, 1, 4, 2, crossing)})
        {
            const uint32_t half = static_cast<uint32_t>(plan.Ranks() / 2);
            const auto laidOut = LayOut(plan, BuildingsOf({half, half}));
            ASSERT_TRUE(std::holds_alternative<RankLayout>(laidOut));
            const auto& layout = std::get<RankLayout>(laidOut);
            const auto ranks = CountOut(plan);
            for (Rank r = 0; r < ranks.size(); r++)
            {
                EXPECT_EQ(layout.StageOf(r), ranks[r].pp);
                EXPECT_EQ(layout.BuildingOf(r), r / half);
            }
            using C = Coordinates;
            ExpectGroups(layout.TensorGroup(), GroupBy(ranks, [](const C& c) {
                             return std::make_tuple(c.cp, c.ep, c.pp, c.edp);
                         }));
            ExpectGroups(layout.ContextGroup(), GroupBy(ranks, [](const C& c) {
                             return std::make_tuple(c.tp, c.ep, c.pp, c.edp);
                         }));
            ExpectGroups(layout.ExpertGroup(), GroupBy(ranks, [](const C& c) {
                             return std::make_tuple(c.tp, c.cp, c.pp, c.edp);
                         }));
            ExpectGroups(layout.DenseDataGroup(),
                         GroupBy(ranks, [](const C& c) { return std::make_tuple(c.tp, c.pp); }));
            ExpectGroups(layout.ExpertDataGroup(), GroupBy(ranks, [](const C& c) {
                             return std::make_tuple(c.tp, c.ep, c.pp);
                         }));
        }
    }
}

TEST(RankLayout, OnlyTheOutermostDimensionCrossesBuildings)
{
    for (const auto crossing : {Crossing::Data, Crossing::Pipeline})
    {
        const auto plan = PlanOf(2, 2, 2, 4, 4, crossing);
        const auto layout = std::get<RankLayout>(LayOut(plan, BuildingsOf({32, 32})));
        const auto crosses = [&layout](const RankGroup& group) {
            bool any = false;
            for (Rank r = 0; r < layout.ranks; r++)
            {
                for (uint32_t i = 0; i < group.Size(); i++)
                {
                    any = any || layout.BuildingOf(group.Member(r, i)) != layout.BuildingOf(r);
                }
            }
            return any;
        };
        EXPECT_FALSE(crosses(layout.TensorGroup()));
        EXPECT_FALSE(crosses(layout.ContextGroup()));
        EXPECT_FALSE(crosses(layout.ExpertGroup()));
        EXPECT_EQ(crosses(layout.DenseDataGroup()), crossing == Crossing::Data);
        EXPECT_EQ(crosses(layout.ExpertDataGroup()), crossing == Crossing::Data);
        EXPECT_EQ(crosses(RankGroup({{layout.ppStride, plan.pp}})), crossing == Crossing::Pipeline);
    }
}

TEST(RankLayout, UnequalBuildingsShareTheirGreatestBlock)
{
    // Blocks of 8 ranks: boundaries at 32 and 128, whose greatest common divisor is 32.
    const auto layout =
        std::get<RankLayout>(LayOut(PlanOf(8, 1, 1, 1, 16, Crossing::Data), BuildingsOf({32, 96})));
    EXPECT_EQ(layout.buildingSpan, 32U);
    EXPECT_EQ(layout.BuildingOf(31), 0U);
    EXPECT_EQ(layout.BuildingOf(32), 1U);
    EXPECT_EQ(layout.BuildingOf(127), 1U);
    // One building: no boundary but the end.
    const auto alone =
        std::get<RankLayout>(LayOut(PlanOf(8, 1, 1, 1, 16, Crossing::Data), BuildingsOf({128})));
    EXPECT_EQ(alone.buildingSpan, 128U);
}

TEST(RankLayout, NamesWhyAPlanDoesNotFit)
{
    const auto data = Crossing::Data;
    const auto pipeline = Crossing::Pipeline;
    EXPECT_EQ(ReasonOf(PlanOf(8, 1, 1, 1, 8, data), BuildingsOf({32})), "degrees");
    EXPECT_EQ(ReasonOf(PlanOf(0, 1, 1, 1, 8, data), BuildingsOf({32})), "degrees");
    EXPECT_EQ(ReasonOf(PlanOf(8, 1, 3, 1, 4, data), BuildingsOf({32})), "degrees");
    EXPECT_EQ(ReasonOf(PlanOf(16, 1, 1, 1, 2, data), BuildingsOf({32})), "node");
    // tp x cp = 6 ranks: the next group begins inside a node of 8 and ends in another.
    EXPECT_EQ(ReasonOf(PlanOf(2, 3, 1, 1, 16, data), BuildingsOf({96})), "node");
    auto mixed = BuildingsOf({32, 32});
    mixed.buildings[1].gpusPerNode = 4;
    EXPECT_EQ(ReasonOf(PlanOf(4, 1, 1, 1, 16, data), mixed), "node");
    // Replicas of 32 ranks do not tile 48.
    EXPECT_EQ(ReasonOf(PlanOf(8, 1, 1, 4, 3, data), BuildingsOf({48, 48})), "building");
    // Stages of 24 ranks do not tile 32 and 64.
    EXPECT_EQ(ReasonOf(PlanOf(8, 1, 1, 4, 3, pipeline), BuildingsOf({32, 64})), "building");
    EXPECT_EQ(ReasonOf(PlanOf(8, 1, 1, 1, 8, pipeline), BuildingsOf({32, 32})), "crossing");
    EXPECT_EQ(ReasonOf(PlanOf(8, 1, 1, 4, 3, pipeline), BuildingsOf({48, 48})), "feasible");
}

} // namespace scaleacross
