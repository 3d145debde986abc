// SPDX-License-Identifier: GPL-2.0-only

#include "../schedule-scenario.h"
#include "core/engine/engine.h"
#include "core/explore/same-work.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

/// 32 GPUs in two buildings, dp = 8 over both, tp inside the servers.
Scenario
TwoBuildings(const std::string& sharding)
{
    ParallelPlan plan;
    plan.tp = 4;
    plan.dp = 8;
    plan.sharding = sharding;
    return ScenarioOf(BuildingsOf({16, 16}, 4), SmallModel(), plan, 4);
}

/// Plans of these algorithms, all said to take the same time.
std::vector<Ranked>
Plans(const Scenario& scenario, const std::vector<std::string>& algorithms)
{
    std::vector<Ranked> plans;
    for (const auto& algorithm : algorithms)
    {
        Ranked ranked;
        ranked.plan = {scenario.Job().plan, scenario.network};
        ranked.plan.network.collective = algorithm;
        ranked.report.iterationTime = Duration::Seconds(1);
        plans.push_back(ranked);
    }
    return plans;
}

std::vector<size_t>
Firsts(const Scenario& scenario, const std::vector<Ranked>& plans)
{
    return FirstsOfSameWork(plans, [&scenario](const Plan& plan) {
        Scenario other = scenario;
        other.Job().plan = plan.parallel;
        other.network = plan.network;
        return other;
    });
}

using Positions = std::vector<size_t>;

/// Trees are for all-reduce: FSDP has none and does as a ring, DDP has. A ring over both buildings
/// and levels are never the same where four members are in each.
TEST(SameWork, IsWhatAlgorithmsMakeOfTheCollectives)
{
    const std::vector<std::string> words = {"hierarchical", "ring", "tree", "bidirectional-ring"};
    const auto sharded = TwoBuildings("fsdp");
    EXPECT_EQ(Firsts(sharded, Plans(sharded, words)), (Positions{0, 1, 1, 3}));
    const auto whole = TwoBuildings("ddp");
    EXPECT_EQ(Firsts(whole, Plans(whole, words)), (Positions{0, 1, 2, 3}));
}

TEST(SameWork, OtherTimesOrOtherWordsAreOtherWork)
{
    const auto scenario = TwoBuildings("fsdp");
    auto plans = Plans(scenario, {"ring", "tree", "tree", "tree"});
    EXPECT_EQ(Firsts(scenario, plans), (Positions{0, 0, 0, 0}));
    plans[2].plan.network.multipath = "spray-random";
    plans[3].report.iterationTime += Duration::Picoseconds(1);
    EXPECT_EQ(Firsts(scenario, plans), (Positions{0, 0, 2, 3}));
}

/// Without experts no token is sent, whatever is said of how.
TEST(SameWork, IsAlsoThatOfWaysToSendNothing)
{
    const auto scenario = TwoBuildings("fsdp");
    auto plans = Plans(scenario, {"ring", "ring"});
    plans[1].plan.network.allToAll = "rail";
    EXPECT_EQ(Firsts(scenario, plans), (Positions{0, 0}));
}

} // namespace

} // namespace scaleacross
