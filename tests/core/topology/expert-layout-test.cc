// SPDX-License-Identifier: GPL-2.0-only

// Where routed experts lie that count the ranks of a stage in a way of their own (plan.etp).

#include "../schedule-scenario.h"
#include "core/topology/rank-layout.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

ParallelPlan
PlanOf(uint32_t tp, uint32_t cp, uint32_t pp, uint32_t dp, uint32_t etp, uint32_t ep)
{
    ParallelPlan plan;
    plan.tp = tp;
    plan.cp = cp;
    plan.pp = pp;
    plan.dp = dp;
    plan.etp = etp;
    plan.ep = ep;
    return plan;
}

RankLayout
Lay(const ParallelPlan& plan, const std::vector<uint32_t>& gpus, uint32_t node = 8)
{
    const auto layout = LayOut(plan, BuildingsOf(gpus, node));
    const auto* bad = std::get_if<Infeasible>(&layout);
    EXPECT_EQ(bad, nullptr) << bad->reason << ": " << bad->detail;
    return bad == nullptr ? std::get<RankLayout>(layout) : RankLayout();
}

std::vector<Rank>
Members(const RankGroup& group, Rank rank)
{
    std::vector<Rank> members;
    for (uint32_t i = 0; i < group.Size(); i++)
    {
        members.push_back(group.Member(rank, i));
    }
    return members;
}

using Ranks = std::vector<Rank>;

/// The coordinates that an order (words without pp and cp) gives the n-th rank of a stage.
std::map<std::string, uint32_t>
Counted(uint32_t n, const std::vector<std::pair<std::string, uint32_t>>& order)
{
    std::map<std::string, uint32_t> at;
    for (const auto& [word, count] : order)
    {
        at[word] = n % count;
        n /= count;
    }
    return at;
}

/// Counts the ranks of every stage one by one and holds the groups of the experts against that.
void
ExpectCounted(const ParallelPlan& plan,
              const std::vector<uint32_t>& gpus,
              const std::vector<std::string>& words,
              uint32_t node = 4)
{
    SCOPED_TRACE(ToString(plan.crossing));
    const RankLayout layout = Lay(plan, gpus, node);
    const std::map<std::string, uint32_t> degrees = {
        {"etp", plan.etp},
        {"ep", plan.ep},
        {"edp", plan.tp * plan.cp * plan.dp / plan.etp / plan.ep}};
    std::vector<std::pair<std::string, uint32_t>> order;
    for (const std::string& word : words)
    {
        order.emplace_back(word, degrees.at(word));
    }
    std::vector<uint32_t> counted(plan.pp, 0);
    std::vector<std::map<std::string, uint32_t>> at;
    for (Rank rank = 0; rank < layout.ranks; rank++)
    {
        at.push_back(Counted(counted[layout.StageOf(rank)]++, order));
    }
    const std::map<std::string, const RankGroup*> groups = {{"etp", &layout.expertTensor},
                                                            {"ep", &layout.expert},
                                                            {"edp", &layout.experts}};
    for (const auto& [word, group] : groups)
    {
        for (Rank rank = 0; rank < layout.ranks; rank++)
        {
            std::set<Rank> expected;
            for (Rank other = 0; other < layout.ranks; other++)
            {
                auto same = at[other];
                same[word] = at[rank][word];
                if (same == at[rank] && layout.StageOf(other) == layout.StageOf(rank))
                {
                    expected.insert(other);
                }
            }
            const auto members = Members(*group, rank);
            EXPECT_EQ(std::set<Rank>(members.begin(), members.end()), expected)
                << word << " of rank " << rank;
        }
    }
}

std::string
RefusalOf(const ParallelPlan& plan, const std::vector<uint32_t>& gpus)
{
    const auto layout = LayOut(plan, BuildingsOf(gpus, 4));
    const auto* bad = std::get_if<Infeasible>(&layout);
    return bad == nullptr ? "feasible" : bad->reason + ": " + bad->detail;
}

} // namespace

