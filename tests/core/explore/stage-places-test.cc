// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/stage-places.h"
#include "core/io/presets.h"

#include <gtest/gtest.h>
#include <vector>

namespace scaleacross
{

namespace
{

using Numbers = std::vector<uint32_t>;

/// 32 layers over 8 stages are 4 each; under PP-out four stages are in each building, else all.
TEST(StagePlaces, AreThoseOfTheCrossing)
{
    const auto apart = FindStagePlaces(TwoBuildings("plan: {pp: 8, crossing: pp}\n").scenario);
    ASSERT_TRUE(apart);
    EXPECT_EQ(apart->layers, Numbers(8, 4));
    ASSERT_EQ(apart->buildings.size(), 2);
    EXPECT_EQ(apart->buildings[0].stages, (Numbers{0, 1, 2, 3}));
    EXPECT_EQ(apart->buildings[1].stages, (Numbers{4, 5, 6, 7}));
    const auto together = FindStagePlaces(TwoBuildings("plan: {pp: 4, crossing: dp}\n").scenario);
    ASSERT_TRUE(together);
    EXPECT_EQ(together->layers, Numbers(4, 8));
    for (const StagesOfBuilding& held : together->buildings)
    {
        EXPECT_EQ(held.stages, (Numbers{0, 1, 2, 3}));
    }
}

/// Two chunks on two ranks: a V runs through ranks 0 1 1 0, interleaving through 0 1 0 1.
TEST(StagePlaces, SumUpTheChunksOfAStage)
{
    const auto layers = [](const std::string& schedule) {
        return FindStagePlaces(TwoBuildings("plan: {pp: 2, chunks: 2, layers: 14+10+6+2, "
                                            "schedule: " +
                                            schedule + "}\n")
                                   .scenario)
            ->layers;
    };
    EXPECT_EQ(layers("zbv"), (Numbers{14 + 2, 10 + 6}));
    EXPECT_EQ(layers("interleaved"), (Numbers{14 + 6, 10 + 2}));
}

/**
 * A stage that is in both buildings may fill, in each, what its own GPU has less 6 GiB: of an H100
 * 81,559 - 6,144 = 75,415 MiB, of an H200 143,771 - 6,144 = 137,627 MiB (their data sheets'
 * presets).
 */
TEST(StagePlaces, TellTheMemoryOfEachBuildingsOwnGpu)
{
    Scenario scenario = TwoBuildings("plan: {pp: 4, crossing: dp}\n").scenario;
    scenario.cluster.buildings[0].gpu = GpuPreset("h100");
    scenario.cluster.buildings[1].gpu = GpuPreset("h200");
    const auto places = FindStagePlaces(scenario);
    ASSERT_TRUE(places);
    const uint64_t mib = 1U << 20U;
    for (uint32_t b = 0; b < 2; b++)
    {
        const StagesOfBuilding& held = places->buildings[b];
        ASSERT_EQ(held.memory.size(), held.stages.size());
        for (const MemoryUse& use : held.memory)
        {
            EXPECT_EQ(use.usable, Bytes((b == 0 ? 75'415 : 137'627) * mib)) << held.building;
        }
    }
}

/// One stage is not in two buildings.
TEST(StagePlaces, AreNoneWhereNothingIsLaidOut)
{
    EXPECT_FALSE(FindStagePlaces(TwoBuildings("plan: {pp: 1, crossing: pp}\n").scenario));
}

} // namespace

} // namespace scaleacross
