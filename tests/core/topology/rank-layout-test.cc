// SPDX-License-Identifier: GPL-2.0-only

#include "../schedule-scenario.h"
#include "core/topology/rank-layout.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

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

/// Coordinates of a rank.
struct Coordinates
{
    uint32_t tp, cp, ep, pp, edp;
};

/// A part of the documented order and its count.
using Parts = std::vector<std::pair<uint32_t Coordinates::*, uint32_t>>;

/// All ranks, counted out like an odometer: the first part turns fastest, and a coordinate that has
/// several parts counts its inner ones first.
std::vector<Coordinates>
CountOut(const Parts& parts)
{
    std::vector<uint32_t> wheel(parts.size(), 0);
    std::vector<Coordinates> ranks;
    while (true)
    {
        Coordinates at{0, 0, 0, 0, 0};
        Coordinates weight{1, 1, 1, 1, 1};
        for (size_t i = 0; i < parts.size(); i++)
        {
            const auto [coordinate, count] = parts[i];
            at.*coordinate += wheel[i] * weight.*coordinate;
            weight.*coordinate *= count;
        }
        ranks.push_back(at);
        size_t i = 0;
        while (i < parts.size() && ++wheel[i] == parts[i].second)
        {
            wheel[i++] = 0;
        }
        if (i == parts.size())
        {
            return ranks;
        }
    }
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

namespace
{

void
ExpectOrder(const ParallelPlan& plan, const Parts& parts)
{
    SCOPED_TRACE(ToString(plan.crossing));
    const uint32_t half = static_cast<uint32_t>(plan.Ranks() / 2);
    const auto laidOut = LayOut(plan, BuildingsOf({half, half}));
    ASSERT_TRUE(std::holds_alternative<RankLayout>(laidOut))
        << std::get<Infeasible>(laidOut).detail;
    const auto& layout = std::get<RankLayout>(laidOut);
    const auto ranks = CountOut(parts);
    ASSERT_EQ(ranks.size(), layout.ranks);
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> inStage;
    for (Rank r = 0; r < ranks.size(); r++)
    {
        EXPECT_EQ(layout.StageOf(r), ranks[r].pp);
        EXPECT_EQ(layout.BuildingOf(r), r / half);
        inStage[{r / half, ranks[r].pp}]++;
    }
    for (uint32_t stage = 0; stage < plan.pp; stage++)
    {
        EXPECT_EQ(layout.StageOf(layout.FirstOf(stage)), stage);
        for (uint32_t b = 0; b < 2; b++)
        {
            const uint32_t counted = inStage[{b, stage}];
            EXPECT_EQ(layout.StageRanksIn(b, stage), counted) << b << " " << stage;
        }
    }
    using C = Coordinates;
    ExpectGroups(layout.tensor, GroupBy(ranks, [](const C& c) {
                     return std::make_tuple(c.cp, c.ep, c.pp, c.edp);
                 }));
    ExpectGroups(layout.context, GroupBy(ranks, [](const C& c) {
                     return std::make_tuple(c.tp, c.ep, c.pp, c.edp);
                 }));
    ExpectGroups(layout.expert, GroupBy(ranks, [](const C& c) {
                     return std::make_tuple(c.tp, c.cp, c.pp, c.edp);
                 }));
    ExpectGroups(layout.pipeline, GroupBy(ranks, [](const C& c) {
                     return std::make_tuple(c.tp, c.cp, c.ep, c.edp);
                 }));
    ExpectGroups(layout.dense,
                 GroupBy(ranks, [](const C& c) { return std::make_tuple(c.tp, c.pp); }));
    ExpectGroups(layout.experts,
                 GroupBy(ranks, [](const C& c) { return std::make_tuple(c.tp, c.ep, c.pp); }));
}

} // namespace

TEST(RankLayout, GroupsAreThoseOfTheNestedLoops)
{
    using C = Coordinates;
    for (const auto& plan : {PlanOf(2, 2, 2, 2, 4, Crossing::Data),
                             PlanOf(4, 1, 2, 4, 4, Crossing::Data),
                             PlanOf(1, 2, 4, 2, 16, Crossing::Data),
                             PlanOf(8, 1, 2, 4, 4, Crossing::Data)})
    {
        const Parts::value_type tp{&C::tp, plan.tp};
        const Parts::value_type cp{&C::cp, plan.cp};
        const Parts::value_type ep{&C::ep, plan.ep};
        const Parts::value_type pp{&C::pp, plan.pp};
        const Parts::value_type edp{&C::edp, plan.dp / plan.ep};
        const auto check = [&plan](const Crossing& crossing, const Parts& parts) {
            ParallelPlan ordered = plan;
            ordered.crossing = crossing;
            ExpectOrder(ordered, parts);
        };
        check(Crossing::Data, {tp, cp, ep, pp, edp});
        check(Crossing::Pipeline, {tp, cp, ep, edp, pp});
        check(Crossing::Expert, {tp, cp, pp, edp, ep});
        check(Crossing::Parse("tp-pp-ep-cp-dp"), {tp, pp, ep, cp, edp});
        check(Crossing::Parse("dp-ep-pp-cp-tp"), {edp, ep, pp, cp, tp});
    }
    // Four of eight stages next to each other, then two of four replicas, and so on.
    ExpectOrder(PlanOf(2, 1, 2, 8, 8, Crossing::Parse("tp-cp-ep-pp4-dp2-pp-dp")),
                {{&C::tp, 2}, {&C::ep, 2}, {&C::pp, 4}, {&C::edp, 2}, {&C::pp, 2}, {&C::edp, 2}});
    ExpectOrder(PlanOf(4, 1, 1, 2, 8, Crossing::Parse("tp2-dp4-tp-cp-ep-pp-dp")),
                {{&C::tp, 2}, {&C::edp, 4}, {&C::tp, 2}, {&C::pp, 2}, {&C::edp, 2}});
}

TEST(RankLayout, MixedOrdersCrossByTwoDimensions)
{
    // Four buildings of 32: the pipeline leaves a pair of them, data parallelism joins a pair.
    const auto plan = PlanOf(8, 1, 1, 4, 4, Crossing::Parse("tp-cp-ep-pp2-dp-pp"));
    const auto layout = std::get<RankLayout>(LayOut(plan, BuildingsOf({32, 32, 32, 32})));
    EXPECT_TRUE(layout.Crosses(layout.dense));
    EXPECT_TRUE(layout.Crosses(layout.pipeline));
    EXPECT_FALSE(layout.Crosses(layout.tensor));
    // Stages 0 and 1 in the first two buildings, 2 and 3 in the others.
    for (uint32_t stage = 0; stage < 4; stage++)
    {
        for (uint32_t b = 0; b < 4; b++)
        {
            EXPECT_EQ(layout.StageRanksIn(b, stage), b / 2 == stage / 2 ? 16U : 0U);
        }
    }
}

TEST(RankLayout, TensorParallelismMayLeaveTheNode)
{
    const auto layout =
        std::get<RankLayout>(LayOut(PlanOf(16, 1, 1, 1, 2, Crossing::Data), BuildingsOf({32})));
    EXPECT_EQ(layout.tensor, RankGroup({{1, 16}}));
    EXPECT_EQ(layout.dense, RankGroup({{16, 2}}));
}

TEST(RankLayout, OnlyTheOutermostDimensionCrossesBuildings)
{
    for (const auto& crossing : {Crossing::Data, Crossing::Pipeline})
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
        EXPECT_FALSE(crosses(layout.tensor));
        EXPECT_FALSE(crosses(layout.context));
        EXPECT_FALSE(crosses(layout.expert));
        EXPECT_EQ(crosses(layout.dense), crossing == Crossing::Data);
        EXPECT_EQ(crosses(layout.experts), crossing == Crossing::Data);
        EXPECT_EQ(crosses(layout.pipeline), crossing == Crossing::Pipeline);
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
    // tp = 12 ends inside the second node of 8.
    EXPECT_EQ(ReasonOf(PlanOf(12, 1, 1, 1, 2, data), BuildingsOf({24})), "node");
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
    EXPECT_EQ(ReasonOf(PlanOf(8, 1, 1, 1, 8, Crossing::Expert), BuildingsOf({32, 32})), "crossing");
    EXPECT_EQ(ReasonOf(PlanOf(8, 1, 2, 1, 8, Crossing::Expert), BuildingsOf({32, 32})), "feasible");
    // Three does not divide pp, and a pipeline of 32 ranks is cut by buildings of 48.
    EXPECT_EQ(
        ReasonOf(PlanOf(8, 1, 1, 4, 3, Crossing::Parse("tp-cp-ep-pp3-dp-pp")), BuildingsOf({96})),
        "degrees");
    EXPECT_EQ(
        ReasonOf(PlanOf(8, 1, 1, 4, 3, Crossing::Parse("tp-pp-cp-ep-dp")), BuildingsOf({48, 48})),
        "building");
}

} // namespace scaleacross