TEST(ExpertLayout, WholeExpertsGoOverTensorRanks)
{
    // TP2 DP4 with ETP1 EP4: ranks 0 to 3 have all experts among them, ranks 4 to 7 once more.
    const RankLayout whole = Lay(PlanOf(2, 1, 1, 4, 1, 4), {8});
    EXPECT_EQ(Members(whole.expert, 2), (Ranks{0, 1, 2, 3}));
    EXPECT_EQ(Members(whole.expert, 5), (Ranks{4, 5, 6, 7}));
    EXPECT_EQ(Members(whole.experts, 1), (Ranks{1, 5}));
    EXPECT_EQ(whole.expertTensor.Size(), 1U);
    // What is dense stays as it is.
    EXPECT_EQ(Members(whole.tensor, 5), (Ranks{4, 5}));
    EXPECT_EQ(Members(whole.dense, 5), (Ranks{1, 3, 5, 7}));
    // TP4 DP2 with ETP2 EP4: pairs of ranks have an expert, in every second rank its other half.
    const RankLayout halves = Lay(PlanOf(4, 1, 1, 2, 2, 4), {8});
    EXPECT_EQ(Members(halves.expertTensor, 3), (Ranks{2, 3}));
    EXPECT_EQ(Members(halves.expert, 3), (Ranks{1, 3, 5, 7}));
    EXPECT_EQ(halves.experts.Size(), 1U);
    // TP4 ETP1 EP2: two copies of all experts inside of a tensor-parallel group, two in each.
    const RankLayout inside = Lay(PlanOf(4, 1, 1, 2, 1, 2), {8});
    EXPECT_EQ(Members(inside.expert, 2), (Ranks{2, 3}));
    EXPECT_EQ(Members(inside.experts, 2), (Ranks{0, 2, 4, 6}));
}

TEST(ExpertLayout, EpGoesOverContextRanksFirst)
{
    // CP2 DP4 EP2, rank = cp + 2 dp. Left out, ep is a part of dp; named, it begins with cp.
    EXPECT_EQ(Members(Lay(PlanOf(1, 2, 1, 4, 0, 2), {8}).expert, 0), (Ranks{0, 2}));
    const RankLayout named = Lay(PlanOf(1, 2, 1, 4, 1, 2), {8});
    EXPECT_EQ(Members(named.expert, 0), (Ranks{0, 1}));
    EXPECT_EQ(Members(named.experts, 0), (Ranks{0, 2, 4, 6}));
}

TEST(ExpertLayout, ThePipelineMayCutIt)
{
    // TP2 PP2 DP4 EP2 ETP1 under DP-out: tp, then pp (an EP group fills no more of dp than one
    // part), then dp. Stage 0 has ranks 0 1, 4 5, 8 9, 12 13: ep pairs, edp every fourth.
    const RankLayout layout = Lay(PlanOf(2, 1, 2, 4, 1, 2), {16});
    EXPECT_EQ(layout.StageOf(2), 1U);
    EXPECT_EQ(Members(layout.expert, 5), (Ranks{4, 5}));
    EXPECT_EQ(Members(layout.experts, 5), (Ranks{1, 5, 9, 13}));
    // TP4 PP2 DP2 ETP1 EP2: stage 0 has ranks 0 to 3 and 8 to 11, so edp goes over both.
    EXPECT_EQ(Members(Lay(PlanOf(4, 1, 2, 2, 1, 2), {16}).experts, 3), (Ranks{1, 3, 9, 11}));
}

TEST(ExpertLayout, GroupsAreThoseOfCountingTheRanksOfAStage)
{
    const std::vector<std::array<uint32_t, 6>> degrees = {
        {2, 1, 2, 8, 1, 4},  // ep over tp and dp
        {4, 1, 2, 4, 2, 2},  // one group of experts in a group of tp
        {4, 1, 2, 4, 1, 2},  // two of them
        {2, 2, 2, 4, 1, 8},  // over cp as well
        {2, 2, 2, 4, 2, 4},  // split as all else is, over cp
        {2, 1, 2, 8, 1, 16}, // over the whole stage
        {2, 2, 2, 4, 1, 1},  // every expert on every rank
    };
    for (const auto& [tp, cp, pp, dp, etp, ep] : degrees)
    {
        ParallelPlan plan = PlanOf(tp, cp, pp, dp, etp, ep);
        ExpectCounted(plan, {32}, {"etp", "ep", "edp"});
        plan.crossing = Crossing::Pipeline;
        ExpectCounted(plan, {16, 16}, {"etp", "ep", "edp"});
        plan.crossing = Crossing::Expert;
        ExpectCounted(plan, {32}, {"etp", "edp", "ep"});
        plan.crossing = Crossing::Parse("ep-tp-dp-cp-pp");
        ExpectCounted(plan, {32}, {"ep", "etp", "edp"});
        plan.crossing = Crossing::Parse("tp-cp-ep-dp-pp");
        ExpectCounted(plan, {32}, {"etp", "ep", "edp"});
    }
    // Pipelines in two places.
    ParallelPlan plan = PlanOf(2, 1, 4, 4, 1, 4);
    plan.crossing = Crossing::Parse("tp-cp-ep-pp2-dp-pp");
    ExpectCounted(plan, {16, 16}, {"etp", "ep", "edp"});
    // Three groups of experts, of four ranks, are two parts of dp, of six: then comes the pipeline.
    ExpectCounted(PlanOf(3, 2, 2, 4, 1, 4), {24, 24}, {"etp", "ep", "edp"}, 24);
}

