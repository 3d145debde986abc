// SPDX-License-Identifier: GPL-2.0-only

#include "../../validation/volumes/volume-plans.h"
#include "../built-graph.h"
#include "core/work/collectives/block-kinds.h"

#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace scaleacross
{

namespace
{

/// Buildings of 8, 8 and 16 GPUs, two of which hold one half of the pipeline's stages.
Scenario
HalvesOfAPipeline()
{
    ParallelPlan plan = PlanOf(2, 1, 1, 8, 2);
    plan.crossing = Crossing::Parse("tp-cp-ep-pp4-dp-pp");
    return ScenarioOf(BuildingsOf({8, 8, 16}, 4), SmallModel(), plan, 8);
}

std::vector<uint32_t>
KindsOf(const RankLayout& layout, CollectiveAlgorithm algorithm = CollectiveAlgorithm("ring"))
{
    return BlockKinds(layout, algorithm).Find();
}

/// Everything that the ranks of a class send goes to one class, and what they receive is from one.
void
ExpectOneToOne(const TaskGraph& graph, const std::string& what)
{
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        const RankClass& own = graph.classes[graph.ClassOf(rank)];
        for (const Op& op : own.program.ops)
        {
            if (op.kind == OpKind::Send || op.kind == OpKind::Receive)
            {
                ASSERT_EQ(graph.ClassOf(rank + op.peer),
                          graph.ClassOf(own.representative + op.peer))
                    << "rank " << rank << " and peer " << op.peer << " of " << what;
            }
        }
    }
}

} // namespace

TEST(BlockKinds, TellBlocksApartByWhereTheirPipelinesLead)
{
    // See the worked case of the header.
    EXPECT_EQ(KindsOf(LayoutOf(HalvesOfAPipeline())), (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(BlockKinds, OfReplicasAreTheirBuildings)
{
    // Replicas of 8 ranks in buildings of 8 and 24: those of a building do the same, as all of them
    // reduce with all.
    ParallelPlan plan = PlanOf(2, 1, 1, 4, 4);
    plan.crossing = Crossing::Data;
    const auto scenario = ScenarioOf(BuildingsOf({8, 24}, 4), SmallModel(), plan, 8);
    EXPECT_EQ(KindsOf(LayoutOf(scenario)), (std::vector<uint32_t>{0, 1, 1, 1}));
}

TEST(BlockKinds, TellBlocksApartByWhomTheyReduceWith)
{
    // tp8, pp 1, replicas in pairs of neighbours and pairs of pairs, in buildings of 8, 16 and 8:
    // inside the expert groups (0, 1) and (2, 3) the two blocks of the second building have
    // partners in different buildings.
    ParallelPlan plan = PlanOf(4, 1, 2, 1, 8);
    plan.crossing = Crossing::Parse("tp-dp2-ep-dp-cp-pp");
    const auto scenario = ScenarioOf(BuildingsOf({8, 16, 8}, 4), SmallMoe(), plan, 8);
    const RankLayout layout = LayoutOf(scenario);
    ASSERT_EQ(layout.buildingSpan, 8U);
    EXPECT_EQ(layout.expert.Member(0, 1), 8U);
    EXPECT_EQ(KindsOf(layout), (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(BlockKinds, TellBlocksApartByWithWhomTheyHalve)
{
    // Replicas of 8 ranks in buildings of 24 and 8: blocks 2 and 3 exchange halves over the span,
    // blocks 0 and 1 do not, and then 1 with 3, as 0 with 2 inside.
    ParallelPlan plan = PlanOf(2, 1, 1, 4, 4);
    plan.crossing = Crossing::Data;
    const auto scenario = ScenarioOf(BuildingsOf({24, 8}, 4), SmallModel(), plan, 8);
    const RankLayout layout = LayoutOf(scenario);
    EXPECT_EQ(KindsOf(layout), (std::vector<uint32_t>{0, 0, 0, 1}));
    EXPECT_EQ(KindsOf(layout, CollectiveAlgorithm("halving-doubling")),
              (std::vector<uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(KindsOf(layout, CollectiveAlgorithm("auto")), (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(BlockKinds, LetWhatAClassSendsArriveAtOneClass)
{
    ExpectOneToOne(Build(HalvesOfAPipeline()), "halves of a pipeline");
    constexpr uint32_t seed = 20261122;
    std::mt19937 random(seed);
    const auto pick = [&random](const std::vector<uint32_t>& values) {
        return values[random() % values.size()];
    };
    uint32_t held = 0;
    uint32_t split = 0;
    uint32_t folded = 0;
    for (uint32_t tries = 0; tries < 20000 && held < 300; tries++)
    {
        std::vector<uint32_t> gpus;
        for (uint32_t b = pick({2, 3, 3, 4}); b > 0; b--)
        {
            gpus.push_back(pick({4, 8, 8, 16, 24}));
        }
        const ClusterSpec cluster = BuildingsOf(gpus, 4);
        ParallelPlan plan = PlanOf(pick({1, 2, 4}), 1, 1, pick({2, 4, 8}), 1);
        plan.dp = cluster.Gpus() / (plan.tp * plan.pp);
        plan.crossing = volumes::DrawOrder(random);
        const bool whole = pick({0, 0, 1}) == 1; // experts, over tp and dp
        plan.etp = whole ? 1 : 0;
        plan.ep = whole ? pick({2, 4, 8}) : 1;
        const Scenario scenario = ScenarioOf(cluster, whole ? SmallMoe() : SmallModel(), plan, 8);
        const auto laidOut = LayOut(plan, cluster);
        const auto* layout = std::get_if<RankLayout>(&laidOut);
        if (layout == nullptr || CheckJob(scenario, *layout))
        {
            continue;
        }
        const TaskGraph graph = Build(scenario);
        ExpectOneToOne(graph, ToString(plan.crossing));
        held++;
        folded += plan.FoldsExperts() ? 1 : 0;
        std::set<std::pair<uint32_t, uint32_t>> stagesOfBuildings;
        for (const RankClass& one : graph.classes)
        {
            stagesOfBuildings.emplace(one.stage, layout->BuildingOf(one.representative));
        }
        split += stagesOfBuildings.size() < graph.classes.size() ? 1 : 0;
    }
    EXPECT_EQ(held, 300U);
    EXPECT_GE(folded, 10U) << "of them with experts that have a layout of their own";
    EXPECT_GE(split, 10U) << "of them with several classes of a stage in a building";
}

} // namespace scaleacross
