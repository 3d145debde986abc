// SPDX-License-Identifier: GPL-2.0-only

#include "../schedule-scenario.h"
#include "core/explore/collective-error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <variant>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

/// Sixteen H100 in a building, as NCCL runs them.
Scenario
AllReduce(const std::vector<uint32_t>& buildings = {16})
{
    Scenario scenario = ScenarioOf(BuildingsOf(buildings, 8), SmallModel(), ParallelPlan(), 4);
    scenario.network.collective = "nccl";
    scenario.Job().collective.emplace();
    return scenario;
}

std::string
Reason(const Scenario& scenario, Bytes bytes = Bytes(1U << 20))
{
    const auto found = FindCollectiveError(scenario, bytes);
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : "";
}

CollectiveError
Error(const Scenario& scenario, Bytes bytes)
{
    return std::get<CollectiveError>(FindCollectiveError(scenario, bytes));
}

TEST(CollectiveError, IsOfTheOperationAndTheSize)
{
    Scenario scenario = AllReduce();
    const CollectiveError large = Error(scenario, Bytes(16U << 20));
    EXPECT_TRUE(large.isLarge);
    const CollectiveError small = Error(scenario, Bytes((16U << 20) - 1));
    EXPECT_FALSE(small.isLarge);
    EXPECT_LT(large.median, large.nineInTen);
    EXPECT_LT(small.median, small.nineInTen);
    EXPECT_NE(large.lines, small.lines);
    scenario.Job().collective->op = CollectiveOp::AllGather;
    EXPECT_NE(Error(scenario, Bytes(16U << 20)).lines, large.lines);
}

TEST(CollectiveError, OfTokensIsThatOfTheKernel)
{
    Scenario scenario = AllReduce();
    scenario.network.collective = "hierarchical"; // tokens do not ask the library
    scenario.Job().collective->op = CollectiveOp::Dispatch;
    scenario.network.allToAll = "deepep";
    EXPECT_GT(Error(scenario, Bytes(64U << 20)).lines, 0U);
    EXPECT_EQ(Reason(scenario), "none of them is of dispatch below 16 MiB");
    scenario.network.allToAll = "deepep-low-latency";
    EXPECT_GT(Error(scenario, Bytes(1U << 20)).lines, 0U);
    EXPECT_EQ(Reason(scenario, Bytes(16U << 20)), "none of them is of dispatch from 16 MiB on");
}

TEST(CollectiveError, IsNotToldWhereNothingIsPublished)
{
    EXPECT_EQ(Reason(AllReduce()), "");
    Scenario ring = AllReduce();
    ring.network.collective = "ring";
    EXPECT_EQ(Reason(ring),
              "they are of NCCL and RCCL, and network.collective is 'ring', not nccl");
    Scenario gpu = AllReduce();
    gpu.cluster.buildings.front().gpu.name = "b200";
    EXPECT_THAT(Reason(gpu), HasSubstr("none of them is on 'b200', but on a100-40g, "));
    Scenario sent = AllReduce();
    sent.Job().collective->op = CollectiveOp::SendReceive;
    EXPECT_EQ(Reason(sent), "none of them is of sendrecv below 16 MiB");
}

TEST(CollectiveError, IsOfGroupsInOneBuildingThatShareNothing)
{
    Scenario two = AllReduce({16, 16});
    EXPECT_EQ(Reason(two), "none of them spans buildings");
    two.Job().collective->group = CollectiveGroup::Building;
    EXPECT_EQ(Reason(two), "");
    Scenario rails = AllReduce();
    rails.Job().collective->group = CollectiveGroup::Rail;
    EXPECT_EQ(Reason(rails),
              "none of them is of several groups that share links, as those of 'rail' do");
    rails.Job().collective->groups = 1;
    EXPECT_EQ(Reason(rails), "");
}

} // namespace

} // namespace scaleacross