TEST(ExpertLayout, NamedCrossingsKeepTheirWord)
{
    // Two buildings of 16 and TP4 DP4 PP2. DP-out and PP-out: no expert's group leaves a building;
    // EP-out: ep does.
    for (const uint32_t ep : {2, 4, 8})
    {
        ParallelPlan plan = PlanOf(4, 1, 2, 4, 1, ep);
        for (const Crossing& crossing : {Crossing::Data, Crossing::Pipeline})
        {
            plan.crossing = crossing;
            const RankLayout layout = Lay(plan, {16, 16}, 4);
            EXPECT_FALSE(layout.Crosses(layout.expert)) << ToString(crossing) << " " << ep;
            EXPECT_FALSE(layout.Crosses(layout.expertTensor));
            EXPECT_EQ(layout.Crosses(layout.experts), crossing == Crossing::Data);
        }
        plan.crossing = Crossing::Expert;
        const RankLayout out = Lay(plan, {16, 16}, 4);
        EXPECT_TRUE(out.Crosses(out.expert)) << ep;
        EXPECT_FALSE(out.Crosses(out.experts)) << ep;
        EXPECT_FALSE(out.Crosses(out.tensor)) << ep;
    }
}

TEST(ExpertLayout, EtpOfTpIsWhatLeavingItOutIs)
{
    for (const char* const order : {"dp", "pp", "ep", "tp-pp-ep-cp-dp", "tp-cp-ep2-pp-dp-ep"})
    {
        ParallelPlan left = PlanOf(2, 1, 2, 8, 0, 4);
        left.crossing = Crossing::Parse(order);
        ParallelPlan named = left;
        named.etp = 2;
        const RankLayout a = Lay(left, {16, 16}, 4);
        const RankLayout b = Lay(named, {16, 16}, 4);
        for (size_t i = 0; i < a.Families().size(); i++)
        {
            EXPECT_EQ(*a.Families()[i], *b.Families()[i]) << order << " " << i;
        }
    }
}

TEST(ExpertLayout, SaysWhyExpertsDoNotFit)
{
    using testing::HasSubstr;
    EXPECT_THAT(RefusalOf(PlanOf(2, 1, 1, 4, 0, 8), {8}),
                HasSubstr("degrees: ep 8 does not divide dp 4: give etp"));
    EXPECT_EQ(RefusalOf(PlanOf(2, 1, 1, 4, 1, 8), {8}), "feasible");
    EXPECT_THAT(RefusalOf(PlanOf(4, 1, 1, 2, 3, 2), {8}),
                HasSubstr("degrees: etp 3 does not divide tp 4: take a divisor of tp"));
    EXPECT_THAT(RefusalOf(PlanOf(2, 1, 1, 4, 4, 2), {8}), HasSubstr("etp 4 does not divide tp 2"));
    EXPECT_THAT(RefusalOf(PlanOf(4, 1, 1, 2, 2, 8), {8}),
                HasSubstr("degrees: etp 2 x ep 8 is 16, which does not divide the 8 ranks"));
    ParallelPlan counted = PlanOf(4, 1, 1, 2, 2, 2);
    counted.crossing = Crossing::Parse("tp2-dp-cp-ep-pp-tp");
    EXPECT_THAT(RefusalOf(counted, {8}), HasSubstr("only pp may stand in several places"));
    // ep 3 begins with two ranks of tp, and the third is behind the pipeline.
    ParallelPlan cut = PlanOf(2, 1, 2, 6, 1, 3);
    cut.crossing = Crossing::Parse("tp-pp-cp-ep-dp");
    EXPECT_THAT(RefusalOf(cut, {24}), HasSubstr("degrees: ep 3 of every 1. rank of a stage"));
    // Three buildings hold whole parts of ep and of dp, but ep 2 and dp 6 have two.
    ParallelPlan out = PlanOf(4, 1, 1, 6, 1, 2);
    out.crossing = Crossing::Expert;
    EXPECT_THAT(RefusalOf(out, {8, 8, 8}), HasSubstr("crossing: ep 2 and dp 6, of which 2 is"));
}

} // namespace scaleacross
