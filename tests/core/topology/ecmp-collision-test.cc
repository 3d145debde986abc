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

TEST(EcmpSlowdown, OneFlowLeavesAllOtherPathsIdle)
{
    EXPECT_DOUBLE_EQ(EcmpSlowdown(1, 8), 8.0);
}

} // namespace
} // namespace scaleacross
