// SPDX-License-Identifier: GPL-2.0-only

#include "../schedule-scenario.h"
#include "core/explore/collective-error.h"
#include "core/io/fitted-presets.h"

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
    const auto found = FindCollectiveError(scenario, bytes, BuiltInMachines());
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : "";
}

CollectiveError
Error(const Scenario& scenario, Bytes bytes)
{
    return std::get<CollectiveError>(FindCollectiveError(scenario, bytes, BuiltInMachines()));
}

TEST(CollectiveError, IsOfTheOperationAndTheSize)
{
    Scenario scenario = AllReduce();
    const CollectiveError large = Error(scenario, Bytes(16U << 20));
    const CollectiveError small = Error(scenario, Bytes((16U << 20) - 1));
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
    EXPECT_EQ(Reason(scenario), "none of them is of dispatch by this kernel below 16 MiB");
    scenario.network.allToAll = "deepep-low-latency";
    EXPECT_GT(Error(scenario, Bytes(1U << 20)).lines, 0U);
    EXPECT_EQ(Reason(scenario, Bytes(16U << 20)),
              "none of them is of dispatch by this kernel from 16 MiB on");
    scenario.network.tokenStart = Duration::Microseconds(5);
    EXPECT_THAT(Reason(scenario), HasSubstr("those of no machine"));
}

TEST(CollectiveError, IsNotToldWhereNothingIsPublished)
{
    EXPECT_EQ(Reason(AllReduce()), "");
    Scenario ring = AllReduce();
    ring.network.collective = "ring";
    EXPECT_EQ(Reason(ring),
              "they are of NCCL and RCCL, and network.collective is 'ring', not nccl");
    Scenario way = AllReduce();
    way.Job().collective->op = CollectiveOp::AllToAll;
    EXPECT_EQ(Reason(way), "");
    way.network.allToAll = "rail";
    EXPECT_EQ(Reason(way),
              "they are of NCCL and RCCL, and network.all_to_all is 'rail', not follow");
    Scenario plugin = AllReduce();
    plugin.network.ncclNetStep = Duration::Microseconds(1000);
    EXPECT_THAT(Reason(plugin), HasSubstr("those of no machine"));
    Scenario thin = AllReduce();
    thin.cluster.buildings.front().fabric.oversubscription = 4;
    EXPECT_EQ(Reason(thin), "none of them is over an oversubscribed fabric");
    Scenario sent = AllReduce();
    sent.Job().collective->op = CollectiveOp::SendReceive;
    EXPECT_EQ(Reason(sent), "none of them is of sendrecv below 16 MiB");
}

/// By their values: names do not count. Those of a kind that errs more than all are told its error.
TEST(CollectiveError, IsThatOfTheGpus)
{
    Scenario scenario = AllReduce();
    const CollectiveError all = Error(scenario, Bytes(16U << 20));
    GpuSpec& gpu = scenario.cluster.buildings.front().gpu;
    gpu.name = "mine";
    EXPECT_EQ(Error(scenario, Bytes(16U << 20)).gpuLines, all.gpuLines);
    gpu = GpuPreset("gh200");
    const CollectiveError own = Error(scenario, Bytes(16U << 20));
    EXPECT_GT(own.nineInTen, all.nineInTen);
    EXPECT_GT(own.median, all.median);
    EXPECT_EQ(own.lines, all.lines);
    gpu = GpuPreset("h100");
    gpu.switchReduction /= 2;
    EXPECT_EQ(Reason(scenario),
              "values of the GPU h100 are changed from those that they were compared with");
    gpu = GpuPreset("b200");
    gpu.name = "h100";
    EXPECT_THAT(Reason(scenario), HasSubstr("values of the GPU h100 are changed"));
    gpu.name = "b200";
    EXPECT_THAT(Reason(scenario), HasSubstr("none of them is on 'b200', but on a100-40g, "));
    // Lines of sendrecv are on H100 alone.
    gpu = GpuPreset("mi300x");
    EXPECT_EQ(Reason(scenario), "");
    scenario.Job().collective->op = CollectiveOp::SendReceive;
    EXPECT_EQ(Reason(scenario, Bytes(16U << 20)), "none of them is on 'mi300x', but on h100");
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
