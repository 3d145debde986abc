// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/connection-window.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

constexpr double kRound = 2e-3;
constexpr double kRounding = 1e-12;

Duration
Milliseconds(double ms)
{
    return Duration::Seconds(ms * 1e-3);
}

TransferCost
Of(double windows, double admitted = 0)
{
    TransferCost cost;
    cost.window.windows = windows;
    cost.admission.windows = admitted;
    cost.window.round = cost.admission.round = kRound;
    return cost;
}

TEST(ConnectionWindow, TheNextTransferWaitsForWhatIsUnderWay)
{
    // The worked case: of the second, which starts with the first, the window leaves when that is
    // back; of the third, 1 ms later, when both are. The fourth finds nothing under way.
    ConnectionWindow window;
    const WindowUse one{1, kRound};
    EXPECT_NEAR(window.Hold(one, Duration()), 0, kRounding);
    EXPECT_NEAR(window.Hold(one, Duration()), 2e-3, kRounding);
    EXPECT_NEAR(window.Hold(one, Milliseconds(1)), 3e-3, kRounding);
    EXPECT_NEAR(window.Hold(one, Milliseconds(9)), 0, kRounding);
}

TEST(ConnectionWindow, HoldsATransferOfSeveralWindowsByAllButOne)
{
    // Of k windows k - 1 come back before the last one leaves, whether it is one transfer or some
    // that are alike; parts of a window count as parts.
    EXPECT_NEAR(ConnectionWindow().Hold({4, kRound}, Duration()), 6e-3, kRounding);
    EXPECT_NEAR(ConnectionWindow().Hold({0.5, kRound}, Duration(), 8), 6e-3, kRounding);
    EXPECT_EQ(ConnectionWindow().Hold({0.5, kRound}, Duration()), 0);
}

TEST(RankWindows, APairIsOneConnectionAndAReceiverAdmitsAll)
{
    // Rings of the same members send to the same ones, a jump of two to others.
    const RankGroup group({{1, 4}});
    const Phase ring{Pattern::RingReduceScatter, group, Bytes(4096)};
    const Phase back{Pattern::RingAllGather, group, Bytes(4096)};
    Phase jump{Pattern::JumpReduceScatter, group, Bytes(4096)};
    jump.shift = 2;
    jump.parts = 2;
    RankWindows windows;
    EXPECT_NEAR(windows.Hold(ring, Of(1), Duration(), 1), 0, kRounding);
    EXPECT_NEAR(windows.Hold(jump, Of(1), Duration(), 1), 0, kRounding);
    EXPECT_NEAR(windows.Hold(back, Of(1), Duration(), 1), kRound, kRounding);
    // What is granted is of the NIC, whoever sends.
    EXPECT_NEAR(windows.Hold(ring, Of(0, 1), Duration(), 1), 0, kRounding);
    EXPECT_NEAR(windows.Hold(jump, Of(0, 1), Duration(), 1), kRound, kRounding);
    EXPECT_NEAR(windows.Admit(Of(0, 1), Duration()), 2 * kRound, kRounding);
    // Without limits nothing waits, nor takes anything.
    EXPECT_EQ(windows.Hold(ring, Of(0), Duration(), 1), 0);
}

} // namespace
} // namespace scaleacross
