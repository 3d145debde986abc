// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/alone-time.h"

#include <gtest/gtest.h>
#include <vector>

namespace scaleacross
{

namespace
{

Duration
Ms(int64_t number)
{
    return Duration::Microseconds(1000 * number);
}

TransferCost
On(Port port, double seconds, int64_t latencyMs = 0)
{
    TransferCost cost;
    cost.On(port) = seconds;
    cost.latency = Ms(latencyMs);
    return cost;
}

Duration
TimeOf(const std::vector<TransferCost>& costs,
       uint32_t chunks,
       uint32_t channels,
       Duration losses = Duration())
{
    Collective collective;
    collective.phases.resize(costs.size());
    collective.chunks = chunks;
    collective.channels = channels;
    return AloneTime(
        collective,
        [&costs](uint32_t p) -> const TransferCost& { return costs[p]; },
        losses,
        0);
}

} // namespace

TEST(AloneTime, OfAWholeCollectiveIsTheSumOfItsPhases)
{
    EXPECT_EQ(TimeOf({On(Port::NicOut, 3, 5), On(Port::ScaleUpOut, 2)}, 1, 1), Ms(5005));
}

TEST(AloneTime, PhasesShareThePortTheyHaveInCommon)
{
    // The worked case: 2 chunks x 2 phases x 3 s of one port.
    EXPECT_EQ(TimeOf({On(Port::NicOut, 3), On(Port::NicOut, 3)}, 2, 1), Duration::Seconds(12));
}

TEST(AloneTime, OfPhasesApartIsThatOfAFlowShop)
{
    // Identical jobs through machines in a row: the first passes all, 2 + 3 + 1 s, the others
    // follow at the pace of the slowest, 4 x 3 s; with latencies, of what a chunk holds a phase
    // for.
    EXPECT_EQ(TimeOf({On(Port::NicOut, 2), On(Port::ScaleUpOut, 3), On(Port::ScaleUpIn, 1)}, 5, 1),
              Duration::Seconds(18));
    EXPECT_EQ(TimeOf({On(Port::NicOut, 2, 500), On(Port::ScaleUpOut, 1)}, 4, 1),
              Ms(2500 + 1000 + 3 * 2500));
}

TEST(AloneTime, ChannelsMoveTogetherAndWaitForOneLatency)
{
    // 8 chunks of 1 s on 4 channels are two convoys of 4 s and a latency of 0.5 s each; on one
    // channel the latency comes after every chunk. 6 chunks on 4: the last two take 2 s.
    EXPECT_EQ(TimeOf({On(Port::NicOut, 1, 500)}, 8, 4), Ms(9000));
    EXPECT_EQ(TimeOf({On(Port::NicOut, 1, 500)}, 8, 1), Ms(12000));
    EXPECT_EQ(TimeOf({On(Port::NicOut, 1, 500)}, 6, 4), Ms(7000));
}

TEST(AloneTime, LossesDelayTheLastChunkOnce)
{
    EXPECT_EQ(TimeOf({On(Port::NicOut, 1, 500)}, 8, 4, Ms(70)), Ms(9070));
}

} // namespace scaleacross
