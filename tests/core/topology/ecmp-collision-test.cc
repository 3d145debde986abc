// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace scaleacross
{
namespace
{

/// The oracle: throws the flows many times and takes the mean of the fullest path.
double
Simulated(uint32_t flows, uint32_t paths)
{
    std::mt19937_64 random(7);
    std::vector<uint32_t> count(paths);
    double sum = 0;
    const int rounds = 4000;
    for (int round = 0; round < rounds; round++)
    {
        std::fill(count.begin(), count.end(), 0);
        for (uint32_t flow = 0; flow < flows; flow++)
        {
            count[random() % paths]++;
        }
        sum += *std::max_element(count.begin(), count.end());
    }
    return sum / rounds / (static_cast<double>(flows) / paths);
}

TEST(EcmpSlowdown, IsWithinThreePercentOfSimulatedHashing)
{
    // 4,000 rounds leave a standard error below 0.5 % in every case.
    for (const uint32_t paths : {2, 4, 8, 16, 64})
    {
        for (const uint32_t flows : {8, 16, 64, 256, 1024})
        {
            const double expected = Simulated(flows, paths);
            EXPECT_NEAR(EcmpSlowdown(flows, paths), expected, 0.03 * expected)
                << flows << " flows on " << paths << " paths";
        }
    }
}

TEST(EcmpSlowdown, IsOneWithoutChoice)
{
    EXPECT_EQ(EcmpSlowdown(5, 1), 1.0);
    EXPECT_EQ(EcmpSlowdown(0, 8), 1.0);
}

TEST(PathSlowdown, CountsWhatIsHashed)
{
    // 16 connections of 16 queue pairs on 16 paths: 16 flows, 256 flows, or no flows at all.
    for (const Multipath multipath : {Multipath("e-ecmp"), Multipath("ucmp"), Multipath("flowlet")})
    {
        EXPECT_EQ(PathSlowdown(multipath, 16, 16, 16), EcmpSlowdown(256, 16));
    }
    EXPECT_EQ(PathSlowdown(Multipath("ecmp"), 16, 16, 16), EcmpSlowdown(16, 16));
    for (const Multipath multipath :
         {Multipath("spray-random"), Multipath("spray-rr"), Multipath("spray-adaptive")})
    {
        EXPECT_EQ(PathSlowdown(multipath, 16, 16, 16), 1.0);
    }
    // By destination: 16 on 16 paths and 32 on 16 fit, of 17 two share one; 8 leave half idle.
    EXPECT_EQ(PathSlowdown(Multipath("d-mod-k"), 16, 16, 16), 1.0);
    EXPECT_EQ(PathSlowdown(Multipath("d-mod-k"), 32, 1, 16), 1.0);
    EXPECT_DOUBLE_EQ(PathSlowdown(Multipath("d-mod-k"), 17, 16, 16), 2.0 * 16 / 17);
    EXPECT_DOUBLE_EQ(PathSlowdown(Multipath("d-mod-k"), 8, 16, 16), 2.0);
    EXPECT_DOUBLE_EQ(PathSlowdown(Multipath("d-mod-k"), 1, 16, 16), 16.0);
    EXPECT_EQ(PathSlowdown(Multipath("d-mod-k"), 5, 16, 1), 1.0);
    EXPECT_DOUBLE_EQ(PathSlowdown(Multipath("d-mod-k"), 16, 0.5, 16), 2.0);
    // Half a queue pair of each of 16 connections comes by here: 8 flows, whatever is hashed.
    EXPECT_EQ(PathSlowdown(Multipath("ecmp"), 16, 0.5, 16), EcmpSlowdown(8, 16));
    EXPECT_EQ(PathSlowdown(Multipath("e-ecmp"), 16, 0.5, 16), EcmpSlowdown(8, 16));
}

/// The oracle of FullestSeconds(): throws the flows of all switches.
double
SimulatedSeconds(const std::vector<HashedLinks>& sets)
{
    std::mt19937_64 random(7);
    double sum = 0;
    const int rounds = 2000;
    for (int round = 0; round < rounds; round++)
    {
        double fullest = 0;
        for (const HashedLinks& set : sets)
        {
            const double flow = set.wire * set.paths / static_cast<double>(set.flows);
            for (int which = 0; which < static_cast<int>(set.switches); which++)
            {
                std::vector<uint32_t> count(set.paths);
                for (uint64_t i = 0; i < set.flows; i++)
                {
                    count[random() % set.paths]++;
                }
                fullest = std::max(fullest, flow * *std::max_element(count.begin(), count.end()));
            }
        }
        sum += fullest;
    }
    return sum / rounds;
}

TEST(FullestSeconds, IsWithinThreePercentOfSimulatedHashing)
{
    std::mt19937 random(3);
    const auto draw = [&random](uint32_t most) { return 1 + random() % most; };
    for (int i = 0; i < 60; i++)
    {
        std::vector<HashedLinks> sets(draw(3));
        for (HashedLinks& set : sets)
        {
            set.flows = draw(i % 2 == 0 ? 12 : 300);
            set.paths = draw(24);
            set.switches = draw(12);
            set.wire = 0.2 * draw(10);
        }
        const double expected = SimulatedSeconds(sets);
        EXPECT_NEAR(FullestSeconds(sets), expected, 0.03 * expected) << "case " << i;
    }
}

TEST(FullestSeconds, OfOneSwitchIsTheSlowdown)
{
    EXPECT_NEAR(FullestSeconds({{64, 8, 1, 1.5}}), 1.5 * EcmpSlowdown(64, 8), 1e-12);
    EXPECT_NEAR(FullestSeconds({{400, 16, 1, 1}}), EcmpSlowdown(400, 16), 1e-12);
    EXPECT_DOUBLE_EQ(FullestSeconds({{1, 2, 1, 1}, {1, 2, 1, 0.75}}), 2.0);
    // Two flows share one of two links with a half: twice 1/4 that none of two switches has both.
    EXPECT_DOUBLE_EQ(FullestSeconds({{2, 2, 2, 1}}), 1.75);
    EXPECT_DOUBLE_EQ(FullestSeconds({{5, 1, 3, 0.5}, {0, 4, 1, 0.7}}), 0.7) << "without a choice";
}

TEST(FullestSeconds, MoreCapacityAnywhereTakesNoLonger)
{
    for (const double wire : {0.5, 0.9, 0.95, 0.951, 1.0, 1.049, 1.05, 1.2, 2.0})
    {
        const double before = FullestSeconds({{16, 4, 2, 1}, {16, 4, 2, wire}});
        EXPECT_LE(FullestSeconds({{16, 4, 2, 1}, {16, 4, 2, wire * 0.999}}), before) << wire;
        EXPECT_LE(FullestSeconds({{16, 4, 2, 0.999}, {16, 4, 2, wire}}), before) << wire;
        EXPECT_GE(before, wire * FullestSeconds({{16, 4, 2, 1}})) << wire;
    }
}

TEST(FullestSeconds, CountsWhatIsHashed)
{
    EXPECT_EQ(HashedFlows(Multipath("e-ecmp"), 16, 4), 64U);
    EXPECT_EQ(HashedFlows(Multipath("ecmp"), 16, 4), 16U);
    EXPECT_EQ(HashedFlows(Multipath("e-ecmp"), 16, 0.5), 8U);
    EXPECT_EQ(HashedFlows(Multipath("spray-random"), 16, 4), 0U);
    EXPECT_EQ(HashedFlows(Multipath("d-mod-k"), 16, 4), 0U);
}

TEST(EcmpSlowdown, OneFlowLeavesAllOtherPathsIdle)
{
    EXPECT_DOUBLE_EQ(EcmpSlowdown(1, 8), 8.0);
}

} // namespace
} // namespace scaleacross
